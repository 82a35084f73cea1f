//! What stands between memory and the complex points of a pass, where these are not the same: a transform of real
//! data is a complex one of fewer points, with its inputs gathered before and its outputs parted after.
//!
//! The sequences are Makhoul's for cosine and sine transforms (*A fast cosine transform in one and two dimensions*,
//! IEEE Trans. ASSP 28(1), 1980); pairs of reals, and pairs of rows, become complex numbers as in Lloyd, Boyd and
//! Govindaraju (*Fast computation of general Fourier transforms on GPUs*, 2008, section 4.5).

use crate::problem::{RealKind, Window, half};

/// Points of a line up to which its spectrum is written value by value.
const SHORT: u64 = 32;

/// How complex points carry reals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Carry {
    /// A point holds two neighbours of a line of even length: half as many points.
    Halves,
    /// A point holds an element of each of two lines, which lie this far apart in the input and in the output.
    Rows([i64; 2]),
    /// A point holds one real.
    Single,
}

/// What a line of reals is transformed into, or from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Formula {
    /// The half of its spectrum that says it all; conjugate for the other sign of the exponent.
    Spectrum {
        /// Whether the spectrum is conjugate.
        conjugate: bool,
    },
    /// As many reals.
    Reals {
        /// By which transform.
        kind: RealKind,
        /// Whether first and last values are weighted ([`RealDim::orthogonal`](crate::problem::RealDim::orthogonal)).
        orthogonal: bool,
    },
}

/// A side of a pass on which memory does not hold its complex points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fold {
    /// The transform of the line.
    pub formula: Formula,
    /// How points carry reals.
    pub carry: Carry,
    /// Reals of a line.
    pub n: u64,
    /// Distance of neighbours in memory, in what this side holds.
    pub stride: i64,
    /// Which elements of the line memory holds; `None`: all.
    pub window: Option<Window>,
    /// Which dimension of the problem the line is ([`PassDim::of`](super::PassDim::of)).
    pub of: Option<u16>,
    /// Which one two lines are neighbours along that points carry together: it counts pairs of them.
    pub across: Option<u16>,
}

/// What a transform of reals does on one side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Memory holds the points' reals in their order.
    Natural,
    /// Memory holds a spectrum, or what follows from one frequency and its mirror image.
    Bins,
    /// Memory holds the points' reals in another order, or part of them.
    Samples,
    /// Memory holds reals that each point takes two of, one from each end, turned by a factor; of an odd length, in another order.
    Turned,
    /// Memory holds some of the points' reals, in their order: a window may part the two of a point.
    InOrder,
}

impl Formula {
    /// Its name.
    pub const fn name(self, back: bool) -> &'static str {
        match self {
            Self::Spectrum { .. } if back => "c2r",
            Self::Spectrum { .. } => "r2c",
            Self::Reals { kind, .. } => kind.name(),
        }
    }

    /// What happens where a line is read, and where it is written; `back` tells the way from a spectrum.
    pub const fn ways(self, back: bool) -> [Way; 2] {
        match self {
            Self::Spectrum { .. } if back => [Way::Bins, Way::Natural],
            Self::Spectrum { .. } => [Way::Natural, Way::Bins],
            Self::Reals { kind, .. } => match kind {
                RealKind::Dct1 | RealKind::Dst1 | RealKind::Dct2 | RealKind::Dst2 => {
                    [Way::Samples, Way::Bins]
                }
                RealKind::Dct3 | RealKind::Dst3 => [Way::Bins, Way::Samples],
                RealKind::Dct4 | RealKind::Dst4 => [Way::Turned, Way::Turned],
                RealKind::Dht | RealKind::HalfComplex => [Way::Natural, Way::Bins],
                RealKind::FromHalfComplex => [Way::Bins, Way::Natural],
            },
        }
    }

    /// Reals of the periodic sequence whose spectrum is asked for, when the line has `n`.
    pub const fn sequence(self, n: u64) -> u64 {
        match self {
            Self::Reals { kind: kind @ (RealKind::Dct1 | RealKind::Dst1), .. } => kind.period(n),
            _ => n,
        }
    }

    /// Whether it is DCT-I or DST-I, which continue the line to a sequence of twice its length, about.
    pub const fn extends(self) -> bool {
        matches!(self, Self::Reals { kind: RealKind::Dct1 | RealKind::Dst1, .. })
    }
}

impl Fold {
    /// Complex points that carry a line, or a pair of lines.
    pub const fn points(&self) -> u64 {
        points(self.formula, self.carry, self.n)
    }

    /// Steps in which a line is gone through on this side, each of which takes a few elements.
    pub const fn items(&self, way: Way, writes: bool) -> u64 {
        let points = self.points();
        match way {
            Way::Natural => 0,
            Way::InOrder => points,
            Way::Bins if writes && self.one_by_one() => points + 1,
            Way::Bins => match self.carry {
                Carry::Halves => points / 2 + 1,
                Carry::Rows(_) | Carry::Single => half(points),
            },
            Way::Samples if self.formula.extends() => points + 1,
            Way::Samples => self.n.div_ceil(2),
            // Two points are of the same two pairs of neighbours; of an odd length, two reals follow from a frequency.
            Way::Turned if self.n.is_multiple_of(2) => points.div_ceil(2),
            Way::Turned if writes => half(points),
            Way::Turned => points,
        }
    }

    /// Whether a spectrum is written value by value: of short lines, frequencies and their mirror images would go to the
    /// same sectors one after the other.
    pub const fn one_by_one(&self) -> bool {
        let spectrum = matches!(self.formula, Formula::Spectrum { .. });
        spectrum && matches!(self.carry, Carry::Halves) && self.points() <= SHORT
    }

    /// Whether the two rows that points carry lie side by side in memory, with room for both between their elements.
    pub const fn twins(&self, writes: bool) -> bool {
        let Carry::Rows([read, written]) = self.carry else { return false };
        let distance = if writes { written } else { read };
        distance == 1 && self.stride % 2 == 0
    }

    /// Elements of a line, or a pair of lines, in memory.
    pub const fn elements(&self) -> u64 {
        let lines = if matches!(self.carry, Carry::Rows(_)) { 2 } else { 1 };
        lines
            * match (self.window, self.formula) {
                (Some(window), _) => window.len,
                (None, Formula::Spectrum { .. }) => half(self.n),
                (None, Formula::Reals { .. }) => self.n,
            }
    }
}

/// Complex points that carry a line of `n` reals.
pub const fn points(formula: Formula, carry: Carry, n: u64) -> u64 {
    let sequence = formula.sequence(n);
    if matches!(carry, Carry::Halves) { sequence / 2 } else { sequence }
}
