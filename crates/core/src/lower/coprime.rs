//! An axis of coprime parts (Good and Thomas), some of them convolutions (Rader, Bluestein). The tile stands in
//! shared memory, where each part transforms its own coordinate over all others in place. Indices are permuted by
//! a table as the tile comes in and as it leaves, so that global memory is touched in order; a padded part alone
//! needs neither: its first stage reads global memory and its last one writes it.

use std::ops::Range;

use crate::kernel::{Cache, Cmp, Cx, Space, Special, Value};
use crate::pass::{Axis, CoprimePart, Method, TableKind};
use crate::problem::Direction;

use super::digits::Digit;
use super::in_place::swapped;
use super::layout::{Layout, Linear};
use super::line::{Line, StagedDim};
use super::places::{Places, Wanted, alone, arrange, end_digits};
use super::wavefronts::{Samples, Stages};
use super::{Held, Lowering, Slot};

/// Where an element stands: a pointer and an offset, in which threads.
pub(super) type Pointer = (Value, i32, Option<Value>);

/// Slots of a piece, where permuted ends take the tile piece by piece.
pub(crate) const PIECE: u32 = 8;

impl Lowering<'_> {
    /// Runs stages that stay in shared memory: false where the pass has none of those.
    pub(super) fn run_in_place(&mut self) -> bool {
        let pass = self.pass;
        if let Some(part) = pass.convolved_together() {
            self.run_coprime(&[part]);
            return true;
        }
        let [axis] = &pass.axes[..] else { return false };
        match &axis.method {
            Method::MixedRadix(_) | Method::Reals(_) => return false,
            Method::Coprime(parts) => self.run_coprime(parts),
            Method::Decimated { radix, part } => self.run_decimated(*radix, part),
        }
        true
    }

    fn run_coprime(&mut self, parts: &[CoprimePart]) {
        let whole = self.digits.clone();
        let batch: Vec<Digit> = whole.all.iter().filter(|digit| digit.batch.is_some()).copied().collect();
        let bytes = self.pass.precision.complex_bytes();
        let most = u64::from(self.shared_limit) / bytes;
        let dims = self.staged_dims();
        let threads = self.threads.count;
        let stages = Stages::new((&dims, parts), 0, &batch, threads, bytes);
        let end = |(digits, output): (&Vec<Vec<i64>>, bool)| {
            let order =
                whole.by_stride(&[], &whole.weights(|digit| if output { digit.os } else { digit.is }));
            // The axis is the first digit, the repeated dimensions follow in their order.
            Samples::of((&whole, &order), whole.elements(), bytes, 1.0, |index, all| {
                all.extend(&digits[index[0] as usize]);
                all.extend(index[1..].iter().map(|&i| i64::from(i)));
            })
        };
        let permuted = if alone(parts).is_some() { Vec::new() } else { end_digits(parts) };
        let ends = permuted.iter().zip([false, true]).map(end).collect();
        let room = parts[0].room() / parts[0].blocks();
        let packed = f64::from(whole.elements()) * room as f64 / parts[0].n as f64;
        let places = arrange(Wanted { stages, ends, packed, even: parts.len() > 1, most: most as i64 });
        self.conflicts = self.conflicts.max(places.conflicts);
        let load = Layout {
            register: None,
            order: whole.by_stride(&[], &whole.weights(|digit| digit.is)),
            block: None,
            pair: None,
        };
        if alone(parts).is_some() {
            return self.transform_parts(parts, 0, &places, &batch);
        }
        if let [part] = parts
            && part.halved()
        {
            return self.rader_in_halves(part, &places, &batch, &load);
        }
        let Some((tiles, blocks)) = self.turns else {
            return self.coprime_tile(parts, &places, &batch, &load, None);
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
        self.coprime_tile(parts, &places, &batch, &load, Some(held));
        let yields = ahead.iter().flatten().flat_map(|x| [x.re, x.im]).collect();
        self.b.close_loop([block, end, step], &init, yields);
    }

    /// Slots that a thread holds at once on the permuted ways.
    pub(super) fn pieces(&self, layout: &Layout) -> Vec<Range<u32>> {
        let slots = layout.slots(&self.digits, self.threads.count);
        let piece = if self.piecewise { PIECE } else { slots.max(1) };
        (0..slots).step_by(piece as usize).map(|first| first..(first + piece).min(slots)).collect()
    }

    /// One tile, from registers where it was loaded, to its destination.
    fn coprime_tile(
        &mut self,
        parts: &[CoprimePart],
        places: &Places,
        batch: &[Digit],
        load: &Layout,
        mut loaded: Option<Held>,
    ) {
        let parts_of_table = places.coordinates(parts);
        let table = |output| TableKind::Places { parts: parts_of_table, output, rows: [1, 0], next: 0 };
        let threads = self.threads;
        // The inverse is the forward transform with real and imaginary parts changing places on both sides.
        let inverse = self.direction == Direction::Inverse;
        for piece in self.pieces(load) {
            let mut held = loaded.take().unwrap_or_else(|| self.load_slots(load, piece.clone()));
            if inverse {
                swap(&mut held);
            }
            self.permuted(table(false), places, (load, piece), Some(held));
        }
        self.transform_parts(parts, 0, places, batch);
        self.leave_places(table(true), places);
        self.threads = threads;
    }

    /// The tile from its places to its destination, in the order in which it leaves.
    pub(super) fn leave_places(&mut self, table: TableKind, places: &Places) {
        let inverse = self.direction == Direction::Inverse;
        self.b.barrier();
        self.index_anew();
        let strides = self.digits.weights(|digit| digit.os);
        let order = self.digits.by_stride(&[], &strides);
        let store = Layout { register: None, order, block: None, pair: None };
        for piece in self.pieces(&store) {
            let mut held = self.permuted(table, places, (&store, piece.clone()), None);
            if inverse {
                swap(&mut held);
            }
            for (slot, x) in piece.clone().zip(&mut held) {
                self.pass_twiddle(&store, slot, std::slice::from_mut(x));
            }
            self.store_slots(&store, piece, &held);
        }
    }

    /// The pass's axes, with the stages of each.
    pub(super) fn staged_dims(&self) -> Vec<StagedDim> {
        let dim = |axis: &Axis| StagedDim { dim: axis.dim, stages: axis.method.stages().len() };
        self.pass.axes.iter().map(dim).collect()
    }

    /// Every part from the `first` on, one after the other.
    pub(super) fn transform_parts(
        &mut self,
        parts: &[CoprimePart],
        first: usize,
        places: &Places,
        batch: &[Digit],
    ) {
        let space = self.tile_space(places);
        let dims = self.staged_dims();
        self.direction = Direction::Forward;
        for own in first..parts.len() {
            let line = Line::of((&dims, parts), own, places, batch);
            self.in_place(space, &line);
        }
        self.direction = self.pass.direction;
    }

    /// Distance of a tile's repetitions, where a thread goes through them one after the other and meets another point in
    /// every slot: a table that goes on in the next one then says it all, and nothing is divided.
    fn next_row(&self, places: &Places, layout: &Layout) -> Option<i64> {
        let (&[stride], [.., row]) = (&places.batch[..], &layout.order[..]) else { return None };
        let (row, count) = (&self.digits.all[*row], self.threads.count);
        let goes_on = !count.is_multiple_of(self.axis_points()) && layout.slots(&self.digits, count) > 1;
        (goes_on && row.batch.is_some()).then_some(stride)
    }

    /// Points of the axis.
    fn axis_points(&self) -> u32 {
        self.digits.all.iter().filter(|digit| digit.axis.is_some()).map(|digit| digit.size).product()
    }

    /// The index of a slot's element, and what its repetition adds to its place. Where the table goes on in the `next`,
    /// the index may lie there.
    fn point_and_row(
        &mut self,
        places: &Places,
        output: bool,
        (layout, slot): (&Layout, u32),
        next: i64,
    ) -> (Linear, Linear) {
        // A permuted axis is one digit, or two: a codelet's, which holds it in registers on the way in, and a row's.
        let points = self.digits.weights(|digit| match digit.axis {
            Some(_) if output => digit.output,
            Some(_) => digit.input,
            None => 0,
        });
        let mut strides = places.batch.iter();
        let rows: Vec<i64> = (self.digits.all.iter())
            .map(|digit| digit.batch.and_then(|_| strides.next()).copied().unwrap_or(0))
            .collect();
        let slot_of_form = if next > 0 { 0 } else { slot };
        let [mut at, mut row] = [points, rows].map(|weights| self.linear(layout, slot_of_form, &weights));
        if next > 0 {
            let (size, ahead) = (self.axis_points(), slot * self.threads.count);
            at.constant += i64::from(ahead % size);
            row.constant += i64::from(ahead / size) * next;
        }
        (at, row)
    }

    pub(super) fn tile_space(&mut self, places: &Places) -> Space {
        self.block_array(2 * places.len as u32)
    }

    /// Where a slot's element stands, or the first of its group, by a table, where there is one and `on` holds.
    pub(super) fn place_pointer(
        &mut self,
        table: TableKind,
        places: &Places,
        (layout, slot): (&Layout, u32),
        on: Option<Value>,
    ) -> Pointer {
        let TableKind::Places { output, next, .. } = table else { unreachable!("it is a table of places") };
        let space = self.tile_space(places);
        let cache = self.table_cache(table);
        let table = self.space_of(Slot::Table(table));
        let exists = self.exists(layout, slot);
        let exists = self.all_of(exists, on);
        let (at, row) = self.point_and_row(places, output, (layout, slot), next.into());
        let index = at.thread.unwrap_or_else(|| self.b.u32(0));
        let ptr = self.b.addr(table, index);
        let place = self.b.load(ptr, at.constant as i32, 1, cache, exists)[0];
        let place = row.thread.map_or(place, |thread| self.b.add(place, thread));
        let place = self.b.mul_const(place, 2);
        (self.b.addr(space, place), 2 * row.constant as i32, exists)
    }

    /// Writes a piece of the tile to its places in shared memory, or reads it from there.
    fn permuted(
        &mut self,
        mut table: TableKind,
        places: &Places,
        (layout, piece): (&Layout, Range<u32>),
        held: Option<Held>,
    ) -> Held {
        let next = self.next_row(places, layout).unwrap_or(0);
        if let TableKind::Places { next: own, .. } = &mut table {
            *own = next as u32;
        }
        // All places before any element: the loads of one do not wait for the other.
        let pointers: Vec<Pointer> =
            piece.map(|slot| self.place_pointer(table, places, (layout, slot), None)).collect();
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
}

/// Exchanges real and imaginary parts.
pub(super) fn swap(held: &mut Held) {
    held.iter_mut().flatten().for_each(|x| *x = swapped(*x));
}
