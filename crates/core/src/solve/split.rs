//! The four-step method across passes: `N = N1 N2 [N3]`, each part a pass with its twiddle fused (Gentleman and
//! Sande, *Fast Fourier Transforms: for fun and profit*, 1966; Bailey, *FFTs in external or hierarchical
//! memory*, 1990).

use crate::math::factor;
use crate::plan::Plan;
use crate::planner::Planner;

use super::Solver;

/// Lengths that do not fit on the chip and have factors that do.
pub struct Split;

impl Solver for Split {
    fn name(&self) -> &'static str {
        "split"
    }

    fn on_chip(&self) -> bool {
        false
    }

    fn plans(&self, n: u64, planner: &Planner<'_>) -> Vec<Plan> {
        if n <= planner.max_points() && planner.on_chip(n).is_some() {
            return Vec::new();
        }
        let divisors: Vec<u64> =
            factor::divisors(n).into_iter().filter(|&d| d > 1 && planner.takes_columns(d)).collect();
        (2..=5).find_map(|parts| split(n, parts, &divisors, planner)).into_iter().collect()
    }
}

/// The most even split into that many parts, each of them among the divisors, or none.
fn split(n: u64, parts: u32, divisors: &[u64], planner: &Planner<'_>) -> Option<Plan> {
    let mut best: Option<(f64, Vec<u64>)> = None;
    divide(n, parts, u64::MAX, divisors, &mut Vec::new(), &mut |lengths| {
        // Unevenness, and a length that the chip takes only by Bluestein counts much.
        let even = (n as f64).powf(1.0 / f64::from(parts));
        let cost: f64 = lengths
            .iter()
            .map(|&len| {
                let awkward = factor::factorise(len).iter().any(|&(p, _)| p > 31);
                (len as f64 / even).ln().abs() + if awkward { 4.0 } else { 0.0 }
            })
            .sum();
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, lengths.to_vec()));
        }
    });
    let lengths = best?.1;
    let plans: Option<Vec<Plan>> = lengths.iter().map(|&len| planner.on_chip(len)).collect();
    Some(Plan::Split(plans?))
}

/// Falling factorisations of `n` into exactly `parts` of the divisors, each at most `most`.
fn divide(
    n: u64,
    parts: u32,
    most: u64,
    divisors: &[u64],
    so_far: &mut Vec<u64>,
    visit: &mut dyn FnMut(&[u64]),
) {
    if parts == 1 {
        if n <= most && divisors.contains(&n) {
            so_far.push(n);
            visit(so_far);
            so_far.pop();
        }
        return;
    }
    for &d in divisors.iter().filter(|&&d| d <= most) {
        if n.is_multiple_of(d) {
            so_far.push(d);
            divide(n / d, parts - 1, most.min(d), divisors, so_far, visit);
            so_far.pop();
        }
    }
}
