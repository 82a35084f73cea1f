//! What algorithms of radix 2 share: the butterfly, the table of its factors, and the reversal of bits.

use super::code::Code;
use crate::kernel::{Cx, Op, Value};
use crate::lower::twiddle::Powers;
use crate::pass::TableKind;

/// Factors `exp(-2 pi i k / n)` for the `n / 2` values of k that butterflies have, made by the host in double precision.
pub(super) fn factors(n: u64) -> TableKind {
    TableKind::Stage { radix: 2, done: n / 2, powers: Powers::First }
}

/// Two points to their sum and difference, the second multiplied by a factor before.
pub(super) fn butterfly(code: &mut Code, [x, y]: [Cx; 2], w: Cx) -> [Cx; 2] {
    let y = code.cmul(y, w);
    [code.cadd(x, y), code.csub(x, y)]
}

/// The lowest so many bits of an index in reverse order; the others must be 0. Neighbouring bits swap, then pairs of
/// them, and so on.
pub(super) fn bit_reversed(code: &mut Code, mut x: Value, bits: u32) -> Value {
    for (step, mask) in [(1, 0x5555_5555), (2, 0x3333_3333), (4, 0x0f0f_0f0f), (8, 0x00ff_00ff)] {
        if step >= bits {
            return shifted(code, x, step - bits);
        }
        let (mask, by) = (code.u32(mask), code.u32(step));
        let high = code.binary(Op::Shr, x, by);
        let high = code.binary(Op::And, high, mask);
        let low = code.binary(Op::And, x, mask);
        let low = code.binary(Op::Shl, low, by);
        x = code.binary(Op::Or, low, high);
    }
    if bits > 16 {
        let by = code.u32(16);
        let (high, low) = (code.binary(Op::Shr, x, by), code.binary(Op::Shl, x, by));
        x = code.binary(Op::Or, low, high);
        return shifted(code, x, 32 - bits);
    }
    shifted(code, x, 16 - bits)
}

fn shifted(code: &mut Code, x: Value, by: u32) -> Value {
    if by == 0 {
        return x;
    }
    let by = code.u32(by);
    code.binary(Op::Shr, x, by)
}
