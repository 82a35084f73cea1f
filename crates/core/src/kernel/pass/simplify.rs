//! Constant folding, identities and algebra, to a fixed point in one walk: when an instruction is reached, its
//! arguments are already as simple as they get.

use super::uses;
use crate::kernel::fold::{Fold, fold};
use crate::kernel::{Block, Inst, Kernel, Op, Type, Value};

/// Simplifies every instruction by the rules of `fold` and `algebra`, drops predicates and branches that are
/// decided, and folds constant pointer steps into the offsets of accesses.
pub fn simplify(kernel: &mut Kernel) {
    let mut count = vec![0; kernel.types.len()];
    uses(&kernel.body, &mut |value| count[value.0 as usize] += 1);
    let same = (0..kernel.types.len() as u32).map(Value).collect();
    let defs = vec![None; kernel.types.len()];
    let mut values = Values { types: &mut kernel.types, same, defs, count };
    values.block(&mut kernel.body);
}

/// A pure instruction of at most three arguments.
#[derive(Clone, Copy)]
pub(super) struct Def {
    pub(super) op: Op,
    args: [Value; 3],
    arity: u8,
}

impl Def {
    pub(super) fn args(&self) -> &[Value] {
        &self.args[..self.arity as usize]
    }
}

/// What is known of each value.
pub(super) struct Values<'k> {
    types: &'k mut Vec<Type>,
    /// What it is replaced by.
    same: Vec<Value>,
    defs: Vec<Option<Def>>,
    /// Uses before the pass.
    count: Vec<u32>,
}

impl Values<'_> {
    /// The instruction that defines a value, if it is pure.
    pub(super) fn def(&self, value: Value) -> Option<&Def> {
        self.defs[value.0 as usize].as_ref()
    }

    /// The bits of a constant.
    pub(super) fn constant(&self, value: Value) -> Option<u64> {
        match self.def(value)?.op {
            Op::Const(bits) => Some(bits),
            _ => None,
        }
    }

    /// Whether one instruction alone uses a value, so that rewriting that one makes it dead.
    pub(super) fn used_once(&self, value: Value) -> bool {
        self.count[value.0 as usize] == 1
    }

    /// A new constant.
    pub(super) fn new_constant(&mut self, ty: Type, bits: u64, out: &mut Vec<Inst>) -> Value {
        let value = Value(self.types.len() as u32);
        self.types.push(ty);
        self.same.push(value);
        self.defs.push(None);
        self.count.push(1);
        self.define(
            Inst { op: Op::Const(bits), args: Vec::new(), results: vec![value], blocks: Vec::new() },
            out,
        );
        value
    }

    fn block(&mut self, block: &mut Block) {
        let insts = std::mem::take(&mut block.insts);
        block.insts.reserve(insts.len());
        for mut inst in insts {
            self.rename(&mut inst.args);
            match inst.op {
                Op::If => self.branch(inst, &mut block.insts),
                Op::Loop => self.repeat(inst, &mut block.insts),
                op if op.is_pure() && inst.args.len() <= 3 => self.pure(inst, &mut block.insts),
                _ => self.access(inst, &mut block.insts),
            }
        }
        self.rename(&mut block.yields);
    }

    fn pure(&mut self, mut inst: Inst, out: &mut Vec<Inst>) {
        let result = inst.results[0];
        let ty = self.types[result.0 as usize];
        loop {
            let arg_ty = match (inst.op, &inst.args[..]) {
                (Op::Select, _) | (_, []) => ty,
                (_, [first, ..]) => self.types[first.0 as usize],
            };
            let folded = fold(inst.op, ty, &inst.args, arg_ty, &|v| self.constant(v));
            match folded.or_else(|| self.rewrite(inst.op, ty, &inst.args, out)) {
                Some(Fold::Const(bits)) => (inst.op, inst.args) = (Op::Const(bits), Vec::new()),
                Some(Fold::Same(value)) => {
                    self.same[result.0 as usize] = value;
                    return;
                }
                Some(Fold::Simpler(op, args)) => (inst.op, inst.args) = (op, args),
                None => return self.define(inst, out),
            }
        }
    }

    fn define(&mut self, inst: Inst, out: &mut Vec<Inst>) {
        let mut args = [Value(0); 3];
        args[..inst.args.len()].copy_from_slice(&inst.args);
        self.defs[inst.results[0].0 as usize] = Some(Def { op: inst.op, args, arity: inst.args.len() as u8 });
        out.push(inst);
    }

    /// An access to memory, or what else has effects.
    fn access(&mut self, mut inst: Inst, out: &mut Vec<Inst>) {
        if inst.op.is_predicated() {
            match inst.args.last().and_then(|&predicate| self.constant(predicate)) {
                Some(0) => {
                    for &result in &inst.results {
                        // All zeros are zero in every type.
                        self.define(
                            Inst {
                                op: Op::Const(0),
                                args: Vec::new(),
                                results: vec![result],
                                blocks: Vec::new(),
                            },
                            out,
                        );
                    }
                    return;
                }
                Some(_) => {
                    inst.args.pop();
                    match &mut inst.op {
                        Op::Load { predicated, .. }
                        | Op::Store { predicated, .. }
                        | Op::BulkPrefetch { predicated } => *predicated = false,
                        _ => {}
                    }
                }
                None => {}
            }
        }
        while let Some((pointer, distance)) = self.step(&inst) {
            inst.args[0] = pointer;
            if let Op::Load { offset, .. } | Op::Store { offset, .. } | Op::RemoteStoreAsync { offset, .. } =
                &mut inst.op
            {
                *offset = distance;
            }
        }
        out.push(inst);
    }

    /// The pointer before its constant step, and the offset of the access with the step in it.
    fn step(&self, inst: &Inst) -> Option<(Value, i32)> {
        let offset = inst.op.offset()?;
        let def = self.def(inst.args[0])?;
        let (Op::PtrAdd, [pointer, step]) = (def.op, def.args()) else { return None };
        let step = i32::try_from(self.constant(*step)?).ok()?;
        Some((*pointer, offset.checked_add(step)?))
    }

    fn branch(&mut self, mut inst: Inst, out: &mut Vec<Inst>) {
        match self.constant(inst.args[0]) {
            Some(0) => {}
            Some(_) => {
                for block in &mut inst.blocks {
                    self.block(block);
                    out.append(&mut block.insts);
                }
            }
            None => {
                inst.blocks.iter_mut().for_each(|block| self.block(block));
                out.push(inst);
            }
        }
    }

    fn repeat(&mut self, mut inst: Inst, out: &mut Vec<Inst>) {
        let bounds = [0, 1, 2].map(|i| self.constant(inst.args[i]));
        let init = &inst.args[3..];
        match (bounds, &mut inst.blocks[..]) {
            ([Some(lo), Some(hi), _], _) if lo >= hi => self.replace(&inst.results, init),
            ([Some(lo), Some(hi), Some(step)], [block]) if lo + step >= hi => {
                self.replace(&block.params[..1], &inst.args[..1]);
                self.replace(&block.params[1..], init);
                self.block(block);
                out.append(&mut block.insts);
                self.replace(&inst.results, &block.yields);
            }
            (_, blocks) => {
                blocks.iter_mut().for_each(|block| self.block(block));
                out.push(inst);
            }
        }
    }

    fn replace(&mut self, values: &[Value], by: &[Value]) {
        for (value, &by) in values.iter().zip(by) {
            self.same[value.0 as usize] = by;
        }
    }

    fn rename(&self, values: &mut [Value]) {
        for value in values {
            *value = self.same[value.0 as usize];
        }
    }
}
