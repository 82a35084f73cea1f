//! Which of several ways to schedule real data takes the least: passes as they come, with rows between them that start with lines of
//! memory, or two that share a dimension.

use crate::error::Error;
use crate::plan::Plan;
use crate::problem::{Dim, Kind, Problem};
use crate::schedule::bridge::FOR_WORKSPACE;
use crate::schedule::{Schedule, fuse};
use crate::target::{Api, Limits};

use super::{Chain, Parting, Ways, chained, windows};

/// Part of the copies that rows which start with lines have to leave for workspace to be worth it: the model is not surer.
const CLEARLY: f64 = 0.95;

/// Part of the copies that two passes back which share a dimension and a launch may take. On an H200 planes of 640 x 480 and 768 x 1024
/// took 0.75 and 0.78 of what a pass for each dimension takes, with 0.75 expected; 360 x 360 and 900 x 900, of which more is expected
/// than this, 1.07 and 1.11.
const SHARED_BACK: f64 = 0.78;

/// Part of the copies that long lines may take in other parts which share a launch, where those that take the least by themselves do not.
/// On an H200 three took 0.68 to 0.9 of the time with 0.88 to 0.9 expected, and r2c of 56448 doubles and c2r of 250000, of which 0.97
/// and 0.93 are expected, 1.1 and 1.06.
const PARTED: f64 = 0.91;

/// Ways to part long lines that are offered.
const MOST_PARTED: usize = 4;

/// The schedule, or what takes less by workspace that nobody has forbidden.
pub(super) fn cheaper(problem: &Problem, limits: &Limits, mut schedule: Schedule) -> Result<Schedule, Error> {
    if schedule.passes.len() < 2 {
        return Ok(schedule);
    }
    let cost = |schedule: &Schedule| cost(schedule, problem, limits);
    let own = match problem.kind {
        Kind::RealToComplex(own) | Kind::ComplexToReal(own) => own,
        Kind::RealToReal(_) => return apart(problem, limits, schedule),
        Kind::Complex | Kind::Zoom(_) => return Ok(schedule),
    };
    let needed = |schedule: &Schedule| schedule.workspace(problem.precision).1;
    let Some((mut least, mut shared)) = cost(&schedule) else { return Ok(schedule) };
    if shared == 0
        && let Some((copies, pairs, parted)) = parted(problem, limits, &schedule)
        && copies < PARTED * least
    {
        (least, shared, schedule) = (copies, pairs, parted);
    }
    if matches!(problem.kind, Kind::ComplexToReal(_)) && problem.max_workspace.is_none() {
        // Some passes gain by rows that start with lines of memory, others lose that were one dimension with the next, or shared
        // a launch.
        let aligned = chained(problem, limits, Ways { aligns: true, ..Ways::default() })?.finish();
        if aligned != schedule
            && let Some((copies, still)) = cost(&aligned)
            && still >= shared
            && copies < CLEARLY * least
        {
            (least, schedule) = (copies, aligned);
        }
    }
    if let Some(bridge) = by_bridge(problem, limits, own) {
        let fewer = bridge.passes.len() < schedule.passes.len() || matches!(limits.api, Api::Ptx { .. });
        let free = bridge.passes.len() < schedule.passes.len() || needed(&bridge) <= needed(&schedule);
        let share = if free { 1.0 } else { FOR_WORKSPACE };
        // On the way back a launch of both is short of registers.
        let sure = |shared: usize| {
            let back = matches!(problem.kind, Kind::ComplexToReal(_)) && shared > 0;
            if back { SHARED_BACK } else { 1.0 }
        };
        if fewer && cost(&bridge).is_some_and(|(copies, shared)| copies < share * sure(shared) * least) {
            return Ok(bridge);
        }
    }
    Ok(schedule)
}

/// Copies, and how many pairs of passes share a launch.
fn cost(schedule: &Schedule, problem: &Problem, limits: &Limits) -> Option<(f64, usize)> {
    let (schedule, choices) = fuse::tiled(schedule.clone(), problem, limits)?;
    let copies = fuse::copies(&schedule.passes, &choices, problem.elements());
    Some((copies, schedule.fused.len()))
}

/// The cheapest schedule whose long lines are in other parts, which share a launch, with its copies and how many pairs of passes do.
fn parted(problem: &Problem, limits: &Limits, usual: &Schedule) -> Option<(f64, usize, Schedule)> {
    let long = usual.passes.iter().any(|pass| pass.images.is_some());
    let others = (1..MOST_PARTED).filter(|_| long).filter_map(|at| {
        let ways = Ways { parting: Parting::Nth(at), ..Ways::default() };
        let other = chained(problem, limits, ways).ok()?.finish();
        let (copies, pairs) = cost(&other, problem, limits)?;
        let needed = other.workspace(problem.precision).1;
        let fits = pairs > 0 && problem.max_workspace.is_none_or(|cap| needed <= cap);
        fits.then_some((copies, pairs, other))
    });
    others.min_by(|(a, ..), (b, ..)| a.total_cmp(b))
}

/// From reals to reals, with passes that know the same dimensions where two of them gain a launch by that.
fn apart(problem: &Problem, limits: &Limits, usual: Schedule) -> Result<Schedule, Error> {
    if !fuse::pays(problem, limits) {
        return Ok(usual);
    }
    let apart = chained(problem, limits, Ways { apart: true, ..Ways::default() })?.finish();
    let both = [&apart, &usual].map(|schedule| cost(schedule, problem, limits));
    let gains = matches!(both, [Some((x, 1..)), Some((y, _))] if x < y);
    Ok(if gains { apart } else { usual })
}

/// Two passes that share a dimension, if there are some within the cap.
fn by_bridge(problem: &Problem, limits: &Limits, own: Dim) -> Option<Schedule> {
    let mut chain = Chain::new(problem, limits, Ways::default());
    let found = chain.bridged(own).then(|| chain.finish())?;
    let (_, needed) = found.workspace(problem.precision);
    problem.max_workspace.is_none_or(|cap| needed <= cap).then_some(found)
}

/// Other schedules than the one that is expected to take the least, for whoever can time them.
pub(crate) fn others(problem: &Problem, limits: &Limits) -> Vec<Schedule> {
    let Ok(problem) = problem.clone().validated() else { return Vec::new() };
    if problem.max_workspace.is_some() {
        return Vec::new();
    }
    let problem = windows::told_apart(problem);
    let by = |ways| chained(&problem, limits, ways).map(Chain::finish).ok();
    let own: Vec<Schedule> = match problem.kind {
        Kind::RealToComplex(own) | Kind::ComplexToReal(own) => {
            let nth = |at| Ways { parting: Parting::Nth(at), ..Ways::default() };
            let parted = (0..MOST_PARTED).filter_map(|at| by(nth(at)));
            by_bridge(&problem, limits, own).into_iter().chain(parted).collect()
        }
        Kind::RealToReal(_) => by(Ways { apart: true, ..Ways::default() }).into_iter().collect(),
        Kind::Complex | Kind::Zoom(_) => return Vec::new(),
    };
    let mut all: Vec<Schedule> = Vec::new();
    for other in by(Ways::default()).into_iter().chain(own) {
        // What is one pass has none to share.
        if other.passes.len() > 1 && !all.contains(&other) {
            all.push(other);
        }
    }
    all
}

/// The schedule whose long lines are parted by the plans of both passes; `None`: they are no such plans.
pub(crate) fn by_parts(problem: &Problem, limits: &Limits, plans: &[Plan]) -> Option<Schedule> {
    let [Plan::Split(parts)] = plans else { return None };
    let problem = windows::told_apart(problem.clone().validated().ok()?);
    let ways = Ways { parting: Parting::By(parts), ..Ways::default() };
    let schedule = chained(&problem, limits, ways).ok()?.finish();
    let needed = schedule.workspace(problem.precision).1;
    problem.max_workspace.is_none_or(|cap| needed <= cap).then_some(schedule)
}
