//! WGSL, which wgpu and browsers compile.
//!
//! WGSL has no pointers into arrays that could be kept in a value: a pointer is an index in elements of the
//! array that its type names. An array whose every access is of at least 2 (or 4) elements is declared as one of
//! vectors, since an access starts at a multiple of its width.

mod arith;
mod halves;
mod layout;
mod memory;

use super::EmitError;
use super::braces::Braces;
use super::shared::{constants, only_in_ptx, put};
use crate::kernel::{AtRun, Inst, Kernel, Op, Special, Type, Value, Verified};
use layout::Layout;

/// Bits of each of the three digits in which a count is bound.
pub const COUNT_BITS: u32 = 11;

/// Bytes of text that one instruction takes, generously.
const BYTES_PER_INST: usize = 64;

/// Prints a kernel as WGSL. `browser`: the dialect that browsers take, which asks for subgroups by name and has
/// no f64.
///
/// Buffers are bound in order in group 0. The count that a run is given, of a kernel that takes one, is bound behind
/// them: a uniform `vec4<u32>` whose first three components are its digits of [`COUNT_BITS`] bits, the lowest first; so
/// it can be put together by copies from a table on the device, in the order of its commands. A launch of more than 65535 blocks is laid out in rows of any length;
/// the blocks beyond the kernel's own do nothing.
///
/// # Errors
///
/// An operation or type that the language lacks.
pub fn wgsl(kernel: &Verified<Kernel>, browser: bool) -> Result<String, EmitError> {
    let kernel: &Kernel = kernel;
    let mut writer = Writer {
        kernel,
        browser,
        layout: Layout::new(kernel),
        constants: constants(kernel),
        out: String::with_capacity(1024 + kernel.types.len() * BYTES_PER_INST),
        depth: 1,
        used: Uses::default(),
    };
    writer.block(&kernel.body)?;
    Ok(writer.finish())
}

/// What the text needs in front of the function.
#[derive(Default)]
struct Uses {
    f16: bool,
    subgroups: bool,
    mul_hi: bool,
    from_f16: bool,
    to_f16: bool,
    to_bf16: bool,
    narrowed: bool,
}

struct Writer<'k> {
    kernel: &'k Kernel,
    browser: bool,
    layout: Layout,
    constants: Vec<Option<u64>>,
    out: String,
    /// Nesting, for indentation.
    depth: usize,
    used: Uses,
}

/// Name of a type in WGSL.
fn name(ty: Type) -> &'static str {
    match ty {
        Type::Bool => "bool",
        Type::I32 => "i32",
        // Pointers are indices.
        Type::U32 | Type::Ptr(_) => "u32",
        Type::F32 => "f32",
        Type::F64 => "f64",
        Type::F16 => "f16",
        // Refused before they are printed, or bits.
        Type::U64 => "u64",
        Type::Bf16 => "bf16",
    }
}

impl<'k> Writer<'k> {
    fn finish(self) -> String {
        let kernel = self.kernel;
        let mut text = String::with_capacity(self.out.len() + 1024);
        if self.used.f16 {
            text.push_str("enable f16;\n");
        }
        if self.used.subgroups && self.browser {
            text.push_str("enable subgroups;\n");
        }
        self.layout.declare(kernel, &mut text);
        if kernel.at_run.is_some() {
            let binding = kernel.buffers.len();
            put!(text, "@group(0) @binding({binding}) var<uniform> at_run: vec4<u32>;\n");
        }
        if self.used.mul_hi {
            text.push_str(MUL_HI);
        }
        halves::functions(&self.used, &mut text);
        put!(text, "\n@compute @workgroup_size({})\nfn {}(\n", kernel.threads, kernel.name);
        text.push_str("    @builtin(workgroup_id) group: vec3<u32>,\n");
        text.push_str("    @builtin(num_workgroups) groups: vec3<u32>,\n");
        text.push_str("    @builtin(local_invocation_index) thread: u32,\n");
        if self.used.subgroups {
            text.push_str("    @builtin(subgroup_invocation_id) lane: u32,\n");
        }
        text.push_str(") {\n    let block = group.x + group.y * groups.x;\n");
        match kernel.at_run {
            None => put!(text, "    if block >= {}u {{ return; }}\n", kernel.blocks),
            Some(AtRun { step, blocks, .. }) => {
                let [middle, upper] = [1, 2].map(|digit| digit * COUNT_BITS);
                put!(text, "    let count = at_run.x + (at_run.y << {middle}u) + (at_run.z << {upper}u);\n");
                put!(text, "    if block >= (count + {}u) / {step}u * {blocks}u {{ return; }}\n", step - 1);
            }
        }
        text.push_str(&self.out);
        text.push_str("}\n");
        text
    }

    /// Refuses what the language lacks, and notes what it wants declared.
    fn admit(&mut self, inst: &Inst) -> Result<(), EmitError> {
        let kernel = || self.kernel.name.clone();
        let target = || if self.browser { "WGSL in browsers" } else { "WGSL" }.to_string();
        if let Some(would_work) = only_in_ptx(inst.op) {
            return Err(EmitError::Operation { kernel: kernel(), op: inst.op, target: target(), would_work });
        }
        for &value in inst.args.iter().chain(&inst.results) {
            let ty = self.kernel.ty(value);
            let would_work = match ty {
                Type::U64 => "u32 does",
                Type::Bf16 if !halves::only_keeps(self.kernel, inst) => "f32 and f16 do",
                Type::F64 if self.browser => "f32 does; outside browsers Vulkan has f64",
                _ => "",
            };
            if !would_work.is_empty() {
                return Err(EmitError::Type {
                    kernel: kernel(),
                    op: inst.op,
                    ty,
                    target: target(),
                    would_work,
                });
            }
        }
        if let (Op::Const(bits), &[result]) = (inst.op, &inst.results[..]) {
            let (ty, value) = (self.kernel.ty(result), f64::from_bits(bits));
            if ty.is_float() && !value.is_finite() {
                return Err(EmitError::Constant { kernel: kernel(), value, ty, target: target() });
            }
        }
        self.used.f16 |= self.layout.native();
        self.used.subgroups |= matches!(inst.op, Op::Shuffle(_) | Op::Special(Special::Lane));
        self.used.mul_hi |= inst.op == Op::MulHi;
        Ok(())
    }

    /// `for`: the results carry the values from turn to turn, so that yields may name the block's own parameters
    /// in any order. What is left is compared before the step is added: the sum may pass 2^32.
    fn loop_(&mut self, inst: &'k Inst) -> Result<(), EmitError> {
        let (lo, hi, step) = (inst.args[0], inst.args[1], inst.args[2]);
        let block = &inst.blocks[0];
        for (&result, &init) in inst.results.iter().zip(&inst.args[3..]) {
            self.indent();
            put!(self.out, "var v{} = ", result.0);
            self.typed(init);
            self.out.push_str(";\n");
        }
        let index = block.params[0].0;
        self.indent();
        put!(self.out, "var v{index} = ");
        self.operand(lo);
        self.out.push_str(";\n");
        self.indent();
        put!(self.out, "if v{index} < ");
        self.operand(hi);
        self.out.push_str(" { loop {\n");
        self.depth += 1;
        for (&param, &result) in block.params[1..].iter().zip(&inst.results) {
            self.indent();
            put!(self.out, "let v{} = v{};\n", param.0, result.0);
        }
        self.block(block)?;
        for (&result, &yielded) in inst.results.iter().zip(&block.yields) {
            self.indent();
            put!(self.out, "v{} = ", result.0);
            self.operand(yielded);
            self.out.push_str(";\n");
        }
        self.indent();
        put!(self.out, "let left{index} = ");
        self.operand(hi);
        put!(self.out, " - v{index};\n");
        self.indent();
        put!(self.out, "if left{index} <= ");
        self.operand(step);
        self.out.push_str(" { break; }\n");
        self.indent();
        put!(self.out, "v{index} += ");
        self.operand(step);
        self.out.push_str(";\n");
        self.depth -= 1;
        self.line("} }");
        Ok(())
    }

    /// The same where the type cannot be left to inference.
    fn typed(&mut self, value: Value) {
        let ty = self.kernel.ty(value);
        put!(self.out, "{}(", if self.is_bits(ty) { "u32" } else { name(ty) });
        self.operand(value);
        self.out.push(')');
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
            // Constants stand where they are used.
            Op::Const(_) | Op::BulkPrefetch { .. } => {}
            Op::Special(special) => {
                let blocks = self.kernel.blocks;
                self.define(inst.results[0]);
                match special {
                    Special::BlockIndex => self.out.push_str("block;\n"),
                    Special::BlockCount => put!(self.out, "{blocks}u;\n"),
                    Special::ThreadIndex => self.out.push_str("thread;\n"),
                    // Launches have at most two dimensions, which no compiler knows.
                    Special::Zero => self.out.push_str("group.z;\n"),
                    Special::Count => self.out.push_str("count;\n"),
                    _ => self.out.push_str("lane;\n"),
                }
            }
            Op::Barrier => self.line("workgroupBarrier();"),
            Op::Loop => self.loop_(inst)?,
            Op::If => {
                self.indent();
                self.out.push_str("if ");
                self.operand(inst.args[0]);
                self.out.push_str(" {\n");
                self.nested(&inst.blocks[0])?;
                self.line("}");
            }
            _ if self.memory(inst) => {}
            _ => self.arith(inst),
        }
        Ok(())
    }

    /// `let v1 = `.
    fn define(&mut self, value: Value) {
        self.indent();
        put!(self.out, "let v{} = ", value.0);
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
            Type::I32 if bits as u32 as i32 == i32::MIN => self.out.push_str("(-2147483647i - 1i)"),
            Type::I32 => put!(self.out, "{}i", bits as u32 as i32),
            Type::F32 => put!(self.out, "{:?}f", float as f32),
            Type::F16 if self.is_bits(Type::F16) => {
                put!(self.out, "{}u", half::f16::from_f64(float).to_bits());
            }
            Type::Bf16 => put!(self.out, "{}u", half::bf16::from_f64(float).to_bits()),
            Type::F16 => put!(self.out, "{float:?}h"),
            Type::F64 => put!(self.out, "{float:?}lf"),
            _ => put!(self.out, "{}u", bits as u32),
        }
    }
}

/// Upper half of a product by 16-bit digits; the language has no wider integers.
const MUL_HI: &str = "
fn mul_hi(a: u32, b: u32) -> u32 {
    let low = (a & 0xffffu) * (b & 0xffffu);
    let left = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
    let right = (a & 0xffffu) * (b >> 16u) + (left & 0xffffu);
    return (a >> 16u) * (b >> 16u) + (left >> 16u) + (right >> 16u);
}
";
