//! Where lines stand in the block's array: one after the other, with pads that keep threads off one another's banks.

use crate::lower::Lowering;
use crate::lower::dealt::Dealt;
use crate::lower::digits::Digits;
use crate::lower::exchange::wavefronts;
use crate::lower::layout::Layout;
use crate::pass::{Axis, Fold, Way};

/// Pads behind a line, and behind all lines of a transform, in points.
const PADS: [i64; 5] = [0, 1, 2, 4, 8];

/// Part of the wavefronts that short numbers have to save which do not stand as they are to lie in memory.
const OF_RUNS: u64 = 4;

/// Distances in points.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::lower) struct Rows {
    /// Of the neighbours of each axis: the last one, which folds, lies closest.
    pub axes: Vec<i64>,
    /// Of the neighbours of each repeated dimension.
    pub repeated: Vec<i64>,
    /// Points from the first to the last.
    pub len: i64,
    /// How the blocks of a cluster share the lines out.
    pub dealt: Option<Dealt>,
}

impl Lowering<'_> {
    /// Chooses where the lines of the sides that fold stand.
    pub(in crate::lower) fn arrange_lines(&mut self) {
        for writes in [false, true] {
            if let Some(fold) = self.end(writes).filter(|_| !self.pass.axes.is_empty()) {
                self.rows[usize::from(writes)] = Some(self.best_rows(&fold, writes));
            }
        }
    }

    fn best_rows(&self, fold: &Fold, writes: bool) -> Rows {
        let cut = self.cluster.as_ref().map(|cluster| cluster.cut);
        let dealt = cut.and_then(|cut| Dealt::of(self.pass, &self.digits, cut, writes));
        // Lines that go as they lie have one value more than points.
        let more = i64::from(self.goes_straight(writes));
        let pads = PADS[more as usize..].iter().flat_map(|&line| PADS.map(|all| [line, all]));
        let rows = |pads| {
            let rows = self.rows_with(pads, dealt);
            Rows { len: rows.len + more, ..rows }
        };
        let all = pads.map(rows).enumerate();
        let tried = all.filter(|(at, rows)| *at == 0 || self.has_room_for(rows));
        // The first ones stand as they are to lie in memory: two short values at a time are worth a few conflicts.
        let runs = more == 1 && writes && self.pass.dst.storage.real_bytes() < 4;
        let weighed = |(at, rows): (usize, Rows)| {
            let conflicts = self.conflicts_of(&rows, fold, writes);
            (if runs && at > 0 { conflicts + conflicts / OF_RUNS } else { conflicts }, rows)
        };
        let best = tried.map(weighed).min_by(|(a, x), (b, y)| (a, x.len).cmp(&(b, y.len)));
        best.map_or_else(|| self.rows_with([0; 2], dealt), |(_, rows)| rows)
    }

    /// Whether the block has room for its lines so.
    pub(super) fn has_room_for(&self, rows: &Rows) -> bool {
        // A convolution holds its tile beside the lines, and keeps a little room for pads.
        let most = if self.convolves_in_place() {
            self.rows_with([0; 2], None).len * 33 / 32
        } else {
            i64::from(self.shared_limit) / self.pass.precision.complex_bytes() as i64
        };
        rows.len <= most
    }

    pub(super) fn rows_with(&self, [line, all]: [i64; 2], dealt: Option<Dealt>) -> Rows {
        let length = |(axis, own): (usize, &Axis)| {
            let dealt = dealt.filter(|dealt| dealt.axis == axis);
            (own.dim.n / dealt.map_or(1, |dealt| dealt.size)) as i64
        };
        let lengths: Vec<i64> = self.pass.axes.iter().enumerate().map(length).collect();
        let (mut axes, mut stride, mut len) = (vec![1; lengths.len()], 1, 1);
        for (axis, &n) in lengths.iter().enumerate().rev() {
            axes[axis] = stride;
            len += (n - 1) * stride;
            stride *= n;
            if axis + 1 == lengths.len() {
                stride += line;
            }
        }
        stride += all;
        let repeated = self.tile.batch.iter().map(|&held| {
            let own = stride;
            len += (held as i64 - 1) * own;
            stride *= held as i64;
            own
        });
        let repeated = repeated.collect();
        Rows { axes, repeated, len, dealt }
    }

    /// Wavefronts in which the stages and the fold touch the array.
    fn conflicts_of(&self, rows: &Rows, fold: &Fold, writes: bool) -> u64 {
        let (threads, bytes) = (self.threads.count, self.pass.precision.complex_bytes());
        let weights = self.weights_in(rows, writes);
        let stage = if writes { self.stages.last() } else { self.stages.first() };
        let register = stage.map(|&stage| self.register(stage));
        let [low, high] = self.digits.parts(register);
        let cut = self.cluster.as_ref().map(|cluster| cluster.cut);
        let block = cut.map(|cut| if writes { cut.after } else { cut.before });
        let order = self.digits.by_stride(&[low, high, block], &weights);
        let layout = Layout { register, order, block, pair: None };
        let (staged, _) = wavefronts(&self.digits, &layout, &weights, threads, bytes);
        let way = self.pass.way(writes);
        let (items, layout) = if self.goes_straight(writes) {
            self.inner_items(fold, writes)
        } else {
            let items = self.item_digits(fold, writes, fold.items(way, writes), rows.dealt);
            let strides = items.weights(|digit| if writes { digit.os } else { digit.is });
            let order = items.by_stride(&[], &strides);
            (items, Layout { register: None, order, block: None, pair: None })
        };
        let weights = self.item_weights(&items, rows);
        let (touched, _) = wavefronts(&items, &layout, &weights, threads, bytes);
        // One frequency and its mirror image are two.
        staged + touched * if way == Way::Bins { 2 } else { 1 }
    }

    /// Distance of each digit of the tile's items.
    pub(super) fn item_weights(&self, items: &Digits, rows: &Rows) -> Vec<i64> {
        let folded = self.pass.axes.len() - 1;
        items.weights(|digit| match (digit.batch, digit.axis) {
            (Some(d), _) => digit.number * rows.repeated[d],
            (None, Some(axis)) if axis == folded => 1,
            (None, axis) => axis.map_or(0, |axis| rows.axes[axis]),
        })
    }

    /// Distance of each digit of the tile.
    pub(super) fn weights_in(&self, rows: &Rows, writes: bool) -> Vec<i64> {
        self.digits.weights(|digit| match (digit.batch, digit.axis) {
            (Some(d), _) => digit.number * rows.repeated[d],
            (None, Some(axis)) => {
                let dim = &self.pass.axes[axis].dim;
                let index = if writes { digit.os / dim.os } else { digit.is / dim.is };
                let dealt = rows.dealt.filter(|dealt| dealt.axis == axis);
                dealt.map_or(index, |dealt| dealt.own_weight(index as u64) as i64) * rows.axes[axis]
            }
            (None, None) => 0,
        })
    }
}
