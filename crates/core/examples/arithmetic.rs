//! Prints what each arithmetic comes to in the simulator, for rows of many lengths: relative L2 errors, these in units
//! of the arithmetic's last place, and instructions a point.
//!
//! ```text
//! cargo run --release -p warpfft-core --example arithmetic               # 2 to 2^18 points
//! cargo run --release -p warpfft-core --example arithmetic -- 1000 1009  # these lengths
//! ```
//!
//! A line: length; then error, units and instructions of f32, f64 and double-single on an H200, and of double-single with
//! the guards of WGSL; last the bound on errors in f32, in its units.

#[path = "../tests/common/mod.rs"]
mod common;

use common::{Case, rows};
use warpfft_core::compile;
use warpfft_core::problem::Precision;
use warpfft_core::target::Limits;

/// Lengths where none are given.
const LENGTHS: [u64; 21] = [
    2, 4, 8, 16, 31, 32, 37, 43, 64, 127, 128, 240, 256, 1000, 1009, 1024, 4096, 8191, 16_384, 65_536,
    262_144,
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut lengths: Vec<u64> = std::env::args().skip(1).map(|n| n.parse()).collect::<Result<_, _>>()?;
    if lengths.is_empty() {
        lengths = LENGTHS.to_vec();
    }
    for n in lengths {
        let batch = (1_u64 << 14).div_ceil(n).min(512);
        print!("{n:7}");
        for (precision, limits, unit) in [
            (Precision::F32, Limits::h200(), 2_f64.powi(-24)),
            (Precision::F64, Limits::h200(), 2_f64.powi(-53)),
            (Precision::DoubleSingle, Limits::h200(), 2_f64.powi(-48)),
            (Precision::DoubleSingle, Limits::vulkan_min(), 2_f64.powi(-48)),
        ] {
            let problem = rows(n, batch, precision);
            let program = compile(&problem, &limits)?;
            let (error, report) = Case::new(&problem).error(&program, &limits, "rows");
            let per = |count: u64| count as f64 / problem.elements() as f64;
            print!(" | {error:.2e} {:5.2} {:6.0}", error / unit, per(report.instructions));
        }
        println!(" | {:.2}", rows(n, batch, Precision::F32).error_bound() * 2_f64.powi(24));
    }
    Ok(())
}
