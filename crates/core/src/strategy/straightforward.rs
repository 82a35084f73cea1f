//! `straightforward`: as many stages in a launch as shared memory holds, without care for how memory is accessed.
//!
//! Romero et al. (see [`romero`](super::romero)): the first launch reads bit-reversed and does r stages of `2^r`
//! neighbours; each of the next copies in points that lie `2^a` apart, does up to r stages more, and copies them out to
//! where they were. Each point of these is alone in its sector.

use super::draft::Draft;
use super::packed::Packed;
use super::romero::{COVERS, SOURCE, Step, block_bits, covers};
use super::{Algorithm, Facts, shared_naive};
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
        let bits = draft.packed.points().trailing_zeros();
        let most = block_bits(draft)?;
        if bits <= most {
            return shared_naive::whole(draft, "straightforward");
        }
        let (input, output) = (draft.input(), draft.output());
        // Reading bit-reversed cannot be in place, what follows can.
        let place = if input == output { draft.scratch(output.elements)? } else { output };
        let mut first = 0;
        while first < bits {
            let stages = most.min(bits - first);
            let last = first + stages == bits;
            let scale = if last { draft.scale() } else { 1.0 };
            let reversed = first == 0;
            let step = Step { first, stages, chunk: 0, turned: false, reversed, padded: false, scale };
            let sides = [if reversed { input } else { place }, if last { output } else { place }];
            step.launch(draft, sides, "straightforward")?;
            first += stages;
        }
        Ok(())
    }
}
