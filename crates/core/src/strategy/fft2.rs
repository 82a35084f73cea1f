//! `fft2`: the kernel of [`fft1`](super::fft1) with a thread for each butterfly.
//!
//! Its index spreads around the bit of the stage, so that no thread idles; each still computes its own factor. A
//! reconstruction.

use super::draft::Draft;
use super::packed::Packed;
use super::scarpaci::{COVERS, Factors, SOURCE, Thread, rung};
use super::{Algorithm, Facts};
use crate::error::Error;

/// The strategy.
pub(super) struct Fft2;

impl Algorithm for Fft2 {
    fn facts(&self) -> Facts {
        Facts {
            name: "fft2",
            source: SOURCE,
            about: "as fft1, with a thread for each butterfly, so that none idles",
            covers: COVERS,
        }
    }

    fn covers(&self, packed: &Packed) -> bool {
        packed.line().is_some_and(u64::is_power_of_two)
    }

    fn write(&self, draft: &mut Draft<'_>) -> Result<(), Error> {
        rung(draft, Thread::Butterfly, Factors::Computed)
    }
}
