//! The order in which a cosine or sine transform hands its samples to the transform behind it: from both ends in turn, or
//! mirrored into a sequence twice as long.

use crate::kernel::{Cmp, Value};
use crate::lower::Lowering;
use crate::pass::{Carry, Fold, Formula};
use crate::problem::RealKind;

use super::Item;
use super::port::Port;

impl Lowering<'_> {
    /// From what memory holds to points.
    pub(super) fn samples_in(&mut self, fold: &Fold, item: &Item) {
        let Formula::Reals { kind, orthogonal } = fold.formula else { return };
        if matches!(kind, RealKind::Dct1 | RealKind::Dst1) {
            return self.extended(fold, item, kind == RealKind::Dst1, orthogonal);
        }
        let sine = kind == RealKind::Dst2;
        for (row, line) in item.own.lines.iter().enumerate() {
            let [(from, to), (second, end)] = self.both_ends(fold, item);
            let x = self.get_real(line, from, item.on);
            self.put_sample(fold, item, row, (to, x), item.on);
            let there = self.there(fold, item, second);
            let x = self.get_real(line, second, there);
            let x = self.negated(x, sine);
            self.put_sample(fold, item, row, (end, x), there);
        }
    }

    /// From points to what memory holds.
    pub(super) fn samples_out(&mut self, fold: &Fold, item: &Item) {
        let sine = matches!(fold.formula, Formula::Reals { kind: RealKind::Dst3, .. });
        let scale = self.b.float(self.real, self.pass.scale);
        for (row, line) in item.own.lines.iter().enumerate() {
            let [(to, from), (second, end)] = self.both_ends(fold, item);
            let x = self.get_sample(fold, item, row, from, item.on);
            let x = self.b.mul(x, scale);
            self.put_real(line, to, x, item.on);
            let there = self.there(fold, item, second);
            let x = self.get_sample(fold, item, row, end, there);
            let x = self.b.mul(x, scale);
            let x = self.negated(x, sine);
            self.put_real(line, second, x, there);
        }
    }

    /// An even sample's place in the line and in the sequence, and those of the odd sample behind it: even ones count
    /// from the start of the sequence, odd ones from its end.
    fn both_ends(&mut self, fold: &Fold, item: &Item) -> [(Value, Value); 2] {
        let even = self.b.mul_const(item.index, 2);
        let odd = self.b.add_const(even, 1);
        [(even, item.index), (odd, self.mirrored(fold.n - 1, item.index))]
    }

    /// Whether an odd sample is there: behind the last even one of an odd length there is none.
    fn there(&mut self, fold: &Fold, item: &Item, odd: Value) -> Option<Value> {
        if fold.n.is_multiple_of(2) {
            return item.on;
        }
        let n = self.b.u32(fold.n as u32);
        let below = self.b.cmp(Cmp::Lt, odd, n);
        self.also(item.on, below)
    }

    /// The line continued as an even sequence about both its ends, or as an odd one about 0s beyond them.
    fn extended(&mut self, fold: &Fold, item: &Item, sine: bool, orthogonal: bool) {
        let half = fold.points();
        let (first, last) = (self.is_not(item.index, 0), self.is_not(item.index, half));
        let inner = self.both(Some(first), last);
        let within = self.also(item.on, inner);
        let line = &item.own.lines[0];
        let mut x = if sine {
            let before = self.b.add_const(item.index, u64::from(u32::MAX));
            let zero = self.b.float(self.real, 0.0);
            let x = self.get_real(line, before, within);
            self.b.select(inner, x, zero)
        } else {
            self.get_real(line, item.index, item.on)
        };
        if orthogonal && !sine {
            let root = self.b.float(self.real, std::f64::consts::SQRT_2);
            let weighted = self.b.mul(x, root);
            x = self.b.select(inner, x, weighted);
        }
        self.put_sample(fold, item, 0, (item.index, x), item.on);
        let mirror = self.mirrored(2 * half, item.index);
        let x = self.negated(x, sine);
        self.put_sample(fold, item, 0, (mirror, x), within);
    }

    /// The reals of the points, and the index of a sample of a line among them.
    fn sample_at(&mut self, fold: &Fold, item: &Item, row: usize, at: Value) -> (Port, Value) {
        let reals = item.own.points.reals();
        match fold.carry {
            Carry::Halves => (reals, at),
            Carry::Rows(_) | Carry::Single => {
                let twice = self.b.mul_const(at, 2);
                (reals, self.b.add_const(twice, row as u64))
            }
        }
    }

    fn get_sample(&mut self, fold: &Fold, item: &Item, row: usize, at: Value, on: Option<Value>) -> Value {
        let (reals, at) = self.sample_at(fold, item, row, at);
        self.get_real(&reals, at, on)
    }

    fn put_sample(
        &mut self,
        fold: &Fold,
        item: &Item,
        row: usize,
        (at, x): (Value, Value),
        on: Option<Value>,
    ) {
        let (reals, place) = self.sample_at(fold, item, row, at);
        self.put_real(&reals, place, x, on);
        if matches!(fold.carry, Carry::Single) {
            let zero = self.b.float(self.real, 0.0);
            let beside = self.b.add_const(place, 1);
            self.put_real(&reals, beside, zero, on);
        }
    }
}
