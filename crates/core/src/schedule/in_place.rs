//! A dimension in several passes that need no memory beside the data: each transforms digits where they stand, and
//! some swap digits with their twins as they store. Here and not with the solvers, because it says where results lie
//! between passes.

use crate::error::Error;
use crate::pass::{Axis, Method, Pass, PassDim, Twiddle};
use crate::plan::{Plan, Twins};

use super::{Place, Scheduler, on_chip_method};

impl Scheduler<'_> {
    /// The passes of dimension `d`, all but the first within the destination.
    pub(super) fn in_place(
        &mut self,
        d: usize,
        (parts, early): (&[Plan], &[u64]),
        lengths: &[u64],
        src: &Place,
        dst: &Place,
    ) -> Result<(), Error> {
        let points: Vec<u64> = parts.iter().map(Plan::len).collect();
        let refused = || super::no_plan(lengths[d], self.limits);
        let twins = Twins::new(&points, early).ok_or_else(refused)?;
        let weights = twins.weights();
        let mut at: Vec<usize> = (0..twins.sizes.len()).collect();
        let mut done = 1;
        for (i, (part, group)) in parts.iter().zip(&twins.groups).enumerate() {
            let from = if i == 0 { src } else { dst };
            let mut to = at.clone();
            twins.moving(i).for_each(|(digit, twin)| to.swap(digit, twin));
            let digit = |j: usize, twiddle: u64| PassDim {
                twiddle,
                whole: from.array == dst.array && at[j] != to[j],
                of: Some(d as u16),
                counts: [weights[at[j]], weights[to[j]]],
                ..PassDim::new(
                    twins.sizes[j],
                    from.strides[d] * weights[at[j]] as i64,
                    dst.strides[d] * weights[to[j]] as i64,
                )
            };
            let own: Vec<PassDim> = group.clone().map(|j| digit(j, 0)).collect();
            let mut batch = self.others(d, lengths, from, dst);
            batch.extend(joined((0..group.start).map(|j| digit(j, 0)), continues));
            let rest = (group.end..at.len()).map(|j| digit(j, weights[j]));
            batch.extend(joined(rest, continues));
            let last = i + 1 == parts.len();
            let axis = self.axis_of(part, own).ok_or_else(refused)?;
            let mut pass = self.new_pass(vec![axis], batch, from, dst);
            pass.twiddle = (!last).then(|| Twiddle::after(lengths[d] / done));
            self.suit_digits(part, &mut pass);
            self.passes.push(pass);
            done *= part.len();
            at = to;
        }
        Ok(())
    }

    /// An axis of these digits; `None` where they are not products of the plan's radices.
    fn axis_of(&self, part: &Plan, own: Vec<PassDim>) -> Option<Axis> {
        // The fastest digit of the input is the slowest of the output.
        let digits = joined(own.into_iter(), |slow, fast| {
            let follows = slow.is == fast.n as i64 * fast.is && fast.os == slow.n as i64 * slow.os;
            let counts = [fast.counts[0], slow.counts[1]];
            follows.then(|| PassDim { n: slow.n * fast.n, is: fast.is, counts, ..*slow })
        });
        if let [dim] = digits[..] {
            return Some(Axis::new(PassDim { whole: false, ..dim }, on_chip_method(part)));
        }
        let dim = PassDim::new(part.len(), digits.last()?.is, digits.first()?.os);
        let sizes: Vec<u64> = digits.iter().map(|digit| digit.n).collect();
        let method = match part {
            Plan::MixedRadix(radices) if fit(radices, &sizes) => Method::MixedRadix(radices.clone()),
            // Radices of the whole length say nothing about its digits.
            Plan::MixedRadix(_) => Method::MixedRadix(self.radices(&sizes).into_iter().next()?),
            _ => return None,
        };
        Some(Axis { dim, method, digits })
    }

    /// Radices for a row of digits, the few that are best guesses: all those of a digit, with the first of others.
    fn radices(&self, sizes: &[u64]) -> Vec<Vec<u32>> {
        let mut all: Vec<Vec<u32>> = vec![Vec::new()];
        for &size in sizes {
            let stages: Vec<Vec<u32>> = (self.planner.stages(size, 0).into_iter())
                .filter_map(|plan| if let Plan::MixedRadix(radices) = plan { Some(radices) } else { None })
                .collect();
            all = all
                .iter()
                .flat_map(|head| stages.iter().map(move |tail| [head, &tail[..]].concat()))
                .collect();
            all.truncate(MOST_RADICES);
        }
        all
    }

    /// As [`Scheduler::suit`], for digits that have strides of their own.
    fn suit_digits(&self, part: &Plan, pass: &mut Pass) {
        if pass.axes[0].digits.is_empty() {
            return self.suit(part, pass);
        }
        let sizes: Vec<u64> = pass.axes[0].digits.iter().map(|digit| digit.n).collect();
        let plans: Vec<Plan> = self.radices(&sizes).into_iter().map(Plan::MixedRadix).collect();
        self.cheapest(&plans, pass);
    }
}

/// Radices that are tried for one pass at most.
const MOST_RADICES: usize = 12;

/// Whether digits of these sizes are products of radices that follow each other.
fn fit(radices: &[u32], sizes: &[u64]) -> bool {
    let mut radices = radices.iter();
    sizes.iter().all(|&size| {
        let mut done = 1;
        while done < size
            && let Some(&radix) = radices.next()
        {
            done *= u64::from(radix);
        }
        done == size
    }) && radices.next().is_none()
}

/// One dimension in place of two of which the first goes on where the second ends.
fn continues(slow: &PassDim, fast: &PassDim) -> Option<PassDim> {
    let n = fast.n as i64;
    let follows = slow.is == n * fast.is
        && slow.os == n * fast.os
        && slow.twiddle == fast.n * fast.twiddle
        && slow.whole == fast.whole;
    follows.then(|| PassDim { n: slow.n * fast.n, ..*fast })
}

/// Neighbours made one wherever `join` can.
fn joined(
    dims: impl Iterator<Item = PassDim>,
    join: impl Fn(&PassDim, &PassDim) -> Option<PassDim>,
) -> Vec<PassDim> {
    let mut all: Vec<PassDim> = Vec::new();
    for dim in dims {
        match all.last_mut().and_then(|last| join(last, &dim).map(|both| (last, both))) {
            Some((last, both)) => *last = both,
            None => all.push(dim),
        }
    }
    all
}
