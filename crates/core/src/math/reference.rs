//! The reference: transforms in double-double precision, from the definition.
//!
//! [`dft_direct`] is the sum itself; [`dft_dd`] is fast at every length and tested against it; [`reference()`]
//! evaluates a whole [`Problem`]. Errors are about 1e-30, so a rounded result is the nearest `f64` and any
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

use super::dd::Cdd;
use super::factor::{divisors, factorise};
use super::twiddle::{chirp_dd, root_dd, roots_dd};
use crate::problem::{Direction, Problem};
use num_complex::Complex;

/// Prime factors up to this are summed directly; a length with a larger one goes through Bluestein's convolution.
const LARGEST_DIRECT: u64 = 31;

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

/// Smooth lengths from this on are split in two dimensions.
const SPLIT_FROM: usize = 1 << 13;

/// What transforms of one length share.
enum FastDft {
    /// Mixed radices, decimation in time.
    Smooth { radices: Vec<usize>, roots: Vec<Cdd> },
    /// Two dimensions with twiddles between them, for lengths that no cache holds: n = a b, both near its root.
    Split { lengths: [usize; 2], plans: Box<[FastDft; 2]>, roots: Vec<Cdd> },
    /// A convolution with the chirp, at a power of two.
    Bluestein { chirp: Vec<Cdd>, spectrum: Vec<Cdd>, inner: Box<FastDft> },
}

impl FastDft {
    fn new(n: usize) -> Self {
        let factors = factorise(n as u64);
        if factors.iter().any(|&(p, _)| p > LARGEST_DIRECT) {
            return Self::bluestein(n);
        }
        let divisor = divisors(n as u64).into_iter().rfind(|&d| d <= (n as u64).isqrt());
        if let Some(a) = divisor.filter(|_| n >= SPLIT_FROM) {
            let lengths = [a as usize, n / a as usize];
            let plans = Box::new(lengths.map(Self::new));
            return Self::Split { lengths, plans, roots: roots_dd(n as u64) };
        }
        let mut radices = Vec::new();
        for (p, exponent) in factors {
            // Radix 4 halves the multiplications of radix 2.
            let pairs = if p == 2 { exponent as usize / 2 } else { 0 };
            radices.extend(std::iter::repeat_n(4, pairs));
            radices.extend(std::iter::repeat_n(p as usize, exponent as usize - 2 * pairs));
        }
        Self::Smooth { radices, roots: roots_dd(n as u64) }
    }

    fn bluestein(n: usize) -> Self {
        let chirp = chirp_dd(n as u64);
        let length = (2 * n - 1).next_power_of_two();
        let inner = Box::new(Self::new(length));
        let mut kernel = vec![Cdd::ZERO; length];
        for (k, w) in chirp.iter().enumerate() {
            kernel[k] = w.conj();
            kernel[(length - k) % length] = w.conj();
        }
        Self::Bluestein { spectrum: inner.forward(&kernel), chirp, inner }
    }

    fn forward(&self, x: &[Cdd]) -> Vec<Cdd> {
        match self {
            Self::Smooth { radices, roots } => {
                let mut out = vec![Cdd::ZERO; x.len()];
                decimate(x, 1, &mut out, radices, roots);
                out
            }
            Self::Split { lengths, plans, roots } => {
                let [a, b] = *lengths;
                let mut data = x.to_vec();
                transform_axis(&mut data, lengths, 0, &plans[0]);
                for (k, row) in data.chunks_exact_mut(b).enumerate() {
                    row.iter_mut().enumerate().for_each(|(j, v)| *v = *v * roots[j * k]);
                }
                transform_axis(&mut data, lengths, 1, &plans[1]);
                (0..a * b).map(|k| data[k % a * b + k / a]).collect()
            }
            Self::Bluestein { chirp, spectrum, inner } => {
                let mut padded: Vec<Cdd> = x.iter().zip(chirp).map(|(&v, &w)| v * w).collect();
                padded.resize(spectrum.len(), Cdd::ZERO);
                let product: Vec<Cdd> =
                    inner.forward(&padded).iter().zip(spectrum).map(|(&a, &b)| (a * b).conj()).collect();
                // The inverse by conjugation; the division is exact, as the length is a power of two.
                let scale = 1.0 / spectrum.len() as f64;
                let convolved = inner.forward(&product);
                convolved.iter().zip(chirp).map(|(&v, &w)| (v.conj() * w).scaled(scale)).collect()
            }
        }
    }
}

/// Transforms `out.len()` elements of `x`, `stride` apart. `roots` is the table of the whole length.
fn decimate(x: &[Cdd], stride: usize, out: &mut [Cdd], radices: &[usize], roots: &[Cdd]) {
    let n = out.len();
    let Some((&radix, rest)) = radices.split_first() else {
        out[0] = x[0];
        return;
    };
    let part = n / radix;
    for (r, chunk) in out.chunks_exact_mut(part).enumerate() {
        decimate(&x[r * stride..], stride * radix, chunk, rest, roots);
    }
    let mut column = vec![Cdd::ZERO; radix];
    for k in 0..part {
        for (r, value) in column.iter_mut().enumerate() {
            let v = out[r * part + k];
            *value = if r * k == 0 { v } else { v * roots[r * k * stride] };
        }
        butterfly(&column, roots, |j, v| out[j * part + k] = v);
    }
}

/// A transform of a few points; radix 2 and 4 without products.
fn butterfly(x: &[Cdd], roots: &[Cdd], mut store: impl FnMut(usize, Cdd)) {
    match *x {
        [a, b] => {
            store(0, a + b);
            store(1, a - b);
        }
        [a, b, c, d] => {
            let (even, odd) = (a + c, b + d);
            let (even_rest, odd_rest) = (a - c, b - d);
            let turned = Cdd { re: odd_rest.im, im: -odd_rest.re };
            store(0, even + odd);
            store(1, even_rest + turned);
            store(2, even - odd);
            store(3, even_rest - turned);
        }
        _ => {
            let step = roots.len() / x.len();
            for j in 0..x.len() {
                let terms = x.iter().enumerate().skip(1);
                store(j, terms.fold(x[0], |sum, (r, &v)| sum + v * roots[r * j % x.len() * step]));
            }
        }
    }
}

/// Everything that a problem writes: pairs of an output element and its value, each output element once.
///
/// Lengths without prime factors above 31 take about a microsecond a point, others four times that or more.
///
/// `read` gives an element of the input by its address, whatever the format: the caller reads a pair or one
/// element of each plane. The order is that of [`Problem::addresses`].
pub fn reference(problem: &Problem, read: impl Fn(u64) -> Complex<f64>) -> Vec<(u64, Complex<f64>)> {
    let inverse = problem.direction == Direction::Inverse;
    let conj_if_inverse = |z: Cdd| if inverse { z.conj() } else { z };
    let lengths: Vec<usize> = problem.transform.iter().map(|dim| dim.n as usize).collect();
    let plans: Vec<FastDft> = lengths.iter().map(|&n| FastDft::new(n)).collect();
    let addresses: Vec<(u64, u64)> = problem.addresses().collect();
    let mut results = Vec::with_capacity(addresses.len());
    for one in addresses.chunks(problem.points() as usize) {
        // An inverse transform is a forward one between two conjugations.
        let mut data: Vec<Cdd> =
            one.iter().map(|&(input, _)| conj_if_inverse(Cdd::from(read(input)))).collect();
        for (axis, plan) in plans.iter().enumerate() {
            transform_axis(&mut data, &lengths, axis, plan);
        }
        let scaled = |z| conj_if_inverse(z).scaled(problem.scale).round();
        results.extend(one.iter().zip(data).map(|(&(_, output), z)| (output, scaled(z))));
    }
    results
}

/// Transforms a packed row-major array along one axis.
fn transform_axis(data: &mut [Cdd], lengths: &[usize], axis: usize, plan: &FastDft) {
    let n = lengths[axis];
    let inner: usize = lengths[axis + 1..].iter().product();
    let mut line = vec![Cdd::ZERO; n];
    for block in data.chunks_exact_mut(n * inner) {
        for i in 0..inner {
            line.iter_mut().zip(block[i..].iter().step_by(inner)).for_each(|(to, &from)| *to = from);
            let transformed = plan.forward(&line);
            block[i..].iter_mut().step_by(inner).zip(transformed).for_each(|(to, from)| *to = from);
        }
    }
}

/// A few points of one output of a problem straight from the definition, for lengths at which even the fast
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Dim;
    use crate::request::{Fft, Norm};
    use proptest::prelude::*;
    use rand::{Rng, SeedableRng, rngs::StdRng};

    fn random(n: usize, seed: u64) -> Vec<Complex<f64>> {
        let mut rng = StdRng::seed_from_u64(seed);
        (0..n).map(|_| Complex::new(rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0))).collect()
    }

    fn distance(a: &[Cdd], b: &[Cdd]) -> f64 {
        let part = |z: Cdd| z.re.hi.powi(2) + z.im.hi.powi(2);
        let error: f64 = a.iter().zip(b).map(|(&a, &b)| part(a - b)).sum();
        (error / b.iter().map(|&b| part(b)).sum::<f64>()).sqrt()
    }

    fn direct_dd(x: &[Cdd]) -> Vec<Cdd> {
        let n = x.len();
        let table = roots_dd(n as u64);
        let point = |k| x.iter().enumerate().fold(Cdd::ZERO, |sum, (j, &v)| sum + table[j * k % n] * v);
        (0..n).map(point).collect()
    }

    #[test]
    fn fast_agrees_with_direct_to_28_digits() {
        for n in (1..=70).chain([96, 121, 128, 210, 251, 331, 360, 2 * 331, 1000, 1024]) {
            let x: Vec<Cdd> = random(n, n as u64).into_iter().map(Cdd::from).collect();
            let error = distance(&dft_dd(&x), &direct_dd(&x));
            assert!(error < 1e-29, "{n}: {error}");
        }
        assert!(dft_dd(&[]).is_empty());
    }

    #[test]
    fn long_transforms_have_the_spectrum_of_their_tones() {
        // Beyond the reach of the direct sum: exp(2 pi i j f / n) is one peak of height n at f.
        for n in [1u64 << 14, 3 * 5 * 7 * 11 * 13, 10_007] {
            for f in [1, n / 3, n - 1] {
                let index = |j: u64| (u128::from(j) * u128::from(f) % u128::from(n)) as u64;
                let x: Vec<Cdd> = (0..n).map(|j| root_dd(index(j), n).conj()).collect();
                let mut want = vec![Cdd::ZERO; n as usize];
                want[f as usize] = Cdd::ONE.scaled(n as f64);
                let error = distance(&dft_dd(&x), &want);
                assert!(error < 1e-28, "{n} {f}: {error}");
            }
        }
    }

    #[test]
    fn agrees_with_rustfft_to_its_precision() {
        for n in [1usize, 7, 60, 97, 512, 1201] {
            let x = random(n, 3);
            let mut fast = x.clone();
            rustfft::FftPlanner::new().plan_fft_forward(n).process(&mut fast);
            let want = dft_direct(&x);
            assert!(relative_l2(&fast, &want) < 2e-15, "{n}");
            let problem = Fft::new([n as u64]).build().unwrap();
            let whole: Vec<_> = reference(&problem, |i| x[i as usize]).into_iter().map(|p| p.1).collect();
            assert_eq!(whole, want, "{n}");
        }
    }

    /// Output index by output index from the definition, f64 arithmetic, sharing nothing with the code above.
    fn by_definition(problem: &Problem, x: &[Complex<f64>]) -> Vec<(u64, Complex<f64>)> {
        let all: Vec<(u64, u64)> = problem.addresses().collect();
        let points = problem.points() as usize;
        let unravel = |mut i: usize| {
            let mut index = vec![0; problem.transform.len()];
            for (at, dim) in index.iter_mut().zip(&problem.transform).rev() {
                (*at, i) = (i as u64 % dim.n, i / dim.n as usize);
            }
            index
        };
        let value = |one: &[(u64, u64)], k: usize| {
            let k = unravel(k);
            let term = |j: usize| {
                let turns: f64 = unravel(j)
                    .iter()
                    .zip(&k)
                    .zip(&problem.transform)
                    .map(|((&j, &k), dim)| (j * k % dim.n) as f64 / dim.n as f64)
                    .sum();
                x[one[j].0 as usize]
                    * Complex::from_polar(1.0, problem.direction.sign() * std::f64::consts::TAU * turns)
            };
            (0..points).map(term).sum::<Complex<f64>>() * problem.scale
        };
        all.chunks(points).flat_map(|one| (0..points).map(move |k| (one[k].1, value(one, k)))).collect()
    }

    proptest! {
        #[test]
        fn whole_problems_follow_the_definition(
            shape in proptest::collection::vec(1u64..7, 1..4),
            pads in proptest::collection::vec((1i64..3, 1i64..3), 5),
            inverse: bool,
            seed: u64,
        ) {
            // Growing strides with gaps on both sides, the output in the opposite order of the input.
            let mut dims: Vec<Dim> = shape.iter().chain(&[2, 3]).map(|&n| Dim::new(n, 0, 0)).collect();
            let (mut is, mut os) = (1, 1);
            for (dim, pad) in dims.iter_mut().zip(&pads) {
                dim.is = is * pad.0;
                is = dim.is * dim.n as i64;
            }
            for (dim, pad) in dims.iter_mut().rev().zip(&pads) {
                dim.os = os * pad.1;
                os = dim.os * dim.n as i64;
            }
            let (transform, batch) = dims.split_at(shape.len());
            let fft = Fft::guru(transform, batch).offsets(3, 5).scale(0.7).norm(Norm::Ortho);
            let problem = if inverse { fft.inverse() } else { fft }.build().unwrap();
            let x = random(problem.input_span().end as usize, seed);
            let got = reference(&problem, |i| x[i as usize]);
            let want = by_definition(&problem, &x);
            prop_assert_eq!(got.iter().map(|p| p.0).collect::<Vec<_>>(), want.iter().map(|p| p.0).collect::<Vec<_>>());
            let values = |all: &[(u64, Complex<f64>)]| all.iter().map(|p| p.1).collect::<Vec<_>>();
            prop_assert!(relative_l2(&values(&got), &values(&want)) < 1e-14);

            let first: Vec<u64> = problem.transform.iter().map(|dim| dim.n - 1).collect();
            let last = problem.points() as usize - 1;
            let one = point(&problem, problem.input_offset, &first, |i| x[i as usize]);
            prop_assert!((one - got[last].1).norm() < 1e-15);
        }
    }

    #[test]
    fn errors_are_measured_as_they_say() {
        let z = |re: f64, im: f64| Complex::new(re, im);
        assert_eq!(relative_l2(&[z(3.0, 0.0), z(0.0, 5.0)], &[z(3.0, 0.0), z(0.0, 4.0)]), 0.2);
        assert_eq!(relative_l2(&[], &[]), 0.0);
        assert_eq!(relative_l2(&[z(0.0, 0.0)], &[z(0.0, 0.0)]), 0.0);
        assert_eq!(relative_l2(&[z(1.0, 0.0)], &[z(0.0, 0.0)]), f64::INFINITY);
        assert_eq!(relative_l2(&[], &[z(0.0, 0.0)]), f64::INFINITY);
        assert!(relative_l2(&[z(f64::NAN, 0.0)], &[z(1.0, 0.0)]).is_nan());
    }
}
