//! `cooley-tukey-iterative`: small transforms of powers of two, in one to three dimensions, wholly in shared memory.
//!
//! S. Mitra, A. Srinivasan, *Small discrete Fourier transforms on GPUs*, 2011. A block has one transform: it reads the points
//! with the bits of each index reversed, and runs the stages along one axis after the other in place, a thread for each
//! butterfly. Factors come from tables of the host.

use super::draft::Draft;
use super::packed::Packed;
use super::radix_2::{bit_reversed, factors};
use super::stockham_2::Lines;
use super::tile::{Tile, TileLines, threads};
use super::{Algorithm, Facts};
use crate::error::Error;
use crate::kernel::Special;
use crate::program::too_large;

/// Where the strategies for small transforms were published.
pub(super) const SOURCE: &str = "Mitra, Srinivasan, Small discrete Fourier transforms on GPUs (2011)";

/// The strategy.
pub(super) struct CooleyTukeyIterative;

impl Algorithm for CooleyTukeyIterative {
    fn facts(&self) -> Facts {
        Facts {
            name: "cooley-tukey-iterative",
            source: SOURCE,
            about: "a block has a whole small transform in shared memory and runs the stages along each axis in place",
            covers: "powers of two from 2 on, in one to three dimensions, that fit a block's shared memory",
        }
    }

    fn covers(&self, packed: &Packed) -> bool {
        packed.powers_of_two() && packed.shape.len() <= 3
    }

    fn write(&self, draft: &mut Draft<'_>) -> Result<(), Error> {
        let points = draft.packed.points();
        too_large("points of a block", points, draft.shared_points(), draft.limits)?;
        let shape = draft.packed.shape.clone();
        let sizes: Vec<String> = shape.iter().map(u64::to_string).collect();
        let tables: Vec<_> = shape.iter().map(|&n| draft.table(factors(n))).collect();
        let name = format!("cooley_tukey_{}", sizes.join("_"));
        let threads = threads(points / 2, draft.limits.max_threads);
        let mut code = draft.kernel(&name, threads, draft.packed.batch)?;
        let c = &mut code;
        let [from, to] = c.pair([draft.input(), draft.output()]);
        let tables: Vec<_> = tables.into_iter().map(|table| c.table(table)).collect();
        let tile = Tile::interleaved(c, points);
        let (block, thread) = (c.special(Special::BlockIndex), c.special(Special::ThreadIndex));
        let start = c.mul_const(block, points);
        for first in (0..points).step_by(threads as usize) {
            let item = c.add_const(thread, first);
            let mut at = start;
            let mut rest = item;
            let mut inner = 1;
            for &n in shape.iter().rev() {
                let [index, others] = c.split(rest, n, points - 1);
                let index = bit_reversed(c, index, n.trailing_zeros());
                let part = c.mul_const(index, inner);
                at = c.add(at, part);
                inner *= n;
                rest = others;
            }
            let z = c.load(from, at);
            tile.store(c, item, z);
        }
        for (lines, &table) in Lines::of(&shape, 1).into_iter().zip(tables.iter().rev()) {
            let (n, inner) = (lines.n, lines.inner);
            let lines = TileLines { n, inner, rows: points / n / inner, rows_first: false };
            lines.stages(c, &tile, thread, |c, stage, k, _| {
                let exponent = c.mul_const(k, n >> (stage + 1));
                c.factor(table, exponent)
            });
        }
        for first in (0..points).step_by(threads as usize) {
            let item = c.add_const(thread, first);
            let z = tile.load(c, item);
            let z = c.cscale(z, draft.scale());
            let at = c.add(start, item);
            c.store(to, at, z);
        }
        draft.launch(code)
    }
}
