//! How real numbers are kept in memory, which need not be how they are computed in.

use half::{bf16, f16};

use super::{Kind, Precision, Problem, RealDim, RealKind};
use crate::error::Error;
use crate::math::halves::{nearest_bf16, nearest_f16};

/// How real numbers are kept in memory, whatever they are computed in: [`Problem::storage`].
///
/// What is read is exact in any wider type. What is written is rounded once, to nearest, ties to even; beyond the
/// largest finite value of its type it becomes infinite, as IEEE 754 has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Storage {
    /// IEEE half precision: 11 significant bits, up to 65504.
    F16,
    /// bfloat16: 8 significant bits, in the range of single precision.
    Bf16,
    /// 32-bit floating point.
    F32,
    /// 64-bit floating point.
    F64,
}

impl Storage {
    /// Every type, the narrowest first.
    pub const ALL: [Self; 4] = [Self::F16, Self::Bf16, Self::F32, Self::F64];

    /// Its name, as the command line spells it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// The type that numbers of a precision are kept in unless told otherwise.
    pub const fn of(precision: Precision) -> Self {
        match precision {
            Precision::F32 => Self::F32,
            // In the computer's own memory; in a device's, a pair in the same bytes.
            Precision::F64 | Precision::DoubleSingle => Self::F64,
        }
    }

    /// Bytes of one real number.
    pub const fn real_bytes(self) -> u64 {
        match self {
            Self::F16 | Self::Bf16 => 2,
            Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    /// Bytes of one complex element.
    pub const fn complex_bytes(self) -> u64 {
        2 * self.real_bytes()
    }

    /// The largest finite value.
    pub fn largest(self) -> f64 {
        match self {
            Self::F16 => f16::MAX.to_f64(),
            Self::Bf16 => bf16::MAX.to_f64(),
            Self::F32 => f32::MAX.into(),
            Self::F64 => f64::MAX,
        }
    }

    /// Half the distance from 1 to the next number: the relative error of rounding to this type at most, where the
    /// result is neither subnormal nor infinite.
    pub const fn unit(self) -> f64 {
        match self {
            Self::F16 => 1.0 / (1 << 11) as f64,
            Self::Bf16 => 1.0 / (1 << 8) as f64,
            Self::F32 => f32::EPSILON as f64 / 2.0,
            Self::F64 => f64::EPSILON / 2.0,
        }
    }

    /// The nearest number of this type.
    ///
    /// ```
    /// use warpfft_core::problem::Storage;
    /// assert_eq!(Storage::F16.rounded(2049.0), 2048.0);
    /// assert_eq!(Storage::F16.rounded(65520.0), f64::INFINITY);
    /// ```
    pub fn rounded(self, x: f64) -> f64 {
        match self {
            Self::F16 => nearest_f16(x).to_f64(),
            Self::Bf16 => nearest_bf16(x).to_f64(),
            Self::F32 => f64::from(x as f32),
            Self::F64 => x,
        }
    }
}

impl std::fmt::Display for Storage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for Storage {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|storage| storage.name().eq_ignore_ascii_case(text));
        found.ok_or_else(|| Error::UnknownStorage { given: text.into() })
    }
}

impl Problem {
    /// How the reals of input and output are kept: [`Problem::storage`], where it says so, else in the precision that
    /// is computed in.
    pub fn stored(&self) -> [Storage; 2] {
        self.storage.map(|storage| storage.unwrap_or(Storage::of(self.precision)))
    }

    /// Whether the output keeps what is computed as it is: passes may leave there what others go on with.
    pub(crate) fn keeps_results(&self) -> bool {
        self.stored()[1] == Storage::of(self.precision)
    }
}

impl Problem {
    /// How much larger a part of an unscaled output can be than the largest real part or imaginary part of the input:
    /// the number of points, times the root of 2 where the input is complex. Of a transform between reals, the points
    /// of the periodic sequences that it stands for.
    pub fn gain(&self) -> f64 {
        let complex = self.transform.iter().map(|dim| dim.n as f64).product::<f64>();
        let root = std::f64::consts::SQRT_2;
        complex
            * match &self.kind {
                Kind::Complex => root,
                Kind::Zoom(zoom) => root * zoom.band.samples as f64,
                Kind::RealToComplex(dim) => dim.n as f64,
                Kind::ComplexToReal(dim) => root * dim.n as f64,
                Kind::RealToReal(dims) => dims.iter().map(gain_between_reals).product(),
            }
    }
}

/// Sums of a row's absolute values, at most.
fn gain_between_reals(real: &RealDim) -> f64 {
    let root = std::f64::consts::SQRT_2;
    let mixes = matches!(real.kind, RealKind::Dht | RealKind::FromHalfComplex);
    real.kind.period(real.dim.n) as f64 * if mixes || real.orthogonal { root } else { 1.0 }
}
