//! A large prime factor beside others: one codelet of the others, on the points as they come from memory, and a
//! convolution of each row. Unlike coprime parts ([`super::prime_factor`]) it asks for twiddles, but the codelet takes no
//! way through shared memory, and results of neighbouring rows leave as neighbours. Gentleman and Sande, *Fast Fourier
//! transforms for fun and profit* (1966): decimation in frequency.

use crate::codelet;
use crate::plan::Plan;
use crate::planner::Planner;

use super::bluestein::Bluestein;
use super::rader::Rader;
use super::{Solver, apart};

/// Lengths with one prime factor that has no codelet, or is a long one, beside a codelet.
pub struct Decimated;

/// Points of the longest codelet that runs on the way in: its points, the twiddles and where they go are all registers.
const LONGEST: u64 = 32;

/// Padded rows that are offered.
const PADDED: usize = 3;

/// Whether a codelet of so many points runs on the way in.
pub(super) fn takes(radix: u64) -> bool {
    (2..=LONGEST).contains(&radix) && codelet::has_codelet(radix)
}

impl Solver for Decimated {
    fn name(&self) -> &'static str {
        "decimated"
    }

    fn plans(&self, n: u64, planner: &Planner<'_>) -> Vec<Plan> {
        if n > planner.max_points() {
            return Vec::new();
        }
        let (radix, awkward) = apart(n);
        let &[large] = &awkward[..] else { return Vec::new() };
        if !takes(radix) {
            return Vec::new();
        }
        // The codelet of a long prime is no row.
        let convolves = planner.on_chip(large).filter(Plan::convolves_on_chip);
        let best =
            convolves.or_else(|| planner.cheapest_of(Rader.plans(large, planner), 1).into_iter().next());
        // Between a codelet's way in and neighbours on the way out rows cost something else than they do alone: Rader's
        // less, and of padded ones the cheapest here may be the second there.
        let rader = Rader.plans(large, planner).into_iter().next();
        let padded = planner.cheapest_of(Bluestein.plans(large, planner), PADDED);
        let all = best.into_iter().chain(rader).chain(padded).filter(Plan::convolves_on_chip);
        let mut rows: Vec<Plan> = Vec::new();
        for plan in all {
            if !rows.contains(&plan) {
                rows.push(plan);
            }
        }
        rows.into_iter().map(|rows| Plan::Decimated { radix: radix as u32, rows: Box::new(rows) }).collect()
    }
}
