//! Long lines of reals in two passes, without one that folds and does nothing else: a line is a matrix of `rows` rows. Its
//! columns are transformed as reals, two neighbours as one complex column, so that half of their frequencies say it all; and
//! what is left of each of these, along a row, is a complex transform. Frequency `k1` of the columns, `k2` of the rows, is
//! frequency `k1 + rows k2` of the line: the lower half of the `k2` are written as they are, the upper half are conjugates of
//! mirror images (`pass::Mirror`), and no point needs another one beside it. The way back is the same backward.
//!
//! That is the split of a complex line, of which the first part is one of reals: twice as many bytes are moved as by one pass,
//! where a fold of its own moves three times as many.

use crate::function::Functions;
use crate::lower::tile;
use crate::pass::{Axis, Carry, Formula, Mirror, Operand, Pass, PassDim, Twiddle, Window};
use crate::plan::Plan;
use crate::problem::{Direction, Format, Storage, half};
use crate::schedule::on_chip_method;

use super::applied::Applied;
use super::line::{self, Line};
use super::share::Share;
use super::windows::Windows;
use super::{Chain, Side};

/// Reals of a line at most: twice an index counts in 32 bits.
const LONGEST: u64 = 1 << 30;

/// How far the parts of a line may be from one another, as a ratio.
const APART: u64 = 16;

/// Bytes of a line, and of a row in single precision, at most on the way to a spectrum. Beyond, parts of lines of the cache
/// that tiles share are gone before the other part is read: 2^24 reals in rows of 8192 took 4.05 copies, of 4096 3.78; in
/// double precision 4.12, and by three passes 3.89.
const LONGEST_OUT: u64 = 1 << 26;
const LONGEST_ROW: u64 = 1 << 14;

/// What is between the two passes is numbered when the way is taken.
const SCRATCH: u8 = 0;

/// A line in two passes.
pub(super) struct Columns {
    pub passes: [Pass; 2],
    pub plans: [Plan; 2],
    /// Lengths of what lies between the two.
    pub lengths: Vec<u64>,
    pub cost: f64,
}

impl Chain<'_> {
    /// The cheapest way to do a line by columns; `None`: it is not one that can be.
    pub(super) fn columns(&self, line: &Line, share: &Share) -> Option<Columns> {
        let Formula::Spectrum { conjugate } = line.formula else { return None };
        let packed = line.from.stride == 1 && line.to.stride == 1;
        let alone = line.beside.is_empty() && line.own.is_none() && matches!(share.carry, Carry::Halves);
        // Functions and windows are for the points of passes that know them.
        let plain = line.windows.is_empty() && share.functions.is_empty();
        if !packed || !alone || !plain || !line.n.is_multiple_of(4) || line.n > LONGEST {
            return None;
        }
        let even = |n: u64| line.n.is_multiple_of(n) && n.is_multiple_of(2) && (line.n / n).is_multiple_of(2);
        let near = |n: u64| n <= APART * (line.n / n) && line.n / n <= APART * n;
        let root = line.n.isqrt();
        let lengths = (2..=root).filter(|&n| even(n) && near(n)).flat_map(|n| [n, line.n / n]);
        let real = self.problem.precision.complex_bytes() / 2;
        if !line.back && line.n * real > LONGEST_OUT {
            return None;
        }
        let long = |rows: u64| !line.back && real == 4 && line.n / rows * real > LONGEST_ROW;
        let lengths = lengths.filter(|&rows| !long(rows));
        let ways = lengths.filter_map(|rows| self.by_rows(line, share, rows, conjugate));
        ways.min_by(|a, b| a.cost.total_cmp(&b.cost))
    }

    fn by_rows(&self, line: &Line, share: &Share, rows: u64, conjugate: bool) -> Option<Columns> {
        let row = line.n / rows;
        // Packed, lines outermost.
        let lengths: Vec<u64> = share.batch.iter().map(|dim| dim.n).chain([half(rows), row]).collect();
        let mut strides = vec![1; lengths.len()];
        for at in (1..lengths.len()).rev() {
            strides[at - 1] = strides[at] * lengths[at] as i64;
        }
        let scratch = Operand {
            array: crate::pass::Array::Workspace(SCRATCH),
            format: Format::Interleaved,
            offset: 0,
            span: lengths.iter().product(),
            storage: Storage::of(self.problem.precision),
        };
        strides.truncate(share.batch.len());
        let (first, first_plan) = self.of_reals(line, share, [rows, row], (scratch, &strides))?;
        let (second, second_plan) = self.of_rows(line, share, [rows, row], (scratch, &strides), conjugate)?;
        let both = if line.back { [second, first] } else { [first, second] };
        let plans = if line.back { [second_plan, first_plan] } else { [first_plan, second_plan] };
        let repeats: u64 = share.batch.iter().map(|dim| dim.n).product();
        let points = (line.n / 2 * repeats) as f64;
        let cost = |pass: &Pass| {
            tile::choose(pass, self.limits).map(|choice| choice.cost * pass.elements() as f64 / points)
        };
        let cost = cost(&both[0])? + cost(&both[1])?;
        Some(Columns { passes: both, plans, lengths, cost })
    }

    /// The pass over the columns, two neighbours as one.
    fn of_reals(
        &self,
        line: &Line,
        share: &Share,
        [rows, row]: [u64; 2],
        (scratch, strides): (Operand, &[i64]),
    ) -> Option<(Pass, Plan)> {
        let pairs = PassDim::new(row / 2, 2, 2);
        let others = share.batch.iter().zip(strides);
        let between = |(dim, &stride): (&PassDim, &i64)| {
            if line.back { PassDim { is: stride, ..*dim } } else { PassDim { os: stride, ..*dim } }
        };
        let batch: Vec<PassDim> = std::iter::once(pairs).chain(others.map(between)).collect();
        let [from, to] = if line.back { [scratch, share.to] } else { [share.from, scratch] };
        let side = |operand, stride: fn(&PassDim) -> i64| Side {
            operand,
            strides: batch.iter().map(stride).collect(),
            stride: row as i64,
        };
        let columns = Line {
            formula: Formula::Spectrum { conjugate: false },
            back: line.back,
            n: rows,
            beside: Vec::new(),
            own: None,
            kept: true,
            around: batch.iter().map(|dim| dim.n).collect(),
            at_run: batch.iter().position(|dim| dim.at_run),
            from: side(from, |dim| dim.is),
            to: side(to, |dim| dim.os),
            scale: if line.back { line.scale } else { 1.0 },
            applied: Applied::default(),
            windows: Windows::default(),
        };
        let functions = Functions::default();
        let share = Share { carry: Carry::Rows([1, 1]), batch, from, to, functions, across: None };
        let (mut pass, plan) = self.on_chip(&columns, &share)?;
        if !line.back {
            pass.twiddle = Some(Twiddle::after(line.n));
            pass.batch[0].twiddle = 2;
        }
        Some((pass, plan))
    }

    /// The pass along the rows, to the spectrum or from there.
    fn of_rows(
        &self,
        line: &Line,
        share: &Share,
        [rows, row]: [u64; 2],
        (scratch, strides): (Operand, &[i64]),
        conjugate: bool,
    ) -> Option<(Pass, Plan)> {
        let dim = |n: u64, scratch: u64, spectrum: u64| {
            let [scratch, spectrum] = [scratch, spectrum].map(|stride| stride as i64);
            if line.back { PassDim::new(n, spectrum, scratch) } else { PassDim::new(n, scratch, spectrum) }
        };
        let lines = PassDim { twiddle: u64::from(line.back), ..dim(half(rows), row, 1) };
        let others = share.batch.iter().zip(strides).map(|(dim, &stride)| {
            if line.back { PassDim { os: stride, ..*dim } } else { PassDim { is: stride, ..*dim } }
        });
        let batch: Vec<PassDim> = std::iter::once(lines).chain(others).collect();
        let axes = vec![rows];
        let weights = (0..batch.len()).map(|d| u64::from(d == 0)).collect();
        let window = Window {
            n: line.n,
            start: 0,
            len: half(line.n),
            stride: 1,
            axes,
            batch: weights,
            mirror: Some(Mirror { period: rows, conjugate }),
        };
        let [src, dst] = if line.back { [share.from, scratch] } else { [scratch, share.to] };
        let mut windows = [Vec::new(), Vec::new()];
        windows[usize::from(!line.back)].push(window);
        let plain = Pass {
            direction: if line.back { Direction::Inverse } else { Direction::Forward },
            scale: if line.back { 1.0 } else { line.scale },
            twiddle: line.back.then(|| Twiddle::after(line.n)),
            windows,
            ..line::pass(self.problem.precision, Vec::new(), batch, src, dst)
        };
        let by = |plan: Plan| {
            let axis = Axis::new(dim(row, 1, rows), on_chip_method(&plan));
            let pass = Pass { axes: vec![axis], ..plain.clone() };
            tile::choose(&pass, self.limits).map(|choice| (choice.cost, pass, plan))
        };
        let found = self.planner.stages(row, 1).into_iter().filter_map(by);
        found.min_by(|(a, ..), (b, ..)| a.total_cmp(b)).map(|(_, pass, plan)| (pass, plan))
    }

    /// Takes the two passes of a line.
    pub(super) fn take_columns(&mut self, columns: Columns) {
        let Columns { mut passes, plans, lengths, .. } = columns;
        let region = self.region_of(lengths.iter().product());
        let [first, second] = &mut passes;
        (first.dst.array, second.src.array) = (region, region);
        self.passes.extend(passes);
        self.plans.push(Plan::Split(plans.into()));
    }
}
