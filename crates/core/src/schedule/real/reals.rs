//! Reals to reals, one dimension after the other.

use crate::error::Error;
use crate::function::Functions;
use crate::pass::{Formula, Operand, Pass, PassDim};
use crate::problem::{Dim, Format, Placement, RealDim};
use crate::schedule::{Cause, Detour};

use super::applied::Around;
use super::line::{self, Line, Repeated};
use super::{Chain, Side, merged};

impl Chain<'_> {
    /// Reals to reals, one dimension after the other: the first reads the input, the others work on the output.
    pub(super) fn reals(&mut self, dims: &[RealDim]) -> Result<(), Error> {
        let problem = self.problem;
        let all: Vec<Dim> = dims.iter().map(|real| real.dim).chain(problem.batch.iter().copied()).collect();
        // Of a dimension that is still to be transformed memory holds what the input does, of others what the output wants.
        let held = |d: usize, done: bool| if d < dims.len() { self.held_along(d, done) } else { all[d].n };
        let lengths: Vec<[u64; 2]> =
            (0..all.len()).map(|d| [false, true].map(|done| held(d, done))).collect();
        let (is, os): (Vec<i64>, Vec<i64>) = all.iter().map(|dim| (dim.is, dim.os)).unzip();
        let (input, output) = ((self.operand(false), is.clone()), (self.operand(true), os.clone()));
        // Lines that change places in place would overwrite what others have still to read.
        let alike = lengths.iter().all(|[before, after]| before == after);
        let moves = problem.placement == Placement::InPlace
            && (is != os || input.0.offset != output.0.offset || !alike);
        if !moves && self.direct(dims) {
            return Ok(());
        }
        // What lies between passes is kept as it is computed, and may be more than there is room for in the output.
        let holds = lengths.iter().skip(1).all(|[before, after]| before <= after);
        let between = dims.len() > 1 && !(problem.keeps_results() && holds);
        let staged = (moves || between).then(|| {
            let most: Vec<u64> = lengths.iter().map(|&[before, after]| before.max(after)).collect();
            self.region(&most, &os, Format::Real, 1)
        });
        if staged.is_some() {
            let stored = if holds { Detour::stored(problem) } else { Cause::Cropped };
            self.takes_region(if moves { Cause::MovesInPlace } else { stored });
        }
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
            let mut around: Vec<u64> =
                (0..).zip(&lengths).map(|(at, sides)| sides[usize::from(at < d)]).collect();
            around.remove(d);
            self.line(&Line {
                formula: Formula::Reals { kind: real.kind, orthogonal: real.orthogonal },
                back: false,
                n: real.dim.n,
                beside: Vec::new(),
                own: None,
                repeated: if self.ways.apart { Repeated::Apart } else { Repeated::Merged },
                around,
                // Behind the dimensions that are transformed but for this one.
                at_run: problem.batch.iter().position(|dim| dim.at_run).map(|own| dims.len() - 1 + own),
                from: side(&at),
                to: side(&to),
                scale: if last { problem.scale } else { 1.0 },
                windows: self.windows(d, &[]),
                applied: self.applied_along(d, [d == 0, last && to.0.array == output.0.array]),
            })?;
            at = to;
        }
        if dims.is_empty() || at.0.array != output.0.array {
            let scale = if dims.is_empty() { problem.scale } else { 1.0 };
            if let Some(detour) = self.detours.last_mut().filter(|_| staged.is_some()) {
                detour.pass = Some(self.passes.len());
            }
            let functions = self.ends([dims.is_empty(), true]).of_reals();
            let lengths: Vec<u64> = lengths.iter().map(|&[_, after]| after).collect();
            self.copy(&lengths, &at, &output, (scale, functions));
        }
        Ok(())
    }

    /// A pass that moves reals.
    fn copy(
        &mut self,
        lengths: &[u64],
        (src, is): &(Operand, Vec<i64>),
        (dst, os): &(Operand, Vec<i64>),
        (scale, functions): (f64, Functions),
    ) {
        let behind = lengths.len() - self.problem.batch.len();
        let at_run = |d: usize| d >= behind && self.problem.batch[d - behind].at_run;
        let dims = lengths.iter().zip(is).zip(os).enumerate();
        let dims: Vec<Dim> =
            dims.map(|(d, ((&n, &is), &os))| Dim { at_run: at_run(d), ..Dim::new(n, is, os) }).collect();
        let batch = if functions.is_empty() {
            merged(dims).iter().map(PassDim::from).collect()
        } else {
            let named = (0..).zip(&dims).map(|(d, dim)| Around::named(Some(&self.around(d)), dim));
            named.filter(PassDim::counts_for).collect()
        };
        let pass = line::pass(self.problem, Vec::new(), batch, *src, *dst);
        self.passes.push(Pass { scale, functions, ..pass });
    }
}
