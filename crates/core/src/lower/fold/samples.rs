//! The order in which a cosine or sine transform hands its samples to the transform behind it: from both ends in turn, or
//! mirrored into a sequence twice as long.

use crate::kernel::{Cmp, Value};
use crate::lower::Lowering;
use crate::pass::{Carry, Fold, Formula};
use crate::problem::RealKind;

use super::Item;
use super::port::Port;

impl Lowering<'_> {
    /// What memory holds of an item: an even sample of each line and the odd one behind it, or one sample alone.
    pub(super) fn samples_taken(&mut self, fold: &Fold, item: &Item) -> Vec<Value> {
        let Formula::Reals { kind, .. } = fold.formula else { return Vec::new() };
        match kind {
            RealKind::Dct1 => vec![self.get_real(&item.own.lines[0], item.index, item.on)],
            RealKind::Dst1 => {
                let inner = self.inner(fold, item);
                let within = self.also(item.on, inner);
                let before = self.shifted(item.index, -1);
                vec![self.get_real(&item.own.lines[0], before, within)]
            }
            _ => {
                let [(even, _), (odd, _)] = self.both_ends(fold, item);
                let both = |this: &mut Self, line: &Port| {
                    if fold.n.is_multiple_of(2) {
                        return this.get_pair(line, even, item.on);
                    }
                    let there = this.there(fold, item, odd);
                    [this.get_real(line, even, item.on), this.get_real(line, odd, there)]
                };
                item.own.lines.iter().flat_map(|line| both(self, line)).collect()
            }
        }
    }

    /// From what memory holds to points.
    pub(super) fn samples_in(&mut self, fold: &Fold, item: &Item, taken: &[Value]) {
        let Formula::Reals { kind, orthogonal } = fold.formula else { return };
        if fold.formula.extends() {
            return self.extended(fold, item, kind == RealKind::Dst1, orthogonal, taken[0]);
        }
        let sine = kind == RealKind::Dst2;
        let [(_, to), (odd, end)] = self.both_ends(fold, item);
        let there = self.there(fold, item, odd);
        for (row, both) in taken.chunks(2).enumerate() {
            self.put_sample(fold, item, row, (to, both[0]), item.on);
            let x = self.negated(both[1], sine);
            self.put_sample(fold, item, row, (end, x), there);
        }
    }

    /// From points to what memory holds.
    pub(super) fn samples_out(&mut self, fold: &Fold, item: &Item) {
        let sine = matches!(fold.formula, Formula::Reals { kind: RealKind::Dst3, .. });
        let scale = self.b.float(self.real, self.pass.scale);
        let [(to, from), (odd, end)] = self.both_ends(fold, item);
        let there = self.there(fold, item, odd);
        for (row, line) in item.own.lines.iter().enumerate() {
            let x = self.get_sample(fold, item, row, from, item.on);
            let y = self.get_sample(fold, item, row, end, there);
            let (x, y) = (self.b.mul(x, scale), self.b.mul(y, scale));
            let y = self.negated(y, sine);
            if fold.n.is_multiple_of(2) {
                self.put_pair(line, to, [x, y], item.on);
            } else {
                self.put_real(line, to, x, item.on);
                self.put_real(line, odd, y, there);
            }
        }
    }

    /// An even sample's place in the line and in the sequence, and those of the odd sample behind it: even ones count
    /// from the start of the sequence, odd ones from its end.
    fn both_ends(&mut self, fold: &Fold, item: &Item) -> [(Value, Value); 2] {
        let even = self.doubled(item.index);
        let odd = self.shifted(even, 1);
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

    /// Whether an item of an extended line is neither of its ends.
    fn inner(&mut self, fold: &Fold, item: &Item) -> Value {
        let (first, last) = (self.is_not(item.index, 0), self.is_not(item.index, fold.points()));
        self.both(Some(first), last)
    }

    /// The line continued as an even sequence about both its ends, or as an odd one about 0s beyond them.
    fn extended(&mut self, fold: &Fold, item: &Item, sine: bool, orthogonal: bool, mut x: Value) {
        let inner = self.inner(fold, item);
        let within = self.also(item.on, inner);
        if sine {
            let zero = self.b.float(self.real, 0.0);
            x = self.b.select(inner, x, zero);
        } else if orthogonal {
            let root = self.b.float(self.real, std::f64::consts::SQRT_2);
            let weighted = self.b.mul(x, root);
            x = self.b.select(inner, x, weighted);
        }
        self.put_sample(fold, item, 0, (item.index, x), item.on);
        let mirror = self.mirrored(2 * fold.points(), item.index);
        let x = self.negated(x, sine);
        self.put_sample(fold, item, 0, (mirror, x), within);
    }

    /// The reals of the points, and the index of a sample of a line among them.
    fn sample_at(&mut self, fold: &Fold, item: &Item, row: usize, at: Value) -> (Port, Value) {
        let reals = item.own.points.reals();
        match fold.carry {
            Carry::Halves => (reals, at),
            Carry::Rows(_) | Carry::Single => {
                let twice = self.doubled(at);
                (reals, self.shifted(twice, row as i64))
            }
        }
    }

    fn get_sample(&mut self, fold: &Fold, item: &Item, row: usize, at: Value, on: Option<Value>) -> Value {
        let (reals, at) = self.sample_at(fold, item, row, at);
        self.get_real(&reals, at, on)
    }

    pub(super) fn put_sample(
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
            let beside = self.shifted(place, 1);
            self.put_real(&reals, beside, zero, on);
        }
    }
}
