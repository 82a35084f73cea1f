//! What two passes cost in one launch. Fitted to 1240 pairs of tiles and rings of 40 problems, timed on an H200, off by 4% in
//! the median (`docs/notes/cost-model.md`): one to three dimensions, radices of all kinds, items of a hundredth of a wave
//! to one.

use super::{Model, Occupancy, occupancy};
use crate::lower::tile::Tile;
use crate::pass::Pass;
use crate::target::{Api, LINE_BYTES, Limits};

/// Waves of resident blocks that the first pass is best ahead of the second, and between an item that leaves a slot and the next one
/// that comes there. With the terms of [`of_ring`] fitted to 1429 trials of 294 pairs of tiles, each with several rings, timed on an
/// H200: the ring that is taken for the cheapest takes 1.006 of the fastest (`docs/notes/fused-passes.md`).
const AHEAD: f64 = 1.65;
const SPARE: f64 = 0.35;
/// Waves ahead up to which the second pass waits for the first.
const FAR_ENOUGH: f64 = 1.0;
/// Copies over those of both passes that waits add: by how much of that wave is missing, squared, by each wave of [`AHEAD`] that is
/// missing, and where a slot is to be taken at once that has just been left.
const NEAR: f64 = 1.0;
const BELOW: f64 = 0.06;
const AT_ONCE: f64 = 0.03;

/// Blocks of two passes that a multiprocessor holds at once; `None` where one of them does not fit.
pub fn resident(passes: [&Pass; 2], tiles: [&Tile; 2], limits: &Limits) -> Option<u32> {
    let [a, b] = [0, 1].map(|i| occupancy(passes[i], tiles[i], limits).map(|took| took.blocks));
    Some(a?.min(b?))
}

/// Bytes of the largest tile of which a multiprocessor holds two: they fill half its registers.
pub(crate) fn largest_tile(limits: &Limits) -> u64 {
    u64::from(limits.registers_per_sm).min(u64::from(limits.shared_bytes))
}

/// Registers that a body of a fused launch needs beyond those of a pass alone, for numbers of one word, and for each group
/// that only some threads have. Before sm_90, which has bulk copies, addresses were seen to take a few more.
const BESIDE: u32 = 8;
const UNEVEN: u32 = 4;
const OLDER: u32 = 2;
/// The same where planes or volumes of reals fold, of two words, in blocks of more than 128 threads: 32 x 32 x 32 doubles from their
/// spectrum spilled 8 bytes by 256. By 128 none of four did that have as little room.
const FOLDED: u32 = 4;

impl Model<'_> {
    /// Registers that a thread needs of a fused launch.
    fn fused_registers(&self, threads: u32, took: &Occupancy) -> u32 {
        let older = if self.limits.bulk_copy { 0 } else { OLDER };
        let folds = self.staged > 0 && self.axes > 1 && threads > 128;
        let folded = if folds { FOLDED * (self.words() - 1) } else { 0 };
        took.registers + (BESIDE + older) * self.words() + UNEVEN * self.demand(threads).uneven + folded
    }

    /// Blocks that a multiprocessor holds where a thread needs what a fused launch adds; 0 where not one fits.
    pub(crate) fn fused_blocks(&self, threads: u32, took: &Occupancy) -> u32 {
        let warps = threads.next_multiple_of(self.limits.subgroup);
        let fit = self.limits.registers_per_sm / warps / self.fused_registers(threads, took);
        if took.asked { took.blocks } else { took.blocks.min(fit) }
    }
}

/// Blocks that the assembler is told of: it shares the file out to blocks of whole fours of warps, where a
/// multiprocessor counts warps.
pub(crate) fn told(passes: [&Pass; 2], tiles: [&Tile; 2], limits: &Limits) -> u32 {
    if let Some(resident) = tiles[0].resident {
        return resident.get();
    }
    let need = |i: usize| {
        let (pass, tile): (&Pass, &Tile) = (passes[i], tiles[i]);
        let model = Model::new(pass, &tile.batch, tile.cluster, limits)?;
        let took = model.occupancy(tile.threads)?;
        Some(if took.asked { took.registers } else { model.fused_registers(tile.threads, &took) })
    };
    let Some(need) = need(0).max(need(1)) else { return 1 };
    let block = tiles[0].threads.next_multiple_of(4 * limits.subgroup);
    let resident = resident(passes, tiles, limits).unwrap_or(1);
    resident.min(limits.registers_per_sm / block / need.max(1)).max(1)
}

/// What counts of one of two passes in a launch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Body {
    /// Bytes of its tile.
    pub bytes: u64,
    /// Threads of a block.
    pub threads: u32,
    /// Stages of its axes.
    pub stages: usize,
    /// Whether factors between the passes go with it.
    pub twiddled: bool,
    /// Threads of a multiprocessor that hide what it computes at folds, where it goes from reals to reals and folds at both ends.
    pub folds: Option<u64>,
}

/// Threads that hide what folds compute of singles; of numbers of two words half as many.
const FOLDING: u64 = 1024;

/// Those of a pass.
pub(crate) fn folding(pass: &Pass) -> Option<u64> {
    let words = pass.precision.complex_bytes() / 8;
    pass.ends.iter().all(Option::is_some).then_some(FOLDING / words)
}

/// Copies that a pass costs more which folds at both ends, and for each halving of the threads that hide it: what a block does between
/// its loads and its stores is twice as much for the bytes, and it stands still at two exchanges more. On an H200 planes of 256 x 256
/// and 512 x 512 cosines of type II took 2.06 and 2.03 copies in one launch where 1.65 was expected, of type III 2.25 and 2.29, of type
/// IV 1.89; 2.06 to 2.33 in two. By half the threads 128 x 128 took 2.16 in one and 2.04 in two, 1024 x 1024 2.24 and 2.20.
const FOLDS: f64 = 0.15;
const FEW: f64 = 0.05;

/// Copies that each of two passes costs more than alone where `resident` blocks of them fill a multiprocessor. A small
/// tile signals and waits more often for what it moves, what all hold together is what hides the waits, and at an
/// exchange a block stands still with what others wait for. Without factors on the way, twice the threads find enough
/// registers, and hide more.
pub(crate) fn of_bodies(bodies: [Body; 2], resident: u32, limits: &Limits) -> [f64; 2] {
    let over = |most: u64, has: u64| (most as f64 / has as f64).log2().max(0.0);
    let largest = largest_tile(limits);
    let plain = bodies.iter().all(|body| !body.twiddled);
    bodies.map(|body| {
        let exchanges = body.stages.saturating_sub(2) as f64;
        let hidden = if plain { over(body.threads.into(), 256).min(1.0) } else { 0.0 };
        0.044 * over(largest, body.bytes)
            + 0.165 * over(2 * largest, body.bytes * u64::from(resident))
            + 0.011 * exchanges
            + body.folds.map_or(0.0, |most| FOLDS + FEW * over(most, u64::from(body.threads * resident)))
            - 0.027 * hidden
    })
}

/// Items that the first pass is best ahead of the second, and slots beyond that, when `tiles` of both passes are an
/// item and `resident` a wave: what is waited for lies more than a wave back, and what leaves a slot is done before the next comes.
pub(crate) fn best_ring(tiles: u64, resident: u64) -> (u64, u64) {
    let waves = resident as f64 / tiles as f64;
    let items = |part: f64| (part * waves).ceil().max(1.0) as u64;
    (items(AHEAD), 1 + items(SPARE))
}

/// Copies of two passes in one launch that take `apart` as launches of their own; `tiles` and `resident` as above, `spare` the slots
/// beyond the items that the first pass is ahead. Part of the time does not shrink with what the cache saves. The larger an item, the
/// coarser all waits. What is waited for is not yet done where it is too near, and the first and the last items have nothing of the other
/// pass beside them.
pub(crate) fn of_ring(apart: f64, [ahead, spare]: [u32; 2], items: u64, tiles: u64, resident: u64) -> f64 {
    let waves = tiles as f64 / resident as f64;
    let far = f64::from(ahead) * waves;
    // Tiles of the item before the last of a slot come right before those that go there next.
    let left = f64::from(spare.saturating_sub(1)) * waves;
    let near = NEAR * (FAR_ENOUGH - far).max(0.0).powi(2) + BELOW * (AHEAD - far).max(0.0);
    let at_once = AT_ONCE * (1.0 - left / SPARE).max(0.0);
    let ends = 0.28 * f64::from(ahead) / items as f64;
    let saved = SAVED + 0.052 * (waves / 0.24).log2().max(0.0);
    apart * saved * (1.0 + near) * (1.0 + at_once) * (1.0 + ends) + 0.095
}

/// Part of the time of two launches that one takes.
const SAVED: f64 = 0.744;

/// Copies that results cost more which leave an item in rows of so many bytes: parts of lines are gone from the cache before
/// the next item writes the rest. On an H100, 2^27, 2^28 and 7^8 points with rows of 56 or 64 bytes took 5 to 6% longer, beside
/// what was expected of them, than in launches of their own; 2^27 with rows of 128 took 5% less.
pub(crate) fn of_rows(bytes: u64) -> f64 {
    SHORT_ROWS * (LINE_BYTES as f64 / bytes as f64).log2().max(0.0)
}

/// Copies for half a line.
const SHORT_ROWS: f64 = 0.2;

/// Copies that the first pass of a convolution and its middle cost more in one launch, with items of so many bytes and as much
/// of a spectrum beside them. On an H200, by the fastest tiles of each: 20011 took 5.58 copies with its 0.3 MB in one launch and 5.76
/// in two, 16381 doubles with 0.5 MB 5.0 and 5.14; but 65537 with 1 MB 5.62 and 5.24, 99991 with 1.6 MB 6.05 and 5.60, 99991 doubles
/// with 3.2 MB 6.25 and 5.89. (On an H100, whose memory is slower, these gained as well.)
pub(crate) fn of_spectrum(bytes: u64) -> f64 {
    BESIDE_SPECTRUM.0 * (bytes as f64 / BESIDE_SPECTRUM.1).log2().clamp(0.0, 1.0)
}

/// Copies for items of twice so many bytes or more.
const BESIDE_SPECTRUM: (f64, f64) = (0.3, 524_288.0);

/// Copies of a length of so many bytes in two passes that take `apart` by themselves, if they can share a launch: of the
/// largest tiles, of a large batch.
pub(crate) fn of_split(apart: f64, item_bytes: u64, limits: &Limits) -> Option<f64> {
    let resident = u64::from(2 * limits.multiprocessors);
    let tiles = (2 * item_bytes).div_ceil(largest_tile(limits));
    let (ahead, spare) = best_ring(tiles, resident);
    let held = limits.l2_bytes / 2 / item_bytes.max(1);
    let fits = matches!(limits.api, Api::Ptx { .. }) && held >= 2;
    let ahead = ahead.min(held.saturating_sub(spare)).max(1);
    let spare = spare.min(held.saturating_sub(ahead));
    let items = (LARGE_BATCH / item_bytes).max(1);
    fits.then(|| of_ring(apart + EXCHANGES, [ahead, spare].map(|slots| slots as u32), items, tiles, resident))
}

/// Bytes of a large batch, and copies that both passes cost more in one launch by what they wait at exchanges.
const LARGE_BATCH: u64 = 1 << 29;
const EXCHANGES: f64 = 0.02;

/// Whether all stages have powers of two as radices.
pub(crate) fn binary(pass: &Pass) -> bool {
    pass.axes.iter().flat_map(|axis| axis.method.radices()).all(|radix| radix.is_power_of_two())
}
