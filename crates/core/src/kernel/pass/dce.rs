//! Drops what nothing uses.

use crate::kernel::{Block, Inst, Kernel, Op, Value};

/// Drops instructions without effect whose results nobody uses, empty branches, and loops that do nothing.
pub fn drop_dead(kernel: &mut Kernel) {
    let mut live = vec![false; kernel.types.len()];
    sweep(&mut kernel.body, &mut live);
}

/// Goes through a block from its end; what is used is live.
fn sweep(block: &mut Block, live: &mut [bool]) {
    mark(&block.yields, live);
    let insts = std::mem::take(&mut block.insts);
    block.insts = insts.into_iter().rev().filter_map(|inst| keep(inst, live)).collect();
    block.insts.reverse();
}

fn keep(mut inst: Inst, live: &mut [bool]) -> Option<Inst> {
    let used = inst.results.iter().any(|v| live[v.0 as usize]);
    match inst.op {
        Op::Loop if !used && !inst.blocks.iter().any(acts) => return None,
        Op::Loop | Op::If => {
            inst.blocks.iter_mut().for_each(|block| sweep(block, live));
            if inst.op == Op::If && inst.blocks.iter().all(|block| block.insts.is_empty()) {
                return None;
            }
        }
        op if op.is_droppable() && !used => return None,
        _ => {}
    }
    mark(&inst.args, live);
    Some(inst)
}

/// Whether a block does anything but compute values.
fn acts(block: &Block) -> bool {
    let acts_here = |inst: &Inst| {
        if inst.blocks.is_empty() { !inst.op.is_droppable() } else { inst.blocks.iter().any(acts) }
    };
    block.insts.iter().any(acts_here)
}

fn mark(values: &[Value], live: &mut [bool]) {
    for value in values {
        live[value.0 as usize] = true;
    }
}
