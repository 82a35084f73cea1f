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
}

impl Window {
    /// What it leaves of so many elements.
    pub fn part_of(&self, elements: u64) -> u64 {
        (u128::from(elements) * u128::from(self.len) / u128::from(self.n)) as u64
    }

    /// Elements that memory would span beyond, did it hold every point.
    pub fn reach(&self) -> u64 {
        self.n.saturating_mul(self.stride.unsigned_abs())
    }
}
