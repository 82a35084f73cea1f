//! From a signal and a request to a spectrum: the one place where commands meet the library's plans.

use warpfft::core::problem::{Direction, Placement, Precision, Problem};
use warpfft::core::request::Fft;
use warpfft::{Device, DeviceKind, Error, Plan};

use crate::error::CliError;
use crate::io::{Samples, Signal, packed_strides};
use crate::kind::{KindArg, Lengths};
use crate::options::NormArg;

/// What to compute of a signal.
#[derive(Debug, Clone)]
pub struct Request {
    /// What is transformed into what.
    pub kind: KindArg,
    /// Axes to transform, each once.
    pub axes: Vec<usize>,
    /// Points along all axes.
    pub lengths: Lengths,
    /// Arithmetic; `None`: that of the signal's numbers.
    pub precision: Option<Precision>,
    /// Sign of the exponent.
    pub direction: Direction,
    /// Which direction is divided by the number of points.
    pub norm: NormArg,
    /// Bytes of workspace at most.
    pub max_workspace: Option<u64>,
}

/// The problem of transforming an array with the given strides into a packed one.
pub fn problem(strides: &[i64], request: &Request, precision: Precision) -> Result<Problem, CliError> {
    let extents: Vec<u64> = request.lengths.points.iter().map(|&extent| extent as u64).collect();
    let axes: Vec<i64> = request.axes.iter().map(|&axis| axis as i64).collect();
    let asked = Fft::axes(extents, axes).strides(strides, &packed_strides(&request.lengths.output));
    // As in scipy: what is orthonormal by its factor is made orthogonal too.
    let asked = request.kind.ask(asked, request.direction, request.norm == NormArg::Ortho);
    let asked = asked.precision(precision).norm(request.norm.norm());
    Ok(request.max_workspace.into_iter().fold(asked, Fft::max_workspace).build()?)
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

/// Transforms a signal that has the lengths of the request's input.
pub fn transform(signal: &Signal, request: &Request, kind: DeviceKind) -> Result<Spectrum, CliError> {
    let precision = signal.samples.precision();
    let problem = problem(&signal.strides, request, request.precision.unwrap_or(precision))?;
    let count = request.lengths.output.iter().product();
    let mut samples = Samples::zeros(precision, request.kind.gives_reals(), count, "the result")?;
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
    if in_place {
        output.clone_from(input);
    }
    let widths = Error::WrongPrecision { expected: input.precision(), got: output.precision() };
    if let (Some(input), Some(output)) = (input.single(), output.single_mut()) {
        return if in_place { plan.run_in_place(output) } else { plan.run_host(input, output) };
    }
    match (input.double(), output.double_mut()) {
        (Some(_), Some(output)) if in_place => plan.run_in_place(output),
        (Some(input), Some(output)) => plan.run_host(input, output),
        _ => Err(widths),
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
    fn axes_count_from_both_ends_and_never_twice() {
        assert_eq!(resolve_axes(&[-1, 0], &[2, 3, 4]).unwrap(), [2, 0]);
        assert!(matches!(resolve_axes(&[3], &[2, 3, 4]), Err(CliError::AxisOutOfRange { axis: 3, .. })));
        assert!(matches!(resolve_axes(&[-4], &[2, 3, 4]), Err(CliError::AxisOutOfRange { axis: -4, .. })));
        assert!(matches!(resolve_axes(&[1, -2], &[2, 3, 4]), Err(CliError::AxisRepeated { axis: -2 })));
    }
}
