//! The kernel's code, prepared for running: each instruction with its index and with the values that die there.

use std::collections::HashSet;

use super::super::{Block, Inst, Kernel, Value};

/// A block of instructions.
pub(super) struct Code<'k> {
    pub block: &'k Block,
    pub steps: Vec<Step<'k>>,
}

/// One instruction.
pub(super) struct Step<'k> {
    pub inst: &'k Inst,
    /// Index in text order.
    pub index: usize,
    /// Values defined in this block whose last use is here: their columns are dropped, so that a kernel takes
    /// memory for the values that live at once and not for all that it ever computes.
    pub frees: Vec<Value>,
    pub blocks: Vec<Code<'k>>,
}

/// Prepares a kernel.
pub(super) fn prepare(kernel: &Kernel) -> Code<'_> {
    let mut next = 0;
    prepare_block(&kernel.body, &mut next)
}

fn prepare_block<'k>(block: &'k Block, next: &mut usize) -> Code<'k> {
    let mut steps = Vec::with_capacity(block.insts.len());
    for inst in &block.insts {
        let index = *next;
        *next += 1;
        let blocks = inst.blocks.iter().map(|nested| prepare_block(nested, next)).collect();
        steps.push(Step { inst, index, frees: Vec::new(), blocks });
    }
    let mut seen: HashSet<Value> = block.yields.iter().copied().collect();
    let local: HashSet<Value> =
        block.params.iter().chain(block.insts.iter().flat_map(|inst| &inst.results)).copied().collect();
    for step in steps.iter_mut().rev() {
        let mut used = Vec::new();
        collect_uses(step.inst, &mut used);
        used.extend(&step.inst.results);
        for value in used {
            if local.contains(&value) && seen.insert(value) {
                step.frees.push(value);
            }
        }
    }
    Code { block, steps }
}

fn collect_uses(inst: &Inst, into: &mut Vec<Value>) {
    into.extend(&inst.args);
    for block in &inst.blocks {
        into.extend(&block.yields);
        for nested in &block.insts {
            collect_uses(nested, into);
        }
    }
}
