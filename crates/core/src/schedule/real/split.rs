//! Which complex dimensions are transformed in the pass of the lines, by what that is expected to take.

use crate::cost;
use crate::lower::tile;
use crate::plan::Plan;
use crate::problem::{Dim, Kind, Problem, half};
use crate::schedule::fuse;
use crate::solve::cluster;

use super::Chain;
use super::line::Line;

/// Ways to choose the stages of dimensions that share a pass that are tried at most.
const MOST_ALIKE: usize = 8;

/// Which dimensions are transformed beside lines of reals, and which are left.
pub(super) struct Split {
    pub beside: Vec<(Dim, Plan)>,
    /// How the lines' points are transformed, where not as they best are by themselves.
    pub own: Option<Plan>,
    pub rest: Vec<Dim>,
}

impl Chain<'_> {
    /// Which dimensions the lines' pass transforms beside them, and which are left: those closest to the lines go
    /// with them as far as the cost model finds that it pays.
    pub(super) fn split(
        &self,
        n: u64,
        line: impl Fn(Vec<(Dim, Plan)>, &[Dim]) -> Line,
        others: impl Fn(&[Dim]) -> Option<Problem>,
    ) -> Split {
        let problem = self.problem;
        let dims = self.others();
        let mut best = Split { beside: Vec::new(), own: None, rest: dims.clone() };
        // A dimension that is read again and again has no place of its own to be transformed in.
        if dims.is_empty() || dims.iter().any(|dim| dim.is == 0) {
            return best;
        }
        let left = |rest: &[Dim]| {
            let Some(mut problem) = others(rest) else { return Some(0.0) };
            problem.canonicalise();
            let schedule = crate::schedule::schedule(&problem, self.limits).ok()?;
            let costs =
                schedule.passes.iter().map(|pass| tile::choose(pass, self.limits).map(|choice| choice.cost));
            costs.sum::<Option<f64>>()
        };
        let repeated = |rest: &[Dim]| rest.iter().chain(&problem.batch).copied().collect::<Vec<Dim>>();
        let alone = self.cost(&line(Vec::new(), &repeated(&dims)));
        let apart = alone.and_then(|cost| Some((cost, left(&dims)?)));
        let mut least = apart.map_or(f64::INFINITY, |(lines, left)| self.in_a_row(n, &dims, lines, left));
        for count in 1..=dims.len() {
            let (rest, beside) = dims.split_at(dims.len() - count);
            let rests = left(rest);
            let alone = self.stages_of(beside).into_iter().map(|plans| (plans, None));
            for (plans, own) in alone.chain(self.joined(beside, n)) {
                let beside: Vec<(Dim, Plan)> = beside.iter().copied().zip(plans).collect();
                let tried = Line { own: own.clone(), ..line(beside.clone(), &repeated(rest)) };
                let Some(cost) = self.cost(&tried).and_then(|cost| Some(cost + rests?)) else { continue };
                if cost < least {
                    least = cost;
                    best = Split { beside, own, rest: rest.to_vec() };
                }
            }
        }
        best
    }

    /// Copies of lines of `n` reals and of the passes over other dimensions, `left` in all, one after the other: a
    /// spectrum may stay in the cache on its way to the next dimension, and on its way back from an only one.
    fn in_a_row(&self, n: u64, dims: &[Dim], lines: f64, left: f64) -> f64 {
        let apart = lines + left;
        let back = matches!(self.problem.kind, Kind::ComplexToReal(_));
        let Some(next) = dims.last().filter(|_| dims.len() == 1 || !back) else { return apart };
        let item = half(n) * next.n * self.problem.precision.complex_bytes();
        let one = left / dims.len() as f64;
        let fused = fuse::pays(self.problem, self.limits)
            .then(|| cost::fused::of_split(lines + one, item, self.limits))
            .flatten();
        fused.map_or(apart, |fused| apart.min(fused + left - one))
    }

    /// Plans for dimensions, and for the points of lines of `n` reals, with which a cluster may hold them together.
    pub(super) fn joined(&self, dims: &[Dim], n: u64) -> Vec<(Vec<Plan>, Option<Plan>)> {
        if !n.is_multiple_of(2) {
            return Vec::new();
        }
        let lengths: Vec<u64> = dims.iter().map(|dim| dim.n).chain([n / 2]).collect();
        let known = |radices: Vec<Option<Vec<u32>>>| {
            let mut plans = radices.into_iter().map(|own| own.map(Plan::MixedRadix)).collect::<Vec<_>>();
            let own = plans.pop()?;
            // What has no radices of its own for a cluster takes those of its first plan.
            let beside = plans
                .into_iter()
                .zip(dims)
                .map(|(plan, dim)| plan.or_else(|| self.planner.stages(dim.n, 0).into_iter().next()));
            Some((beside.collect::<Option<Vec<Plan>>>()?, own))
        };
        cluster::joined(&lengths, self.problem.precision, self.limits).into_iter().filter_map(known).collect()
    }

    /// Plans for dimensions that share a pass, equal lengths alike.
    pub(super) fn stages_of(&self, dims: &[Dim]) -> Vec<Vec<Plan>> {
        let mut all: Vec<Vec<Plan>> = vec![Vec::new()];
        for (at, dim) in dims.iter().enumerate() {
            let same = dims[..at].iter().position(|other| other.n == dim.n);
            let own = self.planner.stages(dim.n, 0);
            all = all
                .into_iter()
                .flat_map(|known| {
                    let plans = same.map_or_else(|| own.clone(), |same| vec![known[same].clone()]);
                    plans.into_iter().map(move |plan| known.iter().cloned().chain([plan]).collect())
                })
                .take(MOST_ALIKE)
                .collect();
        }
        all
    }
}
