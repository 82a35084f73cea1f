//! Moves what does not change from turn to turn out of loops.

use crate::kernel::{Access, Block, Cache, Inst, Kernel, Op, Space, Type, Value};

/// Moves pure instructions, and loads through the read-only path, to before the loop whose turns they do not
/// depend on. Such a load says itself that nobody writes where it reads; whether it is worth a register all
/// through the loop is for the lowering to decide, by its choice of path.
pub fn hoist(kernel: &mut Kernel) {
    let mut hoisting = Hoisting {
        types: &kernel.types,
        read_only: kernel.buffers.iter().map(|buffer| buffer.access == Access::Read).collect(),
    };
    hoisting.block(&mut kernel.body);
}

struct Hoisting<'k> {
    types: &'k [Type],
    /// Whether each buffer is only read.
    read_only: Vec<bool>,
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

    /// Moves what `turn` need not do itself to the end of `before`.
    fn out_of(&self, turn: &mut Block, before: &mut Vec<Inst>) {
        let mut inside = vec![false; self.types.len()];
        let mark = |values: &[Value], inside: &mut Vec<bool>| {
            values.iter().for_each(|value| inside[value.0 as usize] = true);
        };
        mark(&turn.params, &mut inside);
        let insts = std::mem::take(&mut turn.insts);
        for inst in insts {
            if self.moves(&inst) && inst.args.iter().all(|arg| !inside[arg.0 as usize]) {
                before.push(inst);
            } else {
                mark(&inst.results, &mut inside);
                turn.insts.push(inst);
            }
        }
    }

    fn moves(&self, inst: &Inst) -> bool {
        match inst.op {
            Op::Load { cache: Cache::ReadOnly, .. } => {
                matches!(self.types[inst.args[0].0 as usize], Type::Ptr(Space::Global(i)) if self.read_only[i as usize])
            }
            op => op.is_pure(),
        }
    }
}
