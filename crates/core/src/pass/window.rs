//! Windows of a pass: which points of a dimension its memory holds.

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
    /// Memory holds the first half of a Hermitian dimension, which says the rest; `start` is 0 then.
    pub mirror: Option<Mirror>,
}

/// Point `k` of a dimension of `n` is the conjugate of point `n - k`, which memory holds where `k` is not below `n / 2`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mirror {
    /// The pass has the points whose remainder by this, an even number, is at most half of it: of those whose remainder is
    /// 0 or half of it, it has the mirror images too.
    pub period: u64,
    /// Memory holds the conjugates.
    pub conjugate: bool,
}

impl Window {
    /// What it leaves of so many elements.
    pub fn part_of(&self, elements: u64) -> u64 {
        if self.mirror.is_some() {
            return elements;
        }
        (u128::from(elements) * u128::from(self.len) / u128::from(self.n)) as u64
    }

    /// Elements that memory would span beyond, did it hold every point.
    pub fn reach(&self) -> u64 {
        let times = if self.mirror.is_some() { 2 } else { 1 };
        (times * self.n).saturating_mul(self.stride.unsigned_abs())
    }
}
