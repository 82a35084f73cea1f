//! A butterfly of points in shared memory, of any radix that stages have, in few instructions.

use super::line::Decimation;
use crate::codelet::{dft, dft_of_products};
use crate::kernel::{Cmp, Cx, Value};
use crate::problem::Direction;
use crate::strategy::code::{Code, View};
use crate::strategy::tile::Tile;

/// The largest radix.
pub(super) const LARGEST: u64 = 31;
/// The largest that is a codelet: longer ones would be most of the kernel.
const CODELET: u64 = 7;

/// Points `start + i distance` of a tile.
pub(super) struct Butterfly<'a> {
    pub tile: &'a Tile,
    /// Points.
    pub radix: u64,
    /// The first.
    pub start: Value,
    /// From one to the next.
    pub distance: Value,
    /// The powers of the root of the line's n points.
    pub roots: View,
    pub n: u64,
    /// Point i is multiplied by the root's power of i times this.
    pub power: Value,
}

impl Butterfly<'_> {
    /// Takes the points through it, in place.
    pub fn run(&self, c: &mut Code, decimation: Decimation) {
        let places: Vec<Value> = (0..self.radix).map(|i| self.place(c, i)).collect();
        let points: Vec<Cx> = places.iter().map(|&at| self.tile.load(c, at)).collect();
        let direction = if c.forward { Direction::Forward } else { Direction::Inverse };
        if self.radix > CODELET {
            debug_assert_eq!(decimation, Decimation::Frequency, "convolutions have small radices");
            return self.pairs(c, &points);
        }
        let factors: Vec<Option<Cx>> = (0..self.radix).map(|i| self.factor(c, i)).collect();
        let results = match decimation {
            Decimation::Frequency => {
                let results = dft(&mut c.b, &points, direction);
                results.into_iter().zip(&factors).map(|(z, w)| w.map_or(z, |w| c.cmul(z, w))).collect()
            }
            Decimation::Time => dft_of_products(&mut c.b, &points, &factors, direction),
        };
        let results: Vec<Cx> = results;
        for (at, z) in places.into_iter().zip(results) {
            self.tile.store(c, at, z);
        }
    }

    fn place(&self, c: &mut Code, i: u64) -> Value {
        let after = c.mul_const(self.distance, i);
        c.add(self.start, after)
    }

    fn factor(&self, c: &mut Code, i: u64) -> Option<Cx> {
        (i > 0).then(|| {
            let power = c.mul_const(self.power, i);
            c.factor(self.roots, power)
        })
    }

    /// An odd prime. With sums and differences `s = x(j) + x(p - j)`, `d = x(j) - x(p - j)` frequency q is
    ///
    /// ```text
    /// x(0) + sum over j to (p - 1) / 2 of s cos(2 pi j q / p) -+ i d sin(2 pi j q / p)
    /// ```
    ///
    /// and frequency p - q the same with the other sign: a loop over q.
    fn pairs(&self, c: &mut Code, points: &[Cx]) {
        let p = self.radix;
        let half = p / 2;
        let first = points[0];
        let pairs: Vec<[Cx; 2]> = (1..=half as usize)
            .map(|j| [points[j], points[p as usize - j]])
            .map(|[x, y]| [c.cadd(x, y), c.csub(x, y)])
            .collect();
        let sum = pairs.iter().fold(first, |sum, &[s, _]| c.cadd(sum, s));
        self.tile.store(c, self.start, sum);
        let range = [1, half as u32 + 1, 1].map(|x| c.u32(x));
        let end = c.u32(p as u32);
        let (q, _) = c.open_loop(&[]);
        let elem = c.elem;
        let nothing = c.float(elem, 0.0);
        let (mut even, mut odd) = (first, Cx { re: nothing, im: nothing });
        let mut turn = q;
        for (j, &[s, d]) in pairs.iter().enumerate() {
            if j > 0 {
                let next = c.add(turn, q);
                let beyond = c.cmp(Cmp::Ge, next, end);
                let back = c.sub(next, end);
                turn = c.select(beyond, back, next);
            }
            let power = c.mul_const(turn, self.n / p);
            let w = c.factor(self.roots, power);
            even = Cx { re: c.fma(s.re, w.re, even.re), im: c.fma(s.im, w.re, even.im) };
            odd = Cx { re: c.fma(d.re, w.im, odd.re), im: c.fma(d.im, w.im, odd.im) };
        }
        // The differences' sum by i.
        let [plus, minus] = [
            Cx { re: c.sub(even.re, odd.im), im: c.add(even.im, odd.re) },
            Cx { re: c.add(even.re, odd.im), im: c.sub(even.im, odd.re) },
        ];
        let other = c.sub(end, q);
        for (i, z) in [(q, plus), (other, minus)] {
            let after = c.mul(self.distance, i);
            let at = c.add(self.start, after);
            let power = c.mul(self.power, i);
            let w = c.factor(self.roots, power);
            let z = c.cmul(z, w);
            self.tile.store(c, at, z);
        }
        c.close_loop(range, &[], Vec::new());
    }
}
