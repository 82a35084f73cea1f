//! One line of reals of an even length: by the complex transform of half as many points, two neighbours to a point.

use crate::codelet::dft;
use crate::kernel::{Builder, Cx, Value};
use crate::math::twiddle;
use crate::problem::Direction;

use super::place;

/// Each of the two lines that complex numbers carry.
pub(super) fn each(
    b: &mut Builder,
    x: &[Cx],
    line: impl Fn(&mut Builder, &[Value]) -> Vec<Value>,
) -> Vec<Cx> {
    let [re, im] = [|x: &Cx| x.re, |x: &Cx| x.im].map(|part| x.iter().map(part).collect::<Vec<_>>());
    let (re, im) = (line(b, &re), line(b, &im));
    re.into_iter().zip(im).map(|(re, im)| Cx { re, im }).collect()
}

/// Twice the spectrum, up to half of it: what neighbours say is parted as `E[k] + w^k O[k]`, of which 2 E and 2 i O are sum and
/// difference of `Z[k]` and the conjugate of its mirror image.
fn spectrum(b: &mut Builder, x: &[Value]) -> Vec<Cx> {
    let (n, m) = (x.len(), x.len() / 2);
    let points: Vec<Cx> = x.chunks(2).map(|x| Cx { re: x[0], im: x[1] }).collect();
    let z = dft(b, &points, Direction::Forward);
    let ty = b.ty(x[0]);
    let zero = b.float(ty, 0.0);
    let ends = Cx { re: b.add(z[0].re, z[0].im), im: b.sub(z[0].re, z[0].im) };
    let ends = b.cscale(ends, 2.0);
    let mut v = vec![Cx { re: ends.re, im: zero }; m + 1];
    v[m] = Cx { re: ends.im, im: zero };
    for k in 1..=m / 2 {
        if 2 * k == m {
            let own = b.conj(z[k]);
            v[k] = b.cscale(own, 2.0);
            continue;
        }
        let image = b.conj(z[m - k]);
        let (even, odd) = (b.cadd(z[k], image), b.csub(z[k], image));
        let (re, im) = twiddle::root(k as u64, n as u64);
        let w = b.cconst(ty, re, im);
        let odd = b.cmul_i(odd, true);
        let odd = b.cmul(odd, w);
        v[k] = b.cadd(even, odd);
        let other = b.csub(even, odd);
        v[m - k] = b.conj(other);
    }
    v
}

/// `by exp(-+ i pi k / (2 n)) x`.
fn turned(b: &mut Builder, x: Cx, (k, n): (usize, usize), back: bool, by: f64) -> Cx {
    let ty = b.ty(x.re);
    let (re, im) = twiddle::root(k as u64, 4 * n as u64);
    let w = b.cconst(ty, by * re, if back { -by * im } else { by * im });
    b.cmul(x, w)
}

fn scaled(b: &mut Builder, x: Value, by: f64) -> Value {
    let ty = b.ty(x);
    let by = b.float(ty, by);
    b.mul(x, by)
}

/// `2 Re w^k V[k]`, and for its mirror image `-2 Im w^k V[k]`.
pub(super) fn dct2(b: &mut Builder, x: &[Value]) -> Vec<Value> {
    let (n, m) = (x.len(), x.len() / 2);
    let mut samples = x.to_vec();
    (0..n).for_each(|j| samples[place(j, n)] = x[j]);
    let v = spectrum(b, &samples);
    let mut y = vec![v[0].re; n];
    y[m] = scaled(b, v[m].re, std::f64::consts::FRAC_1_SQRT_2);
    for k in 1..m {
        let own = turned(b, v[k], (k, n), false, 1.0);
        (y[k], y[n - k]) = (own.re, b.neg(own.im));
    }
    y
}

/// The samples whose spectrum is `w^-k (x[k] - i x[n - k])`.
pub(super) fn dct3(b: &mut Builder, x: &[Value]) -> Vec<Value> {
    let (n, m) = (x.len(), x.len() / 2);
    let mut mixed = x.to_vec();
    mixed[0] = scaled(b, x[0], 0.5);
    mixed[m] = scaled(b, x[m], std::f64::consts::FRAC_1_SQRT_2);
    for k in 1..m {
        let im = b.neg(x[n - k]);
        let own = turned(b, Cx { re: x[k], im }, (k, n), true, 0.5);
        (mixed[k], mixed[n - k]) = (b.sub(own.re, own.im), b.add(own.re, own.im));
    }
    let samples = sums(b, &mixed, 1.0);
    (0..n).map(|j| samples[place(j, n)]).collect()
}

/// Hartley's transform times `2 by`. It is its own inverse, so that of `Re V - Im V` it gives what has the spectrum V.
fn sums(b: &mut Builder, x: &[Value], by: f64) -> Vec<Value> {
    let (n, m) = (x.len(), x.len() / 2);
    let mut y: Vec<Value> = vec![x[0]; n];
    for (k, v) in spectrum(b, x).into_iter().enumerate() {
        let v = if by == 1.0 { v } else { b.cscale(v, by) };
        if k == 0 || k == m {
            y[k] = v.re;
        } else {
            (y[k], y[n - k]) = (b.sub(v.re, v.im), b.add(v.re, v.im));
        }
    }
    y
}

pub(super) fn hartley(b: &mut Builder, x: &[Value]) -> Vec<Value> {
    sums(b, x, 0.5)
}

pub(super) fn half_complex(b: &mut Builder, x: &[Value]) -> Vec<Value> {
    let (n, m) = (x.len(), x.len() / 2);
    let mut y: Vec<Value> = vec![x[0]; n];
    for (k, v) in spectrum(b, x).into_iter().enumerate() {
        y[k] = scaled(b, v.re, 0.5);
        if k > 0 && k < m {
            y[n - k] = scaled(b, v.im, 0.5);
        }
    }
    y
}

pub(super) fn from_half_complex(b: &mut Builder, x: &[Value]) -> Vec<Value> {
    let (n, m) = (x.len(), x.len() / 2);
    let mut mixed = x.to_vec();
    for k in 1..m {
        (mixed[k], mixed[n - k]) = (b.sub(x[k], x[n - k]), b.add(x[k], x[n - k]));
    }
    sums(b, &mixed, 0.5)
}
