//! Launches that only move points, with neighbouring threads on neighbouring points on both sides: through shared memory.

use super::code::Code;
use super::draft::{Array, Draft};
use super::radix_2::bit_reversed;
use super::tile::{Tile, padded_points, threads};
use crate::error::Error;
use crate::kernel::{Special, Value};
use crate::program::too_large;

/// log2 of the rows and columns of a tile.
const SIDE: u32 = 4;

/// Brings the points of each line, 4 or more, into bit-reversed order. A block takes all values of the highest and the
/// lowest bits of the index, with those between the same: reversed, the highest are the lowest.
pub(super) fn bit_reverse(draft: &mut Draft<'_>, sides: [Array; 2]) -> Result<(), Error> {
    let n = draft.packed.points();
    let bits = n.trailing_zeros();
    let side = side(draft)?.min(bits / 2);
    let between = bits - 2 * side;
    let each = |c: &mut Code, block: Value, [row, column]: [Value; 2], reversed: bool| {
        let [middle, line] = c.split(block, 1 << between, u32::MAX.into());
        let middle = if reversed { bit_reversed(c, middle, between) } else { middle };
        let line = c.mul_const(line, n);
        let row = c.mul_const(row, n >> side);
        let middle = c.mul_const(middle, 1 << side);
        let at = c.add(line, row);
        let at = c.add(at, middle);
        c.add(at, column)
    };
    moved(
        draft,
        "reverse",
        sides,
        side,
        |c, block, spot| each(c, block, spot, false),
        |c, block, spot| each(c, block, spot, true),
        |c, [row, column]| [bit_reversed(c, column, side), bit_reversed(c, row, side)],
    )
}

/// Transposes matrices of so many rows and columns, both powers of two.
pub(super) fn transpose(
    draft: &mut Draft<'_>,
    sides: [Array; 2],
    rows: u64,
    columns: u64,
) -> Result<(), Error> {
    let side = side(draft)?.min(rows.trailing_zeros()).min(columns.trailing_zeros());
    let each = |c: &mut Code, block: Value, [row, column]: [Value; 2], turned: bool| {
        let [first, rest] = c.split(block, columns >> side, u32::MAX.into());
        let [second, matrix] = c.split(rest, rows >> side, u32::MAX.into());
        // Rows and columns of tiles.
        let ([down, across], width) =
            if turned { ([first, second], rows) } else { ([second, first], columns) };
        let down = c.mul_const(down, 1 << side);
        let row = c.add(down, row);
        let row = c.mul_const(row, width);
        let across = c.mul_const(across, 1 << side);
        let column = c.add(across, column);
        let matrix = c.mul_const(matrix, rows * columns);
        let at = c.add(matrix, row);
        c.add(at, column)
    };
    moved(
        draft,
        "transpose",
        sides,
        side,
        |c, block, spot| each(c, block, spot, false),
        |c, block, spot| each(c, block, spot, true),
        |_, [row, column]| [column, row],
    )
}

/// log2 of the rows and columns of a tile that a block holds.
fn side(draft: &Draft<'_>) -> Result<u32, Error> {
    let points = padded_points(draft.shared_points());
    too_large("points of a block", 1, points, draft.limits)?;
    Ok(SIDE.min(points.ilog2() / 2))
}

/// Blocks that each move a tile of `2^side` rows and columns: from where, to where, and what of the tile goes to a row and
/// column of the destination.
fn moved(
    draft: &mut Draft<'_>,
    name: &str,
    sides: [Array; 2],
    side: u32,
    from_where: impl Fn(&mut Code, Value, [Value; 2]) -> Value,
    to_where: impl Fn(&mut Code, Value, [Value; 2]) -> Value,
    turned: impl Fn(&mut Code, [Value; 2]) -> [Value; 2],
) -> Result<(), Error> {
    let points = 1_u64 << (2 * side);
    let threads = threads(points, draft.limits.max_threads);
    let blocks = draft.packed.elements() / points;
    let mut code = draft.kernel(name, threads, blocks)?;
    let c = &mut code;
    let [from, to] = c.pair(sides);
    let tile = Tile::padded(c, points);
    let (block, thread) = (c.special(Special::BlockIndex), c.special(Special::ThreadIndex));
    for first in (0..points).step_by(threads as usize) {
        let item = c.add_const(thread, first);
        let [column, row] = c.split(item, 1 << side, points - 1);
        let at = from_where(c, block, [row, column]);
        let z = c.load(from, at);
        tile.store(c, item, z);
    }
    c.barrier();
    for first in (0..points).step_by(threads as usize) {
        let item = c.add_const(thread, first);
        let [column, row] = c.split(item, 1 << side, points - 1);
        let [tile_row, tile_column] = turned(c, [row, column]);
        let at = c.mul_const(tile_row, 1 << side);
        let at = c.add(at, tile_column);
        let z = tile.load(c, at);
        let at = to_where(c, block, [row, column]);
        c.store(to, at, z);
    }
    draft.launch(code)
}
