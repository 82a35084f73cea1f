//! The reference: transforms in double-double precision, from the definition.
//!
//! [`dft_direct`] is the sum itself; [`dft_dd`] is fast at every length and tested against it; [`reference()`]
//! evaluates a whole [`Problem`], of real data too; [`Reference`] some of its transforms. Errors are about 1e-30, so a rounded result is the nearest `f64` and any
//! precision that a device computes in can be judged by it.
//!
//! ```
//! use num_complex::Complex;
//! use warpfft_core::math::reference::reference;
//! use warpfft_core::request::Fft;
//! let problem = Fft::new([4]).f64().build()?;
//! let input = [1.0, 2.0, 3.0, 4.0].map(|x| Complex::new(x, 0.0));
//! let mut output = [Complex::ZERO; 4];
//! for (address, value) in reference(&problem, |element| input[element as usize]) {
//!     output[address as usize] = value;
//! }
//! assert_eq!(output[1], Complex::new(-2.0, 2.0));
//! # Ok::<(), warpfft_core::Error>(())
//! ```

mod fast;
mod line;
#[cfg(test)]
mod tests;
mod window;

use super::dd::Cdd;
use super::twiddle::{root_dd, roots_dd};
use crate::function::Functions;
use crate::problem::{Dim, Direction, Format, Kind, Problem, Window};
use fast::{FastDft, transform_axis};
use line::Line;
use num_complex::Complex;

/// The forward transform as the sum that defines it, in double-double precision and rounded once. O(n^2).
pub fn dft_direct(x: &[Complex<f64>]) -> Vec<Complex<f64>> {
    let n = x.len();
    let table = roots_dd(n as u64);
    let point = |k: usize| {
        let mut index = 0;
        let mut sum = Cdd::ZERO;
        for &value in x {
            sum = sum + table[index] * Cdd::from(value);
            index = (index + k) % n;
        }
        sum.round()
    };
    (0..n).map(point).collect()
}

/// The forward transform of any length in double-double precision, in O(n log n).
pub fn dft_dd(x: &[Cdd]) -> Vec<Cdd> {
    if x.is_empty() {
        return Vec::new();
    }
    FastDft::new(x.len()).forward(x)
}

/// What a problem computes, ready to be asked for one transform after the other.
///
/// Lengths without prime factors above 31 take about a microsecond a point, others four times that or more. Transforms
/// of real data take as long as complex ones; of types I and IV, twice as long.
///
/// ```
/// use num_complex::Complex;
/// use warpfft_core::math::reference::Reference;
/// use warpfft_core::request::Fft;
/// let problem = Fft::new([3]).r2c().batch(100).build()?;
/// let last = Reference::new(&problem).transform(99, |at| Complex::from(at as f64));
/// assert_eq!(last[0], (198, Complex::from(297.0 + 298.0 + 299.0)));
/// # Ok::<(), warpfft_core::Error>(())
/// ```
pub struct Reference {
    axes: Vec<Axis>,
    /// Points along each axis of one transform's input.
    shape: Vec<usize>,
    /// Axes with windows: which of the array's axes it is, its points and its window on both sides.
    windows: Vec<(usize, [(usize, Window); 2])>,
    batch: Vec<Dim>,
    /// Elements at which the first transform begins: in the input, in the output.
    starts: [u64; 2],
    /// Elements of one transform, counted from where it begins.
    reads: Vec<i64>,
    writes: Vec<i64>,
    /// Whether input, then output, are reals; whether the transform is of reals there, or of what lies as such.
    reals: [bool; 2],
    of_reals: [bool; 2],
    inverse: bool,
    scale: f64,
    functions: Functions,
}

/// One axis, in the order in which they are transformed.
enum Axis {
    /// As complex numbers, and which of the array's axes it is.
    Complex(usize, FastDft),
    /// As the kind says.
    Own(usize, Line),
}

impl Reference {
    /// The tables that all transforms of a problem share.
    pub fn new(problem: &Problem) -> Self {
        let complex = problem.transform.iter().map(|dim| dim.n as usize);
        let mut axes: Vec<Axis> =
            complex.enumerate().map(|(at, n)| Axis::Complex(at, FastDft::new(n))).collect();
        let first = axes.len();
        match &problem.kind {
            Kind::Complex => {}
            // Half of the spectrum is half of the work for the other axes.
            Kind::RealToComplex(dim) => axes.insert(0, Axis::Own(first, Line::to_spectrum(dim.n as usize))),
            // What has no part in reals shows only once all else is transformed.
            Kind::ComplexToReal(dim) => axes.push(Axis::Own(first, Line::from_spectrum(dim.n as usize))),
            Kind::Zoom(zoom) => axes.push(Axis::Own(first, Line::zoom(zoom.band))),
            Kind::RealToReal(dims) => axes
                .extend(dims.iter().enumerate().map(|(at, real)| Axis::Own(first + at, Line::reals(real)))),
        }
        let one = Problem { batch: Vec::new(), ..problem.clone() };
        Self {
            axes,
            shape: one.input_dims().map(|(n, _)| n as usize).collect(),
            windows: {
                let complex = problem.transform.iter().map(|dim| [dim.n; 2]);
                let points = complex.chain(problem.kind.dims().map(|(_, points)| points));
                let sides = |([read, written], own): ([u64; 2], &[Window; 2])| {
                    [(read as usize, own[0]), (written as usize, own[1])]
                };
                points.zip(&problem.windows).map(sides).enumerate().collect()
            },
            batch: problem.batch.clone(),
            starts: [problem.input_offset, problem.output_offset],
            reads: one.reads().map(|at| at as i64 - one.input_offset as i64).collect(),
            writes: one.writes().map(|at| at as i64 - one.output_offset as i64).collect(),
            reals: [0, 1].map(|side| {
                let format = [problem.input, problem.output][side];
                problem.kind.reals()[side] || format == Format::Real
            }),
            of_reals: problem.kind.reals(),
            inverse: problem.direction == Direction::Inverse,
            scale: problem.scale,
            functions: problem.functions.clone(),
        }
    }

    /// Everything that transform `index` of the batch, counted row-major, writes: pairs of an output element and its
    /// value, each once, the last dimension of [`Problem::output_dims`] fastest. `read` is as for [`reference()`].
    pub fn transform(&self, index: u64, read: impl Fn(u64) -> Complex<f64>) -> Vec<(u64, Complex<f64>)> {
        self.transform_with_size(index, read).0
    }

    /// [`Reference::transform`], and the sum of the squares of as many numbers as it writes, by the mean over all that the
    /// transform has: of those that are wanted, few may cancel, and rounding errors are as large as the others make them.
    /// Where a function follows, what it writes is taken to be as much larger. 0 where all are wanted.
    pub fn transform_with_size(
        &self,
        index: u64,
        read: impl Fn(u64) -> Complex<f64>,
    ) -> (Vec<(u64, Complex<f64>)>, f64) {
        let [from, to] = self.begins(index);
        let conj_if_inverse = |z: Cdd| if self.inverse { z.conj() } else { z };
        let part = |z: Complex<f64>, real: bool| if real { Complex::from(z.re) } else { z };
        // An inverse transform is a forward one between two conjugations, which do nothing to reals.
        let applied = |side: usize, shape: &[usize], point: usize, z: Complex<f64>| {
            let function = if side == 0 { &self.functions.load } else { &self.functions.store };
            match function {
                Some(function) => {
                    let (re, im) = function.evaluate((z.re, z.im), &self.indices(side, shape, point, index));
                    Complex::new(re, im)
                }
                None => z,
            }
        };
        let value = |(point, at): (usize, &i64)| {
            let z = part(read((from + at) as u64), self.reals[0]);
            let z = applied(0, &self.shape, point, z);
            conj_if_inverse(part(z, self.of_reals[0]).into())
        };
        let mut data: Vec<Cdd> = self.reads.iter().enumerate().map(value).collect();
        let mut shape = self.shape.clone();
        for &(at, [own, _]) in &self.windows {
            data = window::spread(&data, &mut shape, at, own);
        }
        for axis in &self.axes {
            match axis {
                Axis::Complex(at, plan) => transform_axis(&mut data, &shape, *at, plan),
                Axis::Own(at, line) => {
                    data = line.along(&data, &shape, *at);
                    shape[*at] = line.after();
                }
            }
        }
        let scaled = |z| part(conj_if_inverse(z).scaled(self.scale).round(), self.reals[1]);
        let some = |&(at, [_, (_, own)]): &(usize, [(usize, Window); 2])| own.len < shape[at] as u64;
        let squares = |data: &[Cdd]| data.iter().map(|&z| scaled(z).norm_sqr()).sum::<f64>();
        let expected = self.windows.iter().any(some).then(|| squares(&data) / data.len() as f64);
        for &(at, [_, own]) in &self.windows {
            data = window::kept(&data, &mut shape, at, own);
        }
        let shown = expected.map(|mean| [mean * self.writes.len() as f64, squares(&data)]);
        let stored = |(point, (at, z)): (usize, (&i64, Cdd))| {
            ((to + at) as u64, part(applied(1, &shape, point, scaled(z)), self.reals[1]))
        };
        let written: Vec<(u64, Complex<f64>)> =
            self.writes.iter().zip(data).enumerate().map(stored).collect();
        let size = match shown {
            Some([expected, before]) if self.functions.store.is_some() && before > 0.0 => {
                written.iter().map(|(_, z)| z.norm_sqr()).sum::<f64>() * expected / before
            }
            Some([expected, _]) => expected,
            None => 0.0,
        };
        (written, size)
    }

    /// Indices of what a transform has in memory as its point so many on one of its sides: which of the transform's points it is
    /// along each dimension, those to repeat over behind.
    fn indices(&self, side: usize, shape: &[usize], mut point: usize, mut transform: u64) -> Vec<u64> {
        let mut all = vec![0; shape.len() + self.batch.len()];
        let (own, repeated) = all.split_at_mut(shape.len());
        for (index, &n) in own.iter_mut().zip(shape).rev() {
            (*index, point) = ((point % n) as u64, point / n);
        }
        for &(at, sides) in &self.windows {
            let (n, window) = sides[side];
            own[at] = window.point(own[at], n as u64);
        }
        for (index, dim) in repeated.iter_mut().zip(&self.batch).rev() {
            (*index, transform) = (transform % dim.n, transform / dim.n);
        }
        all
    }

    /// Number of transforms.
    fn count(&self) -> u64 {
        self.batch.iter().map(|dim| dim.n).product()
    }

    /// Where a transform of the batch begins in the input and in the output.
    fn begins(&self, mut index: u64) -> [i64; 2] {
        let mut at = self.starts.map(|start| start as i64);
        for dim in self.batch.iter().rev() {
            let i = (index % dim.n) as i64;
            (at[0], at[1], index) = (at[0] + i * dim.is, at[1] + i * dim.os, index / dim.n);
        }
        at
    }
}

/// Everything that a problem of any kind writes: pairs of an output element and its value, each output element once.
///
/// `read` gives an element of the input by its address, whatever the format: the caller reads a pair or one
/// element of each plane. Where the input is real, an element is a real, and only the real part of what `read` gives
/// is looked at; where the output is real, so are the values. Batch dimensions are outermost, and the last dimension
/// of [`Problem::output_dims`] is fastest: of complex problems that is the order of [`Problem::addresses`].
pub fn reference(problem: &Problem, read: impl Fn(u64) -> Complex<f64>) -> Vec<(u64, Complex<f64>)> {
    let all = Reference::new(problem);
    let mut results = Vec::with_capacity(all.writes.len() * all.count() as usize);
    (0..all.count()).for_each(|index| results.extend(all.transform(index, &read)));
    results
}

/// One output of one transform of a complex problem straight from the definition, for lengths at which even the fast
/// reference takes too long: `index` has one entry for each transform dimension, `start` is the input element of
/// the transform's index (0, .., 0).
pub fn point(
    problem: &Problem,
    start: u64,
    index: &[u64],
    read: impl Fn(u64) -> Complex<f64>,
) -> Complex<f64> {
    let one = Problem { batch: Vec::new(), input_offset: start, ..problem.clone() };
    let mut at = vec![0u64; one.transform.len()];
    let mut sum = Cdd::ZERO;
    for (input, _) in one.addresses() {
        let axes = one.transform.iter().zip(at.iter().zip(index));
        let root = axes.fold(Cdd::ONE, |w, (dim, (&j, &k))| {
            let exponent = u128::from(j) * u128::from(k) % u128::from(dim.n);
            w * root_dd(exponent as u64, dim.n)
        });
        let root = if one.direction == Direction::Inverse { root.conj() } else { root };
        sum = sum + root * Cdd::from(read(input));
        for (j, dim) in at.iter_mut().zip(&one.transform).rev() {
            *j += 1;
            if *j < dim.n {
                break;
            }
            *j = 0;
        }
    }
    sum.scaled(one.scale).round()
}

/// `|got - want| / |want|` in the Euclidean norm; 0 where both are zero or empty, infinite where only `want` is
/// zero or the lengths differ. Not a number in `got` gives not a number.
pub fn relative_l2(got: &[Complex<f64>], want: &[Complex<f64>]) -> f64 {
    if got.len() != want.len() {
        return f64::INFINITY;
    }
    let error: f64 = got.iter().zip(want).map(|(g, w)| (g - w).norm_sqr()).sum();
    let size: f64 = want.iter().map(Complex::norm_sqr).sum();
    if error == 0.0 { 0.0 } else { (error / size).sqrt() }
}
