//! `four-step-wrapped`: long lines as matrices, whose columns and rows are transformed on the chip.
//!
//! Lloyd, Boyd, Govindaraju, *Fast computation of general Fourier transforms on GPUs*, 2008, after D. Bailey, *FFTs in external
//! or hierarchical memory* (1990). A line is wrapped into `N1` rows of `N2` points. The first launch transforms columns, by
//! blocks that have several neighbouring ones, and multiplies by `exp(-2 pi i k1 n2 / N)`; the second transforms rows and
//! writes them as columns, by blocks that have several, so that both read and write chunks of neighbours. The
//! transpositions between the steps are folded into these accesses. The paper's transforms on the chip are of Stockham's
//! form; here they reorder as they read into shared memory.

use super::code::{Code, View};
use super::draft::{Array, Draft};
use super::packed::Packed;
use super::radix_2::{bit_reversed, factors};
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
            covers: "powers of two from 4 on, in one dimension, as long as a block holds a line of twice their root",
        }
    }

    fn covers(&self, packed: &Packed) -> bool {
        packed.line().is_some_and(|n| n.is_power_of_two() && n >= 4)
    }

    fn write(&self, draft: &mut Draft<'_>) -> Result<(), Error> {
        let bits = draft.packed.points().trailing_zeros();
        let wrapped = [bits.div_ceil(2), bits / 2];
        too_large("points of a block", 1 << wrapped[0], padded_points(draft.shared_points()), draft.limits)?;
        let route = draft.route(2)?;
        Step { wrapped, rows: false }.launch(draft, route[0])?;
        Step { wrapped, rows: true }.launch(draft, route[1])
    }
}

/// One of the two launches.
struct Step {
    /// log2 of `N1` and `N2`.
    wrapped: [u32; 2],
    /// The second.
    rows: bool,
}

impl Step {
    fn launch(&self, draft: &mut Draft<'_>, sides: [Array; 2]) -> Result<(), Error> {
        let n = draft.packed.points();
        let [one, two] = self.wrapped;
        let (own, other) = if self.rows { (two, one) } else { (one, two) };
        let chunk = (padded_points(draft.shared_points()).ilog2() - own).min(NEIGHBOURS).min(other);
        let points = 1_u64 << (own + chunk);
        let threads = threads(points / 2, draft.limits.max_threads);
        let stages = draft.table(factors(1 << own));
        let low = level_bits(n);
        let levels = (!self.rows).then(|| {
            let step = 1 << low;
            let fine = TableKind::Roots { modulus: n, step: 1, len: step.min(n) };
            let coarse = TableKind::Roots { modulus: n, step, len: n.div_ceil(step) };
            [draft.table(fine), draft.table(coarse)]
        });
        let name = format!("{}_of_{one}_by_{two}", if self.rows { "rows" } else { "columns" });
        let mut code = draft.kernel(&name, threads, draft.packed.elements() / points)?;
        let c = &mut code;
        let [from, to] = c.pair(sides);
        let stages = c.table(stages);
        let levels = levels.map(|levels| levels.map(|table| c.table(table)));
        let tile = Tile::padded(c, points);
        let (block, thread) = (c.special(Special::BlockIndex), c.special(Special::ThreadIndex));
        let [first, line] = c.split(block, 1 << (other - chunk), u32::MAX.into());
        let first = c.mul_const(first, 1 << chunk);
        let line = c.mul_const(line, n);

        for start in (0..points).step_by(threads as usize) {
            let item = c.add_const(thread, start);
            // Neighbouring threads read neighbours: of a row of the matrix, whichever way the lines go.
            let [lane, p] = if self.rows {
                let [p, lane] = c.split(item, 1 << own, points - 1);
                [lane, p]
            } else {
                c.split(item, 1 << chunk, points - 1)
            };
            let which = c.add(first, lane);
            let at = if self.rows { self.place(c, which, p) } else { self.place(c, p, which) };
            let at = c.add(line, at);
            let z = c.load(from, at);
            let p = bit_reversed(c, p, own);
            let spot = spot(c, lane, p, own);
            tile.store(c, spot, z);
        }
        let lines = TileLines { n: 1 << own, inner: 1, rows: 1 << chunk, rows_first: !self.rows };
        lines.stages(c, &tile, thread, |c, stage, k, _| {
            let exponent = c.mul_const(k, 1 << (own - 1 - stage));
            c.factor(stages, exponent)
        });
        for start in (0..points).step_by(threads as usize) {
            let item = c.add_const(thread, start);
            let [lane, k] = c.split(item, 1 << chunk, points - 1);
            let spot = spot(c, lane, k, own);
            let mut z = tile.load(c, spot);
            let which = c.add(first, lane);
            let at = match levels {
                Some(levels) => {
                    let exponent = c.mul(k, which);
                    let w = two_level(c, levels, exponent, low);
                    z = c.cmul(z, w);
                    self.place(c, k, which)
                }
                None => {
                    z = c.cscale(z, draft.scale());
                    // The frequency k of row k1 is k1 + N1 k.
                    let k = c.mul_const(k, 1 << one);
                    c.add(k, which)
                }
            };
            let at = c.add(line, at);
            c.store(to, at, z);
        }
        draft.launch(code)
    }

    /// Where row and column of the matrix lie.
    fn place(&self, c: &mut Code, row: Value, column: Value) -> Value {
        let row = c.mul_const(row, 1 << self.wrapped[1]);
        c.add(row, column)
    }
}

fn spot(c: &mut Code, lane: Value, p: Value, own: u32) -> Value {
    let row = c.mul_const(lane, 1 << own);
    c.add(row, p)
}

/// A factor of the whole line: the product of one from each level.
fn two_level(c: &mut Code, [fine, coarse]: [View; 2], exponent: Value, low: u32) -> Cx {
    let [fine_at, coarse_at] = c.split(exponent, 1 << low, u32::MAX.into());
    let (a, b) = (c.factor(fine, fine_at), c.factor(coarse, coarse_at));
    c.cmul(a, b)
}
