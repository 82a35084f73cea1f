//! Good, *The interaction algorithm and practical Fourier analysis* (1958), and Thomas, *Using a computer to solve
//! problems in physics* (1963): coprime parts make a transform of several dimensions without twiddles. It keeps a
//! large prime factor to itself, so that the others are spared its convolution.

use crate::plan::Plan;
use crate::planner::Planner;

use super::mixed_radix::MixedRadix;
use super::rader::Rader;
use super::{Solver, apart};

/// Lengths with a prime factor that has no codelet, or one that is too long to be a stage beside the others.
pub struct PrimeFactor;

impl Solver for PrimeFactor {
    fn name(&self) -> &'static str {
        "prime-factor"
    }

    fn plans(&self, n: u64, planner: &Planner<'_>) -> Vec<Plan> {
        if n > planner.max_points() {
            return Vec::new();
        }
        let (smooth, awkward) = apart(n);
        if awkward.is_empty() || awkward.len() > 2 || (smooth == 1 && awkward.len() == 1) {
            return Vec::new();
        }
        let convolves = |plan: &Plan| !matches!(plan, Plan::MixedRadix(_));
        let padded = |plan: &&Plan| matches!(plan, Plan::Bluestein { .. });
        let own = |m: u64| planner.on_chip(m);
        // A long prime may do better as a convolution, in few registers, than by the codelet that is the best for it alone.
        let convolved = |m: u64| {
            let rader = || planner.cheapest_of(Rader.plans(m, planner), 1).into_iter().next();
            own(m).filter(convolves).or_else(rader)
        };
        let parts = |of: &dyn Fn(u64) -> Option<Plan>| {
            let smooth = (smooth > 1).then_some(smooth).map(own);
            smooth.into_iter().chain(awkward.iter().map(|&m| of(m))).collect::<Option<Vec<Plan>>>()
        };
        let mut found: Vec<Vec<Plan>> = [parts(&own), parts(&convolved)].into_iter().flatten().collect();
        found.dedup();
        // Where all parts are codelets, stages of them do without a convolution's ways; but the longest primes are no stages
        // beside everything, and convolve there.
        if found.first().is_some_and(|parts| !parts.iter().any(convolves)) {
            found.remove(0);
            found.retain(|_| MixedRadix.plans(n, planner).is_empty());
        }
        found.retain(|parts| parts.iter().filter(padded).count() <= 1);
        found.into_iter().map(Plan::PrimeFactor).collect()
    }
}
