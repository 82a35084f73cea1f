//! How an axis is transformed on the chip: by stages of its own, or by coprime parts, of which some convolve.

use crate::plan::least_padded;
use crate::problem::{Band, RealKind};

use super::TableKind;

/// How an axis is transformed on the chip.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Method {
    /// Cooley-Tukey stages, one codelet each; their product is the length.
    MixedRadix(Vec<u32>),
    /// Coprime parts one after another, each over all others as repeated dimensions; indices are permuted on
    /// the way in and out.
    Coprime(Vec<CoprimePart>),
    /// A codelet as the points come in, twiddles, and a convolution of each of as many rows.
    Decimated {
        /// Points of the codelet.
        radix: u32,
        /// What transforms a row.
        part: CoprimePart,
    },
    /// One codelet that makes reals of reals, of the real parts and of the imaginary parts alike.
    Reals(Reals),
}

/// A line of reals in a thread's registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Reals {
    /// The length, which is the one stage's radix.
    radix: [u32; 1],
    /// Which transform.
    pub kind: RealKind,
    /// Whether first and last values are weighted ([`RealDim::orthogonal`](crate::problem::RealDim::orthogonal)).
    pub orthogonal: bool,
}

impl Reals {
    /// A line of so many reals.
    pub const fn new(n: u32, kind: RealKind, orthogonal: bool) -> Self {
        Self { radix: [n], kind, orthogonal }
    }
}

/// One of the coprime parts of a length.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CoprimePart {
    /// Length.
    pub n: u64,
    /// What its stages compute.
    pub kind: PartKind,
    /// Length of the chirp that it convolves with, if it does.
    pub chirp: Option<u64>,
    /// The band whose chirp that is; its length is the larger number of samples and points, as the part's is.
    pub band: Option<Band>,
    /// The stages' radices.
    pub radices: Vec<u32>,
}

/// What the stages of a part compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PartKind {
    /// The transform.
    MixedRadix,
    /// The transform that convolves a prime length less its first point.
    Rader,
    /// The transform that convolves with a chirp, padded.
    Bluestein,
    /// The middle of a convolution with a chirp that does not fit on the chip: the transform of the slowest digits of
    /// the frequency, the product, and the way back. The other digits are what the pass's twiddle multiplies, which
    /// leads the way back too; its modulus is the padded length.
    Middle,
    /// The transform that convolves: there, times the pass's filter, and back. With a twiddle it is the middle of a
    /// convolution in several passes, as [`PartKind::Middle`] is.
    Filter,
}

impl CoprimePart {
    /// Points that it takes on the chip.
    pub fn room(&self) -> u64 {
        if self.halved() { 2 * self.points() } else { self.points().max(self.n) }
    }

    /// Whether its stages transform half of what it convolves, twice: the even frequencies and the odd ones
    /// (`lower/halves.rs`).
    pub fn halved(&self) -> bool {
        match self.kind {
            PartKind::Bluestein => self.band.is_none() && self.points() < least_padded(self.n),
            PartKind::Rader => self.points() < self.n - 1,
            PartKind::MixedRadix | PartKind::Middle | PartKind::Filter => false,
        }
    }

    /// Whether its points are multiplied by factors on the way in, and out.
    pub fn weighted(&self) -> bool {
        self.kind == PartKind::Bluestein || self.halved()
    }

    /// Blocks that hold it, each the points that its stages transform.
    pub fn blocks(&self) -> u64 {
        if self.halved() { 2 } else { 1 }
    }

    /// Points that there are on the way in, or out.
    pub fn ends(&self, leaves: bool) -> u64 {
        self.band
            .filter(|_| self.kind == PartKind::Bluestein)
            .map_or(self.n, |band| if leaves { band.points } else { band.samples })
    }

    /// What its points are multiplied by on the way in, or out.
    pub fn end_factors(&self, leaves: bool) -> TableKind {
        match self.band {
            Some(band) if leaves => TableKind::BandOut { band },
            Some(band) => TableKind::BandIn { band },
            None if self.kind == PartKind::Rader => TableKind::RootsOfHalves { p: self.n },
            None if self.halved() => TableKind::ChirpOfHalves { n: self.n, m: self.points() },
            None => TableKind::Chirp { n: self.n },
        }
    }

    /// Points that its stages transform.
    pub fn points(&self) -> u64 {
        self.radices.iter().map(|&r| u64::from(r)).product()
    }
}

impl Method {
    /// The stages' radices; coprime parts have their own.
    pub fn radices(&self) -> &[u32] {
        match self {
            Self::MixedRadix(radices) => radices,
            Self::Reals(reals) => &reals.radix,
            Self::Coprime(_) | Self::Decimated { .. } => &[],
        }
    }

    /// Points that the axis takes on the chip.
    pub fn points(&self) -> u64 {
        match self {
            Self::MixedRadix(_) | Self::Reals(_) => self.radices().iter().map(|&r| u64::from(r)).product(),
            Self::Coprime(parts) => {
                let n: u64 = parts.iter().map(|part| part.n).product();
                parts.iter().map(|part| n / part.n * part.room()).max().unwrap_or(n)
            }
            Self::Decimated { radix, part } => u64::from(*radix) * part.room(),
        }
    }

    /// Every stage: its radix, how often it runs, and points of all groups that it runs over.
    pub fn stages(&self) -> Vec<Stage> {
        let of = |radices: &[u32], ways, points| {
            radices.iter().map(|&radix| Stage { radix, ways, points }).collect::<Vec<_>>()
        };
        match self {
            Self::MixedRadix(_) | Self::Reals(_) => of(self.radices(), 1, self.points()),
            Self::Coprime(parts) => {
                let n: u64 = parts.iter().map(|part| part.n).product();
                let ways = |part: &CoprimePart| if part.kind == PartKind::MixedRadix { 1 } else { 2 };
                parts
                    .iter()
                    .flat_map(|part| {
                        of(&part.radices, ways(part), n / part.n * part.points() * part.blocks())
                    })
                    .collect()
            }
            Self::Decimated { radix, part } => {
                let rows = u64::from(*radix);
                [of(&[*radix], 1, rows * part.n), of(&part.radices, 2, rows * part.points())].concat()
            }
        }
    }

    /// The parts that stand in shared memory while stages run there.
    pub fn in_place(&self) -> &[CoprimePart] {
        match self {
            Self::MixedRadix(_) | Self::Reals(_) => &[],
            Self::Coprime(parts) => parts,
            Self::Decimated { part, .. } => std::slice::from_ref(part),
        }
    }

    /// Whether it convolves.
    pub fn convolves(&self) -> bool {
        match self {
            Self::MixedRadix(_) | Self::Reals(_) => false,
            Self::Coprime(parts) => parts.iter().any(|part| part.kind != PartKind::MixedRadix),
            Self::Decimated { .. } => true,
        }
    }
}

/// One stage of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stage {
    /// Its radix.
    pub radix: u32,
    /// How often it runs: twice in a convolution.
    pub ways: u32,
    /// Points that it transforms, over the whole axis.
    pub points: u64,
}
