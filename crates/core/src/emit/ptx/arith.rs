//! Arithmetic: one row an operation and type.

use super::{Writer, class};
use crate::emit::shared::put;
use crate::kernel::{Cmp, Inst, Op, Type};

/// Suffix of an instruction on numbers of a type.
fn suffix(ty: Type) -> &'static str {
    match ty {
        Type::Bool => "pred",
        Type::I32 => "s32",
        Type::U32 | Type::Ptr(crate::kernel::Space::Shared(_) | crate::kernel::Space::Remote(_)) => "u32",
        Type::U64 | Type::Ptr(_) => "u64",
        Type::F16 => "f16",
        Type::Bf16 => "bf16",
        Type::F32 => "f32",
        Type::F64 => "f64",
    }
}

/// Suffix of an instruction on bits.
fn bits(ty: Type) -> &'static str {
    ["pred", "b16", "b32", "b32", "b64", "b64"][class(ty)]
}

/// Mnemonic of an operation on operands of one type, up to the suffix; `true`: bits, not numbers.
fn mnemonic(op: Op, float: bool) -> Option<(&'static str, bool)> {
    Some(match op {
        Op::Add if float => ("add.rn", false),
        Op::Sub if float => ("sub.rn", false),
        Op::Mul if float => ("mul.rn", false),
        Op::Div if float => ("div.rn", false),
        Op::Sqrt => ("sqrt.rn", false),
        Op::Add => ("add", false),
        Op::Sub => ("sub", false),
        Op::Mul => ("mul.lo", false),
        Op::MulHi => ("mul.hi", false),
        Op::Fma => ("fma.rn", false),
        Op::Neg => ("neg", false),
        Op::Div => ("div", false),
        Op::Rem => ("rem", false),
        Op::Min => ("min", false),
        Op::Max => ("max", false),
        Op::Shl => ("shl", true),
        Op::Shr => ("shr", false),
        Op::And => ("and", true),
        Op::Or => ("or", true),
        Op::Xor => ("xor", true),
        _ => return None,
    })
}

/// Comparison; of floats, unordered operands differ.
fn compare(cmp: Cmp, float: bool) -> &'static str {
    match cmp {
        Cmp::Eq => "eq",
        Cmp::Ne if float => "neu",
        Cmp::Ne => "ne",
        Cmp::Lt => "lt",
        Cmp::Le => "le",
        Cmp::Gt => "gt",
        Cmp::Ge => "ge",
    }
}

impl Writer<'_> {
    /// Prints an arithmetic instruction; `false` if it is none.
    pub(super) fn arith(&mut self, inst: &Inst) -> bool {
        match inst.op {
            Op::Cmp(cmp) => {
                let ty = self.kernel.ty(inst.args[0]);
                put!(self.out, "\tsetp.{}.{} ", compare(cmp, ty.is_float()), suffix(ty));
                self.tail(inst);
            }
            Op::Select => self.select(inst),
            Op::Convert => self.convert(inst),
            Op::Bitcast => {
                put!(self.out, "\tmov.{} ", bits(self.kernel.ty(inst.results[0])));
                self.tail(inst);
            }
            Op::Pack => {
                for &half in &inst.args {
                    self.in_register(half);
                }
                self.out.push_str("\tmov.b32 ");
                self.operand(inst.results[0]);
                self.out.push_str(", {");
                self.register(inst.args[0]);
                self.out.push_str(", ");
                self.register(inst.args[1]);
                self.out.push_str("};\n");
            }
            op => {
                let Some(&result) = inst.results.first() else { return false };
                let ty = self.kernel.ty(result);
                let Some((name, of_bits)) = mnemonic(op, ty.is_float()) else { return false };
                put!(self.out, "\t{name}.{} ", if of_bits { bits(ty) } else { suffix(ty) });
                self.tail(inst);
            }
        }
        true
    }

    /// The result, the arguments, and the end of the line.
    fn tail(&mut self, inst: &Inst) {
        self.operand(inst.results[0]);
        for &arg in &inst.args {
            self.out.push_str(", ");
            self.operand(arg);
        }
        self.out.push_str(";\n");
    }

    fn select(&mut self, inst: &Inst) {
        let (result, cond) = (inst.results[0], self.number(inst.args[0]));
        let ty = self.kernel.ty(result);
        if ty == Type::Bool {
            // No selection between predicates exists.
            self.copy(result, inst.args[2]);
            put!(self.out, "\t@%p{cond} mov.pred ");
            self.operand(result);
            self.out.push_str(", ");
            self.operand(inst.args[1]);
            self.out.push_str(";\n");
            return;
        }
        let suffix = match ty {
            Type::F32 | Type::F64 => suffix(ty),
            _ => bits(ty),
        };
        put!(self.out, "\tselp.{suffix} ");
        for value in [result, inst.args[1], inst.args[2]] {
            self.operand(value);
            self.out.push_str(", ");
        }
        put!(self.out, "%p{cond};\n");
    }

    fn convert(&mut self, inst: &Inst) {
        let (from, to) = (self.kernel.ty(inst.args[0]), self.kernel.ty(inst.results[0]));
        if from.is_int() && to.is_int() && from.bytes() == to.bytes() {
            return self.copy(inst.results[0], inst.args[0]);
        }
        if self.brain(inst, from, to) {
            return;
        }
        let rounding = match (from.is_float(), to.is_float()) {
            (true, false) => ".rni",
            (false, true) => ".rn",
            (true, true) if to.bytes() < from.bytes() || to.bytes() == 2 => ".rn",
            _ => "",
        };
        // A signed integer widens by its sign.
        let to = if (from, to) == (Type::I32, Type::U64) { "s64" } else { suffix(to) };
        put!(self.out, "\tcvt{rounding}.{to}.{} ", suffix(from));
        self.tail(inst);
    }
}
