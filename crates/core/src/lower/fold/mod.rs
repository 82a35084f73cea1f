//! What stands between memory and a pass's points ([`crate::pass::Fold`]). A side that folds goes through an array of
//! the block: lines come in from memory in the order in which they lie there, each thread takes a few elements of a
//! line at a time, and the stages find their points in the array; and the same on the way out. Where the points do
//! not fit the chip, a fold is a pass of its own, from memory to memory.

mod applied;
mod bins;
mod ends;
mod in_order;
pub(super) mod index;
mod port;
pub(super) mod rows;
mod samples;
mod straight;
mod turned;
mod window;

use std::ops::Range;

use crate::kernel::{Cmp, Space, Type, Value};
use crate::pass::{Fold, Way};
use crate::problem::Direction;

use super::Lowering;
use super::dealt::Dealt;
use super::digits::{Digit, Digits};
use super::layout::Layout;
use ends::Ends;
use rows::Rows;

/// Items of a thread that are read before the first of them is worked on.
const AT_ONCE: usize = 4;

/// Where the points are that a fold fills or empties.
#[derive(Debug, Clone, Copy)]
pub(super) enum Points {
    /// The block's own array.
    Block(Space),
    /// The other side of the pass.
    Memory,
}

/// A few elements of a line, and where the line lies.
struct Item {
    /// Which.
    index: Value,
    /// Whether it is there; `None`: it is.
    on: Option<Value>,
    /// The line, and the one that mirrors it in the other axes of the tile.
    own: Ends,
    mirror: Ends,
    /// What a step of the frequency adds to the exponent of the pass's twiddle, in the first of the rows.
    twiddle: Option<Value>,
}

impl Lowering<'_> {
    /// A side that folds, and its fold.
    fn end(&self, writes: bool) -> Option<Fold> {
        self.pass.ends[usize::from(writes)]
    }

    /// Whether a side of the pass is the block's own array.
    pub(super) fn staged(&self, writes: bool) -> bool {
        self.end(writes).is_some() && !self.pass.axes.is_empty()
    }

    /// Where the lines of a side stand in the block's array.
    fn rows(&self, writes: bool) -> &Rows {
        self.rows[usize::from(writes)].as_ref().expect("a side that folds has its lines arranged")
    }

    /// Distance of each digit in the block's array, in points.
    pub(super) fn staged_weights(&self, writes: bool) -> Vec<i64> {
        self.weights_in(self.rows(writes), writes)
    }

    /// The block's array of lines. Stages in registers leave the array of their exchanges free at both ends.
    pub(super) fn line_space(&mut self, writes: bool) -> Space {
        let len = 2 * self.rows(writes).len as u32;
        if !self.convolves_in_place() {
            return self.block_array(len);
        }
        let (real, name) = (self.real, if writes { "out" } else { "in" });
        let place = &mut self.lines[usize::from(writes)];
        *place.get_or_insert_with(|| self.b.shared(name, real, len))
    }

    /// Whether the tile stays in shared memory while its stages run.
    pub(super) fn convolves_in_place(&self) -> bool {
        self.pass.axes.iter().any(|axis| !axis.method.in_place().is_empty())
    }

    /// Brings lines from memory into the block's array.
    pub(super) fn fold_in(&mut self) {
        if self.staged(false) {
            let space = self.line_space(false);
            self.meet();
            match self.end(false) {
                Some(fold) if self.goes_straight(false) => self.fold_straight(&fold, false, space),
                _ => self.fold(false, Points::Block(space)),
            }
            self.everywhere();
            // All of the tile has come in.
            self.exchanged();
        }
    }

    /// Takes lines from the block's array to memory.
    pub(super) fn fold_out(&mut self) {
        if self.staged(true) {
            let threads = self.threads;
            self.everywhere();
            self.index_anew();
            self.await_slot();
            let space = self.line_space(true);
            match self.end(true) {
                Some(fold) if self.goes_straight(true) => self.fold_straight(&fold, true, space),
                _ => self.fold(true, Points::Block(space)),
            }
            self.part();
            self.threads = threads;
        }
    }

    /// A pass that folds and does nothing else.
    pub(super) fn fold_alone(&mut self) {
        self.fold(self.end(true).is_some(), Points::Memory);
    }

    fn fold(&mut self, writes: bool, points: Points) {
        let Some(fold) = self.end(writes) else { return };
        let way = self.pass.way(writes);
        self.share_pointers(&fold, way, writes);
        let alone = self.pass.axes.is_empty();
        let digits = if alone {
            self.digits.clone()
        } else {
            self.item_digits(&fold, writes, fold.items(way, writes), self.rows(writes).dealt)
        };
        let whole = std::mem::replace(&mut self.digits, digits);
        let direction = std::mem::replace(&mut self.direction, Direction::Forward);
        let strides = self.digits.weights(|digit| if writes { digit.os } else { digit.is });
        let order = self.digits.by_stride(&[], &strides);
        let layout = Layout { register: None, order, block: None, pair: None };
        let slots: Vec<u32> = self.slots_of(&layout).collect();
        // Types IV of odd lengths compute a place for each element, in registers: of 101, four at once spilled.
        let counts = way == Way::Turned && !fold.n.is_multiple_of(2);
        let chunks = slots.chunks(if counts { AT_ONCE / 2 } else { AT_ONCE });
        let last = chunks.len() - 1;
        for (at, chunk) in chunks.enumerate() {
            let items: Vec<Item> =
                chunk.iter().map(|&slot| self.item(&fold, writes, points, &layout, slot)).collect();
            // All that comes from memory, or from other blocks, is under way before any of it is waited for.
            let taken: Vec<Vec<Value>> =
                items.iter().map(|item| self.take_item(&fold, way, writes, item)).collect();
            if writes && at == last {
                self.leave();
            }
            for (item, taken) in items.iter().zip(taken) {
                self.give_item(&fold, way, writes, item, &taken);
            }
        }
        self.digits = whole;
        self.direction = direction;
    }

    /// What an item has in memory, for the way in, or in another block's, for the way out.
    fn take_item(&mut self, fold: &Fold, way: Way, writes: bool, item: &Item) -> Vec<Value> {
        match way {
            Way::Bins if writes && self.cluster.is_some() => self.points_taken(fold, item),
            _ if writes => Vec::new(),
            Way::Natural => Vec::new(),
            Way::Bins => self.bins_taken(fold, item),
            Way::Samples => self.samples_taken(fold, item),
            Way::Turned => self.turned_taken(fold, item),
            Way::InOrder => self.in_order_taken(item),
        }
    }

    /// The rest of the way of an item.
    fn give_item(&mut self, fold: &Fold, way: Way, writes: bool, item: &Item, taken: &[Value]) {
        match way {
            Way::Natural => {}
            Way::Bins if writes => self.bins_out(fold, item, taken),
            Way::Bins => self.bins_in(fold, item, taken),
            Way::Samples if writes => self.samples_out(fold, item),
            Way::Samples => self.samples_in(fold, item, taken),
            Way::Turned if writes => self.turned_out(fold, item),
            Way::Turned => self.turned_in(fold, item, taken),
            Way::InOrder if writes => self.in_order_out(item),
            Way::InOrder => self.in_order_in(item, taken),
        }
    }

    fn slots_of(&self, layout: &Layout) -> Range<u32> {
        0..layout.slots(&self.digits, self.threads.count)
    }

    /// A tile's items, so many of a line, and the lines that they are of.
    fn item_digits(&self, fold: &Fold, writes: bool, items: u64, dealt: Option<Dealt>) -> Digits {
        let stride = |own| if writes { (0, own) } else { (own, 0) };
        let (is, os) = stride(fold.stride);
        let folded = self.pass.axes.len() - 1;
        let held = |axis: usize, count: u64| {
            dealt.filter(|dealt| dealt.axis == axis).map_or(count, |dealt| dealt.held(count)) as u32
        };
        let size = held(folded, items);
        let items = Digit { size, is, os, axis: Some(folded), ..Digit::STILL };
        let others = self.pass.axes[..folded].iter().enumerate().map(|(axis, other)| Digit {
            size: held(axis, other.dim.n),
            is: other.dim.is,
            os: other.dim.os,
            axis: Some(axis),
            ..Digit::STILL
        });
        let lines = self.digits.all.iter().filter(|digit| digit.batch.is_some()).copied();
        Digits::new(std::iter::once(items).chain(others).chain(lines).collect(), Vec::new())
    }

    fn item(&mut self, fold: &Fold, writes: bool, points: Points, layout: &Layout, slot: u32) -> Item {
        let mut on = self.inside(layout, slot);
        let alone = self.pass.axes.is_empty();
        let folded = self.pass.axes.len().checked_sub(1);
        let counts = |digit: &Digit| {
            if alone { digit.batch == Some(0) } else { digit.axis.is_some() && digit.axis == folded }
        };
        let mut index = self.number(layout, slot, counts);
        if alone {
            let start = self.b.convert(Type::U32, self.origin[0]);
            let (thread, by) = self.split(index);
            let first = self.b.add(start, thread);
            index = self.shifted(first, by);
        }
        let mut others: Vec<Value> = (0..folded.unwrap_or(0))
            .map(|axis| self.number(layout, slot, |digit| digit.axis == Some(axis)))
            .collect();
        if let (Some(folded), Some(dealt)) = (folded, self.dealt(writes)) {
            let rank = self.threads.rank.expect("the blocks of a cluster know their ranks");
            let count = fold.items(self.pass.way(writes), writes);
            let (own, most) = if dealt.axis == folded {
                (&mut index, dealt.held(count))
            } else {
                (&mut others[dealt.axis], self.pass.axes[dealt.axis].dim.n / dealt.size)
            };
            let (thread, by) = self.split(*own);
            *own = if by % dealt.weight as i64 == 0 {
                let first = dealt.index(&mut self.b, thread, most - 1, rank);
                self.shifted(first, by * dealt.size as i64)
            } else {
                dealt.index(&mut self.b, *own, most - 1, rank)
            };
            if dealt.axis == folded && !count.is_multiple_of(dealt.weight * dealt.size) {
                let count = self.b.u32(count as u32);
                let below = self.b.cmp(Cmp::Lt, index, count);
                on = self.also(on, below);
            }
        }
        let at = (layout, slot);
        let own = self.ends(fold, writes, points, at, (&others, false));
        let mirror = if others.is_empty() && self.cluster.is_none() {
            own.clone()
        } else {
            let mirrored: Vec<Value> =
                others.iter().enumerate().map(|(axis, &k)| self.opposite(axis, k)).collect();
            self.ends(fold, writes, points, at, (&mirrored, true))
        };
        let twiddle = if writes && !alone { self.twiddle_step(layout, slot) } else { None };
        Item { index, on, own, mirror, twiddle }
    }

    /// How the blocks of a cluster share out the lines of a side that folds.
    fn dealt(&self, writes: bool) -> Option<Dealt> {
        self.rows[usize::from(writes)].as_ref()?.dealt
    }

    /// The number that some digits of a slot's element spell.
    fn number(&mut self, layout: &Layout, slot: u32, counts: impl Fn(&Digit) -> bool) -> Value {
        // Of a fold alone the first repeated dimension counts.
        let weights = self.digits.weights(|digit| i64::from(counts(digit)) * digit.number.max(1));
        let at = self.linear(layout, slot, &weights);
        let thread = at.thread.unwrap_or_else(|| self.b.u32(0));
        self.shifted(thread, at.constant)
    }

    /// `-k` on an axis.
    fn opposite(&mut self, axis: usize, k: Value) -> Value {
        let mirrored = self.mirrored(self.pass.axes[axis].dim.n, k);
        let inner = self.is_not(k, 0);
        self.b.select(inner, mirrored, k)
    }
}
