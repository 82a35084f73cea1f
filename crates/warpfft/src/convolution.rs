//! Convolutions and correlations made ready to run.

mod check;

use num_complex::Complex;
use warpfft_core::request::{Convolution, Convolved};

use crate::device::Device;
use crate::error::{Error, Which};
use crate::host::{Planes, PlanesMut, Real};
use crate::measure::{Measurement, Timing};
use crate::plan::Plan;
use crate::room;

pub use check::ConvolutionCheck;

/// The spectra of the kernels of a convolution, as [`ConvolutionPlan::prepare`] makes them: complex, natural in order and
/// scaled by one over their points. They are for plans of the same request on the same kind of device.
#[derive(Debug, Clone, PartialEq)]
pub struct Spectrum<T> {
    factors: Vec<Complex<T>>,
    padded: Vec<u64>,
}

impl<T> Spectrum<T> {
    /// The factors, row-major, one spectrum after the other.
    pub fn factors(&self) -> &[Complex<T>] {
        &self.factors
    }

    /// Points of one spectrum along each dimension.
    pub fn padded(&self) -> &[u64] {
        &self.padded
    }
}

/// A convolution or correlation made ready to run on one device. Kernels that meet many images are prepared once.
///
/// ```
/// use warpfft::Device;
/// use warpfft::core::request::{Convolution, Mode};
///
/// let plan = Device::cpu().convolution(&Convolution::new([6], [3]).real().mode(Mode::Same))?;
/// let spectrum = plan.prepare(&vec![1.0_f32, 1.0, 1.0])?;
/// let mut sums = vec![0.0_f32; 6];
/// plan.run_host(&vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &spectrum, &mut sums)?;
/// let want = [3.0, 6.0, 9.0, 12.0, 15.0, 11.0];
/// assert!(sums.iter().zip(want).all(|(got, want)| (got - want).abs() < 1e-5), "{sums:?}");
/// # Ok::<(), warpfft::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ConvolutionPlan {
    request: Convolution,
    convolved: Convolved,
    elements: [u64; 4],
    prepare: Plan,
    part: Plan,
}

impl Device {
    /// Makes a convolution ready to run here: the lengths that it is padded to, and whether it goes in blocks, are chosen
    /// for this device.
    ///
    /// # Errors
    ///
    /// Shapes that do not go together, or what [`Device::plan`] refuses.
    pub fn convolution(&self, request: &Convolution) -> Result<ConvolutionPlan, Error> {
        let convolved = request.problems(self.limits())?;
        let elements = request.elements(&convolved)?;
        let prepare = self.plan(&convolved.prepare)?;
        let part = self.plan(&convolved.part)?;
        Ok(ConvolutionPlan { request: request.clone(), convolved, elements, prepare, part })
    }
}

impl ConvolutionPlan {
    /// What was asked.
    pub fn request(&self) -> &Convolution {
        &self.request
    }

    /// The problems that it is.
    pub fn problems(&self) -> &Convolved {
        &self.convolved
    }

    /// The plan that makes spectra of kernels: for memory of the device's own.
    pub fn preparing(&self) -> &Plan {
        &self.prepare
    }

    /// The plan that makes results of images: for memory of the device's own.
    pub fn convolving(&self) -> &Plan {
        &self.part
    }

    /// Points of one result along each dimension.
    pub fn shape(&self) -> &[u64] {
        &self.convolved.shape
    }

    /// Elements of images, kernels, spectra and results: reals where they are real.
    pub fn elements(&self) -> [u64; 4] {
        self.elements
    }

    /// Bytes of workspace that the plans need, one after the other.
    pub fn workspace_bytes(&self) -> u64 {
        self.part.workspace_bytes().max(self.prepare.workspace_bytes())
    }

    /// The spectra of kernels that lie on the host.
    ///
    /// # Errors
    ///
    /// The array is too short or of another format, there is no memory, or the device failed.
    pub fn prepare<'a, T: Real>(&self, kernels: impl Into<Planes<'a, T>>) -> Result<Spectrum<T>, Error> {
        let mut factors: Vec<Complex<T>> = room::zeros(self.elements[2], "processor")?;
        let kernels: Planes<'_, T> = kernels.into();
        self.prepare.run_host(kernels, &mut factors)?;
        Ok(Spectrum { factors, padded: self.convolved.padded.clone() })
    }

    /// Convolves images that lie on the host with kernels that were prepared.
    ///
    /// # Errors
    ///
    /// An array is too short or of another format, the spectra are for another request, or the device failed.
    pub fn run_host<'a, 'b, T: Real>(
        &self,
        images: impl Into<Planes<'a, T>>,
        kernels: &Spectrum<T>,
        results: impl Into<PlanesMut<'b, T>>,
    ) -> Result<(), Error> {
        let factors = self.factors(kernels)?;
        let mut results = results.into();
        self.part.run_filtered(images.into(), factors, results.again())
    }

    /// [`ConvolutionPlan::run_host`] with the first `count` images of a plan that leaves their number open
    /// ([`Convolution::any_batch`]). The arrays need hold no more than these and their results.
    ///
    /// ```
    /// use warpfft::Device;
    /// use warpfft::core::request::{Convolution, Mode};
    ///
    /// let asked = Convolution::new([4], [2]).real().mode(Mode::Same).batch(100).any_batch();
    /// let plan = Device::cpu().convolution(&asked)?;
    /// let spectrum = plan.prepare(&vec![1.0_f32, 1.0])?;
    /// let mut sums = vec![0.0_f32; 2 * 4];
    /// plan.run_host_batch(2, &vec![1.0; 8], &spectrum, &mut sums)?;
    /// assert!(sums.iter().zip([1.0, 2.0, 2.0, 2.0]).all(|(got, want)| (got - want).abs() < 1e-5), "{sums:?}");
    /// # Ok::<(), warpfft::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`ConvolutionPlan::run_host`]; the plan does not leave the number open, or was made for fewer.
    pub fn run_host_batch<'a, 'b, T: Real>(
        &self,
        count: u64,
        images: impl Into<Planes<'a, T>>,
        kernels: &Spectrum<T>,
        results: impl Into<PlanesMut<'b, T>>,
    ) -> Result<(), Error> {
        let factors = self.factors(kernels)?;
        let mut results = results.into();
        self.part.run_filtered_batch(count, images.into(), factors, results.again())
    }

    /// The factors of spectra that this plan's kind of request has prepared.
    fn factors<'k, T>(&self, kernels: &'k Spectrum<T>) -> Result<&'k [Complex<T>], Error> {
        if kernels.padded != self.convolved.padded || (kernels.factors.len() as u64) < self.elements[2] {
            let (needed, got) = (self.elements[2], kernels.factors.len() as u64);
            return Err(Error::BufferTooSmall {
                which: Which::Filter,
                plane: 0,
                unit: "complex elements, of a spectrum that was prepared by a plan of this request",
                needed,
                got,
            });
        }
        Ok(&kernels.factors)
    }

    /// Convolves images with kernels, all on the host.
    ///
    /// # Errors
    ///
    /// As [`ConvolutionPlan::prepare`] and [`ConvolutionPlan::run_host`].
    pub fn convolve_host<'a, 'b, 'c, T: Real>(
        &self,
        images: impl Into<Planes<'a, T>>,
        kernels: impl Into<Planes<'b, T>>,
        results: impl Into<PlanesMut<'c, T>>,
    ) -> Result<(), Error> {
        let kernels = self.prepare(kernels)?;
        self.run_host(images, &kernels, results)
    }

    /// Times it with kernels that are prepared, against a copy of the bytes of images and results.
    ///
    /// # Errors
    ///
    /// As [`Plan::measure`].
    pub fn measure(&self, timing: impl Into<Timing>) -> Result<Measurement, Error> {
        self.part.measure(timing)
    }
}
