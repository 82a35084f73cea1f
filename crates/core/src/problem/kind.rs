//! What is transformed into what: complex numbers, reals and half spectra, reals and reals.

use super::address::Walk;
use super::{Dim, Problem, Zoom};
use crate::error::Side;

/// What a problem transforms into what.
///
/// Strides and offsets count in what their side holds: complex elements where it is complex, reals where it is real.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum Kind {
    /// Complex numbers into complex numbers.
    #[default]
    Complex,
    /// Reals into half of their spectrum, which says it all: along this dimension `n` reals become `n / 2 + 1` complex
    /// numbers. The dimensions in [`Problem::transform`] are transformed beside it, as complex ones.
    RealToComplex(Dim),
    /// The way back: along this dimension `n / 2 + 1` complex numbers become `n` reals. What would have no part in real
    /// output (the imaginary parts of frequency 0, and of the last one where `n` is even, once all other dimensions are
    /// transformed) is not looked at.
    ComplexToReal(Dim),
    /// Reals into reals along these dimensions, each by its own transform. [`Problem::transform`] is empty.
    RealToReal(Vec<RealDim>),
    /// Samples along one dimension into frequencies of a band. [`Problem::transform`] is empty.
    Zoom(Zoom),
}

/// A dimension of a transform from reals to reals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RealDim {
    /// Points and strides.
    pub dim: Dim,
    /// Which transform.
    pub kind: RealKind,
    /// Whether first and last values are weighted such that the transform, scaled by one number, is orthogonal: of
    /// DCT-I, II and III and DST-II and III, as scipy's `orthogonalize` does.
    pub orthogonal: bool,
}

/// A transform from `n` reals to as many, unscaled, as FFTW defines it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RealKind {
    /// `x_0 + (-1)^k x_(n-1) + 2 sum_(0 < j < n-1) x_j cos(pi j k / (n - 1))`; at least 2 points.
    Dct1,
    /// `2 sum x_j cos(pi (j + 1/2) k / n)`.
    Dct2,
    /// `x_0 + 2 sum_(j > 0) x_j cos(pi j (k + 1/2) / n)`.
    Dct3,
    /// `2 sum x_j cos(pi (j + 1/2) (k + 1/2) / n)`.
    Dct4,
    /// `2 sum x_j sin(pi (j + 1) (k + 1) / (n + 1))`.
    Dst1,
    /// `2 sum x_j sin(pi (j + 1/2) (k + 1) / n)`.
    Dst2,
    /// `(-1)^k x_(n-1) + 2 sum_(j < n-1) x_j sin(pi (j + 1) (k + 1/2) / n)`.
    Dst3,
    /// `2 sum x_j sin(pi (j + 1/2) (k + 1/2) / n)`.
    Dst4,
    /// Hartley's: `sum x_j (cos(2 pi j k / n) + sin(2 pi j k / n))`.
    Dht,
    /// The spectrum of reals in half-complex order: `r_0, r_1, .., r_(n/2), i_((n+1)/2-1), .., i_1`.
    HalfComplex,
    /// The reals of a spectrum in half-complex order.
    FromHalfComplex,
}

impl RealKind {
    /// Every kind.
    pub const ALL: [Self; 11] = [
        Self::Dct1,
        Self::Dct2,
        Self::Dct3,
        Self::Dct4,
        Self::Dst1,
        Self::Dst2,
        Self::Dst3,
        Self::Dst4,
        Self::Dht,
        Self::HalfComplex,
        Self::FromHalfComplex,
    ];

    /// Its name, as the command line spells it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dct1 => "dct1",
            Self::Dct2 => "dct2",
            Self::Dct3 => "dct3",
            Self::Dct4 => "dct4",
            Self::Dst1 => "dst1",
            Self::Dst2 => "dst2",
            Self::Dst3 => "dst3",
            Self::Dst4 => "dst4",
            Self::Dht => "dht",
            Self::HalfComplex => "r2hc",
            Self::FromHalfComplex => "hc2r",
        }
    }

    /// The kind that undoes this one but for the factor [`RealKind::period`].
    #[must_use]
    pub const fn inverse(self) -> Self {
        match self {
            Self::Dct2 => Self::Dct3,
            Self::Dct3 => Self::Dct2,
            Self::Dst2 => Self::Dst3,
            Self::Dst3 => Self::Dst2,
            Self::HalfComplex => Self::FromHalfComplex,
            Self::FromHalfComplex => Self::HalfComplex,
            other => other,
        }
    }

    /// Points of the periodic sequence that it stands for: it and its inverse together multiply by so many. At least 1.
    pub const fn period(self, n: u64) -> u64 {
        match self {
            Self::Dct1 => {
                if n > 1 {
                    2 * (n - 1)
                } else {
                    1
                }
            }
            Self::Dst1 => 2 * (n + 1),
            Self::Dht | Self::HalfComplex | Self::FromHalfComplex => n,
            _ => 2 * n,
        }
    }

    /// The fewest points that it is defined for.
    pub const fn least(self) -> u64 {
        if matches!(self, Self::Dct1) { 2 } else { 1 }
    }
}

impl Kind {
    /// Whether input, then output, are reals.
    pub const fn reals(&self) -> [bool; 2] {
        match self {
            Self::Complex => [false, false],
            Self::RealToComplex(_) => [true, false],
            Self::ComplexToReal(_) => [false, true],
            Self::RealToReal(_) => [true, true],
            Self::Zoom(zoom) => [zoom.real, false],
        }
    }

    /// Its own dimensions, beside those in [`Problem::transform`], each with its points in input and output.
    pub fn dims(&self) -> impl Iterator<Item = (Dim, [u64; 2])> + Clone + '_ {
        let (one, many): (Option<(Dim, [u64; 2])>, &[RealDim]) = match self {
            Self::Complex => (None, &[]),
            Self::RealToComplex(dim) => (Some((*dim, [dim.n, half(dim.n)])), &[]),
            Self::ComplexToReal(dim) => (Some((*dim, [half(dim.n), dim.n])), &[]),
            Self::RealToReal(dims) => (None, dims),
            Self::Zoom(zoom) => (Some((zoom.dim, [zoom.dim.n, zoom.band.points])), &[]),
        };
        one.into_iter().chain(many.iter().map(|real| (real.dim, [real.dim.n; 2])))
    }
}

/// Complex numbers that say the spectrum of `n` reals.
pub const fn half(n: u64) -> u64 {
    n / 2 + 1
}

impl Problem {
    /// Points and stride of every dimension in the input, those to repeat over first.
    pub fn input_dims(&self) -> impl Iterator<Item = (u64, i64)> + Clone + '_ {
        let first = self.transform.len();
        let own = self.kind.dims().enumerate();
        let own = own.map(move |(d, (dim, _))| (self.window(first + d, Side::Input).len, dim.is));
        let complex =
            (0..self.transform.len()).map(|d| (self.window(d, Side::Input).len, self.transform[d].is));
        self.batch.iter().map(|dim| (dim.n, dim.is)).chain(complex).chain(own)
    }

    /// Points and stride of every dimension in the output, those to repeat over first.
    pub fn output_dims(&self) -> impl Iterator<Item = (u64, i64)> + Clone + '_ {
        let first = self.transform.len();
        let own = self.kind.dims().enumerate();
        let own = own.map(move |(d, (dim, _))| (self.window(first + d, Side::Output).len, dim.os));
        let complex =
            (0..self.transform.len()).map(|d| (self.window(d, Side::Output).len, self.transform[d].os));
        self.batch.iter().map(|dim| (dim.n, dim.os)).chain(complex).chain(own)
    }

    /// Every element that is read, as often as points read it: in the order of [`Problem::input_dims`], the last one
    /// fastest.
    pub fn reads(&self) -> impl Iterator<Item = u64> + use<'_> {
        places(self.input_offset, self.input_dims())
    }

    /// Every element that is written, in the order of [`Problem::output_dims`], the last one fastest.
    pub fn writes(&self) -> impl Iterator<Item = u64> + use<'_> {
        places(self.output_offset, self.output_dims())
    }
}

fn places(offset: u64, dims: impl Iterator<Item = (u64, i64)>) -> impl Iterator<Item = u64> {
    let dims = dims.map(|(n, stride)| Dim::new(n, stride, 0)).collect();
    Walk::new(dims, offset, 0).map(|(place, _)| place)
}
