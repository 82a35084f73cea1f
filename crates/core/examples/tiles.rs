//! Prints plans, tiles and expected cost of batched shapes on an H200, in double precision after `f64`:
//! `cargo run --example tiles -- 1024 64x64 r2c:65536 f64 1000`.

use warpfft_core::kernel::pass::max_live;
use warpfft_core::problem::Precision;
use warpfft_core::program::Compiled;
use warpfft_core::request::Fft;
use warpfft_core::target::Limits;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut precision = Precision::F32;
    for arg in std::env::args().skip(1) {
        if arg == "f64" {
            precision = Precision::F64;
            continue;
        }
        let (kind, shape) = arg.split_once(':').unwrap_or(("c2c", &arg));
        let shape: Vec<u64> = shape.split('x').map(str::parse).collect::<Result<_, _>>()?;
        let points: u64 = shape.iter().product();
        let fft = Fft::new(shape).batch(((1 << 26) / points).max(1)).precision(precision);
        let fft = match kind {
            "r2c" => fft.r2c(),
            "c2r" => fft.c2r(),
            _ => fft,
        };
        let problem = fft.build()?;
        let compiled = Compiled::of(&problem, &Limits::h200())?;
        for plan in &compiled.schedule.plans {
            println!("{arg}: {plan}");
        }
        for (part, launch) in compiled.parts.iter().zip(&compiled.program.launches) {
            let kernel = &compiled.program.kernels[launch.kernel];
            println!(
                "   {} cluster {} threads {} batch {:?} cost {:.3} exchanges {} conflicts {:.2} shared {} instructions {} live {} blocks {}",
                kernel.name,
                part.tile.cluster,
                part.tile.threads,
                part.tile.batch,
                part.cost,
                part.exchanges,
                part.conflicts,
                kernel.shared_bytes(),
                kernel.body.insts.len(),
                max_live(kernel),
                kernel.min_blocks
            );
        }
    }
    Ok(())
}
