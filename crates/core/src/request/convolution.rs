//! Requests for convolutions and correlations, and the problems that they are.

mod blocks;
mod functions;
mod lengths;

use crate::error::{Error, Side};
use crate::function::Function;
use crate::problem::{Dim, ELEMENT_LIMIT, Filter, Format, Precision, Problem, Window};
use crate::target::Limits;

use super::Fft;

/// Which part of a convolution is wanted, as scipy names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Every point at which image and kernel meet: `n + k - 1` along each dimension.
    Full,
    /// As many points as the image has, the middle of [`Mode::Full`].
    Same,
    /// Points at which the whole kernel lies in the image: `n - k + 1` along each dimension.
    Valid,
    /// The image goes on with its own beginning: as many points as it has, the first of them that of [`Mode::Full`].
    Periodic,
}

/// A request for the convolution of images with kernels, of any number of dimensions, by way of their frequencies.
///
/// Arrays are packed and row-major: images `[batch, shape..]`, kernels `[kernels, kernel..]`, results
/// `[batch, kernels, out..]`, every image with every kernel. They are complex f32 until told otherwise.
///
/// ```
/// use warpfft_core::request::{Convolution, Mode};
/// // Every one of 64 real images with one kernel, as `scipy.signal.fftconvolve(image, kernel, mode="same")`.
/// let request = Convolution::new([512, 512], [15, 15]).real().batch(64).mode(Mode::Same);
/// let problems = request.problems(None)?;
/// assert_eq!(problems.shape, [512, 512]);
/// assert!(problems.padded.iter().all(|&n| n >= 512 + 7));
/// # Ok::<(), warpfft_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Convolution {
    image: Vec<u64>,
    kernel: Vec<u64>,
    mode: Mode,
    correlate: bool,
    batch: u64,
    any_batch: bool,
    kernels: u64,
    precision: Precision,
    /// Whether image, then kernel, are real.
    real: [bool; 2],
    block: Option<Vec<u64>>,
    functions: [Option<Result<Function, Error>>; 2],
}

/// A convolution as pure data: one problem makes a spectrum of the kernels, the other uses it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Convolved {
    /// From the kernels to their spectra, which are complex, natural in order, and scaled by one over their points.
    pub prepare: Problem,
    /// From the images to the results.
    pub part: Problem,
    /// Points that are transformed along each dimension: those of a spectrum.
    pub padded: Vec<u64>,
    /// Points of one result along each dimension.
    pub shape: Vec<u64>,
}

/// A dimension of a convolution.
#[derive(Debug, Clone, Copy)]
struct Along {
    /// Points of image and kernel.
    n: u64,
    k: u64,
    /// First point of the full convolution that is wanted, and how many are.
    first: u64,
    len: u64,
    /// Points to transform at least.
    least: u64,
}

impl Convolution {
    /// The full convolution of one image with one kernel of as many dimensions, complex f32.
    pub fn new(image: impl Into<Vec<u64>>, kernel: impl Into<Vec<u64>>) -> Self {
        Self {
            image: image.into(),
            kernel: kernel.into(),
            mode: Mode::Full,
            correlate: false,
            batch: 1,
            any_batch: false,
            kernels: 1,
            precision: Precision::F32,
            real: [false; 2],
            block: None,
            functions: [None, None],
        }
    }

    /// Which part of it is wanted.
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// The correlation in place of the convolution: the kernel runs the other way and is conjugated, as
    /// `scipy.signal.correlate` has it.
    #[must_use]
    pub fn correlate(mut self) -> Self {
        self.correlate = true;
        self
    }

    /// So many images.
    #[must_use]
    pub fn batch(mut self, images: u64) -> Self {
        self.batch = images;
        self
    }

    /// How many images there are is said at each run: what was asked for is the most. Real images go each by itself then, as if
    /// they were complex, and not in pairs.
    ///
    /// ```
    /// use warpfft_core::request::Convolution;
    /// let problems = Convolution::new([1000], [31]).batch(64).any_batch().problems(None)?;
    /// assert_eq!(problems.part.at_run().map(|images| images.n), Some(64));
    /// # Ok::<(), warpfft_core::Error>(())
    /// ```
    #[must_use]
    pub fn any_batch(mut self) -> Self {
        self.any_batch = true;
        self
    }

    /// So many kernels, each of which meets every image.
    #[must_use]
    pub fn kernels(mut self, kernels: u64) -> Self {
        self.kernels = kernels;
        self
    }

    /// Images, kernels and results are real.
    #[must_use]
    pub fn real(self) -> Self {
        self.reals(true, true)
    }

    /// Whether images and kernels are real; the results are if both are.
    #[must_use]
    pub fn reals(mut self, image: bool, kernel: bool) -> Self {
        self.real = [image, kernel];
        self
    }

    /// Width of the real numbers.
    #[must_use]
    pub fn precision(mut self, precision: Precision) -> Self {
        self.precision = precision;
        self
    }

    /// Double precision.
    #[must_use]
    pub fn f64(self) -> Self {
        self.precision(Precision::F64)
    }

    /// Cuts images into overlapping blocks of so many points along each dimension, which are transformed by themselves
    /// (overlap-save): of fewer along dimensions that are shorter; 0: does not cut them. Without this call the cheaper of
    /// both is taken.
    #[must_use]
    pub fn blocks(self, points: u64) -> Self {
        let rank = self.image.len();
        self.blocks_of(vec![points; rank])
    }

    /// The same with blocks of so many points along each dimension.
    #[must_use]
    pub fn blocks_of(mut self, points: impl Into<Vec<u64>>) -> Self {
        self.block = Some(points.into());
        self
    }

    /// Format of images, kernels and results.
    pub fn formats(&self) -> [Format; 3] {
        let [image, kernel] = self.real;
        [image, kernel, image && kernel].map(|real| if real { Format::Real } else { Format::Interleaved })
    }

    /// Points of image and kernel along each dimension.
    pub fn shapes(&self) -> [&[u64]; 2] {
        [&self.image, &self.kernel]
    }

    /// Images and kernels.
    pub fn counts(&self) -> [u64; 2] {
        [self.batch, self.kernels]
    }

    /// Which part of the convolution is wanted, and whether it is a correlation.
    pub fn kind(&self) -> (Mode, bool) {
        (self.mode, self.correlate)
    }

    /// The problems that it is. Lengths are those that suit kernels on a device of these limits; without limits, the next
    /// with factors of 2, 3, 5 and 7 alone.
    ///
    /// # Errors
    ///
    /// Shapes that do not go together: of different ranks, without points, a kernel that does not lie within the image where
    /// [`Mode::Valid`] or [`Mode::Periodic`] ask for it; too many elements.
    pub fn problems(&self, limits: Option<&Limits>) -> Result<Convolved, Error> {
        let along = self.along()?;
        if let Some(cut) = self.in_blocks(&along, limits)? {
            return Ok(cut);
        }
        let padded = self.lengths(&along, limits)?;
        self.whole(&along, &padded)
    }

    fn refused<T>(&self, reason: impl Into<String>) -> Result<T, Error> {
        let (image, kernel) = (self.image.clone(), self.kernel.clone());
        Err(Error::Convolution { image, kernel, reason: reason.into() })
    }

    /// What there is to do along each dimension.
    fn along(&self) -> Result<Vec<Along>, Error> {
        if self.image.len() != self.kernel.len() || self.image.is_empty() {
            return self.refused("give both the same number of dimensions, at least one");
        }
        let empty =
            self.image.iter().chain(&self.kernel).chain([&self.batch, &self.kernels]).any(|&n| n == 0);
        if empty {
            return self.refused("no dimension may be empty, nor may there be no images or kernels");
        }
        let mut all = Vec::new();
        for (&n, &k) in self.image.iter().zip(&self.kernel) {
            let full = n.checked_add(k - 1).filter(|&full| full < ELEMENT_LIMIT);
            let Some(full) = full else { return self.refused("that is too long") };
            let (first, len) = match self.mode {
                Mode::Full => (0, full),
                Mode::Same => ((k - 1) / 2, n),
                Mode::Periodic if k <= n => (0, n),
                Mode::Valid if k <= n => (k - 1, n - k + 1),
                Mode::Periodic | Mode::Valid => {
                    return self.refused(
                        "the kernel must lie within the image; exchange the two, or ask for 'full'",
                    );
                }
            };
            // What wraps around must not meet what is wanted.
            let least = match self.mode {
                Mode::Periodic => n,
                _ => n.max(k).max(full - first).max(first + len),
            };
            all.push(Along { n, k, first, len, least });
        }
        // There must be something to transform.
        if let Some(last) = all.last_mut().filter(|last| last.least == 1 && self.mode != Mode::Periodic) {
            last.least = 2;
        }
        Ok(all)
    }

    /// The problems without blocks, for lengths that were chosen.
    fn whole(&self, along: &[Along], padded: &[u64]) -> Result<Convolved, Error> {
        let prepare = self.prepare(padded)?;
        let shape: Vec<u64> = along.iter().map(|own| own.len).collect();
        let windows = along.iter().zip(padded).map(|(own, &m)| {
            let first = if self.correlate { (own.first + m + 1 - own.k) % m } else { own.first };
            [Window::new(0, own.n), Window::new(first, own.len)]
        });
        let part = self.part(padded, windows.collect(), &self.image, &shape)?;
        Ok(Convolved { prepare, part: part.validated()?, padded: padded.to_vec(), shape })
    }

    /// From the kernels to their spectra.
    fn prepare(&self, padded: &[u64]) -> Result<Problem, Error> {
        let [_, kernel, _] = self.formats();
        let (is, os) = (super::row_major(&self.kernel)?, super::row_major(padded)?);
        let dims: Vec<Dim> = (0..padded.len()).map(|d| Dim::new(padded[d], is[d], os[d])).collect();
        let points: f64 = padded.iter().map(|&n| n as f64).product();
        let batch = Dim::new(self.kernels, size(&self.kernel)?, size(padded)?);
        let windows = self.kernel.iter().zip(padded).map(|(&k, &m)| [Window::new(0, k), Window::whole(m)]);
        let windows = windows.collect();
        let batch = vec![batch];
        Problem { input: kernel, windows, scale: 1.0 / points, ..self.plain(dims, batch)? }.validated()
    }

    /// From images of one shape to results of another, by these windows; not yet validated.
    fn part(
        &self,
        padded: &[u64],
        windows: Vec<[Window; 2]>,
        image: &[u64],
        shape: &[u64],
    ) -> Result<Problem, Error> {
        let [input, _, output] = self.formats();
        let [is, os, spectrum] =
            [super::row_major(image)?, super::row_major(shape)?, super::row_major(padded)?];
        let dims = (0..padded.len()).map(|d| Dim::new(padded[d], is[d], os[d])).collect();
        let (one, result) = (size(image)?, size(shape)?);
        let Some(results) = i64::try_from(self.kernels).ok().and_then(|count| result.checked_mul(count))
        else {
            return self.refused("that is too much");
        };
        let images = Dim { at_run: self.any_batch, ..Dim::new(self.batch, one, results) };
        let batch = vec![images, Dim::new(self.kernels, 0, result)];
        let functions = self.numbered_functions(&windows, padded)?;
        let filter = Filter {
            offset: 0,
            transform: spectrum,
            batch: vec![0, size(padded)?],
            conjugate: self.correlate,
            hermitian: self.real[1],
            blocks: Vec::new(),
        };
        Ok(Problem { input, output, windows, filter: Some(filter), functions, ..self.plain(dims, batch)? })
    }

    /// A problem of nothing but its dimensions.
    fn plain(&self, transform: Vec<Dim>, batch: Vec<Dim>) -> Result<Problem, Error> {
        Ok(Problem { transform, batch, ..Fft::new([1]).precision(self.precision).build()? })
    }

    /// Elements of images, kernels, their spectra, and results.
    ///
    /// # Errors
    ///
    /// More than can be addressed.
    pub fn elements(&self, convolved: &Convolved) -> Result<[u64; 4], Error> {
        let times = |count: u64, shape: &[u64]| {
            let too_many = Error::AddressOverflow {
                side: Side::Output,
                highest: i128::from(u64::MAX),
                limit: ELEMENT_LIMIT,
            };
            (size(shape)? as u64).checked_mul(count).ok_or(too_many)
        };
        Ok([
            times(self.batch, &self.image)?,
            times(self.kernels, &self.kernel)?,
            times(self.kernels, &convolved.padded)?,
            times(self.batch.saturating_mul(self.kernels), &convolved.shape)?,
        ])
    }
}

/// Elements of a packed array, as a stride.
fn size(shape: &[u64]) -> Result<i64, Error> {
    let outer = [&[1], shape].concat();
    Ok(super::row_major(&outer)?[0])
}
