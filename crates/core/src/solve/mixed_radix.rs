//! Cooley and Tukey on the chip: `N = r1 r2 .. rs`, a codelet for each factor.

use crate::codelet::has_codelet;
use crate::plan::Plan;
use crate::planner::Planner;

use super::{Solver, decimated};

/// Lengths whose prime factors all have codelets and that fit on the chip.
pub struct MixedRadix;

/// Radices that stages use, largest first. Beyond 16 a thread needs registers for one group of a wide radix, and saves an
/// exchange by it, at which its whole block stands still.
const RADICES: [u32; 31] = [
    32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6,
    5, 4, 3, 2,
];

/// Primes beyond them, in single precision: doubles have no room for their points, nor instructions for their factors.
const LONG_PRIMES: [u32; 7] = [61, 59, 53, 47, 43, 41, 37];

/// Those that leave a thread no register, nor a multiprocessor more than eight warps: alone, or beside one codelet that is too
/// long to be [decimated](decimated). These took up to twice as long before. What can be decimated takes a tenth less so in
/// the mean of 28 lengths, up to a third, and by the model's tile 71 15 3 a tenth less as coprime parts.
const LONGEST_PRIMES: [u32; 3] = [73, 71, 67];

/// Radices of other stages beside those: a thread has the registers anyway.
const BESIDE_PRIMES: [u32; 8] = [42, 40, 39, 38, 36, 35, 34, 33];

/// Lengths beyond this that have it for a factor are stages of 7 otherwise, or of 14, 21 and 28, and many of them: 16807 is
/// 12% faster by 49 49 7 than by five stages. This number itself is not.
const SEVENS: u64 = 2401;

/// The radices for a length, largest first.
fn radices_of(n: u64, planner: &Planner<'_>) -> Vec<u32> {
    let mut radices = RADICES.to_vec();
    if n > SEVENS && n.is_multiple_of(SEVENS) && planner.complex_bytes() == 8 {
        radices.insert(0, 49);
    }
    let alone = |rest: u64| has_codelet(rest) && !decimated::takes(rest);
    let longest = LONGEST_PRIMES.into_iter().filter(|&prime| alone(n / u64::from(prime)));
    let primes = longest.chain(LONG_PRIMES).filter(|&prime| n.is_multiple_of(prime.into()));
    let primes: Vec<u32> = primes.filter(|_| planner.complex_bytes() == 8).collect();
    if !primes.is_empty() {
        radices.extend(primes);
        radices.extend(BESIDE_PRIMES);
        radices.sort_unstable_by_key(|&radix| std::cmp::Reverse(radix));
    }
    radices
}

impl Solver for MixedRadix {
    fn name(&self) -> &'static str {
        "mixed-radix"
    }

    fn plans(&self, n: u64, planner: &Planner<'_>) -> Vec<Plan> {
        if n > planner.max_alone() {
            return Vec::new();
        }
        if n == 1 {
            return vec![Plan::MixedRadix(Vec::new())];
        }
        let mut found = Vec::new();
        factorisations(n, &radices_of(n, planner), &mut Vec::new(), &mut found);
        let fewest = found.iter().map(Vec::len).min().unwrap_or(0);
        found.retain(|radices| radices.len() <= fewest + 1);
        found.into_iter().map(Plan::MixedRadix).collect()
    }
}

/// The fewest stages of a length that may also have radix 32: for threads that have the registers.
pub(crate) fn widest(n: u64) -> Option<Vec<u32>> {
    let radices = [&[32], &RADICES[..]].concat();
    let mut found = Vec::new();
    factorisations(n, &radices, &mut Vec::new(), &mut found);
    // Of equals, the most even.
    found.into_iter().min_by_key(|radices| (radices.len(), radices.first().copied()))
}

/// All ways to write `n` as a falling product of radices.
fn factorisations(n: u64, radices: &[u32], so_far: &mut Vec<u32>, found: &mut Vec<Vec<u32>>) {
    if n == 1 {
        found.push(so_far.clone());
        return;
    }
    for (i, &radix) in radices.iter().enumerate() {
        if n.is_multiple_of(u64::from(radix)) && has_codelet(u64::from(radix)) {
            so_far.push(radix);
            factorisations(n / u64::from(radix), &radices[i..], so_far, found);
            so_far.pop();
        }
    }
}
