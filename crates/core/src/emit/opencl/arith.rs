//! Arithmetic: one row an operation.

use super::{Writer, name};
use crate::emit::shared::put;
use crate::kernel::{Cmp, Inst, Op, Type, Value};

/// How an operation is written.
enum Form {
    /// Between its arguments.
    Infix(&'static str),
    /// The same for signed integers, whose overflow the language leaves open: on their bits.
    Wrapping(&'static str),
    /// Before its arguments, in parentheses.
    Call(&'static str),
}

fn form(op: Op, ty: Type) -> Option<Form> {
    let wrapping = |sign| if ty == Type::I32 { Form::Wrapping(sign) } else { Form::Infix(sign) };
    Some(match op {
        Op::Add => wrapping("+"),
        Op::Sub => wrapping("-"),
        Op::Mul => wrapping("*"),
        Op::Div => Form::Infix("/"),
        Op::Rem => Form::Infix("%"),
        Op::Shl => Form::Infix("<<"),
        Op::Shr => Form::Infix(">>"),
        Op::And => Form::Infix("&"),
        Op::Or => Form::Infix("|"),
        Op::Xor if ty == Type::Bool => Form::Infix("!="),
        Op::Xor => Form::Infix("^"),
        Op::Cmp(Cmp::Eq) => Form::Infix("=="),
        Op::Cmp(Cmp::Ne) => Form::Infix("!="),
        Op::Cmp(Cmp::Lt) => Form::Infix("<"),
        Op::Cmp(Cmp::Le) => Form::Infix("<="),
        Op::Cmp(Cmp::Gt) => Form::Infix(">"),
        Op::Cmp(Cmp::Ge) => Form::Infix(">="),
        Op::Neg => Form::Call("-"),
        Op::Sqrt => Form::Call("sqrt"),
        Op::MulHi => Form::Call("mul_hi"),
        Op::Fma => Form::Call("fma"),
        Op::Min if ty.is_float() => Form::Call("fmin"),
        Op::Min => Form::Call("min"),
        Op::Max if ty.is_float() => Form::Call("fmax"),
        Op::Max => Form::Call("max"),
        _ => return None,
    })
}

impl Writer<'_> {
    pub(super) fn arith(&mut self, inst: &Inst) {
        let &[result] = &inst.results[..] else { return };
        let ty = self.kernel.ty(result);
        self.define(result);
        match (inst.op, form(inst.op, ty)) {
            (_, Some(Form::Infix(sign))) => {
                self.operand(inst.args[0]);
                put!(self.out, " {sign} ");
                self.operand(inst.args[1]);
            }
            (_, Some(Form::Wrapping(sign))) => {
                self.out.push_str("as_int(");
                self.call("as_uint", &inst.args[..1]);
                put!(self.out, " {sign} ");
                self.call("as_uint", &inst.args[1..]);
                self.out.push(')');
            }
            (_, Some(Form::Call(function))) => self.call(function, &inst.args),
            (Op::Select, _) => {
                self.operand(inst.args[0]);
                self.out.push_str(" ? ");
                self.operand(inst.args[1]);
                self.out.push_str(" : ");
                self.operand(inst.args[2]);
            }
            (Op::Bitcast, _) => {
                put!(self.out, "as_{}", name(ty));
                self.call("", &inst.args);
            }
            _ => self.convert(ty, inst.args[0]),
        }
        self.out.push_str(";\n");
    }

    fn call(&mut self, function: &str, args: &[Value]) {
        self.out.push_str(function);
        for (i, &arg) in args.iter().enumerate() {
            self.out.push_str(if i == 0 { "(" } else { ", " });
            self.operand(arg);
        }
        self.out.push(')');
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
