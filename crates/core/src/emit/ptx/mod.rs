//! PTX, which NVIDIA's driver assembles.
//!
//! Registers are typed by width and use: `%p` predicates, `%h` 16 bits, `%r` 32-bit integers and shared
//! addresses, `%f` f32 (declared as bits, which is what tensor cores take), `%d` 64-bit integers and global addresses, `%e`
//! f64. Constants stand in the
//! instructions as immediates. Every rounding is spelled out, which keeps the assembler from contracting a
//! product and a sum into one instruction that the kernel did not ask for.

mod arith;
mod brain;
mod isa;
mod memory;
mod sync;

use super::EmitError;
use super::shared::{constants, each_inst, put};
use crate::kernel::{Cache, Inst, Kernel, Op, Space, Special, Type, Value, Verified};
use isa::Isa;

/// Bytes of text that one instruction takes, generously.
const BYTES_PER_INST: usize = 64;

/// Prints a kernel as PTX for a compute capability (75, 80, 90, ..), in the lowest ISA version that it needs.
/// Capabilities after the last one known get the last known's text, which newer devices take as it is.
///
/// A launch passes one 64-bit pointer per buffer, in order, and behind them the count, in 32 bits, of a kernel that
/// takes one. It reserves [`Kernel::shared_bytes`] of dynamic
/// shared memory.
///
/// # Errors
///
/// An operation or type that the capability lacks.
pub fn ptx(kernel: &Verified<Kernel>, sm: u32) -> Result<String, EmitError> {
    let kernel: &Kernel = kernel;
    let mut writer = Writer::new(kernel, Isa::new(kernel, sm)?);
    writer.prologue();
    writer.block(&kernel.body.insts)?;
    Ok(writer.finish())
}

/// Registers are numbered apart in each of these classes.
const CLASSES: [(char, &str); 6] =
    [('p', "pred"), ('h', "b16"), ('r', "b32"), ('f', "b32"), ('d', "b64"), ('e', "f64")];

/// Index into [`CLASSES`].
fn class(ty: Type) -> usize {
    match ty {
        Type::Bool => 0,
        Type::F16 | Type::Bf16 => 1,
        Type::I32 | Type::U32 | Type::Ptr(Space::Shared(_) | Space::Remote(_)) => 2,
        Type::F32 => 3,
        Type::U64 | Type::Ptr(Space::Global(_)) => 4,
        Type::F64 => 5,
    }
}

/// What each value is a left shift of by a constant, of what comes from a table of places: one for each element, and not, as
/// other indices, one for a thread.
fn shifted(kernel: &Kernel, constants: &[Option<u64>]) -> Vec<Option<(Value, u32)>> {
    let mut loaded = vec![false; kernel.types.len()];
    let mut shifted = vec![None; kernel.types.len()];
    each_inst(&kernel.body, &mut |inst| match (inst.op, &inst.args[..], &inst.results[..]) {
        (Op::Load { .. }, _, results) => results.iter().for_each(|value| loaded[value.0 as usize] = true),
        (Op::Shl, &[from, by], &[result]) if loaded[from.0 as usize] && kernel.ty(result) == Type::U32 => {
            let bits = constants[by.0 as usize].filter(|&bits| bits <= 8);
            shifted[result.0 as usize] = bits.map(|bits| (from, bits as u32));
        }
        _ => {}
    });
    shifted
}

struct Writer<'k> {
    kernel: &'k Kernel,
    isa: Isa<'k>,
    out: String,
    constants: Vec<Option<u64>>,
    /// What a value is a left shift of, and by how many bits.
    shifted: Vec<Option<(Value, u32)>>,
    /// Number of each value's register within its class.
    numbers: Vec<u32>,
    counts: [u32; CLASSES.len()],
    /// Values that all threads of a block agree on.
    uniform: Vec<bool>,
    labels: u32,
}

impl<'k> Writer<'k> {
    fn new(kernel: &'k Kernel, isa: Isa<'k>) -> Self {
        let mut counts = [0; CLASSES.len()];
        let numbers = kernel
            .types
            .iter()
            .map(|&ty| {
                let count = &mut counts[class(ty)];
                *count += 1;
                *count - 1
            })
            .collect();
        let constants = constants(kernel);
        Self {
            kernel,
            isa,
            out: String::with_capacity(1024 + kernel.types.len() * BYTES_PER_INST),
            shifted: shifted(kernel, &constants),
            constants,
            numbers,
            counts,
            uniform: vec![false; kernel.types.len()],
            labels: 0,
        }
    }

    /// The body of the entry up to the kernel's own first instruction. The directives before it are written by
    /// [`Writer::finish`], once the ISA version is known.
    fn prologue(&mut self) {
        for ((letter, ty), count) in CLASSES.iter().zip(self.counts) {
            if count > 0 {
                put!(self.out, "\t.reg .{ty} %{letter}<{count}>;\n");
            }
        }
        let buffers = self.kernel.buffers.len();
        let (offsets, _) = self.kernel.shared_layout();
        // Scratch: a predicate, four words; base addresses of the arrays.
        self.out.push_str("\t.reg .pred %q;\n\t.reg .b32 %t<4>;\n");
        put!(self.out, "\t.reg .b64 %keep, %base<{}>;\n", buffers.max(1));
        put!(self.out, "\t.reg .b32 %tile<{}>;\n", offsets.len().max(1));
        for i in 0..buffers {
            put!(self.out, "\tld.param.u64 %base{i}, [p{i}];\n\tcvta.to.global.u64 %base{i}, %base{i};\n");
        }
        for (i, offset) in offsets.iter().enumerate() {
            put!(self.out, "\tmov.u32 %tile{i}, {SHARED};\n");
            if *offset > 0 {
                put!(self.out, "\tadd.u32 %tile{i}, %tile{i}, {offset};\n");
            }
        }
        let mut keeps = false;
        each_inst(&self.kernel.body, &mut |inst| keeps |= inst.op.cache() == Some(Cache::Keep));
        if keeps && self.isa.has_cache_policies() {
            self.isa.need_cache_policies();
            self.out.push_str("\tcreatepolicy.fractional.L2::evict_last.b64 %keep, 1.0;\n");
        }
    }

    /// Whether the kernel has bulk copies between global and shared memory.
    fn copies_in_bulk(&self) -> bool {
        let mut copies = false;
        each_inst(&self.kernel.body, &mut |inst| {
            copies |= matches!(inst.op, Op::BulkLoad | Op::BulkStore);
        });
        copies
    }

    fn finish(mut self) -> String {
        self.out.push_str("\tret;\n}\n");
        let kernel = self.kernel;
        let mut text = String::with_capacity(self.out.len() + 512);
        let (major, minor) = self.isa.version();
        put!(text, ".version {major}.{minor}\n.target sm_{}\n.address_size 64\n\n", self.isa.sm());
        if !kernel.shared.is_empty() {
            put!(text, ".extern .shared .align 16 .b8 {SHARED}[];\n\n");
        }
        put!(text, ".visible .entry {}(", kernel.name);
        for i in 0..kernel.buffers.len() {
            put!(text, "{}.param .u64 p{i}", if i == 0 { "" } else { ", " });
        }
        if kernel.at_run.is_some() {
            put!(text, "{}.param .u32 count", if kernel.buffers.is_empty() { "" } else { ", " });
        }
        put!(text, ")\n.maxntid {}, 1, 1\n", kernel.threads);
        if kernel.min_blocks > 0 {
            put!(text, ".minnctapersm {}\n", kernel.min_blocks);
        }
        if kernel.cluster > 1 {
            put!(text, ".explicitcluster\n.reqnctapercluster {}, 1, 1\n", kernel.cluster);
        }
        text.push_str("{\n");
        text.push_str(&self.out);
        text
    }

    fn block(&mut self, insts: &'k [Inst]) -> Result<(), EmitError> {
        insts.iter().try_for_each(|inst| self.inst(inst))
    }

    fn inst(&mut self, inst: &'k Inst) -> Result<(), EmitError> {
        self.isa.admit(inst)?;
        self.note_uniform(inst);
        match inst.op {
            Op::Loop => self.loop_(inst),
            Op::If => self.if_(inst),
            Op::Const(_) | Op::Special(_) => {
                self.source(inst);
                Ok(())
            }
            _ if self.arith(inst) || self.memory(inst) => Ok(()),
            _ => {
                self.sync(inst);
                Ok(())
            }
        }
    }

    /// Instructions that read nothing. Constants of 32 and 64 bits need none: they stand where they are used.
    fn source(&mut self, inst: &Inst) {
        let result = inst.results[0];
        let ty = self.kernel.ty(result);
        match inst.op {
            Op::Const(bits) if ty == Type::Bool => {
                self.line(format_args!("mov.pred %p{}, {bits}", self.number(result)));
            }
            Op::Const(bits) if matches!(ty, Type::F16 | Type::Bf16) => {
                let x = f64::from_bits(bits);
                let half = match ty {
                    Type::F16 => half::f16::from_f64(x).to_bits(),
                    _ => half::bf16::from_f64(x).to_bits(),
                };
                self.line(format_args!("mov.b16 %h{}, 0x{half:04X}", self.number(result)));
            }
            Op::Special(special) => {
                let name = match special {
                    Special::BlockIndex => "%ctaid.x",
                    Special::BlockCount => "%nctaid.x",
                    Special::ThreadIndex => "%tid.x",
                    Special::Lane => "%laneid",
                    Special::ClusterRank => "%cluster_ctarank",
                    // Launches have one dimension.
                    Special::Zero => "%ctaid.z",
                    Special::Count => {
                        let number = self.number(result);
                        return self.line(format_args!("ld.param.u32 %r{number}, [count]"));
                    }
                };
                self.line(format_args!("mov.u32 %r{}, {name}", self.number(result)));
            }
            _ => {}
        }
    }

    /// `for`: the results' registers carry the values from turn to turn, so that yields may name the block's own
    /// parameters in any order.
    fn loop_(&mut self, inst: &'k Inst) -> Result<(), EmitError> {
        let (lo, hi, step) = (inst.args[0], inst.args[1], inst.args[2]);
        let block = &inst.blocks[0];
        let branch = if inst.args[..3].iter().all(|&v| self.is_uniform(v)) { "bra.uni" } else { "bra" };
        let (body, end) = (self.label(), self.label());
        let index = block.params[0];
        for (&result, &init) in inst.results.iter().zip(&inst.args[3..]) {
            self.copy(result, init);
        }
        self.copy(index, lo);
        self.op("setp.ge.u32 %q", &[index, hi]);
        put!(self.out, "\t@%q {branch} $L{end};\n$L{body}:\n");
        for (&param, &result) in block.params[1..].iter().zip(&inst.results) {
            self.copy(param, result);
        }
        self.block(&block.insts)?;
        for (&result, &yielded) in inst.results.iter().zip(&block.yields) {
            self.copy(result, yielded);
        }
        // Compares what is left before it adds: the sum may pass 2^32.
        self.op("sub.u32 %t0", &[hi, index]);
        self.op("setp.gt.u32 %q, %t0", &[step]);
        self.op("add.u32", &[index, index, step]);
        put!(self.out, "\t@%q {branch} $L{body};\n$L{end}:\n");
        Ok(())
    }

    fn if_(&mut self, inst: &'k Inst) -> Result<(), EmitError> {
        let cond = inst.args[0];
        let branch = if self.is_uniform(cond) { "bra.uni" } else { "bra" };
        let end = self.label();
        put!(self.out, "\t@!%p{} {branch} $L{end};\n", self.number(cond));
        self.block(&inst.blocks[0].insts)?;
        put!(self.out, "$L{end}:\n");
        Ok(())
    }

    /// Marks results that are the same in all threads of a block: they depend on nothing but such values.
    fn note_uniform(&mut self, inst: &Inst) {
        let same = match inst.op {
            Op::Special(special) => !matches!(special, Special::ThreadIndex | Special::Lane),
            op => op.is_pure() && inst.args.iter().all(|&v| self.is_uniform(v)),
        };
        if let (true, [result]) = (same, &inst.results[..]) {
            self.uniform[result.0 as usize] = true;
        }
        if inst.op == Op::Loop && inst.args[..3].iter().all(|&v| self.is_uniform(v)) {
            self.uniform[inst.blocks[0].params[0].0 as usize] = true;
        }
    }

    fn is_uniform(&self, value: Value) -> bool {
        self.uniform[value.0 as usize]
    }

    // --- text ---

    fn label(&mut self) -> u32 {
        self.labels += 1;
        self.labels - 1
    }

    fn number(&self, value: Value) -> u32 {
        self.numbers[value.0 as usize]
    }

    fn constant(&self, value: Value) -> Option<u64> {
        self.constants[value.0 as usize]
    }

    /// One instruction without arguments of its own.
    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        put!(self.out, "\t{text};\n");
    }

    /// One instruction: `head`, then the values, separated by commas.
    fn op(&mut self, head: &str, values: &[Value]) {
        self.out.push('\t');
        self.out.push_str(head);
        // A head that already has an operand goes on with a comma.
        let mut separator = if head.contains(' ') { ", " } else { " " };
        for &value in values {
            self.out.push_str(separator);
            self.operand(value);
            separator = ", ";
        }
        self.out.push_str(";\n");
    }

    /// A value where an instruction reads or defines it.
    fn operand(&mut self, value: Value) {
        let ty = self.kernel.ty(value);
        match (ty, self.constant(value)) {
            (Type::I32, Some(bits)) => put!(self.out, "{}", bits as u32 as i32),
            (Type::U32, Some(bits)) => put!(self.out, "{}", bits as u32),
            (Type::U64, Some(bits)) => put!(self.out, "0x{bits:X}"),
            (Type::F32, Some(bits)) => put!(self.out, "0f{:08X}", (f64::from_bits(bits) as f32).to_bits()),
            (Type::F64, Some(bits)) => put!(self.out, "0d{bits:016X}"),
            _ => self.register(value),
        }
    }

    fn register(&mut self, value: Value) {
        let (letter, _) = CLASSES[class(self.kernel.ty(value))];
        put!(self.out, "%{letter}{}", self.number(value));
    }

    /// Puts a constant into its register, for instructions that take no immediate there.
    fn in_register(&mut self, value: Value) {
        let Some(bits) = self.constant(value) else { return };
        let ty = self.kernel.ty(value);
        let bits = if ty == Type::F32 { u64::from((f64::from_bits(bits) as f32).to_bits()) } else { bits };
        if ty.bytes() >= 4 {
            let (letter, _) = CLASSES[class(ty)];
            let number = self.number(value);
            put!(self.out, "\tmov.b{} %{letter}{number}, 0x{bits:X};\n", 8 * ty.bytes());
        }
    }

    fn copy(&mut self, to: Value, from: Value) {
        let head = ["mov.pred", "mov.b16", "mov.b32", "mov.f32", "mov.b64", "mov.f64"];
        self.op(head[class(self.kernel.ty(to))], &[to, from]);
    }
}

/// Name of the block of dynamic shared memory; no kernel or array is named with a dollar sign.
const SHARED: &str = "$shared";
