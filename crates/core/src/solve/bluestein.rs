//! Bluestein, *A linear filtering approach to the computation of discrete Fourier transform* (1970):
//! `n k = (n^2 + k^2 - (k - n)^2) / 2` turns a transform of any length into a convolution with a chirp, which
//! transforms of a smooth length of at least `2 N - 1` compute.

use crate::math::factor;
use crate::plan::Plan;
use crate::planner::Planner;

use super::{Solver, falling};

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
        let least = 2 * n - 1;
        // The smoothest length is not always the shortest: offer both.
        let families: [&[u64]; 4] = [&[2, 3, 5, 7], &[2, 3, 5], &[2, 3], &[2]];
        let mut lengths: Vec<u64> =
            families.iter().filter_map(|primes| factor::smooth_at_least(least, primes)).collect();
        lengths.dedup();
        // What is best alone need not be best twice in a row with a product between.
        let mut inner: Vec<Plan> = lengths.iter().flat_map(|&m| planner.stages(m)).map(falling).collect();
        if inner.is_empty() {
            inner.extend(lengths.iter().filter_map(|&m| planner.several(m)));
        }
        inner.into_iter().map(|inner| Plan::Bluestein { n, inner: Box::new(inner) }).collect()
    }
}
