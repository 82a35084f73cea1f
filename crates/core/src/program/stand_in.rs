//! Programs to run while better ones are still being assembled.
//!
//! A driver's assembler takes as long as a kernel has instructions, and the fastest kernels are long: each thread
//! holds many points, and has its own code for each. Where a thread may have fewer registers, the same search comes
//! to kernels of which the code is shorter and the time longer.

use super::{Program, compile};
use crate::problem::Precision;
use crate::target::Limits;

/// Registers that a thread may have, the fewest first. In single precision 96 are enough for 95 of 100 lengths to 29000,
/// whose kernels have at most 2250 instructions then, where 3600 are fastest; with 64, 85 of 100 have at most 1900, and
/// the search takes four times as long.
const REGISTERS: [u32; 2] = [96, 128];
/// Of a program's instructions a stand-in for it has at most this part: otherwise its own kernels are as good.
const SHORTER: f64 = 0.8;

/// A program that solves the same problem by shorter kernels and asks for no more workspace, where there is one.
///
/// # Examples
///
/// ```
/// use warpfft_core::{program::{compile, stand_in}, request::Fft, target::Limits};
///
/// let (problem, limits) = (Fft::new([8192]).batch(8192).build()?, Limits::h200());
/// let best = compile(&problem, &limits)?;
/// let soon = stand_in(&best, &limits).expect("8192 points can do with less");
/// assert!(soon.longest() < best.longest());
/// # Ok::<(), warpfft_core::Error>(())
/// ```
pub fn stand_in(program: &Program, limits: &Limits) -> Option<Program> {
    let most = (SHORTER * program.longest() as f64) as usize;
    let suits = |other: &Program| other.longest() <= most && other.workspace_bytes <= program.workspace_bytes;
    // A number of two words takes two registers.
    let least = if program.problem.precision == Precision::F32 { 0 } else { 1 };
    let narrower = REGISTERS[least..].iter().filter(|&&registers| registers < limits.registers_per_thread);
    let compiled = |&registers: &u32| {
        let narrowed = Limits { registers_per_thread: registers, ..limits.clone() };
        compile(&program.problem, &narrowed).ok()
    };
    narrower.filter_map(compiled).find(suits)
}
