//! Arithmetic: one row an operation.

use super::{Writer, name};
use crate::emit::braces::{Braces, function, sign};
use crate::emit::shared::put;
use crate::kernel::{Inst, Op, ShuffleMode, Value};

/// How an operation is called that other languages call otherwise.
fn form(op: Op) -> Option<&'static str> {
    match op {
        Op::Shuffle(ShuffleMode::Xor) => Some("subgroupShuffleXor"),
        Op::Shuffle(ShuffleMode::Index) => Some("subgroupShuffle"),
        _ => function(op),
    }
}

impl Writer<'_> {
    pub(super) fn arith(&mut self, inst: &Inst) {
        let &[result] = &inst.results[..] else { return };
        self.define(result);
        match (inst.op, form(inst.op), sign(inst.op, self.kernel.ty(result))) {
            (_, Some(function), _) => self.call(function, &inst.args),
            (_, _, Some(sign)) => self.infix(sign, &inst.args),
            // The language's own selection takes the condition last and the false value first.
            (Op::Select, ..) => self.call("select", &[inst.args[2], inst.args[1], inst.args[0]]),
            (Op::Bitcast, ..) => {
                put!(self.out, "bitcast<{}>", name(self.kernel.ty(result)));
                self.call("", &inst.args);
            }
            _ if self.convert_half(result, inst.args[0]) => {}
            _ => self.convert(result, inst.args[0]),
        }
        self.out.push_str(";\n");
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
