//! Pass and tile to kernel: load a tile, run its stages with exchanges through shared memory between them, store
//! it. One generic path serves rows, columns, planes and volumes of every method.

mod ahead;
mod balanced;
mod caching;
pub mod cluster;
mod coprime;
pub mod dealt;
mod decimated;
pub mod digits;
mod element;
pub mod exchange;
mod filter;
mod fold;
mod forms;
mod function;
pub mod fused;
mod group;
mod guards;
pub mod halves;
mod images;
mod in_place;
pub mod layout;
mod line;
mod memory;
mod order;
pub(crate) mod places;
mod pointwise;
mod prefetch;
mod rader_halves;
mod step;
pub(crate) mod stored;
pub mod tile;
pub mod twiddle;
mod twos;
mod walk;
mod wavefronts;
pub(crate) mod wide;
mod window;
mod writes;

use crate::cost::{self, Occupancy};
use crate::kernel::{Builder, Cache, Cx, Kernel, Space, Special, Type, Value};
use crate::pass::{Pass, TableKind};
use crate::problem::{Direction, Precision, Storage};
use crate::target::Limits;

use cluster::{Cluster, Cut};
pub(crate) use coprime::PIECE;
use digits::Digits;
pub(crate) use layout::edge;
use layout::{Layout, Threads};
use tile::Tile;
pub use walk::Walk;
use walk::part_of_launch;

/// What a kernel's buffer stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Slot {
    /// A plane of the source.
    Source(u8),
    /// A plane of the destination; in place, of both.
    Destination(u8),
    /// What lies between two passes of one launch.
    Ring,
    /// Counters of a fused launch.
    Counters,
    /// The factors of the frequencies.
    Filter,
    /// A constant table.
    Table(TableKind),
}

/// A kernel and what its buffers stand for.
#[derive(Debug, Clone)]
pub struct Lowered {
    /// The kernel.
    pub kernel: Kernel,
    /// One for each buffer.
    pub slots: Vec<Slot>,
    /// Wavefronts of the exchanges over the fewest possible; 1 is free of conflicts.
    pub conflicts: f64,
    /// Exchanges through shared memory.
    pub exchanges: u32,
}

/// Registers of a thread from which on an assembler is told of even one block: by itself it aims at more, and spills.
const MANY: u32 = 128;

/// Stage `position` of axis `axis`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stage {
    axis: usize,
    position: usize,
}

/// A tile in registers: `[slot][register]`.
type Held = Vec<Vec<Cx>>;

pub(crate) struct Lowering<'a> {
    b: Builder,
    pass: &'a Pass,
    tile: &'a Tile,
    digits: Digits,
    threads: Threads,
    /// Tiles, and the blocks that stay to go through them; `None`: a block for each tile.
    turns: Option<(u64, u64)>,
    /// Uniform index at which the block's tile starts in each repeated dimension.
    origin: Vec<Value>,
    /// Whether there is such a tile; `None`: there is.
    guard: Option<Value>,
    real: Type,
    /// Sign of the exponent of what is being lowered.
    direction: Direction,
    slots: Vec<Slot>,
    spaces: Vec<Space>,
    /// All stages, in the order in which they run.
    stages: Vec<Stage>,
    /// What the sides of the pass are bound to, and how they are cached: where it reads, where it writes.
    sides: [fn(u8) -> Slot; 2],
    caches: [Cache; 2],
    /// What it reads has been asked for by an earlier block.
    prefetches: bool,
    /// What the block shares with others of a fused launch.
    share: Option<fused::Share>,
    /// The tile that comes by a bulk copy.
    ahead: Option<ahead::Ahead>,
    shared: Option<Space>,
    /// Arrays of a convolution's lines on the way in and out, where these fold.
    lines: [Option<Space>; 2],
    /// How many numbers have been read that a compiler is not to know to be equal; `None`: it may.
    told_apart: Option<u64>,
    /// Where lines stand there, on each side that folds.
    rows: [Option<fold::rows::Rows>; 2],
    /// A shared array that another pass of the launch has used, and its blocks do not.
    spare: Option<Space>,
    shared_limit: u32,
    /// Bytes of the cache that all blocks share.
    cache_bytes: u64,
    /// Registers that a thread can have.
    registers: u32,
    subgroup: u32,
    /// Doubles are computed half as fast as singles, and not much less.
    fast_doubles: bool,
    cluster: Option<Cluster>,
    /// Permuted ends take the tile piece by piece.
    piecewise: bool,
    /// At most one other block shares the multiprocessor.
    unaccompanied: bool,
    /// A stage that each group goes through when it is written, so that its registers are free for the next.
    late: Option<Stage>,
    /// Whether input digits may count from below zero, and how they do.
    balances: bool,
    balance: Option<balanced::Balance>,
    /// Indices of folds that are sums.
    sums: fold::index::Sums,
    conflicts: f64,
    exchanges: u32,
}

/// Lowers one pass for one device.
///
/// # Panics
///
/// Where the tile is of a cluster that cannot share it ([`Cut::of`]); [`tile::choose`] gives none such.
pub fn lower(pass: &Pass, tile: &Tile, walk: Walk, limits: &Limits, name: &str) -> Lowered {
    let tiles = tile.blocks(pass) / u64::from(tile.cluster);
    let took = cost::occupancy(pass, tile, limits);
    let mut b = Builder::new(name, tile.threads, tiles * u64::from(tile.cluster));
    b.cluster(tile.cluster);
    if let Some(at_run) = part_of_launch(pass, tile) {
        b.at_run(at_run);
    }
    // Told of nothing, the assembler was seen to make room for two blocks where one fits, and to spill.
    let tells = |took: &Occupancy| took.told > 1 || took.piecewise || took.registers > MANY;
    if let Some(took) = took.filter(|took| tile.resident.is_some() || tells(took)) {
        b.min_blocks(took.told);
    }
    let (digits, cut) = Cut::of_tile(pass, tile).expect("a cluster's tile is one that it can share");
    let mut lowering = Lowering::new(b, pass, tile, limits);
    lowering.digits = digits;
    if let Some(took) = took.filter(|_| tile.cluster > 1) {
        lowering.shared_limit = took.room(limits);
    }
    lowering.piecewise = took.is_some_and(|took| took.piecewise);
    lowering.unaccompanied = took.is_some_and(|took| took.blocks <= 2);
    lowering.balances = balanced::worth(pass, tile, limits);
    lowering.caches[1] = caching::written(pass, took.as_ref(), walk);
    let blocks = lowering.stay(took.as_ref(), walk, limits);
    lowering.declare_operands();
    let block = lowering.b.special(Special::BlockIndex);
    let mut index = lowering.b.div_const(block, tile.cluster, u64::from(tile.cluster) * tiles - 1);
    let walk = if blocks == tiles { walk } else { Walk::Rising };
    if walk == Walk::Falling {
        let end = lowering.last_tile(tiles);
        index = lowering.b.sub(end, index);
    }
    lowering.move_to(index, tiles - 1);
    if let Some(took) = took.filter(|_| blocks == tiles) {
        lowering.prefetch(&took, walk, limits);
    }
    if let Some(cut) = cut {
        lowering.open_cluster(cut);
    }
    lowering.run();
    Lowered {
        kernel: lowering.b.finish(),
        slots: lowering.slots,
        conflicts: lowering.conflicts,
        exchanges: lowering.exchanges,
    }
}

impl<'a> Lowering<'a> {
    /// Nothing written yet, for tiles of one block.
    fn new(mut b: Builder, pass: &'a Pass, tile: &'a Tile, limits: &Limits) -> Self {
        let threads = Threads { index: b.special(Special::ThreadIndex), count: tile.threads, rank: None };
        // Pairs of singles are made of what has been lowered in doubles.
        let real = stored::elem(Storage::of(pass.precision));
        // Tables are to stay in the cache of a convolution, which reads more of them than of data.
        let convolves = pass.axes.iter().any(|axis| axis.method.convolves());
        Self {
            b,
            pass,
            tile,
            digits: Digits::of(pass, tile),
            threads,
            turns: None,
            origin: Vec::new(),
            guard: None,
            real,
            direction: pass.direction,
            slots: Vec::new(),
            spaces: Vec::new(),
            stages: Vec::new(),
            sides: [if pass.in_place() { Slot::Destination } else { Slot::Source }, Slot::Destination],
            caches: [if convolves { Cache::L2 } else { Cache::Default }, Cache::Default],
            prefetches: false,
            share: None,
            ahead: None,
            shared: None,
            lines: [None; 2],
            rows: [None, None],
            spare: None,
            shared_limit: limits.shared_bytes,
            cache_bytes: limits.l2_bytes,
            registers: limits
                .registers_per_thread
                .min(limits.registers_per_sm / tile.threads.next_multiple_of(4 * limits.subgroup)),
            subgroup: limits.subgroup,
            fast_doubles: limits.fast_doubles(),
            cluster: None,
            piecewise: false,
            unaccompanied: false,
            late: None,
            told_apart: (pass.precision == Precision::DoubleSingle && pass.broadcasts()).then_some(0),
            balances: false,
            balance: None,
            sums: fold::index::Sums::default(),
            conflicts: 1.0,
            exchanges: 0,
        }
    }

    fn run(&mut self) {
        self.align_rows();
        if self.pass.folds_alone() {
            return self.fold_alone();
        }
        self.order_stages();
        self.fold_in();
        self.run_stages();
        self.fold_out();
    }

    fn run_stages(&mut self) {
        if self.run_in_place() {
            return;
        }
        let stages = self.stages.clone();
        let first = stages.first().map(|stage| self.register(*stage));
        let last = stages.last().map(|stage| self.register(*stage));
        let cut = self.cluster.as_ref().map(|cluster| cluster.cut);
        let [read, written] =
            self.cut_pairs([first, last], [cut.map(|cut| cut.before), cut.map(|cut| cut.after)]);
        let sources = self.digits.weights(|digit| digit.is);
        let destinations = self.digits.weights(|digit| digit.os);
        let load = self.edge_layout(first, cut.map(|cut| cut.before), &sources, false);
        let store = self.edge_layout(last, cut.map(|cut| cut.after), &destinations, true);
        let images = self.image_digit();
        let (load, store) =
            (Self::with_pairs(load, images.or(read)), Self::with_pairs(store, images.or(written)));
        self.balance = self.balance(&load);
        if self.turns.is_some() {
            return self.take_turns(&stages, &load, &store);
        }
        self.through_stages(&stages, &load, &store);
    }

    /// A tile from memory through its stages, and back.
    fn through_stages(&mut self, stages: &[Stage], load: &Layout, store: &Layout) {
        let mut held = self.load(load);
        if self.twiddles_read() {
            self.twiddle_all(load, &mut held);
        }
        self.await_early();
        let (current, mut held) = self.transform(stages, load.clone(), store, held);
        if self.twiddles_points() {
            self.twiddle_all(&current, &mut held);
        }
        if current != *store {
            held = self.exchange(&held, &current, store);
        }
        if self.pass.moves() && self.exchanges == 0 {
            // Threads store to where others of the block have loaded.
            self.b.barrier();
        }
        if self.staged(true) && self.shared.is_some() {
            // The array of the lines is that of the exchanges, which others may still read.
            self.b.barrier();
        }
        self.store(store, &held);
    }

    /// The digit that a stage has in registers.
    fn register(&self, stage: Stage) -> usize {
        self.digits.stages[stage.axis][stage.position]
    }

    /// Takes a tile through its stages, with an exchange wherever the next one wants another layout: the last one that in
    /// which the tile will leave, where pairs do.
    fn transform(
        &mut self,
        stages: &[Stage],
        from: Layout,
        store: &Layout,
        mut held: Held,
    ) -> (Layout, Held) {
        let cut = self.cluster.as_ref().map(|cluster| cluster.cut);
        let mut current = from;
        for (i, &stage) in stages.iter().enumerate() {
            let layout = self.stage_layout(stages, i, &current, store);
            if cut.is_some_and(|cut| cut.stage == i) {
                held = self.remote_exchange(&held, &current, &layout);
            } else if layout != current {
                held = self.exchange(&held, &current, &layout);
            }
            current = layout;
            if cut.is_some_and(|cut| cut.stage == i + 1) {
                self.announce_early(&held);
            }
            let twiddle = i + 1 == stages.len() && self.twiddles_points();
            // Results of long primes have no room in registers beside one another.
            let in_twos = cut.is_none() && self.comes_in_twos(stage);
            if (in_twos || cut.is_some_and(|cut| cut.stage != i + 1)) && !twiddle {
                self.late = Some(stage);
                continue;
            }
            for (slot, x) in held.iter_mut().enumerate() {
                *x = self.through(stage, &current, slot as u32, x);
            }
        }
        (current, held)
    }
}
