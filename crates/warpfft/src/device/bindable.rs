//! Devices that have programs bound to buffers before they run: how such a device runs on data of the computer's memory,
//! and how it is timed, on sets of buffers that together exceed the cache.

use std::any::Any;
use std::time::Duration;

use warpfft_core::problem::{Placement, Problem, Storage};
use warpfft_core::program::{Binding, Program};
use warpfft_core::target::Limits;

use super::backend::{Execute, HostJob, Part, own};
use crate::copy;
use crate::error::Error;
use crate::measure::{self, Contest, Measurement, Timed, Timing, Turns};
use crate::span;

/// Cache that measurements assume, since no interface tells all of it.
const CACHE_BYTES: u64 = 32 << 20;
/// Sets of buffers in a measurement at most: each has bindings of its own.
const MOST_SETS: u64 = 32;

/// A loaded program of such a device.
pub(crate) trait Bindable: Any + Send + Sync + Sized {
    /// Memory of the device.
    type Buffer;
    /// The program with buffers: what is left to do for a run is to hand it over.
    type Bound;

    fn limits(&self) -> &Limits;

    fn compiled(&self) -> &Program;

    /// Another program on the same device.
    fn sibling(&self, program: Program) -> Result<Self, Error>;

    /// A buffer for each plane of so many bytes, with the caller's bytes in it where they are wanted.
    fn planes(
        &self,
        host: [&[u8]; 2],
        bytes: [u64; 2],
        fill: bool,
    ) -> Result<[Option<Self::Buffer>; 2], Error>;

    /// Binds a set for the whole problem, or for a part of it.
    fn bind_set(&self, set: &Set<Self::Buffer>, part: Option<&Part>) -> Result<Self::Bound, Error>;

    /// Hands over one run of each, in this order, and waits for nothing.
    fn submit<'b>(&self, runs: impl Iterator<Item = &'b Self::Bound>) -> Result<(), Error>
    where
        Self::Bound: 'b;

    /// Waits until all that was handed over is done.
    fn wait(&self) -> Result<(), Error>;

    /// Reads memory of the device, once what was handed over is done.
    fn download(&self, source: &Self::Buffer, target: &mut [u8]) -> Result<(), Error>;
}

impl<W: Bindable> Execute for W {
    fn program(&self) -> Option<&Program> {
        Some(self.compiled())
    }

    fn workspace_bytes(&self) -> u64 {
        self.compiled().workspace_bytes
    }

    fn run(&self, job: HostJob<'_>) -> Result<(), Error> {
        run(self, job)
    }

    fn measure(&self, timing: Timing) -> Result<Measurement, Error> {
        measure(self, timing)
    }

    fn race(&self, all: &[&(dyn Execute + 'static)], budget: Duration) -> Result<Vec<f64>, Error> {
        race(&own::<Self>(all)?, budget)
    }
}

/// The buffers of one run.
pub(crate) struct Set<B> {
    pub input: [Option<B>; 2],
    pub output: [Option<B>; 2],
    pub filter: Option<B>,
}

impl<B> Set<B> {
    /// Buffers with numbers in them to measure with.
    fn noisy<W: Bindable<Buffer = B>>(work: &W, problem: &Problem) -> Result<Self, Error> {
        let noise = |bytes: [u64; 2], storage| -> Result<[Option<B>; 2], Error> {
            let plane = |plane: usize| measure::noise(bytes[plane], storage, "processor");
            work.planes([&plane(0)?, &plane(1)?], bytes, true)
        };
        let [from, to] = problem.stored();
        let factors = span::filter_bytes(problem)?;
        let numbers = measure::noise(factors, Storage::of(problem.precision), "processor")?;
        let [filter, _] = work.planes([&numbers, &[]], [factors, 0], true)?;
        let input = noise(span::read_bytes(problem)?, from)?;
        Ok(Self { filter, input, output: noise(span::written_bytes(problem)?, to)? })
    }
}

/// Runs on the computer's memory.
fn run<W: Bindable>(work: &W, job: HostJob<'_>) -> Result<(), Error> {
    let problem = job.part.map_or(&work.compiled().problem, |part| &part.problem);
    let dense = span::output(problem)?.dense;
    let in_place = problem.placement == Placement::InPlace;
    let bytes = span::written_bytes(problem)?;
    let input = match job.input {
        Some(host) => work.planes(host, span::read_bytes(problem)?, true)?,
        None => [None, None],
    };
    // Elements between those that are written come back too: they must be what they were.
    let output = work.planes([&*job.output[0], &*job.output[1]], bytes, in_place || !dense)?;
    let [filter, _] = work.planes([job.filter, &[]], [span::filter_bytes(problem)?, 0], true)?;
    let set = Set { input, output, filter };
    let bound = work.bind_set(&set, job.part)?;
    work.submit(std::iter::once(&bound))?;
    for ((target, source), bytes) in job.output.into_iter().zip(&set.output).zip(bytes) {
        if let Some(source) = source {
            work.download(source, &mut target[..bytes as usize])?;
        }
    }
    Ok(())
}

/// Seconds of that many runs handed over at once, on the sets of buffers in turn.
fn submitted<W: Bindable>(work: &W, repeats: u32, bound: &[W::Bound], turns: &Turns) -> Result<f64, Error> {
    measure::clock(1, || {
        work.submit((0..repeats).map(|_| &bound[turns.next() as usize]))?;
        work.wait()
    })
}

/// Bytes of cache that a measurement has to exceed.
fn cache(limits: &Limits) -> u64 {
    CACHE_BYTES.max(limits.l2_bytes)
}

/// Times several programs of one problem against each other.
fn race<W: Bindable>(works: &[&W], budget: Duration) -> Result<Vec<f64>, Error> {
    let Some(&first) = works.first() else { return Ok(Vec::new()) };
    let problem = &first.compiled().problem;
    let turns = Turns::new(measure::bytes(problem), cache(first.limits()), MOST_SETS);
    let sets = (0..turns.sets).map(|_| Set::noisy(first, problem)).collect::<Result<Vec<_>, _>>()?;
    let timed = |&work: &&'_ W| -> Result<Timed<'_>, Error> {
        let bound = sets.iter().map(|set| work.bind_set(set, None)).collect::<Result<Vec<_>, Error>>()?;
        let turns = &turns;
        Ok(Box::new(move |repeats| submitted(first, repeats, &bound, turns)))
    };
    measure::race(works.iter().map(timed).collect::<Result<_, _>>()?, budget)
}

/// Times a program against the fastest plain copy of its data.
fn measure<W: Bindable>(work: &W, timing: Timing) -> Result<Measurement, Error> {
    let problem = &work.compiled().problem;
    let bytes = measure::bytes(problem);
    let turns = Turns::of(timing, bytes, cache(work.limits()), MOST_SETS);
    let timed = |bound: Vec<W::Bound>| -> Timed<'_> {
        let turns = &turns;
        Box::new(move |repeats| submitted(work, repeats, &bound, turns))
    };
    let own = (0..turns.sets).map(|_| work.bind_set(&Set::noisy(work, problem)?, None));
    let own: Vec<W::Bound> = own.collect::<Result<_, Error>>()?;
    let mut copied: Vec<Set<W::Buffer>> = Vec::new();
    let mut copies = Vec::new();
    for (name, program) in copy::programs(bytes / 2, work.limits())? {
        let data = program.problem.clone();
        let copy = work.sibling(program)?;
        // All copies work on the same buffers.
        while (copied.len() as u64) < turns.sets {
            copied.push(Set::noisy(&copy, &data)?);
        }
        let bound = copied.iter().map(|set| copy.bind_set(set, None)).collect::<Result<_, Error>>()?;
        copies.push((name, timed(bound)));
    }
    let transform = timed(own);
    Contest { copies, transform, bytes, buffer_sets: turns.sets, on_device: false }.run(timing.budget)
}

/// The parts of the workspace that a program's bindings use, first byte and end; parts that overlap are one. Each is a
/// buffer of its own: some interfaces refuse one that is read and written by one launch, even in different parts.
pub(crate) fn regions(program: &Program) -> Vec<(u64, u64)> {
    let bindings = program.launches.iter().flat_map(|launch| &launch.bindings);
    let mut parts: Vec<(u64, u64)> = bindings
        .filter_map(|&binding| match binding {
            Binding::Workspace { offset, bytes } if bytes > 0 => Some((offset, offset + bytes)),
            _ => None,
        })
        .collect();
    parts.sort_unstable();
    let mut merged: Vec<(u64, u64)> = Vec::new();
    for (start, end) in parts {
        match merged.last_mut() {
            Some(last) if start < last.1 => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    merged
}
