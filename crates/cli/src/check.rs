//! How exact a device is: its transform of random data beside one that is more exact.

use num_complex::Complex;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use warpfft::core::math::reference::{reference, relative_l2};
use warpfft::core::problem::{Format, Kind, Placement, Precision, Problem, Storage};
use warpfft::{Device, DeviceKind, Plan};

use crate::engine;
use crate::error::CliError;
use crate::io::Samples;

/// Points that an error is measured on at most: the reference takes microseconds for each.
pub const MOST: u64 = 1 << 20;

/// What memory is asked for.
const WHAT: &str = "the check";

/// Relative L2 distance between the plan's transform of random data and a more exact one: of complex data the
/// reference, in twice double precision, of real data the processor's in f64. `None` where the device is that itself.
pub fn error(plan: &Plan) -> Result<Option<f64>, CliError> {
    let (device, problem) = (plan.device(), plan.problem());
    let complex = problem.kind == Kind::Complex;
    let exact = problem.precision == Precision::F64 && problem.storage == [None; 2];
    if !complex && device.kind() == DeviceKind::Cpu && exact {
        return Ok(None);
    }
    let input = random(problem)?;
    let got = transformed(plan, &input)?;
    let (got, want): (Vec<_>, Vec<_>) = if complex {
        let wanted = reference(problem, |at| input.get(at as usize));
        wanted.into_iter().map(|(at, want)| (got.get(at as usize), want)).unzip()
    } else {
        let exact = Problem { precision: Precision::F64, storage: [None; 2], ..problem.clone() };
        let mut widened = Samples::with_room(Storage::F64, input.is_real(), input.len(), WHAT)?;
        widened.extend((0..input.len()).map(|at| input.get(at)));
        let want = transformed(&Device::cpu().plan(&exact)?, &widened)?;
        let places = places(problem.output_dims()).into_iter();
        places.map(|at| (value(&got, problem, at), value(&want, problem, at))).unzip()
    };
    Ok(Some(relative_l2(&got, &want)))
}

/// Random input: as reals where reals and complex numbers share one array, and long enough for both.
fn random(problem: &Problem) -> Result<Samples, CliError> {
    let [real, gives_reals] = [problem.input, problem.output].map(|format| format == Format::Real);
    let shared = problem.placement == Placement::InPlace && real != gives_reals;
    let count = if shared {
        problem.input_bytes().max(problem.output_bytes()) / problem.stored()[0].real_bytes()
    } else {
        problem.input_span().end
    };
    let mut rng = StdRng::seed_from_u64(problem.elements());
    let mut input = Samples::with_room(problem.stored()[0], real || shared, count as usize, WHAT)?;
    let mut part = || rng.random_range(-1.0..1.0);
    input.extend((0..count).map(|_| Complex::new(part(), part())));
    Ok(input)
}

fn transformed(plan: &Plan, input: &Samples) -> Result<Samples, CliError> {
    let problem = plan.problem();
    let (real, count) = match problem.placement {
        Placement::InPlace => (input.is_real(), input.len()),
        Placement::OutOfPlace => (problem.kind.reals()[1], problem.output_span().end as usize),
    };
    let mut output = Samples::zeros(problem.stored()[1], real, count, WHAT)?;
    engine::run(plan, input, &mut output)?;
    Ok(output)
}

/// A number of the result: of two reals where it shares the array of reals that it came of.
fn value(output: &Samples, problem: &Problem, at: usize) -> Complex<f64> {
    if output.is_real() && !problem.kind.reals()[1] {
        Complex::new(output.get(2 * at).re, output.get(2 * at + 1).re)
    } else {
        output.get(at)
    }
}

/// Where the elements of packed arrays lie: padding between rows holds nothing that means anything.
fn places(dims: impl Iterator<Item = (u64, i64)>) -> Vec<usize> {
    dims.fold(vec![0], |all, (n, stride)| {
        let along = |from: usize| (0..n as usize).map(move |step| from + step * stride as usize);
        all.into_iter().flat_map(along).collect()
    })
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;
    use crate::options::Shape;
    use crate::packed::{self, Packed};

    #[test]
    fn every_kind_is_checked_in_and_out_of_place() {
        let device = Device::cpu();
        for (shape, in_place) in [(vec![9], false), (vec![6, 8], false), (vec![9], true), (vec![6, 7], true)]
        {
            let goes = |kind: &&packed::Kind| !in_place || **kind != packed::Kind::Full;
            for &kind in packed::Kind::value_variants().iter().filter(goes) {
                let shape = Shape(shape.clone());
                let packed = |precision| Packed {
                    kind,
                    shape: &shape,
                    batch: 3,
                    precision,
                    storage: None,
                    inverse: false,
                    in_place,
                    max_workspace: None,
                };
                let ready = |precision| device.plan(&packed(precision).problem().unwrap()).unwrap();
                let found = error(&ready(Precision::F32)).unwrap().unwrap();
                assert!(found > 1e-9 && found < 1e-6, "{kind} {shape} {in_place}: {found}");
                let found = error(&ready(Precision::F64)).unwrap();
                let complex = matches!(kind, packed::Kind::C2c | packed::Kind::Full);
                assert_eq!(found.is_some(), complex, "nothing is more exact than itself");
            }
        }
    }

    #[test]
    fn padding_is_left_out() {
        assert_eq!(places([(2, 10), (3, 1)].into_iter()), [0, 1, 2, 10, 11, 12]);
        assert_eq!(places(std::iter::empty()), [0]);
    }
}
