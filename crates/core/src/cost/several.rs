//! What a pass of single blocks costs more as one of several, each in a launch of its own. By 3301 ways to take 103 lines, planes and
//! volumes of no suite, drawn at random and timed on an H200: of these ways the one that is expected to be cheapest takes 1.053 of the
//! fastest with it, 1.070 without (`docs/notes/cost-model.md`).

use super::{Model, Occupancy, of_each};
use crate::pass::{Array, Pass};

/// Copies of planes of which a multiprocessor holds one: 7 x 1575 points in blocks of 87 KB leave 378 x 1575 at 2.71 copies, 3 x 1575 in
/// blocks of 38 KB at 2.40.
const PLANE_ALONE: f64 = 0.2;
/// Copies of columns with factors on the way, in more than two stages, for each doubling of a block's bytes beyond so many: 277 of them
/// took 0.09 more than was expected in the mean, 144 in one or two stages 0.07 less.
const COLUMNS: f64 = 0.12;
const COLUMNS_BYTES: f64 = 32768.0;
/// Copies where the parts of the register file, each of which takes whole warps, have room for one of the blocks that are counted on; and
/// how far off the registers may be.
const PARTED: f64 = 0.2;
const SLACK: u32 = 4;

/// Whether a pass is one of several, and as those were that were timed: of complex numbers, all of them there.
pub(super) fn is_one(pass: &Pass) -> bool {
    let between = |array: Array| matches!(array, Array::Workspace(_));
    let one = pass.twiddle.is_some()
        || pass.axes.len() < pass.rank
        || between(pass.src.array)
        || between(pass.dst.array);
    one && pass.complex && pass.ends == [None; 2] && pass.windows.iter().all(Vec::is_empty)
}

impl Model<'_> {
    /// Copies that it adds with so many threads to what the rest of the model expects.
    pub(super) fn beside_others(&self, threads: u32) -> f64 {
        let timed = self.one_of_several && self.cluster == 1 && self.axes > 0;
        if !timed || self.coprime() || self.pairs || self.pads || self.short.any() {
            return 0.0;
        }
        let Some(took) = self.occupancy(threads) else { return 0.0 };
        let doubled = ((self.elements * self.bytes) as f64 / COLUMNS_BYTES).log2().max(0.0);
        let large = match self.axes {
            2.. if took.blocks == 1 => PLANE_ALONE,
            1 if self.several && self.twiddled && self.stages.len() > 2 => COLUMNS * doubled,
            _ => 0.0,
        };
        large + if self.is_parted(threads, took) { PARTED } else { 0.0 }
    }

    /// Whether of several blocks that are counted on, but not told of, the register file has room for one.
    fn is_parted(&self, threads: u32, took: Occupancy) -> bool {
        let two = of_each(threads, 2, self.limits);
        took.blocks > 1 && took.told == 1 && took.registers > two + SLACK
    }
}
