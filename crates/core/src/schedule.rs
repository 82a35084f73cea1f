//! Plan and target to passes: which axes share a tile, where intermediate results lie, what is fused where.

mod blocks;
pub(crate) mod bridge;
mod columns;
mod convolution;
mod detour;
mod few;
mod filter;
pub mod fuse;
mod in_place;
mod passes;
mod real;
mod share;
mod split;
mod told;
mod window;
mod workspace;
mod zoom;

use rayon::prelude::*;

use crate::cost::Ends;
use crate::error::Error;
use crate::function::Functions;
use crate::lower::fused::Ring;
use crate::lower::tile;
use crate::pass::{Array, Method, Operand, Pass};
use crate::plan::Plan;
use crate::planner::Planner;
use crate::problem::{Dim, Direction, Format, Kind, Placement, Problem, Storage};
use crate::target::Limits;
use convolution::By;
pub use detour::{Cause, Detour};
use fuse::Fuse;
pub(crate) use passes::on_chip_method;
pub(crate) use real::{by_parts, others};
pub(crate) use told::{by_groups, by_plans};
use window::held;

/// Passes in order, and what they need beside input and output.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    /// Passes in order.
    pub passes: Vec<Pass>,
    /// Complex elements of each region of the workspace.
    pub regions: Vec<u64>,
    /// Plan of each transform dimension, in the problem's order.
    pub plans: Vec<Plan>,
    /// Pairs of passes that share a launch, and the ring between the two.
    pub fused: Vec<(Fuse, Ring)>,
    /// What the layout asks for beyond the transforms.
    pub detours: Vec<Detour>,
}

/// Where the data lies between passes: one stride for each dimension of the problem.
#[derive(Debug, Clone)]
struct Place {
    array: Array,
    format: Format,
    offset: u64,
    span: u64,
    storage: Storage,
    strides: Vec<i64>,
}

impl Place {
    fn operand(&self) -> Operand {
        let &Self { array, format, offset, span, storage, .. } = self;
        Operand { array, format, offset, span, storage }
    }
}

/// Schedules a problem for a device.
///
/// # Errors
///
/// A length for which no solver has a plan on this device; less workspace allowed than is needed.
pub fn schedule(problem: &Problem, limits: &Limits) -> Result<Schedule, Error> {
    match problem.kind {
        Kind::Complex => {}
        Kind::Zoom(zoom) => return zoom::schedule(problem, &zoom, limits),
        _ => return real::schedule(problem, limits),
    }
    if problem.filter.is_some() {
        return filter::schedule(problem, limits);
    }
    let planner = Planner::new(limits, problem.precision).between(Ends::of(problem));
    let plan = |dim: &Dim| {
        let best = planner.best(dim.n).ok_or_else(|| no_plan(dim.n, limits))?;
        Ok(convolution::in_passes(&best, dim, problem, &planner).unwrap_or(best))
    };
    let plans = problem.transform.iter().map(plan).collect::<Result<Vec<Plan>, Error>>()?;
    let wide = with(problem, limits, &planner, plans.clone())?;
    let wide = columns::in_passes(problem, limits, &planner, wide);
    let wide = few::in_passes(problem, limits, &planner, wide);
    let wide = bridge::over(problem, limits, &planner, wide);
    let Some(allowed) = problem.max_workspace else { return Ok(wide) };
    let (_, needed) = wide.workspace(problem.precision);
    if needed <= allowed {
        return Ok(wide);
    }
    // Passes in place would leave what they go on with in the caller's own type.
    if !problem.keeps_results() {
        return Err(Error::Workspace { needed, allowed });
    }
    // Passes in place hold more on the chip or are more: they are for those who ask.
    let narrow = |plan: Plan| {
        if plan.passes() > 1 && !problem.is_windowed() {
            planner.in_place(plan.len()).unwrap_or(plan)
        } else {
            plan
        }
    };
    let schedule = with(problem, limits, &planner, plans.into_iter().map(narrow).collect())?;
    match schedule.workspace(problem.precision) {
        (_, least) if least > allowed => Err(Error::Workspace { needed: least.min(needed), allowed }),
        _ => Ok(schedule),
    }
}

/// Schedules a problem by plans whose parts may change their radices to suit the passes that they become.
pub(crate) fn suited(problem: &Problem, limits: &Limits, plans: Vec<Plan>) -> Result<Schedule, Error> {
    with(problem, limits, &Planner::new(limits, problem.precision).between(Ends::of(problem)), plans)
}

fn with(
    problem: &Problem,
    limits: &Limits,
    planner: &Planner<'_>,
    mut plans: Vec<Plan>,
) -> Result<Schedule, Error> {
    let mut scheduler = Scheduler::new(problem, limits, planner, true);
    scheduler.run(&mut plans)?;
    Ok(scheduler.scheduled(plans))
}

fn no_plan(n: u64, limits: &Limits) -> Error {
    Error::Plan {
        problem: format!("length {n}"),
        reason: format!("no identity splits it within the limits of {}", limits.name),
        would_work: "a length with smaller prime factors, or the cpu device".into(),
    }
}

/// Of so many multiprocessors one is busy at most where more blocks for the same transforms save time: with 64 transforms five of
/// seven lengths took 5 to 19% longer by clusters on an H100, with 32 none did (`docs/notes/clusters.md`).
const BUSY: u32 = 4;

struct Scheduler<'a> {
    problem: &'a Problem,
    limits: &'a Limits,
    planner: &'a Planner<'a>,
    /// Stages of the parts of a dimension may change to suit the pass that they become.
    suits: bool,
    /// Points of each dimension that memory holds at the moment, transform dimensions first.
    held: Vec<u64>,
    /// Sign of the exponent of the passes that come next.
    direction: Direction,
    regions: Vec<u64>,
    passes: Vec<Pass>,
    detours: Vec<Detour>,
}

impl<'a> Scheduler<'a> {
    fn new(problem: &'a Problem, limits: &'a Limits, planner: &'a Planner<'a>, suits: bool) -> Self {
        let (held, direction) = (held(problem, false), problem.direction);
        let (regions, passes, detours) = (Vec::new(), Vec::new(), Vec::new());
        Self { problem, limits, planner, suits, held, direction, regions, passes, detours }
    }
}

impl Scheduler<'_> {
    /// What came of it.
    fn scheduled(self, plans: Vec<Plan>) -> Schedule {
        let Self { passes, regions, detours, .. } = self;
        Schedule { passes, regions, plans, fused: Vec::new(), detours }
    }

    fn run(&mut self, plans: &mut [Plan]) -> Result<(), Error> {
        let groups = self.groups(plans, 0);
        let groups = self.bridged(groups, plans);
        self.run_in(groups, plans)
    }

    /// With the dimensions of each group in a pass, or two if one of them is shared.
    fn run_in(&mut self, mut groups: Vec<Vec<usize>>, plans: &mut [Plan]) -> Result<(), Error> {
        let input = self.caller_side(false);
        let output = self.caller_side(true);
        // Elements move when strides differ in place: blocks would overwrite what others still have to read, so
        // the result is gathered in the workspace first.
        let moves = self.problem.placement == Placement::InPlace && self.problem.moves();
        let gathers = moves && groups.len() < 2;
        groups.resize_with(groups.len().max(if moves { 2 } else { 1 }), Vec::new);
        // What lies between passes is kept as it is computed, and needs room for every point.
        let holds = self.problem.keeps_results() && self.output_holds_all();
        let staged = moves || (groups.len() > 1 && !holds);
        let staged = if staged { Some(self.stage(&output, moves)) } else { None };
        let last = groups.len() - 1;
        let mut at = input;
        for (i, group) in groups.iter().enumerate() {
            let target = match &staged {
                Some(staged) if i < last => staged.clone(),
                _ => output.clone(),
            };
            let first = self.passes.len();
            self.group(group, plans, &at, &target)?;
            self.look(group, first, [&at, &target]);
            group.iter().for_each(|&d| name_stages(d, &mut plans[d], &self.passes[first..]));
            at = target;
        }
        if let Some(detour) = self.detours.last_mut().filter(|_| gathers) {
            detour.pass = Some(self.passes.len() - 1);
        }
        self.finish();
        Ok(())
    }

    /// The problem's factor goes with the last pass, its functions with the first and the last.
    fn finish(&mut self) {
        let Functions { load, store } = &self.problem.functions;
        if let Some(pass) = self.passes.last_mut() {
            pass.scale *= self.problem.scale;
            pass.functions.store.clone_from(store);
        }
        if let Some(pass) = self.passes.first_mut() {
            pass.functions.load.clone_from(load);
        }
    }

    /// The caller's array on one side.
    fn caller_side(&self, output: bool) -> Place {
        let problem = self.problem;
        let dims = problem.transform.iter().chain(&problem.batch);
        let in_place = problem.placement == Placement::InPlace;
        let format = if output { problem.output } else { problem.input };
        // Imaginary parts that lie apart are behind the last element.
        let reach = if let Format::Apart(distance) = format { distance.max(0) as u64 } else { 0 };
        Place {
            array: if output || in_place { Array::Output } else { Array::Input },
            format,
            offset: if output { problem.output_offset } else { problem.input_offset },
            span: reach
                + if output || in_place { problem.output_span().end } else { problem.input_span().end },
            storage: problem.stored()[usize::from(output)],
            strides: dims.map(|dim| if output { dim.os } else { dim.is }).collect(),
        }
    }

    /// A region of the workspace that holds the problem packed, its dimensions in the order of `like`.
    fn workspace(&mut self, like: &Place) -> Place {
        let sides = [false, true].map(|output| held(self.problem, output));
        let lengths: Vec<u64> = sides[0].iter().zip(&sides[1]).map(|(&a, &b)| a.max(b)).collect();
        self.region(&lengths, like)
    }

    fn region(&mut self, lengths: &[u64], like: &Place) -> Place {
        let mut order: Vec<usize> = (0..lengths.len()).collect();
        order.sort_by_key(|&d| like.strides[d].unsigned_abs());
        let mut strides = vec![0; lengths.len()];
        let mut stride = 1_u64;
        for d in order {
            strides[d] = stride as i64;
            stride *= lengths[d];
        }
        self.regions.push(stride);
        let array = Array::Workspace((self.regions.len() - 1) as u8);
        let storage = Storage::of(self.problem.precision);
        Place { array, format: Format::Interleaved, offset: 0, span: stride, storage, strides }
    }

    fn group(&mut self, group: &[usize], plans: &[Plan], src: &Place, dst: &Place) -> Result<(), Error> {
        if let [d] = group {
            return self.axis(*d, &plans[*d], &self.points_of(&[*d]), src, dst);
        }
        if group.iter().any(|&d| plans[d].passes() > 1) {
            self.bridge(group, plans, src, dst);
            return Ok(());
        }
        let pass = self.pass(group, plans, src, dst);
        self.passes.push(pass);
        Ok(())
    }

    /// The passes of one dimension from one place to another.
    fn axis(
        &mut self,
        d: usize,
        plan: &Plan,
        lengths: &[u64],
        src: &Place,
        dst: &Place,
    ) -> Result<(), Error> {
        match plan {
            Plan::MixedRadix(_) | Plan::Rader { .. } | Plan::PrimeFactor(_) | Plan::Decimated { .. } => {
                let mut pass = self.single(d, on_chip_method(plan), lengths, src, dst);
                if self.suits && columns::are_long(&pass, self.planner) {
                    self.suit(plan, &mut pass);
                }
                if self.suits {
                    self.share_out(plan, &mut pass);
                }
                self.passes.push(pass);
            }
            Plan::Bluestein { n, inner } => match &**inner {
                Plan::MixedRadix(_) => {
                    let pass = self.single(d, on_chip_method(plan), lengths, src, dst);
                    self.passes.push(pass);
                }
                Plan::Split(parts) => {
                    let chirp = convolution::Chirp { n: *n, band: None };
                    self.convolution(d, By::Chirp(chirp), parts, lengths, src, dst);
                }
                _ => return Err(no_plan(*n, self.limits)),
            },
            Plan::InPlace { .. } if !self.problem.keeps_results() => {
                return Err(Error::Recipe { detail: "passes in place keep what they go on with".into() });
            }
            // Between its passes the output holds every point.
            Plan::InPlace { .. } if self.problem.is_windowed() => {
                return Err(no_plan(plan.len(), self.limits));
            }
            Plan::InPlace { parts, early } => self.in_place(d, (parts, early), lengths, src, dst)?,
            Plan::Split(parts) => {
                let rows = self.rows(d, parts, lengths, dst);
                let mut spread = lengths.to_vec();
                spread[d] = parts[0].len() * rows;
                let scratch = (self.region(&spread, dst), rows);
                self.split(d, parts, lengths, src, &scratch, dst);
            }
        }
        Ok(())
    }

    /// Radices that are best for rows need not be for columns, which a cluster may have to hold.
    fn suit(&self, part: &Plan, pass: &mut Pass) {
        if matches!(part, Plan::MixedRadix(_)) {
            self.cheapest(&self.planner.stages(part.len(), 1), pass);
        }
    }

    /// Plans are chosen for many transforms. A few leave most of the device idle if a block holds each, which several could share.
    fn share_out(&self, part: &Plan, pass: &mut Pass) {
        let few = u64::from(self.limits.multiprocessors / BUSY);
        if !matches!(part, Plan::MixedRadix(_)) || pass.repeats() > few {
            return;
        }
        let plans = self.planner.shared(part.len());
        let leaves_room = |pass: &Pass| {
            tile::choose(pass, self.limits).is_some_and(|choice| choice.tile.blocks(pass) <= few)
        };
        if !plans.is_empty() && leaves_room(pass) {
            self.cheapest(&plans, pass);
        }
    }

    /// Has a pass take the stages of that plan by which it is cheapest, if that is cheaper than by its own.
    fn cheapest(&self, plans: &[Plan], pass: &mut Pass) {
        let by = |plan: &Plan| {
            let mut other = pass.clone();
            other.axes[0].method = on_chip_method(plan);
            Some((tile::choose(&other, self.limits)?.cost, other))
        };
        let own = tile::choose(pass, self.limits).map_or(f64::INFINITY, |choice| choice.cost);
        let others: Vec<_> = plans.par_iter().filter_map(by).collect();
        // Of equals the first.
        if let Some((cost, other)) = others.into_iter().min_by(|(x, _), (y, _)| x.total_cmp(y))
            && cost < own
        {
            *pass = other;
        }
    }
}

/// Has the plan of a dimension, or the parts of one of several passes, name the stages that these run.
fn name_stages(d: usize, plan: &mut Plan, passes: &[Pass]) {
    let parts = match plan {
        Plan::Split(parts) => parts,
        plan => std::slice::from_mut(plan),
    };
    let axes = passes.iter().filter_map(|pass| pass.axes.iter().find(|axis| axis.dim.of == Some(d as u16)));
    for (part, axis) in parts.iter_mut().zip(axes) {
        if let (Plan::MixedRadix(radices), Method::MixedRadix(own)) = (part, &axis.method) {
            radices.clone_from(own);
        }
    }
}
