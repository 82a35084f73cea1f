//! `transposed`: rows, transposition, rows, transposition, so that each launch reads neighbours.
//!
//! Romero et al. (see [`romero`](super::romero)): after the bit reversal, rows of neighbours go through their stages in
//! shared memory; a transposition then turns the index, so that the points of the next stages are neighbours, with the
//! factors of the higher stages. After the last transposition all bits are back in their places. Here rows are of about
//! one length, and there may be more than two; the bit reversal is a launch of its own, through shared memory, which is a
//! reconstruction.

use super::draft::Draft;
use super::packed::Packed;
use super::romero::{COVERS, SOURCE, Step, block_bits, covers};
use super::{Algorithm, Facts, moves, shared_naive};
use crate::error::Error;

/// The strategy.
pub(super) struct Transposed;

impl Algorithm for Transposed {
    fn facts(&self) -> Facts {
        Facts {
            name: "transposed",
            source: SOURCE,
            about: "rows and transpositions in turn, with the higher stages' factors, so that each launch reads neighbours",
            covers: COVERS,
        }
    }

    fn covers(&self, packed: &Packed) -> bool {
        covers(packed)
    }

    fn write(&self, draft: &mut Draft<'_>) -> Result<(), Error> {
        let n = draft.packed.points();
        let bits = n.trailing_zeros();
        let most = block_bits(draft)?;
        if bits <= most {
            return shared_naive::whole(draft, "transposed");
        }
        let launches = bits.div_ceil(most);
        let route = draft.route(1 + 2 * launches as usize)?;
        moves::bit_reverse(draft, route[0])?;
        let mut first = 0;
        for (launch, sides) in (0..launches).zip(route[1..].chunks(2)) {
            let stages = (bits - first).div_ceil(launches - launch);
            let scale = if launch + 1 == launches { draft.scale() } else { 1.0 };
            let step = Step { first, stages, chunk: 0, turned: true, reversed: false, padded: false, scale };
            step.launch(draft, sides[0], "rows")?;
            moves::transpose(draft, sides[1], n >> stages, 1 << stages)?;
            first += stages;
        }
        Ok(())
    }
}
