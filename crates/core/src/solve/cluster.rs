//! Cooley and Tukey on several blocks: `N = A C C B`. A cluster of C blocks has the second C spell the rank while
//! it transforms A and the first C, and the other way round for the rest; A and B keep rows of memory whole.

use crate::codelet::has_codelet;
use crate::lower::tile;
use crate::plan::Plan;
use crate::planner::{Planner, max_points};
use crate::problem::Precision;
use crate::target::Limits;

use super::Solver;

/// Lengths with a square factor of a cluster's size that are long for one block.
pub struct Cluster;

/// Radices at both ends: 32 saves a stage where a thread holds 32 points anyway.
const RADICES: [u32; 16] = [32, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2];

/// Larger ones that may end a line.
const WIDE: [u32; 8] = [30, 28, 27, 25, 24, 21, 20, 18];

impl Solver for Cluster {
    fn name(&self) -> &'static str {
        "cluster"
    }

    fn one_block(&self) -> bool {
        false
    }

    fn plans(&self, n: u64, planner: &Planner<'_>) -> Vec<Plan> {
        let (even, odd): (Vec<u32>, Vec<u32>) =
            planner.line_clusters().partition(|size| size.is_power_of_two());
        let mut plans = Self::by(&even, n, planner);
        // Other numbers of blocks are worth it only where one block cannot hold the line.
        if n > planner.max_points() {
            plans.extend(Self::by(&odd, n, planner));
        }
        plans
    }
}

/// Plans for a line that clusters of any size share, however well one block holds it: where there are few lines, blocks have nothing
/// else to do.
pub fn shared(n: u64, planner: &Planner<'_>) -> Vec<Plan> {
    Cluster::by(&planner.line_clusters().collect::<Vec<_>>(), n, planner)
}

impl Cluster {
    /// By clusters of these sizes, in as few stages as can be or one more; none for what one block holds with ease.
    fn by(sizes: &[u32], n: u64, planner: &Planner<'_>) -> Vec<Plan> {
        if n <= planner.max_points() / 4 {
            return Vec::new();
        }
        let mut plans = Vec::new();
        // Twice as large on one side, a digit keeps mirror images of lines that fold in one block.
        let pairs = |&size: &u32| {
            let folds = size.is_power_of_two() && n > planner.max_points();
            let more = if folds { vec![[2 * size, size], [size, 2 * size]] } else { Vec::new() };
            std::iter::once([size, size]).chain(more)
        };
        for middle in sizes.iter().flat_map(pairs) {
            let (square, size) = (middle.map(u64::from).iter().product(), middle[0].min(middle[1]));
            if !n.is_multiple_of(square) || n / u64::from(size) > planner.max_points() {
                continue;
            }
            let ends = n / square;
            let mut firsts: Vec<u64> = (2..ends).filter(|first| ends.is_multiple_of(*first)).collect();
            // What is transformed first makes the rows that are written. Of two that are expected to be alike the one with long
            // rows took up to 15% less; 12 x 12 x 12 x 27 is an exception.
            if !n.is_power_of_two() {
                firsts.reverse();
            }
            for first in firsts {
                for (first, last) in sides(first, ends / first) {
                    plans.push(Plan::MixedRadix([&first[..], &middle, &last].concat()));
                }
            }
        }
        let fewest = plans.iter().map(stages).min().unwrap_or(0);
        plans.retain(|plan| stages(plan) <= fewest + 1);
        plans
    }
}

/// Radices of both ends: one or two each, or one that is larger, which saves a stage.
fn sides(first: u64, last: u64) -> Vec<(Vec<u32>, Vec<u32>)> {
    let ways = |n: u64| {
        let wide = WIDE.iter().find(|&&radix| u64::from(radix) == n).map(|&radix| vec![radix]);
        split(n).into_iter().chain(wide).collect::<Vec<_>>()
    };
    let lasts = ways(last);
    ways(first)
        .into_iter()
        .flat_map(|first| lasts.iter().map(move |last| (first.clone(), last.clone())))
        .collect()
}

fn stages(plan: &Plan) -> usize {
    if let Plan::MixedRadix(radices) = plan { radices.len() } else { 0 }
}

/// Radices for dimensions that a cluster transforms together, slowest first: one dimension is transformed before
/// the blocks exchange, up to a radix of the cluster's size, a later one after, from such a radix on. `None`: as
/// it was. Rows of the last dimension stay as whole as can be.
pub fn joined(lengths: &[u64], precision: Precision, limits: &Limits) -> Vec<Vec<Option<Vec<u32>>>> {
    // As few stages as can be: a cluster may cut a digit that is larger than it.
    let mut all = vec![lengths.iter().map(|&n| split(n)).collect()];
    // Other numbers of blocks than powers of two are worth it only where one block cannot hold the dimensions.
    let points: u64 = lengths.iter().product();
    let large = points > max_points(limits, precision);
    let sizes = tile::line_cluster_sizes(limits).skip(1);
    for size in sizes.filter(|size| large || size.is_power_of_two()) {
        for first in 0..lengths.len() {
            for second in first + 1..lengths.len() {
                let rest = |d: usize| -> Option<Vec<u32>> {
                    let whole = lengths[d].is_multiple_of(size.into());
                    if whole { split(lengths[d] / u64::from(size)) } else { None }
                };
                let (Some(early), Some(late)) = (rest(first), rest(second)) else { continue };
                let mut radices = vec![None; lengths.len()];
                radices[first] = Some([&early[..], &[size]].concat());
                radices[second] = Some([&[size], &late[..]].concat());
                all.push(radices);
            }
        }
    }
    all
}

/// One radix, or two that are as even as possible.
fn split(n: u64) -> Option<Vec<u32>> {
    if n == 1 {
        return Some(Vec::new());
    }
    let radix = |r: &u32| has_codelet(u64::from(*r));
    if let Some(&one) = RADICES.iter().find(|&&r| u64::from(r) == n) {
        return Some(vec![one]);
    }
    let pairs = RADICES.iter().filter(|&&r| n.is_multiple_of(r.into()) && r <= 16);
    pairs
        .filter_map(|&r| RADICES.iter().find(|&&other| u64::from(other) * u64::from(r) == n).map(|&q| (r, q)))
        .filter(|(r, q)| radix(r) && radix(q) && *q <= 16)
        .min_by_key(|(r, q)| r.abs_diff(*q))
        .map(|(r, q)| vec![r.max(q), r.min(q)])
}
