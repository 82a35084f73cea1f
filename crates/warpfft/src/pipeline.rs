//! Data of the computer's memory on a device: transforms in parts, so that one part is computed while the next goes to
//! the device and the last comes back.

pub(crate) mod parts;

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use warpfft_core::problem::{Placement, Problem};
use warpfft_core::strategy::Strategy;

use crate::accept;
use crate::copy;
use crate::device::backend::{HostJob, Lanes, Part};
use crate::device::{Device, DeviceKind};
use crate::error::Error;
use crate::host::{Planes, PlanesMut, Real};
use crate::host_array::HostArray;
use crate::measure::{self, Contest, Measurement, Timed, Timing};
use crate::plan::Plan;
use crate::span::{self, Span};
use parts::{Counts, Parts};

/// A problem made ready to run on data of the computer's memory, again and again.
///
/// Where its transforms lie apart in memory, they go in parts. On CUDA these are streamed: memory on the device is there
/// from the start, and while one part is computed, the next goes there and the last one comes back. Arrays of
/// [`Device::host_array`] (or any other memory that the driver knows as pinned) are read and written by the device itself;
/// others pass through such memory of the pipeline's own. On other devices one part follows the other, so that data
/// may be larger than the device's memory.
///
/// ```
/// use warpfft::core::request::Fft;
/// use warpfft::{Complex, Device};
///
/// let device = Device::cpu();
/// let pipeline = device.pipeline(&Fft::new([8, 8, 8]).batch(54).build()?)?;
/// let mut input = device.host_array::<Complex<f32>>(54 * 512)?;
/// let mut output = device.host_array::<Complex<f32>>(54 * 512)?;
/// input[512] = Complex::new(1.0, 0.0);
/// pipeline.run(&input[..], &mut output[..])?;
/// assert_eq!((output[511].re, output[512].re), (0.0, 1.0));
/// # Ok::<(), warpfft::Error>(())
/// ```
pub struct Pipeline {
    problem: Problem,
    spans: [Span; 2],
    /// Of a part, or of everything.
    plan: Plan,
    parts: Option<Cut>,
}

/// How the problem is cut.
struct Cut {
    parts: Parts,
    last: Option<Part>,
    lanes: Option<Arc<dyn Lanes>>,
}

impl std::fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (parts, streamed) = (self.parts(), self.is_streamed());
        f.debug_struct("Pipeline")
            .field("plan", &self.plan)
            .field("parts", &parts)
            .field("streamed", &streamed)
            .finish()
    }
}

impl Device {
    /// Makes a problem ready to run on data of the computer's memory, in parts of a size that suits the device.
    ///
    /// # Errors
    ///
    /// As [`Device::plan`]; or the device's memory, or the computer's, does not hold some parts.
    pub fn pipeline(&self, problem: &Problem) -> Result<Pipeline, Error> {
        let parts = self.parts(problem, Counts::Open, |total| self.backend().part_bytes(total));
        Pipeline::new(problem, parts, |problem| self.plan(problem))
    }

    /// As [`Device::pipeline`], in parts of so many bytes of input or output, whichever is more; at least one transform.
    ///
    /// # Errors
    ///
    /// As [`Device::pipeline`].
    pub fn pipeline_in_parts(&self, problem: &Problem, bytes: u64) -> Result<Pipeline, Error> {
        let parts = self.parts(problem, Counts::Open, |_| bytes);
        Pipeline::new(problem, parts, |problem| self.plan(problem))
    }

    /// As [`Device::pipeline`], by a published algorithm in place of the planner's choice; all parts have equally many
    /// transforms.
    ///
    /// # Errors
    ///
    /// As [`Device::plan_by`] and [`Device::pipeline`].
    pub fn pipeline_by(&self, problem: &Problem, strategy: Strategy) -> Result<Pipeline, Error> {
        let parts = self.parts(problem, Counts::Equal, |total| self.backend().part_bytes(total));
        Pipeline::new(problem, parts, |problem| self.plan_by(problem, strategy))
    }

    /// The processor works where the data lies.
    fn parts(&self, problem: &Problem, counts: Counts, bytes: impl Fn(u64) -> u64) -> Option<Parts> {
        self.limits().and_then(|_| Parts::of(problem, counts, bytes).or_else(|| Parts::whole(problem)))
    }
}

impl Pipeline {
    fn new(
        problem: &Problem,
        parts: Option<Parts>,
        plan: impl Fn(&Problem) -> Result<Plan, Error>,
    ) -> Result<Self, Error> {
        let spans = [span::input(problem)?, span::output(problem)?];
        let (plan, parts) = match parts {
            None => (plan(problem)?, None),
            Some(parts) => {
                let plan = plan(&parts.problem)?;
                let (last, lanes) = (parts.last()?, plan.shared_work().lanes(parts.count())?);
                (plan, Some(Cut { parts, last, lanes }))
            }
        };
        Ok(Self { problem: problem.clone(), spans, plan, parts })
    }

    /// What it computes.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Where it runs.
    pub fn device(&self) -> &Device {
        self.plan.device()
    }

    /// In how many parts.
    pub fn parts(&self) -> u64 {
        self.parts.as_ref().map_or(1, |cut| cut.parts.count())
    }

    /// Whether parts move while others are computed.
    pub fn is_streamed(&self) -> bool {
        self.parts.as_ref().is_some_and(|cut| cut.lanes.is_some())
    }

    /// Transforms from one array to another, and returns when all is there. Several threads take turns.
    ///
    /// # Errors
    ///
    /// The arrays do not fit the problem, or the device failed; what was written until then stays.
    pub fn run<'a, T: Real, U: Real>(
        &self,
        input: impl Into<Planes<'a, T>>,
        output: impl Into<PlanesMut<'a, U>>,
    ) -> Result<(), Error> {
        let (input, output) = (input.into(), output.into());
        if self.parts.is_none() {
            return self.plan.run_mixed(input, output);
        }
        let (input, output) = accept::apart(&self.problem, input, output)?;
        accept::lengths(&self.problem, Some(input), &output, self.spans)?;
        self.run_parts(Some(input), output, Work::Transform)
    }

    /// Transforms an array in place, and returns when all is done.
    ///
    /// # Errors
    ///
    /// As [`Pipeline::run`].
    pub fn run_in_place<'a, T: Real>(&self, data: impl Into<PlanesMut<'a, T>>) -> Result<(), Error> {
        if self.parts.is_none() {
            return self.plan.run_in_place(data);
        }
        let data = accept::in_place(&self.problem, data.into())?;
        accept::lengths(&self.problem, None, &data, self.spans)?;
        self.run_parts(None, data, Work::Transform)
    }

    fn run_parts(&self, input: Option<[&[u8]; 2]>, output: [&mut [u8]; 2], work: Work) -> Result<(), Error> {
        let Some(cut) = &self.parts else {
            return self.plan.run(HostJob { input, filter: &[], output, part: None });
        };
        let jobs = cut.parts.jobs(input, output, cut.last.as_ref())?;
        match &cut.lanes {
            Some(lanes) => lanes.run(jobs, work),
            None => jobs.into_iter().try_for_each(|job| self.plan.run(job)),
        }
    }

    /// Times it in turns with the transfers alone: where it is streamed, on arrays of [`Device::host_array`] and the same
    /// parts there and back without the transforms; elsewhere as [`Plan::measure_host`]. [`Measurement::copies`] is the
    /// time over that of the transfers.
    ///
    /// # Errors
    ///
    /// There is not enough memory, the device failed, or it is the simulator, whose time says nothing.
    pub fn measure(&self, timing: impl Into<Timing>) -> Result<Measurement, Error> {
        let budget = timing.into().budget;
        self.plan.settle()?;
        if !self.is_streamed() {
            return beside_copy(&self.plan, &self.problem, budget, |input, output| {
                self.run_parts(input, output, Work::Transform)
            });
        }
        let arrays = RefCell::new(Arrays::noisy(self.device(), &self.problem)?);
        let timed = |work: Work| -> Timed<'_> {
            let arrays = &arrays;
            Box::new(move |repeats| {
                let mut arrays = arrays.borrow_mut();
                measure::clock(repeats, || {
                    let (input, output) = arrays.planes();
                    self.run_parts(input, output, work)
                })
            })
        };
        let contest = Contest {
            copies: vec![("transfers", timed(Work::Transfers))],
            transform: timed(Work::Transform),
            bytes: measure::bytes(&self.problem),
            buffer_sets: 1,
            on_device: false,
        };
        contest.run(budget)
    }
}

/// What is done with the parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// There, the transform, and back.
    Transform,
    /// There and back.
    Transfers,
}

/// Arrays to measure with.
struct Arrays {
    input: [HostArray<u8>; 2],
    output: [HostArray<u8>; 2],
    in_place: bool,
}

impl Arrays {
    fn noisy(device: &Device, problem: &Problem) -> Result<Self, Error> {
        let filled = |bytes: u64, storage| -> Result<HostArray<u8>, Error> {
            let mut array = device.host_array::<u8>(bytes as usize)?;
            array.copy_from_slice(&measure::noise(bytes, storage, "processor")?);
            Ok(array)
        };
        let [from, to] = problem.stored();
        let [read, written] = [span::read_bytes(problem)?, span::written_bytes(problem)?];
        Ok(Self {
            input: [filled(read[0], from)?, filled(read[1], from)?],
            output: [filled(written[0], to)?, filled(written[1], to)?],
            in_place: problem.placement == Placement::InPlace,
        })
    }

    /// In memory that no driver knows.
    fn ordinary(problem: &Problem) -> Result<Self, Error> {
        Self::noisy(&Device::cpu(), problem)
    }

    fn planes(&mut self) -> (Option<[&[u8]; 2]>, [&mut [u8]; 2]) {
        let [re, im] = &mut self.output;
        let input = [&self.input[0][..], &self.input[1][..]];
        ((!self.in_place).then_some(input), [&mut re[..], &mut im[..]])
    }
}

impl Plan {
    /// Times [`Plan::run_host`], where data lies in the computer's memory, in turns with the same for a plain copy by the
    /// device. On the processor, which works where the data lies, this is [`Plan::measure`].
    ///
    /// # Errors
    ///
    /// There is not enough memory, the device failed, or it is the simulator, whose time says nothing.
    pub fn measure_host(&self, timing: impl Into<Timing>) -> Result<Measurement, Error> {
        let budget = timing.into().budget;
        self.settle()?;
        beside_copy(self, self.problem(), budget, |input, output| {
            self.run(HostJob { input, filter: &[], output, part: None })
        })
    }
}

/// Times work on arrays of the computer's memory in turns with a plain copy, there and back, by the plan's device.
fn beside_copy(
    plan: &Plan,
    problem: &Problem,
    budget: Duration,
    mut run: impl FnMut(Option<[&[u8]; 2]>, [&mut [u8]; 2]) -> Result<(), Error>,
) -> Result<Measurement, Error> {
    let device = plan.device();
    let bytes = measure::bytes(problem);
    let limits = device.limits().filter(|_| device.kind() != DeviceKind::Sim);
    // The processor works where the data lies, and the simulator says that it has no time.
    let Some(limits) = limits else { return plan.measure(budget) };
    let mut copies = copy::programs(bytes / 2, limits)?;
    let (name, program) = copies.swap_remove(0);
    let copy = device.load(program)?;
    let [mut own, mut copied] = [Arrays::ordinary(problem)?, Arrays::ordinary(copy.problem())?];
    let contest = Contest {
        copies: vec![(
            name,
            Box::new(|repeats| {
                measure::clock(repeats, || {
                    let (input, output) = copied.planes();
                    copy.run(HostJob { input, filter: &[], output, part: None })
                })
            }),
        )],
        transform: Box::new(|repeats| {
            measure::clock(repeats, || {
                let (input, output) = own.planes();
                run(input, output)
            })
        }),
        bytes,
        buffer_sets: 1,
        on_device: false,
    };
    contest.run(budget)
}
