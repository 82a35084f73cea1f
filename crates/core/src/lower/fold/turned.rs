//! DCT-IV and DST-IV, whose points are reals turned by a factor on the way in and on the way out. Of an even length n,
//! `cos(pi (2j + 1/2) (2k + 1/2) / n)` is the real part of `exp(-2 pi i j k / (n/2))` between factors of j and of k, and
//! the elements counted from the other end are the imaginary parts. Of an odd length, points are padded to 2n.

use crate::kernel::{Cx, Op, Value};
use crate::lower::Lowering;
use crate::pass::{Fold, Formula, TableKind};
use crate::problem::RealKind;

use super::Item;

impl Lowering<'_> {
    fn sine(fold: &Fold) -> bool {
        matches!(fold.formula, Formula::Reals { kind: RealKind::Dst4, .. })
    }

    /// What memory holds of an item, and the factor that it meets. The sine transform is the cosine transform of the
    /// line read backwards, with every second output negated.
    pub(super) fn turned_taken(&mut self, fold: &Fold, item: &Item) -> Vec<Value> {
        let (n, j, on) = (fold.n, item.index, item.on);
        let line = &item.own.lines[0];
        if n.is_multiple_of(2) {
            let even = self.doubled(j);
            let odd = self.mirrored(n - 1, even);
            let (re, im) = if Self::sine(fold) { (odd, even) } else { (even, odd) };
            let (re, im) = (self.get_real(line, re, on), self.get_real(line, im, on));
            let table = TableKind::ShiftedRoots { modulus: 8 * n, first: 1, step: 4, len: n / 2 };
            let w = self.fold_factor(table, j, on);
            return vec![w.re, w.im, re, im];
        }
        let from = if Self::sine(fold) { self.mirrored(n - 1, j) } else { j };
        let x = self.get_real(line, from, on);
        let w = self.fold_factor(TableKind::Roots { modulus: 4 * n, step: 1, len: n }, j, on);
        vec![w.re, w.im, x]
    }

    /// From what memory holds to points.
    pub(super) fn turned_in(&mut self, fold: &Fold, item: &Item, taken: &[Value]) {
        let (j, on) = (item.index, item.on);
        let w = Cx { re: taken[0], im: taken[1] };
        if let [_, _, re, im] = *taken {
            let x = self.b.cmul(Cx { re, im }, w);
            return self.put_point(&item.own.points, j, x, on);
        }
        let x = taken[2];
        let x = Cx { re: self.b.mul(x, w.re), im: self.b.mul(x, w.im) };
        self.put_point(&item.own.points, j, x, on);
        let padding = self.shifted(j, fold.n as i64);
        let zero = self.b.float(self.real, 0.0);
        self.put_point(&item.own.points, padding, Cx { re: zero, im: zero }, on);
    }

    /// From points to what memory holds.
    pub(super) fn turned_out(&mut self, fold: &Fold, item: &Item) {
        let (n, k, on) = (fold.n, item.index, item.on);
        let line = &item.own.lines[0];
        let scale = 2.0 * self.pass.scale;
        let x = self.get_point(&item.own.points, k, on);
        if n.is_multiple_of(2) {
            let w = self.fold_factor(TableKind::Roots { modulus: 2 * n, step: 1, len: n / 2 }, k, on);
            let x = self.b.cmul(x, w);
            let x = self.b.cscale(x, scale);
            let even = self.doubled(k);
            let odd = self.mirrored(n - 1, even);
            let im = self.negated(x.im, !Self::sine(fold));
            self.put_real(line, even, x.re, on);
            return self.put_real(line, odd, im, on);
        }
        let table = TableKind::ShiftedRoots { modulus: 8 * n, first: 1, step: 2, len: n };
        let w = self.fold_factor(table, k, on);
        let y = self.b.cmul(x, w).re;
        let scale = self.b.float(self.real, scale);
        let mut y = self.b.mul(y, scale);
        if Self::sine(fold) {
            let negative = self.b.neg(y);
            let even = self.parity(k);
            y = self.b.select(even, y, negative);
        }
        self.put_real(line, k, y, on);
    }

    /// Whether an index is even.
    fn parity(&mut self, k: Value) -> Value {
        let one = self.b.u32(1);
        let bit = self.b.pure(Op::And, crate::kernel::Type::U32, &[k, one]);
        let zero = self.b.u32(0);
        self.b.cmp(crate::kernel::Cmp::Eq, bit, zero)
    }
}
