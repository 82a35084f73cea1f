//! Prints plan, tile and cost of batched lengths: `cargo run --example tiles -- 1024 1000 4099`.

use std::time::Instant;

use warpfft_core::problem::{Dim, Direction, Format, Placement, Precision, Problem};
use warpfft_core::program::Compiled;
use warpfft_core::target::Limits;

fn main() {
    for arg in std::env::args().skip(1) {
        let n: u64 = arg.parse().expect("a length");
        let rows = ((1_u64 << 26) / n).max(1);
        let problem = Problem {
            transform: vec![Dim::new(n, 1, 1)],
            batch: if rows > 1 { vec![Dim::new(rows, n as i64, n as i64)] } else { vec![] },
            input_offset: 0,
            output_offset: 0,
            precision: Precision::F32,
            input: Format::Interleaved,
            output: Format::Interleaved,
            placement: Placement::OutOfPlace,
            direction: Direction::Forward,
            scale: 1.0,
        };
        let start = Instant::now();
        match Compiled::of(&problem, &Limits::h200()) {
            Err(error) => println!("{n}: {error}"),
            Ok(compiled) => {
                let ms = start.elapsed().as_secs_f64() * 1e3;
                println!("{n}: {} ({ms:.1} ms)", compiled.schedule.plans[0]);
                for (part, kernel) in compiled.parts.iter().zip(&compiled.program.launches) {
                    let k = &compiled.program.kernels[kernel.kernel];
                    println!(
                        "   {} threads {} batch {:?} cost {:.3} exchanges {} conflicts {:.2} shared {} insts {}",
                        k.name,
                        part.tile.threads,
                        part.tile.batch,
                        part.cost,
                        part.exchanges,
                        part.conflicts,
                        k.shared_bytes(),
                        k.body.insts.len()
                    );
                }
            }
        }
    }
}
