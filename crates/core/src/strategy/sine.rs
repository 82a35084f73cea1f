//! Factors that a thread computes itself, where a paper's threads do.
//!
//! The kernels' language has no sine, on purpose: what devices offer under that name is of any accuracy. Here a factor
//! comes as good libraries compute it. The index is reduced to an octant in integers, so that no angle is rounded; then
//! sine and cosine of up to a quarter of pi are Taylor polynomials, by Horner's rule in fused multiply-adds, with
//! coefficients that the host rounds once. The error is about one unit in the last place.

use std::f64::consts::FRAC_PI_4;

use super::code::Code;
use crate::kernel::{Cmp, Cx, Op, Type, Value};

/// `exp(-2 pi i k / n)`, or in the inverse direction its conjugate, for `k < n / 2` and n a power of two.
pub(super) fn factor(code: &mut Code, k: Value, n: u64) -> Cx {
    let (k, n) = if n < 8 { (code.mul_const(k, 8 / n), 8) } else { (k, n) };
    let octants = n / 8;
    let [rest, octant] = code.split(k, octants, n / 2 - 1);
    // Odd octants run backwards.
    let one = code.u32(1);
    let odd = code.binary(Op::And, octant, one);
    let odd = code.cmp(Cmp::Eq, odd, one);
    let whole = code.u32(octants as u32);
    let back = code.sub(whole, rest);
    let rest = code.select(odd, back, rest);
    let elem = code.elem;
    let rest = code.convert(elem, rest);
    // Exact: a power of two.
    let eighth = code.float(elem, 1.0 / octants as f64);
    let u = code.mul(rest, eighth);
    let (sin, cos) = polynomials(code, u);
    // Octants 1 and 2 have sine and cosine swapped, 2 and 3 the cosine negative.
    let two = code.u32(2);
    let next = code.add(octant, one);
    let swapped = code.binary(Op::And, next, two);
    let swapped = code.cmp(Cmp::Eq, swapped, two);
    let left = code.cmp(Cmp::Ge, octant, two);
    let (re, im) = (code.select(swapped, sin, cos), code.select(swapped, cos, sin));
    let minus = code.neg(re);
    let re = code.select(left, minus, re);
    let im = code.neg(im);
    code.directed(Cx { re, im })
}

/// Sine and cosine of `u pi / 4`, u from 0 to 1.
fn polynomials(code: &mut Code, u: Value) -> (Value, Value) {
    let elem = code.elem;
    let last = if elem == Type::F64 { 17 } else { 11 };
    let square = code.mul(u, u);
    let mut sums = [1_i32, 0].map(|first| {
        let mut sum = code.float(elem, 0.0);
        for power in (first..=last).rev().filter(|power| (power - first) % 2 == 0) {
            let factorial: f64 = (1..=power).map(f64::from).product();
            let sign = if (power - first) % 4 == 0 { 1.0 } else { -1.0 };
            let term = code.float(elem, sign * FRAC_PI_4.powi(power) / factorial);
            sum = code.fma(sum, square, term);
        }
        sum
    });
    sums[0] = code.mul(sums[0], u);
    (sums[0], sums[1])
}
