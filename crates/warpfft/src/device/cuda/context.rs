//! A GPU's primary context, which it shares with everything else in the process (PyTorch, CuPy, the runtime
//! API): retained while it is used here, and current on a thread only during a call.

use std::collections::HashMap;
use std::ffi::{c_char, c_int};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use warpfft_core::target::{Api, Limits};

use super::assemble::Module;
use super::driver::{CAPTURE_RELAXED, Driver, Handle, OUT_OF_MEMORY, STICKY, attribute};
use super::image;
use super::memory::DeviceBuffer;
use crate::device::DeviceKind;
use crate::error::Error;

/// Multiprocessors from which on a data-centre GPU is not a slice of one.
const WHOLE_GPU: u32 = 72;

/// One GPU.
pub struct Context {
    pub(super) driver: &'static Driver,
    pub(super) limits: Limits,
    pub(super) driver_version: i32,
    pub(super) memory_bytes: u64,
    /// This build, this driver and these limits, as a part of cached records' keys.
    pub(super) identity: String,
    /// A stream for tables; making one anew for each plan would cost more than the copies.
    pub(super) uploads: Handle,
    name: String,
    device: c_int,
    raw: Handle,
    /// Loaded kernels by the hash of their text, shared by all plans.
    pub(super) modules: Mutex<HashMap<u128, Arc<Module>>>,
    /// Tables by the hash of their content, as long as a plan uses them.
    pub(super) tables: Mutex<HashMap<u128, Weak<DeviceBuffer>>>,
}

// SAFETY: a context may be used from any thread once it is current there, which `current` sees to; the maps are
// behind mutexes.
unsafe impl Send for Context {}
// SAFETY: as above; the driver's functions may be called from several threads at once.
unsafe impl Sync for Context {}

/// The context is current on this thread while this lives.
pub(super) struct Current<'a>(&'a Context);

impl Drop for Current<'_> {
    fn drop(&mut self) {
        let mut popped: Handle = std::ptr::null_mut();
        // SAFETY: this thread pushed the context when this was made, and pops in reverse order.
        unsafe { (self.0.driver.cuCtxPopCurrent_v2)(&raw mut popped) };
    }
}

/// While this lives, other threads that capture graphs forbid this one nothing.
pub(super) struct Relaxed {
    driver: &'static Driver,
    before: c_int,
}

impl Drop for Relaxed {
    fn drop(&mut self) {
        // SAFETY: a place for the answer, which holds a mode of the driver's.
        unsafe { (self.driver.cuThreadExchangeStreamCaptureMode)(&raw mut self.before) };
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // Modules are unloaded and tables are freed by their own drops, which need the context: not in the maps,
        // which hold modules without a way back to it.
        let modules = self.modules.get_mut().unwrap_or_else(PoisonError::into_inner);
        let modules = std::mem::take(modules);
        if let Ok(_current) = self.current() {
            for module in modules.values() {
                module.unload(self.driver);
            }
            if !self.uploads.is_null() {
                // SAFETY: created by `retain` and destroyed once; every upload was waited for.
                unsafe { (self.driver.cuStreamDestroy_v2)(self.uploads) };
            }
        }
        // SAFETY: retained once when this was made.
        unsafe { (self.driver.cuDevicePrimaryCtxRelease_v2)(self.device) };
    }
}

/// How many GPUs the driver finds.
pub(super) fn count() -> Result<u32, String> {
    let driver = Driver::get()?;
    let mut count = 0;
    // SAFETY: a place for the answer.
    match unsafe { (driver.cuDeviceGetCount)(&raw mut count) } {
        0 => Ok(count as u32),
        code => Err(format!("the NVIDIA driver does not count its GPUs: {}", driver.error_name(code))),
    }
}

impl Context {
    /// Opens a GPU, or gives out the one that is open.
    pub(super) fn open(ordinal: u32) -> Result<Arc<Self>, Error> {
        static OPEN: Mutex<Vec<(u32, Weak<Context>)>> = Mutex::new(Vec::new());
        let kind = DeviceKind::Cuda;
        let absent = |reason| Error::DeviceAbsent { kind, reason, would_work: DeviceKind::Cpu };
        let count = count().map_err(absent)?;
        if count == 0 {
            return Err(absent("the NVIDIA driver finds no GPU".into()));
        }
        if ordinal >= count {
            return Err(Error::NoSuchOrdinal { kind, ordinal, count });
        }
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|(_, context)| context.strong_count() > 0);
        if let Some(context) = open.iter().find(|(at, _)| *at == ordinal).and_then(|(_, weak)| weak.upgrade())
        {
            return Ok(context);
        }
        let driver = Driver::get().map_err(absent)?;
        let context = Arc::new(Self::retain(driver, ordinal)?);
        open.push((ordinal, Arc::downgrade(&context)));
        Ok(context)
    }

    fn retain(driver: &'static Driver, ordinal: u32) -> Result<Self, Error> {
        let (mut device, mut version, mut bytes) = (0, 0, 0_usize);
        let mut raw: Handle = std::ptr::null_mut();
        let mut name = [0_u8; 128];
        // SAFETY: each call gets places for its answer that live through it, and the device of the first.
        unsafe {
            check(driver, "cuda", "cuDeviceGet", (driver.cuDeviceGet)(&raw mut device, ordinal as c_int))?;
            let name = name.as_mut_ptr().cast::<c_char>();
            check(driver, "cuda", "cuDeviceGetName", (driver.cuDeviceGetName)(name, 127, device))?;
            check(driver, "cuda", "cuDriverGetVersion", (driver.cuDriverGetVersion)(&raw mut version))?;
            check(driver, "cuda", "cuDeviceTotalMem", (driver.cuDeviceTotalMem_v2)(&raw mut bytes, device))?;
        }
        let end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
        let name = String::from_utf8_lossy(&name[..end]).into_owned();
        let limits = limits(driver, device, &name, bytes as u64)?;
        // SAFETY: a place for the answer; released when the context is dropped.
        let code = unsafe { (driver.cuDevicePrimaryCtxRetain)(&raw mut raw, device) };
        check(driver, &name, "cuDevicePrimaryCtxRetain", code)?;
        let identity = image::identity(&limits, version);
        let mut context = Self {
            driver,
            identity,
            uploads: std::ptr::null_mut(),
            limits,
            driver_version: version,
            memory_bytes: bytes as u64,
            name,
            device,
            raw,
            modules: Mutex::default(),
            tables: Mutex::default(),
        };
        context.uploads = context.raw_stream()?;
        Ok(context)
    }

    /// The GPU's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The GPU's compute capability times ten.
    pub fn sm(&self) -> u32 {
        match self.limits.api {
            Api::Ptx { sm } => sm,
            Api::Wgsl { .. } | Api::OpenCl => 0,
        }
    }

    /// Makes the context current on this thread.
    pub(super) fn current(&self) -> Result<Current<'_>, Error> {
        // SAFETY: the context is retained.
        self.check("cuCtxPushCurrent", unsafe { (self.driver.cuCtxPushCurrent_v2)(self.raw) })?;
        Ok(Current(self))
    }

    /// A capture of another thread in the global mode forbids all threads to load machine code, and fails if one does:
    /// unless that thread says that it does not touch what is captured.
    pub(super) fn relaxed(&self) -> Relaxed {
        let mut relaxed = Relaxed { driver: self.driver, before: CAPTURE_RELAXED };
        // SAFETY: a place for the answer, which holds a mode of the driver's.
        unsafe { (self.driver.cuThreadExchangeStreamCaptureMode)(&raw mut relaxed.before) };
        relaxed
    }

    /// Turns a result into an error.
    pub(super) fn check(&self, call: &'static str, code: c_int) -> Result<(), Error> {
        check(self.driver, &self.name, call, code)
    }
}

fn check(driver: &Driver, device: &str, call: &'static str, code: c_int) -> Result<(), Error> {
    let device = device.to_owned();
    match code {
        0 => Ok(()),
        OUT_OF_MEMORY => Err(Error::OutOfMemory { device, bytes: 0, free: None }),
        _ if STICKY.contains(&code) => {
            let detail = format!("{call} reports {} ({code})", driver.error_name(code));
            Err(Error::DeviceLost { device, detail })
        }
        _ => Err(Error::Driver { device, call, name: driver.error_name(code), code }),
    }
}

/// The GPU's limits from its attributes.
fn limits(driver: &Driver, device: c_int, name: &str, memory_bytes: u64) -> Result<Limits, Error> {
    let get = |which: c_int| {
        let mut value = 0;
        // SAFETY: a place for the answer, and a device that was got before.
        let code = unsafe { (driver.cuDeviceGetAttribute)(&raw mut value, which, device) };
        check(driver, name, "cuDeviceGetAttribute", code).map(|()| value.max(0) as u32)
    };
    // Attributes that older drivers do not know count as absent.
    let maybe = |which: c_int| get(which).unwrap_or(0);
    let sm = 10 * get(attribute::MAJOR)? + get(attribute::MINOR)?;
    let clusters = maybe(attribute::CLUSTERS) == 1;
    let peak =
        2e3 * f64::from(maybe(attribute::MEMORY_CLOCK_KHZ)) * f64::from(maybe(attribute::BUS_BITS)) / 8.0;
    Ok(Limits {
        name: name.to_owned(),
        api: Api::Ptx { sm },
        max_threads: get(attribute::MAX_THREADS)?,
        shared_bytes: get(attribute::SHARED_OPT_IN)?,
        shared_per_sm: get(attribute::SHARED_PER_SM)?,
        registers_per_sm: get(attribute::REGISTERS_PER_SM)?,
        threads_per_sm: get(attribute::THREADS_PER_SM)?,
        blocks_per_sm: get(attribute::BLOCKS_PER_SM)?,
        multiprocessors: get(attribute::MULTIPROCESSORS)?,
        subgroup: get(attribute::WARP)?,
        // 16 is Hopper's and Blackwell's data-centre limit; others, and slices of a GPU that may hold no group of so
        // many multiprocessors, stop at the portable 8.
        max_cluster: if !clusters {
            1
        } else if (sm / 10 == 9 || sm / 10 == 10) && get(attribute::MULTIPROCESSORS)? >= WHOLE_GPU {
            16
        } else {
            8
        },
        l2_bytes: u64::from(get(attribute::L2_BYTES)?),
        max_buffer_bytes: memory_bytes,
        max_blocks: u64::from(get(attribute::MAX_GRID_X)?),
        bulk_copy: sm >= 90,
        copy_bytes_per_second: copy_speed(name, peak),
        ..Limits::h200()
    })
}

/// Speed of a copy: measured figures of known GPUs, else the share of the memory's peak that copies usually get.
fn copy_speed(name: &str, peak: f64) -> f64 {
    const MEASURED: [(&str, f64); 2] = [("H200", 4.05e12), ("A100", 1.7e12)];
    match MEASURED.iter().find(|(part, _)| name.contains(part)) {
        Some(&(_, speed)) => speed,
        None if peak > 0.0 => 0.85 * peak,
        None => 0.5e12,
    }
}
