//! Lines, planes and volumes of reals to reals whose every axis is short: one pass, in which a thread has a line in registers and
//! two of them, or two planes, go through as one of complex numbers ([`Method::Reals`]). On an H200 lines of 8 to 32 that folded took
//! 1.1 to 1.5 copies and take 1.0; planes took a pass for each axis, of 8 x 8, as pictures are coded by, 3.1 copies, and take 1.05
//! (`docs/notes/real-data.md`).

use crate::codelet::has_reals;
use crate::lower::tile;
use crate::math::factor::is_prime;
use crate::pass::{Axis, Formula, Method, Pass, PassDim, Reals};
use crate::plan::Plan;
use crate::problem::{Dim, Precision, RealDim};
use crate::target::Api;

use super::Chain;
use super::applied::Applied;
use super::line::{self, Line};
use super::share::{Points, Share};

/// Lines by themselves of fewer points fold: of two, 1.01 copies for 1.23.
const SHORTEST: u64 = 3;

/// The longest prime of numbers wider than singles: 31 doubles took 200 bytes more than a thread has registers for.
const LONGEST_WIDE: u64 = 29;

impl Chain<'_> {
    /// Takes such passes; `false`: there are none, and lines fold.
    pub(super) fn direct(&mut self, dims: &[RealDim]) -> bool {
        let Some((last, others)) = dims.split_last() else { return false };
        if others.is_empty() && last.dim.n < SHORTEST {
            return false;
        }
        let fits = |n: u64| match self.problem.precision {
            Precision::F32 => true,
            Precision::F64 => n <= LONGEST_WIDE || !is_prime(n),
            // Sums of pairs of singles take many registers: dst1 of 15 points 190 bytes more than there are.
            Precision::DoubleSingle => false,
        };
        if !dims.iter().all(|real| has_reals(real.kind, real.dim.n) && fits(real.dim.n)) {
            return false;
        }
        let problem = self.problem;
        // Where memory is of words, folds store short numbers in twos; here the two of a point go to different planes.
        if matches!(self.limits.api, Api::Wgsl { .. }) && problem.stored()[1].real_bytes() < 4 {
            return false;
        }
        let formula = Formula::Reals { kind: last.kind, orthogonal: last.orthogonal };
        let beside = others.iter().map(|real| (real.dim, plan(real))).collect();
        let sides = [self.operand(false), self.operand(true)];
        let line = Line {
            applied: self.applied_to_planes(dims.len()),
            ..Line::between(formula, false, last.dim, beside, &problem.batch, sides, problem.scale)
        };
        let mut shares = line.in_rows();
        if shares.len() > 1 && problem.input_bytes() <= self.limits.l2_bytes {
            // A launch for the one that is left takes longer than what pairs save.
            shares = vec![line.all_alone()];
        }
        let passes: Vec<Pass> = shares.iter().map(|share| self.planes(dims, &line, share)).collect();
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
        let sides = [false, true].map(|writes| share.natural(line, writes));
        // Those of the dimensions in their order, then those of the repeated ones.
        let strides = sides.each_ref().map(|Points { stride, strides, .. }| {
            let (others, repeated) = strides.split_at(dims.len() - 1);
            (others.iter().chain([stride]).copied().collect::<Vec<_>>(), repeated)
        });
        let [(read, repeated_read), (written, repeated_written)] = &strides;
        let axes = dims.iter().enumerate().map(|(d, real)| {
            let last = d + 1 == dims.len();
            let number = if last { line.applied.own } else { line.applied.beside.get(d).copied() };
            let dim = Applied::named(number, &Dim { is: read[d], os: written[d], ..real.dim });
            Axis::new(dim, Method::Reals(Reals::new(real.dim.n as u32, real.kind, real.orthogonal)))
        });
        let repeated = share.batch.iter().zip(repeated_read.iter().zip(*repeated_written));
        let batch = repeated.map(|(dim, (&is, &os))| PassDim { is, os, ..*dim }).collect();
        let [from, to] = sides.each_ref().map(|side| side.operand);
        let windows = |side: usize| self.plane_windows(dims, &strides[side].0, share.batch.len(), side == 1);
        Pass {
            scale: line.scale,
            functions: share.functions_of_points(line),
            windows: [windows(0), windows(1)],
            ..line::pass(self.problem, axes.collect(), batch, from, to)
        }
    }
}

/// One stage.
fn plan(real: &RealDim) -> Plan {
    Plan::MixedRadix(vec![real.dim.n as u32])
}
