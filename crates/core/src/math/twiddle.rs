//! Roots of unity, rounded once.
//!
//! Indices are reduced in integers and angles brought into the first octant exactly; sine and cosine are then
//! computed to about 1e-31 and rounded, so every value is the nearest `f64` (but for ties within 1e-15 ulp),
//! values at multiples of n/8 are exact, and the eight octants mirror each other bit for bit.
//!
//! ```
//! use warpfft_core::math::twiddle::{root, roots};
//! assert_eq!(root(1, 4), (0.0, -1.0));
//! assert_eq!(roots(3)[1], root(1, 3));
//! ```

use super::dd::{Cdd, Dd};
use super::factor::gcd;
use super::spread;
use std::sync::LazyLock;

/// Steps from angle 0 to pi/4 in the table that shortens the Taylor series.
const STEPS: u32 = 16;

/// What [`octant_root`] looks up.
static SERIES: LazyLock<Series> = LazyLock::new(Series::new);

struct Series {
    /// cos and sin of `j pi / (4 STEPS)`, j = 0..=STEPS.
    steps: Vec<Cdd>,
    /// 1 / k! for k = 0..8.
    inverse_factorials: [Dd; 8],
}

impl Series {
    fn new() -> Self {
        let mut inverse_factorials = [Dd::ONE; 8];
        let mut factorial = 1;
        for (k, inverse) in inverse_factorials.iter_mut().enumerate().skip(1) {
            factorial *= k as u64;
            *inverse = Dd::ONE.over(Dd::from_u64(factorial));
        }
        let angle = |j: u32| Dd::FRAC_PI_4 * (f64::from(j) / f64::from(STEPS));
        Self { steps: (0..=STEPS).map(|j| full_series(angle(j))).collect(), inverse_factorials }
    }
}

/// cos and sin of an angle of at most pi/4, every term in full precision. Powers of one step would be quicker and
/// lose a digit.
fn full_series(x: Dd) -> Cdd {
    let square = x * x;
    let sum = |start: u64, first: Dd| {
        // Horner's rule from the inside: 1 - x^2 / (a (a + 1)) * (1 - ..).
        let inner = (0..16).rev().fold(Dd::ONE, |inner, k| {
            let a = start + 2 * k;
            Dd::ONE - square.over(Dd::from_u64(a * (a + 1))) * inner
        });
        first * inner
    };
    Cdd { re: sum(1, Dd::ONE), im: sum(2, x) }
}

/// exp(-2 pi i k / n) as (cos, sin), each the nearest `f64`. `n` must not be 0.
pub fn root(k: u64, n: u64) -> (f64, f64) {
    let w = root_dd(k, n);
    (w.re.hi, w.im.hi)
}

/// exp(-2 pi i k / n) in double-double precision. `n` must not be 0.
pub fn root_dd(k: u64, n: u64) -> Cdd {
    // 8 k = octant * n + rest: the angle is octant * pi/4 + rest / n * pi/4.
    let eightfold = 8 * u128::from(k % n);
    let octant = (eightfold / u128::from(n)) as u32;
    let rest = (eightfold % u128::from(n)) as u64;
    let Cdd { re: c, im: s } =
        if octant.is_multiple_of(2) { octant_root(rest, n) } else { octant_root(n - rest, n) };
    let (cos, sin) = match octant {
        0 => (c, s),
        1 => (s, c),
        2 => (-s, c),
        3 => (-c, s),
        4 => (-c, -s),
        5 => (-s, -c),
        6 => (s, -c),
        _ => (c, -s),
    };
    Cdd { re: cos, im: -sin }
}

/// cos and sin of `rest / n * pi/4`, `0 <= rest <= n`.
fn octant_root(rest: u64, n: u64) -> Cdd {
    if rest == n {
        return Cdd { re: Dd::FRAC_1_SQRT_2, im: Dd::FRAC_1_SQRT_2 };
    }
    // Again in integers: rest / n = (j + part / n) / STEPS, so that the series sees at most one step.
    let scaled = u128::from(rest) * u128::from(STEPS);
    let j = (scaled / u128::from(n)) as usize;
    let part = (scaled % u128::from(n)) as u64;
    let fraction = Dd::from_u64(part).over(Dd::from_u64(n));
    let small = taylor(Dd::FRAC_PI_4 * fraction * (1.0 / f64::from(STEPS)));
    if j == 0 { small } else { SERIES.steps[j] * small }
}

/// cos and sin of an angle of at most pi/64 by their series. Terms below 1e-17 of the sum need only one `f64`.
fn taylor(x: Dd) -> Cdd {
    let t = x * x;
    let y = t.hi;
    let inverse = &SERIES.inverse_factorials;
    let sin_tail = y * (1.0 / 362_880.0) * (1.0 - y / 110.0 * (1.0 - y / 156.0 * (1.0 - y / 210.0)));
    let cos_tail = y * (1.0 / 40_320.0) * (1.0 - y / 90.0 * (1.0 - y / 132.0 * (1.0 - y / 182.0)));
    let sin = t * (inverse[7] - Dd::from(sin_tail));
    let sin = t * (inverse[5] - sin);
    let sin = x - x * (t * (inverse[3] - sin));
    let cos = t * (inverse[6] - Dd::from(cos_tail));
    let cos = t * (inverse[4] - cos);
    let cos = Dd::ONE - t * (inverse[2] - cos);
    Cdd { re: cos, im: sin }
}

/// exp(-2 pi i k / n) for k = 0..n, the same values as [`root`]'s.
pub fn roots(n: u64) -> Vec<(f64, f64)> {
    roots_dd(n).iter().map(|w| (w.re.hi, w.im.hi)).collect()
}

/// exp(-2 pi i k / n) for k = 0..n in double-double precision.
///
/// Only the part that symmetry does not give is computed, as products of about sqrt(n) coarse and fine roots.
pub fn roots_dd(n: u64) -> Vec<Cdd> {
    let mut table = Vec::with_capacity(n as usize);
    if n == 0 {
        return table;
    }
    let fresh = match n % 4 {
        0 => n / 8 + 1,
        2 => n / 4 + 1,
        _ => n / 2 + 1,
    };
    let step = fresh.isqrt().max(1);
    let fine: Vec<Cdd> = (0..step).map(|k| root_dd(k, n)).collect();
    for k in 0..fresh {
        // The coarse root is exact where fine is 1; the middle of the octant must not be a product.
        table.push(if k % step == 0 || 8 * u128::from(k) == u128::from(n) {
            root_dd(k, n)
        } else {
            table[(k - k % step) as usize] * fine[(k % step) as usize]
        });
    }
    let at = |k: u64| k as usize;
    if n.is_multiple_of(4) {
        for k in fresh..=n / 4 {
            let w: Cdd = table[at(n / 4 - k)];
            table.push(Cdd { re: -w.im, im: -w.re });
        }
    }
    if n.is_multiple_of(2) {
        for k in table.len() as u64..=n / 2 {
            let w = table[at(n / 2 - k)];
            table.push(Cdd { re: -w.re, im: w.im });
        }
    }
    for k in table.len() as u64..n {
        let w = table[at(n - k)];
        table.push(w.conj());
    }
    table.truncate(at(n));
    table
}

/// exp(-2 pi i t) for any number of turns t in double-double precision, to about 1e-31 beyond what t lacks.
pub fn turn_dd(turns: Dd) -> Cdd {
    let whole = |t: Dd| Dd::from(t.hi.floor());
    let mut t = turns - whole(turns);
    // What is left over may lie on the other side of a whole number.
    if t.hi < 0.0 {
        t = t + Dd::ONE;
    }
    let eighths = t * 8.0;
    let octant = eighths.hi.floor();
    let rest = eighths - Dd::from(octant);
    let Cdd { re: c, im: s } =
        if octant % 2.0 == 0.0 { octant_angle(rest) } else { octant_angle(Dd::ONE - rest) };
    let (cos, sin) = match octant as u32 % 8 {
        0 => (c, s),
        1 => (s, c),
        2 => (-s, c),
        3 => (-c, s),
        4 => (-c, -s),
        5 => (-s, -c),
        6 => (s, -c),
        _ => (c, -s),
    };
    Cdd { re: cos, im: -sin }
}

/// cos and sin of `x pi/4`, x from 0 to 1.
fn octant_angle(x: Dd) -> Cdd {
    let steps = f64::from(STEPS);
    let j = (x.hi * steps).floor().clamp(0.0, steps);
    let small = taylor(Dd::FRAC_PI_4 * (x - Dd::from(j / steps)));
    if j == 0.0 { small } else { SERIES.steps[j as usize] * small }
}

/// `k^2 mod 2 n`: the index of Bluestein's chirp `exp(-i pi k^2 / n)` among the roots of order `2 n`. For
/// `1 <= n <= 2^63`.
pub const fn chirp_index(k: u64, n: u64) -> u64 {
    // Division of 128 bits takes several times as long.
    match k.checked_mul(k) {
        Some(square) if n <= u64::MAX / 2 => square % (2 * n),
        _ => (k as u128 * k as u128 % (2 * n as u128)) as u64,
    }
}

/// Roots of one order for lists in any order, each the product of two out of about 2 sqrt(n).
struct Products {
    n: u64,
    /// Every so many points is a multiple of an eighth of the circle.
    eighth: u64,
    coarse: Vec<Cdd>,
    fine: Vec<Cdd>,
}

impl Products {
    fn new(n: u64) -> Self {
        let step = n.isqrt().max(1);
        let coarse = (0..n.div_ceil(step)).map(|j| root_dd(j * step, n)).collect();
        Self { n, eighth: n / gcd(n, 8), coarse, fine: (0..step).map(|k| root_dd(k, n)).collect() }
    }

    /// exp(-2 pi i k / n) for k below n.
    fn root(&self, k: u64) -> Cdd {
        let step = self.fine.len() as u64;
        let (coarse, rest) = (self.coarse[(k / step) as usize], k % step);
        if rest == 0 {
            coarse
        } else if k.is_multiple_of(self.eighth) {
            // What is exact a product need not be.
            root_dd(k, self.n)
        } else {
            coarse * self.fine[rest as usize]
        }
    }
}

/// Bluestein's chirp exp(-i pi k^2 / n) for k = 0..n.
pub fn chirp(n: u64) -> Vec<(f64, f64)> {
    let roots = Products::new(2 * n);
    spread::each(n, |k| {
        let w = roots.root(chirp_index(k, n));
        (w.re.hi, w.im.hi)
    })
}

/// The same in double-double precision.
pub fn chirp_dd(n: u64) -> Vec<Cdd> {
    let table = roots_dd(2 * n);
    (0..n).map(|k| table[chirp_index(k, n) as usize]).collect()
}

/// Bluestein's chirp times `exp(-2 pi i k step / order)`, for `n <= order`.
pub fn turned_chirp(n: u64, order: u64, step: u64) -> Vec<(f64, f64)> {
    let (chirp, turns) = (Products::new(2 * n), Products::new(order));
    spread::each(n, |k| {
        let w = chirp.root(chirp_index(k, n)) * turns.root(k * step % order);
        (w.re.hi, w.im.hi)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::f64::consts::{FRAC_1_SQRT_2 as R, TAU};

    fn distance(a: Cdd, b: Cdd) -> f64 {
        let d = a - b;
        d.re.hi.abs().max(d.im.hi.abs())
    }

    #[test]
    fn turns_of_any_number_are_those_of_fractions() {
        for n in [1_u64, 7, 64, 1000, 12_345] {
            for k in (0..3 * n).step_by(1 + n as usize / 50) {
                let turns = Dd::from_u64(k).over(Dd::from_u64(n));
                for whole in [0.0, 5.0, -3.0] {
                    let error = distance(turn_dd(turns + Dd::from(whole)), root_dd(k, n));
                    assert!(error < 1e-29, "{k} / {n} + {whole}: {error:e}");
                }
                assert!(distance(turn_dd(-turns), root_dd(k, n).conj()) < 1e-29, "-{k} / {n}");
            }
        }
        let least = Dd::from(-1e-40);
        assert!(
            distance(turn_dd(least), Cdd::ONE) < 1e-30
                && distance(turn_dd(Dd::ONE + least), Cdd::ONE) < 1e-30
        );
    }

    #[test]
    fn exact_at_multiples_of_an_eighth() {
        let want = [(1.0, 0.0), (R, -R), (0.0, -1.0), (-R, -R), (-1.0, 0.0), (-R, R), (0.0, 1.0), (R, R)];
        for scale in [1, 3, 1 << 20, (1 << 60) - 1] {
            for (k, &w) in want.iter().enumerate() {
                assert_eq!(root(k as u64 * scale, 8 * scale), w);
            }
        }
        assert_eq!(roots(8), want);
        assert!(roots(8).iter().all(|w| w.0.to_bits() != (-0.0f64).to_bits()));
    }

    #[test]
    #[expect(
        clippy::excessive_precision,
        reason = "the digits are those of the exact value, for people to check"
    )]
    fn digits_of_known_values() {
        // cos(2 pi / 7), cos(2 pi / 5) = (sqrt 5 - 1) / 4, cos(2 pi / 3).
        assert_eq!(root(1, 7).0, 0.623_489_801_858_733_530_525_004_884_004_239_81);
        assert_eq!(root(1, 5).0, 0.309_016_994_374_947_424_102_293_417_182_819_06);
        assert_eq!(root(1, 3), (-0.5, -0.866_025_403_784_438_646_763_723_170_752_936_18));
        let c = root_dd(1, 5).re;
        let residue = c * c * 4.0 + c * 2.0 - Dd::ONE;
        assert!(residue.hi.abs() < 1e-30, "{residue:?}");
    }

    #[test]
    fn tables_equal_single_roots() {
        for n in (1..130).chain([1000, 1022, 1023, 4096, 6561]) {
            let table = roots(n);
            assert_eq!(table.len() as u64, n);
            for k in 0..n {
                assert_eq!(table[k as usize], root(k, n), "{k} of {n}");
            }
        }
        assert!(roots(0).is_empty());
        let fast = roots_dd(1 << 16);
        assert!((0..1 << 16).all(|k| distance(fast[k as usize], root_dd(k, 1 << 16)) < 1e-30));
    }

    #[test]
    fn chirps_follow_their_definition() {
        for n in (1..80_u64).chain([1000, 4096, 4099, 6561]) {
            let table = chirp(n);
            for k in 0..n {
                assert_eq!(table[k as usize], root(k * k, 2 * n), "{k} of {n}");
            }
        }
        assert_eq!(chirp_index(u64::MAX, 1 << 63), 1);
    }

    proptest! {
        #[test]
        fn close_to_the_library(k: u64, n in 1u64..1 << 50) {
            let (c, s) = root(k, n);
            let angle = (k % n) as f64 / n as f64 * TAU;
            prop_assert!((c - angle.cos()).abs() < 2e-15 && (s + angle.sin()).abs() < 2e-15);
        }

        #[test]
        fn eight_mirrors_agree_bit_for_bit(k: u64, quarter in 1u64..1 << 60) {
            let n = 4 * quarter;
            let k = k % n;
            let (c, s) = root(k, n);
            prop_assert_eq!(root((n - k) % n, n), (c, 0.0 - s));
            prop_assert_eq!(root((k + quarter) % n, n), (s, 0.0 - c));
            prop_assert_eq!(root((n + quarter - k) % n, n), (0.0 - s, 0.0 - c));
        }

        #[test]
        fn a_homomorphism_to_thirty_digits(a: u64, b: u64, n in 1u64..) {
            let sum = ((u128::from(a) + u128::from(b)) % u128::from(n)) as u64;
            prop_assert!(distance(root_dd(a, n) * root_dd(b, n), root_dd(sum, n)) < 3e-31);
        }
    }
}
