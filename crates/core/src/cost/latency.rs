//! What the phases of a tile cost where few blocks are there to hide them. At every stage a tile waits for its slowest
//! warp; what all of a multiprocessor's blocks hold is what fills the wait of one. The weights were fitted to 2500 sets of
//! tiles of 100 problems with one to three passes, timed on an H200, off by 8% (`docs/notes/cost-model.md`).

use super::{Model, Occupancy, cluster, radix};
use crate::codelet::comes_in_twos;
use crate::pass::Stage;
use crate::planner::max_points;
use crate::problem::Precision;

/// Copies of an instruction for each point where nothing hides it, and how they add to the rest: few cost nothing.
const ISSUE: f64 = 0.0053;
const HIDDEN: f64 = 3.9;
/// The same where a thread holds a long prime: few warps fit. Of 60 tiles of 41 to 3182 points, timed on an H200.
const ISSUE_IN_TWOS: f64 = 0.0072;
/// Instructions that a multiprocessor fetches at once without waiting, the code of each of its blocks, and copies that one
/// more adds: 12 blocks of a warp each took 1.47 copies for 61 points, and 6 of two warps 1.24.
const FETCHED: f64 = 38e3;
const FETCH: f64 = 2e-5;
/// Copies of an instruction on pairs of singles, of which there are so many that they, and not memory, may take the time:
/// what a multiprocessor issues while it copies a point. Not fitted to anything.
const PAIRED_ISSUE: f64 = 0.0044;
/// Wait of a tile for its data, in copies of itself.
const LOAD: f64 = 0.064;
/// Waits of a stage for each group of a thread, and for each warp at its barrier: in points, by the time in which they
/// are copied.
const GROUP: f64 = 75.0;
const WARP: f64 = 25.0;
/// Copies that doubling what a thread holds adds: beyond a sector of bytes, and beyond 256 bytes, whose long code runs
/// from outside the instruction cache.
const HELD: f64 = 0.016;
const LONG: f64 = 0.12;
/// Copies that a block takes less for a plane or a volume that takes an exchange less since its stages come in the order with the fewest
/// (`lower/order.rs`): nothing up to so many bytes, all of it from twice as many on. Of 350 tiles of 60 x 60 to 120 x 120, 20^3 and 24^3
/// all but a few.
const ORDERED: f64 = 0.1;
const ORDERED_BYTES: f64 = 16384.0;
/// Copies of the factors between passes.
const TWIDDLES: f64 = 0.067;
/// What all of these fits start from.
const START: f64 = -0.065;
/// Copies of a launch that moves next to nothing, in bytes.
const LAUNCH_BYTES: f64 = 20e6;
/// Bytes that a multiprocessor copies while it starts a block: 524288 blocks of 1 KiB of 2 points each took 318 us.
const BLOCK_BYTES: f64 = 1283.0;
/// Bytes copied by the device while a block gets through one byte of its tile alone.
const ALONE: f64 = 430.0;

/// Copies that folds of several lines add where a multiprocessor holds one block, and channels by more than two stages: those of
/// 2048 reals took 1.40 in three stages, 1.26 in two of half as many points.
const FOLDS_ALONE: f64 = 0.15;
const STAGES_ALONE: f64 = 0.12;

/// Copies that a block's warps add for each doubling beyond two where a long prime's stage is one of three or more and what memory
/// keeps is short: they go through its code one after another, and wait for all at each barrier. Of the tiles of 36 lengths that were
/// timed in f16 on an H200, the choice takes 1.045 of the fastest without it and 1.022 with it (`docs/notes/cost-model.md`).
const WARPS_OF_SHORT: f64 = 0.09;

/// Part of the time of so many bytes, read and written, that is the launch's own.
pub(crate) fn launch_part(bytes: u64) -> f64 {
    LAUNCH_BYTES / (LAUNCH_BYTES + bytes as f64)
}

impl Model<'_> {
    /// Copies that the pass takes with so many threads, of which a multiprocessor holds what `took` says.
    pub(super) fn latency_copies(&self, threads: u32, took: Occupancy) -> f64 {
        let words = f64::from(self.words());
        let points = self.useful * words;
        let warps = f64::from(threads) / f64::from(self.limits.subgroup);
        let idle_lanes = f64::from(threads.next_multiple_of(self.limits.subgroup)) / f64::from(threads);
        let mut issue = 6.0 * self.elements as f64 / self.useful;
        let mut waits = LOAD;
        let mut uneven = 0;
        let mut code = 0.0;
        let in_twos = self.in_twos();
        for &Stage { radix, ways, points: transformed } in &self.stages {
            let groups = transformed as f64 / f64::from(radix);
            let slots = (groups / f64::from(threads)).ceil();
            // Warps without a group pass by the code of a long prime.
            let idle = if comes_in_twos(radix.into()) {
                (groups / f64::from(self.limits.subgroup)).ceil() * f64::from(self.limits.subgroup)
                    / groups
                    / idle_lanes
            } else {
                slots * f64::from(threads) / groups
            };
            code += slots * f64::from(radix) * radix::facts(radix).issue;
            let facts = radix::facts(radix);
            let each = if self.pairs { facts.paired } else { facts.issue };
            issue += f64::from(ways) * idle * each * transformed as f64 / self.useful;
            waits += (GROUP * slots + WARP * warps) / points;
            uneven += usize::from(idle > 1.001);
        }
        let busy = if self.pairs {
            (1.0 + (PAIRED_ISSUE * issue * idle_lanes).powf(HIDDEN)).powf(HIDDEN.recip())
        } else {
            let each = if in_twos { ISSUE_IN_TWOS } else { ISSUE };
            1.0 + (each * issue * idle_lanes).powf(HIDDEN)
        };
        let fetch = if in_twos { FETCH * (code * f64::from(took.blocks) - FETCHED).max(0.0) } else { 0.0 };
        let busy = busy + waits / f64::from(took.blocks) + self.of_whole(threads, took, waits, uneven);
        let held = f64::from(took.per_thread) * self.bytes as f64;
        let doubled = |least: f64| (held / least).log2().max(0.0);
        let twiddles = if self.twiddled { TWIDDLES } else { 0.0 };
        let exchange = if self.cluster > 1 {
            let size = self.elements * self.bytes;
            let own = self.elements * u64::from(self.cluster) / self.transforms;
            let planes = self.axes > 1 && own * self.bytes > max_points(self.limits, Precision::F32) * 8;
            cluster::hand_over(self.cluster, self.stages.len(), uneven, size, planes)
                + self.odd_cluster(took)
                + cluster::thrift(&self.need(&self.demand(threads)), threads, self.limits)
                + match self.axes {
                    1 if self.several => 0.0,
                    1 => cluster::crowded_line(took.per_thread, self.is_short_of_registers(threads, took)),
                    _ => cluster::crowded_planes(took.per_thread),
                }
                + if planes { cluster::held_planes(took.per_thread, words, self.whole == 2) } else { 0.0 }
                + match (self.whole, planes) {
                    (2.., false) if self.words() == 1 => cluster::small_planes(took.per_thread),
                    (3, true) if self.several => cluster::SEVERAL_VOLUMES,
                    _ => 0.0,
                }
                + if self.whole > 1 && threads < self.limits.subgroup {
                    cluster::LESS_THAN_A_WARP
                } else {
                    0.0
                }
                + if self.twiddled && self.axes > 1 { cluster::shared_dimension(self.cluster) } else { 0.0 }
                + cluster::folds(self.folds, (self.axes > 1, self.several), self.cluster, took.blocks)
        } else {
            let plane =
                self.exits_once_more && !self.several && self.words() == 1 && self.folds == [false; 2];
            let large = (self.elements * self.bytes) as f64 / ORDERED_BYTES - 1.0;
            HELD * doubled(32.0) - if plane { ORDERED * large.clamp(0.0, 1.0) } else { 0.0 }
        };
        // Columns of reals, one block after the other: 2^22 by 16 and 8 neighbours took 3.34 and 3.13 copies.
        let alone = self.cluster == 1 && self.several && self.folds.contains(&true) && took.blocks == 1;
        let alone = match (alone, self.twiddled || self.stages.len() <= 2) {
            (false, _) => 0.0,
            (true, true) => FOLDS_ALONE,
            (true, false) => FOLDS_ALONE + STAGES_ALONE,
        };
        let long = in_twos && self.stages.len() > 2 && self.short.any();
        let behind = if long { WARPS_OF_SHORT * (warps.ceil().log2() - 1.0).max(0.0) } else { 0.0 };
        let exchange = exchange + alone + behind;
        let copies =
            busy * self.segments + START + fetch + LONG * doubled(256.0) + twiddles + exchange + self.few();
        copies.max(self.start_of_blocks())
    }

    /// Copies that lines, planes and volumes add, or take less, by clusters whose tile is all of them. Not planes of volumes: with it some
    /// are chosen instead of passes that share a dimension, of which the model expects too much, and 320 x 320 x 320 takes 2.75 copies for
    /// 2.51. Pairs of singles and numbers of 16 bits were not among what was timed.
    fn of_whole(&self, threads: u32, took: Occupancy, waits: f64, uneven: usize) -> f64 {
        if self.cluster == 1 || self.whole < self.rank || self.pairs || self.short.any() {
            return 0.0;
        }
        let own = self.elements * u64::from(self.cluster) / self.transforms * self.bytes;
        let large = own > max_points(self.limits, Precision::F32) * 8;
        let waits = if large {
            let resident = cluster::resident(self.words(), threads, took, self.limits);
            cluster::WAITS * waits / f64::from(resident) - waits / f64::from(took.blocks) + cluster::START
        } else {
            0.0
        };
        let exit = self.exits_once_more && self.ends_with_last_axis;
        waits
            + if exit { cluster::EXIT } else { 0.0 }
            + if self.axes > 1 { cluster::UNEVEN_PLANES * uneven as f64 } else { 0.0 }
    }

    /// Copies that a number of blocks adds which is no power of two.
    fn odd_cluster(&self, took: Occupancy) -> f64 {
        match (self.axes > 1, self.several) {
            _ if self.cluster.is_power_of_two() => 0.0,
            (true, _) => cluster::odd_planes(took.blocks),
            (_, true) => cluster::odd_columns(took.blocks, self.transforms * self.bytes, self.words()),
            _ => cluster::odd_line(took.blocks, took.per_thread),
        }
    }

    /// Copies that starting its blocks takes, of data that is kept as it is computed in.
    pub(super) fn start_of_blocks(&self) -> f64 {
        BLOCK_BYTES / (self.useful * self.bytes as f64)
    }

    /// Copies that it adds where there are fewer blocks than the device could hold: one after the other, a block's
    /// phases take longer than its share of a copy.
    pub(super) fn few(&self) -> f64 {
        let tile = self.useful * self.bytes as f64;
        let all = 2.0 * tile * self.blocks as f64;
        let idle = 1.0 - self.blocks as f64 / f64::from(2 * self.limits.multiprocessors);
        idle.max(0.0) * ALONE * tile / (LAUNCH_BYTES + all)
    }
}
