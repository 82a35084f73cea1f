//! What a launch relies on, without the kernels' code: the part of a program that is checked before it is loaded,
//! whether it was just compiled or comes from the disk cache.

use warpfft_core::kernel::{Access, AtRun, Buffer, Kernel};
use warpfft_core::problem::{Placement, Problem};
use warpfft_core::program::{Binding, Launch, Program, Table};

use super::check::malformed;
use crate::error::Error;
use crate::span;

/// Bytes to which a binding's offset into the workspace must be a multiple.
const WORKSPACE_ALIGN: u64 = 256;

/// A program without its code.
pub(crate) struct Outline<'a> {
    pub problem: &'a Problem,
    pub kernels: Vec<KernelOutline<'a>>,
    pub launches: &'a [Launch],
    /// Bytes of each table.
    pub tables: Vec<u64>,
    pub workspace_bytes: u64,
}

/// A kernel without its code.
pub(crate) struct KernelOutline<'a> {
    pub name: &'a str,
    pub threads: u32,
    pub cluster: u32,
    pub blocks: u64,
    pub at_run: Option<AtRun>,
    pub shared_bytes: u32,
    /// It waits by itself for the launch before.
    #[cfg(feature = "cuda")]
    pub waits: bool,
    pub buffers: Vec<BufferOutline<'a>>,
}

/// One of a kernel's buffers.
pub(crate) struct BufferOutline<'a> {
    pub name: &'a str,
    /// Bytes that the kernel may touch.
    pub bytes: u64,
    pub access: Access,
}

impl<'a> Outline<'a> {
    pub fn of(program: &'a Program) -> Self {
        Self {
            problem: &program.problem,
            kernels: program.kernels.iter().map(|kernel| KernelOutline::of(kernel)).collect(),
            launches: &program.launches,
            tables: program.tables.iter().map(Table::bytes).collect(),
            workspace_bytes: program.workspace_bytes,
        }
    }

    /// Bytes that a binding holds.
    pub fn bytes(&self, binding: Binding) -> Result<u64, Error> {
        let problem = self.problem;
        let in_place = problem.placement == Placement::InPlace;
        match binding {
            Binding::Input(plane @ (0 | 1)) if !in_place => {
                Ok(span::read_bytes(problem)?[usize::from(plane)])
            }
            Binding::Output(plane @ (0 | 1)) => Ok(span::written_bytes(problem)?[usize::from(plane)]),
            Binding::Workspace { offset, bytes } => {
                let end = offset.checked_add(bytes).filter(|&end| end <= self.workspace_bytes);
                if end.is_none() || !offset.is_multiple_of(WORKSPACE_ALIGN) {
                    let whole = self.workspace_bytes;
                    return malformed(format!("{bytes} bytes at {offset} of a workspace of {whole}"));
                }
                Ok(bytes)
            }
            Binding::Filter if problem.filter.is_some() => span::filter_bytes(problem),
            Binding::Table(table) => match self.tables.get(usize::from(table)) {
                Some(&bytes) => Ok(bytes),
                None => malformed(format!("table {table} of {}", self.tables.len())),
            },
            Binding::Input(_) | Binding::Output(_) | Binding::Filter => {
                malformed(format!("{binding:?} names no buffer of the problem"))
            }
        }
    }
}

impl<'a> KernelOutline<'a> {
    pub fn of(kernel: &'a Kernel) -> Self {
        let buffer = |buffer: &'a Buffer| BufferOutline {
            name: &buffer.name,
            bytes: buffer.len.saturating_mul(u64::from(buffer.elem.bytes())),
            access: buffer.access,
        };
        Self {
            name: &kernel.name,
            threads: kernel.threads,
            cluster: kernel.cluster,
            blocks: kernel.blocks,
            at_run: kernel.at_run,
            shared_bytes: kernel.shared_bytes(),
            #[cfg(feature = "cuda")]
            waits: kernel.waits_for_launch(),
            buffers: kernel.buffers.iter().map(buffer).collect(),
        }
    }
}
