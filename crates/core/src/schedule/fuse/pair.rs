//! Two passes of which the second reads what the first writes, and the items that it comes in.

use crate::cost;
use crate::lower::tile::{Choice, Search};
use crate::pass::{Axis, Carry, Fold, Formula, Images, Method, PartKind, Pass, PassDim, Pointwise};
use crate::problem::{Format, Placement, Problem};
use crate::target::{Api, LINE_BYTES, Limits};

use super::together;

/// Slots start at multiples of so many elements.
const SLOT_ALIGNMENT: u64 = 64;
/// Slots of a ring at most: what the shortest items need to be a wave and a half ahead.
const MOST_SLOTS: u64 = 512;

/// Length and stride of a dimension in what lies between two passes.
pub(super) type Between = (u64, i64);

/// Elements of a format in the place of a complex number.
pub(super) const fn per_complex(format: Format) -> u64 {
    if matches!(format, Format::Real) { 2 } else { 1 }
}

/// The lines of a fold.
pub(super) fn folded(fold: &Fold, end: usize) -> Between {
    let rows = if fold.twins(end == 1) { 2 } else { 1 };
    (fold.elements() / rows, fold.stride)
}

fn stride(dim: &PassDim, end: usize) -> i64 {
    if end == 1 { dim.os } else { dim.is }
}

/// A repeated dimension in what a pass writes (end 1) or reads (end 0). Rows in pairs with their images are all rows.
pub(super) fn across(pass: &Pass, d: usize, end: usize) -> Between {
    let dim = &pass.batch[d];
    match (pass.rows_in_pairs(end == 1), d) {
        (Some(_), Images::MEMBER) => (1, 0),
        (Some(images), Images::ROW) => (images.rows, stride(dim, end)),
        _ => (dim.n, stride(dim, end)),
    }
}

/// An axis there: as much of it as its window shows.
pub(super) fn seen(pass: &Pass, axis: &Axis, end: usize) -> Between {
    (pass.held(axis, end == 1), stride(&axis.dim, end))
}

/// Pairs of rows side by side as single rows; another dimension as it is.
fn parted((n, stride): Between) -> Between {
    if stride == 2 { (2 * n, 1) } else { (n, stride) }
}

/// The dimensions of which those of both sides are made, which stand with the fastest first, if both name the same elements; and how
/// many of them make the longer one of the first.
fn refined(written: &[Between], read: &[Between]) -> Option<(Vec<Between>, usize)> {
    let row = [written, read].into_iter().filter_map(|side| side.first()).map(|&(n, _)| n).max();
    let mut rest = [written, read].map(|side| side.iter().rev().copied().collect::<Vec<_>>());
    let mut pieces: Vec<Between> = Vec::new();
    let mut rows = 0;
    while let (Some(x), Some(y)) = (rest[0].pop(), rest[1].pop()) {
        let (n, stride) = (x.0.min(y.0), x.1);
        if y.1 != stride || !x.0.is_multiple_of(n) || !y.0.is_multiple_of(n) {
            return None;
        }
        rows += usize::from(pieces.iter().map(|&(n, _)| n).product::<u64>() < row.unwrap_or(1));
        pieces.push((n, stride));
        for (rest, (whole, _)) in rest.iter_mut().zip([x, y]) {
            rest.extend((whole > n).then(|| (whole / n, stride * n as i64)));
        }
    }
    rest.iter().all(Vec::is_empty).then_some((pieces, rows))
}

/// Two passes of which the second reads what the first writes, item by item.
#[derive(Debug, Clone)]
pub(super) struct Pair {
    /// Items.
    pub count: u64,
    /// Repeated dimensions of each pass that number the items.
    pub items: [Vec<usize>; 2],
    /// Dimensions of an item, the fastest first.
    local: Vec<Between>,
    /// How many of them are a row, which lies without gaps: one, or what is one dimension in some pass.
    row: usize,
    /// What lies between: complex numbers, or reals.
    pub format: Format,
    /// Bytes of an element of it.
    pub element_bytes: u64,
    /// The second pass is the middle of a convolution, which reads a spectrum of as many points as an item has.
    spectrum: bool,
}

impl Pair {
    pub fn of(passes: [&Pass; 2], problem: &Problem) -> Option<Self> {
        Self::holding(passes, None, problem)
    }

    /// The passes with items of so many indices together.
    pub fn grouped(&self, passes: [&Pass; 2], together: u64, problem: &Problem) -> Option<([Pass; 2], Self)> {
        if together == 1 {
            return Some((passes.map(Pass::clone), self.clone()));
        }
        let (grouped, inner) = together::grouped(passes, self, together)?;
        let pair = Self::holding([&grouped[0], &grouped[1]], Some(inner), problem)?;
        Some((grouped, pair))
    }

    /// `inner` lies within an item, whoever is repeated over it.
    fn holding([a, b]: [&Pass; 2], inner: Option<Between>, problem: &Problem) -> Option<Self> {
        let plain = |pass: &Pass| {
            let stages = |method: &Method| matches!(method, Method::MixedRadix(_));
            let even = |axis: &Axis| axis.digits.is_empty() && stages(&axis.method);
            !pass.moves() && !pass.axes.is_empty() && pass.axes.iter().all(even)
        };
        let whole = |factor: Option<Pointwise>| factor.is_none_or(|factor| factor.limit.is_none());
        // What is overwritten must be what the same item has read.
        let moved = problem.placement == Placement::InPlace && problem.moves();
        let apart = a.src.array != b.dst.array || (a.src == b.dst && !moved);
        // Lines of two rows know how far apart these lie: in the ring they are neighbours, or another tile's.
        let known = |(end, fold): (usize, Option<Fold>)| {
            fold.is_none_or(|fold| {
                (fold.carry == Carry::Halves || fold.twins(end == 1)) && fold.window.is_none()
            })
        };
        let folds = [a, b].iter().all(|pass| pass.ends.into_iter().enumerate().all(known));
        let windows = a.shows_whole_axes(true) && b.shows_whole_axes(false);
        // Of a spectrum only the side between the passes is folded.
        let spectrum =
            |fold: Option<Fold>| fold.is_some_and(|fold| matches!(fold.formula, Formula::Spectrum { .. }));
        if !folds || !windows || spectrum(a.ends[0]) || spectrum(b.ends[1]) {
            return None;
        }
        // A convolution through memory takes its middle from the ring, and lets go of it after a stage.
        let middle = |pass: &Pass| {
            let own = |method: &Method| matches!(method, Method::Coprime(parts) if parts.len() == 1 && parts[0].kind == PartKind::Middle);
            !pass.moves() && pass.axes.len() == 1 && own(&pass.axes[0].method)
        };
        if a.dst != b.src
            || !plain(a)
            || !(plain(b) || middle(b))
            || !whole(a.store)
            || !whole(b.load)
            || !apart
        {
            return None;
        }
        let side = |pass: &Pass, end: usize| {
            let mut axes: Vec<Between> = pass.axes.iter().map(|axis| seen(pass, axis, end)).collect();
            let mut batch: Vec<Between> = (0..pass.batch.len()).map(|d| across(pass, d, end)).collect();
            if let (Some(fold), Some(last)) = (pass.ends[end], axes.last_mut()) {
                *last = folded(&fold, end);
                batch.iter_mut().filter(|_| fold.twins(end == 1)).for_each(|dim| *dim = parted(*dim));
            }
            axes.into_iter().chain(batch).collect::<Vec<Between>>()
        };
        let (mut written, mut read) = (side(a, 1), side(b, 0));
        for side in [&mut written, &mut read] {
            side.retain(|&(n, _)| n > 1);
            side.sort_by_key(|&(_, stride)| stride.unsigned_abs());
        }
        let (mut written, row) = refined(&written, &read)?;
        // Repeated in both passes, and further apart than all that is not.
        let find = |pass: &Pass, end: usize, between: Between| {
            (0..pass.batch.len()).position(|d| across(pass, d, end) == between)
        };
        let mut items = [Vec::new(), Vec::new()];
        let mut count = 1;
        while let Some(&slowest) = written.last()
            && inner != Some(slowest)
            && let (Some(x), Some(y)) = (find(a, 1, slowest), find(b, 0, slowest))
        {
            written.pop();
            items[0].push(x);
            items[1].push(y);
            count *= slowest.0;
        }
        // Whoever counts the items goes by the dimensions in the order in which the passes name them.
        let ranks = |at: &[usize]| at.iter().map(|d| at.iter().filter(|&other| other < d).count()).collect();
        let [one, two]: [Vec<usize>; 2] = [ranks(&items[0]), ranks(&items[1])];
        if one != two {
            return None;
        }
        // A run of fewer is the first items.
        let slowest = |pass: &Pass, at: &[usize]| {
            let own = pass.at_run();
            own.is_none() || own == at.iter().min().copied()
        };
        if !slowest(a, &items[0]) || !slowest(b, &items[1]) {
            return None;
        }
        // Where results take the place of the data, an item's are to take that of its own.
        let stays = |(&x, &y): (&usize, &usize)| a.batch[x].is == b.batch[y].os;
        if a.src == b.dst && !items[0].iter().zip(&items[1]).all(stays) {
            return None;
        }
        let spectrum = b.axes.iter().any(|axis| axis.method.convolves());
        let format = if a.dst.format == Format::Real { Format::Real } else { Format::Interleaved };
        let element_bytes = problem.precision.complex_bytes() / per_complex(format);
        Some(Self { count, items, local: written, row, format, element_bytes, spectrum })
    }

    /// Elements of a slot.
    pub fn slot(&self) -> u64 {
        (self.packed(self.local.len()) as u64).next_multiple_of(SLOT_ALIGNMENT)
    }

    /// Copies that both passes cost more than their tiles and the ring say.
    pub fn beside(&self) -> f64 {
        if self.spectrum { cost::fused::of_spectrum(self.slot() * self.element_bytes) } else { 0.0 }
    }

    /// Elements from one index to the next of the dimension that follows the first so many. Long rows start with lines of
    /// the cache, whatever their length.
    fn packed(&self, dims: usize) -> i64 {
        let line = LINE_BYTES / self.element_bytes;
        let points = |pieces: &[Between]| pieces.iter().map(|&(n, _)| n).product::<u64>();
        let (fast, slow) = self.local.split_at(self.row.min(self.local.len()));
        if dims < fast.len() {
            return points(&fast[..dims]) as i64;
        }
        let row = points(fast);
        let row = if row >= 2 * line && !slow.is_empty() { row.next_multiple_of(line) } else { row };
        (row * points(&slow[..dims - fast.len()])) as i64
    }

    /// Stride in a slot of a dimension of what lies between, which may count two rows side by side; 0 for those that number
    /// the items.
    pub fn stride(&self, dim: Between, twins: bool) -> i64 {
        // One that is several begins where the fastest of them does.
        let begins = |own: Between, dim: Between| own.1 == dim.1 && dim.0.is_multiple_of(own.0);
        let find = |dim: Between| {
            let at = self.local.iter().position(|&own| begins(own, dim));
            at.map(|at| self.packed(at))
        };
        let both = || (parted(dim) != dim).then(|| Some(2 * find(parted(dim))?)).flatten();
        find(dim).or_else(|| both().filter(|_| twins)).unwrap_or(0)
    }

    /// Tiles of an item in both passes.
    pub fn step(&self, passes: [&Pass; 2], tiles: &[Choice; 2]) -> u64 {
        let count = |i: usize| {
            passes[i].batch.iter().zip(&tiles[i].tile.batch).map(|(dim, &held)| dim.n.div_ceil(held))
        };
        let all: u64 = [0, 1].iter().map(|&i| count(i).product::<u64>()).sum();
        all / self.count.max(1)
    }

    /// Slots of a ring at most; less than two where two passes do not share a launch.
    pub fn most_slots(&self, limits: &Limits) -> u64 {
        // Only there does a block that waits for another not keep it from running.
        if !matches!(limits.api, Api::Ptx { .. }) {
            return 0;
        }
        let bytes = self.slot() * self.element_bytes;
        (limits.l2_bytes / 2 / bytes).min(self.count).min(MOST_SLOTS)
    }

    /// Slots and distances worth a try when an item has `step` tiles and `resident` blocks run at once, the likely
    /// best first.
    pub fn rings(&self, step: u64, resident: u64, limits: &Limits, search: Search<'_>) -> Vec<[u32; 2]> {
        let most = self.most_slots(limits);
        let (ahead, spare) = cost::fused::best_ring(step, resident);
        let likely = [
            (ahead, spare),
            (ahead, spare + 1),
            (ahead - 1, spare),
            (ahead + 1, spare),
            (ahead / 2, spare),
            (1, 1),
        ];
        let others = [
            (ahead + 2, spare),
            (ahead, spare + 2),
            (ahead + 1, spare + 1),
            (ahead - 1, spare + 1),
            (ahead * 3 / 2, spare),
            (ahead * 3 / 4, spare + 1),
        ];
        let others = others.into_iter().filter(|_| search == Search::Wide);
        let mut rings = Vec::new();
        for (ahead, spare) in likely.into_iter().chain(others) {
            let ahead = ahead.clamp(1, most.max(2) - 1);
            let ring = [(ahead + spare).min(most) as u32, ahead as u32];
            if most >= 2 && !rings.contains(&ring) {
                rings.push(ring);
            }
        }
        rings
    }
}
