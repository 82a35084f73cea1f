//! Problems over made-up data, for the commands that measure, tune and explain: packed arrays, one after the other.

use std::fmt;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use warpfft::core::problem::{Precision, Problem, RealKind, Storage};
use warpfft::core::request::Fft;

use crate::error::CliError;
use crate::options::{BatchArgs, Shape, StorageArg, name_of};

/// What goes in and what comes out. Lengths are those of the reals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Complex numbers into complex numbers
    #[default]
    C2c,
    /// Reals into all of their spectrum; not in place
    Full,
    /// Reals into half of their spectrum; the shape is that of the reals. ihfft takes the same time
    R2c,
    /// Half of a spectrum into its reals; the shape is that of the reals. hfft takes the same time
    C2r,
    /// Cosine transform of type I, of at least 2 points
    Dct1,
    /// Cosine transform of type II
    Dct2,
    /// Cosine transform of type III
    Dct3,
    /// Cosine transform of type IV
    Dct4,
    /// Sine transform of type I
    Dst1,
    /// Sine transform of type II
    Dst2,
    /// Sine transform of type III
    Dst3,
    /// Sine transform of type IV
    Dst4,
    /// Hartley's transform
    Dht,
    /// Reals into their half spectrum as so many reals, in FFTW's half-complex order
    R2hc,
    /// The way back from r2hc
    Hc2r,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&name_of(self))
    }
}

impl Kind {
    /// The kind from reals to reals.
    pub fn real(self) -> Option<RealKind> {
        let name = name_of(&self);
        RealKind::ALL.into_iter().find(|real| real.name() == name)
    }

    /// Floating-point operations of a transform of so many points, by the usual count: half as many for reals.
    pub fn operations(self, points: f64) -> f64 {
        let each = if self == Self::C2c { 5.0 } else { 2.5 };
        each * points * points.log2()
    }
}

/// What packed arrays are asked for.
#[derive(Debug, Clone, Copy)]
pub struct Packed<'a> {
    /// What is transformed into what.
    pub kind: Kind,
    /// Lengths, slowest first.
    pub shape: &'a Shape,
    /// Transforms in one call.
    pub batch: u64,
    /// Width of the numbers as they are computed in.
    pub precision: Precision,
    /// How they are kept, if otherwise.
    pub storage: Option<Storage>,
    /// Whether the other way round.
    pub inverse: bool,
    /// Whether input and output share their memory.
    pub in_place: bool,
    /// Bytes of workspace at most.
    pub max_workspace: Option<u64>,
}

impl BatchArgs {
    /// Arrays of that shape, forward, out of place, with any workspace.
    pub fn packed<'a>(&self, shape: &'a Shape) -> Packed<'a> {
        Packed {
            kind: self.kind,
            shape,
            batch: self.batch,
            precision: self.precision.precision(),
            storage: self.storage.map(StorageArg::storage),
            inverse: false,
            in_place: false,
            max_workspace: None,
        }
    }
}

impl Packed<'_> {
    /// The problem.
    pub fn problem(&self) -> Result<Problem, CliError> {
        Ok(self.request()?.build()?)
    }

    /// What is asked, to ask for more.
    pub fn request(&self) -> Result<Fft, CliError> {
        let fft = self.asked(Fft::new(self.shape.0.clone()))?;
        let fft = fft.batch(self.batch).precision(self.precision);
        let fft = self.storage.into_iter().fold(fft, Fft::storage);
        let fft = if self.in_place { fft.in_place() } else { fft };
        Ok(self.max_workspace.into_iter().fold(fft, Fft::max_workspace))
    }

    /// Makes a request one of this kind and direction.
    fn asked(&self, fft: Fft) -> Result<Fft, CliError> {
        let one_way = |instead| Err(CliError::NoInverse { kind: self.kind.to_string(), instead });
        match (self.kind, self.kind.real()) {
            (Kind::R2c, _) if self.inverse => one_way("c2r"),
            (Kind::C2r, _) if self.inverse => one_way("r2c"),
            (Kind::Full, _) => Ok(if self.inverse { fft.inverse() } else { fft }.full_spectrum()),
            (Kind::R2c, _) => Ok(fft.r2c()),
            (Kind::C2r, _) => Ok(fft.c2r()),
            (_, Some(kind)) => Ok(fft.r2r([if self.inverse { kind.inverse() } else { kind }])),
            _ if self.inverse => Ok(fft.inverse()),
            _ => Ok(fft),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::KindArg;
    use warpfft::core::problem::Kind as CoreKind;

    #[test]
    fn every_kind_of_the_library_can_be_asked_for_as_transform_spells_it() {
        let kinds: Vec<_> = Kind::value_variants().iter().filter_map(|kind| kind.real()).collect();
        assert_eq!(kinds, RealKind::ALL);
        for known in KindArg::value_variants() {
            let there = Kind::value_variants().iter().any(|kind| kind.to_string() == known.name());
            assert_eq!(there, !matches!(known, KindArg::Hfft | KindArg::Ihfft), "{known:?}");
        }
        for kind in Kind::value_variants() {
            let written = serde_json::to_string(kind).unwrap();
            assert_eq!(written, format!("\"{kind}\""), "files and options spell alike");
        }
    }

    #[test]
    fn kinds_turn_round_where_they_have_no_other_name() {
        let shape = Shape(vec![6, 8]);
        let packed = |kind, inverse| Packed {
            kind,
            shape: &shape,
            batch: 3,
            precision: Precision::F32,
            storage: None,
            inverse,
            in_place: false,
            max_workspace: None,
        };
        for &kind in Kind::value_variants() {
            let forward = packed(kind, false).problem().unwrap();
            assert_eq!((forward.points(), forward.batch_count()), (48, 3), "{kind}");
            let back = packed(kind, true).problem();
            assert_eq!(back.is_ok(), !matches!(kind, Kind::R2c | Kind::C2r), "{kind}");
        }
        let back = packed(Kind::Dct2, true).problem().unwrap();
        assert_eq!(back, packed(Kind::Dct3, false).problem().unwrap());
        assert!(matches!(packed(Kind::C2r, false).problem().unwrap().kind, CoreKind::ComplexToReal(_)));
    }

    #[test]
    fn reals_take_half_the_operations() {
        assert!((Kind::C2c.operations(1024.0) - 51200.0).abs() < 1e-9);
        assert!((Kind::Dct2.operations(1024.0) - 25600.0).abs() < 1e-9);
    }
}
