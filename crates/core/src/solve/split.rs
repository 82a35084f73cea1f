//! The four-step method across passes: `N = N1 N2 [N3]`, each part a pass with its twiddle fused (Gentleman and
//! Sande, *Fast Fourier Transforms: for fun and profit*, 1966; Bailey, *FFTs in external or hierarchical
//! memory*, 1990).

use crate::math::factor;
use crate::plan::Plan;
use crate::planner::Planner;
use crate::target::{LINE_BYTES, SECTOR_BYTES};

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
        in_passes(n, planner)
    }
}

/// The most promising splits of a length, whether it fits on the chip or not.
pub(crate) fn in_passes(n: u64, planner: &Planner<'_>) -> Vec<Plan> {
    let divisors: Vec<u64> =
        factor::divisors(n).into_iter().filter(|&d| d > 1 && planner.takes_columns(d)).collect();
    let bytes = planner.complex_bytes();
    let splits = |parts| splits(n, parts, &divisors, bytes);
    let some = |parts| Some((parts, splits(parts))).filter(|(_, all)| !all.is_empty());
    let Some((fewest, mut all)) = (2..=MOST_PARTS).find_map(some) else { return Vec::new() };
    all.truncate(OFFERED);
    // A part more where the fewest take columns that no block holds.
    if all.iter().all(|parts| parts.iter().any(|&part| part > planner.max_column_points())) {
        all.extend(splits(fewest + 1).into_iter().take(1));
    }
    if fewest > 2 {
        // A part less by longer columns.
        let divisors = factor::divisors(n).into_iter().filter(|&d| d > 1 && planner.takes_long_columns(d));
        let fewer = self::splits(n, fewest - 1, &divisors.collect::<Vec<_>>(), bytes);
        all.extend(fewer.into_iter().take(LONG));
    }
    if all.iter().any(|parts| parts.len() == 3) {
        // Two passes of the three in one launch, through the cache.
        let mut near = splits(3);
        near.retain(|parts| item_bytes(parts) <= planner.cache_bytes() / CACHED && !all.contains(parts));
        let column = planner.max_column_points();
        near.sort_by(|a, b| apart(a, bytes, column).total_cmp(&apart(b, bytes, column)));
        all.extend(near.into_iter().take(SHARED));
    }
    let plan = |parts: &Vec<u64>| parts.iter().map(|&part| planner.on_chip(part)).collect::<Option<_>>();
    all.iter().filter_map(plan).map(Plan::Split).collect()
}

/// Parts at most.
const MOST_PARTS: usize = 5;
/// Splits into the fewest parts that are offered at most.
const OFFERED: usize = 4;

/// Splits that take a part less by columns which a cluster holds with difficulty.
const LONG: usize = 2;
/// Splits into three parts that are offered for what the last two are in one launch.
const SHARED: usize = 4;
/// Part of the cache that an item of two passes in one launch may take.
const CACHED: u64 = 6;

/// Bytes that the last two of three passes have between them at least, before results are written in pieces of two sectors:
/// so many neighbours of the first part's index have to be transformed together.
fn item_bytes(parts: &[u64]) -> u64 {
    parts[1..].iter().product::<u64>() * 2 * SECTOR_BYTES
}

/// Small where the last two of three parts are even and of few bytes, so that they share a launch well, and the first is not
/// much beyond the columns that a block holds.
fn apart(parts: &[u64], bytes: u64, column: u64) -> f64 {
    let last = &parts[1..];
    let rest: u64 = last.iter().product();
    let wide = (parts[0] as f64 / column as f64).log2().max(0.0);
    merit(rest, last, bytes) + astray(rest * bytes) + 0.3 * (item_bytes(parts) as f64).log2() + 0.5 * wide
}

/// Splits into that many parts, each of them among the divisors, the most promising first.
fn splits(n: u64, parts: usize, divisors: &[u64], bytes: u64) -> Vec<Vec<u64>> {
    let mut all = Vec::new();
    divide(n, parts, divisors, &mut Vec::new(), &mut |lengths| {
        all.push((merit(n, lengths, bytes), lengths.to_vec()));
    });
    all.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    all.into_iter().map(|(_, lengths)| lengths).collect()
}

/// Small where parts are even, no prime among them is large, and rows start with whole lines of memory.
fn merit(n: u64, lengths: &[u64], bytes: u64) -> f64 {
    let even = (n as f64).powf(1.0 / lengths.len() as f64);
    // A length that the chip takes only by Bluestein counts much.
    let awkward = |&len: &u64| if factor::factorise(len).iter().any(|&(p, _)| p > 31) { 4.0 } else { 0.0 };
    let uneven: f64 = lengths.iter().map(|&len| (len as f64 / even).ln().abs()).sum();
    // All passes but the last read and write columns whose rows are the parts that follow; the last one writes columns whose
    // rows are those before it.
    let follows = (1..lengths.len()).map(|i| lengths[i..].iter().product());
    let rows = follows.chain(lengths.last().map(|last| n / last));
    uneven + lengths.iter().map(awkward).sum::<f64>() + rows.map(|row| astray(row * bytes)).sum::<f64>()
}

/// Copies, roughly, that a pass takes more by what its rows start with.
fn astray(pitch: u64) -> f64 {
    match pitch {
        pitch if pitch.is_multiple_of(LINE_BYTES) => 0.0,
        pitch if pitch.is_multiple_of(2 * SECTOR_BYTES) => 0.1,
        pitch if pitch.is_multiple_of(SECTOR_BYTES) => 0.3,
        _ => 0.6,
    }
}

/// Factorisations of `n` into exactly `parts` of the divisors, in every order.
fn divide(n: u64, parts: usize, divisors: &[u64], so_far: &mut Vec<u64>, visit: &mut dyn FnMut(&[u64])) {
    if parts == 1 {
        if divisors.contains(&n) {
            so_far.push(n);
            visit(so_far);
            so_far.pop();
        }
        return;
    }
    for &d in divisors.iter().filter(|&&d| n.is_multiple_of(d)) {
        so_far.push(d);
        divide(n / d, parts - 1, divisors, so_far, visit);
        so_far.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Precision;
    use crate::target::Limits;

    fn offered(n: u64) -> Vec<Vec<u64>> {
        let limits = Limits::h200();
        let planner = Planner::new(&limits, Precision::F32);
        let parts = |plan| if let Plan::Split(parts) = plan { parts } else { Vec::new() };
        Split.plans(n, &planner).into_iter().map(|plan| parts(plan).iter().map(Plan::len).collect()).collect()
    }

    #[test]
    fn splits_multiply_to_the_length_and_the_best_comes_first() {
        for n in [1 << 18, 1 << 20, 1 << 25, 1 << 27, 500_000, 2_000_000, 390_625, 823_543] {
            let all = offered(n);
            assert!(
                !all.is_empty() && all.iter().all(|parts| parts.iter().product::<u64>() == n),
                "{n}: {all:?}"
            );
            assert!((0..all.len()).all(|i| !all[..i].contains(&all[i])), "{n}: {all:?}");
        }
        assert_eq!(offered(1 << 20)[0], [1024, 1024]);
    }

    #[test]
    fn rows_that_start_with_whole_sectors_are_preferred_to_even_parts() {
        // 1600 x 1250 is more even, but rows of 1250 points start anywhere in a sector.
        assert_eq!(offered(2_000_000)[0].iter().map(|len| len * 8 % 64).max(), Some(0));
        assert!(merit(2_000_000, &[1000, 2000], 8) < merit(2_000_000, &[1600, 1250], 8));
    }

    #[test]
    fn longer_columns_are_offered_where_they_save_a_pass() {
        let of = |n: u64, count: usize| {
            offered(n).into_iter().filter(|parts| parts.len() == count).collect::<Vec<_>>()
        };
        assert_eq!(of(1 << 27, 2), [[8192, 16384], [16384, 8192]]);
        assert_eq!(of(1 << 28, 2), [[16384, 16384]]);
        assert!(of(1 << 27, 3).len() >= OFFERED && of(1 << 28, 3).len() >= OFFERED);
        // Two passes are to be had without.
        assert!(of(1 << 26, 2).iter().flatten().all(|&part| part < 16384));
    }

    #[test]
    fn columns_of_clusters_have_a_rival_of_one_more_pass() {
        let all = offered(1 << 26);
        assert!(
            all.iter().any(|parts| parts.len() == 2) && all.iter().any(|parts| parts.len() == 3),
            "{all:?}"
        );
    }
}
