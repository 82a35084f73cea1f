//! A tile as mixed-radix digits, and layouts: which element of the tile lies in which register of which thread.
//!
//! Every axis of length `N = r1 r2 .. rs` is cut into digits: input index `n = sum n_i N/(r1..ri)`, output index
//! `k = sum k_i r1..r(i-1)`. Stage i turns digit `n_i` into digit `k_i` where it stands, so a tile is an array
//! over digits, and every address (source, destination, shared memory, table) is linear in them. Batches are
//! digits too, which no stage transforms. That is why one lowering serves rows, columns, planes and volumes.

use crate::kernel::{Builder, Op, Type, Value};
use crate::pass::{Axis, Method, Pass, PassDim};

use super::dealt::Reflected;
use super::tile::Tile;

/// One digit of the tile with its weight in every linear map.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Digit {
    /// Values it takes.
    pub size: u32,
    /// Weight in the source address.
    pub is: i64,
    /// Weight in the destination address.
    pub os: i64,
    /// Weight in the index of the pass's load factor.
    pub load_index: i64,
    /// Weight in the index of the pass's store factor.
    pub store_index: i64,
    /// Weight in the twiddle's x (repeated dimensions).
    pub twiddle: i64,
    /// Axis it belongs to, or `None` for a repeated dimension.
    pub axis: Option<usize>,
    /// Repeated dimension it belongs to.
    pub batch: Option<usize>,
    /// Weight in the index of the pass's filter.
    pub filter: i64,
    /// Weight in the axis's index before its stages.
    pub input: i64,
    /// Dimension of the problem that it is of.
    pub of: Option<u16>,
    /// Weights in that dimension's index, where elements are read and where they are written.
    pub counts: [i64; 2],
    /// Weight in the axis's index once its stages are done.
    pub output: i64,
    /// Weight in the repeated dimension's index.
    pub number: i64,
}

impl Digit {
    /// One value, and no weight anywhere.
    pub const STILL: Self = Self {
        size: 1,
        is: 0,
        os: 0,
        load_index: 0,
        store_index: 0,
        twiddle: 0,
        axis: None,
        batch: None,
        filter: 0,
        input: 0,
        of: None,
        counts: [0; 2],
        output: 0,
        number: 0,
    };

    /// A whole axis as one digit.
    fn of_axis(axis: &Axis, index: usize) -> Self {
        Self {
            axis: Some(index),
            batch: None,
            twiddle: 0,
            input: 1,
            output: 1,
            number: 0,
            ..Self::of_batch(&axis.dim, 0, axis.dim.n)
        }
    }

    fn of_batch(dim: &PassDim, index: usize, size: u64) -> Self {
        Self {
            size: size as u32,
            is: dim.is,
            os: dim.os,
            load_index: dim.load_index as i64,
            store_index: dim.store_index as i64,
            twiddle: dim.twiddle as i64,
            axis: None,
            batch: Some(index),
            filter: dim.filter,
            input: 0,
            of: dim.of,
            counts: dim.counts.map(|weight| weight as i64),
            output: 0,
            number: 1,
        }
    }
}

/// The digits of a tile and where each axis's stages stand among them.
#[derive(Debug, Clone)]
pub struct Digits {
    /// All digits.
    pub all: Vec<Digit>,
    /// Digit of each stage of each axis, in order.
    pub stages: Vec<Vec<usize>>,
    /// The digit that continues a stage's where a cluster has cut it in two: both lie in registers in that stage.
    pub upper: Vec<Option<usize>>,
    /// Where the rank is reflected.
    pub reflected: Option<Reflected>,
}

impl Digits {
    /// Cuts a pass's tile.
    pub fn of(pass: &Pass, tile: &Tile) -> Self {
        let mut all = Vec::new();
        let mut stages = Vec::new();
        for (index, axis) in pass.axes.iter().enumerate() {
            let points = axis.method.points();
            let mut done = 1;
            let mut own = Vec::new();
            if matches!(axis.method, Method::Coprime(_)) {
                // On the way in and out the axis is one number: what is between has digits of its own.
                all.push(Digit::of_axis(axis, index));
            }
            let mut digits = axis.digits().iter();
            // The digit of the index that stages are in, its points, and those that are done.
            let (mut digit, mut size, mut inside) = (&axis.dim, points, 1);
            for &radix in axis.method.radices() {
                if let Some(next) = (done == 1 || inside == size).then(|| digits.next()).flatten() {
                    let only = axis.digits.is_empty();
                    (digit, size, inside) = (next, if only { points } else { next.n }, 1);
                }
                let input = (size / (inside * u64::from(radix))) as i64;
                own.push(all.len());
                all.push(Digit {
                    size: radix,
                    is: digit.is * input,
                    os: digit.os * inside as i64,
                    load_index: digit.load_index as i64 * input,
                    store_index: digit.store_index as i64 * inside as i64,
                    twiddle: 0,
                    axis: Some(index),
                    batch: None,
                    filter: 0,
                    input: (points / (done * u64::from(radix))) as i64,
                    of: digit.of,
                    counts: [digit.counts[0] as i64 * input, digit.counts[1] as i64 * inside as i64],
                    output: done as i64,
                    number: 0,
                });
                inside *= u64::from(radix);
                done *= u64::from(radix);
            }
            stages.push(own);
        }
        for (index, (dim, &size)) in pass.batch.iter().zip(&tile.batch).enumerate() {
            if size > 1 {
                all.push(Digit::of_batch(dim, index, size));
            }
        }
        Self::new(all, stages)
    }

    /// Digits of which none is cut.
    pub fn new(all: Vec<Digit>, stages: Vec<Vec<usize>>) -> Self {
        let upper = vec![None; all.len()];
        Self { all, stages, upper, reflected: None }
    }

    /// Cuts a stage's digit, so that its upper part takes `size` values, and gives the upper part.
    pub fn cut(&mut self, digit: usize, size: u32) -> usize {
        let whole = self.all[digit];
        if whole.size == size {
            return digit;
        }
        let rest = whole.size / size;
        let scale = i64::from(rest);
        self.all[digit].size = rest;
        self.upper[digit] = Some(self.all.len());
        self.upper.push(None);
        self.all.push(Digit {
            size,
            is: whole.is * scale,
            os: whole.os * scale,
            load_index: whole.load_index * scale,
            store_index: whole.store_index * scale,
            twiddle: whole.twiddle * scale,
            filter: whole.filter * scale,
            input: whole.input * scale,
            output: whole.output * scale,
            number: whole.number * scale,
            counts: whole.counts.map(|weight| weight * scale),
            ..whole
        });
        self.all.len() - 1
    }

    /// Values that a stage's digit takes, both parts together.
    pub fn radix(&self, digit: usize) -> u32 {
        self.all[digit].size * self.upper[digit].map_or(1, |upper| self.all[upper].size)
    }

    /// A digit and the one that continues it.
    pub fn parts(&self, digit: Option<usize>) -> [Option<usize>; 2] {
        [digit, digit.and_then(|d| self.upper[d])]
    }

    /// What register r adds to a linear form of the tile.
    pub fn at_register(&self, digit: Option<usize>, weights: &[i64], r: usize) -> i64 {
        let Some(d) = digit else { return 0 };
        let size = self.all[d].size as usize;
        weights[d] * (r % size) as i64 + self.upper[d].map_or(0, |upper| weights[upper] * (r / size) as i64)
    }

    /// Elements of the tile.
    pub fn elements(&self) -> u32 {
        self.all.iter().map(|digit| digit.size).product()
    }

    /// One weight of every digit: a linear map of the tile.
    pub fn weights(&self, weight: impl Fn(&Digit) -> i64) -> Vec<i64> {
        self.all.iter().map(weight).collect()
    }

    /// Digits (but for some) from the fastest to the slowest by their strides.
    pub fn by_stride(&self, without: &[Option<usize>], strides: &[i64]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.all.len()).filter(|&d| !without.contains(&Some(d))).collect();
        order.sort_by_key(|&d| (strides[d].unsigned_abs(), std::cmp::Reverse(self.all[d].size)));
        order
    }

    /// Neighbouring elements, in runs without a gap, forward or backward, that consecutive threads touch in a layout.
    pub fn run(&self, order: &[usize], strides: &[i64]) -> u64 {
        let mut run = 1;
        for &d in order {
            if strides[d].unsigned_abs() != run {
                break;
            }
            run *= u64::from(self.all[d].size);
        }
        run
    }
}

/// Which element lies where: thread t holds, in slot i, the elements whose digits in `order` (fastest first)
/// spell `t + threads i`, one for each value of the register digit. In a cluster, a block holds those whose block
/// digit is its rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// The digit that runs through a thread's registers, with the one that continues it.
    pub register: Option<usize>,
    /// The other digits, fastest first.
    pub order: Vec<usize>,
    /// The digit that spells the rank of the block in its cluster.
    pub block: Option<usize>,
    /// A digit that tells no threads apart: of what a thread holds, the slots that follow each other are its values.
    pub pair: Option<usize>,
}

/// A linear form at one slot: a part that depends on the thread and a constant.
#[derive(Debug, Clone, Copy)]
pub struct Linear {
    /// Part that depends on the thread; `None`: zero. Arithmetic wraps in its type.
    pub thread: Option<Value>,
    /// Constant part.
    pub constant: i64,
}

/// Layouts of one block: the thread's index and how many threads there are.
#[derive(Debug, Clone, Copy)]
pub struct Threads {
    /// Thread's index in its block.
    pub index: Value,
    /// Threads of the block.
    pub count: u32,
    /// Rank of the block in its cluster.
    pub rank: Option<Value>,
}

impl Layout {
    /// Its digits but for those of registers and blocks, fastest in memory first.
    pub fn fastest(&self) -> Vec<usize> {
        self.pair.iter().chain(&self.order).copied().collect()
    }

    /// Slots that follow each other in which a thread's groups lie side by side.
    pub fn together(&self, digits: &Digits) -> u32 {
        self.pair.map_or(1, |d| digits.all[d].size)
    }

    /// Groups of the register digit's elements in the tile; of those that lie side by side, the first.
    pub fn groups(&self, digits: &Digits) -> u32 {
        self.order.iter().map(|&d| digits.all[d].size).product()
    }

    /// Groups that a thread holds.
    pub fn slots(&self, digits: &Digits, threads: u32) -> u32 {
        self.together(digits) * self.groups(digits).div_ceil(threads)
    }

    /// Elements of a group.
    pub fn registers(&self, digits: &Digits) -> u32 {
        self.register.map_or(1, |d| digits.radix(d))
    }

    /// Value of a linear form in integers of type `ty`, given by one weight for each digit, for the group in slot
    /// `slot` (without the register digit).
    pub fn linear(
        &self,
        b: &mut Builder,
        digits: &Digits,
        threads: Threads,
        slot: u32,
        weights: &[i64],
        ty: Type,
    ) -> Linear {
        let mask = if ty == Type::U64 { u64::MAX } else { u64::from(u32::MAX) };
        let mut sum = Linear { thread: None, constant: 0 };
        if let Some(d) = self.pair {
            sum.constant += weights[d] * i64::from(slot % digits.all[d].size);
        }
        let slot = slot / self.together(digits);
        let groups = self.groups(digits);
        let mut at = 1_u32;
        let mut next = 0;
        while next < self.order.len() {
            let coefficient = weights[self.order[next]];
            let mut size = digits.all[self.order[next]].size;
            next += 1;
            // Digits that continue each other are one number: no need to take it apart.
            while next < self.order.len() {
                let d = self.order[next];
                if weights[d] != coefficient * i64::from(size) {
                    break;
                }
                size *= digits.all[d].size;
                next += 1;
            }
            if coefficient != 0 && size > 1 {
                let part = run_value(b, threads, slot, Run { at, size, groups });
                sum.constant += coefficient * part.constant;
                if let Some(value) = part.thread {
                    let value = b.convert(ty, value);
                    let term = b.mul_const(value, coefficient as u64 & mask);
                    sum.thread = Some(sum.thread.map_or(term, |sum| b.add(sum, term)));
                }
            }
            at *= size;
        }
        if let (Some(d), Some(rank)) = (self.block, threads.rank)
            && weights[d] != 0
        {
            let spelled = self.spelled(b, digits, threads, slot, rank);
            let spelled = b.convert(ty, spelled);
            let term = b.mul_const(spelled, weights[d] as u64 & mask);
            sum.thread = Some(sum.thread.map_or(term, |sum| b.add(sum, term)));
        }
        sum
    }

    /// The digit that a block's rank spells, for the group in a slot.
    fn spelled(&self, b: &mut Builder, digits: &Digits, threads: Threads, slot: u32, rank: Value) -> Value {
        let Some(Reflected { block, low }) = digits.reflected.filter(|own| Some(own.block) == self.block)
        else {
            return rank;
        };
        let mut weights = vec![0; digits.all.len()];
        weights[low] = 1;
        let at = self.linear(b, digits, threads, slot, &weights, Type::U32);
        let low = at.thread.unwrap_or_else(|| b.u32(0));
        let low = b.add_const(low, at.constant as u64);
        Reflected::flipped(b, rank, low, digits.all[block].size)
    }
}

/// Digits that read as one number: `(group / at) % size` of `groups`.
#[derive(Clone, Copy)]
struct Run {
    at: u32,
    size: u32,
    groups: u32,
}

/// `((t + threads slot) / at) % size`, with as much of it constant as the sizes allow.
fn run_value(b: &mut Builder, threads: Threads, slot: u32, run: Run) -> Linear {
    let Run { at, size, groups } = run;
    let count = threads.count;
    let (t, max) = (threads.index, u64::from(count) - 1);
    if at % count == 0 {
        return Linear { thread: None, constant: i64::from(count * slot / at % size) };
    }
    if count.is_multiple_of(at) {
        let step = count / at;
        let quotient = b.div_const(t, at, max);
        if size % step == 0 {
            return Linear { thread: Some(quotient), constant: i64::from(step * slot % size) };
        }
        if step.is_multiple_of(size) {
            return Linear { thread: Some(b.rem_const(quotient, size, max / u64::from(at))), constant: 0 };
        }
    }
    let base = count * slot;
    // The last run needs no remainder: groups beyond the tile are predicated off.
    let whole = at * size == groups;
    if base.is_multiple_of(at) {
        let steps = base / at;
        let (quotient, max) = (b.div_const(t, at, max), max / u64::from(at));
        if whole {
            return Linear { thread: Some(quotient), constant: i64::from(steps) };
        }
        let (rest, steps) = (b.rem_const(quotient, size, max), steps % size);
        let most = max.min(u64::from(size) - 1);
        if most + u64::from(steps) < u64::from(size) {
            return Linear { thread: Some(rest), constant: i64::from(steps) };
        }
        // Round once at most: below 0 is a number too large to be the lesser one.
        let index = b.add_const(rest, u64::from(steps));
        let turned = b.add_const(index, u64::from(size.wrapping_neg()));
        return Linear { thread: Some(b.binary(Op::Min, index, turned)), constant: 0 };
    }
    let max = max + u64::from(base);
    let group = b.add_const(t, u64::from(base));
    let quotient = b.div_const(group, at, max);
    let value = if whole { quotient } else { b.rem_const(quotient, size, max / u64::from(at)) };
    Linear { thread: Some(value), constant: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pass::PassDim;

    #[test]
    fn linear_forms_of_far_strides_are_whole_in_64_bits() {
        let (far, down) = (120_000_000, -7_000_000_000);
        let digit = |stride, size| Digit::of_batch(&PassDim::new(size, stride, 0), 0, size);
        let digits = Digits::new(vec![digit(far, 37), digit(down, 5)], Vec::new());
        let layout = Layout { register: None, order: vec![0, 1], block: None, pair: None };
        let weights = digits.weights(|digit| digit.is);
        for thread in 0..64 {
            for slot in 0..layout.slots(&digits, 64) {
                let mut b = Builder::new("far", 64, 1);
                let threads = Threads { index: b.u32(thread), count: 64, rank: None };
                let got = layout.linear(&mut b, &digits, threads, slot, &weights, Type::U64);
                let part = got.thread.map_or(Some(0), |value| b.constant(value)).expect("all is constant");
                let group = i64::from(thread + 64 * slot);
                if group < 37 * 5 {
                    assert_eq!(part as i64 + got.constant, group % 37 * far + group / 37 * down, "{group}");
                }
            }
        }
    }
}
