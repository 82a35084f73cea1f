//! Long lines of reals in two passes, without one that folds and does nothing else. Two neighbours are a complex point, of an odd
//! length an element of each of two lines, and the complex line is a matrix of `rows` rows: one pass transforms its columns,
//! another its rows, each together with its mirror image ([`Images`]), so that the frequencies of reals are made of those of
//! complex points in registers. The way back is the same backward.
//!
//! That is the split of a complex line and as many bytes, where a fold of its own moves half as many again.

use crate::lower::tile;
use crate::pass::{Array, Axis, Carry, Formula, Images, Operand, Pass, PassDim, Twiddle, points};
use crate::plan::Plan;
use crate::problem::{Direction, Format, Storage, half};
use crate::schedule::on_chip_method;

use super::line::{self, Line};
use super::share::{Points, Share};
use super::{Chain, Parting};

/// How far the parts of a line may be from one another, as a ratio.
const APART: u64 = 16;

/// What is between the two passes is numbered when the way is taken.
const SCRATCH: u8 = 0;

/// A line in two passes.
pub(super) struct Columns {
    pub passes: [Pass; 2],
    pub plans: [Plan; 2],
    /// Complex points that lie between the two.
    pub points: u64,
    pub cost: f64,
}

/// Lines of `rows` times `row` complex points between the two passes.
struct Between {
    rows: u64,
    row: u64,
    operand: Operand,
    /// Of the dimensions that lines are repeated over.
    strides: Vec<i64>,
}

impl Chain<'_> {
    /// The cheapest way to do a line by columns; `None`: it is not one that can be.
    pub(super) fn columns(&self, line: &Line, share: &Share) -> Option<Columns> {
        let Formula::Spectrum { conjugate } = line.formula else { return None };
        let spectrum = if line.back { &line.from } else { &line.to };
        let alone = line.beside.is_empty() && line.own.is_none();
        // Lines of an even length that go in pairs have a frequency in the middle that is its own image.
        let known = matches!(share.carry, Carry::Halves) || !line.n.is_multiple_of(2);
        // Functions and windows are for the points of passes that know them.
        let plain = line.windows.is_empty() && share.functions.is_empty();
        if spectrum.stride != 1 || !alone || !known || !plain {
            return None;
        }
        let points = points(line.formula, share.carry, line.n);
        let near =
            |&n: &u64| points.is_multiple_of(n) && n <= APART * (points / n) && points / n <= APART * n;
        let lengths = (2..=points.isqrt()).filter(near).flat_map(|n| [n, points / n]);
        let mut ways: Vec<Columns> =
            lengths.filter_map(|rows| self.by_rows(line, share, rows, conjugate)).collect();
        ways.sort_by(|a, b| a.cost.total_cmp(&b.cost));
        ways.into_iter().nth(if let Parting::Nth(at) = self.ways.parting { at } else { 0 })
    }

    fn by_rows(&self, line: &Line, share: &Share, rows: u64, conjugate: bool) -> Option<Columns> {
        let points = points(line.formula, share.carry, line.n);
        // Packed, lines outermost.
        let mut strides = vec![points as i64; share.batch.len()];
        for at in (1..strides.len()).rev() {
            strides[at - 1] = strides[at] * share.batch[at].n as i64;
        }
        let repeats: u64 = share.batch.iter().map(|dim| dim.n).product();
        let operand = Operand {
            array: Array::Workspace(SCRATCH),
            format: Format::Interleaved,
            offset: 0,
            span: repeats * points,
            storage: Storage::of(self.problem.precision),
        };
        let between = Between { rows, row: points / rows, operand, strides };
        let [of_columns, of_pairs] = match self.ways.parting {
            Parting::By([first, second]) if line.back => [Some(second), Some(first)],
            Parting::By([first, second]) => [Some(first), Some(second)],
            Parting::By(_) => return None,
            Parting::Cheapest | Parting::Nth(_) => [None; 2],
        };
        let (columns, columns_plan) = self.of_columns(line, share, &between, of_columns)?;
        let (pairs, pairs_plan) =
            self.of_pairs(line, share, &between, (Images { rows, carry: share.carry, conjugate }, of_pairs))?;
        let both = if line.back { [pairs, columns] } else { [columns, pairs] };
        let plans = if line.back { [pairs_plan, columns_plan] } else { [columns_plan, pairs_plan] };
        let cost = both.iter().map(|(cost, _)| cost).sum();
        Some(Columns { passes: both.map(|(_, pass)| pass), plans, points: repeats * points, cost })
    }

    /// The pass over columns of complex points, with its copies.
    fn of_columns(
        &self,
        line: &Line,
        share: &Share,
        between: &Between,
        wanted: Option<&Plan>,
    ) -> Option<((f64, Pass), Plan)> {
        let Points { operand, stride, strides } = share.natural(line, line.back);
        let dim = |n: u64, own: i64, scratch: u64| {
            let scratch = scratch as i64;
            if line.back { PassDim::new(n, scratch, own) } else { PassDim::new(n, own, scratch) }
        };
        let columns = dim(between.row, stride, 1);
        let others = share.batch.iter().zip(strides.iter().zip(&between.strides));
        let others = others.map(|(known, (&own, &scratch))| PassDim {
            at_run: known.at_run,
            ..dim(known.n, own, scratch as u64)
        });
        let batch = std::iter::once(columns).chain(others).collect();
        let [src, dst] = if line.back { [between.operand, operand] } else { [operand, between.operand] };
        let plain = Pass {
            direction: if line.back { Direction::Inverse } else { Direction::Forward },
            scale: if line.back { line.scale } else { 1.0 },
            ..line::pass(self.problem, Vec::new(), batch, src, dst)
        };
        self.cheapest(&plain, dim(between.rows, stride * between.row as i64, between.row), wanted)
    }

    /// The pass along the rows, to the spectrum or from there, with its copies.
    fn of_pairs(
        &self,
        line: &Line,
        share: &Share,
        between: &Between,
        (images, wanted): (Images, Option<&Plan>),
    ) -> Option<((f64, Pass), Plan)> {
        let dim = |n: u64, scratch: u64, spectrum: i64| {
            let scratch = scratch as i64;
            if line.back { PassDim::new(n, spectrum, scratch) } else { PassDim::new(n, scratch, spectrum) }
        };
        let rows = PassDim { twiddle: 1, ..dim(half(between.rows), between.row, 1) };
        let others = share.batch.iter().zip(&between.strides).map(|(known, &scratch)| {
            let spectrum = if line.back { known.is } else { known.os };
            PassDim { at_run: known.at_run, ..dim(known.n, scratch as u64, spectrum) }
        });
        let mut batch: Vec<PassDim> = [Images::MEMBERS, rows].into_iter().chain(others).collect();
        images.place(&mut batch, line.back);
        images.place_spectra(&mut batch, !line.back);
        let [src, dst] = if line.back { [share.from, between.operand] } else { [between.operand, share.to] };
        let twiddle = Twiddle { reads: !line.back, ..Twiddle::after(between.rows * between.row) };
        let plain = Pass {
            direction: if line.back { Direction::Inverse } else { Direction::Forward },
            scale: if line.back { 1.0 } else { line.scale },
            twiddle: Some(twiddle),
            images: Some(images),
            ..line::pass(self.problem, Vec::new(), batch, src, dst)
        };
        self.cheapest(&plain, dim(between.row, 1, between.rows as i64), wanted)
    }

    /// A pass along a dimension in the stages that are wanted, or that are expected to take the least.
    fn cheapest(&self, plain: &Pass, own: PassDim, wanted: Option<&Plan>) -> Option<((f64, Pass), Plan)> {
        let by = |plan: Plan| {
            let pass = Pass { axes: vec![Axis::new(own, on_chip_method(&plan))], ..plain.clone() };
            tile::choose(&pass, self.limits).map(|choice| ((choice.cost, pass), plan))
        };
        let best = |plans: Vec<Plan>| {
            let plans = plans.into_iter().filter(|plan| wanted.is_none_or(|wanted| wanted == plan));
            plans.filter_map(by).min_by(|((a, _), _), ((b, _), _)| a.total_cmp(b))
        };
        best(self.planner.stages(own.n, 1)).or_else(|| {
            let more = self.planner.stages(own.n, 2);
            best(more.iter().filter_map(ends_alike).collect())
        })
    }

    /// Takes the two passes of a line.
    pub(super) fn take_columns(&mut self, columns: Columns) {
        let Columns { mut passes, plans, points, .. } = columns;
        let region = self.region_of(points);
        let [first, second] = &mut passes;
        (first.dst.array, second.src.array) = (region, region);
        self.passes.extend(passes);
        self.plans.push(Plan::Split(plans.into()));
    }
}

/// The stages of a plan with the same radix at both ends, as threads that hold rows in pairs divide what both have to do; `None`: no
/// radix is there twice.
fn ends_alike(plan: &Plan) -> Option<Plan> {
    let Plan::MixedRadix(radices) = plan else { return None };
    let mut rest = radices.clone();
    rest.sort_unstable();
    let twice = rest.windows(2).rposition(|two| two[0] == two[1])?;
    let end = rest.remove(twice);
    rest.remove(twice);
    rest.insert(0, end);
    rest.push(end);
    Some(Plan::MixedRadix(rest))
}
