//! What the languages share: constants by value, and what none but one has.

pub(super) use crate::kernel::each_inst;
use crate::kernel::{Ability, Inst, Kernel, Op, Value};

/// Appends formatted text. Writing to a `String` cannot fail.
macro_rules! put {
    ($out:expr, $($arg:tt)*) => {{
        use std::fmt::Write as _;
        let _ = write!($out, $($arg)*);
    }};
}
pub(super) use put;

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

/// Where an operation is to be had that PTX alone has; `None` for all others.
pub(super) const fn only_in_ptx(op: Op) -> Option<&'static str> {
    match op.ability() {
        // A hint.
        _ if matches!(op, Op::BulkPrefetch { .. }) => None,
        Some(Ability::Clusters) => Some("PTX for sm_90 has clusters"),
        Some(Ability::TransactionBarriers | Ability::BulkCopies) => Some("PTX for sm_90 has bulk copies"),
        Some(Ability::Pairs) => Some("PTX has it"),
        Some(Ability::Matrices(_)) => Some("PTX for sm_80 has it"),
        Some(Ability::WaitingBlocks) => {
            Some("PTX has atomics that order blocks; in portable languages they order nothing")
        }
        Some(Ability::EarlyLaunches) => Some("PTX for sm_90 has launches that begin early"),
        Some(Ability::Shuffles) | None => None,
    }
}

/// Whether an instruction does no more to 16-bit numbers than to move and convert them.
pub(super) fn only_keeps(kernel: &Kernel, inst: &Inst) -> bool {
    let real = |&value: &Value| kernel.ty(value).is_float();
    match inst.op {
        Op::Load { .. } | Op::Store { .. } | Op::Select | Op::Const(_) | Op::Loop => true,
        Op::Convert => inst.args.iter().chain(&inst.results).all(real),
        _ => false,
    }
}
