//! FFTW 3, in whichever precision the problem asks for, with its threads where they are installed.

use std::ffi::{CStr, c_char, c_double, c_int, c_uint, c_void};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use libloading::Library;
use warpfft_core::problem::{Dim, Direction, Format, Kind, Precision, Problem};

use super::library::{function, open};
use crate::error::Error;

/// The library's name.
pub(crate) const NAME: &str = "FFTW";

/// `FFTW_MEASURE`: it times its own candidates.
const MEASURE: c_uint = 0;
/// Seconds that it may spend on them.
const PATIENCE: f64 = 10.0;

/// `fftw_iodim64`.
#[repr(C)]
struct IoDim {
    n: isize,
    is: isize,
    os: isize,
}

impl From<&Dim> for IoDim {
    fn from(dim: &Dim) -> Self {
        Self { n: dim.n as isize, is: dim.is as isize, os: dim.os as isize }
    }
}

type Raw = *mut c_void;
type MakePlan = unsafe extern "C" fn(
    c_int,
    *const IoDim,
    c_int,
    *const IoDim,
    *mut c_void,
    *mut c_void,
    c_int,
    c_uint,
) -> Raw;

/// One precision's functions.
struct Fftw {
    plan: MakePlan,
    execute: unsafe extern "C" fn(Raw, *mut c_void, *mut c_void),
    destroy: unsafe extern "C" fn(Raw),
    alignment_of: unsafe extern "C" fn(*mut c_void) -> c_int,
    set_time_limit: unsafe extern "C" fn(c_double),
    version: String,
    threads: usize,
    /// Its planner is one for the process and not made for several threads.
    planner: Mutex<()>,
    _libraries: (Library, Option<Library>),
}

impl Fftw {
    fn get(precision: Precision) -> Result<&'static Self, Error> {
        static SINGLE: OnceLock<Result<Fftw, Error>> = OnceLock::new();
        static DOUBLE: OnceLock<Result<Fftw, Error>> = OnceLock::new();
        let open = || match precision {
            Precision::F32 => SINGLE.get_or_init(|| Self::open("fftwf", "fftw3f", "WARPFFT_FFTW3F")),
            Precision::F64 | Precision::DoubleSingle => {
                DOUBLE.get_or_init(|| Self::open("fftw", "fftw3", "WARPFFT_FFTW3"))
            }
        };
        open().as_ref().map_err(Clone::clone)
    }

    fn open(prefix: &str, file: &str, variable: &str) -> Result<Self, Error> {
        let names = [format!("lib{file}.so.3"), format!("lib{file}.3.dylib"), format!("lib{file}-3.dll")];
        let library = open(NAME, variable, &names.each_ref().map(String::as_str))?;
        let name = |function: &str| format!("{prefix}_{function}");
        let (threading, threads) = threads(prefix, file).map_or((None, 1), |(library, n)| (Some(library), n));
        // SAFETY: the types are those of the library's header, and the library is kept beside the pointers. The
        // version is a constant, terminated text of the library.
        unsafe {
            let version = library.get::<*const c_char>(name("version").as_bytes());
            let version = version
                .map_or("version unknown".into(), |text| CStr::from_ptr(*text).to_string_lossy().into());
            Ok(Self {
                plan: function(&library, NAME, &name("plan_guru64_dft"))?,
                execute: function(&library, NAME, &name("execute_dft"))?,
                destroy: function(&library, NAME, &name("destroy_plan"))?,
                alignment_of: function(&library, NAME, &name("alignment_of"))?,
                set_time_limit: function(&library, NAME, &name("set_timelimit"))?,
                version,
                threads,
                planner: Mutex::new(()),
                _libraries: (library, threading),
            })
        }
    }
}

/// The library's threads, told to use as many as our own transforms do.
fn threads(prefix: &str, file: &str) -> Option<(Library, usize)> {
    let names = [format!("lib{file}_threads.so.3"), format!("lib{file}_threads.3.dylib")];
    let library = open(NAME, "WARPFFT_FFTW_THREADS", &names.each_ref().map(String::as_str)).ok()?;
    let count = rayon::current_num_threads();
    // SAFETY: the types are those of the library's header; it is set up once, before any plan is made.
    unsafe {
        type Start = unsafe extern "C" fn() -> c_int;
        type Use = unsafe extern "C" fn(c_int);
        let start: Start = function(&library, NAME, &format!("{prefix}_init_threads")).ok()?;
        let choose: Use = function(&library, NAME, &format!("{prefix}_plan_with_nthreads")).ok()?;
        if start() == 0 {
            return None;
        }
        choose(count as c_int);
    }
    Some((library, count))
}

/// The version of the library that is there.
pub(crate) fn version() -> Result<String, Error> {
    let of = |precision| Fftw::get(precision).map(|it| format!("{}, {} threads", it.version, it.threads));
    of(Precision::F32).or_else(|_| of(Precision::F64))
}

/// A plan; freed when dropped.
pub(crate) struct FftwPlan {
    library: &'static Fftw,
    raw: Raw,
    /// Bytes from an array's start to its first element.
    offsets: [usize; 2],
    alignment: [c_int; 2],
    /// Seconds that it took to make.
    pub plan_seconds: f64,
}

impl Drop for FftwPlan {
    fn drop(&mut self) {
        let _one = self.library.planner.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: made by `new` and destroyed once.
        unsafe { (self.library.destroy)(self.raw) };
    }
}

/// Whether a problem is what we ask of it.
fn plain(problem: &Problem) -> bool {
    let formats = [problem.input, problem.output] == [Format::Interleaved; 2];
    let alone = !problem.is_windowed() && problem.filter.is_none() && problem.functions.is_empty();
    problem.kind == Kind::Complex && formats && alone && problem.storage == [None; 2]
}

impl FftwPlan {
    /// A plan, made by trials on two arrays, which are overwritten. In place: the same array twice.
    ///
    /// # Safety
    ///
    /// The arrays hold what the problem spans, in its precision.
    pub unsafe fn new(problem: &Problem, input: *mut c_void, output: *mut c_void) -> Result<Self, Error> {
        if !plain(problem) {
            return Err(Error::Unsupported {
                device: NAME.into(),
                what: "anything but complex transforms of interleaved data, as it is called here".into(),
                would_work: "measure such a transform, without windows, filters and functions".into(),
            });
        }
        let library = Fftw::get(problem.precision)?;
        let _one = library.planner.lock().unwrap_or_else(PoisonError::into_inner);
        let started = Instant::now();
        let dims: Vec<IoDim> = problem.transform.iter().map(IoDim::from).collect();
        let batch: Vec<IoDim> = problem.batch.iter().map(IoDim::from).collect();
        let sign = if problem.direction == Direction::Forward { -1 } else { 1 };
        let bytes = problem.precision.complex_bytes() as usize;
        let offsets = [problem.input_offset as usize * bytes, problem.output_offset as usize * bytes];
        // SAFETY: as many dimensions as are counted; the arrays hold what they span, by this function's contract,
        // and the first element lies at the problem's offset in them.
        let (raw, alignment) = unsafe {
            let (input, output) = (input.byte_add(offsets[0]), output.byte_add(offsets[1]));
            (library.set_time_limit)(PATIENCE);
            let (rank, many) = (dims.len() as c_int, batch.len() as c_int);
            let raw = (library.plan)(rank, dims.as_ptr(), many, batch.as_ptr(), input, output, sign, MEASURE);
            (raw, [input, output].map(|array| (library.alignment_of)(array)))
        };
        if raw.is_null() {
            return Err(Error::Peer { library: NAME, call: "fftw_plan_guru64_dft", code: 0 });
        }
        Ok(Self { library, raw, offsets, alignment, plan_seconds: started.elapsed().as_secs_f64() })
    }

    /// Transforms other arrays than those that it was made on.
    ///
    /// # Safety
    ///
    /// The arrays hold what the problem spans; one array twice where that was so when the plan was made.
    pub unsafe fn execute(&self, input: *mut c_void, output: *mut c_void) -> Result<(), Error> {
        // SAFETY: within arrays that hold what the problem spans.
        let [input, output] = unsafe { [input.byte_add(self.offsets[0]), output.byte_add(self.offsets[1])] };
        // SAFETY: it only looks at the addresses.
        let alignment = [input, output].map(|array| unsafe { (self.library.alignment_of)(array) });
        if alignment != self.alignment {
            // Its code may need the alignment that it was made for.
            return Err(Error::Program { detail: "arrays for FFTW are not aligned alike".into() });
        }
        // SAFETY: by this function's contract, and aligned as when the plan was made.
        unsafe { (self.library.execute)(self.raw, input, output) };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use num_complex::Complex;
    use warpfft_core::request::Fft;

    use super::*;

    #[test]
    fn fftw_transforms_where_it_is_installed() {
        let problem = Fft::new([6]).batch(2).f64().inverse().build().expect("it is possible");
        let numbers: Vec<Complex<f64>> =
            (0..12).map(|i| Complex::new(f64::from(i % 5), f64::from(i % 3))).collect();
        let (mut input, mut output) = (numbers.clone(), vec![Complex::<f64>::default(); 12]);
        let (from, to) = (input.as_mut_ptr().cast(), output.as_mut_ptr().cast());
        // SAFETY: both arrays hold the problem's 12 elements.
        let plan = match unsafe { FftwPlan::new(&problem, from, to) } {
            Ok(plan) => plan,
            Err(error) => {
                assert!(matches!(error, Error::PeerAbsent { .. }), "{error}");
                return;
            }
        };
        input.copy_from_slice(&numbers);
        // SAFETY: as above.
        unsafe { plan.execute(from, to) }.expect("the arrays of the plan");
        let mut want = vec![Complex::default(); 12];
        let ours = crate::Device::cpu().plan(&problem).expect("the processor plans everything");
        ours.run_host(&numbers, &mut want).expect("it runs");
        for (got, want) in output.iter().zip(&want) {
            assert!((got - want).norm() < 1e-12, "{output:?} {want:?}");
        }
    }
}
