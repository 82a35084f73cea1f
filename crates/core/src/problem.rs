//! What is asked, as pure data.
//!
//! A [`Problem`] is the whole of FFTW's guru64 interface: a tensor of transform dimensions and a tensor of
//! batch dimensions, each dimension `(n, input stride, output stride)` (Frigo and Johnson, *The Design and
//! Implementation of FFTW3*, Proc. IEEE 93(2), 2005, section III). It is validated once, by
//! [`Problem::validated`]; from there on it is right, and no later stage checks it again.

use crate::error::Error;

/// One dimension of an I/O tensor. Strides are in complex elements: one interleaved pair, or one element of
/// each plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dim {
    /// Number of points, at least 1.
    pub n: u64,
    /// Distance between neighbours in the input, in complex elements; any sign, and 0 broadcasts.
    pub is: i64,
    /// Distance between neighbours in the output, in complex elements; any sign, never 0 when `n > 1`.
    pub os: i64,
}

impl Dim {
    /// A dimension of `n` points with the given strides.
    pub const fn new(n: u64, is: i64, os: i64) -> Self {
        Self { n, is, os }
    }
}

/// Sign of the exponent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// `exp(-2 pi i j k / n)`.
    Forward,
    /// `exp(+2 pi i j k / n)`, not scaled by itself.
    Inverse,
}

impl Direction {
    /// -1 for forward, +1 for inverse: the sign in the exponent.
    pub const fn sign(self) -> f64 {
        match self {
            Self::Forward => -1.0,
            Self::Inverse => 1.0,
        }
    }
}

/// Width of the real numbers, in storage and in arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Precision {
    /// 32-bit floating point.
    F32,
    /// 64-bit floating point.
    F64,
}

impl Precision {
    /// Bytes of one complex element.
    pub const fn complex_bytes(self) -> u64 {
        2 * self.real_bytes()
    }

    /// Bytes of one real number.
    pub const fn real_bytes(self) -> u64 {
        match self {
            Self::F32 => 4,
            Self::F64 => 8,
        }
    }
}

/// How a complex array lies in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// One buffer of (re, im) pairs.
    Interleaved,
    /// Two buffers: all real parts, all imaginary parts.
    Planar,
}

/// Whether the output overwrites the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Placement {
    /// Input and output are the same buffers; the two formats must agree.
    InPlace,
    /// Input and output do not overlap; the input is kept.
    OutOfPlace,
}

/// A transform that has been validated and brought to canonical form.
///
/// Canonical: no dimension of one point, batch dimensions that continue each other merged, batch dimensions
/// ordered by falling output stride, so that two callers who ask the same thing in other words get equal
/// problems.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// Dimensions to transform, slowest first.
    pub transform: Vec<Dim>,
    /// Dimensions to repeat over.
    pub batch: Vec<Dim>,
    /// Element of the input buffer at which index (0, .., 0) lies.
    pub input_offset: u64,
    /// Element of the output buffer at which index (0, .., 0) lies.
    pub output_offset: u64,
    /// Real numbers.
    pub precision: Precision,
    /// Layout of the input.
    pub input: Format,
    /// Layout of the output.
    pub output: Format,
    /// In place or not.
    pub placement: Placement,
    /// Sign of the exponent.
    pub direction: Direction,
    /// Factor on every output.
    pub scale: f64,
}

impl Problem {
    fn span(&self, stride: impl Fn(&Dim) -> i64, offset: u64) -> u64 {
        let top: i64 =
            self.transform.iter().chain(&self.batch).map(|d| (stride(d) * (d.n as i64 - 1)).max(0)).sum();
        offset + top as u64 + 1
    }
    /// a
    pub fn input_span(&self) -> u64 {
        self.span(|d| d.is, self.input_offset)
    }
    /// a
    pub fn output_span(&self) -> u64 {
        self.span(|d| d.os, self.output_offset)
    }
    /// a
    pub fn input_bytes(&self) -> u64 {
        self.input_span() * self.precision.complex_bytes()
    }
    /// a
    pub fn output_bytes(&self) -> u64 {
        self.output_span() * self.precision.complex_bytes()
    }
}
