//! Programs to run while better ones are still being assembled.
//!
//! A driver's assembler takes as long as a kernel has instructions, and the fastest kernels are long: each thread
//! holds many points, and has its own code for each. Where a thread may have fewer registers, the same search comes
//! to kernels of which the code is shorter and the time longer.

use rayon::prelude::*;

use super::{Program, compile};
use crate::problem::{Precision, Problem};
use crate::target::Limits;

/// Registers that a thread may have. In single precision 96 are enough for 91 of 100 lengths to 16384, and halve the longest
/// kernels; with 64 only 60 can do, by hardly less.
const REGISTERS: [u32; 2] = [96, 128];
/// Of a program's instructions a stand-in for it has at most this part: otherwise its own kernels are as good.
const SHORTER: f64 = 0.9;
/// Points of a transform up to which there are any: others take several passes, and the search for fewer registers
/// comes to more workspace.
const MOST_POINTS: u64 = 1 << 17;

/// Programs that solve a problem in fewer registers than the device has: what there is to choose a [`stand_in`] from.
/// It can be asked for beside the program itself.
pub fn narrower(problem: &Problem, limits: &Limits) -> Vec<Program> {
    let points = problem.transform.iter().map(|dim| dim.n).fold(1, u64::saturating_mul);
    if points > MOST_POINTS {
        return Vec::new();
    }
    // A number of two words takes two registers.
    let least = if problem.precision == Precision::F32 { 0 } else { 1 };
    let fewer = |registers: &&u32| **registers < limits.registers_per_thread;
    let compiled = |&registers: &u32| {
        let narrowed = Limits { registers_per_thread: registers, ..limits.clone() };
        compile(problem, &narrowed).ok()
    };
    REGISTERS[least..].par_iter().filter(fewer).filter_map(compiled).collect()
}

/// Of others for the same problem, the program with the shortest kernels, if these are shorter than the program's own and it
/// asks for no more workspace.
///
/// # Examples
///
/// ```
/// use warpfft_core::{program::{compile, narrower, stand_in}, request::Fft, target::Limits};
///
/// let (problem, limits) = (Fft::new([8192]).batch(8192).build()?, Limits::h200());
/// let best = compile(&problem, &limits)?;
/// let soon = stand_in(&best, narrower(&problem, &limits)).expect("8192 points can do with less");
/// assert!(soon.longest() < best.longest());
/// # Ok::<(), warpfft_core::Error>(())
/// ```
pub fn stand_in(program: &Program, others: Vec<Program>) -> Option<Program> {
    let most = (SHORTER * program.longest() as f64) as usize;
    let suits = |other: &Program| {
        other.problem == program.problem
            && other.longest() <= most
            && other.workspace_bytes <= program.workspace_bytes
    };
    others.into_iter().filter(suits).min_by_key(Program::longest)
}
