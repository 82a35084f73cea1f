//! Moves pure instructions down to their first use where that shortens live ranges.
//!
//! An instruction between its place and its first use keeps its result live; moved down, it keeps those of its
//! arguments live that would else end at its old place. It moves if that costs fewer registers than it saves,
//! so that no move ever raises the number of live registers anywhere. Everything else keeps its order: loads
//! stay early to be under way, and butterflies stay together, since both of their arguments end there. The
//! order is that of the recursion that wrote the code, which is a good one (Frigo, *A Fast Fourier Transform
//! Compiler*, PLDI 1999, section 6).

use super::{registers, uses};
use crate::kernel::{Block, Inst, Kernel, Op, Type, Value};

/// Places in a block: those of the instructions as they stand are multiples of this, and what moves to before
/// an instruction takes the numbers below.
const STRIDE: u64 = 1 << 24;

/// No use known.
const NEVER: u64 = u64::MAX;

/// Moves pure instructions down to their first use where that lowers the number of live registers.
pub fn order(kernel: &mut Kernel) {
    let count = kernel.types.len();
    let mut places = Places {
        types: &kernel.types,
        first: vec![NEVER; count],
        last: vec![0; count],
        home: vec![false; count],
        free: vec![false; count],
        touched: Vec::new(),
    };
    places.block(&mut kernel.body, false);
}

/// What is known of each value in the block at hand.
struct Places<'k> {
    types: &'k [Type],
    /// Place of its first use.
    first: Vec<u64>,
    /// Place of its last use.
    last: Vec<u64>,
    /// Whether this block defines it.
    home: Vec<bool>,
    /// Whether it is a constant, which takes no register; for all blocks.
    free: Vec<bool>,
    /// Values whose entries are to be reset after the block.
    touched: Vec<Value>,
}

impl Places<'_> {
    /// `turns`: the block is run again and again, so that what comes from outside is live all through it.
    fn block(&mut self, block: &mut Block, turns: bool) {
        for inst in &mut block.insts {
            if let (Op::Const(_), [result]) = (inst.op, &inst.results[..]) {
                self.free[result.0 as usize] = true;
            }
            let turns = turns || inst.op == Op::Loop;
            inst.blocks.iter_mut().for_each(|inner| self.block(inner, turns));
        }
        for &value in block.params.iter().chain(block.insts.iter().flat_map(|inst| &inst.results)) {
            self.home[value.0 as usize] = true;
            self.touched.push(value);
        }
        let end = (block.insts.len() as u64 + 1) * STRIDE;
        block.yields.iter().for_each(|&value| self.used(value, end));
        let mut moved_before = vec![0; block.insts.len() + 2];
        let mut keys = vec![0; block.insts.len()];
        for (i, inst) in block.insts.iter().enumerate().rev() {
            let place = self.place(inst, (i as u64 + 1) * STRIDE, turns, &mut moved_before);
            keys[i] = place;
            inst.args.iter().for_each(|&arg| self.used(arg, place));
            for inner in &inst.blocks {
                uses(inner, &mut |value| self.used(value, place));
            }
        }
        let mut insts: Vec<(u64, Inst)> = keys.into_iter().zip(block.insts.drain(..)).collect();
        insts.sort_unstable_by_key(|(place, _)| *place);
        block.insts.extend(insts.into_iter().map(|(_, inst)| inst));
        for value in self.touched.drain(..) {
            let i = value.0 as usize;
            (self.first[i], self.last[i], self.home[i]) = (NEVER, 0, false);
        }
    }

    /// Where an instruction goes, all its users being placed.
    fn place(&self, inst: &Inst, here: u64, turns: bool, moved_before: &mut [u64]) -> u64 {
        let [result] = inst.results[..] else { return here };
        let target = self.first[result.0 as usize];
        if !inst.op.is_pure() || target == NEVER {
            return here;
        }
        let saved = if self.free[result.0 as usize] { 1 } else { registers(self.types[result.0 as usize]) };
        let ends = |arg: &&Value| {
            let i = arg.0 as usize;
            let stays = self.last[i] >= target || self.free[i] || (turns && !self.home[i]);
            !stays
        };
        let cost: u32 = inst.args.iter().filter(ends).map(|arg| registers(self.types[arg.0 as usize])).sum();
        if cost >= saved {
            return here;
        }
        // Users that have moved themselves stand below the instruction that they moved to.
        let anchor = target.next_multiple_of(STRIDE);
        let count = &mut moved_before[(anchor / STRIDE) as usize];
        *count += 1;
        anchor - *count
    }

    fn used(&mut self, value: Value, place: u64) {
        let i = value.0 as usize;
        self.first[i] = self.first[i].min(place);
        self.last[i] = self.last[i].max(place);
        self.touched.push(value);
    }
}
