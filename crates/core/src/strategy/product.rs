//! Small transforms in shared memory as products with matrices of factors, along one axis after the other.

use super::code::{Code, View};
use super::draft::Draft;
use super::packed::Packed;
use super::tile::Tile;
use super::turns::{Share, Turns};
use crate::error::Error;
use crate::kernel::{Cmp, Cx, Special, Value};
use crate::program::too_large;

/// Points of a thread at most: their sums stay in registers.
pub(super) const MOST_POINTS: u64 = 16;

/// Points of a thread that are worth a thread less.
const POINTS: u64 = 4;

/// How many times as large as those of fast transforms errors may be: as the root of the longest line, not of its logarithm.
pub(super) fn errors(packed: &Packed) -> f64 {
    let longest = packed.shape.iter().copied().max().unwrap_or(1);
    (0.25 * (longest as f64).sqrt()).max(1.0)
}

/// How a block's work is shared out, where that is asked for.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Shares {
    /// Points of a thread.
    pub elements: Option<u64>,
    /// Planes of a volume at once; of lines and planes, transforms of a block.
    pub planes: Option<u64>,
}

/// A kernel whose blocks have one transform each, or a few.
pub(super) struct Small {
    /// The kernel.
    pub code: Code,
    sides: [View; 2],
    /// Points of a block.
    points: u64,
    /// Points of all, where the last block has fewer.
    end: Option<u64>,
    turns: Option<Turns>,
    tile: Tile,
    matrix: Option<Tile>,
    start: Value,
    thread: Value,
    scale: f64,
}

/// Sums of `n` points, `distance` apart, times the powers of a root of order n.
pub(super) struct Product {
    /// Points of a line.
    pub n: u64,
    /// Their distance.
    pub distance: u64,
    /// The powers of the root.
    pub factors: View,
    /// What else becomes of the sums.
    pub turned: Option<Turned>,
}

/// What becomes of the sums of a line of two factors.
pub(super) enum Turned {
    /// After the first, each is multiplied by the root of the whole line to the power of row times column.
    Factors {
        /// Points of the whole line.
        n: u64,
        /// Columns.
        ny: u64,
        /// Distance of the whole line's neighbours.
        inner: u64,
        /// The powers of its root.
        factors: View,
    },
    /// After the second, rows become columns: frequency `ky` of row `kx` is `kx + Nx ky`.
    Order {
        /// Rows.
        nx: u64,
        /// Distance of the whole line's neighbours.
        inner: u64,
    },
}

impl Small {
    /// A kernel with room for the points, and for so many factors.
    pub fn new(draft: &Draft<'_>, name: &str, matrix: Option<u64>, shares: Shares) -> Result<Self, Error> {
        let Packed { shape, batch, .. } = &draft.packed;
        let turns = shares.planes.and_then(|planes| Turns::of(shape, planes));
        let transforms = if turns.is_some() { 1 } else { shares.planes.unwrap_or(1).min(*batch).max(1) };
        let points = draft.packed.points().saturating_mul(transforms);
        let needed = points.saturating_add(matrix.unwrap_or(0));
        too_large("points and factors of a block", needed, draft.shared_points(), draft.limits)?;
        let most = u64::from(draft.limits.max_threads);
        let at_once = turns.as_ref().map_or(points, Turns::points);
        too_large("points of a block's threads", at_once, MOST_POINTS * most, draft.limits)?;
        let threads = match shares.elements {
            Some(elements) => at_once.div_ceil(elements),
            None => at_once.div_ceil(POINTS).max(at_once.min(64)).min(most),
        };
        let sizes: Vec<String> = shape.iter().map(u64::to_string).collect();
        let blocks = batch.div_ceil(transforms);
        // Where the last block's would lie is counted, too.
        let counted = blocks.saturating_mul(points);
        too_large("elements of one array of a strategy", counted, u32::MAX.into(), draft.limits)?;
        let end = (!batch.is_multiple_of(transforms)).then(|| draft.packed.elements());
        let mut code = draft.kernel(&format!("{name}_{}", sizes.join("_")), threads as u32, blocks)?;
        let sides = code.pair([draft.input(), draft.output()]);
        let tile = Tile::interleaved(&mut code, points);
        let matrix = matrix.map(|factors| Tile::interleaved(&mut code, factors));
        let (block, thread) = (code.special(Special::BlockIndex), code.special(Special::ThreadIndex));
        let start = code.mul_const(block, points);
        let scale = draft.scale();
        Ok(Self { code, sides, points, end, turns, tile, matrix, start, thread, scale })
    }

    /// Calls `body` for each of so many items of the thread; where threads are left over, within a branch.
    fn each(&mut self, items: u64, mut body: impl FnMut(&mut Self, Value)) {
        let threads = u64::from(self.code.threads);
        for first in (0..items).step_by(threads as usize) {
            let item = self.code.add_const(self.thread, first);
            let guard = (first + threads > items).then(|| {
                let end = self.code.u32(items as u32);
                self.code.cmp(Cmp::Lt, item, end)
            });
            if guard.is_some() {
                self.code.open_branch();
            }
            body(self, item);
            if let Some(guard) = guard {
                self.code.close_branch(guard);
            }
        }
    }

    /// Where a point of the block lies, and whether it does where the last block has fewer.
    fn place(&mut self, item: Value) -> (Value, Option<Value>) {
        let at = self.code.add(self.start, item);
        let inside = self.end.map(|end| {
            let end = self.code.u32(end as u32);
            self.code.cmp(Cmp::Lt, at, end)
        });
        (at, inside)
    }

    /// Reads the block's points.
    pub fn read(&mut self) {
        self.each(self.points, |own, item| {
            let (at, inside) = own.place(item);
            let z = own.code.only(inside, |c| c.load(own.sides[0], at));
            own.tile.store(&mut own.code, item, z);
        });
    }

    /// The block's points times a matrix along one axis.
    pub fn product(&mut self, product: &Product) {
        let n = product.n;
        if let Some(matrix) = self.matrix {
            // All have done with the matrix of the axis before.
            self.code.barrier();
            self.each(n * n, |own, item| {
                let c = &mut own.code;
                let [k, j] = c.split(item, n, n * n - 1);
                let power = c.mul(j, k);
                let power = c.rem_const(power, n as u32, n * n);
                let w = c.factor(product.factors, power);
                matrix.store(c, item, w);
            });
        }
        self.code.barrier();
        let Some(turns) = self.turns else { return self.turn(product, &Share::all(self.points)) };
        let (share, count) = turns.share(product.distance);
        let (zero, end, one) = (self.code.u32(0), self.code.u32(count as u32), self.code.u32(1));
        let (turn, _) = self.code.open_loop(&[]);
        let share = share.at(&mut self.code, turn);
        self.turn(product, &share);
        self.code.close_loop([zero, end, one], &[], Vec::new());
    }

    /// The product for a share of the points: no others read what it writes before the next barrier but one.
    fn turn(&mut self, product: &Product, share: &Share) {
        let threads = u64::from(self.code.threads);
        let mut sums = Vec::new();
        // What is left over of a turn sums its first point: others may be written meanwhile.
        let zero = self.code.u32(0);
        let (spare, _) = share.place(&mut self.code, zero);
        for first in (0..share.items).step_by(threads as usize) {
            let item = self.code.add_const(self.thread, first);
            // Threads that are left over sum the last point, and drop it.
            let last = self.code.u32(share.items as u32 - 1);
            let item = if first + threads > share.items {
                let inside = self.code.cmp(Cmp::Lt, item, last);
                self.code.select(inside, item, last)
            } else {
                item
            };
            let (place, inside) = share.place(&mut self.code, item);
            let place = inside.map_or(place, |inside| self.code.select(inside, place, spare));
            sums.push(self.sum(product, place));
        }
        self.code.barrier();
        let mut sums = sums.into_iter();
        self.each(share.items, |own, item| {
            let Some(sum) = sums.next() else { return };
            let (place, inside) = share.place(&mut own.code, item);
            if inside.is_some() {
                own.code.open_branch();
            }
            let (z, at) = own.turned(product, place, sum);
            own.tile.store(&mut own.code, at, z);
            if let Some(inside) = inside {
                own.code.close_branch(inside);
            }
        });
    }

    /// The sum for one point.
    fn sum(&mut self, product: &Product, item: Value) -> Cx {
        let (points, tile, matrix) = (self.points, self.tile, self.matrix);
        let c = &mut self.code;
        let n = product.n;
        let [column, rest] = c.split(item, product.distance, points - 1);
        let [j, row] = c.split(rest, n, points - 1);
        let row = c.mul_const(row, n * product.distance);
        let start = c.add(row, column);
        let (zero, one, end) = (c.u32(0), c.u32(1), c.u32(n as u32));
        let elem = c.elem;
        let nothing = c.float(elem, 0.0);
        let init = [nothing, nothing, zero];
        let sums = {
            let (k, carried) = c.open_loop(&init);
            let at = c.mul_const(k, product.distance);
            let at = c.add(start, at);
            let x = tile.load(c, at);
            let (w, next) = match matrix {
                Some(matrix) => {
                    // The matrix is symmetric: neighbouring j lie side by side in row k.
                    let row = c.mul_const(k, n);
                    let at = c.add(row, j);
                    (matrix.load(c, at), carried[2])
                }
                None => {
                    // j k modulo n, from one k to the next.
                    let next = c.add(carried[2], j);
                    let beyond = c.cmp(Cmp::Ge, next, end);
                    let back = c.sub(next, end);
                    (c.factor(product.factors, carried[2]), c.select(beyond, back, next))
                }
            };
            let minus = c.neg(x.im);
            let re = c.fma(x.re, w.re, carried[0]);
            let re = c.fma(minus, w.im, re);
            let im = c.fma(x.re, w.im, carried[1]);
            let im = c.fma(x.im, w.re, im);
            c.close_loop([zero, end, one], &init, vec![re, im, next])
        };
        Cx { re: sums[0], im: sums[1] }
    }

    /// What is written of a sum, and where.
    fn turned(&mut self, product: &Product, item: Value, sum: Cx) -> (Cx, Value) {
        let points = self.points;
        let c = &mut self.code;
        match product.turned {
            None => (sum, item),
            Some(Turned::Factors { n, ny, inner, factors }) => {
                let [_, rest] = c.split(item, inner, points - 1);
                let [column, rest] = c.split(rest, ny, points - 1);
                let [row, _] = c.split(rest, product.n, points - 1);
                // Both are below their own counts, and so the product below n.
                let power = c.mul(column, row);
                debug_assert_eq!(n, ny * product.n);
                let w = c.factor(factors, power);
                (c.cmul(sum, w), item)
            }
            Some(Turned::Order { nx, inner }) => {
                let [column, rest] = c.split(item, inner, points - 1);
                let [ky, rest] = c.split(rest, product.n, points - 1);
                let [kx, above] = c.split(rest, nx, points - 1);
                let above = c.mul_const(above, nx * product.n);
                let ky = c.mul_const(ky, nx);
                let k = c.add(kx, ky);
                let at = c.add(above, k);
                let at = c.mul_const(at, inner);
                (sum, c.add(at, column))
            }
        }
    }

    /// Writes the block's points, and the launch.
    pub fn finish(mut self, draft: &mut Draft<'_>) -> Result<(), Error> {
        self.code.barrier();
        self.each(self.points, |own, item| {
            let z = own.tile.load(&mut own.code, item);
            let z = own.code.cscale(z, own.scale);
            let (at, inside) = own.place(item);
            own.code.only(inside, |c| c.store(own.sides[1], at, z));
        });
        draft.launch(self.code)
    }
}
