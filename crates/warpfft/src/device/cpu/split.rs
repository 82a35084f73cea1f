//! From a problem to passes over its axes. Each axis has a pass; the first reads the input and writes the output, the
//! others work in place on the output. An array of its own, the stage, lies between where that cannot be: in place where
//! strides differ (a transposition in place), because lines overlap others' lines; before half spectra become reals,
//! because the complex transforms come first and the output has no room for their results; and where the output is kept in
//! another type, because what lies between passes is kept as it is computed.

use std::sync::Arc;

use num_complex::Complex;
use warpfft_core::problem::{Band, Dim, Format, Kind, Placement, Problem, RealKind, Storage, half};

use super::CpuReal;
use super::lines::{Array, Pass, Side, Work};
use super::real::Widened;
use super::tile::Mode;
use crate::error::Error;

/// Elements of one tile: with scratch beside it, it stays in a core's own cache.
const TILE_ELEMENTS: u64 = 1 << 13;
/// Bytes of neighbouring lanes that a strided tile takes at least, so that whole cache lines are used.
const TILE_BYTES: usize = 128;

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
    pub passes: Vec<Pass<T>>,
    /// Reals of the stage; 0 where there is none.
    pub stage: u64,
    /// How the stage lies.
    pub stage_format: Format,
}

/// A dimension of the problem, and its stride in the packed stage.
#[derive(Clone, Copy)]
struct Axis {
    wanted: Option<Wanted>,
    /// Length of its transform.
    n: u64,
    /// Points so far, and those after its transform.
    points: [u64; 2],
    is: i64,
    os: i64,
    stage: i64,
}

/// Splits a problem that has been validated; `make` gives the transform of a line of that length.
pub(super) fn split<T: CpuReal>(
    problem: &Problem,
    mut make: impl FnMut(Wanted, u64) -> Result<Work<T>, Error>,
) -> Result<Split<T>, Error> {
    let mut axes = axes(problem);
    let in_place = problem.placement == Placement::InPlace;
    let mut steps = order(&axes).into_iter().map(Some).collect::<Vec<_>>();
    // What reads the input makes complex numbers of its reals.
    let widens = problem.kind == Kind::Complex && problem.input == Format::Real;
    if let Some(&Some(first)) = steps.first().filter(|_| widens) {
        axes[first].wanted = Some(Wanted::ToWholeSpectrum);
    }
    let aside = is_set_aside(problem, &axes);
    if steps.is_empty() && (!in_place || aside || problem.scale != 1.0) {
        steps.push(None);
    }
    if aside {
        steps.insert(0, None);
    }
    let to_reals = matches!(problem.kind, Kind::ComplexToReal(_));
    // What lies between passes is kept as it is computed.
    let between = to_reals || problem.stored()[1] != T::STORAGE;
    let staged = |step: usize| (aside && step == 0) || (between && step + 1 < steps.len());
    let elements = |axes: &[Axis]| axes.iter().map(|axis| axis.points[0]).product::<u64>();
    let stage_format = if problem.kind.reals() == [true, true] { Format::Real } else { Format::Interleaved };
    let stage = if staged(0) { elements(&axes) * stage_format.step() } else { 0 };
    let mut build = Build::new(problem, stage_format);
    for (step, &own) in steps.iter().enumerate() {
        let to = if staged(step) { Array::Stage } else { Array::Output };
        let work = match own.and_then(|own| Some((axes[own].wanted?, axes[own].n))) {
            Some((wanted, n)) => make(wanted, n)?,
            None if widens => Work::Real(Arc::new(Widened)),
            None => Work::Copy,
        };
        build.push(work, own, &axes, to);
        if let Some(own) = own {
            axes[own].points[0] = axes[own].points[1];
        }
    }
    let mut passes = build.passes;
    if let Some(last) = passes.last_mut() {
        last.scale = (problem.scale != 1.0).then(|| T::nearest(problem.scale));
    }
    Ok(Split { passes, stage, stage_format })
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

/// Keeps track of where the data lies between passes.
struct Build<'a, T> {
    passes: Vec<Pass<T>>,
    problem: &'a Problem,
    stage_format: Format,
    /// Where the next pass reads, and the offset there.
    now: (Array, u64),
}

impl<'a, T: CpuReal> Build<'a, T> {
    fn new(problem: &'a Problem, stage_format: Format) -> Self {
        let same = problem.placement == Placement::InPlace && problem.input == problem.output;
        let now = (if same { Array::Output } else { Array::Input }, problem.input_offset);
        Self { passes: Vec::new(), problem, stage_format, now }
    }

    fn push(&mut self, work: Work<T>, own: Option<usize>, axes: &[Axis], to: Array) {
        let from = self.now;
        let first = self.passes.is_empty();
        let to = (to, if to == Array::Stage { 0 } else { self.problem.output_offset });
        let strides = |axis: &Axis| {
            let is = match from.0 {
                Array::Stage => axis.stage,
                // In place, the output's buffer holds the input until the first pass.
                Array::Output if !first => axis.os,
                Array::Input | Array::Output => axis.is,
            };
            (is, if to.0 == Array::Stage { axis.stage } else { axis.os })
        };
        let dim = |axis: &Axis| Dim::new(axis.points[0], strides(axis).0, strides(axis).1);
        let others = axes.iter().enumerate().filter(|&(at, _)| Some(at) != own);
        let mut all: Vec<Dim> = others.map(|(_, axis)| dim(axis)).collect();
        let formats = [self.format(from.0), self.format(to.0)];
        let side = |which: usize, n: u64, stride: i64| {
            let parts = if formats[which] == Format::Real { 1 } else { 2 };
            Side { n, stride, parts, apart: false }
        };
        let mut line = match own.map(|own| &axes[own]) {
            Some(axis) => {
                let (is, os) = strides(axis);
                [side(0, axis.points[0], is), side(1, axis.points[1], os)]
            }
            None => {
                let nearest = take_nearest(&mut all);
                [side(0, nearest.n, nearest.is), side(1, nearest.n, nearest.os)]
            }
        };
        let apart = line.iter().any(|side| side.stride != 1);
        line.iter_mut().for_each(|side| side.apart = apart);
        let mut outer = merged(all);
        let lanes = take_nearest(&mut outer);
        let kept = [from.0, to.0].map(|array| self.kept(array) == T::STORAGE);
        let packed = [0, 1].map(|which| kept[which] && formats[which] != Format::Planar);
        let (mode, tile) = shape::<T>(&work, line, packed, from == to);
        let (arrays, offsets) = ((from.0, to.0), (from.1, to.1));
        self.passes.push(Pass { work, line, lanes, tile, scale: None, mode, outer, arrays, offsets });
        self.now = to;
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
    let many = (TILE_ELEMENTS / length).max(1);
    let slices = [0, 1].map(|which| packed[which] && line[which].stride == 1);
    let few = (TILE_BYTES / size_of::<Complex<T>>()) as u64;
    let tile = if slices == [true; 2] { many } else { many.max(few) };
    let mode = match (work, slices) {
        (Work::Real(_), [_, true]) => Mode::IntoSlices,
        (Work::Real(_), _) => Mode::BetweenBuffers,
        (_, [true, true]) if same => Mode::OnSlices,
        (_, [true, true]) => Mode::BetweenSlices,
        _ => Mode::ThroughBuffer,
    };
    (mode, tile)
}
