//! The cost model, in copies: time over that of a plain copy of the same bytes. Memory gives 1; what arithmetic,
//! exchanges, idle threads, thin occupancy and short segments add is estimated here, and nowhere else.

use crate::lower::digits::Digits;
use crate::lower::tile::{self, Tile};
use crate::lower::twiddle::exact_powers;
use crate::math::factor;
use crate::pass::{Array, Axis, Method, Operand, Pass, PassDim};
use crate::plan::Plan;
use crate::problem::{Direction, Format, Precision};
use crate::target::Limits;

/// Issue slots of one point that hide under one pass in f32 (H200, 4.3 TB/s; twice the bytes, twice the slots).
const ISSUE_BUDGET: f64 = 110.0;

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
        Plan::Bluestein { n, inner } => match &**inner {
            Plan::MixedRadix(radices) => of_rows(*n, Method::Bluestein(radices.clone()), limits, precision),
            inner => {
                let both = 2.0 * of_plan(inner, limits, precision)?;
                Some(both * inner.len() as f64 / *n as f64)
            }
        },
    }
}

fn of_rows(n: u64, method: Method, limits: &Limits, precision: Precision) -> Option<f64> {
    let rows = (1_u64 << 26).div_ceil(n);
    let side = |array| Operand { array, format: Format::Interleaved, offset: 0, span: n * rows };
    let pass = Pass {
        axes: vec![Axis { dim: PassDim::new(n, 1, 1), method }],
        batch: vec![PassDim::new(rows, n as i64, n as i64)],
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
}

/// What a tile takes, or `None` where the device cannot hold it.
pub fn occupancy(pass: &Pass, tile: &Tile, limits: &Limits) -> Option<Occupancy> {
    let bytes = pass.precision.complex_bytes();
    let words = (bytes / 8) as u32;
    let elements = tile.elements(pass);
    let threads = tile.threads;
    let mut per_thread = elements.div_ceil(u64::from(threads)) as u32;
    let mut scratch = 0;
    // Groups that the threads do not share out evenly need addresses and guards of their own in each slot.
    let mut uneven = 0;
    for radix in radices(pass) {
        let groups = (elements / u64::from(radix)).div_ceil(u64::from(threads)) as u32;
        if !(elements / u64::from(radix)).is_multiple_of(u64::from(threads)) {
            uneven = uneven.max(groups);
        }
        per_thread = per_thread.max(groups * radix);
        // A prime codelet holds its sums and differences, and half its outputs until their twins are stored.
        let prime = factor::factorise(u64::from(radix)).iter().map(|&(p, _)| p as u32).max().unwrap_or(1);
        scratch = scratch.max(if prime > 5 { words * prime } else { words * radix * 3 / 4 });
    }
    let convolves = pass.axes.iter().any(|axis| !matches!(axis.method, Method::MixedRadix(_)));
    let guards = if convolves { 8 + 8 * words + 12 * uneven } else { 6 * uneven };
    let registers = 2 * words * per_thread + scratch + guards + 24;
    let warps = threads.div_ceil(limits.subgroup) * limits.subgroup;
    let shared_bytes = (elements * bytes) as u32;
    // The assembler shares the file out to blocks rounded up to four warps.
    let file = limits.registers_per_sm / threads.next_multiple_of(4 * limits.subgroup);
    if registers > limits.registers_per_thread.min(file) || shared_bytes > limits.shared_bytes {
        return None;
    }
    let shared = if exchanges(pass) { limits.shared_per_sm / (shared_bytes + 1024) } else { u32::MAX };
    let blocks = shared
        .min(limits.registers_per_sm / (registers.next_multiple_of(8) * warps))
        .min(limits.threads_per_sm / warps)
        .min(limits.blocks_per_sm);
    Some(Occupancy { per_thread, registers, shared_bytes, blocks: blocks.max(1) })
}

fn exchanges(pass: &Pass) -> bool {
    pass.axes.iter().map(|axis| axis.method.stages()).sum::<usize>() > 1
}

fn radices(pass: &Pass) -> impl Iterator<Item = u32> {
    pass.axes.iter().flat_map(|axis| axis.method.radices().iter().copied())
}

/// Copies that a pass takes with a tile; `None` where the device cannot hold it.
pub fn of_tile(pass: &Pass, tile: &Tile, limits: &Limits) -> Option<f64> {
    let took = occupancy(pass, tile, limits)?;
    let padded = tile.elements(pass) as f64;
    let useful = padded
        * pass.axes.iter().map(|axis| axis.dim.n as f64 / axis.method.points() as f64).product::<f64>();
    let lanes = f64::from(limits.subgroup);
    let idle_lanes = (f64::from(tile.threads) / lanes).ceil() * lanes / f64::from(tile.threads);
    let mut issue = 6.0;
    for axis in &pass.axes {
        let ways = if matches!(axis.method, Method::MixedRadix(_)) { 1.0 } else { 2.0 };
        for &radix in axis.method.radices() {
            let groups = padded / f64::from(radix);
            let idle = (groups / f64::from(tile.threads)).ceil() * f64::from(tile.threads) / groups;
            issue += ways * idle * stage_issue(radix);
        }
    }
    let compute = issue * idle_lanes * padded / useful / ISSUE_BUDGET;
    let busy = (1.0 + compute.powi(4)).powf(0.25);
    let runs = segments(pass, tile);
    Some(busy * runs + thinness(pass, tile, limits, took))
}

/// Instructions of a stage for one point: codelet, twiddle, and its exchange.
fn stage_issue(radix: u32) -> f64 {
    let r = f64::from(radix);
    let loads = exact_powers(radix).len() as f64;
    let twiddles = (loads * 1.5 + (r - 1.0 - loads) * 4.0 + (r - 1.0) * 4.0) / r;
    flops(u64::from(radix)) / r + twiddles + 2.6
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
fn segments(pass: &Pass, tile: &Tile) -> f64 {
    let digits = Digits::of(pass, tile);
    let bytes = pass.precision.complex_bytes();
    let sides = [digits.weights(|digit| digit.is), digits.weights(|digit| digit.os)];
    let cost = sides.map(|strides| {
        let run = digits.run(&digits.by_stride(None, &strides), &strides) * bytes;
        let sectors = run.div_ceil(32) * 32;
        let thin = match run {
            0..=32 => 0.15,
            33..=64 => 0.03,
            65..=127 => 0.01,
            _ => 0.0,
        };
        sectors as f64 / run as f64 + if run.is_multiple_of(32) || run > 512 { thin } else { thin + 0.1 }
    });
    (cost[0] + cost[1]) / 2.0
}

/// What few resident blocks or few blocks in all add: nothing hides the latency of the phases.
fn thinness(pass: &Pass, tile: &Tile, limits: &Limits, took: Occupancy) -> f64 {
    let alone = match took.blocks {
        1 => 0.2,
        2 => 0.04,
        3 => 0.015,
        _ => 0.0,
    };
    let resident =
        f64::from(took.blocks * tile.threads * took.per_thread) * pass.precision.complex_bytes() as f64;
    // About 48 KB in flight on each multiprocessor keep the memory busy.
    let starved = (1.0 - resident / 49152.0).max(0.0) * 0.6;
    let blocks = tile.blocks(pass) as f64;
    let wanted = f64::from(limits.multiprocessors) * 2.0;
    let few = (1.0 - blocks / wanted).max(0.0) * 0.5;
    // Blocks of 128 to 256 threads did best on the H200; a thread that holds more than 256 bytes has long
    // unrolled code, which takes the assembler long and runs from outside the instruction cache.
    let threads = f64::from(tile.threads);
    let large = (threads / 256.0).log2().max(0.0) * 0.01;
    let small = (128.0 / threads).log2().max(0.0) * 0.015;
    let held = f64::from(took.per_thread) * pass.precision.complex_bytes() as f64;
    let heavy = (held / 128.0).log2().max(0.0) * 0.02 + (held / 256.0).log2().max(0.0) * 0.2;
    alone + starved + few + large + small + heavy
}
