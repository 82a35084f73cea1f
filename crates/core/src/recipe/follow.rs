//! Following a recipe, and refusing one that the search could not come to for this problem and device.

use std::ops::Range;

use crate::cost::{self, Ends};
use crate::error::Error;
use crate::lower::tile::{self, Choice, Tile};
use crate::plan::Plan;
use crate::planner::Planner;
use crate::problem::Problem;
use crate::schedule::bridge;
use crate::schedule::fuse::{self, Fuse, Offer};
use crate::schedule::{self, Schedule};
use crate::solve::SOLVERS;
use crate::target::Limits;

use super::alike::alike;
use super::{Recipe, narrowed, refused, takes_plans, widths};

impl Recipe {
    /// The schedule and the tiles that a recipe asks for, if the search offers them for this problem and device.
    pub(crate) fn followed(
        &self,
        problem: &Problem,
        limits: &Limits,
    ) -> Result<(Schedule, Vec<Choice>), Error> {
        let schedule = self.scheduled(problem, limits)?;
        let (got, wanted) = (self.tiles.len(), schedule.passes.len());
        if got != wanted {
            return Err(refused(format!("it has {got} tiles for {wanted} passes")));
        }
        let offers = self.offers(&schedule, problem, limits)?;
        let find = |at: usize| {
            // The offer brings the tiles of what is fused.
            let fused = offers.iter().find(|offer| (offer.fuse.first..offer.fuse.first + 2).contains(&at));
            if let Some(offer) = fused {
                return Ok(offer.tiles[at - offer.fuse.first].clone());
            }
            let (tile, pass) = (&self.tiles[at], &schedule.passes[at]);
            tile::assess(pass, tile, limits).ok_or_else(|| refused(format!("no search comes to {tile:?}")))
        };
        let choices = (0..self.tiles.len()).map(find).collect::<Result<_, _>>()?;
        let fuse = |(schedule, choices), offer| fuse::apply(schedule, choices, offer, problem);
        let (schedule, choices): (Schedule, Vec<Choice>) =
            offers.iter().cloned().fold((schedule, choices), fuse);
        let launches = schedule.fused.iter().map(|(fuse, _)| fuse.first..fuse.first + 2);
        match launches.clone().find(|launch| !has_room(&schedule, &choices, launch.clone(), limits)) {
            Some(launch) => Err(refused(format!("there is no room for {:?}", choices[launch.start].tile))),
            None => Ok((schedule, choices)),
        }
    }

    /// The schedule by the recipe's plans.
    pub(super) fn scheduled(&self, problem: &Problem, limits: &Limits) -> Result<Schedule, Error> {
        if !widths(limits).contains(&self.within) {
            return Err(refused("what may share a pass is of another device".into()));
        }
        let narrowed = narrowed(limits, self.within);
        if !takes_plans(problem) {
            let chosen = schedule::schedule(problem, &narrowed)?;
            let all = std::iter::once(chosen).chain(schedule::others(problem, &narrowed));
            let same = |schedule: &Schedule| schedule.plans == self.plans && self.fits(schedule);
            let found = all.into_iter().find(same);
            let same = found.or_else(|| schedule::by_parts(problem, &narrowed, &self.plans).filter(same));
            return same.ok_or_else(|| refused("it is not scheduled by these plans".into()));
        }
        let (got, wanted) = (self.plans.len(), problem.transform.len());
        if got != wanted {
            return Err(refused(format!("it has {got} plans for {wanted} dimensions")));
        }
        let planner = Planner::new(&narrowed, problem.precision).between(Ends::of(problem));
        for (dim, plan) in problem.transform.iter().zip(&self.plans) {
            let offered = |plans: Vec<Plan>| plans.iter().any(|offer| alike(offer, plan, &planner));
            let known = SOLVERS.iter().any(|solver| offered(solver.plans(dim.n, &planner)))
                || offered(planner.in_passes(dim.n))
                || offered(bridge::in_two(dim.n, &planner));
            if !known {
                return Err(refused(format!("no solver offers {plan} for length {}", dim.n)));
            }
        }
        let own = schedule::by_plans(problem, &narrowed, self.plans.clone())?;
        if self.fits(&own) {
            return Ok(own);
        }
        let by_groups = |groups| schedule::by_groups(problem, &narrowed, self.plans.clone(), groups).ok();
        let same = groupings(&self.plans).into_iter().filter_map(by_groups).find(|other| self.fits(other));
        Ok(same.unwrap_or(own))
    }

    /// Whether it has a tile for each pass: the same plans may be more passes in one way than in another, or be repeated over more
    /// dimensions.
    fn fits(&self, schedule: &Schedule) -> bool {
        let grouped = |at: usize| {
            let within = |fuse: &&Fuse| fuse.together > 1 && (fuse.first..fuse.first + 2).contains(&at);
            usize::from(self.fused.iter().any(|fuse| within(&fuse)))
        };
        let mut both = schedule.passes.iter().zip(&self.tiles).enumerate();
        schedule.passes.len() == self.tiles.len()
            && both.all(|(at, (pass, tile))| tile.batch.len() == pass.batch.len() + grouped(at))
    }

    /// The offers that the recipe's pairs of passes take, if a search could come to their tiles.
    pub(super) fn offers(
        &self,
        schedule: &Schedule,
        problem: &Problem,
        limits: &Limits,
    ) -> Result<Vec<Offer>, Error> {
        let apart = self.fused.windows(2).all(|pair| pair[0].first.saturating_add(2) <= pair[1].first);
        if !apart {
            return Err(refused("it fuses a pass with two others".into()));
        }
        let find = |fuse: &Fuse| {
            let tiles: Option<&[Tile; 2]> = self.tiles.get(fuse.first..).and_then(<[Tile]>::first_chunk);
            let offer = tiles.and_then(|[a, b]| fuse::asked(schedule, *fuse, [a, b], problem, limits));
            offer.ok_or_else(|| refused(format!("the search does not offer {fuse:?}")))
        };
        self.fused.iter().map(find).collect()
    }
}

/// Ways for dimensions to share passes that are looked at: all of six dimensions, and of more the likeliest.
const MOST_GROUPINGS: usize = 32;

/// Ways for neighbouring dimensions to share passes, the last dimensions first; what is not stages alone shares none.
fn groupings(plans: &[Plan]) -> Vec<Vec<Vec<usize>>> {
    let mut all: Vec<Vec<Vec<usize>>> = vec![Vec::new()];
    for d in (0..plans.len()).rev() {
        let joined = all.iter().filter_map(|groups| {
            let (last, before) = groups.split_last()?;
            let staged = [d].iter().chain(last).all(|&d| matches!(plans[d], Plan::MixedRadix(_)));
            staged.then(|| [before, &[[&[d], &last[..]].concat()]].concat())
        });
        let alone = all.iter().map(|groups| [&groups[..], &[vec![d]]].concat());
        all = joined.chain(alone).take(MOST_GROUPINGS).collect();
    }
    all
}

/// Whether a multiprocessor has room for as many blocks of a launch's passes as the first one's tile asks for.
pub(super) fn has_room(
    schedule: &Schedule,
    choices: &[Choice],
    mut launch: Range<usize>,
    limits: &Limits,
) -> bool {
    let resident = choices[launch.start].tile.resident;
    resident.is_none()
        || launch.all(|at| {
            let tile = Tile { resident, ..choices[at].tile.clone() };
            cost::occupancy(&schedule.passes[at], &tile, limits).is_some()
        })
}
