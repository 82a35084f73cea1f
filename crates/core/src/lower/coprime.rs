//! An axis of coprime parts (Good and Thomas), some of them convolutions (Rader, Bluestein). The tile stands in
//! shared memory between the parts, each of which takes it into registers, transforms its own coordinate over all
//! others, and puts it back where it was. Indices are permuted by a table as the tile comes in and as it leaves,
//! so that global memory is touched in order.

use crate::kernel::{Cache, Cmp, Cx, Space, Special, Value};
use crate::pass::{CoprimePart, PartKind, TableKind};
use crate::problem::Direction;

use super::digits::{Digit, Digits, Layout};
use super::places::{Places, STILL, arrange, others};
use super::{Held, Lowering, Slot};

impl Lowering<'_> {
    pub(super) fn run_coprime(&mut self, parts: &[CoprimePart]) {
        let whole = self.digits.clone();
        let batch: Vec<Digit> = whole.all.iter().filter(|digit| digit.batch.is_some()).copied().collect();
        let bytes = self.pass.precision.complex_bytes();
        let rows = parts.iter().filter(|part| part.kind == PartKind::Rader);
        let aside = rows.map(|part| u64::from(whole.elements()) / part.n).max().unwrap_or(0);
        let most = u64::from(self.shared_limit).saturating_sub(32) / bytes - aside;
        let places = arrange(parts, &whole, &batch, self.threads.count, bytes, most as i64);
        let load = Layout {
            register: None,
            order: whole.by_stride(&[], &whole.weights(|digit| digit.is)),
            block: None,
        };
        let Some((tiles, blocks)) = self.turns else {
            let held = self.load(&load);
            return self.coprime_tile(parts, &places, &load, held);
        };
        // The next tile is under way while this one is transformed.
        let block = self.b.special(Special::BlockIndex);
        let held = self.load(&load);
        let init: Vec<Value> = held.iter().flatten().flat_map(|x| [x.re, x.im]).collect();
        let (end, step) = (self.b.u32(tiles as u32), self.b.u32(blocks as u32));
        let (index, carried) = self.b.open_loop(&init);
        let next = self.b.add_const(index, blocks);
        self.guard = Some(self.b.cmp(Cmp::Lt, next, end));
        self.move_to(next, tiles - 1 + blocks);
        let ahead = self.load(&load);
        self.guard = None;
        self.move_to(index, tiles - 1);
        let held = carried.chunks(2).map(|x| vec![Cx { re: x[0], im: x[1] }]).collect();
        // Places may still be read that the last tile left.
        self.b.barrier();
        self.coprime_tile(parts, &places, &load, held);
        let yields = ahead.iter().flatten().flat_map(|x| [x.re, x.im]).collect();
        self.b.close_loop([block, end, step], &init, yields);
    }

    /// One tile from registers, as it was loaded, to its destination.
    fn coprime_tile(&mut self, parts: &[CoprimePart], places: &Places, load: &Layout, mut held: Held) {
        let whole = self.digits.clone();
        let batch: Vec<Digit> = whole.all.iter().filter(|digit| digit.batch.is_some()).copied().collect();
        let coordinates = places.coordinates(parts);
        let space = *self.shared.insert(self.b.shared("tile", self.real, 2 * places.len as u32));
        let inverse = self.direction == Direction::Inverse;
        if inverse {
            swap(&mut held);
        }
        let entry = TableKind::Places { parts: coordinates, output: false };
        self.chirp(parts, load, &mut held, false);
        self.permuted(space, entry, places, load, Some(held));
        if let Some(own) = parts.iter().position(|part| part.kind == PartKind::Bluestein) {
            let others = others(parts, own, places, &batch);
            self.pad(space, &parts[own], places.parts[own], &others);
        }

        // The inverse is the forward transform with real and imaginary parts changing places on both sides.
        self.direction = Direction::Forward;
        for own in 0..parts.len() {
            let others = others(parts, own, places, &batch);
            self.digits = Digits::of_part(&parts[own], places.parts[own], &others);
            self.part(space, &parts[own], places.parts[own], &others);
        }
        self.direction = self.pass.direction;
        self.digits = whole;

        self.b.barrier();
        let strides = self.digits.weights(|digit| digit.os);
        let store = Layout { register: None, order: self.digits.by_stride(&[], &strides), block: None };
        let exit = TableKind::Places { parts: coordinates, output: true };
        let mut held = self.permuted(space, exit, places, &store, None);
        self.chirp(parts, &store, &mut held, true);
        if inverse {
            swap(&mut held);
        }
        if self.pass.twiddle.is_some() {
            held = self.pass_twiddle(&store, held);
        }
        self.store(&store, &held);
    }

    /// Writes the tile to its places in shared memory, or reads it from there.
    fn permuted(
        &mut self,
        space: Space,
        table: TableKind,
        places: &Places,
        layout: &Layout,
        held: Option<Held>,
    ) -> Held {
        let points = self.digits.weights(|digit| i64::from(digit.axis.is_some()));
        let mut strides = places.batch.iter();
        let rows: Vec<i64> = (self.digits.all.iter())
            .map(|digit| digit.batch.and_then(|_| strides.next()).map_or(0, |stride| 2 * stride))
            .collect();
        let cache = self.table_cache(table);
        // A padded convolution alone has its points in order.
        let ordered =
            matches!(table, TableKind::Places { parts: [one, two, _], .. } if two.n == 1 && !one.rader);
        let table = (!ordered).then(|| self.space_of(Slot::Table(table)));
        let slots = layout.slots(&self.digits, self.threads.count);
        // All places before any element: the loads of one do not wait for the other.
        let pointers: Vec<(Value, i32, Option<Value>)> = (0..slots)
            .map(|slot| {
                let exists = self.exists(layout, slot);
                let at = self.linear(layout, slot, &points);
                let index = at.thread.unwrap_or_else(|| self.b.u32(0));
                let place = match table {
                    Some(table) => {
                        let ptr = self.b.addr(table, index);
                        self.b.load(ptr, at.constant as i32, 1, cache, exists)[0]
                    }
                    None => {
                        let index = self.b.add_const(index, at.constant as u64);
                        self.b.mul_const(index, places.parts[0] as u64)
                    }
                };
                let place = self.b.mul_const(place, 2);
                let row = self.linear(layout, slot, &rows);
                let at = row.thread.map_or(place, |thread| self.b.add(place, thread));
                (self.b.addr(space, at), row.constant as i32, exists)
            })
            .collect();
        match held {
            Some(held) => {
                for ((ptr, offset, exists), group) in pointers.into_iter().zip(held) {
                    self.b.store(ptr, offset, &[group[0].re, group[0].im], Cache::Default, exists);
                }
                Held::new()
            }
            None => pointers
                .into_iter()
                .map(|(ptr, offset, exists)| {
                    let x = self.b.load(ptr, offset, 2, Cache::Default, exists);
                    vec![Cx { re: x[0], im: x[1] }]
                })
                .collect(),
        }
    }

    /// The chirp of a padded part on both sides of its convolution. Parts that come between do not mind: it goes by
    /// an index that they leave alone.
    fn chirp(&mut self, parts: &[CoprimePart], layout: &Layout, held: &mut Held, output: bool) {
        let Some(part) = parts.iter().find(|part| part.kind == PartKind::Bluestein) else { return };
        let n = parts.iter().map(|part| part.n).product();
        let table = TableKind::ChirpAt { n, part: part.n, output };
        let points = self.digits.weights(|digit| i64::from(digit.axis.is_some()));
        for (slot, group) in held.iter_mut().enumerate() {
            let exists = self.exists(layout, slot as u32);
            let at = self.linear(layout, slot as u32, &points);
            let index = at.thread.unwrap_or_else(|| self.b.u32(0));
            let w = self.table_load(table, index, at.constant, exists);
            group[0] = self.b.cmul(group[0], w);
        }
    }

    /// One part over all others: from shared memory and back.
    fn part(&mut self, space: Space, part: &CoprimePart, stride: i64, others: &[Digit]) {
        let stages = self.stages();
        let register = stages.first().map(|stage| self.register(*stage));
        let sources = self.digits.weights(|digit| digit.is);
        let layout = Layout { register, order: self.digits.by_stride(&[register], &sources), block: None };
        // Rader's rows begin behind their first points.
        let start = if part.kind == PartKind::Rader { 2 * stride } else { 0 };
        let table = match part.kind {
            PartKind::MixedRadix => {
                self.b.barrier();
                let held = self.take(space, start, &layout);
                let (current, held) = self.transform(&stages, layout, held);
                self.b.barrier();
                return self.put(space, start, &current, held);
            }
            PartKind::Rader => TableKind::RaderSpectrum { p: part.n },
            PartKind::Bluestein => TableKind::ChirpSpectrum { n: part.n, m: part.points() },
        };
        self.b.barrier();
        let first = (part.kind == PartKind::Rader).then(|| self.set_first_points_aside(space, others));
        // There and back by the same code: backwards is forwards with real and imaginary parts exchanged.
        let [zero, one, two] = [0, 1, 2].map(|k| self.b.u32(k));
        let (way, _) = self.b.open_loop(&[]);
        self.b.barrier();
        let held = self.take(space, start, &layout);
        let (current, held) = self.transform(&stages, layout, held);
        self.b.barrier();
        let there = self.b.cmp(Cmp::Eq, way, zero);
        self.b.open_branch();
        let mut product = held.clone();
        // A row of the others' digits, in the order in which they were set aside.
        let mut row = 1;
        let rows: Vec<i64> = std::iter::repeat_n(0, stages.len())
            .chain(others.iter().map(|digit| {
                let weight = 2 * row;
                row *= i64::from(digit.size);
                weight
            }))
            .collect();
        self.spectrum(table, first.map(|space| (space, &rows[..])), &current, &mut product);
        swap(&mut product);
        self.put(space, start, &current, product);
        self.b.close_branch(there);
        let back = self.b.cmp(Cmp::Eq, way, one);
        self.b.open_branch();
        let mut result = held;
        swap(&mut result);
        self.put(space, start, &current, result);
        self.b.close_branch(back);
        self.b.close_loop([zero, two, one], &[], Vec::new());
        if let Some(first) = first {
            self.put_first_points_back(space, first, others);
        }
    }

    /// A part's tile from its places.
    fn take(&mut self, space: Space, start: i64, layout: &Layout) -> Held {
        let strides = self.digits.weights(|digit| 2 * digit.is);
        let step = layout.register.map_or(0, |d| strides[d]);
        (0..layout.slots(&self.digits, self.threads.count))
            .map(|slot| {
                let exists = self.exists(layout, slot);
                let (ptr, base) = self.shared_pointer(space, layout, slot, &strides);
                (0..i64::from(layout.registers(&self.digits)))
                    .map(|r| {
                        let x = self.b.load(ptr, (start + base + step * r) as i32, 2, Cache::Default, exists);
                        Cx { re: x[0], im: x[1] }
                    })
                    .collect()
            })
            .collect()
    }

    /// A part's tile back to its places.
    fn put(&mut self, space: Space, start: i64, layout: &Layout, held: Held) {
        let strides = self.digits.weights(|digit| 2 * digit.os);
        let step = layout.register.map_or(0, |d| strides[d]);
        for (slot, group) in held.into_iter().enumerate() {
            let exists = self.exists(layout, slot as u32);
            let (ptr, base) = self.shared_pointer(space, layout, slot as u32, &strides);
            for (x, r) in group.into_iter().zip(0..) {
                self.b.store(ptr, (start + base + step * r) as i32, &[x.re, x.im], Cache::Default, exists);
            }
        }
    }

    /// Zeros behind the points of a padded part.
    fn pad(&mut self, space: Space, part: &CoprimePart, stride: i64, others: &[Digit]) {
        let (n, rest) = (part.n as i64, part.room() - part.n);
        if rest == 0 {
            return;
        }
        let behind = Digit { size: rest as u32, is: stride, os: stride, ..STILL };
        let all = std::iter::once(behind).chain(others.iter().copied()).collect();
        let digits = std::mem::replace(&mut self.digits, Digits::new(all, Vec::new()));
        let strides = self.digits.weights(|digit| 2 * digit.is);
        let layout = Layout { register: None, order: self.digits.by_stride(&[], &strides), block: None };
        let zero = self.b.float(self.real, 0.0);
        for slot in 0..layout.slots(&self.digits, self.threads.count) {
            let exists = self.exists(&layout, slot);
            let (ptr, base) = self.shared_pointer(space, &layout, slot, &strides);
            self.b.store(ptr, (2 * n * stride + base) as i32, &[zero, zero], Cache::Default, exists);
        }
        self.digits = digits;
    }

    /// The first point of every row is no part of Rader's convolution, whose exchanges overwrite it.
    fn set_first_points_aside(&mut self, space: Space, others: &[Digit]) -> Space {
        let rows: u32 = others.iter().map(|digit| digit.size).product();
        let first = match self.first {
            Some(first) => first,
            None => *self.first.insert(self.b.shared("first", self.real, 0)),
        };
        self.b.grow_shared(first, 2 * rows);
        self.move_first_points(
            others,
            |this, aside, at, on| {
                let x = this.b.load(at.0, at.1, 2, Cache::Default, on);
                this.b.store(aside, 0, &x, Cache::Default, on);
            },
            space,
            first,
        );
        first
    }

    fn put_first_points_back(&mut self, space: Space, first: Space, others: &[Digit]) {
        self.move_first_points(
            others,
            |this, aside, at, on| {
                let x = this.b.load(aside, 0, 2, Cache::Default, on);
                this.b.store(at.0, at.1, &x, Cache::Default, on);
            },
            space,
            first,
        );
    }

    /// Calls for every row with the pointer to its point aside and to its point in the tile.
    fn move_first_points(
        &mut self,
        others: &[Digit],
        mut action: impl FnMut(&mut Self, Value, (Value, i32), Option<Value>),
        space: Space,
        first: Space,
    ) {
        let digits = std::mem::replace(&mut self.digits, Digits::new(others.to_vec(), Vec::new()));
        let layout = Layout { register: None, order: (0..others.len()).collect(), block: None };
        let strides = self.digits.weights(|digit| 2 * digit.is);
        for slot in 0..layout.slots(&self.digits, self.threads.count) {
            let on = self.exists(&layout, slot);
            let (ptr, base) = self.shared_pointer(space, &layout, slot, &strides);
            let row = self.b.add_const(self.threads.index, u64::from(slot * self.threads.count));
            let row = self.b.mul_const(row, 2);
            let aside = self.b.addr(first, row);
            action(self, aside, (ptr, base as i32), on);
        }
        self.digits = digits;
    }
}

/// Exchanges real and imaginary parts.
fn swap(held: &mut Held) {
    for x in held.iter_mut().flatten() {
        *x = Cx { re: x.im, im: x.re };
    }
}
