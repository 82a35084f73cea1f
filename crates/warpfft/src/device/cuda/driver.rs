//! The driver's library, opened at run time. Results are plain integers here and the library may be missing:
//! the reasons for an own loader instead of a binding crate, whose result codes are Rust enums (a newer driver's
//! code would be undefined behaviour) and which panics where a symbol is missing.

use std::ffi::{CStr, c_char, c_int, c_uint, c_ulonglong, c_void};
use std::sync::OnceLock;

use libloading::Library;

/// A handle of the driver: context, module, function, stream, event, linker.
pub type Handle = *mut c_void;
/// An address in the device's memory.
pub type Address = u64;

/// `CUlaunchAttribute`, its value as the numbers that the kinds used here are.
#[repr(C, align(8))]
pub struct LaunchAttribute {
    /// `CU_LAUNCH_ATTRIBUTE_*`.
    pub id: c_uint,
    /// The union after it is aligned to 8 bytes.
    pub pad: c_uint,
    /// Numbers in a union of 64 bytes: three of a cluster's dimensions, one of a policy.
    pub value: [c_uint; 16],
}

/// `CUlaunchConfig`.
#[repr(C)]
pub struct LaunchConfig {
    /// Blocks.
    pub grid: [c_uint; 3],
    /// Threads.
    pub block: [c_uint; 3],
    /// Bytes of dynamic shared memory.
    pub shared: c_uint,
    /// Where to launch.
    pub stream: Handle,
    /// Attributes.
    pub attributes: *mut LaunchAttribute,
    /// How many.
    pub count: c_uint,
}

/// `CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION`.
pub const CLUSTER_DIMENSION: c_uint = 4;
/// `CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE`.
pub const CLUSTER_SCHEDULING: c_uint = 5;
/// `CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING`.
pub const LOAD_BALANCING: c_uint = 2;
/// `CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION`: the launch may begin while the kernel before it in the stream
/// ends; it has to wait for that by itself.
pub const PROGRAMMATIC_SERIALIZATION: c_uint = 6;
/// The first driver that captures such launches in graphs.
pub const CAPTURES_EARLY_LAUNCHES: c_int = 12_030;
/// `CU_JIT_INPUT_PTX`.
pub const INPUT_PTX: c_int = 1;
/// `CU_JIT_OPTIMIZATION_LEVEL`: 0 to 4, and 4 where nothing is said.
pub const OPTIMIZATION_LEVEL: c_int = 7;
/// `CU_JIT_ERROR_LOG_BUFFER`.
pub const ERROR_LOG: c_int = 5;
/// `CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES`.
pub const ERROR_LOG_BYTES: c_int = 6;
/// `CU_STREAM_CAPTURE_MODE_RELAXED`.
pub const CAPTURE_RELAXED: c_int = 2;
/// `CU_STREAM_CAPTURE_STATUS_NONE`.
pub const NOT_CAPTURED: c_int = 0;
/// `CU_STREAM_PER_THREAD`: another stream for each thread.
pub const PER_THREAD_STREAM: Handle = std::ptr::without_provenance_mut(2);
/// `CU_STREAM_NON_BLOCKING`.
pub const NON_BLOCKING: c_uint = 1;

/// `CUDA_ERROR_OUT_OF_MEMORY`.
pub const OUT_OF_MEMORY: c_int = 2;
/// `CUDA_ERROR_NO_DEVICE`.
pub const NO_DEVICE: c_int = 100;
/// Codes after which the context cannot be used any more.
pub const STICKY: [c_int; 12] = [214, 219, 220, 700, 702, 709, 714, 715, 716, 717, 718, 719];

/// `CU_MEMHOSTALLOC_PORTABLE`: pinned for all contexts.
pub const PORTABLE: c_uint = 1;

/// What the driver tells of an address.
pub mod pointer {
    use std::ffi::c_int;
    /// `CU_POINTER_ATTRIBUTE_MEMORY_TYPE`.
    pub const MEMORY_TYPE: c_int = 2;
    /// `CU_POINTER_ATTRIBUTE_RANGE_START_ADDR`.
    pub const RANGE_START: c_int = 11;
    /// `CU_POINTER_ATTRIBUTE_RANGE_SIZE`.
    pub const RANGE_SIZE: c_int = 12;
    /// `CU_MEMORYTYPE_HOST`.
    pub const HOST: u32 = 1;
}

/// Function attributes of the driver.
pub mod function {
    use std::ffi::c_int;
    /// Bytes of local memory a thread: spills.
    pub const LOCAL_BYTES: c_int = 3;
    /// Registers a thread.
    pub const REGISTERS: c_int = 4;
    /// Limit on dynamic shared memory.
    pub const MAX_DYNAMIC_SHARED: c_int = 8;
    /// Allows clusters of more than 8 blocks.
    pub const NON_PORTABLE_CLUSTER: c_int = 14;
}

/// Device attributes of the driver.
pub mod attribute {
    use std::ffi::c_int;
    pub const MAX_THREADS: c_int = 1;
    pub const MAX_GRID_X: c_int = 5;
    pub const WARP: c_int = 10;
    pub const MULTIPROCESSORS: c_int = 16;
    pub const MEMORY_CLOCK_KHZ: c_int = 36;
    pub const BUS_BITS: c_int = 37;
    pub const L2_BYTES: c_int = 38;
    pub const THREADS_PER_SM: c_int = 39;
    pub const MAJOR: c_int = 75;
    pub const MINOR: c_int = 76;
    pub const SHARED_PER_SM: c_int = 81;
    pub const REGISTERS_PER_SM: c_int = 82;
    pub const SHARED_OPT_IN: c_int = 97;
    pub const BLOCKS_PER_SM: c_int = 106;
    pub const CLUSTERS: c_int = 120;
}

macro_rules! functions {
    ($($name:ident($($arg:ty),*);)*) => {
        /// The driver's functions; each returns a `CUresult` as an integer.
        #[allow(non_snake_case, reason = "the driver's own names")]
        pub struct Driver {
            $(pub $name: unsafe extern "system" fn($($arg),*) -> c_int,)*
            _library: Library,
        }

        impl Driver {
            fn from_library(library: Library) -> Result<Self, String> {
                Ok(Self {
                    $($name: {
                        let name = concat!(stringify!($name), "\0").as_bytes();
                        // SAFETY: the signature is that of the driver's documentation, and the library lives as
                        // long as the pointer, beside it.
                        let symbol = unsafe { library.get::<unsafe extern "system" fn($($arg),*) -> c_int>(name) };
                        *symbol.map_err(|_| missing(stringify!($name)))?
                    },)*
                    _library: library,
                })
            }
        }
    };
}

functions! {
    cuInit(c_uint);
    cuDriverGetVersion(*mut c_int);
    cuGetErrorName(c_int, *mut *const c_char);
    cuDeviceGetCount(*mut c_int);
    cuDeviceGet(*mut c_int, c_int);
    cuDeviceGetName(*mut c_char, c_int, c_int);
    cuDeviceGetAttribute(*mut c_int, c_int, c_int);
    cuDeviceTotalMem_v2(*mut usize, c_int);
    cuDevicePrimaryCtxRetain(*mut Handle, c_int);
    cuDevicePrimaryCtxRelease_v2(c_int);
    cuCtxPushCurrent_v2(Handle);
    cuCtxPopCurrent_v2(*mut Handle);
    cuMemAlloc_v2(*mut Address, usize);
    cuMemFree_v2(Address);
    cuMemGetInfo_v2(*mut usize, *mut usize);
    cuMemHostAlloc(*mut *mut c_void, usize, c_uint);
    cuMemFreeHost(*mut c_void);
    cuPointerGetAttribute(*mut c_void, c_int, Address);
    cuMemcpyHtoDAsync_v2(Address, *const c_void, usize, Handle);
    cuMemcpyDtoHAsync_v2(*mut c_void, Address, usize, Handle);
    cuMemcpyDtoDAsync_v2(Address, Address, usize, Handle);
    cuStreamCreate(*mut Handle, c_uint);
    cuStreamDestroy_v2(Handle);
    cuStreamSynchronize(Handle);
    cuThreadExchangeStreamCaptureMode(*mut c_int);
    cuStreamIsCapturing(Handle, *mut c_int);
    cuStreamBeginCapture_v2(Handle, c_int);
    cuStreamEndCapture(Handle, *mut Handle);
    cuGraphInstantiateWithFlags(*mut Handle, Handle, c_ulonglong);
    cuGraphLaunch(Handle, Handle);
    cuGraphExecDestroy(Handle);
    cuGraphDestroy(Handle);
    cuEventCreate(*mut Handle, c_uint);
    cuEventRecord(Handle, Handle);
    cuEventSynchronize(Handle);
    cuEventElapsedTime(*mut f32, Handle, Handle);
    cuEventDestroy_v2(Handle);
    cuModuleLoadData(*mut Handle, *const c_void);
    cuModuleUnload(Handle);
    cuModuleGetFunction(*mut Handle, Handle, *const c_char);
    cuFuncSetAttribute(Handle, c_int, c_int);
    cuFuncGetAttribute(*mut c_int, c_int, Handle);
    cuLinkCreate_v2(c_uint, *mut c_int, *mut *mut c_void, *mut Handle);
    cuLinkAddData_v2(Handle, c_int, *mut c_void, usize, *const c_char, c_uint, *mut c_int, *mut *mut c_void);
    cuLinkComplete(Handle, *mut *mut c_void, *mut usize);
    cuLinkDestroy(Handle);
    cuLaunchKernel(
        Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut *mut c_void, *mut *mut c_void
    );
    cuLaunchKernelEx(*const LaunchConfig, Handle, *mut *mut c_void, *mut *mut c_void);
}

fn missing(symbol: &str) -> String {
    format!("the NVIDIA driver is too old: it has no {symbol}; version 520 or newer has")
}

impl Driver {
    /// The driver, opened and initialised once; the reason where there is none.
    pub fn get() -> Result<&'static Self, String> {
        static DRIVER: OnceLock<Result<Driver, String>> = OnceLock::new();
        DRIVER.get_or_init(Self::open).as_ref().map_err(Clone::clone)
    }

    fn open() -> Result<Self, String> {
        let names = if cfg!(windows) { &["nvcuda.dll"][..] } else { &["libcuda.so.1", "libcuda.so"][..] };
        // SAFETY: loading the NVIDIA driver's library runs its initialisers, which is what it is for.
        let library = names.iter().find_map(|name| unsafe { Library::new(name) }.ok());
        let library = library.ok_or_else(|| {
            format!("there is no NVIDIA driver on this machine ({} is not found)", names[0])
        })?;
        let driver = Self::from_library(library)?;
        super::read_ahead::read_assembler();
        // SAFETY: no arguments but flags, which must be 0.
        match unsafe { (driver.cuInit)(0) } {
            0 => Ok(driver),
            NO_DEVICE => Err("the NVIDIA driver finds no GPU".into()),
            code => Err(format!("the NVIDIA driver does not start: {} ({code})", driver.error_name(code))),
        }
    }

    /// The driver's name of a result.
    pub fn error_name(&self, code: c_int) -> String {
        let mut name: *const c_char = std::ptr::null();
        // SAFETY: the driver stores a pointer to a constant string, or leaves null for codes unknown to it.
        let known = unsafe { (self.cuGetErrorName)(code, &raw mut name) };
        if known != 0 || name.is_null() {
            return "an unknown error".into();
        }
        // SAFETY: a constant, terminated string of the driver.
        unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_have_the_drivers_layout() {
        assert_eq!(size_of::<LaunchAttribute>(), 72);
        assert_eq!(std::mem::offset_of!(LaunchAttribute, value), 8);
        assert_eq!(std::mem::offset_of!(LaunchConfig, stream), 32);
        assert_eq!(size_of::<LaunchConfig>(), 56);
    }

    #[test]
    fn a_missing_driver_is_an_error() {
        if let Err(reason) = Driver::get() {
            assert!(reason.contains("NVIDIA"), "{reason}");
        }
    }
}
