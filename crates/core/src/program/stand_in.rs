//! Programs to run while better ones are still being assembled.
//!
//! A driver's assembler takes as long as a kernel has instructions, and the fastest kernels are long: each thread
//! holds many points, and has its own code for each. The same search comes to shorter ones where instructions count
//! for more ([`Limits::brevity`]).

use super::{Program, compile};
use crate::error::Error;
use crate::kernel::verify::verify;
use crate::kernel::{Block, Kernel, KernelError, Op, Verified};
use crate::problem::Problem;
use crate::target::Limits;

/// Copies that a thousand instructions count as: of 127 lengths to 16384 half have 1500 instructions at most by it, where 2100
/// are fastest, and none more than 3626, where 6240 are; the model expects them to take 1.4 times as long.
const BREVITY: f64 = 4.0;
/// Of a program's instructions a stand-in for it has at most this part: otherwise there is little to gain.
const SHORTER: f64 = 0.9;
/// Points of a transform up to which stand-ins are looked for: longer ones take several passes, whose kernels are short.
const MOST_POINTS: u64 = 1 << 17;

/// A program that solves a problem by kernels that are short rather than fast; `None` where the problem is so large that
/// there is nothing to gain. It can be asked for beside the best program.
///
/// # Errors
///
/// As [`compile`].
pub fn brief(problem: &Problem, limits: &Limits) -> Result<Option<Program>, Error> {
    let points = problem.transform.iter().map(|dim| dim.n).fold(1, u64::saturating_mul);
    if points > MOST_POINTS {
        return Ok(None);
    }
    let program = compile(problem, &Limits { brevity: BREVITY, ..limits.clone() })?;
    let kernels = program.kernels.into_iter().map(unhinted).collect::<Result<_, _>>();
    let kernels = kernels.map_err(|error| Error::Plan {
        problem: "a stand-in".into(),
        reason: error.to_string(),
        would_work: "the best program runs".into(),
    })?;
    Ok(Some(Program { kernels, ..program }))
}

/// A kernel that asks for nothing ahead: the copy engine takes addresses that are multiples of 16 bytes, which the best program
/// may not ask of the caller.
fn unhinted(kernel: Verified<Kernel>) -> Result<Verified<Kernel>, KernelError> {
    fn strip(block: &mut Block) {
        block.insts.retain(|inst| !matches!(inst.op, Op::BulkPrefetch { .. }));
        block.insts.iter_mut().flat_map(|inst| &mut inst.blocks).for_each(strip);
    }
    let mut kernel = kernel.into_inner();
    strip(&mut kernel.body);
    verify(kernel)
}

/// The other program, if it can stand in for the first: its kernels are shorter by a tenth at least, and it asks for no more workspace.
///
/// # Examples
///
/// ```
/// use warpfft_core::{program::{brief, compile, stand_in}, request::Fft, target::Limits};
///
/// let (problem, limits) = (Fft::new([8192]).batch(8192).build()?, Limits::h200());
/// let best = compile(&problem, &limits)?;
/// let soon = stand_in(&best, brief(&problem, &limits)?).expect("8192 points can do with less");
/// assert!(soon.longest() < best.longest());
/// # Ok::<(), warpfft_core::Error>(())
/// ```
pub fn stand_in(program: &Program, other: Option<Program>) -> Option<Program> {
    let most = (SHORTER * program.longest() as f64) as usize;
    other.filter(|other| {
        other.problem == program.problem
            && other.longest() <= most
            && other.workspace_bytes <= program.workspace_bytes
    })
}
