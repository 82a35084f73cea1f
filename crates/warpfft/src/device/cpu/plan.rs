//! A problem ready to run: its passes, one after the other.

use num_complex::Complex;
use warpfft_core::problem::{Format, Growth, Kind, Problem};
use warpfft_core::program::Program;

use super::lines::Work;
use super::memory::Pool;
use super::split::{Split, Wanted, split};
use super::tile::Scratch;
use super::timing;
use super::view::View;
use super::{CpuReal, growth};
use crate::device::backend::{Execute, HostJob};
use crate::error::Error;
use crate::measure::{Measurement, Timing};
#[cfg(feature = "peers")]
use crate::peers::PeerReport;
use crate::room;
use crate::span;

/// Below so many elements a second thread costs more than it brings.
const PARALLEL_FROM: u64 = 1 << 14;

/// Threads that take part.
fn threads(parallel: bool) -> u64 {
    if parallel { rayon::current_num_threads() as u64 } else { 1 }
}

/// A problem ready to run on the processor.
pub(super) struct CpuPlan<T> {
    problem: Problem,
    split: Split<T>,
    /// What threads need beside.
    pool: Pool<T>,
    parallel: bool,
    /// Makes the plans of the problem's parts, where it has any.
    parts: Option<Parts<T>>,
}

/// Makes a plan of another problem with the same lines.
type Parts<T> = Box<dyn Fn(&Problem) -> Result<CpuPlan<T>, Error> + Send + Sync>;

impl<T: CpuReal> CpuPlan<T> {
    /// Splits a problem into passes; `make` gives the transform of one line.
    pub fn new(
        problem: &Problem,
        make: impl FnMut(Wanted, u64) -> Result<Work<T>, Error>,
    ) -> Result<Self, Error> {
        span::input(problem)?;
        span::output(problem)?;
        let complex = |format| matches!(format, Format::Interleaved | Format::Planar);
        if problem.kind != Kind::Complex || !complex(problem.input) || !complex(problem.output) {
            // What lines are made for, and how they lie in place, is taken on trust below.
            problem.clone().validated()?;
        }
        let parallel = problem.elements() >= PARALLEL_FROM && span::injective(problem.output_dims());
        let threads = threads(parallel);
        let split = split(problem, threads, make)?;
        let mut scratch = [0; 3];
        for pass in split.groups.iter().flat_map(|group| &group.passes) {
            scratch.iter_mut().zip(Scratch::reals(pass)).for_each(|(most, own)| *most = own.max(*most));
        }
        let pool = Pool::new(scratch, split.own_stage);
        Ok(Self { problem: problem.clone(), split, pool, parallel, parts: None })
    }

    /// With a way to make the plans of the problem's parts.
    pub fn with_parts(self, make: impl Fn(&Problem) -> Result<Self, Error> + Send + Sync + 'static) -> Self {
        Self { parts: Some(Box::new(make)), ..self }
    }

    /// The same in one thread.
    pub fn in_one_thread(self) -> Self {
        Self { parallel: false, ..self }
    }

    /// The array between input and output.
    fn stage(&self) -> Result<Vec<Complex<T>>, Error> {
        let bytes = self.split.stage.saturating_mul(size_of::<T>() as u64);
        let beside = self.pool.bytes().saturating_mul(threads(self.parallel));
        room::ask(bytes.saturating_add(beside), "processor")?;
        room::zeros(self.split.stage.div_ceil(2), "processor")
    }
}

impl<T: CpuReal> Execute for CpuPlan<T> {
    fn growth(&self) -> Growth {
        growth::of(self.problem.precision)
    }

    fn measure(&self, timing: Timing) -> Result<Measurement, Error> {
        timing::measure::<T>(self, &self.problem, timing)
    }

    #[cfg(feature = "peers")]
    fn measure_beside_peers(&self, timing: Timing) -> Result<(Measurement, Vec<PeerReport>), Error> {
        timing::beside_peers::<T>(self, &self.problem, timing)
    }

    fn program(&self) -> Option<&Program> {
        None
    }

    fn workspace_bytes(&self) -> u64 {
        0
    }

    fn run(&self, job: HostJob<'_>) -> Result<(), Error> {
        if let (Some(part), Some(make)) = (job.part, &self.parts) {
            return make(&part.problem)?.run(HostJob { part: None, ..job });
        }
        let mut stage = self.stage()?;
        let [read, written] = self.problem.stored();
        let output = View::writing(job.output, self.problem.output, written);
        let input = match job.input {
            Some(planes) => View::reading(planes, self.problem.input, read),
            None => output.seen_as(self.problem.input),
        };
        let planes = [bytemuck::cast_slice_mut(&mut stage), &mut []];
        let stage = View::writing(planes, self.split.stage_format, T::STORAGE);
        for group in &self.split.groups {
            // SAFETY: the caller has checked that the arrays hold what the problem spans, and the stage holds all
            // elements; `parallel` was set only where output addresses are distinct.
            unsafe { group.run([input, output, stage], threads(self.parallel), &self.pool)? };
        }
        Ok(())
    }
}
