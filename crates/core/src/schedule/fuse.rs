//! Two passes in a row in one launch, with what lies between them in a ring of slots that stays in the cache.

use serde::{Deserialize, Serialize};

use crate::lower::fused::{COUNTER_WORDS, Ring};
use crate::lower::tile::{self, Choice, Search};
use crate::pass::{Array, Operand, Pass};
use crate::problem::{Problem, Storage};
use crate::target::Limits;

use super::Schedule;
use pair::{Pair, across, folded, per_complex, seen};

pub(crate) use offer::{Offer, asked, offers};

mod offer;
mod pair;
mod together;

/// Two passes that share a launch, and the ring between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fuse {
    /// The first of the two passes.
    pub first: usize,
    /// Slots of the ring, each for one item: what both passes do by itself, a transform or a volume.
    pub slots: u32,
    /// Items that the first pass is ahead of the second.
    pub ahead: u32,
    /// Indices of a dimension that make an item: of one that both passes are repeated over, and whose results lie side by side.
    #[serde(default = "alone", skip_serializing_if = "is_alone")]
    pub together: u64,
    /// Whether tiles of both passes take turns where both are under way, and not all of an item's in one pass come first. Who
    /// gains by it, only time tells: docs/notes/fused-passes.md.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub woven: bool,
}

const fn alone() -> u64 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
const fn is_alone(together: &u64) -> bool {
    *together == 1
}

/// Slots up to which tiles of the first pass may well have to wait for theirs. Waiting early was seen to gain there if
/// factors lie between the passes (4% at 2^20), and to lose 1 or 2% elsewhere.
const FEW_SLOTS: u32 = 3;

/// Whether there is anything to gain: what is small stays in the cache by itself.
pub(super) fn pays(problem: &Problem, limits: &Limits) -> bool {
    2 * problem.elements() * problem.precision.complex_bytes() > limits.l2_bytes
}

/// The schedule with those pairs fused that are expected to gain by it.
pub(crate) fn cheapest(
    mut schedule: Schedule,
    mut choices: Vec<Choice>,
    problem: &Problem,
    limits: &Limits,
) -> (Schedule, Vec<Choice>) {
    if !pays(problem, limits) {
        return (schedule, choices);
    }
    let mut next = 0;
    for offer in offers(&schedule, problem, limits, Search::Likely) {
        let at = offer.fuse.first;
        let apart = choices[at].cost + choices[at + 1].cost;
        if at >= next && offer.cost() < apart {
            next = at + 2;
            (schedule, choices) = apply(schedule, choices, offer, problem);
        }
    }
    (schedule, choices)
}

/// The schedule with the cheapest tiles, and with those pairs fused that are expected to gain by it; `None` where a pass has no
/// tile.
pub(crate) fn tiled(
    schedule: Schedule,
    problem: &Problem,
    limits: &Limits,
) -> Option<(Schedule, Vec<Choice>)> {
    let choices = schedule.passes.iter().map(|pass| tile::choose(pass, limits)).collect::<Option<_>>()?;
    Some(cheapest(schedule, choices, problem, limits))
}

/// Copies of so many elements that passes with these tiles take.
pub(crate) fn copies(passes: &[Pass], choices: &[Choice], elements: u64) -> f64 {
    let weighed = |(choice, pass): (&Choice, &Pass)| choice.cost * pass.elements() as f64 / elements as f64;
    choices.iter().zip(passes).map(weighed).sum()
}

/// The schedule with one more pair fused.
pub(crate) fn apply(
    mut schedule: Schedule,
    mut choices: Vec<Choice>,
    offer: Offer,
    problem: &Problem,
) -> (Schedule, Vec<Choice>) {
    let Fuse { first, slots, ahead, together, woven } = offer.fuse;
    let passes = [&schedule.passes[first], &schedule.passes[first + 1]];
    let whole = Pair::of(passes, problem);
    let Some((passes, pair)) = whole.and_then(|whole| whole.grouped(passes, together, problem)) else {
        return (schedule, choices);
    };
    let bytes = problem.precision.complex_bytes();
    let counters = u64::from(COUNTER_WORDS * (2 * slots + 1)) * 4 / bytes;
    let span = u64::from(slots) * pair.slot();
    // Regions count complex elements, and so does the ring.
    let slot = pair.slot() / per_complex(pair.format);
    let region = schedule.regions.len() as u8;
    schedule.regions.extend([u64::from(slots) * slot, counters]);
    let array = Array::Workspace(region);
    let between =
        Operand { array, format: pair.format, offset: 0, span, storage: Storage::of(problem.precision) };
    let [mut a, mut b] = passes;
    for (pass, methods) in [&mut a, &mut b].into_iter().zip(offer.methods) {
        pass.axes.iter_mut().zip(methods).for_each(|(axis, method)| axis.method = method);
    }
    (a.dst, b.src) = (between, between);
    let refold = |pass: &mut Pass, end: usize| {
        // An axis that folds counts its points in the block's own array.
        let fold = pass.ends[end].as_mut();
        fold.map_or((0, false), |fold| {
            let (n, stride) = folded(fold, end);
            fold.stride = pair.stride((n, stride), false);
            (1, fold.twins(end == 1))
        })
    };
    let [(skipped_a, twins_a), (skipped_b, twins_b)] = [refold(&mut a, 1), refold(&mut b, 0)];
    for (pass, end, skipped, twins) in [(&mut a, 1, skipped_a, twins_a), (&mut b, 0, skipped_b, twins_b)] {
        let axes = pass.axes.len() - skipped;
        let held = pass.axes[..axes].iter().map(|axis| seen(pass, axis, end));
        let held = held.chain((0..pass.batch.len()).map(|d| across(pass, d, end)));
        let strides: Vec<i64> = held.map(|dim| pair.stride(dim, twins)).collect();
        let shown = pass.windows[end].iter().map(|window| pair.stride((window.len, window.stride), twins));
        let shown: Vec<i64> = shown.collect();
        let dims = pass.axes[..axes].iter_mut().map(|axis| &mut axis.dim).chain(&mut pass.batch);
        for (dim, stride) in dims.zip(strides) {
            *(if end == 1 { &mut dim.os } else { &mut dim.is }) = stride;
        }
        if let Some(images) = pass.rows_in_pairs(end == 1) {
            images.place(&mut pass.batch, end == 1);
        }
        for (window, stride) in pass.windows[end].iter_mut().zip(shown) {
            window.stride = stride;
        }
    }
    (schedule.passes[first], schedule.passes[first + 1]) = (a, b);
    let [one, two] = offer.tiles;
    (choices[first], choices[first + 1]) = (one, two);
    // A fold waits for its slot by itself.
    let writer = &schedule.passes[first];
    let early = slots <= FEW_SLOTS && writer.twiddle.is_some() && writer.ends[1].is_none();
    let ring = Ring { slots, ahead, slot, counters: region + 1, early, woven };
    schedule.fused.push((offer.fuse, ring));
    drop_unused(&mut schedule);
    (schedule, choices)
}

/// Drops regions of the workspace that nothing lies in any more.
fn drop_unused(schedule: &mut Schedule) {
    let mut used = vec![false; schedule.regions.len()];
    let operands = schedule.passes.iter().flat_map(|pass| [pass.src, pass.dst]);
    let arrays = operands.map(|operand| operand.array);
    let counters = schedule.fused.iter().map(|(_, ring)| Array::Workspace(ring.counters));
    for array in arrays.chain(counters) {
        if let Array::Workspace(region) = array {
            used[usize::from(region)] = true;
        }
    }
    let before = |region: u8| used[..usize::from(region)].iter().filter(|&&used| used).count() as u8;
    for pass in &mut schedule.passes {
        for side in [&mut pass.src, &mut pass.dst] {
            if let Array::Workspace(region) = side.array {
                side.array = Array::Workspace(before(region));
            }
        }
    }
    for (_, ring) in &mut schedule.fused {
        ring.counters = before(ring.counters);
    }
    schedule.renumber_detours(|region| used[usize::from(region)].then(|| before(region)));
    let mut keep = used.iter();
    schedule.regions.retain(|_| keep.next().is_some_and(|&used| used));
}
