//! By which caches the source comes: read once, it has no use for the multiprocessor's own; and of memory's lines, what
//! a tile leaves its neighbours want. Measured: docs/notes/columns.md.

use crate::cost::Occupancy;
use crate::kernel::{Cache, Type};
use crate::pass::Pass;
use crate::target::{LINE_BYTES, SECTOR_BYTES};

use super::layout::Layout;
use super::{Lowering, Walk};

/// Bytes that come into the L2 at once where that is asked for.
const AROUND: u64 = 256;

/// Blocks of a multiprocessor, at most, of which the results go first to be evicted, so that what is asked for ahead stays. Of 183
/// transforms of reals in one launch those by one to three blocks took up to 6% less so on an H200 (16384 and 32768 reals, planes of
/// 128 x 128 and 100 x 100), and those by four and more up to 3% more. Complex ones gain nothing.
const STREAMING_BLOCKS: u32 = 3;

/// How a pass writes, of whose blocks a multiprocessor holds what `took` says.
pub(super) fn written(pass: &Pass, took: Option<&Occupancy>, walk: Walk) -> Cache {
    let reals = pass.ends.iter().any(Option::is_some);
    let few = took.is_some_and(|took| took.blocks <= STREAMING_BLOCKS);
    if walk == Walk::Alone && reals && few { Cache::Stream } else { Cache::Default }
}

impl Lowering<'_> {
    /// Cache policy of the source, read in a layout.
    pub(super) fn reading(&self, layout: &Layout) -> Cache {
        if self.caches[0] != Cache::Default || self.ahead.is_some() {
            return self.caches[0];
        }
        let bytes = self.pass.element_bytes(false);
        let sources = self.digits.weights(|digit| digit.is);
        let row = self.digits.run(&self.digits.by_stride(&[layout.block], &sources), &sources) * bytes;
        let mut repeated = self.pass.batch.iter().zip(&self.tile.batch);
        if row < AROUND && repeated.any(|(dim, &held)| dim.is == 1 && held < dim.n) {
            return Cache::L2Wide;
        }
        // What is asked for ahead is in the L2 already. Of what starts within sectors, and of lines that several
        // accesses share, the second part comes from the L1: 4 x 4 points took 1.10 copies past it, 1.00 through it.
        let whole = |stride: i64| stride == 1 || (stride.unsigned_abs() * bytes).is_multiple_of(SECTOR_BYTES);
        let within = |stride: i64| stride.unsigned_abs() * bytes < row;
        let aligned = sources.iter().all(|&stride| whole(stride) || within(stride))
            && self.pass.batch.iter().all(|dim| whole(dim.is))
            && (self.digits.run(&layout.fastest(), &sources) * bytes).is_multiple_of(LINE_BYTES);
        if aligned && (!self.prefetches || self.leaves_rows_out()) { Cache::L2 } else { self.unshaped(false) }
    }

    /// Whether memory holds but a part of some axis of a plane or a volume. With half of each, past the L1 32 x 32 x 32
    /// points take 210 us and 256 x 256 241, through it 238 and 249; lines take up to 4% longer past it.
    fn leaves_rows_out(&self) -> bool {
        self.pass.axes.len() > 1 && self.pass.windows[0].iter().any(|window| window.len < window.n)
    }

    /// Cache policy of a side whatever its layout. A cluster's blocks read by the read-only path, since loads by it need
    /// not wait until the barriers of the cluster are set up: 65536 points take 1.22 copies by it and 1.28 without. In
    /// double precision only lines by themselves gain (2%): 256 x 256 lost 16%, 2^23 by columns 4%.
    pub(super) fn unshaped(&self, writes: bool) -> Cache {
        let own = self.caches[usize::from(writes)];
        let line = self.pass.axes.len() == 1 && self.tile.batch.iter().all(|&held| held == 1);
        let gains = self.cluster.is_some() && (line || self.real == Type::F32);
        let unchanged = !writes && gains && !self.pass.in_place();
        if own == Cache::Default && unchanged { Cache::ReadOnly } else { own }
    }
}
