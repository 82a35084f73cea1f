//! Asks for tables early where no other block hides the wait for them.
//!
//! A launch finds the caches of its multiprocessors empty, so a table's entries come from the L2, and a stage that asks for its own
//! behind the exchange before it waits for them. Where the device has room for every block at once, nobody fills that
//! time: there all tables are asked for beside the data. The assembler moves loads by the read-only path as it likes, and was
//! seen to move them back; so these become plain ones, which it leaves on their side of a barrier.

use super::{MARGIN, allowed, is_table_load, max_live};
use crate::kernel::{Cache, Inst, Kernel, Op};
use crate::target::{Api, Limits};

/// Moves loads of tables up to where the data have been asked for, in a kernel of which the device has room for every block at
/// once, if its registers hold them until they are used.
pub fn early(kernel: &mut Kernel, limits: &Limits) {
    let each = kernel.blocks.div_ceil(limits.multiprocessors.into());
    if each > kernel.min_blocks.max(1).into() || !matches!(limits.api, Api::Ptx { .. }) {
        return;
    }
    let mut early = kernel.clone();
    early.min_blocks = early.min_blocks.min(each as u32);
    let asked = asked(&early);
    raise(&mut early, asked);
    if max_live(&early) + MARGIN <= allowed(&early, limits) {
        *kernel = early;
    }
}

/// Where the first instruction stands that waits for what was loaded, or after loads for other threads.
fn asked(kernel: &Kernel) -> usize {
    let mut loaded = vec![false; kernel.types.len()];
    let mut loads = false;
    let waits = |inst: &Inst| {
        let of_load = inst.args.iter().any(|arg| loaded[arg.0 as usize]);
        let load = matches!(inst.op, Op::Load { .. });
        inst.results.iter().for_each(|result| loaded[result.0 as usize] = load);
        loads |= load;
        let meets = matches!(
            inst.op,
            Op::Barrier | Op::ClusterArrive { .. } | Op::ClusterWait | Op::BarrierWait | Op::CounterWait
        );
        of_load || (meets && loads) || inst.op == Op::Loop
    };
    kernel.body.insts.iter().position(waits).unwrap_or(0)
}

/// Moves loads of tables, and what they need, up to a place in the body.
fn raise(kernel: &mut Kernel, to: usize) {
    let insts = &kernel.body.insts[to..];
    let table = |inst: &Inst| is_table_load(inst, &kernel.types, &kernel.buffers);
    // Values that are not there yet.
    let mut behind = vec![false; kernel.types.len()];
    let still: Vec<bool> = insts
        .iter()
        .map(|inst| {
            let can = table(inst) || inst.op.is_pure();
            let still = can && inst.args.iter().all(|arg| !behind[arg.0 as usize]);
            inst.results.iter().for_each(|result| behind[result.0 as usize] = !still);
            still
        })
        .collect();
    let mut needed = vec![false; kernel.types.len()];
    let mut moves = vec![false; still.len()];
    for (i, inst) in insts.iter().enumerate().rev() {
        let load = table(inst);
        moves[i] = still[i] && (load || inst.results.iter().any(|result| needed[result.0 as usize]));
        if moves[i] {
            inst.args.iter().for_each(|arg| needed[arg.0 as usize] = true);
        }
    }
    let rest = kernel.body.insts.split_off(to);
    let (mut early, late): (Vec<_>, Vec<_>) = rest.into_iter().zip(moves).partition(|(_, moves)| *moves);
    for (inst, _) in &mut early {
        if let Op::Load { cache, .. } = &mut inst.op {
            *cache = Cache::Default;
        }
    }
    kernel.body.insts.extend(early.into_iter().chain(late).map(|(inst, _)| inst));
}
