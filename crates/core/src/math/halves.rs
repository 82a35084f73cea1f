//! Doubles as 16-bit numbers, rounded once: to nearest, ties to even. The conversions of `half` go by a single on
//! processors that have an instruction from there, and cut the fraction off before they round on others.

use half::{bf16, f16};

/// The nearest f16.
///
/// ```
/// use warpfft_core::math::halves::nearest_f16;
/// // The nearest single is 65520, from which on f16 is infinite.
/// assert_eq!(nearest_f16(65519.999), half::f16::MAX);
/// ```
pub fn nearest_f16(x: f64) -> f16 {
    f16::from_f32(odd(x))
}

/// The nearest bf16.
pub fn nearest_bf16(x: f64) -> bf16 {
    bf16::from_f32(odd(x))
}

/// A double cut to a single, its last bit set where something was cut off: two bits more than the shorter type has make the
/// second rounding right (Boldo and Melquiond, *When double rounding is odd*, 2005).
#[allow(clippy::cast_possible_truncation, reason = "what is cut off is in the last bit")]
fn odd(x: f64) -> f32 {
    let near = x as f32;
    if f64::from(near) == x || !near.is_finite() {
        return near;
    }
    let up = f64::from(near).abs() > x.abs();
    f32::from_bits((near.to_bits() - u32::from(up)) | 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of three neighbours the nearest, and of two as near that with an even last bit.
    fn hold(x: f64, around: [(u16, f64); 3], got: u16) {
        let off = |&(_, y): &(u16, f64)| (x - y).abs();
        let best = around.iter().map(off).fold(f64::INFINITY, f64::min);
        let mut near = around.iter().filter(|all| off(all) == best);
        let (first, second) = (near.next().expect("one"), near.next());
        let want = second.filter(|second| second.0 % 2 == 0).unwrap_or(first);
        assert_eq!(got, want.0, "{x:e}");
    }

    #[test]
    fn numbers_beside_the_middle_of_two() {
        for _ in 0..20_000 {
            let bits: u16 = rand::random_range(1..0x7BFF);
            let off = f64::from(rand::random_range(-1..=1_i32)) * 2_f64.powi(rand::random_range(-50..-20));
            let around = [bits - 1, bits, bits + 1].map(|bits| (bits, f16::from_bits(bits).to_f64()));
            let x = f64::midpoint(around[1].1, around[2].1) * (1.0 + off);
            hold(x, around, nearest_f16(x).to_bits());
            hold(x, around, nearest_f16(-x).to_bits() & 0x7FFF);
            let around = [bits - 1, bits, bits + 1].map(|bits| (bits, bf16::from_bits(bits).to_f64()));
            let x = f64::midpoint(around[1].1, around[2].1) * (1.0 + off);
            hold(x, around, nearest_bf16(x).to_bits());
        }
    }

    #[test]
    fn ends() {
        for (x, want) in [
            (0.0, 0.0),
            (-1e-300, 0.0),
            (65_519.999_999, 65504.0),
            (65_520.0, f64::INFINITY),
            (1e300, f64::INFINITY),
            (f64::NEG_INFINITY, f64::NEG_INFINITY),
        ] {
            assert_eq!(nearest_f16(x).to_f64(), want, "{x:e}");
        }
        assert!(nearest_f16(f64::NAN).is_nan() && nearest_bf16(f64::NAN).is_nan());
        assert!(nearest_f16(-0.0).is_sign_negative() && nearest_bf16(-1e-300).is_sign_negative());
        assert_eq!(nearest_bf16(3.4e38).to_f64(), f64::INFINITY);
    }
}
