//! `keskin-3d`: batches of small cubes, plane by plane, without a transposition.
//!
//! Keskin, Erdil and Kocak, *An efficient parallel implementation of 3D-FFT on GPU*. A block of `N/2` threads by
//! N has a plane of `N x N` points in shared memory, real and imaginary parts apart; a thread has a butterfly of a row, and
//! computes its factor itself. Along the third axis other planes are read, whose points lie far apart, so nothing is
//! transposed. How planes are shared out to launches is reconstructed: one launch does the last two axes of each plane, the
//! next one the first axis of all planes across.

use super::code::Code;
use super::draft::{Array, Draft};
use super::packed::Packed;
use super::radix_2::bit_reversed;
use super::sine;
use super::tile::{Tile, TileLines};
use super::{Algorithm, Facts};
use crate::error::Error;
use crate::kernel::{Special, Value};

/// The strategy.
pub(super) struct Keskin3d;

impl Algorithm for Keskin3d {
    fn facts(&self) -> Facts {
        Facts {
            name: "keskin-3d",
            source: "Keskin, Erdil, Kocak, An efficient parallel implementation of 3D-FFT on GPU",
            about: "planes of cubes in shared memory, N/2 threads by N, which compute their factors; nothing is transposed",
            covers: "cubes of a power of two from 2 on, while a block may have N x N/2 threads (32 of 1024)",
        }
    }

    fn covers(&self, packed: &Packed) -> bool {
        let cube = packed.shape.len() == 3 && packed.shape.iter().all(|n| *n == packed.shape[0]);
        cube && packed.powers_of_two()
    }

    fn write(&self, draft: &mut Draft<'_>) -> Result<(), Error> {
        let (input, output) = (draft.input(), draft.output());
        planes(draft, [input, output], true)?;
        planes(draft, [output, output], false)
    }
}

/// A launch: of each plane of the last two axes both of them (`whole`), or of each plane across the first.
fn planes(draft: &mut Draft<'_>, sides: [Array; 2], whole: bool) -> Result<(), Error> {
    let n = draft.packed.shape[0];
    let threads = u32::try_from(n.saturating_mul(n) / 2).unwrap_or(u32::MAX);
    let name = if whole { "planes" } else { "across" };
    let mut code = draft.kernel(&format!("{name}_{n}"), threads, draft.packed.batch.saturating_mul(n))?;
    let c = &mut code;
    let [from, to] = c.pair(sides);
    let tile = Tile::split(c, n * n);
    let (block, thread) = (c.special(Special::BlockIndex), c.special(Special::ThreadIndex));
    let [plane, cube] = c.split(block, n, u32::MAX.into());
    let start = c.mul_const(cube, n * n * n);
    let plane = c.mul_const(plane, if whole { n * n } else { n });
    let start = c.add(start, plane);
    let distance = if whole { n } else { n * n };
    let at = |c: &mut Code, row: Value, column: Value| {
        let row = c.mul_const(row, distance);
        let at = c.add(start, row);
        c.add(at, column)
    };
    let bits = n.trailing_zeros();
    for half in 0..2 {
        let item = c.add_const(thread, half * n * n / 2);
        let [column, row] = c.split(item, n, n * n - 1);
        let row = bit_reversed(c, row, bits);
        let column = if whole { bit_reversed(c, column, bits) } else { column };
        let from_here = at(c, row, column);
        let z = c.load(from, from_here);
        tile.store(c, item, z);
    }
    let factor = |c: &mut Code, stage: u32, k: Value, _: Value| sine::factor(c, k, 2 << stage);
    if whole {
        TileLines { n, inner: 1, rows: n, rows_first: false }.stages(c, &tile, thread, factor);
    }
    TileLines { n, inner: n, rows: 1, rows_first: false }.stages(c, &tile, thread, factor);
    let scale = if whole { 1.0 } else { draft.scale() };
    for half in 0..2 {
        let item = c.add_const(thread, half * n * n / 2);
        let [column, row] = c.split(item, n, n * n - 1);
        let z = tile.load(c, item);
        let z = c.cscale(z, scale);
        let to_here = at(c, row, column);
        c.store(to, to_here, z);
    }
    draft.launch(code)
}
