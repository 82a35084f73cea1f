//! Transforms of reals to reals on complex numbers, whose parts are two lines: real parts and imaginary parts become theirs each.
//!
//! The formulas are Makhoul's (*A fast cosine transform in one and two dimensions*, IEEE Trans. ASSP 28(1), 1980). A line of an even
//! length goes by itself, two neighbours as one complex number (`even.rs`), so that a line knows nothing of the other one's rounding
//! errors. Those of odd lengths go together: every kind is linear with real coefficients, so what it makes of `a + i b` is what it makes
//! of `a`, plus i times what it makes of `b`; where Makhoul has the conjugate of `V[k]` stands the mirror image `V[n - k]`, which is the same
//! for reals, and linear. Types I and IV are sums by the definition, which lengths as short as these have instructions enough for.

use crate::kernel::{Builder, Cx};
use crate::math::twiddle;
use crate::problem::{Direction, RealKind};

use super::{dft, has_codelet};

mod even;

/// The longest line that goes by a complex transform.
const LONGEST: u64 = 32;
/// The longest that goes by the definition.
const LONGEST_BY_SUMS: u64 = 16;

/// Whether a line of reals has a codelet.
pub fn has_reals(kind: RealKind, n: u64) -> bool {
    let longest = if by_sums(kind) { LONGEST_BY_SUMS } else { LONGEST };
    (kind.least()..=longest).contains(&n) && has_codelet(n)
}

const fn by_sums(kind: RealKind) -> bool {
    matches!(kind, RealKind::Dct1 | RealKind::Dst1 | RealKind::Dct4 | RealKind::Dst4)
}

/// The transform of the real parts and that of the imaginary parts, unscaled; `orthogonal` as in
/// [`RealDim::orthogonal`](crate::problem::RealDim::orthogonal).
pub fn reals(b: &mut Builder, kind: RealKind, orthogonal: bool, x: &[Cx]) -> Vec<Cx> {
    use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};
    let n = x.len();
    let mut x = x.to_vec();
    // Ends that are weighted before, and behind.
    let (before, behind): (&[usize], &[usize]) = match kind {
        RealKind::Dct1 => (&[0, n - 1], &[0, n - 1]),
        RealKind::Dct2 => (&[], &[0]),
        RealKind::Dct3 => (&[0], &[]),
        RealKind::Dst2 => (&[], &[n - 1]),
        RealKind::Dst3 => (&[n - 1], &[]),
        _ => (&[], &[]),
    };
    let weigh = |b: &mut Builder, x: &mut [Cx], ends: &[usize], by: f64| {
        for &end in ends.iter().filter(|_| orthogonal) {
            x[end] = b.cscale(x[end], by);
        }
    };
    weigh(b, &mut x, before, SQRT_2);
    let mut y = match kind {
        _ if by_sums(kind) => sums(b, kind, &x),
        RealKind::Dct2 => dct2(b, &x),
        RealKind::Dct3 => dct3(b, &x),
        RealKind::FromHalfComplex if n.is_multiple_of(2) => even::each(b, &x, even::from_half_complex),
        RealKind::HalfComplex if n.is_multiple_of(2) => even::each(b, &x, even::half_complex),
        RealKind::Dht if n.is_multiple_of(2) => even::each(b, &x, even::hartley),
        RealKind::Dst2 => {
            let mut y = alternating(b, x);
            y = dct2(b, &y);
            y.reverse();
            y
        }
        RealKind::Dst3 => {
            x.reverse();
            let y = dct3(b, &x);
            alternating(b, y)
        }
        RealKind::FromHalfComplex => from_half_complex(b, &x),
        _ => spectrum(b, &x, kind == RealKind::Dht),
    };
    weigh(b, &mut y, behind, FRAC_1_SQRT_2);
    y
}

/// Every second one negated.
fn alternating(b: &mut Builder, mut x: Vec<Cx>) -> Vec<Cx> {
    for x in x.iter_mut().skip(1).step_by(2) {
        *x = Cx { re: b.neg(x.re), im: b.neg(x.im) };
    }
    x
}

/// Where each sample stands in the sequence that is transformed: even ones from its start, odd ones from its end.
const fn place(j: usize, n: usize) -> usize {
    if j.is_multiple_of(2) { j / 2 } else { n - 1 - j / 2 }
}

/// `exp(-i pi k / (2 n)) x`, or by the conjugate.
fn turned(b: &mut Builder, x: Cx, k: usize, n: usize, back: bool) -> Cx {
    let ty = b.ty(x.re);
    let (re, im) = twiddle::root(k as u64, 4 * n as u64);
    let w = b.cconst(ty, re, if back { -im } else { im });
    b.cmul(x, w)
}

fn dct2(b: &mut Builder, x: &[Cx]) -> Vec<Cx> {
    let n = x.len();
    if n.is_multiple_of(2) {
        return even::each(b, x, even::dct2);
    }
    let mut samples = x.to_vec();
    (0..n).for_each(|j| samples[place(j, n)] = x[j]);
    let v = dft(b, &samples, Direction::Forward);
    let mut y = v.clone();
    y[0] = b.cscale(v[0], 2.0);
    for k in 1..=n / 2 {
        let own = turned(b, v[k], k, n, false);
        let image = turned(b, v[n - k], k, n, true);
        y[k] = b.cadd(own, image);
        let apart = b.csub(own, image);
        y[n - k] = b.cmul_i(apart, false);
    }
    y
}

fn dct3(b: &mut Builder, x: &[Cx]) -> Vec<Cx> {
    let n = x.len();
    if n.is_multiple_of(2) {
        return even::each(b, x, even::dct3);
    }
    let mut v = x.to_vec();
    for k in 1..=n / 2 {
        let image = b.cmul_i(x[n - k], false);
        let (minus, plus) = (b.csub(x[k], image), b.cadd(x[k], image));
        v[k] = turned(b, minus, k, n, true);
        v[n - k] = turned(b, plus, k, n, false);
    }
    let samples = dft(b, &v, Direction::Inverse);
    (0..n).map(|j| samples[place(j, n)]).collect()
}

/// Sums and differences of frequencies and their mirror images: Hartley's transform, or the half-complex order.
fn spectrum(b: &mut Builder, x: &[Cx], hartley: bool) -> Vec<Cx> {
    let n = x.len();
    let v = dft(b, x, Direction::Forward);
    let mut y = v.clone();
    for k in 1..n.div_ceil(2) {
        let (sum, apart) = (b.cadd(v[k], v[n - k]), b.csub(v[k], v[n - k]));
        let (re, im) = (b.cscale(sum, 0.5), b.cscale(apart, 0.5));
        // What is i times the imaginary parts.
        let im = b.cmul_i(im, true);
        [y[k], y[n - k]] = if hartley { [b.csub(re, im), b.cadd(re, im)] } else { [re, im] };
    }
    y
}

fn from_half_complex(b: &mut Builder, x: &[Cx]) -> Vec<Cx> {
    let n = x.len();
    let mut v = x.to_vec();
    for k in 1..n.div_ceil(2) {
        let im = b.cmul_i(x[n - k], false);
        [v[k], v[n - k]] = [b.cadd(x[k], im), b.csub(x[k], im)];
    }
    dft(b, &v, Direction::Inverse)
}

/// By the definition.
fn sums(b: &mut Builder, kind: RealKind, x: &[Cx]) -> Vec<Cx> {
    let n = x.len();
    let ty = b.ty(x[0].re);
    let sum = |b: &mut Builder, k: usize| {
        let mut sum: Option<Cx> = None;
        for (j, &x) in x.iter().enumerate() {
            let factor = coefficient(kind, j as u64, k as u64, n as u64);
            let w = b.float(ty, factor);
            sum = Some(match sum {
                _ if factor == 0.0 && sum.is_some() => continue,
                Some(sum) => Cx { re: b.fma(x.re, w, sum.re), im: b.fma(x.im, w, sum.im) },
                None => b.cscale(x, factor),
            });
        }
        sum.unwrap_or(x[0])
    };
    (0..n).map(|k| sum(b, k)).collect()
}

/// What output k takes of input j.
fn coefficient(kind: RealKind, j: u64, k: u64, n: u64) -> f64 {
    match kind {
        RealKind::Dct1 => {
            let twice = if j == 0 || j == n - 1 { 1.0 } else { 2.0 };
            twice * twiddle::root(j * k, 2 * (n - 1)).0
        }
        RealKind::Dst1 => -2.0 * twiddle::root((j + 1) * (k + 1), 2 * (n + 1)).1,
        RealKind::Dct4 => 2.0 * twiddle::root((2 * j + 1) * (2 * k + 1), 8 * n).0,
        _ => -2.0 * twiddle::root((2 * j + 1) * (2 * k + 1), 8 * n).1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codelet::tests::evaluated;

    /// The transform of reals by its definition, as [`RealKind`] gives it.
    fn wanted(kind: RealKind, x: &[f64]) -> Vec<f64> {
        let n = x.len();
        let pi = std::f64::consts::PI;
        let (last, size) = (n - 1, n as f64);
        let sign = |k: usize| if k.is_multiple_of(2) { 1.0 } else { -1.0 };
        let sum = |terms: &dyn Fn(f64) -> f64, from: usize, to: usize| -> f64 {
            (from..to).map(|j| x[j] * terms(j as f64)).sum()
        };
        let spectrum = |k: usize| {
            let angle = 2.0 * pi * k as f64 / size;
            (sum(&|j| (angle * j).cos(), 0, n), -sum(&|j| (angle * j).sin(), 0, n))
        };
        let one = |k: usize| {
            let at = k as f64;
            match kind {
                RealKind::Dct1 => {
                    let inner = sum(&|j| (pi * j * at / (size - 1.0)).cos(), 1, last);
                    x[0] + sign(k) * x[last] + 2.0 * inner
                }
                RealKind::Dct2 => 2.0 * sum(&|j| (pi * (j + 0.5) * at / size).cos(), 0, n),
                RealKind::Dct3 => x[0] + 2.0 * sum(&|j| (pi * j * (at + 0.5) / size).cos(), 1, n),
                RealKind::Dct4 => 2.0 * sum(&|j| (pi * (j + 0.5) * (at + 0.5) / size).cos(), 0, n),
                RealKind::Dst1 => 2.0 * sum(&|j| (pi * (j + 1.0) * (at + 1.0) / (size + 1.0)).sin(), 0, n),
                RealKind::Dst2 => 2.0 * sum(&|j| (pi * (j + 0.5) * (at + 1.0) / size).sin(), 0, n),
                RealKind::Dst3 => {
                    let inner = sum(&|j| (pi * (j + 1.0) * (at + 0.5) / size).sin(), 0, last);
                    sign(k) * x[last] + 2.0 * inner
                }
                RealKind::Dst4 => 2.0 * sum(&|j| (pi * (j + 0.5) * (at + 0.5) / size).sin(), 0, n),
                RealKind::Dht => spectrum(k).0 - spectrum(k).1,
                RealKind::HalfComplex => {
                    if k <= n / 2 {
                        spectrum(k).0
                    } else {
                        spectrum(n - k).1
                    }
                }
                RealKind::FromHalfComplex => {
                    let pair = |j: usize| {
                        let angle = 2.0 * pi * at * j as f64 / size;
                        2.0 * (x[j] * angle.cos() - x[n - j] * angle.sin())
                    };
                    let middle = if n.is_multiple_of(2) { sign(k) * x[n / 2] } else { 0.0 };
                    x[0] + middle + (1..n.div_ceil(2)).map(pair).sum::<f64>()
                }
            }
        };
        (0..n).map(one).collect()
    }

    /// What weights of first and last values make of a definition.
    fn weighted(kind: RealKind, x: &[f64]) -> Vec<f64> {
        use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};
        let (mut x, last) = (x.to_vec(), x.len() - 1);
        match kind {
            RealKind::Dct1 => [0, last].iter().for_each(|&j| x[j] *= SQRT_2),
            RealKind::Dct3 => x[0] *= SQRT_2,
            RealKind::Dst3 => x[last] *= SQRT_2,
            _ => {}
        }
        let mut y = wanted(kind, &x);
        match kind {
            RealKind::Dct1 => [0, last].iter().for_each(|&k| y[k] *= FRAC_1_SQRT_2),
            RealKind::Dct2 => y[0] *= FRAC_1_SQRT_2,
            RealKind::Dst2 => y[last] *= FRAC_1_SQRT_2,
            _ => {}
        }
        y
    }

    #[test]
    fn every_kind_of_every_length_is_its_definition_on_both_parts() {
        for kind in RealKind::ALL {
            let lengths: Vec<u64> = (1..=64).filter(|&n| has_reals(kind, n)).collect();
            assert!(lengths.contains(&8) && lengths.contains(&7), "{kind:?}");
            for (n, orthogonal) in lengths.into_iter().flat_map(|n| [(n, false), (n, true)]) {
                let part = || -> Vec<f64> { (0..n).map(|_| rand::random_range(-1.0..1.0)).collect() };
                let (re, im) = (part(), part());
                let x: Vec<(f64, f64)> = re.iter().copied().zip(im.iter().copied()).collect();
                let got = evaluated(&x, |b, x| reals(b, kind, orthogonal, x));
                let definition = if orthogonal { weighted } else { wanted };
                let want = definition(kind, &re).into_iter().zip(definition(kind, &im));
                for (k, ((re, im), (a, c))) in got.into_iter().zip(want).enumerate() {
                    let error = (re - a).hypot(im - c);
                    assert!(error < 1e-12, "{kind:?} of {n}, weights {orthogonal}, {k}: off by {error:e}");
                }
            }
        }
    }

    /// Of even lengths and by sums a line is the same whatever its neighbour is.
    #[test]
    fn lines_leave_each_other_alone() {
        for kind in RealKind::ALL {
            for n in (2..=32).filter(|&n| has_reals(kind, n) && (n % 2 == 0 || by_sums(kind))) {
                let line: Vec<f64> = (0..n).map(|_| rand::random_range(-1.0..1.0)).collect();
                let beside =
                    |size: f64| line.iter().map(|&x| (x, size * rand::random_range(-1.0..1.0))).collect();
                let [quiet, loud]: [Vec<(f64, f64)>; 2] = [beside(0.0), beside(1e12)];
                let of = |x: &[(f64, f64)]| -> Vec<f64> {
                    evaluated(x, |b, x| reals(b, kind, false, x)).into_iter().map(|y| y.0).collect()
                };
                assert_eq!(of(&quiet), of(&loud), "{kind:?} of {n}");
            }
        }
    }

    #[test]
    fn lines_beyond_a_threads_registers_have_none() {
        assert!(has_reals(RealKind::Dct2, 32) && !has_reals(RealKind::Dct2, 33));
        assert!(has_reals(RealKind::Dct4, 16) && !has_reals(RealKind::Dct4, 18));
        assert!(has_reals(RealKind::Dst2, 1) && !has_reals(RealKind::Dct1, 1));
    }
}
