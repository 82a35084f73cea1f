//! A plan's check of itself: random data through the plan and through the reference.

pub(crate) mod numbers;

use std::marker::PhantomData;

use half::{bf16, f16};
use rayon::prelude::*;
use warpfft_core::math::factor;
use warpfft_core::math::reference::Reference;
use warpfft_core::problem::{Format, Kind, Placement, Problem, Storage};

use crate::error::Error;
use crate::host::{Planes, PlanesMut};
use crate::plan::Plan;
use crate::{room, span};
use numbers::{Numbers, Sample};

/// Points whose transforms are compared at most, unless the first and the last alone have more.
const POINTS: u64 = 1 << 20;
/// Transforms of more points are compared one after the other, for the memory that each takes.
const TOGETHER: u64 = 1 << 16;
/// Reals behind what the problem spans, which no plan may touch. Even, so that they are pairs too.
const BEYOND: u64 = 16;

/// What [`Plan::verify`] found.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Verification {
    /// Relative error in the Euclidean norm, over all transforms that were compared. Where few of their numbers are wanted,
    /// which may cancel, it is relative to as many by the mean of all ([`Reference::transform_with_size`]).
    pub error: f64,
    /// What it may be: [`Plan::error_bound`].
    pub bound: f64,
    /// What the data was made from: [`Plan::verify_with`] repeats it.
    pub seed: u64,
    /// Transforms that were compared.
    pub checked: u64,
    /// Transforms that were run.
    pub transforms: u64,
}

impl Verification {
    /// Whether the error is within the bound. An error that is not a number is not.
    pub fn holds(&self) -> bool {
        self.error <= self.bound
    }
}

impl std::fmt::Display for Verification {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { error, bound, seed, checked, transforms } = self;
        let verdict = if self.holds() { "within" } else { "beyond" };
        write!(
            f,
            "error {error:.2e}, {verdict} {bound:.2e}; {checked} of {transforms} transforms, seed {seed}"
        )
    }
}

impl Plan {
    /// What the relative error in the Euclidean norm may be, for data that is like random numbers: it follows from the
    /// problem and, on the processor, from the libraries that compute there. See [`Problem::error_bound`].
    pub fn error_bound(&self) -> f64 {
        self.problem().error_bound_by(self.growth())
    }

    /// Runs the plan on random data, in its own format, layout and placement, and compares what comes out with the
    /// reference in double-double precision; makes sure that it wrote nothing else.
    ///
    /// Arrays of the plan's size are allocated on the host, and all transforms run. Of many, those of some 2^20 points
    /// are compared: the first, the last, and others by chance. The reference takes microseconds a point, so that a
    /// long transform, which is compared as a whole, takes as many seconds as it has millions of points, or a few
    /// times that.
    ///
    /// ```
    /// use warpfft::Device;
    /// use warpfft::core::request::Fft;
    ///
    /// let problem = Fft::new([100]).r2c().batch(50).build()?;
    /// let plan = Device::cpu().plan(&problem)?;
    /// let found = plan.verify()?;
    /// assert!(found.holds(), "{found}");
    /// // The same data once more.
    /// assert_eq!(plan.verify_with(found.seed)?, found);
    /// # Ok::<(), warpfft::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// There is not the memory, or the device failed; [`Error::Stray`] where an element was written that is not the
    /// problem's to write. That the error is beyond the bound is no `Err`: ask [`Verification::holds`].
    pub fn verify(&self) -> Result<Verification, Error> {
        self.verify_with(numbers::fresh_seed())
    }

    /// [`Plan::verify`] on the data of that seed, the same on every machine.
    ///
    /// # Errors
    ///
    /// As [`Plan::verify`].
    pub fn verify_with(&self, seed: u64) -> Result<Verification, Error> {
        let [input, output] = self.problem().stored();
        match input {
            Storage::F16 => self.verify_from::<f16>(output, seed),
            Storage::Bf16 => self.verify_from::<bf16>(output, seed),
            Storage::F32 => self.verify_from::<f32>(output, seed),
            Storage::F64 => self.verify_from::<f64>(output, seed),
        }
    }

    fn verify_from<T: Sample>(&self, output: Storage, seed: u64) -> Result<Verification, Error> {
        match output {
            Storage::F16 => Check::<T, f16>::new(self, seed)?.verification(),
            Storage::Bf16 => Check::<T, bf16>::new(self, seed)?.verification(),
            Storage::F32 => Check::<T, f32>::new(self, seed)?.verification(),
            Storage::F64 => Check::<T, f64>::new(self, seed)?.verification(),
        }
    }
}

/// One verification, from numbers of one type to numbers of another: what the plan wrote. What lay there and in the
/// input before is known by the seed.
struct Check<'a, T, U> {
    plan: &'a Plan,
    seed: u64,
    after: [Vec<U>; 2],
    read: PhantomData<T>,
}

impl<'a, T: Sample, U: Sample> Check<'a, T, U> {
    /// Runs the plan.
    fn new(plan: &'a Plan, seed: u64) -> Result<Self, Error> {
        let problem = plan.problem();
        if problem.filter.is_some() {
            return Err(Error::Filter { expected: true });
        }
        let (read, written) = (span::read_bytes(problem)?, span::written_bytes(problem)?);
        let arrays: u64 = read.iter().chain(&written).fold(0, |sum, &bytes| sum.saturating_add(bytes));
        room::ask(arrays.saturating_add(reference_bytes(problem)), "processor")?;
        let input = array::<T>(seed, INPUT, read)?;
        let mut after = array::<U>(seed, OUTPUT, written)?;
        match problem.placement {
            Placement::InPlace => plan.run_in_place(planes_mut(problem.output, &mut after))?,
            Placement::OutOfPlace => {
                plan.run_mixed(planes(problem.input, &input), planes_mut(problem.output, &mut after))?;
            }
        }
        Ok(Self { plan, seed, after, read: PhantomData })
    }

    fn verification(&self) -> Result<Verification, Error> {
        self.untouched()?;
        let transforms = self.plan.problem().batch_count();
        let chosen = self.chosen();
        Ok(Verification {
            error: self.error(&chosen),
            bound: self.plan.error_bound(),
            seed: self.seed,
            checked: chosen.len() as u64,
            transforms,
        })
    }

    /// Transforms of the batch to compare, rising.
    fn chosen(&self) -> Vec<u64> {
        let problem = self.plan.problem();
        let (all, most) = (problem.batch_count(), (POINTS / problem.points()).max(2));
        if all <= most {
            return (0..all).collect();
        }
        // One from each of as many parts of what lies between the first and the last.
        let (between, parts) = (u128::from(all - 2), most - 2);
        let chance = Numbers::new(self.seed, CHOICE, 0);
        let start = |part: u64| 1 + (between * u128::from(part) / u128::from(parts)) as u64;
        let one = |part: u64| start(part) + chance.bits(part) % (start(part + 1) - start(part));
        std::iter::once(0).chain((0..parts).map(one)).chain([all - 1]).collect()
    }

    /// The relative error over some of the transforms.
    fn error(&self, chosen: &[u64]) -> f64 {
        let problem = self.plan.problem();
        let reference = Reference::new(problem);
        let array = if problem.placement == Placement::InPlace { OUTPUT } else { INPUT };
        let numbers = [0, 1].map(|plane| Numbers::new(self.seed, array, plane));
        let element = |format, element, real: &dyn Fn(usize, u64) -> f64| {
            let mut parts = places(format, element).map(|(plane, at)| real(plane, at));
            num_complex::Complex::new(parts.next().unwrap_or(0.0), parts.next().unwrap_or(0.0))
        };
        // Squares of numbers that a scale has made huge or tiny would not be finite, or zero.
        let unit = if problem.scale == 0.0 { 1.0 } else { problem.scale.abs().recip() };
        let squares = |&index: &u64| {
            let read = |at| element(problem.input, at, &|plane, at| numbers[plane].real::<T>(at).into());
            let (written, size) = reference.transform_with_size(index, read);
            let mut sums = (0.0, 0.0, size * unit * unit);
            for (at, wanted) in written {
                let got = element(problem.output, at, &|plane, at| self.after[plane][at as usize].into());
                sums.0 += ((got - wanted) * unit).norm_sqr();
                sums.1 += (wanted * unit).norm_sqr();
            }
            sums
        };
        // Added up in one order, whatever the threads do: the same seed gives the same error.
        let each: Vec<(f64, f64, f64)> = if problem.points() > TOGETHER {
            chosen.iter().map(squares).collect()
        } else {
            chosen.par_iter().map(squares).collect()
        };
        let added =
            |sum: (f64, f64, f64), one: &(f64, f64, f64)| (sum.0 + one.0, sum.1 + one.1, sum.2 + one.2);
        let (wrong, size, expected) = each.iter().fold((0.0, 0.0, 0.0), added);
        if wrong == 0.0 { 0.0 } else { (wrong / size.max(expected)).sqrt() }
    }

    /// Whether all that is not the problem's to write is as it was.
    fn untouched(&self) -> Result<(), Error> {
        let problem = self.plan.problem();
        let own = Own::of(problem, [self.after[0].len(), self.after[1].len()])?;
        for (plane, after) in self.after.iter().enumerate() {
            let before = Numbers::new(self.seed, OUTPUT, plane);
            let stray = |&at: &u64| {
                let (before, after) = (before.real::<U>(at), after[at as usize]);
                !own.has(plane, at) && bytemuck::bytes_of(&before) != bytemuck::bytes_of(&after)
            };
            if let Some(at) = (0..after.len() as u64).into_par_iter().find_first(stray) {
                let step = problem.output.step();
                let unit = if step == 2 { "complex element" } else { "real" };
                let inside = self.plan.output_elements();
                return Err(Error::Stray { plane: plane as u8, unit, element: at / step, inside });
            }
        }
        Ok(())
    }
}

/// Numbers for each plane of an array, and some behind it.
fn array<T: Sample>(seed: u64, which: usize, bytes: [u64; 2]) -> Result<[Vec<T>; 2], Error> {
    let reals = |bytes: u64| if bytes == 0 { 0 } else { bytes / size_of::<T>() as u64 + BEYOND };
    let plane = |plane: usize| Numbers::new(seed, which, plane).vec(reals(bytes[plane]));
    Ok([plane(0)?, plane(1)?])
}

/// Which array numbers are for.
const INPUT: usize = 0;
const OUTPUT: usize = 1;
const CHOICE: usize = 2;

/// The reals of the output that a problem may change.
enum Own {
    /// All below.
    Below(u64),
    /// A bit for each real of each plane.
    Bits([Vec<u64>; 2]),
}

impl Own {
    fn of(problem: &Problem, reals: [usize; 2]) -> Result<Self, Error> {
        let span = span::output(problem)?;
        if span.dense && problem.placement == Placement::OutOfPlace {
            return Ok(Self::Below(span.elements * problem.output.step()));
        }
        let mut bits = [numbers::zeros(reals[0].div_ceil(64))?, numbers::zeros(reals[1].div_ceil(64))?];
        let mut mark = |(plane, at): (usize, u64)| bits[plane][at as usize / 64] |= 1_u64 << (at % 64);
        problem.writes().for_each(|at| places(problem.output, at).for_each(&mut mark));
        // What pads rows of reals has held complex numbers, or will, and may hold anything.
        if problem.placement == Placement::InPlace {
            problem.reads().for_each(|at| places(problem.input, at).for_each(&mut mark));
        }
        Ok(Self::Bits(bits))
    }

    fn has(&self, plane: usize, at: u64) -> bool {
        match self {
            Self::Below(end) => at < *end,
            Self::Bits(bits) => bits[plane][at as usize / 64] >> (at % 64) & 1 == 1,
        }
    }
}

/// Where the parts of an element lie: plane, and real of that plane.
fn places(format: Format, element: u64) -> impl Iterator<Item = (usize, u64)> {
    let (first, second) = match format {
        Format::Interleaved => ((0, 2 * element), Some((0, 2 * element + 1))),
        Format::Planar => ((0, element), Some((1, element))),
        Format::Real | Format::Apart(_) => ((0, element), None),
    };
    std::iter::once(first).chain(second)
}

fn planes<T: Sample>(format: Format, [first, second]: &[Vec<T>; 2]) -> Planes<'_, T> {
    match format {
        Format::Interleaved => Planes::Interleaved(bytemuck::cast_slice(first)),
        Format::Planar => Planes::Planar(first, second),
        Format::Real | Format::Apart(_) => Planes::Real(first),
    }
}

fn planes_mut<T: Sample>(format: Format, [first, second]: &mut [Vec<T>; 2]) -> PlanesMut<'_, T> {
    match format {
        Format::Interleaved => PlanesMut::Interleaved(bytemuck::cast_slice_mut(first)),
        Format::Planar => PlanesMut::Planar(first, second),
        Format::Real | Format::Apart(_) => PlanesMut::Real(first),
    }
}

/// About what the reference takes at once.
fn reference_bytes(problem: &Problem) -> u64 {
    let own = problem.kind.dims().map(|(dim, _)| dim.n);
    let mut lengths = problem.transform.iter().map(|dim| dim.n).chain(own);
    let convolved = lengths.any(|n| factor::factorise(n).iter().any(|&(prime, _)| prime > 31));
    // Convolutions are of four times as many points at most; real lines may be continued to twice as many.
    let point = if convolved { 1280 } else { 256 };
    let point = match problem.kind {
        Kind::RealToReal(_) => 2 * point,
        // A convolution of samples and points together.
        Kind::Zoom(zoom) => 1280 * (1 + zoom.band.points / zoom.band.samples.max(1)),
        _ => point,
    };
    let together = if problem.points() > TOGETHER { 1 } else { rayon::current_num_threads() as u64 };
    problem.points().saturating_mul(point).saturating_mul(together)
}
