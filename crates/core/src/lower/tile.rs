//! How a pass is cut into tiles: threads of a block, and how much of each repeated dimension a tile holds.

mod pairs;

use std::num::NonZeroU32;

use crate::cost::{self, Model};
use crate::lower::{halves, places};
use crate::pass::{Axis, Method, Pass, PassDim};
use crate::planner::{max_alone, max_convolution, max_points};
use crate::target::{Api, Limits};

pub(crate) use pairs::{Pair, Search, pairs};

/// The tile of one block, or of the blocks of one cluster.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tile {
    /// Threads of a block.
    pub threads: u32,
    /// Blocks that hold the tile together.
    pub cluster: u32,
    /// Indices of each repeated dimension that the tile holds.
    pub batch: Vec<u64>,
    /// Blocks for which a multiprocessor is to have registers, where that is not left to the cost model. Of two passes in one
    /// launch the first one's tile says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resident: Option<NonZeroU32>,
}

impl Tile {
    /// A tile of so many threads, with as many blocks on a multiprocessor as the cost model says.
    pub fn new(threads: u32, cluster: u32, batch: Vec<u64>) -> Self {
        Self { threads, cluster, batch, resident: None }
    }

    /// Elements of the tile, with an axis's padding.
    pub fn elements(&self, pass: &Pass) -> u64 {
        let points: u64 = pass.axes.iter().map(|axis| axis.method.points()).product();
        points * self.batch.iter().product::<u64>()
    }

    /// Blocks that the pass launches.
    pub fn blocks(&self, pass: &Pass) -> u64 {
        let tiles: u64 =
            pass.batch.iter().zip(&self.batch).map(|(dim, &count)| dim.n.div_ceil(count)).product();
        tiles * u64::from(self.cluster)
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

/// A transform of less than this part of what a block holds needs no cluster, however wide its rows.
const ALONE: u64 = 16;

/// Transforms a tile may hold.
const BATCHES: [u64; 26] =
    [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 64, 96, 128, 192, 256, 384, 512, 1024];

/// Neighbours of the input that a tile may hold, where those of the output are others.
const RUNS: [u64; 4] = [2, 4, 8, 16];

/// The cheapest tile; `None` where no tile fits the device.
pub fn choose(pass: &Pass, limits: &Limits) -> Option<Choice> {
    cheapest(pass, limits).or_else(|| {
        let choice = cheapest(pass, &crowded(limits)?)?;
        Some(Choice { cost: choice.cost + SPILLED, ..choice })
    })
}

/// Copies that a kernel costs beyond the model's count when the driver has to keep values in memory.
const SPILLED: f64 = 1.0;

/// Limits for passes that need more registers than a driver is sure to have. WGSL and OpenCL C name no number of
/// registers: their compilers make room by themselves, so that such a kernel is slow, but there is one. In double precision with
/// 128 registers, the radices from 19 on need this.
fn crowded(limits: &Limits) -> Option<Limits> {
    let unnumbered = matches!(limits.api, Api::Wgsl { .. } | Api::OpenCl);
    let registers_per_sm = limits.registers_per_sm.saturating_mul(4);
    unnumbered.then(|| Limits { registers_per_thread: 512, registers_per_sm, ..limits.clone() })
}

fn cheapest(pass: &Pass, limits: &Limits) -> Option<Choice> {
    let mut best: Option<Choice> = None;
    each(pass, limits, |threads, cluster, batch, cost| {
        if best.as_ref().is_none_or(|b| cost < b.cost) {
            best = Some(Choice { tile: Tile::new(threads, cluster, batch.to_vec()), cost });
        }
    });
    best
}

/// Every tile that fits the device among those that are looked at, the cheapest first.
pub(crate) fn all(pass: &Pass, limits: &Limits) -> Vec<Choice> {
    let mut found = Vec::new();
    each(pass, limits, |threads, cluster, batch, cost| {
        found.push(Choice { tile: Tile::new(threads, cluster, batch.to_vec()), cost });
    });
    found.sort_by(|x, y| x.cost.total_cmp(&y.cost));
    found
}

/// Looks at the tiles of a pass that fit the device: threads, blocks, transforms, and what the model makes of them.
fn each(pass: &Pass, limits: &Limits, mut visit: impl FnMut(u32, u32, &[u64], f64)) {
    let points: u64 = pass.axes.iter().map(|axis| axis.method.points()).product();
    let (most, alone) = (most_points(pass, limits), most_alone(pass, limits));
    // Rows of several lines by other numbers of blocks than powers of two start anywhere in lines of memory.
    let columns = pass.axes.iter().any(|axis| axis.dim.is.abs().max(axis.dim.os.abs()) > 1);
    for cluster in sizes(pass, limits) {
        let mut seen = Vec::new();
        for wanted in BATCHES {
            let spreads = spreads(pass, wanted);
            let held = points * spreads[0].iter().product::<u64>();
            let room = if held == points { alone } else { most };
            if held / u64::from(cluster) > room {
                break;
            }
            // What one block holds with ease needs no others.
            let small = cluster > 1 && (held <= most / 4 || points < most / ALONE);
            for batch in spreads {
                let several = batch.iter().any(|&held| held > 1);
                if small || seen.contains(&batch) || (several && !cluster.is_power_of_two() && !columns) {
                    continue;
                }
                let held = points * batch.iter().product::<u64>();
                if let Some(model) = Model::new(pass, &batch, cluster, limits) {
                    for threads in thread_counts(pass, held / u64::from(cluster), limits) {
                        if let Some(cost) = model.copies(threads) {
                            visit(threads, cluster, &batch, cost);
                        }
                    }
                }
                seen.push(batch);
            }
        }
    }
}

/// A tile that was chosen elsewhere, with what the model makes of it; `None`: it is none that the search could come to with
/// other numbers of transforms to try, or it does not fit the device.
pub fn assess(pass: &Pass, tile: &Tile, limits: &Limits) -> Option<Choice> {
    let Tile { threads, cluster, batch, resident } = tile;
    let fits = |(dim, &held): (&PassDim, &u64)| (1..=dim.n).contains(&held);
    if batch.len() != pass.batch.len() || !pass.batch.iter().zip(batch).all(fits) {
        return None;
    }
    let parted = pass.batch.iter().zip(batch).filter(|(dim, _)| !dim.whole);
    let wanted = parted.map(|(_, &held)| held).try_fold(1, u64::checked_mul)?;
    let points: u64 = pass.axes.iter().map(|axis| axis.method.points()).product();
    let held = batch.iter().try_fold(points, |all, &held| all.checked_mul(held))?;
    let own = held / u64::from((*cluster).max(1));
    let room = if held == points { most_alone(pass, limits) } else { most_points(pass, limits) };
    let known = sizes(pass, limits).contains(cluster)
        && spreads(pass, wanted).contains(batch)
        && own <= room
        && thread_counts(pass, own, limits).contains(threads)
        && (resident.is_none() || cost::occupancy(pass, tile, limits).is_some());
    let copies = |limits: &Limits| Model::new(pass, batch, *cluster, limits)?.copies(*threads);
    let spilled = || Some(copies(&crowded(limits)?)? + SPILLED);
    let cost = known.then(|| copies(limits).or_else(spilled))??;
    Some(Choice { tile: tile.clone(), cost })
}

/// Points of the largest tile of a pass that a block can hold.
fn most_points(pass: &Pass, limits: &Limits) -> u64 {
    let alone =
        |axis: &Axis| matches!(&axis.method, Method::Coprime(parts) if places::alone(parts).is_some());
    let in_place = pass.axes.iter().any(alone) || halves::halved(pass);
    let most = if in_place { max_convolution } else { max_points };
    most(limits, pass.precision)
}

/// Points of a pass that a block can hold if its tile is one transform.
fn most_alone(pass: &Pass, limits: &Limits) -> u64 {
    most_points(pass, limits).max(max_alone(limits, pass.precision))
}

/// Blocks that may hold a tile together on the device, whatever its shape.
pub fn cluster_sizes(limits: &Limits) -> impl Iterator<Item = u32> + use<> {
    line_cluster_sizes(limits).filter(|size| size.is_power_of_two())
}

/// Blocks that may hold a line together on the device.
pub fn line_cluster_sizes(limits: &Limits) -> impl Iterator<Item = u32> + use<> {
    1..=if limits.bulk_copy { limits.max_cluster.max(1) } else { 1 }
}

/// Blocks that may hold a tile of a pass together: numbers that are no powers of two for a line that has such a radix twice,
/// and for several dimensions of which two have one that is a multiple.
fn sizes(pass: &Pass, limits: &Limits) -> Vec<u32> {
    let digits = |axis: &Axis, fits: &dyn Fn(u32) -> bool| {
        axis.method.radices().iter().filter(|&&radix| fits(radix)).count()
    };
    let twice = |size: u32| match &pass.axes[..] {
        [line] => digits(line, &|radix| radix == size) > 1,
        axes => {
            let folds = pass.ends.iter().any(Option::is_some);
            let with = axes.iter().filter(|axis| digits(axis, &|radix| radix.is_multiple_of(size)) > 0);
            !folds && with.count() > 1
        }
    };
    if halves::halved(pass) {
        return line_cluster_sizes(limits).filter(|&size| halves::fit(pass, size)).collect();
    }
    line_cluster_sizes(limits)
        .filter(|&size| size == 1 || (pass.takes_cluster() && (size.is_power_of_two() || twice(size))))
        .collect()
}

/// Spreads a number of transforms over the repeated dimensions, those with the shortest steps first: whole
/// dimensions, then a part of one. What must be held whole is not counted.
fn spread(pass: &Pass, wanted: u64) -> Vec<u64> {
    let mut order: Vec<usize> = (0..pass.batch.len()).collect();
    order.sort_by_key(|&d| {
        let dim = &pass.batch[d];
        (dim.is.unsigned_abs().min(dim.os.unsigned_abs()), dim.is.unsigned_abs().max(dim.os.unsigned_abs()))
    });
    let mut counts: Vec<u64> = pass.batch.iter().map(|dim| if dim.whole { dim.n } else { 1 }).collect();
    let mut rest = wanted;
    for d in order.into_iter().filter(|&d| !pass.batch[d].whole) {
        let n = pass.batch[d].n;
        counts[d] = n.min(rest);
        if n > rest {
            break;
        }
        rest /= n;
    }
    counts
}

/// The ways to spread a number of transforms that are tried: [`spread`], and where the shortest steps of the input are those
/// of another dimension than the output's, so many of each, so that a tile reads and writes runs.
fn spreads(pass: &Pass, wanted: u64) -> Vec<Vec<u64>> {
    let shortest = |stride: fn(&PassDim) -> i64| {
        let parted = pass.batch.iter().enumerate().filter(|(_, dim)| !dim.whole && dim.n > 1);
        parted.min_by_key(|(_, dim)| stride(dim).unsigned_abs()).map(|(d, _)| d)
    };
    let mut all = vec![spread(pass, wanted)];
    let (Some(read), Some(written)) = (shortest(|dim| dim.is), shortest(|dim| dim.os)) else { return all };
    if read == written {
        return all;
    }
    if pass.puts_in_order() && pass.batch[written].n <= wanted / 2 {
        // All of a short row, and as many of these as make long runs of what is read.
        let mut counts = vec![1; pass.batch.len()];
        counts[written] = pass.batch[written].n;
        counts[read] = (1 << (wanted / counts[written]).ilog2()).min(pass.batch[read].n);
        all.push(counts);
    }
    let whole = |own: u64| wanted.is_multiple_of(own) && own < wanted;
    for own in RUNS.into_iter().filter(|&own| whole(own)) {
        let mut counts: Vec<u64> = pass.batch.iter().map(|dim| if dim.whole { dim.n } else { 1 }).collect();
        counts[read] = own.min(pass.batch[read].n);
        counts[written] = (wanted / own).min(pass.batch[written].n);
        // Otherwise it is what a smaller number comes to.
        if counts[read] == own && counts[written] == wanted / own && !all.contains(&counts) {
            all.push(counts);
        }
    }
    all
}

/// Thread counts that divide some stage's groups evenly, or nearly.
fn thread_counts(pass: &Pass, elements: u64, limits: &Limits) -> Vec<u32> {
    let mut groups: Vec<u64> = Vec::new();
    for axis in &pass.axes {
        let (stages, points) = (axis.method.stages(), axis.method.points());
        groups.extend(stages.iter().map(|stage| elements * stage.points / points / u64::from(stage.radix)));
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
