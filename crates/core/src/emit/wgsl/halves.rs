//! Numbers of 16 bits. They are words or halves of words, converted by integers: what the language's own conversions make
//! of ties, of numbers that are subnormal and of those beyond the range is up to the device. Kernels that compute in f16,
//! or store single ones, have the type of the language.

use super::{Uses, Writer};
use crate::emit::braces::Braces;
use crate::emit::shared::{self, each_inst, put};
use crate::kernel::{Inst, Kernel, Op, Space, Type, Value};

/// Whether a type takes half a word.
pub(super) const fn is_half(ty: Type) -> bool {
    matches!(ty, Type::F16 | Type::Bf16)
}

/// Whether an instruction does no more to 16-bit numbers than to move them, two at least, and to convert them.
pub(super) fn only_keeps(kernel: &Kernel, inst: &Inst) -> bool {
    shared::only_keeps(kernel, inst) && !matches!(inst.op, Op::Store { width: 1, .. })
}

/// Whether a kernel needs the language's own f16.
pub(super) fn is_native(kernel: &Kernel) -> bool {
    let mut native = false;
    each_inst(&kernel.body, &mut |inst| {
        let mut values = inst.args.iter().chain(&inst.results);
        native |= values.any(|&value| kernel.ty(value) == Type::F16) && !only_keeps(kernel, inst);
    });
    native
}

impl Writer<'_> {
    /// Whether a type's values are bits in words.
    pub(super) fn is_bits(&self, ty: Type) -> bool {
        is_half(ty) && !(ty == Type::F16 && self.layout.native())
    }

    /// A conversion from or to a 16-bit type; `false` if it is none.
    pub(super) fn convert_half(&mut self, result: Value, arg: Value) -> bool {
        let (from, to) = (self.kernel.ty(arg), self.kernel.ty(result));
        if !(is_half(from) || is_half(to)) || !(from.is_float() && to.is_float()) {
            return false;
        }
        // To single precision, in which every 16-bit number is exact, or to which rounding comes once.
        let open = match from {
            Type::Bf16 => "bitcast<f32>(",
            Type::F16 if self.layout.native() => "f32(",
            Type::F16 => "from_f16(",
            Type::F64 => "narrowed(",
            _ => "(",
        };
        let single = |this: &mut Self| {
            this.out.push_str(open);
            this.operand(arg);
            this.out.push_str(if from == Type::Bf16 { " << 16u)" } else { ")" });
        };
        let (before, after) = match to {
            Type::F16 if self.layout.native() => ("f16(from_f16(to_f16(", ")))"),
            Type::F16 => ("to_f16(", ")"),
            Type::Bf16 => ("to_bf16(", ")"),
            Type::F64 => ("f64(", ")"),
            _ => ("", ""),
        };
        self.used.narrowed |= from == Type::F64;
        self.used.from_f16 |= if self.layout.native() { to == Type::F16 } else { from == Type::F16 };
        self.used.to_f16 |= to == Type::F16;
        self.used.to_bf16 |= to == Type::Bf16;
        self.out.push_str(before);
        single(self);
        self.out.push_str(after);
        true
    }

    /// Loads 16-bit numbers from an array of words.
    pub(super) fn load_halves(&mut self, inst: &Inst, space: Space, offset: i32, pred: Option<Value>) {
        let whole = usize::from(self.layout.width(space));
        let ty = if whole == 4 { "vec2<u32>" } else { "u32" };
        let parts: Vec<&[Value]> = inst.results.chunks(whole).collect();
        if pred.is_some() {
            for part in &parts {
                self.indent();
                put!(self.out, "var w{}: {ty};\n", part[0].0);
            }
            self.open(pred);
        }
        for (i, part) in parts.iter().enumerate() {
            self.indent();
            put!(self.out, "{}w{} = ", if pred.is_some() { "" } else { "let " }, part[0].0);
            if part.len() == 1 {
                self.half_word(space, inst.args[0], offset);
            } else {
                self.element_at(space, inst.args[0], i64::from(offset) + (i * whole) as i64);
            }
            self.out.push_str(";\n");
        }
        self.close(pred);
        for part in parts {
            for (i, &value) in part.iter().enumerate() {
                let word = ["", ".x", ".y"][if whole == 4 { 1 + i / 2 } else { 0 }];
                self.define(value);
                put!(self.out, "w{}{word}", part[0].0);
                self.out.push_str(if part.len() == 1 || i % 2 == 0 { " & 0xffffu;\n" } else { " >> 16u;\n" });
            }
        }
    }

    /// A word with one number in its lower half.
    fn half_word(&mut self, space: Space, ptr: Value, offset: i32) {
        let at = |this: &mut Self| {
            this.out.push('(');
            put!(this.out, "v{}", ptr.0);
            this.distance(offset.into(), "u");
            this.out.push(')');
        };
        super::layout::array_name(self.kernel, space, &mut self.out);
        self.out.push('[');
        at(self);
        self.out.push_str(" >> 1u] >> ((");
        at(self);
        self.out.push_str(" & 1u) << 4u)");
    }

    /// The words of a declared element of so many 16-bit numbers.
    pub(super) fn halves(&mut self, part: &[Value]) {
        let wide = part.len() == 4;
        self.out.push_str(if wide { "vec2<u32>(" } else { "" });
        for (i, both) in part.chunks(2).enumerate() {
            self.out.push_str(if i == 0 { "" } else { ", " });
            self.operand(both[0]);
            self.out.push_str(" | (");
            self.operand(both[1]);
            self.out.push_str(" << 16u)");
        }
        self.out.push_str(if wide { ")" } else { "" });
    }
}

/// The functions that a kernel's conversions call.
pub(super) fn functions(used: &Uses, text: &mut String) {
    let all = [
        (used.from_f16, FROM_F16),
        (used.to_f16, TO_F16),
        (used.to_bf16, TO_BF16),
        (used.narrowed, NARROWED),
    ];
    all.iter().filter(|(used, _)| *used).for_each(|(_, function)| text.push_str(function));
}

const FROM_F16: &str = "
fn from_f16(h: u32) -> f32 {
    let sign = (h & 0x8000u) << 16u;
    let exponent = (h >> 10u) & 31u;
    let fraction = h & 0x3ffu;
    if exponent == 0u {
        return bitcast<f32>(sign | bitcast<u32>(f32(fraction) * 5.9604644775390625e-8f));
    }
    let wide = select(exponent + 112u, 255u, exponent == 31u);
    return bitcast<f32>(sign | (wide << 23u) | (fraction << 13u));
}
";

/// To nearest, ties to even; below the normal numbers, by the ulp of a half.
const TO_F16: &str = "
fn to_f16(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    let sign = (bits >> 16u) & 0x8000u;
    let size = bits & 0x7fffffffu;
    if size > 0x7f800000u { return sign | 0x7e00u; }
    if size >= 0x477ff000u { return sign | 0x7c00u; }
    if size < 0x38800000u {
        return sign | (bitcast<u32>(bitcast<f32>(size) + 0.5f) - 0x3f000000u);
    }
    return sign | ((size - 0x38000000u + 0xfffu + ((size >> 13u) & 1u)) >> 13u);
}
";

const TO_BF16: &str = "
fn to_bf16(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    if (bits & 0x7fffffffu) > 0x7f800000u { return (bits >> 16u) | 0x40u; }
    return (bits + 0x7fffu + ((bits >> 16u) & 1u)) >> 16u;
}
";

/// To single precision such that rounding once more is as if there had been but one rounding: cut, with the last bit set
/// where something was cut off (Boldo and Melquiond, *When double rounding is odd*, 2005).
const NARROWED: &str = "
fn narrowed(x: f64) -> f32 {
    let y = f32(x);
    if f64(y) == x || x != x { return y; }
    let bits = bitcast<u32>(y);
    return bitcast<f32>(select(bits, bits - 1u, abs(f64(y)) > abs(x)) | 1u);
}
";
