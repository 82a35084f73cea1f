//! To the frequencies, through a product, and back: as many dimensions as a block holds go there, through the product and
//! back in one pass, from the first on; the others go out before, as they would by themselves, and home after it. What fits
//! the chip is thus one pass, larger images are three. What is padded is not read, what is zero or cropped is not moved
//! between the passes (`schedule/window.rs`). A first dimension that does not fit on the chip goes by columns, as a chirp's
//! convolution does (`schedule/convolution.rs`).
//!
//! Reals with a filter that keeps reals real go two lines as one complex number: what comes out of the real parts is the
//! real part of what comes out. A function looks at one part after the other.

use crate::cost;
use crate::error::Error;
use crate::lower::tile;
use crate::pass::{CoprimePart, Factors, Method, PartKind, Pass};
use crate::plan::Plan;
use crate::planner::Planner;
use crate::problem::{Dim, Direction, Format, Placement, Problem};
use crate::solve::padding;
use crate::target::Limits;

use super::convolution::By;
use super::{Cause, Detour, Place, Schedule, Scheduler, no_plan, on_chip_method};

/// Schedules a problem with a filter.
pub(super) fn schedule(problem: &Problem, limits: &Limits) -> Result<Schedule, Error> {
    let planner = Planner::new(limits, problem.precision);
    let mut whole = Schedule {
        passes: Vec::new(),
        regions: Vec::new(),
        plans: Vec::new(),
        fused: Vec::new(),
        detours: Vec::new(),
    };
    // The first dimension is one that there is something to do along.
    let problem = &problem.clone().validated()?;
    for (at, part) in parts(problem).into_iter().enumerate() {
        if at > 0 {
            let pass = Some(whole.passes.len());
            whole.detours.push(Detour { cause: Cause::ArrayLeft, pass, region: None });
        }
        let mut scheduler = Scheduler::new(&part, limits, &planner, true);
        let plans = match part.blocks() {
            Some(blocks) => scheduler.by_blocks(&blocks)?,
            None => scheduler.filter()?,
        };
        whole.passes.extend(scheduler.passes);
        // What one part has left between its passes the next one may overwrite.
        for (at, elements) in scheduler.regions.into_iter().enumerate() {
            match whole.regions.get_mut(at) {
                Some(known) => *known = elements.max(*known),
                None => whole.regions.push(elements),
            }
        }
        whole.plans = plans;
    }
    let (_, needed) = whole.workspace(problem.precision);
    match problem.max_workspace {
        Some(allowed) if needed > allowed => Err(Error::Workspace { needed, allowed }),
        _ => Ok(whole),
    }
}

/// A problem as complex ones: reals in pairs, and what is left over alone.
fn parts(problem: &Problem) -> Vec<Problem> {
    let paired = problem.filter.as_ref().filter(|_| problem.keeps_reals()).and_then(|filter| {
        // A number that each run gives may be odd.
        let shared = |&d: &usize| filter.batch[d] == 0 && !problem.batch[d].at_run;
        // Of an odd number one is left over: of a longer dimension that is less.
        (0..problem.batch.len()).filter(shared).max_by_key(|&d| problem.batch[d].n)
    });
    let Some(d) = paired else { return vec![problem.clone()] };
    let Dim { n, is, os, .. } = problem.batch[d];
    let number = (problem.transform.len() + d) as u16;
    let mut pairs = problem.clone();
    pairs.batch[d] = Dim::new(n / 2, 2 * is, 2 * os);
    pairs.functions = problem.functions.of_pairs(number);
    (pairs.input, pairs.output) = (Format::Apart(is), Format::Apart(os));
    let mut all = vec![pairs];
    if n % 2 == 1 {
        let last = n as i64 - 1;
        let mut alone = problem.clone();
        alone.batch[d].n = 1;
        alone.functions = problem.functions.at_index(Some(number), n - 1);
        alone.input_offset = alone.input_offset.wrapping_add_signed(last * is);
        alone.output_offset = alone.output_offset.wrapping_add_signed(last * os);
        all.push(alone);
    }
    all
}

impl Scheduler<'_> {
    /// All passes, and the plans of the dimensions.
    fn filter(&mut self) -> Result<Vec<Plan>, Error> {
        let problem = self.problem;
        let (input, output) = (self.caller_side(false), self.caller_side(true));
        let all: Vec<usize> = (0..problem.transform.len()).collect();
        // Elements that move in place would be overwritten before others have read them.
        let moves = problem.placement == Placement::InPlace && problem.moves();
        if all.len() > 1
            && !moves
            && let Some((plans, pass)) = self.turn_on_chip(&all, &self.points_of(&all), &input, &output)
        {
            self.passes.push(pass);
            self.look(&all, 0, [&input, &output]);
            self.finish();
            return Ok(plans);
        }
        let others = &problem.transform[1..];
        let plan = |dim: &Dim| self.planner.best(dim.n).ok_or_else(|| no_plan(dim.n, self.limits));
        // The first dimension has no plan of its own.
        let mut plans = vec![Plan::MixedRadix(Vec::new())];
        plans.extend(others.iter().map(plan).collect::<Result<Vec<Plan>, Error>>()?);
        if others.is_empty() {
            self.turn(&mut plans[0], &input, &output)?;
        } else {
            let between = self.workspace_of_all(&output);
            let groups = self.groups(&mut plans, 1);
            let mut at = &input;
            for group in &groups {
                let first = self.passes.len();
                self.group(group, &plans, at, &between)?;
                self.look_in(group, first, at);
                group.iter().for_each(|&d| self.held[d] = problem.transform[d].n);
                at = &between;
            }
            self.turn(&mut plans[0], &between, &between)?;
            self.direction = Direction::Inverse;
            for (i, group) in groups.iter().enumerate().rev() {
                let first = self.passes.len();
                let to = if i == 0 { &output } else { &between };
                self.group(group, &plans, &between, to)?;
                self.look_out(group, first, to);
            }
        }
        self.finish();
        Ok(plans)
    }

    /// A region that holds every frequency of all dimensions but the first, and of that what input or output hold.
    fn workspace_of_all(&mut self, like: &Place) -> Place {
        let sides = [false, true].map(|output| super::held(self.problem, output));
        let mut lengths: Vec<u64> = sides[0].iter().zip(&sides[1]).map(|(&a, &b)| a.max(b)).collect();
        let others = self.problem.transform.iter().zip(&mut lengths).skip(1);
        others.for_each(|(dim, length)| *length = dim.n);
        self.region(&lengths, like)
    }

    /// The first dimension there, through the product and back; says by which stages.
    fn turn(&mut self, plan: &mut Plan, src: &Place, dst: &Place) -> Result<(), Error> {
        let n = self.problem.transform[0].n;
        let first = self.passes.len();
        let lengths = self.points_of(&[0]);
        if let Some((mut own, pass)) = self.turn_on_chip(&[0], &lengths, src, dst) {
            self.passes.push(pass);
            *plan = own.swap_remove(0);
        } else {
            let parts = self.parts_of(n).ok_or_else(|| no_turn(n, self.limits))?;
            self.convolution(0, By::Filter, &parts, &lengths, src, dst);
            *plan = Plan::Split(parts);
        }
        self.look_in(&[0], first, src);
        self.look_out(&[0], first, dst);
        Ok(())
    }

    /// The cheapest way to convolve along some dimensions in one pass, the first of them outermost; `None`: the chip does
    /// not hold them.
    pub(super) fn turn_on_chip(
        &self,
        dims: &[usize],
        lengths: &[u64],
        src: &Place,
        dst: &Place,
    ) -> Option<(Vec<Plan>, Pass)> {
        let points = dims.iter().try_fold(1_u64, |all, &d| all.checked_mul(lengths[d]))?;
        if points > self.planner.max_convolution() {
            return None;
        }
        let mut best: Option<(f64, Vec<Plan>, Pass)> = None;
        for stages in stages_of_all(dims.iter().map(|&d| lengths[d])) {
            let plans: Vec<Plan> = stages.into_iter().map(Plan::MixedRadix).collect();
            let mut pass = self.pass(dims, &plans, src, dst);
            for (axis, plan) in pass.axes.iter_mut().zip(&plans) {
                axis.method = there_and_back(plan);
            }
            self.filtered(&mut pass, dims, &[1]);
            let Some(choice) = tile::choose(&pass, self.limits) else { continue };
            if best.as_ref().is_none_or(|(least, ..)| choice.cost < *least) {
                best = Some((choice.cost, plans, pass));
            }
        }
        best.map(|(_, plans, pass)| (plans, pass))
    }

    /// Parts of a length whose lines do not fit on the chip: columns, and last what does.
    fn parts_of(&self, n: u64) -> Option<Vec<Plan>> {
        let known = padding::in_passes(n, self.planner);
        let exact = known.into_iter().find(|parts| parts.iter().map(Plan::len).product::<u64>() == n);
        exact.or_else(|| {
            let middles = crate::math::factor::divisors(n).into_iter().rev();
            let two = |last: u64| {
                let held = |radices: &Vec<u32>| self.planner.holds_middle(radices);
                let middle = padding::stages_of(last).into_iter().find(held)?;
                let columns = self.planner.on_chip(n / last)?;
                let plain = matches!(columns, Plan::MixedRadix(_)) && self.planner.takes_columns(n / last);
                plain.then(|| vec![columns, Plan::MixedRadix(middle)])
            };
            middles.filter(|&last| last < n && last > 1).find_map(two)
        })
    }

    /// Gives a pass that convolves some dimensions its filter. `digits` are the weights in the frequency of the first of
    /// them of what the pass is repeated over, behind the other dimensions, and last of its axis.
    pub(super) fn filtered(&self, pass: &mut Pass, dims: &[usize], digits: &[u64]) {
        let problem = self.problem;
        let Some(filter) = &problem.filter else { return };
        let strides: Vec<i64> = filter.transform.iter().chain(&filter.batch).copied().collect();
        let others =
            strides.iter().enumerate().filter(|(at, _)| !dims.contains(at)).map(|(_, &stride)| stride);
        let (last, before) = digits.split_last().unwrap_or((&1, &[]));
        let own = before.iter().map(|&weight| strides[dims[0]] * weight as i64);
        pass.batch.iter_mut().zip(others.chain(own)).for_each(|(dim, stride)| dim.filter = stride);
        for (axis, &d) in pass.axes.iter_mut().zip(dims) {
            axis.dim.filter = strides[d];
        }
        pass.axes[0].dim.filter *= *last as i64;
        let (offset, span) = (filter.offset, problem.filter_span().end);
        pass.filter = Some(Factors { offset, span, conjugate: filter.conjugate });
    }
}

/// An axis that goes there, through the product and back.
fn there_and_back(plan: &Plan) -> Method {
    let Plan::MixedRadix(radices) = plan else { return on_chip_method(plan) };
    let kind = PartKind::Filter;
    Method::Coprime(vec![CoprimePart {
        n: plan.len(),
        kind,
        chirp: None,
        band: None,
        radices: radices.clone(),
    }])
}

/// Stages of each of some lengths, in every combination of the few that promise to be cheapest: of several lengths, fewer.
fn stages_of_all(lengths: impl Iterator<Item = u64>) -> Vec<Vec<Vec<u32>>> {
    let mut each: Vec<Vec<Vec<u32>>> = lengths.map(padding::stages_of).collect();
    if each.len() > 1 {
        let cost = |radices: &Vec<u32>| radices.iter().map(|&radix| cost::padded_stage(radix)).sum::<f64>();
        for own in &mut each {
            own.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
            own.truncate(FEW);
        }
    }
    let mut all = vec![Vec::new()];
    for own in each {
        let with = |known: &Vec<Vec<u32>>| {
            own.iter().map(|radices| [&known[..], std::slice::from_ref(radices)].concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).collect();
    }
    all
}

/// Ways to spell each of several lengths.
const FEW: usize = 2;

fn no_turn(n: u64, limits: &Limits) -> Error {
    Error::Plan {
        problem: format!("a convolution of {n} points"),
        reason: format!("{n} is no product of factors of up to 32 that {} holds", limits.name),
        would_work: "pad it to a length with small prime factors, or the cpu device".into(),
    }
}
