//! `fft1`, `fft2`, `fft3`, `fft3-compact`: bitReverse and permuteArray, and stages of radix 2 in place, a launch for each.
//!
//! J. Scarpaci, *FFT GPGPU*: a ladder of OpenCL kernels, from a naive one to one with coalesced access. The report gives
//! names and order of the kernels; what each rung does is reconstructed here, one improvement at a time, so that the
//! counts of one beside the next show what that improvement is for.

use super::code::Code;
use super::draft::{Array, Draft};
use super::packed::Packed;
use super::radix_2::{bit_reversed, butterfly, factors};
use super::{Algorithm, Facts, sine};
use crate::error::Error;
use crate::kernel::{Cmp, Cx, Op, Value};

/// Title and author, as every rung names them.
pub(super) const SOURCE: &str = "Scarpaci, FFT GPGPU";

/// What every rung covers.
pub(super) const COVERS: &str = "powers of two from 2 on, in one dimension";

/// What a thread has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Thread {
    /// A point; of each pair, one idles.
    Point,
    /// A butterfly.
    Butterfly,
}

/// Where factors come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Factors {
    /// Each thread computes its own.
    Computed,
    /// From one table of the whole length, read in steps that halve from stage to stage.
    Table,
    /// From a table of each stage, read in order.
    Compact,
}

/// The rungs that work in place, each with an improvement over the one before. What the report's numbers stand for is
/// reconstructed.
pub(super) enum Rung {
    /// `fft1`: a thread for each point. That of a pair's lower point computes the factor and the butterfly and writes both
    /// points; that of the upper one idles.
    Fft1,
    /// `fft2`: a thread for each butterfly. Its index spreads around the bit of the stage, so that no thread idles; each
    /// still computes its own factor.
    Fft2,
    /// `fft3`: the host computes the factors of the whole length once. Stage s reads every `n / 2^(s+1)`-th of them, so that
    /// the first stages spread over the table.
    Fft3,
    /// `fft3-compact`: each stage has its own table of `2^s` factors, `n - 1` in all, and neighbouring threads read
    /// neighbouring ones.
    Fft3Compact,
}

impl Algorithm for Rung {
    fn facts(&self) -> Facts {
        let (name, about) = match self {
            Self::Fft1 => (
                "fft1",
                "radix 2 in place after bitReverse and permuteArray, a thread for each point, of which half idle, with its own sines",
            ),
            Self::Fft2 => ("fft2", "as fft1, with a thread for each butterfly, so that none idles"),
            Self::Fft3 => {
                ("fft3", "as fft2, with factors from one table, of which each stage reads every so many")
            }
            Self::Fft3Compact => (
                "fft3-compact",
                "as fft3, with a table for each stage, which neighbouring threads read in order",
            ),
        };
        Facts { name, source: SOURCE, about, covers: COVERS }
    }

    fn covers(&self, packed: &Packed) -> bool {
        packed.line().is_some_and(u64::is_power_of_two)
    }

    /// bitReverse, permuteArray and a launch for each stage.
    fn write(&self, draft: &mut Draft<'_>) -> Result<(), Error> {
        let (thread, factors) = match self {
            Self::Fft1 => (Thread::Point, Factors::Computed),
            Self::Fft2 => (Thread::Butterfly, Factors::Computed),
            Self::Fft3 => (Thread::Butterfly, Factors::Table),
            Self::Fft3Compact => (Thread::Butterfly, Factors::Compact),
        };
        let n = draft.packed.points();
        let (input, output) = (draft.input(), draft.output());
        // A permutation cannot be in place, what follows can.
        let place = if input == output { draft.scratch(output.elements)? } else { output };
        permute(draft, [input, place])?;
        let bits = n.trailing_zeros();
        for stage in 0..bits {
            let last = stage + 1 == bits;
            let sides = [place, if last { output } else { place }];
            let scale = if last { draft.scale() } else { 1.0 };
            Stage { n, stage, thread, factors }.launch(draft, sides, scale)?;
        }
        Ok(())
    }
}

/// Brings the points of each line into bit-reversed order: bitReverse writes the indices, permuteArray follows them.
pub(super) fn permute(draft: &mut Draft<'_>, sides: [Array; 2]) -> Result<(), Error> {
    let n = draft.packed.points();
    let indices = draft.indices(n)?;
    let (mut code, item) = draft.each("bit_reverse", n)?;
    let view = code.write_indices(indices);
    let reversed = bit_reversed(&mut code, item, n.trailing_zeros());
    code.store_index(view, item, reversed);
    draft.launch(code)?;

    let (mut code, item) = draft.each("permute_array", draft.packed.elements())?;
    let [from, to] = code.pair(sides);
    let view = code.read_indices(indices);
    let most = draft.packed.elements() + u64::from(code.threads);
    let [at, line] = code.split(item, n, most);
    let other = code.load_index(view, at);
    let first = code.mul_const(line, n);
    let other = code.add(first, other);
    let z = code.load(from, other);
    code.store(to, item, z);
    draft.launch(code)
}

/// A stage in place, on lines in bit-reversed order.
struct Stage {
    n: u64,
    stage: u32,
    thread: Thread,
    factors: Factors,
}

impl Stage {
    fn launch(&self, draft: &mut Draft<'_>, sides: [Array; 2], scale: f64) -> Result<(), Error> {
        let length = 2 << self.stage;
        let table = match self.factors {
            Factors::Computed => None,
            Factors::Table => Some(draft.table(factors(self.n))),
            Factors::Compact => Some(draft.table(factors(length))),
        };
        let points = draft.packed.elements();
        let items = if self.thread == Thread::Point { points } else { points / 2 };
        let (mut code, item) = draft.each(&format!("stage_{}_of_{}", self.stage, self.n), items)?;
        let c = &mut code;
        let half = length / 2;
        let [from, to] = c.pair(sides);
        let table = table.map(|table| c.table(table));
        let work = |c: &mut Code, low: Value, k: Value| {
            let high = c.add_const(low, half);
            let w = match (table, self.factors) {
                (Some(table), Factors::Table) => {
                    let exponent = c.mul_const(k, self.n / length);
                    c.factor(table, exponent)
                }
                (Some(table), _) => c.factor(table, k),
                (None, _) => sine::factor(c, k, length),
            };
            let points: [Cx; 2] = [c.load(from, low), c.load(from, high)];
            let points = butterfly(c, points, w);
            for (at, z) in [low, high].into_iter().zip(points) {
                let z = c.cscale(z, scale);
                c.store(to, at, z);
            }
        };
        match self.thread {
            Thread::Butterfly => {
                let [k, group] = c.split(item, half, points);
                let first = c.mul_const(group, length);
                let low = c.add(first, k);
                work(c, low, k);
            }
            Thread::Point => {
                let [k, _] = c.split(item, half, points + u64::from(c.threads));
                let bit = c.u32(half as u32);
                let upper = c.binary(Op::And, item, bit);
                let zero = c.u32(0);
                let lower = c.b.cmp(Cmp::Eq, upper, zero);
                c.open_branch();
                work(c, item, k);
                c.close_branch(lower);
            }
        }
        draft.launch(code)
    }
}
