//! A pass from the dimensions that it transforms and the places that it goes between.

use crate::function::Functions;
use crate::pass::{Axis, CoprimePart, Method, PartKind, Pass, PassDim};
use crate::plan::Plan;
use crate::problem::Kind;

use super::{Place, Scheduler};

impl Scheduler<'_> {
    /// One pass that transforms a group of dimensions by their on-chip plans.
    pub(super) fn pass(&self, group: &[usize], plans: &[Plan], src: &Place, dst: &Place) -> Pass {
        let lengths = self.points_of(group);
        let dim = |d: usize| self.repeated(d, &lengths, src, dst);
        let axes = group.iter().map(|&d| Axis::new(dim(d), on_chip_method(&plans[d]))).collect();
        let others = (0..lengths.len()).filter(|d| !group.contains(d));
        let batch = others.map(|d| self.held(d, &lengths, src, dst)).collect();
        self.new_pass(axes, self.continued(batch), src, dst)
    }

    pub(super) fn new_pass(&self, axes: Vec<Axis>, batch: Vec<PassDim>, src: &Place, dst: &Place) -> Pass {
        Pass {
            axes,
            batch,
            rank: self.problem.transform.len(),
            complex: self.problem.kind == Kind::Complex,
            src: src.operand(),
            dst: dst.operand(),
            precision: self.problem.precision,
            direction: self.direction,
            twiddle: None,
            load: None,
            store: None,
            scale: 1.0,
            ends: [None; 2],
            windows: Default::default(),
            filter: None,
            images: None,
            functions: Functions::default(),
        }
    }

    pub(super) fn single(&self, d: usize, method: Method, lengths: &[u64], src: &Place, dst: &Place) -> Pass {
        let dim = self.repeated(d, lengths, src, dst);
        let others = self.continued(self.others(d, lengths, src, dst));
        self.new_pass(vec![Axis::new(dim, method)], others, src, dst)
    }

    /// Dimensions that a pass is repeated over, with what continues the nearest elements of memory as one with these, so that tiles take
    /// as many neighbours as they like, from the start of a sector. Not where somebody asks which points they are.
    pub(super) fn continued(&self, dims: Vec<PassDim>) -> Vec<PassDim> {
        let told_apart = self.problem.filter.is_some() || self.problem.is_windowed();
        if told_apart || !self.problem.functions.is_empty() { dims } else { joined(dims) }
    }

    /// The dimensions that a pass over one of them is repeated over.
    pub(super) fn others(&self, d: usize, lengths: &[u64], from: &Place, to: &Place) -> Vec<PassDim> {
        let others = (0..lengths.len()).filter(|&other| other != d);
        others.map(|other| self.held(other, lengths, from, to)).collect()
    }

    /// A dimension that a pass is repeated over, of which memory holds what its windows show.
    pub(super) fn held(&self, d: usize, lengths: &[u64], from: &Place, to: &Place) -> PassDim {
        // Only functions ask which of its points these are.
        let first = if self.problem.functions.is_empty() { [None; 2] } else { self.problem.first_points(d) };
        PassDim { first, ..self.repeated(d, lengths, from, to) }
    }

    /// A dimension of the problem as a pass has it whole.
    pub(super) fn repeated(&self, d: usize, lengths: &[u64], from: &Place, to: &Place) -> PassDim {
        let batch = d.checked_sub(self.problem.transform.len()).and_then(|d| self.problem.batch.get(d));
        let at_run = batch.is_some_and(|dim| dim.at_run);
        let whole = PassDim::new(lengths[d], from.strides[d], to.strides[d]);
        PassDim { at_run, of: Some(d as u16), counts: [1, 1], ..whole }
    }
}

/// Dimensions with those joined of which one goes on where one ends whose elements are neighbours.
fn joined(mut dims: Vec<PassDim>) -> Vec<PassDim> {
    let pair = |dims: &[PassDim]| {
        let near = (0..dims.len()).filter(|&d| dims[d].is == 1 || dims[d].os == 1);
        let pairs = near.flat_map(|fast| (0..dims.len()).map(move |slow| [slow, fast]));
        pairs.filter(|[slow, fast]| slow != fast).find_map(|at| Some((at, both(at.map(|d| &dims[d]))?)))
    };
    while let Some(([slow, fast], both)) = pair(&dims) {
        dims[fast] = both;
        dims.remove(slow);
    }
    dims
}

/// The one dimension that a slow and a fast one are, if they are and nothing tells their indices apart.
pub(super) fn both([slow, fast]: [&PassDim; 2]) -> Option<PassDim> {
    let n = fast.n as i64;
    let follows = slow.is == n * fast.is && slow.os == n * fast.os && slow.n > 1 && fast.n > 1;
    let plain = |dim: &PassDim| {
        let weights = [dim.load_index, dim.store_index, dim.twiddle, dim.filter.unsigned_abs()];
        weights == [0; 4] && !dim.at_run && !dim.whole && dim.first == [None; 2]
    };
    let fits = slow.n * fast.n <= u64::from(u32::MAX);
    (follows && plain(slow) && plain(fast) && fits).then(|| PassDim::new(slow.n * fast.n, fast.is, fast.os))
}

/// How an on-chip plan runs.
pub(crate) fn on_chip_method(plan: &Plan) -> Method {
    match plan {
        Plan::MixedRadix(radices) => Method::MixedRadix(radices.clone()),
        Plan::Bluestein { .. } | Plan::Rader { .. } => Method::Coprime(vec![part_of(plan)]),
        Plan::PrimeFactor(parts) => {
            let mut parts: Vec<CoprimePart> = parts.iter().map(part_of).collect();
            // What is padded as the tile comes in has to go first.
            parts.sort_by_key(|part| part.kind != PartKind::Bluestein);
            Method::Coprime(parts)
        }
        Plan::Decimated { radix, rows } => Method::Decimated { radix: *radix, part: part_of(rows) },
        Plan::Split(_) | Plan::InPlace { .. } => {
            unreachable!("solvers put only on-chip plans where one pass is asked for")
        }
    }
}

fn part_of(plan: &Plan) -> CoprimePart {
    let (kind, stages) = match plan {
        Plan::Bluestein { inner, .. } => (PartKind::Bluestein, &**inner),
        Plan::Rader { inner, .. } => (PartKind::Rader, &**inner),
        plan => (PartKind::MixedRadix, plan),
    };
    let n = plan.len();
    let chirp = (kind == PartKind::Bluestein).then_some(n);
    CoprimePart { n, kind, chirp, band: None, radices: on_chip_method(stages).radices().to_vec() }
}
