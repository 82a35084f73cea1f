//! What callers may ask; a builder that refuses nonsense.
//!
//! An [`Fft`] collects a request in the words that suit the caller; [`Fft::build`] turns it into a validated
//! [`Problem`](crate::problem::Problem). Nothing is checked before that, so a chain of calls needs one `?`.
//!
//! ```
//! use warpfft_core::problem::{Dim, Format};
//! use warpfft_core::request::{Fft, Norm};
//!
//! // Sixteen images, planar, in double precision, as numpy's `ifft2` scales them.
//! let problem = Fft::new([480, 640]).batch(16).planar().f64().inverse().norm(Norm::Backward).build()?;
//! assert_eq!(problem.transform, [Dim::new(480, 640, 640), Dim::new(640, 1, 1)]);
//! assert_eq!(problem.batch, [Dim::new(16, 480 * 640, 480 * 640)]);
//! assert_eq!(problem.scale, 1.0 / (480.0 * 640.0));
//! # Ok::<(), warpfft_core::Error>(())
//! ```

mod build;
mod convolution;
mod function;
mod real;
mod storage;
mod window;
mod zoom;

use crate::error::Error;
use crate::function::Function;
use crate::problem::{Dim, Direction, Format, Placement, Precision, Storage};

pub use convolution::{Convolution, Convolved, Mode};

use build::{resolved, row_major};
use real::Asked;
use window::Windows;

/// Where the factor 1/n goes, as in numpy's `norm` argument; it takes the direction into account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Norm {
    /// The inverse is divided by n, the forward transform is not scaled.
    Backward,
    /// Both are divided by the square root of n, which makes them unitary.
    Ortho,
    /// The forward transform is divided by n, the inverse is not scaled.
    Forward,
}

#[derive(Debug, Clone)]
enum Batch {
    /// Outside of everything given so far, without a gap.
    Packed(u64),
    Strided(Dim),
}

/// A request for a transform.
#[derive(Debug, Clone)]
pub struct Fft {
    asked: Asked,
    shape: Vec<u64>,
    /// Axes of `shape` to transform, negative ones from the end; `None`: all.
    axes: Option<Vec<i64>>,
    /// Input and output strides of `shape`; `None`: packed, row-major.
    strides: Option<(Vec<i64>, Vec<i64>)>,
    batch: Vec<Batch>,
    input_offset: u64,
    output_offset: u64,
    /// `None`: as the types in memory suggest.
    precision: Option<Precision>,
    storage: [Option<Storage>; 2],
    input: Format,
    output: Format,
    placement: Placement,
    direction: Direction,
    scale: f64,
    /// Scaled such that nothing overflows.
    fits: bool,
    norm: Option<Norm>,
    max_workspace: Option<u64>,
    windows: Windows,
    any_batch: bool,
    functions: [Option<Result<Function, Error>>; 2],
    /// Batch dimensions that came with the transform's own.
    listed: usize,
}

impl Fft {
    /// A transform of a packed row-major array, slowest dimension first: complex interleaved f32, forward,
    /// unscaled and out of place until told otherwise.
    ///
    /// ```
    /// use warpfft_core::{problem::Dim, request::Fft};
    /// assert_eq!(Fft::new([1024]).build()?.transform, [Dim::new(1024, 1, 1)]);
    /// # Ok::<(), warpfft_core::Error>(())
    /// ```
    pub fn new(shape: impl Into<Vec<u64>>) -> Self {
        Self {
            asked: Asked::Complex,
            shape: shape.into(),
            axes: None,
            strides: None,
            batch: Vec::new(),
            input_offset: 0,
            output_offset: 0,
            precision: None,
            storage: [None; 2],
            input: Format::Interleaved,
            output: Format::Interleaved,
            placement: Placement::OutOfPlace,
            direction: Direction::Forward,
            scale: 1.0,
            fits: false,
            norm: None,
            max_workspace: None,
            windows: Windows::default(),
            any_batch: false,
            functions: [None, None],
            listed: 0,
        }
    }

    /// A transform along some axes of a packed row-major array; the others are batch. Negative axes count from
    /// the end, as in numpy.
    ///
    /// ```
    /// use warpfft_core::{problem::Dim, request::Fft};
    /// let problem = Fft::axes([10, 64, 3], [-2]).build()?;
    /// assert_eq!(problem.transform, [Dim::new(64, 3, 3)]);
    /// assert_eq!(problem.batch, [Dim::new(10, 192, 192), Dim::new(3, 1, 1)]);
    /// # Ok::<(), warpfft_core::Error>(())
    /// ```
    pub fn axes(shape: impl Into<Vec<u64>>, axes: impl Into<Vec<i64>>) -> Self {
        Self { axes: Some(axes.into()), ..Self::new(shape) }
    }

    /// FFTW's guru64 interface word for word: dimensions to transform and dimensions to repeat over, each
    /// `(n, input stride, output stride)` in complex elements.
    ///
    /// ```
    /// use warpfft_core::{problem::Dim, request::Fft};
    /// // The columns of a 6 x 8 matrix, written as rows.
    /// let problem = Fft::guru(&[Dim::new(6, 8, 1)], &[Dim::new(8, 1, 6)]).build()?;
    /// assert_eq!(problem.output_span(), 0..48);
    /// # Ok::<(), warpfft_core::Error>(())
    /// ```
    pub fn guru(dims: &[Dim], batch: &[Dim]) -> Self {
        Self {
            strides: Some((dims.iter().map(|d| d.is).collect(), dims.iter().map(|d| d.os).collect())),
            batch: batch.iter().copied().map(Batch::Strided).collect(),
            listed: batch.len(),
            ..Self::new(dims.iter().map(|d| d.n).collect::<Vec<_>>())
        }
    }

    /// Repeats all that was asked so far `n` times, one after another: the stride is the largest `length * stride`
    /// below, which for packed arrays leaves no gap.
    #[must_use]
    pub fn batch(mut self, n: u64) -> Self {
        self.batch.push(Batch::Packed(n));
        self
    }

    /// Repeats `n` times at the given distances in complex elements.
    #[must_use]
    pub fn batch_strided(mut self, n: u64, input_stride: i64, output_stride: i64) -> Self {
        self.batch.push(Batch::Strided(Dim::new(n, input_stride, output_stride)));
        self
    }

    /// Input and output strides of the shape's dimensions in complex elements, one for each.
    ///
    /// ```
    /// use warpfft_core::request::Fft;
    /// // Rows padded from 1000 to 1024 elements in the input.
    /// let problem = Fft::new([500, 1000]).strides(&[1024, 1], &[1000, 1]).build()?;
    /// assert_eq!(problem.input_span(), 0..499 * 1024 + 1000);
    /// # Ok::<(), warpfft_core::Error>(())
    /// ```
    #[must_use]
    pub fn strides(mut self, input: &[i64], output: &[i64]) -> Self {
        self.strides = Some((input.to_vec(), output.to_vec()));
        self
    }

    /// Elements of the input and output buffers at which index (0, .., 0) lies. Negative strides need one.
    #[must_use]
    pub fn offsets(mut self, input: u64, output: u64) -> Self {
        (self.input_offset, self.output_offset) = (input, output);
        self
    }

    /// Width of the real numbers in arithmetic and, unless [`Self::storage`] says otherwise, in memory.
    #[must_use]
    pub fn precision(mut self, precision: Precision) -> Self {
        self.precision = Some(precision);
        self
    }

    /// Double precision.
    #[must_use]
    pub fn f64(self) -> Self {
        self.precision(Precision::F64)
    }

    /// Double-single arithmetic: about 48 bits with the range of single precision, on devices without 64-bit numbers as
    /// well. Arrays in the computer's memory hold `f64`; in a device's, pairs of `f32` in the same bytes. Those that
    /// [`Fft::storage`] keeps in another type hold that on both.
    ///
    /// ```
    /// use warpfft_core::{compile, request::Fft, target::Limits};
    ///
    /// let problem = Fft::new([1024]).batch(8).double_single().build()?;
    /// assert!(problem.error_bound() < 3e-14);
    /// // What every browser grants is enough.
    /// compile(&problem, &Limits::webgpu_min())?;
    /// # Ok::<(), warpfft_core::Error>(())
    /// ```
    #[must_use]
    pub fn double_single(self) -> Self {
        self.precision(Precision::DoubleSingle)
    }

    /// Sign of the exponent.
    #[must_use]
    pub fn direction(mut self, direction: Direction) -> Self {
        self.direction = direction;
        self
    }

    /// The inverse transform; unscaled unless [`Self::scale`] or [`Self::norm`] say otherwise.
    #[must_use]
    pub fn inverse(self) -> Self {
        self.direction(Direction::Inverse)
    }

    /// Factor on every output, besides what [`Self::norm`] asks for.
    #[must_use]
    pub fn scale(mut self, scale: f64) -> Self {
        self.scale = scale;
        self
    }

    /// Normalisation by numpy's rules; without it nothing is scaled.
    #[must_use]
    pub fn norm(mut self, norm: Norm) -> Self {
        self.norm = Some(norm);
        self
    }

    /// The output overwrites the input.
    #[must_use]
    pub fn in_place(mut self) -> Self {
        self.placement = Placement::InPlace;
        self
    }

    /// Bytes of workspace at most, beside input and output. Long transforms may then take passes that keep to the
    /// data's own memory and cost more time: `Fft::new([1 << 24]).in_place().max_workspace(0)`.
    #[must_use]
    pub fn max_workspace(mut self, bytes: u64) -> Self {
        self.max_workspace = Some(bytes);
        self
    }

    /// How often the outermost batch dimension is repeated is said at each run: what was asked for is the most. That is
    /// the one of the last [`Self::batch`] or [`Self::batch_strided`]; else the first of [`Self::guru`]'s; else the first
    /// axis that is not transformed.
    ///
    /// ```
    /// use warpfft_core::{problem::Dim, request::Fft};
    /// let problem = Fft::new([256]).batch(1000).any_batch().build()?;
    /// assert_eq!(problem.at_run(), Some(&Dim::new(1000, 256, 256).at_run()));
    /// # Ok::<(), warpfft_core::Error>(())
    /// ```
    #[must_use]
    pub fn any_batch(mut self) -> Self {
        self.any_batch = true;
        self
    }

    /// Real and imaginary parts in two buffers, on both sides.
    #[must_use]
    pub fn planar(self) -> Self {
        self.formats(Format::Planar, Format::Planar)
    }

    /// Formats of input and output; out of place they may differ.
    #[must_use]
    pub fn formats(mut self, input: Format, output: Format) -> Self {
        (self.input, self.output) = (input, output);
        self
    }
}

#[cfg(test)]
mod tests;
