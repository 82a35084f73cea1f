//! `stockham-2-halves`: a line of reals as one of half as many complex numbers.
//!
//! Lloyd, Boyd, Govindaraju, *Fast computation of general Fourier transforms on GPUs*, 2008, section 4.5. Even and odd reals
//! are the real and imaginary parts of `m = n/2` points `z`, as they lie in memory already. With Z their transform by
//! [`stockham-2`](super::stockham_2), and `w = exp(-2 pi i / n)`, one more launch tells the two apart by symmetry:
//!
//! ```text
//! E[k] = (Z[k] + conj Z[m - k]) / 2,  O[k] = (Z[k] - conj Z[m - k]) / 2i
//! X[k] = E[k] + w^k O[k],  X[m - k] = conj(E[k] - w^k O[k])
//! ```
//!
//! Back, that launch comes first, with `E[k] = X[k] + conj X[m - k]`, `O[k] = (X[k] - conj X[m - k]) w^k` in the sense of
//! the transform, and `Z[k] = E[k] + i O[k]`. Other axes are transformed [as complex numbers](super::half_axes). The paper's
//! text was not at hand: that a thread does k and m - k together is reconstructed.

use super::code::Code;
use super::draft::{Array, Draft};
use super::half_axes::{self, HalfAxes};
use super::packed::{Data, Packed};
use super::stockham_2::{Lines, Rows, SOURCE};
use super::{Algorithm, Facts};
use crate::error::Error;
use crate::kernel::{Cmp, Cx, Op};
use crate::pass::TableKind;

/// The strategy.
pub(super) struct Stockham2Halves;

impl Algorithm for Stockham2Halves {
    fn facts(&self) -> Facts {
        Facts {
            name: "stockham-2-halves",
            source: SOURCE,
            about: "reals as half as many complex numbers by Stockham's stages, and a launch that tells even from odd ones",
            covers: "real data (r2c, c2r) of powers of two, 2 or more reals in a row, in any number of dimensions",
        }
    }

    fn takes_reals(&self) -> bool {
        true
    }

    fn covers(&self, packed: &Packed) -> bool {
        half_axes::covers(packed)
    }

    fn write(&self, draft: &mut Draft<'_>) -> Result<(), Error> {
        let Packed { data, pitch, halved, .. } = draft.packed;
        let (m, rows) = (halved.unwrap_or(2) / 2, draft.packed.rows());
        let axes = HalfAxes::new(draft, 2 * m)?;
        let half_spectra = axes.ends().map(|array| (array, axes.frequencies));
        let lines = Lines { n: m, inner: 1, count: rows };
        let stages = m.trailing_zeros();
        let between = (0..stages.min(2)).map(|_| draft.scratch(m * rows)).collect::<Result<Vec<_>, _>>()?;
        let (input, output) = (draft.input(), draft.output());
        let (scale, forward) = (draft.scale(), draft.forward());
        let mut from = (input, pitch[0] / 2);
        if data == Data::FromHalf {
            axes.write(draft)?;
            let to = between.first().map_or((output, pitch[1] / 2), |&array| (array, m));
            back(draft, [half_spectra[1], to], &axes)?;
            from = to;
        }
        for stage in 0..stages {
            let last = stage + 1 == stages && data == Data::FromHalf;
            let next = if data == Data::FromHalf { stage + 1 } else { stage };
            let to = if last { (output, pitch[1] / 2) } else { (between[next as usize % 2], m) };
            let rows = [from, to].map(|(_, pitch)| Rows::Points { pitch });
            let scale = if last { scale } else { 1.0 };
            lines.stage_between(draft, stage, [from.0, to.0], rows, scale, forward)?;
            from = to;
        }
        if data == Data::FromHalf {
            return Ok(());
        }
        there(draft, [from, half_spectra[0]], &axes)?;
        axes.write(draft)
    }
}

/// Rows of an array, and how many points they lie apart.
type Side = (Array, u64);

/// The launch that ends a transform of reals.
fn there(draft: &mut Draft<'_>, sides: [Side; 2], axes: &HalfAxes) -> Result<(), Error> {
    let scale = draft.scale();
    split(draft, "evens_and_odds", sides, axes, |c, k, [z, y]| {
        let y = c.conj(y);
        let (even, odd) = (c.cadd(z, y), c.csub(z, y));
        let odd = Cx { re: odd.im, im: c.neg(odd.re) };
        let [even, odd] = [even, odd].map(|half| c.cscale(half, 0.5 * scale));
        let odd = c.cmul(odd, k.factor);
        let mirrored = c.csub(even, odd);
        [c.cadd(even, odd), c.conj(mirrored)]
    })
}

/// The launch that begins one to reals.
fn back(draft: &mut Draft<'_>, sides: [Side; 2], axes: &HalfAxes) -> Result<(), Error> {
    // Where no stage follows, this is the last launch.
    let scale = if axes.frequencies == 2 { draft.scale() } else { 1.0 };
    split(draft, "to_evens_and_odds", sides, axes, |c, k, pair| {
        // Frequencies 0 and m of reals are real.
        let [x, y] = pair.map(|x| c.real_where(k.first, x));
        let y = c.conj(y);
        let (even, odd) = (c.cadd(x, y), c.csub(x, y));
        let odd = c.cmul(odd, k.factor);
        let [even, odd] = [even, odd].map(|half| c.cscale(half, scale));
        let (minus, back) = (c.sub(even.re, odd.im), c.add(even.re, odd.im));
        let (plus, forth) = (c.add(even.im, odd.re), c.sub(odd.re, even.im));
        [Cx { re: minus, im: plus }, Cx { re: back, im: forth }]
    })
}

/// What a thread knows of its frequency.
struct Frequency {
    /// Whether it is 0.
    first: crate::kernel::Value,
    /// `w^k`.
    factor: Cx,
}

/// A launch whose threads have frequencies k and m - k of a row each. Of half spectra the frequency m is one of its own, of m
/// points it is the first.
fn split(
    draft: &mut Draft<'_>,
    name: &str,
    [from, to]: [Side; 2],
    axes: &HalfAxes,
    body: impl FnOnce(&mut Code, Frequency, [Cx; 2]) -> [Cx; 2],
) -> Result<(), Error> {
    let to_half = draft.packed.data == Data::ToHalf;
    let m = axes.frequencies - 1;
    let each = m / 2 + 1;
    let table = draft.table(TableKind::Roots { modulus: 2 * m, step: 1, len: each });
    let (mut code, item) = draft.each(&format!("{name}_of_{m}"), draft.packed.rows().saturating_mul(each))?;
    let c = &mut code;
    let views = c.pair([from.0, to.0]);
    let table = c.table(table);
    let [k, row] = c.split(item, each, u32::MAX.into());
    let (zero, whole, mask) = (c.u32(0), c.u32(m as u32), c.u32(m as u32 - 1));
    let mirrored = c.sub(whole, k);
    let wrapped = c.binary(Op::And, mirrored, mask);
    let places = |c: &mut Code, pitch: u64, half: bool| {
        let row = c.mul_const(row, pitch);
        [k, if half { mirrored } else { wrapped }].map(|at| c.add(row, at))
    };
    let pair = places(c, from.1, !to_half).map(|at| c.load(views[0], at));
    let first = c.cmp(Cmp::Eq, k, zero);
    let factor = c.factor(table, k);
    let pair = body(c, Frequency { first, factor }, pair);
    for (at, z) in places(c, to.1, to_half).into_iter().zip(pair) {
        c.store(views[1], at, z);
    }
    draft.launch(code)
}
