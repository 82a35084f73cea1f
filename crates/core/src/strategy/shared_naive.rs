//! `shared-naive`: one block for a line, all of it in shared memory.
//!
//! Romero et al. (see [`romero`](super::romero)): points are read in bit-reversed order, then all stages run in place, with
//! a barrier between. Reads are scattered over the line, and where pairs are far apart, banks conflict.

use super::draft::Draft;
use super::packed::Packed;
use super::romero::{SOURCE, Step, covers};
use super::{Algorithm, Facts};
use crate::error::Error;
use crate::program::too_large;

/// The strategy.
pub(super) struct SharedNaive;

impl Algorithm for SharedNaive {
    fn facts(&self) -> Facts {
        Facts {
            name: "shared-naive",
            source: SOURCE,
            about: "bit reversal as it reads, then all stages in one block's shared memory",
            covers: "powers of two from 2 on, in one dimension, that fit a block's shared memory",
        }
    }

    fn covers(&self, packed: &Packed) -> bool {
        covers(packed)
    }

    fn write(&self, draft: &mut Draft<'_>) -> Result<(), Error> {
        whole(draft, "shared_naive")
    }
}

/// One launch in which a block has a whole line.
pub(super) fn whole(draft: &mut Draft<'_>, name: &str) -> Result<(), Error> {
    let n = draft.packed.points();
    too_large("points of a block", n, draft.shared_points(), draft.limits)?;
    let stages = n.trailing_zeros();
    let scale = draft.scale();
    let step = Step { first: 0, stages, chunk: 0, turned: false, reversed: true, padded: false, scale };
    let sides = [draft.input(), draft.output()];
    step.launch(draft, sides, name)
}
