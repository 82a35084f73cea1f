//! OpenCL C 1.2, which drivers of GPUs of every vendor compile, and of processors.
//!
//! Pointers are pointers. Wide accesses go through a pointer to vectors: an access starts at a multiple of its width,
//! and buffers are aligned to more than the widest. 16-bit numbers are their bits, in which they are stored and from
//! which they are converted (OpenCL C 1.2, 6.12.7: `vload_half` and `vstore_half_rte` are there without any extension).

mod arith;
mod memory;

use super::EmitError;
use super::braces::Braces;
use super::shared::{constants, each_inst, only_in_ptx, only_keeps, put};
use crate::kernel::{Access, Inst, Kernel, Op, Space, Special, Type, Value, Verified};

/// Bytes of text that one instruction takes, generously.
const BYTES_PER_INST: usize = 64;

/// Prints a kernel as OpenCL C 1.2.
///
/// Its arguments are the buffers in order, and, of a kernel that takes one, the count of the run as a `uint` behind them.
/// It is launched in one dimension, in groups of exactly [`Kernel::threads`], as many as there are blocks. Its buffers do
/// not overlap one another, and start at multiples of 16 bytes.
///
/// # Errors
///
/// An operation that the language lacks.
pub fn opencl(kernel: &Verified<Kernel>) -> Result<String, EmitError> {
    let kernel: &Kernel = kernel;
    let mut writer = Writer {
        kernel,
        constants: constants(kernel),
        out: String::with_capacity(1024 + kernel.types.len() * BYTES_PER_INST),
        depth: 1,
    };
    writer.signature();
    writer.block(&kernel.body)?;
    writer.out.push_str("}\n");
    Ok(writer.out)
}

struct Writer<'k> {
    kernel: &'k Kernel,
    constants: Vec<Option<u64>>,
    out: String,
    /// Nesting, for indentation.
    depth: usize,
}

/// Name of a type of values and of elements.
fn name(ty: Type) -> &'static str {
    match ty {
        Type::Bool => "bool",
        Type::I32 => "int",
        Type::U32 => "uint",
        Type::U64 => "ulong",
        Type::F16 | Type::Bf16 => "ushort",
        Type::F32 => "float",
        Type::F64 => "double",
        // Spelt by `pointee`.
        Type::Ptr(_) => "",
    }
}

/// What pointers into an array point to.
fn pointee(kernel: &Kernel, space: Space) -> String {
    let elem = name(kernel.elem(space));
    match space {
        Space::Global(i) if kernel.buffers[usize::from(i)].access == Access::Read => {
            format!("__global const {elem}")
        }
        Space::Global(_) => format!("__global {elem}"),
        Space::Shared(_) | Space::Remote(_) => format!("__local {elem}"),
    }
}

impl<'k> Writer<'k> {
    /// All that stands in front of the code.
    fn signature(&mut self) {
        let kernel = self.kernel;
        let arrays = kernel
            .buffers
            .iter()
            .map(|buffer| buffer.elem)
            .chain(kernel.shared.iter().map(|array| array.elem));
        if kernel.types.contains(&Type::F64) || arrays.into_iter().any(|elem| elem == Type::F64) {
            self.out.push_str("#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n");
        }
        // A product and a sum are rounded apart where the kernel has them apart.
        self.out.push_str("#pragma OPENCL FP_CONTRACT OFF\n");
        self.functions();
        let threads = kernel.threads;
        put!(
            self.out,
            "\n__kernel __attribute__((reqd_work_group_size({threads}, 1, 1)))\nvoid {}(",
            kernel.name
        );
        for (i, buffer) in (0..).zip(&kernel.buffers) {
            let pointee = pointee(kernel, Space::Global(i));
            put!(self.out, "{}\n    {pointee} *restrict g_{}", if i == 0 { "" } else { "," }, buffer.name);
        }
        if kernel.at_run.is_some() {
            put!(self.out, "{}\n    const uint count", if kernel.buffers.is_empty() { "" } else { "," });
        }
        self.out.push_str("\n) {\n");
        for array in &kernel.shared {
            // No array is empty; the widest access is of 16 bytes.
            let (elem, len) = (name(array.elem), array.len.max(1));
            put!(self.out, "    __local {elem} s_{}[{len}] __attribute__((aligned(16)));\n", array.name);
        }
    }

    /// The functions that the kernel's conversions call.
    fn functions(&mut self) {
        let (mut from_half, mut to_half, mut to_brain) = (false, [false; 2], [false; 2]);
        each_inst(&self.kernel.body, &mut |inst| {
            if inst.op == Op::Convert {
                let [from, to] = [inst.args[0], inst.results[0]].map(|value| self.kernel.ty(value));
                let double = usize::from(from == Type::F64);
                from_half |= from == Type::F16 && to != Type::F16;
                to_half[double] |= to == Type::F16 && from != Type::F16;
                to_brain[double] |= to == Type::Bf16 && from != Type::Bf16;
            }
        });
        let all = [
            (from_half, FROM_HALF),
            (to_half[0], TO_HALF),
            (to_half[1], TO_HALF_DOUBLE),
            (to_brain[0] || to_brain[1], TO_BRAIN),
            (to_brain[1], TO_BRAIN_DOUBLE),
        ];
        all.iter().filter(|(used, _)| *used).for_each(|(_, function)| self.out.push_str(function));
    }

    /// Refuses what the language lacks.
    fn admit(&self, inst: &Inst) -> Result<(), EmitError> {
        let kernel = || self.kernel.name.clone();
        let target = || "OpenCL C".to_string();
        let lanes = matches!(inst.op, Op::Shuffle(_) | Op::Special(Special::Lane));
        let lacks = only_in_ptx(inst.op).or_else(|| lanes.then_some("PTX and WGSL have subgroups"));
        if let Some(would_work) = lacks {
            return Err(EmitError::Operation { kernel: kernel(), op: inst.op, target: target(), would_work });
        }
        let mut values = inst.args.iter().chain(&inst.results).map(|&value| self.kernel.ty(value));
        match values.find(|ty| ty.bytes() == 2).filter(|_| !only_keeps(self.kernel, inst)) {
            None => Ok(()),
            Some(ty) => {
                let would_work = "f32 does, from which it is stored";
                Err(EmitError::Type { kernel: kernel(), op: inst.op, ty, target: target(), would_work })
            }
        }
    }

    /// The results carry the values from turn to turn, so that yields may name the block's own parameters in any order.
    /// What is left is compared before the step is added: the sum may pass 2^32.
    fn loop_(&mut self, inst: &'k Inst) -> Result<(), EmitError> {
        let (lo, hi, step) = (inst.args[0], inst.args[1], inst.args[2]);
        let block = &inst.blocks[0];
        for (&result, &init) in inst.results.iter().zip(&inst.args[3..]) {
            self.declare(result);
            self.out.push_str(" = ");
            self.operand(init);
            self.out.push_str(";\n");
        }
        let index = block.params[0];
        self.declare(index);
        self.out.push_str(" = ");
        self.operand(lo);
        self.out.push_str(";\n");
        self.indent();
        put!(self.out, "if (v{} < ", index.0);
        self.operand(hi);
        put!(self.out, ") {{ bool more{}; do {{\n", index.0);
        self.depth += 1;
        for (&param, &result) in block.params[1..].iter().zip(&inst.results) {
            self.define(param);
            put!(self.out, "v{};\n", result.0);
        }
        self.block(block)?;
        // A yield may be another result's parameter, never a result itself, so that the order does not matter.
        for (&result, &yielded) in inst.results.iter().zip(&block.yields) {
            self.indent();
            put!(self.out, "v{} = ", result.0);
            self.operand(yielded);
            self.out.push_str(";\n");
        }
        self.indent();
        put!(self.out, "more{} = ", index.0);
        self.operand(hi);
        put!(self.out, " - v{} > ", index.0);
        self.operand(step);
        self.out.push_str(";\n");
        self.indent();
        put!(self.out, "v{} += ", index.0);
        self.operand(step);
        self.out.push_str(";\n");
        self.depth -= 1;
        self.indent();
        put!(self.out, "}} while (more{}); }}\n", index.0);
        Ok(())
    }

    /// `float v1`.
    fn declare(&mut self, value: Value) {
        self.indent();
        match self.kernel.ty(value) {
            Type::Ptr(space) => put!(self.out, "{} *v{}", pointee(self.kernel, space), value.0),
            ty => put!(self.out, "{} v{}", name(ty), value.0),
        }
    }
}

impl<'k> Braces<'k> for Writer<'k> {
    fn out(&mut self) -> &mut String {
        &mut self.out
    }

    fn depth(&mut self) -> &mut usize {
        &mut self.depth
    }

    fn inst(&mut self, inst: &'k Inst) -> Result<(), EmitError> {
        self.admit(inst)?;
        match inst.op {
            // Constants stand where they are used; a prefetch is a hint.
            Op::Const(_) | Op::BulkPrefetch { .. } => {}
            Op::Special(special) => {
                let blocks = self.kernel.blocks;
                self.define(inst.results[0]);
                match special {
                    Special::BlockIndex => self.out.push_str("(uint)get_group_id(0);\n"),
                    Special::BlockCount => put!(self.out, "{blocks}u;\n"),
                    Special::ThreadIndex => self.out.push_str("(uint)get_local_id(0);\n"),
                    Special::Count => self.out.push_str("count;\n"),
                    // Launches have one dimension, which no compiler knows.
                    _ => self.out.push_str("(uint)get_group_id(2);\n"),
                }
            }
            Op::Barrier => self.line("barrier(CLK_LOCAL_MEM_FENCE);"),
            Op::Loop => self.loop_(inst)?,
            Op::If => {
                self.indent();
                self.out.push_str("if (");
                self.operand(inst.args[0]);
                self.out.push_str(") {\n");
                self.nested(&inst.blocks[0])?;
                self.line("}");
            }
            _ if self.memory(inst) => {}
            _ => self.arith(inst),
        }
        Ok(())
    }

    /// `const float v1 = `.
    fn define(&mut self, value: Value) {
        self.indent();
        match self.kernel.ty(value) {
            Type::Ptr(space) => put!(self.out, "{} *const v{} = ", pointee(self.kernel, space), value.0),
            ty => put!(self.out, "const {} v{} = ", name(ty), value.0),
        }
    }

    /// A value where an expression reads it. Decimals are the shortest that round back to the same number.
    fn operand(&mut self, value: Value) {
        let Some(bits) = self.constants[value.0 as usize] else {
            return put!(self.out, "v{}", value.0);
        };
        let float = f64::from_bits(bits);
        match self.kernel.ty(value) {
            Type::Bool => put!(self.out, "{}", bits != 0),
            // The least integer has no literal: the minus is an operator.
            Type::I32 if bits as u32 as i32 == i32::MIN => self.out.push_str("(-2147483647 - 1)"),
            Type::I32 => put!(self.out, "({})", bits as u32 as i32),
            Type::U64 => put!(self.out, "{bits}ul"),
            Type::F16 => put!(self.out, "(ushort){}", half::f16::from_f64(float).to_bits()),
            Type::Bf16 => put!(self.out, "(ushort){}", half::bf16::from_f64(float).to_bits()),
            Type::F32 if !float.is_finite() => put!(self.out, "as_float({}u)", (float as f32).to_bits()),
            Type::F32 => put!(self.out, "({:?}f)", float as f32),
            Type::F64 if !float.is_finite() => put!(self.out, "as_double({bits}ul)"),
            Type::F64 => put!(self.out, "({float:?})"),
            _ => put!(self.out, "{}u", bits as u32),
        }
    }
}

const FROM_HALF: &str = "
static float from_half(ushort bits) {
    return vload_half(0, (const __private half *)&bits);
}
";

const TO_HALF: &str = "
static ushort to_half(float x) {
    ushort bits;
    vstore_half_rte(x, 0, (__private half *)&bits);
    return bits;
}
";

const TO_HALF_DOUBLE: &str = "
static ushort to_half_double(double x) {
    ushort bits;
    vstore_half_rte(x, 0, (__private half *)&bits);
    return bits;
}
";

/// To nearest, ties to even.
const TO_BRAIN: &str = "
static ushort to_brain(float x) {
    const uint bits = as_uint(x);
    if (isnan(x)) { return (ushort)((bits >> 16) | 0x40u); }
    return (ushort)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
";

/// Through single precision such that rounding once more is as if there had been but one rounding: cut, with the last
/// bit set where something was cut off (Boldo and Melquiond, *When double rounding is odd*, 2005).
const TO_BRAIN_DOUBLE: &str = "
static ushort to_brain_double(double x) {
    const float cut = convert_float_rtz(x);
    return to_brain((double)cut == x || isnan(x) ? cut : as_float(as_uint(cut) | 1u));
}
";
