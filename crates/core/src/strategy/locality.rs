//! `locality`: chunks of neighbours with a stride between, so that no transposition is needed.
//!
//! Romero et al. (see [`romero`](super::romero)): r stages in the first launch, r/2 in each next one, whose blocks copy in
//! `2^(r/2)` chunks of `2^(r/2)` neighbours. In shared memory these are transposed, so that the higher stages are computed
//! with the access pattern of the lower ones, and points are left out against bank conflicts. The bit reversal goes before,
//! in a launch of its own through shared memory; the paper's is reconstructed.

use super::draft::Draft;
use super::packed::Packed;
use super::romero::{COVERS, SOURCE, covers, in_launches};
use super::{Algorithm, Facts};
use crate::error::Error;

/// The strategy.
pub(super) struct Locality;

impl Algorithm for Locality {
    fn facts(&self) -> Facts {
        Facts {
            name: "locality",
            source: SOURCE,
            about: "r stages in the first launch and r/2 in each next, on chunks of neighbours, without transpositions",
            covers: COVERS,
        }
    }

    fn covers(&self, packed: &Packed) -> bool {
        covers(packed)
    }

    fn write(&self, draft: &mut Draft<'_>) -> Result<(), Error> {
        in_launches(draft, "locality", true)
    }
}
