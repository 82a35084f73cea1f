//! Copies of plans in several passes: the passes themselves are priced, because how long the rows of each part are, and
//! with which bytes of memory's lines they start, is up to the other parts.

use crate::plan::Plan;
use crate::problem::Precision;
use crate::request::Fft;
use crate::schedule::{self, fuse};
use crate::target::Limits;

/// Copies of the factors between passes, for each of them.
const BETWEEN: f64 = 0.06;

/// What a way that puts frequencies in order by a pass of its own has to win by: where less was expected, 23524 points took 1.08 of
/// what they take on the chip, and 35356 doubles 1.07 of what they take by a convolution in passes.
const CLEARLY: f64 = 1.08;

/// Copies of the passes of a plan over one packed array, in one launch or several.
pub(super) fn of_passes(plan: &Plan, limits: &Limits, precision: Precision) -> Option<f64> {
    let n = plan.len();
    let batch = ((1_u64 << 26) / n).max(1);
    let problem = Fft::new([n]).batch(batch).precision(precision).build().ok()?;
    let schedule = schedule::suited(&problem, limits, vec![plan.clone()]).ok()?;
    let (schedule, choices) = fuse::tiled(schedule, &problem, limits)?;
    let launches = schedule.passes.len() - schedule.fused.len();
    let copies = choices.iter().map(|choice| choice.cost).sum::<f64>() + BETWEEN * launches as f64;
    Some(if plan.puts_in_order() { CLEARLY * copies } else { copies })
}
