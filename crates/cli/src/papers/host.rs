//! Doubles in the computer's memory, transformed on a device, by the clock of whoever calls.

use std::time::{Duration, Instant};

use num_complex::Complex;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use warpfft::core::problem::{Precision, Problem};
use warpfft::{Device, Error, Pipeline, Plan, Real};

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
    let precision = match doubles {
        Doubles::Native => Precision::F64,
        Doubles::AsSingles => Precision::F32,
    };
    let problem = experiment.problem(place, precision, false)?;
    let run = Run::new(device, &problem, transfers)?;
    // Where the device is handed them, doubles lie as it is best for it; where they are narrowed, as anything.
    let home = match (doubles, transfers) {
        (Doubles::Native, Transfers::Streamed) => device.clone(),
        _ => Device::cpu(),
    };
    let mut input = home.host_array::<Complex<f64>>(points as usize)?;
    input.copy_from_slice(&random(points as usize));
    let mut output = home.host_array::<Complex<f64>>(input.len())?;
    let length = if doubles == Doubles::Native { 0 } else { input.len() };
    let near = if transfers == Transfers::Streamed { device.clone() } else { Device::cpu() };
    let mut from = near.host_array::<Complex<f32>>(length)?;
    let mut to = near.host_array::<Complex<f32>>(length)?;
    let mut call = || match doubles {
        Doubles::Native => run.call(&input[..], &mut output[..]),
        Doubles::AsSingles => {
            from.iter_mut().zip(&input[..]).for_each(|(to, from)| *to = narrowed(*from));
            run.call(&from[..], &mut to[..])?;
            output.iter_mut().zip(&to[..]).for_each(|(to, from)| *to = widened(*from));
            Ok(())
        }
    };
    Ok(median(&mut call, budget)?)
}

/// What is called.
enum Run {
    Synchronous(Box<Plan>),
    Streamed(Box<Pipeline>),
}

impl Run {
    fn new(device: &Device, problem: &Problem, transfers: Transfers) -> Result<Self, Error> {
        Ok(match transfers {
            Transfers::Synchronous => Self::Synchronous(Box::new(device.plan(problem)?)),
            Transfers::Streamed => Self::Streamed(Box::new(device.pipeline(problem)?)),
        })
    }

    fn call<T: Real>(&self, input: &[Complex<T>], output: &mut [Complex<T>]) -> Result<(), Error> {
        match self {
            Self::Synchronous(plan) => plan.run_host(input, output),
            Self::Streamed(pipeline) => pipeline.run(input, output),
        }
    }
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
            for transfers in [Transfers::Synchronous, Transfers::Streamed] {
                let how = (doubles, transfers);
                let took = seconds(&Device::cpu(), experiment, place, how, Duration::ZERO).expect("it runs");
                assert!(took > 0.0 && took < 1.0, "{took}");
            }
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
