//! `bluestein-pow2`: any length as a convolution with a chirp, by transforms of a power of two.
//!
//! Lloyd, Boyd, Govindaraju, *Fast computation of general Fourier transforms on GPUs*, 2008, after L. Bluestein (1970). With
//! `c(k) = exp(-i pi k^2 / n)`, in which the host reduces `k^2` in integers and computes in double precision,
//!
//! ```text
//! X(k) = c(k) sum over j of (x(j) c(j)) conj(c(k - j))
//! ```
//!
//! which is a convolution of length m, the least power of two of at least `2n - 1`. It takes a launch that multiplies by
//! the chirp and pads, Stockham's stages there, one that multiplies by the chirp's spectrum, the stages back, and one
//! that multiplies and crops. An inverse transform is the conjugate of the forward one of the conjugate.

use super::draft::{Array, Draft};
use super::packed::Packed;
use super::stockham_2::Lines;
use super::{Algorithm, Facts};
use crate::error::Error;
use crate::kernel::{Cmp, Cx};
use crate::pass::TableKind;
use crate::program::too_large;

/// The strategy.
pub(super) struct BluesteinPow2;

/// The longest: its table is made on the host.
const LONGEST: u64 = 1 << 26;

impl Algorithm for BluesteinPow2 {
    fn facts(&self) -> Facts {
        Facts {
            name: "bluestein-pow2",
            source: "Lloyd, Boyd, Govindaraju, Fast computation of general Fourier transforms on GPUs (2008)",
            about: "a convolution with a chirp, by Stockham's stages of the next power of two from twice the length on",
            covers: "every length from 2 on, in one dimension",
        }
    }

    fn covers(&self, packed: &Packed) -> bool {
        packed.line().is_some()
    }

    /// Two transforms of more than twice the length.
    fn errors(&self, _: &Packed) -> f64 {
        3.0
    }

    fn write(&self, draft: &mut Draft<'_>) -> Result<(), Error> {
        let n = draft.packed.points();
        too_large("points of a line", n, LONGEST, draft.limits)?;
        let m = (2 * n - 1).next_power_of_two();
        let padded = draft.packed.batch.saturating_mul(m);
        let mut arrays = [draft.scratch(padded)?, draft.scratch(padded)?];
        let (input, output) = (draft.input(), draft.output());
        pad(draft, [input, arrays[0]], n, m)?;
        self.convolve(draft, &mut arrays, n, m)?;
        crop(draft, [arrays[0], output], n, m)
    }
}

impl BluesteinPow2 {
    /// There, by the chirp's spectrum, and back; what comes of it is in the first array.
    fn convolve(&self, draft: &mut Draft<'_>, arrays: &mut [Array; 2], n: u64, m: u64) -> Result<(), Error> {
        let lines = Lines { n: m, inner: 1, count: draft.packed.batch };
        for back in [false, true] {
            for stage in 0..m.trailing_zeros() {
                lines.stage_in(draft, stage, *arrays, 1.0, !back)?;
                arrays.swap(0, 1);
            }
            if !back {
                multiply(draft, arrays[0], n, m)?;
            }
        }
        Ok(())
    }
}

/// A padded line of each line, by the chirp.
fn pad(draft: &mut Draft<'_>, [from, to]: [Array; 2], n: u64, m: u64) -> Result<(), Error> {
    let chirp = draft.table(TableKind::Chirp { n });
    let (mut code, item) = draft.each(&format!("chirp_{n}_to_{m}"), to.elements)?;
    let c = &mut code;
    let (from, to) = (c.read(from), c.write(to));
    let chirp = c.table(chirp);
    let [j, line] = c.split(item, m, u32::MAX.into());
    let all = c.on;
    let end = c.u32(n as u32);
    let inside = c.cmp(Cmp::Lt, j, end);
    let on = all.map_or(inside, |all| c.b.binary(crate::kernel::Op::And, all, inside));
    c.on = Some(on);
    let start = c.mul_const(line, n);
    let at = c.add(start, j);
    let z = c.load(from, at);
    let z = c.directed(z);
    let w = c.load(chirp, j);
    // Padding reads zeros, and so do both products.
    let z = c.cmul(z, w);
    c.on = all;
    c.store(to, item, z);
    draft.launch(code)
}

/// The product with the chirp's spectrum, in place.
fn multiply(draft: &mut Draft<'_>, data: Array, n: u64, m: u64) -> Result<(), Error> {
    let spectrum = draft.table(TableKind::ChirpSpectrum { n, m, centre: 0 });
    let (mut code, item) = draft.each(&format!("spectrum_{n}_in_{m}"), data.elements)?;
    let c = &mut code;
    let [from, to] = c.pair([data, data]);
    let spectrum = c.table(spectrum);
    let [frequency, _] = c.split(item, m, u32::MAX.into());
    let z = c.load(from, item);
    let w = c.load(spectrum, frequency);
    let z = c.cmul(z, w);
    c.store(to, item, z);
    draft.launch(code)
}

/// The points of each line, by the chirp.
fn crop(draft: &mut Draft<'_>, [from, to]: [Array; 2], n: u64, m: u64) -> Result<(), Error> {
    let chirp = draft.table(TableKind::Chirp { n });
    let (mut code, item) = draft.each(&format!("chirp_{m}_to_{n}"), to.elements)?;
    let c = &mut code;
    let (from, to) = (c.read(from), c.write(to));
    let chirp = c.table(chirp);
    let [k, line] = c.split(item, n, u32::MAX.into());
    let start = c.mul_const(line, m);
    let at = c.add(start, k);
    let z: Cx = c.load(from, at);
    let w = c.load(chirp, k);
    let z = c.cmul(z, w);
    let z = c.directed(z);
    let z = c.cscale(z, draft.scale());
    c.store(to, item, z);
    draft.launch(code)
}
