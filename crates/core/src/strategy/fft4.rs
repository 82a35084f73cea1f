//! `fft4`: the last of Scarpaci's ladder, in which neighbouring threads touch neighbouring points in every stage.
//!
//! How the report's kernel gets there is reconstructed: by the constant geometry of M. Pease, *An adaptation of the fast
//! Fourier transform for parallel processing* (1968). Each stage reads points `2j` and `2j + 1`, two neighbours in one
//! access, and writes `j` and `j + n/2`. That turns the index by one bit, so that the next stage again finds its pairs side
//! by side, and after the last one the points are in order. It needs a second array, where the rungs before work in place.

use super::draft::{Array, Draft};
use super::packed::Packed;
use super::radix_2::{butterfly, factors};
use super::scarpaci::{COVERS, SOURCE, permute};
use super::{Algorithm, Facts};
use crate::error::Error;

/// The strategy.
pub(super) struct Fft4;

impl Algorithm for Fft4 {
    fn facts(&self) -> Facts {
        Facts {
            name: "fft4",
            source: SOURCE,
            about: "after bitReverse and permuteArray, stages that read and write neighbours, from one array to another",
            covers: COVERS,
        }
    }

    fn covers(&self, packed: &Packed) -> bool {
        packed.line().is_some_and(u64::is_power_of_two)
    }

    fn write(&self, draft: &mut Draft<'_>) -> Result<(), Error> {
        let bits = draft.packed.points().trailing_zeros();
        let route = draft.route(1 + bits as usize)?;
        permute(draft, route[0])?;
        for (stage, &sides) in (0..bits).zip(&route[1..]) {
            let scale = if stage + 1 == bits { draft.scale() } else { 1.0 };
            self.stage(draft, stage, sides, scale)?;
        }
        Ok(())
    }
}

impl Fft4 {
    fn stage(&self, draft: &mut Draft<'_>, stage: u32, sides: [Array; 2], scale: f64) -> Result<(), Error> {
        let n = draft.packed.points();
        let table = draft.table(factors(2 << stage));
        let butterflies = draft.packed.elements() / 2;
        let (mut code, item) = draft.each(&format!("neighbours_{stage}_of_{n}"), butterflies)?;
        let c = &mut code;
        let [from, to] = c.pair(sides);
        let table = c.table(table);
        let [j, line] = c.split(item, n / 2, butterflies + u64::from(c.threads));
        // What the stages before have turned to the top are the index's lowest bits.
        let [_, k] = c.split(j, n >> (stage + 1), n / 2 - 1);
        let w = c.factor(table, k);
        let pair = c.mul_const(item, 2);
        let points = c.load_two(from, pair);
        let points = butterfly(c, points, w);
        let first = c.mul_const(line, n);
        let low = c.add(first, j);
        let high = c.add_const(low, n / 2);
        for (at, z) in [low, high].into_iter().zip(points) {
            let z = c.cscale(z, scale);
            c.store(to, at, z);
        }
        draft.launch(code)
    }
}
