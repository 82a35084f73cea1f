//! Bluestein, *A linear filtering approach to the computation of discrete Fourier transform* (1970):
//! `n k = (n^2 + k^2 - (k - n)^2) / 2` turns a transform of any length into a convolution with a chirp, which
//! transforms of a smooth length of at least `2 N - 1` compute.

use crate::cost;
use crate::math::factor;
use crate::plan::Plan;
use crate::planner::Planner;

use super::Solver;

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
        let mut inner: Vec<Plan> =
            lengths(least, planner.max_convolution()).into_iter().map(Plan::MixedRadix).collect();
        if inner.is_empty() {
            // The smoothest length is not always the shortest: offer both.
            let families: [&[u64]; 4] = [&[2, 3, 5, 7], &[2, 3, 5], &[2, 3], &[2]];
            let mut lengths: Vec<u64> =
                families.iter().filter_map(|primes| factor::smooth_at_least(least, primes)).collect();
            lengths.dedup();
            inner.extend(lengths.iter().filter_map(|&m| planner.several(m)));
        }
        inner.into_iter().map(|inner| Plan::Bluestein { n, inner: Box::new(inner) }).collect()
    }
}

/// Radices of padded stages: those whose codelets are cheap.
const RADICES: [u32; 15] = [4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 25, 32];
/// Stages at most, and how many lengths are offered of each number of stages.
const STAGES: usize = 4;
const OFFERED: usize = 3;

/// Radices, falling, of padded lengths that promise to be cheap, not much longer than the least: the padding is free
/// to choose, and few stages or powers of two, which have no bank conflicts, may be worth more than a short length.
fn lengths(least: u64, most: u64) -> Vec<Vec<u32>> {
    let most = most.min(least + least / 10 * 3 + 2);
    let mut all: Vec<Vec<u32>> = Vec::new();
    for stages in 2..=STAGES {
        let mut found = Vec::new();
        extend(&mut Vec::new(), 1, stages, (least, most), &mut found);
        found.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let even = found.iter().position(|(_, radices)| radices.iter().all(|radix| radix.is_power_of_two()));
        let even = even.filter(|&at| at >= OFFERED).map(|at| found[at].1.clone());
        all.extend(found.into_iter().take(OFFERED).map(|(_, radices)| radices).chain(even));
    }
    all
}

/// Every way to go on with so many more radices, none larger than the last one, to a length within the range, with
/// what its stages cost.
fn extend(
    radices: &mut Vec<u32>,
    length: u64,
    stages: usize,
    (least, most): (u64, u64),
    found: &mut Vec<(f64, Vec<u32>)>,
) {
    if stages == 0 {
        if length >= least {
            let point: f64 = radices.iter().map(|&radix| cost::padded_stage(radix)).sum();
            found.push((point * length as f64, radices.clone()));
        }
        return;
    }
    let largest = radices.last().copied().unwrap_or(u32::MAX);
    for &radix in RADICES.iter().filter(|&&radix| radix <= largest) {
        let next = length * u64::from(radix);
        let longest = next.saturating_mul(u64::from(radix).pow(stages as u32 - 1));
        if next <= most && longest >= least {
            radices.push(radix);
            extend(radices, next, stages - 1, (least, most), found);
            radices.pop();
        }
    }
}
