//! Double-single arithmetic for callers who have `f64`: devices hold pairs of `f32` in the same bytes.

use rayon::prelude::*;
use warpfft_core::math::double_single::{join, split};
use warpfft_core::problem::{Placement, Problem};

use crate::device::backend::{Execute, HostJob};
use crate::error::{Error, Which};
use crate::{room, span};

/// Runs on pairs what is handed over as `f64`. Bytes between and behind what the problem writes stay as they are.
pub(crate) fn run(work: &dyn Execute, problem: &Problem, job: HostJob<'_>) -> Result<(), Error> {
    let (read, written) = (span::read_bytes(problem)?, span::written_bytes(problem)?);
    let sum = |bytes: [u64; 2]| bytes[0].saturating_add(bytes[1]);
    let dense = span::output(problem)?.dense && problem.placement == Placement::OutOfPlace;
    let kept = if dense { [0, 0] } else { written };
    room::ask(sum(read).saturating_add(sum(written)).saturating_add(sum(kept)), "processor")?;
    let input = job.input.map(|planes| Pairs::of(planes, read)).transpose()?;
    let shared = [&*job.output[0], &*job.output[1]];
    let before = Pairs::of(shared, kept)?;
    match (&input, job.input) {
        (Some(pairs), Some(planes)) => pairs.in_range(planes, problem, Which::Input)?,
        _ => before.in_range(shared, problem, Which::Output)?,
    }
    let mut after = if dense { Pairs::zeros(written)? } else { before.clone() };
    work.run(HostJob { input: input.as_ref().map(Pairs::bytes), output: after.bytes_mut() })?;
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

    /// Refuses finite numbers that pairs cannot hold where the problem reads them.
    fn in_range(&self, planes: [&[u8]; 2], problem: &Problem, which: Which) -> Result<(), Error> {
        let real =
            |plane: usize, at: usize| bytemuck::cast_slice::<u8, f64>(&planes[plane][8 * at..8 * at + 8])[0];
        let beyond = |plane: usize, at: usize| {
            self.0[plane].get(at).is_some_and(|pair| !pair[0].is_finite()) && real(plane, at).is_finite()
        };
        let any = |plane: usize| (0..self.0[plane].len()).into_par_iter().any(|at| beyond(plane, at));
        if !any(0) && !any(1) {
            return Ok(());
        }
        let step = problem.input.step() as usize;
        for element in problem.reads() {
            for (plane, part) in (0..2).flat_map(|plane| (0..step).map(move |part| (plane, part))) {
                let at = element as usize * step + part;
                if beyond(plane, at) {
                    return Err(Error::Range { which, plane: plane as u8, element, value: real(plane, at) });
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
