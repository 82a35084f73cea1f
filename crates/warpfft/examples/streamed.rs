//! Times transforms of data in the computer's memory on the device that is best here: by size of the parts, from memory
//! that the device reaches by itself and from ordinary memory, beside one call for all and the processor.
//!
//! ```text
//! cargo run --release -p warpfft --example streamed              # 24x24x24, 1 to 4096 at once
//! cargo run --release -p warpfft --example streamed -- 1024
//! cargo run --release -p warpfft --example streamed -- parts     # by the size of the parts
//! ```
//!
//! Times are microseconds, medians.

use std::time::{Duration, Instant};

use warpfft::core::problem::Problem;
use warpfft::core::request::Fft;
use warpfft::{Complex, Device, DeviceKind, Error};

const BUDGET: Duration = Duration::from_millis(80);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::open(DeviceKind::Auto)?;
    println!("{device:?}");
    let asked = std::env::args().nth(1);
    if asked.as_deref() == Some("parts") {
        return Ok(by_parts(&device)?);
    }
    let shape: Vec<u64> =
        asked.as_deref().unwrap_or("24x24x24").split('x').map(str::parse).collect::<Result<_, _>>()?;
    println!("   batch  at once  pinned  ordinary  processor");
    let points: u64 = shape.iter().product();
    let most = ((1 << 26) / points.max(1)).clamp(1, 4096);
    let batches =
        std::iter::successors(Some(1_u64), |batch| Some(batch * 4)).take_while(|&batch| batch <= most);
    for batch in batches.chain((points == 13_824).then_some(54)) {
        let problem = Fft::new(shape.clone()).batch(batch).build()?;
        let [once, pinned, ordinary] = times(&device, &problem)?;
        let here = Device::cpu().plan(&problem)?.measure(BUDGET)?.transform_seconds * 1e6;
        println!("{batch:>8} {once:>8.0} {pinned:>7.0} {ordinary:>9.0} {here:>10.0}");
    }
    Ok(())
}

/// Microseconds of a call for all, of the pipeline from pinned memory, and of the pipeline from ordinary memory.
fn times(device: &Device, problem: &Problem) -> Result<[f64; 3], Error> {
    let plan = device.plan(problem)?;
    let pipeline = device.pipeline(problem)?;
    let length = plan.input_elements() as usize;
    let input = vec![Complex::new(0.5_f32, -0.25); length];
    let mut output = vec![Complex::default(); length];
    let mut from = device.host_array(length)?;
    from.copy_from_slice(&input);
    let mut to = device.host_array::<Complex<f32>>(length)?;
    Ok([
        median(|| plan.run_host(&input, &mut output))?,
        median(|| pipeline.run(&from[..], &mut to[..]))?,
        median(|| pipeline.run(&input, &mut output))?,
    ])
}

fn by_parts(device: &Device) -> Result<(), Error> {
    println!("   batch  part KiB  parts  time us  transfers us");
    for batch in [5, 20, 54, 256, 1024, 4096] {
        for kib in [128, 256, 512, 1024, 2048, 4096, 8192, 16_384, 65_536] {
            let problem = Fft::new([24, 24, 24]).batch(batch).build()?;
            let pipeline = device.pipeline_in_parts(&problem, kib << 10)?;
            let measured = pipeline.measure(BUDGET)?;
            let [time, transfers] = [measured.transform_seconds, measured.copy_seconds].map(|s| s * 1e6);
            println!("{batch:>8} {kib:>9} {:>6} {time:>8.0} {transfers:>13.0}", pipeline.parts());
            if pipeline.parts() == 1 {
                break;
            }
        }
    }
    Ok(())
}

fn median(mut run: impl FnMut() -> Result<(), Error>) -> Result<f64, Error> {
    run()?;
    let (started, mut took) = (Instant::now(), Vec::new());
    while took.len() < 5 || started.elapsed() < BUDGET {
        let own = Instant::now();
        run()?;
        took.push(own.elapsed().as_secs_f64() * 1e6);
    }
    took.sort_by(f64::total_cmp);
    Ok(took[took.len() / 2])
}
