//! Device memory, streams and timing. Public, because measurements and callers who have no CUDA of their own
//! need them.

use std::ffi::c_void;
use std::sync::Arc;

use super::context::Context;
use super::driver::{Address, Handle, NON_BLOCKING};
use crate::error::Error;

/// Memory on the device; freed when dropped.
pub struct DeviceBuffer {
    context: Arc<Context>,
    address: Address,
    bytes: u64,
}

impl DeviceBuffer {
    /// Its address.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Its size.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for DeviceBuffer {
    fn drop(&mut self) {
        if self.bytes > 0
            && let Ok(_current) = self.context.current()
        {
            // SAFETY: allocated by `alloc` and freed once. The driver waits for work that uses it.
            unsafe { (self.context.driver.cuMemFree_v2)(self.address) };
        }
    }
}

/// A queue of work on the device.
pub struct Stream {
    context: Arc<Context>,
    raw: Handle,
}

// SAFETY: the driver's streams may be used from any thread.
unsafe impl Send for Stream {}
// SAFETY: as above, from several at once.
unsafe impl Sync for Stream {}

impl Drop for Stream {
    fn drop(&mut self) {
        if let Ok(_current) = self.context.current() {
            // SAFETY: created by `stream` and destroyed once; work on it still finishes.
            unsafe { (self.context.driver.cuStreamDestroy_v2)(self.raw) };
        }
    }
}

impl Stream {
    /// The driver's handle, a `CUstream`.
    pub fn raw(&self) -> *mut c_void {
        self.raw
    }

    /// Waits until all that was enqueued is done.
    ///
    /// # Errors
    ///
    /// The work failed.
    pub fn synchronize(&self) -> Result<(), Error> {
        let _current = self.context.current()?;
        // SAFETY: a live stream.
        let code = unsafe { (self.context.driver.cuStreamSynchronize)(self.raw) };
        self.context.check("cuStreamSynchronize", code)
    }

    /// Enqueues a copy to the device. From ordinary memory the driver has read the source when this returns;
    /// from pinned memory it may read it later, so that is for the caller to keep.
    ///
    /// # Errors
    ///
    /// `source` is longer than `target`, or the driver failed.
    pub fn upload(&self, target: &DeviceBuffer, source: &[u8]) -> Result<(), Error> {
        self.upload_at(target, 0, source)
    }

    /// As [`Stream::upload`], to the bytes from `offset` on.
    ///
    /// # Errors
    ///
    /// `source` reaches beyond `target`, or the driver failed.
    pub fn upload_at(&self, target: &DeviceBuffer, offset: u64, source: &[u8]) -> Result<(), Error> {
        fits("upload", offset.saturating_add(source.len() as u64), target.bytes)?;
        if source.is_empty() {
            return Ok(());
        }
        let _current = self.context.current()?;
        // SAFETY: both ranges are live and long enough.
        let code = unsafe {
            (self.context.driver.cuMemcpyHtoDAsync_v2)(
                target.address + offset,
                source.as_ptr().cast(),
                source.len(),
                self.raw,
            )
        };
        self.context.check("cuMemcpyHtoDAsync", code)
    }

    /// Copies from the device and waits for it.
    ///
    /// # Errors
    ///
    /// `target` is longer than `source`, or the driver or earlier work on the stream failed.
    pub fn download(&self, target: &mut [u8], source: &DeviceBuffer) -> Result<(), Error> {
        self.download_at(target, source, 0)
    }

    /// As [`Stream::download`], of the bytes from `offset` on.
    ///
    /// # Errors
    ///
    /// `target` reaches beyond `source`, or the driver or earlier work on the stream failed.
    pub fn download_at(&self, target: &mut [u8], source: &DeviceBuffer, offset: u64) -> Result<(), Error> {
        // SAFETY: `target` is borrowed until the copy is complete.
        unsafe { self.enqueue_download(target, source, offset)? };
        self.synchronize()
    }

    /// As [`Stream::download_at`], but does not wait.
    ///
    /// # Safety
    ///
    /// `target` is not used otherwise, and stays where it is, until the stream is synchronised.
    pub(super) unsafe fn enqueue_download(
        &self,
        target: &mut [u8],
        source: &DeviceBuffer,
        offset: u64,
    ) -> Result<(), Error> {
        fits("download", offset.saturating_add(target.len() as u64), source.bytes)?;
        if target.is_empty() {
            return Ok(());
        }
        let _current = self.context.current()?;
        // SAFETY: both ranges are live and long enough, and by this function's contract.
        let code = unsafe {
            let (place, bytes) = (target.as_mut_ptr().cast(), target.len());
            (self.context.driver.cuMemcpyDtoHAsync_v2)(place, source.address + offset, bytes, self.raw)
        };
        self.context.check("cuMemcpyDtoHAsync", code)
    }

    /// Enqueues the driver's own copy from one buffer to the other, of the shorter one's bytes.
    ///
    /// # Errors
    ///
    /// The driver failed.
    pub fn copy(&self, target: &DeviceBuffer, source: &DeviceBuffer) -> Result<(), Error> {
        self.copy_part(target, source, 0, target.bytes.min(source.bytes))
    }

    /// As [`Stream::copy`], of the `bytes` bytes from `offset` on in both.
    pub(super) fn copy_part(
        &self,
        target: &DeviceBuffer,
        source: &DeviceBuffer,
        offset: u64,
        bytes: u64,
    ) -> Result<(), Error> {
        fits("copy", offset.saturating_add(bytes), target.bytes.min(source.bytes))?;
        let _current = self.context.current()?;
        let (to, from) = (target.address + offset, source.address + offset);
        // SAFETY: both ranges are live and that long.
        let code = unsafe { (self.context.driver.cuMemcpyDtoDAsync_v2)(to, from, bytes as usize, self.raw) };
        self.context.check("cuMemcpyDtoDAsync", code)
    }

    /// Enqueues a copy of a buffer's first `bytes` bytes to `offset` in the same buffer; the two do not overlap.
    ///
    /// # Errors
    ///
    /// They would overlap or reach beyond the buffer, or the driver failed.
    pub fn repeat(&self, buffer: &DeviceBuffer, offset: u64, bytes: u64) -> Result<(), Error> {
        fits("copy", bytes, offset)?;
        fits("copy", offset.saturating_add(bytes), buffer.bytes)?;
        let _current = self.context.current()?;
        let (to, from) = (buffer.address + offset, buffer.address);
        // SAFETY: both ranges are live, that long, and apart.
        let code = unsafe { (self.context.driver.cuMemcpyDtoDAsync_v2)(to, from, bytes as usize, self.raw) };
        self.context.check("cuMemcpyDtoDAsync", code)
    }
}

fn fits(call: &'static str, needed: u64, got: u64) -> Result<(), Error> {
    if needed <= got {
        return Ok(());
    }
    Err(Error::Program { detail: format!("{call} of {needed} bytes with a device buffer of {got}") })
}

/// Two events around work on a stream.
struct Events<'a> {
    context: &'a Context,
    raw: [Handle; 2],
}

impl Drop for Events<'_> {
    fn drop(&mut self) {
        for event in self.raw.into_iter().filter(|event| !event.is_null()) {
            // SAFETY: created by `time_on_stream`, whose context is current, and destroyed once.
            unsafe { (self.context.driver.cuEventDestroy_v2)(event) };
        }
    }
}

impl Context {
    /// Memory for `bytes` bytes.
    ///
    /// # Errors
    ///
    /// There is not so much free.
    pub fn alloc(self: &Arc<Self>, bytes: u64) -> Result<DeviceBuffer, Error> {
        let mut address = 0;
        if bytes > 0 {
            let _current = self.current()?;
            // SAFETY: a place for the answer.
            let code = unsafe { (self.driver.cuMemAlloc_v2)(&raw mut address, bytes as usize) };
            self.check("cuMemAlloc", code).map_err(|error| match error {
                Error::OutOfMemory { device, .. } => {
                    Error::OutOfMemory { device, bytes, free: self.free_bytes().ok() }
                }
                other => other,
            })?;
        }
        Ok(DeviceBuffer { context: Arc::clone(self), address, bytes })
    }

    /// Bytes of device memory that are free.
    ///
    /// # Errors
    ///
    /// The driver failed.
    pub fn free_bytes(&self) -> Result<u64, Error> {
        let _current = self.current()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: places for the answers.
        let code = unsafe { (self.driver.cuMemGetInfo_v2)(&raw mut free, &raw mut total) };
        self.check("cuMemGetInfo", code).map(|()| free as u64)
    }

    /// A stream of its own, which does not wait for the default stream.
    ///
    /// # Errors
    ///
    /// The driver failed.
    pub fn stream(self: &Arc<Self>) -> Result<Stream, Error> {
        Ok(Stream { context: Arc::clone(self), raw: self.raw_stream()? })
    }

    pub(super) fn raw_stream(&self) -> Result<Handle, Error> {
        let _current = self.current()?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: a place for the answer.
        let code = unsafe { (self.driver.cuStreamCreate)(&raw mut raw, NON_BLOCKING) };
        self.check("cuStreamCreate", code).map(|()| raw)
    }

    /// Copies to the device on the context's own stream and waits until all is there.
    pub(super) fn upload_all(&self, pairs: &[(&DeviceBuffer, &[u8])]) -> Result<(), Error> {
        let _current = self.current()?;
        for (target, source) in pairs {
            fits("upload", source.len() as u64, target.bytes)?;
            if source.is_empty() {
                continue;
            }
            let (from, bytes) = (source.as_ptr().cast(), source.len());
            // SAFETY: both ranges are live and long enough.
            let code =
                unsafe { (self.driver.cuMemcpyHtoDAsync_v2)(target.address, from, bytes, self.uploads) };
            self.check("cuMemcpyHtoDAsync", code)?;
        }
        // SAFETY: a live stream.
        self.check("cuStreamSynchronize", unsafe { (self.driver.cuStreamSynchronize)(self.uploads) })
    }

    /// Milliseconds that one of `repeats` runs of the enqueued work takes on the device, on average.
    ///
    /// # Errors
    ///
    /// The work or the driver failed.
    pub fn time_on_stream(
        &self,
        stream: &Stream,
        repeats: u32,
        mut enqueue: impl FnMut() -> Result<(), Error>,
    ) -> Result<f32, Error> {
        let _current = self.current()?;
        let mut events = Events { context: self, raw: [std::ptr::null_mut(); 2] };
        for event in &mut events.raw {
            // SAFETY: a place for the answer.
            self.check("cuEventCreate", unsafe { (self.driver.cuEventCreate)(event, 0) })?;
        }
        let [start, end] = events.raw;
        // SAFETY: a live event and a live stream.
        self.check("cuEventRecord", unsafe { (self.driver.cuEventRecord)(start, stream.raw) })?;
        (0..repeats).try_for_each(|_| enqueue())?;
        // SAFETY: a live event and a live stream.
        self.check("cuEventRecord", unsafe { (self.driver.cuEventRecord)(end, stream.raw) })?;
        // SAFETY: a live event.
        self.check("cuEventSynchronize", unsafe { (self.driver.cuEventSynchronize)(end) })?;
        let mut milliseconds = 0.0;
        // SAFETY: a place for the answer, and two events that have happened.
        let code = unsafe { (self.driver.cuEventElapsedTime)(&raw mut milliseconds, start, end) };
        self.check("cuEventElapsedTime", code)?;
        Ok(milliseconds / repeats.max(1) as f32)
    }
}
