//! Arithmetic: one row an operation.

use super::{Writer, name};
use crate::emit::braces::{Braces, function, sign};
use crate::emit::shared::put;
use crate::kernel::{Inst, Op, Type, Value};

/// How an operation is called: of floats, minimum and maximum have names of their own.
fn form(op: Op, ty: Type) -> Option<&'static str> {
    match op {
        Op::Min if ty.is_float() => Some("fmin"),
        Op::Max if ty.is_float() => Some("fmax"),
        _ => function(op),
    }
}

impl Writer<'_> {
    pub(super) fn arith(&mut self, inst: &Inst) {
        let &[result] = &inst.results[..] else { return };
        let ty = self.kernel.ty(result);
        self.define(result);
        match (inst.op, form(inst.op, ty), sign(inst.op, ty)) {
            (_, Some(function), _) => self.call(function, &inst.args),
            // Overflow of signed integers is open: on their bits.
            (Op::Add | Op::Sub | Op::Mul, _, Some(sign)) if ty == Type::I32 => {
                self.out.push_str("as_int(");
                self.call("as_uint", &inst.args[..1]);
                put!(self.out, " {sign} ");
                self.call("as_uint", &inst.args[1..]);
                self.out.push(')');
            }
            (_, _, Some(sign)) => self.infix(sign, &inst.args),
            (Op::Select, ..) => {
                self.operand(inst.args[0]);
                self.out.push_str(" ? ");
                self.operand(inst.args[1]);
                self.out.push_str(" : ");
                self.operand(inst.args[2]);
            }
            (Op::Bitcast, ..) => {
                put!(self.out, "as_{}", name(ty));
                self.call("", &inst.args);
            }
            _ => self.convert(ty, inst.args[0]),
        }
        self.out.push_str(";\n");
    }

    /// To nearest, ties to even, as the language's own conversions to floats are; those to integers have to be told.
    fn convert(&mut self, to: Type, arg: Value) {
        let from = self.kernel.ty(arg);
        let (before, after) = match (from, to) {
            (from, to) if from == to => ("(", ")"),
            (Type::F64, Type::F16) => ("to_half_double(", ")"),
            (Type::F64, Type::Bf16) => ("to_brain_double(", ")"),
            (Type::F16, Type::Bf16) => ("to_brain(from_half(", "))"),
            (Type::Bf16, Type::F16) => ("to_half(as_float((uint)", " << 16))"),
            (_, Type::F16) => ("to_half(", ")"),
            (_, Type::Bf16) => ("to_brain(", ")"),
            // In single precision, in which every 16-bit number is exact.
            (Type::F16, _) => ("from_half(", ")"),
            (Type::Bf16, _) => ("as_float((uint)", " << 16)"),
            (from, to) if from.is_float() && to.is_int() => {
                put!(self.out, "convert_{}_sat_rte", name(to));
                ("(", ")")
            }
            (_, to) => {
                put!(self.out, "({})", name(to));
                ("(", ")")
            }
        };
        self.out.push_str(before);
        self.operand(arg);
        self.out.push_str(after);
    }
}
