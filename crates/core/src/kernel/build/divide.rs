//! Division by constants, without dividing.

use super::Builder;
use crate::kernel::{Op, Value};

impl Builder {
    /// `a / d` for a `U32` that is at most `max`: a shift, a multiplication and a shift, or the general
    /// multiplication of Granlund and Montgomery, *Division by invariant integers using multiplication* (1994).
    pub fn div_const(&mut self, a: Value, d: u32, max: u64) -> Value {
        if d == 1 {
            return a;
        }
        if max < u64::from(d) {
            return self.u32(0);
        }
        if d.is_power_of_two() {
            let shift = self.u32(d.trailing_zeros());
            return self.binary(Op::Shr, a, shift);
        }
        for shift in 8..32 {
            let factor = (1_u64 << shift) / u64::from(d) + 1;
            let error = factor * u64::from(d) - (1 << shift);
            let exact = error * max < (1 << shift);
            if exact && factor * max <= u64::from(u32::MAX) {
                let product = self.mul_const(a, factor);
                let shift = self.u32(shift);
                return self.binary(Op::Shr, product, shift);
            }
        }
        for shift in 0..32_u32 {
            let factor = (1_u128 << (32 + shift)) / u128::from(d) + 1;
            let error = factor * u128::from(d) - (1 << (32 + shift));
            if factor <= u128::from(u32::MAX) && error * u128::from(max) < (1 << (32 + shift)) {
                let factor = self.u32(factor as u32);
                let high = self.binary(Op::MulHi, a, factor);
                let shift = self.u32(shift);
                return self.binary(Op::Shr, high, shift);
            }
        }
        let d = self.u32(d);
        self.binary(Op::Div, a, d)
    }

    /// `a % d` for a `U32` that is at most `max`.
    pub fn rem_const(&mut self, a: Value, d: u32, max: u64) -> Value {
        if max < u64::from(d) {
            return a;
        }
        if d.is_power_of_two() {
            let mask = self.u32(d - 1);
            return self.binary(Op::And, a, mask);
        }
        let quotient = self.div_const(a, d, max);
        let whole = self.mul_const(quotient, u64::from(d));
        self.sub(a, whole)
    }
}
