//! How long a plan takes, counted in copies: time over that of a plain copy of the same bytes in the same run.

use std::time::{Duration, Instant};

use warpfft_core::problem::Problem;

use crate::error::Error;
use crate::plan::Plan;

/// What [`Plan::measure`] found. Times are medians over the rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measurement {
    /// Seconds of one transform of the whole batch.
    pub transform_seconds: f64,
    /// Fastest transform.
    pub transform_best: f64,
    /// Seconds of a plain copy of the same bytes.
    pub copy_seconds: f64,
    /// Fastest copy.
    pub copy_best: f64,
    /// Bytes that a copy reads and writes, together.
    pub bytes: u64,
    /// Rounds, each of copies and transforms in turn.
    pub rounds: u32,
    /// Whether the times are the device's own, or the clock's on this side of the driver.
    pub on_device: bool,
}

impl Measurement {
    /// Time over that of a copy; 1 is the floor where data does not stay in cache.
    pub fn copies(&self) -> f64 {
        self.transform_seconds / self.copy_seconds
    }

    /// Bytes a second that a single read and write of the data come to.
    pub fn bytes_per_second(&self) -> f64 {
        self.bytes as f64 / self.transform_seconds
    }
}

impl Plan {
    /// Times the transform, and a copy of the same bytes, in turns for about this long. On a GPU the data stays
    /// there.
    ///
    /// # Errors
    ///
    /// The device's memory does not hold the data, it failed, or it is the simulator, whose time says nothing.
    pub fn measure(&self, budget: Duration) -> Result<Measurement, Error> {
        self.work().measure(budget)
    }
}

/// Bytes that a copy of a problem's data reads and writes.
pub(crate) fn bytes(problem: &Problem) -> u64 {
    let dims = problem.transform.iter().chain(&problem.batch);
    2 * dims.map(|dim| dim.n).product::<u64>() * problem.precision.complex_bytes()
}

/// A round's share of each kind of work, long enough for any clock.
const SHARE: f64 = 0.01;
/// Runs of one share at most.
const MOST: f64 = 2000.0;
/// Rounds at least, whatever the budget.
const FEWEST: usize = 5;

/// Runs copies and transforms in turns. Each closure does its work that many times and returns the seconds of
/// all.
pub(crate) fn in_turns(
    budget: Duration,
    bytes: u64,
    on_device: bool,
    mut copy: impl FnMut(u32) -> Result<f64, Error>,
    mut transform: impl FnMut(u32) -> Result<f64, Error>,
) -> Result<Measurement, Error> {
    // The first run of each pays for what comes once, such as touching memory.
    let repeats = |work: &mut dyn FnMut(u32) -> Result<f64, Error>| {
        work(1)?;
        let once = work(2)? / 2.0;
        Ok::<u32, Error>((SHARE / once.max(1e-9)).clamp(1.0, MOST) as u32)
    };
    let (copy_repeats, repeats) = (repeats(&mut copy)?, repeats(&mut transform)?);
    let started = Instant::now();
    let (mut copies, mut transforms) = (Vec::new(), Vec::new());
    while copies.len() < FEWEST || started.elapsed() < budget {
        copies.push(copy(copy_repeats)? / f64::from(copy_repeats));
        transforms.push(transform(repeats)? / f64::from(repeats));
    }
    let rounds = copies.len() as u32;
    let ((copy_best, copy_seconds), (transform_best, transform_seconds)) =
        (best_and_median(copies), best_and_median(transforms));
    Ok(Measurement { transform_seconds, transform_best, copy_seconds, copy_best, bytes, rounds, on_device })
}

fn best_and_median(mut seconds: Vec<f64>) -> (f64, f64) {
    seconds.sort_by(f64::total_cmp);
    (seconds[0], seconds[seconds.len() / 2])
}

/// Seconds that `repeats` runs take by the clock.
pub(crate) fn clock(repeats: u32, mut run: impl FnMut() -> Result<(), Error>) -> Result<f64, Error> {
    let started = Instant::now();
    (0..repeats).try_for_each(|_| run())?;
    Ok(started.elapsed().as_secs_f64())
}

/// Bytes of numbers in -1..1 that do not repeat soon, for data to measure with: a GPU that adds zeros draws
/// less power and runs faster than it will in use.
pub(crate) fn noise(bytes: usize, double: bool) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    let mut out = Vec::with_capacity(bytes + 8);
    while out.len() < bytes {
        let x = next();
        if double {
            out.extend_from_slice(&x.to_ne_bytes());
        } else {
            out.extend_from_slice(&(x as f32).to_ne_bytes());
        }
    }
    out.truncate(bytes);
    out
}
