//! Times transforms of real data in copies of their own bytes, as docs/performance.md counts them.
//!
//! ```sh
//! cargo run --release -p warpfft --example real -- 0.1 f32 r2c:1024 dct2:100 r2c:512x512
//! ```

use std::error::Error;
use std::time::Duration;

use warpfft::core::explain::Explanation;
use warpfft::core::problem::{Precision, RealKind};
use warpfft::core::request::Fft;
use warpfft::{Device, DeviceKind, Timing};

/// Bytes of the reals.
const BYTES: u64 = 256 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let seconds: f64 = arguments.next().unwrap_or_else(|| "0.1".into()).parse()?;
    let precision = match arguments.next().as_deref() {
        Some("f64") => Precision::F64,
        _ => Precision::F32,
    };
    let device = Device::open(DeviceKind::Auto)?;
    // A file to write what tuning finds to.
    let written = std::env::var("WISDOM").ok();
    let tune = written.is_some();
    let mut wisdom = warpfft::Wisdom::default();
    println!("{}", device.name());
    println!("{:>16} {:>9} {:>7} {:>9} {:>7}", "case", "batch", "copies", "expected", "passes");
    for case in arguments {
        let (kind, shape) = case.split_once(':').ok_or("write a kind, a colon and a shape")?;
        let shape: Vec<u64> = shape.split('x').map(str::parse).collect::<Result<_, _>>()?;
        let batch = (BYTES / precision.real_bytes() / shape.iter().product::<u64>()).max(1);
        let fft = Fft::new(shape).batch(batch).precision(precision);
        let problem = match kind {
            "c2c" => fft,
            "r2c" => fft.r2c(),
            "c2r" => fft.c2r(),
            kind => {
                let known = RealKind::ALL.into_iter().find(|known| known.name() == kind);
                fft.r2r([known.ok_or("no such kind")?])
            }
        }
        .build()?;
        let plan = match device.plan(&problem) {
            Ok(plan) => plan,
            Err(error) => {
                println!("{case:>16} {error}");
                continue;
            }
        };
        let explained: Option<Explanation> = device.explain(&problem)?;
        let (expected, passes) =
            explained.map_or((0.0, 0), |explained| (explained.predicted_copies, explained.passes.len()));
        if tune {
            let tuned = device.tune(&problem, Duration::from_secs_f64(20.0 * seconds))?;
            let copies = tuned.entry.copies.unwrap_or(f64::NAN);
            println!("{case:>16} {copies:>9.3} tuned, gain {:.3}", tuned.gain());
            wisdom.insert(tuned.entry);
            continue;
        }
        let measured = plan.measure(Timing::from(Duration::from_secs_f64(seconds)))?;
        println!("{case:>16} {batch:>9} {:>7.3} {expected:>9.2} {passes:>7}", measured.copies());
    }
    if let Some(path) = written {
        wisdom.save(std::path::Path::new(&path))?;
    }
    Ok(())
}
