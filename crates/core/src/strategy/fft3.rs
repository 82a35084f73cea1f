//! `fft3`: the kernel of [`fft2`](super::fft2) with factors from a table.
//!
//! The host computes the factors of the whole length once. Stage s reads every `n / 2^(s+1)`-th of them, so that the first
//! stages spread over the table. A reconstruction.

use super::draft::Draft;
use super::packed::Packed;
use super::scarpaci::{COVERS, Factors, SOURCE, Thread, rung};
use super::{Algorithm, Facts};
use crate::error::Error;

/// The strategy.
pub(super) struct Fft3;

impl Algorithm for Fft3 {
    fn facts(&self) -> Facts {
        Facts {
            name: "fft3",
            source: SOURCE,
            about: "as fft2, with factors from one table, of which each stage reads every so many",
            covers: COVERS,
        }
    }

    fn covers(&self, packed: &Packed) -> bool {
        packed.line().is_some_and(u64::is_power_of_two)
    }

    fn write(&self, draft: &mut Draft<'_>) -> Result<(), Error> {
        rung(draft, Thread::Butterfly, Factors::Table)
    }
}
