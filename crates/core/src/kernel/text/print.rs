//! Kernel to text.

use std::fmt::Write;

use crate::kernel::fold::round_to;
use crate::kernel::{AtRun, Block, Inst, Kernel, Op, Space, Type, Value};

/// The readable form of a kernel.
pub fn print(kernel: &Kernel) -> String {
    let mut printer = Printer { kernel, out: String::new() };
    // Writing to a string cannot fail.
    let _ = printer.kernel();
    printer.out
}

impl std::fmt::Display for Kernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&print(self))
    }
}

struct Printer<'k> {
    kernel: &'k Kernel,
    out: String,
}

impl Printer<'_> {
    fn kernel(&mut self) -> std::fmt::Result {
        let Kernel { name, buffers, shared, threads, cluster, blocks, min_blocks, at_run, types, body } =
            self.kernel;
        writeln!(
            self.out,
            "kernel {name} threads={threads} blocks={blocks} cluster={cluster} min_blocks={min_blocks}"
        )?;
        if let Some(AtRun { most, step, blocks }) = at_run {
            writeln!(self.out, "at_run most={most} step={step} blocks={blocks}")?;
        }
        for buffer in buffers {
            let access = buffer.access.name();
            writeln!(self.out, "buffer {}: {}[{}] {access}", buffer.name, buffer.elem, buffer.len)?;
        }
        for array in shared {
            writeln!(self.out, "shared {}: {}[{}]", array.name, array.elem, array.len)?;
        }
        let mut defined = vec![false; types.len()];
        mark(body, &mut defined);
        for (i, _) in defined.iter().enumerate().filter(|(_, defined)| !**defined) {
            self.out.push_str("unused ");
            self.definitions(&[Value(i as u32)])?;
            self.out.push('\n');
        }
        self.out.push_str("body:\n");
        self.block(body, 1)
    }

    fn block(&mut self, block: &Block, depth: usize) -> std::fmt::Result {
        if !block.params.is_empty() {
            self.indent(depth);
            self.out.push_str("params ");
            self.definitions(&block.params)?;
            self.out.push('\n');
        }
        for inst in &block.insts {
            self.indent(depth);
            self.instruction(inst, depth)?;
        }
        if !block.yields.is_empty() {
            self.indent(depth);
            self.out.push_str("yield");
            self.values(&block.yields, None)?;
            self.out.push('\n');
        }
        Ok(())
    }

    fn instruction(&mut self, inst: &Inst, depth: usize) -> std::fmt::Result {
        if !inst.results.is_empty() {
            self.definitions(&inst.results)?;
            self.out.push_str(" = ");
        }
        write!(self.out, "{}", inst.op)?;
        if let Op::Const(bits) = inst.op {
            self.out.push(' ');
            let ty = inst.results.first().map_or(Type::U64, |&v| self.kernel.ty(v));
            self.constant(ty, bits)?;
        }
        match inst.args.split_last() {
            Some((pred, args)) if inst.op.is_predicated() => {
                self.values(args, inst.op.offset())?;
                write!(self.out, " if %{}", pred.0)?;
            }
            _ => self.values(&inst.args, inst.op.offset())?,
        }
        for block in &inst.blocks {
            self.out.push_str(" {\n");
            self.block(block, depth + 1)?;
            self.indent(depth);
            self.out.push('}');
        }
        self.out.push('\n');
        Ok(())
    }

    /// Values in a row, the first one followed by the offset of an access.
    fn values(&mut self, values: &[Value], offset: Option<i32>) -> std::fmt::Result {
        for (i, value) in values.iter().enumerate() {
            self.out.push_str(if i == 0 { " " } else { ", " });
            write!(self.out, "%{}", value.0)?;
            if let (0, Some(offset)) = (i, offset.filter(|&offset| offset != 0)) {
                write!(self.out, " {offset:+}")?;
            }
        }
        Ok(())
    }

    fn definitions(&mut self, values: &[Value]) -> std::fmt::Result {
        for (i, &value) in values.iter().enumerate() {
            self.out.push_str(if i == 0 { "" } else { ", " });
            write!(self.out, "%{}: ", value.0)?;
            let kernel = self.kernel;
            match kernel.ty(value) {
                Type::Ptr(Space::Global(i)) => {
                    write!(self.out, "ptr.global.{}", kernel.buffers[i as usize].name)?;
                }
                Type::Ptr(Space::Shared(i)) => {
                    write!(self.out, "ptr.shared.{}", kernel.shared[i as usize].name)?;
                }
                Type::Ptr(Space::Remote(i)) => {
                    write!(self.out, "ptr.remote.{}", kernel.shared[i as usize].name)?;
                }
                ty => write!(self.out, "{ty}")?,
            }
        }
        Ok(())
    }

    /// A constant as a number where its type can represent it, else as bits.
    fn constant(&mut self, ty: Type, bits: u64) -> std::fmt::Result {
        let small = u32::try_from(bits);
        let x = f64::from_bits(bits);
        let exact = x.is_finite() && round_to(ty, x).to_bits() == bits;
        match (ty, small) {
            (Type::Bool, Ok(0 | 1)) => write!(self.out, "{}", bits == 1),
            (Type::U32, Ok(_)) | (Type::U64, _) => write!(self.out, "{bits}"),
            (Type::I32, Ok(small)) => write!(self.out, "{}", small as i32),
            // The shortest decimal that gives the number back in its own width.
            (Type::F32, _) if exact => write!(self.out, "{:?}", x as f32),
            (Type::F16 | Type::Bf16 | Type::F64, _) if exact => write!(self.out, "{x:?}"),
            _ => write!(self.out, "{bits:#x}"),
        }
    }

    fn indent(&mut self, depth: usize) {
        for _ in 0..depth {
            self.out.push_str("  ");
        }
    }
}

/// Marks the values that a block defines.
fn mark(block: &Block, defined: &mut [bool]) {
    for value in &block.params {
        defined[value.0 as usize] = true;
    }
    for inst in &block.insts {
        for value in &inst.results {
            defined[value.0 as usize] = true;
        }
        for inner in &inst.blocks {
            mark(inner, defined);
        }
    }
}
