//! How the blocks of a cluster share out an axis: where they can, frequencies together with their mirror images, so that of 32
//! neighbours 31 have theirs in the same block.

use crate::kernel::{Builder, Op, Value};
use crate::pass::Pass;

use super::cluster::Cut;
use super::digits::Digits;

/// A digit that ranks spell reflected: of the block of rank r it is r where the digit below it, which takes two values, is 0,
/// and the last but r where that is 1. So a block holds both a frequency and its mirror image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reflected {
    /// The digit that spells the rank.
    pub block: usize,
    /// The one below.
    pub low: usize,
}

impl Reflected {
    /// The digit of a block's rank, or the rank of a digit, among `size`, a power of two.
    pub fn flipped(b: &mut Builder, rank: Value, low: Value, size: u32) -> Value {
        let all = b.mul_const(low, u64::from(size) - 1);
        b.binary(Op::Xor, rank, all)
    }
}

/// How the blocks of a cluster share out an axis: a digit of its index spells the rank, and a block counts what it holds
/// without that digit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dealt {
    /// The axis.
    pub axis: usize,
    /// Weight of the digit in the axis's index.
    pub weight: u64,
    /// Blocks of the cluster.
    pub size: u64,
    /// Ranks spell it reflected by the digit below, which takes two values ([`Reflected`]).
    pub reflected: bool,
}

impl Dealt {
    /// How the axis is shared out whose digit spells the rank where a pass reads, or where it writes.
    pub fn of(pass: &Pass, digits: &Digits, cut: Cut, writes: bool) -> Option<Self> {
        let block = if writes { cut.after } else { cut.before };
        let digit = &digits.all[block];
        let axis = digit.axis?;
        let dim = &pass.axes[axis].dim;
        let weight = if writes { digit.os / dim.os } else { digit.is / dim.is };
        let reflected = digits.reflected.is_some_and(|own| own.block == block);
        Some(Self { axis, weight: weight.unsigned_abs(), size: u64::from(digit.size), reflected })
    }

    /// Indices below `count` that the first block holds, which holds the most.
    pub const fn held(&self, count: u64) -> u64 {
        let (turns, rest) = (count / (self.weight * self.size), count % (self.weight * self.size));
        turns * self.weight + if rest < self.weight { rest } else { self.weight }
    }

    /// Weight of a digit of the axis in what a block counts; 0 of the one that spells the rank.
    pub const fn own_weight(&self, weight: u64) -> u64 {
        if weight < self.weight {
            weight
        } else if weight == self.weight {
            0
        } else {
            weight / self.size
        }
    }

    /// How far indices lie apart in what a block counts that are so far apart; `None` where that depends on the index.
    pub(super) const fn own_distance(&self, by: i64) -> Option<i64> {
        let turn = (self.weight * self.size) as i64;
        if by % turn == 0 { Some(by / self.size as i64) } else { None }
    }

    /// The block that holds an index, at most `most`; of other numbers, which threads have that have nothing to do, some
    /// block of the cluster.
    pub(super) fn rank(&self, b: &mut Builder, index: Value, most: u64) -> Value {
        let above = b.div_const(index, self.weight as u32, most);
        let last = b.u32(self.size as u32 - 1);
        if self.size.is_power_of_two() {
            let digit = b.binary(Op::And, above, last);
            return self.flipped(b, index, most, digit);
        }
        let rank = b.rem_const(above, self.size as u32, most / self.weight);
        b.binary(Op::Min, rank, last)
    }

    /// The rank of an index's digit, or the digit of a rank: an index, at most `most`, says which half of the blocks' digits
    /// it is in.
    fn flipped(&self, b: &mut Builder, index: Value, most: u64, rank: Value) -> Value {
        if !self.reflected {
            return rank;
        }
        let half = b.div_const(index, (self.weight / 2) as u32, most);
        let one = b.u32(1);
        let low = b.binary(Op::And, half, one);
        Reflected::flipped(b, rank, low, self.size as u32)
    }

    /// What the block that holds an index, at most `most`, counts it as.
    pub(super) fn own(&self, b: &mut Builder, index: Value, most: u64) -> Value {
        let below = b.rem_const(index, self.weight as u32, most);
        let turn = b.div_const(index, (self.weight * self.size) as u32, most);
        let turns = b.mul_const(turn, self.weight);
        b.add(turns, below)
    }

    /// The index that a block counts as `own`, at most `most`.
    pub(super) fn index(&self, b: &mut Builder, own: Value, most: u64, rank: Value) -> Value {
        let below = b.rem_const(own, self.weight as u32, most);
        let turn = b.div_const(own, self.weight as u32, most);
        let above = b.mul_const(turn, self.size);
        let digit = self.flipped(b, own, most, rank);
        let above = b.add(above, digit);
        let above = b.mul_const(above, self.weight);
        b.add(above, below)
    }
}
