//! `stockham-2-rows`: two rows of reals as one of complex numbers.
//!
//! Lloyd, Boyd, Govindaraju, *Fast computation of general Fourier transforms on GPUs*, 2008, section 4.5. The first of
//! [`stockham-2`](super::stockham_2)'s stages reads two rows as the real and imaginary parts of `z`; one more launch tells
//! what came of the two, A and B, by symmetry:
//!
//! ```text
//! A[k] = (Z[k] + conj Z[n - k]) / 2,  B[k] = (Z[k] - conj Z[n - k]) / 2i
//! ```
//!
//! Back, a launch makes `Z[k] = A[k] + i B[k]` and `Z[n - k] = conj A[k] + i conj B[k]`, and the last stage writes two rows. Of
//! an odd number of rows the last goes alone, with imaginary parts of 0: the authors' patent (US 9342486) adds a row of
//! zeros, and packs so where lengths are odd. Other axes are transformed [as complex numbers](super::half_axes). The paper's text was not at hand: that rows are paired in the stages' own
//! accesses, without a launch that packs them, is reconstructed.

use super::code::{Code, View};
use super::draft::{Array, Draft};
use super::half_axes::{self, HalfAxes};
use super::packed::{Data, Packed};
use super::stockham_2::{Lines, Rows, SOURCE, second};
use super::{Algorithm, Facts};
use crate::error::Error;
use crate::kernel::{Cmp, Cx, Op, Value};

/// The strategy.
pub(super) struct Stockham2Rows;

impl Algorithm for Stockham2Rows {
    fn facts(&self) -> Facts {
        Facts {
            name: "stockham-2-rows",
            source: SOURCE,
            about: "two rows of reals as real and imaginary parts by Stockham's stages, and a launch that tells them apart",
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
        let n = halved.unwrap_or(2);
        let axes = HalfAxes::new(draft, n)?;
        let rows = draft.packed.rows();
        let lines = Lines { n, inner: 1, count: rows.div_ceil(2) };
        let stages = n.trailing_zeros();
        let between =
            (0..stages.min(2)).map(|_| draft.scratch(n * lines.count)).collect::<Result<Vec<_>, _>>()?;
        let (scale, forward) = (draft.scale(), draft.forward());
        let points = Rows::Points { pitch: n };
        let mut from = if data == Data::ToHalf {
            (draft.input(), Rows::Pairs { pitch: pitch[0], rows })
        } else {
            axes.write(draft)?;
            together(draft, [axes.ends()[1], between[0]], n, rows)?;
            (between[0], points)
        };
        for stage in 0..stages {
            let last = stage + 1 == stages && data == Data::FromHalf;
            let next = if data == Data::FromHalf { stage + 1 } else { stage };
            let to = if last {
                (draft.output(), Rows::Pairs { pitch: pitch[1], rows })
            } else {
                (between[next as usize % 2], points)
            };
            let scale = if last { scale } else { 1.0 };
            lines.stage_between(draft, stage, [from.0, to.0], [from.1, to.1], scale, forward)?;
            from = to;
        }
        if data == Data::FromHalf {
            return Ok(());
        }
        apart(draft, [from.0, axes.ends()[0]], n, rows)?;
        axes.write(draft)
    }
}

/// A thread's frequency k of two rows.
struct Frequency {
    views: [View; 2],
    /// Where k and n - k of the complex row lie.
    whole: [Value; 2],
    /// Where k of the two half spectra lies.
    halves: [Value; 2],
    /// Whether there is a second row, if not always.
    second: Option<Value>,
    /// Whether frequencies of reals are real there.
    real: Value,
}

impl Frequency {
    fn of(c: &mut Code, item: Value, sides: [Array; 2], n: u64, rows: u64) -> Self {
        let views = c.pair(sides);
        let half = n / 2 + 1;
        let [k, pair] = c.split(item, half, u32::MAX.into());
        let (zero, whole, mask) = (c.u32(0), c.u32(n as u32), c.u32(n as u32 - 1));
        let mirrored = c.sub(whole, k);
        let mirrored = c.binary(Op::And, mirrored, mask);
        let row = c.mul_const(pair, n);
        let whole = [k, mirrored].map(|at| c.add(row, at));
        let first = c.mul_const(pair, 2 * half);
        let first = c.add(first, k);
        let halves = [first, c.add_const(first, half)];
        let low = c.u32(n as u32 / 2 - 1);
        let low = c.binary(Op::And, k, low);
        let real = c.cmp(Cmp::Eq, low, zero);
        Self { views, whole, halves, second: second(c, pair, rows), real }
    }
}

/// The launch that ends a transform of reals.
fn apart(draft: &mut Draft<'_>, sides: [Array; 2], n: u64, rows: u64) -> Result<(), Error> {
    let scale = 0.5 * draft.scale();
    let (mut code, item) = draft.each(&format!("two_rows_of_{n}"), rows.div_ceil(2) * (n / 2 + 1))?;
    let c = &mut code;
    let own = Frequency::of(c, item, sides, n, rows);
    let [z, y] = own.whole.map(|at| c.load(own.views[0], at));
    let y = c.conj(y);
    let (a, b) = (c.cadd(z, y), c.csub(z, y));
    let b = Cx { re: b.im, im: c.neg(b.re) };
    let [a, b] = [a, b].map(|row| c.cscale(row, scale));
    c.store(own.views[1], own.halves[0], a);
    c.only(own.second, |c| c.store(own.views[1], own.halves[1], b));
    draft.launch(code)
}

/// The launch that begins one to reals.
fn together(draft: &mut Draft<'_>, sides: [Array; 2], n: u64, rows: u64) -> Result<(), Error> {
    let (mut code, item) = draft.each(&format!("to_two_rows_of_{n}"), rows.div_ceil(2) * (n / 2 + 1))?;
    let c = &mut code;
    let own = Frequency::of(c, item, sides, n, rows);
    let a = c.load(own.views[0], own.halves[0]);
    let b = c.only(own.second, |c| c.load(own.views[0], own.halves[1]));
    let [a, b] = [a, b].map(|row| c.real_where(own.real, row));
    let (minus, back) = (c.sub(a.re, b.im), c.add(a.re, b.im));
    let (plus, forth) = (c.add(a.im, b.re), c.sub(b.re, a.im));
    c.store(own.views[1], own.whole[0], Cx { re: minus, im: plus });
    c.store(own.views[1], own.whole[1], Cx { re: back, im: forth });
    draft.launch(code)
}
