//! What can be wrong with a kernel, and where.

use super::super::{Op, Type};

/// Where a fault was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// The kernel's name.
    pub kernel: String,
    /// Index of the instruction in the text order of the whole kernel.
    pub inst: usize,
    /// The instruction's operation.
    pub op: Op,
    /// Index of the block in the launch.
    pub block: u64,
    /// Index of the thread in its block.
    pub thread: u32,
}

impl std::fmt::Display for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { kernel, inst, op, block, thread } = self;
        write!(f, "kernel {kernel}, instruction {inst} ({op:?}), block {block}, thread {thread}")
    }
}

/// How an element was touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touch {
    /// Read.
    Read,
    /// Written.
    Write,
    /// Written by an asynchronous store or bulk load that the thread has not waited for.
    AsyncWrite,
    /// Read by a bulk store that has not been waited for.
    BulkRead,
}

impl std::fmt::Display for Touch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::AsyncWrite => "asynchronous write",
            Self::BulkRead => "bulk read",
        })
    }
}

/// Why a simulation stopped. Every fault of a running kernel says where ([`Site`]).
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// Two threads touch one element, at least one writes, and nothing orders them.
    #[error(
        "{at}: {touch} of {array}[{element}] races with a {other_touch} by {other}; a barrier between them would order them"
    )]
    Race {
        /// The later access.
        at: Box<Site>,
        /// Array's name.
        array: String,
        /// Element of the array.
        element: u64,
        /// What the later access does.
        touch: Touch,
        /// The earlier access: block and thread, and its instruction where known.
        other: String,
        /// What the earlier access does.
        other_touch: Touch,
    },
    /// An element is read that nothing wrote.
    #[error("{at}: {array}[{element}] is read but was never written")]
    Uninitialised {
        /// The read.
        at: Box<Site>,
        /// Array's name.
        array: String,
        /// Element of the array.
        element: u64,
    },
    /// An access beyond the array.
    #[error("{at}: {array}[{element}] is out of bounds; elements 0..{len} exist")]
    OutOfBounds {
        /// The access.
        at: Box<Site>,
        /// Array's name; `subgroup` for a shuffle and `cluster` for a rank.
        array: String,
        /// The element that was meant.
        element: i64,
        /// Elements that exist.
        len: u64,
    },
    /// A barrier, shuffle or matrix product that only some of its threads reach.
    #[error("{at}: reached by this thread but not by thread {missing}, and all must take part")]
    DivergentBarrier {
        /// A thread that reached it.
        at: Box<Site>,
        /// A thread of the same group that did not.
        missing: u32,
    },
    /// A vector or bulk access that does not start at a multiple of its width.
    #[error("{at}: {array}[{element}] must start at a multiple of {align} elements")]
    Misaligned {
        /// The access.
        at: Box<Site>,
        /// Array's name.
        array: String,
        /// First element.
        element: u64,
        /// Elements that it must be a multiple of.
        align: u32,
    },
    /// A wait that nothing can end.
    #[error("{at}: waits forever: {why}")]
    Deadlock {
        /// The wait.
        at: Box<Site>,
        /// What is missing.
        why: String,
    },
    /// A barrier used against its rules.
    #[error("{at}: barrier {array}[{element}] {why}")]
    BadBarrier {
        /// The use.
        at: Box<Site>,
        /// Array's name; `cluster` for the cluster barrier.
        array: String,
        /// Element of the array.
        element: u64,
        /// The rule.
        why: &'static str,
    },
    /// A bulk copy or a remote access that may not see what was stored before it.
    #[error("{at}: {array}[{element}] needs {fence} by the thread that wrote it, and then a barrier")]
    MissingFence {
        /// The access.
        at: Box<Site>,
        /// Array's name.
        array: String,
        /// Element of the array.
        element: u64,
        /// The fence that is missing.
        fence: &'static str,
    },
    /// Shared memory of a block that may not have started or may have ended.
    #[error("{at}: remote access of {array}[{element}] {why}")]
    RemoteLifetime {
        /// The access.
        at: Box<Site>,
        /// Array's name.
        array: String,
        /// Element of the array.
        element: u64,
        /// What is missing.
        why: &'static str,
    },
    /// The block ends while something is in flight.
    #[error("kernel {kernel}, block {block}: ends while {what}")]
    Unfinished {
        /// The kernel's name.
        kernel: String,
        /// Index of the block.
        block: u64,
        /// What is in flight.
        what: &'static str,
    },
    /// A store to a buffer declared as only read.
    #[error("{at}: {array}[{element}] is written, but the kernel declares the buffer as only read")]
    ReadOnly {
        /// The store.
        at: Box<Site>,
        /// Buffer's name.
        array: String,
        /// Element of the buffer.
        element: u64,
    },
    /// Arithmetic without a defined result.
    #[error("{at}: {what}")]
    Undefined {
        /// The instruction.
        at: Box<Site>,
        /// What was done.
        what: &'static str,
    },
    /// The kernel asks for more than the device has.
    #[error("kernel {kernel}: {what} is {value}, but the device allows {limit}")]
    LimitExceeded {
        /// The kernel's name.
        kernel: String,
        /// Which limit.
        what: &'static str,
        /// What the kernel asks for.
        value: u64,
        /// What the device allows.
        limit: u64,
    },
    /// The kernel uses something that the device lacks.
    #[error("kernel {kernel}: uses {ability}, which device {device} lacks")]
    MissingAbility {
        /// The kernel's name.
        kernel: String,
        /// What is missing.
        ability: &'static str,
        /// The device's name.
        device: String,
    },
    /// A buffer that does not fit the kernel's declaration.
    #[error("kernel {kernel}: buffer {buffer} must hold {len} elements of {elem:?}, got {got}")]
    BufferMismatch {
        /// The kernel's name.
        kernel: String,
        /// Buffer's name.
        buffer: String,
        /// Elements declared.
        len: u64,
        /// Element type declared.
        elem: Type,
        /// What was handed over.
        got: String,
    },
    /// The kernel is not well formed: the verifier refuses it.
    #[error("kernel {kernel}, instruction {inst}: {what}")]
    Malformed {
        /// The kernel's name.
        kernel: String,
        /// Index of the instruction.
        inst: usize,
        /// What is wrong.
        what: &'static str,
    },
}
