//! Addresses, which are indices, and accesses.

use super::Writer;
use super::layout::{array_name, element};
use crate::emit::braces::{Braces, LETTERS};
use crate::emit::shared::put;
use crate::kernel::{Inst, Op, Space, Type, Value};

impl Writer<'_> {
    /// Prints an access to memory; `false` if it is none.
    pub(super) fn memory(&mut self, inst: &Inst) -> bool {
        match inst.op {
            Op::Addr => {
                self.define(inst.results[0]);
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

    /// Each declared element is read whole; its parts are named after.
    fn load(&mut self, inst: &Inst, offset: i32, pred: Option<Value>) {
        let Type::Ptr(space) = self.kernel.ty(inst.args[0]) else { return };
        if self.is_bits(self.kernel.elem(space)) {
            return self.load_halves(inst, space, offset, pred);
        }
        let whole = usize::from(self.layout.width(space));
        let letter = if whole > 1 { 'w' } else { 'v' };
        if pred.is_some() {
            for part in inst.results.chunks(whole) {
                self.indent();
                put!(self.out, "var {letter}{}: ", part[0].0);
                element(self.kernel.elem(space), whole as u8, &mut self.out);
                self.out.push_str(";\n");
            }
            self.open(pred);
        }
        for (i, part) in inst.results.chunks(whole).enumerate() {
            self.indent();
            let binding = if pred.is_some() { "" } else { "let " };
            put!(self.out, "{binding}{letter}{} = ", part[0].0);
            self.element_at(space, inst.args[0], i64::from(offset) + (i * whole) as i64);
            self.out.push_str(";\n");
        }
        self.close(pred);
        if whole > 1 {
            for part in inst.results.chunks(whole) {
                for (&value, letter) in part.iter().zip(LETTERS) {
                    self.define(value);
                    put!(self.out, "w{}.{letter};\n", part[0].0);
                }
            }
        }
    }

    fn store(&mut self, inst: &Inst, width: u8, offset: i32, pred: Option<Value>) {
        let Type::Ptr(space) = self.kernel.ty(inst.args[0]) else { return };
        let whole = usize::from(self.layout.width(space));
        self.open(pred);
        for (i, part) in inst.args[1..=usize::from(width)].chunks(whole).enumerate() {
            self.indent();
            self.element_at(space, inst.args[0], i64::from(offset) + (i * whole) as i64);
            self.out.push_str(" = ");
            if self.is_bits(self.kernel.elem(space)) {
                self.halves(part);
            } else if whole == 1 {
                self.operand(part[0]);
            } else {
                element(self.kernel.elem(space), whole as u8, &mut self.out);
                for (j, &value) in part.iter().enumerate() {
                    self.out.push_str(if j == 0 { "(" } else { ", " });
                    self.operand(value);
                }
                self.out.push(')');
            }
            self.out.push_str(";\n");
        }
        self.close(pred);
    }

    pub(super) fn open(&mut self, pred: Option<Value>) {
        let Some(pred) = pred else { return };
        self.indent();
        self.out.push_str("if ");
        self.operand(pred);
        self.out.push_str(" {\n");
        self.depth += 1;
    }

    pub(super) fn close(&mut self, pred: Option<Value>) {
        if pred.is_some() {
            self.depth -= 1;
            self.line("}");
        }
    }

    /// The declared element that holds element `pointer + offset`. Where the offset is a multiple of the width,
    /// the pointer is too, and the division is shared by all accesses through it.
    pub(super) fn element_at(&mut self, space: Space, ptr: Value, offset: i64) {
        let width = i64::from(self.layout.width(space));
        let shift = width.trailing_zeros();
        array_name(self.kernel, space, &mut self.out);
        put!(self.out, "[");
        let inside = offset % width != 0;
        let (first, after) = if inside { (offset, 0) } else { (0, offset / width) };
        if shift > 0 {
            self.out.push('(');
        }
        put!(self.out, "v{}", ptr.0);
        self.distance(first, "u");
        if shift > 0 {
            put!(self.out, " >> {shift}u)");
        }
        self.distance(after, "u");
        self.out.push(']');
    }
}
