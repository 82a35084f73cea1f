//! Rader, *Discrete Fourier transforms when the number of data samples is prime* (1968): powers of a primitive
//! root turn a prime length into a cyclic convolution of one point less, which needs no padding.

use crate::math::factor;
use crate::plan::Plan;
use crate::planner::Planner;

use super::{Solver, bluestein, falling, padding};

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

/// The same in two halves, each by a block, of what fills a block's multiprocessor or more.
pub struct HalvedRader;

impl Solver for HalvedRader {
    fn name(&self) -> &'static str {
        "halved-rader"
    }

    /// They are for complex lines by themselves.
    fn on_chip(&self) -> bool {
        false
    }

    fn plans(&self, n: u64, planner: &Planner<'_>) -> Vec<Plan> {
        let (half, most) = (n / 2, planner.max_convolution());
        let pairs = planner.line_clusters().next() == Some(2);
        if !pairs || n <= most / 2 || half >= most || !factor::is_prime(n) {
            return Vec::new();
        }
        let inner = bluestein::halves(padding::stages_of(half)).filter(begins_long);
        inner.map(|inner| Plan::Rader { p: n, inner: Box::new(inner) }).collect()
    }
}

/// Whether the first stage's groups are of some points: halves change hands by these. In doubles, on an H200, 18433 points took 5.2 copies
/// as 4 16 12 12 and 4.4 as 16 12 12 4, 12289 4.3 as 2 16 16 12 and 3.2 as 16 16 12 2, but 13721 3.6 as 5 14 14 7 and 4.0 as 14 14 7 5.
fn begins_long(stages: &Plan) -> bool {
    matches!(stages, Plan::MixedRadix(radices) if radices.first().is_some_and(|&first| first >= 5))
}
