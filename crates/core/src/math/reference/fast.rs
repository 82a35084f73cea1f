//! Complex transforms of any length in double-double precision, in O(n log n).

use crate::math::dd::Cdd;
use crate::math::factor::{divisors, factorise};
use crate::math::twiddle::{chirp_dd, roots_dd};

/// Prime factors up to this are summed directly; a length with a larger one goes through Bluestein's convolution.
const LARGEST_DIRECT: u64 = 31;

/// Smooth lengths from this on are split in two dimensions.
const SPLIT_FROM: usize = 1 << 13;

/// What transforms of one length share.
pub(super) enum FastDft {
    /// Mixed radices, decimation in time.
    Smooth { radices: Vec<usize>, roots: Vec<Cdd> },
    /// Two dimensions with twiddles between them, for lengths that no cache holds: n = a b, both near its root.
    Split { lengths: [usize; 2], plans: Box<[FastDft; 2]>, roots: Vec<Cdd> },
    /// A convolution with the chirp, at a power of two.
    Bluestein { chirp: Vec<Cdd>, spectrum: Vec<Cdd>, inner: Box<FastDft> },
}

impl FastDft {
    pub(super) fn new(n: usize) -> Self {
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

    /// The forward transform.
    pub(super) fn forward(&self, x: &[Cdd]) -> Vec<Cdd> {
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

/// Transforms a packed row-major array along one axis.
pub(super) fn transform_axis(data: &mut [Cdd], lengths: &[usize], axis: usize, plan: &FastDft) {
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
