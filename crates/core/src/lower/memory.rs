//! The tile's way in and out: addresses, guards, and the factors applied on the way.

use std::ops::Range;

use crate::kernel::{Access, Cache, Cx, Op, Space, Type, Value};
use crate::pass::{Operand, PassDim};
use crate::problem::{Format, Storage};

use super::guards::Bound;
use super::layout::Layout;
use super::window::Seen;
use super::{Held, Lowering, Slot, stored};

/// Constant distances beyond this are added to the pointer: emitted offsets are signed 32-bit bytes.
pub(super) const MAX_OFFSET: i64 = 1 << 27;

/// One side of a pass as the kernel sees it.
#[derive(Clone)]
pub(super) struct Side {
    pub operand: Operand,
    planes: Vec<Space>,
    /// Reals between neighbouring complex elements.
    pub step: i64,
    /// Weight of each digit in reals.
    pub weights: Vec<i64>,
    /// Uniform start of the tile in reals, `U32`, or `U64` where the array needs it.
    pub base: Value,
    /// It is the block's own array.
    pub staged: bool,
}

impl Side {
    /// The same array, gone through with other weights from another start.
    pub fn elsewhere(&self, weights: Vec<i64>, base: Value) -> Self {
        Self { weights, base, ..self.clone() }
    }
}

impl Lowering<'_> {
    pub(super) fn declare_operands(&mut self) {
        let in_place = self.pass.in_place();
        if !in_place {
            let access = Access::Read;
            self.declare(self.pass.src, access, Slot::Source, "src");
        }
        let access = if in_place { Access::ReadWrite } else { Access::Write };
        let mut dst = self.pass.dst;
        if in_place {
            // Reals and complex numbers may share the array.
            let reals = self.pass.src.format.step() * self.pass.src.span;
            dst.span = dst.span.max(reals / dst.format.step());
        }
        self.declare(dst, access, Slot::Destination, "dst");
    }

    pub(super) fn declare(&mut self, operand: Operand, access: Access, slot: fn(u8) -> Slot, name: &str) {
        let len = operand.format.step() * operand.span;
        for plane in 0..operand.format.planes() as u8 {
            let elem = stored::elem(operand.storage);
            let space = self.b.buffer(format!("{name}{plane}"), elem, access, len);
            self.slots.push(slot(plane));
            self.spaces.push(space);
        }
    }

    /// The buffer that a slot is bound to, declared when first asked for.
    pub(super) fn space_of(&mut self, slot: Slot) -> Space {
        if let Some(i) = self.slots.iter().position(|&s| s == slot) {
            return self.spaces[i];
        }
        if let (Slot::Filter, Some(filter)) = (slot, self.pass.filter) {
            let space = self.b.buffer("filter", self.real, Access::Read, 2 * filter.span);
            self.slots.push(slot);
            self.spaces.push(space);
            return space;
        }
        let Slot::Table(kind) = slot else { unreachable!("operands are declared before anything else") };
        let name = format!("table{}", self.slots.iter().filter(|s| matches!(s, Slot::Table(_))).count());
        let elem = if kind.width() == 1 { Type::U32 } else { self.real };
        let space = self.b.buffer(name, elem, Access::Read, kind.width() * kind.len());
        self.slots.push(slot);
        self.spaces.push(space);
        space
    }

    /// Sum of the tile's origin times a weight of each repeated dimension.
    pub(super) fn at_origin(&mut self, ty: Type, weight: impl Fn(&PassDim) -> i64) -> Value {
        let mut sum = self.b.pure(Op::Const(0), ty, &[]);
        for (d, dim) in self.pass.batch.iter().enumerate() {
            let mask = if ty == Type::U64 { u64::MAX } else { u64::from(u32::MAX) };
            let origin = self.b.convert(ty, self.origin[d]);
            let term = self.b.mul_const(origin, weight(dim) as u64 & mask);
            sum = self.b.add(sum, term);
        }
        sum
    }

    pub(super) fn side(&mut self, writes: bool) -> Side {
        let operand = if writes { self.pass.dst } else { self.pass.src };
        if self.staged(writes) {
            let space = self.line_space(writes);
            let weights = self.staged_weights(writes).iter().map(|weight| 2 * weight).collect();
            let storage = Storage::of(self.pass.precision);
            let operand = Operand { format: Format::Interleaved, offset: 0, storage, ..operand };
            return Side {
                operand,
                planes: vec![space],
                step: 2,
                weights,
                base: self.b.u32(0),
                staged: true,
            };
        }
        self.memory_side(writes)
    }

    /// A side of the pass in memory.
    pub(super) fn memory_side(&mut self, writes: bool) -> Side {
        let operand = if writes { self.pass.dst } else { self.pass.src };
        let slot = self.sides[usize::from(writes)];
        let step = operand.format.step() as i64;
        let planes = (0..operand.format.planes() as u8).map(|plane| self.space_of(slot(plane))).collect();
        let windows = self.pass.windows[usize::from(writes)].iter();
        let span = windows.fold(operand.span, |span, window| span.saturating_add(window.reach()));
        let wide = Operand { span, ..operand }.needs_wide_index();
        let ty = if wide { Type::U64 } else { Type::U32 };
        let weights = self.digits.weights(|digit| step * if writes { digit.os } else { digit.is });
        if let Some(ahead) = self.ahead.filter(|_| !writes) {
            let base = self.b.u32(0);
            return Side { operand, planes: vec![ahead.space], step, weights, base, staged: false };
        }
        let base = self.at_origin(ty, |dim| step * if writes { dim.os } else { dim.is });
        let mut base = self.b.add_const(base, operand.offset * step as u64);
        if let Some(share) = self.share.filter(|_| slot(0) == Slot::Ring) {
            let slot = self.b.convert(ty, share.slot);
            base = self.b.add(base, slot);
        }
        Side { operand, planes, step, weights, base, staged: false }
    }

    /// Pointers into the planes for a slot, and the constant distance beside them.
    pub(super) fn pointers(&mut self, side: &Side, layout: &Layout, slot: u32) -> (Vec<Value>, i64) {
        let steps = layout.order.iter().chain(&layout.block).chain(&layout.pair);
        let steps = steps.map(|&d| side.weights[d] * (i64::from(self.digits.all[d].size) - 1));
        let (lowest, reach) = steps.fold((0, 0), |(low, all), step| (low + step.min(0), all + step.abs()));
        if reach > i64::from(u32::MAX) {
            let at = layout.linear(&mut self.b, &self.digits, self.threads, slot, &side.weights, Type::U64);
            let start = side.planes.iter().map(|&space| self.b.addr(space, side.base)).collect::<Vec<_>>();
            let Some(thread) = at.thread else { return (start, at.constant) };
            return (start.into_iter().map(|ptr| self.b.ptr_add(ptr, thread)).collect(), at.constant);
        }
        let at = self.linear(layout, slot, &side.weights);
        let thread = at.thread.unwrap_or_else(|| self.b.u32(0));
        if self.b.ty(side.base) == Type::U32 {
            let index = self.b.add(side.base, thread);
            if self.pass.images.is_some() {
                // Tiles may start before the first row (`images.rs`): what is left without the constant may be negative.
                let index = self.b.add_const(index, u64::from(at.constant as u32));
                return (side.planes.iter().map(|&space| self.b.addr(space, index)).collect(), 0);
            }
            return (side.planes.iter().map(|&space| self.b.addr(space, index)).collect(), at.constant);
        }
        // Falling strides make the thread's part negative: shift it up before it is widened.
        let thread = self.b.add_const(thread, lowest.unsigned_abs() & u64::from(u32::MAX));
        let down = self.b.add_const(side.base, lowest as u64);
        let pointers = side.planes.iter().map(|&space| {
            let start = self.b.addr(space, down);
            self.b.ptr_add(start, thread)
        });
        (pointers.collect(), at.constant)
    }

    /// `offset` beside the pointers as the accesses take it, moving the pointers where it is too far.
    pub(super) fn reach(&mut self, pointers: &[Value], offset: i64) -> (Vec<Value>, i32) {
        if offset.abs() <= MAX_OFFSET {
            return (pointers.to_vec(), offset as i32);
        }
        let far = self.b.u64(offset as u64);
        (pointers.iter().map(|&ptr| self.b.ptr_add(ptr, far)).collect(), 0)
    }

    /// Where a register's element lies, `offset` beside the pointers, once its windows have moved it.
    fn in_window(
        &mut self,
        side: &Side,
        pointers: &[Value],
        offset: i64,
        seen: Option<&Seen>,
    ) -> (Vec<Value>, i32) {
        let Some(seen) = seen else { return self.reach(pointers, offset) };
        let offset = offset + side.step * seen.shift;
        let Some(further) = seen.further else { return self.reach(pointers, offset) };
        let further = self.b.mul_const(further, side.step as u64);
        let pointers: Vec<Value> = pointers.iter().map(|&ptr| self.b.ptr_add(ptr, further)).collect();
        self.reach(&pointers, offset)
    }

    pub(super) fn load(&mut self, layout: &Layout) -> Held {
        let slots = layout.slots(&self.digits, self.threads.count);
        self.load_slots(layout, 0..slots)
    }

    /// Some of a thread's groups.
    pub(super) fn load_slots(&mut self, layout: &Layout, slots: Range<u32>) -> Held {
        if let Some(images) = self.pass.images {
            return self.load_images(images, layout, slots);
        }
        let side = self.side(false);
        if layout.pair.is_some() {
            return self.load_pairs(&side, layout, slots);
        }
        slots.map(|slot| self.load_group(&side, layout, slot, None)).collect()
    }

    /// One slot's group; `bounds` says which of its elements are there, beyond what the pass says.
    pub(super) fn load_group(
        &mut self,
        side: &Side,
        layout: &Layout,
        slot: u32,
        bounds: Option<&[Bound]>,
    ) -> Vec<Cx> {
        let limited = bounds.is_some()
            || self.pass.load.is_some_and(|what| what.limit.is_some())
            || !self.pass.windows[0].is_empty();
        let together = self.neighbours_moved(side, layout, limited);
        let cache = if side.staged { Cache::Default } else { self.reading(layout) };
        let step = layout.register.map_or(0, |d| side.weights[d]);
        let inside = self.inside(layout, slot);
        let (pointers, base) = self.pointers(side, layout, slot);
        let (ahead, first) = self.ahead_of(side, (layout, slot), &pointers);
        let base = base - ahead;
        let seen = if side.staged { None } else { self.seen(layout, slot, false) };
        let factors = self.pointwise(self.pass.load, layout, slot, inside, false);
        let mut group: Vec<Cx> = Vec::new();
        for (r, &(on, _)) in factors.iter().enumerate() {
            if group.len() > r {
                continue;
            }
            let on = self.bounded(on, seen.as_deref().map(|seen| seen[r].on), bounds.map(|all| all[r]));
            let Bound::If(on) = on else {
                let zero = self.b.float(self.real, 0.0);
                group.push(Cx { re: zero, im: zero });
                continue;
            };
            let seen = seen.as_deref().map(|seen| &seen[r]);
            let pointers = if r == 0 { &first } else { &pointers };
            let (planes, offset) = self.in_window(side, pointers, base + step * r as i64, seen);
            group.extend(self.load_some(side.operand.format, &planes, (offset, together), cache, on));
        }
        if let Some(function) = self.pass.functions.load.clone().filter(|_| !side.staged) {
            let mut all: Vec<Bound> = Vec::with_capacity(factors.len());
            for (r, &(on, _)) in factors.iter().enumerate() {
                let in_window = seen.as_deref().map(|seen| seen[r].on);
                all.push(self.bounded(on, in_window, bounds.map(|all| all[r])));
            }
            let bounds = limited.then_some(&all[..]);
            self.apply(&function, false, (layout, slot), &mut group, bounds);
        }
        for (x, (_, factor)) in group.iter_mut().zip(factors) {
            if let Some(factor) = factor {
                *x = self.b.cmul(*x, factor);
            }
        }
        group
    }

    pub(super) fn store(&mut self, layout: &Layout, held: &Held) {
        if !self.staged(true) {
            self.await_slot();
        }
        let slots = layout.slots(&self.digits, self.threads.count);
        self.store_slots(layout, 0..slots, held);
    }

    /// Some of a thread's groups.
    pub(super) fn store_slots(&mut self, layout: &Layout, slots: Range<u32>, held: &Held) {
        if let Some(images) = self.pass.images {
            return self.store_images(images, layout, slots, held);
        }
        let side = self.side(true);
        if layout.pair.is_some() {
            return self.store_pairs(&side, layout, slots, held);
        }
        for (slot, group) in slots.zip(held) {
            if self.store_in_twos(&side, layout, slot, group) {
                continue;
            }
            let group = self.leaving(layout, slot, group);
            self.store_group(&side, layout, slot, &group, None);
        }
    }

    /// One slot's group; `bounds` says which of its elements are wanted, beyond what the pass says.
    pub(super) fn store_group(
        &mut self,
        side: &Side,
        layout: &Layout,
        slot: u32,
        group: &[Cx],
        bounds: Option<&[Bound]>,
    ) {
        let limited = bounds.is_some()
            || self.pass.store.is_some_and(|what| what.limit.is_some())
            || !self.pass.windows[1].is_empty();
        let together = self.neighbours_moved(side, layout, limited);
        let cache = if side.staged { Cache::Default } else { self.caches[1] };
        let step = layout.register.map_or(0, |d| side.weights[d]);
        let inside = self.inside(layout, slot);
        let (pointers, base) = self.pointers(side, layout, slot);
        let seen = if side.staged { None } else { self.seen(layout, slot, true) };
        let factors = self.pointwise(self.pass.store, layout, slot, inside, true);
        let mut values: Vec<Cx> = group
            .iter()
            .zip(&factors)
            .map(|(&x, (_, factor))| {
                let x = factor.map_or(x, |factor| self.b.cmul(x, factor));
                // A fold scales as it takes the points to memory.
                if self.pass.scale == 1.0 || side.staged { x } else { self.b.cscale(x, self.pass.scale) }
            })
            .collect();
        if let Some(function) = self.pass.functions.store.clone().filter(|_| !side.staged) {
            self.apply(&function, true, (layout, slot), &mut values, None);
        }
        let mut writes = Vec::new();
        for (chunk, r) in values.chunks(together).zip((0..).step_by(together)) {
            let seen = seen.as_deref().map(|seen| &seen[r]);
            let (planes, offset) = self.in_window(side, &pointers, base + step * r as i64, seen);
            let on = self.bounded(factors[r].0, seen.map(|seen| seen.on), bounds.map(|all| all[r]));
            let Bound::If(on) = on else { continue };
            self.write_some(side, (&planes, offset), chunk, on, &mut writes);
        }
        self.write_all(writes, cache);
    }
}
