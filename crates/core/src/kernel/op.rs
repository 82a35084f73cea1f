//! The operations. What each takes and gives stands in the table beside (`table.rs`); what each does, in the
//! simulator.

/// Values that the hardware provides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Special {
    /// Index of the block in the launch, `U32`.
    BlockIndex,
    /// Number of blocks in the launch, `U32`.
    BlockCount,
    /// Index of the thread in its block, `U32`.
    ThreadIndex,
    /// Index of the thread in its subgroup, `U32`.
    Lane,
    /// Rank of the block in its cluster, `U32`.
    ClusterRank,
    /// The count that the run is given, `U32`; of kernels that have one ([`AtRun`](super::AtRun)).
    Count,
    /// Zero, `U32`, which an assembler cannot know to be it: what is computed from an index plus this is computed
    /// anew, where keeping what was computed before would cost registers.
    Zero,
}

/// Comparisons; operands of one type, result [`Bool`](super::Type::Bool).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cmp {
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Less.
    Lt,
    /// Less or equal.
    Le,
    /// Greater.
    Gt,
    /// Greater or equal.
    Ge,
}

/// Cache policy of a global access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cache {
    /// The device's own choice.
    Default,
    /// Touched once: first to be evicted.
    Stream,
    /// Never written while the kernel runs: through the read-only path (loads only).
    ReadOnly,
    /// Wanted again soon: last to be evicted.
    Keep,
    /// What other blocks write while the kernel runs, or what is read once: past the multiprocessor's own cache, from
    /// and to the L2.
    L2,
    /// The same, and the 256 bytes around it come into the L2, for other blocks that read them at about the same time
    /// (loads; stores are as of [`Self::L2`]).
    L2Wide,
}

/// Which lane a shuffle reads from. All lanes of the subgroup take part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ShuffleMode {
    /// Own lane XOR the argument.
    Xor,
    /// The lane that the argument names.
    Index,
}

/// Tensor-core shapes: `D = A B + C` by one warp of 32 threads, fragments spread over the lanes as PTX's
/// `mma.sync` lays them out (rows by columns, A row-major, B column-major).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MmaShape {
    /// f64: A 1, B 1, C and D 2 values a thread.
    M8N8K4F64,
    /// tf32 in `F32` values (low 13 bits ignored): A 4, B 2, C and D 4 `F32` a thread.
    M16N8K8Tf32,
    /// f16 pairs packed in `U32`: A 4, B 2 `U32`; C and D 4 `F32` a thread.
    M16N8K16F16,
    /// The same of bfloat16 pairs.
    M16N8K16Bf16,
}

/// An operation. `args -> results` beside each; `T` is one type of the instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Op {
    /// `() -> T`. Integers and predicates as they are; floats as the bits of an `f64` that the type represents
    /// exactly.
    Const(u64),
    /// `() -> U32`.
    Special(Special),

    /// `(T, T) -> T`, integer or float.
    Add,
    /// `(T, T) -> T`, integer or float.
    Sub,
    /// `(T, T) -> T`, integer or float.
    Mul,
    /// `(U32, U32) -> U32`: upper half of the 64-bit product.
    MulHi,
    /// `(T, T, T) -> T`, float: `a b + c` rounded once where the device can (f64 in WGSL: it may round twice).
    Fma,
    /// `(T) -> T`, float.
    Neg,
    /// `(T) -> T`, float: the square root.
    Sqrt,
    /// `(T, T) -> T`; division of integers by zero is undefined.
    Div,
    /// `(T, T) -> T`, integer.
    Rem,
    /// `(T, T) -> T`, integer or float.
    Min,
    /// `(T, T) -> T`, integer or float.
    Max,
    /// `(T, U32) -> T`, integer.
    Shl,
    /// `(T, U32) -> T`, integer; arithmetic for `I32`.
    Shr,
    /// `(T, T) -> T`, integer or predicate.
    And,
    /// `(T, T) -> T`, integer or predicate.
    Or,
    /// `(T, T) -> T`, integer or predicate.
    Xor,
    /// `(T, T) -> Bool`.
    Cmp(Cmp),
    /// `(Bool, T, T) -> T`: the second where true.
    Select,
    /// `(S) -> T`: numeric conversion to the result's type, to nearest.
    Convert,
    /// `(S) -> T`: the same bits as another type of as many, of 32 or 64.
    Bitcast,
    /// `(H, H) -> U32`, floats of 16 bits: the first in the lower half.
    Pack,

    /// `(U32 or U64) -> Ptr`: pointer to that element of the result type's array.
    Addr,
    /// `(Ptr, U32 or U64) -> Ptr`: that many elements on.
    PtrAdd,
    /// `(Ptr [, Bool]) -> (T) x width`: elements `offset ..` from the pointer.
    Load {
        /// Elements: 1, 2 or 4, together at most 16 bytes.
        width: u8,
        /// Constant distance from the pointer in elements.
        offset: i32,
        /// Cache policy (global memory).
        cache: Cache,
        /// The last argument is the predicate.
        predicated: bool,
    },
    /// `(Ptr, (T) x width [, Bool]) -> ()`. To a [`Space::Remote`](super::Space::Remote) pointer: a plain remote
    /// store.
    Store {
        /// Elements: 1, 2 or 4, together at most 16 bytes.
        width: u8,
        /// Constant distance from the pointer in elements.
        offset: i32,
        /// Cache policy (global memory).
        cache: Cache,
        /// The last argument is the predicate.
        predicated: bool,
    },
    /// `() -> ()`: block barrier.
    Barrier,
    /// `(T, U32) -> T`: value of another lane; 32-bit types and `F64`.
    Shuffle(ShuffleMode),

    /// `(Ptr Global U32, U32) -> U32`: adds, returns the old value; device scope, acquire and release.
    AtomicAdd {
        /// Orders nothing, only counts.
        relaxed: bool,
    },
    /// `(Ptr Global U32) -> U32`: device scope, acquire.
    AtomicLoad,
    /// `(Ptr Global U32, U32) -> ()`: adds; device scope, release. What the block did before its last barrier comes
    /// before what others do that waited for the sum.
    CounterAdd,
    /// `(Ptr Global U32, U32) -> ()`: waits until the counter is at least that; device scope, acquire. A block may
    /// wait only for blocks that have started for certain.
    CounterWait,

    /// `() -> ()`: waits until the launch before this one has ended, and sees what it wrote; the first instruction of a
    /// kernel that may be launched early. Where launches follow each other it does nothing.
    LaunchWait,

    /// `(Ptr Shared, U32 rank) -> Ptr Remote`: the same element in another block of the cluster.
    MapRemote,
    /// `() -> ()`: arrive at the cluster barrier.
    ClusterArrive {
        /// Without release: orders nothing, only counts.
        relaxed: bool,
    },
    /// `() -> ()`: wait for all threads of the cluster to have arrived; acquire.
    ClusterWait,
    /// `(Ptr Remote, Ptr Remote U64 barrier, (T) x width) -> ()`: remote store that completes on the barrier's
    /// transaction count by its bytes. 4- and 8-byte types.
    RemoteStoreAsync {
        /// Elements: 1, 2 or 4, together at most 16 bytes.
        width: u8,
        /// Constant distance from the pointer in elements.
        offset: i32,
    },

    /// `(Ptr Shared U64) -> ()`: set up a transaction barrier for `count` arrivals a phase; one thread does it.
    BarrierInit {
        /// Arrivals a phase.
        count: u32,
    },
    /// `() -> ()`: make barrier set-ups visible to the cluster and to bulk copies.
    BarrierInitFence,
    /// `(Ptr Shared U64, U32 bytes) -> ()`: arrive and expect so many more bytes in this phase.
    BarrierExpect,
    /// `(Ptr Shared or Remote U64) -> ()`: arrive.
    BarrierArrive,
    /// `(Ptr Shared U64, U32 parity) -> ()`: wait until the phase of that parity is complete.
    BarrierWait,

    /// `(Ptr Shared, Ptr Global, U32 bytes, Ptr Shared U64 barrier) -> ()`: asynchronous bulk load that
    /// completes on the barrier; 16-byte aligned, bytes a multiple of 16; one thread issues it.
    BulkLoad,
    /// `(Ptr Global, Ptr Shared, U32 bytes) -> ()`: asynchronous bulk store, part of the thread's current group.
    BulkStore,
    /// `() -> ()`: close the thread's current group of bulk stores.
    BulkCommit,
    /// `() -> ()`: wait until at most `pending` of the thread's groups still read shared memory.
    BulkWait {
        /// Groups that may still be in flight.
        pending: u8,
    },
    /// `() -> ()`: make shared stores visible to bulk copies that follow a barrier.
    AsyncFence,
    /// `(Ptr Global, U32 bytes [, Bool]) -> ()`: ask for these bytes in L2; 16-byte aligned within the buffer.
    /// A hint: it may reach to the end of the buffer but not beyond.
    BulkPrefetch {
        /// The last argument is the predicate.
        predicated: bool,
    },

    /// Fragments of A, B, C in this order `-> D`; see [`MmaShape`].
    Mma(MmaShape),

    /// `(lo, hi, step, init..) -> (final..)`, `U32` bounds: `for i in (lo..hi).step_by(step)`. The block's
    /// parameters are `i` and the carried values; it yields the carried values of the next turn.
    Loop,
    /// `(Bool) -> ()`: runs its block where true.
    If,
}
