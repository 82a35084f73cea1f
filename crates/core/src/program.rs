//! Kernels, buffers and their order: what a device needs to run a plan, and all that it needs.

use crate::kernel::{Kernel, Verified};
use crate::problem::Problem;

/// What a kernel's buffer is bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Binding {
    /// The caller's input: plane 0 (interleaved or real parts) or 1 (imaginary parts).
    Input(u8),
    /// The caller's output, likewise. In place, only `Output` is used.
    Output(u8),
    /// The workspace from that byte on.
    Workspace {
        /// First byte, a multiple of 256.
        offset: u64,
        /// Bytes used.
        bytes: u64,
    },
    /// A constant table, an index into [`Program::tables`].
    Table(u16),
}

/// One launch.
#[derive(Debug, Clone, PartialEq)]
pub struct Launch {
    /// Index into [`Program::kernels`].
    pub kernel: usize,
    /// One for each of the kernel's buffers, in order.
    pub bindings: Vec<Binding>,
}

/// Constant data that kernels read, made on the host in f64 and rounded once.
#[derive(Debug, Clone, PartialEq)]
pub enum Table {
    /// f32 numbers.
    F32(Vec<f32>),
    /// f64 numbers.
    F64(Vec<f64>),
    /// Indices.
    U32(Vec<u32>),
}

/// A compiled problem: what a device loads and launches.
#[derive(Debug, Clone)]
pub struct Program {
    /// The problem that it solves.
    pub problem: Problem,
    /// Distinct kernels.
    pub kernels: Vec<Verified<Kernel>>,
    /// Constant tables.
    pub tables: Vec<Table>,
    /// Launches in order.
    pub launches: Vec<Launch>,
    /// Bytes of workspace.
    pub workspace_bytes: u64,
}
