//! Spectra of planes and volumes that go between memory and the block's array as they lie, and are folded in the array. A
//! frequency and its mirror image lie in two lines far apart: in memory they are two accesses that run against each other,
//! for a few items at a time. As they lie, most of a thread's share is under way at once. Rows have room for the one value
//! more that a spectrum has than points, so that every item leaves its results where it found what they follow from.

use crate::kernel::{Cache, Cx, Space, Type, Value};
use crate::lower::Lowering;
use crate::lower::digits::{Digit, Digits};
use crate::lower::layout::Layout;
use crate::lower::writes::Write;
use crate::pass::{Fold, Formula, Way};
use crate::problem::Format;

use super::port::Port;
use super::rows::Rows;

/// Bytes that a thread has on their way at once.
const UNDER_WAY: u64 = 256;

/// An item where it stands in the block's array.
struct Place {
    /// Its frequency, in its line and as the mirror image in the line that mirrors it.
    k: Value,
    image: Value,
    own: Port,
    mirror: Port,
    on: Option<Value>,
}

impl Lowering<'_> {
    /// Whether the lines of a side go so.
    pub(super) fn goes_straight(&self, writes: bool) -> bool {
        let has_room = || {
            let rows = self.rows_with([1, 0], None);
            self.has_room_for(&Rows { len: rows.len + 1, ..rows })
        };
        self.pass.spectrum_lies_straight(writes) && self.cluster.is_none() && has_room()
    }

    /// Brings lines in and folds them, or folds them and takes them to memory.
    pub(super) fn fold_straight(&mut self, fold: &Fold, writes: bool, space: Space) {
        let whole = self.digits.clone();
        self.share_pointers(fold, Way::Bins, writes);
        if !writes {
            self.move_lines(fold, writes, space);
            self.b.barrier();
        }
        // Frequencies that are their own mirror images have them in another item, which writes where this one reads.
        let points = fold.points();
        let middle = Some(points / 2).filter(|_| points.is_multiple_of(2));
        let mut found = Vec::new();
        for k in std::iter::once(0).chain(middle) {
            for place in self.places_of(fold, writes, space, (k, 1)) {
                let (own, image) = self.folded(fold, writes, &place);
                // A line of reals has the last frequency beside the first.
                found.push((place, own, Some(image).filter(|_| writes && k == 0)));
            }
        }
        self.b.barrier();
        for (place, own, image) in found {
            self.put_point(&place.own, place.k, own, place.on);
            if let Some(image) = image {
                self.put_point(&place.mirror, place.image, image, place.on);
            }
        }
        let places = self.places_of(fold, writes, space, (1, inner(fold)));
        // An assembler takes no load from shared memory ahead of a store there.
        for places in places.chunks(self.at_once() / 2) {
            let folded: Vec<(Cx, Cx)> = places.iter().map(|place| self.folded(fold, writes, place)).collect();
            for (place, (own, image)) in places.iter().zip(folded) {
                self.put_point(&place.own, place.k, own, place.on);
                self.put_point(&place.mirror, place.image, image, place.on);
            }
        }
        if writes {
            self.b.barrier();
            self.move_lines(fold, writes, space);
        }
        self.digits = whole;
    }

    /// All but the frequencies that are their own mirror images.
    pub(super) fn inner_items(&self, fold: &Fold, writes: bool) -> (Digits, Layout) {
        self.straight_items(fold, writes, inner(fold))
    }

    /// Neighbouring threads take neighbouring lines: what a thread takes of them is of few frequencies, whose factors are
    /// constants then.
    fn straight_items(&self, fold: &Fold, writes: bool, count: u64) -> (Digits, Layout) {
        let digits = self.item_digits(fold, writes, count, None);
        let lines = digits.weights(|digit| if writes { digit.os } else { digit.is });
        let (frequencies, mut order) = (0, digits.by_stride(&[Some(0)], &lines));
        order.push(frequencies);
        (digits, Layout { register: None, order, block: None, pair: None })
    }

    /// Takes lines from memory to the block's array, or back.
    fn move_lines(&mut self, fold: &Fold, writes: bool, space: Space) {
        self.digits = self.item_digits(fold, writes, fold.elements(), None);
        if writes && self.leaves_as_run() {
            return self.move_run(space);
        }
        let strides = self.digits.weights(|digit| if writes { digit.os } else { digit.is });
        let order = self.digits.by_stride(&[], &strides);
        let layout = Layout { register: None, order, block: None, pair: None };
        let places: Vec<i64> =
            self.item_weights(&self.digits, self.rows(writes)).iter().map(|weight| 2 * weight).collect();
        let side = self.memory_side(writes);
        let at_once = self.at_once();
        let slots: Vec<u32> = self.slots_of(&layout).collect();
        for chunk in slots.chunks(at_once) {
            let mut taken = Vec::with_capacity(chunk.len());
            for &slot in chunk {
                let on = self.inside(&layout, slot);
                let x = if writes {
                    let (ptr, offset) = self.staged_place(space, &layout, slot, &places);
                    let x = self.b.load(ptr, offset, 2, Cache::Default, on);
                    Cx { re: x[0], im: x[1] }
                } else {
                    let (pointers, offset) = self.pointers(&side, &layout, slot);
                    let (pointers, offset) = self.reach(&pointers, offset);
                    let cache = self.unshaped(writes);
                    self.load_some(side.operand.format, &pointers, (offset, 1), cache, on)[0]
                };
                taken.push((slot, on, x));
            }
            if !writes {
                for (slot, on, x) in taken {
                    let (ptr, offset) = self.staged_place(space, &layout, slot, &places);
                    self.b.store(ptr, offset, &[x.re, x.im], Cache::Default, on);
                }
                continue;
            }
            let mut stores = Vec::with_capacity(chunk.len());
            for (slot, on, x) in taken {
                let (pointers, offset) = self.pointers(&side, &layout, slot);
                let (pointers, offset) = self.reach(&pointers, offset);
                self.write_some(&side, (&pointers, offset), &[x], on, &mut stores);
            }
            let cache = self.unshaped(writes);
            self.write_all(stores, cache);
        }
    }

    /// Whether lines of short numbers, which `digits` number, stand in the block's array as they are to lie in memory, one behind the
    /// other: two values leave at a time then, whichever lines they are of. Singles gained nothing by it, nor did what comes in.
    fn leaves_as_run(&self) -> bool {
        let strides = self.digits.weights(|digit| digit.os);
        let places = self.item_weights(&self.digits, self.rows(true));
        let same = (strides.iter().zip(&places).zip(&self.digits.all))
            .all(|((stride, place), digit)| digit.size == 1 || stride == place);
        let run = self.digits.run(&self.digits.by_stride(&[], &strides), &strides);
        let total: u64 = self.digits.all.iter().map(|digit| u64::from(digit.size)).product();
        let whole = self.pass.batch.iter().zip(&self.tile.batch).all(|(dim, &held)| {
            let even = dim.n == held || (dim.os * held as i64) % 2 == 0;
            dim.n.is_multiple_of(held) && !dim.at_run && even
        });
        same && whole
            && run == total
            && total.is_multiple_of(2)
            && self.pass.dst.offset.is_multiple_of(2)
            && self.pass.dst.format == Format::Interleaved
            && self.pass.dst.storage.real_bytes() < 4
            && self.real == Type::F32
    }

    /// Takes them to memory so.
    fn move_run(&mut self, space: Space) {
        let total: u32 = self.digits.all.iter().map(|digit| digit.size).product();
        let side = self.memory_side(true);
        let side = side.elsewhere(vec![4], side.base);
        self.digits = Digits::new(vec![Digit { size: total / 2, is: 2, os: 2, ..Digit::STILL }], Vec::new());
        let layout = Layout { register: None, order: vec![0], block: None, pair: None };
        let cache = self.unshaped(true);
        let slots: Vec<u32> = self.slots_of(&layout).collect();
        for chunk in slots.chunks(self.at_once() / 2) {
            let pair = |slot: &u32| {
                let on = self.inside(&layout, *slot);
                let (ptr, offset) = self.staged_place(space, &layout, *slot, &[4]);
                (*slot, on, self.b.load(ptr, offset, 4, Cache::Default, on))
            };
            let taken: Vec<_> = chunk.iter().map(pair).collect();
            let mut stores = Vec::with_capacity(chunk.len());
            for (slot, on, values) in taken {
                let (pointers, offset) = self.pointers(&side, &layout, slot);
                let (pointers, offset) = self.reach(&pointers, offset);
                stores.push(Write { ptr: pointers[0], offset, values, on });
            }
            self.write_all(stores, cache);
        }
    }

    /// Elements of a thread that are under way at once.
    fn at_once(&self) -> usize {
        (UNDER_WAY / self.pass.precision.complex_bytes()) as usize
    }

    /// Where an element of a line stands in the block's array.
    fn staged_place(&mut self, space: Space, layout: &Layout, slot: u32, weights: &[i64]) -> (Value, i32) {
        let at = self.linear(layout, slot, weights);
        let thread = at.thread.unwrap_or_else(|| self.b.u32(0));
        (self.b.addr(space, thread), at.constant as i32)
    }

    /// A thread's items: of so many frequencies, from the first one on.
    fn places_of(
        &mut self,
        fold: &Fold,
        writes: bool,
        space: Space,
        (first, count): (u64, u64),
    ) -> Vec<Place> {
        let (digits, layout) = self.straight_items(fold, writes, count);
        self.digits = digits;
        let (layout, folded) = (&layout, self.pass.axes.len() - 1);
        let slots = self.slots_of(layout);
        let place = |slot| {
            let k = self.number(layout, slot, |digit| digit.axis == Some(folded));
            let k = self.shifted(k, first as i64);
            let image = self.mirrored(fold.points(), k);
            let others: Vec<Value> =
                (0..folded).map(|axis| self.number(layout, slot, |digit| digit.axis == Some(axis))).collect();
            let mirrored: Vec<Value> =
                others.iter().enumerate().map(|(axis, &at)| self.opposite(axis, at)).collect();
            let own = self.block_line(space, writes, (layout, slot), (&others, false));
            let mirror = self.block_line(space, writes, (layout, slot), (&mirrored, true));
            let on = self.inside(layout, slot);
            Place { k, image, own, mirror, on }
        };
        slots.map(place).collect()
    }

    /// What a frequency and its mirror image become.
    fn folded(&mut self, fold: &Fold, writes: bool, place: &Place) -> (Cx, Cx) {
        let Formula::Spectrum { conjugate } = fold.formula else { unreachable!("it is of a spectrum") };
        let w = self.unit_root(2 * fold.points(), place.k, place.on);
        let Place { k, image, own, mirror, on } = place;
        let zeroth = self.b.constant(*k) == Some(0);
        if writes {
            let image = if zeroth { *k } else { *image };
            let (a, b) = (self.get_point(own, *k, *on), self.get_point(mirror, image, *on));
            let (own, image) = self.bins_of(a, b, w);
            let kept = |this: &mut Self, x: Cx| {
                let x = this.b.cscale(x, 0.5 * this.pass.scale);
                Cx { re: x.re, im: this.negated(x.im, conjugate) }
            };
            return (kept(self, own), kept(self, image));
        }
        let (first, last) = if zeroth {
            (self.hermitian(own, mirror, *k, *on), self.hermitian(mirror, own, *image, *on))
        } else {
            (self.get_point(own, *k, *on), self.get_point(mirror, *image, *on))
        };
        let [first, last] = [first, last].map(|x| Cx { re: x.re, im: self.negated(x.im, conjugate) });
        self.points_of(first, last, w)
    }

    /// What has no part in real output goes by the mean with the mirror image.
    fn hermitian(&mut self, line: &Port, opposite: &Port, at: Value, on: Option<Value>) -> Cx {
        let (x, y) = (self.get_point(line, at, on), self.get_point(opposite, at, on));
        let y = self.conjugate(y);
        let sum = self.b.cadd(x, y);
        self.b.cscale(sum, 0.5)
    }
}

/// Frequencies of a line's points that are below their mirror images.
fn inner(fold: &Fold) -> u64 {
    (fold.points() - 1) / 2
}
