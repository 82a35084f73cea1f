//! One SSA value over all threads that run in step.

use half::{bf16, f16};

use super::super::Type;
use super::Memory;

/// One value of each thread.
#[derive(Debug, Clone, Default)]
pub(super) enum Column {
    /// Not defined yet, or no longer needed.
    #[default]
    Empty,
    Bool(Vec<bool>),
    I32(Vec<i32>),
    U32(Vec<u32>),
    U64(Vec<u64>),
    F16(Vec<f16>),
    Bf16(Vec<bf16>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    /// Element of a global buffer, or of a shared array of the thread's own block.
    Ptr(Vec<i64>),
    /// Element of a shared array, and the rank of its block in the cluster.
    Remote(Vec<i64>, Vec<u32>),
}

/// A type that columns hold.
pub(super) trait Lane: Copy + Default {
    fn wrap(lanes: Vec<Self>) -> Column;
    fn lanes(column: &Column) -> Option<&[Self]>;
}

/// A type that memory holds.
pub(super) trait Elem: Lane {
    fn of(memory: &Memory) -> Option<&[Self]>;
    fn of_mut(memory: &mut Memory) -> Option<&mut [Self]>;
}

macro_rules! lane {
    ($($ty:ty, $variant:ident;)*) => {$(
        impl Lane for $ty {
            fn wrap(lanes: Vec<Self>) -> Column {
                Column::$variant(lanes)
            }

            fn lanes(column: &Column) -> Option<&[Self]> {
                if let Column::$variant(lanes) = column { Some(lanes) } else { None }
            }
        }
    )*};
}

macro_rules! elem {
    ($($ty:ty, $variant:ident;)*) => {$(
        impl Elem for $ty {
            fn of(memory: &Memory) -> Option<&[Self]> {
                if let Memory::$variant(data) = memory { Some(data) } else { None }
            }

            fn of_mut(memory: &mut Memory) -> Option<&mut [Self]> {
                if let Memory::$variant(data) = memory { Some(data) } else { None }
            }
        }
    )*};
}

lane! { bool, Bool; i32, I32; u32, U32; u64, U64; f16, F16; bf16, Bf16; f32, F32; f64, F64; i64, Ptr; }
elem! { i32, I32; u32, U32; u64, U64; f16, F16; bf16, Bf16; f32, F32; f64, F64; }

/// Runs `$body` with `$T` standing for the processor's type of the stored type `$ty`; `$otherwise` for
/// predicates and pointers.
macro_rules! with_elem {
    ($ty:expr, $T:ident => $body:expr, $otherwise:expr) => {
        match $ty {
            Type::I32 => {
                type $T = i32;
                $body
            }
            Type::U32 => {
                type $T = u32;
                $body
            }
            Type::U64 => {
                type $T = u64;
                $body
            }
            Type::F16 => {
                type $T = half::f16;
                $body
            }
            Type::Bf16 => {
                type $T = half::bf16;
                $body
            }
            Type::F32 => {
                type $T = f32;
                $body
            }
            Type::F64 => {
                type $T = f64;
                $body
            }
            Type::Bool | Type::Ptr(_) => $otherwise,
        }
    };
}
pub(super) use with_elem;

impl Column {
    /// The same constant in all threads. Floats are given as the bits of an `f64`.
    pub fn constant(ty: Type, bits: u64, threads: usize) -> Option<Self> {
        let real = f64::from_bits(bits);
        Some(match ty {
            Type::Bool => Self::Bool(vec![bits != 0; threads]),
            Type::I32 => Self::I32(vec![bits as i32; threads]),
            Type::U32 => Self::U32(vec![bits as u32; threads]),
            Type::U64 => Self::U64(vec![bits; threads]),
            Type::F16 => Self::F16(vec![f16::from_f64(real); threads]),
            Type::Bf16 => Self::Bf16(vec![bf16::from_f64(real); threads]),
            Type::F32 => Self::F32(vec![real as f32; threads]),
            Type::F64 => Self::F64(vec![real; threads]),
            Type::Ptr(_) => return None,
        })
    }

    /// Whether a column can hold values of that type.
    pub fn fits(&self, ty: Type) -> bool {
        use super::super::Space;
        matches!(
            (self, ty),
            (Self::Bool(_), Type::Bool)
                | (Self::I32(_), Type::I32)
                | (Self::U32(_), Type::U32)
                | (Self::U64(_), Type::U64)
                | (Self::F16(_), Type::F16)
                | (Self::Bf16(_), Type::Bf16)
                | (Self::F32(_), Type::F32)
                | (Self::F64(_), Type::F64)
                | (Self::Ptr(_), Type::Ptr(Space::Global(_) | Space::Shared(_)))
                | (Self::Remote(..), Type::Ptr(Space::Remote(_)))
        )
    }

    /// Takes over the values of the threads where `mask` holds. `None` where the types differ.
    pub fn merge(&mut self, from: &Self, mask: &[bool]) -> Option<()> {
        fn lanes<T: Copy>(to: &mut [T], from: &[T], mask: &[bool]) {
            for ((to, from), on) in to.iter_mut().zip(from).zip(mask) {
                if *on {
                    *to = *from;
                }
            }
        }
        match (self, from) {
            (Self::Bool(a), Self::Bool(b)) => lanes(a, b, mask),
            (Self::I32(a), Self::I32(b)) => lanes(a, b, mask),
            (Self::U32(a), Self::U32(b)) => lanes(a, b, mask),
            (Self::U64(a), Self::U64(b)) => lanes(a, b, mask),
            (Self::F16(a), Self::F16(b)) => lanes(a, b, mask),
            (Self::Bf16(a), Self::Bf16(b)) => lanes(a, b, mask),
            (Self::F32(a), Self::F32(b)) => lanes(a, b, mask),
            (Self::F64(a), Self::F64(b)) => lanes(a, b, mask),
            (Self::Ptr(a), Self::Ptr(b)) => lanes(a, b, mask),
            (Self::Remote(a, ar), Self::Remote(b, br)) => {
                lanes(a, b, mask);
                lanes(ar, br, mask);
            }
            _ => return None,
        }
        Some(())
    }
}
