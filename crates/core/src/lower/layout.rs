//! Layouts: which element of a tile lies in which register of which thread, and what a linear map of its digits is there.

use crate::kernel::{Builder, Op, Type, Value};
use crate::pass::{Operand, Pass};
use crate::problem::Format;

use super::dealt::Reflected;
use super::digits::Digits;

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

    /// The same as threads follow each other: what a thread holds side by side comes last.
    pub fn by_threads(&self) -> impl Iterator<Item = usize> {
        self.order.iter().chain(&self.pair).copied()
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

/// Layout in which a tile is loaded or stored: that of the first or last stage where its threads touch whole sectors,
/// else the tile's own linear order, staged through shared memory.
pub(crate) fn edge(
    pass: &Pass,
    digits: &Digits,
    (register, block): (Option<usize>, Option<usize>),
    strides: &[i64],
    writes: bool,
) -> Layout {
    let [low, high] = digits.parts(register);
    let order = digits.by_stride(&[low, high, block], strides);
    let direct = Layout { register, order, block, pair: None };
    let bytes = pass.element_bytes(writes);
    let run = digits.run(&direct.order, strides) * bytes;
    let linear = digits.by_stride(&[block], strides);
    let whole = digits.run(&linear, strides) * bytes;
    // A sector has 32 bytes. A thread that owns a whole transform of one 16-byte access needs no
    // help; reads of split sectors are caught by the L1 cache, writes are not. An access of reals has four at most: of 8 x 8 in f16
    // rows that threads stored by themselves took 4.4 copies.
    let Operand { format, storage, .. } = if writes { pass.dst } else { pass.src };
    let access = match format {
        Format::Interleaved | Format::Planar => 16,
        Format::Real | Format::Apart(_) => (4 * storage.real_bytes()).min(16),
    };
    let own_run = register.is_some_and(|r| {
        let size = u64::from(digits.radix(r));
        strides[r] == 1 && size * bytes <= access && size.is_power_of_two()
    });
    let good = run >= 256 || (run >= 32 && (!writes || run.is_multiple_of(32))) || own_run;
    if good || whole <= run { direct } else { Layout { register: None, order: linear, block, pair: None } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lower::digits::Digit;
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
