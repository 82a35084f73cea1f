//! Writes PTX into a folder, for the assembler to judge (`.ci/ptxas FOLDER`).
//!
//! ```text
//! cargo run -p warpfft-core --example dump_ptx -- FOLDER SM [LENGTH..]
//! ```
//!
//! With lengths: the kernels of batched complex transforms of these lengths, in both precisions. Without: the
//! kernels of the golden files, which together use every operation.

#[path = "../tests/golden/kernels/mod.rs"]
#[allow(dead_code, reason = "what WGSL lacks is for the tests")]
mod kernels;

use std::error::Error;
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
        return Err("usage: dump_ptx FOLDER SM [LENGTH..]".into());
    };
    let (folder, sm) = (Path::new(&folder), sm.parse::<u32>()?);
    std::fs::create_dir_all(folder)?;
    let lengths = args.map(|arg| arg.parse::<u64>()).collect::<Result<Vec<_>, _>>()?;
    if lengths.is_empty() {
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
    for n in lengths {
        for precision in [Precision::F32, Precision::F64] {
            let problem = Fft::new([n]).batch((POINTS / n.max(1)).max(1)).precision(precision).build()?;
            let program = warpfft_core::compile(&problem, &limits)?;
            for (i, kernel) in program.kernels.iter().enumerate() {
                write(folder, &format!("{precision:?}_{n}_{i}").to_lowercase(), kernel, sm)?;
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
