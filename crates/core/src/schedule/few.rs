//! Few transforms, each held by the blocks of a cluster. Sixteen blocks leave most multiprocessors idle, and their large tiles go
//! through one phase after the other; two passes share the transform out to all. Where there are many one pass moves half as much.

use crate::cost::launch_part;
use crate::lower::tile::{self, Choice, Tile};
use crate::pass::Pass;
use crate::planner::Planner;
use crate::problem::Problem;
use crate::target::Limits;

use super::{Schedule, with};

/// Part of the time of several passes over next to nothing that is less than is expected of each, as launches overlap. On an H200 65536
/// points alone were expected to take 1.9 copies in one pass and 2.9 in two, and take 5.8 and 4.7 us; 131072 points 2.8 and 3.0, and take
/// 9.5 and 5.1; 32 x 32 x 32 doubles 1.8 and 2.4, and take 5.5 and 4.3 (docs/notes/clusters.md).
const OVERLAPPED: f64 = 0.36;

/// Copies that clusters add to such a pass.
const CLUSTER: f64 = 0.45;

/// Bytes of a block's tile from which on it is large: 24 x 24 x 24 by twelve blocks of 9 KB takes 3.1 us and 3.5 in two passes, 40000
/// points by ten of 31 KB 5.4 and 4.6. Nothing between was timed.
const LARGE: u64 = 30 << 10;

/// What several passes are expected to take of the sum of all, in place of one pass by such a tile: less where it is one of
/// few large ones that clusters hold.
pub(super) fn overlapped(problem: &Problem, pass: &Pass, tile: &Tile, limits: &Limits) -> f64 {
    let own = tile.elements(pass) / u64::from(tile.cluster) * problem.precision.complex_bytes();
    let few = tile.cluster > 1 && tile.blocks(pass) <= u64::from(limits.multiprocessors) && own >= LARGE;
    if few { 1.0 - OVERLAPPED * launch_of(problem) } else { 1.0 }
}

/// Part of a copy that is its launch.
fn launch_of(problem: &Problem) -> f64 {
    launch_part(2 * problem.elements() * problem.precision.complex_bytes())
}

/// The schedule, or the cheapest that takes few long rows in several passes. Between these every point is moved, whatever windows
/// leave out, so with windows it is the schedule. Columns were not timed.
pub(super) fn in_passes(
    problem: &Problem,
    limits: &Limits,
    planner: &Planner<'_>,
    schedule: Schedule,
) -> Schedule {
    let ([line], [pass]) = (&problem.transform[..], &schedule.passes[..]) else { return schedule };
    let Some(Choice { tile, cost: alone }) = tile::choose(pass, limits) else { return schedule };
    let together = overlapped(problem, pass, &tile, limits);
    let row = [line.is, line.os].iter().all(|stride| stride.unsigned_abs() == 1);
    if !row || together == 1.0 || problem.is_windowed() {
        return schedule;
    }
    let clusters = CLUSTER * launch_of(problem);
    let own = |choice: Choice| choice.cost + if choice.tile.cluster > 1 { clusters } else { 0.0 };
    let cost = |other: &Schedule| {
        let choices = other.passes.iter().map(|pass| tile::choose(pass, limits));
        let all: Option<f64> = choices.map(|choice| choice.map(own)).sum();
        all.map(|copies| copies * together)
    };
    let allowed = |other: &Schedule| {
        let (_, needed) = other.workspace(problem.precision);
        problem.max_workspace.is_none_or(|allowed| needed <= allowed)
    };
    let plans = planner.in_passes(line.n).into_iter();
    let others = plans.filter_map(|plan| with(problem, limits, planner, vec![plan]).ok()).filter(allowed);
    let costed = others.filter_map(|other| Some((cost(&other)?, other))).filter(|(cost, _)| *cost < alone);
    costed.min_by(|(a, _), (b, _)| a.total_cmp(b)).map_or(schedule, |(_, other)| other)
}
