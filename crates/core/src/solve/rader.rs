//! Rader, *Discrete Fourier transforms when the number of data samples is prime* (1968): powers of a primitive
//! root turn a prime length into a cyclic convolution of one point less, which needs no padding.

use crate::math::factor;
use crate::plan::Plan;
use crate::planner::Planner;

use super::{Solver, falling};

/// Primes whose predecessor has only small factors.
pub struct Rader;

impl Solver for Rader {
    fn name(&self) -> &'static str {
        "rader"
    }

    fn plans(&self, n: u64, planner: &Planner<'_>) -> Vec<Plan> {
        // Up to there a codelet is more exact and no slower.
        if n <= 31 || n > planner.max_points() || !factor::is_prime(n) {
            return Vec::new();
        }
        planner
            .stages(n - 1, 0)
            .into_iter()
            .map(falling)
            .map(|inner| Plan::Rader { p: n, inner: Box::new(inner) })
            .collect()
    }
}
