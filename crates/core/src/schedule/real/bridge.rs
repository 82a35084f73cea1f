//! A dimension that two passes share ([`crate::schedule::bridge`]), of real data: the first part with the lines of reals, which fold
//! together with it as those of a plane do, and the other part with the dimension around it. For one index of what is left of the shared
//! dimension, that part and the lines are a plane of reals; so the factors between the parts go with the complex pass, where it reads on
//! the way to a spectrum, and where it writes on the way back.

use crate::lower::tile;
use crate::math::factor;
use crate::pass::{Array, Axis, Formula, Method, Operand, Pass, PassDim, Twiddle};
use crate::plan::Plan;
use crate::problem::{Dim, Direction, Format, Kind, Placement, Storage, half};
use crate::schedule::bridge::{TRIED, clustered, guess};
use crate::schedule::passes::both;
use crate::schedule::{fuse, on_chip_method};
use crate::solve::cluster;
use crate::target::LINE_BYTES;

use super::Chain;
use super::line::{self, Line, Repeated};

/// What is between the two passes is numbered when the way is taken.
const SCRATCH: Array = Array::Workspace(0);

/// The two passes of a plane or a volume, and what lies between them.
struct Bridge {
    dims: Dims,
    passes: [Pass; 2],
    plans: Vec<Plan>,
    /// Elements between the two.
    span: u64,
    cost: f64,
}

/// The dimensions of a problem, by what becomes of them.
#[derive(Clone, Copy)]
struct Dims {
    /// That of the lines.
    own: Dim,
    /// The one that both passes share, in two parts.
    shared: Dim,
    parts: [u64; 2],
    /// The one around it, if there is one.
    outer: Option<Dim>,
}

/// Strides of what lies between the passes.
struct Between {
    operand: Operand,
    own: i64,
    shared: i64,
    outer: i64,
    batch: Vec<i64>,
}

impl Chain<'_> {
    /// Takes the cheapest two passes that share a dimension; `false`: there are none.
    pub(super) fn bridged(&mut self, own: Dim) -> bool {
        let problem = self.problem;
        let may = problem.placement == Placement::OutOfPlace && problem.keeps_results();
        let to_spectrum = may && matches!(problem.kind, Kind::RealToComplex(_));
        let Some(found) = self.cheapest_bridge(own, to_spectrum) else { return false };
        // As of complex volumes.
        let clusters = problem.max_workspace.is_none() && clustered(&found.passes[1], self.limits);
        let through = if to_spectrum && clusters { self.by_parts(found.dims, false) } else { None };
        let Bridge { mut passes, plans, span, .. } = through.unwrap_or(found);
        if passes[0].dst.array == SCRATCH {
            let region = self.region_of(span);
            let [first, second] = &mut passes;
            (first.dst.array, second.src.array) = (region, region);
        }
        self.passes.extend(passes);
        self.plans = plans;
        true
    }

    /// The cheapest, through the caller's spectrum or through a region of the workspace.
    fn cheapest_bridge(&self, own: Dim, in_output: bool) -> Option<Bridge> {
        let problem = self.problem;
        let others = self.others();
        let (&shared, outer) = others.split_last()?;
        // Functions and windows are for the points of passes that know them.
        let plain = problem.functions.is_empty() && !problem.is_windowed();
        let still = others.iter().any(|dim| dim.is == 0 || dim.os == 0);
        if outer.len() > 1 || !plain || still || !own.n.is_multiple_of(2) || !fuse::pays(problem, self.limits)
        {
            return None;
        }
        let outer = outer.first().copied();
        let back = matches!(problem.kind, Kind::ComplexToReal(_));
        let parted = |first: u64| {
            let beside = shared.n / first;
            let points = [beside * own.n / 2, first * outer.map_or(1, |dim| dim.n)];
            // The first pass of the way to a spectrum is that of the lines.
            Some((
                guess(problem, &self.planner, points)?,
                if back { [first, beside] } else { [beside, first] },
            ))
        };
        let divisors = factor::divisors(shared.n).into_iter().filter(|&first| first > 1 && first < shared.n);
        let mut ways: Vec<(f64, [u64; 2])> = divisors.filter_map(parted).collect();
        ways.sort_by(|(x, _), (y, _)| x.total_cmp(y));
        let by = |(_, parts): (f64, [u64; 2])| self.by_parts(Dims { own, shared, parts, outer }, in_output);
        let found = ways.into_iter().take(TRIED).filter_map(by);
        found.min_by(|x, y| x.cost.total_cmp(&y.cost))
    }

    fn by_parts(&self, dims: Dims, in_output: bool) -> Option<Bridge> {
        let back = matches!(self.problem.kind, Kind::ComplexToReal(_));
        let between = self.between_parts(&dims, back, in_output);
        let (lines, line_plans) = self.lines_beside(&dims, &between, back)?;
        let (columns, mut column_plans) = self.columns_around(&dims, &between, back)?;
        let cost = |pass: &Pass| tile::choose(pass, self.limits);
        let passes = if back { [columns, lines] } else { [lines, columns] };
        let choices = [cost(&passes[0])?, cost(&passes[1])?];
        let [own, beside] = line_plans;
        let part = column_plans.pop()?;
        let shared = Plan::Split(if back { vec![part, beside] } else { vec![beside, part] });
        let plans = [own, shared].into_iter().chain(column_plans).collect();
        let cost = fuse::copies(&passes, &choices, self.problem.elements());
        Some(Bridge { dims, passes, plans, span: between.operand.span, cost })
    }

    /// What lies between: the caller's spectrum; or packed in its order, rows that do not follow each other there with starts at lines of
    /// memory.
    fn between_parts(&self, dims: &Dims, back: bool, in_output: bool) -> Between {
        let problem = self.problem;
        let spectrum = |dim: &Dim| if back { dim.is } else { dim.os };
        // That of the lines, the shared one, the outer one, then those that are repeated over.
        let own = Dim { n: half(dims.own.n), ..dims.own };
        let all: Vec<Dim> =
            [own, dims.shared].into_iter().chain(dims.outer).chain(problem.batch.iter().copied()).collect();
        let parted = |operand: Operand, mut strides: Vec<i64>| {
            let batch = strides.split_off(strides.len() - problem.batch.len());
            let outer = strides.get(2).copied().unwrap_or(0);
            Between { operand, own: strides[0], shared: strides[1], outer, batch }
        };
        if in_output {
            return parted(self.operand(true), all.iter().map(spectrum).collect());
        }
        let follow = spectrum(&dims.shared) == own.n as i64 * spectrum(&own);
        let line = LINE_BYTES / problem.precision.complex_bytes();
        let mut order: Vec<usize> = (1..all.len()).collect();
        order.sort_by_key(|&d| spectrum(&all[d]).unsigned_abs());
        let mut strides = vec![1; all.len()];
        let mut span = if follow { own.n } else { own.n.next_multiple_of(line) };
        for d in order {
            strides[d] = span as i64;
            span *= all[d].n;
        }
        let storage = Storage::of(problem.precision);
        parted(Operand { array: SCRATCH, format: Format::Interleaved, offset: 0, span, storage }, strides)
    }

    /// The pass of the lines and the part of the shared dimension beside them, and the plans of both.
    fn lines_beside(&self, dims: &Dims, between: &Between, back: bool) -> Option<(Pass, [Plan; 2])> {
        let problem = self.problem;
        let Dims { own, shared, parts: [a, b], outer } = *dims;
        // Index `n1 B + n2` before, `k1 + A k2` after; between, the part that the columns are repeated over is the fast one.
        let (step, inner) = (b as i64, between.own);
        let own = if back { Dim { is: inner, ..own } } else { Dim { os: inner, ..own } };
        let [beside, rest] = if back {
            [Dim::new(b, between.shared, shared.os * a as i64), Dim::new(a, between.shared * step, shared.os)]
        } else {
            [Dim::new(a, shared.is * step, between.shared), Dim::new(b, shared.is, between.shared * a as i64)]
        };
        let moved = |dim: &Dim, stride: i64| {
            if back { Dim { is: stride, ..*dim } } else { Dim { os: stride, ..*dim } }
        };
        let repeated = problem.batch.iter().zip(&between.batch).map(|(dim, &stride)| moved(dim, stride));
        let around: Vec<Dim> =
            outer.iter().map(|dim| moved(dim, between.outer)).chain(repeated).chain([rest]).collect();
        let conjugate = back == (problem.direction == Direction::Forward);
        let sides =
            if back { [between.operand, self.operand(true)] } else { [self.operand(false), between.operand] };
        let scale = if back { problem.scale } else { 1.0 };
        let line = |plan: Plan, points: Option<Plan>| {
            let formula = Formula::Spectrum { conjugate };
            let line = Line::between(formula, back, own, vec![(beside, plan)], &around, sides, scale);
            Line { repeated: Repeated::Kept, own: points, ..line }
        };
        let alone = self.stages_of(&[beside]).into_iter().map(|plans| (plans, None));
        let ways = alone.chain(self.joined(&[beside], own.n)).filter_map(|(mut plans, points)| {
            let plan = plans.pop()?;
            let line = line(plan.clone(), points);
            let [share] = &line.ways_to_carry().into_iter().next()?[..] else { return None };
            let (pass, own) = self.on_chip(&line, share)?;
            Some((tile::choose(&pass, self.limits)?.cost, pass, [own, plan]))
        });
        ways.min_by(|(x, ..), (y, ..)| x.total_cmp(y)).map(|(_, pass, plans)| (pass, plans))
    }

    /// The pass of the other part and the dimension around it, with their plans.
    fn columns_around(&self, dims: &Dims, between: &Between, back: bool) -> Option<(Pass, Vec<Plan>)> {
        let problem = self.problem;
        let Dims { own, shared, parts: [a, b], outer } = *dims;
        let side =
            |dim: Dim, [read, written]: [i64; 2]| PassDim { is: read, os: written, ..PassDim::from(&dim) };
        let ends =
            |caller: [i64; 2], stride: i64| if back { [caller[0], stride] } else { [stride, caller[1]] };
        let whole = |dim: &Dim, stride: i64| side(*dim, ends([dim.is, dim.os], stride));
        let [step, steps] = [b as i64, a as i64];
        let (n, part, rest) = if back {
            let part = [shared.is * step, between.shared * step];
            (a, part, PassDim::new(b, shared.is, between.shared))
        } else {
            let rest = PassDim::new(a, between.shared, shared.os);
            (b, [between.shared * steps, shared.os * steps], rest)
        };
        let axes: Vec<PassDim> = outer
            .iter()
            .map(|dim| whole(dim, between.outer))
            .chain([PassDim::new(n, part[0], part[1])])
            .collect();
        let repeated = problem.batch.iter().zip(&between.batch).map(|(dim, &stride)| whole(dim, stride));
        let frequencies = whole(&Dim { n: half(own.n), ..own }, between.own);
        // Rows that follow each other are one, of which the factors change from row to row.
        let (inner, alike) = match both([&rest, &frequencies]) {
            Some(rows) => (vec![PassDim { twiddle: 1, ..rows }], frequencies.n),
            None => (vec![PassDim { twiddle: 1, ..rest }, frequencies], 1),
        };
        let batch = repeated.chain(inner).collect();
        let [src, dst] =
            if back { [self.operand(false), between.operand] } else { [between.operand, self.operand(true)] };
        let plain = Pass {
            direction: problem.direction,
            scale: if back { 1.0 } else { problem.scale },
            twiddle: Some(Twiddle { modulus: shared.n, axis: axes.len() - 1, reads: !back, alike }),
            ..line::pass(problem, Vec::new(), batch, src, dst)
        };
        let lengths: Vec<u64> = axes.iter().map(|axis| axis.n).collect();
        let own: Vec<Vec<Plan>> =
            self.stages_of(&axes.iter().map(|axis| Dim::new(axis.n, 1, 1)).collect::<Vec<_>>());
        let first = own.first()?.clone();
        let joined = cluster::joined(&lengths, problem.precision, self.limits).into_iter().map(|all| {
            let plans = all.into_iter().zip(&first);
            plans.map(|(radices, first)| radices.map_or_else(|| first.clone(), Plan::MixedRadix)).collect()
        });
        let ways = own.clone().into_iter().chain(joined).filter_map(|plans: Vec<Plan>| {
            let axes =
                axes.iter().zip(&plans).map(|(&dim, plan)| Axis::new(dim, on_chip_method(plan))).collect();
            let pass = Pass { axes, ..plain.clone() };
            let staged = pass.axes.iter().all(|axis| matches!(axis.method, Method::MixedRadix(_)));
            let cost = tile::choose(&pass, self.limits).filter(|_| staged)?.cost;
            Some((cost, pass, plans))
        });
        ways.min_by(|(x, ..), (y, ..)| x.total_cmp(y)).map(|(_, pass, plans)| (pass, plans))
    }
}
