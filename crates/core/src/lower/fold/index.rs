//! Indices as what a thread knows and a constant: the items of a thread are constants apart, and so are their mirror images,
//! so that their accesses share pointers and have the constants as offsets; and roots of unity at such indices.

use std::collections::HashMap;

use crate::kernel::{Cmp, Cx, Op, Value};
use crate::lower::Lowering;
use crate::math::twiddle;
use crate::pass::{Carry, Fold, Formula, TableKind, Way};
use crate::problem::RealKind;

use super::Item;
use super::port::masked;

/// Reals from which on a line's frequencies share pointers on the way in: dct3 of 1024 takes 12% less by it, of 256 15% more.
const LONG: u64 = 1024;

/// Indices that are remembered as sums: what they start from, and a constant.
#[derive(Debug, Default)]
pub(in crate::lower) struct Sums {
    known: HashMap<Value, (Value, i64)>,
    /// Whether accesses share pointers by them.
    share: bool,
    /// Whether factors follow from few whichever threads have which items.
    few_factors: bool,
    /// Factors at what they start from.
    factors: HashMap<(TableKind, Value), Cx>,
}

impl Sums {
    fn find(&self, index: Value) -> (Value, i64) {
        self.known.get(&index).copied().unwrap_or((index, 0))
    }
}

impl Lowering<'_> {
    /// Decides whether the items of a side share pointers. With fewer of them to compute, the assembler moves loads: of
    /// factors from two tables to where each is waited for by itself, and of samples from both ends likewise (dct2 and
    /// dct4 of 16384 took 13% and 12% more). Where that was not measured to gain, indices are as they come.
    pub(super) fn share_pointers(&mut self, fold: &Fold, way: Way, writes: bool) {
        let gains = match fold.formula {
            Formula::Spectrum { .. } => true,
            Formula::Reals { kind, .. } => match (way, writes) {
                (Way::Bins, false) => fold.n >= LONG,
                (Way::Bins, true) => matches!(kind, RealKind::Dht | RealKind::HalfComplex),
                (Way::Samples, false) => matches!(kind, RealKind::Dct2 | RealKind::Dst2),
                _ => false,
            },
        };
        // Cosines meet two factors each: where a tile has several lines, dct3 of 256 takes 5% less with few of them loaded, and planes
        // in one launch, whose tables come from the L2 again and again, 2 to 6%. Hartley's transform of 256 took 4% more.
        let plain = |kind| matches!(kind, RealKind::Dht | RealKind::HalfComplex | RealKind::FromHalfComplex);
        let few_factors = matches!(fold.formula, Formula::Reals { kind, .. } if !plain(kind));
        self.sums = Sums { share: gains, few_factors, ..Sums::default() };
    }

    /// `index + by`, remembered as a sum. What `index` starts from must not be negative where the element is there.
    pub(super) fn shifted(&mut self, index: Value, by: i64) -> Value {
        let (from, before) = self.split(index);
        let sum = self.b.add_const(from, masked(self.b.ty(from), before + by));
        // A number that is known is many a sum.
        if by != 0 && self.b.constant(sum).is_none() {
            let (start, before) = self.sums.find(index);
            self.sums.known.insert(sum, (start, before + by));
        }
        sum
    }

    /// What an index starts from, and the constant beyond that, where accesses share pointers.
    pub(super) fn split(&self, index: Value) -> (Value, i64) {
        if self.sums.share { self.sums.find(index) } else { (index, 0) }
    }

    /// A root that a table has at an index, from the one at what the index starts from: a thread loads that, and multiplies
    /// it by constants. `None`: the index is no such sum.
    pub(super) fn root_at(&mut self, kind: TableKind, index: Value) -> Option<Cx> {
        let (start, by) = self.sums.find(index);
        if by < 0 {
            return None;
        }
        // In a block whose lines each have several items of every thread, a thread's first item is that of its own number.
        let own = self.cluster.is_none() && start == self.threads.index && self.threads_share(kind);
        let any =
            if self.cluster.is_some() { self.threads_share(kind) } else { own || self.sums.few_factors };
        let len = if own { u64::from(self.threads.count) } else { kind.len() };
        let (modulus, step, kind) = first_roots(kind, len).filter(|_| any)?;
        let known = self.sums.factors.get(&(kind, start)).copied();
        let w = known.unwrap_or_else(|| {
            let mut within = start;
            if !own {
                // Where it is beyond the table, so are the items that start from it.
                let last = self.b.u32(len as u32 - 1);
                within = self.b.binary(Op::Min, start, last);
            }
            let w = self.factor_at(kind, within, 0, None);
            self.sums.factors.insert((kind, start), w);
            w
        });
        if by == 0 {
            return Some(w);
        }
        let (re, im) = twiddle::root(by as u64 * step % modulus, modulus);
        let turn = self.b.cconst(self.real, re, im);
        Some(self.b.cmul(w, turn))
    }

    /// `exp(-2 pi i k / modulus)` for k up to a quarter of it, about.
    pub(super) fn unit_root(&mut self, modulus: u64, k: Value, on: Option<Value>) -> Cx {
        if let Some(k) = self.b.constant(k) {
            let (re, im) = twiddle::root(k, modulus);
            return self.b.cconst(self.real, re, im);
        }
        let table = TableKind::Roots { modulus, step: 1, len: modulus / 4 + 1 };
        self.fold_factor(table, k, on)
    }

    /// `exp(-i pi k / (2 n))` at an item's frequency, or at its mirror image `n / 2 - k`, which is what an eighth of a turn has
    /// beyond it.
    pub(super) fn quarter_root(&mut self, fold: &Fold, item: &Item, mirrored: bool, on: Option<Value>) -> Cx {
        let most = if matches!(fold.carry, Carry::Halves) { fold.n / 4 } else { fold.n / 2 };
        let table = TableKind::Roots { modulus: 4 * fold.n, step: 1, len: most + 1 };
        let w = self.fold_factor(table, item.index, on);
        if !mirrored {
            return w;
        }
        let (re, im) = twiddle::root(1, 8);
        let eighth = self.b.cconst(self.real, re, im);
        let w = self.conjugate(w);
        self.b.cmul(w, eighth)
    }

    /// Whether each thread has several of every line of the tile, which alone has a factor for each.
    fn threads_share(&self, kind: TableKind) -> bool {
        let threads = u64::from(self.threads.count);
        let alone = self.tile.batch.iter().all(|&held| held == 1);
        self.pass.axes.len() == 1 && (alone || kind.len().is_multiple_of(threads)) && threads < kind.len()
    }

    /// `2 index`.
    pub(super) fn doubled(&mut self, index: Value) -> Value {
        let (start, by) = self.split(index);
        let start = self.b.mul_const(start, 2);
        self.shifted(start, 2 * by)
    }

    /// `n - index`.
    pub(super) fn mirrored(&mut self, n: u64, index: Value) -> Value {
        let (start, by) = self.split(index);
        let n = self.b.u32(n as u32);
        let mirror = self.b.sub(n, start);
        self.shifted(mirror, -by)
    }

    /// Whether an index is not this number.
    pub(super) fn is_not(&mut self, index: Value, number: u64) -> Value {
        if self.split(index).1 > number as i64 {
            return self.b.bool(true);
        }
        let number = self.b.u32(number as u32);
        self.b.cmp(Cmp::Ne, index, number)
    }
}

/// So many of a table's first entries, which are roots of unity: of how many, and how far each is from the one before.
fn first_roots(kind: TableKind, len: u64) -> Option<(u64, u64, TableKind)> {
    match kind {
        TableKind::Roots { modulus, step, .. } => {
            Some((modulus, step, TableKind::Roots { modulus, step, len }))
        }
        TableKind::ShiftedRoots { modulus, first, step, .. } => {
            Some((modulus, step, TableKind::ShiftedRoots { modulus, first, step, len }))
        }
        _ => None,
    }
}
