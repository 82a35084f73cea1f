//! From a signal and a request to a spectrum: the one place where commands meet the library's plans.

use half::{bf16, f16};
use warpfft::core::problem::{Direction, Placement, Precision, Problem, Storage};
use warpfft::core::request::Fft;
use warpfft::{Device, DeviceKind, Error, HostData, Plan, Strategy, Which};

use crate::error::CliError;
use crate::io::{Kept, Samples, Signal, packed_strides};
use crate::kind::{KindArg, Lengths};
use crate::options::NormArg;
use crate::zoom::ZoomArg;

/// What to compute of a signal.
#[derive(Debug, Clone)]
pub struct Request {
    /// What is transformed into what.
    pub kind: KindArg,
    /// Frequencies of a band in place of that, and whether its end is one.
    pub zoom: Option<(ZoomArg, bool)>,
    /// Axes to transform, each once.
    pub axes: Vec<usize>,
    /// Points along all axes.
    pub lengths: Lengths,
    /// Sign of the exponent.
    pub direction: Direction,
    /// Which direction is divided by the number of points.
    pub norm: NormArg,
    /// Bytes of workspace at most.
    pub max_workspace: Option<u64>,
    /// What is computed in, if not what the numbers' type suggests.
    pub precision: Option<Precision>,
    /// By which published algorithm, if not by the planner's choice.
    pub strategy: Option<Strategy>,
}

/// The problem of transforming an array with the given strides into a packed one. What there is of reals is read as such.
pub fn problem(
    strides: &[i64],
    request: &Request,
    storage: Storage,
    reals: bool,
) -> Result<Problem, CliError> {
    let extents: Vec<u64> = request.lengths.points.iter().map(|&extent| extent as u64).collect();
    let axes: Vec<i64> = request.axes.iter().map(|&axis| axis as i64).collect();
    let asked = Fft::axes(extents, axes).strides(strides, &packed_strides(&request.lengths.output));
    // As in scipy: what is orthonormal by its factor is made orthogonal too.
    let asked = match request.zoom {
        Some((zoom, endpoint)) => zoom.ask(asked, endpoint, reals),
        None => {
            let asked = if reals && request.kind == KindArg::C2c { asked.full_spectrum() } else { asked };
            request.kind.ask(asked, request.direction, request.norm == NormArg::Ortho)
        }
    };
    let asked = asked.storage(storage).norm(request.norm.norm());
    let asked = request.precision.into_iter().fold(asked, Fft::precision);
    Ok(request.max_workspace.into_iter().fold(asked, Fft::max_workspace).build()?)
}

/// Makes a plan. Where the choice of device was left open, a GPU is opened only for what is worth the way there; and where
/// it cannot do this problem, the processor does it, and the reason is returned beside.
pub fn plan(kind: DeviceKind, problem: &Problem) -> Result<(Plan, Option<Error>), CliError> {
    let opened = match kind {
        DeviceKind::Auto => Device::for_host_data(problem, HostData::Once),
        kind => Device::open(kind),
    };
    let first = opened.and_then(|device| device.plan(problem));
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
    let storage = signal.samples.storage();
    let problem = problem(&signal.strides, request, storage, signal.samples.is_real())?;
    let count = request.lengths.output.iter().product();
    let mut samples = Samples::zeros(storage, request.kind.gives_reals(), count, "the result")?;
    if let Some(strategy) = request.strategy {
        // Asked for by name: no other way of doing it takes its place.
        let device = Device::open_for(strategy, kind)?;
        run(&device.plan_by(&problem, strategy)?, &signal.samples, &mut samples)?;
        return Ok(Spectrum { samples, device, fallback: None });
    }
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
    match input.storage() {
        Storage::F16 => run_as::<f16>(plan, input, output),
        Storage::Bf16 => run_as::<bf16>(plan, input, output),
        Storage::F32 => run_as::<f32>(plan, input, output),
        Storage::F64 => run_as::<f64>(plan, input, output),
    }
}

/// The same for numbers of that type on both sides.
fn run_as<T: Kept>(plan: &Plan, input: &Samples, output: &mut Samples) -> Result<(), Error> {
    let (expected, got) = (T::STORAGE, output.storage());
    match (T::planes(input), T::planes_mut(output)) {
        (Some(_), Some(output)) if plan.problem().placement == Placement::InPlace => {
            plan.run_in_place(output)
        }
        (Some(input), Some(output)) => plan.run_host(input, output),
        _ => Err(Error::WrongStorage { which: Which::Output, expected, got }),
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
