//! `fft3-compact`: all stages of [`fft3`](super::scarpaci) in one launch.
//!
//! E. Scarpaci, *FFT GPGPU*, by the author's program (kernel `compact_fft_3`, see [`scarpaci`](super::scarpaci)): a block has a
//! line in shared memory and a thread for each point. Each reads its point from where the index with reversed bits is;
//! then half of them go on, with a butterfly in every stage, and write two points each. The author ran 8 to 1024 points.

use super::draft::Draft;
use super::packed::Packed;
use super::radix_2::butterfly;
use super::scarpaci::{SOURCE, bit_by_bit, places};
use super::tile::Tile;
use super::{Algorithm, Facts, sine};
use crate::error::Error;
use crate::kernel::{Cmp, Special};

/// The strategy.
pub(super) struct Fft3Compact;

impl Algorithm for Fft3Compact {
    fn facts(&self) -> Facts {
        Facts {
            name: "fft3-compact",
            source: SOURCE,
            about: "as fft3, with all stages in one launch, in shared memory, where half of the threads only read",
            covers: "powers of two from 2 on, in one dimension, while a block may have as many threads (1024)",
        }
    }

    fn covers(&self, packed: &Packed) -> bool {
        packed.line().is_some_and(u64::is_power_of_two)
    }

    fn write(&self, draft: &mut Draft<'_>) -> Result<(), Error> {
        let n = draft.packed.points();
        let threads = u32::try_from(n).unwrap_or(u32::MAX);
        let mut code = draft.kernel(&format!("fft_3_compact_{n}"), threads, draft.packed.batch)?;
        let c = &mut code;
        let [from, to] = c.pair([draft.input(), draft.output()]);
        let tile = Tile::interleaved(c, n);
        let (block, thread) = (c.special(Special::BlockIndex), c.special(Special::ThreadIndex));
        let start = c.mul_const(block, n);
        let bits = n.trailing_zeros();

        let other = bit_by_bit(c, thread, bits);
        let other = c.add(start, other);
        let z = c.load(from, other);
        tile.store(c, thread, z);

        let end = c.u32(n as u32 / 2);
        let goes_on = c.cmp(Cmp::Lt, thread, end);
        for stage in 0..bits {
            c.barrier();
            c.open_branch();
            let (places, k) = places(c, thread, stage, false);
            let w = sine::factor(c, k, 2 << stage);
            let points = places.map(|place| tile.load(c, place));
            let points = butterfly(c, points, w);
            for (place, z) in places.into_iter().zip(points) {
                tile.store(c, place, z);
            }
            c.close_branch(goes_on);
        }
        c.barrier();
        c.open_branch();
        for beyond in [0, n / 2] {
            let place = c.add_const(thread, beyond);
            let z = tile.load(c, place);
            let z = c.cscale(z, draft.scale());
            let at = c.add(start, place);
            c.store(to, at, z);
        }
        c.close_branch(goes_on);
        draft.launch(code)
    }
}
