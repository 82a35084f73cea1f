//! Requests with functions on load and store.

use std::sync::Arc;

use super::Fft;
use crate::error::Error;
use crate::function::{Functions, Place, Value, record};
use crate::problem::Dim;

impl Fft {
    /// Applies a function to each element as it is read, before the transform, in the same pass. The closure is called
    /// once, with symbols for the element and its place; what it does to them is what kernels do to every element. See
    /// [`crate::function`]. Call it when the shape is as it will be.
    ///
    /// Where the input is real data, as of [`Fft::r2c`] and [`Fft::r2r`], each real comes as a complex number whose
    /// imaginary part is 0, and of what the function makes of it the real part counts. Where it is half of a spectrum, as
    /// of [`Fft::c2r`], indices along the halved axis count frequencies from 0 to `n / 2`.
    ///
    /// Where memory does not hold every point ([`Fft::pad`], [`Fft::shift_output`], [`Fft::window`]), indices are those of the
    /// transform's points, and what memory does not hold is 0. Of a zoom they count samples on the way in, and the band's points on
    /// the way out.
    ///
    /// ```
    /// use warpfft_core::request::Fft;
    /// // Every second sample with the other sign: frequency 0 comes to the middle.
    /// let centred = Fft::new([512]).on_load(|x, at| x * (1.0 - 2.0 * at.axis_modulo(0, 2))).build()?;
    /// assert!(centred.functions.load.is_some());
    /// # Ok::<(), warpfft_core::Error>(())
    /// ```
    #[must_use]
    pub fn on_load<R: Into<Value>>(mut self, function: impl FnOnce(Value, Place) -> R) -> Self {
        self.functions[0] = Some(record(self.shape.len(), function));
        self
    }

    /// Applies a function to each element as it is written, after the scale, in the same pass. Otherwise as
    /// [`Fft::on_load`].
    ///
    /// ```
    /// use warpfft_core::request::Fft;
    /// // The power of each frequency of real signals, and a low-pass on the way back.
    /// let power = Fft::new([1024]).r2c().on_store(|x, _| x.norm_sqr()).build()?;
    /// let low = Fft::new([1024]).c2r().on_load(|x, at| x * at.axis(0).if_less(100.0, 1.0, 0.0)).build()?;
    /// assert!(power.functions.store.is_some() && low.functions.load.is_some());
    /// # Ok::<(), warpfft_core::Error>(())
    /// ```
    #[must_use]
    pub fn on_store<R: Into<Value>>(mut self, function: impl FnOnce(Value, Place) -> R) -> Self {
        self.functions[1] = Some(record(self.shape.len(), function));
        self
    }

    /// The functions, with the problem's numbers for dimensions: complex ones, which are these axes of the shape, those of
    /// its kind, and those to repeat over.
    pub(super) fn numbered_functions(&self, complex: &[(usize, Dim)]) -> Result<Functions, Error> {
        let [load, store] = self.functions.clone().map(Option::transpose);
        let (load, store) = (load?.map(Arc::new), store?.map(Arc::new));
        let mut functions = Functions { load, store };
        let dims = self.shape.len() + self.batch.len();
        functions.check(&vec![1; dims], self.computed())?;
        let transformed = self.transformed_axes()?;
        let complex: Vec<usize> = complex.iter().map(|&(axis, _)| axis).collect();
        let own = (0..transformed.len()).filter(|&axis| transformed[axis] && !complex.contains(&axis));
        let rest = (0..transformed.len()).filter(|&axis| !transformed[axis]);
        let order: Vec<usize> =
            complex.iter().copied().chain(own).chain(rest).chain(transformed.len()..dims).collect();
        functions.renumbered(&|dim| order.iter().position(|&own| own == dim));
        Ok(functions)
    }
}
