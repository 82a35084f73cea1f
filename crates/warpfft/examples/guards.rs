//! Prints the errors of each arithmetic on every device that is there, and those of double-single arithmetic without the
//! guards against a driver's compiler: where the last two differ, the compiler rearranges what it may not.
//!
//! ```text
//! cargo run --release -p warpfft --example guards           # every device
//! cargo run --release -p warpfft --example guards -- wgpu   # this one
//! ```
//!
//! A line: length; then relative L2 errors in f32, f64, double-single, and double-single without guards; `-` where the
//! device has none.

use warpfft::core::problem::Precision;
use warpfft::core::program::compile;
use warpfft::core::request::Fft;
use warpfft::core::target::{Api, Limits};
use warpfft::{Device, DeviceKind, Error, Plan};

const LENGTHS: [u64; 13] = [4, 16, 31, 37, 64, 127, 256, 1000, 1009, 1024, 4096, 16_384, 65_536];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut kinds: Vec<DeviceKind> =
        std::env::args().skip(1).map(|kind| kind.parse()).collect::<Result<_, _>>()?;
    if kinds.is_empty() {
        kinds = vec![DeviceKind::Sim, DeviceKind::Wgpu, DeviceKind::Cuda];
    }
    for kind in kinds {
        match Device::open(kind) {
            Ok(device) => of_device(&device)?,
            Err(why) => println!("{kind} skipped: {why}"),
        }
    }
    Ok(())
}

fn of_device(device: &Device) -> Result<(), Error> {
    let Some(limits) = device.limits() else {
        println!("{device:?} has no kernels");
        return Ok(());
    };
    // Kernels are guarded in WGSL: with the limits of another language they are not.
    let open = Limits {
        api: Api::Ptx { sm: 75 },
        index64: false,
        f64: false,
        f16: false,
        shuffle: false,
        ..limits.clone()
    };
    println!("{device:?}: n, f32, f64, double-single, without guards");
    for n in LENGTHS {
        let of = |precision| Fft::new([n]).batch((4096 / n).max(1)).precision(precision).build();
        let mut row = format!("{n:6}");
        for precision in [Precision::F32, Precision::F64, Precision::DoubleSingle] {
            row += &format!(" | {}", error(device.plan(&of(precision)?)));
        }
        let program = compile(&of(Precision::DoubleSingle)?, &open).map_err(Error::from);
        println!("{row} | {}", error(program.and_then(|program| device.load(program))));
    }
    Ok(())
}

fn error(plan: Result<Plan, Error>) -> String {
    plan.and_then(|plan| plan.verify()).map_or_else(|_| "-".into(), |found| format!("{:.2e}", found.error))
}
