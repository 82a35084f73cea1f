//! The next tile under way while this one is transformed, where numbers are kept shorter than they are computed as and a
//! multiprocessor holds one block: it stays and takes tile after tile, and one asynchronous bulk copy brings the next one to an
//! array of its own, from the first exchange on, behind which nobody needs what was there. Threads have no registers for it, and
//! without it memory stands idle while the block computes. Measured: docs/notes/storage.md.

use crate::cost::Occupancy;
use crate::kernel::{Cmp, Op, Space, Special, Type, Value};
use crate::target::Limits;

use super::layout::Layout;
use super::{Lowering, Stage, Walk, stored};

/// Bytes of the barrier on which a copy completes, and what may lie before it.
const TICKET_BYTES: u32 = 16;
/// Bytes of which bulk copies, and where they start, are multiples.
const UNIT: u64 = 16;

/// What a block needs to have its next tile brought.
#[derive(Clone, Copy)]
pub(super) struct Ahead {
    /// Where the tile comes to.
    pub space: Space,
    /// Completes when it is there.
    filled: Value,
    bytes: u32,
    /// The tile after the one at hand, and whether this thread is to ask for it; `None`: that has been done.
    next: Option<(Value, Value)>,
}

impl Lowering<'_> {
    /// Whether blocks stay and have each tile brought by one copy: `took` is what a tile takes of a multiprocessor.
    pub(super) fn comes_ahead(&self, took: &Occupancy, walk: Walk, limits: &Limits) -> bool {
        let pass = self.pass;
        let [kept, computed] = [pass.element_bytes(false), pass.precision.complex_bytes()];
        let own = self.digits.elements() * kept as u32 + TICKET_BYTES;
        let plain = pass.ends == [None; 2]
            && pass.windows[0].is_empty()
            && pass.axes.iter().all(|axis| axis.method.in_place().is_empty())
            && self.tile.cluster == 1
            && !pass.moves();
        let room = kept < computed && took.shared_bytes + own <= limits.shared_bytes;
        let whole = pass.batch.iter().zip(&self.tile.batch).all(|(dim, &held)| dim.n.is_multiple_of(held));
        let even =
            |tile: u64| [tile, pass.src.offset].iter().all(|&count| (count * kept).is_multiple_of(UNIT));
        // Two blocks fill each other's waits by themselves: 8192 halves took 1.02 copies so and 1.15 by bulk copies, on an H100.
        // Another launch would find in the cache what this one wrote last.
        limits.bulk_copy
            && took.blocks == 1
            && walk == Walk::Alone
            && plain
            && room
            && whole
            && self.packed_tile().is_some_and(even)
    }

    /// Takes tile after tile through the stages.
    pub(super) fn take_turns(&mut self, stages: &[Stage], load: &Layout, store: &Layout) {
        let Some((tiles, blocks)) = self.turns else { return };
        let block = self.b.special(Special::BlockIndex);
        let ahead = self.open_ahead(block);
        let (end, step) = (self.b.u32(tiles as u32), self.b.u32(blocks as u32));
        let (zero, one) = (self.b.u32(0), self.b.u32(1));
        let (index, carried) = self.b.open_loop(&[zero]);
        let parity = carried[0];
        let threads = self.threads;
        self.index_anew();
        let next = self.b.add_const(index, blocks);
        let first = self.b.cmp(Cmp::Eq, self.threads.index, zero);
        let there = self.b.cmp(Cmp::Lt, next, end);
        let asks = self.b.pure(Op::And, Type::Bool, &[first, there]);
        self.ahead = Some(Ahead { next: Some((next, asks)), ..ahead });
        self.b.effect(Op::BarrierWait, &[ahead.filled, parity]);
        self.move_to(index, tiles - 1);
        self.through_stages(stages, load, store);
        if self.ahead.is_some_and(|ahead| ahead.next.is_some()) {
            // There was no exchange.
            self.b.barrier();
            self.ask_ahead();
        }
        let other = self.b.sub(one, parity);
        self.b.close_loop([block, end, step], &[zero], vec![other]);
        self.ahead = None;
        self.threads = threads;
    }

    /// Sets the barrier up, and asks for the block's first tile.
    fn open_ahead(&mut self, block: Value) -> Ahead {
        let elem = stored::elem(self.pass.src.storage);
        let bytes = self.digits.elements() * self.pass.element_bytes(false) as u32;
        // First, so that it is aligned as copies need it.
        let space = self.b.shared("ahead", elem, bytes / elem.bytes());
        // From here on an exchange waits for what a turn before may still read.
        self.block_array(0);
        let tickets = self.b.shared("tickets", Type::U64, 1);
        let zero = self.b.u32(0);
        let filled = self.b.addr(tickets, zero);
        self.shared_limit -= TICKET_BYTES + bytes;
        let first = self.b.cmp(Cmp::Eq, self.threads.index, zero);
        self.b.when(first, |b| {
            b.effect(Op::BarrierInit { count: 1 }, &[filled]);
            b.effect(Op::BarrierInitFence, &[]);
        });
        self.b.barrier();
        let ahead = Ahead { space, filled, bytes, next: None };
        self.ask_for(ahead, block, first);
        ahead
    }

    /// Asks for a tile, by a thread.
    fn ask_for(&mut self, ahead: Ahead, tile: Value, asks: Value) {
        let source = self.space_of((self.sides[0])(0));
        let src = self.pass.src;
        let wide = 2 * src.span > u64::from(u32::MAX / 2);
        let tile = self.b.convert(if wide { Type::U64 } else { Type::U32 }, tile);
        let start = self.b.mul_const(tile, u64::from(ahead.bytes) / src.storage.real_bytes());
        let start = self.b.add_const(start, 2 * src.offset);
        let zero = self.b.u32(0);
        self.b.when(asks, |b| {
            let (from, to) = (b.addr(source, start), b.addr(ahead.space, zero));
            let bytes = b.u32(ahead.bytes);
            b.effect(Op::BarrierExpect, &[ahead.filled, bytes]);
            b.effect(Op::BulkLoad, &[to, from, bytes, ahead.filled]);
        });
    }

    /// Asks for the next tile, behind the first barrier that all threads reach with all that they loaded of this one.
    pub(super) fn ask_ahead(&mut self) {
        let Some((ahead, (tile, asks))) = self.ahead.and_then(|ahead| Some((ahead, ahead.next?))) else {
            return;
        };
        self.ask_for(ahead, tile, asks);
        self.ahead = Some(Ahead { next: None, ..ahead });
    }
}
