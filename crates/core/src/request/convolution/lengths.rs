//! Which lengths a convolution is padded to: any that is not too short will do, and some are much cheaper than others.

use crate::cost;
use crate::error::Error;
use crate::lower::tile;
use crate::problem::Problem;
use crate::schedule;
use crate::solve::padding;
use crate::target::Limits;

use super::{Along, Convolution, Mode};

/// How much longer than the least a length may be, in parts of it.
const SLACK: u64 = 4;
/// Lengths that are tried on a device.
const TRIED: usize = 12;
/// Primes of lengths that are good everywhere.
const SMALL: [u64; 4] = [2, 3, 5, 7];

impl Convolution {
    /// Points to transform along each dimension.
    pub(super) fn lengths(&self, along: &[Along], limits: Option<&Limits>) -> Result<Vec<u64>, Error> {
        if self.mode == Mode::Periodic {
            return Ok(along.iter().map(|own| own.least).collect());
        }
        let Some(limits) = limits else {
            return Ok(along.iter().map(|own| next_smooth(own.least)).collect());
        };
        let padded: Vec<u64> = along.iter().map(|own| cheapest(own.least)).collect();
        let fits = |padded: &[u64]| {
            let whole = self.whole(along, padded).ok()?;
            whole.parts.iter().all(|part| schedule::schedule(part, limits).is_ok()).then_some(())
        };
        if fits(&padded).is_some() {
            return Ok(padded);
        }
        // The slowest dimension convolves, and does not fit on the chip by this length.
        let turn = along.iter().position(|own| own.least > 1).unwrap_or(0);
        let planner = crate::planner::Planner::new(limits, self.precision);
        let parts = padding::in_passes(along[turn].least, &planner);
        let found = parts.iter().map(|parts| parts.iter().map(crate::plan::Plan::len).product::<u64>());
        let mut other = padded.clone();
        for length in found.chain(candidates(along[turn].least)) {
            other[turn] = length;
            if fits(&other).is_some() {
                return Ok(other);
            }
        }
        // What stands in the way is said by whoever schedules it.
        Ok(padded)
    }
}

/// Bytes moved by all passes of a problem, each as often as it costs; `None` where the device cannot run it.
pub(super) fn moved(problem: &Problem, limits: &Limits) -> Option<f64> {
    let schedule = schedule::schedule(problem, limits).ok()?;
    let pass = |pass: &crate::pass::Pass| {
        let choice = tile::choose(pass, limits)?;
        Some(choice.cost * (pass.bytes(false) + pass.bytes(true)) as f64)
    };
    schedule.passes.iter().map(pass).sum()
}

/// The length that promises to be cheapest to go there and back by, not much longer than the least.
pub(super) fn cheapest(least: u64) -> u64 {
    let cost = |&n: &u64| {
        let stages = padding::stages_of(n).into_iter();
        let instructions = stages
            .map(|radices| 2.0 * radices.into_iter().map(cost::padded_stage).sum::<f64>())
            .min_by(f64::total_cmp)
            .unwrap_or(f64::MAX.sqrt());
        n as f64 * cost::padded_copies(instructions)
    };
    candidates(least).min_by(|a, b| cost(a).total_cmp(&cost(b))).unwrap_or(least)
}

/// Lengths with small factors, rising from the least on.
fn candidates(least: u64) -> impl Iterator<Item = u64> {
    let most = least + least / SLACK + 2;
    let mut next = least;
    std::iter::from_fn(move || {
        let found = next_smooth(next);
        next = found + 1;
        (found <= most).then_some(found)
    })
    .take(TRIED)
    .chain(Some(least.next_power_of_two()).filter(move |&n| n <= most))
}

/// The least number from `n` on that has no other factors than the small ones.
pub(super) fn next_smooth(n: u64) -> u64 {
    // Powers of two double, and every product of the others is filled up with the least that is enough.
    let mut best = n.next_power_of_two();
    let mut odd = vec![1_u64];
    for prime in &SMALL[1..] {
        let mut at = 0;
        while at < odd.len() {
            let next = odd[at].saturating_mul(*prime);
            if next < best && !odd.contains(&next) {
                odd.push(next);
            }
            at += 1;
        }
    }
    for product in odd {
        best = best.min(product * n.div_ceil(product).next_power_of_two());
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_smooth_length_is_the_least() {
        let smooth = |mut n: u64| {
            for prime in SMALL {
                while n.is_multiple_of(prime) {
                    n /= prime;
                }
            }
            n == 1
        };
        for n in 1..3000 {
            let want = (n..).find(|&n| smooth(n)).expect("powers of two are");
            assert_eq!(next_smooth(n), want, "{n}");
        }
    }
}
