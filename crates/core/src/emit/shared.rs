//! What the languages share: constants by value, and a look at every instruction.

use crate::kernel::{Block, Inst, Kernel, Op, Value};

/// Appends formatted text. Writing to a `String` cannot fail.
macro_rules! put {
    ($out:expr, $($arg:tt)*) => {{
        use std::fmt::Write as _;
        let _ = write!($out, $($arg)*);
    }};
}
pub(super) use put;

/// Calls `see` with every instruction, nested ones included, in the order of the text.
pub(super) fn each_inst<'k>(block: &'k Block, see: &mut impl FnMut(&'k Inst)) {
    for inst in &block.insts {
        see(inst);
        for inner in &inst.blocks {
            each_inst(inner, see);
        }
    }
}

/// The bits of every constant, by value.
pub(super) fn constants(kernel: &Kernel) -> Vec<Option<u64>> {
    let mut bits = vec![None; kernel.types.len()];
    each_inst(&kernel.body, &mut |inst| {
        if let (Op::Const(x), Some(&Value(result))) = (inst.op, inst.results.first()) {
            bits[result as usize] = Some(x);
        }
    });
    bits
}
