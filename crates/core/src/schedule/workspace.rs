//! Where the regions of the workspace lie.

use crate::problem::Precision;

use super::Schedule;

/// Workspace regions start at multiples of this many bytes.
const REGION_ALIGNMENT: u64 = 512;

impl Schedule {
    /// First byte and bytes of each region in the workspace, and the bytes of all.
    pub fn workspace(&self, precision: Precision) -> (Vec<(u64, u64)>, u64) {
        let mut at = 0;
        let placed = self.regions.iter().map(|elements| {
            let bytes = elements * precision.complex_bytes();
            let offset = at;
            at += bytes.next_multiple_of(REGION_ALIGNMENT);
            (offset, bytes)
        });
        (placed.collect(), at)
    }
}
