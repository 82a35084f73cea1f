//! Rewrite rules that look at how the arguments came about. Written `before => after`; a primed constant is
//! computed at once. Each is exact, except that the sign of a zero may change.

use super::simplify::Values;
use crate::kernel::fold::Fold;
use crate::kernel::{Inst, Op, Type, Value};

impl Values<'_> {
    /// The first rule that applies.
    pub(super) fn rewrite(&mut self, op: Op, ty: Type, args: &[Value], out: &mut Vec<Inst>) -> Option<Fold> {
        match (op, args) {
            _ if ty.is_float() => self.signs(op, ty, args, out),
            (_, &[a, b]) if ty.is_int() => self.chains(op, ty, a, b, out),
            _ => None,
        }
    }

    /// Moves negations to where they cost nothing.
    fn signs(&mut self, op: Op, ty: Type, args: &[Value], out: &mut Vec<Inst>) -> Option<Fold> {
        let simpler = |op, args: &[Value]| Some(Fold::Simpler(op, args.to_vec()));
        match (op, args) {
            (Op::Neg, &[a]) => self.negated(a, ty, out),
            (Op::Add, &[a, b]) => match (self.minus(a), self.minus(b)) {
                // a + -b => a - b
                (_, Some(b)) => simpler(Op::Sub, &[a, b]),
                // -a + b => b - a
                (Some(a), None) => simpler(Op::Sub, &[b, a]),
                (None, None) => None,
            },
            // a - -b => a + b
            (Op::Sub, &[a, b]) => simpler(Op::Add, &[a, self.minus(b)?]),
            (Op::Mul | Op::Fma, &[a, b, ..]) => {
                let (minus_a, minus_b) = (self.minus(a), self.minus(b));
                let (a, b) = match (minus_a, minus_b) {
                    // -a * -b => a * b
                    (Some(a), Some(b)) => (a, b),
                    // -a * k => a * k'
                    (Some(a), None) => (a, self.opposite(b, ty, out)?),
                    (None, Some(b)) => (self.opposite(a, ty, out)?, b),
                    (None, None) => return None,
                };
                let mut args = args.to_vec();
                (args[0], args[1]) = (a, b);
                Some(Fold::Simpler(op, args))
            }
            _ => None,
        }
    }

    /// What `-a` becomes.
    fn negated(&mut self, a: Value, ty: Type, out: &mut Vec<Inst>) -> Option<Fold> {
        let def = *self.def(a)?;
        match (def.op, def.args()) {
            // - - x => x
            (Op::Neg, &[x]) => Some(Fold::Same(x)),
            // A negation is often free; only where the other instruction goes is anything won.
            _ if !self.used_once(a) => None,
            // -(x - y) => y - x
            (Op::Sub, &[x, y]) => Some(Fold::Simpler(Op::Sub, vec![y, x])),
            // -(k * y - z) => k' * y + z, the product-sum being fused
            (Op::Fma, &[x, y, z]) => {
                let z = self.minus(z)?;
                if self.constant(x).is_some() {
                    return Some(Fold::Simpler(Op::Fma, vec![self.opposite(x, ty, out)?, y, z]));
                }
                Some(Fold::Simpler(Op::Fma, vec![x, self.opposite(y, ty, out)?, z]))
            }
            _ => None,
        }
    }

    /// Of `-x`, the `x`.
    fn minus(&self, value: Value) -> Option<Value> {
        let def = self.def(value)?;
        if def.op == Op::Neg { def.args().first().copied() } else { None }
    }

    /// The constant of the opposite sign.
    fn opposite(&mut self, value: Value, ty: Type, out: &mut Vec<Inst>) -> Option<Value> {
        let x = f64::from_bits(self.constant(value)?);
        Some(self.new_constant(ty, (-x).to_bits(), out))
    }

    /// Two steps by constants become one: `(x op k) op l => x op k'`.
    fn chains(&mut self, op: Op, ty: Type, a: Value, b: Value, out: &mut Vec<Inst>) -> Option<Fold> {
        let (inner, outer) = match self.constant(b) {
            Some(bits) => (a, bits),
            None if op.is_commutative() => (b, self.constant(a)?),
            None => return None,
        };
        let def = self.def(inner).filter(|def| def.op == op)?;
        let &[x, y] = def.args() else { return None };
        let (x, bits) = match self.constant(y) {
            Some(bits) => (x, bits),
            None if op.is_commutative() => (y, self.constant(x)?),
            None => return None,
        };
        let both = match op {
            Op::Add => bits.wrapping_add(outer),
            Op::Mul => bits.wrapping_mul(outer),
            Op::And => bits & outer,
            Op::Or => bits | outer,
            Op::Xor => bits ^ outer,
            Op::Shl | Op::Shr => {
                let both = bits.checked_add(outer).filter(|&both| both < u64::from(8 * ty.bytes()))?;
                let distance = self.new_constant(Type::U32, both, out);
                return Some(Fold::Simpler(op, vec![x, distance]));
            }
            _ => return None,
        };
        let both = if ty == Type::U64 { both } else { both & u64::from(u32::MAX) };
        let k = self.new_constant(ty, both, out);
        Some(Fold::Simpler(op, vec![x, k]))
    }
}
