//! A plan on the processor against plain copies, on sets of arrays that together exceed the caches.

use std::cell::RefCell;
use std::time::Duration;

use rayon::prelude::*;
use warpfft_core::problem::Placement;

use super::CpuReal;
use super::lines::CpuPlan;
use crate::device::backend::{Execute, HostJob};
use crate::error::Error;
use crate::measure::{self, Contest, Measurement, Timed, Turns};
use crate::span;

/// A copy by all threads.
fn copy<T: CpuReal>(from: &[T], to: &mut [T]) {
    let share = from.len().div_ceil(rayon::current_num_threads()).max(4096);
    to.par_chunks_mut(share).zip(from.par_chunks(share)).for_each(|(to, from)| to.copy_from_slice(from));
}

/// Numbers to measure with.
fn noise<T: CpuReal>(bytes: u64) -> Result<Vec<T>, Error> {
    let noise = measure::noise(bytes, size_of::<T>() == 8, "processor")?;
    Ok(bytemuck::pod_collect_to_vec(&noise))
}

/// Last-level cache that measurements assume, since nothing portable tells.
const CACHE_BYTES: u64 = 32 << 20;

/// Sets of host arrays, one after the other in one allocation.
struct Sets<T> {
    data: Vec<T>,
    each: usize,
}

impl<T: CpuReal> Sets<T> {
    fn new(bytes: u64, sets: u64) -> Result<Self, Error> {
        let each = bytes as usize / size_of::<T>();
        Ok(Self { data: noise(bytes.saturating_mul(sets))?, each })
    }

    fn get(&self, set: u64) -> &[T] {
        &self.data[set as usize * self.each..][..self.each]
    }

    fn get_mut(&mut self, set: u64) -> &mut [T] {
        &mut self.data[set as usize * self.each..][..self.each]
    }
}

/// Times copies and transforms on as many sets of arrays.
pub(super) fn measure<T: CpuReal>(plan: &CpuPlan<T>, budget: Duration) -> Result<Measurement, Error> {
    let problem = plan.problem();
    let read = span::plane_bytes(problem, problem.input, span::input(problem)?);
    let mut write = span::plane_bytes(problem, problem.output, span::output(problem)?);
    let in_place = problem.placement == Placement::InPlace;
    if in_place {
        write = [write[0].max(read[0]), write[1].max(read[1])];
    }
    let bytes = measure::bytes(problem);
    let turns = Turns::new(bytes, CACHE_BYTES, u64::MAX);
    let sets = |planes: [u64; 2]| {
        Ok::<_, Error>([Sets::<T>::new(planes[0], turns.sets)?, Sets::new(planes[1], turns.sets)?])
    };
    let (input, mut output) = (sets(if in_place { [0, 0] } else { read })?, sets(write)?);
    let source = Sets::<T>::new(bytes / 2, turns.sets)?;
    let target = RefCell::new(Sets::<T>::new(bytes / 2, turns.sets)?);
    let copier = |copy: fn(&[T], &mut [T])| -> Timed<'_> {
        let (source, target, turns) = (&source, &target, &turns);
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
            let planes = input.each_ref().map(|plane| bytemuck::cast_slice(plane.get(set)));
            let output = output.each_mut().map(|plane| bytemuck::cast_slice_mut(plane.get_mut(set)));
            plan.run(HostJob { input: (!in_place).then_some(planes), output })
        })
    });
    Contest { copies, transform, bytes, buffer_sets: turns.sets, on_device: false }.run(budget)
}
