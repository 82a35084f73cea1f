//! Which tile a block takes: the walk of a launch's blocks over the tiles.

use crate::cost::Occupancy;
use crate::kernel::{AtRun, Special, Type, Value};
use crate::pass::{PartKind, Pass, PassDim};
use crate::target::{Api, Limits};

use super::Lowering;
use super::tile::Tile;

/// Part of the cache that tables may take and still be there when the next transform asks for them: between two uses pass its
/// points, those of the result, and the tables.
const OF_CACHE: u64 = 4;

/// In which order the blocks of a launch walk over the tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Walk {
    /// From the first.
    Rising,
    /// From the last: what a launch before wrote last is in the cache still.
    Falling,
    /// From the first, in the only launch of a run: nobody reads what it writes.
    Alone,
}

/// Which blocks run for a part of the dimension whose points each run counts: those of its tiles, which it is the slowest
/// to number.
pub(super) fn part_of_launch(pass: &Pass, tile: &Tile) -> Option<AtRun> {
    let own = pass.at_run()?;
    let (n, held) = (pass.batch[own].n, tile.batch[own]);
    Some(AtRun { most: n as u32, step: held as u32, blocks: tile.blocks(pass) / n.div_ceil(held) })
}

impl Lowering<'_> {
    /// Blocks of the launch. Those that stay take tile after tile: of convolutions, which keep their tables in registers, and where
    /// tiles come by bulk copies.
    pub(super) fn stay(&mut self, took: Option<&Occupancy>, walk: Walk, limits: &Limits) -> u64 {
        let tiles = self.tile.blocks(self.pass) / u64::from(self.tile.cluster);
        let convolves = |took: &Occupancy| took.stays && matches!(limits.api, Api::Ptx { .. });
        let stays = |took: &&Occupancy| convolves(took) || self.comes_ahead(took, walk, limits);
        // Of a launch that may run in part, they would not know where it ends.
        let took = took.filter(stays).filter(|_| self.pass.at_run().is_none());
        let resident = took.map(|took| u64::from(took.blocks * limits.multiprocessors));
        let blocks = resident.filter(|&resident| tiles >= 2 * resident).unwrap_or(tiles);
        self.b.blocks(blocks * u64::from(self.tile.cluster));
        self.turns = (blocks < tiles).then_some((tiles, blocks));
        blocks
    }

    /// Index of the last of so many tiles, or of those that the run's count leaves.
    pub(super) fn last_tile(&mut self, tiles: u64) -> Value {
        let Some(AtRun { most, step, blocks }) = part_of_launch(self.pass, self.tile) else {
            return self.b.u32((tiles - 1) as u32);
        };
        let count = self.b.special(Special::Count);
        let up = self.b.add_const(count, u64::from(step) - 1);
        let steps = self.b.div_const(up, step, u64::from(most) + u64::from(step) - 1);
        let there = self.b.mul_const(steps, blocks / u64::from(self.tile.cluster));
        let one = self.b.u32(1);
        self.b.sub(there, one)
    }

    /// Splits a tile's index, at most `most`, over the repeated dimensions, the one with the shortest steps
    /// fastest, so that blocks that run together touch neighbouring memory.
    pub(super) fn move_to(&mut self, index: Value, most: u64) {
        let order = self.block_order();
        let zero = self.b.u32(0);
        self.origin = vec![zero; order.len()];
        self.walk(&order, index, most);
    }

    /// Splits an index, at most `most`, over some of the repeated dimensions, the fastest first.
    pub(super) fn walk(&mut self, order: &[usize], index: Value, most: u64) {
        let mut at = 1_u64;
        for &d in order {
            let count = self.pass.batch[d].n.div_ceil(self.tile.batch[d]);
            let quotient = self.b.div_const(index, at as u32, most);
            let own = if at * count > most {
                quotient
            } else {
                self.b.rem_const(quotient, count as u32, most / at)
            };
            // The guard looks beyond the end of the dimension, by less than a tile.
            let wide = self.pass.batch[d].n > u64::from(u32::MAX / 2);
            let own = self.b.convert(if wide { Type::U64 } else { Type::U32 }, own);
            self.origin[d] = self.b.mul_const(own, self.tile.batch[d]);
            at *= count;
        }
    }

    /// Repeated dimensions in the order in which blocks walk them.
    pub(super) fn block_order(&self) -> Vec<usize> {
        block_order(self.pass, self.cache_bytes)
    }
}

/// Repeated dimensions in the order in which blocks walk them, the fastest first: that with the shortest steps. Where the
/// tables of a transform would not stay in the cache until the next transform asks for them, the same tile of every
/// transform comes first, so that tables are read once.
fn block_order(pass: &Pass, cache_bytes: u64) -> Vec<usize> {
    let again = |dim: &PassDim| {
        [dim.load_index, dim.store_index, dim.twiddle].iter().all(|&weight| weight == 0) && dim.filter == 0
    };
    let large = table_points(pass, again) * pass.precision.complex_bytes() > cache_bytes / OF_CACHE;
    let mut order: Vec<usize> = (0..pass.batch.len()).collect();
    order.sort_by_key(|&d| {
        let dim = &pass.batch[d];
        // A part of a launch is its first blocks.
        (dim.at_run, large && !again(dim), dim.is.unsigned_abs().min(dim.os.unsigned_abs()))
    });
    order
}

/// Points of the tables of which each has its own for every point of a transform: chirps at the ends, and a spectrum.
fn table_points(pass: &Pass, again: impl Fn(&PassDim) -> bool) -> u64 {
    let chirps = [&pass.load, &pass.store].into_iter().flatten().any(|end| end.table.is_some());
    let spectra = pass.axes.iter().any(|axis| {
        let parts = axis.method.in_place();
        parts.iter().any(|part| matches!(part.kind, PartKind::Middle | PartKind::Filter))
    });
    if !chirps && !spectra {
        return 0;
    }
    let own = pass.batch.iter().filter(|dim| !again(dim)).map(|dim| dim.n);
    pass.axes.iter().map(|axis| axis.dim.n).chain(own).product()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Fft;
    use crate::schedule;

    /// Strides of the dimensions that blocks walk fastest, of each pass.
    fn fastest(n: u64) -> Vec<i64> {
        let limits = Limits::h200();
        let problem = Fft::new([n]).batch(8).build().expect("a problem");
        let passes = schedule::schedule(&problem, &limits).expect("a schedule").passes;
        passes.iter().map(|pass| pass.batch[block_order(pass, limits.l2_bytes)[0]].is).collect()
    }

    #[test]
    fn large_tables_are_read_once_for_all_transforms() {
        // 8 and 16 MB of tables a transform; from one transform to the next its points and the padded ones.
        let long = fastest(1_000_003);
        assert!(long.len() == 3 && long.iter().all(|&stride| stride >= 1_000_003), "{long:?}");
        // 0.5 and 1 MB, and none.
        for n in [65_537, 1 << 20] {
            let short = fastest(n);
            assert!(short.iter().all(|&stride| stride < n as i64), "{n}: {short:?}");
        }
    }
}
