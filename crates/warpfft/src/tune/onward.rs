//! Goes on from the fastest candidate so far: times what differs from it in one thing, takes the fastest of these, and so on.
//! Where nothing near is faster it goes on from the next that is not far behind, until the time is over.

use std::time::{Duration, Instant};

use warpfft_core::problem::Problem;
use warpfft_core::recipe::{Candidate, Recipe, near};
use warpfft_core::target::Limits;

use super::{MARGIN, Race, Trial, loaded, width};
use crate::device::Device;
use crate::error::Error;
use crate::plan::Plan;

/// Share of the time for a few that is for timing them, and not for making them ready.
const TIMED: f64 = 0.3;
/// What a few are given where nothing says how long the last few took to be ready.
const FIRST: Duration = Duration::from_millis(500);
/// The fastest that are timed once more beside each other, the first and what was known.
const KEPT: usize = 4;

/// What takes longer than the fastest by this factor is no place to go on from.
const FAR: f64 = 1.2;

/// All that was tried, with the plans of those that may still win.
#[derive(Default)]
pub(super) struct Tried {
    pub trials: Vec<Trial>,
    pub plans: Vec<Option<Plan>>,
    /// Which of them was known before.
    pub known: Option<usize>,
    /// From which of them the search has gone on to all that is near.
    left: Vec<usize>,
}

impl Tried {
    /// The fastest so far, with its seconds.
    fn fastest(&self) -> Option<(usize, f64)> {
        self.ranked().into_iter().next()
    }

    /// Those that have been timed, the fastest first.
    fn timed(&self) -> Vec<(usize, f64)> {
        let timed = self.trials.iter().enumerate();
        let mut all: Vec<(usize, f64)> =
            timed.filter_map(|(at, trial)| Some((at, *trial.seconds.as_ref().ok()?))).collect();
        all.retain(|(_, seconds)| seconds.is_finite());
        all.sort_by(|a, b| a.1.total_cmp(&b.1));
        all
    }

    /// Those of them that are still ready.
    fn ranked(&self) -> Vec<(usize, f64)> {
        self.timed().into_iter().filter(|(at, _)| self.plans[*at].is_some()).collect()
    }

    /// The fastest from which the search has not gone on yet.
    fn next(&self) -> Option<usize> {
        let timed = self.timed();
        let (_, least) = timed.first()?;
        timed.iter().find(|(at, took)| *took <= least * FAR && !self.left.contains(at)).map(|&(at, _)| at)
    }

    /// The fastest few, and those that they are held against.
    fn runners(&self) -> Vec<usize> {
        let mut all: Vec<usize> = self.ranked().into_iter().take(KEPT).map(|(at, _)| at).collect();
        for at in [Some(0), self.known].into_iter().flatten() {
            if !all.contains(&at) {
                all.push(at);
            }
        }
        all
    }

    /// Lets go of the plans that have no chance, whose kernels and workspace others need.
    fn keep_the_best(&mut self) {
        let kept = self.runners();
        let out = self.plans.iter_mut().enumerate().filter(|(at, _)| !kept.contains(at));
        out.for_each(|(_, plan)| *plan = None);
    }

    /// Times all that are ready.
    pub fn time_all(&mut self, race: Race<'_>, budget: Duration) -> Result<(), Error> {
        self.time(0..self.trials.len(), race, budget).map(|_| ())
    }

    /// Times the fastest few, the first and what was known once more, all in one race.
    pub fn finish(&mut self, race: Race<'_>, budget: Duration) -> Result<(), Error> {
        self.time(self.runners().into_iter(), race, budget).map(|_| ())
    }

    /// Times some in one race; gives the seconds of the first of them.
    fn time(
        &mut self,
        runners: impl Iterator<Item = usize>,
        race: Race<'_>,
        budget: Duration,
    ) -> Result<f64, Error> {
        let (places, ready): (Vec<usize>, Vec<&Plan>) =
            runners.filter_map(|at| Some((at, self.plans[at].as_ref()?))).unzip();
        let seconds = race(&ready, budget)?;
        for (&at, &seconds) in places.iter().zip(&seconds) {
            self.trials[at].seconds = Ok(seconds);
        }
        Ok(seconds.first().copied().unwrap_or(f64::NAN))
    }

    fn knows(&self, recipe: &Recipe) -> bool {
        self.trials.iter().any(|trial| trial.recipe == *recipe)
    }
}

/// What is tuned, and where.
#[derive(Clone, Copy)]
pub(super) struct Task<'a> {
    pub device: &'a Device,
    pub problem: &'a Problem,
    pub limits: &'a Limits,
    pub race: Race<'a>,
}

/// Goes on until `end`. Says how many more of what is near the fastest there was no time for.
pub(super) fn go_on(task: Task<'_>, tried: &mut Tried, end: Instant) -> Result<usize, Error> {
    let mut took = FIRST;
    tried.keep_the_best();
    while let Some(from) = tried.next() {
        let mut others = near(&tried.trials[from].recipe, task.problem, task.limits)?;
        others.retain(|other| !tried.knows(&other.recipe));
        let mut left = others.len();
        let mut found = false;
        for few in others.chunks(width()) {
            let started = Instant::now();
            if started + took > end {
                return Ok(left);
            }
            found = try_few(task, tried, few, took.mul_f64(TIMED))?;
            left -= few.len();
            took = started.elapsed();
            if found {
                break;
            }
        }
        if !found {
            tried.left.push(from);
        }
    }
    Ok(0)
}

/// Times a few beside the fastest so far; whether one of them is faster.
fn try_few(task: Task<'_>, tried: &mut Tried, few: &[Candidate], budget: Duration) -> Result<bool, Error> {
    let Task { device, problem, limits, race } = task;
    let Some((best, _)) = tried.fastest() else { return Ok(false) };
    let first = tried.trials.len();
    for (candidate, plan) in few.iter().zip(loaded(device, problem, limits, few)) {
        let seconds = plan.as_ref().err().cloned().map_or(Ok(f64::NAN), Err);
        tried.trials.push(Trial { recipe: candidate.recipe.clone(), predicted: candidate.copies, seconds });
        tried.plans.push(plan.ok());
    }
    let runners = [best].into_iter().chain(first..tried.trials.len());
    let before = match tried.time(runners, race, budget) {
        Ok(before) => before,
        Err(lost @ Error::DeviceLost { .. }) => return Err(lost),
        // These have no room beside each other, or one of them does not run: what was found before stands.
        Err(error) => {
            let ready = tried.trials[first..].iter_mut().filter(|trial| trial.seconds.is_ok());
            ready.for_each(|trial| trial.seconds = Err(error.clone()));
            f64::NAN
        }
    };
    tried.keep_the_best();
    let now = tried.fastest().map_or(f64::NAN, |(_, seconds)| seconds);
    Ok(now * MARGIN < before)
}
