//! Frequencies on an arc of the unit circle, as many as asked for, wherever they lie: the chirp z-transform (Rabiner,
//! Schafer and Rader, *The chirp z-transform algorithm*, IEEE Trans. Audio Electroacoustics 17(2), 1969) on the circle.

use super::{Dim, ELEMENT_LIMIT, Placement, Problem};
use crate::error::Error;
use crate::math::dd::Dd;

/// Frequencies at most, in cycles per sample, either sign: beyond it the products with sample numbers would lose digits.
pub const FREQUENCY_LIMIT: f64 = (1 << 20) as f64;

/// Evenly spaced frequencies: point k is at `first + k (to - from) / over` cycles per sample. Numbers are kept by their
/// bits, so that bands are data like lengths.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Band {
    /// Samples that are transformed.
    pub samples: u64,
    /// Frequencies.
    pub points: u64,
    first: u64,
    from: u64,
    to: u64,
    over: u64,
}

impl std::fmt::Debug for Band {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The shortest text that tells any two numbers apart.
        let Self { samples, points, over, .. } = self;
        let [first, from, to] = self.numbers();
        write!(f, "Band({samples} to {points}, {first:?} + k ({to:?} - {from:?}) / {over})")
    }
}

impl Band {
    /// `points` frequencies from `from` to `to` in cycles per sample; with `endpoint`, the last is `to`, without it one
    /// step before, as in `scipy.signal.zoom_fft` with `fs=1`.
    ///
    /// ```
    /// use warpfft_core::problem::Band;
    /// let frequency = |band: Band| [0, 1, 3].map(|k| band.frequency(k));
    /// assert_eq!(frequency(Band::between(100, 0.0, 0.5, 4, false)), [0.0, 0.125, 0.375]);
    /// assert_eq!(frequency(Band::between(100, 0.0, 0.75, 4, true)), [0.0, 0.25, 0.75]);
    /// ```
    pub const fn between(samples: u64, from: f64, to: f64, points: u64, endpoint: bool) -> Self {
        let over = if endpoint && points > 1 { points - 1 } else { points };
        let [from, to] = [from.to_bits(), to.to_bits()];
        Self { samples, points, first: from, from, to, over }
    }

    /// `points` frequencies from `first` on, each `step` from the last, in cycles per sample: `scipy.signal.czt` with
    /// `a = exp(2j pi first)` and `w = exp(-2j pi step)`.
    pub const fn stepping(samples: u64, first: f64, step: f64, points: u64) -> Self {
        Self { samples, points, first: first.to_bits(), from: 0, to: step.to_bits(), over: 1 }
    }

    /// Frequency of a point in cycles per sample, rounded.
    pub fn frequency(&self, point: u64) -> f64 {
        self.turns(point).hi
    }

    /// The same in double-double precision.
    pub(crate) fn turns(&self, point: u64) -> Dd {
        self.first() + self.step() * Dd::from_u64(point)
    }

    pub(crate) fn first(&self) -> Dd {
        Dd::from(f64::from_bits(self.first))
    }

    pub(crate) fn step(&self) -> Dd {
        let [from, to] = [self.from, self.to].map(|bits| Dd::from(f64::from_bits(bits)));
        (to - from).over(Dd::from_u64(self.over.max(1)))
    }

    /// Lowest and highest number that it is made of.
    fn numbers(&self) -> [f64; 3] {
        [self.first, self.from, self.to].map(f64::from_bits)
    }
}

/// A line of samples to the frequencies of a band: `X_k = sum_j x_j exp(-2 pi i j f_k)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Zoom {
    /// The samples, and strides of samples and of frequencies.
    pub dim: Dim,
    /// The frequencies.
    pub band: Band,
    /// Whether samples are reals.
    pub real: bool,
}

impl Problem {
    /// Whether a zoom is one that can be.
    pub(super) fn check_zoom(&self, zoom: &Zoom) -> Result<(), Error> {
        let Band { samples, points, .. } = zoom.band;
        if samples != zoom.dim.n {
            return Err(Error::ZoomSamples { band: samples, n: zoom.dim.n });
        }
        let most = ELEMENT_LIMIT / self.batch_count().max(1);
        if !(1..=most).contains(&points) {
            return Err(Error::ZoomPoints { points, most });
        }
        let off = |frequency: &f64| !frequency.is_finite() || frequency.abs() > FREQUENCY_LIMIT;
        if let Some(frequency) = zoom.band.numbers().into_iter().find(off) {
            return Err(Error::ZoomFrequency { frequency, limit: FREQUENCY_LIMIT });
        }
        if !self.transform.is_empty() {
            return Err(Error::ZoomAxes { axes: self.transform.len() + 1 });
        }
        if self.placement == Placement::InPlace {
            return Err(Error::ZoomInPlace);
        }
        Ok(())
    }
}
