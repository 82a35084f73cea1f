//! Programs to run while better ones are still being assembled.
//!
//! A driver's assembler takes as long as a kernel has instructions, and the fastest kernels are long: each thread
//! holds many points, and has its own code for each. The same search comes to shorter ones where instructions count
//! for more ([`Limits::brevity`]). Where these are long still, there are loops over points in shared memory: the strategy
//! `looped`, which takes 3 to 17 times as long as the best, and some 450 instructions whatever the length.

use super::{Program, compile};
use crate::kernel::verify::verify;
use crate::kernel::{Block, Kernel, KernelError, Op, Verified};
use crate::problem::Problem;
use crate::strategy::Strategy;
use crate::target::Limits;

/// Copies that a thousand instructions count as: of 127 lengths to 16384 half have 1500 instructions at most by it, where 2100
/// are fastest, and none more than 3626, where 6240 are; the model expects them to take 1.4 times as long.
const BREVITY: f64 = 4.0;
/// Of a program's instructions a stand-in for it has at most this part: otherwise there is little to gain.
const SHORTER: f64 = 0.9;
/// Points of a transform up to which stand-ins are looked for: longer ones take several passes, whose kernels are short.
const MOST_POINTS: u64 = 1 << 17;

/// Instructions of a kernel beyond which a slower one is worth its while: some 30 ms on a slow processor.
pub const SHORT_ENOUGH: usize = 480;

/// Programs that solve a problem by kernels that are short rather than fast, the fastest first; none where the problem is
/// so large that there is nothing to gain. They can be asked for beside the best program.
pub fn brief(problem: &Problem, limits: &Limits) -> Vec<Program> {
    let (searched, looped) = rayon::join(|| searched(problem, limits), || looped(problem, limits));
    searched.into_iter().chain(looped).collect()
}

/// Of [`brief`] the faster: what the planner's search comes to where instructions count. It takes as long to find as the best.
pub fn searched(problem: &Problem, limits: &Limits) -> Option<Program> {
    // What cannot be planned is an error of the best program.
    let program = worth_while(problem)
        .then(|| compile(problem, &Limits { brevity: BREVITY, ..limits.clone() }))
        .and_then(Result::ok)?;
    let kernels = program.kernels.into_iter().map(unhinted).collect::<Result<_, _>>().ok()?;
    Some(Program { kernels, ..program })
}

/// Of [`brief`] the shorter: loops over points in shared memory, for which nothing is searched.
pub fn looped(problem: &Problem, limits: &Limits) -> Option<Program> {
    let looped = worth_while(problem).then(|| Strategy::named("looped"))?;
    looped.and_then(|looped| looped.compile(problem, limits)).ok()
}

/// Whether the problem's kernels may be long.
fn worth_while(problem: &Problem) -> bool {
    problem.transform.iter().map(|dim| dim.n).fold(1, u64::saturating_mul) <= MOST_POINTS
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

/// The program that a plan begins with until the first is there, if one can stand in for it: its kernels are shorter by a tenth
/// at least, and it asks for no more workspace. The first that is short enough, else the shortest.
///
/// # Examples
///
/// ```
/// use warpfft_core::{program::{brief, compile, stand_in}, request::Fft, target::Limits};
///
/// let (problem, limits) = (Fft::new([8192]).batch(8192).build()?, Limits::h200());
/// let best = compile(&problem, &limits)?;
/// let soon = stand_in(&best, brief(&problem, &limits)).expect("8192 points can do with less");
/// assert!(soon.longest() < best.longest());
/// # Ok::<(), warpfft_core::Error>(())
/// ```
pub fn stand_in(program: &Program, others: Vec<Program>) -> Option<Program> {
    let others = others.into_iter().filter(|other| can_stand_in(other, program));
    // Of equals the first: all that are short enough are equal.
    others.min_by_key(|other| other.longest().max(SHORT_ENOUGH))
}

/// Whether a program can be run until the best for its problem is there: see [`stand_in`].
pub fn can_stand_in(other: &Program, best: &Program) -> bool {
    other.problem == best.problem
        && other.longest() <= (SHORTER * best.longest() as f64) as usize
        && other.workspace_bytes <= best.workspace_bytes
}
