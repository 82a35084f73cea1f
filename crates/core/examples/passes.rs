//! What the IR passes do to the kernels of batched lengths: `cargo run --release --example passes -- 1024 4096`.
//! Prints instructions and live registers before and after, and the time that the passes take together.

use std::time::Instant;

use warpfft_core::kernel::{Block, pass};
use warpfft_core::problem::Precision;
use warpfft_core::request::Fft;
use warpfft_core::target::Limits;
use warpfft_core::{lower, schedule};

fn main() {
    let limits = Limits::h200();
    for arg in std::env::args().skip(1) {
        let n: u64 = arg.parse().expect("a length");
        for precision in [Precision::F32, Precision::F64] {
            let rows = ((1_u64 << 24) / n.max(1)).max(1);
            let problem = Fft::new([n]).batch(rows).precision(precision).build();
            let schedule = match problem.and_then(|problem| schedule::schedule(&problem, &limits)) {
                Ok(schedule) => schedule,
                Err(error) => {
                    println!("{n}: {error}");
                    continue;
                }
            };
            for step in &schedule.passes {
                let Some(choice) = lower::tile::choose(step, &limits) else { continue };
                let kernel = lower::lower(step, &choice.tile, lower::Walk::Rising, &limits, "kernel").kernel;
                let before = (count(&kernel.body), pass::max_live(&kernel));
                let start = Instant::now();
                match pass::optimise(kernel, &limits) {
                    Err(error) => println!("{n}: {error}"),
                    Ok(best) => {
                        let ms = start.elapsed().as_secs_f64() * 1e3;
                        let after = (count(&best.body), pass::max_live(&best));
                        println!(
                            "{n} {precision:?}: {} -> {} instructions, {} -> {} live registers, {ms:.2} ms",
                            before.0, after.0, before.1, after.1
                        );
                    }
                }
            }
        }
    }
}

fn count(block: &Block) -> usize {
    block.insts.iter().map(|inst| 1 + inst.blocks.iter().map(count).sum::<usize>()).sum()
}
