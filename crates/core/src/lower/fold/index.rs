//! Indices as what a thread knows and a constant: the items of a thread are constants apart, and so are their mirror images,
//! so that their accesses share pointers and have the constants as offsets.

use std::collections::HashMap;

use crate::kernel::{Cmp, Cx, Op, Value};
use crate::lower::Lowering;
use crate::math::twiddle;
use crate::pass::{Fold, Formula, TableKind, Way};
use crate::problem::RealKind;

use super::port::masked;

/// Reals from which on a line's frequencies share pointers on the way in: dct3 of 1024 takes 12% less by it, of 256 15% more.
const LONG: u64 = 1024;

/// Indices that are remembered as sums: what they start from, and a constant.
#[derive(Debug, Default)]
pub(in crate::lower) struct Sums {
    known: HashMap<Value, (Value, i64)>,
    /// Whether accesses share pointers by them.
    share: bool,
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
        self.sums = Sums { share: gains, ..Sums::default() };
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
        let (modulus, step, kind) = self.of_first_items(kind).filter(|_| by >= 0)?;
        // In a block, a thread's first item is that of its own number.
        if self.cluster.is_none() && start != self.threads.index {
            return None;
        }
        let known = self.sums.factors.get(&(kind, start)).copied();
        let w = known.unwrap_or_else(|| {
            let mut within = start;
            if self.cluster.is_some() {
                // Where it is beyond the table, so are the items that start from it.
                let last = self.b.u32(kind.len() as u32 - 1);
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

    /// A table of roots as far as the first items of a line's threads go, where each has several of every line of the tile.
    fn of_first_items(&self, kind: TableKind) -> Option<(u64, u64, TableKind)> {
        let threads = u64::from(self.threads.count);
        let alone = self.tile.batch.iter().all(|&held| held == 1);
        let even = alone || kind.len().is_multiple_of(threads);
        if self.pass.axes.len() != 1 || !even || threads >= kind.len() {
            return None;
        }
        // Those of a cluster's block are far apart.
        let most = if self.cluster.is_none() { threads } else { kind.len() };
        match kind {
            TableKind::Roots { modulus, step, .. } => {
                Some((modulus, step, TableKind::Roots { modulus, step, len: most }))
            }
            TableKind::ShiftedRoots { modulus, first, step, .. } => {
                Some((modulus, step, TableKind::ShiftedRoots { modulus, first, step, len: most }))
            }
            _ => None,
        }
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
