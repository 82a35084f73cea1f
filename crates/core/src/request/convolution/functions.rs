//! Convolutions with functions on images and results.

use std::sync::Arc;

use super::Convolution;
use crate::error::Error;
use crate::function::{Function, Functions, Place, Value, record};
use crate::problem::Window;

impl Convolution {
    /// Applies a function to each point of an image as it is read, in the same pass: a window, a gain. It is called as that of
    /// [`Fft::on_load`](crate::request::Fft::on_load) is; `at.axis` counts points of the image, `at.batch(0)` images and
    /// `at.batch(1)` kernels. A real point comes as a complex number whose imaginary part is 0, and may become one where the
    /// kernels are complex; where they are real, the real part of what the function makes counts.
    ///
    /// ```
    /// use warpfft_core::request::Convolution;
    /// // Images fade to the right before they are blurred.
    /// let request = Convolution::new([100, 512], [9, 9]).real().on_load(|x, at| x * (1.0 - at.axis(1) / 512.0));
    /// assert!(request.problems(None)?.part.functions.load.is_some());
    /// # Ok::<(), warpfft_core::Error>(())
    /// ```
    #[must_use]
    pub fn on_load<R: Into<Value>>(mut self, function: impl FnOnce(Value, Place) -> R) -> Self {
        self.functions[0] = Some(record(self.image.len(), function));
        self
    }

    /// Applies a function to each point of a result as it is written, in the same pass: a threshold, a norm. `at.axis` counts points
    /// of the result; otherwise as [`Convolution::on_load`].
    ///
    /// ```
    /// use warpfft_core::request::{Convolution, Mode};
    /// // How strongly a pattern is there.
    /// let request = Convolution::new([4096], [63]).mode(Mode::Same).correlate().on_store(|x, _| x.norm_sqr());
    /// assert!(request.problems(None)?.part.functions.store.is_some());
    /// # Ok::<(), warpfft_core::Error>(())
    /// ```
    #[must_use]
    pub fn on_store<R: Into<Value>>(mut self, function: impl FnOnce(Value, Place) -> R) -> Self {
        self.functions[1] = Some(record(self.image.len(), function));
        self
    }

    /// What is applied to images and to results, by the indices of their own points; none that is not one.
    pub fn functions(&self) -> [Option<&Function>; 2] {
        self.functions.each_ref().map(|own| own.as_ref().and_then(|found| found.as_ref().ok()))
    }

    /// The functions as the problem has them, whose indices are those of the points that are transformed.
    pub(super) fn numbered_functions(
        &self,
        windows: &[[Window; 2]],
        padded: &[u64],
    ) -> Result<Functions, Error> {
        let [load, store] = self.functions.clone().map(Option::transpose);
        let (load, mut store) = (load?, store?);
        for (dim, ([_, own], &n)) in
            windows.iter().zip(padded).enumerate().filter(|(_, (own, _))| own[1].start > 0)
        {
            if let Some(function) =
                store.as_mut().filter(|function| function.dims().any(|looked| looked == dim))
            {
                let too_long = |_| Error::FunctionLength { dim, n, limit: u64::from(u32::MAX) };
                let points = u32::try_from(n).map_err(too_long)?;
                // The window starts at one of the points.
                *function = function.counted_from(dim as u16, own.start as u32, points);
            }
        }
        Ok(Functions { load: load.map(Arc::new), store: store.map(Arc::new) })
    }
}
