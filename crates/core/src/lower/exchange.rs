//! The layout of a tile in shared memory between two layouts in registers: an order of the digits with padded
//! strides, chosen by counting bank conflicts; and the way from one to the other.

use super::digits::Digits;
use super::layout::Layout;
use super::writes::Write;
use super::{Held, Lowering};
use crate::kernel::Cache;

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

/// Chooses the layout with the fewest conflicts; of equals, the smallest.
pub fn choose(
    digits: &Digits,
    write: &Layout,
    read: &Layout,
    threads: u32,
    complex_bytes: u64,
    max_len: u32,
) -> SharedLayout {
    let mut best: Option<SharedLayout> = None;
    for order in orders(digits, write, read) {
        for padding in paddings(order.len()) {
            let candidate = strided(digits, &order, &padding);
            if candidate.len > max_len {
                continue;
            }
            let (actual, ideal) = [write, read]
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
    best.unwrap_or_else(|| strided(digits, &orders(digits, write, read)[0], &[]))
}

/// Digit orders worth trying: as the writer or the reader enumerates, with its register digit outermost or
/// innermost.
fn orders(digits: &Digits, write: &Layout, read: &Layout) -> Vec<Vec<usize>> {
    let mut all = Vec::new();
    for layout in [read, write] {
        let registers = digits.parts(layout.register);
        let registers = || registers.iter().flatten();
        let pair = || layout.pair.iter();
        let outer: Vec<usize> = layout.order.iter().chain(pair()).chain(registers()).copied().collect();
        let inner: Vec<usize> = registers().chain(pair()).chain(&layout.order).copied().collect();
        for order in [outer, inner] {
            if !all.contains(&order) {
                all.push(order);
            }
        }
    }
    all
}

/// No padding, then padding of 1, 2 or 4 elements after one level, then of 1 or 2 after two.
fn paddings(levels: usize) -> impl Iterator<Item = Vec<(usize, i64)>> {
    let one = (1..levels).flat_map(|level| [1, 2, 4].map(|pad| vec![(level, pad)]));
    let two = (1..levels).flat_map(move |low| {
        (low + 1..levels)
            .flat_map(move |high| [(1, 1), (1, 2), (2, 1), (2, 2)].map(|(a, b)| vec![(low, a), (high, b)]))
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
    /// Moves the tile from one layout to another through shared memory.
    pub(super) fn exchange(&mut self, held: &Held, from: &Layout, to: &Layout) -> Held {
        let bytes = self.pass.precision.complex_bytes();
        let max_len = u64::from(self.shared_limit) / bytes;
        let shared = choose(&self.digits, from, to, self.threads.count, bytes, max_len as u32);
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
        self.read_shared(space, to, &strides)
    }
}
