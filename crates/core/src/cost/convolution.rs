//! What a convolution in place takes and costs. A thread holds one group at a time, so that many blocks fit; their
//! steps are many, and only other blocks fill the waits between them. The weights were fitted to tiles of 61 lengths,
//! timed on an H200, and then to what was chosen for 99: over these the model is off by 9%
//! (`docs/notes/convolutions.md`).

use super::{ISSUE_BUDGET, Model, Occupancy, radix};
use crate::lower::PIECE;
use crate::pass::{Axis, Method, PartKind, Stage};

/// Instructions of a step for one point beside arithmetic: shared memory both ways, addresses.
pub(super) const STEP: f64 = 2.7;
/// Instructions of one point that goes to shared memory and back by an index from a table.
const PERMUTED: f64 = 35.0;
/// Copies that one wait takes where a multiprocessor holds a thousand points in single precision.
const WAIT: f64 = 0.43;
/// Waits of the permuted ways, and of each point of a thread on them.
const PERMUTED_WAITS: [f64; 2] = [0.7, 0.1];
/// Waits of a step beside those of its groups, of one group, and of a group for each of its points.
const WAITS: [f64; 3] = [0.33, 0.82, 0.032];
/// Copies that halving the threads below 96 adds.
const SMALL: f64 = 0.07;
/// Copies that one block alone on a multiprocessor adds: nobody fills its waits.
const ALONE: f64 = 0.8;
/// Bytes of a tile of several rows, and the copies that doubling them adds: it stays longer at each barrier.
const WIDE: (f64, f64) = (20_000.0, 0.25);
/// Points of a convolution that blocks which stay do faster: their tables fit in registers.
const STAYING_POINTS: u64 = 64;
/// Registers of a thread whose block stays.
const STAYING_REGISTERS: u32 = 128;
/// Copies that permuted ends add which take the tile piece by piece: each piece waits for its loads.
const PIECEWISE: f64 = 0.3;
/// Registers beside a group and what its codelet needs.
const BESIDE: u32 = 24;
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
            let scratch = radix::facts(radix).scratch;
            // Long codelets were seen to need more than the data and one set of sums beside it.
            let sets = match radix {
                0..=16 => 1,
                25 | 32 | 17..=19 => 2,
                _ => 4,
            };
            words * (2 * radix + scratch * sets) + BESIDE
        };
        let group = self.stages.iter().map(|stage| need(stage.radix)).max().unwrap_or(BESIDE);
        let lean = group + if self.twiddled { 28 * words } else { 0 };
        let flat = (self.useful / f64::from(threads)).ceil() as u32;
        // On the permuted ways in and out a thread holds its share of the tile, and where it goes.
        let ends = |held: u32| if self.permutations > 0.0 { (2 * words + 1) * held + BESIDE } else { 0 };
        let full =
            lean.max(ends(flat)) + (2 * words + 2) * flat + 4 * words * self.stages.len() as u32 + 20 * words;
        let short = self.permutations > 0.0 && self.longest <= STAYING_POINTS;
        let stays = short && full <= STAYING_REGISTERS.min(file);
        // What is taken of the file leaves the assembler a margin, so that it need not spill.
        let most = limits.registers_per_thread.min(file * 4 / 5);
        let piecewise = !stays && ends(flat) > most;
        let lean = lean.max(ends(if piecewise { PIECE } else { flat }));
        let registers = if stays { full } else { lean };
        let shared_bytes = (self.elements * self.bytes) as u32 + (self.aside * self.bytes) as u32;
        if registers > most || shared_bytes > limits.shared_bytes {
            return None;
        }
        let padded = shared_bytes + shared_bytes / PADS;
        let by_shared = limits.shared_per_sm / (padded + 1024);
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

    /// Copies that the pass takes with so many threads; `None` where the device cannot hold it.
    pub(super) fn convolution_copies(&self, threads: u32) -> Option<f64> {
        let took = self.occupancy(threads)?;
        let warps = f64::from(threads.next_multiple_of(self.limits.subgroup));
        let permuted = f64::from(u8::from(self.permutations > 0.0));
        let flat = (self.useful / f64::from(threads)).ceil();
        let mut issue = PERMUTED * permuted;
        let mut waits = permuted * (PERMUTED_WAITS[0] + PERMUTED_WAITS[1] * flat);
        for &Stage { radix, ways, points } in &self.stages {
            let (ways, groups) = (f64::from(ways), points as f64 / f64::from(radix));
            let slots = (groups / f64::from(threads)).ceil();
            let paid = ways * slots * warps * f64::from(radix) / self.useful;
            issue += paid * (radix::arithmetic(radix) + STEP);
            waits += ways * (WAITS[0] + slots * (WAITS[1] + WAITS[2] * f64::from(radix)));
        }
        let resident = f64::from(took.blocks) * self.useful * self.bytes as f64 / 8000.0;
        let busy = (1.0 + (issue / ISSUE_BUDGET).powi(2) + (WAIT * waits / resident).powi(2)).sqrt();
        let small = (96.0 / f64::from(threads)).log2().max(0.0) * SMALL;
        let bytes = self.elements as f64 * self.bytes as f64;
        let wide = if self.several { (bytes / WIDE.0).log2().max(0.0) * WIDE.1 } else { 0.0 };
        let alone = if took.blocks == 1 { ALONE } else { 0.0 };
        let pieces = if took.piecewise { PIECEWISE } else { 0.0 };
        let few = (1.0 - self.blocks as f64 / f64::from(2 * self.limits.multiprocessors)).max(0.0) * 0.5;
        Some(busy * self.segments + small + wide + alone + few + pieces)
    }
}

/// Points that Rader's rows hold beside their convolutions: the first of each.
pub(super) fn aside(axis: &Axis, batch: &[u64]) -> u64 {
    let Method::Coprime(parts) = &axis.method else { return 0 };
    let rows: u64 = batch.iter().product::<u64>() * axis.dim.n;
    parts.iter().filter(|part| part.kind == PartKind::Rader).map(|part| rows / part.n).max().unwrap_or(0)
}
