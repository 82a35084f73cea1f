//! Transforms of odd primes as convolutions of half the length.
//!
//! With `s[j] = x[j] + x[p-j]` and `d[j] = x[j] - x[p-j]`, `X[k], X[p-k] = (x[0] + sum s[j] cos jk) -+ i sum d[j] sin jk`: half
//! the products of the definition, all of them real factors in chains of fused multiply-adds. In the order of powers of a
//! generator (Rader, *Discrete Fourier transforms when the number of data samples is prime*, 1968) both sums are convolutions of
//! `h = (p - 1) / 2` reals, modulo `x^h - 1` that of the cosines and modulo `x^h + 1` that of the sines. The Chinese remainder
//! theorem takes them apart as far as that saves instructions (Winograd, *On computing the discrete Fourier transform*, 1978),
//! and so do products of matrices what it leaves: 31 takes 24 instructions a point and not 33, 59 takes 39 and not 61.

use crate::kernel::{Builder, Cx, Value};
use crate::math::{factor, twiddle};
use crate::problem::Direction;

use super::point::Point;
use super::toeplitz::{Halving, Start, plus, sum_of};

/// What results are handed to, with their index.
type Take<'a> = &'a mut dyn FnMut(&mut Builder, usize, Point);

/// Which part of the instructions of the plain sums a convolution has to save. 17 and 19 saved an eighth once, and what had stages
/// of them took 2 to 4% longer on an H200; saving a sixth, 17 takes up to 8% less.
const WORTH: f64 = 0.17;

/// The longest that convolves numbers wider than singles: 31 doubles leave no registers for the factors, which are no part of
/// their instructions.
const LONGEST_WIDE: u64 = 29;

/// Hands over each result of the transform of a prime length as soon as it is there.
pub(super) fn each(b: &mut Builder, x: &[Point], direction: Direction, take: Take<'_>) {
    let p = x.len() as u64;
    if convolves(p) && (p <= LONGEST_WIDE || x[0].bytes(b) <= 4) {
        by_convolution(b, x, direction, take);
    } else {
        by_sums(b, x, direction, take);
    }
}

/// Instructions of the transform of a prime length in singles, about.
pub(super) fn instructions(p: u64) -> u64 {
    let half = (p - 1) / 2;
    let sums = if convolves(p) { of_both(p) } else { 2 * half * half };
    2 * sums + 8 * half
}

/// Whether convolutions are enough shorter than plain sums.
fn convolves(p: u64) -> bool {
    let half = (p - 1) / 2;
    let (sums, others) = (4 * half * half, 8 * half);
    ((2 * of_both(p) + others) as f64) < (1.0 - WORTH) * (sums + others) as f64
}

/// Instructions of the convolutions of the cosines and of the sines.
fn of_both(p: u64) -> u64 {
    let (half, halving) = ((p - 1) / 2, Halving::of(p));
    least(halving, half, false).0 + least(halving, half, true).0
}

/// The factor of the last sum's first term waits for the outputs.
fn by_sums(b: &mut Builder, x: &[Point], direction: Direction, take: Take<'_>) {
    let p = x.len();
    let half = (p - 1) / 2;
    let pairs: Vec<[Point; 2]> = (1..=half).map(|j| x[j].butterfly(b, x[p - j])).collect();
    let sum = pairs.iter().fold(x[0], |sum, &[s, _]| sum.plus(b, 1.0, s));
    take(b, 0, sum);
    for k in 1..=half {
        let (mut even, mut odd) = (x[0], None);
        for (&[s, d], j) in pairs.iter().zip(1..) {
            let (cos, sin) = twiddle::root(j * k as u64, p as u64);
            even = even.plus(b, cos, s);
            let term = d.times(-direction.sign() * sin);
            odd = Some(odd.map_or(term, |odd: Point| odd.plus(b, 1.0, term)));
        }
        let Some(odd) = odd else { continue };
        let turned = odd.turned(b, false);
        let both = even.butterfly(b, turned);
        both.into_iter().zip([k, p - k]).for_each(|(point, k)| take(b, k, point));
    }
}

fn by_convolution(b: &mut Builder, x: &[Point], direction: Direction, take: Take<'_>) {
    let p = x.len();
    let half = (p - 1) / 2;
    let generator = factor::primitive_root(p as u64).expect("the length is a prime");
    let powers: Vec<usize> = std::iter::successors(Some(1), |&power| Some(power * generator % p as u64))
        .take(p - 1)
        .map(|power| power as usize)
        .collect();
    // Points by falling powers, results and factors by rising ones.
    let pairs: Vec<[Cx; 2]> = (0..half)
        .map(|q| powers[(p - 1 - q) % (p - 1)])
        .map(|j| x[j].butterfly(b, x[p - j]).map(|point| point.value(b)))
        .collect();
    let first = x[0].value(b);
    let sum = pairs.iter().fold(first, |sum, &[s, _]| b.cadd(sum, s));
    take(b, 0, Point::new(sum, None));
    let roots: Vec<(f64, f64)> =
        powers[..half].iter().map(|&power| twiddle::root(power as u64, p as u64)).collect();
    let cosines: Vec<f64> = roots.iter().map(|&(cos, _)| cos).collect();
    let sines: Vec<f64> = roots.iter().map(|&(_, sin)| -direction.sign() * sin).collect();
    let halving = Halving::of(p as u64);
    let mut part = |which: usize, real: fn(Cx) -> Value| {
        let values: Vec<Value> = pairs.iter().map(|pair| real(pair[which])).collect();
        match which {
            0 => Convolution { by: &cosines, skew: false, halving }.of(b, &values, Some(real(first))),
            _ => Convolution { by: &sines, skew: true, halving }.of(b, &values, None),
        }
    };
    let [even, odd] = [0, 1].map(|which| {
        let (re, im) = (part(which, |x| x.re), part(which, |x| x.im));
        re.into_iter().zip(im).map(|(re, im)| Point::new(Cx { re, im }, None)).collect::<Vec<_>>()
    });
    for ((even, odd), &k) in even.into_iter().zip(odd).zip(&powers) {
        let turned = odd.turned(b, false);
        let both = even.butterfly(b, turned);
        both.into_iter().zip([k, p - k]).for_each(|(point, k)| take(b, k, point));
    }
}

/// How a convolution of reals modulo `x^n - 1`, or `x^n + 1`, is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    /// As the product with a matrix.
    Plain,
    /// Modulo `x^n - 1 = (x^m - 1) (x^m + 1)`.
    Halves,
    /// Modulo `x^n + 1`, as one of half the length modulo `x^m - i`.
    Turned,
    /// `z^3 - 1 = (z - 1) (z - w) (z - conj w)` with `z = +-x^m`.
    Thirds,
}

/// The fewest instructions of such a convolution, and how.
fn least(halving: Halving, n: u64, skew: bool) -> (u64, Way) {
    let plain = halving.instructions(n, n, false);
    let mut ways = vec![(plain, Way::Plain)];
    if n.is_multiple_of(2) {
        let m = n / 2;
        ways.push(match skew {
            false => (least(halving, m, false).0 + least(halving, m, true).0 + 2 * n, Way::Halves),
            true => (of_complex(halving, m), Way::Turned),
        });
    }
    if n.is_multiple_of(3) {
        let m = n / 3;
        ways.push((least(halving, m, skew).0 + of_complex(halving, m) + 8 * m, Way::Thirds));
    }
    ways.into_iter().min().unwrap_or((plain, Way::Plain))
}

/// Instructions of a convolution of complex numbers.
fn of_complex(halving: Halving, n: u64) -> u64 {
    if in_three(n) { 3 * halving.instructions(n, n, false) + 3 * n } else { 4 * n * n }
}

/// Whether three products in place of four save instructions.
const fn in_three(n: u64) -> bool {
    n > 3
}

/// A convolution of reals with constants modulo `x^n - 1`, or `x^n + 1` where it is skew.
#[derive(Clone, Copy)]
struct Convolution<'a> {
    by: &'a [f64],
    skew: bool,
    halving: Halving,
}

impl Convolution<'_> {
    /// That of `x`; `start` is added to each result.
    fn of(self, b: &mut Builder, x: &[Value], start: Option<Value>) -> Vec<Value> {
        let Self { by, skew, halving } = self;
        let (low, high) = x.split_at(x.len() / 2);
        let (by_low, by_high) = by.split_at(x.len() / 2);
        match least(halving, x.len() as u64, skew).1 {
            Way::Plain => {
                let wrapped = if skew { -1.0 } else { 1.0 };
                let diagonals: Vec<f64> =
                    by[1..].iter().map(|by| wrapped * by).chain(by.iter().copied()).collect();
                halving.product(b, x, &diagonals, start.map_or(Start::Nothing, Start::All))
            }
            Way::Halves => {
                let half = |sign: f64| -> Vec<f64> {
                    by_low.iter().zip(by_high).map(|(low, high)| (low + sign * high) / 2.0).collect()
                };
                let both = || low.iter().zip(high);
                let sums: Vec<Value> = both().map(|(&low, &high)| b.add(low, high)).collect();
                let differences: Vec<Value> = both().map(|(&low, &high)| b.sub(low, high)).collect();
                let even = Convolution { by: &half(1.0), skew: false, halving }.of(b, &sums, start);
                let odd = Convolution { by: &half(-1.0), skew: true, halving }.of(b, &differences, None);
                let both = || even.iter().zip(&odd);
                let low: Vec<Value> = both().map(|(&even, &odd)| b.add(even, odd)).collect();
                low.into_iter().chain(both().map(|(&even, &odd)| b.sub(even, odd))).collect()
            }
            Way::Turned => {
                let by: Vec<(f64, f64)> = by_low.iter().copied().zip(by_high.iter().copied()).collect();
                let [re, im] = complex(b, halving, low, (high, 1.0), &by, (0.0, 1.0));
                re.into_iter().chain(im).collect()
            }
            Way::Thirds => self.thirds(b, x, start),
        }
    }

    fn thirds(self, b: &mut Builder, x: &[Value], start: Option<Value>) -> Vec<Value> {
        let Self { by, skew, halving } = self;
        let m = x.len() / 3;
        let height = 3_f64.sqrt() / 2.0;
        let sign = if skew { -1.0 } else { 1.0 };
        let (mut real, mut re, mut im) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..m {
            let middle = if skew { b.neg(x[i + m]) } else { x[i + m] };
            let both = b.add(middle, x[i + 2 * m]);
            real.push(b.add(x[i], both));
            re.push(plus(b, x[i], -0.5, both));
            im.push(b.sub(middle, x[i + 2 * m]));
        }
        let third = |i: usize| [by[i], sign * by[i + m], by[i + 2 * m]];
        let by_real: Vec<f64> = (0..m).map(third).map(|[a, b, c]| (a + b + c) / 3.0).collect();
        let by_complex: Vec<(f64, f64)> = (0..m)
            .map(third)
            .map(|[a, b, c]| ((2.0 * a - b - c) / 3.0, 2.0 * height * (b - c) / 3.0))
            .collect();
        let real = Convolution { by: &by_real, ..self }.of(b, &real, start);
        let wrapped = (-0.5 * sign, height * sign);
        let [re, im] = complex(b, halving, &re, (&im, height), &by_complex, wrapped);
        let mut all = [Vec::new(), Vec::new(), Vec::new()];
        for ((&real, &re), &im) in real.iter().zip(&re).zip(&im) {
            all[0].push(b.add(real, re));
            let rest = plus(b, real, -0.5, re);
            let middle = plus(b, rest, height, im);
            all[1].push(if skew { b.neg(middle) } else { middle });
            all[2].push(plus(b, rest, -height, im));
        }
        all.concat()
    }
}

/// The convolution of complex numbers with constants modulo `x^n - wrapped`: real and imaginary parts. What is given of the
/// imaginary parts is to be multiplied by a factor.
fn complex(
    b: &mut Builder,
    halving: Halving,
    re: &[Value],
    (im, scale): (&[Value], f64),
    by: &[(f64, f64)],
    wrapped: (f64, f64),
) -> [Vec<Value>; 2] {
    let n = re.len();
    let factor = |r: usize, q: usize| {
        if q <= r {
            return by[r - q];
        }
        let (a, b) = by[r + n - q];
        (a * wrapped.0 - b * wrapped.1, a * wrapped.1 + b * wrapped.0)
    };
    if !in_three(n as u64) {
        let mut all = [Vec::new(), Vec::new()];
        for r in 0..n {
            let both = |of_re: fn((f64, f64)) -> f64, of_im: fn((f64, f64)) -> f64| {
                let terms = re.iter().zip(im).enumerate();
                terms.flat_map(move |(q, (&re, &im))| {
                    let w = factor(r, q);
                    [(re, of_re(w)), (im, scale * of_im(w))]
                })
            };
            all[0].push(sum_of(b, None, both(|w| w.0, |w| -w.1)));
            all[1].push(sum_of(b, None, both(|w| w.1, |w| w.0)));
        }
        return all;
    }
    // (a + i b) (c + i d) by c (a + b), a (d - c) and b (c + d).
    let sums: Vec<Value> = re.iter().zip(im).map(|(&re, &im)| plus(b, re, scale, im)).collect();
    let factors: Vec<(f64, f64)> =
        (1..n).map(|q| factor(0, n - q)).chain((0..n).map(|r| factor(r, 0))).collect();
    let mut product = |x: &[Value], of: fn((f64, f64)) -> f64, by: f64| {
        let diagonals: Vec<f64> = factors.iter().map(|&factor| by * of(factor)).collect();
        halving.product(b, x, &diagonals, Start::Nothing)
    };
    let one = product(&sums, |(c, _)| c, 1.0);
    let two = product(re, |(c, d)| d - c, 1.0);
    let three = product(im, |(c, d)| c + d, scale);
    let re = one.iter().zip(&three).map(|(&one, &three)| b.sub(one, three)).collect();
    [re, one.iter().zip(&two).map(|(&one, &two)| b.add(one, two)).collect()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn convolutions_take_fewer_instructions() {
        let saved: Vec<(u64, u64)> = [7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73]
            .into_iter()
            .filter(|&p| convolves(p))
            .map(|p| (p, instructions(p)))
            .collect();
        let expected = [
            (17, 264),
            (23, 468),
            (29, 672),
            (31, 740),
            (37, 856),
            (41, 1056),
            (43, 1132),
            (47, 1564),
            (53, 1700),
            (59, 2316),
            (61, 1792),
            (67, 2268),
            (71, 3172),
            (73, 2256),
        ];
        assert_eq!(saved, expected);
    }
}
