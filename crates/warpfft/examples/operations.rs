//! What operations cost that a transform carries with it: each shape plain, and with functions, windows, shifts, a count that
//! each run gives, all of a spectrum, and as a band of frequencies, as CSV on standard output. Copies are those of a problem's own bytes,
//! `over_plain` is its time over that of the plain transform.
//!
//! ```text
//! cargo run --release --example operations -- 1024 256x256 f64:1000 r2c:4096   # on the GPU; WARPFFT_DEVICE=cpu elsewhere
//! ```

use std::error::Error;
use std::time::Duration;

use warpfft::core::request::Fft;
use warpfft::{Device, DeviceKind};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Bytes of the larger side of a problem, of which `WARPFFT_BYTES` may ask for less.
const BYTES: u64 = 1 << 29;

/// Seconds that each problem is timed for.
const SECONDS: f64 = 0.08;

/// What is added to a plain transform; `None` where it is not for the kind or the rank.
type Operation = (&'static str, fn(Fft, &str, &[u64]) -> Option<Fft>);

/// Every operation that is timed.
const OPERATIONS: [Operation; 11] = [
    ("plain", |fft, _, _| Some(fft)),
    ("window on load", |fft, _, shape| {
        let (axis, n) = (shape.len() - 1, *shape.last()? as f64);
        // Hann's window by its parabola: functions have no cosine.
        Some(fft.on_load(move |x, at| x * (at.axis(axis) * (n - at.axis(axis)) * (4.0 / (n * n)))))
    }),
    ("ramp on load", |fft, _, shape| {
        let axis = shape.len() - 1;
        Some(fft.on_load(move |x, at| x * (at.axis(axis) + 1.0)))
    }),
    ("power on store", |fft, kind, _| (kind != "c2r").then(|| fft.on_store(|x, _| x.norm_sqr()))),
    ("both", |fft, kind, shape| {
        let axis = shape.len() - 1;
        (kind != "c2r")
            .then(|| fft.on_load(move |x, at| x * (at.axis(axis) + 1.0)).on_store(|x, _| x.norm_sqr()))
    }),
    ("half of zeros", |fft, kind, shape| {
        let half: Vec<u64> = shape.iter().map(|n| n.div_ceil(2)).collect();
        (kind != "c2r").then(|| fft.pad(&half))
    }),
    ("half wanted", |fft, kind, shape| {
        let half: Vec<u64> = shape.iter().map(|n| n.div_ceil(2)).collect();
        (kind != "r2c").then(|| fft.crop(&half))
    }),
    ("shift of output", |fft, kind, _| (kind != "r2c").then(|| fft.shift_output())),
    ("count", |fft, _, _| Some(fft.any_batch())),
    ("full spectrum", |fft, kind, _| (kind == "r2c").then(|| fft.full_spectrum())),
    ("an eighth of the band", |fft, kind, shape| match shape {
        &[n] if kind != "r2c" && kind != "c2r" => Some(fft.zoom(0.1, 0.225, (n / 8).max(1))),
        _ => None,
    }),
];

fn main() -> Outcome {
    let by = std::env::var("WARPFFT_DEVICE").unwrap_or_else(|_| "cuda".to_owned());
    let device = Device::open(by.parse::<DeviceKind>()?)?;
    let bytes = std::env::var("WARPFFT_BYTES").map_or(Ok(BYTES), |bytes| bytes.parse())?;
    println!("kind,shape,operation,passes,copies,us,over_plain");
    for arg in std::env::args().skip(1) {
        let (kind, text) = arg.split_once(':').unwrap_or(("c2c", &arg));
        let shape: Vec<u64> = text.split('x').map(str::parse).collect::<Result<_, _>>()?;
        let each = match kind {
            "f64" => 16,
            "c2c" => 8,
            "r2c" | "c2r" => 4,
            _ => return Err(format!("there is no kind {kind:?}: c2c, f64, r2c, c2r").into()),
        };
        let batch = (bytes / each / shape.iter().product::<u64>().max(1)).max(1);
        let mut plain = None;
        for (name, operation) in OPERATIONS {
            let fft = Fft::new(shape.clone());
            // What makes the spectrum of reals whole names the kind itself.
            let fft = match kind {
                "f64" => fft.f64(),
                "r2c" if name != "full spectrum" => fft.r2c(),
                "c2r" => fft.c2r(),
                _ => fft,
            };
            let Some(fft) = operation(fft.batch(batch), kind, &shape) else { continue };
            let plan = device.plan(&fft.build()?)?;
            let took = plan.measure(Duration::from_secs_f64(SECONDS))?;
            let plain = *plain.get_or_insert(took.transform_seconds);
            let passes = plan.program().map_or(0, |program| program.launches.len());
            let (us, over) = (took.transform_seconds * 1e6, took.transform_seconds / plain);
            println!("{kind},{text},{name},{passes},{:.3},{us:.1},{over:.3}", took.copies());
        }
    }
    Ok(())
}
