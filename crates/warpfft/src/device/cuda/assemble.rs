//! From a kernel to a function on the GPU: text, machine code by the driver's linker (which, unlike loading text
//! directly, hands the machine code out to be kept), module, function.

use std::ffi::{CString, c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once, PoisonError};

use warpfft_core::emit;
use warpfft_core::kernel::{Kernel, Verified};

use super::context::Context;
use super::driver::{Driver, ERROR_LOG, ERROR_LOG_BYTES, Handle, INPUT_PTX, OPTIMIZATION_LEVEL, function};
use super::image::KernelImage;
use crate::device::behind::{beside, wait_at_exit};
use crate::device::cache::DiskCache;
use crate::device::hash::hash;
use crate::device::outline::KernelOutline;
use crate::error::Error;

/// Dynamic shared memory beyond this must be asked for.
const SHARED_WITHOUT_ASKING: u32 = 48 * 1024;
/// Clusters beyond this must be asked for.
const PORTABLE_CLUSTER: u32 = 8;
/// Bytes for what the assembler says.
const LOG_BYTES: usize = 16 * 1024;

/// How much the assembler does for a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effort {
    /// What it must: a bit more than half of the time.
    Least,
    /// All that it can.
    Full,
}

/// A loaded kernel. Its context unloads it.
pub(super) struct Module {
    raw: Handle,
    /// Hash of the text that it was assembled from.
    pub text: u128,
    /// Machine code, for the records of programs that share this kernel.
    pub code: Vec<u8>,
    pub function: Handle,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of local memory of a thread: what did not fit in registers.
    pub local_bytes: u32,
}

// SAFETY: the driver's modules and functions belong to a context and may be used from any thread.
unsafe impl Send for Module {}
// SAFETY: as above, from several at once.
unsafe impl Sync for Module {}

impl Module {
    /// Unloads it. Its context is current, and nothing uses it any more.
    pub fn unload(&self, driver: &Driver) {
        // SAFETY: by this function's contract; contexts do so once, when the last plan is gone.
        unsafe { (driver.cuModuleUnload)(self.raw) };
    }
}

/// A kernel as the driver takes it.
struct Source {
    text: String,
    /// Hash of the text.
    key: u128,
}

impl Source {
    fn of(context: &Context, kernel: &Verified<Kernel>) -> Result<Self, Error> {
        let text = emit::ptx(kernel, context.sm()).map_err(|error| Error::Emit {
            kernel: kernel.name.clone(),
            device: context.name().to_owned(),
            reason: error.to_string(),
        })?;
        Ok(Self { key: hash(text.as_bytes()), text })
    }

    /// The name of its entry in the disk cache.
    fn entry(&self, context: &Context) -> String {
        format!("{:032x}{}", self.key, entry_ending(context))
    }
}

/// Whether the machine code of all of these kernels is loaded or on the disk.
pub(super) fn at_hand(context: &Context, kernels: &[Verified<Kernel>]) -> bool {
    let cache = DiskCache::from_environment();
    let there = |source: Source| known(context, source.key).is_some() || cache.has(&source.entry(context));
    // What cannot be emitted is nowhere, and says so when it is assembled.
    kernels.iter().all(|kernel| Source::of(context, kernel).is_ok_and(there))
}

/// Loads all of a program's kernels, several at once where there are several.
pub(super) fn modules(
    context: &Context,
    kernels: &[Verified<Kernel>],
    effort: Effort,
) -> Result<Vec<Arc<Module>>, Error> {
    if let [kernel] = kernels {
        return Ok(vec![module(context, kernel, effort)?]);
    }
    // Plain threads, and not the pool: assembling waits inside the driver.
    std::thread::scope(|scope| {
        let load = |kernel| scope.spawn(move || module(context, kernel, effort));
        let started: Vec<_> = kernels.iter().map(load).collect();
        let finish = |thread: std::thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        started.into_iter().map(finish).collect()
    })
}

fn module(context: &Context, kernel: &Verified<Kernel>, effort: Effort) -> Result<Arc<Module>, Error> {
    let source = Source::of(context, kernel)?;
    // Code of least effort is for this process and kept apart.
    let key = if effort == Effort::Full { source.key } else { !source.key };
    if let Some(module) = known(context, key) {
        return Ok(module);
    }
    let _current = context.current()?;
    let outline = KernelOutline::of(kernel);
    if effort == Effort::Least {
        let code = assemble(context, &kernel.name, source.text, effort)?;
        return Ok(keep(context, load(context, &outline, key, code)?));
    }
    let cache = DiskCache::from_environment();
    let entry = source.entry(context);
    let kept = cache.read(&entry).and_then(|code| load(context, &outline, key, code).ok());
    let module = match kept {
        Some(module) => module,
        None => {
            let code = assemble(context, &kernel.name, source.text, effort)?;
            cache.write(&entry, &code);
            load(context, &outline, key, code)?
        }
    };
    Ok(keep(context, module))
}

/// Hash of the text and machine code of each module, as records hold them.
pub(super) fn assembled(modules: &[Arc<Module>]) -> Vec<(u128, &[u8])> {
    modules.iter().map(|module| (module.text, &module.code[..])).collect()
}

/// Loads a kernel from a program's record.
pub(super) fn recorded(context: &Context, kernel: &KernelImage) -> Result<Arc<Module>, Error> {
    if let Some(module) = known(context, kernel.text) {
        return Ok(module);
    }
    let _current = context.current()?;
    let module = load(context, &kernel.outline(), kernel.text, kernel.code.to_vec())?;
    Ok(keep(context, module))
}

/// The module of that text, if it is loaded.
fn known(context: &Context, text: u128) -> Option<Arc<Module>> {
    context.modules.lock().unwrap_or_else(PoisonError::into_inner).get(&text).cloned()
}

/// Remembers a module. The context is current.
fn keep(context: &Context, module: Module) -> Arc<Module> {
    let mut modules = context.modules.lock().unwrap_or_else(PoisonError::into_inner);
    // Another thread may have loaded the same kernel meanwhile: the first one stays.
    if let Some(first) = modules.get(&module.text) {
        module.unload(context.driver);
        return Arc::clone(first);
    }
    Arc::clone(modules.entry(module.text).or_insert(Arc::new(module)))
}

/// Whether the driver's assembler is loaded already, which costs tens of milliseconds.
static AWAKE: AtomicBool = AtomicBool::new(false);

/// Whether assembling one kernel more makes nobody wait for the assembler to be loaded. Where machine code is cached for this
/// device, what is about to be compiled may be too, and then loading it would be for nothing.
pub(super) fn assembles_anyway(context: &Context) -> bool {
    AWAKE.load(Ordering::Relaxed) || !DiskCache::from_environment().has_any(&entry_ending(context))
}

/// Makes the driver load its assembler, on another thread, unless that may be for nothing. Whoever is about to compile calls this
/// first.
pub(super) fn wake(context: &Arc<Context>) {
    static ONCE: Once = Once::new();
    if AWAKE.load(Ordering::Relaxed) || !assembles_anyway(context) {
        return;
    }
    let context = Arc::clone(context);
    ONCE.call_once(|| {
        beside(move || {
            let text =
                ".version 6.3\n.target sm_75\n.address_size 64\n.visible .entry nothing()\n{\n\tret;\n}\n";
            // Another thread may capture a graph.
            let _relaxed = context.relaxed();
            // Dropped before that ends, which what a closure captures is not.
            let context = context;
            // What fails here fails again where it matters, and says so there.
            if let Ok(_current) = context.current() {
                drop(assemble(&context, "nothing", text.to_owned(), Effort::Full));
            }
        });
    });
}

/// The end of the name of a cached kernel: the device and the driver that it is for.
fn entry_ending(context: &Context) -> String {
    format!("-sm{}-driver{}.cubin", context.sm(), context.driver_version)
}

/// Machine code of a kernel's text. The context is current.
fn assemble(context: &Context, kernel: &str, text: String, effort: Effort) -> Result<Vec<u8>, Error> {
    let driver = context.driver;
    let text =
        CString::new(text).map_err(|_| refused(context, kernel, "the text holds a zero byte".into()))?;
    let mut log = vec![0_u8; LOG_BYTES];
    let mut options: [c_int; 3] = [ERROR_LOG, ERROR_LOG_BYTES, OPTIMIZATION_LEVEL];
    let number = std::ptr::without_provenance_mut;
    let level = if effort == Effort::Full { 4 } else { 0 };
    let mut values: [*mut c_void; 3] = [log.as_mut_ptr().cast(), number(LOG_BYTES), number(level)];
    let mut state: Handle = std::ptr::null_mut();
    // SAFETY: three options with their values; they and the log live until the linker is destroyed below.
    let code =
        unsafe { (driver.cuLinkCreate_v2)(3, options.as_mut_ptr(), values.as_mut_ptr(), &raw mut state) };
    context.check("cuLinkCreate", code)?;
    let (mut place, mut bytes): (*mut c_void, usize) = (std::ptr::null_mut(), 0);
    // SAFETY: a live linker; the text with its final zero, which the length counts; no options; places for the
    // answers.
    let code = unsafe {
        let length = text.as_bytes_with_nul().len();
        let (data, none) = (text.as_ptr().cast_mut().cast(), std::ptr::null_mut());
        let name = c"kernel.ptx".as_ptr();
        match (driver.cuLinkAddData_v2)(state, INPUT_PTX, data, length, name, 0, none, std::ptr::null_mut()) {
            0 => (driver.cuLinkComplete)(state, &raw mut place, &raw mut bytes),
            failed => failed,
        }
    };
    let result = if code == 0 && !place.is_null() {
        // SAFETY: the linker owns that many bytes there until it is destroyed.
        Ok(unsafe { std::slice::from_raw_parts(place.cast::<u8>(), bytes) }.to_vec())
    } else {
        Err(code)
    };
    // SAFETY: created above, destroyed once.
    unsafe { (driver.cuLinkDestroy)(state) };
    if !AWAKE.swap(true, Ordering::Relaxed) {
        // A process undoes what it loaded last first. The assembler's library is loaded now, and must not be undone under
        // a thread that assembles.
        wait_at_exit();
    }
    result.map_err(|code| {
        let end = log.iter().position(|&byte| byte == 0).unwrap_or(log.len());
        let said = String::from_utf8_lossy(&log[..end]);
        refused(context, kernel, format!("{} ({code}) {}", driver.error_name(code), said.trim()))
    })
}

fn refused(context: &Context, kernel: &str, log: String) -> Error {
    Error::Compile { device: context.name().to_owned(), kernel: kernel.to_owned(), log }
}

/// Loads machine code and makes its function ready to launch. The context is current.
fn load(context: &Context, kernel: &KernelOutline, text: u128, code: Vec<u8>) -> Result<Module, Error> {
    let driver = context.driver;
    let _relaxed = context.relaxed();
    let mut raw: Handle = std::ptr::null_mut();
    // SAFETY: machine code as the driver's linker made it; its checksum was right if it comes from the cache.
    context.check("cuModuleLoadData", unsafe {
        (driver.cuModuleLoadData)(&raw mut raw, code.as_ptr().cast())
    })?;
    let mut module = Module { raw, text, code, function: std::ptr::null_mut(), registers: 0, local_bytes: 0 };
    let ready = prepare(context, kernel, &mut module);
    if let Err(error) = ready {
        module.unload(driver);
        return Err(error);
    }
    tracing::debug!(
        kernel = kernel.name,
        registers = module.registers,
        local_bytes = module.local_bytes,
        "kernel loaded"
    );
    Ok(module)
}

fn prepare(context: &Context, kernel: &KernelOutline, module: &mut Module) -> Result<(), Error> {
    let driver = context.driver;
    let Ok(name) = CString::new(kernel.name) else {
        return Err(refused(context, kernel.name, "its name holds a zero byte".into()));
    };
    // SAFETY: a live module, a terminated name, a place for the answer.
    let code = unsafe { (driver.cuModuleGetFunction)(&raw mut module.function, module.raw, name.as_ptr()) };
    context.check("cuModuleGetFunction", code)?;
    let set = |which, value| {
        // SAFETY: a live function.
        let code = unsafe { (driver.cuFuncSetAttribute)(module.function, which, value) };
        context.check("cuFuncSetAttribute", code)
    };
    let shared = kernel.shared_bytes;
    if shared > SHARED_WITHOUT_ASKING {
        set(function::MAX_DYNAMIC_SHARED, shared as c_int)?;
    }
    if kernel.cluster > PORTABLE_CLUSTER {
        set(function::NON_PORTABLE_CLUSTER, 1)?;
    }
    // Asking also makes a driver that loads lazily load now: a first launch while a graph is captured must not.
    let get = |which| {
        let mut value = 0;
        // SAFETY: a live function, a place for the answer.
        let code = unsafe { (driver.cuFuncGetAttribute)(&raw mut value, which, module.function) };
        context.check("cuFuncGetAttribute", code).map(|()| value as u32)
    };
    let (registers, local_bytes) = (get(function::REGISTERS)?, get(function::LOCAL_BYTES)?);
    (module.registers, module.local_bytes) = (registers, local_bytes);
    Ok(())
}
