//! Real data: problems of real kinds as a chain of passes over lines that fold ([`Fold`]) and of complex problems.
//!
//! A line whose points fit the chip is one pass, folds and all. A longer one is a complex problem with a fold before
//! it, behind it, or both, as passes of their own. Where several dimensions are transformed, the halved one goes first
//! on the way to a spectrum, and last on the way back.

mod line;

use crate::error::Error;
use crate::pass::{Array, Formula, Operand, Pass};
use crate::plan::Plan;
use crate::planner::Planner;
use crate::problem::{Dim, Direction, Format, Kind, Placement, Problem, continuing_pair, half};
use crate::target::Limits;

use super::Schedule;
use line::Line;

/// Schedules a problem of a real kind.
pub(super) fn schedule(problem: &Problem, limits: &Limits) -> Result<Schedule, Error> {
    let mut chain = Chain::new(problem, limits);
    match &problem.kind {
        Kind::Complex => {}
        Kind::RealToComplex(dim) => chain.to_spectrum(*dim)?,
        Kind::ComplexToReal(dim) => chain.from_spectrum(*dim)?,
        Kind::RealToReal(dims) => chain.reals(dims)?,
    }
    let schedule = chain.finish();
    let (_, needed) = schedule.workspace(problem.precision);
    match problem.max_workspace {
        Some(allowed) if needed > allowed => Err(Error::Workspace { needed, allowed }),
        _ => Ok(schedule),
    }
}

/// Regions that complex problems of the chain take for themselves are numbered from here on until all are known: one
/// after the other, they share them.
const INNER: u8 = 128;

/// Passes of a problem that is being put together.
struct Chain<'a> {
    problem: &'a Problem,
    limits: &'a Limits,
    planner: Planner<'a>,
    passes: Vec<Pass>,
    plans: Vec<Plan>,
    /// Elements of what lies between the parts of the chain.
    regions: Vec<u64>,
    /// Elements of what complex problems take for themselves.
    inner: Vec<u64>,
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
    fn new(problem: &'a Problem, limits: &'a Limits) -> Self {
        Self {
            problem,
            limits,
            planner: Planner::new(limits, problem.precision),
            passes: Vec::new(),
            plans: Vec::new(),
            regions: Vec::new(),
            inner: Vec::new(),
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
        Schedule { passes: self.passes, regions: self.regions, plans: self.plans, fused: Vec::new() }
    }

    /// The caller's array on one side.
    fn operand(&self, output: bool) -> Operand {
        let problem = self.problem;
        let in_place = problem.placement == Placement::InPlace;
        if output {
            let (format, offset, span) = (problem.output, problem.output_offset, problem.output_span().end);
            Operand { array: Array::Output, format, offset, span }
        } else {
            let array = if in_place { Array::Output } else { Array::Input };
            let (format, offset, span) = (problem.input, problem.input_offset, problem.input_span().end);
            Operand { array, format, offset, span }
        }
    }

    /// A region of the workspace that holds packed arrays of these lengths, in the order of the given strides.
    fn region(&mut self, lengths: &[u64], like: &[i64], format: Format) -> (Operand, Vec<i64>) {
        let mut order: Vec<usize> = (0..lengths.len()).collect();
        order.sort_by_key(|&d| like[d].unsigned_abs());
        let (mut strides, mut span) = (vec![0; lengths.len()], 1_u64);
        for d in order {
            strides[d] = span as i64;
            span *= lengths[d];
        }
        // Regions count complex elements.
        self.regions.push(if format == Format::Real { span.div_ceil(2) } else { span });
        let array = Array::Workspace((self.regions.len() - 1) as u8);
        (Operand { array, format, offset: 0, span }, strides)
    }

    /// Reals to half of their spectrum: lines first, then the other dimensions where the spectrum lies.
    fn to_spectrum(&mut self, own: Dim) -> Result<(), Error> {
        let problem = self.problem;
        let around: Vec<Dim> = problem.dims().copied().collect();
        let conjugate = problem.direction == Direction::Inverse;
        let last = problem.transform.is_empty();
        self.line(&Line {
            formula: Formula::Spectrum { conjugate },
            back: false,
            n: own.n,
            around: around.iter().map(|dim| dim.n).collect(),
            from: Side {
                operand: self.operand(false),
                strides: around.iter().map(|dim| dim.is).collect(),
                stride: own.is,
            },
            to: Side {
                operand: self.operand(true),
                strides: around.iter().map(|dim| dim.os).collect(),
                stride: own.os,
            },
            scale: if last { problem.scale } else { 1.0 },
        })?;
        if last {
            return Ok(());
        }
        let still = |dim: &Dim| Dim::new(dim.n, dim.os, dim.os);
        let mut batch: Vec<Dim> = problem.batch.iter().map(still).collect();
        batch.push(Dim::new(half(own.n), own.os, own.os));
        let complex = Problem {
            kind: Kind::Complex,
            transform: problem.transform.iter().map(still).collect(),
            batch,
            input_offset: problem.output_offset,
            input: problem.output,
            placement: Placement::InPlace,
            max_workspace: None,
            ..problem.clone()
        };
        self.complex(complex, [Array::Output; 2])
    }

    /// Half of a spectrum to its reals: the other dimensions first, in an array of their own unless the caller's may be
    /// overwritten, then lines.
    fn from_spectrum(&mut self, own: Dim) -> Result<(), Error> {
        let problem = self.problem;
        let around: Vec<Dim> = problem.dims().copied().collect();
        let mut from = Side {
            operand: self.operand(false),
            strides: around.iter().map(|dim| dim.is).collect(),
            stride: own.is,
        };
        if !problem.transform.is_empty() {
            let halved = Dim::new(half(own.n), own.is, own.is);
            let mut dims: Vec<Dim> = around.iter().map(|dim| Dim::new(dim.n, dim.is, dim.is)).collect();
            dims.push(halved);
            let array = from.operand.array;
            if problem.placement == Placement::OutOfPlace {
                let lengths: Vec<u64> = dims.iter().map(|dim| dim.n).collect();
                let like: Vec<i64> = dims.iter().map(|dim| dim.is).collect();
                let (operand, strides) = self.region(&lengths, &like, Format::Interleaved);
                dims.iter_mut().zip(&strides).for_each(|(dim, &stride)| dim.os = stride);
                let (line, others) = strides.split_last().unwrap_or((&1, &[]));
                from = Side { operand, strides: others.to_vec(), stride: *line };
            }
            let repeated = problem.batch.len();
            let (batch, transform) = dims.split_at(repeated);
            let (own, transform) = transform.split_last().unwrap_or((&halved, &[]));
            let complex = Problem {
                kind: Kind::Complex,
                transform: transform.to_vec(),
                batch: batch.iter().copied().chain([*own]).collect(),
                output_offset: from.operand.offset,
                output: from.operand.format,
                scale: 1.0,
                max_workspace: None,
                ..problem.clone()
            };
            self.complex(complex, [array, from.operand.array])?;
        }
        self.line(&Line {
            formula: Formula::Spectrum { conjugate: problem.direction == Direction::Forward },
            back: true,
            n: own.n,
            around: around.iter().map(|dim| dim.n).collect(),
            from,
            to: Side {
                operand: self.operand(true),
                strides: around.iter().map(|dim| dim.os).collect(),
                stride: own.os,
            },
            scale: problem.scale,
        })
    }

    /// Reals to reals, one dimension after the other: the first reads the input, the others work on the output.
    fn reals(&mut self, dims: &[crate::problem::RealDim]) -> Result<(), Error> {
        let problem = self.problem;
        let all: Vec<Dim> = dims.iter().map(|real| real.dim).chain(problem.batch.iter().copied()).collect();
        let lengths: Vec<u64> = all.iter().map(|dim| dim.n).collect();
        let (is, os): (Vec<i64>, Vec<i64>) = all.iter().map(|dim| (dim.is, dim.os)).unzip();
        let (input, output) = ((self.operand(false), is.clone()), (self.operand(true), os.clone()));
        // Lines that change places in place would overwrite what others have still to read.
        let moves =
            problem.placement == Placement::InPlace && (is != os || input.0.offset != output.0.offset);
        let staged = moves.then(|| self.region(&lengths, &os, Format::Real));
        let mut at = input;
        for (d, real) in dims.iter().enumerate() {
            let last = d + 1 == dims.len();
            let to = match &staged {
                Some(staged) if !last || dims.len() == 1 => staged.clone(),
                _ => output.clone(),
            };
            let side = |(operand, strides): &(Operand, Vec<i64>)| {
                let mut others = strides.clone();
                let stride = others.remove(d);
                Side { operand: *operand, strides: others, stride }
            };
            let mut around = lengths.clone();
            around.remove(d);
            self.line(&Line {
                formula: Formula::Reals { kind: real.kind, orthogonal: real.orthogonal },
                back: false,
                n: real.dim.n,
                around,
                from: side(&at),
                to: side(&to),
                scale: if last { problem.scale } else { 1.0 },
            })?;
            at = to;
        }
        if dims.is_empty() || at.0.array != output.0.array {
            let scale = if dims.is_empty() { problem.scale } else { 1.0 };
            self.copy(&lengths, &at, &output, scale);
        }
        Ok(())
    }

    /// A pass that moves reals.
    fn copy(
        &mut self,
        lengths: &[u64],
        (src, is): &(Operand, Vec<i64>),
        (dst, os): &(Operand, Vec<i64>),
        scale: f64,
    ) {
        let dims = lengths.iter().zip(is).zip(os).map(|((&n, &is), &os)| Dim::new(n, is, os)).collect();
        let batch = line::repeated(merged(dims));
        let pass = line::pass(self.problem.precision, Vec::new(), batch, *src, *dst);
        self.passes.push(Pass { scale, ..pass });
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

/// Dimensions of more than one point, those that continue each other as one.
fn merged(mut dims: Vec<Dim>) -> Vec<Dim> {
    dims.retain(|dim| dim.n > 1);
    dims.sort_by_key(|dim| std::cmp::Reverse(dim.os.unsigned_abs()));
    while let Some((outer, inner)) = continuing_pair(&dims) {
        dims[inner].n *= dims[outer].n;
        dims.remove(outer);
    }
    dims
}
