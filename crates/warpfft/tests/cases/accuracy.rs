//! Errors beside rustfft's: both against the plain transform in double-double precision, on the same data.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rustfft::{FftDirection, FftNum, FftPlanner};
use warpfft::core::math::factor;
use warpfft::core::math::reference::{reference, relative_l2};
use warpfft::core::problem::{Direction, Format, Placement, Precision, Problem};
use warpfft::{Complex, Device, Error, Planes, PlanesMut, Real};

/// Relative L2 errors of one problem.
#[derive(Debug, Clone, Copy)]
pub struct Errors {
    /// The device's.
    pub ours: f64,
    /// rustfft's, along one axis after the other in the same precision.
    pub theirs: f64,
    /// What the first may be over the second.
    pub bound: f64,
}

impl Errors {
    /// Whether the device's error is within its bound.
    pub fn hold(&self) -> bool {
        self.ours <= self.theirs * self.bound
    }
}

/// Runs a problem on random data.
pub fn errors(device: &Device, problem: &Problem) -> Result<Errors, Error> {
    match problem.precision {
        Precision::F32 => errors_as(device, problem, |x| x as f32, f64::from),
        Precision::F64 | Precision::DoubleSingle => errors_as(device, problem, |x| x, |x| x),
    }
}

/// 1.5, or 3 where a length goes through a convolution.
fn bound(problem: &Problem) -> f64 {
    let convolved = |n| factor::factorise(n).iter().any(|&(p, _)| p > 31);
    if problem.transform.iter().any(|dim| convolved(dim.n)) { 3.0 } else { 1.5 }
}

fn errors_as<T: Real + FftNum>(
    device: &Device,
    problem: &Problem,
    narrow: fn(f64) -> T,
    wide: fn(T) -> f64,
) -> Result<Errors, Error> {
    let mut random = StdRng::seed_from_u64(problem.input_span().end);
    let spans = problem.input_span().end.max(problem.output_span().end) as usize;
    let mut real = || narrow(random.random_range(-1.0..1.0));
    let input: Vec<Complex<T>> = (0..spans).map(|_| Complex::new(real(), real())).collect();
    let output = transformed(device, problem, &input)?;
    let exact = |z: Complex<T>| Complex::new(wide(z.re), wide(z.im));
    let mut want = vec![Complex::default(); spans];
    for (at, value) in reference(problem, |at| exact(input[at as usize])) {
        want[at as usize] = value;
    }
    let theirs = by_rustfft(problem, &input, narrow);
    let written: Vec<usize> = problem.addresses().map(|(_, to)| to as usize).collect();
    let want: Vec<_> = written.iter().map(|&at| want[at]).collect();
    let ours: Vec<_> = written.iter().map(|&at| exact(output[at])).collect();
    let theirs: Vec<_> = theirs.into_iter().map(exact).collect();
    let bound = bound(problem);
    Ok(Errors { ours: relative_l2(&ours, &want), theirs: relative_l2(&theirs, &want), bound })
}

/// The output as interleaved elements, whatever the problem's format and placement.
fn transformed<T: Real>(
    device: &Device,
    problem: &Problem,
    input: &[Complex<T>],
) -> Result<Vec<Complex<T>>, Error> {
    let plan = device.plan(problem)?;
    let split = |data: &[Complex<T>]| -> (Vec<T>, Vec<T>) { data.iter().map(|z| (z.re, z.im)).unzip() };
    let mut data = input.to_vec();
    let (mut re, mut im) = split(input);
    let (source_re, source_im) = (re.clone(), im.clone());
    let target = match problem.output {
        Format::Interleaved => PlanesMut::Interleaved(&mut data),
        Format::Planar => PlanesMut::Planar(&mut re, &mut im),
        Format::Real | Format::Apart(_) => PlanesMut::Real(&mut re),
    };
    let source = match problem.input {
        Format::Interleaved => Planes::Interleaved(input),
        Format::Planar => Planes::Planar(&source_re, &source_im),
        Format::Real | Format::Apart(_) => Planes::Real(&source_re),
    };
    match problem.placement {
        Placement::InPlace => plan.run_in_place(target)?,
        Placement::OutOfPlace => plan.run_host(source, target)?,
    }
    Ok(match problem.output {
        Format::Interleaved => data,
        Format::Planar => re.into_iter().zip(im).map(|(re, im)| Complex::new(re, im)).collect(),
        Format::Real | Format::Apart(_) => re.into_iter().map(|re| Complex::new(re, T::default())).collect(),
    })
}

/// The transform by rustfft, axis by axis; elements in the order of [`Problem::addresses`].
fn by_rustfft<T: Real + FftNum>(
    problem: &Problem,
    input: &[Complex<T>],
    narrow: fn(f64) -> T,
) -> Vec<Complex<T>> {
    let mut data: Vec<Complex<T>> = problem.addresses().map(|(from, _)| input[from as usize]).collect();
    let direction = match problem.direction {
        Direction::Forward => FftDirection::Forward,
        Direction::Inverse => FftDirection::Inverse,
    };
    let mut stride = 1;
    for dim in problem.transform.iter().rev() {
        let n = dim.n as usize;
        let fft = FftPlanner::new().plan_fft(n, direction);
        let mut line = vec![Complex::default(); n];
        for start in (0..data.len()).filter(|at| at / stride % n == 0) {
            for (index, value) in line.iter_mut().enumerate() {
                *value = data[start + index * stride];
            }
            fft.process(&mut line);
            for (index, &value) in line.iter().enumerate() {
                data[start + index * stride] = value;
            }
        }
        stride *= n;
    }
    if problem.scale != 1.0 {
        data.iter_mut().for_each(|z| *z = z.scale(narrow(problem.scale)));
    }
    data
}
