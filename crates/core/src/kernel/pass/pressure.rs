//! How many registers a kernel needs at least, as it is ordered.

use super::registers;
use crate::kernel::{Block, Kernel, Op, Value};

/// 32-bit registers that are live at once, at most: two for a 64-bit value, none for a predicate or for a
/// constant, which emitters write in place. The device's compiler reorders, so this is an estimate.
pub fn max_live(kernel: &Kernel) -> u32 {
    let count = kernel.types.len();
    let mut ranges = Ranges { first: vec![0; count], last: vec![0; count], free: vec![true; count], at: 0 };
    ranges.block(&kernel.body, &mut Vec::new());
    let mut change = vec![0_i64; ranges.at + 2];
    for (i, &ty) in kernel.types.iter().enumerate().filter(|(i, _)| !ranges.free[*i]) {
        let (first, last) = (ranges.first[i], ranges.last[i].max(ranges.first[i] + 1));
        change[first] += i64::from(registers(ty));
        change[last] -= i64::from(registers(ty));
    }
    let live = change.iter().scan(0, |live, change| {
        *live += change;
        Some(*live)
    });
    live.max().unwrap_or(0) as u32
}

/// From where to where each value is live, in instruction numbers.
struct Ranges {
    first: Vec<usize>,
    last: Vec<usize>,
    /// Takes no register.
    free: Vec<bool>,
    at: usize,
}

impl Ranges {
    /// Walks a block and puts the values that it uses into `used`.
    fn block(&mut self, block: &Block, used: &mut Vec<Value>) {
        self.define(&block.params);
        for inst in &block.insts {
            self.touch(&inst.args, used);
            for inner in &inst.blocks {
                self.at += 1;
                let (start, mut inside) = (self.at, Vec::new());
                self.block(inner, &mut inside);
                if inst.op == Op::Loop {
                    // What a turn of the loop uses from outside, the next turn uses again.
                    for value in inside.iter().filter(|v| self.first[v.0 as usize] < start) {
                        self.last[value.0 as usize] = self.at;
                    }
                }
                used.append(&mut inside);
            }
            if !matches!(inst.op, Op::Const(_)) {
                self.define(&inst.results);
            }
            self.at += 1;
        }
        self.touch(&block.yields, used);
    }

    fn define(&mut self, values: &[Value]) {
        for value in values {
            self.first[value.0 as usize] = self.at;
            self.free[value.0 as usize] = false;
        }
    }

    fn touch(&mut self, values: &[Value], used: &mut Vec<Value>) {
        for value in values {
            self.last[value.0 as usize] = self.at;
            used.push(*value);
        }
    }
}
