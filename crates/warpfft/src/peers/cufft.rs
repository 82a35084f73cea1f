//! cuFFT, from the library that comes with NVIDIA's toolkit.

use std::ffi::{c_int, c_longlong, c_void};
use std::sync::OnceLock;
use std::time::Instant;

use libloading::Library;
use warpfft_core::problem::{Dim, Direction, Format, Kind, Placement, Precision, Problem, Storage, half};

use super::library::{function, open};
use crate::error::Error;

/// The library's name.
pub(crate) const NAME: &str = "cuFFT";

/// `NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT`: it may compile kernels for the very problem.
const PATIENT: c_int = 1;

/// A plan of the library.
type Handle = c_int;
/// With types of input, output and arithmetic, by which it makes plans of every kind.
type MakePlan = unsafe extern "C" fn(
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
    exec: unsafe extern "C" fn(Handle, *mut c_void, *mut c_void, c_int) -> c_int,
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
                make_plan: function(&library, NAME, "cufftXtMakePlanMany")?,
                set_stream: function(&library, NAME, "cufftSetStream")?,
                set_property: function(&library, NAME, "cufftSetPlanPropertyInt64").ok(),
                get_version: function(&library, NAME, "cufftGetVersion")?,
                exec: function(&library, NAME, "cufftXtExec")?,
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

/// What a plan is made of, once it is known that the library has one.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Call {
    /// Lengths of the transform, slowest first.
    lengths: Vec<c_longlong>,
    batch: c_longlong,
    /// Numbers of a row of input and of output, from the start of one row to that of the next.
    rows: [c_longlong; 2],
    /// `cudaDataType` of input, output and arithmetic.
    types: [c_int; 3],
    direction: c_int,
}

impl Call {
    /// A problem as one call; in place, the rows of reals are as long as those of their half spectra.
    fn of(problem: &Problem, in_place: bool) -> Result<Self, Error> {
        let unsupported = |what: &str, would_work: &str| Error::Unsupported {
            device: NAME.into(),
            what: what.into(),
            would_work: would_work.into(),
        };
        if matches!(problem.kind, Kind::RealToReal(_) | Kind::Zoom(_)) {
            let what = "cosine, sine and Hartley transforms, nor bands of frequencies";
            return Err(unsupported(what, "measure c2c, r2c or c2r"));
        }
        let (lengths, batch) = packed(problem).ok_or_else(|| {
            let what =
                "arrays that are not packed, interleaved and of one to three dimensions, or more than a transform";
            unsupported(what, "measure packed arrays, without windows, filters and functions")
        })?;
        let reals = problem.kind.reals();
        let direction = if problem.direction == Direction::Forward { -1 } else { 1 };
        if (reals[0] && direction > 0) || (reals[1] && direction < 0) {
            let what = "the other sign of a transform between reals and half spectra";
            return Err(unsupported(what, "measure r2c and c2r"));
        }
        let powers = lengths.iter().all(|n| n.count_ones() == 1);
        // The type of complex numbers, and that of their parts.
        let [complex, real] = match (problem.stored(), problem.precision) {
            ([Storage::F32, Storage::F32], Precision::F32) => [4, 0],
            ([Storage::F64, Storage::F64], Precision::F64 | Precision::DoubleSingle) => [5, 1],
            ([Storage::F16, Storage::F16], Precision::F32) if powers => [6, 2],
            ([Storage::Bf16, Storage::Bf16], Precision::F32) if powers => [15, 14],
            _ => {
                let what = "numbers of 16 bits but in powers of two, nor types that differ";
                return Err(unsupported(what, "measure powers of two, or f32"));
            }
        };
        let rows = rows(problem, in_place);
        let of = |is_real| if is_real { real } else { complex };
        Ok(Self { lengths, batch, rows, types: [of(reals[0]), of(reals[1]), complex], direction })
    }

    /// Lengths of the arrays that hold input or output: the transform's but for the rows.
    fn embedding(&self, side: usize) -> Vec<c_longlong> {
        let mut lengths = self.lengths.clone();
        if let Some(last) = lengths.last_mut() {
            *last = self.rows[side];
        }
        lengths
    }
}

/// Numbers of a row on either side: in place, reals lie in rows as long as those of their half spectra.
fn rows(problem: &Problem, in_place: bool) -> [c_longlong; 2] {
    let complex = || problem.transform.last().map(|dim| (*dim, [dim.n; 2]));
    let Some((dim, points)) = problem.kind.dims().next().or_else(complex) else { return [1; 2] };
    let reals = problem.kind.reals();
    let row = |side: usize| if in_place && reals[side] { 2 * half(dim.n) } else { points[side] };
    [row(0), row(1)].map(|row| row as c_longlong)
}

/// Lengths, slowest first, and transforms of a problem whose arrays are packed one after the other; `None` for any other
/// layout, and for what is more than a transform between complex numbers, or reals and half their spectra.
fn packed(problem: &Problem) -> Option<(Vec<c_longlong>, c_longlong)> {
    let formats = problem.kind.reals().map(|real| if real { Format::Real } else { Format::Interleaved });
    let plain = formats == [problem.input, problem.output]
        && [problem.input_offset, problem.output_offset] == [0; 2]
        && !problem.is_windowed()
        && problem.filter.is_none()
        && problem.functions.is_empty()
        && problem.at_run().is_none();
    if !plain {
        return None;
    }
    let own = problem.kind.dims().map(|(dim, _)| dim);
    let transform: Vec<Dim> = own.chain(problem.transform.iter().rev().copied()).collect();
    let mut strides = [1_i64; 2];
    for (at, dim) in transform.iter().chain(problem.batch.iter().rev()).enumerate() {
        if [dim.is, dim.os] != strides {
            return None;
        }
        let n = i64::try_from(dim.n).ok()?;
        let in_place = problem.placement == Placement::InPlace;
        let points = if at == 0 { rows(problem, in_place) } else { [n; 2] };
        for (stride, points) in strides.iter_mut().zip(points) {
            *stride = stride.checked_mul(points)?;
        }
    }
    let lengths: Vec<_> = transform.iter().rev().map(|dim| dim.n as c_longlong).collect();
    (1..=3).contains(&lengths.len()).then(|| (lengths, problem.batch_count() as c_longlong))
}

/// A plan; freed when dropped, its workspace with it.
pub(crate) struct CufftPlan {
    library: &'static Cufft,
    handle: Handle,
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
    /// A plan for a packed problem on a stream, for the same array twice if it is in place.
    ///
    /// # Safety
    ///
    /// The primary context of the device is current on this thread, and `stream` is one of its streams, which
    /// outlives the plan.
    pub unsafe fn new(
        problem: &Problem,
        in_place: bool,
        patient: bool,
        stream: *mut c_void,
    ) -> Result<Self, Error> {
        let library = Cufft::get()?;
        let mut call = Call::of(problem, in_place)?;
        let started = Instant::now();
        let mut handle = 0;
        // SAFETY: a place for the answer.
        check("cufftCreate", unsafe { (library.create)(&raw mut handle) })?;
        let direction = call.direction;
        let mut plan = Self { library, handle, direction, workspace_bytes: 0, plan_seconds: 0.0 };
        if patient {
            let call = "cufftSetPlanPropertyInt64";
            let set = library.set_property.ok_or(Error::Peer { library: NAME, call, code: -1 })?;
            // SAFETY: a plan that was created and not yet made, which is when properties are set.
            check(call, unsafe { set(handle, PATIENT, 1) })?;
        }
        let rank = call.lengths.len() as c_int;
        let mut embeddings = [call.embedding(0), call.embedding(1)];
        let distances = embeddings.each_ref().map(|lengths| lengths.iter().product());
        let [from, to] = embeddings.each_mut().map(Vec::as_mut_ptr);
        let ([input, output, arithmetic], lengths) = (call.types, call.lengths.as_mut_ptr());
        let (make, mut bytes) = (library.make_plan, 0_usize);
        // SAFETY: `rank` lengths in each of three arrays, which outlive the call, and a place for the answer; the
        // context is current by this function's contract.
        let code = unsafe {
            let [apart, beyond] = distances;
            let (batch, bytes) = (call.batch, &raw mut bytes);
            make(
                handle, rank, lengths, from, 1, apart, input, to, 1, beyond, output, batch, bytes, arithmetic,
            )
        };
        check("cufftXtMakePlanMany", code)?;
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
        let (input, output) = (input as *mut c_void, output as *mut c_void);
        // SAFETY: by this function's contract.
        let code = unsafe { (self.library.exec)(self.handle, input, output, self.direction) };
        check("cufftXtExec", code)
    }
}

#[cfg(test)]
mod tests {
    use warpfft_core::problem::RealKind;
    use warpfft_core::request::Fft;

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

    #[test]
    fn rows_of_reals_are_as_long_in_place_as_those_of_their_spectra() {
        let call = |request: Fft, in_place| Call::of(&request.build().expect("it is possible"), in_place);
        let rows = |request, in_place| call(request, in_place).map(|call| call.rows).expect("it is packed");
        assert_eq!(rows(Fft::new([9, 6]).batch(3), false), [6, 6]);
        assert_eq!(rows(Fft::new([9, 6]).r2c().batch(3), false), [6, 4]);
        assert_eq!(rows(Fft::new([9, 6]).r2c().batch(3), true), [8, 4]);
        assert_eq!(rows(Fft::new([9, 6]).r2c().batch(3).in_place(), true), [8, 4]);
        assert_eq!(rows(Fft::new([7]).c2r(), false), [4, 7]);
        assert_eq!(rows(Fft::new([2]).c2r(), true), [2, 4]);
        let image = call(Fft::new([9, 6]).c2r().f64().batch(3), false).expect("it is packed");
        assert_eq!((&image.lengths[..], image.batch, image.direction), (&[9, 6][..], 3, 1));
        assert_eq!(
            (image.types, image.embedding(0), image.embedding(1)),
            ([5, 1, 5], vec![9, 4], vec![9, 6])
        );
    }

    #[test]
    fn what_cufft_has_no_call_for_is_not_asked_of_it() {
        let line = || Fft::new([6]).batch(4);
        let requests = [
            line().c2r().direction(Direction::Forward),
            line().r2c().halved_axis(0).strides(&[4], &[4]).batch_strided(4, 1, 1),
            line().full_spectrum(),
            line().planar(),
            line().f16(),
            line().r2r([RealKind::Dct2]),
            line().any_batch(),
            Fft::new([2, 2, 2, 2]),
        ];
        for request in requests {
            let problem = request.build().expect("it is possible");
            assert!(matches!(Call::of(&problem, false), Err(Error::Unsupported { .. })), "{problem:?}");
        }
    }
}
