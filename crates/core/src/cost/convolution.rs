//! What a convolution in place takes and costs. A thread holds one group at a time, so that many blocks fit; their
//! steps are many, and only other blocks fill the waits between them. The weights were fitted to 680 tiles of 56
//! lengths, timed on an H200, and are off by 6% (`docs/notes/cost-model.md`).

use super::occupancy::RESERVED;
use super::{Model, Occupancy, radix};
use crate::codelet::comes_in_twos;
use crate::lower::PIECE;
use crate::pass::{Axis, PartKind, Stage};

/// Instructions of a step for one point beside arithmetic: shared memory both ways, addresses.
pub(super) const STEP: f64 = 9.5;
/// Instructions of one point that goes to shared memory and back by an index from a table.
const PERMUTED: f64 = 28.0;
/// Instructions of a point that take as long as to copy it; numbers twice as wide take a little less than twice as many.
pub(super) const ISSUE_BUDGET: f64 = 174.0;
const WIDE_ISSUE: f64 = 0.945;
/// Copies that one wait takes where a multiprocessor holds a thousand points in single precision, and how it falls with
/// what more of them hide.
const WAIT: f64 = 0.236;
const HIDE: f64 = 0.4;
/// Waits of the permuted ways.
const PERMUTED_WAITS: f64 = 5.0;
/// Waits of a step, of each warp at its barrier, of one group, and of a group for each of its points.
const WAITS: [f64; 4] = [0.645, 0.0126, 0.08, 0.02];
/// How instructions and waits add to the copy, and what the fit starts from.
const ADDED: [f64; 3] = [1.94, 2.56, 1.82];
const START: f64 = -0.2;
/// Parts that a chirp's stages take longer where any radix is no power of two, and for each of these: bank conflicts, and
/// remainders by odd numbers.
const ODD: [f64; 2] = [0.048, 0.02];
/// The same for each such radix of padded rows beside a codelet: 1193 tiles of lengths from 500 to 4096, timed on an H200, took 5.5% less
/// than was expected with none, 2.7% with one, and what was expected with two. Rader's rows did not care.
const ODD_ROWS: f64 = 0.03;
/// Copies that one block alone on a multiprocessor adds, and two: nobody fills their waits.
const FEW_BLOCKS: [f64; 2] = [0.53, 0.14];
/// Bytes of a tile of several rows, and the copies that doubling them adds: it stays longer at each barrier.
const WIDE: (f64, f64) = (20_000.0, 0.03);
/// Points of a convolution that blocks which stay do faster: their tables fit in registers.
const STAYING_POINTS: u64 = 64;
/// Copies that sectors add which two warps touch in part.
const SPLIT: f64 = 0.05;
/// Registers of a thread whose block stays.
const STAYING_REGISTERS: u32 = 128;
/// Copies that permuted ends add which take the tile piece by piece: each piece waits for its loads.
const PIECEWISE: f64 = 0.3;
/// Parts of what is said of lines that several dimensions take together: planes in three stages, planes in more, volumes. Of
/// planes by 19 tiles timed on an H200: it is off by less than 10% from eleven of them, and by 28% at most. Of volumes by two
/// (1.3 and 1.65).
const TOGETHER: [f64; 3] = [0.88, 1.03, 1.5];
/// What stages of long primes take beside, whose code is long and has to be fetched by each of few warps. Within a convolution, the
/// instructions up to which that costs nothing, and how many more make it e times as long: over what else is said of them, and over the
/// same of padded lengths, 64 lengths from 593 to 4513 points took 1.05 times as long by 3100 instructions (37 beside 4) and 1.4 times
/// by 7400 (59 beside 20), within 6%, on an H200.
const LONG_CODE: [f64; 2] = [2300.0, 15_500.0];
/// As a part beside one: by this, the model takes the faster one of a codelet and a second convolution for 13 of 14 lengths (2923 to
/// 5207, primes from 37 to 61) that were timed by both on an H200.
const LONG_PRIMES_BESIDE: f64 = 1.08;
/// Registers beside a group and what its codelet needs.
const BESIDE: u32 = 24;
/// Registers of the powers of a root that results of long primes are multiplied by, half of them.
const POWERS: u32 = 14;
/// Copies that two halves add, which wait for each other and meet: 20011, 27011 and, in doubles, 10007 points took 4.4, 4.6 and 4.2
/// on an H200, where 3.5, 3.9 and 3.2 were expected of the halves.
const JOINED: f64 = 0.85;
/// Copies that halves in Rader's order add where they are four warps on their multiprocessor; twice as many add a fourth. By tiles of
/// 13 lengths in doubles, on an H200: two warps took up to 6 copies longer than was expected without it, four up to 1.2.
const FOUR_WARPS: f64 = 1.0;
/// Room that pads take in shared memory, in parts of the tile.
const PADS: u32 = 12;

impl Model<'_> {
    /// What the tile takes with so many threads, or `None` where the device cannot hold it.
    pub(super) fn convolution_room(&self, threads: u32) -> Option<Occupancy> {
        let limits = self.limits;
        let words = (self.bytes / 8) as u32;
        let warps = threads.next_multiple_of(limits.subgroup);
        // The assembler shares the file out to blocks rounded up to four warps.
        let file = limits.registers_per_sm / threads.next_multiple_of(4 * limits.subgroup);
        let need = |radix: u32| {
            // Beside results of long primes stand the powers that each is multiplied by.
            let scratch = radix::facts(radix).scratch + if radix > 32 { POWERS } else { 0 };
            // Long codelets were seen to need more than the data and one set of sums beside it.
            let sets = match radix {
                0..=16 => 1,
                23 | 29 | 31 => 4,
                _ => 2,
            };
            words * (2 * radix + scratch * sets) + BESIDE
        };
        let group = self.stages.iter().map(|stage| need(stage.radix)).max().unwrap_or(BESIDE);
        // No factor of the first stage of a half is for padding: 9001 doubles spilled by 24 points.
        let factors = |first: &Stage| need(first.radix) + 2 * (words - 1) * first.radix;
        let halves = self.stages.first().filter(|_| self.cluster > 1).map_or(0, factors);
        let group = group.max(halves);
        // Items of folds are of two words each.
        let folds = if self.staged > 0 { 24 * (words - 1) } else { 0 };
        let lean = group + folds + if self.twiddled { 28 * words } else { 0 };
        let flat = (self.useful / f64::from(threads)).ceil() as u32;
        // On the permuted ways in and out a thread holds its share of the tile, and where it goes.
        let ends = |held: u32| if self.permutations > 0.0 { (2 * words + 1) * held + BESIDE } else { 0 };
        let full =
            lean.max(ends(flat)) + (2 * words + 2) * flat + 4 * words * self.stages.len() as u32 + 20 * words;
        let short = self.permutations > 0.0
            && !self.decimated
            && self.longest <= STAYING_POINTS
            && self.staged == 0
            && self.cluster == 1;
        let stays = short && full <= STAYING_REGISTERS.min(file);
        // What is taken of the file leaves the assembler a margin, so that it need not spill.
        let most = limits.registers_per_thread.min(file * 4 / 5);
        // Halves always go so: each block reads all points of the line, twice as many as are its own.
        let halves = self.permutations > 0.0 && self.cluster > 1;
        let piecewise = halves || (!stays && ends(flat) > most);
        let lean = lean.max(ends(if piecewise { PIECE } else { flat }));
        let registers = if stays { full } else { lean };
        let shared_bytes = ((self.elements + self.aside + self.staged) * self.bytes) as u32;
        // Lines that fold stand beside a tile that has pads.
        let pads = if self.staged > 0 { shared_bytes / PADS } else { 0 };
        if registers > most || shared_bytes + pads > limits.shared_bytes {
            return None;
        }
        let padded = shared_bytes + shared_bytes / PADS;
        let by_shared = limits.shared_per_sm / (padded + RESERVED);
        let by_threads = (limits.threads_per_sm / warps).min(limits.blocks_per_sm);
        let by_registers = limits.registers_per_sm / ((registers * 11 / 10).next_multiple_of(8) * warps);
        let blocks = by_shared.min(by_threads).min(by_registers).max(1);
        let per_thread = self.elements.div_ceil(u64::from(threads)) as u32;
        // Left alone, the assembler loads tables ahead of their use until its registers are full.
        Some(Occupancy {
            per_thread,
            registers,
            shared_bytes,
            blocks,
            asked: blocks > 1,
            told: blocks,
            stays,
            piecewise,
        })
    }

    /// Instructions of the code for so many threads, about: a step is code for one group and a loop, permuted ends are code
    /// for each point of a thread.
    pub(super) fn convolution_length(&self, threads: u32) -> f64 {
        let step = |stage: &Stage| {
            let own = radix::facts(stage.radix).convolved + STEP;
            f64::from(stage.radix) * own * f64::from(stage.ways)
        };
        let permuted = f64::from(u8::from(self.permutations > 0.0));
        let ends = permuted * PERMUTED / 2.0 * self.useful / f64::from(threads);
        self.stages.iter().map(step).sum::<f64>() + ends
    }

    /// Copies that the pass takes with so many threads; `None` where the device cannot hold it.
    pub(super) fn convolution_copies(&self, threads: u32) -> Option<f64> {
        let took = self.occupancy(threads)?;
        let lanes = f64::from(threads.next_multiple_of(self.limits.subgroup));
        let warps = lanes / f64::from(self.limits.subgroup);
        let permuted = f64::from(u8::from(self.permutations > 0.0));
        let (mut issue, mut waits) = (PERMUTED * permuted, PERMUTED_WAITS * permuted);
        let mut odd = 0;
        for (i, &Stage { radix, ways, points }) in self.stages.iter().enumerate() {
            let (ways, groups) = (f64::from(ways), points as f64 / f64::from(radix));
            let slots = (groups / f64::from(threads)).ceil();
            let paid = ways * slots * lanes * f64::from(radix) / self.useful;
            let work = if self.pairs { radix::PAIRED / 2.0 } else { 1.0 };
            // What runs on its way to its places has no step of its own.
            let own = if self.decimated && i == 0 { 0.0 } else { 1.0 };
            issue += paid * (work * radix::facts(radix).convolved + own * STEP);
            let [step, warp, group, point] = WAITS.map(|wait| own * wait);
            waits += ways * (step + warp * warps + slots * (group + point * f64::from(radix)));
            odd += u32::from(own > 0.0 && !radix.is_power_of_two());
        }
        let odd = match odd {
            0 => 1.0,
            _ if permuted == 0.0 => 1.0 + ODD[0] + ODD[1] * f64::from(odd),
            _ if self.decimated && self.aside == 0 => 1.0 + ODD_ROWS * f64::from(odd),
            _ => 1.0,
        };
        let wide = if self.words() > 1 { WIDE_ISSUE } else { 1.0 };
        let resident = f64::from(took.blocks) * self.useful * self.bytes as f64 / 8000.0;
        let busy = (odd * wide * issue / ISSUE_BUDGET).powf(ADDED[0])
            + (odd * WAIT * waits / resident.powf(HIDE)).powf(ADDED[1]);
        // Short segments are memory's time, which goes by while a block computes.
        let busy = (self.segments.powf(ADDED[2]) + busy).powf(1.0 / ADDED[2]);
        let bytes = self.elements as f64 * self.bytes as f64;
        let large = if self.several { (bytes / WIDE.0).log2().max(0.0) * WIDE.1 } else { 0.0 };
        let few = took.blocks.checked_sub(1).and_then(|more| FEW_BLOCKS.get(more as usize)).unwrap_or(&0.0);
        let pieces = if took.piecewise { PIECEWISE } else { 0.0 };
        // The first and the last stage touch memory: what is a sector to a row is then more than one to the warps.
        let split = permuted == 0.0 && !(u64::from(threads) * self.bytes).is_multiple_of(32);
        let split = if split { SPLIT } else { 0.0 };
        let together = match (self.axes, self.stages.len()) {
            (0 | 1, _) => 1.0,
            (2, ..=3) => TOGETHER[0],
            (2, _) => TOGETHER[1],
            _ => TOGETHER[2],
        };
        let long = self.stages.iter().filter(|stage| comes_in_twos(stage.radix.into()));
        let together = together
            * match long.map(|stage| stage.ways).max() {
                None => 1.0,
                Some(1) => LONG_PRIMES_BESIDE,
                Some(_) => ((self.convolution_length(threads) - LONG_CODE[0]) / LONG_CODE[1]).exp(),
            };
        let resident_warps = warps * f64::from(took.blocks);
        let joined = match self.cluster {
            1 => 0.0,
            _ if permuted > 0.0 => JOINED + FOUR_WARPS * (4.0 / resident_warps).powi(2),
            _ => JOINED,
        };
        Some(together * (busy + START + large + few + pieces + split + joined + self.few()))
    }
}

/// Points that Rader's rows hold beside their convolutions: the first of each.
pub(super) fn aside(axis: &Axis, batch: &[u64]) -> u64 {
    let parts = axis.method.in_place();
    let rows: u64 = batch.iter().product::<u64>() * axis.dim.n;
    parts.iter().filter(|part| part.kind == PartKind::Rader).map(|part| rows / part.n).max().unwrap_or(0)
}
