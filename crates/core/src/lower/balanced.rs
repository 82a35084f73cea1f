//! Digits of a line's input that count from below zero.
//!
//! A stage multiplies its points by the powers `w^0` to `w^(r - 1)` of a factor. Where their digit counts from `-c` to `r - 1 - c`, they
//! are conjugates in pairs: half the products, and half the registers that they take. All points of the line are then read
//! a constant further ahead, the sum of each stage's `c` times the weight of its digit. This goes round the line's end, but
//! for the first stage's digit 0 alone, which a thread has in one register: one choice of a pointer.

use crate::cost::Model;
use crate::kernel::{Cmp, Op, Value};
use crate::math::factor::gcd;
use crate::pass::{Array, Method, Pass};
use crate::problem::Precision;
use crate::target::{Limits, SECTOR_BYTES};

use super::layout::Layout;
use super::memory::Side;
use super::tile::Tile;
use super::{Lowering, Stage};

/// A line whose input is read so.
#[derive(Debug, Clone)]
pub(super) struct Balance {
    /// How far below zero the digit of each stage begins.
    centres: Vec<u32>,
    /// Elements of the line by which its points are read ahead.
    ahead: i64,
}

/// Copies that a tile is expected to take from which on it is worth it, of singles and of shorter numbers, of which too few are
/// expected: where its work, and not memory, takes the time. Below, lines that are read in two pieces take up to 4% longer on an
/// H200; from here on all of 17 lengths of singles and nine of 16 bits take less, 2% and 4% in the mean
/// (docs/notes/balanced-digits.md).
const WORTH: [f64; 2] = [1.25, 1.08];

/// Whether the rows of a pass gain by it. Powers of two do not, nor planes and columns, nor what goes by the workspace; doubles lose.
pub(super) fn worth(pass: &Pass, tile: &Tile, limits: &Limits) -> bool {
    let [axis] = &pass.axes[..] else { return false };
    let rows = axis.dim.is == 1 && axis.digits.is_empty() && !axis.dim.n.is_power_of_two();
    let copies = || Model::new(pass, &tile.batch, tile.cluster, limits)?.copies(tile.threads);
    let between = [pass.src, pass.dst].iter().any(|side| matches!(side.array, Array::Workspace(_)));
    let worth = WORTH[usize::from(is_short(pass))];
    pass.precision == Precision::F32
        && rows
        && !between
        && matches!(axis.method, Method::MixedRadix(_))
        && copies().is_some_and(|copies| copies >= worth)
}

/// Whether a pass reads numbers that are kept in less than single precision.
fn is_short(pass: &Pass) -> bool {
    pass.src.storage.real_bytes() < 4
}

/// Where a digit begins below zero: as near to its middle as whole units of `unit` allow, 0 where that saves no power.
fn centre(radix: u32, unit: u32) -> u32 {
    let largest = |centre: u32| centre.max(radix - 1 - centre);
    (0..radix).step_by(unit as usize).min_by_key(|&centre| largest(centre)).unwrap_or(0)
}

impl Lowering<'_> {
    /// How the line is read, for a layout in which the tile is loaded.
    pub(super) fn balance(&self, load: &Layout) -> Option<Balance> {
        let axis = self.pass.axes.first()?;
        let (n, stages) = (axis.dim.n, self.digits.stages.first()?);
        let plain = self.balances
            && load.register == stages.first().copied()
            && !self.staged(false)
            && !self.twiddles_read()
            && self.pass.images.is_none()
            && self.pass.load.is_none()
            && self.pass.functions.load.is_none()
            && self.pass.windows[0].is_empty();
        if !plain {
            return None;
        }
        let bytes = self.pass.element_bytes(false);
        let pair = load.pair.map_or(1, |digit| self.digits.all[digit].size);
        // Whole sectors stay whole where rows are, and pairs pairs; of numbers of 16 bits the pairs are enough.
        let whole = !is_short(self.pass) && (n * bytes).is_multiple_of(SECTOR_BYTES);
        let mut centres = vec![0];
        let mut ahead = 0;
        for &digit in &stages[1..] {
            let weight = self.digits.all[digit].input;
            let apart = bytes * weight as u64;
            let unit = if whole { SECTOR_BYTES / gcd(SECTOR_BYTES, apart) } else { 1 };
            let unit = if weight == 1 { (unit as u32).max(pair) } else { unit as u32 };
            let centre = centre(self.digits.radix(digit), unit);
            ahead += i64::from(centre) * weight;
            centres.push(centre);
        }
        (ahead > 0).then_some(Balance { centres, ahead })
    }

    /// How far below zero the digit of a stage begins.
    pub(super) fn below_zero(&self, stage: Stage) -> u32 {
        self.balance.as_ref().map_or(0, |balance| balance.centres[stage.position])
    }

    /// A stage's group from digit zero on.
    pub(super) fn begun_at_zero<T: Clone>(&self, stage: Stage, group: &[T]) -> Vec<T> {
        let (below, rest) = group.split_at(self.below_zero(stage) as usize);
        [rest, below].concat()
    }

    /// What is read ahead, in reals from a pointer; and the pointers of a group's first element, which may be at the other
    /// end of the line.
    pub(super) fn ahead_of(
        &mut self,
        side: &Side,
        (layout, slot): (&Layout, u32),
        pointers: &[Value],
    ) -> (i64, Vec<Value>) {
        let Some(&Balance { ahead, .. }) = self.balance.as_ref() else { return (0, pointers.to_vec()) };
        let line = side.step * self.pass.axes[0].dim.n as i64;
        let inputs = self.digits.weights(|digit| digit.input);
        let at = self.linear(layout, slot, &inputs);
        let start = at.thread.unwrap_or_else(|| self.b.u32(0));
        let start = self.b.add_const(start, at.constant as u64);
        let [end, line, none] = [ahead, line, 0].map(|constant| self.b.u32(constant as u32));
        let before = self.b.cmp(Cmp::Lt, start, end);
        let further = self.b.pure(Op::Select, self.b.ty(line), &[before, line, none]);
        let first = pointers.iter().map(|&ptr| self.b.ptr_add(ptr, further)).collect();
        (side.step * ahead, first)
    }
}

#[cfg(test)]
mod tests {
    use super::centre;

    #[test]
    fn digits_begin_in_the_middle_where_units_allow() {
        let centres = |unit| [2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 25, 32].map(|radix| centre(radix, unit));
        assert_eq!(centres(1), [0, 1, 1, 2, 2, 3, 3, 4, 5, 7, 12, 15]);
        assert_eq!(centres(2), [0, 0, 2, 2, 2, 2, 4, 4, 6, 8, 12, 16]);
        assert_eq!(centres(4), [0, 0, 0, 0, 4, 4, 4, 4, 4, 8, 12, 16]);
        assert_eq!(centres(8), [0, 0, 0, 0, 0, 0, 0, 8, 8, 8, 8, 16]);
    }
}
