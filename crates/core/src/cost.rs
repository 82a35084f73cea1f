//! The cost model, in copies: time over that of a plain copy of the same bytes. Memory gives 1; what arithmetic,
//! exchanges, idle threads, thin occupancy and short segments add is estimated here, and nowhere else.

mod cluster;
mod convolution;
pub(crate) mod fused;
mod in_place;
mod latency;
mod long;
mod memory;
mod occupancy;
mod radix;
mod reals;
mod several;
mod short;
mod split;

pub(crate) use latency::launch_part;
pub use long::of_middle;
pub(crate) use occupancy::of_each;
pub use occupancy::{Occupancy, occupancy};

use crate::lower::cluster::Cut;
use crate::lower::places;
use crate::lower::tile::{self, Tile};
use crate::pass::{Array, Axis, Carry, CoprimePart, MAX_STAGES, Method, Operand, Pass, PassDim, Stage};
use crate::plan::Plan;
use crate::problem::{Direction, Format, Precision, Problem, Storage};
use crate::schedule;
use crate::target::{Limits, SECTOR_BYTES};

/// Copies that a block adds which pads columns alone on its multiprocessor: nothing is asked for ahead of it. Four such
/// passes of 1000003 were seen to take 14.2 copies where 9.1 were expected.
const UNFED: f64 = 0.4;

/// Copies of a plan, for a large batch of packed rows; `None` where a part fits no block.
pub fn of_plan(plan: &Plan, limits: &Limits, precision: Precision) -> Option<f64> {
    of_plan_between(plan, limits, precision, Ends::computed(precision))
}

/// How input and output of a complex transform lie in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ends {
    /// How they keep a real number.
    pub kept: [Storage; 2],
    /// Whether they hold real parts alone.
    pub reals: [bool; 2],
}

impl Ends {
    /// Complex numbers, kept as they are computed in.
    pub const fn computed(precision: Precision) -> Self {
        Self { kept: [Storage::of(precision); 2], reals: [false; 2] }
    }

    /// Those of a problem.
    pub fn of(problem: &Problem) -> Self {
        let reals = [problem.input, problem.output].map(|format| format == Format::Real);
        Self { kept: problem.stored(), reals }
    }

    /// Bytes of an element of both together.
    fn bytes(self) -> f64 {
        let side =
            |(kept, real): (Storage, bool)| if real { kept.real_bytes() } else { kept.complex_bytes() };
        self.kept.into_iter().zip(self.reals).map(side).sum::<u64>() as f64
    }
}

/// Bytes that so many passes move over those that they would if each moved what the problem does: what lies between them is
/// complex, and kept as it is computed.
pub(crate) fn moved(passes: u64, precision: Precision, ends: Ends) -> f64 {
    let ends = ends.bytes();
    let between = 2.0 * (passes - 1) as f64 * precision.complex_bytes() as f64;
    (between + ends) / (passes as f64 * ends)
}

/// The same for data that lies so.
pub fn of_plan_between(plan: &Plan, limits: &Limits, precision: Precision, ends: Ends) -> Option<f64> {
    let rows = |n, method| {
        let pass = lines(n, method, (1, n as i64), precision);
        let side = |own: Operand, end: usize| {
            let format = if ends.reals[end] { Format::Real } else { own.format };
            Operand { format, storage: ends.kept[end], ..own }
        };
        let (src, dst) = (side(pass.src, 0), side(pass.dst, 1));
        tile::choose(&Pass { src, dst, ..pass }, limits).map(|choice| choice.cost)
    };
    if plan.passes() > 1 {
        return Some(of_passes(plan, limits, precision)? * moved(plan.passes(), precision, ends));
    }
    let method = match plan {
        Plan::MixedRadix(radices) => Method::MixedRadix(radices.clone()),
        Plan::Bluestein { inner, .. } if !matches!(**inner, Plan::MixedRadix(_)) => return None,
        plan => schedule::on_chip_method(plan),
    };
    rows(plan.len(), method)
}

/// Copies of a plan of several passes.
fn of_passes(plan: &Plan, limits: &Limits, precision: Precision) -> Option<f64> {
    match plan {
        Plan::Split(_) => split::of_passes(plan, limits, precision),
        Plan::InPlace { .. } => in_place::of_passes(plan, limits, precision),
        Plan::Bluestein { n, inner } => match &**inner {
            Plan::Split(parts) => long::of_parts(*n, parts, limits, precision),
            _ => None,
        },
        _ => None,
    }
}

/// Copies of a one-pass plan over the columns of a long array; `None` where no tile of them fits.
pub fn of_columns(plan: &Plan, limits: &Limits, precision: Precision) -> Option<f64> {
    let Plan::MixedRadix(radices) = plan else { return None };
    // Rows that start with lines of memory.
    let columns = ((1_u64 << 26) / plan.len()).next_multiple_of(32) as i64;
    let strides = (columns, 1);
    of_lines(plan.len(), Method::MixedRadix(radices.clone()), strides, limits, precision)
}

/// Copies of a pass over many lines: strides of their points, and of the lines.
fn of_lines(
    n: u64,
    method: Method,
    (point, line): (i64, i64),
    limits: &Limits,
    precision: Precision,
) -> Option<f64> {
    let pass = lines(n, method, (point, line), precision);
    tile::choose(&pass, limits).map(|choice| choice.cost)
}

/// A pass over many lines.
fn lines(n: u64, method: Method, (point, line): (i64, i64), precision: Precision) -> Pass {
    let lines = (1_u64 << 26).div_ceil(n);
    let side = |array| Operand {
        array,
        format: Format::Interleaved,
        offset: 0,
        span: n * lines,
        storage: Storage::of(precision),
    };
    Pass {
        axes: vec![Axis::new(PassDim::new(n, point, point), method)],
        batch: vec![PassDim::new(lines, line, line)],
        rank: 1,
        complex: true,
        src: side(Array::Input),
        dst: side(Array::Output),
        precision,
        direction: Direction::Forward,
        twiddle: None,
        load: None,
        store: None,
        scale: 1.0,
        ends: [None; 2],
        windows: Default::default(),
        filter: None,
        images: None,
        functions: Default::default(),
    }
}

/// Instructions of a padded stage for each point, about.
pub(crate) fn padded_stage(radix: u32) -> f64 {
    radix::facts(radix).convolved + convolution::STEP
}

/// Copies of a pass in place whose stages take so many instructions for each point, about.
pub(crate) fn padded_copies(instructions: f64) -> f64 {
    (1.0 + (instructions / convolution::ISSUE_BUDGET).powi(2)).sqrt()
}

/// Points that the folds of a pass hold beside the tile, or in its place.
fn staged(pass: &Pass, useful: u64) -> u64 {
    let ends = if pass.axes.is_empty() { 0 } else { pass.ends.iter().flatten().count() as u64 };
    let coprime = pass.axes.iter().any(|axis| !axis.method.in_place().is_empty());
    useful * if coprime { ends } else { ends.min(1) }
}

/// Stages of all axes but the last.
fn stages_before_last_axis(pass: &Pass) -> usize {
    let before = pass.axes.iter().rev().skip(1);
    before.map(|axis| axis.method.stages().len()).sum()
}

/// Whether rows that the last stage of the last axis would write are whole sectors.
fn ends_in_sectors(pass: &Pass) -> bool {
    let sectors = |axis: &Axis| {
        let last = axis.method.stages().last().map_or(1, |stage| stage.radix);
        (axis.dim.n / u64::from(last) * pass.element_bytes(true)).is_multiple_of(SECTOR_BYTES)
    };
    pass.axes.last().is_none_or(sectors)
}

/// What does not depend on the threads of a block: computed once for many thread counts.
pub struct Model<'a> {
    limits: &'a Limits,
    bytes: u64,
    /// Numbers are pairs of singles.
    pairs: bool,
    /// Elements of a block.
    elements: u64,
    cluster: u32,
    /// Several transforms in a tile.
    several: bool,
    /// Their number.
    transforms: u64,
    /// Axes in a tile.
    axes: usize,
    /// Dimensions that the problem transforms.
    rank: usize,
    /// Every stage; its points are those of a block.
    stages: Vec<Stage>,
    /// Times that the tile's points go to permuted places, or come from there.
    permutations: f64,
    /// The first stage runs on what comes from memory, before the tile goes to its places.
    decimated: bool,
    /// Points of the longest part of a convolution.
    longest: u64,
    /// Multiplied by twiddles on the way out.
    twiddled: bool,
    /// Axes, where they are all that there is of lines, planes or volumes of complex numbers, which lie packed; else none.
    whole: usize,
    /// Threads hold rows of lines of reals with their images.
    images: bool,
    /// They make these of what they read of two spectra.
    two_spectra: bool,
    /// One of several passes, none of which folds or looks through windows.
    one_of_several: bool,
    /// It pads what it reads, or drops the padding of what it writes.
    pads: bool,
    /// Elements of the tile without padding.
    useful: f64,
    /// Points that Rader's rows set aside.
    aside: u64,
    /// Which sides fold: where it reads, where it writes.
    folds: [bool; 2],
    /// Axis by axis, the tile would be exchanged once more on its way out.
    exits_once_more: bool,
    /// A cluster whose stages behind the exchange between blocks are all of the last axis, so that no other order saves that.
    ends_with_last_axis: bool,
    /// Every side that folds does so where spectra stand, as they lie.
    straight: bool,
    /// Points of the arrays of lines through which folds go: that of the exchanges serves where stages run in registers.
    staged: u64,
    segments: f64,
    short: short::Short,
    lines: reals::Lines,
    blocks: u64,
}

impl<'a> Model<'a> {
    /// The model of a pass whose tile holds `batch` of the repeated dimensions in `cluster` blocks; `None` where
    /// they cannot share it.
    pub fn new(pass: &Pass, batch: &[u64], cluster: u32, limits: &'a Limits) -> Option<Self> {
        let tile = Tile::new(1, cluster, batch.to_vec());
        let (digits, cut) = Cut::of_tile(pass, &tile)?;
        let elements = tile.elements(pass) / u64::from(cluster);
        let mut stages = Vec::new();
        let mut permutations = 0.0;
        let mut longest = 0;
        let mut decimated = false;
        for axis in &pass.axes {
            let (own, points) = (axis.method.stages(), axis.method.points());
            let share = |stage: Stage| Stage { points: elements * stage.points / points, ..stage };
            stages.extend(own.into_iter().map(share));
            let parts = axis.method.in_place();
            if !parts.is_empty() {
                if parts.iter().any(|part| part.radices.len() > MAX_STAGES) {
                    return None;
                }
                let direct = matches!(&axis.method, Method::Coprime(all) if places::alone(all).is_some());
                decimated |= matches!(axis.method, Method::Decimated { .. });
                permutations += if direct { 0.0 } else { 2.0 };
                longest = parts.iter().map(CoprimePart::points).fold(longest, u64::max);
            }
        }
        let useful: u64 =
            pass.axes.iter().map(|axis| axis.dim.n).product::<u64>() * batch.iter().product::<u64>();
        Some(Self {
            limits,
            bytes: pass.precision.complex_bytes(),
            pairs: pass.precision == Precision::DoubleSingle,
            elements,
            cluster,
            several: batch.iter().any(|&count| count > 1),
            transforms: batch.iter().product(),
            axes: pass.axes.len(),
            rank: pass.rank,
            twiddled: pass.twiddle.is_some(),
            whole: if pass.twiddle.is_none()
                && pass.ends == [None; 2]
                && pass.axes.iter().any(|axis| axis.dim.is == 1)
            {
                pass.axes.len()
            } else {
                0
            },
            images: pass.images.is_some(),
            two_spectra: pass.images.is_some_and(|images| matches!(images.carry, Carry::Rows(_)))
                && !pass.spectrum_side(),
            pads: [pass.load, pass.store].into_iter().flatten().any(|factor| factor.limit.is_some())
                || pass.windows.iter().any(|own| !own.is_empty()),
            stages,
            permutations,
            decimated,
            longest,
            useful: useful as f64 / f64::from(cluster),
            aside: pass.axes.iter().map(|axis| convolution::aside(axis, batch)).max().unwrap_or(0),
            folds: pass.ends.map(|end| end.is_some()),
            exits_once_more: pass.axes.len() > 1 && !ends_in_sectors(pass),
            ends_with_last_axis: cut.is_some_and(|cut| cut.stage >= stages_before_last_axis(pass)),
            straight: [false, true].into_iter().all(|writes| {
                pass.ends[usize::from(writes)].is_none() || pass.spectrum_lies_straight(writes)
            }),
            staged: staged(pass, useful) / u64::from(cluster),
            segments: memory::segments(pass, &tile, &digits, cut),
            one_of_several: several::is_one(pass),
            short: short::Short::of(pass, batch, &digits, cut),
            lines: reals::Lines::of(pass, batch),
            blocks: tile.blocks(pass),
        })
    }

    /// Whether an axis is one of coprime parts.
    fn coprime(&self) -> bool {
        self.longest > 0
    }

    /// Copies that the pass takes with so many threads in a launch of its own; `None` where the device cannot hold it.
    pub fn copies(&self, threads: u32) -> Option<f64> {
        Some(self.own_copies(threads)? + self.beside_others(threads))
    }

    /// The same but for what it costs more as one of several.
    pub fn own_copies(&self, threads: u32) -> Option<f64> {
        let brief =
            if self.limits.brevity > 0.0 { self.limits.brevity * self.length(threads) / 1e3 } else { 0.0 };
        Some(self.time(threads)? + brief)
    }

    /// Instructions of the code for so many threads, about.
    fn length(&self, threads: u32) -> f64 {
        if self.coprime() {
            return self.convolution_length(threads);
        }
        let held = |points: u64, radix: u32| {
            (points as f64 / f64::from(radix) / f64::from(threads)).ceil() * f64::from(radix)
        };
        let step = |&Stage { radix, ways, points }: &Stage| {
            held(points, radix) * radix::facts(radix).issue * f64::from(ways)
        };
        self.stages.iter().map(step).sum()
    }

    /// Copies of the time that it takes.
    fn time(&self, threads: u32) -> Option<f64> {
        if self.coprime() {
            let copies = self.convolution_copies(threads)?;
            return Some(self.thinned(copies) + self.short.copies(threads, self.elements));
        }
        let took = self.occupancy(threads)?;
        let unfed = if self.pads && took.blocks == 1 { UNFED } else { 0.0 };
        let copies = self.latency_copies(threads, took) + unfed;
        Some(self.thinned(copies) + self.short.copies(threads, self.elements) + self.lines.copies(threads))
    }

    /// What comes beside memory takes as long for fewer bytes, and so does the start of a block.
    fn thinned(&self, copies: f64) -> f64 {
        let thin = self.short.thin;
        if thin == 1.0 { copies } else { (1.0 + (copies - 1.0) * thin).max(thin * self.start_of_blocks()) }
    }
}
