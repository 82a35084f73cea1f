//! What a plan does, shown as a database shows a query plan: passes, bytes, copies predicted, radices, threads,
//! registers, shared memory, conflicts, workspace. Needs no device.

mod beside;

use std::fmt;

use crate::cost;
use crate::error::Error;
use crate::lower::digits::Digits;
use crate::lower::tile::Tile;
use crate::pass::{Array, CoprimePart, Method, PartKind, Pass, Twiddle};
use crate::problem::{Direction, Problem};
use crate::program::{Compiled, Part};
use crate::schedule::Schedule;
use crate::target::{Limits, SECTOR_BYTES};

pub use crate::schedule::Cause;
pub use beside::{AnyBatchSummary, ExtraSummary};

/// One pass over memory and its kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct PassSummary {
    /// Kernel's name.
    pub kernel: String,
    /// What is transformed, as an s-expression.
    pub method: String,
    /// Radices of each axis.
    pub radices: Vec<Vec<u32>>,
    /// Array that is read and array that is written.
    pub route: (String, String),
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Time over a copy of the problem's bytes that the cost model expects.
    pub copies: f64,
    /// Blocks of the launch.
    pub blocks: u64,
    /// Threads of a block.
    pub threads: u32,
    /// Blocks of a cluster.
    pub cluster: u32,
    /// Transforms of a block, or of a cluster.
    pub transforms: u64,
    /// Complex elements that a thread holds.
    pub per_thread: u32,
    /// Registers of a thread, estimated.
    pub registers: u32,
    /// Shared memory of a block in bytes.
    pub shared_bytes: u32,
    /// Blocks that a multiprocessor holds, estimated.
    pub resident_blocks: u32,
    /// Sectors of memory that the tile's runs touch over the fewest that hold them, read and written: 1 is the floor.
    pub sectors: [f64; 2],
    /// Exchanges through shared memory.
    pub exchanges: u32,
    /// Shared-memory wavefronts over the fewest possible, of the worst exchange or of all of a convolution: 1 is free of
    /// conflicts.
    pub conflicts: f64,
    /// Instructions of the kernel.
    pub instructions: usize,
    /// The ring by which it shares its launch with another pass.
    pub fused: Option<FusedSummary>,
}

/// The ring between two passes of one launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FusedSummary {
    /// Whether the pass writes the ring; else it reads it.
    pub first: bool,
    /// Slots.
    pub slots: u32,
    /// Bytes of all slots.
    pub bytes: u64,
    /// Items that the first pass is ahead of the second.
    pub ahead: u32,
    /// Whether tiles of both passes take turns.
    pub woven: bool,
}

/// What a plan does on a device.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The device's name.
    pub device: String,
    /// Plan of each transform dimension.
    pub plans: Vec<String>,
    /// Passes in order.
    pub passes: Vec<PassSummary>,
    /// Passes and memory that the layout asks for, not the transforms.
    pub extras: Vec<ExtraSummary>,
    /// How the number of transforms is left to each run, if it is.
    pub any_batch: Option<AnyBatchSummary>,
    /// Bytes of workspace.
    pub workspace_bytes: u64,
    /// Bytes of constant tables.
    pub table_bytes: u64,
    /// Bytes of the problem, read once and written once.
    pub bytes: u64,
    /// Time over a copy of the problem's bytes that the cost model expects.
    pub predicted_copies: f64,
    /// That copy in seconds, at the device's nominal speed.
    pub copy_seconds: f64,
}

/// Explains a problem's plan on a device.
///
/// # Errors
///
/// As [`compile`](crate::program::compile).
///
/// # Examples
///
/// ```
/// use warpfft_core::{explain::explain, request::Fft, target::Limits};
///
/// let problem = Fft::new([1000]).batch(64).build()?;
/// let explanation = explain(&problem, &Limits::named("webgpu-min").unwrap())?;
/// assert_eq!(explanation.passes.len(), 1);
/// println!("{explanation}");
/// # Ok::<(), warpfft_core::Error>(())
/// ```
pub fn explain(problem: &Problem, limits: &Limits) -> Result<Explanation, Error> {
    Ok(Explanation::of(&Compiled::of(problem, limits)?, limits))
}

impl Explanation {
    /// Explains what was compiled for a device.
    pub fn of(compiled: &Compiled, limits: &Limits) -> Self {
        let problem = &compiled.program.problem;
        let count = |dims: &mut dyn Iterator<Item = (u64, i64)>| dims.map(|(n, _)| n).product::<u64>();
        let bytes = count(&mut problem.input_dims()) * problem.input_element()
            + count(&mut problem.output_dims()) * problem.output_element();
        let launches = &compiled.program.launches;
        let passes: Vec<PassSummary> = compiled
            .schedule
            .passes
            .iter()
            .zip(&compiled.parts)
            .enumerate()
            .map(|(i, (pass, part))| {
                let kernel = &compiled.program.kernels[compiled.program.launches[part.launch].kernel];
                let fused = fused(&compiled.schedule, i);
                PassSummary { fused, ..summarise(pass, part, kernel, bytes, limits) }
            })
            .collect();
        Self {
            device: limits.name.clone(),
            plans: compiled.schedule.plans.iter().map(ToString::to_string).collect(),
            extras: ExtraSummary::all(&compiled.schedule, problem),
            any_batch: problem.at_run().map(|&dim| AnyBatchSummary {
                dim,
                launches: launches
                    .iter()
                    .filter_map(|own| compiled.program.kernels[own.kernel].at_run)
                    .collect(),
            }),
            workspace_bytes: compiled.program.workspace_bytes,
            table_bytes: compiled.program.tables.iter().map(crate::program::Table::bytes).sum(),
            bytes,
            predicted_copies: passes.iter().map(|pass| pass.copies).sum(),
            copy_seconds: bytes as f64 / limits.copy_bytes_per_second,
            passes,
        }
    }
}

fn summarise(
    pass: &Pass,
    part: &Part,
    kernel: &crate::kernel::Kernel,
    copied: u64,
    limits: &Limits,
) -> PassSummary {
    let took = cost::occupancy(pass, &part.tile, limits);
    let limited = |writes: bool, factor: Option<crate::pass::Pointwise>| {
        let kept = factor.and_then(|f| f.limit).map_or(1.0, |limit| {
            let indexed: u64 = indexed_elements(pass);
            (limit as f64 / indexed as f64).min(1.0)
        });
        (pass.bytes(writes) as f64 * kept) as u64
    };
    let (bytes_read, bytes_written) = (limited(false, pass.load), limited(true, pass.store));
    PassSummary {
        kernel: kernel.name.clone(),
        method: method(pass) + &applied(pass),
        radices: pass
            .axes
            .iter()
            .map(|axis| axis.method.stages().iter().map(|stage| stage.radix).collect())
            .collect(),
        route: (array(pass.src.array), array(pass.dst.array)),
        bytes_read,
        bytes_written,
        copies: part.cost * (bytes_read + bytes_written) as f64 / copied as f64,
        blocks: kernel.blocks,
        threads: kernel.threads,
        cluster: kernel.cluster,
        transforms: part.tile.batch.iter().product(),
        per_thread: took.map_or(0, |took| took.per_thread),
        sectors: sectors(pass, &part.tile),
        registers: took.map_or(0, |took| took.registers),
        shared_bytes: kernel.shared_bytes(),
        resident_blocks: took.map_or(0, |took| took.blocks),
        exchanges: part.exchanges,
        conflicts: part.conflicts,
        instructions: kernel.instructions(),
        fused: None,
    }
}

/// The functions that a pass applies on its way in and out.
fn applied(pass: &Pass) -> String {
    let sides = [("load", &pass.functions.load), ("store", &pass.functions.store)];
    let text = |(side, function): (&str, &Option<_>)| {
        function
            .as_ref()
            .map(|function: &std::sync::Arc<crate::function::Function>| format!("; on {side}: {function}"))
    };
    sides.into_iter().filter_map(text).collect()
}

/// The ring of a pass that shares its launch.
fn fused(schedule: &Schedule, at: usize) -> Option<FusedSummary> {
    let (fuse, ring) = schedule.fused.iter().find(|(fuse, _)| (fuse.first..fuse.first + 2).contains(&at))?;
    let bytes = u64::from(ring.slots) * ring.slot * schedule.passes[at].precision.complex_bytes();
    Some(FusedSummary {
        first: at == fuse.first,
        slots: ring.slots,
        bytes,
        ahead: ring.ahead,
        woven: ring.woven,
    })
}

/// Sectors over the fewest possible, read and written: runs of neighbours that do not fill whole sectors pay for what
/// lies beside them.
fn sectors(pass: &Pass, tile: &Tile) -> [f64; 2] {
    let digits = Digits::of(pass, tile);
    let element = pass.precision.complex_bytes();
    [digits.weights(|digit| digit.is), digits.weights(|digit| digit.os)].map(|strides| {
        let run = digits.run(&digits.by_stride(&[], &strides), &strides) * element;
        // A run that is no whole number of sectors begins anywhere in one.
        let touched = match run {
            _ if run.is_multiple_of(SECTOR_BYTES) => run,
            _ if SECTOR_BYTES.is_multiple_of(run) => SECTOR_BYTES,
            _ => run + SECTOR_BYTES - element,
        };
        touched as f64 / run as f64
    })
}

/// Range of the index of a pass's pointwise factor.
fn indexed_elements(pass: &Pass) -> u64 {
    let axes = pass.axes.iter().map(|axis| &axis.dim);
    axes.chain(&pass.batch).filter(|dim| dim.load_index + dim.store_index > 0).map(|dim| dim.n).product()
}

fn array(array: Array) -> String {
    match array {
        Array::Input => "input".into(),
        Array::Output => "output".into(),
        Array::Workspace(region) => format!("workspace {region}"),
    }
}

fn method(pass: &Pass) -> String {
    let axes: Vec<String> = pass
        .axes
        .iter()
        .map(|axis| {
            let stages = product(axis.method.radices());
            match &axis.method {
                Method::MixedRadix(_) => format!("{} = {stages}", axis.dim.n),
                Method::Reals(reals) => format!("{} of {}", reals.kind.name(), axis.dim.n),
                Method::Coprime(parts) => parts.iter().map(part).collect::<Vec<_>>().join(" with "),
                Method::Decimated { radix, part: rows } => format!("{radix} before {}", part(rows)),
            }
        })
        .collect();
    let mut text = match axes.len() {
        0 => if pass.folds() { "" } else { "copy" }.into(),
        _ if pass.puts_in_order() => "in order".into(),
        _ => axes.join(", "),
    };
    for (writes, fold) in [false, true].into_iter().zip(&pass.ends) {
        let Some(fold) = fold else { continue };
        let what = fold.formula.name(pass.direction == Direction::Inverse);
        let side = if writes { "out" } else { "in" };
        text += &format!("{}{what} of {} folded {side}", if text.is_empty() { "" } else { ", " }, fold.n);
    }
    if pass.images.is_some() {
        text += ", rows with their mirror images";
    }
    if let Some(Twiddle { modulus, .. }) = pass.twiddle {
        text += &format!(", twiddle {modulus}");
    }
    text
}

fn product(radices: &[u32]) -> String {
    radices.iter().map(ToString::to_string).collect::<Vec<_>>().join(" x ")
}

fn part(part: &CoprimePart) -> String {
    let (n, points, stages) = (part.n, part.points(), product(&part.radices));
    match part.kind {
        PartKind::MixedRadix => format!("{n} = {stages}"),
        PartKind::Rader if part.halved() => {
            format!("{n} by rader over {} in halves of {points} = {stages}", 2 * points)
        }
        PartKind::Rader => format!("{n} by rader over {points} = {stages}"),
        PartKind::Bluestein if part.band.is_some() => {
            let [samples, points_out] = [false, true].map(|leaves| part.ends(leaves));
            format!("{samples} to {points_out} frequencies by bluestein over {points} = {stages}")
        }
        PartKind::Middle => {
            format!("{n} there and back for a chirp of {} = {stages}", part.chirp.unwrap_or(n))
        }
        PartKind::Filter => format!("{n} there, times the filter and back = {stages}"),
        PartKind::Bluestein if part.halved() => {
            format!("{n} by bluestein over {} in halves of {points} = {stages}", 2 * points)
        }
        PartKind::Bluestein => format!("{n} by bluestein over {points} = {stages}"),
    }
}

fn bytes(count: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = count as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{count} B") } else { format!("{value:.4} {}", units[unit]) }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.passes.len();
        let s = if count == 1 { "" } else { "es" };
        writeln!(f, "{count} pass{s} on {}, {:.2} copies predicted", self.device, self.predicted_copies)?;
        for (i, plan) in self.plans.iter().enumerate() {
            writeln!(f, "axis {i}: {plan}")?;
        }
        for (i, pass) in self.passes.iter().enumerate() {
            writeln!(f, "-> pass {}: {}", i + 1, pass.method)?;
            writeln!(f, "   {} -> {}", pass.route.0, pass.route.1)?;
            if let Some(FusedSummary { first, slots, bytes: ring, ahead, woven }) = pass.fused {
                let (next, ring) = (if first { "next" } else { "last" }, bytes(ring));
                let turns = if woven { ", tile by tile in turns" } else { "" };
                writeln!(
                    f,
                    "   one launch with the {next} pass: ring of {slots} slots, {ring}, {ahead} ahead{turns}"
                )?;
            }
            writeln!(
                f,
                "   reads {}, writes {}, {:.2} copies",
                bytes(pass.bytes_read),
                bytes(pass.bytes_written),
                pass.copies
            )?;
            writeln!(
                f,
                "   kernel {}: {} blocks x {} threads, {} transforms a {}, ~{} registers, {} shared, {} \
                 resident blocks",
                pass.kernel,
                pass.blocks,
                pass.threads,
                pass.transforms,
                if pass.cluster > 1 { format!("cluster of {}", pass.cluster) } else { "block".into() },
                pass.registers,
                bytes(u64::from(pass.shared_bytes)),
                pass.resident_blocks
            )?;
            writeln!(
                f,
                "   {} exchanges, bank conflicts x{:.2}, sectors x{:.2} read, x{:.2} written, {} instructions",
                pass.exchanges, pass.conflicts, pass.sectors[0], pass.sectors[1], pass.instructions
            )?;
        }
        for extra in &self.extras {
            writeln!(f, "{extra}")?;
        }
        if let Some(any_batch) = &self.any_batch {
            writeln!(f, "{any_batch}")?;
        }
        writeln!(f, "workspace {}, tables {}", bytes(self.workspace_bytes), bytes(self.table_bytes))?;
        write!(
            f,
            "one copy: {} at {:.2} TB/s, {:.1} us",
            bytes(self.bytes),
            self.bytes as f64 / self.copy_seconds / 1e12,
            self.copy_seconds * 1e6
        )
    }
}
