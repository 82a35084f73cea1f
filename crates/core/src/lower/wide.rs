//! Short numbers two by two: an element that memory keeps in 4 bytes or less moves together with its neighbour, so that a
//! thread's access has the bytes that it has in single precision. The digit of a tile whose values lie side by side is
//! cut in two; its lower part, of two values, no longer tells threads apart: each thread holds both.

use std::ops::Range;

use crate::kernel::{Cx, Value};
use crate::pass::{Operand, Pass, PassDim};
use crate::problem::Format;

use super::digits::Digits;
use super::layout::Layout;
use super::memory::Side;
use super::writes::Write;
use super::{Held, Lowering};

/// Neighbours that move together.
pub const PAIR: u32 = 2;

/// The digit of a layout whose neighbours may move two by two on a side of a pass; `None` where they may not.
pub(crate) fn pairable(
    pass: &Pass,
    held: &[u64],
    digits: &Digits,
    layout: &Layout,
    writes: bool,
) -> Option<usize> {
    let operand = if writes { pass.dst } else { pass.src };
    let &fastest = layout.order.first()?;
    let own = &digits.all[fastest];
    let stride = |is: i64, os: i64| if writes { os } else { is };
    let even = |d: usize| d == fastest || stride(digits.all[d].is, digits.all[d].os) % 2 == 0;
    let starts_even = |(at, (dim, &held)): (usize, (&PassDim, &u64))| {
        if own.batch == Some(at) {
            // Both neighbours are there, or neither is.
            return dim.n.is_multiple_of(2) && held.is_multiple_of(2);
        }
        dim.n == 1 || stride(dim.is, dim.os) % 2 == 0
    };
    // Tiles of clusters whose threads hold neighbours took three times as long as those whose do not: 6.2 copies and 2.1 of
    // 256 x 256 on an H200 (docs/notes/storage.md).
    let possible = short(operand)
        && pass.images.is_none()
        && layout.block.is_none()
        && pass.load.is_none()
        && pass.store.is_none()
        && pass.windows[usize::from(writes)].is_empty()
        && stride(own.is, own.os) == 1
        && own.size.is_multiple_of(PAIR)
        && digits.upper[fastest].is_none()
        && operand.offset.is_multiple_of(2)
        && !matches!(operand.format, Format::Apart(distance) if distance % 2 != 0)
        && (0..digits.all.len()).all(even)
        && pass.batch.iter().zip(held).enumerate().all(starts_even);
    possible.then_some(fastest)
}

/// Whether threads share out pairs of groups as evenly as single ones, or nearly: a little waste costs less than short
/// accesses do.
pub(crate) fn shared_out(groups: u32, threads: u32) -> bool {
    let (apart, together) = (groups.div_ceil(threads), PAIR * (groups / PAIR).div_ceil(threads));
    8 * together <= 9 * apart
}

/// Whether an array's elements are so short that single ones leave a part of an access empty.
pub(crate) fn short(operand: Operand) -> bool {
    operand.storage.real_bytes() < 4
}

impl Lowering<'_> {
    /// Cuts the digits whose neighbours move two by two as the tile is read, and as it is written.
    pub(super) fn cut_pairs(
        &mut self,
        ends: [Option<usize>; 2],
        blocks: [Option<usize>; 2],
    ) -> [Option<usize>; 2] {
        let found = [false, true].map(|writes| {
            if self.staged(writes) || !short(if writes { self.pass.dst } else { self.pass.src }) {
                return None;
            }
            let strides = self.digits.weights(|digit| if writes { digit.os } else { digit.is });
            let at = usize::from(writes);
            let layout = self.edge_layout(ends[at], blocks[at], &strides, writes);
            let digit = pairable(self.pass, &self.tile.batch, &self.digits, &layout, writes)?;
            shared_out(layout.groups(&self.digits), self.threads.count).then_some(digit)
        });
        for (i, &digit) in found.iter().enumerate() {
            if let Some(digit) = digit.filter(|_| i == 0 || found[0] != found[1]) {
                let size = self.digits.all[digit].size;
                self.digits.cut(digit, size / PAIR);
            }
        }
        found
    }

    /// A layout in which each thread holds the neighbours of a digit.
    pub(super) fn with_pairs(layout: Layout, pair: Option<usize>) -> Layout {
        let Some(digit) = pair else { return layout };
        let order = layout.order.into_iter().filter(|&d| d != digit).collect();
        Layout { order, pair: Some(digit), ..layout }
    }

    /// Groups of two neighbours, one after the other.
    pub(super) fn load_pairs(&mut self, side: &Side, layout: &Layout, slots: Range<u32>) -> Held {
        slots.step_by(PAIR as usize).flat_map(|slot| self.load_pair(side, layout, slot)).collect()
    }

    fn load_pair(&mut self, side: &Side, layout: &Layout, slot: u32) -> [Vec<Cx>; 2] {
        let cache = self.reading(layout);
        let on = self.inside(layout, slot);
        let (pointers, base) = self.pointers(side, layout, slot);
        let (ahead, first) = self.ahead_of(side, (layout, slot), &pointers);
        let mut both = [Vec::new(), Vec::new()];
        for r in 0..layout.registers(&self.digits) as usize {
            let at = base - ahead + self.digits.at_register(layout.register, &side.weights, r);
            let (planes, offset) = self.reach(if r == 0 { &first } else { &pointers }, at);
            let mut reals = |plane: usize, width| self.get(planes[plane], offset, width, cache, on);
            let (re, im): (Vec<Value>, Vec<Value>) = match side.operand.format {
                Format::Interleaved => {
                    let x = reals(0, 4);
                    (vec![x[0], x[2]], vec![x[1], x[3]])
                }
                Format::Planar => (reals(0, 2), reals(1, 2)),
                Format::Apart(distance) => {
                    let re = reals(0, 2);
                    let (other, far) = self.reach(&planes, i64::from(offset) + distance);
                    (re, self.get(other[0], far, 2, cache, on))
                }
                Format::Real => {
                    let zero = self.b.float(self.real, 0.0);
                    (self.get(planes[0], offset, 2, cache, on), vec![zero; 2])
                }
            };
            for (i, group) in both.iter_mut().enumerate() {
                group.push(Cx { re: re[i], im: im[i] });
            }
        }
        if let Some(function) = self.pass.functions.load.clone() {
            for (group, slot) in both.iter_mut().zip(slot..) {
                self.apply(&function, false, (layout, slot), group, None);
            }
        }
        both
    }

    pub(super) fn store_pairs(&mut self, side: &Side, layout: &Layout, slots: Range<u32>, held: &Held) {
        let slots = slots.step_by(PAIR as usize);
        for (slot, both) in slots.zip(held.chunks(PAIR as usize)) {
            let both = [0, 1].map(|i| self.leaving(layout, slot + i as u32, &both[i]));
            let (both, scale) = self.applied_to_pair(layout, slot, both);
            let on = self.inside(layout, slot);
            let (pointers, base) = self.pointers(side, layout, slot);
            let mut writes = Vec::new();
            let [first, second] = &both;
            for (r, (&x, &y)) in first.iter().zip(second).enumerate() {
                let at = base + self.digits.at_register(layout.register, &side.weights, r);
                let (planes, offset) = self.reach(&pointers, at);
                let [x, y] = [x, y].map(|x| if scale == 1.0 { x } else { self.b.cscale(x, scale) });
                let write = |plane: usize, values| Write { ptr: planes[plane], offset, values, on };
                match side.operand.format {
                    Format::Interleaved => writes.push(write(0, vec![x.re, x.im, y.re, y.im])),
                    Format::Planar => {
                        writes.extend([write(0, vec![x.re, y.re]), write(1, vec![x.im, y.im])]);
                    }
                    Format::Real => writes.push(write(0, vec![x.re, y.re])),
                    Format::Apart(distance) => {
                        let (other, far) = self.reach(&planes, i64::from(offset) + distance);
                        writes.push(write(0, vec![x.re, y.re]));
                        writes.push(Write { ptr: other[0], offset: far, values: vec![x.im, y.im], on });
                    }
                }
            }
            self.write_all(writes, self.caches[1]);
        }
    }

    /// Two groups as the caller's function leaves them, and the scale that is left to do.
    fn applied_to_pair(&mut self, layout: &Layout, slot: u32, mut both: [Vec<Cx>; 2]) -> ([Vec<Cx>; 2], f64) {
        let Some(function) = self.pass.functions.store.clone() else { return (both, self.pass.scale) };
        for (group, slot) in both.iter_mut().zip(slot..) {
            if self.pass.scale != 1.0 {
                group.iter_mut().for_each(|x| *x = self.b.cscale(*x, self.pass.scale));
            }
            self.apply(&function, true, (layout, slot), group, None);
        }
        (both, 1.0)
    }
}
