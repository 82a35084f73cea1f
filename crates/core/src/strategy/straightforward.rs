//! `straightforward`: as many stages in a launch as shared memory holds, without care for how memory is accessed.
//!
//! Romero et al. (see [`romero`](super::romero)): the first launch reads bit-reversed and does r stages of `2^r`
//! neighbours; each of the next copies in points that lie `2^a` apart, does up to r stages more, and copies them out to
//! where they were. Each point of these is alone in its sector.

use super::draft::Draft;
use super::packed::Packed;
use super::romero::{COVERS, SOURCE, covers, in_launches};
use super::{Algorithm, Facts};
use crate::error::Error;

/// The strategy.
pub(super) struct Straightforward;

impl Algorithm for Straightforward {
    fn facts(&self) -> Facts {
        Facts {
            name: "straightforward",
            source: SOURCE,
            about: "successive launches of as many stages as a block holds, whose points are gathered one by one",
            covers: COVERS,
        }
    }

    fn covers(&self, packed: &Packed) -> bool {
        covers(packed)
    }

    fn write(&self, draft: &mut Draft<'_>) -> Result<(), Error> {
        in_launches(draft, "straightforward", false)
    }
}
