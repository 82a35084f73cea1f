//! Doubles in the computer's memory, transformed on a device, by the clock of whoever calls.

use std::time::{Duration, Instant};

use num_complex::Complex;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use warpfft::core::problem::Precision;
use warpfft::{Device, Error};

use super::paper::{Doubles, Experiment, Place, Transfers};
use crate::error::CliError;

/// Runs at least, whatever the time.
const FEWEST: usize = 5;
/// Runs at most: medians do not get better by more.
const MOST: usize = 1000;

/// Median seconds of one call.
pub fn seconds(
    device: &Device,
    experiment: &Experiment,
    place: Place,
    (doubles, transfers): (Doubles, Transfers),
    budget: Duration,
) -> Result<f64, CliError> {
    let points = experiment.points(place.length).saturating_mul(place.batch);
    // Input, output, and singles of both.
    warpfft::host_memory(points.saturating_mul(3 * Precision::F64.complex_bytes()))?;
    let input = random(points as usize);
    let mut output = vec![Complex::<f64>::default(); input.len()];
    let precision = match doubles {
        Doubles::Native => Precision::F64,
        Doubles::AsSingles => Precision::F32,
    };
    let plan = device.plan(&experiment.problem(place, precision, false)?)?;
    let mut singles = match doubles {
        Doubles::Native => [Vec::new(), Vec::new()],
        Doubles::AsSingles => [(); 2].map(|()| vec![Complex::<f32>::default(); input.len()]),
    };
    let mut call = || match (doubles, transfers) {
        (Doubles::Native, Transfers::Synchronous) => plan.run_host(&input, &mut output),
        (Doubles::AsSingles, Transfers::Synchronous) => {
            let [from, to] = &mut singles;
            from.iter_mut().zip(&input).for_each(|(to, from)| *to = narrowed(*from));
            plan.run_host(&*from, &mut *to)?;
            output.iter_mut().zip(&*to).for_each(|(to, from)| *to = widened(*from));
            Ok(())
        }
    };
    Ok(median(&mut call, budget)?)
}

fn narrowed(value: Complex<f64>) -> Complex<f32> {
    Complex::new(value.re as f32, value.im as f32)
}

fn widened(value: Complex<f32>) -> Complex<f64> {
    Complex::new(value.re.into(), value.im.into())
}

fn random(points: usize) -> Vec<Complex<f64>> {
    let mut rng = StdRng::seed_from_u64(points as u64);
    let mut part = || rng.random_range(-1.0..1.0);
    (0..points).map(|_| Complex::new(part(), part())).collect()
}

/// Median seconds of a call, repeated for about this long.
fn median(call: &mut dyn FnMut() -> Result<(), Error>, budget: Duration) -> Result<f64, Error> {
    // The first run pays for what comes once, such as touching memory.
    call()?;
    let started = Instant::now();
    let mut took = Vec::new();
    while took.len() < FEWEST || (took.len() < MOST && started.elapsed() < budget) {
        let once = Instant::now();
        call()?;
        took.push(once.elapsed().as_secs_f64());
    }
    took.sort_by(f64::total_cmp);
    Ok(took[took.len() / 2])
}

#[cfg(test)]
mod tests {
    use super::super::mitra;
    use super::*;

    #[test]
    fn doubles_are_timed_as_they_are_and_as_singles() {
        let experiment = mitra::PAPER.experiments.last().expect("it has some");
        let place = Place { length: 4, batch: 3 };
        for doubles in [Doubles::Native, Doubles::AsSingles] {
            let how = (doubles, Transfers::Synchronous);
            let took = seconds(&Device::cpu(), experiment, place, how, Duration::ZERO).expect("it runs");
            assert!(took > 0.0 && took < 1.0, "{took}");
        }
    }

    #[test]
    fn the_median_is_of_at_least_five() {
        let mut calls = 0;
        let mut call = || {
            calls += 1;
            Ok(())
        };
        assert!(median(&mut call, Duration::ZERO).expect("it runs") >= 0.0);
        assert_eq!(calls, 1 + FEWEST);
    }
}
