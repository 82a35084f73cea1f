//! Planes and volumes of reals to reals whose every axis is short: one pass, in which a thread has a line in registers and two planes
//! go through as one of complex numbers ([`Method::Reals`]). Axis after axis takes a pass for each: of 8 x 8, as pictures are coded
//! by, 3.1 copies on an H200.

use crate::codelet::has_reals;
use crate::lower::tile;
use crate::pass::{Axis, Formula, Method, Pass, PassDim, Reals};
use crate::plan::Plan;
use crate::problem::{Dim, RealDim};

use super::Chain;
use super::line::{self, Line};
use super::share::{Points, Share};

impl Chain<'_> {
    /// Takes such passes; `false`: there are none. Lines by themselves fold with half the points, and functions and windows want
    /// the elements that they are of.
    pub(super) fn direct(&mut self, dims: &[RealDim]) -> bool {
        let problem = self.problem;
        let short = dims.iter().all(|real| has_reals(real.kind, real.dim.n));
        if dims.len() < 2 || !short || !problem.functions.is_empty() || problem.is_windowed() {
            return false;
        }
        let Some((last, others)) = dims.split_last() else { return false };
        let formula = Formula::Reals { kind: last.kind, orthogonal: last.orthogonal };
        let beside = others.iter().map(|real| (real.dim, plan(real))).collect();
        let sides = [self.operand(false), self.operand(true)];
        let line = Line::between(formula, false, last.dim, beside, &problem.batch, sides, problem.scale);
        let passes: Vec<Pass> = line.in_rows().iter().map(|share| self.planes(dims, &line, share)).collect();
        if !passes.iter().all(|pass| tile::choose(pass, self.limits).is_some()) {
            return false;
        }
        for (at, pass) in passes.into_iter().enumerate() {
            if at > 0 {
                self.line_is_left();
            }
            self.passes.push(pass);
            self.plans.extend(dims.iter().map(plan));
        }
        true
    }

    /// The pass of planes that are carried in one way.
    fn planes(&self, dims: &[RealDim], line: &Line, share: &Share) -> Pass {
        let [from, to] = [false, true].map(|writes| share.natural(line, writes));
        let side = |points: &Points, d: usize| {
            if d + 1 == dims.len() { points.stride } else { points.strides[d] }
        };
        let axes = dims.iter().enumerate().map(|(d, real)| {
            let (is, os) = (side(&from, d), side(&to, d));
            let dim = PassDim::from(&Dim { is, os, ..real.dim });
            Axis::new(dim, Method::Reals(Reals::new(real.dim.n as u32, real.kind, real.orthogonal)))
        });
        let repeated = share.batch.iter().enumerate().map(|(d, dim)| {
            let (is, os) = (from.strides[dims.len() - 1 + d], to.strides[dims.len() - 1 + d]);
            PassDim { is, os, ..*dim }
        });
        let (axes, batch) = (axes.collect(), repeated.collect());
        let pass = line::pass(self.problem.precision, axes, batch, from.operand, to.operand);
        Pass { scale: line.scale, ..pass }
    }
}

/// One stage.
fn plan(real: &RealDim) -> Plan {
    Plan::MixedRadix(vec![real.dim.n as u32])
}
