//! Requests for real data: which dimension is halved, which kind each has, how packed rows are padded in place.

use super::Fft;
use super::zoom::Frequencies;
use crate::error::Error;
use crate::problem::{Dim, Direction, Format, Kind, Placement, RealDim, RealKind, half};

/// What a request transforms into what.
#[derive(Debug, Clone)]
pub(super) enum Asked {
    Complex,
    /// From reals to all of their spectrum.
    Whole,
    /// Between reals and half spectra; whether to reals, and the axis to halve: the last one transformed unless named.
    Halved {
        back: bool,
        axis: Option<i64>,
    },
    /// Kinds of the transformed axes in order, or one for all.
    Reals {
        kinds: Vec<RealKind>,
        orthogonal: bool,
    },
    /// Frequencies of a band.
    Zoom {
        frequencies: Frequencies,
        points: u64,
    },
}

impl Fft {
    /// Reals into half of their spectrum: the last transformed axis of n reals becomes n / 2 + 1 complex numbers. The
    /// shape is that of the reals; strides of the input count in reals. In place, packed rows are padded as FFTW does.
    ///
    /// ```
    /// use warpfft_core::request::Fft;
    /// let problem = Fft::new([480, 640]).r2c().build()?;
    /// assert_eq!((problem.input_span(), problem.output_span()), (0..480 * 640, 0..480 * 321));
    /// # Ok::<(), warpfft_core::Error>(())
    /// ```
    #[must_use]
    pub fn r2c(mut self) -> Self {
        self.asked = Asked::Halved { back: false, axis: None };
        (self.input, self.direction) = (Format::Real, Direction::Forward);
        self
    }

    /// Reals into all of their spectrum, as numpy's `fftn` gives it: complex numbers, as many as there are reals. What is
    /// read is the reals alone; strides of the input count in reals. [`Fft::r2c`] writes the half that says it all.
    ///
    /// ```
    /// use warpfft_core::request::Fft;
    /// let problem = Fft::new([480, 640]).full_spectrum().build()?;
    /// assert_eq!((problem.input_bytes(), problem.output_bytes()), (4 * 480 * 640, 8 * 480 * 640));
    /// # Ok::<(), warpfft_core::Error>(())
    /// ```
    ///
    /// Planar: `formats(Format::Real, Format::Planar)`. The way back, from such a spectrum to its reals, needs half of it
    /// only: [`Fft::c2r`], with strides of the whole one on its input.
    #[must_use]
    pub fn full_spectrum(mut self) -> Self {
        (self.asked, self.input) = (Asked::Whole, Format::Real);
        self
    }

    /// Half of a spectrum into its reals, by the inverse transform: the way back from [`Fft::r2c`], unscaled unless
    /// [`Fft::norm`] says otherwise. The shape is that of the reals. With [`Fft::direction`] forward it is the
    /// transform of a signal with Hermitian symmetry, numpy's `hfft`.
    #[must_use]
    pub fn c2r(mut self) -> Self {
        self.asked = Asked::Halved { back: true, axis: None };
        (self.output, self.direction) = (Format::Real, Direction::Inverse);
        self
    }

    /// The axis of the shape that [`Fft::r2c`] or [`Fft::c2r`] halves; it must be one of those transformed. Without it,
    /// the last of them.
    #[must_use]
    pub fn halved_axis(mut self, which: i64) -> Self {
        if let Asked::Halved { axis, .. } = &mut self.asked {
            *axis = Some(which);
        }
        self
    }

    /// Reals into reals: one kind for all transformed axes, or one for each in their order.
    ///
    /// ```
    /// use warpfft_core::problem::RealKind;
    /// use warpfft_core::request::{Fft, Norm};
    /// // The transform of JPEG: orthonormal, over blocks of 8 x 8.
    /// let blocks = Fft::new([8, 8]).r2r([RealKind::Dct2]).orthogonal().norm(Norm::Ortho).batch(4096).build()?;
    /// assert_eq!(blocks.scale, 1.0 / 16.0);
    /// # Ok::<(), warpfft_core::Error>(())
    /// ```
    #[must_use]
    pub fn r2r(mut self, kinds: impl Into<Vec<RealKind>>) -> Self {
        self.asked = Asked::Reals { kinds: kinds.into(), orthogonal: false };
        (self.input, self.output) = (Format::Real, Format::Real);
        self
    }

    /// Weights the first and last values of [`Fft::r2r`] such that with [`Norm::Ortho`](super::Norm::Ortho) the
    /// transform is orthogonal.
    #[must_use]
    pub fn orthogonal(mut self) -> Self {
        if let Asked::Reals { orthogonal, .. } = &mut self.asked {
            *orthogonal = true;
        }
        self
    }

    /// The shape of the array on both sides, and the reals that a packed row takes on the real side where in place pads it.
    pub(super) fn sides(&self) -> Result<[Vec<u64>; 2], Error> {
        let mut sides = [self.shape.clone(), self.shape.clone()];
        if let Some((axis, back)) = self.halved()? {
            sides[usize::from(!back)][axis] = half(self.shape[axis]);
            if self.placement == Placement::InPlace {
                // In reals the last axis of packed rows is padded, whichever is halved is refused if it is another.
                sides[usize::from(back)][axis] = 2 * half(self.shape[axis]);
            }
        }
        if let Some((axis, points)) = self.zoomed()? {
            sides[1][axis] = points;
        }
        self.windowed(sides)
    }

    /// The axis of the shape that is halved, and whether on the way back.
    pub(super) fn halved(&self) -> Result<Option<(usize, bool)>, Error> {
        let Asked::Halved { back, axis } = self.asked else { return Ok(None) };
        let transformed = self.transformed_axes()?;
        let last = match &self.axes {
            Some(axes) => axes.last().copied(),
            None => (self.shape.len() as i64).checked_sub(1).filter(|&last| last >= 0),
        };
        let asked = axis.or(last).ok_or(Error::NoHalvedAxis)?;
        let rank = self.shape.len();
        let index = super::resolved(asked, rank)?;
        if !transformed[index] {
            return Err(Error::NoHalvedAxis);
        }
        Ok(Some((index, back)))
    }

    /// The problem's kind, with the dimensions that are its own taken out of those to transform.
    pub(super) fn kind_of(&self, transform: &mut Vec<(usize, Dim)>) -> Result<Kind, Error> {
        match &self.asked {
            Asked::Complex | Asked::Whole => Ok(Kind::Complex),
            Asked::Halved { .. } => {
                let (axis, back) = self.halved()?.ok_or(Error::NoHalvedAxis)?;
                let at = transform.iter().position(|(own, _)| *own == axis).ok_or(Error::NoHalvedAxis)?;
                let (_, dim) = transform.remove(at);
                Ok(if back { Kind::ComplexToReal(dim) } else { Kind::RealToComplex(dim) })
            }
            Asked::Zoom { frequencies, points } => match transform[..] {
                [(_, dim)] => {
                    transform.clear();
                    Ok(self.zoom_of(*frequencies, *points, dim))
                }
                _ => Err(Error::ZoomAxes { axes: transform.len() }),
            },
            Asked::Reals { kinds, orthogonal } => {
                let expected = transform.len();
                let kinds = match &kinds[..] {
                    [one] => vec![*one; expected],
                    all if all.len() == expected => all.to_vec(),
                    all => return Err(Error::KindCount { expected, got: all.len() }),
                };
                // Kinds go by the order in which axes were named.
                let order = self.order_of_axes(transform)?;
                let dims = transform.drain(..).zip(order);
                let orthogonal = *orthogonal;
                Ok(Kind::RealToReal(
                    dims.map(|((_, dim), at)| RealDim { dim, kind: kinds[at], orthogonal }).collect(),
                ))
            }
        }
    }

    /// For each dimension to transform, the place at which the caller named it.
    fn order_of_axes(&self, transform: &[(usize, Dim)]) -> Result<Vec<usize>, Error> {
        let Some(axes) = &self.axes else { return Ok((0..transform.len()).collect()) };
        let named = axes.iter().map(|&axis| super::resolved(axis, self.shape.len()));
        let named = named.collect::<Result<Vec<usize>, Error>>()?;
        Ok(transform.iter().filter_map(|(own, _)| named.iter().position(|axis| axis == own)).collect())
    }

    /// Points that a norm divides by: those of the periodic sequences that the transform stands for.
    pub(super) fn norm_points(&self, transform: &[Dim], kind: &Kind) -> f64 {
        // Lengths of 0 and products that overflow are refused later; here they must only not panic.
        let complex = transform.iter().map(|dim| dim.n.max(1) as f64);
        let own: f64 = match kind {
            Kind::RealToReal(dims) => {
                dims.iter().map(|real| real.kind.period(real.dim.n.clamp(1, 1 << 62)).max(1) as f64).product()
            }
            kind => kind.dims().map(|(dim, _)| dim.n.max(1) as f64).product(),
        };
        complex.product::<f64>() * own
    }
}
