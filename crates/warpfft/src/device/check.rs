//! Whether a program hangs together and fits a device, asked once before it is loaded. Programs are plain data
//! that anyone can make, and what follows hands their numbers to drivers that check nothing.

use warpfft_core::kernel::Access;
#[cfg(feature = "cuda")]
use warpfft_core::kernel::{Block, Kernel, Op, Space, Type};
use warpfft_core::problem::Precision;
#[cfg(any(feature = "opencl", feature = "wgpu"))]
use warpfft_core::problem::Problem;
use warpfft_core::program::{Binding, Launch, Numbers, Program, Table};
use warpfft_core::target::Limits;

use super::outline::{KernelOutline, Outline};
use crate::error::Error;
use crate::room;

/// What works where there are no 64-bit numbers.
const DOUBLES: &str = "use double-single arithmetic (about 48 bits), f32, or device 'cpu'";

/// Checks a program against itself and against a device's limits.
pub(crate) fn program(program: &Program, limits: &Limits) -> Result<(), Error> {
    outline(&Outline::of(program), limits)
}

/// Checks a program without its code.
pub(crate) fn outline(program: &Outline, limits: &Limits) -> Result<(), Error> {
    for kernel in &program.kernels {
        fits(kernel, limits)?;
    }
    let wide = program.problem.precision == Precision::F64;
    if wide && !limits.f64 {
        return Err(unsupported(limits, "f64 arithmetic".into(), DOUBLES));
    }
    let most = program.problem.at_run().map(|dim| dim.n);
    for launch in program.launches {
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
        let counted = kernel.at_run.map(|at_run| u64::from(at_run.most));
        if counted.is_some_and(|counted| Some(counted) != most) {
            let name = kernel.name;
            return malformed(format!("kernel {name} counts to {counted:?}, its problem to {most:?}"));
        }
        for (buffer, &binding) in kernel.buffers.iter().zip(&launch.bindings) {
            let holds = program.bytes(binding)?;
            let needs = buffer.bytes;
            if needs > holds {
                let place = format!("buffer {} of kernel {}", buffer.name, kernel.name);
                return malformed(format!("{place} spans {needs} bytes, {binding:?} holds {holds}"));
            }
        }
    }
    Ok(())
}

fn fits(kernel: &KernelOutline, limits: &Limits) -> Result<(), Error> {
    let counts = [
        ("threads a block", u64::from(kernel.threads), u64::from(limits.max_threads)),
        ("bytes of shared memory a block", u64::from(kernel.shared_bytes), u64::from(limits.shared_bytes)),
        ("blocks a cluster", u64::from(kernel.cluster), u64::from(limits.max_cluster)),
        ("blocks a launch", kernel.blocks, limits.max_blocks),
    ];
    let longest = kernel.buffers.iter().map(|buffer| buffer.bytes).max().unwrap_or(0);
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
    if !kernel.blocks.is_multiple_of(kernel.cluster.into()) {
        let (name, blocks, cluster) = (kernel.name, kernel.blocks, kernel.cluster);
        return malformed(format!("kernel {name} has {blocks} blocks in clusters of {cluster}"));
    }
    if let Some(at_run) = kernel.at_run {
        let whole = at_run.step > 0 && at_run.blocks_at(at_run.most) == kernel.blocks;
        if !whole || !at_run.blocks.is_multiple_of(kernel.cluster.into()) {
            let (name, blocks) = (kernel.name, kernel.blocks);
            return malformed(format!("kernel {name} has {blocks} blocks, and {at_run:?} of them"));
        }
    }
    Ok(())
}

/// Refuses memory that one launch binds twice and also writes: through two names, no device orders the accesses.
fn aliased(kernel: &KernelOutline, launch: &Launch) -> Result<(), Error> {
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
        if buffer.access != Access::Read
            && matches!(binding, Binding::Input(_) | Binding::Filter | Binding::Table(_))
        {
            return malformed(format!("kernel {} writes {binding:?}, which is only to be read", kernel.name));
        }
    }
    Ok(())
}

/// Bytes that a binding holds for a run of that problem, the program's own or a part of it.
#[cfg(any(feature = "opencl", feature = "wgpu"))]
pub(crate) fn bytes(program: &Program, problem: &Problem, binding: Binding) -> Result<u64, Error> {
    Outline { problem, ..Outline::of(program) }.bytes(binding)
}

/// A table's content, made now unless somebody has asked before.
pub(crate) fn table_bytes(table: &Table) -> Result<&[u8], Error> {
    room::ask(table.bytes_to_make(), "processor")?;
    Ok(match table.numbers()? {
        Numbers::F32(numbers) => bytemuck::cast_slice(numbers),
        Numbers::F64(numbers) => bytemuck::cast_slice(numbers),
        Numbers::U32(numbers) => bytemuck::cast_slice(numbers),
    })
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
                // A prefetch, which is only a hint, is printed with an address of its own that is.
                Op::BulkLoad | Op::BulkStore => 16,
                _ => elem,
            };
            let so_far = &mut widest[usize::from(buffer)];
            *so_far = bytes.max(*so_far);
        }
        inst.blocks.iter().for_each(|block| visit(kernel, block, widest));
    }
}

pub(crate) fn malformed<T>(detail: String) -> Result<T, Error> {
    Err(Error::Program { detail })
}

fn unsupported(limits: &Limits, what: String, would_work: &str) -> Error {
    Error::Unsupported { device: limits.name.clone(), what, would_work: would_work.to_owned() }
}
