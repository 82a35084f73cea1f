//! Where the line of an item is: in memory, and as points in the block's array.

use crate::kernel::{Cache, Op, Space, Type, Value};
use crate::lower::layout::Layout;
use crate::lower::{Lowering, Slot};
use crate::pass::{Carry, Fold, PassDim};
use crate::problem::{Format, Window};

use super::Points;
use super::port::{Holder, Port, masked};
use super::window::Held;

/// Where a line is.
#[derive(Clone)]
pub(super) struct Ends {
    /// In memory, two lines where points carry two.
    pub lines: Vec<Port>,
    /// As points.
    pub points: Port,
}

impl Lowering<'_> {
    /// Where a slot's line is, at these indices of the other axes; a mirror image may be another block's.
    pub(super) fn ends(
        &mut self,
        fold: &Fold,
        writes: bool,
        points: Points,
        at: (&Layout, u32),
        (others, mirrored): (&[Value], bool),
    ) -> Ends {
        let mut line = self.memory_line(writes, fold.stride, at, others);
        line.applied = self.applied_on(fold, writes, at, others);
        line.held = fold.window.map(|window| Held { window, n: fold.n });
        // Of two neighbours one may be there and the other not.
        line.pairs &= line.held.is_none() && line.there.is_none();
        let mut lines = vec![line];
        if let Carry::Rows(distances) = fold.carry {
            let step = lines[0].format.step() as i64;
            let distance = distances[usize::from(writes)] * step;
            let mut second = lines[0].clone().beyond(self, distance);
            second.pairs &= distance % 2 == 0;
            lines[0].twins = self.twins(fold, writes);
            lines.push(second);
            for (line, which) in lines.iter_mut().zip(0..) {
                line.applied.iter_mut().for_each(|applied| applied.one_of_two(fold.across, which));
            }
        }
        let points = match points {
            Points::Memory => self.memory_line(!writes, 1, at, others),
            Points::Block(space) => self.block_line(space, writes, at, (others, mirrored)),
        };
        Ends { lines, points }
    }

    /// Whether the two rows that points carry lie side by side, from an even element on, and as they are: one access takes
    /// four reals.
    fn twins(&self, fold: &Fold, writes: bool) -> bool {
        let operand = if writes { self.pass.dst } else { self.pass.src };
        let functions = &self.pass.functions;
        let function = if writes { &functions.store } else { &functions.load };
        let even = |dim: &PassDim| if writes { dim.os } else { dim.is } % 2 == 0;
        fold.twins(writes)
            && fold.window.is_none()
            && function.is_none()
            && self.pass.axes.len() == 1
            && operand.format == Format::Interleaved
            && operand.storage.real_bytes() <= 4
            && operand.offset.is_multiple_of(2)
            && self.pass.batch.iter().all(even)
    }

    /// The line in memory that a slot's item is of.
    fn memory_line(
        &mut self,
        writes: bool,
        stride: i64,
        (layout, slot): (&Layout, u32),
        others: &[Value],
    ) -> Port {
        let operand = if writes { self.pass.dst } else { self.pass.src };
        let slot_of = self.sides[usize::from(writes)];
        let step = operand.format.step() as i64;
        let planes: Vec<Space> =
            (0..operand.format.planes() as u8).map(|plane| self.space_of(slot_of(plane))).collect();
        let windows = &self.pass.windows[usize::from(writes)];
        let reach = windows.iter().fold(operand.span, |span, window| span.saturating_add(window.reach()));
        let wide = reach.saturating_mul(step as u64) > u64::from(u32::MAX / 2);
        let ty = if wide { Type::U64 } else { Type::U32 };
        // The first repeated dimension of a fold alone counts items, which the line's index does.
        let skipped = usize::from(self.pass.axes.is_empty());
        let mut base = self.b.pure(Op::Const(operand.offset * step as u64), ty, &[]);
        for d in skipped..self.pass.batch.len() {
            let dim = &self.pass.batch[d];
            base = self.plus(base, self.origin[d], step * if writes { dim.os } else { dim.is });
        }
        let mut there = None;
        for (axis, &k) in others.iter().enumerate() {
            let dim = &self.pass.axes[axis].dim;
            let mut place = k;
            if let Some(held) = self.held_of(axis, writes) {
                let (at, inside) = self.seen_through(held, k);
                (place, there) = (at, self.also(there, inside));
            }
            base = self.plus(base, place, step * if writes { dim.os } else { dim.is });
        }
        let weights = self.digits.weights(|digit| match digit.batch {
            Some(d) if d >= skipped => step * if writes { digit.os } else { digit.is },
            _ => 0,
        });
        let own = layout.linear(&mut self.b, &self.digits, self.threads, slot, &weights, ty);
        base = self.b.add_const(base, masked(ty, own.constant));
        if let Some(thread) = own.thread {
            base = self.b.add(base, thread);
        }
        if let Some(share) = self.share.filter(|_| slot_of(0) == Slot::Ring) {
            base = self.plus(base, share.slot, 1);
        }
        let cache = self.unshaped(writes);
        // Every line starts at an even real, wherever else it lies.
        let repeated = self.pass.batch[skipped..].iter();
        let folded = self.pass.axes.len().saturating_sub(1);
        let mut dims = repeated.chain(self.pass.axes[..folded].iter().map(|axis| &axis.dim));
        let pairs = operand.format == Format::Real
            && stride == 1
            && operand.offset.is_multiple_of(2)
            && dims.all(|dim| if writes { dim.os } else { dim.is } % 2 == 0);
        let holder = Holder::Own;
        Port {
            planes,
            format: operand.format,
            stride: stride * step,
            base,
            cache,
            pairs,
            twins: false,
            holder,
            applied: None,
            held: None,
            there,
        }
    }

    /// The window of an axis beside the lines.
    fn held_of(&self, axis: usize, writes: bool) -> Option<Held> {
        let windows = self.pass.windows[usize::from(writes)].iter();
        let window = windows.into_iter().find(|window| window.axes.get(axis) == Some(&1))?;
        Some(Held { window: Window::new(window.start, window.len), n: window.n })
    }

    /// `base + index distance`, in the type of `base`.
    fn plus(&mut self, base: Value, index: Value, distance: i64) -> Value {
        let ty = self.b.ty(base);
        let index = self.b.convert(ty, index);
        let far = self.b.mul_const(index, masked(ty, distance));
        self.b.add(base, far)
    }

    /// The line of points in the block's array that a slot's item is of.
    pub(super) fn block_line(
        &mut self,
        space: Space,
        writes: bool,
        (layout, slot): (&Layout, u32),
        (others, mirrored): (&[Value], bool),
    ) -> Port {
        let rows = self.rows(writes).clone();
        let mut holder = Holder::Own;
        let mut others = others.to_vec();
        if let Some(dealt) = rows.dealt {
            let most = self.pass.axes[dealt.axis].dim.n;
            if let Some(k) = others.get_mut(dealt.axis) {
                if mirrored {
                    holder = Holder::Other(dealt.rank(&mut self.b, *k, most - 1));
                }
                *k = dealt.own(&mut self.b, *k, most - 1);
            } else {
                // A spectrum has one value more than there are points, and it stands for the first.
                holder = if mirrored { Holder::Shared(dealt, most) } else { Holder::Part(dealt, most) };
            }
        }
        let weights =
            self.digits.weights(|digit| digit.batch.map_or(0, |d| 2 * digit.number * rows.repeated[d]));
        let own = self.linear(layout, slot, &weights);
        let thread = own.thread.unwrap_or_else(|| self.b.u32(0));
        let mut base = self.b.add_const(thread, own.constant as u64);
        for (axis, &k) in others.iter().enumerate() {
            base = self.plus(base, k, 2 * rows.axes[axis]);
        }
        let (planes, format, cache) = (vec![space], Format::Interleaved, Cache::Default);
        Port {
            planes,
            format,
            stride: 2,
            base,
            cache,
            pairs: false,
            twins: false,
            holder,
            applied: None,
            held: None,
            there: None,
        }
    }
}
