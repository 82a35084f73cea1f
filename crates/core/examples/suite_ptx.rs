//! Writes the PTX of the benchmark suite's kernels on an H200 into a folder, one file for each distinct kernel, for
//! the assembler to judge: `cargo run --example suite_ptx -- FOLDER && .ci/ptxas FOLDER`.

use std::collections::HashSet;
use std::path::Path;

use warpfft_core::problem::Precision;
use warpfft_core::request::Fft;
use warpfft_core::target::Limits;
use warpfft_core::{compile, emit};

const SUITE: &str = include_str!("../../../bench/suites/h200.csv");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: suite_ptx FOLDER")?;
    std::fs::create_dir_all(&folder)?;
    let mut seen = HashSet::new();
    for line in SUITE.lines().filter(|line| line.starts_with("c2c,")) {
        let mut fields = line.split(',').skip(1);
        let (Some(precision), Some(shape), Some(batch)) = (fields.next(), fields.next(), fields.next())
        else {
            return Err(format!("a short line: {line}").into());
        };
        let precision = match precision {
            "f32" => Precision::F32,
            "f64" => Precision::F64,
            _ => continue,
        };
        let lengths = shape.split('x').map(str::parse).collect::<Result<Vec<u64>, _>>()?;
        let problem = Fft::new(lengths).batch(batch.parse()?).precision(precision).build()?;
        for kernel in &compile(&problem, &Limits::h200())?.kernels {
            let text = emit::ptx(kernel, 90)?;
            if seen.insert(text.clone()) {
                let name = format!("suite_{shape}_{}_{:03}.ptx", kernel.name, seen.len());
                std::fs::write(Path::new(&folder).join(name), text)?;
            }
        }
    }
    println!("{} kernels in {folder}", seen.len());
    Ok(())
}
