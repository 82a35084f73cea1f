//! Passes that go over one portion of the problem after the other: all of them over one portion that stays in a core's own
//! cache, by one thread, while other threads have other portions. Planes and small volumes are portions of their batch, planes
//! are portions of a volume.

use std::ops::Range;

use warpfft_core::problem::Format;

use super::CpuReal;
use super::lines::{Array, Pass};
use super::memory::{Memory, Pool};
use super::share::share;
use super::split::Axis;
use super::view::View;
use crate::error::Error;

/// Bytes of a portion's results at most: with what it reads they fit, or nearly fit, a core's own cache.
const MOST: u64 = 1 << 21;
/// Bytes of a portion's results that are worth a task, where that leaves tasks enough.
const WORTH: u64 = 1 << 16;
/// Portions for each thread that are enough.
const TURNS: u64 = 8;

/// Steps that go portion by portion, and how many indices of each axis a portion has.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Portions {
    pub steps: Range<usize>,
    pub inside: Vec<u64>,
}

/// Divides steps, each along its axis, among groups of neighbours. Elements take so many bytes.
pub(super) fn divide(steps: &[Option<usize>], axes: &[Axis], bytes: u64, threads: u64) -> Vec<Portions> {
    let mut axes = axes.to_vec();
    let mut groups = Vec::new();
    let mut first = 0;
    while first < steps.len() {
        let together = (first + 2..=steps.len()).rev().find_map(|end| {
            let own = steps[first..end].iter().copied().collect::<Option<Vec<usize>>>()?;
            Some(Portions { steps: first..end, inside: inside(&own, &axes, bytes, threads)? })
        });
        let group = together.unwrap_or_else(|| Portions {
            steps: first..first + 1,
            inside: lengths(steps[first].as_slice(), &axes),
        });
        first = group.steps.end;
        steps[group.steps.clone()].iter().flatten().for_each(|&own| axes[own].pass());
        groups.push(group);
    }
    groups
}

/// Points of each axis: at most, where it is transformed.
pub(super) fn lengths(own: &[usize], axes: &[Axis]) -> Vec<u64> {
    let length = |(at, axis): (usize, &Axis)| if own.contains(&at) { axis.most() } else { axis.now() };
    axes.iter().enumerate().map(length).collect()
}

/// Indices of each axis in a portion that has these axes whole, where portions are small enough, and enough for all threads.
fn inside(own: &[usize], axes: &[Axis], bytes: u64, threads: u64) -> Option<Vec<u64>> {
    let mut inside = lengths(own, axes);
    let mut size = own.iter().fold(bytes, |size, &axis| size.saturating_mul(inside[axis]));
    let mut others: Vec<usize> = (0..axes.len()).filter(|axis| !own.contains(axis)).collect();
    let mut count = others.iter().map(|&axis| inside[axis]).product::<u64>();
    // A last round that leaves threads idle costs more than the cache brings.
    let rounds = count.div_ceil(threads);
    if size > MOST || rounds * threads > count + count / 4 {
        return None;
    }
    others.sort_by_key(|&axis| axes[axis].os.unsigned_abs());
    for axis in others {
        let n = inside[axis];
        let some = (WORTH / size).min(count / (TURNS * threads)).clamp(1, n);
        inside[axis] = some;
        // All further ones are outside: they find no room, and no portions to spare.
        size *= some;
        count /= some;
        if some < n {
            size = size.max(WORTH);
        }
    }
    Some(inside)
}

/// A dimension with a portion for each index.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outside {
    pub n: u64,
    /// From one portion to the next in the input, in the output and in the stage.
    pub strides: [i64; 3],
}

/// Passes over one portion after the other.
pub(super) struct Group<T> {
    /// Those of the first portion.
    pub passes: Vec<Pass<T>>,
    /// Empty where there is one portion: then all threads have each pass, unless they have stages of their own.
    pub outside: Vec<Outside>,
    /// Reals of the stage of one portion, where each thread has its own; else 0.
    pub own_stage: u64,
    pub stage_format: Format,
}

impl<T: CpuReal> Group<T> {
    /// Runs all passes; where a thread has no room for its lines, those that are left are not run.
    ///
    /// # Safety
    ///
    /// The views of input, output and stage hold all that the problem spans. With several threads, no two output indices
    /// share an address.
    pub unsafe fn run(&self, views: [View<T>; 3], threads: u64, pool: &Pool<T>) -> Result<(), Error> {
        let (take, back) = (|| pool.take(), |memory| pool.give_back(memory));
        let of = |views: [View<T>; 3], array: Array| views[array as usize];
        if self.outside.is_empty() && self.own_stage == 0 {
            return self.passes.iter().try_for_each(|pass| {
                let (from, to) = (of(views, pass.arrays.0), of(views, pass.arrays.1));
                // SAFETY: by this function's contract; tiles are distinct sets of output indices, so they share no
                // address.
                let one = |memory: &mut Memory<T>, tile| unsafe {
                    pass.tile(from, to, tile, &mut memory.scratch);
                };
                share(pass.tiles(), threads, take, one, back)
            });
        }
        let portions = self.outside.iter().map(|dim| dim.n).product();
        let one = |memory: &mut Memory<T>, portion: u64| {
            let mut views = views;
            let mut rest = portion;
            for dim in &self.outside {
                let index = (rest % dim.n) as isize;
                rest /= dim.n;
                for (view, stride) in views.iter_mut().zip(dim.strides) {
                    *view = view.moved(index * stride as isize);
                }
            }
            if self.own_stage > 0 {
                let planes = [bytemuck::cast_slice_mut(&mut memory.stage), &mut []];
                views[Array::Stage as usize] = View::writing(planes, self.stage_format, T::STORAGE);
            }
            for pass in &self.passes {
                let (from, to) = (of(views, pass.arrays.0), of(views, pass.arrays.1));
                for tile in 0..pass.tiles() {
                    // SAFETY: by this function's contract; portions are distinct sets of output indices, and what is
                    // read of an array that is also written is the portion's own.
                    unsafe { pass.tile(from, to, tile, &mut memory.scratch) };
                }
            }
        };
        share(portions, threads, take, one, back)
    }
}

#[cfg(test)]
mod tests {
    use warpfft_core::problem::{Format, Problem, RealKind};
    use warpfft_core::request::Fft;

    use crate::{Complex, Device};

    /// Transforms a batch, and its transforms one by one.
    fn check(asked: &dyn Fn() -> Fft, batch: u64) {
        let problem = asked().batch(batch).build().expect("it is packed");
        let one = asked().build().expect("it is packed");
        let device = Device::cpu();
        let (all, alone) = (device.plan(&problem).expect("planned"), device.plan(&one).expect("planned"));
        let reals = |problem: &Problem, output: bool| {
            let (format, elements) = match output {
                true => (problem.output, problem.output_span().end),
                false => (problem.input, problem.input_span().end),
            };
            elements as usize * if format == Format::Real { 1 } else { 2 }
        };
        let input: Vec<f64> = (0..reals(&problem, false)).map(|i| (i as f64 * 0.37).sin()).collect();
        let (each, given) = (reals(&one, false), reals(&one, true));
        let run = |plan: &crate::Plan, problem: &Problem, input: &[f64], output: &mut [f64]| {
            let complex = bytemuck::cast_slice::<f64, Complex<f64>>;
            let result = match (problem.input, problem.output) {
                (Format::Real, Format::Real) => plan.run_host(input, output),
                (Format::Real, _) => {
                    plan.run_host(input, bytemuck::cast_slice_mut::<f64, Complex<f64>>(output))
                }
                (_, Format::Real) => plan.run_host(complex(input), output),
                _ => plan.run_host(complex(input), bytemuck::cast_slice_mut::<f64, Complex<f64>>(output)),
            };
            result.expect("it runs");
        };
        let mut together = vec![0.0; reals(&problem, true)];
        run(&all, &problem, &input, &mut together);
        let mut wanted = vec![0.0; together.len()];
        for (input, output) in input.chunks_exact(each).zip(wanted.chunks_exact_mut(given)) {
            run(&alone, &one, input, output);
        }
        let size = wanted.iter().map(|x| x * x).sum::<f64>().sqrt();
        let error = together.iter().zip(&wanted).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt() / size;
        assert!(error < 1e-14, "{error:e}, {batch} of {one:?}");
    }

    #[test]
    fn portions_are_what_transforms_are_alone() {
        let shapes: [&[u64]; 5] = [&[8, 6], &[64, 66], &[100, 128], &[10, 12, 14], &[32, 33, 34]];
        for shape in shapes {
            let points = shape.iter().product::<u64>();
            // Enough for all threads, and so many that the last portion is smaller.
            for batch in [(1 << 15) / points + 7, (1 << 17) / points + 3] {
                let asked = || Fft::new(shape).f64().scale(0.5);
                check(&asked, batch);
                check(&|| asked().r2c(), batch);
                check(&|| asked().c2r(), batch);
                check(&|| asked().r2r([RealKind::Dct2]), batch);
            }
        }
    }
}
