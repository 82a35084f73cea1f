//! Real data: problems of real kinds as a chain of passes over lines that fold ([`Fold`]) and of complex problems.
//!
//! A line whose points fit the chip is one pass, folds and all. A longer one is a complex problem with a fold before
//! it, behind it, or both, as passes of their own. Where several dimensions are transformed, the halved one goes first
//! on the way to a spectrum, and last on the way back.

mod applied;
mod bridge;
mod choice;
mod columns;
mod direct;
mod line;
mod reals;
mod share;
mod split;
mod windows;

use crate::error::Error;
use crate::pass::{Array, Formula, Operand, Pass};
use crate::plan::Plan;
use crate::planner::Planner;
use crate::problem::{Dim, Direction, Format, Kind, Placement, Problem, Storage, continuing_pair};
use crate::target::{Api, LINE_BYTES, Limits};

use super::{Cause, Detour, Schedule};
pub(crate) use choice::{by_parts, others};
use line::{Line, Repeated};
use split::Split;

/// Schedules a problem of a real kind.
pub(super) fn schedule(problem: &Problem, limits: &Limits) -> Result<Schedule, Error> {
    let problem = &windows::told_apart(problem.clone().validated()?);
    let schedule = choice::cheaper(problem, limits, chained(problem, limits, Ways::default())?.finish())?;
    let (_, needed) = schedule.workspace(problem.precision);
    match problem.max_workspace {
        Some(allowed) if needed > allowed => Err(Error::Workspace { needed, allowed }),
        _ => Ok(schedule),
    }
}

/// What may be done in other ways than it usually is.
#[derive(Debug, Clone, Copy, Default)]
struct Ways<'a> {
    /// Rows between the lines and the other dimensions may start with lines of memory.
    aligns: bool,
    /// Dimensions that lines from reals to reals are repeated over stay apart where they continue each other.
    apart: bool,
    parting: Parting<'a>,
}

/// How long lines are parted.
#[derive(Debug, Clone, Copy, Default)]
enum Parting<'a> {
    /// As is expected to take the least, where that is less than by other ways.
    #[default]
    Cheapest,
    /// In this of the ways, of which the likely best is 0.
    Nth(usize),
    /// By these plans of both passes.
    By(&'a [Plan]),
}

/// The passes of a problem.
fn chained<'a>(problem: &'a Problem, limits: &'a Limits, ways: Ways<'a>) -> Result<Chain<'a>, Error> {
    let mut chain = Chain::new(problem, limits, ways);
    match &problem.kind {
        Kind::Complex | Kind::Zoom(_) => {}
        Kind::RealToComplex(dim) => chain.half_spectrum(*dim)?,
        Kind::ComplexToReal(dim) => chain.back_to_reals(*dim)?,
        Kind::RealToReal(dims) => chain.reals(dims)?,
    }
    Ok(chain)
}

/// Regions that complex problems of the chain take for themselves are numbered from here on until all are known: one
/// after the other, they share them.
const INNER: u8 = 128;

/// Passes of a problem that is being put together.
struct Chain<'a> {
    problem: &'a Problem,
    limits: &'a Limits,
    planner: Planner<'a>,
    ways: Ways<'a>,
    passes: Vec<Pass>,
    plans: Vec<Plan>,
    /// Elements of what lies between the parts of the chain.
    regions: Vec<u64>,
    /// Elements of what complex problems take for themselves.
    inner: Vec<u64>,
    detours: Vec<Detour>,
}

/// Where a problem's data lies: the array of a side, with its own strides beside it.
#[derive(Debug, Clone)]
struct Side {
    operand: Operand,
    /// Of the dimensions that the lines are repeated over, in their order.
    strides: Vec<i64>,
    /// Of the line's own dimension.
    stride: i64,
}

impl<'a> Chain<'a> {
    fn new(problem: &'a Problem, limits: &'a Limits, ways: Ways<'a>) -> Self {
        Self {
            problem,
            limits,
            planner: Planner::new(limits, problem.precision),
            ways,
            passes: Vec::new(),
            plans: Vec::new(),
            regions: Vec::new(),
            inner: Vec::new(),
            detours: Vec::new(),
        }
    }

    fn finish(mut self) -> Schedule {
        let chained = self.regions.len() as u8;
        for pass in &mut self.passes {
            for side in [&mut pass.src, &mut pass.dst] {
                if let Array::Workspace(region @ INNER..) = side.array {
                    side.array = Array::Workspace(chained + region - INNER);
                }
            }
        }
        self.regions.extend(self.inner);
        let Self { passes, regions, plans, detours, .. } = self;
        let mut schedule = Schedule { passes, regions, plans, fused: Vec::new(), detours };
        let number = |region: u8| if region >= INNER { chained + region - INNER } else { region };
        schedule.renumber_detours(|region| Some(number(region)));
        schedule
    }

    /// The caller's array on one side.
    fn operand(&self, output: bool) -> Operand {
        let problem = self.problem;
        let in_place = problem.placement == Placement::InPlace;
        let storage = problem.stored()[usize::from(output)];
        if output {
            let (format, offset, span) = (problem.output, problem.output_offset, problem.output_span().end);
            Operand { array: Array::Output, format, offset, span, storage }
        } else {
            let array = if in_place { Array::Output } else { Array::Input };
            let (format, offset, span) = (problem.input, problem.input_offset, problem.input_span().end);
            Operand { array, format, offset, span, storage }
        }
    }

    /// A region of the workspace that holds arrays of these lengths, in the order of the given strides, whose rows start with
    /// multiples of so many elements.
    fn region(&mut self, lengths: &[u64], like: &[i64], format: Format, rows: u64) -> (Operand, Vec<i64>) {
        let mut order: Vec<usize> = (0..lengths.len()).collect();
        order.sort_by_key(|&d| like[d].unsigned_abs());
        let (mut strides, mut span) = (vec![0; lengths.len()], 1_u64);
        for (i, d) in order.into_iter().enumerate() {
            strides[d] = span as i64;
            span *= lengths[d];
            if i == 0 {
                span = span.next_multiple_of(rows);
            }
        }
        // Regions count complex elements.
        let array = self.region_of(if format == Format::Real { span.div_ceil(2) } else { span });
        (Operand { array, format, offset: 0, span, storage: Storage::of(self.problem.precision) }, strides)
    }

    /// A region of the workspace of so many complex elements.
    fn region_of(&mut self, elements: u64) -> Array {
        self.regions.push(elements);
        Array::Workspace((self.regions.len() - 1) as u8)
    }

    /// The last region is there for that.
    fn takes_region(&mut self, cause: Cause) {
        let region = Some((self.regions.len() - 1) as u8);
        self.detours.push(Detour { cause, pass: None, region });
    }

    /// Reals to half of their spectrum: lines first, with as many other dimensions in the same pass as pays, then what
    /// is left where the spectrum lies.
    fn half_spectrum(&mut self, own: Dim) -> Result<(), Error> {
        let problem = self.problem;
        let formula = Formula::Spectrum { conjugate: problem.direction == Direction::Inverse };
        let sides = [self.operand(false), self.operand(true)];
        let make = |beside: Vec<(Dim, Plan)>, around: &[Dim], scale| Line {
            windows: self.windows(0, &beside),
            ..Line::between(formula, false, own, beside, &self.held_dims(around, false), sides, scale)
        };
        let Split { beside, own: points, rest } =
            self.split(own.n, |beside, around| make(beside, around, 1.0), |rest| self.after(own, rest));
        let around: Vec<Dim> = rest.iter().chain(&problem.batch).copied().collect();
        let scale = if rest.is_empty() { problem.scale } else { 1.0 };
        let applied = self.applied(&beside, &rest, [true, rest.is_empty()]);
        let Some(mut complex) = self.after(own, &rest) else {
            return self.line(&Line { own: points, applied, ..make(beside, &around, scale) });
        };
        let fits = rest.iter().all(|dim| self.held(dim, false) == self.held(dim, true));
        if problem.keeps_results() && fits {
            self.line(&Line {
                repeated: Repeated::Kept,
                own: points,
                applied,
                ..make(beside, &around, scale)
            })?;
            return self.complex(complex, [Array::Output; 2]);
        }
        // What is not done yet is kept as it is computed: packed, in the order in which it will be written.
        let windows = self.windows(0, &beside);
        let left = rest.iter().map(|dim| self.held(dim, false));
        let lengths: Vec<u64> = left.chain(complex.batch.iter().map(|dim| dim.n)).collect();
        let like: Vec<i64> = complex.transform.iter().chain(&complex.batch).map(|dim| dim.os).collect();
        let (region, strides) = self.region(&lengths, &like, Format::Interleaved, 1);
        self.takes_region(if fits { Detour::stored(problem) } else { Cause::Windowed });
        // In the order of `after`: what is left, repeated dimensions, those beside the line, the line.
        let dims = complex.transform.iter_mut().chain(&mut complex.batch);
        dims.zip(&strides).for_each(|(dim, &stride)| dim.is = stride);
        (complex.input, complex.input_offset) = (region.format, region.offset);
        (complex.placement, complex.storage[0]) = (Placement::OutOfPlace, None);
        let mut moved = strides.into_iter();
        let (mut own, mut around, mut beside) = (own, self.held_dims(&around, false), beside);
        around.iter_mut().zip(moved.by_ref()).for_each(|(dim, stride)| dim.os = stride);
        beside.iter_mut().zip(moved.by_ref()).for_each(|((dim, _), stride)| dim.os = stride);
        own.os = moved.next().unwrap_or(1);
        let line = Line::between(formula, false, own, beside, &around, [sides[0], region], scale);
        self.line(&Line { repeated: Repeated::Kept, own: points, applied, windows, ..line })?;
        self.complex(complex, [region.array, Array::Output])
    }

    /// Elements that rows of the array before the lines are to start with multiples of: whole lines of memory, where the caller's
    /// half spectrum has other rows. A column pass that writes parts of sectors takes longer where no cache holds them: 4096 x 4096
    /// took 2.6 copies in all on an H100, and takes 2.2 with whole lines (`docs/notes/columns.md`). 1: packed.
    fn rows_between(&self, own: Dim, complex: &Problem) -> u64 {
        let line = LINE_BYTES / self.problem.precision.complex_bytes();
        let dims = complex.transform.iter().chain(&complex.batch);
        let pitch = dims.map(|dim| dim.is.unsigned_abs()).filter(|&step| step > 1).min().unwrap_or(line);
        let large = 2 * complex.elements() * self.problem.precision.complex_bytes() > self.limits.l2_bytes;
        let gains = self.ways.aligns
            && matches!(self.limits.api, Api::Ptx { .. })
            && own.is.unsigned_abs() == 1
            && !pitch.is_multiple_of(line)
            && pitch >= 4 * line
            && large;
        if gains { line } else { 1 }
    }

    /// The dimensions that are left once a spectrum lies in the output, as a complex problem in place.
    fn after(&self, own: Dim, rest: &[Dim]) -> Option<Problem> {
        let problem = self.problem;
        let still = |dim: &Dim| Dim { is: dim.os, ..*dim };
        let others = self.others();
        let done: Vec<Dim> = others.into_iter().filter(|dim| !rest.contains(dim)).collect();
        let kept = self.held_dims(&done, true);
        let mut batch: Vec<Dim> = problem.batch.iter().chain(&kept).map(still).collect();
        batch.push(Dim::new(self.held_own(true), own.os, own.os));
        (!rest.is_empty()).then(|| Problem {
            functions: self.applied_around(rest, &done, true),
            windows: self.complex_windows(rest),
            kind: Kind::Complex,
            transform: rest.iter().map(still).collect(),
            batch,
            input_offset: problem.output_offset,
            input: problem.output,
            placement: Placement::InPlace,
            storage: [problem.storage[1]; 2],
            max_workspace: None,
            ..problem.clone()
        })
    }

    /// Half of a spectrum to its reals: dimensions that do not share the lines' pass first, in an array of their own
    /// unless the caller's may be overwritten, then lines.
    fn back_to_reals(&mut self, own: Dim) -> Result<(), Error> {
        let problem = self.problem;
        let formula = Formula::Spectrum { conjugate: problem.direction == Direction::Forward };
        let sides = [self.operand(false), self.operand(true)];
        let make = |beside: Vec<(Dim, Plan)>, around: &[Dim]| Line {
            windows: self.windows(0, &beside),
            ..Line::between(formula, true, own, beside, &self.held_dims(around, true), sides, problem.scale)
        };
        let Split { mut beside, own: points, rest } = self.split(own.n, make, |rest| self.before(own, rest));
        let applied = self.applied(&beside, &rest, [rest.is_empty(), true]);
        let mut line_own = own;
        let windows = self.windows(0, &beside);
        let around: Vec<Dim> = rest.iter().chain(&problem.batch).copied().collect();
        let mut around = self.held_dims(&around, true);
        let mut from = sides[0];
        if let Some(mut complex) = self.before(own, &rest) {
            if problem.placement == Placement::OutOfPlace || !problem.keeps_results() {
                // What the lines will read lies in the order in which it came.
                let rows = self.rows_between(own, &complex);
                let left = rest.iter().map(|dim| self.held(dim, true));
                let lengths: Vec<u64> = left.chain(complex.batch.iter().map(|dim| dim.n)).collect();
                let dims: Vec<&mut Dim> = complex.transform.iter_mut().chain(&mut complex.batch).collect();
                let like: Vec<i64> = dims.iter().map(|dim| dim.is).collect();
                let (operand, strides) = self.region(&lengths, &like, Format::Interleaved, rows);
                let kept = problem.placement == Placement::OutOfPlace;
                self.takes_region(if kept { Cause::InputKept } else { Detour::stored(problem) });
                dims.into_iter().zip(&strides).for_each(|(dim, &stride)| dim.os = stride);
                from = operand;
                (complex.output, complex.output_offset) = (operand.format, operand.offset);
                (complex.placement, complex.storage[1]) = (Placement::OutOfPlace, None);
                let between: Vec<Dim> = complex.transform.iter().chain(&complex.batch).copied().collect();
                // In the order of `before`: what is left, repeated dimensions, those beside the line, the line.
                let mut moved = between.into_iter().map(|dim| dim.os);
                let left: Vec<i64> = moved.by_ref().take(rest.len()).collect();
                let (lined, repeated) = around.split_at_mut(rest.len());
                repeated.iter_mut().zip(moved.by_ref()).for_each(|(dim, stride)| dim.is = stride);
                lined.iter_mut().zip(left).for_each(|(dim, stride)| dim.is = stride);
                beside.iter_mut().zip(moved.by_ref()).for_each(|((dim, _), stride)| dim.is = stride);
                line_own.is = moved.next().unwrap_or(1);
            }
            self.complex(complex, [sides[0].array, from.array])?;
        }
        let line = Line::between(formula, true, line_own, beside, &around, [from, sides[1]], problem.scale);
        let repeated = if rest.is_empty() { Repeated::Merged } else { Repeated::Kept };
        self.line(&Line { repeated, own: points, applied, windows, ..line })
    }

    /// The dimensions that are transformed before the lines, as a complex problem where the spectrum lies.
    fn before(&self, own: Dim, rest: &[Dim]) -> Option<Problem> {
        let problem = self.problem;
        let still = |dim: &Dim| Dim { os: dim.is, ..*dim };
        let others = self.others();
        let later: Vec<Dim> = others.into_iter().filter(|dim| !rest.contains(dim)).collect();
        let kept = self.held_dims(&later, false);
        let mut batch: Vec<Dim> = problem.batch.iter().chain(&kept).map(still).collect();
        batch.push(Dim::new(self.held_own(false), own.is, own.is));
        (!rest.is_empty()).then(|| Problem {
            functions: self.applied_around(rest, &later, false),
            windows: self.complex_windows(rest),
            kind: Kind::Complex,
            transform: rest.iter().map(still).collect(),
            batch,
            output_offset: problem.input_offset,
            output: problem.input,
            storage: [problem.storage[0]; 2],
            scale: 1.0,
            max_workspace: None,
            ..problem.clone()
        })
    }

    /// The complex dimensions, those furthest from the lines first.
    fn others(&self) -> Vec<Dim> {
        let mut dims = self.problem.transform.clone();
        dims.sort_by_key(|dim| std::cmp::Reverse(dim.os.unsigned_abs().max(dim.is.unsigned_abs())));
        dims
    }

    /// The passes of a complex problem whose input and output lie in these arrays.
    fn complex(&mut self, mut problem: Problem, [input, output]: [Array; 2]) -> Result<(), Error> {
        problem.canonicalise();
        let schedule = super::schedule(&problem, self.limits)?;
        for (at, &elements) in schedule.regions.iter().enumerate() {
            match self.inner.get_mut(at) {
                Some(known) => *known = elements.max(*known),
                None => self.inner.push(elements),
            }
        }
        self.plans.extend(schedule.plans);
        let before = self.passes.len();
        self.detours.extend(schedule.detours.into_iter().map(|detour| Detour {
            pass: detour.pass.map(|pass| before + pass),
            region: detour.region.map(|region| INNER + region),
            ..detour
        }));
        for mut pass in schedule.passes {
            for side in [&mut pass.src, &mut pass.dst] {
                side.array = match side.array {
                    Array::Input => input,
                    Array::Output => output,
                    Array::Workspace(region) => Array::Workspace(INNER + region),
                };
            }
            self.passes.push(pass);
        }
        Ok(())
    }
}

/// Dimensions of more than one point, those that are furthest apart first.
fn ordered(mut dims: Vec<Dim>) -> Vec<Dim> {
    dims.retain(|dim| dim.n > 1 || dim.at_run);
    dims.sort_by_key(|dim| std::cmp::Reverse(dim.os.unsigned_abs()));
    dims
}

/// The same, those that continue each other as one.
fn merged(dims: Vec<Dim>) -> Vec<Dim> {
    let mut dims = ordered(dims);
    while let Some((outer, inner)) = continuing_pair(&dims) {
        dims[inner].n *= dims[outer].n;
        dims.remove(outer);
    }
    dims
}
