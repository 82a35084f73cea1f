//! Plans evaluated by their own identities, with plain sums as leaves.

use num_complex::Complex;

use super::{Plan, least_padded};
use crate::math::{index, twiddle};

/// The definition.
pub fn direct(x: &[Complex<f64>], radix: u32) -> Vec<Complex<f64>> {
    let n = u64::from(radix);
    (0..n).map(|k| x.iter().zip(0..).map(|(&x, j)| x * root(j * k, n)).sum()).collect()
}

fn root(k: u64, n: u64) -> Complex<f64> {
    let (re, im) = twiddle::root(k % n, n);
    Complex::new(re, im)
}

/// Transforms the data by the part of that number.
pub type LeafTransform<'a> = dyn Fn(usize, &[Complex<f64>]) -> Vec<Complex<f64>> + 'a;

/// One part, twiddles, the rest: the recursion of Cooley and Tukey with digits as the lowering cuts them.
pub fn split(
    x: &[Complex<f64>],
    parts: usize,
    leaf: &LeafTransform<'_>,
    len: &dyn Fn(usize) -> u64,
) -> Vec<Complex<f64>> {
    fn rest(
        x: &[Complex<f64>],
        part: usize,
        parts: usize,
        leaf: &LeafTransform<'_>,
        len: &dyn Fn(usize) -> u64,
    ) -> Vec<Complex<f64>> {
        if part == parts || x.len() == 1 {
            return x.to_vec();
        }
        let n1 = len(part) as usize;
        let n2 = x.len() / n1;
        let mut rows = vec![Vec::with_capacity(n2); n1];
        for m in 0..n2 {
            let column: Vec<_> = (0..n1).map(|i| x[i * n2 + m]).collect();
            for (k, value) in leaf(part, &column).into_iter().enumerate() {
                rows[k].push(value * root((k * m) as u64, x.len() as u64));
            }
        }
        let mut out = vec![Complex::default(); x.len()];
        for (k1, row) in rows.iter().enumerate() {
            for (k2, value) in rest(row, part + 1, parts, leaf, len).into_iter().enumerate() {
                out[k1 + n1 * k2] = value;
            }
        }
        out
    }
    rest(x, 0, parts, leaf, len)
}

/// Bluestein's convolution with a chirp.
pub fn bluestein(x: &[Complex<f64>], n: u64, inner: &Plan) -> Vec<Complex<f64>> {
    let halved = inner.len() < least_padded(n);
    let m = if halved { 2 * inner.len() } else { inner.len() };
    let forward = |x: &[Complex<f64>]| if halved { in_halves(x, inner) } else { inner.evaluate(x) };
    let chirp: Vec<Complex<f64>> = (0..n).map(|k| root(twiddle::chirp_index(k, n), 2 * n)).collect();
    let mut padded = vec![Complex::default(); m as usize];
    let mut filter = padded.clone();
    for (k, &c) in chirp.iter().enumerate() {
        padded[k] = x[k] * c;
        filter[k] = c.conj();
        filter[(m as usize - k) % m as usize] = c.conj();
    }
    let product: Vec<_> =
        forward(&padded).iter().zip(forward(&filter)).map(|(a, b)| (a * b).conj()).collect();
    forward(&product).iter().zip(chirp).map(|(y, c)| y.conj() * c / m as f64).collect()
}

/// A transform of twice the plan's length: its even frequencies, then its odd ones, by the plan.
fn in_halves(x: &[Complex<f64>], plan: &Plan) -> Vec<Complex<f64>> {
    let m = plan.len() as usize;
    let half = |sign: f64, turn: &dyn Fn(usize) -> Complex<f64>| {
        let folded: Vec<_> = (0..m).map(|k| (x[k] + x[k + m] * sign) * turn(k)).collect();
        plan.evaluate(&folded)
    };
    let even = half(1.0, &|_| Complex::new(1.0, 0.0));
    let odd = half(-1.0, &|k| root(k as u64, 2 * m as u64));
    even.into_iter().zip(odd).flat_map(|(even, odd)| [even, odd]).collect()
}

/// Rader's cyclic convolution: with `j = g^q` and `k = g^-t`, `X[k] = x[0] + sum x[g^q] W^(g^(q - t))`.
pub fn rader(x: &[Complex<f64>], p: u64, inner: &Plan) -> Vec<Complex<f64>> {
    let (_, powers) = index::logarithms(p);
    let order = powers.len();
    let turned: Vec<_> = powers.iter().map(|&j| x[j as usize]).collect();
    let filter: Vec<_> = (0..order).map(|q| root(powers[(order - q) % order], p)).collect();
    let halved = inner.len() < p - 1;
    let forward = |x: &[Complex<f64>]| if halved { in_halves(x, inner) } else { inner.evaluate(x) };
    let product: Vec<_> =
        forward(&turned).iter().zip(forward(&filter)).map(|(a, b)| (a * b).conj()).collect();
    let mut out = vec![x.iter().sum(); p as usize];
    for (t, y) in forward(&product).into_iter().enumerate() {
        out[powers[(order - t) % order] as usize] = x[0] + y.conj() / order as f64;
    }
    out
}

/// Good and Thomas: the parts as dimensions of an array, one after another.
pub fn prime_factor(x: &[Complex<f64>], parts: &[Plan]) -> Vec<Complex<f64>> {
    let n = x.len() as u64;
    let mut x = x.to_vec();
    let mut done = 1;
    for part in parts {
        let m = part.len();
        let (step, inverse) = ((n / m) as usize, index::coprime_inverse(n, m));
        // In this dimension, indices so far are those of the input and become those of the output: k mod m.
        let mut out = x.clone();
        for start in 0..step {
            let row: Vec<_> = (0..m as usize).map(|j| x[(start * m as usize + j * step) % x.len()]).collect();
            for (k, value) in part.evaluate(&row).into_iter().enumerate() {
                out[(start * m as usize + step * (k * inverse as usize % m as usize)) % x.len()] = value;
            }
        }
        x = out;
        done *= m;
    }
    debug_assert_eq!(done, n);
    x
}
