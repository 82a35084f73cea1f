//! Pointers and accesses.

use super::{Writer, name};
use crate::emit::braces::{Braces, LETTERS};
use crate::emit::shared::put;
use crate::kernel::{Inst, Op, Space, Type, Value};

impl Writer<'_> {
    /// Prints an access to memory; `false` if it is none.
    pub(super) fn memory(&mut self, inst: &Inst) -> bool {
        match inst.op {
            Op::Addr => {
                let Type::Ptr(space) = self.kernel.ty(inst.results[0]) else { return false };
                self.define(inst.results[0]);
                match space {
                    Space::Global(i) => put!(self.out, "g_{}", self.kernel.buffers[usize::from(i)].name),
                    Space::Shared(i) | Space::Remote(i) => {
                        put!(self.out, "s_{}", self.kernel.shared[usize::from(i)].name);
                    }
                }
                self.out.push_str(" + ");
                self.operand(inst.args[0]);
                self.out.push_str(";\n");
            }
            Op::PtrAdd => self.pointer_sum(inst),
            Op::Load { offset, .. } => self.load(inst, offset, inst.predicate()),
            Op::Store { width, offset, .. } => self.store(inst, width, offset, inst.predicate()),
            _ => return false,
        }
        true
    }

    /// A wide access is of one vector, whose parts are named after.
    fn load(&mut self, inst: &Inst, offset: i32, pred: Option<Value>) {
        let Type::Ptr(space) = self.kernel.ty(inst.args[0]) else { return };
        let (first, width) = (inst.results[0].0, inst.results.len());
        let letter = if width > 1 { 'w' } else { 'v' };
        self.indent();
        if pred.is_none() {
            self.out.push_str("const ");
        }
        self.vector(space, width);
        put!(self.out, " {letter}{first} = ");
        if let Some(pred) = pred {
            self.out.push_str("0;\n");
            self.indent();
            self.out.push_str("if (");
            self.operand(pred);
            put!(self.out, ") {{ {letter}{first} = ");
        }
        self.place(space, width, inst.args[0], offset);
        self.out.push_str(if pred.is_some() { "; }\n" } else { ";\n" });
        if width > 1 {
            for (&value, letter) in inst.results.iter().zip(LETTERS) {
                self.define(value);
                put!(self.out, "w{first}.{letter};\n");
            }
        }
    }

    fn store(&mut self, inst: &Inst, width: u8, offset: i32, pred: Option<Value>) {
        let Type::Ptr(space) = self.kernel.ty(inst.args[0]) else { return };
        let values = &inst.args[1..=usize::from(width)];
        self.indent();
        if let Some(pred) = pred {
            self.out.push_str("if (");
            self.operand(pred);
            self.out.push_str(") { ");
        }
        self.place(space, values.len(), inst.args[0], offset);
        self.out.push_str(" = ");
        if let [value] = values {
            self.operand(*value);
        } else {
            self.out.push('(');
            self.vector(space, values.len());
            self.out.push(')');
            for (i, &value) in values.iter().enumerate() {
                self.out.push_str(if i == 0 { "(" } else { ", " });
                self.operand(value);
            }
            self.out.push(')');
        }
        self.out.push_str(if pred.is_some() { "; }\n" } else { ";\n" });
    }

    /// The type of so many elements.
    fn vector(&mut self, space: Space, width: usize) {
        self.out.push_str(name(self.kernel.elem(space)));
        if width > 1 {
            put!(self.out, "{width}");
        }
    }

    /// The element, or the vector of them, at `pointer + offset`.
    fn place(&mut self, space: Space, width: usize, pointer: Value, offset: i32) {
        if width > 1 {
            let pointee = super::pointee(self.kernel, space);
            put!(self.out, "*({pointee}{width} *)(v{}", pointer.0);
            self.distance(offset.into(), "");
            self.out.push(')');
        } else {
            put!(self.out, "v{}[{offset}]", pointer.0);
        }
    }
}
