//! Numbers as sums of two singles: how they lie in the memory of devices.
//!
//! A number `x` is the pair of `hi`, the single nearest to `x`, and `lo`, the single nearest to `x - hi`: beside `x` off
//! by at most 2^-49 from 2^-101 (3.9e-31) up to the largest single (3.4e38). Smaller numbers have fewer bits, as `lo`
//! runs out of them; where a device takes subnormal singles for zero, from 2^-77 (6.6e-24) down. Larger ones do not
//! exist.
//!
//! ```
//! use warpfft_core::math::double_single::{join, split};
//!
//! let [hi, lo] = split(0.1);
//! assert_eq!(hi, 0.1_f32);
//! assert!((join([hi, lo]) - 0.1).abs() < 0.1 * 2_f64.powi(-49));
//! assert_eq!(split(f64::INFINITY), [f32::INFINITY, 0.0]);
//! ```

/// Half the distance from 1 to the next number, for what the arithmetic loses: 2^-48.
pub const UNIT: f64 = 1.0 / (1_u64 << 48) as f64;

/// The pair `[hi, lo]` of a number. Of what no single holds (from 2^128 on, infinities, no number at all), `hi` is
/// infinite or no number, and `lo` is 0.
pub fn split(x: f64) -> [f32; 2] {
    let hi = x as f32;
    let lo = if hi.is_finite() { (x - f64::from(hi)) as f32 } else { 0.0 };
    [hi, lo]
}

/// The number of a pair. Where `hi` is not finite it is `hi`; for what kernels leave there as `lo` says nothing.
pub fn join([hi, lo]: [f32; 2]) -> f64 {
    if hi.is_finite() { f64::from(hi) + f64::from(lo) } else { hi.into() }
}
