//! DCT-IV and DST-IV, whose points are reals turned by a factor on the way in and on the way out. Of an even length n,
//! `cos(pi (2j + 1/2) (2k + 1/2) / n)` is the real part of `exp(-2 pi i j k / (n/2))` between factors of j and of k, and
//! the elements counted from the other end are the imaginary parts. Lines of an odd length are a transform of as many reals in
//! another order (`turned/odd.rs`).

mod odd;

use crate::kernel::{Cx, Value};
use crate::lower::Lowering;
use crate::math::twiddle;
use crate::pass::{Fold, Formula, TableKind};
use crate::problem::RealKind;

use super::Item;

impl Lowering<'_> {
    pub(super) fn sine(fold: &Fold) -> bool {
        matches!(fold.formula, Formula::Reals { kind: RealKind::Dst4, .. })
    }

    /// What memory holds of an item, and the factors that it meets. The sine transform is the cosine transform of the
    /// line read backwards, with every second output negated.
    pub(super) fn turned_taken(&mut self, fold: &Fold, item: &Item) -> Vec<Value> {
        if !fold.n.is_multiple_of(2) {
            return self.turned_odd_taken(fold, item);
        }
        let (n, j, on) = (fold.n, item.index, item.on);
        let line = &item.own.lines[0];
        let [near, far] = self.both_pairs(fold, j);
        let [[a, b], [c, d]] = [near, far].map(|at| self.get_pair(line, at, on));
        let table =
            TableKind::ShiftedRoots { modulus: 8 * n, first: 1, step: 4, len: fold.points().div_ceil(2) };
        let w = self.fold_factor(table, j, on);
        vec![w.re, w.im, a, b, c, d]
    }

    /// From what memory holds to points.
    pub(super) fn turned_in(&mut self, fold: &Fold, item: &Item, taken: &[Value]) {
        let [re, im, a, b, c, d] = *taken else { return self.turned_odd_in(fold, item, taken) };
        let w = Cx { re, im };
        let factors = [w, self.factor_of_other(w, (2, 8 * fold.n))];
        let points = [Cx { re: a, im: d }, Cx { re: c, im: b }].into_iter().zip(factors);
        for (at, (x, w)) in self.both_of_turned(fold, item.index).into_iter().zip(points) {
            let x = if Self::sine(fold) { Cx { re: x.im, im: x.re } } else { x };
            let x = self.b.cmul(x, w);
            self.put_point(&item.own.points, at, x, item.on);
        }
    }

    /// From points to what memory holds.
    pub(super) fn turned_out(&mut self, fold: &Fold, item: &Item) {
        if !fold.n.is_multiple_of(2) {
            return self.turned_odd_out(fold, item);
        }
        let (n, k, on) = (fold.n, item.index, item.on);
        let line = &item.own.lines[0];
        let table = TableKind::Roots { modulus: 2 * n, step: 1, len: fold.points().div_ceil(2) };
        let w = self.fold_factor(table, k, on);
        let factors = [w, self.factor_of_other(w, (1, 2 * n))];
        let points = self.both_of_turned(fold, k).map(|at| self.get_point(&item.own.points, at, on));
        let scale = 2.0 * self.pass.scale;
        let [x, y] = [0, 1].map(|which| {
            let x = self.b.cmul(points[which], factors[which]);
            let x = self.b.cscale(x, scale);
            Cx { re: x.re, im: self.negated(x.im, !Self::sine(fold)) }
        });
        let [near, far] = self.both_pairs(fold, k);
        self.put_pair(line, near, [x.re, y.im], on);
        self.put_pair(line, far, [y.re, x.im], on);
    }

    /// The two points of an item of a line of even length, which take their reals from the same two pairs of neighbours:
    /// one as many from the start as the other from the end.
    fn both_of_turned(&mut self, fold: &Fold, j: Value) -> [Value; 2] {
        [j, self.mirrored(fold.points() - 1, j)]
    }

    /// The factor of the second of them, from that of the first: exponents grow from both ends towards each other, so that
    /// they have a quarter of a turn together but for a little.
    fn factor_of_other(&mut self, w: Cx, (little, modulus): (u64, u64)) -> Cx {
        let (re, im) = twiddle::root(little, modulus);
        let turn = self.b.cconst(self.real, re, im);
        let w = self.b.cmul(w, turn);
        Cx { re: self.b.neg(w.im), im: self.b.neg(w.re) }
    }

    /// Where these pairs start.
    fn both_pairs(&mut self, fold: &Fold, j: Value) -> [Value; 2] {
        let near = self.doubled(j);
        [near, self.mirrored(fold.n - 2, near)]
    }
}
