//! Rows with their mirror images of two lines of reals of an odd length, which are one complex line of as many points, or of one such
//! line with imaginary parts of 0. Frequency `k` of the complex line is `A + iB` of those of the two, and the conjugate of frequency
//! `N - k` is `A - iB`: sums and differences, without a root. Memory has the lower half of each spectrum, so what is made of
//! both is stored at `k`, or as its conjugate at `N - k`. A pair of rows has both in one order: its lower points stand in the lower half.

use std::ops::Range;

use crate::kernel::{Cmp, Cx};
use crate::lower::guards::Bound;
use crate::lower::layout::Layout;
use crate::lower::memory::Side;
use crate::lower::{Held, Lowering};
use crate::pass::{Carry, Images};

/// A line's spectrum in memory.
struct Spectrum {
    /// Where frequencies `k` stand.
    rising: Side,
    /// Where frequencies `N - k` do.
    falling: Side,
}

/// Which of a slot's registers are frequencies of the lower half of a spectrum, and which of the upper one.
struct Halves {
    lower: Vec<Bound>,
    upper: Vec<Bound>,
}

impl Lowering<'_> {
    /// The spectra of what points carry.
    fn spectra(&mut self, images: Images, writes: bool) -> Vec<Spectrum> {
        let both = self.both_rows(images, writes);
        let first = Spectrum { rising: both.row, falling: both.image };
        let Carry::Rows(distances) = images.carry else { return vec![first] };
        let further = distances[usize::from(writes)] * first.rising.step;
        let mut moved = |side: &Side| {
            let ty = self.b.ty(side.base);
            let base = self.b.add_const(side.base, super::word(ty, further));
            side.elsewhere(side.weights.clone(), base)
        };
        let second = Spectrum { rising: moved(&first.rising), falling: moved(&first.falling) };
        vec![first, second]
    }

    /// The halves that a slot's registers are of. Points of a row up to the middle one are of the lower half, whichever row it is: rows
    /// that are no images of others are the first half of them.
    fn spectrum_halves(&mut self, layout: &Layout, slot: u32, writes: bool) -> Halves {
        let middle = (self.pass.axes[0].dim.n as i64 - 1) / 2;
        let weights = self.digits.weights(|digit| match digit.axis {
            Some(_) if writes => digit.output,
            Some(_) => digit.input,
            None => 0,
        });
        let at = self.linear(layout, slot, &weights);
        let others = layout.order.iter().chain(&layout.block);
        let most: i64 = others.map(|&d| weights[d] * (i64::from(self.digits.all[d].size) - 1)).sum();
        let count = layout.registers(&self.digits) as usize;
        let mut halves = Halves { lower: Vec::with_capacity(count), upper: Vec::with_capacity(count) };
        for r in 0..count {
            let own = self.digits.at_register(layout.register, &weights, r);
            let (lower, upper) = match at.thread {
                _ if own + at.constant > middle => (Bound::Never, Bound::If(None)),
                Some(thread) if own + most > middle => {
                    let end = self.b.u32((middle + 1 - own - at.constant) as u32);
                    let [below, beyond] = [Cmp::Lt, Cmp::Ge].map(|cmp| self.b.cmp(cmp, thread, end));
                    (Bound::If(Some(below)), Bound::If(Some(beyond)))
                }
                _ => (Bound::If(None), Bound::Never),
            };
            halves.lower.push(lower);
            halves.upper.push(upper);
        }
        halves
    }

    /// Groups of rows and images, of the spectra of the lines that they carry.
    pub(super) fn load_lines(&mut self, images: Images, layout: &Layout, slots: Range<u32>) -> Held {
        let spectra = self.spectra(images, false);
        let mut held = Held::new();
        for slot in slots.step_by(2) {
            let (_, pair) = self.pair(images, layout, slot);
            let halves = self.spectrum_halves(layout, slot, false);
            let first = self.edge(&pair, layout, slot);
            let mut lines: Vec<Vec<Cx>> = Vec::with_capacity(spectra.len());
            for spectrum in &spectra {
                let mut line = self.load_half(spectrum, images, layout, slot, &halves);
                if let Some(first) = first {
                    // The first frequency has no imaginary part.
                    let zero = self.b.float(self.real, 0.0);
                    line[0].im = self.b.select(first, zero, line[0].im);
                }
                lines.push(line);
            }
            match &lines[..] {
                [a, b] => {
                    let turned: Vec<Cx> = b.iter().map(|&b| self.b.cmul_i(b, false)).collect();
                    let with = |this: &mut Self, add: bool| {
                        let both = a.iter().zip(&turned);
                        both.map(|(&a, &b)| if add { this.b.cadd(a, b) } else { this.b.csub(a, b) }).collect()
                    };
                    held.push(with(self, true));
                    held.push(with(self, false));
                }
                _ => held.extend([lines[0].clone(), lines[0].clone()]),
            }
        }
        held
    }

    /// All that a slot has of a line's spectrum, of which memory has half.
    fn load_half(
        &mut self,
        spectrum: &Spectrum,
        images: Images,
        layout: &Layout,
        slot: u32,
        halves: &Halves,
    ) -> Vec<Cx> {
        let lower = self.load_group(&spectrum.rising, layout, slot, Some(&halves.lower));
        let upper = self.load_group(&spectrum.falling, layout, slot, Some(&halves.upper));
        let mut line = Vec::with_capacity(lower.len());
        for (r, (lower, upper)) in lower.into_iter().zip(upper).enumerate() {
            let lower = if images.conjugate { self.conjugate(lower) } else { lower };
            let upper = if images.conjugate { upper } else { self.conjugate(upper) };
            line.push(match halves.lower[r] {
                Bound::Never => upper,
                Bound::If(None) => lower,
                Bound::If(Some(on)) => Cx {
                    re: self.b.select(on, lower.re, upper.re),
                    im: self.b.select(on, lower.im, upper.im),
                },
            });
        }
        line
    }

    /// Stores the spectra of the lines that groups of rows and images carry.
    pub(super) fn store_lines(&mut self, images: Images, layout: &Layout, slots: Range<u32>, held: &Held) {
        let index = self.threads.index;
        self.index_anew();
        let spectra = self.spectra(images, true);
        for (slot, groups) in slots.step_by(2).zip(held.chunks(2)) {
            let [own, other] = [0, 1].map(|i| self.leaving(layout, slot + i as u32, &groups[i]));
            let (_, pair) = self.pair(images, layout, slot);
            let mut halves = self.spectrum_halves(layout, slot, true);
            // Row 0 is its own image: its lower half says it all.
            for bound in &mut halves.upper {
                if let Bound::If(on) = *bound {
                    *bound = Bound::If(Some(self.both(on, pair.apart)));
                }
            }
            for (at, spectrum) in spectra.iter().enumerate() {
                let mut lower = Vec::with_capacity(own.len());
                for (&own, &other) in own.iter().zip(&other) {
                    let both = if at == 0 { self.b.cadd(own, other) } else { self.b.csub(own, other) };
                    let both = if at == 0 { both } else { self.b.cmul_i(both, true) };
                    let x = self.b.cscale(both, 0.5);
                    lower.push(if images.conjugate { self.conjugate(x) } else { x });
                }
                let upper: Vec<Cx> = lower.iter().map(|&x| self.conjugate(x)).collect();
                self.store_group(&spectrum.rising, layout, slot, &lower, Some(&halves.lower));
                self.store_group(&spectrum.falling, layout, slot, &upper, Some(&halves.upper));
            }
        }
        self.threads.index = index;
    }
}
