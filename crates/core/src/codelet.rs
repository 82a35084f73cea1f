//! Formulas to straight-line code: transforms of short lengths on values in registers.
//!
//! Every codelet is generated from an identity, none is typed in: lengths 1 to 4 from the definition, coprime
//! products by Good and Thomas (no twiddles between the factors), other products by Cooley and Tukey with
//! constant twiddles, primes by the symmetric form that halves the products by pairing `x[j]` with `x[p - j]`, and by
//! convolutions where they take fewer instructions.

use crate::kernel::{Builder, Cx};
use crate::math::factor;
use crate::problem::Direction;

mod point;
mod prime;
mod reals;
mod toeplitz;

use point::Point;
pub use reals::{has_reals, reals};

/// The largest number that is no prime and has a codelet.
const LARGEST: u64 = 42;
/// The square of a prime that has one beyond.
const SQUARE: u64 = 49;
/// The largest prime with a codelet.
pub const LARGEST_PRIME: u64 = 73;

/// Prime lengths from which on results are best stored in twos.
const IN_TWOS: u64 = 37;

/// Lengths that have a codelet: what a thread's registers hold.
pub fn has_codelet(n: u64) -> bool {
    (1..=LARGEST).contains(&n) || n == SQUARE || (n <= LARGEST_PRIME && factor::is_prime(n))
}

/// Whether the results of a codelet are best stored in twos, as they come.
pub fn comes_in_twos(n: u64) -> bool {
    n >= IN_TWOS && has_codelet(n) && factor::is_prime(n)
}

/// The transform of a prime length. Each result is handed over as soon as it is there: `X[k]`
/// and `X[p - k]` come from the same two sums, and stored at once they need registers for no others.
pub fn dft_in_twos(
    b: &mut Builder,
    x: &[Cx],
    direction: Direction,
    mut take: impl FnMut(&mut Builder, usize, Cx),
) {
    let points: Vec<Point> = x.iter().map(|&x| Point::new(x, None)).collect();
    prime::each(b, &points, direction, &mut |b, k, point| {
        let value = point.value(b);
        take(b, k, value);
    });
}

/// The transform of `x` in natural order, unscaled.
pub fn dft(b: &mut Builder, x: &[Cx], direction: Direction) -> Vec<Cx> {
    dft_of_products(b, x, &vec![None; x.len()], direction)
}

/// The transform of the points times factors, some of which may be 1.
pub fn dft_of_products(b: &mut Builder, x: &[Cx], w: &[Option<Cx>], direction: Direction) -> Vec<Cx> {
    let points: Vec<Point> = x.iter().zip(w).map(|(&x, &w)| Point::new(x, w)).collect();
    dft_of_points(b, &points, direction).into_iter().map(|point| point.value(b)).collect()
}

fn dft_of_points(b: &mut Builder, x: &[Point], direction: Direction) -> Vec<Point> {
    let n = x.len();
    match n {
        0 | 1 => x.to_vec(),
        2 => x[0].butterfly(b, x[1]).to_vec(),
        4 => dft4(b, x, direction),
        _ => match split(n) {
            None => dft_prime(b, x, direction),
            Some((p, q)) if factor::gcd(p as u64, q as u64) == 1 => good_thomas(b, x, p, q, direction),
            Some((p, q)) => cooley_tukey(b, x, p, q, direction),
        },
    }
}

/// How a composite length is split in two; `None` for primes. Coprime factors first, else as even as possible
/// with radix 4 preferred, since its rotations are free.
fn split(n: usize) -> Option<(usize, usize)> {
    let powers = factor::factorise(n as u64);
    let (p, e) = powers[0];
    let first = p.pow(e) as usize;
    if first != n {
        return Some((first, n / first));
    }
    match (p, e) {
        (_, 1) => None,
        (2, 3) => Some((2, 4)),
        (2, 4) => Some((4, 4)),
        (2, 5) => Some((4, 8)),
        _ => Some((p as usize, n / p as usize)),
    }
}

fn dft4(b: &mut Builder, x: &[Point], direction: Direction) -> Vec<Point> {
    let [s02, d02] = x[0].butterfly(b, x[2]);
    let [s13, d13] = x[1].butterfly(b, x[3]);
    let turned = d13.turned(b, direction == Direction::Forward);
    let [x0, x2] = s02.butterfly(b, s13);
    let [x1, x3] = d02.butterfly(b, turned);
    vec![x0, x1, x2, x3]
}

/// Cooley and Tukey, *An algorithm for the machine calculation of complex Fourier series* (1965): `n = p q`,
/// p transforms of length q of every p-th point, twiddles, q transforms of length p.
fn cooley_tukey(b: &mut Builder, x: &[Point], p: usize, q: usize, direction: Direction) -> Vec<Point> {
    let n = p * q;
    let columns: Vec<Vec<Point>> = (0..p)
        .map(|j| {
            let column: Vec<Point> = (0..q).map(|i| x[i * p + j]).collect();
            dft_of_points(b, &column, direction)
        })
        .collect();
    let mut out = vec![x[0]; n];
    for k in 0..q {
        let row: Vec<Point> =
            (0..p).map(|j| columns[j][k].rotated(b, (j * k) as u64, n as u64, direction)).collect();
        for (i, value) in dft_of_points(b, &row, direction).into_iter().enumerate() {
            out[k + q * i] = value;
        }
    }
    out
}

/// Good, *The interaction algorithm and practical Fourier analysis* (1958): coprime p and q make a
/// two-dimensional transform without twiddles. Input index `(q i + p j) mod n` (Ruritanian map), output by the
/// Chinese remainder theorem.
fn good_thomas(b: &mut Builder, x: &[Point], p: usize, q: usize, direction: Direction) -> Vec<Point> {
    let n = p * q;
    let rows: Vec<Vec<Point>> = (0..p)
        .map(|i| {
            let row: Vec<Point> = (0..q).map(|j| x[(q * i + p * j) % n]).collect();
            dft_of_points(b, &row, direction)
        })
        .collect();
    let mut out = vec![x[0]; n];
    let columns: Vec<Vec<Point>> = (0..q)
        .map(|k2| {
            let column: Vec<Point> = rows.iter().map(|row| row[k2]).collect();
            dft_of_points(b, &column, direction)
        })
        .collect();
    for (k, value) in out.iter_mut().enumerate() {
        *value = columns[k % q][k % p];
    }
    out
}

fn dft_prime(b: &mut Builder, x: &[Point], direction: Direction) -> Vec<Point> {
    let mut out = vec![x[0]; x.len()];
    prime::each(b, x, direction, &mut |_, k, point| out[k] = point);
    out
}

/// Instructions of the transform of a prime length in singles, about.
pub fn instructions_of_prime(p: u64) -> u64 {
    prime::instructions(p)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Op, Type};
    use crate::math::twiddle;

    fn run(direction: Direction, x: &[(f64, f64)]) -> Vec<(f64, f64)> {
        evaluated(x, |b, x| dft(b, x, direction))
    }

    /// Runs a codelet's straight-line code on the host in f64.
    pub(super) fn evaluated(
        x: &[(f64, f64)],
        codelet: impl FnOnce(&mut Builder, &[Cx]) -> Vec<Cx>,
    ) -> Vec<(f64, f64)> {
        let n = x.len();
        let mut b = Builder::new("codelet", 1, 1);
        let space = b.buffer("x", Type::F64, crate::kernel::Access::ReadWrite, 2 * n as u64);
        let zero = b.u32(0);
        let ptr = b.addr(space, zero);
        let input: Vec<Cx> = (0..n)
            .map(|i| {
                let pair = b.load(ptr, 2 * i as i32, 2, crate::kernel::Cache::Default, None);
                Cx { re: pair[0], im: pair[1] }
            })
            .collect();
        let output = codelet(&mut b, &input);
        let kernel = b.finish();
        let mut values = vec![0.0; kernel.types.len()];
        let mut loads = x.iter();
        for inst in &kernel.body.insts {
            let arg = |i: usize| values[inst.args[i].0 as usize];
            let value = match inst.op {
                Op::Const(bits) => f64::from_bits(bits),
                Op::Load { .. } => {
                    let &(re, im) = loads.next().expect("one load an input");
                    values[inst.results[1].0 as usize] = im;
                    re
                }
                Op::Add => arg(0) + arg(1),
                Op::Sub => arg(0) - arg(1),
                Op::Mul => arg(0) * arg(1),
                Op::Neg => -arg(0),
                Op::Fma => arg(0).mul_add(arg(1), arg(2)),
                _ => continue,
            };
            values[inst.results[0].0 as usize] = value;
        }
        output.iter().map(|z| (values[z.re.0 as usize], values[z.im.0 as usize])).collect()
    }

    #[test]
    fn every_codelet_is_the_transform() {
        for n in (1..=LARGEST_PRIME as usize).filter(|&n| has_codelet(n as u64)) {
            let x: Vec<(f64, f64)> =
                (0..n).map(|_| (rand::random_range(-1.0..1.0), rand::random_range(-1.0..1.0))).collect();
            for direction in [Direction::Forward, Direction::Inverse] {
                for (k, (re, im)) in run(direction, &x).into_iter().enumerate() {
                    let (mut want_re, mut want_im) = (0.0, 0.0);
                    for (j, &(a, b)) in x.iter().enumerate() {
                        let (c, s) = twiddle::root((j * k % n) as u64, n as u64);
                        let s = if direction == Direction::Forward { s } else { -s };
                        want_re += a * c - b * s;
                        want_im += a * s + b * c;
                    }
                    let error = (re - want_re).hypot(im - want_im);
                    assert!(error < 1e-13, "length {n} {direction:?}, output {k}: off by {error:e}");
                }
            }
        }
    }
}
