//! Parts of a problem in lanes: each has a stream, and room for a part on the device. Within a lane one part follows the
//! other; between lanes uploads, kernels and downloads overlap, for which the device has engines of their own.

use std::sync::{Arc, Mutex, PoisonError};

use super::host_copy::copy;
use super::memory::Stream;
use super::pinned::Pinned;
use super::work::{Buffers, CudaWork};
use crate::device::backend::{HostJob, HostMemory, Lanes};
use crate::error::Error;
use crate::pipeline::Work;
use crate::span;

/// Lanes at most: one part goes there, one is computed, one comes back.
const MOST: u64 = 3;
/// Bytes that the link moves in the time that a part costs beside its own: 6 microseconds at 55 GB a second.
const START: f64 = 330e3;
/// A part at least and at most; beyond, it gains nothing and takes memory.
const PART: (u64, u64) = (256 << 10, 64 << 20);

/// Bytes of a part of so many. Of p parts, the way of one there and back is not hidden, and each has its start: the sum
/// is least where both are equal.
pub(super) fn part_bytes(total: u64) -> u64 {
    ((total as f64 * START).sqrt() as u64).clamp(PART.0, PART.1)
}

/// The lanes of a pipeline.
pub(super) struct CudaLanes {
    work: Arc<CudaWork>,
    /// Whether the caller's bytes between those that are written have to go there and back.
    gaps: bool,
    lanes: Mutex<Vec<Lane>>,
}

struct Lane {
    queue: Queue,
    /// Input and output on their way, where the caller's memory is not pinned; there from the first such run on.
    staged: Option<[[Pinned; 2]; 2]>,
}

/// A lane on the device.
struct Queue {
    stream: Stream,
    buffers: Buffers,
}

impl CudaLanes {
    /// Room for so many parts.
    pub fn new(work: Arc<CudaWork>, parts: u64) -> Result<Self, Error> {
        let lane = |_| -> Result<Lane, Error> {
            let queue = Queue { stream: work.context.stream()?, buffers: work.buffers_of(&work.problem)? };
            Ok(Lane { queue, staged: None })
        };
        let lanes = (0..parts.clamp(1, MOST)).map(lane).collect::<Result<_, _>>()?;
        let gaps = !span::output(&work.problem)?.dense;
        Ok(Self { work, gaps, lanes: Mutex::new(lanes) })
    }

    /// Whether all planes of these parts lie in pinned memory.
    fn are_pinned(&self, jobs: &[HostJob<'_>]) -> bool {
        let (Some(first), Some(last)) = (jobs.first(), jobs.last()) else { return true };
        let pinned = |from: &[u8], to: &[u8]| {
            let end = to.as_ptr_range().end as usize;
            let bytes = end.wrapping_sub(from.as_ptr() as usize);
            from.is_empty() || self.work.context.is_pinned(from.as_ptr(), bytes)
        };
        let inputs = first.input.iter().flatten().zip(last.input.iter().flatten());
        let mut outputs = first.output.iter().zip(&last.output);
        inputs.into_iter().all(|(from, to)| pinned(from, to)) && outputs.all(|(from, to)| pinned(from, to))
    }

    /// Enqueues one part.
    ///
    /// # Safety
    ///
    /// The slices are not used otherwise, and stay, until the lane's stream is synchronised.
    unsafe fn enqueue(
        &self,
        lane: &Queue,
        input: Option<[&[u8]; 2]>,
        output: [&mut [u8]; 2],
        count: Option<u32>,
        work: Work,
    ) -> Result<(), Error> {
        for (source, target) in input.iter().flatten().zip(&lane.buffers.input) {
            lane.stream.upload(target, source)?;
        }
        if input.is_none() || self.gaps {
            for (source, target) in output.iter().zip(&lane.buffers.output) {
                lane.stream.upload(target, source)?;
            }
        }
        if work == Work::Transform {
            // SAFETY: the stream is this context's; the buffers were allocated for this program and live as long as the
            // lane, which is synchronised before it goes.
            unsafe { self.work.enqueue_part(lane.stream.raw(), lane.buffers.pointers(), count)? };
        }
        for (target, source) in output.into_iter().zip(&lane.buffers.output) {
            // SAFETY: by this function's contract.
            unsafe { lane.stream.enqueue_download(target, source, 0)? };
        }
        Ok(())
    }

    /// Between the device and the caller's arrays, which are pinned.
    fn direct(&self, lanes: &[Lane], jobs: Vec<HostJob<'_>>, work: Work) -> Result<(), Error> {
        for (job, lane) in jobs.into_iter().zip(lanes.iter().cycle()) {
            let count = job.part.map(|part| part.count);
            // SAFETY: the caller of `run` keeps the arrays borrowed until it returns, and it waits for all streams.
            unsafe { self.enqueue(&lane.queue, job.input, job.output, count, work)? };
        }
        Ok(())
    }

    /// Pinned memory for input and output of a part.
    fn staging(&self) -> Result<[[Pinned; 2]; 2], Error> {
        let side = |bytes: [u64; 2]| -> Result<[Pinned; 2], Error> {
            Ok([Pinned::new(&self.work.context, bytes[0])?, Pinned::new(&self.work.context, bytes[1])?])
        };
        let problem = &self.work.problem;
        Ok([side(span::read_bytes(problem)?)?, side(span::written_bytes(problem)?)?])
    }

    /// Through the lanes' own pinned memory.
    fn staged(&self, lanes: &mut [Lane], jobs: Vec<HostJob<'_>>, work: Work) -> Result<(), Error> {
        // Outputs that are on their way, by lane.
        let mut awaited: Vec<Option<[&mut [u8]; 2]>> = lanes.iter().map(|_| None).collect();
        for (index, job) in jobs.into_iter().enumerate() {
            let at = index % lanes.len();
            let lane = &mut lanes[at];
            land(lane, awaited[at].take())?;
            let [input, output] = match &mut lane.staged {
                Some(there) => there,
                none => none.insert(self.staging()?),
            };
            for (source, target) in job.input.iter().flatten().zip(input.iter_mut()) {
                copy(source, &mut target.bytes_mut()[..source.len()]);
            }
            if job.input.is_none() || self.gaps {
                for (source, target) in job.output.iter().zip(output.iter_mut()) {
                    copy(source, &mut target.bytes_mut()[..source.len()]);
                }
            }
            let there =
                job.input.map(|planes| [0, 1].map(|plane| &input[plane].bytes()[..planes[plane].len()]));
            let [re, im] = output;
            let lengths = [job.output[0].len(), job.output[1].len()];
            let back = [&mut re.bytes_mut()[..lengths[0]], &mut im.bytes_mut()[..lengths[1]]];
            let count = job.part.map(|part| part.count);
            // SAFETY: the staged memory is the lane's, where nothing touches it before `land` has synchronised the stream, and
            // is freed after that.
            unsafe { self.enqueue(&lane.queue, there, back, count, work)? };
            awaited[at] = Some(job.output);
        }
        lanes.iter_mut().zip(awaited).try_for_each(|(lane, output)| land(lane, output))
    }
}

/// Waits for a lane, and hands what came back to the caller.
fn land(lane: &mut Lane, output: Option<[&mut [u8]; 2]>) -> Result<(), Error> {
    let (Some(output), Some([_, staged])) = (output, &lane.staged) else { return Ok(()) };
    lane.queue.stream.synchronize()?;
    for (target, source) in output.into_iter().zip(staged) {
        copy(&source.bytes()[..target.len()], target);
    }
    Ok(())
}

impl Lanes for CudaLanes {
    fn run(&self, jobs: Vec<HostJob<'_>>, work: Work) -> Result<(), Error> {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        let result = if self.are_pinned(&jobs) {
            self.direct(&lanes, jobs, work)
        } else {
            self.staged(&mut lanes, jobs, work)
        };
        // Whatever failed: no work may be left that uses the caller's arrays.
        let drained = lanes.iter().map(|lane| lane.queue.stream.synchronize()).fold(Ok(()), Result::and);
        result.and(drained)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_grow_as_the_root_of_the_whole() {
        assert_eq!(part_bytes(0), 256 << 10);
        assert_eq!(part_bytes(1 << 50), 64 << 20);
        let ratio = part_bytes(400_000_000) as f64 / part_bytes(100_000_000) as f64;
        assert!((ratio - 2.0).abs() < 1e-6, "{ratio}");
    }
}
