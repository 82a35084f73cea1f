//! How long a plan takes, counted in copies: time over that of a plain copy of the same bytes in the same run.
//!
//! The yardstick is the fastest plain copy that the device is known to do: several are tried briefly at first, and
//! the best goes through the run beside the transform. A slow copy would flatter the transform.
//!
//! Data that fits into the cache would be timed from there, although in use it comes from memory. So both work on
//! many sets of buffers in turn, together at least [`CACHES`] times the cache ([`Turns`]). Tables and workspace
//! are one each for all sets: in use, too, they are where the run before left them.

use std::cell::Cell;
use std::time::{Duration, Instant};

use half::{bf16, f16};
use rayon::prelude::*;
use warpfft_core::problem::{Problem, Storage};

use crate::error::Error;
use crate::plan::Plan;
use crate::room;

/// What [`Plan::measure`] found. Times are medians over the rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measurement {
    /// Seconds of one transform of the whole batch.
    pub transform_seconds: f64,
    /// Fastest transform.
    pub transform_best: f64,
    /// Seconds of the fastest plain copy of the same bytes.
    pub copy_seconds: f64,
    /// Fastest run of that copy.
    pub copy_best: f64,
    /// Which copy it was.
    pub copy_name: &'static str,
    /// Bytes that a copy reads and writes, together.
    pub bytes: u64,
    /// Sets of buffers that both worked on in turn, so that the data does not come from the cache.
    pub buffer_sets: u64,
    /// Rounds, each of copies and transforms in turn.
    pub rounds: u32,
    /// Whether the times are the device's own, or the clock's on this side of the driver.
    pub on_device: bool,
    /// Seconds that the processor takes to hand one transform over to the device, where that can be told apart from
    /// the transform itself: with CUDA.
    pub launch_seconds: Option<f64>,
}

impl Measurement {
    /// Share of a transform's time that its launch takes where nothing else takes time: what is missing is noise.
    pub const LAUNCH_BOUND: f64 = 0.9;

    /// Time over that of a copy; 1 is the floor where data does not stay in cache.
    pub fn copies(&self) -> f64 {
        self.transform_seconds / self.copy_seconds
    }

    /// Whether the device waits for the processor to launch, so that the time is the launch's and not the transform's:
    /// few and short transforms, one after the other. A copy of their data waits likewise.
    pub fn is_launch_bound(&self) -> bool {
        self.launch_seconds.is_some_and(|launch| launch >= Self::LAUNCH_BOUND * self.transform_seconds)
    }

    /// Bytes a second that a single read and write of the data come to.
    pub fn bytes_per_second(&self) -> f64 {
        self.bytes as f64 / self.transform_seconds
    }
}

/// How to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// Time to spend, about.
    pub budget: Duration,
    /// Work on one set of buffers again and again, so that data which fits in the cache stays there: as in a program
    /// that transforms what it has just made. Otherwise data comes from memory, however small it is.
    pub in_cache: bool,
}

impl From<Duration> for Timing {
    fn from(budget: Duration) -> Self {
        Self { budget, in_cache: false }
    }
}

impl Plan {
    /// Times the transform, and a copy of the same bytes, in turns for about this long; a [`Duration`] alone measures
    /// data that comes from memory. On a GPU the data stays there.
    ///
    /// # Errors
    ///
    /// The device's memory does not hold the data, it failed, or it is the simulator, whose time says nothing.
    pub fn measure(&self, timing: impl Into<Timing>) -> Result<Measurement, Error> {
        self.work().measure(timing.into())
    }

    /// Median seconds of each of several plans of one problem on one device, timed in turns on the same data, for
    /// about this long: whoever is far behind the fastest is timed a few times only. On CUDA, data of which half of the cache has room
    /// stays there; else it comes from memory.
    ///
    /// # Errors
    ///
    /// As [`Plan::measure`], or the plans are of different kinds of devices.
    pub fn race(plans: &[&Self], budget: Duration) -> Result<Vec<f64>, Error> {
        let works: Vec<_> = plans.iter().map(|plan| plan.work()).collect();
        works.first().map_or(Ok(Vec::new()), |first| first.race(&works, budget))
    }
}

/// Bytes that a copy of a problem's data reads and writes, together: those of the input and of the output.
pub(crate) fn bytes(problem: &Problem) -> u64 {
    let points =
        |all: &mut dyn Iterator<Item = (u64, i64)>| all.fold(1_u64, |n, (own, _)| n.saturating_mul(own));
    let read = points(&mut problem.input_dims()).saturating_mul(problem.input_element());
    let written = points(&mut problem.output_dims()).saturating_mul(problem.output_element());
    read.saturating_add(written)
}

/// The sets of buffers together, over the cache.
const CACHES: u64 = 3;

/// Which set of buffers is next.
#[derive(Debug)]
pub(crate) struct Turns {
    /// How many there are.
    pub sets: u64,
    next: Cell<u64>,
}

impl Turns {
    /// The sets that a measurement works on: [`Turns::new`], or one where the data may stay in the cache.
    pub fn of(timing: Timing, set_bytes: u64, cache_bytes: u64, most: u64) -> Self {
        Self::new(set_bytes, if timing.in_cache { 0 } else { cache_bytes }, most)
    }

    /// As many sets of that many bytes as the cache cannot hold, though no more than `most`.
    pub fn new(set_bytes: u64, cache_bytes: u64, most: u64) -> Self {
        let wanted = cache_bytes.saturating_mul(CACHES).div_ceil(set_bytes.max(1));
        Self { sets: wanted.clamp(1, most.max(1)), next: Cell::new(0) }
    }

    /// The set for the next run.
    pub fn next(&self) -> u64 {
        let set = self.next.get();
        self.next.set((set + 1) % self.sets);
        set
    }
}

/// Work to time: does it that many times and returns the seconds of all.
pub(crate) type Timed<'a> = Box<dyn FnMut(u32) -> Result<f64, Error> + 'a>;

/// What is measured, and against what.
pub(crate) struct Contest<'a> {
    /// Plain copies with their names, at least one.
    pub copies: Vec<(&'static str, Timed<'a>)>,
    /// The transform.
    pub transform: Timed<'a>,
    /// Bytes that a copy reads and writes.
    pub bytes: u64,
    /// Sets of buffers.
    pub buffer_sets: u64,
    /// Whether the device keeps the time.
    pub on_device: bool,
}

/// Seconds of each kind of work in one round, long enough for any clock.
const SHARE: f64 = 0.01;
/// Seconds of each copy in one round of their trial.
const TRIAL_SHARE: f64 = 0.003;
/// Rounds of the trial.
const TRIALS: usize = 3;
/// Runs of one share at most.
const MOST: f64 = 2000.0;
/// Rounds of a race at most: medians do not get better by more.
#[cfg(any(feature = "cuda", feature = "opencl", feature = "wgpu", test))]
const MOST_ROUNDS: usize = 200;
/// Rounds at least, whatever the budget.
const FEWEST: usize = 5;

impl Contest<'_> {
    /// Runs the fastest copy and the transform in turns.
    pub fn run(mut self, budget: Duration) -> Result<Measurement, Error> {
        let (copy_name, mut copy) = fastest(self.copies)?;
        let (copy_repeats, repeats) = (repeats(&mut copy, SHARE)?, repeats(&mut self.transform, SHARE)?);
        let started = Instant::now();
        let (mut copies, mut transforms) = (Vec::new(), Vec::new());
        while copies.len() < FEWEST || started.elapsed() < budget {
            copies.push(copy(copy_repeats)? / f64::from(copy_repeats));
            transforms.push((self.transform)(repeats)? / f64::from(repeats));
        }
        let rounds = copies.len() as u32;
        let ((copy_best, copy_seconds), (transform_best, transform_seconds)) =
            (best_and_median(copies), best_and_median(transforms));
        Ok(Measurement {
            transform_seconds,
            transform_best,
            copy_seconds,
            copy_best,
            copy_name,
            bytes: self.bytes,
            buffer_sets: self.buffer_sets,
            rounds,
            on_device: self.on_device,
            launch_seconds: None,
        })
    }
}

/// Seconds of each work in one round of a race.
#[cfg(any(feature = "cuda", feature = "opencl", feature = "wgpu", test))]
const RACE_SHARE: f64 = 0.004;
/// Rounds that all run.
#[cfg(any(feature = "cuda", feature = "opencl", feature = "wgpu", test))]
const QUALIFYING: usize = 3;
/// Whoever takes this much longer than the fastest runs no further rounds.
#[cfg(any(feature = "cuda", feature = "opencl", feature = "wgpu", test))]
const BEHIND: f64 = 1.1;

/// Median seconds of one run of each work, in turns, for about this long: what is far behind runs a few rounds only.
#[cfg(any(feature = "cuda", feature = "opencl", feature = "wgpu", test))]
pub(crate) fn race(mut works: Vec<Timed<'_>>, budget: Duration) -> Result<Vec<f64>, Error> {
    let started = Instant::now();
    let counts = works.iter_mut().map(|work| repeats(work, RACE_SHARE)).collect::<Result<Vec<_>, _>>()?;
    let mut took = vec![Vec::new(); works.len()];
    let median = |times: &Vec<f64>| best_and_median(times.clone()).1;
    let mut running = vec![true; works.len()];
    let mut rounds = 0;
    while rounds < QUALIFYING || (rounds < MOST_ROUNDS && started.elapsed() < budget) {
        for (i, work) in works.iter_mut().enumerate().filter(|(i, _)| running[*i]) {
            took[i].push(work(counts[i])? / f64::from(counts[i]));
        }
        rounds += 1;
        if rounds >= QUALIFYING {
            let fastest = took.iter().map(median).fold(f64::MAX, f64::min);
            took.iter().zip(&mut running).for_each(|(took, runs)| *runs &= median(took) <= fastest * BEHIND);
        }
    }
    Ok(took.iter().map(median).collect())
}

/// Median seconds of one run of work that has no copy beside it, because the copy of the same data was just timed.
#[cfg(feature = "peers")]
pub(crate) fn alone(mut work: Timed<'_>, budget: Duration) -> Result<f64, Error> {
    let count = repeats(&mut work, SHARE)?;
    let started = Instant::now();
    let mut seconds = Vec::new();
    while seconds.len() < FEWEST || started.elapsed() < budget {
        seconds.push(work(count)? / f64::from(count));
    }
    Ok(best_and_median(seconds).1)
}

/// Runs that take about that many seconds together.
fn repeats(work: &mut Timed<'_>, share: f64) -> Result<u32, Error> {
    // The first run pays for what comes once, such as touching memory.
    work(1)?;
    let once = work(2)? / 2.0;
    Ok((share / once.max(1e-9)).clamp(1.0, MOST) as u32)
}

/// The copy whose median time over a few rounds is the shortest.
fn fastest<'a>(mut copies: Vec<(&'static str, Timed<'a>)>) -> Result<(&'static str, Timed<'a>), Error> {
    let mut took = vec![Vec::with_capacity(TRIALS); copies.len()];
    if copies.len() > 1 {
        let counts = copies.iter_mut().map(|(_, copy)| repeats(copy, TRIAL_SHARE));
        let counts = counts.collect::<Result<Vec<_>, _>>()?;
        for _ in 0..TRIALS {
            for (((_, copy), &count), took) in copies.iter_mut().zip(&counts).zip(&mut took) {
                took.push(copy(count)? / f64::from(count));
            }
        }
    }
    let medians = took.into_iter().map(|times| if times.is_empty() { 0.0 } else { best_and_median(times).1 });
    let best = medians.enumerate().min_by(|a, b| a.1.total_cmp(&b.1));
    let (best, _) = best.ok_or_else(|| Error::Program { detail: "there is no copy to measure by".into() })?;
    Ok(copies.swap_remove(best))
}

pub(crate) fn best_and_median(mut seconds: Vec<f64>) -> (f64, f64) {
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
pub(crate) fn noise(bytes: u64, storage: Storage, device: &str) -> Result<Vec<u8>, Error> {
    let full = || Error::OutOfMemory { device: device.to_owned(), bytes, free: None };
    let length = usize::try_from(bytes).map_err(|_| full())?;
    room::ask(bytes, device)?;
    let mut out = Vec::new();
    out.try_reserve_exact(length).map_err(|_| full())?;
    out.resize(length, 0);
    // A stretch is a generator's, so that threads share the work and the numbers are always the same.
    out.par_chunks_mut(STRETCH).enumerate().for_each(|(index, stretch)| match storage {
        Storage::F16 => sprinkle(stretch, index, |x| f16::from_f64(x).to_ne_bytes()),
        Storage::Bf16 => sprinkle(stretch, index, |x| bf16::from_f64(x).to_ne_bytes()),
        Storage::F32 => sprinkle(stretch, index, |x| (x as f32).to_ne_bytes()),
        Storage::F64 => sprinkle(stretch, index, f64::to_ne_bytes),
    });
    Ok(out)
}

/// Bytes that one generator fills.
const STRETCH: usize = 1 << 18;

/// The numbers of one generator. A last number that does not fit is cut off.
fn sprinkle<const WIDTH: usize>(stretch: &mut [u8], index: usize, bytes: impl Fn(f64) -> [u8; WIDTH]) {
    let mut state = 0x2545_f491_4f6c_dd1d_u64.wrapping_mul(2 * index as u64 + 1);
    for number in stretch.chunks_mut(WIDTH) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let x = (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
        number.copy_from_slice(&bytes(x)[..number.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_exceed_the_cache_and_come_in_turns() {
        let turns = Turns::new(10, 33, 1000);
        assert_eq!(turns.sets, 10); // 100 bytes and more than 99
        assert_eq!((0..12).map(|_| turns.next()).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1]);
        assert_eq!(Turns::new(10, 33, 4).sets, 4);
        assert_eq!(Turns::new(100, 33, 4).sets, 1);
        assert_eq!(Turns::new(0, 0, 0).sets, 1);
        let timing = |in_cache| Timing { budget: Duration::ZERO, in_cache };
        assert_eq!(Turns::of(timing(false), 10, 33, 1000).sets, 10);
        assert_eq!(Turns::of(timing(true), 10, 33, 1000).sets, 1);
    }

    #[test]
    fn the_fastest_copy_is_the_yardstick() {
        let fixed = |seconds: f64| -> Timed<'_> { Box::new(move |count| Ok(seconds * f64::from(count))) };
        let copies = vec![("slow", fixed(3e-3)), ("fast", fixed(1e-3)), ("medium", fixed(2e-3))];
        let contest = Contest { copies, transform: fixed(2e-3), bytes: 8, buffer_sets: 1, on_device: false };
        let measured = contest.run(Duration::ZERO).expect("nothing fails");
        assert_eq!(measured.copy_name, "fast");
        assert!((measured.copies() - 2.0).abs() < 1e-9 && measured.rounds == 5);
        assert!(!measured.is_launch_bound(), "nothing is known of launches");
        let launched = |seconds| Measurement { launch_seconds: Some(seconds), ..measured };
        assert!(launched(1.9e-3).is_launch_bound() && !launched(1.7e-3).is_launch_bound());
    }

    #[test]
    fn a_race_times_all_and_drops_who_is_far_behind() {
        let runs = std::cell::RefCell::new([0_u32; 3]);
        let work = |which: usize, seconds: f64| -> Timed<'_> {
            let runs = &runs;
            Box::new(move |count| {
                runs.borrow_mut()[which] += count;
                Ok(seconds * f64::from(count))
            })
        };
        let works = vec![work(0, 2e-3), work(1, 1e-3), work(2, 1.05e-3)];
        let times = race(works, Duration::from_millis(5)).expect("nothing fails");
        assert!((times[0] - 2e-3).abs() < 1e-9 && (times[1] - 1e-3).abs() < 1e-9, "{times:?}");
        assert_eq!(runs.borrow()[0], 3 + 2 * QUALIFYING as u32, "warming up, and the rounds that all run");
        assert!(runs.borrow()[1] > runs.borrow()[0]);
        let failing: Timed<'_> = Box::new(|_| Err(Error::Program { detail: "it fails".into() }));
        assert!(race(vec![failing], Duration::ZERO).is_err());
    }

    #[test]
    fn data_beyond_all_memory_is_an_error() {
        assert!(
            matches!(noise(1 << 62, Storage::F32, "here"), Err(Error::OutOfMemory { bytes, .. }) if bytes == 1 << 62)
        );
        for storage in Storage::ALL {
            assert_eq!(noise(13, storage, "here").map(|data| data.len()), Ok(13));
        }
    }

    #[test]
    fn noise_goes_on_from_stretch_to_stretch() {
        let bytes = noise(2 * STRETCH as u64 + 12, Storage::F32, "here").expect("there is room");
        let numbers: Vec<f32> =
            bytes.chunks_exact(4).map(|own| f32::from_ne_bytes([own[0], own[1], own[2], own[3]])).collect();
        assert!(numbers.iter().all(|x| (-1.0..=1.0).contains(x)));
        let mean = numbers.iter().sum::<f32>() / numbers.len() as f32;
        assert!(mean.abs() < 0.02, "{mean}");
        let mut sorted = numbers.clone();
        sorted.sort_by(f32::total_cmp);
        sorted.dedup();
        assert!(sorted.len() > numbers.len() / 100 * 98, "{} of {}", sorted.len(), numbers.len());
    }
}
