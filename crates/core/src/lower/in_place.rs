//! The stages of a part in place: every group of points goes back to where it came from. Forward the stages are
//! decimated in frequency, which leaves frequencies in the order of reversed digits; a convolution multiplies
//! them there, and goes back by the same stages decimated in time (Gentleman and Sande, *Fast Fourier transforms
//! for fun and profit*, 1966). Nothing is ever reordered, one barrier parts two stages, and a thread holds no more
//! than one group.

use crate::codelet;
use crate::kernel::{Cache, Cmp, Cx, Space, Type, Value};
use crate::pass::{PartKind, TableKind};
use crate::problem::Direction;

use super::Lowering;
use super::guards::Bound;
use super::layout::{Layout, Threads};
use super::line::Line;
use super::memory::Side;
use super::writes::Write;

/// Bytes of a thread whose groups are written one after another where they come from global memory, so that all are
/// under way at once; more are a loop.
const UNROLLED: u64 = 128;

/// Bytes of a group, at most, whose factors are kept for that of another row: of 23 and 24 points two rows took 2 to 6% longer so.
const FACTORS: u64 = 160;

/// What a stage does to its groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    /// Decimated in frequency.
    Out,
    /// The last stage, and the first on the way back with the product between.
    Turn,
    /// Decimated in time, conjugate.
    Home,
}

/// One step of a part.
pub(super) struct Step<'l> {
    pub(super) line: &'l Line<'l>,
    pub(super) space: Space,
    pub(super) stage: usize,
    pub(super) work: Work,
    pub(super) layout: Layout,
    /// The first and the last step touch the points as they are, not padded.
    enters: bool,
    leaves: bool,
    /// Global memory, where the line reads and writes it.
    pub(super) ends: Option<&'l [Side; 2]>,
}

impl Lowering<'_> {
    /// Transforms one part over all others.
    pub(super) fn in_place(&mut self, space: Space, line: &Line<'_>) {
        let digits = std::mem::replace(&mut self.digits, line.digits.clone());
        let ends = line.direct.then(|| [false, true].map(|writes| self.side(writes)));
        let last = line.stages() - 1;
        let mut steps: Vec<(usize, Work)> = (0..last).map(|stage| (stage, Work::Out)).collect();
        steps.push((last, Work::Turn));
        if line.convolves() {
            steps.extend((0..last).rev().map(|stage| (stage, Work::Home)));
        }
        let count = steps.len();
        for (i, (stage, work)) in steps.into_iter().enumerate() {
            let layout = line.layout(stage);
            let (enters, leaves) = (i == 0, i + 1 == count);
            let step = Step { line, space, stage, work, layout, enters, leaves, ends: ends.as_ref() };
            if !(enters && line.direct) {
                self.b.barrier();
                if line.direct {
                    // All threads have what they read, and wrote it to the tile.
                    self.exchanged();
                }
            }
            if work == Work::Home {
                self.index_anew();
            }
            self.each_group(&step);
            if leaves && line.part.halved() {
                match line.direct {
                    true => self.join_halves(&step),
                    false => self.exchange_halves(&step),
                }
            }
        }
        self.digits = digits;
    }

    /// Runs a step over all groups: one after another, or in a loop.
    fn each_group(&mut self, step: &Step<'_>) {
        let threads = self.threads;
        let slots = step.layout.slots(&self.digits, threads.count);
        let held = slots * step.layout.registers(&self.digits);
        if slots == 1
            || (step.line.direct && u64::from(held) * self.pass.precision.complex_bytes() <= UNROLLED)
        {
            return (0..slots).for_each(|slot| self.group(step, slot));
        }
        let together = self.together(step);
        // Each thread goes as far as there are groups: a predicate on every access would cost more than the last turn
        // of a loop in which some threads have left.
        let groups = step.layout.groups(&self.digits) / together;
        if groups == threads.count {
            return (0..together).for_each(|slot| self.group(step, slot));
        }
        let even = groups.is_multiple_of(threads.count);
        let [zero, end, count] = [0, groups, threads.count].map(|x| self.b.u32(x));
        let (turn, _) = self.b.open_loop(&[]);
        let (start, index) =
            if even { (zero, self.b.add(turn, threads.index)) } else { (threads.index, turn) };
        self.threads = Threads { index, count: groups, ..threads };
        (0..together).for_each(|slot| self.group(step, slot));
        self.threads = threads;
        self.b.close_loop([start, end, count], &[], Vec::new());
    }

    /// Groups that a thread takes in one turn. Factors are alike, and made once, at the same place of as many rows, or of one row
    /// apart by the digit of an earlier stage alone. 1 where no such digit is what tells its groups apart, where threads would take
    /// more turns so, and where there would be registers for few threads.
    fn together(&self, step: &Step<'_>) -> u32 {
        let (layout, threads) = (&step.layout, self.threads.count);
        if step.line.part.halved() && !step.line.direct && self.real == Type::F64 {
            // Long permuted ends leave doubles no room for a second group: 5 of 26 lengths spilled up to 160 bytes.
            return 1;
        }
        let (size, most) = match layout.order.last() {
            Some(&row) if row >= step.line.stages() => (self.digits.all[row].size, FACTORS),
            // The product in the middle is with another factor for each.
            Some(&early) if early < step.stage && step.work != Work::Turn => {
                (self.digits.all[early].size, 2 * FACTORS)
            }
            // Two groups fill each other's waits where few others do: 10007, 2963 and 4099 in doubles take 4 to 7% less for it. Rader's
            // rows gain nothing, and 8191 lost 5%.
            Some(&any) if self.unaccompanied && step.line.padded() => {
                (self.digits.all[any].size, 2 * FACTORS)
            }
            _ => (1, 0),
        };
        let groups = layout.groups(&self.digits);
        let bytes = u64::from(layout.registers(&self.digits)) * self.pass.precision.complex_bytes();
        let fits = |count: u32| (groups / count).div_ceil(threads) * count <= groups.div_ceil(threads);
        let one_each = |&count: &u32| bytes <= most && size.is_multiple_of(count) && fits(count);
        [2, 3].into_iter().find(one_each).unwrap_or(1)
    }

    /// One group from its places, through the step, and back.
    fn group(&mut self, step: &Step<'_>, slot: u32) {
        if self.group_in_twos(step, slot) {
            return;
        }
        let (mut x, mut factors) = self.take(step, slot);
        match step.work {
            Work::Out => {
                x = codelet::dft_of_products(&mut self.b, &x, &factors, Direction::Forward);
                factors = self.step_factors(step, slot);
                self.multiply(&mut x, &factors);
                x.rotate_right(self.centre(step));
            }
            Work::Turn => {
                x = codelet::dft_of_products(&mut self.b, &x, &factors, Direction::Forward);
                if step.line.convolves() {
                    factors = match self.pass.filter {
                        Some(filter) if step.line.part.kind == PartKind::Filter => {
                            self.filter_factors(filter, &step.layout, slot)
                        }
                        _ => self.product(step, slot, &mut x),
                    };
                    x = codelet::dft_of_products(&mut self.b, &x, &factors, Direction::Inverse);
                }
            }
            Work::Home => {
                x.rotate_left(self.centre(step));
                factors = self.step_factors(step, slot);
                x = codelet::dft_of_products(&mut self.b, &x, &factors, Direction::Inverse);
            }
        }
        self.put(step, slot, x);
    }

    /// Which of a group's points there are, on the way in and out: all but for the padding.
    pub(super) fn bounds(&mut self, step: &Step<'_>, slot: u32, leaves: bool) -> Vec<Bound> {
        let (line, radix) = (step.line, step.layout.registers(&self.digits));
        if line.part.kind == PartKind::Filter {
            let on = self.inside(&step.layout, slot);
            return vec![Bound::If(on); radix as usize];
        }
        let on = if line.direct { self.inside(&step.layout, slot) } else { self.exists(&step.layout, slot) };
        let rest = self.linear(&step.layout, slot, &line.index);
        let (n, width) = (line.part.ends(leaves) as i64, line.index[step.stage]);
        (0..i64::from(radix))
            .map(|r| {
                let start = r * width;
                if start + rest.constant >= n {
                    return Bound::Never;
                }
                match rest.thread {
                    Some(thread) if start + width > n => {
                        let room = self.b.u32((n - start - rest.constant) as u32);
                        let below = self.b.cmp(Cmp::Lt, thread, room);
                        Bound::If(Some(self.both(on, below)))
                    }
                    _ => Bound::If(on),
                }
            })
            .collect()
    }

    /// A group's points, and what each is to be multiplied by.
    fn take(&mut self, step: &Step<'_>, slot: u32) -> (Vec<Cx>, Vec<Option<Cx>>) {
        let line = step.line;
        let bounds = step.enters.then(|| self.bounds(step, slot, false));
        let x = match step.ends {
            Some([source, _]) if step.enters => {
                let mut x = self.load_group(source, &step.layout, slot, bounds.as_deref());
                if self.pass.direction == Direction::Inverse {
                    x.iter_mut().for_each(|x| *x = swapped(*x));
                }
                x
            }
            _ => self.take_shared(step, slot, bounds.as_deref()),
        };
        let factors = match bounds.filter(|_| line.part.weighted()) {
            Some(bounds) => self.chirp(step, slot, &bounds, false),
            None => vec![None; x.len()],
        };
        (x, factors)
    }

    fn put(&mut self, step: &Step<'_>, slot: u32, mut x: Vec<Cx>) {
        let line = step.line;
        let bounds = step.leaves.then(|| self.bounds(step, slot, true));
        if let Some(bounds) = bounds.as_ref().filter(|_| line.part.weighted()) {
            let factors = self.chirp(step, slot, bounds, true);
            self.multiply(&mut x, &factors);
        }
        if step.leaves && line.direct && !line.part.halved() {
            self.put_global(step, slot, x, bounds.as_deref());
        } else {
            self.put_shared(step, slot, &x, bounds.as_deref());
        }
    }

    /// A group on its way to global memory.
    pub(super) fn put_global(
        &mut self,
        step: &Step<'_>,
        slot: u32,
        mut x: Vec<Cx>,
        bounds: Option<&[Bound]>,
    ) {
        let Some([_, destination]) = step.ends else { return };
        if self.pass.direction == Direction::Inverse {
            x.iter_mut().for_each(|x| *x = swapped(*x));
        }
        let way = if step.line.returns() { self.pass.direction.reversed() } else { self.pass.direction };
        let direction = std::mem::replace(&mut self.direction, way);
        self.pass_twiddle(&step.layout, slot, std::slice::from_mut(&mut x));
        self.direction = direction;
        self.store_group(destination, &step.layout, slot, &x, bounds);
    }

    pub(super) fn take_shared(&mut self, step: &Step<'_>, slot: u32, bounds: Option<&[Bound]>) -> Vec<Cx> {
        let (ptr, base, distance) = self.place(step, slot);
        let exists = self.exists(&step.layout, slot);
        (0..step.layout.registers(&self.digits) as usize)
            .map(|r| match bounds.map_or(Bound::If(exists), |bounds| bounds[r]) {
                Bound::Never => {
                    let zero = self.b.float(self.real, 0.0);
                    Cx { re: zero, im: zero }
                }
                Bound::If(on) => {
                    let x = self.b.load(ptr, (base + distance * r as i64) as i32, 2, Cache::Default, on);
                    Cx { re: x[0], im: x[1] }
                }
            })
            .collect()
    }

    fn put_shared(&mut self, step: &Step<'_>, slot: u32, x: &[Cx], bounds: Option<&[Bound]>) {
        let (ptr, base, distance) = self.place(step, slot);
        let exists = self.exists(&step.layout, slot);
        let mut writes = Vec::new();
        for (r, x) in x.iter().enumerate() {
            if let Bound::If(on) = bounds.map_or(Bound::If(exists), |bounds| bounds[r]) {
                let offset = (base + distance * r as i64) as i32;
                writes.push(Write { ptr, offset, values: vec![x.re, x.im], on });
            }
        }
        self.write_all(writes, Cache::Default);
    }

    /// Pointer to a group, its constant offset, and the distance of its points.
    pub(super) fn place(&mut self, step: &Step<'_>, slot: u32) -> (Value, i64, i64) {
        let strides: Vec<i64> = step.line.strides.iter().map(|stride| 2 * stride).collect();
        let (ptr, base) = self.shared_pointer(step.space, &step.layout, slot, &strides);
        (ptr, base, strides[step.stage])
    }

    /// The chirp of the points that there are.
    fn chirp(&mut self, step: &Step<'_>, slot: u32, bounds: &[Bound], leaves: bool) -> Vec<Option<Cx>> {
        let (line, table) = (step.line, step.line.part.end_factors(leaves));
        let at = self.linear(&step.layout, slot, &line.index);
        let index = at.thread.unwrap_or_else(|| self.b.u32(0));
        let index = self.in_chirp(line, index, leaves);
        let constants = (at.constant..).step_by(line.index[step.stage] as usize);
        let factor = |(bound, constant): (&Bound, i64)| match *bound {
            Bound::If(on) => Some(self.table_load(table, index, constant, on)),
            Bound::Never => None,
        };
        bounds.iter().zip(constants).map(factor).collect()
    }

    /// The product in the middle of a convolution. The first point of a row of Rader's takes no part in it: every
    /// other output is to have it added, itself is to become the sum of its row. Both happen at frequency 0.
    fn product(&mut self, step: &Step<'_>, slot: u32, x: &mut [Cx]) -> Vec<Option<Cx>> {
        let (line, kind) = (step.line, step.line.spectrum(self.pass));
        // A row of its own has no factors beyond the last.
        let rows = line.row_weight() > 0;
        let exists = if rows { self.inside(&step.layout, slot) } else { self.exists(&step.layout, slot) };
        let at = self.linear(&step.layout, slot, &line.spectrum_weights());
        let row = self.at_origin(Type::U32, |dim| dim.twiddle as i64 * line.row_weight());
        let index = at.thread.map_or(row, |thread| self.b.add(row, thread));
        let points = line.part.points();
        let mut factors = Vec::new();
        for (r, x) in x.iter_mut().enumerate() {
            let constant = at.constant + line.frequency[step.stage] * r as i64;
            let w = match kind {
                // A chirp's spectrum is symmetric: half of it is enough, and stays in the cache. Of its halves the even frequencies
                // are about 0, the odd ones about what lies between -1 and 1.
                TableKind::ChirpSpectrum { m, centre, .. }
                | TableKind::SpectrumOfHalves { m, centre, .. }
                    if 2 * constant >= m as i64 =>
                {
                    let end = self.b.u32((m + 2 * centre) as u32);
                    let mirrored = self.b.sub(end, index);
                    let mirrored = self.in_half(line, mirrored, points - 1);
                    self.table_load(kind, mirrored, -constant, exists)
                }
                _ => {
                    let index = self.in_half(line, index, points);
                    self.table_load(kind, index, constant, exists)
                }
            };
            let first = line.part.kind == PartKind::Rader && r == 0;
            let zero = if first { line.zero() - constant } else { -1 };
            factors.push(if zero >= 0 {
                let product = self.b.cmul(*x, w);
                let point = self.add_to_first(step, slot, (index, zero), *x);
                *x = self.b.cadd(product, point);
                None
            } else {
                Some(w)
            });
        }
        factors
    }

    /// Where the index is that of frequency 0: gives a row's first point (elsewhere 0) and adds `sum` to it.
    fn add_to_first(&mut self, step: &Step<'_>, slot: u32, (index, zero): (Value, i64), sum: Cx) -> Cx {
        let line = step.line;
        let zero = self.b.u32(zero as u32);
        let own = self.b.cmp(Cmp::Eq, index, zero);
        let exists = self.exists(&step.layout, slot);
        let own = self.both(exists, own);
        let mut rows: Vec<i64> = line.strides.iter().map(|stride| 2 * stride).collect();
        rows[..line.stages()].fill(0);
        let (ptr, base) = self.shared_pointer(step.space, &step.layout, slot, &rows);
        let offset = (base + 2 * line.first) as i32;
        let point = self.b.load(ptr, offset, 2, Cache::Default, Some(own));
        let mut point = Cx { re: point[0], im: point[1] };
        let mut sum = self.b.cadd(point, sum);
        if line.part.halved() {
            // The sum of all points is that of the even half alone.
            let zero = self.b.float(self.real, 0.0);
            [point, sum] = [point, sum].map(|x| self.of_half(x, Cx { re: zero, im: zero }));
        }
        self.b.store(ptr, offset, &[sum.re, sum.im], Cache::Default, Some(own));
        point
    }
}

/// Real and imaginary part exchanged.
pub(super) fn swapped(x: Cx) -> Cx {
    Cx { re: x.im, im: x.re }
}
