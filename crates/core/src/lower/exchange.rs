//! The layout of a tile in shared memory between two layouts in registers: an order of the digits with padded
//! strides, chosen by counting bank conflicts; and the way from one to the other.

use super::digits::Digits;
use super::layout::Layout;
use super::writes::Write;
use super::{Held, Lowering};
use crate::kernel::{Cache, Space};

/// A shared-memory layout: stride of each digit in complex elements, and the elements it spans.
#[derive(Debug, Clone, PartialEq)]
pub struct SharedLayout {
    /// Stride of each digit of the tile.
    pub strides: Vec<i64>,
    /// Elements from the first to the last, padding included.
    pub len: u32,
    /// Wavefronts over the fewest possible, of the warps that were counted.
    pub conflicts: f64,
}

/// Bytes of all banks together: 32 banks of 4 bytes.
pub(super) const BANK_ROW: u64 = 128;

/// Bytes that rows between blocks are multiples of where they are whole, and at whose multiples others start.
const REMOTE_ROW: u64 = 64;
const REMOTE_START: u64 = 16;

/// Threads of a block, bytes of an element, and elements that the array can have.
pub type Bounds = (u32, u64, u32);

/// Chooses the layout with the fewest conflicts; of equals, the smallest.
pub fn choose(digits: &Digits, write: &Layout, read: &Layout, bounds: Bounds) -> SharedLayout {
    let mut orders = orders(digits, read);
    for order in self::orders(digits, write) {
        if !orders.contains(&order) {
            orders.push(order);
        }
    }
    best(digits, &orders, [write, read], bounds, 1)
}

/// The same for what the blocks of a cluster write for each other, where what a warp sends is to travel in whole rows. As the
/// reader's threads follow each other, which then meet no bank twice, where the rows that this leaves are whole; else as the
/// writer's do, with pads for the reader. 32 x 32 x 32 points take 1.03 copies so on an H200, 1.06 with rows that start anywhere, and
/// 3.5 where their words travel one by one; 8192 x 8192, whose rows have 64 bytes, 2.60 by the reader and 2.69 by the writer, and
/// 150 x 150, of 120, 1.32 and 1.18.
pub(super) fn between(digits: &Digits, write: &Layout, read: &Layout, bounds: Bounds) -> SharedLayout {
    let bytes = bounds.1;
    let parts = |layout: &Layout| digits.parts(layout.register).into_iter().flatten();
    let stays = parts(write).chain(write.block).filter(|&d| Some(d) != read.block);
    let by_writer: Vec<usize> = write.by_threads().chain(stays).collect();
    let kept = by_writer.iter().take_while(|&&d| parts(read).all(|register| register != d));
    let row = kept.map(|&d| u64::from(digits.all[d].size)).product::<u64>() * bytes;
    let by_reader = || read.by_threads().chain(parts(read)).collect();
    let order = if row.is_multiple_of(REMOTE_ROW) { by_reader() } else { by_writer };
    best(digits, &[order], [write, read], bounds, (REMOTE_START / bytes).max(1) as i64)
}

/// The best of some orders of digits, with pads of so many elements or multiples.
fn best(
    digits: &Digits,
    orders: &[Vec<usize>],
    layouts: [&Layout; 2],
    (threads, complex_bytes, max_len): Bounds,
    unit: i64,
) -> SharedLayout {
    let mut best: Option<SharedLayout> = None;
    for order in orders {
        for padding in paddings(order.len(), unit) {
            let candidate = strided(digits, order, &padding);
            if candidate.len > max_len {
                continue;
            }
            let (actual, ideal) = layouts
                .iter()
                .map(|layout| wavefronts(digits, layout, &candidate.strides, threads, complex_bytes))
                .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
            let conflicts = actual as f64 / ideal as f64;
            let better = best.as_ref().is_none_or(|b| {
                conflicts < b.conflicts - 1e-9 || (conflicts < b.conflicts + 1e-9 && candidate.len < b.len)
            });
            if better {
                best = Some(SharedLayout { conflicts, ..candidate });
            }
        }
        if best.as_ref().is_some_and(|b| b.conflicts <= 1.0) {
            break;
        }
    }
    best.unwrap_or_else(|| strided(digits, &orders[0], &[]))
}

/// Digit orders worth trying: as a layout enumerates, with its register digit outermost or innermost.
fn orders(digits: &Digits, layout: &Layout) -> Vec<Vec<usize>> {
    let registers = digits.parts(layout.register);
    let registers = || registers.iter().flatten();
    let pair = || layout.pair.iter();
    let outer: Vec<usize> = layout.order.iter().chain(pair()).chain(registers()).copied().collect();
    let inner: Vec<usize> = registers().chain(pair()).chain(&layout.order).copied().collect();
    if outer == inner { vec![outer] } else { vec![outer, inner] }
}

/// No padding, then padding of 1, 2 or 4 units after one level, then of 1 or 2 after two.
fn paddings(levels: usize, unit: i64) -> impl Iterator<Item = Vec<(usize, i64)>> {
    let one = (1..levels).flat_map(move |level| [1, 2, 4].map(|pad| vec![(level, pad * unit)]));
    let two = (1..levels).flat_map(move |low| {
        (low + 1..levels).flat_map(move |high| {
            [(1, 1), (1, 2), (2, 1), (2, 2)].map(|(a, b)| vec![(low, a * unit), (high, b * unit)])
        })
    });
    std::iter::once(Vec::new()).chain(one).chain(two)
}

fn strided(digits: &Digits, order: &[usize], padding: &[(usize, i64)]) -> SharedLayout {
    let mut strides = vec![0; digits.all.len()];
    let mut stride = 1_i64;
    let mut len = 1_i64;
    for (level, &d) in order.iter().enumerate() {
        stride += padding.iter().filter(|(at, _)| *at == level).map(|(_, pad)| pad).sum::<i64>();
        strides[d] = stride;
        len += (i64::from(digits.all[d].size) - 1) * stride;
        stride *= i64::from(digits.all[d].size);
    }
    SharedLayout { strides, len: len as u32, conflicts: 1.0 }
}

/// Wavefronts (actual, ideal) of a layout's accesses: those of a first, a middle and a last full warp, for
/// every slot. The hardware serves 8-byte accesses by half-warps and 16-byte accesses by quarters.
pub(super) fn wavefronts(
    digits: &Digits,
    layout: &Layout,
    strides: &[i64],
    threads: u32,
    complex_bytes: u64,
) -> (u64, u64) {
    let lanes = (BANK_ROW / complex_bytes) as u32;
    let groups = layout.groups(digits);
    let stride_of: Vec<i64> = layout.order.iter().map(|&d| strides[d]).collect();
    let sizes: Vec<u32> = layout.order.iter().map(|&d| digits.all[d].size).collect();
    let address = |group: u32| {
        let mut rest = group;
        let mut sum = 0;
        for (size, stride) in sizes.iter().zip(&stride_of) {
            sum += i64::from(rest % size) * stride;
            rest /= size;
        }
        sum as u64
    };
    let (mut actual, mut ideal) = (0, 0);
    let width = threads.min(groups);
    for start in [0, width / 2 / lanes * lanes, (width.saturating_sub(1)) / lanes * lanes] {
        let mut per_bank = vec![0_u64; lanes as usize];
        for group in start..(start + lanes).min(width) {
            per_bank[(address(group) % u64::from(lanes)) as usize] += 1;
        }
        actual += per_bank.iter().copied().max().unwrap_or(0);
        ideal += 1;
    }
    (actual, ideal)
}

impl Lowering<'_> {
    /// The block's own array in shared memory, of so many reals at least: that of the pass before it in the same launch, where
    /// there is one.
    pub(super) fn block_array(&mut self, len: u32) -> Space {
        let spare = self.spare;
        let space =
            *self.shared.get_or_insert_with(|| spare.unwrap_or_else(|| self.b.shared("tile", self.real, 0)));
        self.b.grow_shared(space, len);
        space
    }

    /// Moves the tile from one layout to another through shared memory.
    pub(super) fn exchange(&mut self, held: &Held, from: &Layout, to: &Layout) -> Held {
        let bytes = self.pass.precision.complex_bytes();
        let max_len = u64::from(self.shared_limit) / bytes;
        let shared = choose(&self.digits, from, to, (self.threads.count, bytes, max_len as u32));
        self.conflicts = self.conflicts.max(shared.conflicts);
        let untouched = self.cluster.is_some() && self.exchanges == 0 && !self.staged(false);
        if self.shared.is_some() && !untouched {
            // The block may still be reading what the last exchange left here.
            self.b.barrier();
        }
        self.exchanges += 1;
        let space = self.block_array(2 * shared.len);
        let strides: Vec<i64> = shared.strides.iter().map(|stride| 2 * stride).collect();
        for (slot, group) in held.iter().enumerate() {
            if let Some(stage) = self.late_in_twos() {
                self.exchange_in_twos(stage, from, slot as u32, group, (space, &strides));
                continue;
            }
            let group = self.leaving(from, slot as u32, group);
            let exists = self.exists(from, slot as u32);
            let (ptr, base) = self.shared_pointer(space, from, slot as u32, &strides);
            let at = |r| (base + self.digits.at_register(from.register, &strides, r)) as i32;
            let writes = group.iter().enumerate();
            let writes =
                writes.map(|(r, x)| Write { ptr, offset: at(r), values: vec![x.re, x.im], on: exists });
            let writes: Vec<Write> = writes.collect();
            self.write_all(writes, Cache::Default);
        }
        self.late = None;
        self.b.barrier();
        self.exchanged();
        self.ask_ahead();
        self.read_shared(space, to, &strides)
    }
}
