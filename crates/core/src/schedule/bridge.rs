//! A dimension that two passes share. A volume whose planes are too large for one pass took three, one for each dimension; a large
//! plane took two, of rows that a block holds with ease and of columns that a cluster has to. But a dimension may go in two parts, as
//! lines of several passes do ([`Plan::Split`]): the first with the dimension within it, the last with the one around it, if there is
//! one. Then there are two passes, each over about as many points as the root of all.
//!
//! Of `y = n1 B + n2` the first pass takes `n1` and all x, whose rows lie whole in memory, and multiplies by the factors between the
//! parts; the second takes `n2` and all z, in columns over x, and stores `k1 + A k2`. If `k1 + A n2` lies between, the first leaves k1
//! and x side by side, which the second is repeated over as one, so that its tiles start with lines of memory whatever x is; and results
//! take the place of what they are made of. So what lies between may be the output, where it is another array than the input; else it is
//! a region of the workspace.

use rayon::prelude::*;

use crate::lower::tile;
use crate::math::factor;
use crate::pass::{Axis, Method, Pass, PassDim, Twiddle};
use crate::plan::Plan;
use crate::planner::Planner;
use crate::problem::Problem;
use crate::target::{Api, LINE_BYTES, Limits};

use super::{Place, Schedule, Scheduler, fuse, on_chip_method, with};

/// Part of the copies that it may take where it needs more workspace and saves no pass. Beside ways with a pass for each dimension
/// the model is 5 to 12% too high (`docs/notes/shared-dimensions.md`), so that else it has only to take less.
pub(super) const FOR_WORKSPACE: f64 = 0.97;
/// Ways to part a dimension that are looked at.
pub(super) const TRIED: usize = 8;

/// The schedule, or the cheapest by which two passes share a dimension.
pub(super) fn over(
    problem: &Problem,
    limits: &Limits,
    planner: &Planner<'_>,
    mut schedule: Schedule,
) -> Schedule {
    let several = problem.transform.len() > 1 && schedule.passes.len() > 1;
    if !several || problem.is_windowed() || !fuse::pays(problem, limits) {
        return schedule;
    }
    let copies = |schedule: &Schedule| {
        let (schedule, choices) = fuse::tiled(schedule.clone(), problem, limits)?;
        Some(fuse::copies(&schedule.passes, &choices, problem.elements()))
    };
    let Some(mut least) = copies(&schedule) else { return schedule };
    let (passes, (_, before)) = (schedule.passes.len(), schedule.workspace(problem.precision));
    let mut share = FOR_WORKSPACE;
    for plans in ways(problem, planner, &schedule.plans) {
        let Ok(other) = with(problem, limits, planner, plans) else { continue };
        let (_, needed) = other.workspace(problem.precision);
        // How well clusters and caches do on other devices is not known.
        let fewer = other.passes.len() < passes || matches!(limits.api, Api::Ptx { .. });
        if !fewer || problem.max_workspace.is_some_and(|cap| needed > cap) {
            continue;
        }
        let free = other.passes.len() < passes || needed <= before;
        let own = if free { 1.0 } else { share };
        if let Some(cost) = copies(&other).filter(|&cost| cost < least * own) {
            // Rivals of the same kind have nothing to make up for.
            (least, schedule, share) = (cost, other, 1.0);
        }
    }
    schedule
}

/// The plans of a problem with one dimension in two parts that passes over its neighbours can take, the likely best first.
pub(crate) fn ways(problem: &Problem, planner: &Planner<'_>, plans: &[Plan]) -> Vec<Vec<Plan>> {
    let whole = |d: usize| matches!(plans[d], Plan::MixedRadix(_));
    let mut all: Vec<(f64, Vec<Plan>)> = Vec::new();
    let dims = problem.transform.len();
    // Of more dimensions than two the first would leave a pass for each of the others.
    for d in usize::from(dims > 2)..dims.saturating_sub(1) {
        if !(d.saturating_sub(1)..=d + 1).all(whole) {
            continue;
        }
        let (outer, inner) = (if d > 0 { plans[d - 1].len() } else { 1 }, plans[d + 1].len());
        for plan in in_two(plans[d].len(), planner) {
            let Some([first, last]) = parts(&plan).map(|parts| parts.map(Plan::len)) else { continue };
            if let Some(guess) = guess(problem, planner, [first * inner, last * outer]) {
                let mut plans = plans.to_vec();
                plans[d] = plan;
                all.push((guess, plans));
            }
        }
    }
    all.sort_by(|(x, _), (y, _)| x.total_cmp(y));
    all.into_iter().map(|(_, plans)| plans).take(TRIED).collect()
}

/// Small where two passes are likely to take little, over rows of so many points and over columns of so many; `None`: the device holds no
/// tile of one of them.
pub(super) fn guess(problem: &Problem, planner: &Planner<'_>, points: [u64; 2]) -> Option<f64> {
    // Rows go whole, columns a line of memory wide.
    let line = LINE_BYTES / problem.precision.complex_bytes();
    let tiles = [points[0], points[1] * line];
    let most = planner.max_tile();
    let [rows, columns] = tiles.map(|tile| (tile as f64 / most as f64).log2());
    // Up to an eighth of what fits, clusters hold columns in small blocks; up to a sixteenth, a block holds rows.
    let guess = 2.0 * (columns + 3.0).max(0.0) + (rows + 4.0).max(0.0) - 0.1 * columns.min(-3.0);
    tiles.iter().all(|&tile| tile <= most).then_some(guess)
}

/// Whether clusters are to take a pass. In place these wait for one another before they store, and may not read as what nobody writes:
/// 400 x 400 x 400 took 2.47 copies so, and 2.38 from elsewhere.
pub(super) fn clustered(pass: &Pass, limits: &Limits) -> bool {
    tile::choose(pass, limits).is_some_and(|choice| choice.tile.cluster > 1)
}

/// A length in two parts that are stages on the chip.
pub(crate) fn in_two(n: u64, planner: &Planner<'_>) -> Vec<Plan> {
    let divisors = factor::divisors(n).into_iter().filter(|&first| first > 1 && first < n);
    let plan = |first| Some(Plan::Split(vec![planner.on_chip(first)?, planner.on_chip(n / first)?]));
    divisors.filter_map(plan).filter(|plan| parts(plan).is_some()).collect()
}

/// Both parts of a plan that two passes can share.
fn parts(plan: &Plan) -> Option<[&Plan; 2]> {
    let Plan::Split(parts) = plan else { return None };
    let [first, last] = &parts[..] else { return None };
    let staged = |part: &Plan| matches!(part, Plan::MixedRadix(_));
    (staged(first) && staged(last)).then_some([first, last])
}

impl Scheduler<'_> {
    /// Groups of dimensions with those joined that two passes can transform together with a dimension that both share.
    pub(super) fn bridged(&self, mut groups: Vec<Vec<usize>>, plans: &[Plan]) -> Vec<Vec<usize>> {
        let staged = |group: &&Vec<usize>| group.iter().all(|&d| matches!(plans[d], Plan::MixedRadix(_)));
        let mut at = 1;
        while at < groups.len() && !self.problem.is_windowed() {
            // The last dimensions come first.
            let (inner, outer) = (groups.get(at - 1).filter(staged), groups.get(at + 1).filter(staged));
            if let ([d], Some(inner)) = (&groups[at][..], inner)
                && parts(&plans[*d]).is_some()
            {
                let joined = |outer: &[usize]| [outer, &[*d], inner].concat();
                let with = outer.map(|outer| (1, joined(outer)));
                let without = (0, joined(&[]));
                let fits = |(_, all): &(usize, Vec<usize>)| self.joins(all, plans);
                if let Some((more, all)) = with.into_iter().chain([without]).find(fits) {
                    groups.splice(at - 1..=at + more, [all]);
                    continue;
                }
            }
            at += 1;
        }
        groups
    }

    /// Whether both passes of a group have tiles.
    fn joins(&self, group: &[usize], plans: &[Plan]) -> bool {
        let (input, output) = (self.caller_side(false), self.caller_side(true));
        let fits = |pass: &Pass| tile::choose(pass, self.limits).is_some();
        self.two_over(group, plans, [&input, &output, &output], false).iter().all(fits)
    }

    /// The two passes of a group with a dimension that both share. What lies between them is the output where that may be, but where
    /// clusters would take it from there and no one asks for little workspace.
    pub(super) fn bridge(&mut self, group: &[usize], plans: &[Plan], src: &Place, dst: &Place) {
        let mut passes = self.two_over(group, plans, [src, dst, dst], false);
        if self.suits {
            passes.iter_mut().for_each(|pass| self.suit_together(pass));
        }
        let may = src.array != dst.array && self.problem.keeps_results() && self.output_holds_all();
        let clustered = passes.last().is_some_and(|last| clustered(last, self.limits));
        if !may || (self.problem.max_workspace.is_none() && clustered) {
            let between = self.region(&self.points_of(group), dst);
            // Rows that are whole lines start with lines in either order, and in their own they are nearer to each other.
            let lines = |&d: &usize| {
                let row = between.strides[d].unsigned_abs() * self.problem.precision.complex_bytes();
                plans[d].passes() > 1 && row.is_multiple_of(LINE_BYTES)
            };
            let keeps_order = clustered && group.iter().any(lines);
            let through = self.two_over(group, plans, [src, &between, dst], keeps_order);
            let of_same_stages = |(mut pass, suited): (Pass, Pass)| {
                for (axis, own) in pass.axes.iter_mut().zip(suited.axes) {
                    axis.method = own.method;
                }
                pass
            };
            passes = through.into_iter().zip(passes).map(of_same_stages).collect();
        }
        self.passes.extend(passes);
    }

    /// Both passes, from a place through the second to the third, where parts of the shared dimension keep their order or lie as after
    /// the second pass.
    fn two_over(
        &self,
        group: &[usize],
        plans: &[Plan],
        [src, between, dst]: [&Place; 3],
        keeps_order: bool,
    ) -> Vec<Pass> {
        let lengths = self.points_of(group);
        let shared = group.iter().enumerate().find_map(|(at, &d)| Some((at, parts(&plans[d])?)));
        let Some((at, [first, last])) = shared else { return Vec::new() };
        let (d, outer, inner) = (group[at], &group[..at], &group[at + 1..]);
        // Index `n1 B + n2` where it is read, `k1 + A k2` where it is written; between the passes `k1 + A n2`, or `k1 B + n2`.
        let (a, b) = (first.len(), last.len());
        let [of_k1, of_n2] = if keeps_order { [b, 1] } else { [1, a] };
        let part = |n, [read, written]: [u64; 2], [from, to]: [&Place; 2]| PassDim {
            of: Some(d as u16),
            counts: [read, written],
            ..PassDim::new(n, from.strides[d] * read as i64, to.strides[d] * written as i64)
        };
        let whole = |dims: &[usize], [from, to]: [&Place; 2]| {
            let axis =
                |&d: &usize| Axis::new(self.repeated(d, &lengths, from, to), on_chip_method(&plans[d]));
            dims.iter().map(axis).collect::<Vec<_>>()
        };
        let around = |dims: &[usize], [from, to]: [&Place; 2], more| {
            let others = (0..lengths.len()).filter(|&other| other != d && !dims.contains(&other));
            let held = others.map(|other| self.held(other, &lengths, from, to));
            self.continued(held.chain([more]).collect())
        };
        let ends = [src, between];
        let rest = PassDim { twiddle: 1, ..part(b, [1, of_n2], ends) };
        let mut axes = vec![Axis::new(part(a, [b, of_k1], ends), on_chip_method(first))];
        axes.extend(whole(inner, ends));
        let mut one = self.new_pass(axes, around(inner, ends, rest), src, between);
        one.twiddle = Some(Twiddle::after(plans[d].len()));
        let ends = [between, dst];
        let mut axes = whole(outer, ends);
        axes.push(Axis::new(part(b, [of_n2, a], ends), on_chip_method(last)));
        let two = self.new_pass(axes, around(outer, ends, part(a, [of_k1, 1], ends)), between, dst);
        vec![one, two]
    }

    /// Has a pass over several dimensions take the radices by which it is cheapest.
    fn suit_together(&self, pass: &mut Pass) {
        let lengths: Vec<u64> = pass.axes.iter().map(|axis| axis.dim.n).collect();
        let by = |radices: Vec<Option<Vec<u32>>>| {
            let mut other = pass.clone();
            for (axis, radices) in other.axes.iter_mut().zip(radices) {
                if let Some(radices) = radices {
                    axis.method = Method::MixedRadix(radices);
                }
            }
            Some((tile::choose(&other, self.limits)?.cost, other))
        };
        let own = vec![None; lengths.len()];
        let all: Vec<_> = std::iter::once(own).chain(self.radices_together(&lengths)).collect();
        let found: Vec<_> = all.into_par_iter().filter_map(by).collect();
        // Of equals the first.
        if let Some((_, best)) = found.into_iter().min_by(|(x, _), (y, _)| x.total_cmp(y)) {
            *pass = best;
        }
    }
}
