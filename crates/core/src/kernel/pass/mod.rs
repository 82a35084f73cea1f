//! What makes a kernel legal for its target, small, and easy on registers. Each pass is one file and one
//! function on a [`Kernel`]; [`optimise`] runs them all.
//!
//! Floating-point arithmetic is never reassociated and never contracted: a fused multiply-add is there only
//! where the builder wrote one. The rewrites change at most the sign of a zero.

mod algebra;
mod cse;
mod dce;
mod double_single;
mod early;
mod hoist;
mod legal;
mod order;
mod pressure;
mod renumber;
mod simplify;

#[cfg(test)]
mod tests;

pub use cse::share;
pub use dce::drop_dead;
pub use double_single::double_single;
pub use hoist::{Reach, hoist};
pub use legal::legalise;
pub(crate) use legal::{SINGLE_HALVES, works_in};
pub use order::order;
pub use pressure::max_live;
pub use renumber::renumber;
pub use simplify::simplify;

use super::verify::{KernelError, Verified, verify};
use super::{Block, Kernel, Op, Space, Type, Value};
use crate::cost::of_each;
use crate::target::Limits;

/// Sharing may make rules apply that did not before; in practice once.
const ROUNDS: usize = 4;

/// Runs all passes for a target.
///
/// # Errors
///
/// If the kernel is malformed, or needs what the target does not have.
pub fn optimise(kernel: Kernel, limits: &Limits) -> Result<Verified<Kernel>, KernelError> {
    // The passes rely on the form.
    let mut kernel = verify(kernel)?.into_inner();
    legalise(&mut kernel, limits)?;
    for _ in 0..ROUNDS {
        simplify(&mut kernel);
        if !share(&mut kernel) {
            break;
        }
    }
    // Loops keep to themselves what would not fit in registers beside the rest.
    let mut far = finished(kernel.clone(), Reach::All);
    if has_loop(&kernel.body) && max_live(&far) + MARGIN > allowed(&kernel, limits) {
        far = finished(kernel.clone(), Reach::Loads);
    }
    // Tables that the assembler would spill, even for a block by itself, are read again in each turn.
    if has_loop(&kernel.body) && 9 * max_live(&far) > PUT_OFF * of_each(kernel.threads, 1, limits) {
        far = finished(kernel, Reach::Nowhere);
    }
    early::early(&mut far, limits);
    renumber(&mut far);
    relax(&mut far, limits);
    verify(far)
}

/// Registers beside the live values that the assembler was seen to need, lest it spill, in kernels with loops. It moves
/// loads ahead of their use; loops keep it from moving them far.
const ROOM: u32 = 16;
/// The same in kernels without loops: of 6062 planned ones for sm_90 none spilled with it, and with 4 one did.
const FLAT_ROOM: u32 = 8;

/// Ninths of a thread's registers that values may seem to take whose tables leave a loop: the assembler puts loads off. 16384 points
/// kept in f16 are assembled in 234 registers where 267 values live at once, and took 1.27 copies so, 1.42 with tables read in each turn. Of
/// 46 kernels by which 16-bit numbers come ahead none spilled up to 11, 15000 points at 11.2.
const PUT_OFF: u32 = 11;

/// Registers of a crowded thread.
const CROWDED: u32 = 200;

/// Tells the assembler of fewer resident blocks where the live values would not fit: spilling costs more than a block
/// less. Clusters count on the number of theirs, and two are asked of a kernel without loops only where it can be
/// thrifty.
fn relax(kernel: &mut Kernel, limits: &Limits) {
    let (room, least) = if has_loop(&kernel.body) { (ROOM, 1) } else { (FLAT_ROOM, 2) };
    let need = (max_live(kernel) + room).min(limits.registers_per_thread);
    while kernel.cluster == 1 && kernel.min_blocks > least && allowed(kernel, limits) < need {
        kernel.min_blocks -= 1;
    }
    // Blocks that fit whatever each thread takes: the word alone makes the assembler load ahead until it spills. Where most
    // of that is taken anyway, it aims at more blocks without the word, and spills.
    if kernel.cluster == 1 && allowed(kernel, limits) == limits.registers_per_thread && need < CROWDED {
        kernel.min_blocks = 0;
    }
}

/// Registers that the assembler needs for itself beside the live values.
const MARGIN: u32 = 24;

fn finished(mut kernel: Kernel, reach: Reach) -> Kernel {
    hoist(&mut kernel, reach);
    // What came out of a loop may stand before it already.
    share(&mut kernel);
    drop_dead(&mut kernel);
    order(&mut kernel);
    kernel
}

fn has_loop(block: &Block) -> bool {
    block.insts.iter().any(|inst| inst.op == Op::Loop)
}

/// Registers of a thread when as many blocks are resident as the kernel asks for.
fn allowed(kernel: &Kernel, limits: &Limits) -> u32 {
    of_each(kernel.threads, kernel.min_blocks, limits)
}

/// 32-bit registers that a value takes. Predicates have registers of their own.
const fn registers(ty: Type) -> u32 {
    match ty {
        Type::Bool => 0,
        Type::I32 | Type::U32 | Type::F16 | Type::Bf16 | Type::F32 => 1,
        Type::U64 | Type::F64 | Type::Ptr(Space::Global(_)) => 2,
        Type::Ptr(_) => 1,
    }
}

/// Calls `f` with each value that a block uses, inner blocks included.
fn uses(block: &Block, f: &mut dyn FnMut(Value)) {
    for inst in &block.insts {
        inst.args.iter().for_each(|&arg| f(arg));
        for inner in &inst.blocks {
            uses(inner, f);
        }
    }
    block.yields.iter().for_each(|&value| f(value));
}
