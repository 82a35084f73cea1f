//! A problem made ready to run on one device.

use std::any::Any;
use std::sync::Arc;

use warpfft_core::problem::{Format, Placement, Precision, Problem};
use warpfft_core::program::Program;

use crate::device::backend::{Execute, HostJob};
use crate::device::{Device, DeviceKind};
use crate::error::{Error, Which};
use crate::host::{Planes, PlanesMut, Real};
use crate::pairs;
use crate::span::{self, Span};

/// A problem made ready to run on one device: kernels compiled and loaded, tables on the device. It may be run
/// any number of times, from any number of threads at once; clones share everything.
#[derive(Clone)]
pub struct Plan {
    problem: Problem,
    device: Device,
    input: Span,
    output: Span,
    work: Arc<dyn Execute>,
}

impl std::fmt::Debug for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plan").field("problem", &self.problem).field("device", &self.device).finish()
    }
}

impl Plan {
    pub(crate) fn new(problem: Problem, device: Device, work: Arc<dyn Execute>) -> Result<Self, Error> {
        let (input, output) = (span::input(&problem)?, span::output(&problem)?);
        Ok(Self { problem, device, input, output, work })
    }

    /// What it computes.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Where it runs.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The kernels and their order; `None` on the processor, which has none.
    /// A plan that came from the disk cache has launches alone: the first call here compiles the rest, which takes
    /// milliseconds.
    pub fn program(&self) -> Option<&Program> {
        self.work.program()
    }

    /// Bytes of workspace that the calls which take a workspace need. 0 on the processor.
    pub fn workspace_bytes(&self) -> u64 {
        self.work.workspace_bytes()
    }

    /// Elements that the input must hold: complex ones, or reals of each plane, or reals where it is real.
    pub fn input_elements(&self) -> u64 {
        self.input.elements
    }

    /// Elements that the output must hold: complex ones, or reals of each plane, or reals where it is real.
    pub fn output_elements(&self) -> u64 {
        self.output.elements
    }

    /// Transforms from one host array to another. On a GPU it copies the input there and the output back, so it
    /// is for trying things out and for data that lives on the host anyway.
    ///
    /// A problem in double-single arithmetic takes and gives `f64`:
    ///
    /// ```
    /// use warpfft::core::{request::Fft, target::Limits};
    /// use warpfft::{Complex, Device};
    ///
    /// let problem = Fft::new([64]).double_single().build()?;
    /// let plan = Device::sim(Limits::webgpu_min()).plan(&problem)?;
    /// let input = vec![Complex::new(0.1, 0.0); 64];
    /// let mut output = vec![Complex::default(); 64];
    /// plan.run_host(&input, &mut output)?;
    /// assert!((output[0].re - 6.4).abs() < 1e-13);
    /// # Ok::<(), warpfft::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The arrays do not fit the problem, or the device failed; [`Error::Range`] for finite numbers beyond 3.4e38 in
    /// double-single arithmetic.
    pub fn run_host<'a, T: Real>(
        &self,
        input: impl Into<Planes<'a, T>>,
        output: impl Into<PlanesMut<'a, T>>,
    ) -> Result<(), Error> {
        let (input, output) = (input.into(), output.into());
        self.expect::<T>(Placement::OutOfPlace)?;
        same_format(Which::Input, self.problem.input, input.format())?;
        same_format(Which::Output, self.problem.output, output.format())?;
        let (input, output) = (input.into_bytes(), output.into_bytes());
        let lengths = input.map(|plane| plane.len() as u64);
        span::check(&self.problem, Which::Input, self.problem.input, self.input, lengths)?;
        self.check_output(&output)?;
        self.run(HostJob { input: Some(input), output })
    }

    /// Transforms a host array in place.
    ///
    /// # Errors
    ///
    /// The array does not fit the problem, or the device failed.
    pub fn run_in_place<'a, T: Real>(&self, data: impl Into<PlanesMut<'a, T>>) -> Result<(), Error> {
        let data = data.into();
        self.expect::<T>(Placement::InPlace)?;
        // Where reals and complex numbers share an array, it may be handed over as either.
        let format =
            if data.format() == self.problem.input { self.problem.input } else { self.problem.output };
        same_format(Which::Output, format, data.format())?;
        let output = data.into_bytes();
        let lengths = [output[0].len() as u64, output[1].len() as u64];
        span::check(&self.problem, Which::Output, self.problem.input, self.input, lengths)?;
        self.check_output(&output)?;
        self.run(HostJob { input: None, output })
    }

    /// Runs on host memory. The processor takes double-single problems as they are handed over, in `f64`.
    fn run(&self, job: HostJob<'_>) -> Result<(), Error> {
        let paired = self.problem.precision == Precision::DoubleSingle && self.work.program().is_some();
        if paired { pairs::run(&*self.work, &self.problem, job) } else { self.work.run(job) }
    }

    pub(crate) fn work(&self) -> &(dyn Execute + 'static) {
        &*self.work
    }

    /// The device's own view of this plan, for the calls that only it has.
    #[allow(dead_code, reason = "unused when the crate is built for the processor alone")]
    pub(crate) fn work_as<W: Execute>(&self, kind: DeviceKind) -> Result<&W, Error> {
        let work: &dyn Any = &*self.work;
        work.downcast_ref().ok_or(Error::WrongDevice { expected: kind, got: self.device.kind() })
    }

    fn expect<T: Real>(&self, placement: Placement) -> Result<(), Error> {
        if self.problem.placement != placement {
            return Err(Error::WrongPlacement { expected: self.problem.placement });
        }
        if self.problem.precision.on_host() != T::PRECISION {
            return Err(Error::WrongPrecision { expected: self.problem.precision, got: T::PRECISION });
        }
        Ok(())
    }

    fn check_output(&self, output: &[&mut [u8]; 2]) -> Result<(), Error> {
        let lengths = [output[0].len() as u64, output[1].len() as u64];
        span::check(&self.problem, Which::Output, self.problem.output, self.output, lengths)
    }
}

fn same_format(which: Which, expected: Format, got: Format) -> Result<(), Error> {
    if expected == got { Ok(()) } else { Err(Error::WrongFormat { which, expected, got }) }
}
