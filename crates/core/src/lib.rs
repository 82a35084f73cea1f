//! The compiler of warpfft: from a transform problem to verified GPU kernels.
//!
//! ```text
//! request -> Problem -> Plan -> Pass list -> Kernel (IR) -> source text
//! ```
//!
//! Everything here is pure and deterministic: no I/O, no devices, no unsafe code. A plan for any device can be
//! made, simulated and tested on any machine from that device's [`target::Limits`].
#![forbid(unsafe_code)]

pub mod codelet;
pub mod cost;
pub mod emit;
pub mod error;
pub mod explain;
pub mod function;
pub mod kernel;
pub mod lower;
pub mod math;
pub mod pass;
pub mod plan;
pub mod planner;
pub mod problem;
pub mod program;
pub mod recipe;
pub mod request;
pub mod schedule;
pub mod solve;
pub mod strategy;
pub mod tables;
pub mod target;

pub use error::Error;
pub use program::compile;
pub use strategy::Strategy;

/// A hash of this compiler's sources: what two builds make of one problem is the same where this is the same, so
/// whoever keeps compiled programs between runs keeps it beside them.
pub const FINGERPRINT: &str = env!("WARPFFT_CORE_FINGERPRINT");
