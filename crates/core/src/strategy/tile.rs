//! Complex numbers in shared memory, and stages of radix 2 over them.

use super::code::Code;
use super::radix_2::butterfly;
use crate::kernel::{Cache, Cx, Op, Space, Type, Value};

/// Complex numbers in shared memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tile {
    re: Space,
    /// The imaginary parts; `None`: beside the real ones.
    im: Option<Space>,
    /// Points of a tile that leaves out some; 0: none.
    padded: u64,
    /// Points of each block, where those of a cluster hold the tile together.
    held: Option<[u64; 2]>,
}

/// After so many points comes one that is left out, after as many times that another one, and so on: threads that are any
/// power of two apart then meet in no bank. It is the points of a row of banks in single precision.
const PAD: u64 = 16;

/// Points that such a tile has where shared memory has room for so many.
pub(super) const fn padded_points(room: u64) -> u64 {
    room / PAD * (PAD - 1)
}

/// Points that so many take, with those that are left out.
pub(super) fn padded_room(points: u64) -> u64 {
    points + levels(points).map(|level| points / level).sum::<u64>()
}

impl Tile {
    /// Real and imaginary parts side by side.
    pub fn interleaved(code: &mut Code, points: u64) -> Self {
        Self { re: code.tile("tile", 2 * points), im: None, padded: 0, held: None }
    }

    /// The same, with points left out.
    pub fn padded(code: &mut Code, points: u64) -> Self {
        Self { padded: points, ..Self::interleaved(code, padded_room(points)) }
    }

    /// Of the blocks of a cluster together, each of which holds as many points: side by side, with points left out or not.
    pub fn across(code: &mut Code, points: u64, blocks: u32, padded: bool) -> Self {
        let (room, padded) = if padded { (padded_room(points), points) } else { (points, 0) };
        let own = room.div_ceil(blocks.into());
        Self { padded, held: Some([own, room]), ..Self::interleaved(code, own) }
    }

    /// Waits until all that share it have come here, and sees what they wrote.
    pub fn barrier(&self, code: &mut Code) {
        if self.held.is_some() { code.cluster_barrier() } else { code.barrier() }
    }

    /// Pointer to a point's real part, in whichever block it is.
    fn pointer(&self, code: &mut Code, index: Value) -> Value {
        let Some([own, all]) = self.held else {
            let at = code.mul_const(index, 2);
            return code.addr(self.re, at);
        };
        let [index, block] = code.split(index, own, all);
        let at = code.mul_const(index, 2);
        let here = code.addr(self.re, at);
        let Space::Shared(array) = self.re else { return here };
        code.pure(Op::MapRemote, Type::Ptr(Space::Remote(array)), &[here, block])
    }

    /// Real and imaginary parts apart.
    pub fn split(code: &mut Code, points: u64) -> Self {
        let [re, im] = ["re", "im"].map(|name| code.tile(name, points));
        Self { re, im: Some(im), padded: 0, held: None }
    }

    fn place(&self, code: &mut Code, index: Value) -> Value {
        levels(self.padded).fold(index, |place, level| {
            let rows = code.div_const(index, level as u32, self.padded);
            code.add(place, rows)
        })
    }

    /// Reads a point.
    pub fn load(&self, code: &mut Code, index: Value) -> Cx {
        let index = self.place(code, index);
        match self.im {
            None => {
                let from = self.pointer(code, index);
                let z = code.b.load(from, 0, 2, Cache::Default, None);
                Cx { re: z[0], im: z[1] }
            }
            Some(im) => {
                let [re, im] = [self.re, im].map(|space| {
                    let from = code.addr(space, index);
                    code.b.load(from, 0, 1, Cache::Default, None)[0]
                });
                Cx { re, im }
            }
        }
    }

    /// Writes a point.
    pub fn store(&self, code: &mut Code, index: Value, z: Cx) {
        let index = self.place(code, index);
        match self.im {
            None => {
                let to = self.pointer(code, index);
                code.b.store(to, 0, &[z.re, z.im], Cache::Default, None);
            }
            Some(im) => {
                for (space, part) in [(self.re, z.re), (im, z.im)] {
                    let to = code.addr(space, index);
                    code.b.store(to, 0, &[part], Cache::Default, None);
                }
            }
        }
    }
}

/// After how many points of a tile one is left out.
fn levels(points: u64) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(PAD), |level| Some(level * PAD)).take_while(move |&level| level <= points)
}

/// Lines in a tile whose points stand in bit-reversed order, and of which each is to be transformed. Point p of the line
/// at (row, column) lies at `(row n + p) inner + column`. All counts are powers of two.
#[derive(Debug, Clone, Copy)]
pub(super) struct TileLines {
    /// Points of a line.
    pub n: u64,
    /// Distance of neighbours, and columns.
    pub inner: u64,
    /// Rows.
    pub rows: u64,
    /// Neighbouring threads take neighbouring rows, not neighbouring points.
    pub rows_first: bool,
}

impl TileLines {
    /// Stages of radix 2, in place, by decimation in time. `factor` gives that of a stage: it gets the stage, the
    /// butterfly's place among those of its group, and the row. The block is in step before each stage and after the
    /// last.
    pub fn stages(
        &self,
        code: &mut Code,
        tile: &Tile,
        thread: Value,
        mut factor: impl FnMut(&mut Code, u32, Value, Value) -> Cx,
    ) {
        let butterflies = self.n / 2 * self.inner * self.rows;
        for stage in 0..self.n.trailing_zeros() {
            code.barrier();
            for first in (0..butterflies).step_by(code.threads as usize) {
                let item = code.add_const(thread, first);
                let [column, rest] = code.split(item, self.inner, butterflies - 1);
                let [row, j] = if self.rows_first {
                    code.split(rest, self.rows, butterflies - 1)
                } else {
                    let [j, row] = code.split(rest, self.n / 2, butterflies - 1);
                    [row, j]
                };
                let [k, group] = code.split(j, 1 << stage, self.n / 2 - 1);
                let low = code.mul_const(group, 2 << stage);
                let low = code.add(low, k);
                let start = code.mul_const(row, self.n);
                let low = code.add(start, low);
                let low = code.mul_const(low, self.inner);
                let low = code.add(low, column);
                let high = code.add_const(low, self.inner << stage);
                let w = factor(code, stage, k, row);
                let points = [low, high].map(|at| tile.load(code, at));
                let points = butterfly(code, points, w);
                for (at, z) in [low, high].into_iter().zip(points) {
                    tile.store(code, at, z);
                }
            }
        }
        code.barrier();
    }
}

/// Threads for so many butterflies, both powers of two but for the device's limit.
pub(super) fn threads(butterflies: u64, most: u32) -> u32 {
    let most = u64::from(most.max(1));
    let most = 1 << most.ilog2();
    butterflies.clamp(1, most) as u32
}
