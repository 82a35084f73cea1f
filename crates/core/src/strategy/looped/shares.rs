//! Who has which points: a block, or the blocks of a cluster, with the transforms that they hold at once.

use super::line::Crew;
use crate::error::Error;
use crate::kernel::{Cmp, Op, Special, Value};
use crate::lower::tile::cluster_sizes;
use crate::problem::Precision;
use crate::program::too_large;
use crate::strategy::code::Code;
use crate::strategy::draft::Draft;
use crate::strategy::tile::{Tile, padded_room};

/// Points of a tile that has several transforms.
const POINTS: u64 = 4096;
/// The largest radix beside which addresses may take some instructions.
const SHORT: u64 = 7;
/// Points of a thread.
const PER_THREAD: u64 = 8;

/// Transforms in shared memory.
pub(super) struct Shares {
    /// Points of a tile.
    pub points: u64,
    /// Elements that it is in memory.
    pub elements: u64,
    /// Blocks that hold it together.
    cluster: u32,
    threads: u32,
    /// Tiles.
    count: u64,
    /// Of lines of many twos and small radices some points are left out, so that not all meet in the same banks.
    padded: bool,
}

impl Shares {
    /// Of transforms of so many elements that take so many points on the chip, where the fastest line has so many and
    /// the largest radix is that.
    pub fn of(draft: &Draft<'_>, [own, points, fastest, largest]: [u64; 4]) -> Result<Self, Error> {
        let room = draft.shared_points();
        let held = |size: u32| points.div_ceil(size.into());
        let sizes = || cluster_sizes(draft.limits);
        let cluster = sizes().find(|&size| held(size) <= room).or(sizes().last()).unwrap_or(1);
        too_large("points of a block", held(cluster), room, draft.limits)?;
        let batch = draft.packed.batch;
        let transforms = (room.min(POINTS) / points).clamp(1, batch.max(1));
        let count = batch.div_ceil(transforms);
        let elements = transforms * own;
        // Where the last tile's would lie is counted, too.
        let counted = count.saturating_mul(elements);
        too_large("elements of one array of a strategy", counted, u32::MAX.into(), draft.limits)?;
        let points = transforms * points;
        // A butterfly's points, their sums and differences, and what else there is.
        let words = if draft.packed.precision == Precision::F64 { 2 } else { 1 };
        let most = u64::from(draft.limits.registers_per_sm) / (4 * words * largest + 40);
        let most = u64::from(draft.limits.max_threads).min(1 << most.max(1).ilog2());
        let wanted = points.div_ceil(PER_THREAD * u64::from(cluster)).next_multiple_of(32);
        let twos = fastest.is_multiple_of(16) && largest <= SHORT;
        let padded = twos && padded_room(points).div_ceil(cluster.into()) <= room;
        Ok(Self { points, elements, cluster, threads: wanted.min(most) as u32, count, padded })
    }
}

/// A kernel of tiles, and what a thread knows of its own.
pub(super) struct TileKernel {
    pub code: Code,
    pub tile: Tile,
    pub crew: Crew,
    /// The first element of the tile in memory.
    start: Value,
    /// Elements of all tiles, where the last has fewer.
    end: Option<Value>,
    clustered: bool,
}

impl TileKernel {
    pub fn new(draft: &Draft<'_>, name: &str, shares: &Shares) -> Result<Self, Error> {
        let Shares { points, elements, cluster, threads, count, padded, .. } = *shares;
        let mut code = draft.kernel(name, threads, count.saturating_mul(cluster.into()))?;
        code.b.cluster(cluster);
        let clustered = cluster > 1;
        let tile = match padded {
            _ if clustered => Tile::across(&mut code, points, cluster, padded),
            true => Tile::padded(&mut code, points),
            false => Tile::interleaved(&mut code, points),
        };
        let (block, mut index) = (code.special(Special::BlockIndex), code.special(Special::ThreadIndex));
        let at = code.div_const(block, cluster, u32::MAX.into());
        let start = code.mul_const(at, elements);
        if clustered {
            let rank = code.special(Special::ClusterRank);
            let before = code.mul_const(rank, threads.into());
            index = code.add(before, index);
            // Points go to blocks that have started.
            tile.barrier(&mut code);
        }
        let all = draft.packed.elements();
        let end = (count * elements > all).then(|| code.u32(all as u32));
        Ok(Self { code, tile, crew: Crew { index, count: cluster * threads }, start, end, clustered })
    }

    /// Where an element of the tile lies in memory, and whether it does, given a condition that it must fulfil besides.
    pub fn place(&mut self, element: Value, besides: Option<Value>) -> (Value, Option<Value>) {
        let at = self.code.add(self.start, element);
        let there = self.end.map(|end| self.code.cmp(Cmp::Lt, at, end));
        let both = match (there, besides) {
            (Some(there), Some(besides)) => Some(self.code.binary(Op::And, there, besides)),
            (there, besides) => there.or(besides),
        };
        (at, both)
    }

    /// Calls `body` for each of so many items that is the thread's.
    pub fn repeat(&mut self, items: u64, mut body: impl FnMut(&mut Self, Value)) {
        let range = [self.crew.index, self.code.u32(items as u32), self.code.u32(self.crew.count)];
        let (item, _) = self.code.open_loop(&[]);
        body(self, item);
        self.code.close_loop(range, &[], Vec::new());
    }

    /// All that share the tile have come here.
    pub fn barrier(&mut self) {
        self.tile.barrier(&mut self.code);
    }

    /// Adds the launch.
    pub fn launch(mut self, draft: &mut Draft<'_>) -> Result<(), Error> {
        if self.clustered {
            // Others may still read what this block holds.
            self.barrier();
        }
        draft.launch(self.code)
    }
}
