//! Arithmetic: one row an operation.

use super::{Writer, name};
use crate::emit::shared::put;
use crate::kernel::{Cmp, Inst, Op, ShuffleMode, Type, Value};

/// How an operation is written.
enum Form {
    /// Between its arguments.
    Infix(&'static str),
    /// Before its arguments, in parentheses.
    Call(&'static str),
}

fn form(op: Op, ty: Type) -> Option<Form> {
    Some(match op {
        Op::Add => Form::Infix("+"),
        Op::Sub => Form::Infix("-"),
        Op::Mul => Form::Infix("*"),
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
        Op::Min => Form::Call("min"),
        Op::Max => Form::Call("max"),
        Op::Shuffle(ShuffleMode::Xor) => Form::Call("subgroupShuffleXor"),
        Op::Shuffle(ShuffleMode::Index) => Form::Call("subgroupShuffle"),
        _ => return None,
    })
}

impl Writer<'_> {
    pub(super) fn arith(&mut self, inst: &Inst) {
        let &[result] = &inst.results[..] else { return };
        self.define(result);
        match (inst.op, form(inst.op, self.kernel.ty(result))) {
            (_, Some(Form::Infix(sign))) => {
                self.operand(inst.args[0]);
                put!(self.out, " {sign} ");
                self.operand(inst.args[1]);
            }
            (_, Some(Form::Call(function))) => self.call(function, &inst.args),
            // The language's own selection takes the condition last and the false value first.
            (Op::Select, _) => self.call("select", &[inst.args[2], inst.args[1], inst.args[0]]),
            (Op::Bitcast, _) => {
                put!(self.out, "bitcast<{}>", name(self.kernel.ty(result)));
                self.call("", &inst.args);
            }
            _ if self.convert_half(result, inst.args[0]) => {}
            _ => self.convert(result, inst.args[0]),
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

    /// Conversions of floats to integers cut; rounding comes first, ties to even.
    fn convert(&mut self, result: Value, arg: Value) {
        let (from, to) = (self.kernel.ty(arg), self.kernel.ty(result));
        if from.is_float() && to.is_int() {
            put!(self.out, "{}(", name(to));
            self.call("round", &[arg]);
            self.out.push(')');
        } else {
            self.call(name(to), &[arg]);
        }
    }
}
