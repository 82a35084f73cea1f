//! A tile that a cluster of blocks holds together. In the first stages one digit that they do not transform spells
//! the rank of the block; then every block hands its elements out to the others, once, and from there on a digit
//! that is transformed already spells the rank. All other exchanges stay inside a block.
//!
//! The blocks push: asynchronous stores that complete on the receiver's transaction barrier by their bytes. That
//! a block has read what an earlier exchange left in its shared memory, the others learn from a second barrier,
//! at which its warps arrive from afar. Neither needs a fence at the cluster's scope, which would wait for global
//! memory. A block waits for both barriers before it ends, so nothing can reach it after.

use crate::kernel::{Builder, Cache, Cmp, Cx, Op, Space, Special, Type, Value};
use crate::pass::{Carry, Method, Pass, Way};
use crate::problem::Precision;

use super::dealt::Reflected;
use super::digits::Digits;
use super::exchange;
use super::layout::Layout;
use super::tile::Tile;
use super::{Held, Lowering, halves};

/// Rows of the exchange that fill whole segments of memory and of the network.
const ROW_BYTES: u64 = 128;

/// Shared memory that the barriers of a block take.
pub const TICKET_BYTES: u32 = 16;

/// A bit pattern that no conversion from single precision gives: beyond 2^24 the low bits are zero, or all are one.
const NEVER: u32 = u32::MAX - 1;

/// Bytes of rows, mirror images are where they are wanted, digits next to the exchange, digits that stay whole.
type Score = (u64, bool, bool, usize);

/// On which side the blocks of a cluster hold frequencies together with their mirror images where they can, if on any:
/// lines by themselves fold them there.
fn reflects(pass: &Pass, tile: &Tile) -> Option<bool> {
    let line = pass.axes.len() == 1 && tile.cluster.is_power_of_two();
    let halves = |writes: bool| {
        let fold = pass.ends[usize::from(writes)];
        fold.is_some_and(|fold| matches!(fold.carry, Carry::Halves)) && pass.way(writes) == Way::Bins
    };
    [false, true].into_iter().find(|&writes| line && halves(writes))
}

/// Where the tile of a cluster changes hands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// Digit that spells the rank before the exchange between blocks, not transformed until then.
    pub before: usize,
    /// Digit that spells it afterwards, transformed by then.
    pub after: usize,
    /// How many stages the exchange stands behind.
    pub stage: usize,
}

impl Cut {
    /// The best cut of a tile and its digits, cut where they are larger than the cluster; `None` where no two
    /// stages have digits for it or the tile is not of plain stages. Widest rows in memory first, then digits that
    /// lie in registers next to the exchange, then digits that are whole.
    pub fn of(pass: &Pass, tile: &Tile) -> Option<(Digits, Self)> {
        if pass.axes.iter().any(|axis| !matches!(axis.method, Method::MixedRadix(_))) {
            return None;
        }
        let whole = Digits::of(pass, tile);
        let stages: usize = whole.stages.iter().map(Vec::len).sum();
        let bytes = pass.precision.complex_bytes();
        // Within one dimension whole digits are to be had by choosing the radices. Of lines that fold, digits of two for each
        // block keep mirror images together.
        let reflects = reflects(pass, tile);
        let divisible = |&d: &usize| {
            let size = whole.all[d].size;
            size == tile.cluster
                || (pass.axes.len() > 1 && size.is_multiple_of(tile.cluster))
                || (reflects.is_some() && size == 2 * tile.cluster)
        };
        let mut best: Option<(Score, (Digits, Self))> = None;
        for early in (0..stages).filter(divisible) {
            for late in (early + 1..stages).filter(divisible) {
                let mut digits = whole.clone();
                let (after, before) = (digits.cut(early, tile.cluster), digits.cut(late, tile.cluster));
                if let Some(writes) = reflects {
                    let (block, low) = if writes { (after, early) } else { (before, late) };
                    let held = &digits.all[block];
                    let turn = i64::from(held.size) * if writes { held.output } else { held.input };
                    let points = pass.axes[0].dim.n as i64;
                    digits.reflected =
                        Some(Reflected { block, low }).filter(|_| block != low && points % (2 * turn) == 0);
                }
                let row = |without: usize, side: &[i64]| {
                    let order = digits.by_stride(&[Some(without)], side);
                    (digits.run(&order, side) * bytes).min(ROW_BYTES)
                };
                let read = row(before, &digits.weights(|digit| digit.is));
                let written = row(after, &digits.weights(|digit| digit.os));
                let uncut = [after == early, before == late].iter().filter(|&&is| is).count();
                let apart = reflects.is_some() && digits.reflected.is_none();
                let score = (read.min(64) + read + written, !apart, late == early + 1, uncut);
                if best.as_ref().is_none_or(|(least, _)| score > *least) {
                    best = Some((score, (digits, Self { before, after, stage: early + 1 })));
                }
            }
        }
        best.map(|(_, found)| found)
    }

    /// Digits of a pass's tile and, where a cluster hands it over, its cut; `None` where the cluster cannot hold it.
    pub fn of_tile(pass: &Pass, tile: &Tile) -> Option<(Digits, Option<Self>)> {
        if halves::halved(pass) {
            let fits = halves::fit(pass, tile.cluster) && halves::hold(pass, &tile.batch);
            return fits.then(|| (Digits::of(pass, tile), None));
        }
        if tile.cluster == 1 {
            return Some((Digits::of(pass, tile), None));
        }
        Self::of(pass, tile).map(|(digits, cut)| (digits, Some(cut)))
    }

    /// Digit that spells the rank while a stage runs.
    pub fn block(self, stage: usize) -> usize {
        if stage < self.stage { self.before } else { self.after }
    }
}

/// What a block needs to talk to the others.
#[derive(Clone, Copy)]
pub(super) struct Cluster {
    pub cut: Cut,
    size: u32,
    /// The tile's shared array.
    tile: Space,
    /// Completes when the block has all of its tile.
    filled: Value,
    /// Completes when every block has read its shared memory for the last time before the exchange.
    free: Value,
    /// All blocks are known to have started.
    met: bool,
    /// The block has said that the tile may come in, and waits for the others to say so.
    announced: bool,
}

impl Lowering<'_> {
    /// Sets the barriers up and lets the others know that this block has started.
    pub(super) fn open_cluster(&mut self, cut: Cut) {
        let size = self.tile.cluster;
        let rank = self.b.special(Special::ClusterRank);
        // First, so that its rows are aligned as the hardware moves them.
        let tile = self.b.shared("tile", self.real, 0);
        let tickets = self.b.shared("tickets", Type::U64, 2);
        let (zero, one) = (self.b.u32(0), self.b.u32(1));
        let (filled, free) = (self.b.addr(tickets, zero), self.b.addr(tickets, one));
        let bytes = u64::from(self.digits.elements() / size) * self.pass.precision.complex_bytes();
        let warps = self.threads.count.div_ceil(self.subgroup);
        let first = self.b.cmp(Cmp::Eq, self.threads.index, zero);
        self.b.when(first, |b| {
            b.effect(Op::BarrierInit { count: 1 }, &[filled]);
            b.effect(Op::BarrierInit { count: size * warps }, &[free]);
            b.effect(Op::BarrierInitFence, &[]);
        });
        // Nothing needs it, as one thread does both; but `compute-sanitizer` takes them for two, and it costs nothing.
        self.b.barrier();
        self.b.when(first, |b| {
            let bytes = b.u32(bytes as u32);
            b.effect(Op::BarrierExpect, &[filled, bytes]);
        });
        self.b.effect(Op::ClusterArrive { relaxed: true }, &[]);
        self.threads.rank = Some(rank);
        self.shared = Some(tile);
        self.shared_limit -= TICKET_BYTES;
        self.cluster = Some(Cluster { cut, size, tile, filled, free, met: false, announced: false });
    }

    /// The layout in which the tile is read after the exchange between blocks: as the stage before left it, with the digit of the
    /// next stage in its registers. Where that is the digit that spelled the rank, a thread reads what threads of its own
    /// number wrote.
    pub(super) fn remote_layout(&self, from: &Layout, cut: Cut, register: usize) -> Layout {
        let registers = self.digits.parts(Some(register));
        let kept = from.by_threads().filter(|&d| !registers.contains(&Some(d)));
        let low = from.register.filter(|&d| d != cut.after);
        let late = Some(cut.before).filter(|_| !registers.contains(&Some(cut.before)));
        let order = kept.chain(low).chain(late).collect();
        Layout { register: Some(register), order, block: Some(cut.after), pair: None }
    }

    /// Moves the tile between the blocks of the cluster. The digit in the registers, or its upper part, becomes the
    /// rank: which register goes to which block is known here.
    pub(super) fn remote_exchange(&mut self, held: &Held, from: &Layout, to: &Layout) -> Held {
        let Some(Cluster { cut, size, tile, filled, .. }) = self.cluster else { return held.clone() };
        if self.cluster.as_ref().is_some_and(|cluster| !cluster.announced) {
            // The first frequency of a group is the sum of its points.
            let sums = held.iter().map(|group| group[..1].to_vec()).collect();
            self.announce_room(&sums);
        }
        self.await_room();
        let bytes = self.pass.precision.complex_bytes();
        let most = u64::from(self.shared_limit) / bytes;
        let shared = exchange::between(&self.digits, from, to, (self.threads.count, bytes, most as u32));
        self.conflicts = self.conflicts.max(shared.conflicts);
        let strides: Vec<i64> = shared.strides.iter().map(|stride| 2 * stride).collect();
        self.b.grow_shared(tile, 2 * shared.len);
        self.exchanges += 1;
        let ranks = self.digits.weights(|_| 0);
        let ranks: Vec<i64> = (0..ranks.len()).map(|d| i64::from(d == cut.after)).collect();
        let reflected = self.digits.reflected.filter(|own| own.block == cut.after);
        let place = |this: &Self, r| {
            let offset = this.digits.at_register(from.register, &strides, r);
            let rank = this.digits.at_register(from.register, &ranks, r) as u32;
            let flips = reflected.is_some_and(|own| r as u32 % this.digits.all[own.low].size == 1);
            (if flips { size - 1 - rank } else { rank }, offset)
        };
        let places: Vec<(u32, i64)> =
            (0..from.registers(&self.digits) as usize).map(|r| place(self, r)).collect();
        for (slot, group) in held.iter().enumerate() {
            let exists = self.exists(from, slot as u32);
            let (near, base) = self.shared_pointer(tile, from, slot as u32, &strides);
            let push = |b: &mut Builder| {
                for (x, &(rank, offset)) in group.iter().zip(&places) {
                    let rank = b.u32(rank);
                    let (far, ticket) = (remote(b, near, rank), remote(b, filled, rank));
                    b.effect(
                        Op::RemoteStoreAsync { width: 2, offset: (base + offset) as i32 },
                        &[far, ticket, x.re, x.im],
                    );
                }
            };
            match exists {
                Some(exists) => self.b.when(exists, push),
                None => push(&mut self.b),
            }
        }
        let zero = self.b.u32(0);
        self.b.effect(Op::BarrierWait, &[filled, zero]);
        self.read_shared(tile, to, &strides)
    }

    /// Waits until all blocks of the cluster have started; without one, does nothing.
    pub(super) fn meet(&mut self) {
        if let Some(cluster) = self.cluster.as_mut().filter(|cluster| !cluster.met) {
            cluster.met = true;
            self.b.effect(Op::ClusterWait, &[]);
        }
    }

    /// What the blocks of the cluster, or the threads of the block, have stored in shared memory is there for all of them.
    pub(super) fn everywhere(&mut self) {
        if self.cluster.is_none() { self.b.barrier() } else { self.b.cluster_barrier() }
    }

    /// Says that the block has read what it wants of others' shared memory. As this releases, it comes before the block
    /// stores to global memory, which it would wait for.
    pub(super) fn leave(&mut self) {
        if self.cluster.is_some() {
            self.b.effect(Op::ClusterArrive { relaxed: false }, &[]);
        }
    }

    /// Waits until all blocks of the cluster have said so.
    pub(super) fn part(&mut self) {
        if self.cluster.is_some() {
            self.b.effect(Op::ClusterWait, &[]);
        }
    }

    /// Announces room as soon as the stage before the exchange has its points, so that the word is on its way while it
    /// computes. Not where numbers of 16 bits are converted, whose kernels have no register to spare.
    pub(super) fn announce_early(&mut self, held: &Held) {
        if [self.pass.src, self.pass.dst].iter().all(|side| side.storage.real_bytes() >= 4) {
            self.announce_room(held);
        }
    }

    /// Says to all blocks of the cluster that this one has read what lies where its part of the tile will come in.
    fn announce_room(&mut self, held: &Held) {
        let Some(Cluster { size, free, .. }) = self.cluster else { return };
        if self.exchanges == 0 && !self.pass.in_place() && !self.staged(false) {
            return;
        }
        self.meet();
        self.b.barrier();
        // A remote arrival may overtake loads from shared memory that are still under way: it goes only once what
        // follows from all that the thread loaded is there.
        let count = self.threads.count;
        let lane = self.b.rem_const(self.threads.index, self.subgroup, u64::from(count) - 1);
        let limit = self.b.u32(size);
        let one_each = self.b.cmp(Cmp::Lt, lane, limit);
        let never = self.b.u32(NEVER);
        let loaded = self.follows(held);
        let single = self.b.convert(Type::F32, loaded);
        let whole = self.b.convert(Type::U32, single);
        let loaded = self.b.cmp(Cmp::Ne, whole, never);
        let go = self.b.pure(Op::And, Type::Bool, &[one_each, loaded]);
        self.b.when(go, |b| arrive(b, free, lane));
        // The lanes of a last warp with fewer of them than there are blocks go round.
        let lanes = (count - 1) % self.subgroup + 1;
        if lanes < size {
            let least = self.b.u32(count - lanes);
            let is_last = self.b.cmp(Cmp::Ge, self.threads.index, least);
            let last = self.b.pure(Op::And, Type::Bool, &[is_last, loaded]);
            self.b.when(last, |b| {
                for round in 1..size.div_ceil(lanes) {
                    let step = b.u32(round * lanes);
                    let rank = b.add(lane, step);
                    if (round + 1) * lanes <= size {
                        arrive(b, free, rank);
                    } else {
                        let exists = b.cmp(Cmp::Lt, rank, limit);
                        b.when(exists, |b| arrive(b, free, rank));
                    }
                }
            });
        }
        if let Some(cluster) = self.cluster.as_mut() {
            cluster.announced = true;
        }
    }

    /// A number that follows from every point: the real part and the imaginary one come by the same load.
    fn follows(&mut self, held: &Held) -> Value {
        // The bits of two singles for one double are none of its own.
        let bits = match self.real {
            Type::F32 => Some(Type::U32),
            Type::F64 if self.pass.precision != Precision::DoubleSingle => Some(Type::U64),
            _ => None,
        };
        let reals: Vec<Value> = held.iter().flatten().map(|x| x.re).collect();
        let Some(bits) = bits else {
            return reals.into_iter().reduce(|a, b| self.b.add(a, b)).expect("a tile has points");
        };
        let words: Vec<Value> =
            reals.into_iter().map(|real| self.b.pure(Op::Bitcast, bits, &[real])).collect();
        words.into_iter().reduce(|a, b| self.b.binary(Op::Or, a, b)).expect("a tile has points")
    }

    /// Waits until all blocks of the cluster have started, and have announced their room where any needs to.
    fn await_room(&mut self) {
        self.meet();
        if let Some(Cluster { free, announced: true, .. }) = self.cluster {
            let zero = self.b.u32(0);
            self.b.effect(Op::BarrierWait, &[free, zero]);
        }
    }

    /// Reads the tile from shared memory.
    pub(super) fn read_shared(&mut self, space: Space, to: &Layout, strides: &[i64]) -> Held {
        let registers = to.registers(&self.digits) as usize;
        (0..to.slots(&self.digits, self.threads.count))
            .map(|slot| {
                let exists = self.exists(to, slot);
                let (ptr, base) = self.shared_pointer(space, to, slot, strides);
                (0..registers)
                    .map(|r| {
                        let offset = (base + self.digits.at_register(to.register, strides, r)) as i32;
                        let x = self.b.load(ptr, offset, 2, Cache::Default, exists);
                        Cx { re: x[0], im: x[1] }
                    })
                    .collect()
            })
            .collect()
    }
}

/// One arrival at the barrier of a block.
fn arrive(b: &mut Builder, barrier: Value, rank: Value) {
    let far = remote(b, barrier, rank);
    b.effect(Op::BarrierArrive, &[far]);
}

/// The same place in another block's shared memory.
pub(super) fn remote(b: &mut Builder, ptr: Value, rank: Value) -> Value {
    let Type::Ptr(Space::Shared(array)) = b.ty(ptr) else {
        unreachable!("shared memory alone has a remote side")
    };
    b.pure(Op::MapRemote, Type::Ptr(Space::Remote(array)), &[ptr, rank])
}
