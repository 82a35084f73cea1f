//! The other axes of half spectra: what packings of real rows share in more than one dimension.
//!
//! A packing halves the last axis. The others are transformed as complex numbers, over the `n/2 + 1` frequencies that a row
//! has: after the rows on the way from reals, before them on the way back. By [`stockham-2`](super::stockham_2)'s stages.

use super::draft::{Array, Draft};
use super::packed::{Data, Packed};
use super::stockham_2::Lines;
use crate::error::Error;

/// Stages along all axes but the last, and the arrays that half spectra go through.
pub(super) struct HalfAxes {
    stages: Vec<(Lines, u32)>,
    /// One more than stages.
    arrays: Vec<Array>,
    /// Frequencies of a row.
    pub frequencies: u64,
}

/// Whether a packing by powers of two has these lengths.
pub(super) fn covers(packed: &Packed) -> bool {
    packed.powers_of_two() && packed.halved.is_some_and(|n| n > 1)
}

impl HalfAxes {
    /// Those of rows of so many reals, with the workspace that they take.
    pub fn new(draft: &mut Draft<'_>, n: u64) -> Result<Self, Error> {
        let Packed { data, batch, .. } = draft.packed;
        let frequencies = n / 2 + 1;
        let rows = draft.packed.rows();
        let mut halves = draft.packed.shape.clone();
        if let Some(last) = halves.last_mut() {
            *last = frequencies;
        }
        let along = Lines::of(&halves, batch).into_iter().skip(1);
        let stages: Vec<_> =
            along.flat_map(|lines| (0..lines.n.trailing_zeros()).map(move |stage| (lines, stage))).collect();
        let workspace = if data == Data::ToHalf { 1 } else { 2 };
        let others = (0..stages.len().min(workspace))
            .map(|_| draft.scratch(rows * frequencies))
            .collect::<Result<Vec<_>, _>>()?;
        let arrays = if data == Data::ToHalf {
            // Every second one backwards from the output, where they end, is the output.
            let output = draft.output();
            (0..=stages.len()).rev().map(|left| if left % 2 == 0 { output } else { others[0] }).collect()
        } else {
            // The input, where they begin, stays as it is.
            let next = (0..stages.len()).map(|stage| others[stage % 2]);
            std::iter::once(draft.input()).chain(next).collect()
        };
        Ok(Self { stages, arrays, frequencies })
    }

    /// The arrays of half spectra before all stages and after them.
    pub fn ends(&self) -> [Array; 2] {
        [self.arrays[0], self.arrays[self.stages.len()]]
    }

    /// The launches.
    pub fn write(&self, draft: &mut Draft<'_>) -> Result<(), Error> {
        let forward = draft.forward();
        for (&(lines, stage), sides) in self.stages.iter().zip(self.arrays.windows(2)) {
            lines.stage_in(draft, stage, [sides[0], sides[1]], 1.0, forward)?;
        }
        Ok(())
    }
}
