//! An axis whose points a codelet takes as they come from memory, each `n / radix` from the next; times twiddles they go
//! to rows in shared memory, which a part convolves in place. Neighbouring results are of neighbouring rows, so they
//! leave with few bank conflicts, wherever in its row the convolution has left them.

use crate::codelet;
use crate::kernel::{Cache, Cx};
use crate::pass::{Coordinate, CoprimePart, PartKind, TableKind};
use crate::problem::Direction;

use super::Lowering;
use super::coprime::{Pointer, swap};
use super::digits::Digit;
use super::layout::Layout;
use super::places::{Places, Wanted, arrange, end_digits};
use super::wavefronts::{Samples, Stages};
use super::writes::Write;

/// The digits of the axis: that of the codelet, and that within a row.
const ROW: usize = 0;
const POINT: usize = 1;

/// Points of a thread that are under way from memory at once: loads wait for one another no more than they have to.
const UNDER_WAY: u32 = 24;

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
        let row = places.parts[ROW].stride();
        let table = |output, rows| TableKind::Places { parts: coordinates, output, rows, next: 0 };
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
            let place = |slot| self.place_pointer(table(false, [1, 0]), &places, (&load, slot), None);
            let pointers: Vec<Pointer> = piece.clone().map(place).collect();
            for ((slot, group), pointer) in piece.zip(&held).zip(pointers) {
                self.enter_rows((&load, slot), group, pointer, row);
            }
        }
        self.transform_parts(&parts, 1, &places, &batch);
        self.leave_places(table(true, [radix, row as u32]), &places);
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
        let ends = end_digits(std::slice::from_ref(part));
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

    /// A group from memory through the codelet to its rows, each `row` from the next.
    fn enter_rows(
        &mut self,
        (layout, slot): (&Layout, u32),
        group: &[Cx],
        (ptr, offset, exists): Pointer,
        row: i64,
    ) {
        let radix = group.len() as u32;
        let mut x = codelet::dft(&mut self.b, group, Direction::Forward);
        let done = u64::from(self.digits.all[POINT].size);
        let powers = self.stage_powers();
        let kind = TableKind::Stage { radix, done, powers };
        let points: Vec<i64> = (0..self.digits.all.len()).map(|d| i64::from(d == POINT)).collect();
        let at = self.linear(layout, slot, &points);
        let index = at.thread.unwrap_or_else(|| self.b.u32(0));
        let factors = self.powers(radix, powers, |this, row, _| {
            this.table_load(kind, index, (row as u64 * done) as i64 + at.constant, exists)
        });
        let factors: Vec<Option<Cx>> = std::iter::once(None).chain(factors.into_iter().map(Some)).collect();
        self.multiply(&mut x, &factors);
        let step = 2 * row as i32;
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
