//! An axis of coprime parts (Good and Thomas), some of them convolutions (Rader, Bluestein). The tile stands in
//! shared memory between the parts, each of which takes it into registers, transforms its own coordinate over all
//! others, and puts it back where it was. Indices are permuted by a table as the tile comes in and as it leaves,
//! so that global memory is touched in order.

use crate::kernel::{Cache, Cmp, Cx, Space, Value};
use crate::pass::{Coordinate, CoprimePart, PartKind, TableKind};
use crate::problem::Direction;
use crate::tables;

use super::digits::{Digit, Digits, Layout};
use super::exchange::{BANK_ROW, wavefronts};
use super::{Held, Lowering, Slot, Step};

/// Where the tile's elements stand in shared memory between the parts.
#[derive(Debug, Clone)]
struct Places {
    /// Stride of each part.
    parts: Vec<i64>,
    /// Stride of each of the tile's repeated dimensions.
    batch: Vec<i64>,
    /// Elements from the first to the last.
    len: i64,
}

impl Places {
    /// The parts as the tables of places want them.
    fn coordinates(&self, parts: &[CoprimePart]) -> [Coordinate; 3] {
        let mut all = [Coordinate { n: 1, stride: 0, rader: false }; 3];
        for ((one, part), &stride) in all.iter_mut().zip(parts).zip(&self.parts) {
            *one = Coordinate { n: part.n, stride: stride as u32, rader: part.kind == PartKind::Rader };
        }
        all
    }
}

/// Digits that a part leaves alone: the other parts, then the repeated dimensions.
fn others(parts: &[CoprimePart], own: usize, places: &Places, batch: &[Digit]) -> Vec<Digit> {
    let still = |size: u64, stride: i64| Digit {
        size: size as u32,
        is: stride,
        os: stride,
        load_index: 0,
        store_index: 0,
        twiddle: 0,
        axis: None,
        batch: None,
        output: 0,
        last: 0,
    };
    let parts = parts.iter().zip(&places.parts).enumerate();
    let mut all: Vec<Digit> =
        parts.filter(|&(i, _)| i != own).map(|(_, (part, &stride))| still(part.n, stride)).collect();
    all.extend(batch.iter().zip(&places.batch).map(|(digit, &stride)| still(u64::from(digit.size), stride)));
    all
}

/// Strides with the fewest bank conflicts: repeated dimensions inside or outside of the parts, and every subset of
/// the strides made odd.
fn arrange(
    parts: &[CoprimePart],
    whole: &Digits,
    batch: &[Digit],
    threads: u32,
    complex_bytes: u64,
) -> Places {
    let sizes: Vec<i64> = batch
        .iter()
        .map(|digit| i64::from(digit.size))
        .chain(parts.iter().map(|part| part.n as i64))
        .collect();
    let mut inside: Vec<usize> = (0..sizes.len()).collect();
    inside[batch.len()..].sort_by_key(|&d| sizes[d]);
    let mut outside = inside.clone();
    outside.rotate_left(batch.len());
    let unit = Places { parts: vec![1; parts.len()], batch: Vec::new(), len: 0 };
    let own = [false, true].map(|output| {
        let alone = |part| {
            let mut alone = unit.coordinates(parts);
            alone.iter_mut().enumerate().for_each(|(i, one)| one.stride = u32::from(i == part));
            tables::places(&alone, output)
        };
        (0..parts.len()).map(alone).collect::<Vec<_>>()
    });
    let mut best: Option<(u64, Places)> = None;
    for order in [outside, inside] {
        for odd in 0..1_u32 << sizes.len() {
            let mut strides = vec![0; sizes.len()];
            let (mut stride, mut len) = (1_i64, 1_i64);
            for &d in &order {
                stride |= i64::from(odd >> d & 1);
                strides[d] = stride;
                len += (sizes[d] - 1) * stride;
                stride *= sizes[d];
            }
            let (rows, columns) = strides.split_at(batch.len());
            let places = Places { parts: columns.to_vec(), batch: rows.to_vec(), len };
            let between: u64 = (0..parts.len())
                .map(|own| part_wavefronts(parts, own, &places, batch, threads, complex_bytes))
                .sum();
            let ends: u64 = (own.iter().zip([false, true]))
                .map(|(own, writes)| permuted_wavefronts(own, writes, whole, &places, complex_bytes))
                .sum();
            let better =
                best.as_ref().is_none_or(|(least, known)| (between + ends, places.len) < (*least, known.len));
            if better {
                best = Some((between + ends, places));
            }
        }
    }
    best.expect("one arrangement is always tried").1
}

/// Wavefronts of a part's way out of shared memory and back, per warp that is looked at.
fn part_wavefronts(
    parts: &[CoprimePart],
    own: usize,
    places: &Places,
    batch: &[Digit],
    threads: u32,
    complex_bytes: u64,
) -> u64 {
    let others = others(parts, own, places, batch);
    let digits = Digits::of_part(&parts[own], places.parts[own], &others);
    let stages = &digits.stages[0];
    let ends = [(stages.first(), digits.weights(|d| d.is)), (stages.last(), digits.weights(|d| d.os))];
    ends.iter()
        .map(|(register, strides)| {
            let register = register.copied();
            let layout = Layout { register, order: digits.by_stride(register, strides) };
            wavefronts(&digits, &layout, strides, threads, complex_bytes).0
        })
        .sum()
}

/// Wavefronts of the permuted way in or out, for as many warps as [`wavefronts`] looks at. `own` has each part's
/// coordinate of every index.
fn permuted_wavefronts(
    own: &[Vec<u32>],
    writes: bool,
    whole: &Digits,
    places: &Places,
    complex_bytes: u64,
) -> u64 {
    let lanes = (BANK_ROW / complex_bytes) as usize;
    let order = whole.by_stride(None, &whole.weights(|digit| if writes { digit.os } else { digit.is }));
    let total = whole.elements() as usize;
    let place = |element: usize| -> i64 {
        let mut rest = element;
        let mut at = 0;
        for &d in &order {
            let digit = &whole.all[d];
            let index = rest % digit.size as usize;
            rest /= digit.size as usize;
            match digit.batch {
                // The axis is the first digit, the repeated dimensions follow in their order.
                Some(_) => at += places.batch[d - 1] * index as i64,
                None => {
                    at += own.iter().zip(&places.parts).map(|(own, s)| s * i64::from(own[index])).sum::<i64>()
                }
            }
        }
        at
    };
    [0, total / 3 / lanes * lanes, total / 2 / lanes * lanes]
        .into_iter()
        .map(|start| {
            let mut per_bank = vec![0_u64; lanes];
            for element in start..(start + lanes).min(total) {
                per_bank[place(element) as usize % lanes] += 1;
            }
            per_bank.into_iter().max().unwrap_or(0)
        })
        .sum()
}

impl Lowering<'_> {
    pub(super) fn run_coprime(&mut self, parts: &[CoprimePart]) {
        let whole = self.digits.clone();
        let batch: Vec<Digit> = whole.all.iter().filter(|digit| digit.batch.is_some()).copied().collect();
        let places = arrange(parts, &whole, &batch, self.threads.count, self.pass.precision.complex_bytes());
        let coordinates = places.coordinates(parts);
        let space = *self.shared.insert(self.b.shared("tile", self.real, 2 * places.len as u32));
        let inverse = self.direction == Direction::Inverse;

        let load = Layout { register: None, order: whole.by_stride(None, &whole.weights(|digit| digit.is)) };
        let mut held = self.load(&load);
        if inverse {
            swap(&mut held);
        }
        let entry = TableKind::Places { parts: coordinates, output: false };
        self.permuted(space, entry, &places, &load, Some(held));

        // The inverse is the forward transform with real and imaginary parts changing places on both sides.
        self.direction = Direction::Forward;
        for own in 0..parts.len() {
            let others = others(parts, own, &places, &batch);
            self.digits = Digits::of_part(&parts[own], places.parts[own], &others);
            self.part(space, &parts[own], places.parts[own], &others);
        }
        self.direction = self.pass.direction;
        self.digits = whole;

        self.b.barrier();
        let strides = self.digits.weights(|digit| digit.os);
        let store = Layout { register: None, order: self.digits.by_stride(None, &strides) };
        let exit = TableKind::Places { parts: coordinates, output: true };
        let mut held = self.permuted(space, exit, &places, &store, None);
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
        let table = self.space_of(Slot::Table(table));
        let slots = layout.slots(&self.digits, self.threads.count);
        // All places before any element: the loads of one do not wait for the other.
        let pointers: Vec<(Value, i32, Option<Value>)> = (0..slots)
            .map(|slot| {
                let exists = self.exists(layout, slot);
                let at = self.linear(layout, slot, &points);
                let index = at.thread.unwrap_or_else(|| self.b.u32(0));
                let ptr = self.b.addr(table, index);
                let place = self.b.load(ptr, at.constant as i32, 1, Cache::Default, exists)[0];
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

    /// One part over all others: from shared memory and back.
    fn part(&mut self, space: Space, part: &CoprimePart, stride: i64, others: &[Digit]) {
        let stages = self.digits.stages[0].clone();
        let register = stages.first().copied();
        let sources = self.digits.weights(|digit| digit.is);
        let layout = Layout { register, order: self.digits.by_stride(register, &sources) };
        self.b.barrier();
        let mut held = self.take(space, part, stride, &layout);
        let first = (part.kind == PartKind::Rader).then(|| self.set_first_points_aside(space, others));
        let stage = |back| move |position| Step::Stage { axis: 0, position, back };
        let forward: Vec<Step> = (0..stages.len()).map(stage(false)).collect();
        let mut current;
        (current, held) = self.transform(&forward, layout, held);
        let table = match part.kind {
            PartKind::MixedRadix => None,
            PartKind::Rader => Some(TableKind::RaderSpectrum { p: part.n }),
            PartKind::Bluestein => Some(TableKind::ChirpSpectrum { n: part.n, m: part.points() }),
        };
        if let Some(table) = table {
            // A row of the others' digits, in the order in which they were set aside.
            let mut row = 1;
            let rows: Vec<i64> = std::iter::repeat_n(0, stages.len())
                .chain(others.iter().map(|digit| {
                    let weight = 2 * row;
                    row *= i64::from(digit.size);
                    weight
                }))
                .collect();
            self.spectrum(0, table, first.map(|space| (space, &rows[..])), &current, &mut held);
            let back: Vec<Step> = (0..stages.len()).rev().map(stage(true)).collect();
            (current, held) = self.transform(&back, current, held);
        }
        self.b.barrier();
        self.put(space, part, stride, &current, held);
        if let Some(first) = first {
            self.put_first_points_back(space, first, others);
        }
    }

    /// For each register of a slot: whether the point exists, and a padded convolution's chirp at it.
    fn chirped(
        &mut self,
        part: &CoprimePart,
        layout: &Layout,
        slot: u32,
        back: bool,
    ) -> Vec<(Option<Value>, Option<Cx>)> {
        let exists = self.exists(layout, slot);
        let registers = layout.registers(&self.digits);
        if part.kind != PartKind::Bluestein {
            return vec![(exists, None); registers as usize];
        }
        let weights = self.digits.weights(|digit| if back { digit.store_index } else { digit.load_index });
        let at = self.linear(layout, slot, &weights);
        let index = at.thread.unwrap_or_else(|| self.b.u32(0));
        let step = layout.register.map_or(0, |d| weights[d]);
        (0..i64::from(registers))
            .map(|r| {
                let constant = at.constant + step * r;
                let rest = self.b.u32((part.n as i64 - constant).max(0) as u32);
                let below = self.b.cmp(Cmp::Lt, index, rest);
                let on = self.both(exists, below);
                let w = self.table_load(TableKind::Chirp { n: part.n }, index, constant as u64, Some(on));
                (Some(on), Some(w))
            })
            .collect()
    }

    /// A part's tile from its places. Rader's rows begin behind their first points.
    fn take(&mut self, space: Space, part: &CoprimePart, stride: i64, layout: &Layout) -> Held {
        let strides = self.digits.weights(|digit| 2 * digit.is);
        let step = layout.register.map_or(0, |d| strides[d]);
        let start = if part.kind == PartKind::Rader { 2 * stride } else { 0 };
        (0..layout.slots(&self.digits, self.threads.count))
            .map(|slot| {
                let (ptr, base) = self.shared_pointer(space, layout, slot, &strides);
                let factors = self.chirped(part, layout, slot, false);
                let group = factors.into_iter().zip(0..).map(|((on, factor), r)| {
                    let x = self.b.load(ptr, (start + base + step * r) as i32, 2, Cache::Default, on);
                    let x = Cx { re: x[0], im: x[1] };
                    factor.map_or(x, |factor| self.b.cmul(x, factor))
                });
                group.collect()
            })
            .collect()
    }

    /// A part's tile back to its places.
    fn put(&mut self, space: Space, part: &CoprimePart, stride: i64, layout: &Layout, held: Held) {
        let strides = self.digits.weights(|digit| 2 * digit.os);
        let step = layout.register.map_or(0, |d| strides[d]);
        let start = if part.kind == PartKind::Rader { 2 * stride } else { 0 };
        for (slot, group) in held.into_iter().enumerate() {
            let slot = slot as u32;
            let (ptr, base) = self.shared_pointer(space, layout, slot, &strides);
            let factors = self.chirped(part, layout, slot, true);
            for ((x, (on, factor)), r) in group.into_iter().zip(factors).zip(0..) {
                let x = factor.map_or(x, |factor| self.b.cmul(x, factor));
                self.b.store(ptr, (start + base + step * r) as i32, &[x.re, x.im], Cache::Default, on);
            }
        }
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
        let digits = std::mem::replace(&mut self.digits, Digits { all: others.to_vec(), stages: Vec::new() });
        let layout = Layout { register: None, order: (0..others.len()).collect() };
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
