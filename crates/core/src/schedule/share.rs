//! Which transform dimensions share a pass.

use crate::cost::{self, Ends};
use crate::lower::tile::{self, Choice};
use crate::pass::Pass;
use crate::plan::Plan;
use crate::solve::cluster;

use super::{Scheduler, few, fuse};

/// Ways to choose the stages of dimensions that share a pass that are tried at most.
const MOST_ALIKE: usize = 24;

impl Scheduler<'_> {
    /// Transform dimensions that share a pass: as many as fit a tile, the last ones first; dimensions that take
    /// several passes stand alone. Where a tile takes a cluster, their plans may change to suit it. Dimensions before
    /// `first` have no part in it.
    pub(super) fn groups(&self, plans: &mut [Plan], first: usize) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for d in (first..plans.len()).rev() {
            if let Some(group) = groups.last_mut()
                && matches!(plans[d], Plan::MixedRadix(_))
                && group.iter().all(|&d| matches!(plans[d], Plan::MixedRadix(_)))
            {
                let mut larger = group.clone();
                larger.insert(0, d);
                if let Some(shared) = self.shared(&larger, plans) {
                    plans.clone_from_slice(&shared);
                    *group = larger;
                    continue;
                }
            }
            groups.push(vec![d]);
        }
        groups
    }

    /// Plans with which dimensions share a pass; `None` where they do better apart.
    fn shared(&self, group: &[usize], plans: &[Plan]) -> Option<Vec<Plan>> {
        let mut best: Option<(Choice, Vec<Plan>)> = None;
        let mut try_it = |plans: Vec<Plan>| {
            if let Some(choice) = self.tile(group, &plans)
                && best.as_ref().is_none_or(|(least, _)| choice.cost < least.cost)
            {
                best = Some((choice, plans));
            }
        };
        try_it(plans.to_vec());
        let lengths: Vec<u64> = group.iter().map(|&d| plans[d].len()).collect();
        if self.suits {
            for radices in self.radices_together(&lengths) {
                try_it(with_radices(group, plans, &radices));
            }
        }
        let (Choice { tile, cost }, shared) = best?;
        let moved = cost::moved(2, self.problem.precision, Ends::of(self.problem));
        let apart = moved * (self.tile(&group[1..], plans)?.cost + self.tile(&group[..1], plans)?.cost);
        let apart = apart * few::overlapped(self.problem, &self.whole(group, &shared), &tile, self.limits);
        // Two passes may share a launch, where an item is all that both transform.
        let item = lengths.iter().product::<u64>() * self.problem.precision.complex_bytes();
        let pays = fuse::pays(self.problem, self.limits);
        let fused = pays.then(|| cost::fused::of_split(apart, item, self.limits)).flatten();
        (cost < fused.map_or(apart, |fused| fused.min(apart))).then_some(shared)
    }

    /// Radices for dimensions that share a pass: stages that are best for rows alone need not be where several dimensions share the
    /// threads.
    pub(super) fn radices_together(&self, lengths: &[u64]) -> Vec<Vec<Option<Vec<u32>>>> {
        let joined = cluster::joined(lengths, self.problem.precision, self.limits);
        self.alike(lengths).into_iter().chain(joined).collect()
    }

    /// Radices for dimensions that share a pass, each length in those of one of its plans of the fewest stages.
    fn alike(&self, lengths: &[u64]) -> Vec<Vec<Option<Vec<u32>>>> {
        let mut all: Vec<Vec<Option<Vec<u32>>>> = vec![vec![None; lengths.len()]];
        let mut known = Vec::new();
        for &n in lengths {
            if known.contains(&n) {
                continue;
            }
            known.push(n);
            let plans = self.planner.stages(n, 0);
            let choices = plans.iter().filter_map(|plan| match plan {
                Plan::MixedRadix(radices) => Some(radices),
                _ => None,
            });
            all = choices
                .flat_map(|radices| {
                    all.iter().map(|known| {
                        let own = known.iter().zip(lengths);
                        own.map(|(old, &len)| if len == n { Some(radices.clone()) } else { old.clone() })
                            .collect()
                    })
                })
                .take(MOST_ALIKE)
                .collect();
        }
        all
    }

    fn tile(&self, group: &[usize], plans: &[Plan]) -> Option<Choice> {
        tile::choose(&self.whole(group, plans), self.limits)
    }

    /// The pass of a group from the input to the output.
    fn whole(&self, group: &[usize], plans: &[Plan]) -> Pass {
        self.pass(group, plans, &self.caller_side(false), &self.caller_side(true))
    }
}

/// Plans with other radices for those dimensions of a group that have them.
fn with_radices(group: &[usize], plans: &[Plan], radices: &[Option<Vec<u32>>]) -> Vec<Plan> {
    let mut plans = plans.to_vec();
    for (&d, radices) in group.iter().zip(radices) {
        if let Some(radices) = radices {
            plans[d] = Plan::MixedRadix(radices.clone());
        }
    }
    plans
}
