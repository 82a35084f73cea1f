//! How a pass is cut into tiles: threads of a block, and how much of each repeated dimension a tile holds.

use crate::cost::Model;
use crate::pass::Pass;
use crate::planner::max_points;
use crate::target::{Api, Limits};

/// The tile of one block.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tile {
    /// Threads of the block.
    pub threads: u32,
    /// Indices of each repeated dimension that the tile holds.
    pub batch: Vec<u64>,
}

impl Tile {
    /// Elements of the tile, with an axis's padding.
    pub fn elements(&self, pass: &Pass) -> u64 {
        let points: u64 = pass.axes.iter().map(|axis| axis.method.points()).product();
        points * self.batch.iter().product::<u64>()
    }

    /// Blocks that the pass launches.
    pub fn blocks(&self, pass: &Pass) -> u64 {
        pass.batch.iter().zip(&self.batch).map(|(dim, &count)| dim.n.div_ceil(count)).product()
    }
}

/// A tile and what the cost model thinks of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The tile.
    pub tile: Tile,
    /// Copies.
    pub cost: f64,
}

/// Transforms a tile may hold.
const BATCHES: [u64; 26] =
    [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 64, 96, 128, 192, 256, 384, 512, 1024];

/// The cheapest tile; `None` where no tile fits the device.
pub fn choose(pass: &Pass, limits: &Limits) -> Option<Choice> {
    cheapest(pass, limits).or_else(|| {
        let choice = cheapest(pass, &crowded(limits)?)?;
        Some(Choice { cost: choice.cost + SPILLED, ..choice })
    })
}

/// Copies that a kernel costs beyond the model's count when the driver has to keep values in memory.
const SPILLED: f64 = 1.0;

/// Limits for passes that need more registers than a driver is sure to have. WGSL names no number of registers: its
/// compilers make room by themselves, so that such a kernel is slow, but there is one. In double precision with
/// 128 registers, the radices from 19 on need this.
fn crowded(limits: &Limits) -> Option<Limits> {
    let wgsl = matches!(limits.api, Api::Wgsl { .. });
    let registers_per_sm = limits.registers_per_sm.saturating_mul(4);
    wgsl.then(|| Limits { registers_per_thread: 512, registers_per_sm, ..limits.clone() })
}

fn cheapest(pass: &Pass, limits: &Limits) -> Option<Choice> {
    let points: u64 = pass.axes.iter().map(|axis| axis.method.points()).product();
    let most = max_points(limits, pass.precision);
    let mut best: Option<Choice> = None;
    let mut seen = Vec::new();
    for wanted in BATCHES {
        let batch = spread(pass, wanted);
        let held: u64 = batch.iter().product();
        if points * held > most || seen.contains(&batch) {
            continue;
        }
        let model = Model::new(pass, &batch, limits);
        for threads in thread_counts(pass, points * held, limits) {
            let Some(cost) = model.copies(threads) else { continue };
            if best.as_ref().is_none_or(|b| cost < b.cost) {
                best = Some(Choice { tile: Tile { threads, batch: batch.clone() }, cost });
            }
        }
        seen.push(batch);
    }
    best
}

/// Spreads a number of transforms over the repeated dimensions, those with the shortest steps first: whole
/// dimensions, then a part of one.
fn spread(pass: &Pass, wanted: u64) -> Vec<u64> {
    let mut order: Vec<usize> = (0..pass.batch.len()).collect();
    order.sort_by_key(|&d| {
        let dim = &pass.batch[d];
        (dim.is.unsigned_abs().min(dim.os.unsigned_abs()), dim.is.unsigned_abs().max(dim.os.unsigned_abs()))
    });
    let mut counts = vec![1; pass.batch.len()];
    let mut rest = wanted;
    for d in order {
        let n = pass.batch[d].n;
        counts[d] = n.min(rest);
        if n > rest {
            break;
        }
        rest /= n;
    }
    counts
}

/// Thread counts that divide some stage's groups evenly, or nearly.
fn thread_counts(pass: &Pass, elements: u64, limits: &Limits) -> Vec<u32> {
    let mut groups: Vec<u64> = Vec::new();
    for axis in &pass.axes {
        let stages = axis.method.stages();
        let rest = elements / axis.method.points();
        groups.extend(stages.iter().map(|stage| rest * stage.points / u64::from(stage.radix)));
    }
    if groups.is_empty() {
        groups.push(elements);
    }
    groups.sort_unstable();
    groups.dedup();
    let mut counts: Vec<u32> = groups
        .iter()
        .flat_map(|&groups| (1..=16).map(move |slots| groups.div_ceil(slots)))
        .filter(|&threads| (1..=u64::from(limits.max_threads)).contains(&threads))
        .map(|threads| threads as u32)
        .collect();
    counts.sort_unstable();
    counts.dedup();
    counts
}
