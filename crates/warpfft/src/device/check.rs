//! Whether a program hangs together and fits a device, asked once before it is loaded. Programs are plain data
//! that anyone can make, and what follows hands their numbers to drivers that check nothing.

use warpfft_core::kernel::{Access, Buffer, Kernel};
#[cfg(feature = "cuda")]
use warpfft_core::kernel::{Block, Op, Space, Type};
use warpfft_core::problem::{Placement, Precision};
use warpfft_core::program::{Binding, Launch, Program, Table};
use warpfft_core::target::Limits;

use crate::error::Error;
use crate::span;

/// Bytes to which a binding's offset into the workspace must be a multiple.
const WORKSPACE_ALIGN: u64 = 256;

/// Checks a program against itself and against a device's limits.
pub(crate) fn program(program: &Program, limits: &Limits) -> Result<(), Error> {
    for kernel in &program.kernels {
        fits(kernel, limits)?;
    }
    let wide = program.problem.precision == Precision::F64;
    if wide && !limits.f64 {
        return Err(unsupported(limits, "f64 arithmetic".into(), "use f32, or device 'cpu'"));
    }
    for launch in &program.launches {
        let Some(kernel) = program.kernels.get(launch.kernel) else {
            return malformed(format!(
                "a launch names kernel {} of {}",
                launch.kernel,
                program.kernels.len()
            ));
        };
        if launch.bindings.len() != kernel.buffers.len() {
            let (given, wanted) = (launch.bindings.len(), kernel.buffers.len());
            return malformed(format!(
                "kernel {} has {wanted} buffers, its launch binds {given}",
                kernel.name
            ));
        }
        aliased(kernel, launch)?;
        for (buffer, &binding) in kernel.buffers.iter().zip(&launch.bindings) {
            let holds = bytes(program, binding)?;
            let needs = buffer.len.saturating_mul(u64::from(buffer.elem.bytes()));
            if needs > holds {
                let place = format!("buffer {} of kernel {}", buffer.name, kernel.name);
                return malformed(format!("{place} spans {needs} bytes, {binding:?} holds {holds}"));
            }
        }
    }
    Ok(())
}

fn fits(kernel: &Kernel, limits: &Limits) -> Result<(), Error> {
    let counts = [
        ("threads a block", u64::from(kernel.threads), u64::from(limits.max_threads)),
        ("bytes of shared memory a block", u64::from(kernel.shared_bytes()), u64::from(limits.shared_bytes)),
        ("blocks a cluster", u64::from(kernel.cluster), u64::from(limits.max_cluster)),
        ("blocks a launch", kernel.blocks, limits.max_blocks),
    ];
    let buffer = |buffer: &Buffer| buffer.len.saturating_mul(u64::from(buffer.elem.bytes()));
    let longest = kernel.buffers.iter().map(buffer).max().unwrap_or(0);
    let buffers = ("bytes of one buffer", longest, limits.max_buffer_bytes);
    for (what, needed, most) in counts.into_iter().chain([buffers]) {
        if needed > most {
            let what = format!("{needed} {what} (kernel {})", kernel.name);
            return Err(unsupported(limits, what, &format!("compile for at most {most}")));
        }
    }
    if kernel.threads == 0 || kernel.blocks == 0 || kernel.cluster == 0 {
        return malformed(format!("kernel {} has no threads, blocks or clusters", kernel.name));
    }
    Ok(())
}

/// Refuses memory that one launch binds twice and also writes: through two names, no device orders the accesses.
fn aliased(kernel: &Kernel, launch: &Launch) -> Result<(), Error> {
    let overlap = |a: Binding, b: Binding| match (a, b) {
        (Binding::Workspace { offset: a, bytes: n }, Binding::Workspace { offset: b, bytes: m }) => {
            a < b.saturating_add(m) && b < a.saturating_add(n)
        }
        _ => a == b,
    };
    for (i, &a) in launch.bindings.iter().enumerate() {
        for (j, &b) in launch.bindings.iter().enumerate().skip(i + 1) {
            let writes = |which: usize| kernel.buffers[which].access != Access::Read;
            if overlap(a, b) && (writes(i) || writes(j)) {
                return malformed(format!(
                    "kernel {} writes memory that is bound twice: {a:?}, {b:?}",
                    kernel.name
                ));
            }
        }
    }
    for (buffer, &binding) in kernel.buffers.iter().zip(&launch.bindings) {
        if buffer.access != Access::Read && matches!(binding, Binding::Input(_) | Binding::Table(_)) {
            return malformed(format!("kernel {} writes {binding:?}, which is only to be read", kernel.name));
        }
    }
    Ok(())
}

/// Bytes that a binding holds.
pub(crate) fn bytes(program: &Program, binding: Binding) -> Result<u64, Error> {
    let problem = &program.problem;
    let in_place = problem.placement == Placement::InPlace;
    match binding {
        Binding::Input(plane @ (0 | 1)) if !in_place => {
            Ok(span::plane_bytes(problem, problem.input, span::input(problem)?)[usize::from(plane)])
        }
        Binding::Output(plane @ (0 | 1)) => {
            // In place the output's buffer also holds the input.
            let (input, output) = (span::input(problem)?, span::output(problem)?);
            let span = if in_place && input.elements > output.elements { input } else { output };
            Ok(span::plane_bytes(problem, problem.output, span)[usize::from(plane)])
        }
        Binding::Workspace { offset, bytes } => {
            let end = offset.checked_add(bytes).filter(|&end| end <= program.workspace_bytes);
            if end.is_none() || !offset.is_multiple_of(WORKSPACE_ALIGN) {
                let whole = program.workspace_bytes;
                return malformed(format!("{bytes} bytes at {offset} of a workspace of {whole}")).map(|()| 0);
            }
            Ok(bytes)
        }
        Binding::Table(table) => match program.tables.get(usize::from(table)) {
            Some(table) => Ok(table_bytes(table).len() as u64),
            None => malformed(format!("table {table} of {}", program.tables.len())).map(|()| 0),
        },
        Binding::Input(_) | Binding::Output(_) => {
            malformed(format!("{binding:?} names no buffer of the problem")).map(|()| 0)
        }
    }
}

/// A table's content.
pub(crate) fn table_bytes(table: &Table) -> &[u8] {
    match table {
        Table::F32(numbers) => bytemuck::cast_slice(numbers),
        Table::F64(numbers) => bytemuck::cast_slice(numbers),
        Table::U32(numbers) => bytemuck::cast_slice(numbers),
    }
}

#[cfg(feature = "cuda")]
/// Bytes to whose multiple each of the kernel's buffers must be aligned: its widest access.
pub(crate) fn alignments(kernel: &Kernel) -> Vec<u64> {
    let mut widest: Vec<u64> = kernel.buffers.iter().map(|buffer| u64::from(buffer.elem.bytes())).collect();
    visit(kernel, &kernel.body, &mut widest);
    widest
}

#[cfg(feature = "cuda")]
fn visit(kernel: &Kernel, block: &Block, widest: &mut [u64]) {
    for inst in &block.insts {
        for &arg in &inst.args {
            let Type::Ptr(Space::Global(buffer)) = kernel.ty(arg) else { continue };
            let elem = u64::from(kernel.elem(Space::Global(buffer)).bytes());
            let bytes = match inst.op {
                Op::Load { width, .. } | Op::Store { width, .. } => u64::from(width) * elem,
                Op::BulkLoad | Op::BulkStore | Op::BulkPrefetch { .. } => 16,
                _ => elem,
            };
            let so_far = &mut widest[usize::from(buffer)];
            *so_far = bytes.max(*so_far);
        }
        inst.blocks.iter().for_each(|block| visit(kernel, block, widest));
    }
}

fn malformed(detail: String) -> Result<(), Error> {
    Err(Error::Program { detail })
}

fn unsupported(limits: &Limits, what: String, would_work: &str) -> Error {
    Error::Unsupported { device: limits.name.clone(), what, would_work: would_work.to_owned() }
}
