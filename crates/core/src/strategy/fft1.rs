//! `fft1`: the naive kernel of Scarpaci's ladder.
//!
//! bitReverse and permuteArray, then a launch for each stage with a thread for each point. The thread of a pair's lower
//! point computes the factor and the butterfly and writes both points; that of the upper one idles. Which rung has the idle
//! threads is reconstructed.

use super::draft::Draft;
use super::packed::Packed;
use super::scarpaci::{COVERS, Factors, SOURCE, Thread, rung};
use super::{Algorithm, Facts};
use crate::error::Error;

/// The strategy.
pub(super) struct Fft1;

impl Algorithm for Fft1 {
    fn facts(&self) -> Facts {
        Facts {
            name: "fft1",
            source: SOURCE,
            about: "radix 2 in place after bitReverse and permuteArray, a thread for each point, of which half idle, with its own sines",
            covers: COVERS,
        }
    }

    fn covers(&self, packed: &Packed) -> bool {
        packed.line().is_some_and(u64::is_power_of_two)
    }

    fn write(&self, draft: &mut Draft<'_>) -> Result<(), Error> {
        rung(draft, Thread::Point, Factors::Computed)
    }
}
