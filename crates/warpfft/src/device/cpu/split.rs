//! From a problem to passes over its axes. Each axis has a pass; the first reads the input and writes the output, the
//! others work in place on the output. An array of its own, the stage, lies between where that cannot be: in place where
//! strides differ (a transposition in place), because lines overlap others' lines; before half spectra become reals,
//! because the complex transforms come first and the output has no room for their results; and where the output is kept in
//! another type, because what lies between passes is kept as it is computed.

use std::ops::RangeInclusive;
use std::sync::Arc;

use num_complex::Complex;
use warpfft_core::problem::{Band, Dim, Format, Kind, Placement, Problem, RealKind, Storage, half};

use super::CpuReal;
use super::lines::{Array, Pass, Side, Work};
use super::portions::{Group, Outside, Portions, divide, lengths};
use super::real::Widened;
use super::tile::Mode;
use crate::error::Error;

/// Elements of a tile of lines that are slices.
const TILE_ELEMENTS: u64 = 1 << 13;
/// Bytes of a tile of lines that are gathered: with scratch beside them they stay in a core's nearest cache.
const GATHERED_BYTES: u64 = 1 << 14;
/// Bytes of neighbouring lanes that such a tile takes at least: whole cache lines, and some of them, since each row of them is
/// on a page of its own.
const TILE_BYTES: u64 = 256;
/// Bytes of lines that are faster copied first and transformed in place than from one array into the other: shorter ones are
/// read in one go, of longer ones the copy has left the nearest cache by then.
const COPIED: RangeInclusive<u64> = 1 << 12..=1 << 15;

/// The transform that an axis wants.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wanted {
    /// Of complex numbers.
    Complex,
    /// Of reals into half of their spectrum.
    ToSpectrum,
    /// Of reals into all of their spectrum.
    ToWholeSpectrum,
    /// Of half of a spectrum into its reals.
    FromSpectrum,
    /// Of samples, which may be reals, into frequencies.
    Zoom(Band, bool),
    /// Of reals into reals, and whether with weights that make it orthogonal.
    Real(RealKind, bool),
}

/// A problem as passes.
pub(super) struct Split<T> {
    /// In the order in which they run.
    pub groups: Vec<Group<T>>,
    /// Reals of the stage; 0 where there is none.
    pub stage: u64,
    /// Reals of each thread's own stage; 0 where there is none.
    pub own_stage: u64,
    /// How the stage lies.
    pub stage_format: Format,
}

/// A dimension of the problem, and its stride in the packed stage.
#[derive(Clone, Copy)]
pub(super) struct Axis {
    wanted: Option<Wanted>,
    /// Length of its transform.
    n: u64,
    /// Points so far, and those after its transform.
    points: [u64; 2],
    is: i64,
    pub os: i64,
    stage: i64,
}

impl Axis {
    /// Points so far.
    pub fn now(&self) -> u64 {
        self.points[0]
    }

    /// Points before or after its transform, whichever are more.
    pub fn most(&self) -> u64 {
        self.points[0].max(self.points[1])
    }

    /// Has it transformed.
    pub fn pass(&mut self) {
        self.points[0] = self.points[1];
    }
}

/// One axis' turn, or a copy.
struct Step<T> {
    own: Option<usize>,
    work: Work<T>,
    /// All axes before it.
    axes: Vec<Axis>,
    /// Where it reads and where it writes.
    arrays: [Array; 2],
    scale: Option<T>,
}

/// Splits a problem that has been validated, for so many threads; `make` gives the transform of a line of that length.
pub(super) fn split<T: CpuReal>(
    problem: &Problem,
    threads: u64,
    mut make: impl FnMut(Wanted, u64) -> Result<Work<T>, Error>,
) -> Result<Split<T>, Error> {
    let mut axes = axes(problem);
    let in_place = problem.placement == Placement::InPlace;
    let mut owns = order(&axes).into_iter().map(Some).collect::<Vec<_>>();
    // What reads the input makes complex numbers of its reals.
    let widens = problem.kind == Kind::Complex && problem.input == Format::Real;
    if let Some(&Some(first)) = owns.first().filter(|_| widens) {
        axes[first].wanted = Some(Wanted::ToWholeSpectrum);
    }
    let aside = is_set_aside(problem, &axes);
    if owns.is_empty() && (!in_place || aside || problem.scale != 1.0) {
        owns.push(None);
    }
    if aside {
        owns.insert(0, None);
    }
    let to_reals = matches!(problem.kind, Kind::ComplexToReal(_));
    // What lies between passes is kept as it is computed.
    let between = to_reals || problem.stored()[1] != T::STORAGE;
    let staged = |step: usize| (aside && step == 0) || (between && step + 1 < owns.len());
    let elements = |axes: &[Axis]| axes.iter().map(|axis| axis.points[0]).product::<u64>();
    let stage_format = if problem.kind.reals() == [true, true] { Format::Real } else { Format::Interleaved };
    let stage = if staged(0) { elements(&axes) * stage_format.step() } else { 0 };
    let parts = |format| if format == Format::Real { 1 } else { 2 };
    let wide = parts(problem.output).max(parts(stage_format)) * size_of::<T>() as u64;
    let divided = divide(&owns, &axes, wide, threads);
    let same = in_place && problem.input == problem.output && !aside;
    // In place, the output's memory holds the input until the first pass.
    let mut from = if same { Array::Output } else { Array::Input };
    let mut steps = Vec::new();
    for (step, &own) in owns.iter().enumerate() {
        let to = if staged(step) { Array::Stage } else { Array::Output };
        let work = match own.and_then(|own| Some((axes[own].wanted?, axes[own].n))) {
            Some((wanted, n)) => make(wanted, n)?,
            None if widens => Work::Real(Arc::new(Widened)),
            None => Work::Copy,
        };
        let last = step + 1 == owns.len();
        let scale = (last && problem.scale != 1.0).then(|| T::nearest(problem.scale));
        steps.push(Step { own, work, axes: axes.clone(), arrays: [from, to], scale });
        if let Some(own) = own {
            axes[own].pass();
        }
        from = to;
    }
    let build = Build { problem, stage_format, steps };
    let groups: Vec<Group<T>> = divided.iter().flat_map(|portions| build.groups(portions)).collect();
    let own_stage = groups.iter().map(|group| group.own_stage).max().unwrap_or(0);
    Ok(Split { groups, stage: if own_stage > 0 { 0 } else { stage }, own_stage, stage_format })
}

/// The dimensions that there is something to do along.
fn axes(problem: &Problem) -> Vec<Axis> {
    let plain = |wanted: Option<Wanted>| move |dim: &Dim| (wanted, *dim, [dim.n; 2]);
    let own: Vec<(Option<Wanted>, Dim, [u64; 2])> = match &problem.kind {
        Kind::Complex => Vec::new(),
        Kind::RealToComplex(dim) => vec![(Some(Wanted::ToSpectrum), *dim, [dim.n, half(dim.n)])],
        Kind::ComplexToReal(dim) => vec![(Some(Wanted::FromSpectrum), *dim, [half(dim.n), dim.n])],
        Kind::Zoom(zoom) => {
            let points = [zoom.band.samples, zoom.band.points];
            vec![(Some(Wanted::Zoom(zoom.band, zoom.real)), zoom.dim, points)]
        }
        Kind::RealToReal(dims) => {
            dims.iter().map(|real| plain(Some(Wanted::Real(real.kind, real.orthogonal)))(&real.dim)).collect()
        }
    };
    let long = |dim: &&Dim| dim.n > 1;
    let complex = problem.transform.iter().filter(long).map(plain(Some(Wanted::Complex)));
    let batch = problem.batch.iter().filter(long).map(plain(None));
    let mut stage = 1;
    let axis = |(wanted, dim, points): (Option<Wanted>, Dim, [u64; 2])| {
        let axis = Axis { wanted, n: dim.n, points, is: dim.is, os: dim.os, stage };
        stage *= points[0] as i64;
        axis
    };
    own.into_iter().chain(complex).chain(batch).map(axis).collect()
}

/// The axes to transform, in their order. The one whose points lie closest goes first: it reads the input.
fn order(axes: &[Axis]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..axes.len()).filter(|&axis| axes[axis].wanted.is_some()).collect();
    order.sort_by_key(|&axis| {
        let rank = match axes[axis].wanted {
            Some(Wanted::ToSpectrum | Wanted::ToWholeSpectrum | Wanted::Zoom(..) | Wanted::Real(..)) => 0,
            Some(Wanted::Complex) | None => 1,
            Some(Wanted::FromSpectrum) => 2,
        };
        (rank, axes[axis].is.unsigned_abs())
    });
    order
}

/// Whether the input must be copied aside first, because lines in place overlap others' lines.
fn is_set_aside(problem: &Problem, axes: &[Axis]) -> bool {
    if problem.placement == Placement::OutOfPlace {
        return false;
    }
    match problem.kind {
        Kind::Complex | Kind::RealToReal(_) | Kind::Zoom(_) => {
            problem.input_offset != problem.output_offset || axes.iter().any(|axis| axis.is != axis.os)
        }
        // A row of reals lies within its own spectrum's row.
        Kind::RealToComplex(_) | Kind::ComplexToReal(_) => false,
    }
}

/// Makes passes of steps.
struct Build<'a, T> {
    problem: &'a Problem,
    stage_format: Format,
    steps: Vec<Step<T>>,
}

impl<T: CpuReal> Build<'_, T> {
    /// The passes over portions: those over whole ones, and over the last one where that is smaller.
    fn groups(&self, portions: &Portions) -> Vec<Group<T>> {
        let axes = &self.steps[portions.steps.start].axes;
        let own: Vec<usize> = self.steps[portions.steps.clone()].iter().filter_map(|step| step.own).collect();
        let lengths = lengths(&own, axes);
        let start = vec![0; axes.len()];
        let counts: Vec<u64> =
            lengths.iter().zip(&portions.inside).map(|(all, inside)| all / inside).collect();
        let staged = self.steps.iter().any(|step| step.arrays[1] == Array::Stage);
        // Where all steps are here, nobody else needs what a portion leaves in the stage.
        let own_stage = staged && own.len() == self.steps.len() && counts.iter().any(|&count| count > 1);
        let mut groups = vec![self.group(portions, &start, &counts, own_stage)];
        let rest = |&axis: &usize| lengths[axis] % portions.inside[axis];
        if let Some(axis) = (0..axes.len()).find(|axis| rest(axis) > 0) {
            let (mut last, mut start, mut counts) = (portions.inside.clone(), start, counts);
            last[axis] = rest(&axis);
            start[axis] = counts[axis] * portions.inside[axis];
            counts[axis] = 1;
            let last = Portions { steps: portions.steps.clone(), inside: last };
            groups.push(self.group(&last, &start, &counts, own_stage));
        }
        groups
    }

    /// The passes over `counts` portions along each axis, of which the first begins at the indices `start`.
    fn group(&self, portions: &Portions, start: &[u64], counts: &[u64], own: bool) -> Group<T> {
        let steps = &self.steps[portions.steps.clone()];
        // A stage of one's own is packed.
        let mut packed = 1;
        let mut stages = Vec::new();
        for (axis, &inside) in steps[0].axes.iter().zip(&portions.inside) {
            stages.push(if own { packed } else { axis.stage });
            packed *= inside.min(axis.points[0]) as i64;
        }
        let mut offsets = [self.problem.input_offset as isize, self.problem.output_offset as isize, 0];
        let mut outside = Vec::new();
        for (at, axis) in steps[0].axes.iter().enumerate() {
            let strides = [axis.is, axis.os, if own { 0 } else { axis.stage }];
            for (offset, stride) in offsets.iter_mut().zip(strides) {
                *offset += start[at] as isize * stride as isize;
            }
            if counts[at] > 1 {
                let strides = strides.map(|stride| stride * portions.inside[at] as i64);
                outside.push(Outside { n: counts[at], strides });
            }
        }
        let own_stage = if own { packed as u64 * self.stage_format.step() } else { 0 };
        let passes = steps.iter().map(|step| self.pass(step, &portions.inside, &stages, offsets)).collect();
        Group { passes, outside, own_stage, stage_format: self.stage_format }
    }

    /// A step over one portion.
    fn pass(&self, step: &Step<T>, inside: &[u64], stages: &[i64], offsets: [isize; 3]) -> Pass<T> {
        let [from, to] = step.arrays;
        let dim = |at: usize| {
            let axis = &step.axes[at];
            let stride = |array: Array| match array {
                Array::Input => axis.is,
                Array::Output => axis.os,
                Array::Stage => stages[at],
            };
            // Axes with a transform in this group are whole, and may have fewer points now than at most.
            let n = inside[at].min(axis.points[0]);
            (Dim::new(n, stride(from), stride(to)), axis)
        };
        let others = (0..step.axes.len()).filter(|&at| Some(at) != step.own);
        let mut all: Vec<Dim> = others.map(|at| dim(at).0).filter(|dim| dim.n > 1).collect();
        let formats = [self.format(from), self.format(to)];
        let line = match step.own.map(dim) {
            Some((dim, axis)) => [(axis.points[0], dim.is), (axis.points[1], dim.os)],
            None => {
                let nearest = take_nearest(&mut all);
                [(nearest.n, nearest.is), (nearest.n, nearest.os)]
            }
        };
        let apart = line.iter().any(|&(_, stride)| stride != 1);
        let line = [0, 1].map(|which| {
            let ((n, stride), parts) = (line[which], if formats[which] == Format::Real { 1 } else { 2 });
            Side { n, stride, parts, apart }
        });
        let mut outer = merged(all);
        let lanes = take_nearest(&mut outer);
        let kept = [from, to].map(|array| self.kept(array) == T::STORAGE);
        let packed = [0, 1].map(|which| kept[which] && formats[which] != Format::Planar);
        let (mode, tile) = shape::<T>(&step.work, line, packed, from == to);
        let offsets = (offsets[from as usize], offsets[to as usize]);
        let (work, arrays, scale) = (step.work.clone(), (from, to), step.scale);
        Pass { work, line, lanes, tile, scale, mode, outer, arrays, offsets }
    }

    fn kept(&self, array: Array) -> Storage {
        match array {
            Array::Input => self.problem.stored()[0],
            Array::Output => self.problem.stored()[1],
            Array::Stage => T::STORAGE,
        }
    }

    fn format(&self, array: Array) -> Format {
        match array {
            Array::Input => self.problem.input,
            Array::Output => self.problem.output,
            Array::Stage => self.stage_format,
        }
    }
}

/// Takes out the dimension whose neighbours lie closest in the output.
fn take_nearest(dims: &mut Vec<Dim>) -> Dim {
    let nearest = (0..dims.len()).min_by_key(|&i| dims[i].os.unsigned_abs());
    nearest.map_or(Dim::new(1, 0, 0), |i| dims.remove(i))
}

/// Joins dimensions that continue each other.
fn merged(mut dims: Vec<Dim>) -> Vec<Dim> {
    dims.sort_by_key(|dim| dim.os.unsigned_abs());
    let mut out: Vec<Dim> = Vec::new();
    for dim in dims {
        match out.last_mut() {
            Some(inner) if continues(*inner, dim) => inner.n *= dim.n,
            _ => out.push(dim),
        }
    }
    out
}

fn continues(inner: Dim, outer: Dim) -> bool {
    let n = i128::from(inner.n);
    n * i128::from(inner.is) == i128::from(outer.is) && n * i128::from(inner.os) == i128::from(outer.os)
}

/// How a tile gets at its lines, and how many it takes; `packed` says of both arrays whether all parts of an element
/// lie side by side, `same` whether they are one array.
fn shape<T: CpuReal>(work: &Work<T>, line: [Side; 2], packed: [bool; 2], same: bool) -> (Mode, u64) {
    let length = line[0].n.max(line[1].n);
    let slices = [0, 1].map(|which| packed[which] && line[which].stride == 1);
    let element = line[0].parts.max(line[1].parts) * size_of::<T>() as u64;
    let tile = if slices == [true; 2] {
        TILE_ELEMENTS / length
    } else {
        (GATHERED_BYTES / element / length).max(TILE_BYTES / element)
    };
    let mode = match (work, slices) {
        (Work::Real(_), [_, true]) => Mode::IntoSlices,
        (Work::Real(_), _) => Mode::BetweenBuffers,
        (_, [true, true]) if same => Mode::OnSlices,
        (Work::Complex(_), [true, true]) if COPIED.contains(&(length * size_of::<Complex<T>>() as u64)) => {
            Mode::OnCopies
        }
        (_, [true, true]) => Mode::BetweenSlices,
        _ => Mode::ThroughBuffer,
    };
    (mode, tile.max(1))
}
