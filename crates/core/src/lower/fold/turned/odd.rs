//! DCT-IV and DST-IV of an odd length n, as a transform of n reals in another order (Chan and Ho, *Direct methods for computing
//! discrete sinusoidal transforms*, IEE Proceedings F 137(6), 1990).
//!
//! Continued as its cosines are, even about -1/2 and odd about n - 1/2, a line repeats after 4n. Of every element one of four images
//! stands at a place `n' + 4 i`, `n' = (n - 1) / 2`, and there `cos(pi (2 m + 1) (2 k + 1) / (4 n))` is
//! `cos(pi (2 k + 1) / 4 + 2 pi i (2 k + 1) / n)`. So output k is frequency `2 k + 1` of the line by i, turned by an odd number of
//! eighths: its real and imaginary parts with signs that k says, times the root of 2.

use crate::kernel::{Cmp, Op, Type, Value};
use crate::lower::Lowering;
use crate::pass::{Carry, Fold};

use super::super::Item;

impl Lowering<'_> {
    /// An element of each line. The sine transform reads it from the other end.
    pub(super) fn turned_odd_taken(&mut self, fold: &Fold, item: &Item) -> Vec<Value> {
        let from = if Self::sine(fold) { self.mirrored(fold.n - 1, item.index) } else { item.index };
        item.own.lines.iter().map(|line| self.get_real(line, from, item.on)).collect()
    }

    /// From elements to their places in the other order.
    pub(super) fn turned_odd_in(&mut self, fold: &Fold, item: &Item, taken: &[Value]) {
        let (place, negative) = self.image_in_fours(fold.n, item.index);
        for (row, &x) in taken.iter().enumerate() {
            let minus = self.b.neg(x);
            let x = self.b.select(negative, minus, x);
            self.put_sample(fold, item, row, (place, x), item.on);
        }
    }

    /// Two elements from a frequency, as far from either end.
    pub(super) fn turned_odd_out(&mut self, fold: &Fold, item: &Item) {
        let (n, q) = (fold.n, item.index);
        let halved = if matches!(fold.carry, Carry::Single) { 1.0 } else { 0.5 };
        let scale = self.b.float(self.real, std::f64::consts::SQRT_2 * halved * self.pass.scale);
        // The index k of which `2 k + 1` is the frequency, or as much as that and n.
        let (odd, before) = (self.bit(q, 0), self.b.add_const(q, n - 1));
        let below = self.b.add_const(q, u64::from(u32::MAX));
        let twice = self.b.select(odd, below, before);
        let k = self.halved(twice);
        let mirror = self.mirrored(n - 1, k);
        let inner = self.is_not(q, 0);
        let paired = self.also(item.on, inner);
        for bin in self.parted(fold, item, &[]) {
            let line = &item.own.lines[bin.line];
            let (re, im) = (self.b.mul(bin.value.re, scale), self.b.mul(bin.value.im, scale));
            let opposite = self.b.neg(im);
            for (at, im, on) in [(k, im, item.on), (mirror, opposite, paired)] {
                let y = self.with_signs(fold, at, [re, im]);
                self.put_real(line, at, y, on);
            }
        }
    }

    /// The sum of a frequency's parts with the signs of the cosine and the sine of an odd number of eighths, `2 k + 1`; every second
    /// output of the sine transform is negative.
    fn with_signs(&mut self, fold: &Fold, k: Value, [re, im]: [Value; 2]) -> Value {
        let (low, high) = (self.bit(k, 0), self.bit(k, 1));
        let apart = self.b.pure(Op::Xor, Type::Bool, &[low, high]);
        let [cosine, sine] = if Self::sine(fold) { [high, apart] } else { [apart, high] };
        let [re, im] = [(re, cosine), (im, sine)].map(|(x, negative)| {
            let minus = self.b.neg(x);
            self.b.select(negative, minus, x)
        });
        self.b.add(re, im)
    }

    /// Where the image of an element stands that is at `n' + 4 i`: i, and whether it is negative.
    fn image_in_fours(&mut self, n: u64, j: Value) -> (Value, Value) {
        let first = (n - 1) / 2;
        let low = {
            let three = self.b.u32(3);
            self.b.pure(Op::And, Type::U32, &[j, three])
        };
        let is = |this: &mut Self, rest: u64| {
            let rest = this.b.u32(rest as u32 % 4);
            this.b.cmp(Cmp::Eq, low, rest)
        };
        // The element itself, its image about n - 1/2, half a period further, and the image about -1/2.
        let own = is(self, first);
        let mirrored = is(self, 1 + 4 * n - first);
        let further = is(self, first + 2);
        let start = self.b.u32(first as u32);
        let before = self.b.cmp(Cmp::Lt, j, start);
        let by = |this: &mut Self, distance: u64| {
            let start = this.b.u32((distance - first) as u32);
            this.b.add(j, start)
        };
        let back = |this: &mut Self, distance: u64| {
            let end = this.b.u32((distance - 1 - first) as u32);
            this.b.sub(end, j)
        };
        let (round, here) = (by(self, 4 * n), self.b.sub(j, start));
        let at = self.b.select(before, round, here);
        let (half, about_end, about_start) = (by(self, 2 * n), back(self, 2 * n), back(self, 4 * n));
        let rest = self.b.select(mirrored, about_end, about_start);
        let rest = self.b.select(further, half, rest);
        let at = self.b.select(own, at, rest);
        let place = self.halved(at);
        let place = self.halved(place);
        (place, self.b.pure(Op::Or, Type::Bool, &[mirrored, further]))
    }

    /// Whether a bit of an index is set.
    fn bit(&mut self, index: Value, which: u32) -> Value {
        let bit = self.b.u32(1 << which);
        let found = self.b.pure(Op::And, Type::U32, &[index, bit]);
        self.is_not(found, 0)
    }

    /// `index / 2`, rounded down.
    fn halved(&mut self, index: Value) -> Value {
        let one = self.b.u32(1);
        self.b.pure(Op::Shr, Type::U32, &[index, one])
    }
}
