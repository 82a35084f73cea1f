//! Text of kernels: tables that print a verified kernel and decide nothing.
//!
//! ```
//! use warpfft_core::emit;
//! use warpfft_core::kernel::{Access, Builder, Cache, Special, Type, verify::verify};
//!
//! let mut b = Builder::new("copy", 64, 4);
//! let input = b.buffer("input", Type::F32, Access::Read, 256);
//! let output = b.buffer("output", Type::F32, Access::Write, 256);
//! let block = b.special(Special::BlockIndex);
//! let thread = b.special(Special::ThreadIndex);
//! let first = b.mul_const(block, 64);
//! let index = b.add(first, thread);
//! let (from, to) = (b.addr(input, index), b.addr(output, index));
//! let x = b.load(from, 0, 1, Cache::Default, None);
//! b.store(to, 0, &x, Cache::Default, None);
//! let kernel = verify(b.finish())?;
//! assert!(emit::ptx(&kernel, 90).unwrap().contains(".target sm_90"));
//! assert!(emit::wgsl(&kernel, true).unwrap().contains("@workgroup_size(64)"));
//! assert!(emit::opencl(&kernel).unwrap().contains("reqd_work_group_size(64, 1, 1)"));
//! # Ok::<(), warpfft_core::kernel::KernelError>(())
//! ```

mod braces;
mod error;
mod opencl;
mod ptx;
mod shared;
mod wgsl;

pub use error::EmitError;
pub use opencl::opencl;
pub use ptx::ptx;
pub use wgsl::{COUNT_BITS, wgsl};
