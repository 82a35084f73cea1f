//! `fft3-compact`: the kernel of [`fft3`](super::fft3) with the factors of each stage side by side.
//!
//! Each stage has its own table of `2^s` factors, `n - 1` in all, and neighbouring threads read neighbouring ones. That
//! "compact" means this is a reconstruction.

use super::draft::Draft;
use super::packed::Packed;
use super::scarpaci::{COVERS, Factors, SOURCE, Thread, rung};
use super::{Algorithm, Facts};
use crate::error::Error;

/// The strategy.
pub(super) struct Fft3Compact;

impl Algorithm for Fft3Compact {
    fn facts(&self) -> Facts {
        Facts {
            name: "fft3-compact",
            source: SOURCE,
            about: "as fft3, with a table for each stage, which neighbouring threads read in order",
            covers: COVERS,
        }
    }

    fn covers(&self, packed: &Packed) -> bool {
        packed.line().is_some_and(u64::is_power_of_two)
    }

    fn write(&self, draft: &mut Draft<'_>) -> Result<(), Error> {
        rung(draft, Thread::Butterfly, Factors::Compact)
    }
}
