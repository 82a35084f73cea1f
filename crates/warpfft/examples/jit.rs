//! How long the NVIDIA driver takes to assemble kernels, and how well: by its linker, which hands the machine code
//! out, and by loading text directly, at every optimisation level.
//!
//! ```text
//! cargo run --release --example jit -- 1009 5040 7919     # CSV on standard output
//! ```
//!
//! The driver's own cache of machine code is off, and the first assembly of the process, which loads the
//! assembler's library, is a row of its own.

use std::error::Error;
use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::ptr::{null_mut, without_provenance_mut};
use std::time::Instant;

use libloading::{Library, Symbol};
use warpfft::core::request::Fft;
use warpfft::core::target::{Api, Limits};
use warpfft::core::{compile, emit};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;
type Handle = *mut c_void;

/// `CU_JIT_INPUT_PTX`.
const PTX: c_int = 1;
/// `CU_JIT_OPTIMIZATION_LEVEL`.
const LEVEL: c_int = 7;
/// `CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES` and `CU_FUNC_ATTRIBUTE_NUM_REGS`.
const LOCAL_AND_REGISTERS: [c_int; 2] = [3, 4];
/// `CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR` and `_MINOR`.
const CAPABILITY: [c_int; 2] = [75, 76];

/// A kernel that does nothing.
const SMALLEST: &str =
    ".version 6.3\n.target sm_75\n.address_size 64\n.visible .entry nothing()\n{\n\tret;\n}\n";

/// The functions that are measured here; each returns a `CUresult`.
#[allow(non_snake_case, reason = "the driver's own names")]
struct Driver<'a> {
    cuInit: Symbol<'a, unsafe extern "system" fn(c_uint) -> c_int>,
    cuDeviceGet: Symbol<'a, unsafe extern "system" fn(*mut c_int, c_int) -> c_int>,
    cuDeviceGetAttribute: Symbol<'a, unsafe extern "system" fn(*mut c_int, c_int, c_int) -> c_int>,
    cuDevicePrimaryCtxRetain: Symbol<'a, unsafe extern "system" fn(*mut Handle, c_int) -> c_int>,
    cuCtxSetCurrent: Symbol<'a, unsafe extern "system" fn(Handle) -> c_int>,
    cuLinkCreate:
        Symbol<'a, unsafe extern "system" fn(c_uint, *mut c_int, *mut *mut c_void, *mut Handle) -> c_int>,
    cuLinkAddData: Symbol<
        'a,
        unsafe extern "system" fn(
            Handle,
            c_int,
            *mut c_void,
            usize,
            *const c_char,
            c_uint,
            *mut c_int,
            *mut *mut c_void,
        ) -> c_int,
    >,
    cuLinkComplete: Symbol<'a, unsafe extern "system" fn(Handle, *mut *mut c_void, *mut usize) -> c_int>,
    cuLinkDestroy: Symbol<'a, unsafe extern "system" fn(Handle) -> c_int>,
    cuModuleLoadDataEx: Symbol<
        'a,
        unsafe extern "system" fn(*mut Handle, *const c_void, c_uint, *mut c_int, *mut *mut c_void) -> c_int,
    >,
    cuModuleGetFunction: Symbol<'a, unsafe extern "system" fn(*mut Handle, Handle, *const c_char) -> c_int>,
    cuModuleUnload: Symbol<'a, unsafe extern "system" fn(Handle) -> c_int>,
    cuFuncGetAttribute: Symbol<'a, unsafe extern "system" fn(*mut c_int, c_int, Handle) -> c_int>,
}

impl<'a> Driver<'a> {
    fn of(library: &'a Library) -> Outcome<Self> {
        macro_rules! get {
            ($name:literal) => {{
                // SAFETY: the field's signature is that of the driver's documentation.
                unsafe { library.get($name) }?
            }};
        }
        Ok(Self {
            cuInit: get!(b"cuInit\0"),
            cuDeviceGet: get!(b"cuDeviceGet\0"),
            cuDeviceGetAttribute: get!(b"cuDeviceGetAttribute\0"),
            cuDevicePrimaryCtxRetain: get!(b"cuDevicePrimaryCtxRetain\0"),
            cuCtxSetCurrent: get!(b"cuCtxSetCurrent\0"),
            cuLinkCreate: get!(b"cuLinkCreate_v2\0"),
            cuLinkAddData: get!(b"cuLinkAddData_v2\0"),
            cuLinkComplete: get!(b"cuLinkComplete\0"),
            cuLinkDestroy: get!(b"cuLinkDestroy\0"),
            cuModuleLoadDataEx: get!(b"cuModuleLoadDataEx\0"),
            cuModuleGetFunction: get!(b"cuModuleGetFunction\0"),
            cuModuleUnload: get!(b"cuModuleUnload\0"),
            cuFuncGetAttribute: get!(b"cuFuncGetAttribute\0"),
        })
    }

    /// Makes the first GPU's context current and tells its compute capability times ten.
    fn open(&self) -> Outcome<u32> {
        let (mut device, mut context, mut capability) = (0, null_mut(), [0; 2]);
        // SAFETY: places for the answers; the context stays retained until the process ends.
        unsafe {
            check("cuInit", (self.cuInit)(0))?;
            check("cuDeviceGet", (self.cuDeviceGet)(&raw mut device, 0))?;
            for (value, which) in capability.iter_mut().zip(CAPABILITY) {
                check("cuDeviceGetAttribute", (self.cuDeviceGetAttribute)(value, which, device))?;
            }
            check("cuDevicePrimaryCtxRetain", (self.cuDevicePrimaryCtxRetain)(&raw mut context, device))?;
            check("cuCtxSetCurrent", (self.cuCtxSetCurrent)(context))?;
        }
        Ok((10 * capability[0] + capability[1]) as u32)
    }
}

fn check(call: &str, code: c_int) -> Outcome {
    if code == 0 { Ok(()) } else { Err(format!("{call} returned {code}").into()) }
}

/// What one assembly took, in milliseconds, and gave.
struct Took {
    /// Before the text was handed over.
    create: f64,
    /// Reading and assembling it.
    add: f64,
    /// Linking.
    complete: f64,
    /// Loading the machine code, or the text.
    load: f64,
    code_bytes: usize,
    registers: c_int,
    local_bytes: c_int,
}

fn since(start: &mut Instant) -> f64 {
    let took = start.elapsed().as_secs_f64() * 1e3;
    *start = Instant::now();
    took
}

fn by_linker(driver: &Driver, text: &str, name: &str, level: u32) -> Outcome<Took> {
    let text = CString::new(text)?;
    let (mut key, mut value) = (LEVEL, without_provenance_mut(level as usize));
    let (mut linker, mut code, mut bytes) = (null_mut(), null_mut(), 0);
    let length = text.as_bytes_with_nul().len();
    let data = text.as_ptr().cast_mut().cast();
    let mut clock = Instant::now();
    // SAFETY: options and text live until the linker is destroyed; the machine code is the linker's until then.
    unsafe {
        let created = (driver.cuLinkCreate)(1, &raw mut key, &raw mut value, &raw mut linker);
        check("cuLinkCreate", created)?;
        let create = since(&mut clock);
        let label = c"kernel.ptx".as_ptr();
        let added = (driver.cuLinkAddData)(linker, PTX, data, length, label, 0, null_mut(), null_mut());
        check("cuLinkAddData", added)?;
        let add = since(&mut clock);
        check("cuLinkComplete", (driver.cuLinkComplete)(linker, &raw mut code, &raw mut bytes))?;
        let complete = since(&mut clock);
        let (load, [local_bytes, registers]) = load(driver, code, name, None)?;
        check("cuLinkDestroy", (driver.cuLinkDestroy)(linker))?;
        Ok(Took { create, add, complete, load, code_bytes: bytes, registers, local_bytes })
    }
}

fn directly(driver: &Driver, text: &str, name: &str, level: u32) -> Outcome<Took> {
    let text = CString::new(text)?;
    // SAFETY: the text ends with a zero and lives through the call.
    let (load, [local_bytes, registers]) = unsafe { load(driver, text.as_ptr().cast(), name, Some(level)) }?;
    Ok(Took { create: 0.0, add: 0.0, complete: 0.0, load, code_bytes: 0, registers, local_bytes })
}

/// Loads text or machine code and unloads it; milliseconds to a usable function, its local bytes and registers.
///
/// # Safety
///
/// `data` is text that ends with a zero, or machine code.
unsafe fn load(
    driver: &Driver,
    data: *const c_void,
    name: &str,
    level: Option<u32>,
) -> Outcome<(f64, [c_int; 2])> {
    let name = CString::new(name)?;
    let (mut module, mut function, mut about) = (null_mut(), null_mut(), [0; 2]);
    let (mut key, mut value) = (LEVEL, without_provenance_mut(level.unwrap_or(0) as usize));
    let count = level.iter().count() as c_uint;
    let mut clock = Instant::now();
    // SAFETY: by this function's contract, with places for the answers; nothing uses the module afterwards.
    unsafe {
        let loaded = (driver.cuModuleLoadDataEx)(&raw mut module, data, count, &raw mut key, &raw mut value);
        check("cuModuleLoadDataEx", loaded)?;
        check("cuModuleGetFunction", (driver.cuModuleGetFunction)(&raw mut function, module, name.as_ptr()))?;
        for (value, which) in about.iter_mut().zip(LOCAL_AND_REGISTERS) {
            check("cuFuncGetAttribute", (driver.cuFuncGetAttribute)(value, which, function))?;
        }
        let took = since(&mut clock);
        check("cuModuleUnload", (driver.cuModuleUnload)(module))?;
        Ok((took, about))
    }
}

fn print(length: &str, kernel: &str, path: &str, level: u32, took: &Took) {
    let Took { create, add, complete, load, code_bytes, registers, local_bytes } = took;
    let total = create + add + complete + load;
    println!(
        "{length},{kernel},{path},{level},{total:.2},{create:.2},{add:.2},{complete:.2},{load:.2},\
         {code_bytes},{registers},{local_bytes}"
    );
}

fn main() -> Outcome {
    // SAFETY: no other thread runs yet, and the driver is not loaded yet.
    unsafe { std::env::set_var("CUDA_CACHE_DISABLE", "1") };
    let names = if cfg!(windows) { ["nvcuda.dll", "nvcuda.dll"] } else { ["libcuda.so.1", "libcuda.so"] };
    // SAFETY: loading the NVIDIA driver's library runs its initialisers, which is what it is for.
    let library = names.iter().find_map(|name| unsafe { Library::new(name) }.ok());
    let library = library.ok_or("there is no NVIDIA driver on this machine")?;
    let driver = Driver::of(&library)?;
    let limits = Limits { api: Api::Ptx { sm: driver.open()? }, ..Limits::h200() };
    println!(
        "length,kernel,path,level,total_ms,create_ms,add_ms,complete_ms,load_ms,code_bytes,\
         registers,local_bytes"
    );
    for turn in ["first", "second"] {
        print(turn, "nothing", "link", 4, &by_linker(&driver, SMALLEST, "nothing", 4)?);
        print(turn, "nothing", "direct", 4, &directly(&driver, SMALLEST, "nothing", 4)?);
    }
    for length in std::env::args().skip(1) {
        let n: u64 = length.parse()?;
        let problem = Fft::new([n]).batch(((1 << 26) / n).max(1)).build()?;
        for kernel in compile(&problem, &limits)?.kernels {
            let Api::Ptx { sm } = limits.api else { continue };
            let text = emit::ptx(&kernel, sm)?;
            // Twice, since the first turn also pays for memory that the assembler then keeps.
            for level in [4, 3, 2, 1, 4] {
                print(&length, &kernel.name, "link", level, &by_linker(&driver, &text, &kernel.name, level)?);
                print(
                    &length,
                    &kernel.name,
                    "direct",
                    level,
                    &directly(&driver, &text, &kernel.name, level)?,
                );
            }
        }
    }
    Ok(())
}
