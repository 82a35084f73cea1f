//! `four-step-wrapped`: long lines as matrices, whose columns and rows are transformed on the chip.
//!
//! Lloyd, Boyd, Govindaraju, *Fast computation of general Fourier transforms on GPUs*, 2008, after D. Bailey, *FFTs in external
//! or hierarchical memory* (1990). A line is wrapped into `N1` rows of `N2` points. The first launch transforms columns, by
//! blocks that have several neighbouring ones, and multiplies by `exp(-2 pi i k1 n2 / N)`; the second transforms rows and
//! writes them as columns, by blocks that have several, so that both read and write chunks of neighbours. The
//! transpositions between the steps are folded into these accesses. The paper's transforms on the chip are of Stockham's
//! form; here they reorder as they read into shared memory.
//!
//! A column of an array is wrapped likewise. What lies beside its points is the next column, so blocks have several columns,
//! and neighbours within one only where the array is too narrow for that.

use super::code::{Code, View};
use super::draft::{Array, Draft};
use super::packed::Packed;
use super::radix_2::{bit_reversed, factors};
use super::stockham_2::Lines;
use super::tile::{Tile, TileLines, padded_points, threads};
use super::{Algorithm, Facts};
use crate::error::Error;
use crate::kernel::{Cx, Special, Value};
use crate::lower::twiddle::level_bits;
use crate::pass::TableKind;
use crate::program::too_large;

/// The strategy.
pub(super) struct FourStepWrapped;

/// log2 of the neighbours that a block has, where shared memory holds as many: a line of the cache in single precision.
const NEIGHBOURS: u32 = 4;

impl Algorithm for FourStepWrapped {
    fn facts(&self) -> Facts {
        Facts {
            name: "four-step-wrapped",
            source: "Lloyd, Boyd, Govindaraju, Fast computation of general Fourier transforms on GPUs (2008)",
            about: "a long line as a matrix: its columns, factors, its rows, with the transpositions folded into the accesses",
            covers: "powers of two from 2 on, in any number of dimensions, as long as a block holds a line of twice their root",
        }
    }

    fn covers(&self, packed: &Packed) -> bool {
        packed.powers_of_two()
    }

    fn write(&self, draft: &mut Draft<'_>) -> Result<(), Error> {
        let steps: Vec<Step> =
            Lines::of(&draft.packed.shape, draft.packed.batch).into_iter().flat_map(Step::of).collect();
        for step in &steps {
            too_large(
                "points of a block",
                1 << step.own(),
                padded_points(draft.shared_points()),
                draft.limits,
            )?;
        }
        let route = draft.route(steps.len())?;
        for (at, (step, sides)) in steps.iter().zip(route).enumerate() {
            let scale = if at + 1 == steps.len() { draft.scale() } else { 1.0 };
            step.launch(draft, sides, scale)?;
        }
        Ok(())
    }
}

/// One of the two launches for the lines of an axis.
struct Step {
    lines: Lines,
    /// log2 of `N1` and `N2`.
    wrapped: [u32; 2],
    /// The second.
    rows: bool,
}

impl Step {
    /// The first, and the second unless rows are of one point.
    fn of(lines: Lines) -> impl Iterator<Item = Self> {
        let bits = lines.n.trailing_zeros();
        let wrapped = [bits.div_ceil(2), bits / 2];
        [false, true].into_iter().take(if bits == 1 { 1 } else { 2 }).map(move |rows| Self {
            lines,
            wrapped,
            rows,
        })
    }

    /// log2 of the points of a line on the chip.
    fn own(&self) -> u32 {
        self.wrapped[usize::from(self.rows)]
    }

    fn launch(&self, draft: &mut Draft<'_>, sides: [Array; 2], scale: f64) -> Result<(), Error> {
        let Lines { n, inner, count } = self.lines;
        let [one, two] = self.wrapped;
        let (own, other) = if self.rows { (two, one) } else { (one, two) };
        // A block's lines on the chip: of neighbouring columns of the array, then of neighbours in the matrix.
        let room = (padded_points(draft.shared_points()).ilog2() - own).min(NEIGHBOURS);
        let across = room.min(inner.trailing_zeros());
        let chunk = (room - across).min(other);
        let points = 1_u64 << (own + chunk + across);
        let threads = threads(points / 2, draft.limits.max_threads);
        let stages = draft.table(factors(1 << own));
        let low = level_bits(n);
        let levels = (!self.rows && two > 0).then(|| {
            let step = 1 << low;
            let fine = TableKind::Roots { modulus: n, step: 1, len: step.min(n) };
            let coarse = TableKind::Roots { modulus: n, step, len: n.div_ceil(step) };
            [draft.table(fine), draft.table(coarse)]
        });
        let step = if self.rows { "rows" } else { "columns" };
        let beside = if inner == 1 { String::new() } else { format!("_beside_{inner}") };
        let mut code =
            draft.kernel(&format!("{step}_of_{one}_by_{two}{beside}"), threads, count * n / points)?;
        let c = &mut code;
        let [from, to] = c.pair(sides);
        let stages = c.table(stages);
        let levels = levels.map(|levels| levels.map(|table| c.table(table)));
        let tile = Tile::padded(c, points);
        let (block, thread) = (c.special(Special::BlockIndex), c.special(Special::ThreadIndex));
        let [beside, block] = c.split(block, inner >> across, u32::MAX.into());
        let beside = c.mul_const(beside, 1 << across);
        let [first, line] = c.split(block, 1 << (other - chunk), u32::MAX.into());
        let first = c.mul_const(first, 1 << chunk);
        let line = c.mul_const(line, n);
        let place = |c: &mut Code, [row, column]: [Value; 2], beside: Value| {
            let row = c.mul_const(row, 1 << two);
            let point = c.add(row, column);
            let point = c.add(line, point);
            let at = c.mul_const(point, inner);
            c.add(at, beside)
        };
        let spot = |c: &mut Code, lane: Value, p: Value, column: Value| {
            let row = c.mul_const(lane, 1 << own);
            let point = c.add(row, p);
            let at = c.mul_const(point, 1 << across);
            c.add(at, column)
        };

        for start in (0..points).step_by(threads as usize) {
            let item = c.add_const(thread, start);
            let [column, item] = c.split(item, 1 << across, points - 1);
            // Neighbouring threads read neighbours: of a row of the matrix, whichever way the lines go.
            let most = (points >> across) - 1;
            let [lane, p] = if self.rows {
                let [p, lane] = c.split(item, 1 << own, most);
                [lane, p]
            } else {
                c.split(item, 1 << chunk, most)
            };
            let which = c.add(first, lane);
            let beside = c.add(beside, column);
            let at = place(c, if self.rows { [which, p] } else { [p, which] }, beside);
            let z = c.load(from, at);
            let p = bit_reversed(c, p, own);
            let spot = spot(c, lane, p, column);
            tile.store(c, spot, z);
        }
        let lines = TileLines { n: 1 << own, inner: 1 << across, rows: 1 << chunk, rows_first: !self.rows };
        lines.stages(c, &tile, thread, |c, stage, k, _| {
            let exponent = c.mul_const(k, 1 << (own - 1 - stage));
            c.factor(stages, exponent)
        });
        for start in (0..points).step_by(threads as usize) {
            let item = c.add_const(thread, start);
            let [column, item] = c.split(item, 1 << across, points - 1);
            let [lane, k] = c.split(item, 1 << chunk, (points >> across) - 1);
            let spot = spot(c, lane, k, column);
            let mut z = tile.load(c, spot);
            let which = c.add(first, lane);
            if let Some(levels) = levels {
                let exponent = c.mul(k, which);
                let w = two_level(c, levels, exponent, low);
                z = c.cmul(z, w);
            }
            z = c.cscale(z, scale);
            let beside = c.add(beside, column);
            let at = if self.rows {
                // The frequency k of row k1 is k1 + N1 k.
                let k = c.mul_const(k, 1 << one);
                let point = c.add(k, which);
                let point = c.add(line, point);
                let at = c.mul_const(point, inner);
                c.add(at, beside)
            } else {
                place(c, [k, which], beside)
            };
            c.store(to, at, z);
        }
        draft.launch(code)
    }
}

/// A factor of the whole line: the product of one from each level.
fn two_level(c: &mut Code, [fine, coarse]: [View; 2], exponent: Value, low: u32) -> Cx {
    let [fine_at, coarse_at] = c.split(exponent, 1 << low, u32::MAX.into());
    let (a, b) = (c.factor(fine, fine_at), c.factor(coarse, coarse_at));
    c.cmul(a, b)
}
