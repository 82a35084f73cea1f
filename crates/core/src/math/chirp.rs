//! The chirp of a band of frequencies: `j k = (j^2 + k^2 - (k - j)^2) / 2` makes its transform a convolution. Angles are
//! products in double-double precision, reduced to one turn before a sine is taken: for lengths up to 2^20 they are right
//! to 2^-60 of a turn, whatever the frequencies.

use num_complex::Complex;

use super::dd::{Cdd, Dd};
use super::twiddle::turn_dd;
use crate::problem::Band;

/// `step k^2 / 2` in turns.
fn bent(band: &Band, k: u64) -> Dd {
    band.step() * Dd::from_u64(k * k) * 0.5
}

/// What sample j is multiplied by.
pub fn sample(band: &Band, j: u64) -> Cdd {
    turn_dd(band.first() * Dd::from_u64(j) + bent(band, j))
}

/// What point k is multiplied by.
pub fn point(band: &Band, k: u64) -> Cdd {
    turn_dd(bent(band, k))
}

/// What is convolved with in double-double precision, over `m` points: samples and points together less one, at least.
pub fn filter_dd(band: &Band, m: usize) -> Vec<Cdd> {
    let mut filter = vec![Cdd::ZERO; m];
    for k in 0..band.points.max(band.samples) {
        let value = point(band, k).conj();
        if k < band.points {
            filter[k as usize] = value;
        }
        if (1..band.samples).contains(&k) {
            filter[m - k as usize] = value;
        }
    }
    filter
}

/// The same, rounded.
pub fn filter(band: &Band, m: usize) -> Vec<Complex<f64>> {
    filter_dd(band, m).into_iter().map(Cdd::round).collect()
}
