//! Local rewrite rules: what one instruction becomes when some of its arguments are constants. The builder
//! applies them as it goes, and the simplifier to a fixed point.

use super::{Op, Type, Value};
use crate::math::halves::{nearest_bf16, nearest_f16};

/// What an instruction folds to.
pub(super) enum Fold {
    /// A constant of the instruction's result type.
    Const(u64),
    /// One of its arguments.
    Same(Value),
    /// A simpler instruction of the same result type.
    Simpler(Op, Vec<Value>),
}

/// Rounds an `f64` to what `ty` can represent.
pub(super) fn round_to(ty: Type, x: f64) -> f64 {
    match ty {
        Type::F32 => f64::from(x as f32),
        Type::F16 => nearest_f16(x).to_f64(),
        Type::Bf16 => nearest_bf16(x).to_f64(),
        _ => x,
    }
}

/// Folds one pure instruction of result type `ty`. `constant` gives the bits of an argument that is constant.
pub(super) fn fold(
    op: Op,
    ty: Type,
    args: &[Value],
    arg_ty: Type,
    constant: &dyn Fn(Value) -> Option<u64>,
) -> Option<Fold> {
    let mut known = [None; 3];
    if args.len() > known.len() {
        return None;
    }
    let consts = &mut known[..args.len()];
    consts.iter_mut().zip(args).for_each(|(known, &arg)| *known = constant(arg));
    let consts = &*consts;
    if op == Op::Select {
        return match consts[0] {
            Some(0) => Some(Fold::Same(args[2])),
            Some(_) => Some(Fold::Same(args[1])),
            None if args[1] == args[2] => Some(Fold::Same(args[1])),
            None => None,
        };
    }
    if !args.is_empty() && consts.iter().all(Option::is_some) {
        let bits: Vec<u64> = consts.iter().flatten().copied().collect();
        let folded =
            if arg_ty.is_float() { fold_float(op, ty, &bits) } else { fold_int(op, ty, arg_ty, &bits) };
        if let Some(bits) = folded {
            return Some(Fold::Const(bits));
        }
    }
    if arg_ty.is_float() { identities_float(op, args, consts) } else { identities_int(op, ty, args, consts) }
}

fn identities_float(op: Op, args: &[Value], consts: &[Option<u64>]) -> Option<Fold> {
    let is = |i: usize, x: f64| consts[i].is_some_and(|bits| f64::from_bits(bits) == x);
    match op {
        // Adding zero changes only the sign of a zero, which no transform depends on.
        Op::Add if is(1, 0.0) => Some(Fold::Same(args[0])),
        Op::Add if is(0, 0.0) => Some(Fold::Same(args[1])),
        Op::Sub if is(1, 0.0) => Some(Fold::Same(args[0])),
        Op::Sub if is(0, 0.0) => Some(Fold::Simpler(Op::Neg, vec![args[1]])),
        Op::Mul if is(1, 1.0) => Some(Fold::Same(args[0])),
        Op::Mul if is(0, 1.0) => Some(Fold::Same(args[1])),
        Op::Mul if is(1, -1.0) => Some(Fold::Simpler(Op::Neg, vec![args[0]])),
        Op::Mul if is(0, -1.0) => Some(Fold::Simpler(Op::Neg, vec![args[1]])),
        Op::Fma if is(1, 1.0) => Some(Fold::Simpler(Op::Add, vec![args[0], args[2]])),
        Op::Fma if is(0, 1.0) => Some(Fold::Simpler(Op::Add, vec![args[1], args[2]])),
        Op::Fma if is(1, -1.0) => Some(Fold::Simpler(Op::Sub, vec![args[2], args[0]])),
        Op::Fma if is(0, -1.0) => Some(Fold::Simpler(Op::Sub, vec![args[2], args[1]])),
        Op::Fma if is(2, 0.0) => Some(Fold::Simpler(Op::Mul, vec![args[0], args[1]])),
        _ => None,
    }
}

fn identities_int(op: Op, ty: Type, args: &[Value], consts: &[Option<u64>]) -> Option<Fold> {
    let is = |i: usize, x: u64| consts[i] == Some(x);
    let all_ones = if ty == Type::U64 { u64::MAX } else { u64::from(u32::MAX) };
    match op {
        Op::Add | Op::Or | Op::Xor if is(1, 0) => Some(Fold::Same(args[0])),
        Op::Add | Op::Or | Op::Xor if is(0, 0) => Some(Fold::Same(args[1])),
        Op::Sub | Op::Shl | Op::Shr | Op::PtrAdd if is(1, 0) => Some(Fold::Same(args[0])),
        Op::Mul | Op::Div if is(1, 1) => Some(Fold::Same(args[0])),
        Op::Mul if is(0, 1) => Some(Fold::Same(args[1])),
        Op::Mul | Op::And if is(0, 0) || is(1, 0) => Some(Fold::Const(0)),
        Op::MulHi if is(0, 0) || is(1, 0) => Some(Fold::Const(0)),
        Op::And if ty == Type::Bool && is(1, 1) => Some(Fold::Same(args[0])),
        Op::And if ty == Type::Bool && is(0, 1) => Some(Fold::Same(args[1])),
        Op::And if ty != Type::Bool && is(1, all_ones) => Some(Fold::Same(args[0])),
        Op::And | Op::Or | Op::Min | Op::Max if args[0] == args[1] => Some(Fold::Same(args[0])),
        Op::Sub | Op::Xor if args[0] == args[1] => Some(Fold::Const(0)),
        Op::Rem if is(1, 1) => Some(Fold::Const(0)),
        Op::Div | Op::Rem | Op::Shr | Op::Shl if is(0, 0) => Some(Fold::Const(0)),
        _ => None,
    }
}

fn fold_float(op: Op, ty: Type, bits: &[u64]) -> Option<u64> {
    let x = |i: usize| f64::from_bits(bits[i]);
    let value = match op {
        Op::Add => x(0) + x(1),
        Op::Sub => x(0) - x(1),
        Op::Mul => x(0) * x(1),
        Op::Fma if ty == Type::F64 => x(0).mul_add(x(1), x(2)),
        Op::Fma if ty == Type::F32 => f64::from((x(0) as f32).mul_add(x(1) as f32, x(2) as f32)),
        // For the half types an f64 cannot hold the exact product-sum in every case: left to the device.
        Op::Neg => -x(0),
        Op::Min => x(0).min(x(1)),
        Op::Max => x(0).max(x(1)),
        Op::Convert if ty.is_float() => x(0),
        Op::Cmp(cmp) => return Some(cmp.holds(x(0).partial_cmp(&x(1))).into()),
        _ => return None,
    };
    // What overflows is left to the device: there are no infinite constants.
    let rounded = round_to(ty, value);
    rounded.is_finite().then(|| rounded.to_bits())
}

fn fold_int(op: Op, ty: Type, arg_ty: Type, bits: &[u64]) -> Option<u64> {
    let signed = arg_ty == Type::I32;
    let sign = |x: u64| i64::from(x as u32 as i32);
    let a = bits[0];
    let b = *bits.get(1).unwrap_or(&0);
    let value = match op {
        Op::Add => a.wrapping_add(b),
        Op::Sub => a.wrapping_sub(b),
        Op::Mul => a.wrapping_mul(b),
        Op::MulHi => (a * b) >> 32,
        Op::Div | Op::Rem if b == 0 => return None,
        Op::Div if signed => sign(a).wrapping_div(sign(b)) as u64,
        Op::Rem if signed => sign(a).wrapping_rem(sign(b)) as u64,
        Op::Div => a / b,
        Op::Rem => a % b,
        Op::Min if signed => sign(a).min(sign(b)) as u64,
        Op::Max if signed => sign(a).max(sign(b)) as u64,
        Op::Min => a.min(b),
        Op::Max => a.max(b),
        Op::Shl => a.checked_shl(b as u32)?,
        Op::Shr if signed => (sign(a) >> b.min(31)) as u64,
        Op::Shr => a.checked_shr(b as u32)?,
        Op::And => a & b,
        Op::Or => a | b,
        Op::Xor => a ^ b,
        Op::Cmp(cmp) => {
            let order = if signed { sign(a).cmp(&sign(b)) } else { a.cmp(&b) };
            return Some(cmp.holds(Some(order)).into());
        }
        Op::Convert if ty.is_float() => {
            let x = if signed { sign(a) as f64 } else { a as f64 };
            return Some(round_to(ty, x).to_bits());
        }
        Op::Convert if signed => sign(a) as u64,
        Op::Convert => a,
        _ => return None,
    };
    Some(match ty {
        Type::Bool => value & 1,
        Type::U64 => value,
        _ => value & u64::from(u32::MAX),
    })
}
