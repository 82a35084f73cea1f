//! How rounding errors grow in the libraries.

use warpfft_core::problem::{Growth, Precision};

/// As errors, a quarter to a half more than was ever seen. With vector units rustfft convolves wherever a prime factor of
/// 13 or more is in a longer line, and its factors are sines of rounded angles: in f64 that is most of the error.
pub(super) const fn of(precision: Precision) -> Growth {
    match precision {
        Precision::F32 => Growth { two: 0.75, small: 1.1, codelet: 3.5, convolved: 4.3, own: 2.0, once: 0.7 },
        // Double-single problems are computed in f64 too: better than asked.
        Precision::F64 | Precision::DoubleSingle => {
            Growth { two: 1.8, small: 6.5, codelet: 22.0, convolved: 25.0, own: 12.0, once: 1.5 }
        }
    }
}
