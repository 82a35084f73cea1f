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
    let most = planner.max_convolution();
    let mut inner: Vec<Plan> = padding::on_chip(least, most).into_iter().map(Plan::MixedRadix).collect();
    // What is alone on its multiprocessor may not be worth it, or take more registers than there are.
    if least > most / 2 {
        inner.extend(padding::in_passes(least, planner).into_iter().map(Plan::Split));
    }
    inner
}

/// Any length; offered where a prime factor has no codelet.
pub struct Bluestein;

impl Solver for Bluestein {
    fn name(&self) -> &'static str {
        "bluestein"
    }

    fn plans(&self, n: u64, planner: &Planner<'_>) -> Vec<Plan> {
        let smooth = factor::factorise(n).iter().all(|&(p, _)| p <= 31);
        if n < 3 || smooth {
            return Vec::new();
        }
        padded(least_padded(n), planner)
            .into_iter()
            .map(|inner| Plan::Bluestein { n, inner: Box::new(inner) })
            .collect()
    }
}
