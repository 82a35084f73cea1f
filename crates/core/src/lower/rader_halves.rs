//! Rader's convolution in two halves. In the order of powers of a primitive root the points `j` and `p - j` are `h = (p - 1) / 2`
//! apart. Even frequencies of the `2 h` points are those of their sums, odd ones those of their differences times `exp(-i pi k / h)`:
//! two blocks take one each, as they do [of a chirp](super::halves). Of what comes back of both, the sum is what belongs to `k`, and the
//! difference what belongs to `p - k`: one block stores the lower frequencies and the other one the upper ones.

use crate::kernel::{Cache, Cmp, Cx, Value};
use crate::pass::{CoprimePart, TableKind};
use crate::problem::Direction;

use super::cluster::remote;
use super::coprime::{PIECE, Pointer};
use super::digits::{Digit, Digits};
use super::guards::Bound;
use super::in_place::{Step, swapped};
use super::layout::Layout;
use super::places::Places;
use super::{Held, Lowering};

/// Places that a thread exchanges at once.
const AT_ONCE: usize = 6;

impl Lowering<'_> {
    /// A tile of one line from its source to its destination.
    pub(super) fn rader_in_halves(
        &mut self,
        part: &CoprimePart,
        places: &Places,
        batch: &[Digit],
        load: &Layout,
    ) {
        let parts = std::slice::from_ref(part);
        let coordinates = places.coordinates(parts);
        let table = |output| TableKind::Places { parts: coordinates, output, rows: [1, 0], next: 0 };
        // Of two points at one place that of the lower index is put there, and then the other one beside it.
        for upper in [false, true] {
            if upper {
                self.b.barrier();
            }
            self.enter_half(part, (table(false), places), load, upper);
        }
        self.transform_parts(parts, 0, places, batch);
        self.leave_half(part, (table(true), places));
    }

    /// Points of the lower indices to their places, or those of the upper ones, which add to what stands there.
    fn enter_half(
        &mut self,
        part: &CoprimePart,
        (table, places): (TableKind, &Places),
        load: &Layout,
        upper: bool,
    ) {
        let side = self.side(false);
        for piece in self.pieces(load) {
            let mut held: Vec<(Pointer, Cx)> = Vec::new();
            for slot in piece {
                let Bound::If(on) = self.on_half(part, slot, upper) else { continue };
                let x = self.load_group(&side, load, slot, Some(&[Bound::If(on)]))[0];
                held.push((self.place_pointer(table, places, (load, slot), on), x));
            }
            for ((ptr, offset, on), mut x) in held {
                if self.direction == Direction::Inverse {
                    x = swapped(x);
                }
                if upper {
                    let lower = self.b.load(ptr, offset, 2, Cache::Default, on);
                    x = self.less_in_odd_half(x);
                    x = self.b.cadd(Cx { re: lower[0], im: lower[1] }, x);
                }
                self.b.store(ptr, offset, &[x.re, x.im], Cache::Default, on);
            }
        }
    }

    /// Which of a slot's indices are among the lower ones, up to half of the prime, or among the upper ones.
    fn on_half(&mut self, part: &CoprimePart, slot: u32, upper: bool) -> Bound {
        let (lower, first) = (part.points() + 1, u64::from(slot) * u64::from(self.threads.count));
        if first >= lower || first + u64::from(self.threads.count) <= lower {
            return if (first >= lower) == upper { Bound::If(None) } else { Bound::Never };
        }
        let rest = self.b.u32((lower - first) as u32);
        let cmp = if upper { Cmp::Ge } else { Cmp::Lt };
        Bound::If(Some(self.b.cmp(cmp, self.threads.index, rest)))
    }

    /// Sum and difference of what both blocks have at each place: the sum to that of the even frequencies, the difference to the other.
    /// Each does so for every other turn of the threads of both.
    pub(super) fn exchange_halves(&mut self, step: &Step<'_>) {
        self.b.cluster_barrier();
        let threads = self.threads;
        let other = self.as_one_block();
        for slot in 0..step.layout.slots(&self.digits, self.threads.count) {
            let bounds = self.bounds(step, slot, true);
            let (near, base, distance) = self.place(step, slot);
            let far = remote(&mut self.b, near, other);
            let mut places = (0..).map(|r| (base + distance * r) as i32).zip(bounds);
            // Both values of a whole group would take more registers than its stage.
            while let some @ [_, ..] = &places.by_ref().take(AT_ONCE).collect::<Vec<_>>()[..] {
                self.exchange_some([near, far], some);
            }
        }
        self.threads = threads;
        self.b.cluster_barrier();
    }

    /// Some places of a group, here and in the other block.
    fn exchange_some(&mut self, [near, far]: [Value; 2], places: &[(i32, Bound)]) {
        let there = |&(offset, bound): &(i32, Bound)| match bound {
            Bound::If(on) => Some((offset, on)),
            Bound::Never => None,
        };
        let places: Vec<(i32, Option<Value>)> = places.iter().filter_map(there).collect();
        let mut take = |ptr, &(offset, on): &(i32, Option<Value>)| {
            let x = self.b.load(ptr, offset, 2, Cache::Default, on);
            Cx { re: x[0], im: x[1] }
        };
        let held: Vec<[Cx; 2]> = places.iter().map(|place| [near, far].map(|ptr| take(ptr, place))).collect();
        for ((offset, on), [own, other]) in places.into_iter().zip(held) {
            let sum = self.b.cadd(own, other);
            // Of the odd half it is the other way round.
            let difference = self.b.csub(own, other);
            let difference = self.less_in_odd_half(difference);
            let [kept, sent] =
                [(sum, difference), (difference, sum)].map(|(even, odd)| self.of_half(even, odd));
            for (ptr, x) in [(near, kept), (far, sent)] {
                self.b.store(ptr, offset, &[x.re, x.im], Cache::Default, on);
            }
        }
    }

    /// Frequencies from their places to the destination: the lower ones, and 0, by the block of the even half, the others by the other.
    fn leave_half(&mut self, part: &CoprimePart, (table, places): (TableKind, &Places)) {
        self.index_anew();
        let (threads, half, lower) = (self.threads, self.half(), part.points() as u32 + 1);
        // An index is that in its half of them, and which half: the block's.
        let axis = self.digits.all[0];
        let halves = vec![Digit { size: lower, ..axis }, axis.of_units(lower, 2)];
        let digits = std::mem::replace(&mut self.digits, Digits::new(halves, Vec::new()));
        self.threads.rank = Some(half);
        let side = self.side(true);
        let store = Layout { register: None, order: vec![0], block: Some(1), pair: None };
        let slots = store.slots(&self.digits, threads.count);
        // The upper half has one less.
        let end = self.b.u32(lower);
        let end = self.b.sub(end, half);
        for first in (0..slots).step_by(PIECE as usize) {
            let piece = first..(first + PIECE).min(slots);
            let mut held: Held = Vec::new();
            let mut bounds = Vec::new();
            for slot in piece.clone() {
                let on = (slot + 1 == slots).then(|| {
                    let own = self.b.add_const(threads.index, (slot * threads.count).into());
                    self.b.cmp(Cmp::Lt, own, end)
                });
                let (ptr, offset, on) = self.place_pointer(table, places, (&store, slot), on);
                let x = self.b.load(ptr, offset, 2, Cache::Default, on);
                held.push(vec![Cx { re: x[0], im: x[1] }]);
                bounds.push(Bound::If(on));
            }
            for ((slot, mut x), bound) in piece.zip(held).zip(bounds) {
                if self.direction == Direction::Inverse {
                    x[0] = swapped(x[0]);
                }
                self.store_group(&side, &store, slot, &x, Some(&[bound]));
            }
        }
        (self.threads, self.digits) = (threads, digits);
    }

    /// The value, negative in the block that has the odd frequencies.
    fn less_in_odd_half(&mut self, x: Cx) -> Cx {
        let less = Cx { re: self.b.neg(x.re), im: self.b.neg(x.im) };
        self.of_half(x, less)
    }
}
