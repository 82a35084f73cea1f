//! Requests for frequencies of a band.

use super::{Asked, Fft};
use crate::error::Error;
use crate::problem::{Band, Dim, Format, Kind, Zoom};

/// Frequencies as a caller names them, in cycles per sample.
#[derive(Debug, Clone, Copy)]
pub(super) enum Frequencies {
    Between { from: f64, to: f64, endpoint: bool },
    Stepping { first: f64, step: f64 },
}

impl Frequencies {
    fn band(self, samples: u64, points: u64) -> Band {
        match self {
            Self::Between { from, to, endpoint } => Band::between(samples, from, to, points, endpoint),
            Self::Stepping { first, step } => Band::stepping(samples, first, step, points),
        }
    }
}

impl Fft {
    /// `points` frequencies from `from` to `to`, in cycles per sample, of the one axis that is transformed: point k is
    /// `sum_j x_j exp(-2 pi i j f_k)` with `f_k = from + k (to - from) / points`, as `scipy.signal.zoom_fft` with `fs=1`
    /// computes it. The shape is that of the samples, and output strides are those of the frequencies. Complex samples;
    /// [`Fft::of_reals`] for reals. Out of place, unscaled.
    ///
    /// ```
    /// use warpfft_core::request::Fft;
    /// // 4096 samples, between a tenth and an eighth of the sampling rate, 500 frequencies.
    /// let problem = Fft::new([4096]).zoom(0.1, 0.125, 500).batch(10).build()?;
    /// assert_eq!((problem.input_span(), problem.output_span()), (0..40_960, 0..5000));
    /// # Ok::<(), warpfft_core::Error>(())
    /// ```
    #[must_use]
    pub fn zoom(self, from: f64, to: f64, points: u64) -> Self {
        self.frequencies(Frequencies::Between { from, to, endpoint: false }, points)
    }

    /// `points` frequencies from `first` on, each `step` from the last, in cycles per sample: the chirp z-transform on the
    /// unit circle, `scipy.signal.czt` with `a = exp(2j pi first)` and `w = exp(-2j pi step)`. Otherwise as [`Fft::zoom`].
    #[must_use]
    pub fn czt(self, first: f64, step: f64, points: u64) -> Self {
        self.frequencies(Frequencies::Stepping { first, step }, points)
    }

    /// The last frequency of [`Fft::zoom`] is its end, not one step before it.
    #[must_use]
    pub fn endpoint(mut self) -> Self {
        if let Asked::Zoom { frequencies: Frequencies::Between { endpoint, .. }, .. } = &mut self.asked {
            *endpoint = true;
        }
        self
    }

    /// The samples of [`Fft::zoom`] or [`Fft::czt`] are reals.
    #[must_use]
    pub fn of_reals(mut self) -> Self {
        if matches!(self.asked, Asked::Zoom { .. }) {
            self.input = Format::Real;
        }
        self
    }

    fn frequencies(mut self, frequencies: Frequencies, points: u64) -> Self {
        self.asked = Asked::Zoom { frequencies, points };
        self
    }

    /// The axis of the shape along which a zoom goes, and its frequencies.
    pub(super) fn zoomed(&self) -> Result<Option<(usize, u64)>, Error> {
        let Asked::Zoom { points, .. } = self.asked else { return Ok(None) };
        let transformed = self.transformed_axes()?;
        let axes: Vec<usize> = (0..transformed.len()).filter(|&axis| transformed[axis]).collect();
        match axes[..] {
            [axis] => Ok(Some((axis, points))),
            _ => Err(Error::ZoomAxes { axes: axes.len() }),
        }
    }

    /// The kind of a zoom along that dimension.
    pub(super) fn zoom_of(&self, frequencies: Frequencies, points: u64, dim: Dim) -> Kind {
        let real = self.input == Format::Real;
        Kind::Zoom(Zoom { dim, band: frequencies.band(dim.n, points), real })
    }
}
