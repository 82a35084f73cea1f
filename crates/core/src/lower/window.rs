//! Windows: which elements of a tile lie in memory, and where. The address of a point is linear in the digits of its
//! index; a window moves it by a constant, or by one of two where the window goes on beyond the end of the dimension.
//! Where the digits that a register fixes say on which side of an edge all its points lie, nothing is computed.

use crate::kernel::{Cmp, Op, Type, Value};
use crate::pass::Window;

use super::Lowering;
use super::guards::Bound;
use super::layout::Layout;

/// Where a register's element is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    /// Whether it is in the window.
    pub on: Bound,
    /// What the window moves it by, in elements.
    pub shift: i64,
    /// What is to be added to that, in elements, and never below 0.
    pub further: Option<Value>,
}

/// A window and the index of a slot's points in its dimension: `at` in a thread plus a constant for each register.
struct Index<'w> {
    window: &'w Window,
    at: Value,
    /// The largest value of `at` that matters.
    most: i64,
}

impl Lowering<'_> {
    /// What the windows of a side say of each register of a slot, beside what else its elements must keep to. `None`:
    /// there are no windows.
    pub(super) fn seen(&mut self, layout: &Layout, slot: u32, writes: bool) -> Option<Vec<Seen>> {
        let pass = self.pass;
        let windows = &pass.windows[usize::from(writes)];
        if windows.is_empty() {
            return None;
        }
        let count = layout.registers(&self.digits) as usize;
        let whole = Seen { on: Bound::If(None), shift: 0, further: None };
        let mut all = vec![whole; count];
        for window in windows {
            let weights = self.index_weights(window, writes);
            let at = self.linear(layout, slot, &weights);
            let origin = self.index_of_origin(window);
            let at_thread = at.thread.map_or(origin, |thread| self.b.add(origin, thread));
            let most = self.most_in_thread(layout, window, &weights);
            let index = Index { window, at: at_thread, most };
            for (r, seen) in all.iter_mut().enumerate() {
                let constant = at.constant + self.digits.at_register(layout.register, &weights, r);
                self.look(&index, constant, seen);
            }
        }
        Some(all)
    }

    /// Weight of each digit in the index of a window's dimension.
    fn index_weights(&self, window: &Window, writes: bool) -> Vec<i64> {
        self.digits.weights(|digit| match (digit.axis, digit.batch) {
            (Some(axis), _) => {
                let own = if writes { digit.output } else { digit.input };
                window.axes.get(axis).map_or(0, |&weight| weight as i64 * own)
            }
            (_, Some(batch)) => window.batch.get(batch).map_or(0, |&weight| weight as i64),
            _ => 0,
        })
    }

    /// The part of the index that the tile's origin has.
    fn index_of_origin(&mut self, window: &Window) -> Value {
        let mut sum = self.b.u32(0);
        for (d, &weight) in window.batch.iter().enumerate().filter(|&(_, &weight)| weight != 0) {
            let origin = self.b.convert(Type::U32, self.origin[d]);
            let term = self.b.mul_const(origin, weight);
            sum = self.b.add(sum, term);
        }
        sum
    }

    /// The largest index, but for what the registers add, of elements that there are.
    fn most_in_thread(&self, layout: &Layout, window: &Window, weights: &[i64]) -> i64 {
        let digits = layout.order.iter().chain(&layout.block);
        let own = digits.filter(|&&d| self.digits.all[d].batch.is_none());
        let axes: i64 = own.map(|&d| weights[d] * (i64::from(self.digits.all[d].size) - 1)).sum();
        let repeated = self.pass.batch.iter().zip(&window.batch);
        axes + repeated.map(|(dim, &weight)| (dim.n as i64 - 1) * weight as i64).sum::<i64>()
    }

    /// Looks for the point `index + constant` through one more window.
    fn look(&mut self, index: &Index<'_>, constant: i64, seen: &mut Seen) {
        let Window { n, start, len, stride, .. } = *index.window;
        let [n, start, len] = [n, start, len].map(|x| x as i64);
        let (first, last) = (constant, constant + index.most);
        // From the start up to the end of the dimension, and what goes on from its first point.
        let (high, low) = ((start, (start + len).min(n)), (0, (start + len - n).max(0)));
        let meets = |piece: (i64, i64)| first < piece.1 && last >= piece.0;
        match (meets(low), meets(high)) {
            (false, false) => seen.on = Bound::Never,
            (true, false) => {
                seen.shift += (n - start) * stride;
                self.keep_to(index, constant, low, seen);
            }
            (false, true) => {
                seen.shift -= start * stride;
                self.keep_to(index, constant, high, seen);
            }
            (true, true) => self.wrap(index, constant, seen),
        }
    }

    /// Only points of one piece of a window are there.
    fn keep_to(&mut self, index: &Index<'_>, constant: i64, (from, end): (i64, i64), seen: &mut Seen) {
        if constant >= from && constant + index.most < end {
            return;
        }
        // Below the piece is a number too large to be the lesser one.
        let offset = self.b.add_const(index.at, word(constant - from));
        let len = self.b.u32((end - from) as u32);
        let below = self.b.cmp(Cmp::Lt, offset, len);
        self.only_if(below, seen);
    }

    /// Points of both pieces may be there.
    fn wrap(&mut self, index: &Index<'_>, constant: i64, seen: &mut Seen) {
        let Window { n, start, len, stride, .. } = *index.window;
        let point = self.b.add_const(index.at, word(constant));
        let start_value = self.b.u32(start as u32);
        let low = self.b.cmp(Cmp::Lt, point, start_value);
        if len < n {
            let (after, none) = (self.b.u32(n as u32), self.b.u32(0));
            let turn = self.b.select(low, after, none);
            let from_start = self.b.sub(point, start_value);
            let at = self.b.add(from_start, turn);
            let len = self.b.u32(len as u32);
            let below = self.b.cmp(Cmp::Lt, at, len);
            self.only_if(below, seen);
        }
        let turn = n as i64 * stride;
        let ty = distance_type(turn);
        let [turned, none] = [turn.unsigned_abs(), 0].map(|x| self.b.pure(Op::Const(x), ty, &[]));
        seen.shift += -(start as i64) * stride + turn.min(0);
        let further =
            if turn > 0 { self.b.select(low, turned, none) } else { self.b.select(low, none, turned) };
        self.go_further(further, seen);
    }

    fn go_further(&mut self, further: Value, seen: &mut Seen) {
        seen.further = Some(match seen.further {
            None => further,
            Some(known) => {
                let wide = [known, further].iter().any(|&value| self.b.ty(value) == Type::U64);
                let ty = if wide { Type::U64 } else { Type::U32 };
                let [known, further] = [known, further].map(|value| self.b.convert(ty, value));
                self.b.add(known, further)
            }
        });
    }

    fn only_if(&mut self, below: Value, seen: &mut Seen) {
        if let Bound::If(on) = seen.on {
            seen.on = Bound::If(Some(self.both(on, below)));
        }
    }
}

/// The type of a distance of so many elements at most, of which there may be several reals each, and several distances
/// together.
fn distance_type(elements: i64) -> Type {
    if elements.unsigned_abs() > u64::from(u32::MAX / 16) { Type::U64 } else { Type::U32 }
}

/// A number as arithmetic that wraps in 32 bits has it.
fn word(x: i64) -> u64 {
    u64::from(x as u32)
}
