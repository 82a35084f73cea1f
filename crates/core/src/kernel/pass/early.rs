//! Asks for tables early where no other block hides the wait for them.
//!
//! A launch finds the caches of its multiprocessors empty, so a table's entries come from the L2, and a stage that asks for its own
//! behind the exchange before it waits for them. Where the device has room for every block at once, nobody fills that
//! time: there all tables are asked for beside the data. The assembler moves loads by the read-only path as it likes, and was
//! seen to move them back; so these become plain ones, which it leaves on their side of a barrier.

use super::hoist::raise;
use super::{MARGIN, allowed, max_live};
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
    for inst in raise(&mut early, asked) {
        if let Op::Load { cache, .. } = &mut inst.op {
            *cache = Cache::Default;
        }
    }
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
