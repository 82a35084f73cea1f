//! What differs from a recipe in one thing: the tile of one pass, how many of its blocks share a multiprocessor, the stages of one
//! dimension, how two passes share a launch, or whose tiles come when. Who times these, and goes on from the fastest, comes to
//! what the cost model did not think of.

use std::num::NonZeroU32;

use rayon::prelude::*;

use crate::cost::{self, Ends};
use crate::error::Error;
use crate::lower::fused;
use crate::lower::tile::{self, Search, Tile};
use crate::plan::Plan;
use crate::planner::Planner;
use crate::problem::Problem;
use crate::program::Compiled;
use crate::schedule::fuse;
use crate::target::Limits;

use super::follow::has_room;
use super::{Candidate, Draft, Recipe, distinct, narrowed, ranked, takes_plans};

/// Tiles of one pass at most, plans of one dimension by other stages, and orders of the same stages.
const TILES: usize = 48;
const PLANS: usize = 48;
const ORDERS: usize = 24;

/// All recipes that differ from this one in one thing, the likely best first.
///
/// # Errors
///
/// The recipe is none for this problem and device.
///
/// # Examples
///
/// ```
/// use warpfft_core::recipe::{candidates, near};
/// use warpfft_core::{request::Fft, target::Limits};
///
/// let (problem, limits) = (Fft::new([1000]).batch(64).build()?, Limits::h200());
/// let first = candidates(&problem, &limits, 1)?.remove(0).recipe;
/// assert!(near(&first, &problem, &limits)?.iter().all(|other| other.recipe != first));
/// # Ok::<(), warpfft_core::Error>(())
/// ```
pub fn near(recipe: &Recipe, problem: &Problem, limits: &Limits) -> Result<Vec<Candidate>, Error> {
    let (schedule, choices) = recipe.followed(problem, limits)?;
    let own = Draft { within: recipe.within, schedule, choices, elements: super::elements(problem) };
    let mut all = other_tiles(&own, limits);
    all.extend(other_launches(recipe, &own, problem, limits)?);
    if takes_plans(problem) {
        all.extend(other_stages(recipe, &own, problem, limits));
    }
    all.retain(|draft| !draft.same(&own));
    all.sort_by(|a, b| a.copies().total_cmp(&b.copies()));
    let unforeseen = other_residents(recipe, &own, problem, limits)?.into_iter().chain(other_turns(&own));
    all.splice(0..0, unforeseen);
    distinct(&mut all);
    let candidate = |draft: &Draft| Candidate { recipe: draft.recipe(), copies: draft.copies() };
    Ok(all.iter().map(candidate).filter(|other| other.recipe != *recipe).collect())
}

/// One block more or less on a multiprocessor than the kernels ask for. What the assembler makes of the registers, and whether a block
/// more hides waits, no model knows for sure: 33 x 33 x 33 takes 1.73 copies by four blocks and 1.60 by five, 2003 1.72 by two
/// and 1.67 by one.
fn other_residents(
    recipe: &Recipe,
    own: &Draft,
    problem: &Problem,
    limits: &Limits,
) -> Result<Vec<Draft>, Error> {
    let compiled = Compiled::by(recipe, problem, limits)?;
    let passes = &own.schedule.passes;
    let starts = |at: usize| own.schedule.fused.iter().any(|(fuse, _)| fuse.first == at);
    let with = |at: usize| {
        let pair = starts(at);
        let tile = &own.choices[at].tile;
        let wanted = |tile: &Tile| match pair {
            true => {
                let (passes, tiles) = ([&passes[at], &passes[at + 1]], [tile, &own.choices[at + 1].tile]);
                cost::fused::told(passes, tiles, limits)
            }
            false => cost::occupancy(&passes[at], tile, limits).map_or(1, |took| took.told),
        };
        let (ours, expected) = (wanted(tile), wanted(&Tile { resident: None, ..tile.clone() }));
        let kernel = compiled.program.launches[compiled.parts[at].launch].kernel;
        let told = compiled.program.kernels[kernel].min_blocks;
        // Where values leave no room for what is wanted, the kernel asks for less, whatever more is wanted.
        let more = (told == 0 || told >= ours).then_some(ours + 1);
        let others = more.into_iter().chain(told.checked_sub(1));
        others.filter_map(move |blocks| {
            let resident = Some(NonZeroU32::new(blocks)?).filter(|_| blocks != expected);
            let mut choices = own.choices.clone();
            choices[at].tile.resident = resident;
            let launch = at..at + 1 + usize::from(pair);
            let fits = has_room(&own.schedule, &choices, launch, limits);
            fits.then(|| Draft { schedule: own.schedule.clone(), choices, ..*own })
        })
    };
    let second = |at: usize| at > 0 && starts(at - 1);
    Ok((0..passes.len()).filter(|&at| !second(at)).flat_map(with).collect())
}

/// Tiles of two passes in one launch that take turns where they do not, or the other way round: 1024 x 1024 in bf16 takes 15% less
/// so, and 11% more in f32.
fn other_turns(own: &Draft) -> Vec<Draft> {
    let with = |at: usize| {
        let mut schedule = own.schedule.clone();
        let (fuse, ring) = &mut schedule.fused[at];
        fuse.woven = !fuse.woven;
        ring.woven = fuse.woven;
        let pair = fuse.first..fuse.first + 2;
        let tiles = [0, 1].map(|i| &own.choices[pair.start + i].tile);
        let passes = &own.schedule.passes[pair];
        let even = fused::takes_turns([&passes[0], &passes[1]], tiles, ring);
        even.then(|| Draft { schedule, choices: own.choices.clone(), ..*own })
    };
    (0..own.schedule.fused.len()).filter_map(with).collect()
}

/// Another tile of one pass that has a launch of its own.
fn other_tiles(own: &Draft, limits: &Limits) -> Vec<Draft> {
    let shares =
        |at: &usize| own.schedule.fused.iter().any(|(fuse, _)| (fuse.first..fuse.first + 2).contains(at));
    let apart = (0..own.schedule.passes.len()).filter(|at| !shares(at));
    let with = |at: usize| {
        let choices = tile::all(&own.schedule.passes[at], limits).into_iter().take(TILES);
        choices.map(move |choice| {
            let mut choices = own.choices.clone();
            choices[at] = choice;
            Draft { schedule: own.schedule.clone(), choices, ..*own }
        })
    };
    apart.flat_map(with).collect()
}

/// The same passes with one more pair in a launch, one pair in another way, or each in its own.
fn other_launches(
    recipe: &Recipe,
    own: &Draft,
    problem: &Problem,
    limits: &Limits,
) -> Result<Vec<Draft>, Error> {
    let schedule = recipe.scheduled(problem, limits)?;
    let known = recipe.offers(&schedule, problem, limits)?;
    let choices: Option<Vec<_>> = schedule
        .passes
        .iter()
        .zip(&recipe.tiles)
        .map(|(pass, tile)| tile::assess(pass, tile, limits).or_else(|| tile::choose(pass, limits)))
        .collect();
    let Some(choices) = choices else { return Ok(Vec::new()) };
    let apart = Draft { within: own.within, schedule, choices, elements: own.elements };
    let overlaps = |a: usize, b: usize| a.abs_diff(b) < 2;
    let with = |offer: fuse::Offer| {
        let mut offers: Vec<_> =
            known.iter().filter(|known| !overlaps(known.fuse.first, offer.fuse.first)).cloned().collect();
        offers.push(offer);
        offers.sort_by_key(|offer| offer.fuse.first);
        let apply = |draft: Draft, offer| draft.with(offer, problem);
        offers
            .into_iter()
            .fold(Draft { schedule: apart.schedule.clone(), choices: apart.choices.clone(), ..apart }, apply)
    };
    let woven = |first: usize| known.iter().any(|known| known.fuse.first == first && known.fuse.woven);
    let as_known = |offer: fuse::Offer| {
        let woven = woven(offer.fuse.first);
        offer.with(None, woven)
    };
    let offers = fuse::offers(&apart.schedule, problem, limits, Search::Wide).into_iter();
    let mut all: Vec<Draft> = offers.map(as_known).map(with).collect();
    all.push(apart);
    Ok(all)
}

/// One dimension, or all of its length, by other stages: those that solvers offer, and the same in other orders. Tiles are the
/// recipe's where they fit, and the cost model's.
fn other_stages(recipe: &Recipe, own: &Draft, problem: &Problem, limits: &Limits) -> Vec<Draft> {
    let narrowed = narrowed(limits, recipe.within);
    let planner = Planner::new(&narrowed, problem.precision).between(Ends::of(problem));
    let mut lists: Vec<Vec<Plan>> = Vec::new();
    for (d, dim) in problem.transform.iter().enumerate() {
        let mut others = ranked(dim.n, problem, &narrowed, PLANS);
        others.extend(reordered(&recipe.plans[d], &planner));
        for other in others {
            for everywhere in [false, true] {
                let mut plans = recipe.plans.clone();
                let takes = |at: usize| at == d || (everywhere && problem.transform[at].n == dim.n);
                (0..plans.len()).filter(|&at| takes(at)).for_each(|at| plans[at] = other.clone());
                if !lists.contains(&plans) {
                    lists.push(plans);
                }
            }
        }
    }
    let drafts = |plans: &Vec<Plan>| {
        let Ok(draft) = Draft::new(problem, limits, recipe.within, Some(plans)) else { return Vec::new() };
        let mut all = vec![draft.fused(problem, limits)];
        if draft.choices.len() == own.choices.len() {
            let passes = draft.schedule.passes.iter();
            let kept = passes.zip(&own.choices).zip(&draft.choices);
            let kept = kept.map(|((pass, own), choice)| {
                tile::assess(pass, &own.tile, limits).unwrap_or_else(|| choice.clone())
            });
            let choices = kept.collect();
            all.push(Draft { schedule: draft.schedule.clone(), choices, ..draft });
        }
        all.push(draft);
        all
    };
    lists.par_iter().flat_map_iter(drafts).collect()
}

/// A plan with the stages of one of its parts in another order, or other stages of a part that is a pass.
fn reordered(plan: &Plan, planner: &Planner<'_>) -> Vec<Plan> {
    let replaced = |parts: &[Plan], at: usize, part: Plan| {
        let mut parts = parts.to_vec();
        parts[at] = part;
        parts
    };
    match plan {
        Plan::MixedRadix(radices) => {
            let mut all = Vec::new();
            orders(radices, &mut Vec::new(), &mut all);
            all.into_iter().map(Plan::MixedRadix).collect()
        }
        Plan::Split(parts) => {
            let others = |part: &Plan| {
                let mut all = reordered(part, planner);
                all.extend(planner.stages(part.len(), 1).into_iter().take(PLANS));
                all
            };
            let at = |at: usize| others(&parts[at]).into_iter().map(move |part| replaced(parts, at, part));
            (0..parts.len()).flat_map(at).map(Plan::Split).collect()
        }
        Plan::PrimeFactor(parts) => {
            let at = |at: usize| {
                reordered(&parts[at], planner).into_iter().map(move |part| replaced(parts, at, part))
            };
            (0..parts.len()).flat_map(at).map(Plan::PrimeFactor).collect()
        }
        Plan::Bluestein { n, inner } => {
            let with = |inner| Plan::Bluestein { n: *n, inner: Box::new(inner) };
            reordered(inner, planner).into_iter().map(with).collect()
        }
        Plan::Rader { p, inner } => {
            let with = |inner| Plan::Rader { p: *p, inner: Box::new(inner) };
            reordered(inner, planner).into_iter().map(with).collect()
        }
        Plan::Decimated { radix, rows } => {
            let with = |rows| Plan::Decimated { radix: *radix, rows: Box::new(rows) };
            reordered(rows, planner).into_iter().map(with).collect()
        }
        Plan::InPlace { .. } => Vec::new(),
    }
}

/// The distinct orders of radices, a few of many.
fn orders(rest: &[u32], so_far: &mut Vec<u32>, found: &mut Vec<Vec<u32>>) {
    if rest.is_empty() {
        found.push(so_far.clone());
        return;
    }
    for (at, &radix) in rest.iter().enumerate() {
        if found.len() >= ORDERS || rest[..at].contains(&radix) {
            continue;
        }
        let mut others = rest.to_vec();
        others.remove(at);
        so_far.push(radix);
        orders(&others, so_far, found);
        so_far.pop();
    }
}
