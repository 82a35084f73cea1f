//! A program against plain copies, on sets of buffers that together exceed the cache.

use std::sync::Arc;
use std::time::Duration;

use warpfft_core::problem::Precision;

use super::context::Context;
use super::memory::{DeviceBuffer, Stream};
use super::work::{CudaWork, Pointers};
use crate::copy;
use crate::error::Error;
use crate::measure::{self, Contest, Measurement, Timed, Turns};

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
    fn fill(&self, stream: &Stream, double: bool) -> Result<(), Error> {
        const PIECE: u64 = 32 << 20;
        let bytes = self.buffer.bytes();
        let piece = measure::noise(PIECE.min(bytes), double, "processor")?;
        let mut at = 0;
        while at < bytes {
            let length = PIECE.min(bytes - at);
            stream.upload_at(&self.buffer, at, &piece[..length as usize])?;
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

    fn pointers(&self, set: u64, workspace: &DeviceBuffer) -> Pointers {
        Pointers {
            input: [self.input[0].address(set), self.input[1].address(set)],
            output: [self.output[0].address(set), self.output[1].address(set)],
            workspace: workspace.address(),
        }
    }
}

/// Times a program against the fastest plain copy of its data.
pub(super) fn measure(work: &CudaWork, budget: Duration) -> Result<Measurement, Error> {
    let (context, problem) = (&work.context, &work.compiled().problem);
    let bytes = measure::bytes(problem);
    let turns = Turns::new(bytes, context.limits.l2_bytes, u64::MAX);
    let stream = context.stream()?;
    let workspace = context.alloc(work.compiled().workspace_bytes)?;
    let sets = Sets::new(context, work.spans()?, turns.sets)?;
    let half = copy::rounded(bytes / 2);
    let copied = Sets::new(context, [[half, 0], [half, 0]], turns.sets)?;
    let double = problem.precision == Precision::F64;
    // In place and again and again, values grow without bounds; the time of an operation does not depend on them.
    for plane in sets.input.iter().chain(&sets.output).chain(&copied.input[..1]) {
        plane.fill(&stream, double)?;
    }
    let copies = copy::programs(half, &context.limits)?;
    let loaded = copies.into_iter().map(|(name, program)| Ok((name, CudaWork::load(context, program)?)));
    let loaded = loaded.collect::<Result<Vec<_>, Error>>()?;
    let job = Job { context, stream: &stream, turns: &turns, workspace: &workspace };
    let mut copies: Vec<_> = loaded.iter().map(|(name, copy)| (*name, job.enqueued(copy, &copied))).collect();
    copies.push(("driver", job.by_driver(&copied, half)));
    let transform = job.enqueued(work, &sets);
    let result = Contest { copies, transform, bytes, buffer_sets: turns.sets, on_device: true }.run(budget);
    // Whatever failed: no work may be left that uses the buffers, which are freed now.
    let drained = stream.synchronize();
    result.and_then(|measured| drained.map(|()| measured))
}

/// What all that is timed shares.
#[derive(Clone, Copy)]
struct Job<'a> {
    context: &'a Context,
    stream: &'a Stream,
    turns: &'a Turns,
    workspace: &'a DeviceBuffer,
}

impl<'a> Job<'a> {
    /// A program on the sets in turn.
    fn enqueued(self, work: &'a CudaWork, sets: &'a Sets) -> Timed<'a> {
        self.timed(move || {
            let pointers = sets.pointers(self.turns.next(), self.workspace);
            // SAFETY: the stream is this context's; every set holds what the work spans, the workspace too, and
            // all outlive the timing, which waits.
            unsafe { work.enqueue(self.stream.raw(), pointers) }
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
