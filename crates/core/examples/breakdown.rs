//! Where the time to a plan goes: `cargo run --release --example breakdown -- 8 64 1000 4099`.

use std::time::Instant;

use warpfft_core::kernel::pass;
use warpfft_core::lower::{Walk, lower, tile};
use warpfft_core::problem::Precision;
use warpfft_core::request::Fft;
use warpfft_core::target::Limits;
use warpfft_core::{emit, program, schedule};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("length schedule tile lower optimise ptx whole (ms), instructions");
    let limits = Limits::h200();
    for arg in std::env::args().skip(1) {
        let n: u64 = arg.parse()?;
        let problem = Fft::new([n]).batch((1 << 26) / n).precision(Precision::F32).build()?;
        let mut marks = vec![Instant::now()];
        let schedule = schedule::schedule(&problem, &limits)?;
        marks.push(Instant::now());
        let tiles: Vec<_> = schedule.passes.iter().filter_map(|pass| tile::choose(pass, &limits)).collect();
        marks.push(Instant::now());
        let kernels: Vec<_> = schedule
            .passes
            .iter()
            .zip(&tiles)
            .map(|(pass, choice)| lower(pass, &choice.tile, Walk::Rising, &limits, "fft").kernel)
            .collect();
        marks.push(Instant::now());
        let count: usize = kernels.iter().map(|kernel| kernel.body.insts.len()).sum();
        let verified: Vec<_> =
            kernels.into_iter().map(|kernel| pass::optimise(kernel, &limits)).collect::<Result<_, _>>()?;
        marks.push(Instant::now());
        for kernel in &verified {
            emit::ptx(kernel, 90)?;
        }
        marks.push(Instant::now());
        program::compile(&problem, &limits)?;
        marks.push(Instant::now());
        let times: Vec<String> =
            marks.windows(2).map(|w| format!("{:.2}", (w[1] - w[0]).as_secs_f64() * 1e3)).collect();
        println!("{n} {} {count}", times.join(" "));
    }
    Ok(())
}
