//! Constant tables, by what they hold.

use super::{CoprimePart, PartKind};
use crate::lower::twiddle::{Powers, centre_of, exact_powers};
use crate::problem::{Band, Precision};

/// A constant table of the forward direction, by what it holds; the host makes it in f64 and rounds once. The
/// inverse direction takes the conjugates as it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TableKind {
    /// `exp(-2 pi i j K / (radix done))` for K in `0..done`, one row of `done` for each exponent j that
    /// [`exact_powers`] lists for the radix.
    Stage {
        /// Radix of the stage.
        radix: u32,
        /// Product of the radices before it.
        done: u64,
        /// Which powers it holds.
        powers: Powers,
    },
    /// `exp(-2 pi i x step / modulus)` for x in `0..len`: one level of a two-level table.
    Roots {
        /// Modulus.
        modulus: u64,
        /// Distance of the exponents.
        step: u64,
        /// Entries.
        len: u64,
    },
    /// `exp(-2 pi i (first + x step) / modulus)` for x in `0..len`.
    ShiftedRoots {
        /// Modulus.
        modulus: u64,
        /// The first exponent.
        first: u64,
        /// Distance of the exponents.
        step: u64,
        /// Entries.
        len: u64,
    },
    /// `exp(-i pi k^2 / n)` for k in `0..n`.
    Chirp {
        /// Length.
        n: u64,
    },
    /// The chirp times `exp(i pi k / m)`, the chirp, and the chirp times `exp(-i pi k / m)`, one after the other: what the odd
    /// frequencies of twice `m` points are multiplied by on the way out, the even ones both ways, the odd ones on the way in.
    ChirpOfHalves {
        /// Length.
        n: u64,
        /// Half the padded length.
        m: u64,
    },
    /// The transform of length `m` of the conjugate chirp of length `n` (wrapped to negative indices), divided
    /// by `m`.
    ChirpSpectrum {
        /// Length.
        n: u64,
        /// Padded length.
        m: u64,
        /// Where frequency 0 stands; those below it come before.
        centre: u64,
    },
    /// The even frequencies of [`TableKind::ChirpSpectrum`] of length `2 m`, and the odd ones, each with the first at `centre`.
    SpectrumOfHalves {
        /// Length.
        n: u64,
        /// Half the padded length.
        m: u64,
        /// Where the first frequency stands; those below it come before.
        centre: u64,
    },
    /// As [`TableKind::ChirpSpectrum`], in rows of as many points as the radices have: row `k1`, of as many as there
    /// are, has the frequencies `k1 + rows k2`, with `k2` in the order of [`TableKind::RaderSpectrum`].
    ChirpRows {
        /// Length.
        n: u64,
        /// Padded length.
        m: u64,
        /// Radix of each stage; unused ones are 1.
        radices: [u8; MAX_STAGES],
    },
    /// What the samples of a band are multiplied by: `exp(-2 pi i (first j + step j^2 / 2))`.
    BandIn {
        /// The frequencies.
        band: Band,
    },
    /// What its points are multiplied by: `exp(-2 pi i step k^2 / 2)`.
    BandOut {
        /// The frequencies.
        band: Band,
    },
    /// The transform of length `m` of `exp(2 pi i step k^2 / 2)`, k from -(samples - 1) to points - 1 (negative ones
    /// wrapped), divided by `m`.
    BandSpectrum {
        /// The frequencies.
        band: Band,
        /// Padded length.
        m: u64,
        /// Where frequency 0 stands; those below it come before.
        centre: u64,
    },
    /// As [`TableKind::BandSpectrum`], in the rows of [`TableKind::ChirpRows`].
    BandRows {
        /// The frequencies.
        band: Band,
        /// Padded length.
        m: u64,
        /// Radix of each stage; unused ones are 1.
        radices: [u8; MAX_STAGES],
    },
    /// The transform of length `p - 1` of `exp(-2 pi i g^-q / p)` over q, divided by `p - 1`; g is the smallest
    /// primitive root of the prime. Frequency `j1 + r1 j2 + r1 r2 j3 ..` less [`centre_of`] the radices stands where the threads
    /// of the last stage are neighbours: the last digit is the slowest, before the others with the first slowest.
    RaderSpectrum {
        /// The prime.
        p: u64,
        /// Radix of each stage; unused ones are 1.
        radices: [u8; MAX_STAGES],
    },
    /// The even frequencies of the transform of which [`TableKind::RaderSpectrum`] is, and the odd ones, each in its order.
    RaderSpectrumOfHalves {
        /// The prime.
        p: u64,
        /// Radix of each stage, which transform half as many points; unused ones are 1.
        radices: [u8; MAX_STAGES],
    },
    /// `exp(i pi k / h)`, 1, and `exp(-i pi k / h)` for k below `h = (p - 1) / 2`, one after the other: what the odd frequencies in
    /// Rader's order are multiplied by on the way out, the even ones both ways, the odd ones on the way in. Negative where of the two
    /// indices whose powers are h apart the larger one comes first.
    RootsOfHalves {
        /// The prime.
        p: u64,
    },
    /// Where each index of a length of coprime parts stands on the chip: an integer each.
    Places {
        /// The parts; unused ones have length 1.
        parts: [Coordinate; 3],
        /// Indices of the output, not of the input.
        output: bool,
        /// Rows that indices go by in turn, one after the other, so that what is left of an index is that of a point in its
        /// row; and the distance of two.
        rows: [u32; 2],
        /// Distance of the repeated tile in which indices beyond the last go on, as far again; 0: they do not.
        next: u32,
    },
}

/// Stages that a coprime part has at most.
pub const MAX_STAGES: usize = 8;

/// A part's place in a shared array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Coordinate {
    /// Length.
    pub n: u64,
    /// What its stages compute. A transform leaves its output in the order of its digits; Rader's order is that of
    /// the powers of the primitive root, rising at the input, falling at the output.
    pub kind: PartKind,
    /// Radix of each stage, the slowest digit first; unused ones are 1.
    pub radices: [u8; MAX_STAGES],
    /// Distance of each stage's digit.
    pub strides: [u32; MAX_STAGES],
    /// Where Rader's first point stands.
    pub first: u32,
}

impl CoprimePart {
    /// The index at which frequency 0 stands once the stages are done: a caller's filter has it first.
    pub fn centre(&self) -> u64 {
        if self.kind == PartKind::Filter { 0 } else { centre_of(&self.radices) }
    }

    /// The stages' radices, as tables name them.
    pub fn table_radices(&self) -> [u8; MAX_STAGES] {
        let mut all = [1; MAX_STAGES];
        all.iter_mut().zip(&self.radices).for_each(|(own, &radix)| *own = radix as u8);
        all
    }
}

impl Coordinate {
    /// The coordinate of no part.
    pub const NONE: Self = Self {
        n: 1,
        kind: PartKind::MixedRadix,
        radices: [1; MAX_STAGES],
        strides: [0; MAX_STAGES],
        first: 0,
    };
}

impl TableKind {
    /// Reals, or integers, of an entry.
    pub fn width(self) -> u64 {
        if matches!(self, Self::Places { .. }) { 1 } else { 2 }
    }

    /// Entries.
    pub fn len(self) -> u64 {
        match self {
            Self::Stage { radix, done, powers } => done * exact_powers(radix, powers).len() as u64,
            Self::Roots { len, .. } | Self::ShiftedRoots { len, .. } => len,
            Self::Chirp { n } => n,
            Self::ChirpOfHalves { n, .. } => 3 * n,
            Self::SpectrumOfHalves { m, .. } => 2 * m,
            Self::RootsOfHalves { p } => p / 2 * 3,
            Self::BandIn { band } => band.samples,
            Self::BandOut { band } => band.points,
            Self::ChirpSpectrum { m, .. } | Self::ChirpRows { m, .. } => m,
            Self::BandSpectrum { m, .. } | Self::BandRows { m, .. } => m,
            Self::RaderSpectrum { p, .. } | Self::RaderSpectrumOfHalves { p, .. } => p - 1,
            Self::Places { parts, rows, next, .. } => {
                let points = parts.iter().map(|part| part.n).product::<u64>() * u64::from(rows[0]);
                points * if next > 0 { 2 } else { 1 }
            }
        }
    }

    /// Bytes of all entries in that precision.
    pub fn bytes(self, precision: Precision) -> u64 {
        let each = if matches!(self, Self::Places { .. }) { 4 } else { precision.complex_bytes() };
        self.len() * each
    }

    /// Whether it has no entries.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}
