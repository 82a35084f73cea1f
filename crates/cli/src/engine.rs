//! From a signal and a request to a spectrum: the one place where commands meet the library's plans.

use num_complex::Complex;
use warpfft::core::problem::{Direction, Placement, Precision, Problem};
use warpfft::core::request::Fft;
use warpfft::{Device, DeviceKind, Error, Plan};

use crate::error::CliError;
use crate::io::{Samples, Signal, packed_strides};
use crate::options::Shape;

/// What to compute of a signal.
#[derive(Debug, Clone)]
pub struct Request {
    /// Axes to transform, each once.
    pub axes: Vec<usize>,
    /// Sign of the exponent.
    pub direction: Direction,
    /// Factor on every output.
    pub scale: f64,
    /// Bytes of workspace at most.
    pub max_workspace: Option<u64>,
}

/// The problem of transforming an array with the given strides into a packed one.
pub fn problem(
    shape: &[usize],
    strides: &[i64],
    request: &Request,
    precision: Precision,
) -> Result<Problem, CliError> {
    let extents: Vec<u64> = shape.iter().map(|&extent| extent as u64).collect();
    let axes: Vec<i64> = request.axes.iter().map(|&axis| axis as i64).collect();
    let asked = Fft::axes(extents, axes).strides(strides, &packed_strides(shape));
    let asked = asked.precision(precision).direction(request.direction).scale(request.scale);
    Ok(request.max_workspace.into_iter().fold(asked, Fft::max_workspace).build()?)
}

/// The problem of transforming so many packed arrays of that shape, one after the other.
pub fn packed_problem(
    shape: &Shape,
    batch: u64,
    precision: Precision,
    direction: Direction,
    placement: Placement,
    max_workspace: Option<u64>,
) -> Result<Problem, CliError> {
    let request = Fft::new(shape.0.clone()).batch(batch).precision(precision).direction(direction);
    let request = if placement == Placement::InPlace { request.in_place() } else { request };
    Ok(max_workspace.into_iter().fold(request, Fft::max_workspace).build()?)
}

/// Makes a plan. Where the choice of device was left open and the best one cannot do this problem, the
/// processor does it, and the reason is returned beside.
pub fn plan(kind: DeviceKind, problem: &Problem) -> Result<(Plan, Option<Error>), CliError> {
    let first = Device::open(kind).and_then(|device| device.plan(problem));
    match first {
        Ok(plan) => Ok((plan, None)),
        Err(reason) if kind == DeviceKind::Auto => Ok((Device::cpu().plan(problem)?, Some(reason))),
        Err(error) => Err(error.into()),
    }
}

/// A spectrum and how it came about.
pub struct Spectrum {
    /// Packed, last axis fastest.
    pub samples: Samples,
    /// The device that computed it.
    pub device: Device,
    /// Why it was not the device that would have been first choice.
    pub fallback: Option<Error>,
}

/// Transforms a signal.
pub fn transform(signal: &Signal, request: &Request, kind: DeviceKind) -> Result<Spectrum, CliError> {
    let precision = signal.samples.precision();
    let problem = problem(&signal.shape, &signal.strides, request, precision)?;
    let mut samples = Samples::zeros(precision, signal.samples.len(), "the result")?;
    let (plan, mut fallback) = plan(kind, &problem)?;
    let mut device = plan.device().clone();
    if let Err(error) = run(&plan, &signal.samples, &mut samples) {
        // Memory may run out only now.
        if kind != DeviceKind::Auto || device.kind() == DeviceKind::Cpu {
            return Err(error.into());
        }
        device = Device::cpu();
        run(&device.plan(&problem)?, &signal.samples, &mut samples)?;
        fallback = Some(error);
    }
    Ok(Spectrum { samples, device, fallback })
}

/// Runs a plan from one set of numbers to another.
pub fn run(plan: &Plan, input: &Samples, output: &mut Samples) -> Result<(), Error> {
    let in_place = plan.problem().placement == Placement::InPlace;
    match (input, output) {
        (Samples::F32(input), Samples::F32(output)) if in_place => {
            output.clone_from(input);
            plan.run_in_place(output)
        }
        (Samples::F64(input), Samples::F64(output)) if in_place => {
            output.clone_from(input);
            plan.run_in_place(output)
        }
        (Samples::F32(input), Samples::F32(output)) => plan.run_host(input, output),
        (Samples::F64(input), Samples::F64(output)) => plan.run_host(input, output),
        (input, output) => {
            Err(Error::WrongPrecision { expected: input.precision(), got: output.precision() })
        }
    }
}

/// Moves frequency 0 of each transformed axis to its middle, as numpy's fftshift does.
pub fn shift(samples: &mut Samples, shape: &[usize], axes: &[usize]) {
    match samples {
        Samples::F32(data) => shift_in_place(data, shape, axes),
        Samples::F64(data) => shift_in_place(data, shape, axes),
    }
}

fn shift_in_place<T>(data: &mut [Complex<T>], shape: &[usize], axes: &[usize]) {
    for &axis in axes {
        let inner: usize = shape[axis + 1..].iter().product();
        for block in data.chunks_exact_mut(shape[axis] * inner) {
            block.rotate_right(shape[axis] / 2 * inner);
        }
    }
}

/// The axes that were asked for, counted from 0.
pub fn resolve_axes(given: &[i64], shape: &[usize]) -> Result<Vec<usize>, CliError> {
    let rank = shape.len() as i64;
    let mut axes = Vec::with_capacity(given.len());
    for &axis in given {
        if !(-rank..rank).contains(&axis) {
            return Err(CliError::AxisOutOfRange { axis, shape: shape.to_vec() });
        }
        let resolved = axis.rem_euclid(rank) as usize;
        if axes.contains(&resolved) {
            return Err(CliError::AxisRepeated { axis });
        }
        axes.push(resolved);
    }
    Ok(axes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shift_moves_zero_to_the_middle_of_odd_and_even_axes() {
        let shape = [3, 4];
        let numbers = |values: Vec<i32>| -> Vec<Complex<f64>> {
            values.into_iter().map(|value| Complex::from(f64::from(value))).collect()
        };
        let mut samples = Samples::F64(numbers((0..12).collect()));
        shift(&mut samples, &shape, &[0, 1]);
        assert_eq!(samples, Samples::F64(numbers(vec![10, 11, 8, 9, 2, 3, 0, 1, 6, 7, 4, 5])));
    }

    #[test]
    fn axes_count_from_both_ends_and_never_twice() {
        assert_eq!(resolve_axes(&[-1, 0], &[2, 3, 4]).unwrap(), [2, 0]);
        assert!(matches!(resolve_axes(&[3], &[2, 3, 4]), Err(CliError::AxisOutOfRange { axis: 3, .. })));
        assert!(matches!(resolve_axes(&[-4], &[2, 3, 4]), Err(CliError::AxisOutOfRange { axis: -4, .. })));
        assert!(matches!(resolve_axes(&[1, -2], &[2, 3, 4]), Err(CliError::AxisRepeated { axis: -2 })));
    }
}
