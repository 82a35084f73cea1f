//! What the pure operations compute.

use half::{bf16, f16};

use super::super::{Cmp, Op, Type};
use super::column::{Column, Lane};
use crate::math::halves::{nearest_bf16, nearest_f16};

/// Why an operation has no result.
#[derive(Debug, Clone, Copy)]
pub(super) enum Failure {
    /// The operation does not exist for these types.
    Types,
    /// This thread asks for something undefined.
    Undefined(usize, &'static str),
}

/// Floating-point types.
trait Real:
    Lane
    + PartialOrd
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Div<Output = Self>
    + std::ops::Neg<Output = Self>
{
    fn fma(self, b: Self, c: Self) -> Self;
    fn least(self, b: Self) -> Self;
    fn most(self, b: Self) -> Self;
    fn root(self) -> Self;
}

macro_rules! real {
    ($($ty:ty),*) => {$(
        impl Real for $ty {
            fn fma(self, b: Self, c: Self) -> Self { self.mul_add(b, c) }
            fn least(self, b: Self) -> Self { self.min(b) }
            fn most(self, b: Self) -> Self { self.max(b) }
            fn root(self) -> Self { self.sqrt() }
        }
    )*};
}
real!(f32, f64);

macro_rules! short_real {
    ($($ty:ty),*) => {$(
        impl Real for $ty {
            // The product is exact in f64.
            fn fma(self, b: Self, c: Self) -> Self {
                Self::from_f64(self.to_f64() * b.to_f64() + c.to_f64())
            }
            fn least(self, b: Self) -> Self { self.min(b) }
            fn most(self, b: Self) -> Self { self.max(b) }
            fn root(self) -> Self { Self::from_f64(self.to_f64().sqrt()) }
        }
    )*};
}
short_real!(f16, bf16);

/// Integer types.
trait Int: Lane + Ord {
    const BITS: u32;
    fn binary(op: Op) -> Option<fn(Self, Self) -> Self>;
    fn shifted(self, op: Op, by: u32) -> Self;
    fn is_zero(self) -> bool;
}

macro_rules! int {
    ($($ty:ty),*) => {$(
        impl Int for $ty {
            const BITS: u32 = <$ty>::BITS;
            fn binary(op: Op) -> Option<fn(Self, Self) -> Self> {
                Some(match op {
                    Op::Add => <$ty>::wrapping_add,
                    Op::Sub => <$ty>::wrapping_sub,
                    Op::Mul => <$ty>::wrapping_mul,
                    Op::Min => |a, b| a.min(b),
                    Op::Max => |a, b| a.max(b),
                    Op::And => |a, b| a & b,
                    Op::Or => |a, b| a | b,
                    Op::Xor => |a, b| a ^ b,
                    Op::Div => |a, b| if b == 0 { 0 } else { a.wrapping_div(b) },
                    Op::Rem => |a, b| if b == 0 { 0 } else { a.wrapping_rem(b) },
                    _ => return None,
                })
            }
            fn shifted(self, op: Op, by: u32) -> Self {
                if op == Op::Shl { self.wrapping_shl(by) } else { self.wrapping_shr(by) }
            }
            fn is_zero(self) -> bool { self == 0 }
        }
    )*};
}
int!(i32, u32, u64);

fn map<A: Copy, B>(a: &[A], f: impl Fn(A) -> B) -> Vec<B> {
    a.iter().map(|&x| f(x)).collect()
}

fn zip<A: Copy, B: Copy, C>(a: &[A], b: &[B], f: impl Fn(A, B) -> C) -> Vec<C> {
    a.iter().zip(b).map(|(&x, &y)| f(x, y)).collect()
}

/// Computes a pure operation with result type `ty` for all threads. `active` says whose undefined results count.
pub(super) fn pure(op: Op, ty: Type, args: &[&Column], active: &[bool]) -> Result<Column, Failure> {
    match op {
        Op::Cmp(cmp) => compare(cmp, args),
        Op::Select => select(args),
        Op::Convert => convert(ty, args),
        Op::Bitcast => bitcast(ty, args.first().ok_or(Failure::Types)?),
        Op::Pack => pack(args),
        Op::PtrAdd => ptr_add(args),
        Op::Addr => offsets(args.first().ok_or(Failure::Types)?).map(Column::Ptr),
        _ => match args.first().ok_or(Failure::Types)? {
            Column::F32(_) => real::<f32>(op, args),
            Column::F64(_) => real::<f64>(op, args),
            Column::F16(_) => real::<f16>(op, args),
            Column::Bf16(_) => real::<bf16>(op, args),
            Column::U32(a) if op == Op::MulHi => {
                let b = lanes::<u32>(args, 1)?;
                Ok(Column::U32(zip(a, b, |x, y| ((u64::from(x) * u64::from(y)) >> 32) as u32)))
            }
            Column::U32(_) => int::<u32>(op, args, active),
            Column::I32(_) => int::<i32>(op, args, active),
            Column::U64(_) => int::<u64>(op, args, active),
            Column::Bool(a) => predicate(op, a, lanes::<bool>(args, 1)?),
            _ => Err(Failure::Types),
        },
    }
}

/// Two numbers of 16 bits as one word.
fn pack(args: &[&Column]) -> Result<Column, Failure> {
    let words = |a: Vec<u16>, b: Vec<u16>| Column::U32(zip(&a, &b, |x, y| u32::from(x) | u32::from(y) << 16));
    match args {
        [Column::F16(a), Column::F16(b)] => Ok(words(map(a, f16::to_bits), map(b, f16::to_bits))),
        [Column::Bf16(a), Column::Bf16(b)] => Ok(words(map(a, bf16::to_bits), map(b, bf16::to_bits))),
        _ => Err(Failure::Types),
    }
}

fn lanes<'a, T: Lane>(args: &[&'a Column], i: usize) -> Result<&'a [T], Failure> {
    args.get(i).and_then(|&column| T::lanes(column)).ok_or(Failure::Types)
}

fn real<T: Real>(op: Op, args: &[&Column]) -> Result<Column, Failure> {
    let a = lanes::<T>(args, 0)?;
    if op == Op::Neg {
        return Ok(T::wrap(map(a, |x| -x)));
    }
    if op == Op::Sqrt {
        return Ok(T::wrap(map(a, T::root)));
    }
    let b = lanes::<T>(args, 1)?;
    Ok(T::wrap(match op {
        Op::Add => zip(a, b, |x, y| x + y),
        Op::Sub => zip(a, b, |x, y| x - y),
        Op::Mul => zip(a, b, |x, y| x * y),
        Op::Div => zip(a, b, |x, y| x / y),
        Op::Min => zip(a, b, T::least),
        Op::Max => zip(a, b, T::most),
        Op::Fma => {
            let c = lanes::<T>(args, 2)?;
            a.iter().zip(b).zip(c).map(|((&x, &y), &z)| x.fma(y, z)).collect()
        }
        _ => return Err(Failure::Types),
    }))
}

fn int<T: Int>(op: Op, args: &[&Column], active: &[bool]) -> Result<Column, Failure> {
    let a = lanes::<T>(args, 0)?;
    if matches!(op, Op::Shl | Op::Shr) {
        let by = lanes::<u32>(args, 1)?;
        if let Some(lane) = first(by, active, |by| by >= T::BITS) {
            return Err(Failure::Undefined(lane, "shifts by the width of its type or more"));
        }
        return Ok(T::wrap(zip(a, by, |x, by| x.shifted(op, by))));
    }
    let b = lanes::<T>(args, 1)?;
    if matches!(op, Op::Div | Op::Rem)
        && let Some(lane) = first(b, active, T::is_zero)
    {
        return Err(Failure::Undefined(lane, "divides by zero"));
    }
    let f = T::binary(op).ok_or(Failure::Types)?;
    Ok(T::wrap(zip(a, b, f)))
}

fn first<T: Copy>(lanes: &[T], active: &[bool], bad: impl Fn(T) -> bool) -> Option<usize> {
    lanes.iter().zip(active).position(|(&x, &on)| on && bad(x))
}

fn predicate(op: Op, a: &[bool], b: &[bool]) -> Result<Column, Failure> {
    Ok(Column::Bool(match op {
        Op::And => zip(a, b, |x, y| x & y),
        Op::Or => zip(a, b, |x, y| x | y),
        Op::Xor => zip(a, b, |x, y| x ^ y),
        _ => return Err(Failure::Types),
    }))
}

fn compare(cmp: Cmp, args: &[&Column]) -> Result<Column, Failure> {
    fn of<T: Lane + PartialOrd>(cmp: Cmp, args: &[&Column]) -> Result<Column, Failure> {
        let (a, b) = (lanes::<T>(args, 0)?, lanes::<T>(args, 1)?);
        Ok(Column::Bool(match cmp {
            Cmp::Eq => zip(a, b, |x, y| x == y),
            Cmp::Ne => zip(a, b, |x, y| x != y),
            Cmp::Lt => zip(a, b, |x, y| x < y),
            Cmp::Le => zip(a, b, |x, y| x <= y),
            Cmp::Gt => zip(a, b, |x, y| x > y),
            Cmp::Ge => zip(a, b, |x, y| x >= y),
        }))
    }
    match args.first().ok_or(Failure::Types)? {
        Column::Bool(_) => of::<bool>(cmp, args),
        Column::I32(_) => of::<i32>(cmp, args),
        Column::U32(_) => of::<u32>(cmp, args),
        Column::U64(_) => of::<u64>(cmp, args),
        Column::F16(_) => of::<f16>(cmp, args),
        Column::Bf16(_) => of::<bf16>(cmp, args),
        Column::F32(_) => of::<f32>(cmp, args),
        Column::F64(_) => of::<f64>(cmp, args),
        _ => Err(Failure::Types),
    }
}

fn select(args: &[&Column]) -> Result<Column, Failure> {
    let [cond, yes, no] = args else { return Err(Failure::Types) };
    let cond = bool::lanes(cond).ok_or(Failure::Types)?;
    let mut result = Column::clone(no);
    result.merge(yes, cond).ok_or(Failure::Types)?;
    Ok(result)
}

fn offsets(column: &Column) -> Result<Vec<i64>, Failure> {
    match column {
        Column::U32(a) => Ok(map(a, i64::from)),
        Column::U64(a) => Ok(map(a, |x| x as i64)),
        _ => Err(Failure::Types),
    }
}

fn ptr_add(args: &[&Column]) -> Result<Column, Failure> {
    let by = offsets(args.get(1).ok_or(Failure::Types)?)?;
    match args[0] {
        Column::Ptr(at) => Ok(Column::Ptr(zip(at, &by, i64::wrapping_add))),
        Column::Remote(at, rank) => Ok(Column::Remote(zip(at, &by, i64::wrapping_add), rank.clone())),
        _ => Err(Failure::Types),
    }
}

fn convert(ty: Type, args: &[&Column]) -> Result<Column, Failure> {
    match args.first().ok_or(Failure::Types)? {
        Column::Bool(a) => from_int(ty, a, |x| i128::from(u8::from(x))),
        Column::I32(a) => from_int(ty, a, i128::from),
        Column::U32(a) => from_int(ty, a, i128::from),
        Column::U64(a) => from_int(ty, a, i128::from),
        Column::F16(a) => from_real(ty, a, f16::to_f64),
        Column::Bf16(a) => from_real(ty, a, bf16::to_f64),
        Column::F32(a) => from_real(ty, a, f64::from),
        Column::F64(a) => from_real(ty, a, |x| x),
        _ => Err(Failure::Types),
    }
}

fn bitcast(ty: Type, column: &Column) -> Result<Column, Failure> {
    let bits: Vec<u64> = match column {
        Column::I32(a) => map(a, |x| u64::from(x as u32)),
        Column::U32(a) => map(a, u64::from),
        Column::F32(a) => map(a, |x| u64::from(x.to_bits())),
        Column::U64(a) => a.clone(),
        Column::F64(a) => map(a, f64::to_bits),
        _ => return Err(Failure::Types),
    };
    Ok(match ty {
        Type::I32 => Column::I32(map(&bits, |x| x as u32 as i32)),
        Type::U32 => Column::U32(map(&bits, |x| x as u32)),
        Type::F32 => Column::F32(map(&bits, |x| f32::from_bits(x as u32))),
        Type::U64 => Column::U64(bits),
        Type::F64 => Column::F64(map(&bits, f64::from_bits)),
        _ => return Err(Failure::Types),
    })
}

fn from_int<T: Copy>(ty: Type, a: &[T], wide: impl Fn(T) -> i128) -> Result<Column, Failure> {
    Ok(match ty {
        Type::I32 => Column::I32(map(a, |x| wide(x) as i32)),
        Type::U32 => Column::U32(map(a, |x| wide(x) as u32)),
        Type::U64 => Column::U64(map(a, |x| wide(x) as u64)),
        Type::F16 => Column::F16(map(a, |x| f16::from_f64(wide(x) as f64))),
        Type::Bf16 => Column::Bf16(map(a, |x| bf16::from_f64(wide(x) as f64))),
        Type::F32 => Column::F32(map(a, |x| wide(x) as f32)),
        Type::F64 => Column::F64(map(a, |x| wide(x) as f64)),
        Type::Bool | Type::Ptr(_) => return Err(Failure::Types),
    })
}

/// Every float type widens to f64 exactly, so the one rounding is the last.
fn from_real<T: Copy>(ty: Type, a: &[T], wide: impl Fn(T) -> f64) -> Result<Column, Failure> {
    Ok(match ty {
        Type::I32 => Column::I32(map(a, |x| wide(x).round_ties_even() as i32)),
        Type::U32 => Column::U32(map(a, |x| wide(x).round_ties_even() as u32)),
        Type::U64 => Column::U64(map(a, |x| wide(x).round_ties_even() as u64)),
        Type::F16 => Column::F16(map(a, |x| nearest_f16(wide(x)))),
        Type::Bf16 => Column::Bf16(map(a, |x| nearest_bf16(wide(x)))),
        Type::F32 => Column::F32(map(a, |x| wide(x) as f32)),
        Type::F64 => Column::F64(map(a, wide)),
        Type::Bool | Type::Ptr(_) => return Err(Failure::Types),
    })
}
