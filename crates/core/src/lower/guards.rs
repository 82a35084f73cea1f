//! Which elements are there: tiles reach beyond the ends of repeated dimensions, and threads beyond the tile.

use crate::kernel::{Cmp, Op, Special, Type, Value};

use crate::pass::Images;

use super::Lowering;
use super::layout::Layout;

/// Whether an element is there.
#[derive(Debug, Clone, Copy)]
pub(super) enum Bound {
    Never,
    /// Where it holds; `None`: always.
    If(Option<Value>),
}

impl Lowering<'_> {
    /// Whether a slot's group lies in the problem: exists in the tile and, in the last tile of a repeated
    /// dimension, before its end. `None`: in every thread.
    pub(super) fn inside(&mut self, layout: &Layout, slot: u32) -> Option<Value> {
        let mut all = self.guard;
        let mut bounded = false;
        for d in 0..self.pass.batch.len() {
            let (dim, count) = (self.pass.batch[d], self.tile.batch[d]);
            // Of what each run counts, any tile may be the last.
            if if dim.at_run { count == 1 } else { dim.n % count == 0 } {
                continue;
            }
            // Rows of a tile that starts before the first are known by numbers that are too large.
            let before = self.pass.images.is_some() && d == Images::ROW;
            if let Some(below) = self.below_slowest(layout, slot, d).filter(|_| !before) {
                all = Some(self.both(all, below));
                bounded = true;
                continue;
            }
            let weights = self.digits.weights(|digit| if digit.batch == Some(d) { digit.number } else { 0 });
            let at = self.linear(layout, slot, &weights);
            let mut index = self.b.add_const(self.origin[d], at.constant as u64);
            let ty = self.b.ty(index);
            if let Some(thread) = at.thread {
                let thread = self.b.convert(ty, thread);
                index = self.b.add(index, thread);
            }
            let n = self.end_of(d, ty);
            let below = self.b.cmp(Cmp::Lt, index, n);
            all = Some(self.both(all, below));
        }
        if bounded {
            return all;
        }
        let exists = self.exists(layout, slot);
        self.all_of(all, exists)
    }

    /// Whether a slot's group lies before the end of a repeated dimension that is the slowest of the layout: there
    /// are no more than so many groups, none of them outside of the tile, which needs no division. `None`: it is not
    /// the slowest, or one division is all there is to do.
    fn below_slowest(&mut self, layout: &Layout, slot: u32, d: usize) -> Option<Value> {
        if layout.slots(&self.digits, self.threads.count) == 1 {
            return None;
        }
        let count = self.tile.batch[d];
        let (&slowest, faster) = layout.order.split_last()?;
        let inner: u32 = faster.iter().map(|&digit| self.digits.all[digit].size).product();
        if self.digits.all[slowest].batch != Some(d) || u64::from(self.digits.all[slowest].size) != count {
            return None;
        }
        let ty = self.b.ty(self.origin[d]);
        let (n, count) = (self.end_of(d, ty), self.b.pure(Op::Const(count), ty, &[]));
        let start = self.b.binary(Op::Min, self.origin[d], n);
        let rest = self.b.sub(n, start);
        let rest = self.b.binary(Op::Min, rest, count);
        let rest = self.b.convert(Type::U32, rest);
        let groups = self.b.mul_const(rest, u64::from(inner));
        // The thread's index is taken off once, and what is left compared with a constant in every slot.
        let groups = self.b.binary(Op::Max, groups, self.threads.index);
        let left = self.b.sub(groups, self.threads.index);
        let before = self.b.u32(slot / layout.together(&self.digits) * self.threads.count);
        Some(self.b.cmp(Cmp::Gt, left, before))
    }

    /// Points of a repeated dimension: those that the run counts, if it does.
    fn end_of(&mut self, d: usize, ty: Type) -> Value {
        let dim = self.pass.batch[d];
        if dim.at_run {
            let count = self.b.special(Special::Count);
            return self.b.convert(ty, count);
        }
        self.b.pure(Op::Const(dim.n), ty, &[])
    }

    pub(super) fn both(&mut self, a: Option<Value>, b: Value) -> Value {
        match a {
            None => b,
            Some(a) => self.b.pure(Op::And, Type::Bool, &[a, b]),
        }
    }

    /// What one of a group's elements must keep to beside `on`.
    pub(super) fn bounded(&mut self, on: Bound, window: Option<Bound>, bound: Option<Bound>) -> Bound {
        [window, bound].into_iter().flatten().fold(on, |on, bound| match (on, bound) {
            (Bound::If(on), Bound::If(bound)) => Bound::If(self.all_of(on, bound)),
            (Bound::Never, _) | (_, Bound::Never) => Bound::Never,
        })
    }

    pub(super) fn all_of(&mut self, a: Option<Value>, b: Option<Value>) -> Option<Value> {
        match b {
            Some(b) if a != Some(b) => Some(self.both(a, b)),
            _ => a,
        }
    }
}
