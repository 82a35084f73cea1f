//! A program against plain copies, on sets of buffers that together exceed the cache.

use std::sync::Arc;
use std::time::Duration;

use warpfft_core::problem::Storage;
#[cfg(feature = "peers")]
use warpfft_core::problem::{Kind, Placement, Problem};

use super::context::Context;
use super::launch::Pointers;
use super::memory::{DeviceBuffer, Stream};
use super::work::CudaWork;
use crate::copy;
use crate::error::Error;
use crate::measure::{self, Contest, Measurement, Timed, Timing, Turns};
#[cfg(feature = "peers")]
use crate::peers::cufft::{self, CufftPlan};
#[cfg(feature = "peers")]
use crate::peers::{PeerReport, PeerTime};
use crate::span;

/// Where the sets start within their buffers: what the driver's own allocations are aligned to.
const ALIGNMENT: u64 = 256;

/// One plane of every set, one after the other in one buffer.
struct Plane {
    buffer: DeviceBuffer,
    stride: u64,
}

impl Plane {
    fn new(context: &Arc<Context>, bytes: u64, sets: u64) -> Result<Self, Error> {
        let stride = bytes.next_multiple_of(ALIGNMENT);
        Ok(Self { buffer: context.alloc(stride.saturating_mul(sets))?, stride })
    }

    fn address(&self, set: u64) -> u64 {
        self.buffer.address() + set * self.stride
    }

    /// Fills it with numbers to measure with, the same ones again and again.
    fn fill(&self, stream: &Stream, storage: Storage) -> Result<(), Error> {
        const PIECE: u64 = 32 << 20;
        let bytes = self.buffer.bytes();
        let piece = measure::noise(PIECE.min(bytes), storage, "processor")?;
        stream.upload(&self.buffer, &piece)?;
        let mut at = piece.len() as u64;
        while at < bytes {
            let length = at.min(bytes - at);
            stream.repeat(&self.buffer, at, length)?;
            at += length;
        }
        Ok(())
    }
}

/// Input and output of every set.
struct Sets {
    input: [Plane; 2],
    output: [Plane; 2],
}

impl Sets {
    fn new(context: &Arc<Context>, spans: [[u64; 2]; 2], sets: u64) -> Result<Self, Error> {
        let plane = |bytes| Plane::new(context, bytes, sets);
        let [read, write] = spans;
        Ok(Self { input: [plane(read[0])?, plane(read[1])?], output: [plane(write[0])?, plane(write[1])?] })
    }

    fn pointers(&self, set: u64, [workspace, filter]: [&DeviceBuffer; 2]) -> Pointers {
        Pointers {
            input: [self.input[0].address(set), self.input[1].address(set)],
            output: [self.output[0].address(set), self.output[1].address(set)],
            filter: filter.address(),
            workspace: workspace.address(),
        }
    }
}

/// Times a program against the fastest plain copy of its data.
pub(super) fn measure(work: &CudaWork, timing: Timing) -> Result<Measurement, Error> {
    Bench::new(work, timing)?.beside_copies(work, timing.budget)
}

/// As [`measure`], and then the same for cuFFT.
#[cfg(feature = "peers")]
pub(super) fn beside_peers(work: &CudaWork, timing: Timing) -> Result<(Measurement, Vec<PeerReport>), Error> {
    let (bench, budget) = (Bench::new(work, timing)?, timing.budget);
    let measured = bench.beside_copies(work, budget * 2 / 3)?;
    let times = bench.drained(bench.cufft(&work.problem, budget / 3));
    Ok((measured, vec![PeerReport { library: cufft::NAME, times }]))
}

/// Times several programs of one problem against each other. What fits in half of the cache stays there, as in a program that goes on
/// with what it has just made.
pub(super) fn race(works: &[&CudaWork], budget: Duration) -> Result<Vec<f64>, Error> {
    let Some(largest) = works.iter().max_by_key(|work| work.workspace_bytes) else { return Ok(Vec::new()) };
    let in_cache = measure::bytes(&largest.problem) <= largest.context.limits.l2_bytes / 2;
    let bench = Bench::new(largest, Timing { budget, in_cache })?;
    let job = bench.job();
    let works = works.iter().map(|work| job.enqueued(work, &bench.sets)).collect();
    bench.drained(measure::race(works, budget))
}

/// Memory and a stream to measure on.
struct Bench<'a> {
    context: &'a Arc<Context>,
    turns: Turns,
    stream: Stream,
    workspace: DeviceBuffer,
    /// Factors of the frequencies, one array for all sets.
    filter: Plane,
    /// Memory of no bytes, for works that have no such factors.
    none: DeviceBuffer,
    /// What the transform works on.
    sets: Sets,
    /// What copies work on.
    copied: Sets,
    /// Bytes that a copy reads and writes.
    bytes: u64,
}

impl<'a> Bench<'a> {
    fn new(work: &'a CudaWork, timing: Timing) -> Result<Self, Error> {
        let (context, problem) = (&work.context, &work.problem);
        let bytes = measure::bytes(problem);
        let turns = Turns::of(timing, bytes, context.limits.l2_bytes, u64::MAX);
        let stream = context.stream()?;
        let workspace = context.alloc(work.workspace_bytes)?;
        let filter = Plane::new(context, span::filter_bytes(problem)?, 1)?;
        let none = context.alloc(0)?;
        let sets = Sets::new(context, work.spans()?, turns.sets)?;
        let half = copy::rounded(bytes / 2);
        let copied = Sets::new(context, [[half, 0], [half, 0]], turns.sets)?;
        let [from, to] = problem.stored();
        // In place and again and again, values grow without bounds; the time of an operation does not depend on them.
        for plane in sets.input.iter().chain(&copied.input[..1]) {
            plane.fill(&stream, from)?;
        }
        for plane in &sets.output {
            plane.fill(&stream, to)?;
        }
        filter.fill(&stream, Storage::of(problem.precision))?;
        Ok(Self { context, turns, stream, workspace, filter, none, sets, copied, bytes })
    }

    /// What came of work, once all of it is done: whatever failed, none may be left that uses the buffers.
    fn drained<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        let drained = self.stream.synchronize();
        result.and_then(|value| drained.map(|()| value))
    }

    fn job(&self) -> Job<'_> {
        let Self { context, stream, turns, workspace, filter, none, .. } = self;
        Job { context, stream, turns, workspace, filter: &filter.buffer, none }
    }

    /// The transform beside the fastest copy, and what its launches take of the processor.
    fn beside_copies(&self, work: &CudaWork, budget: Duration) -> Result<Measurement, Error> {
        let measured = self.drained(self.contest(work, budget))?;
        let launch_seconds = Some(self.launching(work, measured.transform_seconds)?);
        Ok(Measurement { launch_seconds, ..measured })
    }

    /// Seconds that the processor takes to enqueue a run that takes the device that long: the median of a few rounds,
    /// each of few enough runs that none waits for room in the driver's queue.
    fn launching(&self, work: &CudaWork, run_seconds: f64) -> Result<f64, Error> {
        const ROUNDS: usize = 5;
        const ROUND_SECONDS: f64 = 1e-3;
        const MOST_RUNS: f64 = 100.0;
        let runs = (ROUND_SECONDS / run_seconds.max(1e-9)).clamp(1.0, MOST_RUNS) as u32;
        let mut enqueue = self.job().enqueue(work, &self.sets);
        let _current = self.context.current()?;
        let round = |_| {
            let taken = measure::clock(runs, &mut enqueue).map(|seconds| seconds / f64::from(runs));
            self.drained(taken)
        };
        let rounds = (0..ROUNDS).map(round).collect::<Result<Vec<_>, _>>()?;
        Ok(measure::best_and_median(rounds).1)
    }

    fn contest(&self, work: &CudaWork, budget: Duration) -> Result<Measurement, Error> {
        let half = copy::rounded(self.bytes / 2);
        let copies = copy::programs(half, &self.context.limits)?;
        let loaded =
            copies.into_iter().map(|(name, program)| Ok((name, CudaWork::load(self.context, program)?)));
        let loaded = loaded.collect::<Result<Vec<_>, Error>>()?;
        let job = self.job();
        let mut copies: Vec<_> =
            loaded.iter().map(|(name, copy)| (*name, job.launched(copy, &self.copied))).collect();
        copies.push(("driver", job.by_driver(&self.copied, half)));
        let transform = job.enqueued(work, &self.sets);
        let (bytes, buffer_sets) = (self.bytes, self.turns.sets);
        let result = Contest { copies, transform, bytes, buffer_sets, on_device: true }.run(budget);
        // Before the copies' kernels go.
        self.drained(result)
    }

    /// cuFFT at each of its settings that works, one plan after the other: they hold workspace of their own.
    #[cfg(feature = "peers")]
    fn cufft(&self, problem: &Problem, budget: Duration) -> Result<Vec<PeerTime>, Error> {
        const SETTINGS: [(&str, bool, bool); 3] =
            [("out of place", false, false), ("patient", false, true), ("in place", true, false)];
        let out_of_place = problem.placement == Placement::OutOfPlace;
        let settings = SETTINGS.iter().filter(|&&(_, in_place, _)| in_place || out_of_place);
        let (mut times, mut failed) = (Vec::new(), None);
        for &(setting, in_place, patient) in settings {
            match self.drained(self.cufft_at(problem, setting, in_place, patient, budget / 3)) {
                Ok(time) => times.push(time),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        match failed {
            Some(error) if times.is_empty() => Err(error),
            _ => Ok(times),
        }
    }

    #[cfg(feature = "peers")]
    fn cufft_at(
        &self,
        problem: &Problem,
        setting: &'static str,
        in_place: bool,
        patient: bool,
        budget: Duration,
    ) -> Result<PeerTime, Error> {
        let _current = self.context.current()?;
        let out_of_place = problem.placement == Placement::OutOfPlace;
        // SAFETY: the context is current until the plan is gone, and so is the stream there.
        let plan = unsafe { CufftPlan::new(problem, in_place, patient, self.stream.raw())? };
        let timed = self.job().timed(|| {
            let Pointers { input, output, .. } =
                self.sets.pointers(self.turns.next(), [&self.workspace, &self.none]);
            // In place: in the array of complex numbers, which is as large as the rows of reals are then.
            let [source, target] = match (in_place, &problem.kind) {
                (false, _) => [input, output],
                (true, Kind::ComplexToReal(_)) if out_of_place => [input; 2],
                (true, _) => [output; 2],
            };
            // SAFETY: the context is current; every set holds what the problem spans, and outlives the work, which
            // is waited for before this returns.
            unsafe { plan.enqueue(source[0], target[0]) }
        });
        let seconds = self.drained(measure::alone(timed, budget))?;
        let (plan_seconds, workspace_bytes) = (plan.plan_seconds, plan.workspace_bytes);
        Ok(PeerTime { setting, seconds, plan_seconds, workspace_bytes })
    }
}

/// What all that is timed shares.
#[derive(Clone, Copy)]
struct Job<'a> {
    context: &'a Context,
    stream: &'a Stream,
    turns: &'a Turns,
    workspace: &'a DeviceBuffer,
    filter: &'a DeviceBuffer,
    none: &'a DeviceBuffer,
}

impl<'a> Job<'a> {
    /// A program on the sets in turn.
    fn enqueued(self, work: &'a CudaWork, sets: &'a Sets) -> Timed<'a> {
        self.timed(self.enqueue(work, sets))
    }

    /// Enqueues a program on the next set; the context has to be current.
    fn enqueue(self, work: &'a CudaWork, sets: &'a Sets) -> impl FnMut() -> Result<(), Error> + 'a {
        move || {
            let filter = if work.problem.filter.is_some() { self.filter } else { self.none };
            let pointers = sets.pointers(self.turns.next(), [self.workspace, filter]);
            // SAFETY: the stream is this context's; every set holds what the work spans, the workspace too, and
            // all outlive the timing, which waits.
            unsafe { work.enqueue(self.stream.raw(), pointers) }
        }
    }

    /// A copy on the sets in turn, never replayed: it is what one launch takes, as whoever has no plan makes it.
    fn launched(self, copy: &'a CudaWork, sets: &'a Sets) -> Timed<'a> {
        self.timed(move || {
            let pointers = sets.pointers(self.turns.next(), [self.workspace, self.none]);
            // SAFETY: the stream is this context's; every set holds what is copied, and all outlive the timing, which waits.
            unsafe { copy.launch(self.stream.raw(), pointers) }
        })
    }

    /// The driver's own copy.
    fn by_driver(self, sets: &'a Sets, bytes: u64) -> Timed<'a> {
        self.timed(move || {
            let set = self.turns.next();
            let (from, to) = (&sets.input[0], &sets.output[0]);
            self.stream.copy_part(&to.buffer, &from.buffer, set * from.stride, bytes)
        })
    }

    fn timed(self, mut enqueue: impl FnMut() -> Result<(), Error> + 'a) -> Timed<'a> {
        Box::new(move |repeats| {
            let milliseconds = self.context.time_on_stream(self.stream, repeats, &mut enqueue)?;
            Ok(f64::from(milliseconds) * 1e-3 * f64::from(repeats))
        })
    }
}

#[cfg(all(test, feature = "peers"))]
mod tests {
    use bytemuck::{cast_slice, cast_slice_mut};
    use warpfft_core::problem::{Format, half};
    use warpfft_core::request::Fft;

    use super::*;
    use crate::Device;
    use crate::host::{Planes, PlanesMut};

    /// A problem by the processor.
    fn ours(problem: &Problem, input: &[f32]) -> Vec<f32> {
        let mut output = vec![0.0_f32; problem.output_bytes() as usize / 4];
        let from: Planes<f32> = match problem.input {
            Format::Real => Planes::Real(input),
            _ => Planes::Interleaved(cast_slice(input)),
        };
        let to: PlanesMut<f32> = match problem.output {
            Format::Real => PlanesMut::Real(&mut output),
            _ => PlanesMut::Interleaved(cast_slice_mut(&mut output)),
        };
        Device::cpu().plan(problem).expect("it has a plan").run_host(from, to).expect("it runs");
        output
    }

    /// The same by cuFFT, in rows as long as those of the longer side where it is in place.
    fn theirs(context: &Arc<Context>, problem: &Problem, in_place: bool, input: &[f32]) -> Vec<f32> {
        let n = problem.kind.dims().next().map_or(1, |(dim, _)| dim.n as usize);
        let packed = problem.kind.reals().map(|real| if real { n } else { 2 * half(n as u64) as usize });
        // Of complex transforms the row does not matter.
        let rows = if in_place { [2 * half(n as u64) as usize; 2] } else { packed };
        let count = input.len() / packed[0];
        let floats = count * rows[0].max(rows[1]);
        let mut padded = vec![0.0_f32; floats];
        for (to, from) in padded.chunks_mut(rows[0]).zip(input.chunks(packed[0])) {
            to[..from.len()].copy_from_slice(from);
        }
        let stream = context.stream().expect("a stream");
        let memory = || context.alloc(4 * floats as u64).expect("memory");
        let (from, to) = (memory(), memory());
        stream.upload(&from, cast_slice(&padded)).expect("it uploads");
        let target = if in_place { &from } else { &to };
        {
            let _current = context.current().expect("the context");
            // SAFETY: the context is current, and the stream outlives the plan.
            let plan = unsafe { CufftPlan::new(problem, in_place, false, stream.raw()) }.expect("it plans");
            // SAFETY: both arrays hold the problem, in rows as long as the plan has them, until the work is done.
            unsafe { plan.enqueue(from.address(), target.address()) }.expect("it runs");
            stream.synchronize().expect("it ends");
        }
        stream.download(cast_slice_mut(&mut padded), target).expect("it downloads");
        let rows = padded.chunks(rows[1]).take(count);
        rows.flat_map(|row| row[..packed[1]].iter().copied()).collect()
    }

    #[test]
    fn cufft_computes_what_we_do() {
        let Ok(device) = Device::cuda(0) else { return println!("skipped: no GPU for CUDA") };
        if let Err(error) = cufft::version() {
            return println!("skipped: {error}");
        }
        let any = device.plan(&Fft::new([8]).build().expect("it is possible")).expect("it has a plan");
        let context = any.cuda_context().expect("it is of CUDA");
        for lengths in [vec![7], vec![64], vec![9, 8], vec![6, 10, 15]] {
            let problem = |ask: fn(Fft) -> Fft| {
                ask(Fft::new(lengths.clone()).batch(3)).build().expect("it is possible")
            };
            let [complex, there, back] = [problem(|fft| fft), problem(Fft::r2c), problem(Fft::c2r)];
            let reals = |bytes: u64| (0..bytes / 4).map(|i| (i * 37 % 101) as f32 / 101.0 - 0.5);
            let signal: Vec<f32> = reals(there.input_bytes()).collect();
            let inputs = [reals(complex.input_bytes()).collect(), signal.clone(), ours(&there, &signal)];
            for (problem, input) in [complex, there, back].iter().zip(inputs) {
                let wanted = ours(problem, &input);
                for in_place in [false, true] {
                    let got = theirs(&context, problem, in_place, &input);
                    assert_eq!(got.len(), wanted.len());
                    let close = got.iter().zip(&wanted).all(|(a, b)| (a - b).abs() < 2e-3);
                    assert!(close, "in place {in_place}, {problem:?}: {got:?} {wanted:?}");
                }
            }
        }
    }
}
