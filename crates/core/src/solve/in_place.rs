//! The four-step method without memory beside the data. The length is cut into digits that read the same both ways,
//! `N = a b c b a`; a pass that holds a digit and its twin whole transforms one of them and swaps both as it stores, so
//! that every tile maps to itself and results end in natural order. After Singleton, *A method for computing the fast
//! Fourier transform with auxiliary memory and limited high-speed storage* (1967), and Johnson and Burrus, *An in-place,
//! in-order prime factor FFT algorithm* (1984), with tiles for their single swaps.

use crate::math::factor;
use crate::plan::{Plan, Twins};
use crate::planner::Planner;

use super::Solver;

/// Lengths that do not fit on the chip and have square factors enough.
pub struct InPlace;

/// Passes at most.
const MOST_PASSES: usize = 5;
/// Plans of as many passes that are offered at most.
const MOST_PLANS: usize = 8;
/// Bytes of the rows that memory should move at once, from best to bearable.
const ROWS: [u64; 3] = [128, 64, 32];

impl Solver for InPlace {
    fn name(&self) -> &'static str {
        "in-place"
    }

    fn on_chip(&self) -> bool {
        false
    }

    fn in_place(&self) -> bool {
        true
    }

    fn plans(&self, n: u64, planner: &Planner<'_>) -> Vec<Plan> {
        if n <= planner.max_points() && planner.on_chip(n).is_some() {
            return Vec::new();
        }
        let mut found: Vec<(f64, Vec<u64>, Vec<u64>)> = Vec::new();
        for pairs in 1..=2 {
            digits(n, pairs, &mut Vec::new(), &mut |first, middle| {
                groupings(first, middle, planner, &mut found);
            });
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        found.dedup_by(|a, b| a.1 == b.1 && a.2 == b.2);
        let plan = |(_, lengths, early): (f64, Vec<u64>, Vec<u64>)| {
            let parts = lengths.iter().map(|&len| planner.on_chip(len)).collect::<Option<_>>()?;
            Some(Plan::InPlace { parts, early })
        };
        let (mut plans, mut taken) = (Vec::new(), [0; MOST_PASSES + 1]);
        for one in found {
            let same = &mut taken[one.1.len()];
            if *same < MOST_PLANS {
                *same += 1;
                plans.extend(plan(one));
            }
        }
        plans
    }
}

/// Every way to write `n` as so many digits, the middle one (or 1), and the digits again.
fn digits(n: u64, pairs: usize, so_far: &mut Vec<u64>, visit: &mut dyn FnMut(&[u64], u64)) {
    if pairs == 0 {
        return visit(so_far, n);
    }
    for digit in factor::divisors(n) {
        if digit > 1 && n.is_multiple_of(digit) && (n / digit).is_multiple_of(digit) {
            so_far.push(digit);
            digits(n / digit / digit, pairs - 1, so_far, visit);
            so_far.pop();
        }
    }
}

/// Every way to group digits into passes and to move pairs in part early, with a guess at its cost.
fn groupings(first: &[u64], middle: u64, planner: &Planner<'_>, found: &mut Vec<(f64, Vec<u64>, Vec<u64>)>) {
    let mid = Some(middle).filter(|&middle| middle > 1);
    let digits: Vec<u64> = first.iter().copied().chain(mid).chain(first.iter().rev().copied()).collect();
    let most = planner.max_tile();
    for cuts in 0..1_u32 << (digits.len() - 1) {
        let mut lengths = vec![digits[0]];
        for (i, &digit) in digits.iter().enumerate().skip(1) {
            match lengths.last_mut() {
                Some(last) if cuts >> (i - 1) & 1 == 0 => *last *= digit,
                _ => lengths.push(digit),
            }
        }
        if !(2..=MOST_PASSES).contains(&lengths.len()) || lengths.iter().any(|&len| len > most) {
            continue;
        }
        // Where no pass ends inside a pair, other digits say the same.
        let Some(plain) = Twins::new(&lengths, &vec![1; first.len()]) else { continue };
        if plain.sizes != digits {
            continue;
        }
        let mut early = vec![1; first.len()];
        loop {
            if let Some(cost) = guess(&lengths, &early, planner) {
                found.push((cost, lengths.clone(), early.clone()));
            }
            if !next(&mut early, first) {
                break;
            }
        }
    }
}

/// The next choice of a divisor of each digit; false after the last.
fn next(early: &mut [u64], digits: &[u64]) -> bool {
    for (factor, &digit) in early.iter_mut().zip(digits) {
        if let Some(larger) = (*factor + 1..=digit).find(|&larger| digit.is_multiple_of(larger)) {
            *factor = larger;
            return true;
        }
        *factor = 1;
    }
    false
}

/// Copies, roughly: how full each pass's tile makes a block or a cluster, and how long its rows are. `None` where one
/// fits none.
fn guess(lengths: &[u64], early: &[u64], planner: &Planner<'_>) -> Option<f64> {
    let twins = Twins::new(lengths, early)?;
    let (block, most) = (planner.max_points() as f64, planner.max_tile() as f64);
    let last = twins.sizes.len() - 1;
    let mut at_end = last;
    let mut sum = 0.0;
    for (pass, group) in twins.groups.iter().enumerate() {
        let mut held: Vec<usize> = group.clone().collect();
        for (digit, twin) in twins.moving(pass) {
            held.extend([digit, twin].into_iter().filter(|digit| !group.contains(digit)));
        }
        let own: u64 = held.iter().map(|&digit| twins.sizes[digit]).product();
        // The row is of the digit that stands last.
        let whole = held.contains(&at_end);
        let row = ROWS.iter().filter_map(|&bytes| {
            let wide = (bytes / planner.complex_bytes()).max(1);
            let (width, got) =
                if whole { (1, twins.sizes[last].min(wide)) } else { (wide, wide.min(twins.sizes[last])) };
            let tile = (own * width.min(twins.sizes[last])) as f64;
            let short = (128.0 / (got * planner.complex_bytes()) as f64).log2().max(0.0);
            // A share of what one block holds or, beyond that, of what each of a cluster's does.
            let full = match (tile / block, tile / most) {
                (..=0.25, _) => 0.02,
                (..=0.5, _) => 0.04,
                (..=1.0, _) => 0.12,
                (_, ..=0.25) => 0.35 + 0.1 * short,
                (_, ..=0.5) => 0.8 + 0.1 * short,
                (_, ..=1.0) => 1.2 + 0.1 * short,
                _ => return None,
            };
            Some(1.0 + full + 0.04 * short * short)
        });
        sum += row.min_by(f64::total_cmp)?;
        if twins.moving(pass).any(|(digit, _)| digit == 0) {
            at_end = 0;
        }
    }
    Some(sum)
}
