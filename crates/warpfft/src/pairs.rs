//! Double-single arithmetic for callers who have `f64`: devices hold pairs of `f32` in the same bytes. What is kept in another
//! type is so on both.

use rayon::prelude::*;
use warpfft_core::math::double_single::{join, split};
use warpfft_core::problem::{Placement, Problem, Storage};

use crate::device::backend::{Execute, HostJob};
use crate::error::{Error, Which};
use crate::{room, span};

/// Runs on pairs what is handed over as `f64`. Bytes between and behind what the problem writes stay as they are.
pub(crate) fn run(work: &dyn Execute, problem: &Problem, job: HostJob<'_>) -> Result<(), Error> {
    let problem = job.part.map_or(problem, |part| &part.problem);
    let [reads, writes] = problem.stored().map(|kept| kept == Storage::F64);
    let paired = |side: bool, bytes: [u64; 2]| if side { bytes } else { [0, 0] };
    let read = paired(reads, span::read_bytes(problem)?);
    let written = paired(writes, span::written_bytes(problem)?);
    let sum = |bytes: [u64; 2]| bytes[0].saturating_add(bytes[1]);
    let dense = span::output(problem)?.dense && problem.placement == Placement::OutOfPlace;
    let kept = if dense { [0, 0] } else { written };
    let filter = [job.filter.len() as u64, 0];
    let all = [read, written, kept, filter].map(sum);
    room::ask(all.into_iter().fold(0, u64::saturating_add), "processor")?;
    let input = job.input.filter(|_| reads).map(|planes| Pairs::of(planes, read)).transpose()?;
    let shared = [&*job.output[0], &*job.output[1]];
    let before = Pairs::of(shared, kept)?;
    match (&input, job.input) {
        (Some(pairs), Some(planes)) => pairs.in_range(planes, problem, Which::Input)?,
        (None, Some(_)) => {}
        (_, None) => before.in_range(shared, problem, Which::Output)?,
    }
    let factors = Pairs::of([job.filter, &[]], filter)?;
    if let Some(at) = factors.beyond([job.filter, &[]], 0) {
        let value = real([job.filter, &[]], 0, at);
        return Err(Error::Range { which: Which::Filter, plane: 0, element: at as u64 / 2, value });
    }
    let mut after = if dense { Pairs::zeros(written)? } else { before.clone() };
    let filter = factors.bytes()[0];
    let input = input.as_ref().map(Pairs::bytes).or(job.input);
    if !writes {
        return work.run(HostJob { input, filter, output: job.output, part: job.part });
    }
    work.run(HostJob { input, filter, output: after.bytes_mut(), part: job.part })?;
    let planes = job.output.into_iter().zip(&after.0).zip(&before.0);
    for ((plane, after), before) in planes.filter(|((_, after), _)| !after.is_empty()) {
        let reals: &mut [f64] = bytemuck::cast_slice_mut(&mut plane[..8 * after.len()]);
        let bits = |pair: &[f32; 2]| pair.map(f32::to_bits);
        reals.par_iter_mut().zip(after).enumerate().for_each(|(at, (real, pair))| {
            if before.get(at).is_none_or(|before| bits(before) != bits(pair)) {
                *real = join(*pair);
            }
        });
    }
    Ok(())
}

/// A number of a plane.
fn real(planes: [&[u8]; 2], plane: usize, at: usize) -> f64 {
    bytemuck::pod_read_unaligned(&planes[plane][8 * at..8 * at + 8])
}

/// What two planes hold, as pairs.
#[derive(Clone)]
struct Pairs([Vec<[f32; 2]>; 2]);

impl Pairs {
    fn zeros(bytes: [u64; 2]) -> Result<Self, Error> {
        let plane = |bytes: u64| {
            let full = |_| Error::OutOfMemory { device: "processor".into(), bytes, free: None };
            let mut pairs: Vec<[f32; 2]> = Vec::new();
            pairs.try_reserve_exact((bytes / 8) as usize).map_err(full)?;
            pairs.resize((bytes / 8) as usize, [0.0; 2]);
            Ok::<_, Error>(pairs)
        };
        Ok(Self([plane(bytes[0])?, plane(bytes[1])?]))
    }

    /// So many bytes of each plane.
    fn of(planes: [&[u8]; 2], bytes: [u64; 2]) -> Result<Self, Error> {
        let mut all = Self::zeros(bytes)?;
        // A plane that is not there has no address that numbers could have.
        for (pairs, plane) in all.0.iter_mut().zip(planes).filter(|(pairs, _)| !pairs.is_empty()) {
            let reals: &[f64] = bytemuck::cast_slice(&plane[..8 * pairs.len()]);
            pairs.par_iter_mut().zip(reals).for_each(|(pair, &real)| *pair = split(real));
        }
        Ok(all)
    }

    /// Whether a finite number is none as a pair.
    fn is_beyond(&self, planes: [&[u8]; 2], plane: usize, at: usize) -> bool {
        self.0[plane].get(at).is_some_and(|pair| !pair[0].is_finite()) && real(planes, plane, at).is_finite()
    }

    /// Such a number of a plane.
    fn beyond(&self, planes: [&[u8]; 2], plane: usize) -> Option<usize> {
        (0..self.0[plane].len()).into_par_iter().find_first(|&at| self.is_beyond(planes, plane, at))
    }

    /// Refuses finite numbers that pairs cannot hold where the problem reads them.
    fn in_range(&self, planes: [&[u8]; 2], problem: &Problem, which: Which) -> Result<(), Error> {
        if self.beyond(planes, 0).is_none() && self.beyond(planes, 1).is_none() {
            return Ok(());
        }
        let step = problem.input.step() as usize;
        for element in problem.reads() {
            for (plane, part) in (0..2).flat_map(|plane| (0..step).map(move |part| (plane, part))) {
                let at = element as usize * step + part;
                if self.is_beyond(planes, plane, at) {
                    let value = real(planes, plane, at);
                    return Err(Error::Range { which, plane: plane as u8, element, value });
                }
            }
        }
        Ok(())
    }

    fn bytes(&self) -> [&[u8]; 2] {
        self.0.each_ref().map(|pairs| bytemuck::cast_slice(pairs))
    }

    fn bytes_mut(&mut self) -> [&mut [u8]; 2] {
        self.0.each_mut().map(|pairs| bytemuck::cast_slice_mut(pairs))
    }
}
