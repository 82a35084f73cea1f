//! A problem made ready to run on one device.

use std::any::Any;
use std::sync::Arc;

use num_complex::Complex;
use warpfft_core::problem::{Growth, Precision, Problem};
use warpfft_core::program::Program;

use crate::accept;
use crate::device::backend::{Execute, HostJob, Part};
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
    growth: Growth,
}

impl std::fmt::Debug for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plan").field("problem", &self.problem).field("device", &self.device).finish()
    }
}

impl Plan {
    pub(crate) fn new(problem: Problem, device: Device, work: Arc<dyn Execute>) -> Result<Self, Error> {
        let (input, output) = (span::input(&problem)?, span::output(&problem)?);
        let growth = work.growth();
        Ok(Self { problem, device, input, output, work, growth })
    }

    /// The same plan, where errors grow in another way than the device's own plans have it.
    pub(crate) fn with_growth(self, growth: Growth) -> Self {
        Self { growth, ..self }
    }

    /// How errors grow.
    pub(crate) fn growth(&self) -> &Growth {
        &self.growth
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

    /// Whether the plan runs by its best kernels. One that had to be assembled on CUDA may not yet: where that takes
    /// long, it begins with a *stand-in*, other kernels for the same problem that are assembled sooner and take
    /// longer to run, and goes over to the best when they are there, some tenths of a second later. Both keep to
    /// [`Plan::error_bound`], but their last bits may differ. Timings of a plan wait for the best.
    pub fn is_settled(&self) -> bool {
        self.work.is_settled()
    }

    /// Waits until the plan runs by its best kernels: before it is captured in a graph, which keeps the kernels of that
    /// moment, or where every run must give the same bits. [`use_stand_ins`](crate::use_stand_ins) does
    /// it for all plans.
    ///
    /// ```
    /// use warpfft::core::request::Fft;
    /// use warpfft::{Device, DeviceKind};
    ///
    /// let plan = Device::open(DeviceKind::Auto)?.plan(&Fft::new([8191]).build()?)?;
    /// plan.settle()?;
    /// assert!(plan.is_settled());
    /// # Ok::<(), warpfft::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The driver refused the best kernels. The plan goes on as it is.
    pub fn settle(&self) -> Result<(), Error> {
        self.work.settle()
    }

    /// Elements that the input must hold: complex ones, or reals of each plane, or reals where it is real.
    pub fn input_elements(&self) -> u64 {
        self.input.elements
    }

    /// Elements that the output must hold: complex ones, or reals of each plane, or reals where it is real.
    pub fn output_elements(&self) -> u64 {
        self.output.elements
    }

    /// Elements that input and output must hold for a run with that count of transforms.
    ///
    /// # Errors
    ///
    /// The plan does not leave the number open, or was made for fewer.
    pub fn elements_at(&self, count: u64) -> Result<[u64; 2], Error> {
        Ok(self.part(Some(count))?.map_or([0, 0], |(_, input, output)| [input.elements, output.elements]))
    }

    /// Transforms from one host array to another. On a GPU it copies the input there and the output back, so it
    /// is for trying things out and for data that lives on the host anyway. Where the two keep numbers in different
    /// types, call [`Plan::run_mixed`].
    ///
    /// A problem in double-single arithmetic takes and gives `f64`, unless it is asked to keep another type:
    ///
    /// ```
    /// use warpfft::core::{request::Fft, target::Limits};
    /// use warpfft::{Complex, Device};
    ///
    /// let problem = Fft::new([64]).double_single().build()?;
    /// let plan = Device::sim(Limits::webgpu_min()).plan(&problem)?;
    /// let input = vec![Complex::new(0.1, 0.0); 64];
    /// let mut output = vec![Complex::new(0.0_f64, 0.0); 64];
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
        self.run_mixed(input, output)
    }

    /// [`Plan::run_host`] with the first `count` transforms of a plan that leaves their number open
    /// ([`Fft::any_batch`](warpfft_core::request::Fft::any_batch)). The arrays need hold no more than these span, and
    /// nothing beyond is read or written.
    ///
    /// ```
    /// use warpfft::core::request::Fft;
    /// use warpfft::{Complex, Device};
    ///
    /// let plan = Device::cpu().plan(&Fft::new([8]).batch(100).any_batch().build()?)?;
    /// let input = vec![Complex::new(1.0_f32, 0.0); 3 * 8];
    /// let mut output = vec![Complex::default(); 3 * 8];
    /// plan.run_host_batch(3, &input, &mut output)?;
    /// assert_eq!(output[16].re, 8.0);
    /// assert!(plan.run_host_batch(101, &input, &mut output).is_err());
    /// # Ok::<(), warpfft::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Plan::run_host`]; the plan does not leave the number open, or was made for fewer.
    pub fn run_host_batch<'a, T: Real>(
        &self,
        count: u64,
        input: impl Into<Planes<'a, T>>,
        output: impl Into<PlanesMut<'a, T>>,
    ) -> Result<(), Error> {
        self.expect_filter(false)?;
        self.run_out_of_place(input.into(), &[], output.into(), Some(count))
    }

    /// As [`Plan::run_host`], from numbers of one type to numbers of another.
    ///
    /// ```
    /// use half::f16;
    /// use num_complex::Complex;
    /// use warpfft::Device;
    /// use warpfft::core::problem::Storage;
    /// use warpfft::core::request::Fft;
    ///
    /// let problem = Fft::new([4]).storages(Storage::F16, Storage::F32).build()?;
    /// let input = [1.0, 2.0, 3.0, 4.0].map(|x| Complex::new(f16::from_f32(x), f16::ZERO));
    /// let mut output = [Complex::new(0.0_f32, 0.0); 4];
    /// Device::cpu().plan(&problem)?.run_mixed(&input, &mut output)?;
    /// assert_eq!(output[0], Complex::new(10.0, 0.0));
    /// # Ok::<(), warpfft::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Plan::run_host`].
    pub fn run_mixed<'a, T: Real, U: Real>(
        &self,
        input: impl Into<Planes<'a, T>>,
        output: impl Into<PlanesMut<'a, U>>,
    ) -> Result<(), Error> {
        self.expect_filter(false)?;
        self.run_out_of_place(input.into(), &[], output.into(), None)
    }

    /// Transforms from one host array to another, with factors of the frequencies between there and back: for problems with
    /// a [`Filter`](warpfft_core::problem::Filter).
    ///
    /// # Errors
    ///
    /// The arrays do not fit the problem, or the device failed.
    pub fn run_filtered<'a, T: Real>(
        &self,
        input: impl Into<Planes<'a, T>>,
        filter: &[Complex<T>],
        output: impl Into<PlanesMut<'a, T>>,
    ) -> Result<(), Error> {
        self.run_filtered_part(input.into(), filter, output.into(), None)
    }

    /// [`Plan::run_filtered`] with the first `count` transforms, as [`Plan::run_host_batch`]. The factors are all that the
    /// problem has, however many transforms there are.
    ///
    /// # Errors
    ///
    /// As [`Plan::run_filtered`]; the plan does not leave the number open, or was made for fewer.
    pub fn run_filtered_batch<'a, T: Real>(
        &self,
        count: u64,
        input: impl Into<Planes<'a, T>>,
        filter: &[Complex<T>],
        output: impl Into<PlanesMut<'a, T>>,
    ) -> Result<(), Error> {
        self.run_filtered_part(input.into(), filter, output.into(), Some(count))
    }

    fn run_filtered_part<T: Real>(
        &self,
        input: Planes<'_, T>,
        filter: &[Complex<T>],
        output: PlanesMut<'_, T>,
        count: Option<u64>,
    ) -> Result<(), Error> {
        self.expect_filter(true)?;
        let filter: &[u8] = bytemuck::cast_slice(filter);
        let (needed, got) = (span::filter_bytes(&self.problem)?, filter.len() as u64);
        if got < needed {
            let bytes = self.problem.precision.complex_bytes();
            let (needed, got) = (needed / bytes, got / bytes);
            return Err(Error::BufferTooSmall {
                which: Which::Filter,
                plane: 0,
                unit: "complex elements",
                needed,
                got,
            });
        }
        self.run_out_of_place(input, &filter[..needed as usize], output, count)
    }

    fn run_out_of_place<T: Real, U: Real>(
        &self,
        input: Planes<'_, T>,
        filter: &[u8],
        output: PlanesMut<'_, U>,
        count: Option<u64>,
    ) -> Result<(), Error> {
        let (input, output) = accept::apart(&self.problem, input, output)?;
        let Some((part, read, written)) = self.part(count)? else { return Ok(()) };
        accept::lengths(&self.problem, Some(input), &output, [read, written])?;
        self.run(HostJob { input: Some(input), filter, output, part: part.as_ref() })
    }

    /// Transforms a host array in place.
    ///
    /// # Errors
    ///
    /// The array does not fit the problem, or the device failed.
    pub fn run_in_place<'a, T: Real>(&self, data: impl Into<PlanesMut<'a, T>>) -> Result<(), Error> {
        self.run_in_place_part(data.into(), None)
    }

    /// [`Plan::run_in_place`] with the first `count` transforms, as [`Plan::run_host_batch`].
    ///
    /// # Errors
    ///
    /// As [`Plan::run_in_place`]; the plan does not leave the number open, or was made for fewer.
    pub fn run_in_place_batch<'a, T: Real>(
        &self,
        count: u64,
        data: impl Into<PlanesMut<'a, T>>,
    ) -> Result<(), Error> {
        self.run_in_place_part(data.into(), Some(count))
    }

    fn run_in_place_part<T: Real>(&self, data: PlanesMut<'_, T>, count: Option<u64>) -> Result<(), Error> {
        self.expect_filter(false)?;
        let output = accept::in_place(&self.problem, data)?;
        let Some((part, read, written)) = self.part(count)? else { return Ok(()) };
        accept::lengths(&self.problem, None, &output, [read, written])?;
        self.run(HostJob { input: None, filter: &[], output, part: part.as_ref() })
    }

    /// Runs on host memory. The processor takes double-single problems as they are handed over.
    pub(crate) fn run(&self, job: HostJob<'_>) -> Result<(), Error> {
        let paired = self.problem.precision == Precision::DoubleSingle && self.work.program().is_some();
        if paired { pairs::run(&*self.work, &self.problem, job) } else { self.work.run(job) }
    }

    pub(crate) fn work(&self) -> &(dyn Execute + 'static) {
        &*self.work
    }

    pub(crate) fn shared_work(&self) -> Arc<dyn Execute> {
        Arc::clone(&self.work)
    }

    /// The device's own view of this plan, for the calls that only it has.
    #[allow(dead_code, reason = "unused when the crate is built for the processor alone")]
    pub(crate) fn work_as<W: Execute>(&self, kind: DeviceKind) -> Result<&W, Error> {
        let work: &dyn Any = &*self.work;
        work.downcast_ref().ok_or(Error::WrongDevice { expected: kind, got: self.device.kind() })
    }

    fn expect_filter(&self, given: bool) -> Result<(), Error> {
        let expected = self.problem.filter.is_some();
        if expected == given { Ok(()) } else { Err(Error::Filter { expected }) }
    }

    /// The part of the problem that a count asks for, and what it spans; `None` where there is nothing to do.
    #[allow(clippy::type_complexity, reason = "it is taken apart where it is asked for")]
    fn part(&self, count: Option<u64>) -> Result<Option<(Option<Part>, Span, Span)>, Error> {
        let Some(count) = count else { return Ok(Some((None, self.input, self.output))) };
        let Some(part) = Part::of(&self.problem, count)? else { return Ok(None) };
        let (input, output) = (span::input(&part.problem)?, span::output(&part.problem)?);
        Ok(Some((Some(part), input, output)))
    }
}
