//! The cost model, in copies: time over that of a plain copy of the same bytes. Memory gives 1; what arithmetic,
//! exchanges, idle threads, thin occupancy and short segments add is estimated here, and nowhere else.

mod cluster;
mod in_place;

use std::sync::OnceLock;

use crate::lower::cluster::{Cut, TICKET_BYTES};
use crate::lower::digits::Digits;
use crate::lower::tile::{self, Tile};
use crate::lower::twiddle::{Powers, exact_powers};
use crate::math::factor;
use crate::pass::{Array, Axis, Method, Operand, PartKind, Pass, PassDim, Stage};
use crate::plan::Plan;
use crate::problem::{Direction, Format, Precision};
use crate::schedule;
use crate::target::Limits;

/// Issue slots of one point that hide under one pass in f32 (H200, 4.3 TB/s; twice the bytes, twice the slots).
const ISSUE_BUDGET: f64 = 110.0;

/// Registers, by estimate, up to which blocks stay: beyond it the assembler spills.
const STAYING: u32 = 190;

/// Issue slots of one point that goes to shared memory and back by an index from a table.
const PERMUTED: f64 = 7.0;

/// Copies of a plan, for a large batch of packed rows; `None` where a part fits no block.
pub fn of_plan(plan: &Plan, limits: &Limits, precision: Precision) -> Option<f64> {
    match plan {
        Plan::MixedRadix(radices) => {
            of_rows(plan.len(), Method::MixedRadix(radices.clone()), limits, precision)
        }
        Plan::Split(parts) => parts
            .iter()
            .map(|part| of_plan(part, limits, precision).map(|cost| cost + 0.03))
            .sum::<Option<f64>>(),
        Plan::InPlace { .. } => in_place::of_passes(plan, limits, precision),
        Plan::Rader { .. } | Plan::PrimeFactor(_) => {
            of_rows(plan.len(), schedule::on_chip_method(plan), limits, precision)
        }
        Plan::Bluestein { n, inner } => match &**inner {
            Plan::MixedRadix(_) => of_rows(*n, schedule::on_chip_method(plan), limits, precision),
            inner => {
                let both = 2.0 * of_plan(inner, limits, precision)?;
                Some(both * inner.len() as f64 / *n as f64)
            }
        },
    }
}

/// Copies of a one-pass plan over the columns of a long array; `None` where no tile of them fits.
pub fn of_columns(plan: &Plan, limits: &Limits, precision: Precision) -> Option<f64> {
    let Plan::MixedRadix(radices) = plan else { return None };
    let columns = (1_i64 << 26) / plan.len() as i64;
    let strides = (columns, 1);
    of_lines(plan.len(), Method::MixedRadix(radices.clone()), strides, limits, precision)
}

fn of_rows(n: u64, method: Method, limits: &Limits, precision: Precision) -> Option<f64> {
    of_lines(n, method, (1, n as i64), limits, precision)
}

/// Copies of a pass over many lines: strides of their points, and of the lines.
fn of_lines(
    n: u64,
    method: Method,
    (point, line): (i64, i64),
    limits: &Limits,
    precision: Precision,
) -> Option<f64> {
    let lines = (1_u64 << 26).div_ceil(n);
    let side = |array| Operand { array, format: Format::Interleaved, offset: 0, span: n * lines };
    let pass = Pass {
        axes: vec![Axis::new(PassDim::new(n, point, point), method)],
        batch: vec![PassDim::new(lines, line, line)],
        src: side(Array::Input),
        dst: side(Array::Output),
        precision,
        direction: Direction::Forward,
        twiddle: None,
        load: None,
        store: None,
        scale: 1.0,
    };
    tile::choose(&pass, limits).map(|choice| choice.cost)
}

/// What a tile takes of the device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Occupancy {
    /// Complex elements that a thread holds.
    pub per_thread: u32,
    /// Registers of a thread, estimated.
    pub registers: u32,
    /// Shared memory of a block in bytes, without padding.
    pub shared_bytes: u32,
    /// Blocks that a multiprocessor holds.
    pub blocks: u32,
    /// The assembler has to be asked to make room for that many blocks.
    pub asked: bool,
    /// Blocks stay and take tile after tile, with the next one under way and tables in registers.
    pub stays: bool,
    /// The assembler may have to spill.
    pub tight: bool,
}

/// What a tile takes, or `None` where the device cannot hold it.
pub fn occupancy(pass: &Pass, tile: &Tile, limits: &Limits) -> Option<Occupancy> {
    Model::new(pass, &tile.batch, tile.cluster, limits)?.occupancy(tile.threads)
}

/// What does not depend on the threads of a block: computed once for many thread counts.
pub struct Model<'a> {
    limits: &'a Limits,
    bytes: u64,
    /// Elements of a block.
    elements: u64,
    cluster: u32,
    /// Several transforms in a tile.
    several: bool,
    /// Several axes in a tile.
    planes: bool,
    /// Every stage; its points are those of a block.
    stages: Vec<Stage>,
    convolves: bool,
    /// Times that the tile goes through shared memory between coprime parts, or to be permuted.
    permutations: f64,
    /// Multiplied by twiddles on the way out.
    twiddled: bool,
    /// Elements of the tile without padding.
    useful: f64,
    /// Points that Rader's rows set aside.
    aside: u64,
    /// Entries of the spectra and chirps that every tile goes by.
    factors: f64,
    segments: f64,
    blocks: u64,
}

impl<'a> Model<'a> {
    /// The model of a pass whose tile holds `batch` of the repeated dimensions in `cluster` blocks; `None` where
    /// they cannot share it.
    pub fn new(pass: &Pass, batch: &[u64], cluster: u32, limits: &'a Limits) -> Option<Self> {
        let tile = Tile { threads: 1, cluster, batch: batch.to_vec() };
        let (digits, cut) = Cut::of_tile(pass, &tile)?;
        let elements = tile.elements(pass) / u64::from(cluster);
        let mut stages = Vec::new();
        let mut permutations = 0.0;
        for axis in &pass.axes {
            let (own, points) = (axis.method.stages(), axis.method.points());
            let share = |stage: Stage| Stage { points: elements * stage.points / points, ..stage };
            stages.extend(own.into_iter().map(share));
            if let Method::Coprime(parts) = &axis.method {
                permutations += 1.0 + parts.len() as f64;
            }
        }
        let useful: u64 =
            pass.axes.iter().map(|axis| axis.dim.n).product::<u64>() * batch.iter().product::<u64>();
        Some(Self {
            limits,
            bytes: pass.precision.complex_bytes(),
            elements,
            cluster,
            several: batch.iter().any(|&count| count > 1),
            planes: pass.axes.len() > 1,
            twiddled: pass.twiddle.is_some(),
            convolves: stages.iter().any(|stage| stage.ways > 1),
            stages,
            permutations,
            useful: useful as f64 / f64::from(cluster),
            aside: pass.axes.iter().map(|axis| aside(axis, batch)).max().unwrap_or(0),
            factors: pass.axes.iter().map(factors).sum(),
            segments: segments(pass, &digits, cut),
            blocks: tile.blocks(pass),
        })
    }

    /// What the tile takes with so many threads, or `None` where the device cannot hold it.
    pub fn occupancy(&self, threads: u32) -> Option<Occupancy> {
        let limits = self.limits;
        let words = (self.bytes / 8) as u32;
        let mut per_thread = self.elements.div_ceil(u64::from(threads)) as u32;
        let mut scratch = 0;
        // Groups that the threads do not share out evenly need addresses and guards of their own in each slot.
        let (mut uneven, mut most_slots) = (0, 1);
        for &Stage { radix, points, .. } in &self.stages {
            let groups = (points / u64::from(radix)) as u32;
            let slots = groups.div_ceil(threads);
            if !groups.is_multiple_of(threads) {
                uneven = uneven.max(slots);
            }
            most_slots = most_slots.max(slots);
            per_thread = per_thread.max(slots * radix);
            // Long codelets leave no room for what a convolution holds beside them.
            let long = match (self.convolves, radix) {
                (true, 17..) => 6,
                (true, 11 | 13) => 4,
                (true, 7 | 14) => 2,
                _ => 1,
            };
            scratch = scratch.max(long * words * facts(radix).scratch);
        }
        let warps = threads.next_multiple_of(limits.subgroup);
        // The assembler shares the file out to blocks rounded up to four warps.
        let file = limits.registers_per_sm / threads.next_multiple_of(4 * limits.subgroup);
        let twiddles = match (self.twiddled, self.convolves) {
            (true, true) => 28 * words,
            (true, false) => 12 * (words - 1),
            (false, _) => 0,
        };
        let beside = match (self.convolves, self.planes && threads > 768) {
            (true, _) => words * per_thread.min(14) + 34,
            (false, true) => 40,
            (false, false) => 24,
        };
        let lean = 2 * words * per_thread + scratch + beside + 6 * uneven + twiddles;
        // Blocks that stay hold the tile that is under way, its places on both sides, and a root for each stage.
        let flat = (self.useful / f64::from(threads)).ceil() as u32;
        let full = lean + (2 * words + 2) * flat + 4 * words * self.stages.len() as u32;
        let stays = self.convolves && full <= STAYING.min(file);
        let registers = if stays { full } else { lean };
        let tickets = if self.cluster > 1 { TICKET_BYTES } else { 0 };
        let aside = if self.aside > 0 { (self.aside * self.bytes) as u32 + 32 } else { 0 };
        let shared_bytes = (self.elements * self.bytes) as u32 + tickets + aside;
        let over = self.cluster == 1 && registers > limits.registers_per_thread.min(file);
        if over || shared_bytes > limits.shared_bytes {
            return None;
        }
        let exchanges = self.stages.len() > 1 || self.convolves || self.permutations > 0.0;
        let shared = if exchanges { limits.shared_per_sm / (shared_bytes + 1024) } else { u32::MAX };
        let most = shared.min(limits.threads_per_sm / warps).min(limits.blocks_per_sm);
        if self.cluster > 1 {
            let (several, twiddled) = (self.several, self.twiddled);
            let need = cluster::Need {
                words,
                per_thread,
                slots: most_slots,
                uneven,
                scratch,
                several,
                planes: self.planes,
                twiddled,
            };
            let (registers, blocks) = cluster::share(&need, threads, most, limits)?;
            return Some(Occupancy {
                per_thread,
                registers,
                shared_bytes,
                blocks,
                asked: true,
                stays: false,
                tight: false,
            });
        }
        let tight = self.convolves && registers * 5 / 4 > limits.registers_per_thread.min(file);
        // The assembler loads ahead as far as it can; a convolution has much to load.
        let roomy = if self.convolves { registers * (21 + 2 * words) / 20 } else { registers };
        let blocks = most.min(limits.registers_per_sm / (roomy.next_multiple_of(8) * warps)).max(1);
        // Two blocks of large tiles are worth asking the assembler to be thrifty: one alone stands idle between
        // its phases.
        let least = 2 * words * per_thread + scratch / 2 + 18 + 6 * words;
        let asked = blocks == 1 && most >= 2 && uneven == 0 && !self.convolves && least <= file / 2;
        let (blocks, registers) = if asked { (2, file / 2 / 8 * 8) } else { (blocks, registers) };
        // Left alone, the assembler loads tables ahead of their use until its registers are full.
        let asked = asked || (self.convolves && blocks > 1);
        Some(Occupancy { per_thread, registers, shared_bytes, blocks, asked, stays, tight })
    }

    /// Copies that the pass takes with so many threads; `None` where the device cannot hold it.
    pub fn copies(&self, threads: u32) -> Option<f64> {
        let took = self.occupancy(threads)?;
        let lanes = self.limits.subgroup;
        let idle_lanes = f64::from(threads.next_multiple_of(lanes)) / f64::from(threads);
        let mut issue = 6.0 * self.elements as f64 / self.useful;
        for &Stage { radix, ways, points } in &self.stages {
            let groups = points as f64 / f64::from(radix);
            let idle = (groups / f64::from(threads)).ceil() * f64::from(threads) / groups;
            issue += f64::from(ways) * idle * facts(radix).issue * points as f64 / self.useful;
        }
        issue += PERMUTED * self.permutations;
        let compute = issue * idle_lanes / ISSUE_BUDGET;
        let busy = (1.0 + compute.powi(4)).powf(0.25);
        Some(busy * self.segments + self.thinness(threads, took) + self.table_traffic())
    }

    /// What spectra and chirps add: they come from the L1 cache while they fit beside the tiles, else from L2.
    fn table_traffic(&self) -> f64 {
        let spilled = ((self.factors * self.bytes as f64 - 32768.0) / 32768.0).clamp(0.0, 1.0);
        (0.2 + 0.45 * spilled) * self.factors / self.useful
    }

    /// What few resident blocks or few blocks in all add: nothing hides the latency of the phases.
    fn thinness(&self, threads: u32, took: Occupancy) -> f64 {
        // A convolution has many phases, which only other blocks fill.
        let alone = match (took.blocks, self.convolves) {
            (1, true) => 0.8,
            (2, true) => 0.3,
            (3, true) => 0.15,
            (4, true) => 0.08,
            (5 | 6, true) => 0.03,
            // Prefetching keeps the memory busy, but for the widest blocks.
            (1, false) if threads <= 512 => 0.06,
            (1, false) => 0.2,
            (2, false) => 0.04,
            (3, false) => 0.015,
            _ => 0.0,
        };
        let resident = f64::from(took.blocks * threads * took.per_thread) * self.bytes as f64;
        // About 48 KB in flight on each multiprocessor keep the memory busy.
        let starved = (1.0 - resident / 49152.0).max(0.0) * if took.stays { 0.2 } else { 0.6 };
        let wanted = f64::from(self.limits.multiprocessors) * 2.0;
        let few = (1.0 - self.blocks as f64 / wanted).max(0.0) * 0.5;
        // Blocks of 128 to 256 threads did best on the H200; a thread that holds more than 256 bytes has long
        // unrolled code, which takes the assembler long and runs from outside the instruction cache.
        let threads = f64::from(threads);
        let large = (threads / 256.0).log2().max(0.0) * 0.01;
        let small = (128.0 / threads).log2().max(0.0) * 0.015;
        let held = f64::from(took.per_thread) * self.bytes as f64;
        let long = (held / 256.0).log2().max(0.0) * 0.2;
        let heavy = if self.convolves {
            // Long code is late at the first call, and slow from outside the instruction cache.
            let code = self.stages.len() as f64 * f64::from(took.per_thread) * 16.0;
            (held / 112.0).log2().max(0.0) * 0.2
                + (code / 800.0).log2().max(0.0) * 0.5
                + if took.stays { 0.0 } else { 0.3 }
                + if took.tight { 1.5 } else { 0.0 }
        } else if self.cluster > 1 {
            0.0
        } else {
            (held / 128.0).log2().max(0.0) * 0.02
        };
        // Radices whose needs differ by more than two to one leave registers idle in one stage or short in another.
        let radices = self.stages.iter().map(|stage| f64::from(stage.radix));
        let (least, most) = radices.fold((f64::MAX, 1.0_f64), |(a, b), r| (a.min(r), b.max(r)));
        let weight = match (self.convolves, self.cluster) {
            (true, _) => 0.3,
            (false, 1) => 0.002,
            (false, _) => 0.01,
        };
        let uneven = (most / least.min(most) / 2.0).log2().max(0.0) * weight;
        uneven
            + alone
            + starved
            + few
            + large
            + small
            + heavy
            + long
            + cluster::hand_over(self.cluster, self.stages.len(), self.elements * self.bytes, took.blocks)
    }
}

/// Points that Rader's rows set aside: the first of each.
fn aside(axis: &Axis, batch: &[u64]) -> u64 {
    let Method::Coprime(parts) = &axis.method else { return 0 };
    let rows: u64 = batch.iter().product::<u64>() * axis.dim.n;
    parts.iter().filter(|part| part.kind == PartKind::Rader).map(|part| rows / part.n).max().unwrap_or(0)
}

/// Entries of an axis's spectra (of which a chirp's is symmetric) and chirps.
fn factors(axis: &Axis) -> f64 {
    let chirp = |n: u64, points: u64| n as f64 + points as f64 / 2.0;
    match &axis.method {
        Method::MixedRadix(_) => 0.0,
        Method::Coprime(parts) => (parts.iter())
            .map(|part| match part.kind {
                PartKind::MixedRadix => 0.0,
                PartKind::Rader => part.points() as f64,
                PartKind::Bluestein => chirp(part.n, part.points()),
            })
            .sum(),
    }
}

/// What a stage of one radix costs.
#[derive(Debug, Clone, Copy, Default)]
struct Facts {
    /// Instructions for one point: codelet, twiddle, and its exchange.
    issue: f64,
    /// 32-bit registers beside the data, in single precision.
    scratch: u32,
}

/// Facts of every radix up to the largest codelet, made once.
fn facts(radix: u32) -> Facts {
    static ALL: OnceLock<Vec<Facts>> = OnceLock::new();
    let all = ALL.get_or_init(|| (0..=64).map(new_facts).collect());
    all.get(radix as usize).copied().unwrap_or_else(|| new_facts(radix))
}

fn new_facts(radix: u32) -> Facts {
    if radix < 2 {
        return Facts::default();
    }
    let r = f64::from(radix);
    let loads = exact_powers(radix, Powers::Tree).len() as f64;
    let twiddles = (loads * 1.5 + (r - 1.0 - loads) * 4.0 + (r - 1.0) * 4.0) / r;
    let largest = factor::factorise(u64::from(radix)).iter().map(|&(p, _)| p as u32).max().unwrap_or(1);
    Facts {
        issue: flops(u64::from(radix)) / r + twiddles + 2.6,
        // A prime codelet holds its sums and differences, and half its outputs until their twins are stored.
        scratch: if largest > 5 { largest } else { radix * 3 / 4 },
    }
}

/// Instructions of a codelet.
fn flops(n: u64) -> f64 {
    let powers = factor::factorise(n);
    match (n, powers.first()) {
        (0 | 1, _) | (_, None) => 0.0,
        (2, _) => 4.0,
        (4, _) => 16.0,
        (_, Some(&(p, 1))) if p == n => {
            let half = (n - 1) as f64 / 2.0;
            4.0 * half * half + 8.0 * half
        }
        (_, Some(&(p, e))) => {
            let a = if powers.len() > 1 {
                p.pow(e)
            } else if p == 2 && n > 4 {
                4
            } else {
                p
            };
            let b = n / a;
            let twiddles = if powers.len() > 1 { 0.0 } else { 4.0 * ((a - 1) * (b - 1)) as f64 };
            a as f64 * flops(b) + b as f64 * flops(a) + twiddles
        }
    }
}

/// Factor for segments that do not fill sectors of 32 bytes.
fn segments(pass: &Pass, digits: &Digits, cut: Option<Cut>) -> f64 {
    let bytes = pass.precision.complex_bytes();
    let sides = [
        (cut.map(|cut| cut.before), digits.weights(|digit| digit.is)),
        (cut.map(|cut| cut.after), digits.weights(|digit| digit.os)),
    ];
    let cost = sides.map(|(block, strides)| {
        let run = digits.run(&digits.by_stride(&[block], &strides), &strides) * bytes;
        let sectors = run.div_ceil(32) * 32;
        let thin = match run {
            0..=32 => 0.15,
            // Blocks of a cluster also wait for one another's.
            33..=64 if cut.is_some() => 0.12,
            33..=64 => 0.03,
            65..=127 => 0.01,
            _ => 0.0,
        };
        sectors as f64 / run as f64 + if run.is_multiple_of(32) || run > 512 { thin } else { thin + 0.1 }
    });
    (cost[0] + cost[1]) / 2.0
}
