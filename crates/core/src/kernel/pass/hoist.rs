//! Moves what does not change from turn to turn out of loops, and loads of tables towards the start of a body.

use crate::kernel::{Access, Block, Buffer, Cache, Inst, Kernel, Op, Space, Type, Value};

/// What comes out of loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Whatever does not change from turn to turn.
    All,
    /// Loads, what they need, and the addresses that are made of them: what is worth a register more than the
    /// arithmetic that would save it.
    Loads,
    /// Nothing: there is no room beside the rest.
    Nowhere,
}

/// Moves loads through the read-only path, and pure instructions, to before the loop whose turns they do not depend
/// on. Such a load says itself that nobody writes where it reads; whether it is worth a register all through the
/// loop is for the lowering to decide, by its choice of path.
pub fn hoist(kernel: &mut Kernel, reach: Reach) {
    if reach == Reach::Nowhere {
        return;
    }
    let mut hoisting = Hoisting { types: &kernel.types, reach, buffers: &kernel.buffers };
    hoisting.block(&mut kernel.body);
}

/// Moves loads through the read-only path, and what they need, from further down in the body up to a place; gives what came
/// there.
pub(super) fn raise(kernel: &mut Kernel, to: usize) -> &mut [Inst] {
    let hoisting = Hoisting { types: &kernel.types, reach: Reach::Loads, buffers: &kernel.buffers };
    let insts = &mut kernel.body.insts;
    let mut rest = Block { params: Vec::new(), insts: insts.split_off(to), yields: Vec::new() };
    hoisting.out_of(&mut rest, insts);
    let end = insts.len();
    insts.append(&mut rest.insts);
    &mut insts[to..end]
}

struct Hoisting<'k> {
    types: &'k [Type],
    reach: Reach,
    buffers: &'k [Buffer],
}

impl Hoisting<'_> {
    fn block(&mut self, block: &mut Block) {
        let mut insts = Vec::with_capacity(block.insts.len());
        for mut inst in block.insts.drain(..) {
            inst.blocks.iter_mut().for_each(|inner| self.block(inner));
            if inst.op == Op::Loop {
                for inner in &mut inst.blocks {
                    self.out_of(inner, &mut insts);
                }
            }
            insts.push(inst);
        }
        block.insts = insts;
    }

    /// Moves what is worth it out of `turn`, to the end of `before`.
    fn out_of(&self, turn: &mut Block, before: &mut Vec<Inst>) {
        // What changes from turn to turn, and what a load was the first step of.
        let mut inside = vec![false; self.types.len()];
        let mut of_load = inside.clone();
        turn.params.iter().for_each(|value| inside[value.0 as usize] = true);
        let mut moves = vec![false; turn.insts.len()];
        let mut still = vec![false; turn.insts.len()];
        for (i, inst) in turn.insts.iter().enumerate() {
            let load = self.is_table_load(inst);
            still[i] = (load || inst.op.is_pure()) && inst.args.iter().all(|arg| !inside[arg.0 as usize]);
            let whole = |value: &Value| !self.types[value.0 as usize].is_float();
            let address =
                inst.results.iter().all(whole) && inst.args.iter().any(|arg| of_load[arg.0 as usize]);
            moves[i] = still[i] && (load || address || self.reach == Reach::All);
            for result in &inst.results {
                inside[result.0 as usize] = !still[i];
                of_load[result.0 as usize] = moves[i];
            }
        }
        // What they need comes with them.
        let mut needed = vec![false; self.types.len()];
        for (i, inst) in turn.insts.iter().enumerate().rev() {
            moves[i] |= still[i] && inst.results.iter().any(|result| needed[result.0 as usize]);
            if moves[i] {
                inst.args.iter().for_each(|arg| needed[arg.0 as usize] = true);
            }
        }
        for (inst, moves) in std::mem::take(&mut turn.insts).into_iter().zip(moves) {
            if moves { before.push(inst) } else { turn.insts.push(inst) }
        }
    }

    /// Whether it loads by the read-only path from a buffer that the kernel only reads.
    fn is_table_load(&self, inst: &Inst) -> bool {
        matches!(inst.op, Op::Load { cache: Cache::ReadOnly, .. })
            && matches!(self.types[inst.args[0].0 as usize],
                Type::Ptr(Space::Global(i)) if self.buffers[i as usize].access == Access::Read)
    }
}
