//! Requests for how numbers are kept in memory, and that none overflow there.

use super::Fft;
use crate::error::Error;
use crate::problem::{Precision, Problem, Storage};

impl Fft {
    /// How input and output keep their reals. What is computed in follows unless [`Fft::precision`] says it: double
    /// precision for [`Storage::F64`], else single.
    ///
    /// ```
    /// use warpfft_core::problem::{Precision, Storage};
    /// use warpfft_core::request::Fft;
    /// // A sixth of a second of stereo as half-precision complex numbers: 4 bytes an element, computed in f32.
    /// let problem = Fft::new([8192]).batch(2).storage(Storage::F16).build()?;
    /// assert_eq!((problem.precision, problem.input_bytes()), (Precision::F32, 4 * 8192 * 2));
    /// # Ok::<(), warpfft_core::Error>(())
    /// ```
    #[must_use]
    pub fn storage(self, storage: Storage) -> Self {
        self.storages(storage, storage)
    }

    /// How the input keeps its reals, and how the output does; out of place the two may differ.
    ///
    /// ```
    /// use warpfft_core::problem::Storage;
    /// use warpfft_core::request::Fft;
    /// let problem = Fft::new([512, 512]).r2c().storages(Storage::F16, Storage::F32).build()?;
    /// assert_eq!((problem.input_bytes(), problem.output_bytes()), (2 * 512 * 512, 8 * 512 * 257));
    /// # Ok::<(), warpfft_core::Error>(())
    /// ```
    #[must_use]
    pub fn storages(mut self, input: Storage, output: Storage) -> Self {
        self.storage = [Some(input), Some(output)];
        self
    }

    /// Half precision in memory, computed in single precision.
    #[must_use]
    pub fn f16(self) -> Self {
        self.storage(Storage::F16)
    }

    /// bfloat16 in memory, computed in single precision.
    #[must_use]
    pub fn bf16(self) -> Self {
        self.storage(Storage::Bf16)
    }

    /// Scales such that no output can overflow, whatever finite numbers the input keeps: by the largest `2^-k` of at
    /// most 1, k whole, for which [`Problem::gain`] times every other scale, times the largest input, is at most the
    /// largest output. A power of two rounds nothing; [`Problem::scale`] tells what all factors come to. Without it,
    /// what is beyond the largest finite number becomes infinite: of f16, 65520 and more.
    ///
    /// ```
    /// use warpfft_core::request::Fft;
    /// // 1024 complex numbers of at most 65504 (1 + i) come to 1449 times that: 2^11 is the next power of two.
    /// let problem = Fft::new([1024]).f16().scale_to_fit().build()?;
    /// assert_eq!(problem.scale, 1.0 / 2048.0);
    /// # Ok::<(), warpfft_core::Error>(())
    /// ```
    ///
    /// The sums on the way must not overflow either, so the arithmetic must reach further than the input does: f16 in
    /// single precision, bf16 and f32 in double. [`Fft::build`] refuses others by [`Error::NoHeadroom`].
    #[must_use]
    pub fn scale_to_fit(mut self) -> Self {
        self.fits = true;
        self
    }

    /// The precision that is computed in.
    pub(super) fn computed(&self) -> Precision {
        let wide = self.storage.contains(&Some(Storage::F64));
        self.precision.unwrap_or(if wide { Precision::F64 } else { Precision::F32 })
    }
}

/// A convolution's intermediate results over its input, in powers of the gain, and beside that.
const WITHIN: (i32, f64) = (3, 65536.0);

/// The problem with a scale by which no output can overflow.
pub(super) fn fitted(mut problem: Problem) -> Result<Problem, Error> {
    let [input, output] = problem.stored();
    let gain = problem.gain();
    let within = input.largest() * gain.powi(WITHIN.0) * WITHIN.1;
    if within > problem.precision.largest() {
        return Err(Error::NoHeadroom { storage: input, precision: problem.precision });
    }
    let most = input.largest() / output.largest() * gain;
    while most * problem.scale.abs() > 1.0 {
        problem.scale /= 2.0;
    }
    Ok(problem)
}
