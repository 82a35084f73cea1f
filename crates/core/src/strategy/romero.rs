//! What the systems of Romero et al. share: some stages of every line in one launch, by blocks that hold chunks of it.
//!
//! S. Romero, M. A. Trenas, E. Gutierrez, E. L. Zapata, *Locality-improved FFT implementation on a graphics processor*,
//! 2007. Lines stand in bit-reversed order. Stages `a .. a + q` join points that differ in the bits `a .. a + q` of their
//! index; a block takes all such points for `2^c` neighbouring values of the bits below, which is a chunk of `2^c` points in
//! every `2^a`.

use super::code::Code;
use super::draft::{Array, Draft};
use super::packed::Packed;
use super::radix_2::{bit_reversed, factors};
use super::tile::{Tile, TileLines, padded_points, threads};
use super::{moves, shared_naive};
use crate::error::Error;
use crate::kernel::{Special, Value};
use crate::program::too_large;

/// Title and authors.
pub(super) const SOURCE: &str =
    "Romero, Trenas, Gutierrez, Zapata, Locality-improved FFT implementation on a graphics processor (2007)";

/// What those in several launches cover.
pub(super) const COVERS: &str = "powers of two from 2 on, in one dimension, to the device's memory";

/// log2 of the points of a block at most, where several launches share the work: 8 KiB in single precision leave room for
/// more than one block.
const MOST_BITS: u32 = 10;

/// Whether it is a line of a power of two.
pub(super) fn covers(packed: &Packed) -> bool {
    packed.line().is_some_and(u64::is_power_of_two)
}

/// log2 of the points that a block takes: r in the paper.
pub(super) fn block_bits(draft: &Draft<'_>) -> Result<u32, Error> {
    let points = padded_points(draft.shared_points());
    too_large("points of a block", 4, points, draft.limits)?;
    Ok(points.ilog2().min(MOST_BITS))
}

/// All stages, in as many launches as they take: r in the first. Gathered, each next one does r more, on points that it
/// takes one by one, and the first reads bit-reversed; in chunks of neighbours, each next one does r/2, and the bit reversal
/// goes before.
pub(super) fn in_launches(draft: &mut Draft<'_>, name: &str, chunks: bool) -> Result<(), Error> {
    let bits = draft.packed.points().trailing_zeros();
    let most = block_bits(draft)?;
    if bits <= most {
        return shared_naive::whole(draft, name);
    }
    let (input, output) = (draft.input(), draft.output());
    // A bit reversal cannot be in place, what follows can.
    let place = if input == output { draft.scratch(output.elements)? } else { output };
    if chunks {
        moves::bit_reverse(draft, [input, place])?;
    }
    let mut first = 0;
    while first < bits {
        let (starts, neighbours) = (first == 0, chunks && first > 0);
        let stages = (if neighbours { most / 2 } else { most }).min(bits - first);
        let chunk = if neighbours { most - stages } else { 0 };
        let last = first + stages == bits;
        let scale = if last { draft.scale() } else { 1.0 };
        let reversed = starts && !chunks;
        let sides = [if reversed { input } else { place }, if last { output } else { place }];
        let step = Step { first, stages, chunk, turned: false, reversed, padded: chunks, scale };
        step.launch(draft, sides, name)?;
        first += stages;
    }
    Ok(())
}

/// What one launch does of each line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    /// The first stage: a.
    pub first: u32,
    /// Stages: q.
    pub stages: u32,
    /// log2 of the points of a chunk: c, at most a.
    pub chunk: u32,
    /// The index is turned right by as many bits as there were stages, so that the points of this one's are neighbours.
    pub turned: bool,
    /// Reads bit-reversed: the first launch.
    pub reversed: bool,
    /// Shared memory leaves out points against bank conflicts.
    pub padded: bool,
    /// Factor on what is written.
    pub scale: f64,
}

impl Step {
    /// Writes the launch.
    pub fn launch(&self, draft: &mut Draft<'_>, sides: [Array; 2], name: &str) -> Result<(), Error> {
        let n = draft.packed.points();
        let bits = n.trailing_zeros();
        let points = 1_u64 << (self.stages + self.chunk);
        let blocks = draft.packed.elements() / points;
        let threads = threads(points / 2, draft.limits.max_threads);
        let table = draft.table(factors(1 << (self.first + self.stages)));
        let mut code = draft.kernel(&format!("{name}_{}_of_{bits}", self.first), threads, blocks)?;
        let c = &mut code;
        let [from, to] = c.pair(sides);
        let table = c.table(table);
        let tile = if self.padded { Tile::padded(c, points) } else { Tile::interleaved(c, points) };
        let (block, thread) = (c.special(Special::BlockIndex), c.special(Special::ThreadIndex));
        let here = Here::of(c, self, block, n);

        for first in (0..points).step_by(threads as usize) {
            let item = c.add_const(thread, first);
            let [lane, m] = c.split(item, 1 << self.chunk, points - 1);
            let at = here.address(c, self, [lane, m], bits, self.reversed);
            let z = c.load(from, at);
            let at = c.mul_const(lane, 1 << self.stages);
            let at = c.add(at, m);
            tile.store(c, at, z);
        }
        // The points of the stages are neighbours in shared memory, whatever lies between them outside.
        let lines = TileLines { n: 1 << self.stages, inner: 1, rows: 1 << self.chunk, rows_first: true };
        lines.stages(c, &tile, thread, |c, stage, k, lane| {
            let k = c.mul_const(k, 1 << self.first);
            let low = c.add(here.low, lane);
            let k = c.add(k, low);
            let exponent = c.mul_const(k, 1 << (self.stages - 1 - stage));
            c.factor(table, exponent)
        });
        for first in (0..points).step_by(threads as usize) {
            let item = c.add_const(thread, first);
            let [lane, m] = c.split(item, 1 << self.chunk, points - 1);
            let at = c.mul_const(lane, 1 << self.stages);
            let at = c.add(at, m);
            let z = tile.load(c, at);
            let z = c.cscale(z, self.scale);
            let at = here.address(c, self, [lane, m], bits, false);
            c.store(to, at, z);
        }
        draft.launch(code)
    }
}

/// Which points a block has.
struct Here {
    /// Element at which its line begins.
    line: Value,
    /// Bits above those of the stages.
    high: Value,
    /// Bits below, for the first of the chunk.
    low: Value,
}

impl Here {
    fn of(c: &mut Code, step: &Step, block: Value, n: u64) -> Self {
        let blocks = n >> (step.stages + step.chunk);
        let [rest, line] = c.split(block, blocks, u32::MAX.into());
        let [low, high] = if !step.turned {
            c.split(rest, 1 << (step.first - step.chunk), blocks)
        } else {
            // What was lowest is on top, and what is above the stages' bits lies between.
            let between = n >> (step.first + step.stages);
            let [high, low] = c.split(rest, between, blocks);
            [low, high]
        };
        Self { line: c.mul_const(line, n), high, low: c.mul_const(low, 1 << step.chunk) }
    }

    /// Element of a point: `lane` in the chunk, `m` by the bits of the stages.
    fn address(&self, c: &mut Code, step: &Step, [lane, m]: [Value; 2], bits: u32, reversed: bool) -> Value {
        let low = c.add(self.low, lane);
        let mut inside = if !step.turned {
            let high = c.mul_const(self.high, 1 << (step.first + step.stages));
            let m = c.mul_const(m, 1 << step.first);
            c.add(high, m)
        } else {
            let high = c.mul_const(self.high, 1 << step.stages);
            c.add(high, m)
        };
        if step.first > 0 {
            let low = if step.turned { c.mul_const(low, 1 << (bits - step.first)) } else { low };
            inside = c.add(inside, low);
        }
        if reversed {
            inside = bit_reversed(c, inside, bits);
        }
        c.add(self.line, inside)
    }
}
