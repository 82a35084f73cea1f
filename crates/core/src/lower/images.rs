//! Rows of lines of reals with their mirror images ([`Images`]). A thread holds both rows of a pair at the same index, so what
//! makes frequencies of reals of them, and the way back, is between registers: frequency `k` of the complex line and the conjugate
//! of `M - k` give frequencies `k` and `M - k` of the reals (Lloyd et al., section 4.5), with one root for all that a thread
//! holds of a row, times constants. Lines of an odd length, which go in pairs, need no root ([`lines`]).

mod lines;

use std::ops::Range;

use crate::kernel::{Cmp, Cx, Op, Type, Value};
use crate::math::twiddle;
use crate::pass::{Carry, Images, PassDim};

use super::digits::Digit;
use super::guards::Bound;
use super::layout::Layout;
use super::memory::Side;
use super::{Held, Lowering};

/// Both rows of a pair in memory, on one side of the pass.
struct Both {
    row: Side,
    image: Side,
    /// Reals from the first row to where one more than the last would be, where memory holds rows: the image of row 0 is row 0.
    around: Option<i64>,
}

/// A slot's pair of rows: what the stores and loads of its image depend on.
struct Pair {
    /// The row is its own image where this does not hold.
    apart: Value,
    first: Value,
}

impl Lowering<'_> {
    /// The digit that tells a row from its image.
    pub(super) fn image_digit(&self) -> Option<usize> {
        self.pass.images?;
        self.digits.all.iter().position(|digit| digit.batch == Some(Images::MEMBER))
    }

    /// Moves the tile so that its frequencies start with sectors of memory, where lines of them start anywhere: that many less of
    /// them are in the first tile of a line. Those of images, which run against them, have no start in common with them.
    pub(super) fn align_rows(&mut self) {
        let held = self.tile.batch.get(Images::ROW).copied().unwrap_or(1);
        let Some(sector) = self.pass.starts_with_sectors(held) else { return };
        let writes = self.pass.spectrum_side();
        let operand = if writes { self.pass.dst } else { self.pass.src };
        let start = self.at_origin(Type::U32, |dim| if writes { dim.os } else { dim.is });
        let start = self.b.add_const(start, u64::from(operand.offset as u32));
        let mask = self.b.u32(sector as u32 - 1);
        let within = self.b.binary(Op::And, start, mask);
        self.origin[Images::ROW] = self.b.sub(self.origin[Images::ROW], within);
    }

    /// Whether a side of the pass is the spectrum of reals.
    fn is_spectrum(&self, writes: bool) -> bool {
        self.pass.spectrum_side() == writes
    }

    /// Points of the complex line.
    fn complex_points(&self, images: Images) -> u64 {
        images.rows * self.pass.axes[0].dim.n
    }

    fn both_rows(&mut self, images: Images, writes: bool) -> Both {
        let spectrum = self.is_spectrum(writes);
        let stride = |is: i64, os: i64| if writes { os } else { is };
        let of_dim = |dim: &PassDim| stride(dim.is, dim.os);
        let mut row = self.memory_side(writes);
        let step = row.step;
        let turns = |digit: &Digit| digit.batch == Some(Images::ROW) || (spectrum && digit.axis.is_some());
        let mut turned = Vec::with_capacity(row.weights.len());
        for (digit, weight) in self.digits.all.iter().zip(&mut row.weights) {
            if digit.batch == Some(Images::MEMBER) {
                *weight = 0;
            }
            turned.push(if turns(digit) { -*weight } else { *weight });
        }
        let own = self.pass.batch[Images::ROW];
        // Where the row and its image would meet beyond the end: frequency M, or as many rows as there are.
        let end = if spectrum { self.complex_points(images) } else { images.rows } as i64;
        let end = end * of_dim(&own) * step;
        let ty = self.b.ty(row.base);
        let origin = self.b.convert(ty, self.origin[Images::ROW]);
        let back = self.b.mul_const(origin, word(ty, -2 * of_dim(&own) * step));
        let base = self.b.add(row.base, back);
        let base = self.b.add_const(base, word(ty, end));
        let image = row.elsewhere(turned, base);
        Both { row, image, around: (!spectrum).then_some(end) }
    }

    /// The index of a slot's row, and what follows from it.
    fn pair(&mut self, images: Images, layout: &Layout, slot: u32) -> (Value, Pair) {
        let weights =
            self.digits.weights(|digit| if digit.batch == Some(Images::ROW) { digit.number } else { 0 });
        let at = self.linear(layout, slot, &weights);
        let origin = self.b.convert(Type::U32, self.origin[Images::ROW]);
        let origin = self.b.add_const(origin, at.constant as u64);
        let row = at.thread.map_or(origin, |thread| self.b.add(origin, thread));
        let zero = self.b.u32(0);
        let first = self.b.cmp(Cmp::Eq, row, zero);
        // Rows 1, 2 .. below half of all: less one, below 0 is a number too large.
        let before = self.b.add_const(row, u64::from(u32::MAX));
        let others = self.b.u32(((images.rows - 1) / 2) as u32);
        let apart = self.b.cmp(Cmp::Lt, before, others);
        (row, Pair { apart, first })
    }

    /// The side on which a slot's image lies.
    fn image_side(&mut self, both: &Both, pair: &Pair) -> Side {
        let Some(around) = both.around else { return both.image.clone() };
        let ty = self.b.ty(both.image.base);
        let back = self.b.pure(Op::Const(word(ty, -around)), ty, &[]);
        let none = self.b.pure(Op::Const(0), ty, &[]);
        let turn = self.b.select(pair.first, back, none);
        let base = self.b.add(both.image.base, turn);
        both.image.elsewhere(both.image.weights.clone(), base)
    }

    /// Groups of rows and images, one after the other.
    pub(super) fn load_images(&mut self, images: Images, layout: &Layout, slots: Range<u32>) -> Held {
        if self.is_spectrum(false) && images.carry != Carry::Halves {
            return self.load_lines(images, layout, slots);
        }
        let both = self.both_rows(images, false);
        let mut held = Held::new();
        for slot in slots.step_by(2) {
            let (row, pair) = self.pair(images, layout, slot);
            let image = self.image_side(&both, &pair);
            let own = self.load_group(&both.row, layout, slot, None);
            let other = self.load_group(&image, layout, slot + 1, None);
            if self.is_spectrum(false) {
                held.extend(self.pair_of((images, row, &pair), layout, slot, [own, other]));
            } else {
                held.push(own);
                held.push(other.into_iter().map(|x| self.conjugate(x)).collect());
            }
        }
        held
    }

    /// Stores groups of rows and images. A row that is its own image stands there once.
    pub(super) fn store_images(&mut self, images: Images, layout: &Layout, slots: Range<u32>, held: &Held) {
        if self.is_spectrum(true) && images.carry != Carry::Halves {
            return self.store_lines(images, layout, slots, held);
        }
        let index = self.threads.index;
        self.index_anew();
        let both = self.both_rows(images, true);
        for (slot, groups) in slots.step_by(2).zip(held.chunks(2)) {
            let [own, other] = [0, 1].map(|i| self.leaving(layout, slot + i as u32, &groups[i]));
            let (row, pair) = self.pair(images, layout, slot);
            let image = self.image_side(&both, &pair);
            let mut bounds = vec![Bound::If(Some(pair.apart)); other.len()];
            let [own, other] = if self.is_spectrum(true) {
                if let Some(edge) = self.edge(&pair, layout, slot) {
                    bounds[0] = Bound::If(Some(self.b.pure(Op::Or, Type::Bool, &[pair.apart, edge])));
                }
                self.spectrum_of((images, row), layout, slot, [own, other])
            } else {
                [own, other.into_iter().map(|x| self.conjugate(x)).collect()]
            };
            self.store_group(&both.row, layout, slot, &own, None);
            self.store_group(&image, layout, slot + 1, &other, Some(&bounds));
        }
        self.threads.index = index;
    }

    /// Whether a slot's first register is frequency 0, which has the last one for its image. `None`: no thread's is.
    fn edge(&mut self, pair: &Pair, layout: &Layout, slot: u32) -> Option<Value> {
        let writes = self.is_spectrum(true);
        let weights = self.digits.weights(|digit| {
            if digit.axis.is_none() { 0 } else { [digit.input, digit.output][usize::from(writes)] }
        });
        let at = self.linear(layout, slot, &weights);
        if at.constant != 0 {
            return None;
        }
        let Some(thread) = at.thread else { return Some(pair.first) };
        let zero = self.b.u32(0);
        let start = self.b.cmp(Cmp::Eq, thread, zero);
        Some(self.b.pure(Op::And, Type::Bool, &[pair.first, start]))
    }

    /// `exp(-2 pi i k / 2M)` for the frequencies k of a slot's row, one for each register, handed over as it is there: all of them
    /// together would take as many registers of a thread as a row does.
    fn each_root_of_row(
        &mut self,
        (images, row): (Images, Value),
        layout: &Layout,
        slot: u32,
        mut take: impl FnMut(&mut Self, usize, Cx),
    ) {
        let writes = self.is_spectrum(true);
        let modulus = 2 * self.complex_points(images);
        let ty = if modulus > u64::from(u32::MAX) { Type::U64 } else { Type::U32 };
        let rows = images.rows as i64;
        let weights = self.digits.weights(|digit| match digit.axis {
            Some(_) => rows * if writes { digit.output } else { digit.input },
            None => 0,
        });
        let at = layout.linear(&mut self.b, &self.digits, self.threads, slot, &weights, ty);
        let row = self.b.convert(ty, row);
        let start = self.b.add_const(row, at.constant as u64);
        let start = at.thread.map_or(start, |thread| self.b.add(start, thread));
        let on = self.inside(layout, slot);
        let first = self.root(modulus, start, on);
        let count = layout.registers(&self.digits) as usize;
        let turn = |this: &Self, r| this.digits.at_register(layout.register, &weights, r) as u64 % modulus;
        let turns: Vec<u64> = (0..count).map(|r| turn(self, r)).collect();
        for (r, &turn) in turns.iter().enumerate().filter(|&(_, turn)| 4 * turn < modulus) {
            let (re, im) = twiddle::root(turn, modulus);
            let turned = self.b.cconst(self.real, re, im);
            let w = if turn == 0 { first } else { self.b.cmul(first, turned) };
            take(self, r, w);
            // A quarter further is no product.
            if let Some(further) = turns.iter().position(|&other| 4 * (other - turn.min(other)) == modulus) {
                let w = self.b.cmul_i(w, true);
                take(self, further, w);
            }
        }
        for (r, &turn) in turns.iter().enumerate().filter(|&(_, turn)| 4 * turn >= modulus) {
            if !turns.iter().any(|&other| other < turn && 4 * (turn - other) == modulus) {
                let (re, im) = twiddle::root(turn, modulus);
                let turned = self.b.cconst(self.real, re, im);
                let w = self.b.cmul(first, turned);
                take(self, r, w);
            }
        }
    }

    /// Frequencies `k` and `M - k` of the reals, of those of the complex line: their means, and half their differences times `-i`
    /// and the root.
    fn spectrum_of(
        &mut self,
        (images, row): (Images, Value),
        layout: &Layout,
        slot: u32,
        both: [Vec<Cx>; 2],
    ) -> [Vec<Cx>; 2] {
        let half = self.b.float(self.real, 0.5);
        let [mut own, mut other] = both;
        self.each_root_of_row((images, row), layout, slot, |this, r, root| {
            let (sum, apart) = (this.b.cadd(own[r], other[r]), this.b.csub(own[r], other[r]));
            let root = this.b.cscale(root, 0.5);
            let root = this.b.cmul_i(root, true);
            let odd = this.b.cmul(apart, root);
            let [minus_re, minus_im] = [odd.re, odd.im].map(|x| this.b.neg(x));
            let mean = |this: &mut Self, x, more| this.b.fma(x, half, more);
            let k = Cx { re: mean(this, sum.re, odd.re), im: mean(this, sum.im, odd.im) };
            let image = Cx { re: mean(this, sum.re, minus_re), im: mean(this, sum.im, minus_im) };
            // What is computed is the conjugate of the image.
            let both = if images.conjugate { [this.conjugate(k), image] } else { [k, this.conjugate(image)] };
            [own[r], other[r]] = both;
        });
        [own, other]
    }

    /// The way back, twice as large: sums, and differences times `i` and the root of the way back.
    fn pair_of(
        &mut self,
        (images, row, pair): (Images, Value, &Pair),
        layout: &Layout,
        slot: u32,
        [mut own, mut other]: [Vec<Cx>; 2],
    ) -> [Vec<Cx>; 2] {
        if let Some(edge) = self.edge(pair, layout, slot) {
            // The first frequency and the last have no imaginary parts.
            let zero = self.b.float(self.real, 0.0);
            for group in [&mut own, &mut other] {
                group[0].im = self.b.select(edge, zero, group[0].im);
            }
        }
        self.each_root_of_row((images, row), layout, slot, |this, r, root| {
            let [x, image] = if images.conjugate {
                [this.conjugate(own[r]), other[r]]
            } else {
                [own[r], this.conjugate(other[r])]
            };
            let (sum, apart) = (this.b.cadd(x, image), this.b.csub(x, image));
            let root = this.conjugate(root);
            let root = this.b.cmul_i(root, false);
            let odd = this.b.cmul(apart, root);
            (own[r], other[r]) = (this.b.cadd(sum, odd), this.b.csub(sum, odd));
        });
        [own, other]
    }
}

/// A number as arithmetic that wraps in a type has it.
fn word(ty: Type, x: i64) -> u64 {
    if ty == Type::U64 { x as u64 } else { u64::from(x as u32) }
}
