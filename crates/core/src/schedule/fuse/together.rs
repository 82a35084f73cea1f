//! Items of several indices of a dimension that two passes are repeated over. What leaves a transform in several passes is
//! nearest to what other indices of its first parts leave: an item of one of them alone would be written in pieces
//! shorter than a sector.

use crate::cost;
use crate::math::factor;
use crate::pass::Pass;
use crate::target::{LINE_BYTES, SECTOR_BYTES};

use super::pair::{Between, Pair};

/// Ways to choose how many indices make an item that are offered at most.
const MOST_WAYS: usize = 3;

/// The dimension of both passes whose indices may be put together: of those that number the items the one with the shortest
/// step in memory, where that is less than a line.
fn near(passes: [&Pass; 2], pair: &Pair) -> Option<[usize; 2]> {
    let [a, b] = passes;
    let step = |&[x, y]: &[usize; 2]| a.batch[x].is.unsigned_abs().min(b.batch[y].os.unsigned_abs());
    let both = pair.items[0].iter().zip(&pair.items[1]).map(|(&x, &y)| [x, y]);
    let found = both.min_by_key(step).filter(|at| step(at) * pair.element_bytes < LINE_BYTES)?;
    let plain = |pass: &Pass, at: usize| {
        let dim = &pass.batch[at];
        let even = !dim.at_run && !dim.whole && dim.first == [None; 2];
        even && pass.ends.iter().all(Option::is_none) && pass.windows.iter().all(Vec::is_empty)
    };
    (plain(a, found[0]) && plain(b, found[1])).then_some(found)
}

/// How many indices may make an item: one, or enough for rows of a sector and a half at least, those with whole lines first.
pub(super) fn ways(passes: [&Pass; 2], pair: &Pair) -> Vec<u64> {
    let Some([x, y]) = near(passes, pair) else { return vec![1] };
    let (read, written) = (passes[0].batch[x], passes[1].batch[y].os);
    let (n, step) = (read.n, read.is.unsigned_abs().min(written.unsigned_abs()).max(1));
    let bytes = |indices: u64| indices * step * pair.element_bytes;
    let mut wide = factor::divisors(n);
    wide.retain(|&indices| indices > 1 && indices < n && bytes(indices) >= 3 * SECTOR_BYTES / 2);
    let lines = wide.iter().position(|&indices| bytes(indices) >= LINE_BYTES).unwrap_or(0);
    wide.truncate((lines + 1).max(MOST_WAYS));
    let first = wide.len().saturating_sub(MOST_WAYS);
    wide.drain(..first);
    std::iter::once(1).chain(wide.into_iter().rev()).collect()
}

/// Both passes with so many indices of the near dimension as a dimension of its own, which items hold, and what it is between
/// them.
pub(super) fn grouped(passes: [&Pass; 2], pair: &Pair, together: u64) -> Option<([Pass; 2], Between)> {
    let at = near(passes, pair)?;
    let grouped = |i: usize| {
        let mut pass = passes[i].clone();
        let dim = pass.batch[at[i]];
        dim.n.is_multiple_of(together).then(|| {
            let [groups, within] = dim.in_groups_of(together);
            pass.batch[at[i]] = groups;
            pass.batch.insert(at[i] + 1, within);
            pass
        })
    };
    let both = [grouped(0)?, grouped(1)?];
    let inner = &both[0].batch[at[0] + 1];
    let inner = (inner.n, inner.os);
    Some((both, inner))
}

/// Copies that the passes cost more by the rows in which results leave items of so many indices.
pub(super) fn of_rows(passes: [&Pass; 2], pair: &Pair, together: u64) -> f64 {
    let Some([_, at]) = near(passes, pair).filter(|_| together > 1) else { return 0.0 };
    let step = passes[1].batch[at].os.unsigned_abs().max(1);
    cost::fused::of_rows(together * step * pair.element_bytes)
}
