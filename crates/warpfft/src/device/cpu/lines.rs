//! A problem as passes over its axes. The first pass reads the input and writes the output; the others work in
//! place on the output. Only an in-place problem whose input and output strides differ (a transposition in
//! place) goes through an array of its own, because its lines overlap others' lines.

use std::sync::Arc;

use num_complex::Complex;
use rayon::prelude::*;
use rustfft::Fft;
use warpfft_core::problem::{Dim, Format, Kind, Placement, Problem};
use warpfft_core::program::Program;

use super::CpuReal;
use super::tile::{Mode, Scratch, run_tile};
use super::timing;
use super::view::View;
use crate::device::backend::{Execute, HostJob};
use crate::error::Error;
use crate::measure::{Measurement, Timing};
#[cfg(feature = "peers")]
use crate::peers::PeerReport;
use crate::room;
use crate::span;

/// Below so many elements a second thread costs more than it brings.
const PARALLEL_FROM: u64 = 1 << 14;
/// Elements of one tile: with scratch beside it, it stays in a core's own cache.
const TILE_ELEMENTS: usize = 1 << 13;
/// Bytes of neighbouring lanes that a strided tile takes at least, so that whole cache lines are used.
const TILE_BYTES: usize = 128;

/// An array that a pass reads from or writes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Array {
    Input,
    Output,
    Stage,
}

/// All lines along one axis.
pub(super) struct Pass<T> {
    /// The transform of one line; `None` copies.
    pub fft: Option<Arc<dyn Fft<T>>>,
    /// Points of a line, and how far apart they lie.
    pub line: Dim,
    /// The dimension along which a tile takes several lines.
    pub lanes: Dim,
    /// Lines of a tile.
    pub tile: u64,
    /// Factor on every element.
    pub scale: Option<T>,
    /// How a tile gets at its lines.
    pub mode: Mode,
    outer: Vec<Dim>,
    arrays: (Array, Array),
    offsets: (u64, u64),
}

/// A problem ready to run on the processor.
pub(super) struct CpuPlan<T> {
    problem: Problem,
    passes: Vec<Pass<T>>,
    elements: u64,
    staged: bool,
    parallel: bool,
}

impl<T: CpuReal> CpuPlan<T> {
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Splits a problem into passes; `line` gives the transform of one line.
    pub fn new(
        problem: &Problem,
        mut line: impl FnMut(u64) -> Result<Arc<dyn Fft<T>>, Error>,
    ) -> Result<Self, Error> {
        span::input(problem)?;
        span::output(problem)?;
        if problem.kind != Kind::Complex {
            return Err(Error::Unsupported {
                device: "the processor".into(),
                what: "real data".into(),
                would_work: "a complex transform".into(),
            });
        }
        let axes = real_axes(problem);
        let transformed = problem.transform.iter().filter(|dim| dim.n > 1).count();
        let in_place = problem.placement == Placement::InPlace;
        let moves =
            problem.input_offset != problem.output_offset || axes.iter().any(|axis| axis.is != axis.os);
        let staged = in_place && moves;
        let mut build = Build::new(problem, staged);
        if staged {
            build.push(None, None, &axes);
        }
        // The axis whose points lie closest goes first: it reads the input.
        let mut order: Vec<usize> = (0..transformed).collect();
        order.sort_by_key(|&axis| axes[axis].is.unsigned_abs());
        for axis in order {
            let mut others = axes.clone();
            let own = others.remove(axis);
            build.push(Some(line(own.n)?), Some(own), &others);
        }
        if transformed == 0 && (!in_place || staged || problem.scale != 1.0) {
            build.push(None, None, &axes);
        }
        let mut passes = build.passes;
        if let Some(last) = passes.last_mut() {
            last.scale = (problem.scale != 1.0).then(|| T::nearest(problem.scale));
        }
        let elements = axes.iter().map(|axis| axis.n).product();
        let parallel = elements >= PARALLEL_FROM && span::injective(problem.output_dims());
        Ok(Self { problem: problem.clone(), passes, elements, staged, parallel })
    }
}

/// Keeps track of where the data lies between passes.
struct Build<T> {
    passes: Vec<Pass<T>>,
    problem: Problem,
    /// Where the next pass reads, and the offset there.
    now: (Array, u64),
    staged: bool,
}

impl<T: CpuReal> Build<T> {
    fn new(problem: &Problem, staged: bool) -> Self {
        let now = match problem.placement {
            Placement::InPlace => (Array::Output, problem.input_offset),
            Placement::OutOfPlace => (Array::Input, problem.input_offset),
        };
        Self { passes: Vec::new(), problem: problem.clone(), now, staged }
    }

    fn push(&mut self, fft: Option<Arc<dyn Fft<T>>>, own: Option<Axis>, others: &[Axis]) {
        let from = self.now;
        let first = self.passes.is_empty();
        let to = if self.staged && first {
            (Array::Stage, 0)
        } else {
            (Array::Output, self.problem.output_offset)
        };
        let seen = |axis: &Axis| {
            let is = match from.0 {
                Array::Stage => axis.stage,
                // In place, the output's buffer holds the input until the first pass.
                Array::Output if !first => axis.os,
                Array::Input | Array::Output => axis.is,
            };
            Dim::new(axis.n, is, if to.0 == Array::Stage { axis.stage } else { axis.os })
        };
        let mut all: Vec<Dim> = others.iter().map(seen).collect();
        let line = own.as_ref().map_or_else(|| take_nearest(&mut all), seen);
        let mut outer = merged(all);
        let lanes = take_nearest(&mut outer);
        let interleaved = |array: Array| match array {
            Array::Input => self.problem.input == Format::Interleaved,
            Array::Output => self.problem.output == Format::Interleaved,
            Array::Stage => true,
        };
        let (mode, tile) = shape::<T>(line, interleaved(from.0) && interleaved(to.0), from == to);
        let (arrays, offsets) = ((from.0, to.0), (from.1, to.1));
        self.passes.push(Pass { fft, line, lanes, tile, scale: None, mode, outer, arrays, offsets });
        self.now = to;
    }
}

/// A dimension of the problem, and its stride in the packed stage.
#[derive(Clone, Copy)]
struct Axis {
    n: u64,
    is: i64,
    os: i64,
    stage: i64,
}

/// Dimensions of more than one point, those to transform first.
fn real_axes(problem: &Problem) -> Vec<Axis> {
    let dims = problem.transform.iter().chain(&problem.batch).filter(|dim| dim.n > 1);
    let mut stage = 1;
    let own = |dim: &Dim| {
        let axis = Axis { n: dim.n, is: dim.is, os: dim.os, stage };
        stage *= dim.n as i64;
        axis
    };
    dims.map(own).collect()
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

/// How a tile gets at its lines, and how many it takes.
fn shape<T: CpuReal>(line: Dim, interleaved: bool, same: bool) -> (Mode, u64) {
    let length = line.n as usize;
    let many = (TILE_ELEMENTS / length).max(1) as u64;
    if interleaved && line.is == 1 && line.os == 1 {
        return (if same { Mode::OnSlices } else { Mode::BetweenSlices }, many);
    }
    let few = (TILE_BYTES / size_of::<Complex<T>>()) as u64;
    (Mode::ThroughBuffer, many.max(few))
}

impl<T: CpuReal> Pass<T> {
    /// Runs all tiles.
    ///
    /// # Safety
    ///
    /// The views hold all that the problem spans. With `parallel`, no two output indices share an address.
    unsafe fn run(&self, from: View<T>, to: View<T>, parallel: bool) {
        let across = self.lanes.n.div_ceil(self.tile);
        let tiles = self.outer.iter().map(|dim| dim.n).product::<u64>() * across;
        let one = |scratch: &mut Scratch<T>, tile: u64| {
            let first = tile % across * self.tile;
            let (mut at, mut rest) = (self.start(first), tile / across);
            for dim in &self.outer {
                let index = (rest % dim.n) as isize;
                rest /= dim.n;
                at.0 += index * dim.is as isize;
                at.1 += index * dim.os as isize;
            }
            let lanes = self.tile.min(self.lanes.n - first);
            // SAFETY: every index is within its dimension, and the views hold the whole span; in parallel, tiles
            // are distinct sets of output indices, so they share no address. What is read of an array that is
            // also written is the tile's own.
            unsafe { run_tile(self, from, to, at, lanes as usize, scratch) };
        };
        if parallel && tiles > 1 {
            let shares = 8 * rayon::current_num_threads() as u64;
            let least = (tiles / shares).max(1) as usize;
            let tiles = (0..tiles as usize).into_par_iter().with_min_len(least);
            tiles.for_each_init(|| Scratch::new(self), |scratch, tile| one(scratch, tile as u64));
        } else {
            let mut scratch = Scratch::new(self);
            (0..tiles).for_each(|tile| one(&mut scratch, tile));
        }
    }

    fn start(&self, lane: u64) -> (isize, isize) {
        let lane = lane as isize;
        let from = self.offsets.0 as isize + lane * self.lanes.is as isize;
        let to = self.offsets.1 as isize + lane * self.lanes.os as isize;
        (from, to)
    }
}

impl<T: CpuReal> Execute for CpuPlan<T> {
    fn measure(&self, timing: Timing) -> Result<Measurement, Error> {
        timing::measure(self, timing)
    }

    #[cfg(feature = "peers")]
    fn measure_beside_peers(&self, timing: Timing) -> Result<(Measurement, Vec<PeerReport>), Error> {
        timing::beside_peers(self, timing)
    }

    fn program(&self) -> Option<&Program> {
        None
    }

    fn workspace_bytes(&self) -> u64 {
        0
    }

    fn run(&self, job: HostJob<'_>) -> Result<(), Error> {
        let mut stage: Vec<T> = Vec::new();
        if self.staged {
            let reals = 2 * self.elements as usize;
            let bytes = 2 * self.elements * size_of::<T>() as u64;
            let full = |_| Error::OutOfMemory { device: "processor".into(), bytes, free: None };
            room::ask(bytes, "processor")?;
            stage.try_reserve_exact(reals).map_err(full)?;
            stage.resize(reals, T::default());
        }
        let output = View::writing(job.output);
        let input = job.input.map_or(output, View::reading);
        let stage = View::writing([bytemuck::cast_slice_mut(&mut stage), &mut []]);
        let view = |array: Array| match array {
            Array::Input => input,
            Array::Output => output,
            Array::Stage => stage,
        };
        for pass in &self.passes {
            // SAFETY: the caller has checked that the arrays hold what the problem spans, and the stage holds all
            // elements; `parallel` was set only where output addresses are distinct.
            unsafe { pass.run(view(pass.arrays.0), view(pass.arrays.1), self.parallel) };
        }
        Ok(())
    }
}
