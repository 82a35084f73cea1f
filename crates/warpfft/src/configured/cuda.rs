//! Transforms in memory of a CUDA device, with the caller's temporary buffer: as the paper's interface has it.

use std::ffi::c_void;

use warpfft_core::problem::Format;

use super::compute::Compute;
use super::{Configured, Real};
use crate::error::Error;

impl<T: Real> Configured<T> {
    /// Enqueues a transform on a CUDA stream and returns at once. The addresses are of where the domains' arrays begin
    /// (plane 0 and 1, or 0 where there is no other one), not of where the rectangles do; `temporary` is the caller's temporary
    /// memory of [`Configured::temporary_bytes`] (0 where that is 0).
    ///
    /// # Errors
    ///
    /// A rectangle or a channel is not in its array ([`Error::Configure`]); it was not configured on a CUDA device; a
    /// rectangle begins at an address that is not aligned to the kernels' widest access, 16 bytes at most
    /// ([`Error::Misaligned`]): begin at an even place, or have rows of an odd width; or the driver refused a launch.
    ///
    /// # Safety
    ///
    /// `stream` is a `CUstream` of the device's primary context (null: the default stream). The addresses are of memory on
    /// this device that holds the [`Configured::elements`] of each domain, and the temporary bytes, until the work is done;
    /// the arrays do not overlap.
    pub unsafe fn enqueue_cuda(
        &self,
        compute: &Compute,
        stream: *mut c_void,
        spatial: [u64; 2],
        frequency: [u64; 2],
        temporary: u64,
    ) -> Result<(), Error> {
        let inverse = compute.is_inverse();
        let [spatial, frequency] =
            [self.rectangle(0, spatial, compute)?, self.rectangle(1, frequency, compute)?];
        let [input, output] = if inverse { [frequency, spatial] } else { [spatial, frequency] };
        // SAFETY: by this function's contract: from a rectangle on, its array holds what the plan spans.
        unsafe { self.plan(inverse).enqueue_cuda(stream, input, output, temporary) }
    }

    /// The addresses of where the rectangle of the spatial domain begins, which is side 0, or of that of frequencies.
    fn rectangle(&self, side: usize, planes: [u64; 2], compute: &Compute) -> Result<[u64; 2], Error> {
        let start = self.layouts[side].start(compute.at(side))?;
        let forward = self.plan(false).problem();
        let interleaved = [forward.input, forward.output][side] == Format::Interleaved;
        let reals = if interleaved { 2 } else { 1 };
        let bytes = start * reals * size_of::<T>() as u64;
        Ok(planes.map(|address| if address == 0 { 0 } else { address + bytes }))
    }
}
