//! Copies of plans that keep to the data's own memory: the passes themselves are priced, because their tiles hold
//! digits whole.

use crate::lower::cluster::Cut;
use crate::lower::tile::{self, Tile};
use crate::pass::Pass;
use crate::plan::Plan;
use crate::problem::Precision;
use crate::request::Fft;
use crate::schedule;
use crate::target::Limits;

/// Copies of the passes of a plan in place, over one packed array.
pub(super) fn of_passes(plan: &Plan, limits: &Limits, precision: Precision) -> Option<f64> {
    let n = plan.len();
    let request = Fft::new([n]).batch((1_u64 << 26).div_ceil(n)).precision(precision).in_place();
    let schedule = schedule::by_plans(&request.build().ok()?, limits, vec![plan.clone()]).ok()?;
    let cost = |pass: &Pass| {
        let choice = tile::choose(pass, limits)?;
        let narrow = choice.tile.cluster > 1 && row_bytes(pass, &choice.tile)? <= 32;
        Some(choice.cost + if narrow { NARROW } else { 0.0 })
    };
    schedule.passes.iter().map(cost).sum()
}

/// Copies that a plan in place is taken to lose by a pass in clusters whose rows are one sector: prototypes took 1.35
/// with two sectors, and one more pass of longer rows is the safer choice until such passes have been timed.
const NARROW: f64 = 0.25;

/// Bytes of the shorter of the rows that a tile reads and writes; `None` where the cluster cannot hold it.
fn row_bytes(pass: &Pass, tile: &Tile) -> Option<u64> {
    let (digits, cut) = Cut::of_tile(pass, tile)?;
    let row =
        |block: Option<usize>, strides: &[i64]| digits.run(&digits.by_stride(&[block], strides), strides);
    let read = row(cut.map(|cut| cut.before), &digits.weights(|digit| digit.is));
    let written = row(cut.map(|cut| cut.after), &digits.weights(|digit| digit.os));
    Some(read.min(written) * pass.precision.complex_bytes())
}
