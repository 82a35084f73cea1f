//! Lines with reals on one side or both, by complex transforms of sequences made of them.
//!
//! Cosine and sine transforms of types II and III take one of as many points (Makhoul, *A fast cosine transform in one
//! and two dimensions*, IEEE Trans. ASSP 28(1), 1980); those of types I and IV one of twice as many, of the line
//! continued to its period or padded with zeros. Sines are cosines of the line with other signs, or reversed.

use super::fast::FastDft;
use crate::math::chirp;
use crate::math::dd::{Cdd, Dd};
use crate::math::twiddle::{root_dd, turn_dd};
use crate::problem::{Band, RealDim, RealKind, half};

/// Products of samples and points up to which frequencies are sums.
const SUMS: u64 = 1 << 16;

/// What happens along one dimension of the kind's own.
pub(super) struct Line {
    /// Points before and after.
    points: [usize; 2],
    along: Along,
    dft: FastDft,
    /// Factors of the line's points, where its kind has some.
    turns: Vec<Cdd>,
    /// Points with a weight of sqrt(2) in the input, and of 1 / sqrt(2) in the output.
    weighted: [Vec<usize>; 2],
}

enum Along {
    ToSpectrum,
    FromSpectrum,
    Reals(RealKind),
    Zoom(Band),
}

impl Line {
    /// `n` reals into the first half of their spectrum.
    pub(super) fn to_spectrum(n: usize) -> Self {
        Self::unweighted([n, half(n as u64) as usize], Along::ToSpectrum)
    }

    /// Half of a spectrum into its `n` reals. The transform is that with exp(-), as all here.
    pub(super) fn from_spectrum(n: usize) -> Self {
        Self::unweighted([half(n as u64) as usize, n], Along::FromSpectrum)
    }

    /// Samples into the frequencies of a band. Short ones are sums, long ones convolutions.
    pub(super) fn zoom(band: Band) -> Self {
        let points = [band.samples as usize, band.points as usize];
        let long = band.samples.saturating_mul(band.points) > SUMS;
        let length = if long { (points[0] + points[1]).next_power_of_two() } else { 1 };
        let dft = FastDft::new(length);
        // Of a long one, the transform of what it is convolved with.
        let turns = if long { dft.forward(&chirp::filter_dd(&band, length)) } else { Vec::new() };
        Self { points, along: Along::Zoom(band), dft, turns, weighted: [vec![], vec![]] }
    }

    fn unweighted(points: [usize; 2], along: Along) -> Self {
        let n = points[0].max(points[1]);
        Self { points, along, dft: FastDft::new(n), turns: Vec::new(), weighted: [vec![], vec![]] }
    }

    /// Reals into reals.
    pub(super) fn reals(dim: &RealDim) -> Self {
        use RealKind::{Dct1, Dct2, Dct3, Dct4, Dht, Dst1, Dst2, Dst3, Dst4, FromHalfComplex, HalfComplex};
        let n = dim.dim.n;
        let (length, turns) = match dim.kind {
            Dct1 | Dst1 => (dim.kind.period(n), vec![]),
            Dct2 | Dct3 | Dst2 | Dst3 => (n, (0..n).map(|k| root_dd(k, 4 * n)).collect()),
            Dct4 | Dst4 => (2 * n, (0..2 * n).map(|k| root_dd(k, 8 * n)).collect()),
            Dht | HalfComplex | FromHalfComplex => (n, vec![]),
        };
        let last = n as usize - 1;
        let weighted = match dim.kind {
            Dct1 if dim.orthogonal => [vec![0, last], vec![0, last]],
            Dct2 if dim.orthogonal => [vec![], vec![0]],
            Dct3 if dim.orthogonal => [vec![0], vec![]],
            Dst2 if dim.orthogonal => [vec![], vec![last]],
            Dst3 if dim.orthogonal => [vec![last], vec![]],
            _ => [vec![], vec![]],
        };
        let dft = FastDft::new(length as usize);
        Self { points: [n as usize; 2], along: Along::Reals(dim.kind), dft, turns, weighted }
    }

    /// Points after the transform.
    pub(super) const fn after(&self) -> usize {
        self.points[1]
    }

    /// A packed row-major array with every line along an axis transformed.
    pub(super) fn along(&self, data: &[Cdd], shape: &[usize], axis: usize) -> Vec<Cdd> {
        let [before, after] = self.points;
        let inner: usize = shape[axis + 1..].iter().product();
        let mut all = vec![Cdd::ZERO; data.len() / before * after];
        for (from, to) in data.chunks_exact(before * inner).zip(all.chunks_exact_mut(after * inner)) {
            for i in 0..inner {
                let line: Vec<Cdd> = from[i..].iter().step_by(inner).copied().collect();
                let transformed = self.transform(line);
                to[i..].iter_mut().step_by(inner).zip(transformed).for_each(|(to, from)| *to = from);
            }
        }
        all
    }

    fn transform(&self, mut x: Vec<Cdd>) -> Vec<Cdd> {
        let weigh = |x: &mut [Cdd], side: usize, weight: Dd| {
            self.weighted[side].iter().for_each(|&at| x[at].re = x[at].re * weight);
        };
        weigh(&mut x, 0, Dd::FRAC_1_SQRT_2 * 2.0);
        let mut y = match self.along {
            Along::ToSpectrum => {
                let mut y = self.dft.forward(&x);
                y.truncate(self.after());
                y
            }
            Along::FromSpectrum => self.continued(|k| x[k]),
            Along::Reals(kind) => self.real(kind, x),
            Along::Zoom(band) => self.band(&band, &x),
        };
        weigh(&mut y, 1, Dd::FRAC_1_SQRT_2);
        y
    }

    fn band(&self, band: &Band, x: &[Cdd]) -> Vec<Cdd> {
        if self.turns.is_empty() {
            // Horner's rule: one sine for each frequency.
            let sum = |z: Cdd| x.iter().rev().fold(Cdd::ZERO, |sum, &x| sum * z + x);
            return (0..band.points).map(|k| sum(turn_dd(band.turns(k)))).collect();
        }
        let mut padded: Vec<Cdd> = x.iter().zip(0..).map(|(&x, j)| x * chirp::sample(band, j)).collect();
        padded.resize(self.turns.len(), Cdd::ZERO);
        let spectrum = self.dft.forward(&padded);
        let product: Vec<Cdd> = spectrum.iter().zip(&self.turns).map(|(&a, &b)| (a * b).conj()).collect();
        let whole = 1.0 / self.turns.len() as f64;
        let found = self.dft.forward(&product);
        (0..band.points).map(|k| found[k as usize].conj().scaled(whole) * chirp::point(band, k)).collect()
    }

    /// The reals whose spectrum has that first half; parts that reals cannot have are left out.
    fn continued(&self, frequency: impl Fn(usize) -> Cdd) -> Vec<Cdd> {
        let n = self.after();
        let whole = |k: usize| match 2 * k {
            0 => real(frequency(0).re),
            twice if twice == n => real(frequency(k).re),
            twice if twice < n => frequency(k),
            _ => frequency(n - k).conj(),
        };
        let whole: Vec<Cdd> = (0..n).map(whole).collect();
        self.dft.forward(&whole).into_iter().map(|y| real(y.re)).collect()
    }

    fn real(&self, kind: RealKind, mut x: Vec<Cdd>) -> Vec<Cdd> {
        let n = x.len();
        match kind {
            RealKind::Dct1 => {
                // Neither end is repeated.
                x.extend_from_within(1..n - 1);
                x[n..].reverse();
                self.dft.forward(&x)[..n].iter().map(|y| real(y.re)).collect()
            }
            RealKind::Dst1 => {
                let mut whole = vec![Cdd::ZERO; 2 * (n + 1)];
                for (at, &x) in x.iter().enumerate() {
                    (whole[1 + at], whole[2 * n + 1 - at]) = (x, negative(x));
                }
                self.dft.forward(&whole)[1..=n].iter().map(|y| real(-y.im)).collect()
            }
            RealKind::Dct2 => self.dct2(&x),
            RealKind::Dct3 => self.dct3(&x),
            RealKind::Dct4 => self.dct4(x),
            RealKind::Dst2 => {
                alternate(&mut x);
                let mut y = self.dct2(&x);
                y.reverse();
                y
            }
            RealKind::Dst3 | RealKind::Dst4 => {
                x.reverse();
                let mut y = if kind == RealKind::Dst3 { self.dct3(&x) } else { self.dct4(x) };
                alternate(&mut y);
                y
            }
            RealKind::Dht => self.dft.forward(&x).into_iter().map(|y| real(y.re - y.im)).collect(),
            RealKind::HalfComplex => {
                let y = self.dft.forward(&x);
                (0..n).map(|k| real(if 2 * k <= n { y[k].re } else { y[n - k].im })).collect()
            }
            // With exp(+) for the spectrum that it is: with exp(-) for the conjugate.
            RealKind::FromHalfComplex => {
                self.continued(|k| Cdd { re: x[k].re, im: if k == 0 { Dd::ZERO } else { -x[n - k].re } })
            }
        }
    }

    /// Even points first, odd ones backwards after them: then the shifts by half a point are factors.
    fn dct2(&self, x: &[Cdd]) -> Vec<Cdd> {
        let odd = x.iter().skip(1).step_by(2).rev();
        let sorted: Vec<Cdd> = x.iter().step_by(2).chain(odd).copied().collect();
        let product = |(&y, &w): (&Cdd, &Cdd)| real((y * w).re * 2.0);
        self.dft.forward(&sorted).iter().zip(&self.turns).map(product).collect()
    }

    /// The transpose of [`Line::dct2`], but for the weight of the first point.
    fn dct3(&self, x: &[Cdd]) -> Vec<Cdd> {
        let mut turned: Vec<Cdd> = x.iter().zip(&self.turns).map(|(&x, &w)| (x * w).scaled(2.0)).collect();
        turned[0] = x[0];
        let y = self.dft.forward(&turned);
        let n = y.len();
        (0..n).map(|j| real(y[if j % 2 == 0 { j / 2 } else { n - 1 - j / 2 }].re)).collect()
    }

    /// `(2 j + 1) (2 k + 1) / (4 n) = 2 j k / (2 n) + (2 j + 1) / (4 n) + k / (2 n)` half turns.
    fn dct4(&self, mut x: Vec<Cdd>) -> Vec<Cdd> {
        let n = x.len();
        x.iter_mut().enumerate().for_each(|(j, x)| *x = *x * self.turns[2 * j + 1]);
        x.resize(2 * n, Cdd::ZERO);
        let y = self.dft.forward(&x);
        (0..n).map(|k| real((y[k] * self.turns[2 * k]).re * 2.0)).collect()
    }
}

fn real(re: Dd) -> Cdd {
    Cdd { re, im: Dd::ZERO }
}

fn negative(z: Cdd) -> Cdd {
    Cdd { re: -z.re, im: -z.im }
}

/// Changes the sign of every second point.
fn alternate(x: &mut [Cdd]) {
    x.iter_mut().skip(1).step_by(2).for_each(|x| *x = negative(*x));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Dim;
    use rand::{Rng, SeedableRng, rngs::StdRng};

    fn distance(a: &[Cdd], b: &[Cdd]) -> f64 {
        let part = |z: Cdd| z.re.hi.powi(2) + z.im.hi.powi(2);
        let error: f64 = a.iter().zip(b).map(|(&a, &b)| part(a - b)).sum();
        (error / b.iter().map(|&b| part(b)).sum::<f64>()).sqrt()
    }

    /// What sums in f64 cannot show: there is no digit missing.
    #[test]
    fn there_and_back_is_the_identity_to_28_digits() {
        let mut random = StdRng::seed_from_u64(1);
        for n in (1..=20).chain([37, 64, 120]) {
            let x: Vec<Cdd> = (0..n).map(|_| real(random.random_range(-1.0..1.0).into())).collect();
            let (there, back) = (Line::to_spectrum(n), Line::from_spectrum(n));
            let conjugated = there.transform(x.clone()).into_iter().map(Cdd::conj).collect();
            let whole: Vec<Cdd> = x.iter().map(|x| x.scaled(n as f64)).collect();
            assert!(distance(&back.transform(conjugated), &whole) < 1e-28, "{n}");
            for kind in RealKind::ALL.into_iter().filter(|kind| kind.least() <= n as u64) {
                for orthogonal in [false, true] {
                    let line =
                        |kind| Line::reals(&RealDim { dim: Dim::new(n as u64, 1, 1), kind, orthogonal });
                    let period = kind.period(n as u64) as f64;
                    let whole: Vec<Cdd> = x.iter().map(|x| x.scaled(period)).collect();
                    let error =
                        distance(&line(kind.inverse()).transform(line(kind).transform(x.clone())), &whole);
                    assert!(error < 1e-28, "{kind:?} {n} {orthogonal}: {error:e}");
                }
            }
        }
    }
}
