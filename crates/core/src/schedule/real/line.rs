//! One dimension of real data: how points carry its reals, and the passes that this takes.

use crate::error::Error;
use crate::function::Functions;
use crate::lower::tile;
use crate::pass::{Array, Axis, Carry, Fold, Formula, Method, Operand, Pass, PassDim, Way, points};
use crate::plan::Plan;
use crate::problem::{Dim, Direction, Format, Kind, Placement, Problem, RealKind};
use crate::schedule::{Cause, Detour, no_plan, on_chip_method};

use super::applied::Applied;
use super::share::{Points, Share};
use super::windows::Windows;
use super::{Chain, Parting, Side};

/// Points of a line at most where it does not fit the chip: indices along it count in 32 bits.
const LONGEST: u64 = 1 << 30;

/// What lines of an even length may be expected to take in pairs, over what they take as halves, on the way to a spectrum and
/// back: by the model, channels of 512 reals took less as halves on the way back, on an H200 they took 1.24 copies, and 1.07
/// in pairs (`docs/notes/layouts.md`).
const PAIRED: [f64; 2] = [1.0, 1.05];

/// What two passes of a long line may be expected to take on the way back, over what its one pass by a cluster is expected to, which
/// takes less than that: 2^17 reals 1.69 copies and by two passes 1.73, 2^15 doubles 1.62 and 1.73 (but 2^16 doubles 1.93 and 1.80).
const CLUSTER_BACK: f64 = 0.95;

/// What becomes of dimensions that a line is repeated over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeated {
    /// Those that continue each other are one.
    Merged,
    /// Each stays by itself, those furthest apart first, as where they are merged: passes that share a launch know the same
    /// ones.
    Apart,
    /// They stay as they are named, as passes before or behind know them.
    Kept,
}

/// Lines of reals along one dimension, from one side to another.
pub(super) struct Line {
    pub formula: Formula,
    /// From a spectrum.
    pub back: bool,
    /// Reals of a line.
    pub n: u64,
    /// Complex dimensions that are transformed in the same pass, slowest first, with their plans.
    pub beside: Vec<(Dim, Plan)>,
    /// How its points are transformed; `None`: as they best are by themselves.
    pub own: Option<Plan>,
    /// What becomes of the dimensions that it is repeated over.
    pub repeated: Repeated,
    /// Lengths of the dimensions that it is repeated over.
    pub around: Vec<u64>,
    /// The one among these of which each run says how many points there are.
    pub at_run: Option<usize>,
    pub from: Side,
    pub to: Side,
    pub scale: f64,
    pub applied: Applied,
    pub windows: Windows,
}

/// A pass without factors.
pub(super) fn pass(
    problem: &Problem,
    axes: Vec<Axis>,
    batch: Vec<PassDim>,
    src: Operand,
    dst: Operand,
) -> Pass {
    Pass {
        axes,
        batch,
        rank: problem.transform.len(),
        complex: false,
        src,
        dst,
        precision: problem.precision,
        direction: Direction::Forward,
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

impl Line {
    /// Lines between two arrays, whose dimensions know their strides in both.
    pub fn between(
        formula: Formula,
        back: bool,
        own: Dim,
        beside: Vec<(Dim, Plan)>,
        around: &[Dim],
        [from, to]: [Operand; 2],
        scale: f64,
    ) -> Self {
        let lengths = around.iter().map(|dim| dim.n).collect();
        let at_run = around.iter().position(|dim| dim.at_run);
        let side = |operand, stride: fn(&Dim) -> i64| Side {
            operand,
            strides: around.iter().map(stride).collect(),
            stride: stride(&own),
        };
        let (from, to) = (side(from, |dim| dim.is), side(to, |dim| dim.os));
        Self {
            formula,
            back,
            n: own.n,
            beside,
            own: None,
            repeated: Repeated::Merged,
            around: lengths,
            at_run,
            from,
            to,
            scale,
            applied: Applied::default(),
            windows: Windows::default(),
        }
    }

    /// The direction in which points are transformed.
    fn direction(&self) -> Direction {
        let back = match self.formula {
            Formula::Spectrum { .. } => self.back,
            Formula::Reals { kind, .. } => {
                matches!(kind, RealKind::Dct3 | RealKind::Dst3 | RealKind::FromHalfComplex)
            }
        };
        if back { Direction::Inverse } else { Direction::Forward }
    }

    fn ways(&self) -> [Way; 2] {
        self.formula.ways(self.back)
    }

    /// Whether memory does not hold the points' reals in their order on a side, or parts some of them.
    pub fn folds(&self, carry: Carry, writes: bool) -> bool {
        self.ways()[usize::from(writes)] != Way::Natural || self.windows.parts(carry, writes)
    }

    fn fold(&self, share: &Share, writes: bool) -> Option<Fold> {
        let side = if writes { &self.to } else { &self.from };
        let (n, stride, of) = (self.n, side.stride, self.applied.own);
        let Share { carry, across, .. } = *share;
        let window = self.windows.own[usize::from(writes)];
        let fold = Fold { formula: self.formula, carry, n, stride, window, of, across };
        self.folds(carry, writes).then_some(fold)
    }
}

impl Chain<'_> {
    /// The passes of lines.
    pub(super) fn line(&mut self, line: &Line) -> Result<(), Error> {
        for (at, share) in self.carried(line).into_iter().enumerate() {
            if at > 0 {
                self.line_is_left();
            }
            let one = self.on_chip(line, &share);
            // What one block holds is one pass.
            let choice = one.as_ref().and_then(|(pass, _)| tile::choose(pass, self.limits));
            let (cluster, cost) = choice.map_or((0, f64::INFINITY), |own| (own.tile.cluster, own.cost));
            let two = if cluster == 1 { None } else { self.columns(line, &share) };
            let wanted = !matches!(self.ways.parting, Parting::Cheapest);
            let least = if line.back { CLUSTER_BACK * cost } else { cost };
            if let Some(columns) = two.filter(|columns| wanted || columns.cost < least) {
                self.take_columns(columns);
                continue;
            }
            match one {
                Some((pass, plan)) => {
                    self.passes.push(pass);
                    self.plans.push(plan);
                    self.plans.extend(line.beside.iter().map(|(_, plan)| plan.clone()));
                }
                None => self.long(line, &share)?,
            }
        }
        Ok(())
    }

    /// The next pass is there for what pairs leave.
    pub(super) fn line_is_left(&mut self) {
        self.detours.push(Detour { cause: Cause::LineLeft, pass: Some(self.passes.len()), region: None });
    }

    /// How lines are carried: as is expected to take the least, or as usual where no other way is one pass.
    fn carried(&self, line: &Line) -> Vec<Share> {
        let mut ways = line.ways_to_carry();
        if ways.len() == 1 {
            return ways.remove(0);
        }
        let lines: u64 = ways[0].iter().map(Share::lines).sum();
        let cost = |shares: &[Share]| {
            let part = |share: &Share| Some(self.cost_of(line, share)? * share.lines() as f64 / lines as f64);
            shares.iter().map(part).sum::<Option<f64>>().unwrap_or(f64::INFINITY)
        };
        let costs: Vec<f64> = ways.iter().map(|shares| cost(shares)).collect();
        let least = (1..ways.len()).min_by(|&a, &b| costs[a].total_cmp(&costs[b])).unwrap_or(0);
        ways.swap_remove(if costs[least] < costs[0] * PAIRED[usize::from(line.back)] { least } else { 0 })
    }

    /// Copies that the one pass of lines takes which are all carried in one way; `None` where there is no such pass.
    pub(super) fn cost(&self, line: &Line) -> Option<f64> {
        let ways = line.ways_to_carry().into_iter();
        let costs = ways.filter_map(|shares| match &shares[..] {
            [share] => self.cost_of(line, share),
            _ => None,
        });
        costs.min_by(f64::total_cmp)
    }

    /// Copies that the one pass of lines takes which are carried so.
    fn cost_of(&self, line: &Line, share: &Share) -> Option<f64> {
        let (pass, _) = self.on_chip(line, share)?;
        tile::choose(&pass, self.limits).map(|choice| choice.cost)
    }

    /// The one pass of lines that fit the chip.
    pub(super) fn on_chip(&self, line: &Line, share: &Share) -> Option<(Pass, Plan)> {
        let points = points(line.formula, share.carry, line.n);
        let plans = match &line.own {
            Some(plan) => vec![plan.clone()],
            None if points == 1 => vec![Plan::MixedRadix(Vec::new())],
            // Where a cluster folds, each of its blocks is to hold long rows of frequencies.
            None => {
                self.planner.on_chip(points).into_iter().chain(self.planner.of_clusters(points)).collect()
            }
        };
        let passes = plans.into_iter().filter_map(|plan| {
            let plain = matches!(plan, Plan::MixedRadix(_));
            let pass = (plain || line.beside.is_empty())
                .then(|| self.single(line, share, points, on_chip_method(&plan)))?;
            tile::choose(&pass, self.limits).map(|choice| (choice.cost, pass, plan))
        });
        passes.min_by(|(a, ..), (b, ..)| a.total_cmp(b)).map(|(_, pass, plan)| (pass, plan))
    }

    /// One pass with its folds.
    fn single(&self, line: &Line, share: &Share, points: u64, method: Method) -> Pass {
        let [from, to] = [false, true].map(|writes| match line.fold(share, writes) {
            None => share.natural(line, writes),
            // Points of the block's own array count one by one.
            Some(_) => Points {
                operand: if writes { share.to } else { share.from },
                stride: 1,
                strides: share.strides(line, writes),
            },
        });
        let others = line.beside.len();
        let strides = |d: usize| (from.strides[d], to.strides[d]);
        let own = PassDim::new(points, from.stride, to.stride);
        let own = PassDim { of: line.applied.own, counts: [1; 2], ..own };
        let beside = line.beside.iter().enumerate().map(|(d, (dim, plan))| {
            let dim = Applied::named(line.applied.beside.get(d).copied(), dim);
            let (is, os) = strides(d);
            Axis::new(PassDim { is, os, ..dim }, on_chip_method(plan))
        });
        let axes = beside.chain([Axis::new(own, method)]).collect();
        let dims = share.batch.iter().enumerate();
        let repeated = |(d, dim): (usize, &PassDim)| {
            let (is, os) = strides(others + d);
            PassDim { is, os, ..*dim }
        };
        let batch = dims.map(repeated).collect();
        Pass {
            direction: line.direction(),
            scale: line.scale,
            ends: [false, true].map(|writes| line.fold(share, writes)),
            functions: share.functions_of(line),
            windows: [false, true].map(|writes| line.pass_windows(share, writes)),
            ..pass(self.problem, axes, batch, from.operand, to.operand)
        }
    }

    /// A line that does not fit the chip: folds are passes of their own, and points a complex problem between them.
    fn long(&mut self, line: &Line, share: &Share) -> Result<(), Error> {
        let points = points(line.formula, share.carry, line.n);
        if points > LONGEST {
            return Err(no_plan(line.n, self.limits));
        }
        let lengths: Vec<u64> = share.batch.iter().map(|dim| dim.n).chain([points]).collect();
        let like =
            |stride: fn(&PassDim) -> i64| -> Vec<i64> { share.batch.iter().map(stride).chain([0]).collect() };
        let from = match line.fold(share, false) {
            None => share.natural(line, false),
            Some(fold) => {
                let between = self.between(&lengths, &like(|dim| dim.os));
                let caller: Vec<i64> = share.batch.iter().map(|dim| dim.is).collect();
                let strides = [&caller, &between.strides];
                self.fold(line, fold, (share, strides), [share.from, between.operand], false);
                between
            }
        };
        let to = match line.fold(share, true) {
            None => share.natural(line, true),
            // What the first fold filled is transformed where it lies.
            Some(_) if line.fold(share, false).is_some() => {
                Points { operand: from.operand, stride: from.stride, strides: from.strides.clone() }
            }
            Some(_) => self.between(&lengths, &like(|dim| dim.is)),
        };
        let fold_out = line.fold(share, true);
        let arrays = [from.operand.array, to.operand.array];
        // Complex problems in place are in one format.
        let in_place = arrays[0] == arrays[1] && matches!(arrays[0], Array::Workspace(_));
        let dims = share.batch.iter().zip(from.strides.iter().zip(&to.strides));
        // Folds apply their own.
        let mut functions = share.functions_of(line);
        functions.load.take_if(|_| line.folds(share.carry, false));
        functions.store.take_if(|_| fold_out.is_some());
        let complex = Problem {
            kind: Kind::Complex,
            transform: vec![Dim::new(points, from.stride, to.stride)],
            batch: dims
                .map(|(dim, (&is, &os))| Dim { at_run: dim.at_run, ..Dim::new(dim.n, is, os) })
                .collect(),
            input_offset: from.operand.offset,
            output_offset: to.operand.offset,
            precision: self.problem.precision,
            storage: [from.operand.storage, to.operand.storage].map(Some),
            input: from.operand.format,
            output: to.operand.format,
            placement: if in_place { Placement::InPlace } else { Placement::OutOfPlace },
            direction: line.direction(),
            scale: if fold_out.is_some() { 1.0 } else { line.scale },
            max_workspace: None,
            windows: line.point_windows(share.carry, points),
            filter: None,
            functions: functions.in_order(&share.order(line)),
        };
        self.complex(complex, arrays)?;
        if let Some(fold) = fold_out {
            let caller: Vec<i64> = share.batch.iter().map(|dim| dim.os).collect();
            let strides = [&to.strides.clone(), &caller];
            self.fold(line, fold, (share, strides), [to.operand, share.to], true);
        }
        Ok(())
    }

    /// Lines of points between two parts of the chain, each packed.
    fn between(&mut self, lengths: &[u64], like: &[i64]) -> Points {
        let (operand, mut strides) = self.region(lengths, like, Format::Interleaved, 1);
        let stride = strides.pop().unwrap_or(1);
        Points { operand, stride, strides }
    }

    /// A pass that folds and does nothing else.
    fn fold(
        &mut self,
        line: &Line,
        fold: Fold,
        (share, [is, os]): (&Share, [&Vec<i64>; 2]),
        [src, dst]: [Operand; 2],
        writes: bool,
    ) {
        let strides = if writes { [1, fold.stride] } else { [fold.stride, 1] };
        let way = match line.ways()[usize::from(writes)] {
            Way::Natural => Way::InOrder,
            way => way,
        };
        let mut batch = vec![PassDim::new(fold.items(way, writes), strides[0], strides[1])];
        let dims = share.batch.iter().zip(is.iter().zip(os));
        batch.extend(dims.map(|(dim, (&is, &os))| PassDim { is, os, ..*dim }));
        let mut ends = [None; 2];
        ends[usize::from(writes)] = Some(fold);
        let mut functions = share.functions.clone();
        if writes {
            functions.load.take()
        } else {
            functions.store.take()
        };
        self.passes.push(Pass {
            direction: line.direction(),
            scale: if writes { line.scale } else { 1.0 },
            ends,
            functions,
            ..pass(self.problem, Vec::new(), batch, src, dst)
        });
    }
}
