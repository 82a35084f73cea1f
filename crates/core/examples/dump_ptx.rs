//! Writes PTX into a folder, for the assembler to judge (`.ci/ptxas FOLDER`).
//!
//! ```text
//! cargo run -p warpfft-core --example dump_ptx -- FOLDER SM [SHAPE..]
//! ```
//!
//! With shapes such as 1000, 64x64, r2c:64x64, f16:64x64 or, for a count that each run gives, any:64x64: the kernels of batched transforms
//! of these, in both precisions. Without: the kernels of the golden files, which together use every operation.

#[path = "../tests/golden/kernels/mod.rs"]
#[allow(dead_code, reason = "what WGSL lacks is for the tests")]
mod kernels;

use std::error::Error;
use std::num::ParseIntError;
use std::path::Path;

use warpfft_core::emit;
use warpfft_core::kernel::verify::verify;
use warpfft_core::kernel::{Kernel, Verified};
use warpfft_core::problem::Precision;
use warpfft_core::request::Fft;
use warpfft_core::target::Limits;

/// Points of each batch.
const POINTS: u64 = 1 << 24;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(folder), Some(sm)) = (args.next(), args.next()) else {
        return Err("usage: dump_ptx FOLDER SM [SHAPE..]".into());
    };
    let (folder, sm) = (Path::new(&folder), sm.parse::<u32>()?);
    std::fs::create_dir_all(folder)?;
    let shape = |arg: String| {
        let (kind, shape) = arg.split_once(':').unwrap_or(("c2c", &arg));
        let shape = shape.split('x').map(str::parse).collect::<Result<Vec<u64>, _>>()?;
        Ok::<_, ParseIntError>((kind.to_owned(), shape))
    };
    let shapes = args.map(shape).collect::<Result<Vec<_>, _>>()?;
    if shapes.is_empty() {
        for case in kernels::all().into_iter().filter(|case| case.sm <= sm) {
            write(folder, &case.kernel.name.clone(), &verify(case.kernel)?, sm)?;
        }
        return Ok(());
    }
    let limits = match sm {
        ..80 => Limits::t4(),
        80..90 => Limits::a100(),
        _ => Limits::h200(),
    };
    for (kind, shape) in shapes {
        let points: u64 = shape.iter().product();
        let name: Vec<String> = shape.iter().map(ToString::to_string).collect();
        let name = format!("{kind}_{}", name.join("x"));
        for precision in [Precision::F32, Precision::F64] {
            let batch = (POINTS / points.max(1)).max(1);
            let fft = Fft::new(shape.clone()).batch(batch).precision(precision);
            let fft = match kind.as_str() {
                "any" => fft.any_batch(),
                "r2c" => fft.r2c(),
                "c2r" => fft.c2r(),
                "f16" => fft.f16(),
                _ => fft,
            };
            let problem = fft.build()?;
            let program = warpfft_core::compile(&problem, &limits)?;
            for (i, kernel) in program.kernels.iter().enumerate() {
                write(folder, &format!("{precision:?}_{name}_{i}").to_lowercase(), kernel, sm)?;
            }
        }
    }
    Ok(())
}

fn write(folder: &Path, name: &str, kernel: &Verified<Kernel>, sm: u32) -> Result<(), Box<dyn Error>> {
    let text = emit::ptx(kernel, sm)?;
    std::fs::write(folder.join(format!("{name}_sm{sm}.ptx")), text)?;
    Ok(())
}
