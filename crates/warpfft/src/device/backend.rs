//! What a device is to the rest of the crate: two traits, which each device implements in its own file.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use warpfft_core::problem::{Growth, Problem};
use warpfft_core::program::{Compiled, Program};
use warpfft_core::recipe::Recipe;
use warpfft_core::strategy::HostLine;
use warpfft_core::target::Limits;

use super::DeviceKind;
use crate::error::Error;
use crate::measure::{Measurement, Timing};
#[cfg(feature = "peers")]
use crate::peers::PeerReport;
use crate::pipeline::Work;

/// Kernels for a problem within a device's limits.
///
/// A recipe that is out of date changes nothing: the cost model's choice is always there.
pub(crate) fn compiled(
    problem: &Problem,
    limits: &Limits,
    recipe: Option<&Recipe>,
) -> Result<Program, Error> {
    if let Some(recipe) = recipe {
        match Compiled::by(recipe, problem, limits) {
            Ok(compiled) => return Ok(compiled.program),
            Err(error) => tracing::debug!(%error, "wisdom was not used"),
        }
    }
    Ok(warpfft_core::compile(problem, limits)?)
}

/// Works as what one device makes of them.
#[cfg(any(feature = "cuda", feature = "opencl", feature = "wgpu"))]
pub(crate) fn own<'a, W: Execute>(all: &[&'a (dyn Execute + 'static)]) -> Result<Vec<&'a W>, Error> {
    fn one<'a, W: Execute>(work: &&'a (dyn Execute + 'static)) -> Option<&'a W> {
        (*work as &dyn Any).downcast_ref()
    }
    let foreign = || Error::Program { detail: "only plans of one device run against each other".into() };
    all.iter().map(one).collect::<Option<_>>().ok_or_else(foreign)
}

/// Bytes that go to a device at once, where parts follow each other and are larger only for being fewer.
const LARGEST_PART: u64 = 256 << 20;

/// Memory of the computer that stays in place.
pub(crate) trait HostMemory: Send + Sync {
    /// All of it.
    fn bytes(&self) -> &[u8];

    /// All of it, to write.
    fn bytes_mut(&mut self) -> &mut [u8];
}

/// Room on a device for several parts of a problem, of which one moves while another is computed.
pub(crate) trait Lanes: Send + Sync {
    /// Runs parts in their order, each on slices of one array, and returns when all outputs are there.
    fn run(&self, jobs: Vec<HostJob<'_>>, work: Work) -> Result<(), Error>;
}

/// An opened device.
pub(crate) trait Backend: Any + Send + Sync {
    /// Its kind.
    fn kind(&self) -> DeviceKind;

    /// Its name for people.
    fn name(&self) -> &str;

    /// What kernels for it may use; `None` for the processor, which takes problems and not kernels.
    fn limits(&self) -> Option<&Limits>;

    /// Whether it is hardware of its own: a software driver of a GPU interface is not.
    fn is_hardware(&self) -> bool {
        true
    }

    /// Memory of the computer that the device reads and writes by itself; `None` where it has no such.
    fn pinned(&self, _bytes: u64) -> Result<Option<Box<dyn HostMemory>>, Error> {
        Ok(None)
    }

    /// Bytes of a part, of data in the computer's memory that has so many.
    fn part_bytes(&self, total: u64) -> u64 {
        total.min(LARGEST_PART)
    }

    /// Makes a compiled program ready to run.
    fn load(&self, program: Program) -> Result<Arc<dyn Execute>, Error>;

    /// Makes a problem ready to run, by a recipe if there is one.
    fn plan(&self, problem: &Problem, recipe: Option<&Recipe>) -> Result<Arc<dyn Execute>, Error>;

    /// Makes a problem of complex numbers ready whose lines are transformed by that function, one after the other: on the
    /// processor alone.
    fn plan_lines(&self, _problem: &Problem, _line: HostLine) -> Result<Arc<dyn Execute>, Error> {
        Err(Error::Unsupported {
            device: self.name().into(),
            what: "functions of the processor".into(),
            would_work: "use device 'cpu'".into(),
        })
    }
}

/// Data of one call in the computer's memory, as bytes; lengths, format and precision have been checked, and
/// each slice is aligned for the problem's precision. The second plane is empty for interleaved data.
pub(crate) struct HostJob<'a> {
    /// `None` in place.
    pub input: Option<[&'a [u8]; 2]>,
    /// The factors of the frequencies; empty where the problem has none.
    pub filter: &'a [u8],
    /// Output; in place, both.
    pub output: [&'a mut [u8]; 2],
    /// What is run in place of the whole problem, which it is a part of.
    pub part: Option<&'a Part>,
}

/// A run of a problem whose count is given with it.
pub(crate) struct Part {
    /// The count, at least 1.
    pub count: u32,
    /// What is computed with it ([`Problem::at_count`]).
    pub problem: Problem,
}

impl Part {
    /// A part of a problem; `None` for a count of 0, which is nothing.
    pub fn of(problem: &Problem, count: u64) -> Result<Option<Self>, Error> {
        let asked = problem.at_count(count.max(1))?;
        // Counts are below 2^31.
        Ok((count > 0).then_some(Self { count: count as u32, problem: asked }))
    }
}

/// Something that is ready to run.
pub(crate) trait Execute: Any + Send + Sync {
    /// The kernels; `None` on the processor.
    fn program(&self) -> Option<&Program>;

    /// Bytes of workspace beside input and output.
    fn workspace_bytes(&self) -> u64;

    /// Whether it runs by what is best, and will go on so.
    fn is_settled(&self) -> bool {
        true
    }

    /// Waits until it does.
    fn settle(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Runs on host memory and returns when the output is there.
    fn run(&self, job: HostJob<'_>) -> Result<(), Error>;

    /// Room to run so many parts, some at a time; `None` where one follows the other.
    fn lanes(self: Arc<Self>, _parts: u64) -> Result<Option<Arc<dyn Lanes>>, Error> {
        Ok(None)
    }

    /// How its rounding errors grow.
    fn growth(&self) -> Growth {
        Growth::KERNELS
    }

    /// Times itself against a copy of the same bytes.
    fn measure(&self, timing: Timing) -> Result<Measurement, Error>;

    /// Median seconds of each of several ways to do one problem, all made ready by the same device, in about this
    /// time.
    fn race(&self, all: &[&(dyn Execute + 'static)], budget: Duration) -> Result<Vec<f64>, Error> {
        let each = budget / all.len().max(1) as u32;
        all.iter().map(|work| work.measure(each.into()).map(|measured| measured.transform_seconds)).collect()
    }

    /// Times itself as [`Execute::measure`] does, and then other libraries on the same data.
    #[cfg(feature = "peers")]
    fn measure_beside_peers(&self, timing: Timing) -> Result<(Measurement, Vec<PeerReport>), Error> {
        Ok((self.measure(timing)?, Vec::new()))
    }
}
