//! The mathematics of one axis as a tree of rewrites, printed and parsed as an s-expression. A plan knows no
//! memory and no threads.

use std::fmt;

use num_complex::Complex;

use crate::math::twiddle;

/// How a transform of one length is computed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Plan {
    /// Stages on the chip, one codelet each: Cooley-Tukey with the given radices.
    MixedRadix(Vec<u32>),
    /// Several passes over memory: the length is the product of the parts' lengths; twiddles between them
    /// (four-step, Gentleman and Sande 1966).
    Split(Vec<Plan>),
    /// A convolution with a chirp through transforms of length `inner.len()` (Bluestein 1970).
    Bluestein {
        /// Length.
        n: u64,
        /// The transform that convolves, at least `2 n - 1` long.
        inner: Box<Plan>,
    },
}

impl Plan {
    /// Length of the transform.
    pub fn len(&self) -> u64 {
        match self {
            Self::MixedRadix(radices) => radices.iter().map(|&r| u64::from(r)).product(),
            Self::Split(parts) => parts.iter().map(Self::len).product(),
            Self::Bluestein { n, .. } => *n,
        }
    }

    /// Whether the transform is of no points: never.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Passes over memory that it takes when each on-chip part is one.
    pub fn passes(&self) -> u64 {
        match self {
            Self::MixedRadix(_) => 1,
            Self::Split(parts) => parts.iter().map(Self::passes).sum(),
            Self::Bluestein { inner, .. } => match **inner {
                Self::MixedRadix(_) => 1,
                _ => 2 * inner.passes(),
            },
        }
    }

    /// The transform of `x`, evaluated by the tree's own identities with plain sums as leaves: checks the
    /// mathematics without a device. Cost O(n sum of radices).
    pub fn evaluate(&self, x: &[Complex<f64>]) -> Vec<Complex<f64>> {
        match self {
            Self::MixedRadix(radices) => {
                split_evaluate(x, radices.len(), &|i, y| direct(y, radices[i]), &|i| u64::from(radices[i]))
            }
            Self::Split(parts) => {
                split_evaluate(x, parts.len(), &|i, y| parts[i].evaluate(y), &|i| parts[i].len())
            }
            Self::Bluestein { n, inner } => bluestein_evaluate(x, *n, inner),
        }
    }
}

fn direct(x: &[Complex<f64>], radix: u32) -> Vec<Complex<f64>> {
    let n = u64::from(radix);
    (0..n).map(|k| x.iter().zip(0..).map(|(&x, j)| x * root(j * k, n)).sum()).collect()
}

fn root(k: u64, n: u64) -> Complex<f64> {
    let (re, im) = twiddle::root(k % n, n);
    Complex::new(re, im)
}

/// One part, twiddles, the rest: the recursion of Cooley and Tukey with digits as the lowering cuts them.
fn split_evaluate(
    x: &[Complex<f64>],
    parts: usize,
    leaf: &dyn Fn(usize, &[Complex<f64>]) -> Vec<Complex<f64>>,
    len: &dyn Fn(usize) -> u64,
) -> Vec<Complex<f64>> {
    fn rest(
        x: &[Complex<f64>],
        part: usize,
        parts: usize,
        leaf: &dyn Fn(usize, &[Complex<f64>]) -> Vec<Complex<f64>>,
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

fn bluestein_evaluate(x: &[Complex<f64>], n: u64, inner: &Plan) -> Vec<Complex<f64>> {
    let m = inner.len();
    let chirp: Vec<Complex<f64>> = (0..n).map(|k| root(twiddle::chirp_index(k, n), 2 * n)).collect();
    let mut padded = vec![Complex::default(); m as usize];
    let mut filter = padded.clone();
    for (k, &c) in chirp.iter().enumerate() {
        padded[k] = x[k] * c;
        filter[k] = c.conj();
        filter[(m as usize - k) % m as usize] = c.conj();
    }
    let product: Vec<_> =
        inner.evaluate(&padded).iter().zip(inner.evaluate(&filter)).map(|(a, b)| (a * b).conj()).collect();
    inner.evaluate(&product).iter().zip(chirp).map(|(y, c)| y.conj() * c / m as f64).collect()
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MixedRadix(radices) => {
                write!(f, "(mixed-radix")?;
                radices.iter().try_for_each(|r| write!(f, " {r}"))?;
            }
            Self::Split(parts) => {
                write!(f, "(split")?;
                parts.iter().try_for_each(|part| write!(f, " {part}"))?;
            }
            Self::Bluestein { n, inner } => write!(f, "(bluestein {n} {inner}")?,
        }
        write!(f, ")")
    }
}
