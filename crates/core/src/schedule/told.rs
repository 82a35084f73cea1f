//! Schedules by plans that are told, as recipes tell them.

use crate::cost::Ends;
use crate::error::Error;
use crate::plan::Plan;
use crate::planner::Planner;
use crate::problem::{Kind, Problem};
use crate::target::Limits;

use super::{Schedule, Scheduler};

/// Schedules a problem by the given plans, one for each transform dimension, in the radices that they name.
pub(crate) fn by_plans(problem: &Problem, limits: &Limits, plans: Vec<Plan>) -> Result<Schedule, Error> {
    told(problem, limits, plans, None)
}

/// The same, with transform dimensions in groups that share a pass, the last dimensions first. By which stages dimensions come to share a
/// pass depends on those that the search had before; who knows that they do says so.
pub(crate) fn by_groups(
    problem: &Problem,
    limits: &Limits,
    plans: Vec<Plan>,
    groups: Vec<Vec<usize>>,
) -> Result<Schedule, Error> {
    told(problem, limits, plans, Some(groups))
}

fn told(
    problem: &Problem,
    limits: &Limits,
    mut plans: Vec<Plan>,
    groups: Option<Vec<Vec<usize>>>,
) -> Result<Schedule, Error> {
    if problem.kind != Kind::Complex || problem.filter.is_some() {
        return Err(Error::Recipe { detail: "plans are chosen for complex problems alone".into() });
    }
    let planner = Planner::new(limits, problem.precision).between(Ends::of(problem));
    let mut scheduler = Scheduler::new(problem, limits, &planner, false);
    match groups {
        None => scheduler.run(&mut plans)?,
        Some(groups) => scheduler.run_in(groups, &mut plans)?,
    }
    let schedule = scheduler.scheduled(plans);
    let (_, needed) = schedule.workspace(problem.precision);
    match problem.max_workspace {
        Some(allowed) if needed > allowed => Err(Error::Workspace { needed, allowed }),
        _ => Ok(schedule),
    }
}
