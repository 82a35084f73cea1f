//! Factors between stages and between passes. All come from tables made on the host; a thread loads few of them
//! exactly and multiplies the rest from two exact ones, which costs one rounding and saves most of the loads.

use std::collections::BTreeMap;

use crate::kernel::{Cache, Cx, Op, Type, Value};
use crate::math::factor::is_prime;
use crate::pass::{TableKind, Twiddle};
use crate::problem::{Direction, Precision};

use super::digits::Digit;
use super::layout::Layout;
use super::{Held, Lowering, Slot, Stage};

/// Which powers of a root a table holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Powers {
    /// Enough that every other is the product of two.
    Tree,
    /// The root alone, and every eighth power of a long radix: the smallest table, longer chains of products. A power
    /// is off by as many times the root's error as its exponent says, and so by fifteen times at most.
    First,
    /// As [`Powers::First`] up to half the radix. Beyond it digits count from below zero, so that their powers are conjugates: half
    /// the products, of half the registers.
    Balanced,
    /// As [`Powers::Tree`], of digits that count from so many below zero.
    Below(u32),
}

impl Powers {
    /// The last power of a radix that is one of a digit above zero: those behind it are conjugates.
    fn above(self, radix: u32) -> u32 {
        match self {
            Self::Tree | Self::First => radix - 1,
            Self::Balanced => radix / 2,
            Self::Below(centre) => radix - 1 - centre,
        }
    }

    /// The largest that is loaded or multiplied.
    fn largest(self, radix: u32) -> u32 {
        let above = self.above(radix);
        above.max(radix - 1 - above)
    }
}

/// Prime radices of doubles whose codelets leave no register to spare: with fewer factors loaded 19 x 19 spilled 16 bytes, and with
/// slabs asked for ahead 31 x 31 832.
const LONG_PRIME: u32 = 19;

/// The digit of a radix's first result, below zero, where digits are balanced: they go from there to half the radix.
pub const fn centre(radix: u32) -> u32 {
    (radix - 1) / 2
}

/// The index at which frequency 0 stands where the digits of all stages but the last are balanced, the first being the fastest.
pub fn centre_of(radices: &[u32]) -> u64 {
    let Some((_, early)) = radices.split_last() else { return 0 };
    let (mut index, mut weight) = (0, 1);
    for &radix in early {
        index += weight * u64::from(centre(radix));
        weight *= u64::from(radix);
    }
    index
}

/// Exponents whose twiddles are loaded for a radix.
pub fn exact_powers(radix: u32, powers: Powers) -> Vec<u32> {
    let all = 1..=powers.largest(radix);
    if matches!(powers, Powers::First | Powers::Balanced) {
        let long = radix > 16;
        return all.filter(|&j| j == 1 || (long && j % 8 == 0)).collect();
    }
    let base = if radix > 16 { 8 } else { 4 };
    all.filter(|&j| j < base || j % base == 0).collect()
}

/// log2 of the entries of the lower level of a two-level table of `exp(2 pi i x / modulus)`.
pub fn level_bits(modulus: u64) -> u32 {
    (64 - (modulus - 1).max(1).leading_zeros()).div_ceil(2)
}

impl Lowering<'_> {
    /// A table's factor in the direction of the pass.
    pub(super) fn directed(&mut self, w: Cx) -> Cx {
        if self.direction == Direction::Inverse { self.conjugate(w) } else { w }
    }

    pub(super) fn conjugate(&mut self, w: Cx) -> Cx {
        self.b.conj(w)
    }

    /// Points times their factors.
    pub(super) fn multiply(&mut self, x: &mut [Cx], factors: &[Option<Cx>]) {
        for (x, w) in x.iter_mut().zip(factors) {
            *x = w.map_or(*x, |w| self.b.cmul(*x, w));
        }
    }

    /// How a table is read. By the read-only path what is worth registers from the start: the assembler moves such
    /// loads to before barriers and loops, as early as it can. Not a convolution's factors, one for every element, nor the
    /// roots of what columns of reals fold to, two for every element, where they take two words: 512 of them spilled 16 to
    /// 64 bytes in 128 registers, and need 114 without.
    pub(super) fn table_cache(&self, kind: TableKind) -> Cache {
        match kind {
            TableKind::RaderSpectrum { .. }
            | TableKind::RaderSpectrumOfHalves { .. }
            | TableKind::RootsOfHalves { .. }
            | TableKind::ChirpSpectrum { .. }
            | TableKind::SpectrumOfHalves { .. }
            | TableKind::ChirpOfHalves { .. }
            | TableKind::ChirpRows { .. }
            | TableKind::BandSpectrum { .. }
            | TableKind::BandRows { .. } => Cache::Default,
            TableKind::Chirp { .. } | TableKind::BandIn { .. } | TableKind::BandOut { .. }
                if self.convolves() =>
            {
                Cache::Default
            }
            TableKind::Roots { .. }
                if self.real == Type::F64 && self.staged(true) && self.pass.twiddle.is_some() =>
            {
                Cache::Default
            }
            TableKind::Chirp { .. }
            | TableKind::BandIn { .. }
            | TableKind::BandOut { .. }
            | TableKind::Stage { .. }
            | TableKind::Roots { .. }
            | TableKind::ShiftedRoots { .. } => Cache::ReadOnly,
            TableKind::Places { .. } if self.turns.is_some() => Cache::ReadOnly,
            TableKind::Places { .. } => Cache::Default,
        }
    }

    pub(super) fn table_load(
        &mut self,
        kind: TableKind,
        index: Value,
        constant: i64,
        on: Option<Value>,
    ) -> Cx {
        let table = self.space_of(Slot::Table(kind));
        let index = self.b.mul_const(index, 2);
        let ptr = self.b.addr(table, index);
        let w = self.b.load(ptr, (2 * constant) as i32, 2, self.table_cache(kind), on);
        Cx { re: w[0], im: w[1] }
    }

    /// All powers `1..radix` of a root, balanced ones counted from below zero beyond half of them, from the exact ones that `exact` gives.
    pub(super) fn powers(
        &mut self,
        radix: u32,
        powers: Powers,
        exact: impl FnMut(&mut Self, usize, u32) -> Cx,
    ) -> Vec<Cx> {
        let mut all = Vec::new();
        self.each_power(radix, powers, exact, |_, w| all.push(w));
        all
    }

    /// The same, each handed over as soon as it is there, in order.
    pub(super) fn each_power(
        &mut self,
        radix: u32,
        powers: Powers,
        mut exact: impl FnMut(&mut Self, usize, u32) -> Cx,
        mut take: impl FnMut(&mut Self, Cx),
    ) {
        let mut known = BTreeMap::new();
        let lean = self.lean() && matches!(powers, Powers::Tree | Powers::Below(_));
        for (row, &j) in exact_powers(radix, powers).iter().enumerate() {
            if lean && !matches!(j, 1 | 4 | 16) {
                continue;
            }
            let w = exact(self, row, j);
            known.insert(j, (w, 0));
        }
        let base = match powers {
            Powers::First | Powers::Balanced if radix <= 16 => radix,
            _ if radix > 16 => 8,
            _ => 4,
        };
        let above = powers.above(radix);
        for j in 1..=powers.largest(radix) {
            if !known.contains_key(&j) {
                // As few roundings as can be: of two powers that are themselves short products.
                let shortest = (1..=j / 2).min_by_key(|i| known[i].1 + known[&(j - i)].1);
                let part = match powers {
                    Powers::Tree | Powers::Below(_) if lean => shortest.unwrap_or(j),
                    Powers::Tree | Powers::Below(_) => j % base,
                    Powers::First | Powers::Balanced if j > base => j % base,
                    Powers::First | Powers::Balanced => j - j / 2,
                };
                let ((a, depth_a), (b, depth_b)) = (known[&(j - part)], known[&part]);
                let w = self.b.cmul(a, b);
                known.insert(j, (w, depth_a + depth_b + 1));
            }
            if j <= above {
                take(self, known[&j].0);
            }
        }
        for j in above + 1..radix {
            let w = self.conjugate(known[&(radix - j)].0);
            take(self, w);
        }
    }

    /// Whether few factors are loaded and more multiplied. The blocks of a cluster read the tables past one another
    /// and past the cache, and a fused launch empties the cache again and again. A double's factor is 16 bytes, and its product
    /// cheap where doubles are fast; but blocks that stay load them once. Measured: docs/notes/twiddles.md.
    fn lean(&self) -> bool {
        match self.pass.precision {
            Precision::F32 => self.cluster.is_some() || self.share.is_some(),
            Precision::F64 => self.fast_doubles && self.turns.is_none() && !self.is_crowded(),
            Precision::DoubleSingle => false,
        }
    }

    /// Whether a codelet fills a thread's registers.
    pub(super) fn is_crowded(&self) -> bool {
        let mut radices = self.pass.axes.iter().flat_map(|axis| axis.method.radices());
        self.real == Type::F64 && radices.any(|&radix| radix >= LONG_PRIME && is_prime(radix.into()))
    }

    /// A convolution goes by its tables twice, beside spectrum and chirp: they are to stay in the cache.
    pub(super) fn stage_powers(&self) -> Powers {
        if self.convolves() { Powers::First } else { Powers::Tree }
    }

    pub(super) fn convolves(&self) -> bool {
        self.pass.axes.iter().any(|axis| axis.method.convolves())
    }

    /// Stage `position` of an axis needs `W_L^(n K)`, L the product of the radices up to and with it, n the
    /// digit it transforms, K the output index so far.
    pub(super) fn stage_factors(&mut self, stage: Stage, layout: &Layout, slot: u32) -> Vec<Option<Cx>> {
        let radix = self.digits.radix(self.register(stage));
        if stage.position == 0 {
            return vec![None; radix as usize];
        }
        let mut factors = Vec::new();
        self.each_stage_factor(stage, layout, slot, |_, w| factors.push(w));
        std::iter::once(None).chain(factors.into_iter().map(|w| Some(self.directed(w)))).collect()
    }

    /// A group by the factors of its stage, each multiplied as it comes: there is no room for all of them beside the points.
    pub(super) fn multiplied(&mut self, stage: Stage, layout: &Layout, slot: u32, group: &[Cx]) -> Vec<Cx> {
        let (mut group, mut next) = (self.begun_at_zero(stage, group), 1);
        if stage.position > 0 {
            self.each_stage_factor(stage, layout, slot, |this, w| {
                let w = this.directed(w);
                group[next] = this.b.cmul(group[next], w);
                next += 1;
            });
        }
        group
    }

    /// The factors of all points of a group but the first, as they are forward.
    fn each_stage_factor(
        &mut self,
        stage: Stage,
        layout: &Layout,
        slot: u32,
        take: impl FnMut(&mut Self, Cx),
    ) {
        let Stage { axis, position } = stage;
        let own = self.digits.stages[axis][position];
        let radix = self.digits.radix(own);
        let done = self.digits.all[own].output as u64;
        let before = &self.digits.stages[axis][..position];
        let mut weights = vec![0; self.digits.all.len()];
        for d in before.iter().flat_map(|&d| self.digits.parts(Some(d))).flatten() {
            weights[d] = self.digits.all[d].output;
        }
        let at = self.linear(layout, slot, &weights);
        let powers = match self.below_zero(stage) {
            0 => self.stage_powers(),
            centre => Powers::Below(centre),
        };
        let kind = TableKind::Stage { radix, done, powers };
        let index = at.thread.unwrap_or_else(|| self.b.u32(0));
        let constant = at.constant;
        let exists = self.exists(layout, slot);
        let exact = |this: &mut Self, row: usize, _| {
            this.table_load(kind, index, (row as u64 * done) as i64 + constant, exists)
        };
        self.each_power(radix, powers, exact, take);
    }

    /// `W_L^exponent` from two levels; the exponent is below L where `on` holds.
    pub(super) fn root(&mut self, modulus: u64, exponent: Value, on: Option<Value>) -> Cx {
        let bits = level_bits(modulus);
        let low = TableKind::Roots { modulus, step: 1, len: 1 << bits };
        let high = TableKind::Roots { modulus, step: 1 << bits, len: modulus.div_ceil(1 << bits) };
        let ty = self.b.ty(exponent);
        let mask = self.b.pure(Op::Const((1 << bits) - 1), ty, &[]);
        let low_index = self.b.binary(Op::And, exponent, mask);
        let shift = self.b.u32(bits);
        let high_index = self.b.binary(Op::Shr, exponent, shift);
        let [low_index, high_index] = [low_index, high_index].map(|index| self.b.convert(Type::U32, index));
        let low = self.table_load(low, low_index, 0, on);
        let high = self.table_load(high, high_index, 0, on);
        self.b.cmul(high, low)
    }

    /// Whether the pass's twiddle is that of its points, and not of the frequencies that a fold makes of them.
    pub(super) fn twiddles_points(&self) -> bool {
        self.pass.twiddle.is_some_and(|twiddle| !twiddle.reads) && !self.staged(true)
    }

    /// Whether it is multiplied as points come in.
    pub(super) fn twiddles_read(&self) -> bool {
        self.pass.twiddle.is_some_and(|twiddle| twiddle.reads)
    }

    /// The exponent that a step of the frequency adds to a fold's twiddle: from the repeated dimensions.
    pub(super) fn twiddle_step(&mut self, layout: &Layout, slot: u32) -> Option<Value> {
        let modulus = self.pass.twiddle?.modulus;
        let ty = if modulus > u64::from(u32::MAX) { Type::U64 } else { Type::U32 };
        let rests = self.digits.weights(|digit| digit.twiddle);
        let origin = self.at_origin(ty, |dim| dim.twiddle as i64);
        let rest = layout.linear(&mut self.b, &self.digits, self.threads, slot, &rests, ty);
        let start = self.b.add_const(origin, rest.constant as u64);
        Some(rest.thread.map_or(start, |thread| self.b.add(start, thread)))
    }

    /// What the repeated dimensions give the exponent of the pass's twiddle, in whole groups of `alike`.
    fn repeated_index(&mut self, layout: &Layout, slot: u32, ty: Type, alike: u64) -> Value {
        let rests = self.digits.weights(|digit| digit.twiddle);
        // Where neighbours are alike, the index of all of them fits in a word (`schedule/passes.rs`).
        let own = if alike > 1 { Type::U32 } else { ty };
        let origin = self.at_origin(own, |dim| dim.twiddle as i64);
        let rest = layout.linear(&mut self.b, &self.digits, self.threads, slot, &rests, own);
        let start = self.b.add_const(origin, rest.constant as u64);
        let index = rest.thread.map_or(start, |thread| self.b.add(start, thread));
        let most = self.pass.batch.iter().map(|dim| (dim.n - 1) * dim.twiddle).sum::<u64>();
        let group = if alike > 1 { self.b.div_const(index, alike as u32, most) } else { index };
        self.b.convert(ty, group)
    }

    /// A tile by the twiddle between passes. A row and its image have the same.
    pub(super) fn twiddle_all(&mut self, layout: &Layout, held: &mut Held) {
        let together = self.image_digit().is_some_and(|digit| layout.pair == Some(digit));
        let alike = if together { 2 } else { 1 };
        for (at, groups) in held.chunks_mut(alike).enumerate() {
            self.pass_twiddle(layout, (at * alike) as u32, groups);
        }
    }

    /// The twiddle between passes: `exp(-+ 2 pi i k x / L)`, k the axis's index, x from the repeated dimensions. Along the
    /// registers the exponent grows evenly: one root for the start, a few for the step.
    pub(super) fn pass_twiddle(&mut self, layout: &Layout, slot: u32, groups: &mut [Vec<Cx>]) {
        let Some(Twiddle { modulus, axis, reads, alike }) = self.pass.twiddle else { return };
        let index = |digit: &Digit| if reads { digit.input } else { digit.output };
        let indices = self.digits.weights(|digit| if digit.axis == Some(axis) { index(digit) } else { 0 });
        // Index and exponent are below the modulus.
        let ty = if modulus > u64::from(u32::MAX) { Type::U64 } else { Type::U32 };
        let step = layout.register.map_or(0, |d| indices[d]) as u64;
        let radix = layout.registers(&self.digits);
        let inside = self.inside(layout, slot);
        let x_value = self.repeated_index(layout, slot, ty, alike);
        let k = self.linear(layout, slot, &indices);
        let k_value = match k.thread {
            Some(thread) => self.b.add_const(thread, k.constant as u64),
            None => self.b.u32(k.constant as u32),
        };
        let k_value = self.b.convert(ty, k_value);
        let start = self.b.mul(k_value, x_value);
        let fixed = self.b.constant(start) == Some(0);
        let first = if fixed { None } else { Some(self.root(modulus, start, inside)) };
        if step == 0 {
            // The registers hold another axis: one factor for all of them.
            let Some(w) = first.map(|w| self.directed(w)) else { return };
            groups.iter_mut().flatten().for_each(|x| *x = self.b.cmul(*x, w));
            return;
        }
        let steps = self.powers(radix, Powers::Tree, |this, _, j| {
            let exponent = this.b.mul_const(x_value, step * u64::from(j));
            this.root(modulus, exponent, inside)
        });
        for r in 0..radix as usize {
            let w = match (first, r) {
                (None, 0) => continue,
                (None, _) => steps[r - 1],
                (Some(first), 0) => first,
                (Some(first), _) => self.b.cmul(first, steps[r - 1]),
            };
            let w = self.directed(w);
            groups.iter_mut().for_each(|group| group[r] = self.b.cmul(group[r], w));
        }
    }
}
