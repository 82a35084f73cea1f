//! Bluestein, *A linear filtering approach to the computation of discrete Fourier transform* (1970):
//! `n k = (n^2 + k^2 - (k - n)^2) / 2` turns a transform of any length into a convolution with a chirp, which
//! transforms of a smooth length of at least `2 N - 2` compute.

use crate::math::factor;
use crate::plan::{Plan, least_padded};
use crate::planner::Planner;

use super::Solver;
use super::padding;

/// Transforms of at least so many points that a convolution may be padded to, on the chip and in passes.
pub(crate) fn padded(least: u64, planner: &Planner<'_>) -> Vec<Plan> {
    let mut inner = on_chip(least, planner);
    inner.extend(in_passes(least, planner));
    inner
}

/// Half as long, which two blocks transform together, for what one block cannot hold: 10007 and 14009 points, which it can, take 3.5
/// and 4.3 copies so on an H200, and 3.0 and 3.2 by one.
fn in_halves(least: u64, planner: &Planner<'_>) -> Vec<Plan> {
    let pairs = planner.line_clusters().next() == Some(2);
    if !pairs || least <= planner.max_convolution() {
        return Vec::new();
    }
    halves(padding::on_chip(least / 2 + 1, planner.max_convolution())).collect()
}

/// Stages of halves, of radices that fall, and with the last one first: the first stage has every factor beside its points, and in
/// doubles the least radix leaves room for them. It takes 6% less.
pub(super) fn halves(falling: Vec<Vec<u32>>) -> impl Iterator<Item = Plan> {
    let first = |mut radices: Vec<u32>| {
        radices.rotate_right(1);
        radices
    };
    let turned: Vec<Vec<u32>> = falling.iter().cloned().map(first).collect();
    falling.into_iter().chain(turned).map(Plan::MixedRadix)
}

fn on_chip(least: u64, planner: &Planner<'_>) -> Vec<Plan> {
    padding::on_chip(least, planner.max_convolution()).into_iter().map(Plan::MixedRadix).collect()
}

/// What is alone on its multiprocessor may not be worth it, or take more registers than there are: so there are passes
/// from half of what a block holds on.
fn in_passes(least: u64, planner: &Planner<'_>) -> Vec<Plan> {
    if least <= planner.max_convolution() / 2 {
        return Vec::new();
    }
    padding::in_passes(least, planner).into_iter().map(Plan::Split).collect()
}

/// Plans for a length by transforms that it is padded to; none where it is a product of small primes.
fn plans(n: u64, planner: &Planner<'_>, inner: fn(u64, &Planner<'_>) -> Vec<Plan>) -> Vec<Plan> {
    let smooth = factor::factorise(n).iter().all(|&(p, _)| p <= 31);
    if n < 3 || smooth {
        return Vec::new();
    }
    let plan = |inner| Plan::Bluestein { n, inner: Box::new(inner) };
    inner(least_padded(n), planner).into_iter().map(plan).collect()
}

/// Any length; offered where a prime factor has no codelet.
pub struct Bluestein;

impl Solver for Bluestein {
    fn name(&self) -> &'static str {
        "bluestein"
    }

    fn plans(&self, n: u64, planner: &Planner<'_>) -> Vec<Plan> {
        plans(n, planner, on_chip)
    }
}

/// The same with a convolution that goes through memory.
pub struct LongBluestein;

impl Solver for LongBluestein {
    fn name(&self) -> &'static str {
        "long-bluestein"
    }

    fn on_chip(&self) -> bool {
        false
    }

    fn plans(&self, n: u64, planner: &Planner<'_>) -> Vec<Plan> {
        plans(n, planner, in_passes)
    }
}

/// The same with a convolution of which two blocks transform half each.
pub struct HalvedBluestein;

impl Solver for HalvedBluestein {
    fn name(&self) -> &'static str {
        "halved-bluestein"
    }

    /// They are for complex lines by themselves.
    fn on_chip(&self) -> bool {
        false
    }

    fn plans(&self, n: u64, planner: &Planner<'_>) -> Vec<Plan> {
        // Of large tiles by coprime parts more is expected than they take: 16383 = 3 x 43 x 127 takes 2.7 copies, in halves 4.1.
        if planner.on_chip(n).is_some() {
            return Vec::new();
        }
        let mut plans = plans(n, planner, in_halves);
        // A longer one is no half.
        plans.retain(|plan| matches!(plan, Plan::Bluestein { inner, .. } if inner.len() < least_padded(n)));
        plans
    }
}
