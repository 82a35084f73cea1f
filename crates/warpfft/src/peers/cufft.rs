//! cuFFT, from the library that comes with NVIDIA's toolkit.

use std::ffi::{c_int, c_longlong, c_void};
use std::sync::OnceLock;
use std::time::Instant;

use libloading::Library;
use warpfft_core::problem::{Direction, Precision, Problem, Storage};

use super::library::{function, open};
use crate::error::Error;
use crate::wisdom::packed;

/// The library's name.
pub(crate) const NAME: &str = "cuFFT";

const C2C: c_int = 0x29;
const Z2Z: c_int = 0x69;
/// `CUDA_C_16F` and `CUDA_C_16BF`.
const COMPLEX_HALF: c_int = 6;
const COMPLEX_BRAIN: c_int = 15;
/// `NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT`: it may compile kernels for the very problem.
const PATIENT: c_int = 1;

/// A plan of the library.
type Handle = c_int;
type Exec = unsafe extern "C" fn(Handle, *mut c_void, *mut c_void, c_int) -> c_int;
type MakePlan = unsafe extern "C" fn(
    Handle,
    c_int,
    *mut c_longlong,
    *mut c_longlong,
    c_longlong,
    c_longlong,
    *mut c_longlong,
    c_longlong,
    c_longlong,
    c_int,
    c_longlong,
    *mut usize,
) -> c_int;

/// As [`MakePlan`], with types of input, output and arithmetic.
type MakeTyped = unsafe extern "C" fn(
    Handle,
    c_int,
    *mut c_longlong,
    *mut c_longlong,
    c_longlong,
    c_longlong,
    c_int,
    *mut c_longlong,
    c_longlong,
    c_longlong,
    c_int,
    c_longlong,
    *mut usize,
    c_int,
) -> c_int;

/// The library's functions.
struct Cufft {
    create: unsafe extern "C" fn(*mut Handle) -> c_int,
    destroy: unsafe extern "C" fn(Handle) -> c_int,
    make_plan: MakePlan,
    set_stream: unsafe extern "C" fn(Handle, *mut c_void) -> c_int,
    /// From version 11.2 on.
    set_property: Option<unsafe extern "C" fn(Handle, c_int, c_longlong) -> c_int>,
    get_version: unsafe extern "C" fn(*mut c_int) -> c_int,
    exec_single: Exec,
    exec_double: Exec,
    make_typed: Option<MakeTyped>,
    exec_typed: Option<Exec>,
    _library: Library,
}

impl Cufft {
    fn get() -> Result<&'static Self, Error> {
        static OPEN: OnceLock<Result<Cufft, Error>> = OnceLock::new();
        OPEN.get_or_init(Self::open).as_ref().map_err(Clone::clone)
    }

    fn open() -> Result<Self, Error> {
        let names = if cfg!(windows) {
            &["cufft64_12.dll", "cufft64_11.dll"][..]
        } else {
            &["libcufft.so.12", "libcufft.so.11", "libcufft.so"][..]
        };
        let library = open(NAME, "WARPFFT_CUFFT", names)?;
        // SAFETY: the types are those of the library's header, and the library is kept beside the pointers.
        unsafe {
            Ok(Self {
                create: function(&library, NAME, "cufftCreate")?,
                destroy: function(&library, NAME, "cufftDestroy")?,
                make_plan: function(&library, NAME, "cufftMakePlanMany64")?,
                set_stream: function(&library, NAME, "cufftSetStream")?,
                set_property: function(&library, NAME, "cufftSetPlanPropertyInt64").ok(),
                get_version: function(&library, NAME, "cufftGetVersion")?,
                exec_single: function(&library, NAME, "cufftExecC2C")?,
                exec_double: function(&library, NAME, "cufftExecZ2Z")?,
                make_typed: function(&library, NAME, "cufftXtMakePlanMany").ok(),
                exec_typed: function(&library, NAME, "cufftXtExec").ok(),
                _library: library,
            })
        }
    }
}

fn check(call: &'static str, code: c_int) -> Result<(), Error> {
    if code == 0 { Ok(()) } else { Err(Error::Peer { library: NAME, call, code }) }
}

/// The version of the library that is there.
pub(crate) fn version() -> Result<String, Error> {
    let mut version = 0;
    // SAFETY: a place for the answer.
    check("cufftGetVersion", unsafe { (Cufft::get()?.get_version)(&raw mut version) })?;
    Ok(format!("{}.{}.{}", version / 1000, version % 1000 / 100, version % 100))
}

fn absent(call: &'static str) -> Error {
    Error::Peer { library: NAME, call, code: -1 }
}

/// The numbers of a plan.
#[derive(Clone, Copy)]
enum Type {
    Single,
    Double,
    /// Of 16 bits, which it computes in as well.
    Short(c_int),
}

impl Type {
    /// Those of a problem of such lengths: what it does not say otherwise is kept as it is computed, and of 16 bits the
    /// library takes powers of two alone.
    fn of(problem: &Problem, lengths: &[c_longlong]) -> Result<Self, Error> {
        let powers = lengths.iter().all(|n| n.count_ones() == 1);
        match (problem.stored(), problem.precision) {
            ([Storage::F32, Storage::F32], Precision::F32) => Ok(Self::Single),
            ([Storage::F64, Storage::F64], Precision::F64 | Precision::DoubleSingle) => Ok(Self::Double),
            ([Storage::F16, Storage::F16], Precision::F32) if powers => Ok(Self::Short(COMPLEX_HALF)),
            ([Storage::Bf16, Storage::Bf16], Precision::F32) if powers => Ok(Self::Short(COMPLEX_BRAIN)),
            _ => Err(Error::Unsupported {
                device: NAME.into(),
                what: "numbers of 16 bits but in powers of two, nor types that differ".into(),
                would_work: "measure powers of two, or f32".into(),
            }),
        }
    }
}

/// A plan; freed when dropped, its workspace with it.
pub(crate) struct CufftPlan {
    library: &'static Cufft,
    handle: Handle,
    exec: Exec,
    direction: c_int,
    /// Bytes of workspace that it allocated.
    pub workspace_bytes: u64,
    /// Seconds that it took to make.
    pub plan_seconds: f64,
}

impl Drop for CufftPlan {
    fn drop(&mut self) {
        // SAFETY: made by `new` and destroyed once; whoever timed it has waited for its work.
        unsafe { (self.library.destroy)(self.handle) };
    }
}

impl CufftPlan {
    /// A plan for a packed problem on a stream.
    ///
    /// # Safety
    ///
    /// The primary context of the device is current on this thread, and `stream` is one of its streams, which
    /// outlives the plan.
    pub unsafe fn new(problem: &Problem, patient: bool, stream: *mut c_void) -> Result<Self, Error> {
        let library = Cufft::get()?;
        let (mut lengths, batch) =
            packed(problem).filter(|(lengths, _)| lengths.len() <= 3).ok_or_else(|| {
                let what =
                    "arrays that are not packed, interleaved and of one to three dimensions".to_owned();
                Error::Unsupported { device: NAME.into(), what, would_work: "measure packed arrays".into() }
            })?;
        let started = Instant::now();
        let mut handle = 0;
        // SAFETY: a place for the answer.
        check("cufftCreate", unsafe { (library.create)(&raw mut handle) })?;
        let kind = Type::of(problem, &lengths)?;
        let exec = match kind {
            Type::Single => library.exec_single,
            Type::Double => library.exec_double,
            Type::Short(_) => library.exec_typed.ok_or_else(|| absent("cufftXtExec"))?,
        };
        let direction = if problem.direction == Direction::Forward { -1 } else { 1 };
        let mut plan = Self { library, handle, exec, direction, workspace_bytes: 0, plan_seconds: 0.0 };
        if patient {
            let call = "cufftSetPlanPropertyInt64";
            let set = library.set_property.ok_or(Error::Peer { library: NAME, call, code: -1 })?;
            // SAFETY: a plan that was created and not yet made, which is when properties are set.
            check(call, unsafe { set(handle, PATIENT, 1) })?;
        }
        let (rank, points) = (lengths.len() as c_int, lengths.iter().product());
        let none = std::ptr::null_mut();
        let mut bytes = 0_usize;
        // SAFETY: `rank` lengths, no embedding (null: the strides are then taken as packed), a place for the answer;
        // the context is current by this function's contract.
        let code = unsafe {
            let (lengths, bytes) = (lengths.as_mut_ptr(), &raw mut bytes);
            let plain = |kind| {
                let make = library.make_plan;
                make(handle, rank, lengths, none, 1, points, none, 1, points, kind, batch, bytes)
            };
            match kind {
                Type::Single => plain(C2C),
                Type::Double => plain(Z2Z),
                Type::Short(own) => {
                    let make = library.make_typed.ok_or_else(|| absent("cufftXtMakePlanMany"))?;
                    make(handle, rank, lengths, none, 1, points, own, none, 1, points, own, batch, bytes, own)
                }
            }
        };
        check("cufftMakePlanMany", code)?;
        // SAFETY: a plan that was made, and a live stream by this function's contract.
        check("cufftSetStream", unsafe { (library.set_stream)(handle, stream) })?;
        plan.workspace_bytes = bytes as u64;
        plan.plan_seconds = started.elapsed().as_secs_f64();
        Ok(plan)
    }

    /// Enqueues the transform.
    ///
    /// # Safety
    ///
    /// The context is current; the addresses are of memory on its device that holds the problem until the work is
    /// done.
    pub unsafe fn enqueue(&self, input: u64, output: u64) -> Result<(), Error> {
        // SAFETY: by this function's contract; the function is that of the plan's type.
        let code =
            unsafe { (self.exec)(self.handle, input as *mut c_void, output as *mut c_void, self.direction) };
        check("cufftExec", code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_told_or_what_is_missing() {
        match version() {
            Ok(version) => {
                let parts: Vec<u32> = version.split('.').filter_map(|part| part.parse().ok()).collect();
                assert!(parts.len() == 3 && parts[0] >= 10, "{version}");
            }
            Err(error) => {
                assert!(matches!(error, Error::PeerAbsent { .. }), "{error}");
                assert!(error.to_string().contains("cuFFT"), "{error}");
            }
        }
    }
}
