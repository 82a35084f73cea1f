//! `looped`: what a plan runs while its best kernels are being assembled.
//!
//! An assembler takes as long as a kernel has instructions. The planner's kernels hold many points in each thread's registers and
//! have code of their own for every stage; here all stages of one radix are one loop over points in shared memory, whatever
//! the length. A block has one transform, or several short ones:
//!
//! - *Stages* in place, by decimation in frequency (W. Gentleman, G. Sande, *Fast Fourier transforms: for fun and profit*,
//!   1966), which leave each line's digits reversed; the points are put right as they are written.
//! - *Radices* 2, 3, 4, 5 and 7 by codelets; the primes 11 to 31 by a loop over pairs of their outputs, whose sums and
//!   differences of points stay in registers.
//! - *Other primes* in a line: a convolution of the whole line with a chirp (L. Bluestein, 1970), there by decimation in
//!   frequency, times the chirp's spectrum where its digits are, and back by decimation in time, so that nothing is put right.

mod butterfly;
mod line;
mod shares;

use super::draft::Draft;
use super::packed::Packed;
use super::{Algorithm, Facts};
use crate::error::Error;
use crate::kernel::Cmp;
use crate::math::factor::factorise;
use crate::pass::TableKind;
use butterfly::LARGEST;
use line::{Decimation, Line, largest, radices};
use shares::{Shares, TileKernel};

/// The strategy.
pub(super) struct Looped;

impl Algorithm for Looped {
    fn facts(&self) -> Facts {
        Facts {
            name: "looped",
            source: "warpfft: what plans begin with, docs/notes/plan-time.md",
            about: "all stages of one radix are one loop over a block's points in shared memory, so that kernels are short",
            covers: "what fits the shared memory of a block or a cluster: every length from 2 on; in two and three dimensions, lengths without prime factors beyond 31",
        }
    }

    /// Numbers are converted as they are read and written, and nothing lies in memory between.
    fn keeps(&self, _: &Packed) -> bool {
        true
    }

    fn covers(&self, packed: &Packed) -> bool {
        match packed.shape[..] {
            [] => false,
            [_] => true,
            _ => packed.shape.len() <= 3 && packed.shape.iter().all(|&n| is_smooth(n)),
        }
    }

    fn write(&self, draft: &mut Draft<'_>) -> Result<(), Error> {
        match draft.packed.shape[..] {
            [n] if !is_smooth(n) => convolved(draft, n),
            _ => transformed(draft),
        }
    }
}

/// Whether there is a stage for every prime factor.
fn is_smooth(n: u64) -> bool {
    factorise(n).iter().all(|&(prime, _)| prime <= LARGEST)
}

/// Lines along each axis, one after the other.
fn transformed(draft: &mut Draft<'_>) -> Result<(), Error> {
    let shape = draft.packed.shape.clone();
    let n = draft.packed.points();
    let fastest = shape.last().copied().unwrap_or(1);
    let shares = Shares::of(draft, [n, n, fastest, shape.iter().map(|&n| largest(n)).max().unwrap_or(1)])?;
    let points = shares.points;
    let roots = |&n: &u64| draft.table(TableKind::Roots { modulus: n, step: 1, len: n });
    let roots: Vec<_> = shape.iter().map(roots).collect();
    let sizes: Vec<String> = shape.iter().map(u64::to_string).collect();
    let mut own = TileKernel::new(draft, &format!("looped_{}", sizes.join("_")), &shares)?;
    let [from, to] = own.code.pair([draft.input(), draft.output()]);
    let roots: Vec<_> = roots.into_iter().map(|table| own.code.table(table)).collect();
    own.repeat(points, |own, item| {
        let (at, inside) = own.place(item, None);
        let z = own.code.only(inside, |c| c.load(from, at));
        own.tile.store(&mut own.code, item, z);
    });
    let mut inner = 1;
    let mut lines = Vec::new();
    for (&n, &roots) in shape.iter().zip(&roots).rev() {
        let line = Line { n, inner, radices: radices(n), roots };
        own.stages(&line, points, Decimation::Frequency);
        lines.push(line);
        inner *= n;
    }
    own.barrier();
    own.repeat(points, |own, item| {
        let c = &mut own.code;
        let mut rest = item;
        let mut place = c.u32(0);
        for line in &lines {
            let [k, others] = c.split(rest, line.n, points - 1);
            let along = line.place(c, k);
            let along = c.mul_const(along, line.inner);
            place = c.add(place, along);
            rest = others;
        }
        let before = c.mul_const(rest, n);
        let place = c.add(before, place);
        let z = own.tile.load(c, place);
        let z = c.cscale(z, draft.scale());
        let (at, inside) = own.place(item, None);
        own.code.only(inside, |c| c.store(to, at, z));
    });
    own.launch(draft)
}

/// A line of any length, as a convolution. An inverse transform is the conjugate of the forward one of the conjugate.
fn convolved(draft: &mut Draft<'_>, n: u64) -> Result<(), Error> {
    let m = padded(n);
    let shares = Shares::of(draft, [n, m, m, largest(m)])?;
    let points = shares.points;
    let roots = draft.table(TableKind::Roots { modulus: m, step: 1, len: m });
    let chirp = draft.table(TableKind::Chirp { n });
    let spectrum = draft.table(TableKind::ChirpSpectrum { n, m, centre: 0 });
    let mut own = TileKernel::new(draft, &format!("looped_{n}_in_{m}"), &shares)?;
    let [from, to] = own.code.pair([draft.input(), draft.output()]);
    let [roots, chirp, spectrum] = [roots, chirp, spectrum].map(|table| own.code.table(table));
    own.repeat(points, |own, item| {
        let c = &mut own.code;
        let [j, row] = c.split(item, m, points - 1);
        let row = c.mul_const(row, n);
        let element = c.add(row, j);
        let n = c.u32(n as u32);
        let inside = c.cmp(Cmp::Lt, j, n);
        let (at, inside) = own.place(element, Some(inside));
        // Padding reads zeros, and so do both products.
        let c = &mut own.code;
        let [z, w] = c.only(inside, |c| [c.load(from, at), c.load(chirp, j)]);
        let z = c.directed(z);
        let z = c.cmul(z, w);
        own.tile.store(c, item, z);
    });
    let line = Line { n: m, inner: 1, radices: radices(m), roots };
    let forward = std::mem::replace(&mut own.code.forward, true);
    own.stages(&line, points, Decimation::Frequency);
    own.barrier();
    own.repeat(points, |own, item| {
        let c = &mut own.code;
        let [k, row] = c.split(item, m, points - 1);
        let place = line.place(c, k);
        let row = c.mul_const(row, m);
        let place = c.add(row, place);
        let w = c.load(spectrum, k);
        let z = own.tile.load(c, place);
        let z = c.cmul(z, w);
        own.tile.store(c, place, z);
    });
    own.code.forward = false;
    own.stages(&line, points, Decimation::Time);
    own.code.forward = forward;
    own.barrier();
    own.repeat(shares.elements, |own, item| {
        let c = &mut own.code;
        let [k, row] = c.split(item, n, shares.elements - 1);
        let row = c.mul_const(row, m);
        let place = c.add(row, k);
        let w = c.load(chirp, k);
        let z = own.tile.load(c, place);
        let z = c.cmul(z, w);
        let z = c.directed(z);
        let z = c.cscale(z, draft.scale());
        let (at, inside) = own.place(item, None);
        own.code.only(inside, |c| c.store(to, at, z));
    });
    own.launch(draft)
}

/// The least length of at least twice the line less one that is a power of two, or 3 or 5 times one.
fn padded(n: u64) -> u64 {
    let least = 2 * n - 1;
    [1, 3, 5].into_iter().map(|odd| odd * least.div_ceil(odd).next_power_of_two()).min().unwrap_or(least)
}
