//! What later blocks will read, asked for in the cache: where few blocks fit a multiprocessor, or many compute for longer than
//! memory takes, it would else stand idle. Measured: docs/notes/asked-ahead.md.

use crate::cost::{Model, Occupancy};
use crate::kernel::{AtRun, Cmp, Op, Special, Type, Value};
use crate::pass::Carry;
use crate::problem::Format;
use crate::target::Limits;

use super::tile::Tile;
use super::walk::part_of_launch;
use super::{Lowering, Slot, Walk};

/// Blocks on a multiprocessor from which on they hide one another's phases by themselves.
const ENOUGH_BLOCKS: u32 = 3;
/// The same for convolutions, whose blocks wait less for memory.
const ENOUGH_CONVOLUTIONS: u32 = 2;
/// In a launch alone, bytes of a slab of lines or planes from which on it is asked for whatever the number of blocks; and the same
/// of anything that the model expects to take [`SLOW`] copies or more. 302 kernels took 0.977 of the time for it on an H200; below
/// these bytes it is up to 1.27, as memory has no time to spare, and 1.03 for volumes of 16 x 16 x 16 reals.
const LARGE_SLAB: u64 = 16 << 10;
const SLAB: u64 = 4 << 10;
const SLOW: f64 = 1.1;
/// Axes of a volume.
const VOLUME: usize = 3;
/// Part of a wave of resident blocks after which a block reads what one asked for, where each works by itself. With a
/// quarter 16384 points take 1.09 copies and 128 x 128 1.10, with half 1.03 and 1.04.
const OF_BLOCKS: u64 = 2;
/// The same where blocks of a cluster work together, which are many and small. With half 65536 points take 1.35 copies,
/// with a quarter 1.28.
const OF_CLUSTERS: u64 = 4;
/// Bytes that a bulk prefetch is a multiple of.
const UNIT: u64 = 16;

impl Lowering<'_> {
    /// One instruction a block, for a slab of the source part of a wave of resident blocks ahead: what is asked for
    /// earlier is pushed out again before it is read. Only where the source lies packed, so that each block has
    /// a slab, whichever elements it reads itself.
    pub(super) fn prefetch(&mut self, took: &Occupancy, walk: Walk, limits: &Limits) {
        let cluster = u64::from(self.tile.cluster);
        let enough = if self.convolves() { ENOUGH_CONVOLUTIONS } else { ENOUGH_BLOCKS };
        let Some(tile) = self.packed_tile().filter(|_| limits.bulk_copy) else { return };
        let slab = tile / cluster;
        let element = self.pass.element_bytes(false);
        let bytes = slab * element;
        let few = cluster > 1 || took.blocks < enough;
        if !few && (walk != Walk::Alone || !self.pays_for_many(bytes, limits)) {
            return;
        }
        let blocks = self.source_elements() / tile * cluster;
        let resident = u64::from(limits.multiprocessors * took.blocks);
        let part = if cluster > 1 { OF_CLUSTERS } else { OF_BLOCKS };
        let ahead = (resident / part).next_multiple_of(cluster);
        let even = bytes.is_multiple_of(UNIT) && (self.pass.src.offset * element).is_multiple_of(UNIT);
        // What is left of the last unit is asked for with the next slab.
        let bytes = bytes / UNIT * UNIT;
        if ahead >= blocks || !(UNIT..=u64::from(u32::MAX)).contains(&bytes) {
            return;
        }
        let source = if self.pass.in_place() { Slot::Destination(0) } else { Slot::Source(0) };
        let source = self.space_of(source);
        let wide = 2 * self.pass.src.span > u64::from(u32::MAX / 2);
        let ty = if wide { Type::U64 } else { Type::U32 };
        let block = self.b.special(Special::BlockIndex);
        let zero = self.b.u32(0);
        let first = self.b.cmp(Cmp::Eq, self.threads.index, zero);
        let rest = self.blocks_beyond(ahead, blocks);
        let there = self.b.cmp(Cmp::Lt, block, rest);
        let go = self.b.pure(Op::And, Type::Bool, &[first, there]);
        // Of a tile's slabs, each block of a cluster takes one: which, does not matter.
        let number = match walk {
            Walk::Rising | Walk::Alone => self.b.add_const(block, ahead),
            Walk::Falling => {
                let one = self.b.u32(1);
                let first = self.b.sub(rest, one);
                self.b.sub(first, block)
            }
        };
        let number = self.b.convert(ty, number);
        let start = self.b.mul_const(number, 2 * slab);
        let mut start = self.b.add_const(start, 2 * self.pass.src.offset);
        if !even {
            let mask = if wide { u64::MAX } else { u64::from(u32::MAX) };
            let whole = self.b.pure(Op::Const(mask & !(2 * UNIT / element - 1)), ty, &[]);
            start = self.b.binary(Op::And, start, whole);
        }
        let at = self.b.addr(source, start);
        let bytes = self.b.u32(bytes as u32);
        self.b.effect(Op::BulkPrefetch { predicated: true }, &[at, bytes, go]);
        self.prefetches = true;
    }

    /// Whether a slab of so many bytes is worth asking for, though many blocks share the multiprocessor.
    fn pays_for_many(&self, bytes: u64, limits: &Limits) -> bool {
        let Tile { threads, cluster, batch, .. } = self.tile;
        let copies =
            Model::new(self.pass, batch, *cluster, limits).and_then(|model| model.own_copies(*threads));
        let slow = copies.is_some_and(|copies| copies >= SLOW);
        let large = bytes >= LARGE_SLAB && self.pass.axes.len() < VOLUME;
        (large || (slow && bytes >= SLAB)) && !self.is_crowded()
    }

    /// Of so many blocks that have a slab, how many come after the first `ahead`: of those that the run's count leaves, where it
    /// leaves some.
    fn blocks_beyond(&mut self, ahead: u64, blocks: u64) -> Value {
        let Some(AtRun { most, step, blocks }) = part_of_launch(self.pass, self.tile) else {
            return self.b.u32((blocks - ahead) as u32);
        };
        // The last tile may be there in part.
        let count = self.b.special(Special::Count);
        let whole = self.b.div_const(count, step, most.into());
        let blocks = self.b.mul_const(whole, blocks);
        let ahead = self.b.u32(ahead as u32);
        let blocks = self.b.binary(Op::Max, blocks, ahead);
        self.b.sub(blocks, ahead)
    }

    /// Elements that the pass reads.
    fn source_elements(&self) -> u64 {
        self.line_elements() * self.pass.repeats()
    }

    /// Elements of one index of the repeated dimensions.
    fn line_elements(&self) -> u64 {
        let Some((last, others)) = self.pass.axes.split_last() else { return 1 };
        let own = self.pass.ends[0].map_or_else(|| self.pass.held(last, false), |fold| fold.elements());
        others.iter().map(|axis| self.pass.held(axis, false)).product::<u64>() * own
    }

    /// Elements of a tile, if tile after tile lies packed in the source, in the order of the blocks.
    pub(super) fn packed_tile(&self) -> Option<u64> {
        if self.pass.load.is_some()
            || self.pass.images.is_some()
            || self.pass.ends[0].is_some_and(|fold| fold.window.is_some())
            || self.pass.folds_alone()
            || self.pass.src.format != Format::Interleaved
            || !self.packed_axes()
        {
            return None;
        }
        let mut next = self.line_elements();
        let order = self.block_order();
        let slowest = order.iter().rev().find(|&&d| self.pass.batch[d].n > 1);
        let packed = order.iter().filter(|&&d| self.pass.batch[d].n > 1).all(|&d| {
            let (dim, held) = (&self.pass.batch[d], self.tile.batch[d]);
            let fits = dim.is == next as i64 && (dim.n.is_multiple_of(held) || Some(&d) == slowest);
            next *= dim.n;
            fits
        });
        packed.then(|| self.line_elements() * self.tile.batch.iter().product::<u64>())
    }

    /// Whether the axes, with what a tile holds of the repeated dimensions, leave no gap.
    fn packed_axes(&self) -> bool {
        if !self.pass.windows[0].is_empty() {
            return self.packed_windows();
        }
        let sources = self.digits.weights(|digit| digit.is);
        let Some(fold) = self.pass.ends[0] else {
            let whole = self.digits.run(&self.digits.by_stride(&[], &sources), &sources);
            let forward = sources.iter().all(|&stride| stride >= 0);
            return forward && whole == u64::from(self.digits.elements());
        };
        let mut next = fold.elements();
        let others = self.pass.axes.iter().rev().skip(1);
        fold.stride == 1
            && matches!(fold.carry, Carry::Halves)
            && others.fold(true, |packed, axis| {
                let own = axis.dim.is == next as i64;
                next *= axis.dim.n;
                packed && own
            })
    }

    /// Whether what windows leave of the axes does.
    fn packed_windows(&self) -> bool {
        let mut next = 1;
        self.pass.shows_whole_axes(false)
            && self.pass.ends[0].is_none()
            && self.pass.axes.iter().rev().all(|axis| {
                let own = axis.dim.is == next && axis.digits.is_empty();
                next *= self.pass.held(axis, false) as i64;
                own
            })
    }
}
