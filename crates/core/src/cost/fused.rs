//! What two passes cost in one launch. Fitted to the H200: 2^18, 2^19 and 2^20 points and planes of 1024 x 1024, under
//! tiles of 16 to 64 KB and rings of 2 to 13 slots (`docs/notes/fused-passes.md`).

use super::occupancy;
use crate::lower::tile::Tile;
use crate::pass::Pass;
use crate::problem::Precision;
use crate::target::Limits;

/// Waves of resident blocks that the first pass is to be ahead of the second, and slots beyond that.
const AHEAD: f64 = 1.2;
const SPARE: f64 = 0.4;

/// Blocks of two passes that a multiprocessor holds at once; `None` where one of them does not fit.
pub fn resident(passes: [&Pass; 2], tiles: [&Tile; 2], limits: &Limits) -> Option<u32> {
    let [a, b] = [0, 1].map(|i| occupancy(passes[i], tiles[i], limits).map(|took| took.blocks));
    Some(a?.min(b?))
}

/// Bytes of the largest tile of which a multiprocessor holds two: they fill half its registers.
pub(crate) fn largest_tile(limits: &Limits) -> u64 {
    u64::from(limits.registers_per_sm).min(u64::from(limits.shared_bytes))
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
}

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
        0.075 * over(largest, body.bytes)
            + 0.17 * over(2 * largest, body.bytes * u64::from(resident))
            + 0.03 * exchanges
            - 0.05 * hidden
    })
}

/// Items that the first pass is best ahead of the second, and slots beyond that, when `tiles` of both passes are an
/// item and `resident` a wave: what is waited for lies somewhat more than a wave back.
pub(crate) fn best_ring(tiles: u64, resident: u64) -> (u64, u64) {
    let waves = resident as f64 / tiles as f64;
    let items = |part: f64| (part * waves).ceil().max(1.0) as u64;
    (items(AHEAD), items(SPARE))
}

/// Time of two passes in one launch over that of both as launches of their own; `tiles` and `resident` as above. The
/// larger an item, the coarser all waits; below a quarter of a wave nothing was measured. What is waited for is not yet
/// done where it is too near, slots beyond the best take of the cache, and the first and the last items have nothing of
/// the other pass beside them.
pub(crate) fn of_ring((slots, ahead): (u32, u32), items: u64, tiles: u64, resident: u64) -> f64 {
    let waves = tiles as f64 / resident as f64;
    let (best, spare) = best_ring(tiles, resident);
    let near = 0.37 * (AHEAD - f64::from(ahead) * waves).max(0.0).powi(2);
    let far = 0.01 * (f64::from(slots) - (best + spare) as f64).max(0.0);
    let ends = 0.25 * f64::from(ahead) / items as f64;
    (0.81 + 0.07 * (waves / 0.24).log2().max(0.0)) * (1.0 + near + far) * (1.0 + ends)
}

/// Tiles, and items as parts of a wave, that are no smaller than what was timed; the least that wide numbers, which were
/// not, are expected to cost.
const LEAST_TILE: f64 = 0.87;
const LEAST_WAVES: f64 = 0.2;
const DOUBT: f64 = 1.03;

/// What two passes in one launch must be expected to gain to be planned, `tiles` and `resident` as above; `None` where
/// nothing like them was timed: other radices than powers of two, factors of convolutions, small tiles, small items.
pub(crate) fn of_doubt(
    passes: [&Pass; 2],
    held: [&Tile; 2],
    tiles: u64,
    resident: u64,
    limits: &Limits,
) -> Option<f64> {
    let least = LEAST_TILE * largest_tile(limits) as f64;
    let bytes = |i: usize| held[i].elements(passes[i]) * passes[i].precision.complex_bytes();
    let large = (0..2).all(|i| bytes(i) as f64 >= least) && tiles as f64 >= LEAST_WAVES * resident as f64;
    let plain = passes.iter().all(|pass| binary(pass) && pass.load.is_none() && pass.store.is_none());
    let doubt = if passes[0].precision == Precision::F32 { 1.0 } else { DOUBT };
    (large && plain).then_some(doubt)
}

/// Whether all stages have powers of two as radices.
pub(crate) fn binary(pass: &Pass) -> bool {
    pass.axes.iter().flat_map(|axis| axis.method.radices()).all(|radix| radix.is_power_of_two())
}
