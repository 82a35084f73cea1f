//! A program against plain copies, on sets of buffers that together exceed the cache.

use std::time::Duration;

use warpfft_core::problem::{Problem, Storage};

use super::Gpu;
use super::bound::{Bound, WgpuBuffers};
use super::work::WgpuWork;
use crate::copy;
use crate::error::Error;
use crate::measure::{self, Contest, Measurement, Timed, Timing, Turns};
use crate::span;

/// Cache that measurements assume, since no interface tells.
const CACHE_BYTES: u64 = 32 << 20;
/// Sets of buffers in a measurement at most: each has bindings of its own.
const MOST_SETS: u64 = 32;

/// Input and output of one set.
struct Set {
    input: [Option<wgpu::Buffer>; 2],
    output: [Option<wgpu::Buffer>; 2],
    filter: Option<wgpu::Buffer>,
}

impl Set {
    /// Buffers for a work, with numbers in them to measure with.
    fn new(work: &WgpuWork, problem: &Problem) -> Result<Self, Error> {
        let read = span::read_bytes(problem)?;
        let written = work.written()?;
        let noise = |bytes: [u64; 2], storage| -> Result<[Option<wgpu::Buffer>; 2], Error> {
            let plane = |plane: usize| measure::noise(bytes[plane], storage, "processor");
            work.planes([&plane(0)?, &plane(1)?], bytes, true)
        };
        let [from, to] = problem.stored();
        let factors = span::filter_bytes(problem)?;
        let numbers = measure::noise(factors, Storage::of(problem.precision), "processor")?;
        let [filter, _] = work.planes([&numbers, &[]], [factors, 0], true)?;
        Ok(Self { filter, input: noise(read, from)?, output: noise(written, to)? })
    }

    fn bind(&self, work: &WgpuWork) -> Result<Bound, Error> {
        fn from_start(planes: &[Option<wgpu::Buffer>; 2]) -> [Option<(&wgpu::Buffer, u64)>; 2] {
            planes.each_ref().map(|plane| plane.as_ref().map(|buffer| (buffer, 0)))
        }
        let filter = self.filter.as_ref().map(|buffer| (buffer, 0));
        work.bind(&WgpuBuffers { input: from_start(&self.input), output: from_start(&self.output), filter })
    }
}

/// Seconds of that many runs in one submission, on the sets of buffers in turn.
fn submitted(gpu: &Gpu, repeats: u32, bound: &[Bound], turns: &Turns) -> Result<f64, Error> {
    measure::clock(1, || {
        gpu.guarded(0, || {
            let about = wgpu::CommandEncoderDescriptor::default();
            let mut encoder = gpu.device.create_command_encoder(&about);
            (0..repeats).for_each(|_| bound[turns.next() as usize].encode(&mut encoder));
            gpu.queue.submit([encoder.finish()]);
        })?;
        gpu.wait()
    })
}

/// Times several programs of one problem against each other.
pub(super) fn race(works: &[&WgpuWork], budget: Duration) -> Result<Vec<f64>, Error> {
    let Some(&first) = works.first() else { return Ok(Vec::new()) };
    let (gpu, problem) = (first.gpu(), &first.compiled().problem);
    let turns = Turns::new(measure::bytes(problem), CACHE_BYTES.max(gpu.limits.l2_bytes), MOST_SETS);
    let sets = (0..turns.sets).map(|_| Set::new(first, problem)).collect::<Result<Vec<_>, _>>()?;
    let timed = |&work: &&WgpuWork| -> Result<Timed<'_>, Error> {
        let bound: Vec<Bound> = sets.iter().map(|set| set.bind(work)).collect::<Result<_, Error>>()?;
        let turns = &turns;
        Ok(Box::new(move |repeats| submitted(gpu, repeats, &bound, turns)))
    };
    measure::race(works.iter().map(timed).collect::<Result<_, _>>()?, budget)
}

/// Times a program against the fastest plain copy of its data.
pub(super) fn measure(work: &WgpuWork, timing: Timing) -> Result<Measurement, Error> {
    let gpu = work.gpu();
    let problem = &work.compiled().problem;
    let bytes = measure::bytes(problem);
    let turns = Turns::of(timing, bytes, CACHE_BYTES.max(gpu.limits.l2_bytes), MOST_SETS);
    let timed = |bound: Vec<Bound>| -> Timed<'_> {
        let turns = &turns;
        Box::new(move |repeats| submitted(gpu, repeats, &bound, turns))
    };
    let own: Vec<Bound> =
        (0..turns.sets).map(|_| Set::new(work, problem)?.bind(work)).collect::<Result<_, Error>>()?;
    let mut copied: Vec<Set> = Vec::new();
    let mut copies = Vec::new();
    for (name, program) in copy::programs(bytes / 2, &gpu.limits)? {
        let data = program.problem.clone();
        let copy = WgpuWork::load(gpu, program)?;
        // All copies work on the same buffers.
        while (copied.len() as u64) < turns.sets {
            copied.push(Set::new(&copy, &data)?);
        }
        let bound = copied.iter().map(|set| set.bind(&copy)).collect::<Result<_, Error>>()?;
        copies.push((name, timed(bound)));
    }
    let transform = timed(own);
    Contest { copies, transform, bytes, buffer_sets: turns.sets, on_device: false }.run(timing.budget)
}
