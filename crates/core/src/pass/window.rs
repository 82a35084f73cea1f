//! Windows of a pass: which points of a dimension its memory holds.

use super::{Axis, Pass};

/// A dimension of a pass of which memory holds the points from `start` on, `len` of them, and goes on with point 0
/// behind point `n - 1`. Points that it does not hold are zero where they are read, and dropped where they would be
/// written. The pass's offsets and strides are those of the points that are held, the first of them at the offset.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Window {
    /// Points of the dimension.
    pub n: u64,
    /// The point that lies first in memory.
    pub start: u64,
    /// Points in memory.
    pub len: u64,
    /// From one point to the next in memory, in elements.
    pub stride: i64,
    /// Weight of the index of each of the pass's axes in the index of the dimension.
    pub axes: Vec<u64>,
    /// Likewise of each repeated dimension.
    pub batch: Vec<u64>,
}

impl Window {
    /// Whether it is of an axis, and not of several dimensions of the pass that count one of the problem's.
    fn is_of(&self, axis: &Axis, writes: bool) -> bool {
        let stride = if writes { axis.dim.os } else { axis.dim.is };
        (self.n, self.stride) == (axis.dim.n, stride)
    }

    /// What it leaves of so many elements.
    pub fn part_of(&self, elements: u64) -> u64 {
        (u128::from(elements) * u128::from(self.len) / u128::from(self.n)) as u64
    }

    /// Elements that memory would span beyond, did it hold every point.
    pub fn reach(&self) -> u64 {
        self.n.saturating_mul(self.stride.unsigned_abs())
    }
}

impl Pass {
    /// Points of an axis that memory holds on a side: those of its window, where the axis is all of a dimension that has one.
    pub fn held(&self, axis: &Axis, writes: bool) -> u64 {
        let own = self.windows[usize::from(writes)].iter().find(|window| window.is_of(axis, writes));
        own.map_or(axis.dim.n, |window| window.len)
    }

    /// Whether all windows of a side are of whole axes.
    pub fn shows_whole_axes(&self, writes: bool) -> bool {
        self.windows[usize::from(writes)]
            .iter()
            .all(|window| self.axes.iter().any(|axis| window.is_of(axis, writes)))
    }
}
