//! Two passes in one launch: a block for each tile of both, in an order in which what a block waits for comes before
//! it. The first pass writes items, a transform or a volume each, to the slots of a ring; the second reads them
//! there. Two counters a slot say how many tiles have written it, and how many have read it.
//!
//! A block's place in the order is a ticket: who holds a smaller one has started, so that waiting for it ends,
//! in whatever order the hardware starts blocks.

use crate::cost;
use crate::kernel::{Access, Builder, Cache, Cmp, Kernel, Op, Space, Special, Type, Value};
use crate::pass::{Pass, PassDim};
use crate::target::Limits;

use super::digits::Digits;
use super::tile::Tile;
use super::{Lowering, Slot};
use work::Work;

mod work;

/// Words from one counter to the next: each lies in a cache line of its own.
pub const COUNTER_WORDS: u32 = 32;
/// Threads of the block that clears the counters, at most.
const CLEARING: u32 = 256;

/// Shared memory in which a block hands its ticket round.
pub const TICKET_BYTES: u32 = 16;

/// The ring between two passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ring {
    /// Slots.
    pub slots: u32,
    /// Items that the first pass is ahead of the second: fewer than there are slots.
    pub ahead: u32,
    /// Elements from one slot to the next.
    pub slot: u64,
    /// Region of the workspace in which the counters lie.
    pub counters: u8,
    /// A tile of the first pass waits for its slot while its loads are under way, and not when it has something to
    /// store.
    pub early: bool,
    /// In a step of both passes their tiles take turns; else those of the first pass come first.
    pub woven: bool,
}

impl Ring {
    /// Words of the counters: the ticket, and two for each slot.
    pub const fn counter_words(&self) -> u32 {
        COUNTER_WORDS * (2 * self.slots + 1)
    }
}

/// A kernel of two passes and what its buffers stand for.
#[derive(Debug, Clone)]
pub struct Fused {
    /// The kernel.
    pub kernel: Kernel,
    /// One for each buffer.
    pub slots: Vec<Slot>,
    /// Of each pass, as in [`Lowered`](super::Lowered).
    pub conflicts: [f64; 2],
    /// Of each pass: exchanges through shared memory.
    pub exchanges: [u32; 2],
}

/// Blocks of a launch of two passes.
pub fn blocks(passes: [&Pass; 2], tiles: [&Tile; 2], ring: &Ring) -> u64 {
    Work::of(passes, tiles, ring).blocks()
}

/// Whether tiles of both passes could take turns in a step of a launch: their numbers have a common divisor beyond 1.
pub fn takes_turns(passes: [&Pass; 2], tiles: [&Tile; 2], ring: &Ring) -> bool {
    let work = Work::of(passes, tiles, &Ring { woven: true, ..*ring });
    work.of_turn() != work.tiles
}

/// Whether a repeated dimension of the pass before or after the ring numbers the items: it has no stride there.
fn numbers_items(dim: &PassDim, before: bool) -> bool {
    (if before { dim.os } else { dim.is }) == 0
}

/// What a block of a fused launch knows beside its tile.
#[derive(Clone, Copy)]
pub(super) struct Share {
    /// Whether it is of the first pass.
    first: bool,
    /// Start of the item's slot, in reals.
    pub slot: Value,
    /// Counters of tiles that wrote the slot, and that read it.
    written: Value,
    read: Value,
    /// What the slot's counter must reach before the ring is touched.
    awaited: Value,
    /// Whether the others still have to hear that the tile was read from the ring.
    unread: bool,
    /// Whether the tile waits while its loads are under way; whether it has, and all its threads have heard of it.
    early: bool,
    waited: bool,
    heard: bool,
}

/// Lowers two passes that a ring joins to one kernel.
pub fn lower(passes: [&Pass; 2], tiles: [&Tile; 2], ring: &Ring, limits: &Limits, name: &str) -> Fused {
    let work = Work::of(passes, tiles, ring);
    let mut b = Builder::new(name, tiles[0].threads, work.blocks());
    b.min_blocks(cost::fused::told(passes, tiles, limits));
    if let Some(at_run) = work.part_of_launch() {
        b.at_run(at_run);
    }
    let mut lowering = Lowering::new(b, passes[0], tiles[0], limits);
    lowering.shared_limit -= TICKET_BYTES;
    let counters = lowering.declare_fused(passes, ring);
    let told = lowering.b.shared("ticket", Type::U32, 1);
    let place = lowering.own_place(counters, told, &work);
    let found = lowering.tiles_at(place, passes, tiles, &work, ring, counters);
    lowering.fused(found)
}

/// A kernel that makes the counters ready.
pub fn clear(ring: &Ring, limits: &Limits) -> Kernel {
    let threads = CLEARING.min(limits.max_threads);
    let words = ring.counter_words();
    let mut b = Builder::new("clear", threads, 1);
    let counters = b.buffer("counters", Type::U32, Access::Write, words.into());
    let (thread, zero, end) = (b.special(Special::ThreadIndex), b.u32(0), b.u32(words));
    let at = b.addr(counters, thread);
    for start in (0..words).step_by(threads as usize) {
        let rest = words - start;
        let on = (rest < threads).then(|| {
            let index = b.add_const(thread, start.into());
            b.cmp(Cmp::Lt, index, end)
        });
        b.store(at, start as i32, &[zero], Cache::Default, on);
    }
    b.finish()
}

impl<'a> Lowering<'a> {
    /// Declares all buffers but tables; gives the counters'.
    fn declare_fused(&mut self, passes: [&Pass; 2], ring: &Ring) -> Space {
        let [a, z] = passes;
        let shared = a.src.array == z.dst.array;
        if !shared {
            self.declare(a.src, Access::Read, Slot::Source, "src");
        }
        self.declare(a.dst, Access::ReadWrite, |_| Slot::Ring, "ring");
        let access = if shared { Access::ReadWrite } else { Access::Write };
        self.declare(z.dst, access, Slot::Destination, "dst");
        let counters = self.b.buffer("counters", Type::U32, Access::ReadWrite, ring.counter_words().into());
        self.slots.push(Slot::Counters);
        self.spaces.push(counters);
        self.sides = [if shared { Slot::Destination } else { Slot::Source }, |_| Slot::Ring];
        self.caches = [Cache::Stream, Cache::L2];
        counters
    }

    /// The tile of whichever pass stands at that place; conflicts and exchanges of both.
    fn tiles_at(
        &mut self,
        place: Value,
        passes: [&'a Pass; 2],
        tiles: [&'a Tile; 2],
        work: &Work,
        ring: &Ring,
        counters: Space,
    ) -> [(f64, u32); 2] {
        let b = &mut self.b;
        let head = work.head(b);
        // A place in the steps of both passes, the item's number in these, and the place in its step.
        let step = work.step() as u32;
        let most = work.blocks() - 1;
        let since = b.sub(place, head);
        let number = b.div_const(since, step, most);
        let within = b.rem_const(since, step, most);
        let end = work.main(b);
        let [firsts, seconds] = work.tiles.map(|tiles| tiles as u32);
        let early = b.cmp(Cmp::Lt, place, head);
        let inside = b.cmp(Cmp::Lt, since, end);
        // Turns of both passes in a step, and the place in one.
        let [own_firsts, own_seconds] = work.of_turn().map(|tiles| tiles as u32);
        let own_tiles = own_firsts + own_seconds;
        let last = work.step() - 1;
        let [turn, at] = [b.div_const(within, own_tiles, last), b.rem_const(within, own_tiles, last)];
        let bound = b.u32(own_firsts);
        let own = b.cmp(Cmp::Lt, at, bound);
        let own = b.binary(Op::And, inside, own);
        let first = b.binary(Op::Or, early, own);
        let yes = b.bool(true);
        let second = b.binary(Op::Xor, first, yes);

        b.open_branch();
        let [item, tile] = [b.div_const(place, firsts, most), b.rem_const(place, firsts, most)];
        let later = work.later(b, number);
        let before = b.mul_const(turn, own_firsts.into());
        let own = b.add(before, at);
        let (item, tile) = (b.select(early, item, later), b.select(early, tile, own));
        self.tile_of_item(item, tile, work, ring, counters, true);
        self.run();
        self.signal_written();
        self.b.close_branch(first);
        let one = (self.conflicts, self.exchanges);

        self.turn_to(passes[1], tiles[1]);
        self.b.open_branch();
        let b = &mut self.b;
        let late = b.sub(since, end);
        let item = b.div_const(late, seconds, most);
        let rest = work.rest(b);
        let item = b.add(item, rest);
        let tile = b.rem_const(late, seconds, most);
        let before = b.mul_const(turn, own_seconds.into());
        let own = b.sub(at, bound);
        let own = b.add(before, own);
        let (item, tile) = (b.select(inside, number, item), b.select(inside, own, tile));
        self.tile_of_item(item, tile, work, ring, counters, false);
        self.await_ring();
        self.run();
        self.signal_read_late();
        self.b.close_branch(second);
        [one, (self.conflicts, self.exchanges)]
    }

    fn fused(self, found: [(f64, u32); 2]) -> Fused {
        Fused {
            conflicts: found.map(|(conflicts, _)| conflicts),
            exchanges: found.map(|(_, exchanges)| exchanges),
            kernel: self.b.finish(),
            slots: self.slots,
        }
    }

    /// Goes on to the second pass.
    fn turn_to(&mut self, pass: &'a Pass, tile: &'a Tile) {
        self.pass = pass;
        self.tile = tile;
        self.digits = Digits::of(pass, tile);
        self.direction = pass.direction;
        self.spare = self.shared.take();
        self.sides = [|_| Slot::Ring, Slot::Destination];
        self.caches = [Cache::L2, Cache::Stream];
        (self.conflicts, self.exchanges) = (1.0, 0);
    }

    /// The block's place in the order of all blocks, the same in all its threads.
    fn own_place(&mut self, counters: Space, told: Space, work: &Work) -> Value {
        let index = self.b.special(Special::BlockIndex);
        if work.blocks() == 1 {
            return index;
        }
        let (zero, one) = (self.b.u32(0), self.b.u32(1));
        let (ticket, told) = (self.b.addr(counters, zero), self.b.addr(told, zero));
        self.by_one(|b| {
            let taken = b.impure(Op::AtomicAdd { relaxed: true }, &[ticket, one], &[Type::U32]);
            b.store(told, 0, &taken, Cache::Default, None);
        });
        self.b.barrier();
        self.b.load(told, 0, 1, Cache::Default, None)[0]
    }

    fn by_one(&mut self, body: impl FnOnce(&mut Builder)) {
        let zero = self.b.u32(0);
        let one = self.b.cmp(Cmp::Eq, self.threads.index, zero);
        self.b.when(one, body);
    }

    /// Where a tile of an item lies, in memory and in the ring.
    fn tile_of_item(
        &mut self,
        item: Value,
        tile: Value,
        work: &Work,
        ring: &Ring,
        counters: Space,
        first: bool,
    ) {
        let (numbering, within): (Vec<usize>, Vec<usize>) =
            self.block_order().into_iter().partition(|&d| numbers_items(&self.pass.batch[d], first));
        let zero = self.b.u32(0);
        self.origin = vec![zero; self.pass.batch.len()];
        // Both passes count items in the order in which they name the dimensions.
        let mut numbering = numbering;
        numbering.sort_unstable_by_key(|&d| std::cmp::Reverse(d));
        let tiles = work.tiles[usize::from(!first)];
        self.walk(&numbering, item, work.items - 1);
        self.walk(&within, tile, tiles - 1);
        let b = &mut self.b;
        let most = work.items - 1;
        let slot = b.rem_const(item, ring.slots, most);
        let round = b.div_const(item, ring.slots, most);
        let start = b.mul_const(slot, 2 * ring.slot);
        let pair = b.mul_const(slot, (2 * COUNTER_WORDS).into());
        let [written, read] = [COUNTER_WORDS, 2 * COUNTER_WORDS].map(|from| {
            let at = b.add_const(pair, from.into());
            b.addr(counters, at)
        });
        // All that read the item before, or all that write this one.
        let awaited = if first {
            b.mul_const(round, work.tiles[1])
        } else {
            let rounds = b.add_const(round, 1);
            b.mul_const(rounds, work.tiles[0])
        };
        self.share = Some(Share {
            first,
            slot: start,
            written,
            read,
            awaited,
            unread: !first,
            early: ring.early,
            waited: false,
            heard: false,
        });
    }

    /// Waits until the ring may be touched: nothing but a fence in the common case.
    fn await_ring(&mut self) {
        self.wait();
        if self.share.is_some() {
            self.b.barrier();
        }
    }

    /// One thread waits; the others hear of it at the next barrier.
    fn wait(&mut self) {
        let Some(share) = &mut self.share else { return };
        share.waited = true;
        let Share { first, awaited, .. } = *share;
        let counter = if first { share.read } else { share.written };
        self.by_one(|b| b.effect(Op::CounterWait, &[counter, awaited]));
    }

    /// Called when a tile's loads are under way.
    pub(super) fn await_early(&mut self) {
        if self.share.is_some_and(|share| share.first && share.early) {
            self.wait();
        }
    }

    /// Waits before a tile of the first pass is stored, if it has not waited before.
    pub(super) fn await_slot(&mut self) {
        match self.share {
            Some(share) if share.first && !share.waited => self.await_ring(),
            Some(share) if share.first && !share.heard => self.b.barrier(),
            _ => {}
        }
    }

    /// Called behind the barrier of an exchange.
    pub(super) fn exchanged(&mut self) {
        if let Some(share) = &mut self.share {
            share.heard = share.waited;
        }
        self.signal_read();
    }

    fn signal_written(&mut self) {
        let Some(share) = self.share.take() else { return };
        self.b.barrier();
        let one = self.b.u32(1);
        self.by_one(|b| b.effect(Op::CounterAdd, &[share.written, one]));
    }

    /// Says that the tile has been read from the ring. Called behind a barrier that all threads reach only with all
    /// that they loaded: a signal could overtake loads that are under way.
    fn signal_read(&mut self) {
        if let Some(share) = self.share.as_mut().filter(|share| share.unread) {
            share.unread = false;
            let (counter, one) = (share.read, self.b.u32(1));
            self.by_one(|b| b.effect(Op::CounterAdd, &[counter, one]));
        }
    }

    /// As [`Lowering::signal_read`], where no exchange came before.
    fn signal_read_late(&mut self) {
        if self.share.is_some_and(|share| share.unread) {
            self.b.barrier();
            self.signal_read();
        }
    }
}
