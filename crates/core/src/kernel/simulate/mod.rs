//! Runs a kernel on the processor. What an operation does here is what it means; emitters must print code that
//! does the same.
//!
//! **How it runs.** Clusters run one after another in order of index, or against it ([`Options::falling`]); all threads of one cluster run in step,
//! instruction by instruction, with a mask for what branches and loops turn off. Each SSA value is one column
//! over the threads. A kernel is correct only if its result does not depend on that order, so every access to
//! memory is checked against the accesses that came before it: two accesses of different threads to one element,
//! at least one of them a write, must be ordered by the kernel's own synchronisation, or [`Fault::Race`] is
//! reported, even between threads of one subgroup.
//!
//! **What orders accesses.**
//! - [`Op::Barrier`](super::Op::Barrier): the threads of one block. All threads of the block must reach it.
//! - [`Op::ClusterArrive`](super::Op::ClusterArrive) and [`Op::ClusterWait`](super::Op::ClusterWait): what came
//!   before the arrival, against what comes after the wait, for the whole cluster; a relaxed arrival orders
//!   nothing, but that a barrier's set-up before a [`Op::BarrierInitFence`](super::Op::BarrierInitFence) is known.
//!   Shared memory of another block may be touched only after a first cluster barrier (the block may
//!   not have started) and before a last one (it may have exited), relaxed or not.
//! - Transaction barriers: what a thread did before it arrived (and what its block did before that block's last
//!   barrier) comes before what a thread does after it waited for that phase. An asynchronous store or bulk load
//!   is complete for a thread that waited for its phase, and after a block or cluster barrier for the others.
//!   Because threads run in step, a wait must be satisfied by what stands before it in the program; otherwise it
//!   is a [`Fault::Deadlock`].
//! - Atomic operations, between clusters: an acquire ([`Op::AtomicAdd`](super::Op::AtomicAdd),
//!   [`Op::AtomicLoad`](super::Op::AtomicLoad), [`Op::CounterWait`](super::Op::CounterWait)) sees what a block
//!   released to the same counter by [`Op::AtomicAdd`](super::Op::AtomicAdd) or
//!   [`Op::CounterAdd`](super::Op::CounterAdd), which is what that block did before its last barrier, and what it
//!   had acquired. Atomic accesses themselves never race. As clusters run one after another, none can wait for
//!   one that has not run: that is a [`Fault::Deadlock`].
//!
//! **Bulk copies.** A bulk store reads shared memory until its thread waits for its group; an ordinary store
//! that it reads needs [`Op::AsyncFence`](super::Op::AsyncFence) by the thread that stored, and then a barrier.
//! Bulk groups must be waited for before the block ends.
//!
//! **Numbers.** Arithmetic rounds in the value's type. Integers wrap. Division by zero and shifts by the width
//! of the type or more are [`Fault::Undefined`]. Conversion of floats to integers rounds to nearest even and
//! saturates; of integers to wider ones, extends by the source's sign.

mod access;
mod arith;
mod bulk;
mod code;
mod column;
mod count;
mod exec;
mod fault;
mod limits;
mod memory;
mod order;
mod sparse;
mod sync;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_counters;
#[cfg(test)]
mod tests_order;
#[cfg(test)]
mod tests_sync;
#[cfg(test)]
mod tests_values;
mod warp;

pub use count::Report;
pub use fault::{Fault, Site, Touch};
pub use sparse::Pages;

use super::{Kernel, Type};
use crate::target::Limits;

/// The content of one global buffer.
#[derive(Debug, Clone, PartialEq)]
pub enum Memory {
    /// Single precision.
    F32(Vec<f32>),
    /// Double precision.
    F64(Vec<f64>),
    /// Half precision.
    F16(Vec<half::f16>),
    /// bfloat16.
    Bf16(Vec<half::bf16>),
    /// Unsigned 32-bit integers.
    U32(Vec<u32>),
    /// Unsigned 64-bit integers.
    U64(Vec<u64>),
    /// Signed 32-bit integers.
    I32(Vec<i32>),
}

impl Memory {
    /// Zeros of an element type; `None` for predicates and pointers, which are never stored.
    pub fn zeros(elem: Type, len: usize) -> Option<Self> {
        Some(match elem {
            Type::F32 => Self::F32(vec![0.0; len]),
            Type::F64 => Self::F64(vec![0.0; len]),
            Type::F16 => Self::F16(vec![half::f16::ZERO; len]),
            Type::Bf16 => Self::Bf16(vec![half::bf16::ZERO; len]),
            Type::U32 => Self::U32(vec![0; len]),
            Type::U64 => Self::U64(vec![0; len]),
            Type::I32 => Self::I32(vec![0; len]),
            Type::Bool | Type::Ptr(_) => return None,
        })
    }

    /// Type of an element.
    pub fn elem(&self) -> Type {
        match self {
            Self::F32(_) => Type::F32,
            Self::F64(_) => Type::F64,
            Self::F16(_) => Type::F16,
            Self::Bf16(_) => Type::Bf16,
            Self::U32(_) => Type::U32,
            Self::U64(_) => Type::U64,
            Self::I32(_) => Type::I32,
        }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        match self {
            Self::F32(v) => v.len(),
            Self::F64(v) => v.len(),
            Self::F16(v) => v.len(),
            Self::Bf16(v) => v.len(),
            Self::U32(v) => v.len(),
            Self::U64(v) => v.len(),
            Self::I32(v) => v.len(),
        }
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// One global buffer: its content, and which elements hold something.
#[derive(Debug, Clone)]
pub struct GlobalBuffer {
    /// The elements.
    pub data: Memory,
    /// For each element, whether it was ever written; reading one that was not is a fault.
    pub written: Vec<bool>,
    /// Of a buffer that is too long to be kept, the part that is.
    pub pages: Option<Pages>,
}

impl GlobalBuffer {
    /// A buffer that holds `data`.
    pub fn initialised(data: Memory) -> Self {
        let written = vec![true; data.len()];
        Self { data, written, pages: None }
    }

    /// A buffer of `len` elements that hold nothing yet; `None` for predicates and pointers.
    pub fn unwritten(elem: Type, len: usize) -> Option<Self> {
        Some(Self { data: Memory::zeros(elem, len)?, written: vec![false; len], pages: None })
    }

    /// A buffer of any length, of which only what is loaded or stored exists; before that, each element holds what
    /// `fill` says. Bulk copies and atomic operations do not take it. `None` but for F32 and F64.
    pub fn sparse(elem: Type, fill: fn(u64) -> f64) -> Option<Self> {
        let pages = matches!(elem, Type::F32 | Type::F64).then(|| Pages::new(elem, fill));
        Some(Self { data: Memory::zeros(elem, 0)?, written: Vec::new(), pages: Some(pages?) })
    }

    /// Index and value of each element that exists of a buffer made by [`Self::sparse`].
    pub fn touched(&self) -> Vec<(u64, f64)> {
        let Some(pages) = &self.pages else { return Vec::new() };
        let value = |place: usize| match &self.data {
            Memory::F32(all) => f64::from(all[place]),
            Memory::F64(all) => all[place],
            _ => 0.0,
        };
        pages.elements().map(|(element, place)| (element, value(place))).collect()
    }
}

/// What to run of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Run at most so many blocks, whole clusters spread evenly from the first of the launch to the last. `None`: all. Counts are of
    /// the blocks that ran ([`Report::blocks`]).
    pub sample_blocks: Option<u64>,
    /// Run the blocks with the highest index first: hardware promises no order.
    pub falling: bool,
}

/// Runs a launch on `buffers`, one for each of the kernel's buffers in order. A buffer keeps its content and may
/// be handed to the next launch.
///
/// # Errors
///
/// The first fault found. The buffers then hold what was written so far.
pub fn simulate(
    kernel: &Kernel,
    limits: &Limits,
    buffers: &mut [&mut GlobalBuffer],
) -> Result<Report, Fault> {
    simulate_with(kernel, limits, buffers, &Options::default())
}

/// As [`simulate`], but runs only what `options` say.
///
/// # Errors
///
/// The first fault found.
pub fn simulate_with(
    kernel: &Kernel,
    limits: &Limits,
    buffers: &mut [&mut GlobalBuffer],
    options: &Options,
) -> Result<Report, Fault> {
    limits::check(kernel, limits)?;
    limits::check_buffers(kernel, buffers)?;
    let mut machine = exec::Machine::new(kernel, limits, buffers);
    let outcome = machine.launch(options);
    let report = machine.finish(buffers);
    outcome.map(|()| report)
}
