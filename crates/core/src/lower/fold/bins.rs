//! One frequency and its mirror image: what a spectrum of reals, and all that follows from it, is made of.

use crate::kernel::{Cmp, Cx, Op, Type, Value};
use crate::lower::Lowering;
use crate::pass::{Carry, Fold, Formula, TableKind, Twiddle};
use crate::problem::RealKind;

use super::Item;

/// A value of a line's spectrum.
pub(super) struct Bin {
    pub line: usize,
    /// Of the mirror image in other axes.
    mirrored: bool,
    /// Frequency.
    at: Value,
    pub value: Cx,
    on: Option<Value>,
}

impl Lowering<'_> {
    /// From points to what memory holds.
    pub(super) fn bins_out(&mut self, fold: &Fold, item: &Item, taken: &[Value]) {
        let bins = self.parted(fold, item, taken);
        let halved = if matches!(fold.carry, Carry::Single) { 1.0 } else { 0.5 };
        let twice = if matches!(fold.formula, Formula::Reals { kind: RealKind::Dct2 | RealKind::Dst2, .. }) {
            2.0
        } else {
            1.0
        };
        let scale = self.pass.scale * halved * twice;
        match (&bins[..], fold.formula) {
            ([one, other], Formula::Spectrum { conjugate }) if item.own.lines[0].twins => {
                let both = [one, other].map(|bin| self.kept_bin(item, bin, scale, conjugate));
                self.put_twins(&item.own.lines[0], one.at, both, one.on);
            }
            _ => bins.iter().for_each(|bin| self.put_bin(fold, item, bin, scale)),
        }
    }

    /// A value of a half spectrum as memory holds it.
    fn kept_bin(&mut self, item: &Item, bin: &Bin, scale: f64, conjugate: bool) -> Cx {
        let x = self.b.cscale(bin.value, scale);
        let x = self.turned_on(item, bin, x);
        Cx { re: x.re, im: self.negated(x.im, conjugate) }
    }

    /// A frequency times the pass's twiddle.
    fn turned_on(&mut self, item: &Item, bin: &Bin, x: Cx) -> Cx {
        let twiddle = self.pass.twiddle.zip(item.twiddle);
        let Some((Twiddle { modulus, .. }, start)) = twiddle else { return x };
        let ty = self.b.ty(start);
        let row = self.b.add_const(start, bin.line as u64);
        let at = self.b.convert(ty, bin.at);
        let exponent = self.b.mul(at, row);
        let w = self.root(modulus, exponent, bin.on);
        self.b.cmul(x, w)
    }

    fn put_bin(&mut self, fold: &Fold, item: &Item, bin: &Bin, scale: f64) {
        let line = &if bin.mirrored { &item.mirror } else { &item.own }.lines[bin.line];
        let x = bin.value;
        let (kind, orthogonal) = match fold.formula {
            Formula::Spectrum { conjugate } => {
                let x = self.kept_bin(item, bin, scale, conjugate);
                return self.put_point(line, bin.at, x, bin.on);
            }
            Formula::Reals { kind, orthogonal } => (kind, orthogonal),
        };
        // Item 0 holds the frequencies that are their own mirror images.
        let inner = self.is_not(item.index, 0);
        let paired = self.also(bin.on, inner);
        let mirror = self.mirrored(fold.n, bin.at);
        let sine = matches!(kind, RealKind::Dst1 | RealKind::Dst2);
        let scale_of = self.b.float(self.real, scale);
        let edge = if orthogonal {
            let edge = self.b.float(self.real, scale * std::f64::consts::FRAC_1_SQRT_2);
            self.b.select(inner, scale_of, edge)
        } else {
            scale_of
        };
        match kind {
            RealKind::Dct1 => {
                let y = self.b.mul(x.re, edge);
                self.put_real(line, bin.at, y, bin.on);
            }
            RealKind::Dst1 => {
                let y = self.b.mul(x.im, scale_of);
                let y = self.b.neg(y);
                let before = self.shifted(bin.at, -1);
                self.put_real(line, before, y, paired);
            }
            RealKind::Dct2 | RealKind::Dst2 => {
                let w = self.quarter_root(fold, item, bin.mirrored, bin.on);
                let x = self.b.cmul(x, w);
                let edge = if orthogonal { self.first_of_bins(bin, edge, scale_of) } else { edge };
                let (re, im) = (self.b.mul(x.re, edge), self.b.mul(x.im, scale_of));
                let im = self.b.neg(im);
                let [first, second] = if sine {
                    [self.shifted(mirror, -1), self.shifted(bin.at, -1)]
                } else {
                    [bin.at, mirror]
                };
                self.put_real(line, first, re, bin.on);
                self.put_real(line, second, im, paired);
            }
            RealKind::Dht => {
                let (minus, plus) = (self.b.sub(x.re, x.im), self.b.add(x.re, x.im));
                let (minus, plus) = (self.b.mul(minus, scale_of), self.b.mul(plus, scale_of));
                self.put_real(line, bin.at, minus, bin.on);
                self.put_real(line, mirror, plus, paired);
            }
            _ => {
                let (re, im) = (self.b.mul(x.re, scale_of), self.b.mul(x.im, scale_of));
                self.put_real(line, bin.at, re, bin.on);
                self.put_real(line, mirror, im, paired);
            }
        }
    }

    /// The weight of frequency 0, and of no other: item 0 may also hold the last one.
    fn first_of_bins(&mut self, bin: &Bin, edge: Value, usual: Value) -> Value {
        let inner = self.is_not(bin.at, 0);
        self.b.select(inner, usual, edge)
    }

    /// The spectrum of reals that points carry, at an item's frequency and, where points are halves, at its mirror
    /// image: twice its value unless points carry one real each.
    pub(super) fn parted(&mut self, fold: &Fold, item: &Item, taken: &[Value]) -> Vec<Bin> {
        if fold.one_by_one() {
            return vec![self.one(fold, item, taken)];
        }
        let points = fold.points();
        let k = item.index;
        let a = self.own_point(k, item, taken);
        if matches!(fold.carry, Carry::Single) {
            return vec![Bin { line: 0, mirrored: false, at: k, value: a, on: item.on }];
        }
        let mirror = self.mirrored(points, k);
        let b = self.image_point(|this| this.image(points, k), item, taken);
        let b = self.conjugate(b);
        let (even, odd) = (self.b.cadd(a, b), self.b.csub(a, b));
        let odd = self.b.cmul_i(odd, true);
        if let Carry::Rows(_) = fold.carry {
            return vec![
                Bin { line: 0, mirrored: false, at: k, value: even, on: item.on },
                Bin { line: 1, mirrored: false, at: k, value: odd, on: item.on },
            ];
        }
        let w = self.unit_root(2 * points, k, item.on);
        let (own, image) = self.halves_of(even, odd, w);
        let first = Bin { line: 0, mirrored: false, at: k, value: own, on: item.on };
        let on = self.unpaired(points, k, item.on);
        vec![first, Bin { line: 0, mirrored: true, at: mirror, value: image, on }]
    }

    /// Twice the spectrum of reals whose halves are points at a frequency and at its mirror image: its value there, and at
    /// the mirror image.
    pub(super) fn bins_of(&mut self, a: Cx, b: Cx, w: Cx) -> (Cx, Cx) {
        let b = self.conjugate(b);
        let (even, odd) = (self.b.cadd(a, b), self.b.csub(a, b));
        let odd = self.b.cmul_i(odd, true);
        self.halves_of(even, odd, w)
    }

    fn halves_of(&mut self, even: Cx, odd: Cx, w: Cx) -> (Cx, Cx) {
        let odd = self.b.cmul(odd, w);
        let other = self.b.csub(even, odd);
        (self.b.cadd(even, odd), self.conjugate(other))
    }

    /// Twice the spectrum of reals whose halves are points, at one frequency.
    fn one(&mut self, fold: &Fold, item: &Item, taken: &[Value]) -> Bin {
        let points = fold.points();
        let k = item.index;
        let [own, image] = self.both_points(points, k);
        let a = self.own_point(own, item, taken);
        let b = self.image_point(|_| image, item, taken);
        let b = self.conjugate(b);
        let (even, odd) = (self.b.cadd(a, b), self.b.csub(a, b));
        let odd = self.b.cmul_i(odd, true);
        let table = TableKind::Roots { modulus: 2 * points, step: 1, len: points + 1 };
        let w = self.fold_factor(table, k, item.on);
        let odd = self.b.cmul(odd, w);
        Bin { line: 0, mirrored: false, at: k, value: self.b.cadd(even, odd), on: item.on }
    }

    /// Where the points stand that a frequency, up to the number of points, follows from.
    fn both_points(&mut self, points: u64, k: Value) -> [Value; 2] {
        let mirror = self.mirrored(points, k);
        let zero = self.b.u32(0);
        let (inner, below) = (self.is_not(k, 0), self.is_not(k, points));
        [self.b.select(below, k, zero), self.b.select(inner, mirror, zero)]
    }

    /// Where the mirror image of a point stands.
    fn image(&mut self, points: u64, k: Value) -> Value {
        let mirror = self.mirrored(points, k);
        if self.split(k).1 > 0 {
            return mirror;
        }
        let inner = self.is_not(k, 0);
        self.b.select(inner, mirror, k)
    }

    /// Both points of an item of halves, of which one may be another block's.
    pub(super) fn points_taken(&mut self, fold: &Fold, item: &Item) -> Vec<Value> {
        let (points, k) = (fold.points(), item.index);
        let [own, image] =
            if fold.one_by_one() { self.both_points(points, k) } else { [k, self.image(points, k)] };
        let a = self.get_point(&item.own.points, own, item.on);
        let b = self.get_point(&item.mirror.points, image, item.on);
        vec![a.re, a.im, b.re, b.im]
    }

    /// The first point of an item, taken before or read now.
    fn own_point(&mut self, at: Value, item: &Item, taken: &[Value]) -> Cx {
        match *taken {
            [re, im, ..] => Cx { re, im },
            _ => self.get_point(&item.own.points, at, item.on),
        }
    }

    /// Its mirror image.
    fn image_point(&mut self, at: impl FnOnce(&mut Self) -> Value, item: &Item, taken: &[Value]) -> Cx {
        match *taken {
            [_, _, re, im] => Cx { re, im },
            _ => {
                let at = at(self);
                self.get_point(&item.mirror.points, at, item.on)
            }
        }
    }

    /// Whether no frequency of an item is its own mirror image. Of halves, item 0 has both that are; of other lines of an even
    /// length, which stand alone in their tiles, the middle one is an item of its own.
    fn is_inner(&mut self, fold: &Fold, k: Value) -> Value {
        let points = fold.points();
        let inner = self.is_not(k, 0);
        if matches!(fold.carry, Carry::Halves) || !points.is_multiple_of(2) {
            return inner;
        }
        let below = self.is_not(k, points / 2);
        self.b.pure(Op::And, Type::Bool, &[inner, below])
    }

    /// Where a frequency is not its own mirror image in the middle.
    fn unpaired(&mut self, points: u64, k: Value, on: Option<Value>) -> Option<Value> {
        if !points.is_multiple_of(2) {
            return on;
        }
        let apart = self.is_not(k, points / 2);
        self.also(on, apart)
    }

    /// What memory holds of an item, and the factor that it meets.
    pub(super) fn bins_taken(&mut self, fold: &Fold, item: &Item) -> Vec<Value> {
        let points = fold.points();
        let (k, inner) = (item.index, self.is_inner(fold, item.index));
        if let (Formula::Spectrum { conjugate }, true) = (fold.formula, item.own.lines[0].twins) {
            let both = self.get_twins(&item.own.lines[0], k, item.on);
            let zero = self.b.float(self.real, 0.0);
            let real = |this: &mut Self, x: Cx| {
                let im = this.negated(x.im, conjugate);
                [x.re, this.b.select(inner, im, zero)]
            };
            return both.into_iter().flat_map(|x| real(self, x)).collect();
        }
        let mut all = vec![self.bin_of(fold, item, (0, false, k), inner)];
        match fold.carry {
            Carry::Single => {}
            Carry::Rows(_) => all.push(self.bin_of(fold, item, (1, false, k), inner)),
            Carry::Halves => {
                let mirror = self.mirrored(points, k);
                all.push(self.bin_of(fold, item, (0, true, mirror), inner));
                all.push(self.unit_root(2 * points, k, item.on));
            }
        }
        all.into_iter().flat_map(|x| [x.re, x.im]).collect()
    }

    /// From what memory holds to points.
    pub(super) fn bins_in(&mut self, fold: &Fold, item: &Item, taken: &[Value]) {
        let points = fold.points();
        let k = item.index;
        let mirror = self.mirrored(points, k);
        let inner = self.is_inner(fold, k);
        let paired = self.also(item.on, inner);
        let taken: Vec<Cx> = taken.chunks(2).map(|x| Cx { re: x[0], im: x[1] }).collect();
        let (own, image, image_on) = match taken[..] {
            [first, second] => {
                let turned = self.b.cmul_i(second, false);
                let (conjugate, other) = (self.conjugate(first), self.conjugate(second));
                let other = self.b.cmul_i(other, false);
                (self.b.cadd(first, turned), self.b.cadd(conjugate, other), paired)
            }
            [first, last, w] => {
                let (own, image) = self.points_of(first, last, w);
                (own, image, self.unpaired(points, k, paired))
            }
            _ => (taken[0], self.conjugate(taken[0]), paired),
        };
        self.put_point(&item.own.points, k, own, item.on);
        self.put_point(&item.mirror.points, mirror, image, image_on);
    }

    /// The points that are halves of a line, where its spectrum has these values at a frequency and at its mirror image.
    pub(super) fn points_of(&mut self, first: Cx, last: Cx, w: Cx) -> (Cx, Cx) {
        let last = self.conjugate(last);
        let (even, odd) = (self.b.cadd(first, last), self.b.csub(first, last));
        let w = self.conjugate(w);
        let odd = self.b.cmul(odd, w);
        let turned = self.b.cmul_i(odd, false);
        let own = self.b.cadd(even, turned);
        let (even, odd) = (self.conjugate(even), self.conjugate(odd));
        let turned = self.b.cmul_i(odd, false);
        (own, self.b.cadd(even, turned))
    }

    /// A value of the spectrum that memory stands for. At frequencies that are their own mirror images it is real.
    fn bin_of(
        &mut self,
        fold: &Fold,
        item: &Item,
        (line, mirrored, at): (usize, bool, Value),
        inner: Value,
    ) -> Cx {
        let (own, mirror) = if mirrored { (&item.mirror, &item.own) } else { (&item.own, &item.mirror) };
        let (line, opposite) = (&own.lines[line], &mirror.lines[line]);
        let on = item.on;
        let zero = self.b.float(self.real, 0.0);
        let (kind, orthogonal) = match fold.formula {
            Formula::Spectrum { conjugate } => {
                let x = self.get_point(line, at, on);
                let x = Cx { re: x.re, im: self.negated(x.im, conjugate) };
                if self.pass.axes.len() < 2 {
                    return Cx { re: x.re, im: self.b.select(inner, x.im, zero) };
                }
                // What has no part in real output goes by the mean with the mirror image.
                let zeroth = self.b.u32(0);
                let outer = self.b.cmp(Cmp::Eq, item.index, zeroth);
                let outer = self.also(on, outer);
                let y = self.get_point(opposite, at, outer);
                let y = Cx { re: y.re, im: self.negated(y.im, !conjugate) };
                let mean = self.b.cadd(x, y);
                let mean = self.b.cscale(mean, 0.5);
                return Cx {
                    re: self.b.select(inner, x.re, mean.re),
                    im: self.b.select(inner, x.im, mean.im),
                };
            }
            Formula::Reals { kind, orthogonal } => (kind, orthogonal),
        };
        let mirror = self.mirrored(fold.n, at);
        if kind == RealKind::FromHalfComplex {
            let re = self.get_real(line, at, on);
            let paired = self.also(on, inner);
            let im = self.get_real(line, mirror, paired);
            return Cx { re, im: self.b.select(inner, im, zero) };
        }
        // The mirror image of frequency 0 lies beyond the line, and counts as 0.
        let behind = self.is_not(at, 0);
        let behind = self.also(on, behind);
        let [first, second] = if kind == RealKind::Dst3 {
            [self.shifted(mirror, -1), self.shifted(at, -1)]
        } else {
            [at, mirror]
        };
        let mut re = self.get_real(line, first, on);
        let im = self.get_real(line, second, behind);
        if orthogonal {
            let zeroth = self.is_not(at, 0);
            let root = self.b.float(self.real, std::f64::consts::SQRT_2);
            let weighted = self.b.mul(re, root);
            re = self.b.select(zeroth, re, weighted);
        }
        let w = self.quarter_root(fold, item, mirrored, on);
        let w = self.conjugate(w);
        let im = self.b.neg(im);
        let x = self.b.cmul(Cx { re, im }, w);
        Cx { re: x.re, im: self.b.select(inner, x.im, zero) }
    }
}
