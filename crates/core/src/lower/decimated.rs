//! An axis whose points a codelet takes as they come from memory, each `n / radix` from the next; times twiddles they go
//! to rows in shared memory, which a part convolves in place. Neighbouring results are of neighbouring rows, so they
//! leave with few bank conflicts, wherever in its row the convolution has left them.

use crate::codelet;
use crate::kernel::{Cache, Cx, Space, Value};
use crate::pass::{Coordinate, CoprimePart, PartKind, TableKind};
use crate::problem::Direction;

use super::coprime::swap;
use super::digits::Digit;
use super::layout::Layout;
use super::places::{Places, Wanted, arrange, end_digits};
use super::wavefronts::{Samples, Stages};
use super::writes::Write;
use super::{Lowering, Slot};

/// The digits of the axis: that of the codelet, and that within a row.
const ROW: usize = 0;
const POINT: usize = 1;

/// Points of a thread that are under way from memory at once: loads wait for one another no more than they have to.
const UNDER_WAY: u32 = 24;

/// Where a point of the array stands: a pointer and an offset, in which threads.
type Pointer = (Value, i32, Option<Value>);

/// The array of rows.
struct Array<'p> {
    space: Space,
    places: &'p Places,
    /// Where the points of a row stand on the way in.
    table: TableKind,
}

impl Lowering<'_> {
    pub(super) fn run_decimated(&mut self, radix: u32, part: &CoprimePart) {
        let rows = CoprimePart {
            n: radix.into(),
            kind: PartKind::MixedRadix,
            chirp: None,
            band: None,
            radices: vec![radix],
        };
        let parts = [rows, part.clone()];
        let batch: Vec<Digit> =
            self.digits.all.iter().filter(|digit| digit.batch.is_some()).copied().collect();
        let load = self.order_by(|digit| digit.is, Some(ROW));
        let store = self.order_by(|digit| digit.os, None);
        let places = self.arrange_rows(&parts, &batch, [&load, &store]);
        self.conflicts = self.conflicts.max(places.conflicts);
        let mut coordinates = [Coordinate::NONE; 3];
        coordinates[0] = places.coordinates(&parts)[1];
        let row = places.parts[ROW].stride() as u32;
        let table = |output, rows| TableKind::Places { parts: coordinates, output, rows, next: 0 };
        let array = Array { space: self.tile_space(&places), places: &places, table: table(false, [1, 0]) };
        let threads = self.threads;
        // A row's points start within sectors, whose other part a neighbour has brought.
        self.caches[0] = Cache::Default;
        // The inverse is the forward transform with real and imaginary parts changing places on both sides.
        let inverse = self.direction == Direction::Inverse;
        let slots = load.slots(&self.digits, threads.count);
        let together = (UNDER_WAY / radix).max(1);
        for first in (0..slots).step_by(together as usize) {
            let piece = first..(first + together).min(slots);
            let mut held = self.load_slots(&load, piece.clone());
            if inverse {
                swap(&mut held);
            }
            let pointers: Vec<_> = piece.clone().map(|slot| self.row_place(&array, (&load, slot))).collect();
            for ((slot, group), pointer) in piece.zip(&held).zip(pointers) {
                self.enter_rows(&array, (&load, slot), group, pointer);
            }
        }
        self.transform_parts(&parts, 1, &places, &batch);
        self.b.barrier();
        self.index_anew();
        for piece in self.pieces(&store) {
            let mut held = self.permuted(table(true, [radix, row]), &places, (&store, piece.clone()), None);
            if inverse {
                swap(&mut held);
            }
            for (slot, x) in piece.clone().zip(&mut held) {
                self.pass_twiddle(&store, slot, x);
            }
            self.store_slots(&store, piece, &held);
        }
        self.threads = threads;
    }

    /// The layout whose neighbouring threads are neighbours in memory.
    fn order_by(&self, stride: impl Fn(&Digit) -> i64, register: Option<usize>) -> Layout {
        let order = self.digits.by_stride(&[register], &self.digits.weights(stride));
        Layout { register, order, block: None, pair: None }
    }

    fn arrange_rows(&self, parts: &[CoprimePart; 2], batch: &[Digit], [load, store]: [&Layout; 2]) -> Places {
        let (dims, bytes) = (self.staged_dims(), self.pass.precision.complex_bytes());
        let threads = self.threads.count;
        let [rows, part] = parts;
        let mut ends = end_digits(std::slice::from_ref(part));
        if ends.is_empty() {
            // What is padded stands in its own order.
            let still = Places::still(std::slice::from_ref(part), &[]);
            let spelt: Vec<Vec<i64>> = (0..part.n as u32).map(|point| still.parts[0].digits(point)).collect();
            ends = vec![spelt.clone(), spelt];
        }
        let end = |(layout, points): (&Layout, &Vec<Vec<i64>>)| {
            let times = f64::from(layout.registers(&self.digits));
            Samples::of((&self.digits, &layout.order), threads, bytes, times, |index, all| {
                // Rows and no first one; the point; the repeated dimensions, which follow the axis in their order.
                all.extend([i64::from(index[ROW]), 0]);
                all.extend(&points[index[POINT] as usize]);
                all.extend(index[POINT + 1..].iter().map(|&i| i64::from(i)));
            })
        };
        let ends = [load, store].into_iter().zip(&ends).map(end).collect();
        let stages = Stages::new((&dims, parts), 1, batch, threads, bytes);
        let repeated: u64 = batch.iter().map(|digit| u64::from(digit.size)).product();
        let packed = (rows.n * part.room() * repeated) as f64;
        let most = (u64::from(self.shared_limit) / bytes) as i64;
        arrange(Wanted { stages, ends, packed, even: false, most })
    }

    /// Weight of each digit in a point's index in its row.
    fn points(&self) -> Vec<i64> {
        (0..self.digits.all.len()).map(|d| i64::from(d == POINT)).collect()
    }

    /// A slot's point in its row.
    fn row_place(&mut self, array: &Array<'_>, (layout, slot): (&Layout, u32)) -> Pointer {
        let points = self.points();
        let mut strides = array.places.batch.iter();
        let rows: Vec<i64> = (self.digits.all.iter())
            .map(|digit| digit.batch.and_then(|_| strides.next()).copied().unwrap_or(0))
            .collect();
        let exists = self.exists(layout, slot);
        let [at, row] = [points, rows].map(|weights| self.linear(layout, slot, &weights));
        let cache = self.table_cache(array.table);
        let table = self.space_of(Slot::Table(array.table));
        let index = at.thread.unwrap_or_else(|| self.b.u32(0));
        let ptr = self.b.addr(table, index);
        let place = self.b.load(ptr, at.constant as i32, 1, cache, exists)[0];
        let place = row.thread.map_or(place, |thread| self.b.add(place, thread));
        let place = self.b.mul_const(place, 2);
        (self.b.addr(array.space, place), 2 * row.constant as i32, exists)
    }

    /// A group from memory through the codelet to its rows.
    fn enter_rows(
        &mut self,
        array: &Array<'_>,
        (layout, slot): (&Layout, u32),
        group: &[Cx],
        (ptr, offset, exists): Pointer,
    ) {
        let radix = group.len() as u32;
        let mut x = codelet::dft(&mut self.b, group, Direction::Forward);
        let done = u64::from(self.digits.all[POINT].size);
        let powers = self.stage_powers();
        let kind = TableKind::Stage { radix, done, powers };
        let points = self.points();
        let at = self.linear(layout, slot, &points);
        let index = at.thread.unwrap_or_else(|| self.b.u32(0));
        let factors = self.powers(radix, powers, |this, row, _| {
            this.table_load(kind, index, (row as u64 * done) as i64 + at.constant, exists)
        });
        let factors: Vec<Option<Cx>> = std::iter::once(None).chain(factors.into_iter().map(Some)).collect();
        self.multiply(&mut x, &factors);
        let step = 2 * array.places.parts[ROW].stride() as i32;
        let write = |(r, x): (i32, &Cx)| Write {
            ptr,
            offset: offset + r * step,
            values: vec![x.re, x.im],
            on: exists,
        };
        let writes = (0..).zip(&x).map(write).collect();
        self.write_all(writes, Cache::Default);
    }
}
