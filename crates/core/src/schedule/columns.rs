//! Columns that one pass takes badly. A block holds a row of 16384 points, but not so many columns of them that it reads and
//! writes whole sectors: one column at a time takes eight copies, where two passes over shorter columns take little over two.

use crate::lower::tile;
use crate::pass::Pass;
use crate::planner::Planner;
use crate::problem::Problem;
use crate::target::Limits;

use super::{Schedule, with};

/// Copies beyond which several passes instead of one are considered.
const BADLY: f64 = 2.0;

/// Copies that several passes have to save: they take workspace, and the model is not surer.
const CLEARLY: f64 = 0.95;

/// Whether a pass goes over columns of which a block holds too few for whole pieces of memory.
pub(super) fn are_long(pass: &Pass, planner: &Planner<'_>) -> bool {
    let [axis] = &pass.axes[..] else { return false };
    let step = axis.dim.is.unsigned_abs().min(axis.dim.os.unsigned_abs());
    step > 1 && axis.dim.n > planner.max_column_points()
}

/// The schedule, or the cheapest that takes such columns in several passes. Between these every point is moved, whatever windows
/// leave out, so with windows it is the schedule.
pub(super) fn in_passes(
    problem: &Problem,
    limits: &Limits,
    planner: &Planner<'_>,
    mut schedule: Schedule,
) -> Schedule {
    if problem.is_windowed() {
        return schedule;
    }
    for d in 0..problem.transform.len() {
        let Some(alone) = copies_of(d, &schedule, planner, limits).filter(|&copies| copies > BADLY) else {
            continue;
        };
        let Some(before) = copies(&schedule, limits) else { continue };
        let mut least = before - (1.0 - CLEARLY) * alone;
        for plan in planner.in_passes(problem.transform[d].n) {
            let mut plans = schedule.plans.clone();
            plans[d] = plan;
            // What cannot be scheduled so has its one pass.
            let Ok(other) = with(problem, limits, planner, plans) else { continue };
            let (_, needed) = other.workspace(problem.precision);
            let allowed = problem.max_workspace.is_none_or(|allowed| needed <= allowed);
            if let Some(cost) = copies(&other, limits).filter(|&cost| allowed && cost < least) {
                (least, schedule) = (cost, other);
            }
        }
    }
    schedule
}

/// Copies of the pass that takes a dimension's long columns alone, if one does.
fn copies_of(d: usize, schedule: &Schedule, planner: &Planner<'_>, limits: &Limits) -> Option<f64> {
    let whole = |pass: &&Pass| schedule.plans[d].passes() == 1 && pass.axes[0].dim.of == Some(d as u16);
    let pass = schedule.passes.iter().filter(|pass| are_long(pass, planner)).find(whole)?;
    tile::choose(pass, limits).map(|choice| choice.cost)
}

fn copies(schedule: &Schedule, limits: &Limits) -> Option<f64> {
    schedule.passes.iter().map(|pass| tile::choose(pass, limits).map(|choice| choice.cost)).sum()
}
