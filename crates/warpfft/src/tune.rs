//! The autotuner: times the best few candidates of a problem on the device, goes on from the fastest of them while the
//! budget of time that the caller gives lasts, and keeps the fastest whose output is right.

mod judge;
mod onward;

use std::time::{Duration, Instant};

use warpfft_core::problem::Problem;
use warpfft_core::program::Compiled;
use warpfft_core::recipe::{Candidate, Recipe, candidates};
use warpfft_core::target::Limits;

use self::judge::Judge;
use self::onward::{Task, Tried};
use crate::device::Device;
use crate::error::Error;
use crate::plan::Plan;
use crate::wisdom::Entry;

/// One candidate that was tried.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// What was compiled.
    pub recipe: Recipe,
    /// Copies that the cost model expected.
    pub predicted: f64,
    /// Seconds of one transform of the whole batch, the median; or why it is out.
    pub seconds: Result<f64, Error>,
}

/// What tuning found.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuned {
    /// The fastest, for [`Wisdom::insert`](crate::Wisdom::insert).
    pub entry: Entry,
    /// All that were tried, the cost model's choice first.
    pub trials: Vec<Trial>,
    /// Index of the fastest.
    pub best: usize,
    /// Index of what the device's wisdom said before, if that is not the cost model's choice.
    pub known: Option<usize>,
    /// Candidates that there was no time for.
    pub untried: usize,
}

impl Tuned {
    /// Time of the cost model's choice over that of the fastest: 1 where they are the same.
    pub fn gain(&self) -> f64 {
        self.seconds(0) / self.seconds(self.best)
    }

    /// Time of what the device's wisdom said before over that of the fastest: 1 where they are the same. `None` where it said
    /// nothing, or what the cost model chooses.
    pub fn gain_over_known(&self) -> Option<f64> {
        self.known.map(|known| self.seconds(known) / self.seconds(self.best))
    }

    fn seconds(&self, at: usize) -> f64 {
        self.trials[at].seconds.clone().unwrap_or(f64::NAN)
    }
}

/// Candidates at most.
const MOST: usize = 24;
/// Candidates at least, however short the time.
const FEWEST: usize = 2;
/// Candidates that are made ready at once at most.
const MOST_AT_ONCE: usize = 16;
/// Share of the budget for making the first ones ready.
const READY: f64 = 0.4;
/// Share of the budget for timing them, and of a longer one this much at most.
const RACE: f64 = 0.4;
const RACE_AT_MOST: Duration = Duration::from_secs(1);
/// Share of the budget after which the search does not go on.
const ONWARD: f64 = 0.8;
/// Share of the budget for timing the fastest once more, and for their copies.
const FINAL: f64 = 0.1;
/// What is known, or else the cost model's choice, stays unless another is faster by this: less is noise.
const MARGIN: f64 = 1.01;

impl Device {
    /// Times the best few ways to do a problem here for about this long, and says which is the fastest. At least
    /// the cost model's choice and the next best are tried, however short the time; in a longer one what is near the
    /// fastest is tried as well, and what is near that. What the device's wisdom says is among the first.
    ///
    /// # Errors
    ///
    /// The device has no kernels to choose from, cannot be timed or cannot do the problem.
    pub fn tune(&self, problem: &Problem, budget: Duration) -> Result<Tuned, Error> {
        self.tune_from(Start::Candidates, problem, budget)
    }

    /// As [`tune`](Self::tune), but all the time is for what is near the device's wisdom and the cost model's choice, and none for the
    /// model's other candidates: for problems that have been tuned before.
    ///
    /// # Errors
    ///
    /// As [`tune`](Self::tune).
    pub fn refine(&self, problem: &Problem, budget: Duration) -> Result<Tuned, Error> {
        self.tune_from(Start::Known, problem, budget)
    }

    fn tune_from(&self, start: Start, problem: &Problem, budget: Duration) -> Result<Tuned, Error> {
        let mut tuned = tune(self, problem, start, budget, &Plan::race)?;
        // What it is in copies, for those who read the file. A device that cannot say does not spoil the rest.
        let share = budget.mul_f64(FINAL);
        let best = &tuned.trials[tuned.best];
        let made = load(self, problem, limits(self)?, &best.recipe);
        if let (Ok(measured), Ok(seconds)) = (made.and_then(|plan| plan.measure(share)), &best.seconds) {
            let copies = measured.copies();
            let estimate = tuned.trials[0].seconds.as_ref().ok().map(|first| copies * first / seconds);
            tuned.entry = Entry::new(self.name(), problem, &best.recipe, Some(copies), estimate);
        }
        Ok(tuned)
    }
}

/// What a search begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    /// The cost model's best few, and what is known.
    Candidates,
    /// The cost model's choice and what is known; the next best where nothing is.
    Known,
}

/// Median seconds of each of some plans.
type Race<'a> = &'a dyn Fn(&[&Plan], Duration) -> Result<Vec<f64>, Error>;

fn limits(device: &Device) -> Result<&Limits, Error> {
    device.limits().ok_or_else(|| Error::Unsupported {
        device: device.name().to_owned(),
        what: "tune: it has no kernels to choose from".into(),
        would_work: "tune on a GPU".into(),
    })
}

fn load(device: &Device, problem: &Problem, limits: &Limits, recipe: &Recipe) -> Result<Plan, Error> {
    device.load(Compiled::by(recipe, problem, limits)?.program)
}

/// Candidates that are made ready at once: nearly all of that time goes into the driver's assembler.
fn width() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from).clamp(2, MOST_AT_ONCE)
}

fn loaded(
    device: &Device,
    problem: &Problem,
    limits: &Limits,
    candidates: &[Candidate],
) -> Vec<Result<Plan, Error>> {
    // Plain threads, and not the pool: assembling waits inside the driver.
    std::thread::scope(|scope| {
        let start = |one: &'_ Candidate| {
            let recipe = one.recipe.clone();
            scope.spawn(move || load(device, problem, limits, &recipe))
        };
        let started: Vec<_> = candidates.iter().map(start).collect();
        let finish = |thread: std::thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        started.into_iter().map(finish).collect()
    })
}

fn tune(
    device: &Device,
    problem: &Problem,
    start: Start,
    budget: Duration,
    race: Race<'_>,
) -> Result<Tuned, Error> {
    let limits = limits(device)?;
    if problem.filter.is_some() {
        return Err(Error::Unsupported {
            device: device.name().into(),
            what: "tune convolutions".into(),
            would_work: "leave them to the cost model".into(),
        });
    }
    let mut found = candidates(problem, limits, MOST)?;
    // What was found before is a good place to start from.
    let mut tried = Tried::default();
    if let (Some(recipe), Some(explained)) = (device.recipe(problem)?, device.explain(problem)?) {
        let own = Candidate { recipe, copies: explained.predicted_copies };
        if found[0].recipe != own.recipe {
            found.retain(|one| one.recipe != own.recipe);
            found.insert(1, own);
            tried.known = Some(1);
        }
    }
    if start == Start::Known {
        found.truncate(FEWEST);
    }
    let started = Instant::now();
    for candidates in found.chunks(width()) {
        let ready = tried.plans.iter().flatten().count();
        if ready >= FEWEST && started.elapsed() > budget.mul_f64(READY) {
            break;
        }
        for (candidate, plan) in candidates.iter().zip(loaded(device, problem, limits, candidates)) {
            let failed = plan.as_ref().err().cloned();
            if let (0, Some(error)) = (tried.trials.len(), &failed) {
                return Err(error.clone());
            }
            let seconds = failed.map_or(Ok(f64::NAN), Err);
            let recipe = candidate.recipe.clone();
            tried.trials.push(Trial { recipe, predicted: candidate.copies, seconds });
            tried.plans.push(plan.ok());
        }
    }
    let mut untried = found.len() - tried.trials.len();
    tried.time_all(race, budget.mul_f64(RACE).min(RACE_AT_MOST))?;
    let end = started + budget.mul_f64(ONWARD);
    if Instant::now() < end {
        untried += onward::go_on(Task { device, problem, limits, race }, &mut tried, end)?;
        tried.finish(race, budget.mul_f64(FINAL))?;
    }
    let Tried { mut trials, plans, known, .. } = tried;
    let best = fastest(problem, &plans, &mut trials, known)?;
    let entry = Entry::new(device.name(), problem, &trials[best].recipe, None, None);
    Ok(Tuned { entry, trials, best, known, untried })
}

/// The fastest of those whose output is that of the first; the others' trials say that it is not. What is `known`, or else the first,
/// stays where nothing is clearly faster.
fn fastest(
    problem: &Problem,
    plans: &[Option<Plan>],
    trials: &mut [Trial],
    known: Option<usize>,
) -> Result<usize, Error> {
    let seconds: Vec<f64> =
        trials.iter().map(|trial| trial.seconds.as_ref().map_or(f64::MAX, |&seconds| seconds)).collect();
    let clearly = |at: usize, than: usize| seconds[at] * MARGIN <= seconds[than];
    let stays = known.filter(|&at| seconds[at] < f64::MAX).unwrap_or(0);
    let mut order: Vec<usize> = (0..trials.len()).filter(|&at| at == stays || clearly(at, stays)).collect();
    order.sort_by(|&a, &b| seconds[a].total_cmp(&seconds[b]));
    let (Some(own), mut judge) = (plans[0].as_ref(), None) else { return Ok(0) };
    for at in order {
        if at == 0 {
            return Ok(0);
        }
        let Some(plan) = &plans[at] else { continue };
        if judge.is_none() {
            judge = Some(Judge::new(problem, own)?);
        }
        let distance = judge.as_ref().map_or(Ok(f64::NAN), |judge| judge.distance(plan))?;
        if distance <= judge::tolerance(problem) {
            return Ok(at);
        }
        let detail = format!("its output is {distance:.1e} away from that of the cost model's choice");
        trials[at].seconds = Err(Error::Program { detail });
    }
    // What was known is wrong, and is no measure for the others.
    if stays == 0 { Ok(0) } else { fastest(problem, plans, trials, None) }
}

#[cfg(test)]
mod tests;
