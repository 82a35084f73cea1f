//! Runs programs on the simulator and compares with transforms in f64.
#![allow(dead_code, reason = "each test file uses its own part")]

pub mod limits;
pub mod shared_array;

use std::collections::HashMap;

use half::{bf16, f16};
use num_complex::Complex;
use rand::Rng;
use warpfft_core::kernel::Type;
use warpfft_core::kernel::simulate::{GlobalBuffer, Memory, Options, Report, simulate_with};
use warpfft_core::math::double_single::{join, split};
use warpfft_core::problem::{Dim, Direction, Format, Placement, Precision, Problem, Storage};
use warpfft_core::program::{Binding, Compiled, Numbers, Program};
use warpfft_core::recipe::candidates;
use warpfft_core::request::Fft;
use warpfft_core::target::Limits;

pub type C64 = Complex<f64>;

/// The problem of a request that is right.
pub fn build(fft: Fft) -> Problem {
    fft.build().expect("it is possible")
}

/// Forward transforms of packed rows.
pub fn rows(n: u64, batch: u64, precision: Precision) -> Problem {
    packed(&[n], batch, precision)
}

/// Forward transforms of packed arrays, one after the other.
pub fn packed(shape: &[u64], batch: u64, precision: Precision) -> Problem {
    build(Fft::new(shape).batch(batch).precision(precision))
}

/// A problem's random data, and what comes of it by the reference.
pub struct Case {
    input: Vec<C64>,
    before: Vec<C64>,
    want: Vec<C64>,
    tolerance: f64,
}

impl Case {
    pub fn new(problem: &Problem) -> Self {
        let input = random(problem.input_span().end as usize, problem.precision);
        let before = match problem.placement {
            Placement::InPlace => input.clone(),
            Placement::OutOfPlace => random(problem.output_span().end as usize, problem.precision),
        };
        let want = reference(problem, &input, &before);
        let tolerance = match problem.precision {
            Precision::F32 => 1.5e-6,
            Precision::F64 => 2e-15,
            Precision::DoubleSingle => problem.error_bound(),
        };
        Self { input, before, want, tolerance }
    }

    /// Runs a program on the data; gives its error and what the simulator counted.
    pub fn error(&self, program: &Program, limits: &Limits, what: &str) -> (f64, Report) {
        let run = run(program, limits, &self.input, &self.before);
        let (got, report) = run.unwrap_or_else(|fault| panic!("{what}: {fault}"));
        (error(&got, &self.want), report)
    }

    /// Runs a program on the data; gives what the simulator counted, or panics with what is wrong.
    pub fn check(&self, program: &Program, limits: &Limits, what: &str) -> Report {
        let (error, report) = self.error(program, limits, what);
        assert!(error < self.tolerance, "{what}: relative error {error:.2e}");
        report
    }
}

/// Uniform random numbers, rounded to the precision of the problem so that the reference sees the same input.
pub fn random(len: usize, precision: Precision) -> Vec<C64> {
    random_in(len, Storage::of(precision))
}

/// Uniform random numbers, rounded to how they are kept.
pub fn random_in(len: usize, storage: Storage) -> Vec<C64> {
    let mut rng = rand::rng();
    let mut real = || storage.rounded(rng.random_range(-1.0..1.0));
    (0..len).map(|_| Complex::new(real(), real())).collect()
}

fn planes(data: &[C64], format: Format, storage: Storage, precision: Precision) -> Vec<GlobalBuffer> {
    let memory = |reals: Vec<f64>| {
        GlobalBuffer::initialised(match storage {
            Storage::F16 => Memory::F16(reals.into_iter().map(f16::from_f64).collect()),
            Storage::Bf16 => Memory::Bf16(reals.into_iter().map(bf16::from_f64).collect()),
            Storage::F32 => Memory::F32(reals.into_iter().map(|x| x as f32).collect()),
            Storage::F64 if precision == Precision::DoubleSingle => {
                Memory::F32(reals.into_iter().flat_map(split).collect())
            }
            Storage::F64 => Memory::F64(reals),
        })
    };
    match format {
        Format::Interleaved => vec![memory(data.iter().flat_map(|z| [z.re, z.im]).collect())],
        Format::Planar => {
            vec![memory(data.iter().map(|z| z.re).collect()), memory(data.iter().map(|z| z.im).collect())]
        }
        Format::Real | Format::Apart(_) => vec![memory(data.iter().map(|z| z.re).collect())],
    }
}

fn reals(buffer: &GlobalBuffer, storage: Storage) -> Vec<f64> {
    match &buffer.data {
        // Pairs.
        Memory::F32(v) if storage == Storage::F64 => {
            v.chunks(2).map(|pair| join([pair[0], pair[1]])).collect()
        }
        Memory::F32(v) => v.iter().map(|&x| f64::from(x)).collect(),
        Memory::F64(v) => v.clone(),
        Memory::F16(v) => v.iter().map(|&x| x.to_f64()).collect(),
        Memory::Bf16(v) => v.iter().map(|&x| x.to_f64()).collect(),
        other => panic!("unexpected element type {:?}", other.elem()),
    }
}

fn joined(buffers: &[GlobalBuffer], format: Format, storage: Storage) -> Vec<C64> {
    let reals = |buffer| reals(buffer, storage);
    match format {
        Format::Interleaved => reals(&buffers[0]).chunks(2).map(|z| Complex::new(z[0], z[1])).collect(),
        Format::Planar => {
            let (re, im) = (reals(&buffers[0]), reals(&buffers[1]));
            re.into_iter().zip(im).map(|(re, im)| Complex::new(re, im)).collect()
        }
        Format::Real | Format::Apart(_) => {
            reals(&buffers[0]).into_iter().map(|re| Complex::new(re, 0.0)).collect()
        }
    }
}

/// Programs of a problem in which passes share a launch, of the best dozen.
pub fn with_shared_launches(problem: Problem, limits: &Limits) -> impl Iterator<Item = Program> {
    let all = candidates(&problem, limits, 12).expect("there are some").into_iter();
    all.filter(|one| !one.recipe.fused.is_empty())
        .map(move |one| Compiled::by(&one.recipe, &problem, limits).expect("it is offered").program)
}

/// Regions of the workspace by their first bytes.
pub type Workspace = HashMap<u64, GlobalBuffer>;

/// Runs a program on data; `output` holds what was there before (in place: the input).
pub fn run(
    program: &Program,
    limits: &Limits,
    input: &[C64],
    output: &[C64],
) -> Result<(Vec<C64>, Report), String> {
    run_in(program, limits, input, output, &mut Workspace::new(), &Options::default())
}

/// As [`run`], in a workspace that holds what other runs left there.
pub fn run_in(
    program: &Program,
    limits: &Limits,
    input: &[C64],
    output: &[C64],
    regions: &mut Workspace,
    options: &Options,
) -> Result<(Vec<C64>, Report), String> {
    run_filtered(program, limits, (input, &[]), output, regions, options)
}

/// As [`run_in`], with the factors of the frequencies beside the input.
pub fn run_filtered(
    program: &Program,
    limits: &Limits,
    (input, filter): (&[C64], &[C64]),
    output: &[C64],
    regions: &mut Workspace,
    options: &Options,
) -> Result<(Vec<C64>, Report), String> {
    let problem = &program.problem;
    let mut filters = planes(filter, Format::Interleaved, Storage::of(problem.precision), problem.precision);
    let elem = if problem.precision == Precision::F64 { Type::F64 } else { Type::F32 };
    let [read, written] = problem.stored();
    let mut inputs = planes(input, problem.input, read, problem.precision);
    let mut outputs = planes(output, problem.output, written, problem.precision);
    let mut tables: Vec<GlobalBuffer> = program
        .tables
        .iter()
        .map(|table| {
            GlobalBuffer::initialised(match table.numbers().expect("there is room") {
                Numbers::F32(v) => Memory::F32(v.clone()),
                Numbers::F64(v) => Memory::F64(v.clone()),
                Numbers::U32(v) => Memory::U32(v.clone()),
            })
        })
        .collect();
    let mut total = Report::default();
    for launch in &program.launches {
        let kernel = &program.kernels[launch.kernel];
        let empty = || GlobalBuffer::unwritten(elem, 0).expect("a stored type");
        let mut taken: Vec<GlobalBuffer> = launch
            .bindings
            .iter()
            .zip(&kernel.buffers)
            .map(|(binding, buffer)| match *binding {
                Binding::Input(plane) => std::mem::replace(&mut inputs[plane as usize], empty()),
                Binding::Output(plane) => std::mem::replace(&mut outputs[plane as usize], empty()),
                Binding::Table(i) => std::mem::replace(&mut tables[i as usize], empty()),
                Binding::Filter => std::mem::replace(&mut filters[0], empty()),
                Binding::Workspace { offset, bytes } => regions.remove(&offset).unwrap_or_else(|| {
                    let len = bytes / u64::from(buffer.elem.bytes());
                    GlobalBuffer::unwritten(buffer.elem, len as usize).expect("a stored type")
                }),
            })
            .collect();
        let mut borrowed: Vec<&mut GlobalBuffer> = taken.iter_mut().collect();
        let report =
            simulate_with(kernel, limits, &mut borrowed, options).map_err(|fault| fault.to_string())?;
        total += report;
        for (binding, buffer) in launch.bindings.iter().zip(taken) {
            match *binding {
                Binding::Input(plane) => inputs[plane as usize] = buffer,
                Binding::Output(plane) => outputs[plane as usize] = buffer,
                Binding::Table(i) => tables[i as usize] = buffer,
                Binding::Filter => filters[0] = buffer,
                Binding::Workspace { offset, .. } => {
                    regions.insert(offset, buffer);
                }
            }
        }
    }
    Ok((joined(&outputs, problem.output, written), total))
}

/// All index tuples' (input, output) addresses of some dimensions.
pub fn addresses(dims: &[Dim]) -> Vec<(i64, i64)> {
    let mut all = vec![(0, 0)];
    for dim in dims {
        all = all
            .iter()
            .flat_map(|&(i, o)| (0..dim.n as i64).map(move |x| (i + x * dim.is, o + x * dim.os)))
            .collect();
    }
    all
}

/// The problem's transform in f64: `output` with the transformed elements replaced.
pub fn reference(problem: &Problem, input: &[C64], output: &[C64]) -> Vec<C64> {
    let mut out = output.to_vec();
    let points = addresses(&problem.transform);
    let mut planner = rustfft::FftPlanner::new();
    for (from, to) in addresses(&problem.batch) {
        let at = |base: u64, offset: i64| (base as i64 + offset) as usize;
        let mut data: Vec<C64> =
            points.iter().map(|&(i, _)| input[at(problem.input_offset, from + i)]).collect();
        let mut inner = 1;
        for dim in problem.transform.iter().rev() {
            let n = dim.n as usize;
            let fft = match problem.direction {
                Direction::Forward => planner.plan_fft_forward(n),
                Direction::Inverse => planner.plan_fft_inverse(n),
            };
            for start in (0..data.len()).filter(|i| (i / inner) % n == 0) {
                let mut line: Vec<C64> = (0..n).map(|i| data[start + i * inner]).collect();
                fft.process(&mut line);
                for (i, value) in line.into_iter().enumerate() {
                    data[start + i * inner] = value;
                }
            }
            inner *= n;
        }
        for (&(_, o), value) in points.iter().zip(data) {
            out[at(problem.output_offset, to + o)] = value * problem.scale;
        }
    }
    out
}

/// Error of rustfft in f32 over rows of so many points.
pub fn rustfft_error(n: u64, input: &[C64], want: &[C64]) -> f64 {
    let mut rows: Vec<_> = input.iter().map(|z| Complex::new(z.re as f32, z.im as f32)).collect();
    rustfft::FftPlanner::new().plan_fft_forward(n as usize).process(&mut rows);
    let rows: Vec<_> = rows.iter().map(|z| Complex::new(z.re.into(), z.im.into())).collect();
    error(&rows, want)
}

/// Relative L2 error.
pub fn error(got: &[C64], want: &[C64]) -> f64 {
    error_beside(got, want, f64::MIN_POSITIVE)
}

/// The same, relative to at least the root of that sum of squares.
pub fn error_beside(got: &[C64], want: &[C64], least: f64) -> f64 {
    let difference: f64 = got.iter().zip(want).map(|(a, b)| (a - b).norm_sqr()).sum();
    let size: f64 = want.iter().map(Complex::norm_sqr).sum();
    (difference / size.max(least)).sqrt()
}
