//! A plan on the processor against plain copies, on sets of arrays that together exceed the caches.

use std::cell::RefCell;
use std::time::Duration;

use rayon::prelude::*;
use warpfft_core::problem::{Placement, Problem, Storage};

use super::CpuReal;
use crate::device::backend::{Execute, HostJob};
use crate::error::Error;
use crate::measure::{self, Contest, Measurement, Timed, Timing, Turns};
#[cfg(feature = "peers")]
use crate::peers::fftw::{self, FftwPlan};
#[cfg(feature = "peers")]
use crate::peers::{PeerReport, PeerTime};
use crate::{room, span};

/// A copy by all threads.
fn copy(from: &[u8], to: &mut [u8]) {
    let share = from.len().div_ceil(rayon::current_num_threads()).next_multiple_of(64).max(1 << 14);
    to.par_chunks_mut(share).zip(from.par_chunks(share)).for_each(|(to, from)| to.copy_from_slice(from));
}

/// Numbers to measure with, of so many bytes as they are kept, in whole numbers of the computed type.
fn noise<T: CpuReal>(bytes: u64, storage: Storage) -> Result<Vec<T>, Error> {
    let noise = measure::noise(bytes.next_multiple_of(size_of::<T>() as u64), storage, "processor")?;
    let mut numbers = room::zeros::<T>((noise.len() / size_of::<T>()) as u64, "processor")?;
    bytemuck::cast_slice_mut(&mut numbers).copy_from_slice(&noise);
    Ok(numbers)
}

/// Last-level cache that measurements assume, since nothing portable tells.
const CACHE_BYTES: u64 = 32 << 20;

/// Sets of host arrays, one after the other in one allocation.
struct Sets<T> {
    data: Vec<T>,
    /// Bytes of each.
    bytes: usize,
    stride: usize,
}

/// Sets start at multiples of this many bytes from the first, so that all are aligned alike.
const ALIGNMENT: u64 = 64;

impl<T: CpuReal> Sets<T> {
    fn new(bytes: u64, storage: Storage, sets: u64) -> Result<Self, Error> {
        let stride = bytes.next_multiple_of(ALIGNMENT);
        let data = noise(stride.saturating_mul(sets), storage)?;
        Ok(Self { data, bytes: bytes as usize, stride: stride as usize / size_of::<T>() })
    }

    fn get(&self, set: u64) -> &[u8] {
        &bytemuck::cast_slice(&self.data[set as usize * self.stride..])[..self.bytes]
    }

    fn get_mut(&mut self, set: u64) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.data[set as usize * self.stride..])[..self.bytes]
    }
}

/// What a plan is measured on.
struct Bench<'a, T: CpuReal> {
    plan: &'a dyn Execute,
    #[cfg(feature = "peers")]
    problem: &'a Problem,
    bytes: u64,
    turns: Turns,
    in_place: bool,
    input: [Sets<T>; 2],
    output: [Sets<T>; 2],
    /// One for all sets: in use it is where the run before left it.
    filter: Vec<T>,
}

/// Times copies and transforms on as many sets of arrays.
pub(super) fn measure<T: CpuReal>(
    plan: &dyn Execute,
    problem: &Problem,
    timing: Timing,
) -> Result<Measurement, Error> {
    Bench::<T>::new(plan, problem, timing)?.contest(timing.budget)
}

/// As [`measure`], and then the same for FFTW.
#[cfg(feature = "peers")]
pub(super) fn beside_peers<T: CpuReal>(
    plan: &dyn Execute,
    problem: &Problem,
    timing: Timing,
) -> Result<(Measurement, Vec<PeerReport>), Error> {
    let (mut bench, budget) = (Bench::<T>::new(plan, problem, timing)?, timing.budget);
    let measured = bench.contest(budget * 2 / 3)?;
    let times = bench.fftw(budget / 3).map(|time| vec![time]);
    Ok((measured, vec![PeerReport { library: fftw::NAME, times }]))
}

impl<'a, T: CpuReal> Bench<'a, T> {
    fn new(plan: &'a dyn Execute, problem: &'a Problem, timing: Timing) -> Result<Self, Error> {
        let (read, write) = (span::read_bytes(problem)?, span::written_bytes(problem)?);
        let in_place = problem.placement == Placement::InPlace;
        let bytes = measure::bytes(problem);
        let turns = Turns::of(timing, bytes, CACHE_BYTES, u64::MAX);
        let sets = |planes: [u64; 2], storage| {
            let plane = |bytes| Sets::<T>::new(bytes, storage, turns.sets);
            Ok::<_, Error>([plane(planes[0])?, plane(planes[1])?])
        };
        let [from, to] = problem.stored();
        let (input, output) = (sets(if in_place { [0, 0] } else { read }, from)?, sets(write, to)?);
        let filter = noise(span::filter_bytes(problem)?, Storage::of(problem.precision))?;
        Ok(Self {
            plan,
            #[cfg(feature = "peers")]
            problem,
            bytes,
            turns,
            in_place,
            input,
            output,
            filter,
        })
    }

    fn contest(&mut self, budget: Duration) -> Result<Measurement, Error> {
        let Self { plan, bytes, turns, in_place, input, output, filter, .. } = self;
        let filter: &[u8] = bytemuck::cast_slice(filter);
        let (bytes, in_place, turns) = (*bytes, *in_place, &*turns);
        let source = Sets::<T>::new(bytes / 2, T::STORAGE, turns.sets)?;
        let target = RefCell::new(Sets::<T>::new(bytes / 2, T::STORAGE, turns.sets)?);
        let copier = |copy: fn(&[u8], &mut [u8])| -> Timed<'_> {
            let (source, target) = (&source, &target);
            Box::new(move |repeats| {
                measure::clock(repeats, || {
                    let set = turns.next();
                    copy(source.get(set), target.borrow_mut().get_mut(set));
                    Ok(())
                })
            })
        };
        let copies =
            vec![("all threads", copier(copy)), ("one thread", copier(|from, to| to.copy_from_slice(from)))];
        let transform: Timed<'_> = Box::new(|repeats| {
            measure::clock(repeats, || {
                let set = turns.next();
                let planes = input.each_ref().map(|plane| plane.get(set));
                let output = output.each_mut().map(|plane| plane.get_mut(set));
                plan.run(HostJob { input: (!in_place).then_some(planes), filter, output, part: None })
            })
        });
        Contest { copies, transform, bytes, buffer_sets: turns.sets, on_device: false }.run(budget)
    }

    #[cfg(feature = "peers")]
    fn fftw(&mut self, budget: Duration) -> Result<PeerTime, Error> {
        // Planning overwrites its arrays: not those that are measured on.
        let trial = |like: &Sets<T>| noise::<T>((like.stride * size_of::<T>()) as u64, T::STORAGE);
        let mut trial = [trial(&self.input[0])?, trial(&self.output[0])?];
        let [input, output] = &mut trial;
        let target = output.as_mut_ptr().cast();
        let source = if self.in_place { target } else { input.as_mut_ptr().cast() };
        // SAFETY: both arrays hold what the problem spans, in the precision T.
        let plan = unsafe { FftwPlan::new(self.problem, source, target)? };
        let Self { turns, in_place, input, output, .. } = self;
        let timed: Timed<'_> = Box::new(|repeats| {
            measure::clock(repeats, || {
                let set = turns.next();
                let target = output[0].get_mut(set).as_mut_ptr().cast();
                let source = if *in_place { target } else { input[0].get_mut(set).as_mut_ptr().cast() };
                // SAFETY: each set holds what the problem spans, in the precision T, and nothing else uses it now.
                unsafe { plan.execute(source, target) }
            })
        });
        let seconds = measure::alone(timed, budget)?;
        Ok(PeerTime { setting: "measure", seconds, plan_seconds: plan.plan_seconds, workspace_bytes: 0 })
    }
}
