//! Problems of which memory does not hold every point, or has reals on a complex side: points are gathered into arrays of
//! our own, all of them, transformed there, and those that are wanted scattered from there.

use std::borrow::Cow;
use std::sync::Arc;

use num_complex::Complex;
use rayon::prelude::*;
use warpfft_core::error::Side;
use warpfft_core::problem::{Blocks, Dim, Direction, Format, Growth, Placement, Problem, Window};
use warpfft_core::program::Program;

use super::plan::CpuPlan;
use super::timing;
use super::view::View;
use super::{CpuReal, growth};
use crate::device::backend::{Execute, HostJob};
use crate::error::Error;
use crate::measure::{Measurement, Timing};
#[cfg(feature = "peers")]
use crate::peers::PeerReport;
use crate::room;

/// Points of our own arrays at once, unless one transform or one in place has more.
const POINTS: u64 = 1 << 21;

/// A problem as plain transforms of packed arrays, with what gathers and scatters around them.
pub(super) struct Around<T> {
    problem: Problem,
    /// Points along each dimension of one array.
    lengths: Vec<u64>,
    /// The blocks of each dimension, where it goes by them: each is an array.
    blocks: Option<Vec<Blocks>>,
    /// So many arrays in place.
    plan: CpuPlan<T>,
    together: u64,
    /// The way back from the frequencies, and where the factor of each of them lies, where they are multiplied.
    back: Option<(CpuPlan<T>, Vec<isize>)>,
    make: Make<T>,
}

/// Makes the plan of a plain problem.
pub(super) type Make<T> = Arc<dyn Fn(&Problem) -> Result<CpuPlan<T>, Error> + Send + Sync>;

/// The plain problem of so many packed arrays of these lengths in place.
fn packed(problem: &Problem, lengths: &[u64], together: u64) -> Problem {
    let mut stride = 1;
    let mut dims: Vec<Dim> = Vec::new();
    for &n in lengths.iter().rev() {
        dims.insert(0, Dim::new(n, stride, stride));
        stride *= n as i64;
    }
    Problem {
        transform: dims,
        batch: vec![Dim::new(together, stride, stride)],
        input_offset: 0,
        output_offset: 0,
        input: Format::Interleaved,
        output: Format::Interleaved,
        placement: Placement::InPlace,
        max_workspace: None,
        windows: Vec::new(),
        filter: None,
        ..problem.clone()
    }
}

/// Blocks of one transform: 1 where it goes whole.
fn blocks_of_one(blocks: Option<&[Blocks]>) -> u64 {
    blocks.unwrap_or_default().iter().map(|own| own.count).product()
}

/// What each of a list makes with each index below `n`, which is the faster: as many as the list's times `n`.
fn crossed<A: Copy>(all: &[A], n: u64, with: impl Fn(A, u64) -> A) -> Result<Vec<A>, Error> {
    let mut crossed = room::list((all.len() as u64).saturating_mul(n), "processor")?;
    for &one in all {
        crossed.extend((0..n).map(|i| with(one, i)));
    }
    Ok(crossed)
}

impl<T: CpuReal> Around<T> {
    /// `make` gives the plan of a plain problem.
    pub fn new(problem: &Problem, make: Make<T>) -> Result<Self, Error> {
        // What each index reads and writes is taken on trust below.
        let problem = problem.clone().validated()?;
        let blocks = problem.blocks();
        let lengths: Vec<u64> = match &blocks {
            Some(blocks) => blocks.iter().map(|own| own.points).collect(),
            None => problem.transform.iter().map(|dim| dim.n).collect(),
        };
        let points = lengths.iter().product::<u64>();
        let count = problem.batch_count() * blocks_of_one(blocks.as_deref());
        // What one transform writes in place another may have still to read.
        let in_place = problem.placement == Placement::InPlace;
        let together = if in_place { count } else { (POINTS / points).clamp(1, count) };
        let there = packed(&problem, &lengths, together);
        let Some(filter) = &problem.filter else {
            return Ok(Self { plan: make(&there)?, problem, lengths, blocks, together, back: None, make });
        };
        // The factor follows the product, on the way back.
        let plan = make(&Problem { scale: 1.0, ..there.clone() })?;
        let back = make(&Problem { direction: Direction::Inverse, ..there })?;
        let mut factors = vec![0];
        for (&n, &stride) in lengths.iter().zip(&filter.transform) {
            factors = crossed(&factors, n, |at: isize, k| at + k as isize * stride as isize)?;
        }
        Ok(Self { problem, plan, lengths, blocks, together, back: Some((back, factors)), make })
    }

    /// The element of each of a side's points of a block of the first transform, and the point's place in our array.
    fn places(&self, side: Side, block: u64) -> Result<Vec<(isize, usize)>, Error> {
        let problem = &self.problem;
        let numbers = self.numbers(block);
        let mut all = vec![(0, 0)];
        for (d, dim) in problem.transform.iter().enumerate() {
            let stride = if side == Side::Input { dim.is } else { dim.os } as isize;
            let n = self.lengths[d] as usize;
            // Of each point that memory holds, its index there and its number in our array.
            let mut along: Vec<(isize, usize)>;
            match &self.blocks {
                Some(blocks) => {
                    let own = blocks[d];
                    let begin = (numbers[d] * own.kept) as i64;
                    let (before, points, held) = match side {
                        Side::Input => (own.before, 0..own.points, own.held[0]),
                        _ => (own.from, own.from..own.from + own.kept, own.held[1]),
                    };
                    let at = |point: u64| (begin + point as i64 - before as i64, point as usize);
                    along = room::list(points.end - points.start, "processor")?;
                    let inside = points.map(at).filter(|(at, _)| (0..held as i64).contains(at));
                    along.extend(inside.map(|(at, point)| (at as isize, point)));
                }
                None => {
                    let window: Window = problem.window(d, side);
                    along = room::list(window.len, "processor")?;
                    along.extend((0..window.len).map(|i| (i as isize, window.point(i, dim.n) as usize)));
                }
            }
            all = crossed(&all, along.len() as u64, |(element, place), i| {
                let (at, point) = along[i as usize];
                (element + at * stride, place * n + point)
            })?;
        }
        Ok(all)
    }

    /// The number along each dimension of a block.
    fn numbers(&self, mut block: u64) -> Vec<u64> {
        let mut numbers = vec![0; self.lengths.len()];
        for (number, own) in numbers.iter_mut().zip(self.blocks.as_deref().unwrap_or_default()).rev() {
            (*number, block) = (block % own.count, block / own.count);
        }
        numbers
    }

    /// Where a transform begins in the input, in the output, and in the filter.
    fn begins(&self, mut index: u64) -> [isize; 3] {
        let problem = &self.problem;
        let filter = problem.filter.as_ref();
        let mut at = [problem.input_offset, problem.output_offset, filter.map_or(0, |filter| filter.offset)]
            .map(|start| start as isize);
        for (d, dim) in problem.batch.iter().enumerate().rev() {
            let i = (index % dim.n) as isize;
            let strides = [dim.is, dim.os, filter.map_or(0, |filter| filter.batch[d])];
            at.iter_mut().zip(strides).for_each(|(at, stride)| *at += i * stride as isize);
            index /= dim.n;
        }
        at
    }

    fn transform(&self, plan: &CpuPlan<T>, array: &mut [Complex<T>]) -> Result<(), Error> {
        let output = [bytemuck::cast_slice_mut(array), &mut []];
        plan.run(HostJob { input: None, filter: &[], output, part: None })
    }

    fn array(&self) -> Result<Vec<Complex<T>>, Error> {
        let elements = self.lengths.iter().product::<u64>().saturating_mul(self.together);
        room::zeros(elements, "processor")
    }
}

impl<T: CpuReal> Execute for Around<T> {
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
        if let Some(part) = job.part {
            let part = Self::new(&part.problem, Arc::clone(&self.make))?;
            return part.run(HostJob { part: None, ..job });
        }
        let [read, written] = self.problem.stored();
        let output = View::<T>::writing(job.output, self.problem.output, written);
        let input = match job.input {
            Some(planes) => View::reading(planes, self.problem.input, read),
            None => output.seen_as(self.problem.input),
        };
        // Where there is none, nothing says how its emptiness is aligned.
        let filters: &[Complex<T>] =
            if job.filter.is_empty() { &[] } else { bytemuck::cast_slice(job.filter) };
        let mut array = self.array()?;
        let each = blocks_of_one(self.blocks.as_deref());
        let (points, count) =
            (self.lengths.iter().product::<u64>() as usize, self.problem.batch_count() * each);
        // Where all arrays are alike, they have the same places.
        let mut alike = [Vec::new(), Vec::new()];
        if each == 1 {
            alike = [self.places(Side::Input, 0)?, self.places(Side::Output, 0)?];
        }
        let places = |side: Side, item: u64| {
            let known = &alike[usize::from(side == Side::Output)];
            if each == 1 {
                return Ok::<_, Error>(Cow::Borrowed(&known[..]));
            }
            Ok(Cow::Owned(self.places(side, item % each)?))
        };
        for first in (0..count).step_by(self.together as usize) {
            let own = (count - first).min(self.together) as usize;
            let items = array[..own * points].par_chunks_exact_mut(points).enumerate();
            items.try_for_each(|(item, array)| {
                let item = first + item as u64;
                let [start, ..] = self.begins(item / each);
                array.fill(Complex::default());
                for &(element, place) in &*places(Side::Input, item)? {
                    // SAFETY: the problem has been validated and the caller has checked that the arrays hold what it
                    // spans; nothing writes the input meanwhile.
                    array[place] = unsafe { input.get_any(start + element) };
                }
                Ok::<(), Error>(())
            })?;
            self.transform(&self.plan, &mut array)?;
            if let Some((back, factors)) = &self.back {
                let items = array[..own * points].par_chunks_exact_mut(points).enumerate();
                items.for_each(|(item, array)| {
                    let start = self.begins((first + item as u64) / each)[2];
                    let filter = self.problem.filter.as_ref();
                    let conjugate = filter.is_some_and(|filter| filter.conjugate);
                    for (x, factor) in array.iter_mut().zip(factors) {
                        let w = filters[(start + factor) as usize];
                        *x = *x * if conjugate { w.conj() } else { w };
                    }
                });
                self.transform(back, &mut array)?;
            }
            let items = array[..own * points].par_chunks_exact(points).enumerate();
            items.try_for_each(|(item, array)| {
                let item = first + item as u64;
                let [_, start, _] = self.begins(item / each);
                for &(element, place) in &*places(Side::Output, item)? {
                    // SAFETY: as above; no two indices of a validated problem share an element of the output.
                    unsafe { output.set_any(start + element, array[place]) };
                }
                Ok::<(), Error>(())
            })?;
        }
        Ok(())
    }
}
