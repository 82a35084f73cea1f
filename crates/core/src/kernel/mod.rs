//! The kernel IR: one pass lowered for one device's limits.
//!
//! A [`Kernel`] is what one thread of a block does, in static single assignment form. It is straight-line code
//! with barriers; loops and branches are rare and structured. Values are scalars; an access to memory of 2 or 4
//! neighbouring elements is one instruction with 2 or 4 results or arguments, which is all that vectors are
//! needed for. Complex numbers do not exist here: the builder writes them as pairs.
//!
//! **Memory.** A kernel declares its global buffers and its shared arrays, each with an element type. A pointer
//! is made by [`Op::Addr`] from a buffer and an offset in elements, and every access has a constant offset in
//! elements beside it, because an address computed anew for each access costs more than a butterfly. The type of
//! a pointer says which array it points into ([`Type::Ptr`]), so targets without pointers (WGSL) print it as an
//! index. An access of `width` elements starts at a multiple of `width` from the start of the array.
//!
//! **Predication.** A predicated load that is off yields zeros and touches nothing; a predicated store that is
//! off writes nothing.
//!
//! **Order.** A block's threads see each other's accesses to shared memory across [`Op::Barrier`], which all
//! threads of the block reach. Blocks of a cluster see each other's across [`Op::ClusterArrive`] and
//! [`Op::ClusterWait`], or by transaction barriers ([`Op::BarrierWait`]). Blocks of a launch see each other's accesses
//! to global memory by counters: [`Op::CounterAdd`] releases what the block did before its last barrier,
//! [`Op::CounterWait`] acquires it. They may start in any order; one may wait only for those that have started for
//! certain, of which a ticket ([`Op::AtomicAdd`]) tells.
//!
//! What each operation does is defined by the simulator ([`simulate`]), the one consumer that runs a kernel.
//! Emitters take only a [`Verified`] kernel, which [`verify`] alone can make.

mod ability;
mod build;
mod complex;
mod fold;
mod hash;
mod op;
pub mod pass;
pub mod simulate;
mod table;
pub mod text;
pub mod verify;

pub use ability::Ability;
pub use build::Builder;
pub use complex::Cx;
pub use op::{Cache, Cmp, MmaShape, Op, ShuffleMode, Special};
pub use table::{Class, Effect, Info, Operand, Place};
pub use verify::{KernelError, Verified};

/// An SSA value: an index into [`Kernel::types`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);

/// Which array a pointer points into: an index into [`Kernel::buffers`] or [`Kernel::shared`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Space {
    /// A global buffer.
    Global(u16),
    /// A shared array of the thread's own block.
    Shared(u16),
    /// The same shared array of another block of the cluster.
    Remote(u16),
}

/// Type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Type {
    /// A predicate.
    Bool,
    /// Signed 32-bit integer, wrapping.
    I32,
    /// Unsigned 32-bit integer, wrapping.
    U32,
    /// Unsigned 64-bit integer, wrapping.
    U64,
    /// IEEE half precision.
    F16,
    /// bfloat16.
    Bf16,
    /// IEEE single precision.
    F32,
    /// IEEE double precision.
    F64,
    /// A pointer; arithmetic on it is in elements of its array.
    Ptr(Space),
}

impl Type {
    /// Bytes in memory. Predicates and pointers are never stored.
    pub const fn bytes(self) -> u32 {
        match self {
            Self::F16 | Self::Bf16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::U64 | Self::F64 => 8,
            Self::Bool | Self::Ptr(_) => 0,
        }
    }

    /// Whether it is a floating-point type.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::Bf16 | Self::F32 | Self::F64)
    }

    /// Whether it is an integer type.
    pub const fn is_int(self) -> bool {
        matches!(self, Self::I32 | Self::U32 | Self::U64)
    }
}

/// How a kernel uses a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Only read.
    Read,
    /// Only written.
    Write,
    /// Both.
    ReadWrite,
}

/// A global buffer that the launch binds.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Buffer {
    /// Name in emitted text.
    pub name: String,
    /// Element type; complex data is bound as its real type with twice the elements.
    pub elem: Type,
    /// How it is used.
    pub access: Access,
    /// Elements that the kernel may touch: offsets lie in `0..len`.
    pub len: u64,
}

/// An array in shared memory. Arrays lie one after another, each aligned to 16 bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Shared {
    /// Name in emitted text.
    pub name: String,
    /// Element type. Transaction barriers are elements of a `U64` array.
    pub elem: Type,
    /// Elements.
    pub len: u32,
}

/// One instruction.
#[derive(Debug, Clone, PartialEq)]
pub struct Inst {
    /// What it does.
    pub op: Op,
    /// What it reads.
    pub args: Vec<Value>,
    /// What it defines.
    pub results: Vec<Value>,
    /// Nested code of [`Op::Loop`] (one block) and [`Op::If`] (one block).
    pub blocks: Vec<Block>,
}

impl Inst {
    /// The predicate, where it has one.
    pub fn predicate(&self) -> Option<Value> {
        self.args.last().copied().filter(|_| self.op.is_predicated())
    }
}

/// A sequence of instructions with parameters (loops: induction variable, then the carried values) and yields
/// (loops: the carried values of the next turn).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Block {
    /// Values defined on entry.
    pub params: Vec<Value>,
    /// Instructions in order.
    pub insts: Vec<Inst>,
    /// Values handed on at the end.
    pub yields: Vec<Value>,
}

/// Calls `see` with every instruction, nested ones included, in the order of the text.
pub(crate) fn each_inst<'k>(block: &'k Block, see: &mut impl FnMut(&'k Inst)) {
    for inst in &block.insts {
        see(inst);
        for inner in &inst.blocks {
            each_inst(inner, see);
        }
    }
}

/// A kernel: one pass for one device.
#[derive(Debug, Clone, PartialEq)]
pub struct Kernel {
    /// Entry point's name; letters, digits and underscores.
    pub name: String,
    /// Global buffers in the order in which a launch binds them.
    pub buffers: Vec<Buffer>,
    /// Shared arrays.
    pub shared: Vec<Shared>,
    /// Threads of a block.
    pub threads: u32,
    /// Blocks of a cluster; 1 without clusters.
    pub cluster: u32,
    /// Blocks of the launch, a multiple of `cluster`.
    pub blocks: u64,
    /// Blocks that should be resident on a multiprocessor: a bound on registers. 0: no wish.
    pub min_blocks: u32,
    /// What part of the launch may run; `None`: all of it does.
    pub at_run: Option<AtRun>,
    /// Type of each value.
    pub types: Vec<Type>,
    /// The code.
    pub body: Block,
}

/// A launch of which each run takes a part, by a count that it is given ([`Special::Count`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AtRun {
    /// The highest count, for which there are [`Kernel::blocks`].
    pub most: u32,
    /// So much of the count is for the same blocks.
    pub step: u32,
    /// Blocks of each step.
    pub blocks: u64,
}

impl AtRun {
    /// Blocks of a launch with that count: the first so many.
    pub const fn blocks_at(&self, count: u32) -> u64 {
        (count as u64).div_ceil(self.step as u64) * self.blocks
    }
}

impl Kernel {
    /// Type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.types[value.0 as usize]
    }

    /// Whether it waits by itself for the launch before, so that it may be launched early.
    pub fn waits_for_launch(&self) -> bool {
        self.body.insts.first().is_some_and(|inst| inst.op == Op::LaunchWait)
    }

    /// Instructions, those of nested blocks among them: what an assembler's time goes by.
    pub fn instructions(&self) -> usize {
        let mut count = 0;
        each_inst(&self.body, &mut |_| count += 1);
        count
    }

    /// The kernel as a run with that count has it. One without a count is what it is.
    #[must_use]
    pub fn at_count(&self, count: u32) -> Self {
        let at_run = self.at_run.map(|at_run| AtRun { most: count.min(at_run.most), ..at_run });
        let blocks = at_run.map_or(self.blocks, |at_run| at_run.blocks_at(at_run.most));
        Self { blocks, at_run, ..self.clone() }
    }

    /// Element type of the array that a space names.
    pub fn elem(&self, space: Space) -> Type {
        match space {
            Space::Global(i) => self.buffers[i as usize].elem,
            Space::Shared(i) | Space::Remote(i) => self.shared[i as usize].elem,
        }
    }

    /// Byte offset of each shared array, and the total, which is what the launch reserves.
    pub fn shared_layout(&self) -> (Vec<u32>, u32) {
        let mut at = 0;
        let mut offsets = Vec::with_capacity(self.shared.len());
        for array in &self.shared {
            offsets.push(at);
            at += (array.len * array.elem.bytes()).next_multiple_of(16);
        }
        (offsets, at)
    }

    /// Bytes of shared memory of one block.
    pub fn shared_bytes(&self) -> u32 {
        self.shared_layout().1
    }
}
