//! What languages with braces share: WGSL and OpenCL C write the same lines of one block in another, sums of pointers, and
//! most operators.

use super::EmitError;
use super::shared::put;
use crate::kernel::{Block, Cmp, Inst, Op, Type, Value};

/// A writer of such a language.
pub(super) trait Braces<'k> {
    /// The text so far.
    fn out(&mut self) -> &mut String;

    /// How deep the next line stands.
    fn depth(&mut self) -> &mut usize;

    /// Writes an instruction.
    fn inst(&mut self, inst: &'k Inst) -> Result<(), EmitError>;

    /// Writes a value where an expression reads it.
    fn operand(&mut self, value: Value);

    /// Writes what stands in front of a value's expression.
    fn define(&mut self, value: Value);

    fn block(&mut self, block: &'k Block) -> Result<(), EmitError> {
        block.insts.iter().try_for_each(|inst| self.inst(inst))
    }

    fn nested(&mut self, block: &'k Block) -> Result<(), EmitError> {
        *self.depth() += 1;
        let done = self.block(block);
        *self.depth() -= 1;
        done
    }

    fn indent(&mut self) {
        for _ in 0..*self.depth() {
            self.out().push_str("    ");
        }
    }

    fn line(&mut self, text: &str) {
        self.indent();
        self.out().push_str(text);
        self.out().push('\n');
    }

    /// Two values with a sign between them.
    fn infix(&mut self, sign: &str, args: &[Value]) {
        self.operand(args[0]);
        put!(self.out(), " {sign} ");
        self.operand(args[1]);
    }

    /// Values in parentheses, behind a name.
    fn call(&mut self, function: &str, args: &[Value]) {
        self.out().push_str(function);
        for (i, &arg) in args.iter().enumerate() {
            self.out().push_str(if i == 0 { "(" } else { ", " });
            self.operand(arg);
        }
        self.out().push(')');
    }

    /// A pointer so many elements on.
    fn pointer_sum(&mut self, inst: &Inst) {
        self.define(inst.results[0]);
        self.infix("+", &inst.args);
        self.out().push_str(";\n");
    }

    /// What is added to a pointer or an index; numbers end in `suffix`.
    fn distance(&mut self, offset: i64, suffix: &str) {
        match offset {
            0 => {}
            1.. => put!(self.out(), " + {offset}{suffix}"),
            _ => put!(self.out(), " - {}{suffix}", offset.unsigned_abs()),
        }
    }
}

/// The parts of vectors, in order.
pub(super) const LETTERS: [char; 4] = ['x', 'y', 'z', 'w'];

/// The sign of an operation that is written between its arguments, where its result has that type.
pub(super) fn sign(op: Op, ty: Type) -> Option<&'static str> {
    Some(match op {
        Op::Add => "+",
        Op::Sub => "-",
        Op::Mul => "*",
        Op::Div => "/",
        Op::Rem => "%",
        Op::Shl => "<<",
        Op::Shr => ">>",
        Op::And => "&",
        Op::Or => "|",
        Op::Xor if ty == Type::Bool => "!=",
        Op::Xor => "^",
        Op::Cmp(Cmp::Eq) => "==",
        Op::Cmp(Cmp::Ne) => "!=",
        Op::Cmp(Cmp::Lt) => "<",
        Op::Cmp(Cmp::Le) => "<=",
        Op::Cmp(Cmp::Gt) => ">",
        Op::Cmp(Cmp::Ge) => ">=",
        _ => return None,
    })
}

/// The name of an operation that is written in front of its arguments, the same in all of these languages.
pub(super) fn function(op: Op) -> Option<&'static str> {
    Some(match op {
        Op::Neg => "-",
        Op::Sqrt => "sqrt",
        Op::MulHi => "mul_hi",
        Op::Fma => "fma",
        Op::Min => "min",
        Op::Max => "max",
        _ => return None,
    })
}
