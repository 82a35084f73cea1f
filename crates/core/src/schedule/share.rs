//! Which transform dimensions share a pass.

use crate::lower::tile;
use crate::plan::Plan;
use crate::solve::cluster;

use super::Scheduler;

impl Scheduler<'_> {
    /// Transform dimensions that share a pass: as many as fit a tile, the last ones first; dimensions that take
    /// several passes stand alone. Where a tile takes a cluster, their plans may change to suit it.
    pub(super) fn groups(&self, plans: &mut [Plan]) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for d in (0..plans.len()).rev() {
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
        let own = self.tile(group, plans);
        if own.as_ref().is_some_and(|choice| choice.tile.cluster == 1) {
            return Some(plans.to_vec());
        }
        let mut best = own.map(|choice| (choice.cost, plans.to_vec()));
        let lengths: Vec<u64> = group.iter().map(|&d| plans[d].len()).collect();
        for radices in cluster::joined(&lengths, self.limits) {
            let mut plans = plans.to_vec();
            for (&d, radices) in group.iter().zip(radices) {
                if let Some(radices) = radices {
                    plans[d] = Plan::MixedRadix(radices);
                }
            }
            if let Some(choice) = self.tile(group, &plans)
                && best.as_ref().is_none_or(|(least, _)| choice.cost < *least)
            {
                best = Some((choice.cost, plans));
            }
        }
        let (cost, shared) = best?;
        let apart = self.tile(&group[1..], plans)?.cost + self.tile(&group[..1], plans)?.cost;
        (cost < apart).then_some(shared)
    }

    fn tile(&self, group: &[usize], plans: &[Plan]) -> Option<tile::Choice> {
        let (input, output) = (self.caller_side(false), self.caller_side(true));
        tile::choose(&self.pass(group, plans, &input, &output), self.limits)
    }
}
