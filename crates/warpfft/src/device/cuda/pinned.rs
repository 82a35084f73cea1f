//! Memory of the computer that the device reads and writes by itself: the driver keeps it in place.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use super::context::Context;
use super::driver::{PORTABLE, pointer};
use crate::device::backend::HostMemory;
use crate::error::Error;

/// Pinned memory; freed when dropped.
pub(super) struct Pinned {
    context: Arc<Context>,
    /// Null where there are no bytes.
    start: *mut u8,
    bytes: usize,
}

// SAFETY: the memory is this value's alone, and any thread may use it and free it.
unsafe impl Send for Pinned {}
// SAFETY: it is read through shared references alone.
unsafe impl Sync for Pinned {}

impl Pinned {
    /// So many bytes, all zero.
    pub fn new(context: &Arc<Context>, bytes: u64) -> Result<Self, Error> {
        let full = || Error::OutOfMemory { device: "processor".into(), bytes, free: None };
        let length = usize::try_from(bytes).map_err(|_| full())?;
        let mut start: *mut c_void = std::ptr::null_mut();
        if length > 0 {
            let _current = context.current()?;
            // SAFETY: a place for the answer.
            let code = unsafe { (context.driver.cuMemHostAlloc)(&raw mut start, length, PORTABLE) };
            context.check("cuMemHostAlloc", code).map_err(|error| match error {
                Error::OutOfMemory { .. } => full(),
                other => other,
            })?;
            // SAFETY: so many bytes were just allocated there.
            unsafe { start.cast::<u8>().write_bytes(0, length) };
        }
        Ok(Self { context: Arc::clone(context), start: start.cast(), bytes: length })
    }
}

impl HostMemory for Pinned {
    fn bytes(&self) -> &[u8] {
        if self.bytes == 0 {
            return &[];
        }
        // SAFETY: so many bytes are allocated there, were written when this was made, and are this value's.
        unsafe { std::slice::from_raw_parts(self.start, self.bytes) }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        if self.bytes == 0 {
            return &mut [];
        }
        // SAFETY: as above, and this borrow is the only one.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.bytes) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if self.bytes > 0
            && let Ok(_current) = self.context.current()
        {
            // SAFETY: allocated by `new` and freed once; work that used it was waited for.
            unsafe { (self.context.driver.cuMemFreeHost)(self.start.cast()) };
        }
    }
}

impl Context {
    /// Whether the driver keeps all of these bytes in place, whoever asked it to: then copies need not wait.
    pub(super) fn is_pinned(&self, start: *const u8, bytes: usize) -> bool {
        let Ok(_current) = self.current() else { return false };
        let address = start as u64;
        let ask = |which: c_int| {
            let mut answer = 0_u64;
            // SAFETY: a place that is large enough for each answer that is asked for here; the address is only looked up.
            let code =
                unsafe { (self.driver.cuPointerGetAttribute)((&raw mut answer).cast(), which, address) };
            (code == 0).then_some(answer)
        };
        // The type is an unsigned of 32 bits, the range an address and a size.
        let host = ask(pointer::MEMORY_TYPE).is_some_and(|kind| kind as u32 == pointer::HOST);
        let (Some(from), Some(size)) = (ask(pointer::RANGE_START), ask(pointer::RANGE_SIZE)) else {
            return false;
        };
        host && from <= address && address + bytes as u64 <= from.saturating_add(size)
    }
}
