//! Requests with functions on load and store.

use std::sync::Arc;

use super::Fft;
use crate::error::Error;
use crate::function::{Functions, Place, Value, record};

impl Fft {
    /// Applies a function to each element as it is read, before the transform, in the same pass. The closure is called
    /// once, with symbols for the element and its place; what it does to them is what kernels do to every element. See
    /// [`crate::function`]. Call it when the shape is as it will be.
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
    #[must_use]
    pub fn on_store<R: Into<Value>>(mut self, function: impl FnOnce(Value, Place) -> R) -> Self {
        self.functions[1] = Some(record(self.shape.len(), function));
        self
    }

    /// The functions, with the problem's numbers for dimensions: those to transform first, then those to repeat over.
    pub(super) fn numbered_functions(&self) -> Result<Functions, Error> {
        let [load, store] = self.functions.clone().map(Option::transpose);
        let (load, store) = (load?.map(Arc::new), store?.map(Arc::new));
        let mut functions = Functions { load, store };
        let dims = self.shape.len() + self.batch.len();
        functions.check(&vec![1; dims], self.computed())?;
        let transformed = self.transformed_axes()?;
        let (own, rest): (Vec<usize>, Vec<usize>) =
            (0..transformed.len()).partition(|&axis| transformed[axis]);
        let order: Vec<usize> = own.into_iter().chain(rest).chain(transformed.len()..dims).collect();
        functions.renumbered(&|dim| order.iter().position(|&own| own == dim));
        Ok(functions)
    }
}
