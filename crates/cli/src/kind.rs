//! The transforms that can be asked for by name, with scipy.fft's meaning of each.

use clap::ValueEnum;
use warpfft::core::problem::{Direction, RealKind, half};
use warpfft::core::request::Fft;

use crate::error::CliError;

/// What is transformed into what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum KindArg {
    /// Complex numbers, or reals, into complex numbers: all frequencies, as scipy's fftn; with --inverse, ifftn
    C2c,
    /// Reals into half of their spectrum, as rfftn: n of the last axis become n / 2 + 1
    R2c,
    /// Half of a spectrum into its reals, as irfftn: m of the last axis become 2 (m - 1), or what --n says
    C2r,
    /// Half of a signal with Hermitian symmetry into its real spectrum, as hfftn; lengths as with c2r
    Hfft,
    /// Reals into half of their inverse transform, as ihfftn: undoes hfft
    Ihfft,
    /// Cosine transform of type I, as dctn; with --inverse, idctn. Type I needs 2 points
    Dct1,
    /// Cosine transform of type II, the one of JPEG; its inverse is of type III
    Dct2,
    /// Cosine transform of type III; its inverse is of type II
    Dct3,
    /// Cosine transform of type IV
    Dct4,
    /// Sine transform of type I, as dstn; with --inverse, idstn
    Dst1,
    /// Sine transform of type II; its inverse is of type III
    Dst2,
    /// Sine transform of type III; its inverse is of type II
    Dst3,
    /// Sine transform of type IV
    Dst4,
    /// Hartley's transform: sums of cosines and sines, axis by axis
    Dht,
}

/// The lengths of a transform along all axes of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lengths {
    /// Points of the transforms: of an axis that is halved, those of its reals.
    pub points: Vec<usize>,
    /// Points of the input.
    pub input: Vec<usize>,
    /// Points of the output.
    pub output: Vec<usize>,
}

/// What a result lies over along a transformed axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Along {
    /// Places or times.
    Places,
    /// All frequencies, the negative ones behind the others.
    Circle,
    /// Frequencies from 0 to the highest, of so many points.
    Half(usize),
    /// Frequencies `(k + start) / period`.
    Waves {
        /// Of the first.
        start: f64,
        /// Points of the periodic sequence that the transform stands for.
        period: f64,
    },
}

impl KindArg {
    /// Its name on the command line.
    pub fn name(self) -> String {
        crate::options::name_of(&self)
    }

    /// The kind from reals to reals, without regard to the direction.
    pub fn real(self) -> Option<RealKind> {
        Some(match self {
            Self::C2c | Self::R2c | Self::C2r | Self::Hfft | Self::Ihfft => return None,
            Self::Dct1 => RealKind::Dct1,
            Self::Dct2 => RealKind::Dct2,
            Self::Dct3 => RealKind::Dct3,
            Self::Dct4 => RealKind::Dct4,
            Self::Dst1 => RealKind::Dst1,
            Self::Dst2 => RealKind::Dst2,
            Self::Dst3 => RealKind::Dst3,
            Self::Dst4 => RealKind::Dst4,
            Self::Dht => RealKind::Dht,
        })
    }

    /// Whether it makes half spectra of reals.
    pub fn halves(self) -> bool {
        matches!(self, Self::R2c | Self::Ihfft)
    }

    /// Whether it makes reals of half spectra.
    pub fn doubles(self) -> bool {
        matches!(self, Self::C2r | Self::Hfft)
    }

    /// Whether it takes reals only.
    pub fn takes_reals(self) -> bool {
        self.halves() || self.real().is_some()
    }

    /// Whether it gives reals.
    pub fn gives_reals(self) -> bool {
        self.doubles() || self.real().is_some()
    }

    /// The sign in the exponent and the place of the norm, if it can be asked for that way round.
    pub fn direction(self, inverse: bool) -> Result<Direction, CliError> {
        let (own, instead) = match self {
            Self::R2c => (Direction::Forward, "c2r"),
            Self::C2r => (Direction::Inverse, "r2c"),
            Self::Hfft => (Direction::Forward, "ihfft"),
            Self::Ihfft => (Direction::Inverse, "hfft"),
            _ if inverse => return Ok(Direction::Inverse),
            _ => return Ok(Direction::Forward),
        };
        if inverse { Err(CliError::NoInverse { kind: self.name(), instead }) } else { Ok(own) }
    }

    /// Whether --shift means something.
    pub fn check_shift(self) -> Result<(), CliError> {
        let what = match self {
            Self::R2c | Self::Ihfft => "half of a spectrum, from frequency 0 on",
            _ if self.is_trigonometric() => "frequencies from 0 on alone",
            _ => return Ok(()),
        };
        Err(CliError::NoShift { kind: self.name(), what })
    }

    fn is_trigonometric(self) -> bool {
        self.real().is_some_and(|kind| kind != RealKind::Dht)
    }

    /// The lengths along all axes of an input of that shape, with those that --n asks for along the transformed ones.
    pub fn lengths(
        self,
        shape: &[usize],
        axes: &[usize],
        asked: Option<&[usize]>,
    ) -> Result<Lengths, CliError> {
        let (mut points, last) = (shape.to_vec(), axes.last().copied());
        if self.real().is_none() && self != Self::C2c && last.is_none() {
            return Err(CliError::NothingToHalve { kind: self.name() });
        }
        if let Some(last) = last.filter(|_| self.doubles()) {
            points[last] = 2 * (shape[last] - 1);
        }
        for (&axis, &n) in axes.iter().zip(asked.unwrap_or_default()) {
            points[axis] = n;
        }
        let (mut input, mut output) = (points.clone(), points.clone());
        if let Some(last) = last {
            if points[last] == 0 {
                return Err(CliError::NoReals { kind: self.name(), axis: last });
            }
            let halved = half(points[last] as u64) as usize;
            if self.doubles() {
                input[last] = halved;
            } else if self.halves() {
                output[last] = halved;
            }
        }
        Ok(Lengths { points, input, output })
    }

    /// Makes a request one of this kind.
    pub fn ask(self, fft: Fft, direction: Direction, orthogonal: bool) -> Fft {
        let fft = match self.real() {
            Some(kind) => {
                let inverse = direction == Direction::Inverse;
                let fft = fft.r2r([if inverse { kind.inverse() } else { kind }]);
                if orthogonal { fft.orthogonal() } else { fft }
            }
            None if self.halves() => fft.r2c(),
            None if self.doubles() => fft.c2r(),
            None => fft,
        };
        fft.direction(direction)
    }

    /// What the result lies over along each transformed axis.
    pub fn along(self, lengths: &Lengths, axes: &[usize], inverse: bool) -> Vec<Along> {
        let one = |(at, &axis): (usize, &usize)| {
            let n = lengths.points[axis];
            match self {
                Self::C2r => Along::Places,
                _ if inverse => Along::Places,
                Self::R2c | Self::Ihfft if at + 1 == axes.len() => Along::Half(n),
                _ if self.is_trigonometric() => self.waves(n),
                _ => Along::Circle,
            }
        };
        axes.iter().enumerate().map(one).collect()
    }

    fn waves(self, n: usize) -> Along {
        let period = self.real().map_or(1, |kind| kind.period(n as u64)) as f64;
        let start = match self {
            Self::Dct1 | Self::Dct2 => 0.0,
            Self::Dst1 | Self::Dst2 => 1.0,
            _ => 0.5,
        };
        Along::Waves { start, period }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_half_spectra() {
        let lengths = |kind: KindArg, shape: &[usize], axes: &[usize], asked: Option<&[usize]>| {
            let lengths = kind.lengths(shape, axes, asked).unwrap();
            (lengths.points, lengths.input, lengths.output)
        };
        let same = lengths(KindArg::C2c, &[4, 5], &[1], Some(&[7]));
        assert_eq!(same, (vec![4, 7], vec![4, 7], vec![4, 7]));
        assert_eq!(lengths(KindArg::R2c, &[4, 5], &[1, 0], None).2, [3, 5]);
        assert_eq!(lengths(KindArg::C2r, &[4, 5], &[0, 1], None), (vec![4, 8], vec![4, 5], vec![4, 8]));
        assert_eq!(
            lengths(KindArg::Hfft, &[4, 5], &[0, 1], Some(&[6, 7])),
            (vec![6, 7], vec![6, 4], vec![6, 7])
        );
        assert!(matches!(KindArg::C2r.lengths(&[3, 1], &[1], None), Err(CliError::NoReals { axis: 1, .. })));
        assert_eq!(lengths(KindArg::C2r, &[3, 1], &[1], Some(&[1])).2, [3, 1]);
        assert!(matches!(KindArg::R2c.lengths(&[], &[], None), Err(CliError::NothingToHalve { .. })));
    }

    #[test]
    fn every_kind_from_reals_to_reals_has_its_own_name() {
        for kind in KindArg::value_variants() {
            if let Some(real) = kind.real() {
                assert_eq!(kind.name(), real.name());
            }
        }
    }

    #[test]
    fn only_c2c_and_kinds_from_reals_to_reals_turn_round() {
        for kind in KindArg::value_variants() {
            let turns = kind.direction(true).is_ok();
            assert_eq!(turns, *kind == KindArg::C2c || kind.real().is_some(), "{kind:?}");
        }
    }
}
