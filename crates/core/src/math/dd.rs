//! Double-double numbers: an unevaluated sum of two `f64`, about 106 bits, after Dekker (1971) and Knuth.
//!
//! Products are split by Dekker's method instead of a fused multiply-add: on targets without the instruction a
//! fused multiply-add is a library call, and results must not depend on the target. The split overflows for
//! magnitudes above 2^995, far beyond anything that a reference transform is used on.

use num_complex::Complex;
use std::ops::{Add, Mul, Neg, Sub};

/// The sum `hi + lo`, where `hi` is that sum rounded to the nearest `f64`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Dd {
    /// The sum, rounded.
    pub hi: f64,
    /// What rounding left over.
    pub lo: f64,
}

/// A complex number of two [`Dd`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Cdd {
    /// Real part.
    pub re: Dd,
    /// Imaginary part.
    pub im: Dd,
}

/// The sum of two `f64` and its rounding error, exactly.
#[inline]
fn two_sum(a: f64, b: f64) -> Dd {
    let hi = a + b;
    let b_part = hi - a;
    Dd { hi, lo: (a - (hi - b_part)) + (b - b_part) }
}

/// The same where `|a| >= |b|`.
#[inline]
fn quick_two_sum(a: f64, b: f64) -> Dd {
    let hi = a + b;
    Dd { hi, lo: b - (hi - a) }
}

/// The two halves of an `f64`, 26 bits each.
#[inline]
fn split(a: f64) -> (f64, f64) {
    const FACTOR: f64 = 134_217_729.0;
    let t = FACTOR * a;
    let hi = t - (t - a);
    (hi, a - hi)
}

/// The product of two `f64` and its rounding error, exactly.
#[inline]
fn two_prod(a: f64, b: f64) -> Dd {
    let hi = a * b;
    let (ah, al) = split(a);
    let (bh, bl) = split(b);
    Dd { hi, lo: ((ah * bh - hi) + ah * bl + al * bh) + al * bl }
}

impl Dd {
    /// Zero.
    pub const ZERO: Self = Self { hi: 0.0, lo: 0.0 };
    /// One.
    pub const ONE: Self = Self { hi: 1.0, lo: 0.0 };
    /// Pi divided by 4.
    pub const FRAC_PI_4: Self = Self { hi: std::f64::consts::FRAC_PI_4, lo: 3.061_616_997_868_383e-17 };
    /// One over the square root of 2.
    pub const FRAC_1_SQRT_2: Self =
        Self { hi: std::f64::consts::FRAC_1_SQRT_2, lo: -4.833_646_656_726_457e-17 };

    /// The integer, exactly.
    pub fn from_u64(x: u64) -> Self {
        let hi = x as f64;
        Self { hi, lo: (i128::from(x) - hi as i128) as f64 }
    }

    /// Quotient, to about 1e-31.
    #[must_use]
    pub fn over(self, other: Self) -> Self {
        let q1 = self.hi / other.hi;
        let rest = self - other * q1;
        let q2 = rest.hi / other.hi;
        let rest = rest - other * q2;
        quick_two_sum(q1, q2) + Self::from(rest.hi / other.hi)
    }
}

impl From<f64> for Dd {
    #[inline]
    fn from(hi: f64) -> Self {
        Self { hi, lo: 0.0 }
    }
}

impl Add for Dd {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        let hi = two_sum(self.hi, other.hi);
        let lo = two_sum(self.lo, other.lo);
        let sum = quick_two_sum(hi.hi, hi.lo + lo.hi);
        quick_two_sum(sum.hi, sum.lo + lo.lo)
    }
}

impl Neg for Dd {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        // Not the sign bit: -0.0 would come out of every zero sine.
        Self { hi: 0.0 - self.hi, lo: 0.0 - self.lo }
    }
}

impl Sub for Dd {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Dd {
    type Output = Self;
    #[inline]
    fn mul(self, other: Self) -> Self {
        let p = two_prod(self.hi, other.hi);
        quick_two_sum(p.hi, p.lo + (self.hi * other.lo + self.lo * other.hi))
    }
}

impl Mul<f64> for Dd {
    type Output = Self;
    #[inline]
    fn mul(self, other: f64) -> Self {
        let p = two_prod(self.hi, other);
        quick_two_sum(p.hi, p.lo + self.lo * other)
    }
}

impl Cdd {
    /// Zero.
    pub const ZERO: Self = Self { re: Dd::ZERO, im: Dd::ZERO };
    /// One.
    pub const ONE: Self = Self { re: Dd::ONE, im: Dd::ZERO };

    /// Complex conjugate.
    #[inline]
    #[must_use]
    pub fn conj(self) -> Self {
        Self { re: self.re, im: -self.im }
    }

    /// Product with a real number.
    #[inline]
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        Self { re: self.re * factor, im: self.im * factor }
    }

    /// Both parts rounded to the nearest `f64`.
    #[inline]
    pub fn round(self) -> Complex<f64> {
        Complex::new(self.re.hi, self.im.hi)
    }
}

impl From<Complex<f64>> for Cdd {
    #[inline]
    fn from(z: Complex<f64>) -> Self {
        Self { re: z.re.into(), im: z.im.into() }
    }
}

impl Add for Cdd {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self { re: self.re + other.re, im: self.im + other.im }
    }
}

impl Sub for Cdd {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self { re: self.re - other.re, im: self.im - other.im }
    }
}

impl Mul for Cdd {
    type Output = Self;
    #[inline]
    fn mul(self, other: Self) -> Self {
        Self { re: self.re * other.re - self.im * other.im, im: self.re * other.im + self.im * other.re }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        // Integers of 52 bits: products and sums of two have an exact value in u128 to compare with.
        #[test]
        fn products_and_sums_are_exact(a in 0u64..1 << 52, b in 0u64..1 << 52) {
            let p = Dd::from(a as f64) * Dd::from(b as f64);
            prop_assert_eq!(p.hi as i128 + p.lo as i128, i128::from(a) * i128::from(b));
            let (wide_a, wide_b) = (Dd::from_u64(a * 2047 + 1), Dd::from_u64(b * 1999 + 3));
            let s = wide_a + wide_b;
            prop_assert_eq!(s.hi as i128 + s.lo as i128, i128::from(a) * 2047 + i128::from(b) * 1999 + 4);
        }

        #[test]
        fn quotients_multiply_back(a in 1u64.., b in 1u64..) {
            let (a, b) = (Dd::from_u64(a), Dd::from_u64(b));
            let back = a.over(b) * b - a;
            prop_assert!(back.hi.abs() <= 1e-30 * a.hi);
        }
    }

    #[test]
    fn constants_are_what_they_say() {
        let half = Dd::FRAC_1_SQRT_2 * Dd::FRAC_1_SQRT_2 - Dd::from(0.5);
        assert!(half.hi.abs() < 1e-31, "{half:?}");
        // Machin's formula: pi/4 = 4 atan(1/5) - atan(1/239).
        let atan_inverse = |x: u64| {
            let x = Dd::from_u64(x);
            let mut power = Dd::ONE.over(x);
            let square = power * power;
            let mut sum = Dd::ZERO;
            for k in 0..30 {
                let term = power.over(Dd::from_u64(2 * k + 1));
                sum = if k % 2 == 0 { sum + term } else { sum - term };
                power = power * square;
            }
            sum
        };
        let pi_4 = atan_inverse(5) * 4.0 - atan_inverse(239);
        assert!((pi_4 - Dd::FRAC_PI_4).hi.abs() < 1e-31);
    }
}
