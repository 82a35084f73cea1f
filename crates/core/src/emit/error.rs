//! Why a kernel has no text in a language.

use crate::kernel::{Op, Type};

/// A kernel asks for what the target lacks. Making a kernel legal for a target is the lowering's work, so this
/// names a fault of the caller's choice of target, not of the kernel.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EmitError {
    /// Compute capabilities before the first that the current assembler takes.
    #[error("kernel {kernel}: compute capability {sm} is too old; {oldest} and later work")]
    TooOld {
        /// Name of the kernel.
        kernel: String,
        /// What was asked for, times ten.
        sm: u32,
        /// The oldest that works, times ten.
        oldest: u32,
    },
    /// An operation that the target lacks.
    #[error("kernel {kernel}: {target} has no {op}; {would_work}")]
    Operation {
        /// Name of the kernel.
        kernel: String,
        /// The operation.
        op: Op,
        /// The target.
        target: String,
        /// Which target has it.
        would_work: &'static str,
    },
    /// A type that the target lacks, or lacks for this operation.
    #[error("kernel {kernel}: {target} has no {op} for {ty}; {would_work}")]
    Type {
        /// Name of the kernel.
        kernel: String,
        /// The operation.
        op: Op,
        /// The type.
        ty: Type,
        /// The target.
        target: String,
        /// Which target or type would do.
        would_work: &'static str,
    },
    /// A constant that source text cannot spell.
    #[error("kernel {kernel}: {target} cannot spell the {ty} constant {value}; finite constants work")]
    Constant {
        /// Name of the kernel.
        kernel: String,
        /// The value.
        value: f64,
        /// Its type.
        ty: Type,
        /// The target.
        target: String,
    },
}
