//! One row an operation: its name in text, how it may be moved, and the types that it takes and gives. The
//! verifier, the text form and the passes all read this table; none lists the operations for itself.

use super::{Cache, Cmp, MmaShape, Op, ShuffleMode, Special, Type};

/// How an instruction may be moved, repeated or dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Its results depend on its arguments alone: move, repeat and drop it at will.
    Pure,
    /// Reads memory: it may be dropped, but keeps its place among writes and barriers.
    Read,
    /// Reads other lanes' values: it may be dropped, but stays where all of them reach it.
    Lanes,
    /// Changes memory.
    Write,
    /// Orders accesses to memory.
    Sync,
    /// Holds blocks, whose own instructions say the rest.
    Control,
}

/// A set of types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// All but pointers.
    Scalar,
    /// Integers and floats.
    Number,
    /// Floats.
    Float,
    /// Floats of 16 bits.
    Half,
    /// Integers.
    Int,
    /// Integers and predicates.
    Bits,
    /// What may index an array: `U32` and `U64`.
    Index,
    /// What a shuffle moves: 32-bit types and `F64`.
    Lane,
    /// Pointers.
    Pointer,
}

impl Class {
    /// Whether the class holds a type.
    pub const fn holds(self, ty: Type) -> bool {
        match self {
            Self::Scalar => !matches!(ty, Type::Ptr(_)),
            Self::Number => ty.is_int() || ty.is_float(),
            Self::Float => ty.is_float(),
            Self::Half => matches!(ty, Type::F16 | Type::Bf16),
            Self::Int => ty.is_int(),
            Self::Bits => ty.is_int() || matches!(ty, Type::Bool),
            Self::Index => matches!(ty, Type::U32 | Type::U64),
            Self::Lane => matches!(ty, Type::I32 | Type::U32 | Type::F32 | Type::F64),
            Self::Pointer => matches!(ty, Type::Ptr(_)),
        }
    }
}

/// Where a pointer may point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// Anywhere.
    Any,
    /// A global buffer.
    Global,
    /// A shared array of the own block.
    Shared,
    /// A shared array of another block.
    Remote,
    /// A shared array of the own or another block.
    Cluster,
    /// An array that this kernel declares: global, or shared of the own block.
    Declared,
}

/// What stands at one place of an instruction's arguments or results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operand {
    /// A value of this type.
    Is(Type),
    /// A value of the instruction's one type, which is of this class.
    T(Class),
    /// A value of any type of this class.
    Free(Class),
    /// A pointer to there; with a type, its array's elements are of it.
    Ptr(Place, Option<Type>),
    /// `width` values of the element type of the first argument's array.
    Elems,
    /// A `Bool`, there only if the operation is predicated.
    Predicate,
    /// A pointer to the first argument's array in another block.
    RemoteOfFirst,
    /// The values that a loop carries; any number of any types.
    Carried,
}

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Info {
    /// Name in text, without attributes such as a width.
    pub name: &'static str,
    /// How it may be moved.
    pub effect: Effect,
    /// What it takes.
    pub args: &'static [Operand],
    /// What it gives.
    pub results: &'static [Operand],
}

const fn row(
    name: &'static str,
    effect: Effect,
    args: &'static [Operand],
    results: &'static [Operand],
) -> Info {
    Info { name, effect, args, results }
}

/// A transaction barrier of the own block.
const TICKET: Operand = Operand::Ptr(Place::Shared, Some(Type::U64));
/// A counter that blocks share.
const COUNTER: Operand = Operand::Ptr(Place::Global, Some(Type::U32));

impl Op {
    /// The operation's row of the table.
    pub const fn info(&self) -> Info {
        use Class::{Bits, Float, Half, Index, Int, Lane, Number, Pointer, Scalar};
        use Effect::{Control, Lanes, Pure, Read, Sync, Write};
        use Operand::{Carried, Elems, Free, Is, Predicate, Ptr, RemoteOfFirst, T};
        use Type::{Bool, U32, U64};
        match self {
            Self::Const(_) => row("const", Pure, &[], &[T(Scalar)]),
            Self::Special(special) => row(special.name(), Pure, &[], &[Is(U32)]),
            Self::Add => row("add", Pure, &[T(Number), T(Number)], &[T(Number)]),
            Self::Sub => row("sub", Pure, &[T(Number), T(Number)], &[T(Number)]),
            Self::Mul => row("mul", Pure, &[T(Number), T(Number)], &[T(Number)]),
            Self::MulHi => row("mul_hi", Pure, &[Is(U32), Is(U32)], &[Is(U32)]),
            Self::Fma => row("fma", Pure, &[T(Float), T(Float), T(Float)], &[T(Float)]),
            Self::Neg => row("neg", Pure, &[T(Float)], &[T(Float)]),
            Self::Sqrt => row("sqrt", Pure, &[T(Float)], &[T(Float)]),
            Self::Div => row("div", Pure, &[T(Number), T(Number)], &[T(Number)]),
            Self::Rem => row("rem", Pure, &[T(Int), T(Int)], &[T(Int)]),
            Self::Min => row("min", Pure, &[T(Number), T(Number)], &[T(Number)]),
            Self::Max => row("max", Pure, &[T(Number), T(Number)], &[T(Number)]),
            Self::Shl => row("shl", Pure, &[T(Int), Is(U32)], &[T(Int)]),
            Self::Shr => row("shr", Pure, &[T(Int), Is(U32)], &[T(Int)]),
            Self::And => row("and", Pure, &[T(Bits), T(Bits)], &[T(Bits)]),
            Self::Or => row("or", Pure, &[T(Bits), T(Bits)], &[T(Bits)]),
            Self::Xor => row("xor", Pure, &[T(Bits), T(Bits)], &[T(Bits)]),
            Self::Cmp(cmp) => row(cmp.name(), Pure, &[T(Number), T(Number)], &[Is(Bool)]),
            Self::Select => row("select", Pure, &[Is(Bool), T(Scalar), T(Scalar)], &[T(Scalar)]),
            Self::Convert => row("convert", Pure, &[Free(Number)], &[Free(Number)]),
            Self::Bitcast => row("bitcast", Pure, &[Free(Number)], &[Free(Number)]),
            Self::Pack => row("pack", Pure, &[T(Half), T(Half)], &[Is(U32)]),
            Self::Addr => row("addr", Pure, &[Free(Index)], &[Ptr(Place::Declared, None)]),
            Self::PtrAdd => row("ptr_add", Pure, &[T(Pointer), Free(Index)], &[T(Pointer)]),
            Self::Load { .. } => row("load", Read, &[Ptr(Place::Any, None), Predicate], &[Elems]),
            Self::Store { .. } => row("store", Write, &[Ptr(Place::Any, None), Elems, Predicate], &[]),
            Self::Barrier => row("barrier", Sync, &[], &[]),
            Self::Shuffle(mode) => row(mode.name(), Lanes, &[T(Lane), Is(U32)], &[T(Lane)]),
            Self::Mma(shape) => shape.info(),
            Self::Loop => row("loop", Control, &[Is(U32), Is(U32), Is(U32), Carried], &[Carried]),
            Self::If => row("if", Control, &[Is(Bool)], &[]),
            Self::AtomicAdd { .. } => row("atomic_add", Sync, &[COUNTER, Is(U32)], &[Is(U32)]),
            Self::AtomicLoad => row("atomic_load", Sync, &[COUNTER], &[Is(U32)]),
            Self::CounterAdd => row("counter_add", Sync, &[COUNTER, Is(U32)], &[]),
            Self::CounterWait => row("counter_wait", Sync, &[COUNTER, Is(U32)], &[]),
            Self::LaunchWait => row("launch_wait", Sync, &[], &[]),
            Self::MapRemote => {
                row("map_remote", Pure, &[Ptr(Place::Shared, None), Is(U32)], &[RemoteOfFirst])
            }
            Self::ClusterArrive { .. } => row("cluster_arrive", Sync, &[], &[]),
            Self::ClusterWait => row("cluster_wait", Sync, &[], &[]),
            Self::RemoteStoreAsync { .. } => row(
                "remote_store_async",
                Write,
                &[Ptr(Place::Remote, None), Ptr(Place::Remote, Some(U64)), Elems],
                &[],
            ),
            Self::BarrierInit { .. } => row("barrier_init", Sync, &[TICKET], &[]),
            Self::BarrierInitFence => row("barrier_init_fence", Sync, &[], &[]),
            Self::BarrierExpect => row("barrier_expect", Sync, &[TICKET, Is(U32)], &[]),
            Self::BarrierArrive => row("barrier_arrive", Sync, &[Ptr(Place::Cluster, Some(U64))], &[]),
            Self::BarrierWait => row("barrier_wait", Sync, &[TICKET, Is(U32)], &[]),
            Self::BulkLoad => row(
                "bulk_load",
                Write,
                &[Ptr(Place::Shared, None), Ptr(Place::Global, None), Is(U32), TICKET],
                &[],
            ),
            Self::BulkStore => {
                row("bulk_store", Write, &[Ptr(Place::Global, None), Ptr(Place::Shared, None), Is(U32)], &[])
            }
            Self::BulkCommit => row("bulk_commit", Sync, &[], &[]),
            Self::BulkWait { .. } => row("bulk_wait", Sync, &[], &[]),
            Self::AsyncFence => row("async_fence", Sync, &[], &[]),
            // A hint: it changes nothing, but dropping it would undo what it is for.
            Self::BulkPrefetch { .. } => {
                row("bulk_prefetch", Sync, &[Ptr(Place::Global, None), Is(U32), Predicate], &[])
            }
        }
    }

    /// Whether equal arguments give equal results, and nothing else happens.
    pub const fn is_pure(&self) -> bool {
        matches!(self.info().effect, Effect::Pure)
    }

    /// Whether an instruction whose results nobody uses may be dropped.
    pub const fn is_droppable(&self) -> bool {
        matches!(self.info().effect, Effect::Pure | Effect::Read | Effect::Lanes)
    }

    /// Whether the first two arguments may change places.
    pub const fn is_commutative(&self) -> bool {
        matches!(
            self,
            Self::Add
                | Self::Mul
                | Self::MulHi
                | Self::Fma
                | Self::Min
                | Self::Max
                | Self::And
                | Self::Or
                | Self::Xor
                | Self::Cmp(Cmp::Eq | Cmp::Ne)
        )
    }

    /// Elements that an access to memory moves; 1 for all else.
    pub const fn width(&self) -> u8 {
        match *self {
            Self::Load { width, .. } | Self::Store { width, .. } | Self::RemoteStoreAsync { width, .. } => {
                width
            }
            _ => 1,
        }
    }

    /// Constant distance of an access from its pointer, in elements.
    pub const fn offset(&self) -> Option<i32> {
        match *self {
            Self::Load { offset, .. }
            | Self::Store { offset, .. }
            | Self::RemoteStoreAsync { offset, .. } => Some(offset),
            _ => None,
        }
    }

    /// Cache policy of an access.
    pub const fn cache(&self) -> Option<Cache> {
        match *self {
            Self::Load { cache, .. } | Self::Store { cache, .. } => Some(cache),
            _ => None,
        }
    }

    /// Whether the last argument is a predicate.
    pub const fn is_predicated(&self) -> bool {
        matches!(
            self,
            Self::Load { predicated: true, .. }
                | Self::Store { predicated: true, .. }
                | Self::BulkPrefetch { predicated: true }
        )
    }

    /// Blocks of code that an instruction holds.
    pub const fn block_count(&self) -> usize {
        matches!(self, Self::Loop | Self::If) as usize
    }

    /// Every operation that has no number in it (constants, widths and counts are numbers).
    pub fn plain() -> impl Iterator<Item = Self> {
        const FIXED: [Op; 39] = [
            Op::Add,
            Op::Sub,
            Op::Mul,
            Op::MulHi,
            Op::Fma,
            Op::Neg,
            Op::Sqrt,
            Op::Div,
            Op::Rem,
            Op::Min,
            Op::Max,
            Op::Shl,
            Op::Shr,
            Op::And,
            Op::Or,
            Op::Xor,
            Op::Select,
            Op::Convert,
            Op::Bitcast,
            Op::Pack,
            Op::Addr,
            Op::PtrAdd,
            Op::Barrier,
            Op::AtomicLoad,
            Op::CounterAdd,
            Op::CounterWait,
            Op::MapRemote,
            Op::ClusterWait,
            Op::BarrierInitFence,
            Op::BarrierExpect,
            Op::BarrierArrive,
            Op::BarrierWait,
            Op::BulkLoad,
            Op::BulkStore,
            Op::BulkCommit,
            Op::AsyncFence,
            Op::LaunchWait,
            Op::Loop,
            Op::If,
        ];
        let specials = Special::ALL.map(Op::Special);
        let compares = Cmp::ALL.map(Op::Cmp);
        let shuffles = [ShuffleMode::Xor, ShuffleMode::Index].map(Op::Shuffle);
        let shapes = MmaShape::ALL.map(Op::Mma);
        let arrivals = [false, true].map(|relaxed| Op::ClusterArrive { relaxed });
        let adds = [false, true].map(|relaxed| Op::AtomicAdd { relaxed });
        let fixed = FIXED.into_iter().chain(specials).chain(compares).chain(shuffles).chain(shapes);
        fixed.chain(arrivals).chain(adds)
    }
}

impl Special {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::BlockIndex, Self::BlockCount, Self::ThreadIndex, Self::Lane, Self::ClusterRank, Self::Count];

    /// Name in text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BlockIndex => "block_index",
            Self::BlockCount => "block_count",
            Self::ThreadIndex => "thread_index",
            Self::Lane => "lane",
            Self::ClusterRank => "cluster_rank",
            Self::Count => "count",
            Self::Zero => "zero",
        }
    }
}

impl Cmp {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Eq, Self::Ne, Self::Lt, Self::Le, Self::Gt, Self::Ge];

    /// Name in text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Eq => "cmp.eq",
            Self::Ne => "cmp.ne",
            Self::Lt => "cmp.lt",
            Self::Le => "cmp.le",
            Self::Gt => "cmp.gt",
            Self::Ge => "cmp.ge",
        }
    }

    /// Whether the comparison holds for operands in that order; never for unordered ones, unless it asks for
    /// difference.
    pub const fn holds(self, order: Option<std::cmp::Ordering>) -> bool {
        match order {
            None => matches!(self, Self::Ne),
            Some(order) => match self {
                Self::Eq => order.is_eq(),
                Self::Ne => order.is_ne(),
                Self::Lt => order.is_lt(),
                Self::Le => order.is_le(),
                Self::Gt => order.is_gt(),
                Self::Ge => order.is_ge(),
            },
        }
    }
}

impl ShuffleMode {
    /// Name in text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Xor => "shuffle.xor",
            Self::Index => "shuffle.index",
        }
    }
}

impl Cache {
    /// All but the default, which has no name in text.
    pub const HINTS: [Self; 5] = [Self::Stream, Self::ReadOnly, Self::Keep, Self::L2, Self::L2Wide];

    /// Name in text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "",
            Self::Stream => "stream",
            Self::ReadOnly => "read_only",
            Self::Keep => "keep",
            Self::L2 => "l2",
            Self::L2Wide => "l2_wide",
        }
    }
}

impl MmaShape {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::M8N8K4F64, Self::M16N8K8Tf32, Self::M16N8K16F16, Self::M16N8K16Bf16];

    const fn info(self) -> Info {
        const D: Operand = Operand::Is(Type::F64);
        const F: Operand = Operand::Is(Type::F32);
        const P: Operand = Operand::Is(Type::U32);
        const PAIRS: &[Operand] = &[P, P, P, P, P, P, F, F, F, F];
        use Effect::Lanes;
        match self {
            Self::M8N8K4F64 => row("mma.m8n8k4.f64", Lanes, &[D, D, D, D], &[D, D]),
            Self::M16N8K8Tf32 => row("mma.m16n8k8.tf32", Lanes, &[F; 10], &[F; 4]),
            Self::M16N8K16F16 => row("mma.m16n8k16.f16", Lanes, PAIRS, &[F; 4]),
            Self::M16N8K16Bf16 => row("mma.m16n8k16.bf16", Lanes, PAIRS, &[F; 4]),
        }
    }
}
