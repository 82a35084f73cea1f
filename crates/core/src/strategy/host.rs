//! Strategies without kernels: what a paper runs on the processor to compare with, as a function of one line.

use std::fmt;

use num_complex::Complex;
use rustfft::FftNum;

use crate::problem::Direction;

/// A transform of one line on the processor, in place and not scaled, as a paper's program has it.
///
/// ```
/// use num_complex::Complex;
/// use warpfft_core::problem::Direction;
/// use warpfft_core::{Strategy, request::Fft};
///
/// let problem = Fft::new([4]).f64().build()?;
/// let line = Strategy::named("cpu-recursive")?.line(&problem)?.expect("it has no kernels");
/// let mut x = [1.0, 2.0, 3.0, 4.0].map(Complex::from);
/// line.transform(&mut x, Direction::Forward);
/// assert_eq!(x[0], Complex::from(10.0));
/// # Ok::<(), warpfft_core::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct HostLine {
    single: OneLine<f32>,
    double: OneLine<f64>,
}

/// What transforms one line.
type OneLine<T> = fn(&mut [Complex<T>], Direction);

impl HostLine {
    pub(super) const fn new(single: OneLine<f32>, double: OneLine<f64>) -> Self {
        Self { single, double }
    }

    /// Transforms a line of a length that the strategy covers; one of any other is left as it is.
    pub fn transform<T: HostReal>(&self, line: &mut [Complex<T>], direction: Direction) {
        T::one_line(self)(line, direction);
    }
}

impl fmt::Debug for HostLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HostLine")
    }
}

/// The real numbers that lines on the processor are of: `f32` and `f64`.
pub trait HostReal: FftNum + sealed::Sealed {
    #[doc(hidden)]
    fn one_line(line: &HostLine) -> OneLine<Self>;

    #[doc(hidden)]
    fn rounded_from(x: f64) -> Self;
}

impl HostReal for f32 {
    fn one_line(line: &HostLine) -> OneLine<Self> {
        line.single
    }

    fn rounded_from(x: f64) -> Self {
        x as Self
    }
}

impl HostReal for f64 {
    fn one_line(line: &HostLine) -> OneLine<Self> {
        line.double
    }

    fn rounded_from(x: f64) -> Self {
        x
    }
}

mod sealed {
    pub trait Sealed {}

    impl Sealed for f32 {}
    impl Sealed for f64 {}
}
