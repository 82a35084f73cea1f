//! How convolutions would go on an H200: blocks or lengths, passes, tiles, and what the cost model expects.
//!
//! ```text
//! cargo run --release -p warpfft-core --example convolved -- 64 1024x1024:15x15 8192:129
//! ```
//!
//! Where `PTX` names a folder, the kernels are written there.

use std::error::Error;
use std::time::Instant;

use warpfft_core::lower::tile;
use warpfft_core::program::Compiled;
use warpfft_core::request::{Convolution, Mode};
use warpfft_core::target::Limits;

fn main() -> Result<(), Box<dyn Error>> {
    let limits = Limits::h200();
    let mut args = std::env::args().skip(1);
    let batch: u64 = args.next().ok_or("usage: convolved BATCH IMAGE:KERNEL..")?.parse()?;
    for arg in args {
        let lengths = |text: &str| text.split('x').map(str::parse).collect::<Result<Vec<u64>, _>>();
        let parts: Vec<Vec<u64>> = arg.split(':').map(lengths).collect::<Result<_, _>>()?;
        let [image, kernel, block @ ..] = &parts[..] else { return Err("give IMAGE:KERNEL[:BLOCK]".into()) };
        let mut asked = Convolution::new(image.clone(), kernel.clone()).mode(Mode::Same).batch(batch);
        if let [block] = block {
            asked = asked.blocks_of(block.clone());
        }
        for asked in [asked.clone().real(), asked] {
            let started = Instant::now();
            let problems = asked.problems(Some(&limits))?;
            let chosen = started.elapsed();
            let compiled = Compiled::of(&problems.part, &limits)?;
            if let Some(folder) = std::env::var_os("PTX") {
                let program = warpfft_core::compile(&problems.part, &limits)?;
                for (i, kernel) in program.kernels.iter().enumerate() {
                    let name = format!("{}_{:?}_{i}_sm90.ptx", arg.replace(':', "_"), asked.formats()[0]);
                    let text = warpfft_core::emit::ptx(kernel, 90)?;
                    std::fs::write(std::path::Path::new(&folder).join(name), text)?;
                }
            }
            println!("{arg} {:?}: {:?}, chosen in {chosen:.0?}", asked.formats()[0], problems.padded);
            for (pass, part) in compiled.schedule.passes.iter().zip(&compiled.parts) {
                let cost = tile::assess(pass, &part.tile, &limits).map(|choice| choice.cost);
                let stages: Vec<Vec<u32>> = (pass.axes.iter())
                    .map(|axis| axis.method.stages().iter().map(|stage| stage.radix).collect())
                    .collect();
                let [read, written] = [false, true].map(|writes| pass.bytes(writes) >> 20);
                println!("  {stages:?} {:?}: {read} + {written} MiB, {cost:.2?} copies", part.tile);
            }
        }
    }
    Ok(())
}
