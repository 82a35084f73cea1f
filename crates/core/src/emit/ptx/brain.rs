//! bfloat16, which is the upper half of a single-precision number: read by a shift, and rounded by integers where the
//! device has no instruction for it.

use super::Writer;
use crate::emit::shared::put;
use crate::kernel::{Inst, Type};

impl Writer<'_> {
    /// Prints a conversion from or to bf16 that has no instruction everywhere; `false` if it is none.
    pub(super) fn brain(&mut self, inst: &Inst, from: Type, to: Type) -> bool {
        let (arg, result) = (self.number(inst.args[0]), self.number(inst.results[0]));
        match (from, to) {
            (Type::Bf16, Type::F32) => {
                put!(self.out, "\tcvt.u32.u16 %t0, %h{arg};\n\tshl.b32 %f{result}, %t0, 16;\n");
            }
            (Type::Bf16, Type::F64) => {
                put!(self.out, "\tcvt.u32.u16 %t0, %h{arg};\n\tshl.b32 %t0, %t0, 16;\n");
                put!(self.out, "\tcvt.f64.f32 %e{result}, %t0;\n");
            }
            (Type::F32, Type::Bf16) if !self.isa.rounds_brain() => {
                self.in_register(inst.args[0]);
                put!(self.out, "\tmov.b32 %t0, %f{arg};\n");
                self.round_brain(result);
            }
            (Type::F64, Type::Bf16) if !self.isa.rounds_brain_from_double() => {
                self.in_register(inst.args[0]);
                self.round_to_odd(arg);
                if self.isa.rounds_brain() {
                    put!(self.out, "\tcvt.rn.bf16.f32 %h{result}, %t0;\n");
                } else {
                    self.round_brain(result);
                }
            }
            _ => return false,
        }
        true
    }

    /// The f32 in `%t0` to bf16: to nearest, ties to even; what is not a number stays none.
    fn round_brain(&mut self, result: u32) {
        self.out.push_str("\tsetp.nan.f32 %q, %t0, %t0;\n\tshr.u32 %t1, %t0, 16;\n\tand.b32 %t2, %t1, 1;\n");
        self.out
            .push_str("\tor.b32 %t1, %t1, 0x40;\n\tadd.u32 %t0, %t0, %t2;\n\tadd.u32 %t0, %t0, 0x7FFF;\n");
        self.out.push_str("\tshr.u32 %t0, %t0, 16;\n\tselp.b32 %t0, %t1, %t0, %q;\n");
        put!(self.out, "\tcvt.u16.u32 %h{result}, %t0;\n");
    }

    /// An f64 to f32 in `%t0` such that rounding once more to a shorter type is as if there had been but one rounding:
    /// cut, with its last bit set where something was cut off (Boldo and Melquiond, *When double rounding is odd*, 2005).
    fn round_to_odd(&mut self, arg: u32) {
        put!(self.out, "\t{{\n\t.reg .f64 %u;\n\tcvt.rz.f32.f64 %t0, %e{arg};\n\tcvt.f64.f32 %u, %t0;\n");
        put!(self.out, "\tsetp.ne.f64 %q, %u, %e{arg};\n\tor.b32 %t1, %t0, 1;\n");
        self.out.push_str("\tselp.b32 %t0, %t1, %t0, %q;\n\t}\n");
    }
}
