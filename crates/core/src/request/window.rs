//! Requests for padding, cropping and shifts: which points of an axis lie in memory.

use super::{Fft, resolved};
use crate::error::{Error, Side};
use crate::problem::{Dim, Window, half};

/// What a request says of its arrays' points.
#[derive(Debug, Clone, Default)]
pub(super) struct Windows {
    /// Points of each axis in memory, of the input and of the output; `None`: all.
    lens: [Option<Vec<u64>>; 2],
    /// Whether the point of index 0 stands in the middle.
    shifted: [bool; 2],
    /// Axes that were given a window of their own.
    own: Vec<(Side, i64, Window)>,
}

impl Windows {
    fn is_empty(&self) -> bool {
        self.lens.iter().all(Option::is_none) && self.shifted == [false; 2] && self.own.is_empty()
    }
}

impl Fft {
    /// The input holds only the first so many points of each axis of the shape, and the rest of it is zero: it is padded
    /// by what is not there, which is neither read nor, where whole rows are zero, transformed. An axis that is not
    /// transformed has all of its points; the halved axis of half a spectrum has `n / 2 + 1`. Packed strides are those of
    /// the smaller array.
    ///
    /// ```
    /// use warpfft_core::request::Fft;
    /// // An image of 100 x 80, padded to 128 x 128.
    /// let problem = Fft::new([128, 128]).pad(&[100, 80]).build()?;
    /// assert_eq!((problem.input_span(), problem.output_span()), (0..100 * 80, 0..128 * 128));
    /// # Ok::<(), warpfft_core::Error>(())
    /// ```
    #[must_use]
    pub fn pad(mut self, input: &[u64]) -> Self {
        self.windows.lens[0] = Some(input.to_vec());
        self
    }

    /// The output holds only the first so many points of each axis of the shape; the others are dropped and, where they
    /// are whole rows, not computed. The halved axis of half a spectrum has `n / 2 + 1` points, the lowest frequencies
    /// first. Packed strides are those of the smaller array.
    ///
    /// ```
    /// use warpfft_core::request::Fft;
    /// // The 100 lowest frequencies of 1000 reals, padded with zeros to 4096.
    /// let problem = Fft::new([4096]).r2c().pad(&[1000]).crop(&[100]).build()?;
    /// assert_eq!((problem.input_span(), problem.output_span()), (0..1000, 0..100));
    /// # Ok::<(), warpfft_core::Error>(())
    /// ```
    #[must_use]
    pub fn crop(mut self, output: &[u64]) -> Self {
        self.windows.lens[1] = Some(output.to_vec());
        self
    }

    /// The origin of the input lies in the middle of each transformed axis, at index `n / 2`: numpy's
    /// `fft(ifftshift(x))`.
    #[must_use]
    pub fn shift_input(mut self) -> Self {
        self.windows.shifted[0] = true;
        self
    }

    /// The origin of the output lies in the middle of each transformed axis, at index `n / 2`: numpy's
    /// `fftshift(fft(x))`. Half a spectrum has no middle along its halved axis: [`Fft::window`] shifts the other axes.
    ///
    /// ```
    /// use warpfft_core::{error::Side, problem::Window, request::Fft};
    /// let problem = Fft::new([9]).shift_output().build()?;
    /// assert_eq!(problem.window(0, Side::Output), Window::new(5, 9));
    /// # Ok::<(), warpfft_core::Error>(())
    /// ```
    #[must_use]
    pub fn shift_output(mut self) -> Self {
        self.windows.shifted[1] = true;
        self
    }

    /// Which points of one transformed axis of the shape lie in memory on one side, in place of what the calls for all axes
    /// say; a negative axis counts from the end. The halved axis of half a spectrum keeps the lowest frequencies: its window
    /// starts at 0.
    ///
    /// ```
    /// use warpfft_core::{error::Side, problem::Window, request::Fft};
    /// // The 11 lowest frequencies of 1024, from -5 to 5.
    /// let problem = Fft::new([1024]).window(Side::Output, -1, Window::new(1024 - 5, 11)).build()?;
    /// assert_eq!(problem.output_span(), 0..11);
    /// # Ok::<(), warpfft_core::Error>(())
    /// ```
    #[must_use]
    pub fn window(mut self, side: Side, axis: i64, window: Window) -> Self {
        self.windows.own.push((side, axis, window));
        self
    }

    /// The windows of each axis of the shape on both sides.
    fn axis_windows(&self) -> Result<Vec<[Window; 2]>, Error> {
        let rank = self.shape.len();
        let halved = self.halved()?;
        let transformed = self.transformed_axes()?;
        for lens in self.windows.lens.iter().flatten() {
            if lens.len() != rank {
                return Err(Error::WindowCount { expected: rank, got: lens.len() });
            }
        }
        let mut all: Vec<[Window; 2]> = (0..rank)
            .map(|axis| {
                [0, 1].map(|side| {
                    let n = points_of(self.shape[axis], halved.filter(|(own, _)| *own == axis), side);
                    let len = self.windows.lens[side].as_ref().map_or(n, |lens| lens[axis]);
                    let shifted = self.windows.shifted[side] && transformed[axis] && n > 0;
                    Window::new(if shifted { (n - n / 2) % n } else { 0 }, len)
                })
            })
            .collect();
        for &(side, axis, window) in &self.windows.own {
            all[resolved(axis, rank)?][usize::from(side == Side::Output)] = window;
        }
        for (axis, sides) in all.iter().enumerate().filter(|&(axis, _)| !transformed[axis]) {
            if sides.iter().any(|own| !own.is_whole(self.shape[axis])) {
                return Err(Error::WindowAxis { axis, n: self.shape[axis] });
            }
        }
        Ok(all)
    }

    /// Leaves of the arrays' shapes what lies in memory.
    pub(super) fn windowed(&self, mut sides: [Vec<u64>; 2]) -> Result<[Vec<u64>; 2], Error> {
        if self.windows.is_empty() {
            return Ok(sides);
        }
        let halved = self.halved()?;
        for (axis, windows) in self.axis_windows()?.into_iter().enumerate() {
            for (side, window) in windows.into_iter().enumerate() {
                let points = points_of(self.shape[axis], halved.filter(|(own, _)| *own == axis), side);
                // Rows that are all there keep what pads them.
                if window.len != points {
                    sides[side][axis] = window.len;
                }
            }
        }
        Ok(sides)
    }

    /// The windows of a problem's dimensions to transform: complex ones, which are these axes of the shape, then those of
    /// its kind.
    pub(super) fn windows_of(&self, complex: &[(usize, Dim)]) -> Result<Vec<[Window; 2]>, Error> {
        if self.windows.is_empty() {
            return Ok(Vec::new());
        }
        if self.zoomed()?.is_some() {
            return Err(Error::WindowKind);
        }
        let (all, transformed) = (self.axis_windows()?, self.transformed_axes()?);
        let complex: Vec<usize> = complex.iter().map(|&(axis, _)| axis).collect();
        let own = (0..transformed.len()).filter(|axis| transformed[*axis] && !complex.contains(axis));
        Ok(complex.iter().copied().chain(own).map(|axis| all[axis]).collect())
    }
}

/// Points of an axis on a side, which may be that of half a spectrum.
fn points_of(n: u64, halved: Option<(usize, bool)>, side: usize) -> u64 {
    match halved {
        Some((_, back)) if (side == 1) != back => half(n),
        _ => n,
    }
}
