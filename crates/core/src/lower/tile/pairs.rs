//! Tiles for two passes that share a launch: blocks of as many threads, of which each pass has its own tile.

use std::collections::{BTreeMap, BTreeSet};

use crate::cost::fused::Body;
use crate::cost::{self, Model};
use crate::pass::Pass;
use crate::target::Limits;

use super::{BATCHES, Choice, Tile, spread, thread_counts};

/// Tiles for two passes in one launch.
#[derive(Debug, Clone)]
pub(crate) struct Pair {
    /// Which version of each pass.
    pub versions: [usize; 2],
    /// A tile of each, of the same number of threads.
    pub tiles: [Choice; 2],
    /// Blocks that a multiprocessor holds.
    pub resident: u32,
}

impl Pair {
    /// Copies of both passes, before what the ring between them saves.
    pub fn cost(&self) -> f64 {
        self.tiles.iter().map(|choice| choice.cost).sum()
    }
}

/// Which ways for two passes to share a launch are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Search<'a> {
    /// Those that the model would take.
    Likely,
    /// All that somebody might time.
    Wide,
    /// Those with the threads and the transforms of these tiles.
    Of([&'a Tile; 2]),
}

impl Search<'_> {
    /// Pairs of tiles at most.
    pub const fn pairs(self) -> usize {
        match self {
            Self::Likely => 6,
            Self::Wide => 64,
            Self::Of(_) => 1,
        }
    }

    /// Whether a tile of the first pass or the second is one of those.
    fn takes(self, pass: usize, threads: u32, batch: &[u64]) -> bool {
        match self {
            Self::Likely | Self::Wide => true,
            Self::Of(tiles) => tiles[pass].threads == threads && tiles[pass].batch == batch,
        }
    }
}

/// The cheapest tiles for two passes in one launch for each number of threads, or the cheapest few, each pass in one of its
/// versions: the cheapest pair first. A tile holds one index only of the repeated dimensions named for its pass.
pub(crate) fn pairs(
    passes: [&[Pass]; 2],
    alone: [&[usize]; 2],
    limits: &Limits,
    search: Search<'_>,
) -> Vec<Pair> {
    let [first, second] = [0, 1].map(|i| {
        let takes = |threads, batch: &[u64]| search.takes(i, threads, batch);
        by_threads(passes[i], alone[i], limits, search == Search::Likely, takes)
    });
    let by_cost = |x: &Pair, y: &Pair| x.cost().total_cmp(&y.cost());
    let cheapest = |(threads, ones): (u32, Vec<Part>)| {
        let Some(others) = second.get(&threads) else { return Vec::new() };
        let both = ones.iter().flat_map(|one| others.iter().map(move |other| one.beside(other, limits)));
        if search == Search::Likely {
            return both.min_by(by_cost).into_iter().collect();
        }
        let mut all: Vec<Pair> = both.collect();
        all.sort_by(by_cost);
        all.truncate(OF_THREADS);
        all
    };
    let mut all: Vec<Pair> = first.into_iter().flat_map(cheapest).collect();
    all.sort_by(by_cost);
    all
}

/// Pairs of tiles of as many threads, where all are looked at.
const OF_THREADS: usize = 4;

/// One of two passes in a launch.
struct Part {
    version: usize,
    choice: Choice,
    body: Body,
    resident: u32,
}

impl Part {
    /// Both in one launch: as many blocks are resident as of the pass that takes more.
    fn beside(&self, other: &Self, limits: &Limits) -> Pair {
        let resident = self.resident.min(other.resident);
        let more = cost::fused::of_bodies([self.body, other.body], resident, limits);
        let choice = |part: &Self, more| Choice { cost: part.choice.cost + more, ..part.choice.clone() };
        let versions = [self.version, other.version];
        Pair { versions, tiles: [choice(self, more[0]), choice(other, more[1])], resident }
    }
}

/// Threads of blocks that are offered whatever the groups of the stages.
const USUAL_THREADS: [u32; 8] = [64, 96, 128, 192, 256, 384, 512, 1024];

/// Bytes that a thread of a fused launch holds at most: as were timed.
const MOST_HELD: u64 = 256;

/// Tiles of one block for each number of threads, of those that are taken.
fn by_threads(
    versions: &[Pass],
    alone: &[usize],
    limits: &Limits,
    likely: bool,
    takes: impl Fn(u32, &[u64]) -> bool,
) -> BTreeMap<u32, Vec<Part>> {
    let mut all: BTreeMap<u32, Vec<Part>> = BTreeMap::new();
    for (version, pass) in versions.iter().enumerate() {
        let points: u64 = pass.axes.iter().map(|axis| axis.method.points()).product();
        let stages = pass.axes.iter().map(|axis| axis.method.stages().len()).sum();
        let folds = cost::fused::folding(pass);
        let mut seen = Vec::new();
        for wanted in BATCHES {
            let batch = spread(pass, wanted);
            let held = points * batch.iter().product::<u64>();
            let bytes = held * pass.precision.complex_bytes();
            if bytes > cost::fused::largest_tile(limits) {
                break;
            }
            if seen.contains(&batch) || alone.iter().any(|&d| batch[d] > 1) {
                continue;
            }
            if let Some(model) = Model::new(pass, &batch, 1, limits) {
                let usual = USUAL_THREADS.into_iter().filter(|&threads| threads <= limits.max_threads);
                let counts: BTreeSet<u32> =
                    thread_counts(pass, held, limits).into_iter().chain(usual).collect();
                for threads in counts.into_iter().filter(|&threads| takes(threads, &batch)) {
                    let lean = |took: &cost::Occupancy| {
                        let held = u64::from(took.per_thread) * pass.precision.complex_bytes();
                        (!took.asked || !likely || cost::fused::binary(pass))
                            && held <= MOST_HELD
                            && model.fused_blocks(threads, took) > 0
                    };
                    let took = model.occupancy(threads).filter(lean);
                    let (Some(took), Some(cost)) = (took, model.own_copies(threads)) else { continue };
                    let choice = Choice { tile: Tile::new(threads, 1, batch.clone()), cost };
                    let body = Body { bytes, threads, stages, twiddled: pass.twiddle.is_some(), folds };
                    all.entry(threads).or_default().push(Part {
                        version,
                        choice,
                        body,
                        resident: model.fused_blocks(threads, &took),
                    });
                }
            }
            seen.push(batch);
        }
    }
    all
}
