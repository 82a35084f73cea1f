//! FFTW 3, in whichever precision the problem asks for, with its threads where they are installed.

use std::ffi::{CStr, c_char, c_double, c_int, c_uint, c_void};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use libloading::Library;
use warpfft_core::problem::{Dim, Direction, Format, Kind, Precision, Problem, RealDim, RealKind};

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

impl From<Dim> for IoDim {
    fn from(dim: Dim) -> Self {
        Self { n: dim.n as isize, is: dim.is as isize, os: dim.os as isize }
    }
}

type Raw = *mut c_void;
type MakeComplex = unsafe extern "C" fn(
    c_int,
    *const IoDim,
    c_int,
    *const IoDim,
    *mut c_void,
    *mut c_void,
    c_int,
    c_uint,
) -> Raw;
/// Between reals and half spectra, which says the direction.
type MakeHalf =
    unsafe extern "C" fn(c_int, *const IoDim, c_int, *const IoDim, *mut c_void, *mut c_void, c_uint) -> Raw;
/// With a kind for each dimension.
type MakeReal = unsafe extern "C" fn(
    c_int,
    *const IoDim,
    c_int,
    *const IoDim,
    *mut c_void,
    *mut c_void,
    *const c_int,
    c_uint,
) -> Raw;
type Execute = unsafe extern "C" fn(Raw, *mut c_void, *mut c_void);

/// One precision's functions.
struct Fftw {
    complex: (MakeComplex, Execute),
    to_half: (MakeHalf, Execute),
    from_half: (MakeHalf, Execute),
    real: (MakeReal, Execute),
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
                complex: (
                    function(&library, NAME, &name("plan_guru64_dft"))?,
                    function(&library, NAME, &name("execute_dft"))?,
                ),
                to_half: (
                    function(&library, NAME, &name("plan_guru64_dft_r2c"))?,
                    function(&library, NAME, &name("execute_dft_r2c"))?,
                ),
                from_half: (
                    function(&library, NAME, &name("plan_guru64_dft_c2r"))?,
                    function(&library, NAME, &name("execute_dft_c2r"))?,
                ),
                real: (
                    function(&library, NAME, &name("plan_guru64_r2r"))?,
                    function(&library, NAME, &name("execute_r2r"))?,
                ),
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
    execute: Execute,
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

/// `fftw_r2r_kind`.
const fn number(kind: RealKind) -> c_int {
    match kind {
        RealKind::HalfComplex => 0,
        RealKind::FromHalfComplex => 1,
        RealKind::Dht => 2,
        RealKind::Dct1 => 3,
        RealKind::Dct3 => 4,
        RealKind::Dct2 => 5,
        RealKind::Dct4 => 6,
        RealKind::Dst1 => 7,
        RealKind::Dst3 => 8,
        RealKind::Dst2 => 9,
        RealKind::Dst4 => 10,
    }
}

/// Whether a problem is what we ask of it.
fn plain(problem: &Problem) -> bool {
    let formats = problem.kind.reals().map(|real| if real { Format::Real } else { Format::Interleaved });
    let alone = !problem.is_windowed() && problem.filter.is_none() && problem.functions.is_empty();
    let known = match &problem.kind {
        Kind::Complex => true,
        Kind::RealToComplex(_) => problem.direction == Direction::Forward,
        Kind::ComplexToReal(_) => problem.direction == Direction::Inverse,
        Kind::RealToReal(dims) => dims.iter().all(|real| !real.orthogonal),
        Kind::Zoom(_) => false,
    };
    known && formats == [problem.input, problem.output] && alone && problem.storage == [None; 2]
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
                what: "anything but its own kinds of interleaved data, as it is called here".into(),
                would_work: "measure a transform without windows, filters and functions".into(),
            });
        }
        let library = Fftw::get(problem.precision)?;
        let _one = library.planner.lock().unwrap_or_else(PoisonError::into_inner);
        let started = Instant::now();
        // The halved dimension is its last.
        let own = problem.kind.dims().map(|(dim, _)| dim);
        let dims: Vec<IoDim> = problem.transform.iter().copied().chain(own).map(IoDim::from).collect();
        let batch: Vec<IoDim> = problem.batch.iter().copied().map(IoDim::from).collect();
        let element = |real| if real { 1 } else { 2 } * problem.precision.real_bytes() as usize;
        let [from, to] = problem.kind.reals().map(element);
        let offsets = [problem.input_offset as usize * from, problem.output_offset as usize * to];
        let (rank, many) = (dims.len() as c_int, batch.len() as c_int);
        let (dims, batch) = (dims.as_ptr(), batch.as_ptr());
        // SAFETY: as many dimensions as are counted, which live to the end of this function, as many kinds where there
        // are kinds; the arrays hold what they span, by this function's contract, and the first element lies at the
        // problem's offset in them.
        let ((raw, execute), alignment) = unsafe {
            let (input, output) = (input.byte_add(offsets[0]), output.byte_add(offsets[1]));
            (library.set_time_limit)(PATIENCE);
            let half = |(make, execute): (MakeHalf, Execute)| {
                (make(rank, dims, many, batch, input, output, MEASURE), execute)
            };
            let made = match &problem.kind {
                Kind::RealToComplex(_) => half(library.to_half),
                Kind::ComplexToReal(_) => half(library.from_half),
                Kind::RealToReal(of) => {
                    let kinds: Vec<c_int> = of.iter().map(|RealDim { kind, .. }| number(*kind)).collect();
                    let (make, execute) = library.real;
                    (make(rank, dims, many, batch, input, output, kinds.as_ptr(), MEASURE), execute)
                }
                Kind::Complex | Kind::Zoom(_) => {
                    let sign = if problem.direction == Direction::Forward { -1 } else { 1 };
                    let (make, execute) = library.complex;
                    (make(rank, dims, many, batch, input, output, sign, MEASURE), execute)
                }
            };
            (made, [input, output].map(|array| (library.alignment_of)(array)))
        };
        if raw.is_null() {
            return Err(Error::Peer { library: NAME, call: "fftw_plan_guru64", code: 0 });
        }
        Ok(Self { library, raw, execute, offsets, alignment, plan_seconds: started.elapsed().as_secs_f64() })
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
        unsafe { (self.execute)(self.raw, input, output) };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use bytemuck::{cast_slice, cast_slice_mut};
    use num_complex::Complex;
    use warpfft_core::request::Fft;

    use super::*;
    use crate::host::{Planes, PlanesMut};

    /// What both libraries make of the same numbers; `None` where the other one is not installed.
    fn both(problem: &Problem) -> Option<[Vec<f64>; 2]> {
        let reals = |bytes: u64| bytes as usize / size_of::<f64>();
        let (read, written) = (reals(problem.input_bytes()), reals(problem.output_bytes()));
        let numbers: Vec<f64> = (0..read).map(|i| (i * 37 % 101) as f64 / 101.0 - 0.5).collect();
        let (mut input, mut theirs) = (numbers.clone(), vec![0.0; written]);
        let (from, to) = (input.as_mut_ptr().cast(), theirs.as_mut_ptr().cast());
        // SAFETY: both arrays hold the problem's elements.
        let plan = match unsafe { FftwPlan::new(problem, from, to) } {
            Err(Error::PeerAbsent { .. }) => return None,
            plan => plan.unwrap_or_else(|error| panic!("{problem:?}: {error}")),
        };
        input.copy_from_slice(&numbers);
        // SAFETY: as above.
        unsafe { plan.execute(from, to) }.expect("the arrays of the plan");
        let mut ours = vec![0.0; written];
        let from: Planes<f64> = match problem.input {
            Format::Real => Planes::Real(&numbers),
            _ => Planes::Interleaved(cast_slice::<_, Complex<f64>>(&numbers)),
        };
        let to: PlanesMut<f64> = match problem.output {
            Format::Real => PlanesMut::Real(&mut ours),
            _ => PlanesMut::Interleaved(cast_slice_mut::<_, Complex<f64>>(&mut ours)),
        };
        let plan = crate::Device::cpu().plan(problem).expect("the processor plans everything");
        plan.run_host(from, to).expect("it runs");
        Some([theirs, ours])
    }

    #[test]
    fn fftw_computes_what_we_do_where_it_is_installed() {
        let line = || Fft::new([6]).batch(2).f64();
        let volume = || Fft::new([4, 3, 5]).batch(2).f64();
        let mut requests = vec![line().inverse(), volume()];
        requests.extend([line().r2c(), line().c2r(), volume().r2c(), volume().c2r()]);
        requests.extend(RealKind::ALL.map(|kind| line().r2r([kind])));
        requests.push(volume().r2r([RealKind::Dct1, RealKind::Dst2, RealKind::Dht]));
        for request in requests {
            let problem = request.build().expect("it is possible");
            let Some([theirs, ours]) = both(&problem) else { return println!("skipped: no FFTW") };
            assert!(ours.iter().any(|&real| real.abs() > 0.1), "{problem:?}");
            for (theirs, ours) in theirs.iter().zip(&ours) {
                assert!((theirs - ours).abs() < 1e-12, "{problem:?}: {theirs} {ours}");
            }
        }
    }

    #[test]
    fn what_fftw_has_by_no_name_is_not_asked_of_it() {
        let orthogonal = Fft::new([6]).r2r([RealKind::Dct2]).orthogonal();
        for request in [Fft::new([6]).c2r().direction(Direction::Forward), orthogonal, Fft::new([6]).f16()] {
            assert!(!plain(&request.build().expect("it is possible")));
        }
    }
}
