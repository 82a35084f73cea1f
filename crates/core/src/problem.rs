//! What is asked, as pure data.
//!
//! A [`Problem`] is the whole of FFTW's guru64 interface: a tensor of transform dimensions and a tensor of
//! batch dimensions, each dimension `(n, input stride, output stride)` (Frigo and Johnson, *The Design and
//! Implementation of FFTW3*, Proc. IEEE 93(2), 2005, section III). It is validated once, by
//! [`Problem::validated`]; from there on it is right, and no later stage checks it again.

mod address;
mod blocks;
mod bound;
mod canonical;
mod count;
mod filter;
mod functions;
mod kind;
mod storage;
mod validate;
mod window;
mod zoom;

pub(crate) use canonical::continuing_pair;

use std::ops::Range;

use crate::function::Functions;

pub use blocks::{Block, Blocks};
pub use bound::Growth;
pub use count::COUNT_LIMIT;
pub use filter::Filter;
pub use kind::{Kind, RealDim, RealKind, half};
pub use storage::Storage;
pub use window::Window;
pub use zoom::{Band, FREQUENCY_LIMIT, Zoom};

/// Elements at most, and addresses too: their bytes in double precision are counted in an `i64`.
pub const ELEMENT_LIMIT: u64 = i64::MAX as u64 / 16;

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
    /// How many of the `n` there are is said at each run: of one dimension to repeat over, at most.
    pub at_run: bool,
}

impl Dim {
    /// A dimension of `n` points with the given strides.
    pub const fn new(n: u64, is: i64, os: i64) -> Self {
        Self { n, is, os, at_run: false }
    }

    /// The same, of whose points each run takes as many as it is told, from the first.
    #[must_use]
    pub const fn at_run(self) -> Self {
        Self { at_run: true, ..self }
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

    /// The other one.
    #[must_use]
    pub const fn reversed(self) -> Self {
        match self {
            Self::Forward => Self::Inverse,
            Self::Inverse => Self::Forward,
        }
    }
}

/// Width of the real numbers in arithmetic and, unless [`Problem::storage`] says otherwise, in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Precision {
    /// 32-bit floating point.
    F32,
    /// 64-bit floating point.
    F64,
    /// About 48 bits with the range of [`Self::F32`]: sums of two 32-bit numbers, for devices without 64-bit ones, or
    /// where these are slow. In device memory a number that is kept as f64 lies as such a pair, high part first, in the 8 bytes of
    /// a 64-bit one ([`double_single`](crate::math::double_single)).
    DoubleSingle,
}

impl Precision {
    /// Name for people and for files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::DoubleSingle => "double-single",
        }
    }

    /// Half the distance from 1 to the next number that the arithmetic tells apart.
    pub const fn unit(self) -> f64 {
        match self {
            Self::F32 | Self::F64 => Storage::of(self).unit(),
            Self::DoubleSingle => crate::math::double_single::UNIT,
        }
    }

    /// The largest finite number of the arithmetic.
    pub fn largest(self) -> f64 {
        match self {
            Self::F32 | Self::DoubleSingle => f32::MAX.into(),
            Self::F64 => f64::MAX,
        }
    }

    /// Bytes of one complex element.
    pub const fn complex_bytes(self) -> u64 {
        2 * self.real_bytes()
    }

    /// Bytes of one real number.
    pub const fn real_bytes(self) -> u64 {
        match self {
            Self::F32 => 4,
            Self::F64 | Self::DoubleSingle => 8,
        }
    }
}

impl std::fmt::Display for Precision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// How an array lies in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// One buffer of (re, im) pairs.
    Interleaved,
    /// Two buffers: all real parts, all imaginary parts.
    Planar,
    /// One buffer of reals. As a side of a complex transform: imaginary parts are 0 where it is read, and dropped where
    /// it is written.
    Real,
    /// One buffer of reals, in which an imaginary part lies so many reals after its real part: what pairs of reals are
    /// to the compiler, when it transforms two as one complex number. Strides count in reals.
    Apart(i64),
}

impl Format {
    /// Buffers of an array.
    pub const fn planes(self) -> usize {
        if matches!(self, Self::Planar) { 2 } else { 1 }
    }

    /// Reals of each buffer for an element.
    pub const fn step(self) -> u64 {
        if matches!(self, Self::Interleaved) { 2 } else { 1 }
    }
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
/// Canonical: no dimension of one point; batch dimensions with positive output strides (one that runs backwards is
/// walked from its other end); batch dimensions that continue each other merged; both tensors ordered by falling
/// output stride in absolute value. Thus two callers who ask the same thing in other words get equal problems. A
/// problem without transform dimensions is a scaled copy. A dimension whose count is given at each run
/// ([`Dim::at_run`]) stays as it is, whatever its length and its strides: which of its points are the first is what
/// its caller says.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// What is transformed into what.
    pub kind: Kind,
    /// Dimensions to transform as complex ones, slowest first; their order does not change what is computed. Their
    /// lengths are those of the transform, of which [`Problem::windows`] may leave fewer points in memory.
    pub transform: Vec<Dim>,
    /// Dimensions to repeat over.
    pub batch: Vec<Dim>,
    /// Element of the input buffer at which index (0, .., 0) lies.
    pub input_offset: u64,
    /// Element of the output buffer at which index (0, .., 0) lies.
    pub output_offset: u64,
    /// Real numbers as they are computed in.
    pub precision: Precision,
    /// Real numbers as input and output keep them; `None`: as they are computed in.
    pub storage: [Option<Storage>; 2],
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
    /// Bytes of workspace beside input and output at most; `None`: as many as the fastest schedule takes.
    pub max_workspace: Option<u64>,
    /// Which points of each dimension of [`Problem::transform`], then of each of [`Problem::kind`], lie in memory, in the
    /// input and in the output; empty: all of all.
    pub windows: Vec<[Window; 2]>,
    /// What the frequencies are multiplied by, before they are transformed back; `None`: the frequencies are the output.
    pub filter: Option<Filter>,
    /// What is applied to what is read and to what is written. On a side of reals each stands as a complex number whose
    /// imaginary part is 0, and the real part of what becomes of it is taken.
    pub functions: Functions,
}

impl Problem {
    /// Number of points of one transform: the product of the transform lengths.
    pub fn points(&self) -> u64 {
        let own = self.kind.dims().map(|(dim, _)| dim.n);
        self.transform.iter().map(|dim| dim.n).chain(own).product()
    }

    /// Number of transforms.
    pub fn batch_count(&self) -> u64 {
        self.batch.iter().map(|dim| dim.n).product()
    }

    /// Points of all transforms. Of a complex problem without windows, as many elements are written.
    pub fn elements(&self) -> u64 {
        self.points() * self.batch_count()
    }

    /// From the lowest element read to one past the highest, in complex elements or, where the input is real, in reals.
    /// The input buffer must hold `input_span().end` elements.
    pub fn input_span(&self) -> Range<u64> {
        span(self.input_offset, self.input_dims())
    }

    /// From the lowest element written to one past the highest, in complex elements or, where the output is real, in
    /// reals. The output buffer must hold `output_span().end` elements.
    pub fn output_span(&self) -> Range<u64> {
        span(self.output_offset, self.output_dims())
    }

    /// Bytes that the caller's input must hold, both planes together where it is planar.
    pub fn input_bytes(&self) -> u64 {
        self.input_span().end * self.input_element()
    }

    /// Bytes that the caller's output must hold, both planes together where it is planar.
    pub fn output_bytes(&self) -> u64 {
        self.output_span().end * self.output_element()
    }

    /// Bytes of an element of the input, both planes together.
    pub fn input_element(&self) -> u64 {
        element_bytes(self.input, self.stored()[0])
    }

    /// Bytes of an element of the output, both planes together.
    pub fn output_element(&self) -> u64 {
        element_bytes(self.output, self.stored()[1])
    }

    /// The dimensions that input and output share point by point, batch first: all but those of
    /// [`Problem::kind`].
    pub fn dims(&self) -> impl DoubleEndedIterator<Item = &Dim> + Clone {
        self.batch.iter().chain(&self.transform)
    }

    /// Input and output element of every point of every complex transform without windows, the last transform dimension
    /// fastest, batch dimensions outermost.
    pub fn addresses(&self) -> impl Iterator<Item = (u64, u64)> + use<> {
        address::Walk::new(self.dims().copied().collect(), self.input_offset, self.output_offset)
    }
}

fn element_bytes(format: Format, storage: Storage) -> u64 {
    format.planes() as u64 * format.step() * storage.real_bytes()
}

/// Lowest and one past the highest address; only for problems that have been validated.
fn span(offset: u64, dims: impl Iterator<Item = (u64, i64)>) -> Range<u64> {
    let (low, high) = address::extent(offset, dims);
    low as u64..high as u64 + 1
}
