//! `fft1`, `fft2`, `fft3`, `fft4`: stages of radix 2, a launch for each.
//!
//! E. Scarpaci, *FFT GPGPU*: a ladder of OpenCL kernels, from a naive one to one with coalesced reads. The report was not at
//! hand; what each kernel does follows its author's programs (<https://github.com/edoardoscarpaci/FFTOpenCL>, file
//! `src/bitPermutation.ocl` at commit 14bcf19a, and `include/FFTgpu.hpp`). In all of them a thread has a butterfly, computes its
//! factor, and goes from one array to another. With half the length of stage s, `h = 2^s`, butterfly j has
//!
//! ```text
//! k = j mod h,  low = 2 h (j div h) + k,  high = low + h
//! ```
//!
//! A kernel here is written for one length and one stage, where the author's gets both as arguments. So the divisors of
//! `fft1` are constants, of which a device's compiler may make the shifts of `fft2`.

use super::code::Code;
use super::draft::{Array, Draft};
use super::packed::Packed;
use super::radix_2::butterfly;
use super::{Algorithm, Facts, sine};
use crate::error::Error;
use crate::kernel::{Op, Value};

/// Title and author, as every rung names them.
pub(super) const SOURCE: &str = "Scarpaci, FFT GPGPU";

/// What every rung covers.
const COVERS: &str = "powers of two from 2 on, in one dimension";

/// The rungs that have a launch for each stage, each with an improvement over the one before.
pub(super) enum Rung {
    /// `fft1`: points stay in bit-reversed order until the last stage. Each thread reverses the bits of both its indices in
    /// every stage, and divides to find them.
    Fft1,
    /// `fft2`: shifts and masks instead of divisions.
    Fft2,
    /// `fft3`: bitReverse brings the points into order once, before the stages.
    Fft3,
    /// `fft4`: before each stage permuteArray brings the two points of every butterfly side by side, so that the stage
    /// reads neighbours.
    Fft4,
}

impl Algorithm for Rung {
    fn facts(&self) -> Facts {
        let (name, about) = match self {
            Self::Fft1 => (
                "fft1",
                "radix 2, a launch for each stage, whose threads divide and reverse bits to find their points",
            ),
            Self::Fft2 => ("fft2", "as fft1, with shifts and masks instead of divisions"),
            Self::Fft3 => ("fft3", "as fft2, after bitReverse, so that stages find their points in order"),
            Self::Fft4 => {
                ("fft4", "as fft3, with permuteArray before each stage, which then reads neighbours")
            }
        };
        Facts { name, source: SOURCE, about, covers: COVERS }
    }

    fn covers(&self, packed: &Packed) -> bool {
        packed.line().is_some_and(u64::is_power_of_two)
    }

    fn write(&self, draft: &mut Draft<'_>) -> Result<(), Error> {
        let stages = draft.packed.points().trailing_zeros();
        let first = usize::from(matches!(self, Self::Fft3 | Self::Fft4));
        let each = if matches!(self, Self::Fft4) { 2 } else { 1 };
        let route = draft.route(first + each * stages as usize)?;
        if first == 1 {
            bit_reverse(draft, route[0])?;
        }
        for (stage, sides) in (0..stages).zip(route[first..].chunks_exact(each)) {
            if let [before, _] = sides {
                permute_array(draft, stage, *before)?;
            }
            self.stage(draft, stage, sides[each - 1])?;
        }
        Ok(())
    }
}

impl Rung {
    fn stage(&self, draft: &mut Draft<'_>, stage: u32, sides: [Array; 2]) -> Result<(), Error> {
        let n = draft.packed.points();
        let bits = n.trailing_zeros();
        let last = stage + 1 == bits;
        let scale = if last { draft.scale() } else { 1.0 };
        let (mut code, item) = draft
            .each(&format!("{}_stage_{stage}_of_{n}", self.facts().name), draft.packed.elements() / 2)?;
        let c = &mut code;
        let [from, to] = c.pair(sides);
        let [j, start] = line(c, item, n / 2, n);
        let (places, k) = places(c, j, stage, matches!(self, Self::Fft1));
        let (read, written) = match self {
            Self::Fft1 | Self::Fft2 => {
                let reversed = places.map(|place| bit_by_bit(c, place, bits));
                (reversed, if last { places } else { reversed })
            }
            Self::Fft3 => (places, places),
            Self::Fft4 => {
                let first = c.mul_const(j, 2);
                ([first, c.add_const(first, 1)], places)
            }
        };
        let points = if matches!(self, Self::Fft4) {
            let first = c.add(start, read[0]);
            c.load_two(from, first)
        } else {
            read.map(|place| {
                let at = c.add(start, place);
                c.load(from, at)
            })
        };
        let w = sine::factor(c, k, 2 << stage);
        let points = butterfly(c, points, w);
        for (place, z) in written.into_iter().zip(points) {
            let z = c.cscale(z, scale);
            let at = c.add(start, place);
            c.store(to, at, z);
        }
        draft.launch(code)
    }
}

/// bitReverse: each thread writes a point in order, from where its index with reversed bits is.
fn bit_reverse(draft: &mut Draft<'_>, sides: [Array; 2]) -> Result<(), Error> {
    let n = draft.packed.points();
    let (mut code, item) = draft.each(&format!("bit_reverse_{n}"), draft.packed.elements())?;
    let c = &mut code;
    let [from, to] = c.pair(sides);
    let [at, start] = line(c, item, n, n);
    let other = bit_by_bit(c, at, n.trailing_zeros());
    let other = c.add(start, other);
    let z = c.load(from, other);
    c.store(to, item, z);
    draft.launch(code)
}

/// permuteArray: each thread brings the two points of a stage's butterfly side by side.
fn permute_array(draft: &mut Draft<'_>, stage: u32, sides: [Array; 2]) -> Result<(), Error> {
    let n = draft.packed.points();
    let (mut code, item) =
        draft.each(&format!("permute_array_{stage}_of_{n}"), draft.packed.elements() / 2)?;
    let c = &mut code;
    let [from, to] = c.pair(sides);
    let [j, start] = line(c, item, n / 2, n);
    let (places, _) = places(c, j, stage, false);
    let first = c.mul_const(item, 2);
    for (place, beside) in places.into_iter().zip(0..) {
        let at = c.add(start, place);
        let z = c.load(from, at);
        let at = c.add_const(first, beside);
        c.store(to, at, z);
    }
    draft.launch(code)
}

/// An item's place among so many of a line of n points, and the line's first point.
fn line(c: &mut Code, item: Value, items: u64, n: u64) -> [Value; 2] {
    let [at, line] = c.split(item, items, u32::MAX.into());
    [at, c.mul_const(line, n)]
}

/// The two points of a butterfly in order, and the index of its factor.
pub(super) fn places(c: &mut Code, j: Value, stage: u32, divided: bool) -> ([Value; 2], Value) {
    let half = 1_u64 << stage;
    let [k, group] = if divided {
        let divisor = c.u32(half as u32);
        [c.binary(Op::Rem, j, divisor), c.binary(Op::Div, j, divisor)]
    } else {
        c.split(j, half, u32::MAX.into())
    };
    let low = c.mul_const(group, 2 * half);
    let low = c.add(low, k);
    ([low, c.add_const(low, half)], k)
}

/// The lowest so many bits of an index in reverse order, one after the other.
pub(super) fn bit_by_bit(c: &mut Code, mut rest: Value, bits: u32) -> Value {
    let one = c.u32(1);
    let mut reversed = c.u32(0);
    for _ in 0..bits {
        let bit = c.binary(Op::And, rest, one);
        reversed = c.binary(Op::Shl, reversed, one);
        reversed = c.binary(Op::Or, reversed, bit);
        rest = c.binary(Op::Shr, rest, one);
    }
    reversed
}
