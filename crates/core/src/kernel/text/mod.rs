//! The readable form of a kernel. Printing and parsing are exact inverses for every kernel whose arrays have
//! distinct names: `parse(&print(&kernel)) == Ok(kernel)`.
//!
//! ```text
//! kernel scale threads=128 blocks=32 cluster=1 min_blocks=0
//! buffer data: f32[4096] read_write
//! shared tile: f32[256]
//! body:
//!   %0: u32 = thread_index
//!   %1: ptr.global.data = addr %0
//!   %2: f32, %3: f32 = load.2.stream %1 +16
//!   %4: f32 = const 0.5
//!   %5: f32 = mul %2, %4
//!   store.1 %1 +16, %5
//! ```
//!
//! One instruction a line: results with their types, operation, arguments. An access' constant offset stands
//! behind its pointer, a predicate at the end (`if %9`). Loops and branches hold their block in braces, which
//! begins with `params` and ends with `yield` where it has any. Blank lines and lines that begin with `//` are
//! skipped.

mod names;
mod parse;
mod print;

#[cfg(test)]
mod tests;

pub use parse::{ParseError, parse};
pub use print::print;
