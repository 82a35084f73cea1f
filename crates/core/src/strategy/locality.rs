//! `locality`: chunks of neighbours with a stride between, so that no transposition is needed.
//!
//! Romero et al. (see [`romero`](super::romero)): r stages in the first launch, r/2 in each next one, whose blocks copy in
//! `2^(r/2)` chunks of `2^(r/2)` neighbours. In shared memory these are transposed, so that the higher stages are computed
//! with the access pattern of the lower ones, and points are left out against bank conflicts. The bit reversal goes before,
//! in a launch of its own through shared memory; the paper's is reconstructed.

use super::draft::Draft;
use super::packed::Packed;
use super::romero::{COVERS, SOURCE, Step, block_bits, covers};
use super::{Algorithm, Facts, moves, shared_naive};
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
        let bits = draft.packed.points().trailing_zeros();
        let most = block_bits(draft)?;
        if bits <= most {
            return shared_naive::whole(draft, "locality");
        }
        let (input, output) = (draft.input(), draft.output());
        // The bit reversal cannot be in place, what follows can.
        let place = if input == output { draft.scratch(output.elements)? } else { output };
        moves::bit_reverse(draft, [input, place])?;
        let mut first = 0;
        while first < bits {
            let stages = (if first == 0 { most } else { most / 2 }).min(bits - first);
            let chunk = if first == 0 { 0 } else { most - stages };
            let last = first + stages == bits;
            let scale = if last { draft.scale() } else { 1.0 };
            let step = Step { first, stages, chunk, turned: false, reversed: false, padded: true, scale };
            step.launch(draft, [place, if last { output } else { place }], "locality")?;
            first += stages;
        }
        Ok(())
    }
}
