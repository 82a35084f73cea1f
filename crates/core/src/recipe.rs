//! What the compiler was free to choose for a problem, as data: which plans, what may share a pass, which tiles. The
//! cost model's choice is one recipe of many; [`candidates`] lists the best few, for whoever can time them, and
//! [`Compiled::by`](crate::program::Compiled::by) follows one.
//!
//! Alternatives come from the same search as the model's own choice, within limits that are narrower than the
//! device's: so a new identity or a new kind of tile is found here without being named. For the same reason a recipe
//! from outside is followed only if the search offers its plans and shared launches, and could come to its tiles with
//! other numbers to try; it is refused otherwise.

mod alike;
mod follow;
mod near;
mod texts;

use serde::{Deserialize, Serialize};

use crate::cost::{self, Ends};
use crate::error::Error;
use crate::lower::tile::{self, Choice, Search, Tile};
use crate::pass::Pass;
use crate::plan::Plan;
use crate::planner::Planner;
use crate::problem::{Kind, Problem};
use crate::schedule::bridge;
use crate::schedule::fuse::{self, Fuse, Offer};
use crate::schedule::{self, Schedule};
use crate::solve::SOLVERS;
use crate::target::Limits;

pub use near::near;

/// Everything that the compiler was free to choose.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// Plan of each transform dimension, in the problem's order; as text, an s-expression.
    #[serde(with = "texts")]
    pub plans: Vec<Plan>,
    /// What a tile of dimensions that share a pass may take; `None`: all that the device has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Within>,
    /// Tile of each pass.
    pub tiles: Vec<Tile>,
    /// Pairs of passes that share a launch, the first ones rising.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fused: Vec<Fuse>,
}

/// Limits narrower than the device's, for what is one pass and what are two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Within {
    /// Blocks of a cluster.
    pub cluster: u32,
    /// Shared memory of a block, in bytes.
    pub shared_bytes: u32,
}

/// A recipe, and what the cost model thinks of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The recipe.
    pub recipe: Recipe,
    /// Copies that the cost model expects.
    pub copies: f64,
}

/// Plans of one length that are tried at most.
const MOST_PLANS: usize = 8;
/// Schedules whose tiles are varied.
const MOST_VARIED: usize = 4;
/// Tiles of one pass that are tried at most.
const MOST_TILES: usize = 8;

/// The best few ways to compile a problem by the cost model, at most `most`: first the one that
/// [`compile`](crate::compile) takes, then the others by their estimates.
///
/// # Errors
///
/// As [`compile`](crate::compile).
///
/// # Examples
///
/// ```
/// use warpfft_core::{program::Compiled, recipe::candidates, request::Fft, target::Limits};
///
/// let (problem, limits) = (Fft::new([1000]).batch(64).build()?, Limits::h200());
/// let found = candidates(&problem, &limits, 10)?;
/// assert!(found.len() > 1);
/// let other = Compiled::by(&found[1].recipe, &problem, &limits)?;
/// assert_eq!(other.program.problem, problem);
/// # Ok::<(), warpfft_core::Error>(())
/// ```
pub fn candidates(problem: &Problem, limits: &Limits, most: usize) -> Result<Vec<Candidate>, Error> {
    let mut all = searched(problem, limits)?;
    let first = all.remove(0);
    all.sort_by(|a, b| a.copies().total_cmp(&b.copies()));
    all.insert(0, first);
    distinct(&mut all);
    lead(&mut all);
    let best = all.iter().filter(|draft| draft.schedule.fused.is_empty()).take(MOST_VARIED);
    let varied: Vec<Draft> = best.flat_map(|draft| draft.varied(problem, limits)).collect();
    let first = all.remove(0);
    all.extend(varied);
    all.sort_by(|a, b| a.copies().total_cmp(&b.copies()));
    all.insert(0, first);
    distinct(&mut all);
    lead(&mut all);
    all.truncate(most);
    Ok(all.iter().map(|draft| Candidate { recipe: draft.recipe(), copies: draft.copies() }).collect())
}

/// What the search comes to, with and without passes that share a launch: the cost model's choice, then what is chosen within
/// narrower limits, and by other plans where these can be told.
fn searched(problem: &Problem, limits: &Limits) -> Result<Vec<Draft>, Error> {
    let estimate = Draft::new(problem, limits, None, None)?;
    let mut drafts = vec![estimate.fused(problem, limits), estimate];
    for within in widths(limits) {
        let Ok(own) = Draft::new(problem, limits, within, None) else { continue };
        let found = if takes_plans(problem) {
            by_others(problem, limits, within, &own.schedule)
        } else {
            let others = schedule::others(problem, &narrowed(limits, within)).into_iter();
            let others = others.filter(|other| *other != own.schedule);
            let others: Vec<Draft> =
                others.filter_map(|schedule| Draft::of(schedule, problem, limits, within).ok()).collect();
            std::iter::once(own).chain(others).collect()
        };
        for draft in found {
            drafts.push(draft.fused(problem, limits));
            drafts.push(draft);
        }
    }
    Ok(drafts)
}

/// Whether plans can be told. Real data and convolutions make them on the way.
fn takes_plans(problem: &Problem) -> bool {
    problem.kind == Kind::Complex && problem.filter.is_none()
}

/// By plans in just the radices that they name, and by others: what is best for one dimension of a length is tried for all
/// of that length.
fn by_others(problem: &Problem, limits: &Limits, within: Option<Within>, schedule: &Schedule) -> Vec<Draft> {
    let own = &schedule.plans;
    let mut lengths: Vec<u64> = problem.transform.iter().map(|dim| dim.n).collect();
    lengths.sort_unstable();
    lengths.dedup();
    let narrowed = narrowed(limits, within);
    let mut lists = vec![own.clone()];
    // What is one pass has none to share.
    if schedule.passes.len() > 1 {
        lists.extend(bridge::ways(problem, &Planner::new(&narrowed, problem.precision), own));
    }
    for n in lengths {
        for plan in ranked(n, problem, &narrowed, MOST_PLANS) {
            let mut plans = own.clone();
            plans.iter_mut().filter(|own| own.len() == n).for_each(|own| *own = plan.clone());
            lists.push(plans);
        }
    }
    lists.iter().filter_map(|plans| Draft::new(problem, limits, within, Some(plans)).ok()).collect()
}

/// A recipe with what came of it.
struct Draft {
    within: Option<Within>,
    schedule: Schedule,
    choices: Vec<Choice>,
    /// Complex elements of as many bytes as the problem reads or writes, by which passes weigh.
    elements: u64,
}

impl Draft {
    /// Schedules by plans, or by those that the cost model prefers, with the cheapest tiles.
    fn new(
        problem: &Problem,
        limits: &Limits,
        within: Option<Within>,
        plans: Option<&[Plan]>,
    ) -> Result<Self, Error> {
        let narrowed = narrowed(limits, within);
        let schedule = match plans {
            Some(plans) => schedule::by_plans(problem, &narrowed, plans.to_vec())?,
            None => schedule::schedule(problem, &narrowed)?,
        };
        Self::of(schedule, problem, limits, within)
    }

    /// A schedule with the cheapest tiles.
    fn of(
        schedule: Schedule,
        problem: &Problem,
        limits: &Limits,
        within: Option<Within>,
    ) -> Result<Self, Error> {
        let choose = |pass| tile::choose(pass, limits).ok_or_else(|| refused("a pass has no tile".into()));
        let choices = schedule.passes.iter().map(choose).collect::<Result<_, _>>()?;
        Ok(Self { within, schedule, choices, elements: elements(problem) })
    }

    fn copies(&self) -> f64 {
        fuse::copies(&self.schedule.passes, &self.choices, self.elements)
    }

    /// The same with those passes fused that are expected to gain by it.
    fn fused(&self, problem: &Problem, limits: &Limits) -> Self {
        let (schedule, choices) =
            fuse::cheapest(self.schedule.clone(), self.choices.clone(), problem, limits);
        Self { schedule, choices, ..*self }
    }

    /// With one more pair of passes fused.
    fn with(&self, offer: Offer, problem: &Problem) -> Self {
        let (schedule, choices) = fuse::apply(self.schedule.clone(), self.choices.clone(), offer, problem);
        Self { schedule, choices, ..*self }
    }

    /// The same, of which nothing is fused, with other tiles, one pass at a time, or with two passes fused.
    fn varied(&self, problem: &Problem, limits: &Limits) -> Vec<Self> {
        let offers = fuse::offers(&self.schedule, problem, limits, Search::Likely).into_iter();
        let mut all: Vec<Self> = offers.map(|offer| self.with(offer, problem)).collect();
        for (at, pass) in self.schedule.passes.iter().enumerate() {
            for choice in tiles(pass, limits).into_iter().take(MOST_TILES) {
                let mut choices = self.choices.clone();
                choices[at] = choice;
                all.push(Self { schedule: self.schedule.clone(), choices, ..*self });
            }
        }
        all
    }

    fn recipe(&self) -> Recipe {
        let tiles = self.choices.iter().map(|choice| choice.tile.clone()).collect();
        let fused = self.schedule.fused.iter().map(|&(fuse, _)| fuse).collect();
        Recipe { plans: self.schedule.plans.clone(), within: self.within, tiles, fused }
    }

    /// Whether it leads to the same program.
    fn same(&self, other: &Self) -> bool {
        let tiles = |draft: &Self| draft.choices.iter().map(|choice| choice.tile.clone()).collect::<Vec<_>>();
        self.schedule == other.schedule && tiles(self) == tiles(other)
    }
}

/// Complex elements of as many bytes as the problem reads or writes: two reals are one.
fn elements(problem: &Problem) -> u64 {
    let together = if matches!(problem.kind, Kind::Complex | Kind::Zoom(_)) { 1 } else { 2 };
    problem.elements().div_ceil(together)
}

/// Keeps the first of those that lead to the same program.
fn distinct(drafts: &mut Vec<Draft>) {
    let mut kept: Vec<Draft> = Vec::with_capacity(drafts.len());
    for draft in drafts.drain(..) {
        if !kept.iter().any(|earlier| earlier.same(&draft)) {
            kept.push(draft);
        }
    }
    *drafts = kept;
}

/// Brings the best of every number of launches and passes to the front, behind the first draft: between them the cost model
/// is least sure.
fn lead(drafts: &mut Vec<Draft>) {
    let mut sorts = Vec::new();
    let place = |draft: &Draft| {
        let sort = (draft.schedule.passes.len(), draft.schedule.fused.len());
        let leads = !sorts.contains(&sort);
        if leads {
            sorts.push(sort);
        }
        leads
    };
    let (leaders, others): (Vec<Draft>, Vec<Draft>) = std::mem::take(drafts).into_iter().partition(place);
    drafts.extend(leaders.into_iter().chain(others));
}

/// What passes may take: all that the device has, one block, and parts of its shared memory.
fn widths(limits: &Limits) -> Vec<Option<Within>> {
    let mut all = vec![None];
    let shared = limits.shared_bytes;
    let clustered = limits.max_cluster > 1;
    let narrower = [(limits.max_cluster / 2, 1), (1, 1), (1, 2), (1, 4)];
    let narrower = narrower.into_iter().filter(|&(cluster, part)| part > 1 || (clustered && cluster > 0));
    all.extend(narrower.map(|(cluster, part)| Some(Within { cluster, shared_bytes: shared / part })));
    all
}

fn narrowed(limits: &Limits, within: Option<Within>) -> Limits {
    match within {
        Some(Within { cluster, shared_bytes }) => {
            Limits { max_cluster: cluster, shared_bytes, ..limits.clone() }
        }
        None => limits.clone(),
    }
}

/// Plans that some solver offers for a length, the cheapest first.
fn ranked(n: u64, problem: &Problem, limits: &Limits, most: usize) -> Vec<Plan> {
    let (precision, ends) = (problem.precision, Ends::of(problem));
    let planner = Planner::new(limits, precision).between(ends);
    // Passes in place leave what they go on with in the caller's own type.
    let capped = problem.max_workspace.is_some() && problem.keeps_results();
    let solvers = SOLVERS.iter().filter(|solver| capped || !solver.in_place());
    let offered = solvers.flat_map(|solver| solver.plans(n, &planner));
    let mut plans: Vec<(f64, Plan)> = offered
        .filter_map(|plan| Some((cost::of_plan_between(&plan, limits, precision, ends)?, plan)))
        .collect();
    plans.sort_by(|a, b| a.0.total_cmp(&b.0));
    plans.dedup_by(|a, b| a.1 == b.1);
    plans.into_iter().map(|(_, plan)| plan).take(most).collect()
}

/// Tiles that are the cheapest within narrower limits each, the cheapest first.
fn tiles(pass: &Pass, limits: &Limits) -> Vec<Choice> {
    let threads = [64, 128, 256, 512, limits.max_threads].map(|n| n.min(limits.max_threads));
    let registers =
        [40, 64, 96, 128, limits.registers_per_thread].map(|n| n.min(limits.registers_per_thread));
    let pairs = threads.iter().flat_map(|&t| registers.iter().map(move |&r| (t, r)));
    let mut narrower: Vec<Limits> = pairs
        .map(|(threads, registers)| Limits {
            max_threads: threads,
            registers_per_thread: registers,
            ..limits.clone()
        })
        .collect();
    narrower
        .extend([2, 4, 8].map(|part| Limits { shared_bytes: limits.shared_bytes / part, ..limits.clone() }));
    let clusters = [1, 2, 4, 8].into_iter().filter(|&size| size < limits.max_cluster);
    narrower.extend(clusters.map(|size| Limits { max_cluster: size, ..limits.clone() }));
    let mut found: Vec<Choice> = Vec::new();
    for choice in narrower.iter().filter_map(|limits| tile::choose(pass, limits)) {
        // What fits less fits the device; the others have a driver that makes room where the model sees none.
        let known = found.iter().any(|other| other.tile == choice.tile);
        if !known && cost::occupancy(pass, &choice.tile, limits).is_some() {
            found.push(choice);
        }
    }
    found.sort_by(|a, b| a.cost.total_cmp(&b.cost));
    found
}

fn refused(detail: String) -> Error {
    Error::Recipe { detail }
}
