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
        // Where all parts are codelets, stages of them do without a convolution's ways; a prime that is no stage beside
        // the others convolves although it has a codelet.
        let staged = !MixedRadix.plans(n, planner).is_empty();
        let part = |m: u64| {
            let own = planner.on_chip(m)?;
            let codelet = matches!(own, Plan::MixedRadix(_)) && m != smooth && !staged;
            let convolved = || planner.cheapest_of(Rader.plans(m, planner), 1).into_iter().next();
            if codelet { convolved().or(Some(own)) } else { Some(own) }
        };
        let parts: Option<Vec<Plan>> =
            std::iter::once(smooth).filter(|&m| m > 1).chain(awkward).map(part).collect();
        let padded = |plan: &&Plan| matches!(plan, Plan::Bluestein { .. });
        let convolves = |plan: &Plan| !matches!(plan, Plan::MixedRadix(_));
        parts
            .filter(|parts| parts.iter().filter(padded).count() <= 1 && parts.iter().any(convolves))
            .map(Plan::PrimeFactor)
            .into_iter()
            .collect()
    }
}
