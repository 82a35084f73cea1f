//! Numbers in memory: complex or real, in one of the types that plans read and write.

use half::{bf16, f16};
use num_complex::Complex;
use warpfft::core::math::halves::{nearest_bf16, nearest_f16};
use warpfft::core::problem::Storage;
use warpfft::{Planes, PlanesMut, Real};

use crate::error::CliError;

/// Numbers of one sort and type.
#[derive(Debug, Clone, PartialEq)]
pub enum Samples {
    /// Complex numbers with parts in half precision.
    F16(Vec<Complex<f16>>),
    /// Complex numbers with parts in bfloat16.
    Bf16(Vec<Complex<bf16>>),
    /// Complex numbers with 32-bit parts.
    F32(Vec<Complex<f32>>),
    /// Complex numbers with 64-bit parts.
    F64(Vec<Complex<f64>>),
    /// Reals in half precision.
    Real16(Vec<f16>),
    /// Reals in bfloat16.
    RealB16(Vec<bf16>),
    /// Reals of 32 bits.
    Real32(Vec<f32>),
    /// Reals of 64 bits.
    Real64(Vec<f64>),
}

/// Does the same with the vector of whichever variant.
macro_rules! each {
    ($samples:expr, $data:ident => $then:expr) => {
        match $samples {
            Samples::F16($data) => $then,
            Samples::Bf16($data) => $then,
            Samples::F32($data) => $then,
            Samples::F64($data) => $then,
            Samples::Real16($data) => $then,
            Samples::RealB16($data) => $then,
            Samples::Real32($data) => $then,
            Samples::Real64($data) => $then,
        }
    };
}
pub(crate) use each;

/// A type whose numbers there are samples of.
pub trait Kept: Real {
    /// As plans take them, where they are of this type.
    fn planes(samples: &Samples) -> Option<Planes<'_, Self>>;
    /// As plans fill them, where they are of this type.
    fn planes_mut(samples: &mut Samples) -> Option<PlanesMut<'_, Self>>;
}

macro_rules! kept {
    ($($real:ty: $complex:ident, $reals:ident;)*) => {$(
        impl Kept for $real {
            fn planes(samples: &Samples) -> Option<Planes<'_, Self>> {
                match samples {
                    Samples::$complex(data) => Some(data.into()),
                    Samples::$reals(data) => Some(data.into()),
                    _ => None,
                }
            }

            fn planes_mut(samples: &mut Samples) -> Option<PlanesMut<'_, Self>> {
                match samples {
                    Samples::$complex(data) => Some(data.into()),
                    Samples::$reals(data) => Some(data.into()),
                    _ => None,
                }
            }
        }
    )*};
}
kept! {
    f16: F16, Real16;
    bf16: Bf16, RealB16;
    f32: F32, Real32;
    f64: F64, Real64;
}

impl Samples {
    /// Room for `count` numbers, or an error that says for what it was.
    pub fn with_room(
        storage: Storage,
        real: bool,
        count: usize,
        what: &'static str,
    ) -> Result<Self, CliError> {
        let mut samples = match (storage, real) {
            (Storage::F16, false) => Self::F16(Vec::new()),
            (Storage::Bf16, false) => Self::Bf16(Vec::new()),
            (Storage::F32, false) => Self::F32(Vec::new()),
            (Storage::F64, false) => Self::F64(Vec::new()),
            (Storage::F16, true) => Self::Real16(Vec::new()),
            (Storage::Bf16, true) => Self::RealB16(Vec::new()),
            (Storage::F32, true) => Self::Real32(Vec::new()),
            (Storage::F64, true) => Self::Real64(Vec::new()),
        };
        let bytes = count as u128 * u128::from(samples.element_bytes());
        let refused = || CliError::HostMemory { what, bytes };
        u64::try_from(bytes).ok().and_then(|bytes| warpfft::host_memory(bytes).ok()).ok_or_else(refused)?;
        each!(&mut samples, data => data.try_reserve_exact(count)).map_err(|_| refused())?;
        Ok(samples)
    }

    /// `count` zeros.
    pub fn zeros(storage: Storage, real: bool, count: usize, what: &'static str) -> Result<Self, CliError> {
        let mut samples = Self::with_room(storage, real, count, what)?;
        each!(&mut samples, data => data.resize(count, Default::default()));
        Ok(samples)
    }

    /// Appends numbers, rounding them once if they are wider than the storage, and leaving out imaginary parts where
    /// it is real.
    pub fn extend(&mut self, numbers: impl Iterator<Item = Complex<f64>>) {
        let (half, brain) = (nearest_f16, nearest_bf16);
        #[allow(clippy::cast_possible_truncation, reason = "rounding to the chosen type is the purpose")]
        match self {
            Self::F16(data) => data.extend(numbers.map(|z| Complex::new(half(z.re), half(z.im)))),
            Self::Bf16(data) => data.extend(numbers.map(|z| Complex::new(brain(z.re), brain(z.im)))),
            Self::F32(data) => data.extend(numbers.map(|z| Complex::new(z.re as f32, z.im as f32))),
            Self::F64(data) => data.extend(numbers),
            Self::Real16(data) => data.extend(numbers.map(|z| half(z.re))),
            Self::RealB16(data) => data.extend(numbers.map(|z| brain(z.re))),
            Self::Real32(data) => data.extend(numbers.map(|z| z.re as f32)),
            Self::Real64(data) => data.extend(numbers.map(|z| z.re)),
        }
    }

    /// How many numbers there are.
    pub fn len(&self) -> usize {
        each!(self, data => data.len())
    }

    /// One number, widened.
    pub fn get(&self, index: usize) -> Complex<f64> {
        fn wide<T: Copy + Into<f64>>(z: Complex<T>) -> Complex<f64> {
            Complex::new(z.re.into(), z.im.into())
        }
        match self {
            Self::F16(data) => wide(data[index]),
            Self::Bf16(data) => wide(data[index]),
            Self::F32(data) => wide(data[index]),
            Self::F64(data) => data[index],
            Self::Real16(data) => Complex::from(f64::from(data[index])),
            Self::RealB16(data) => Complex::from(f64::from(data[index])),
            Self::Real32(data) => Complex::from(f64::from(data[index])),
            Self::Real64(data) => Complex::from(data[index]),
        }
    }

    /// Pairs of neighbouring reals as complex numbers; complex numbers as they are.
    pub fn paired(self) -> Self {
        fn pairs<T: Copy>(reals: &[T]) -> Vec<Complex<T>> {
            reals.chunks_exact(2).map(|pair| Complex::new(pair[0], pair[1])).collect()
        }
        match self {
            Self::Real16(data) => Self::F16(pairs(&data)),
            Self::RealB16(data) => Self::Bf16(pairs(&data)),
            Self::Real32(data) => Self::F32(pairs(&data)),
            Self::Real64(data) => Self::F64(pairs(&data)),
            complex => complex,
        }
    }

    /// Their type.
    pub fn storage(&self) -> Storage {
        match self {
            Self::F16(_) | Self::Real16(_) => Storage::F16,
            Self::Bf16(_) | Self::RealB16(_) => Storage::Bf16,
            Self::F32(_) | Self::Real32(_) => Storage::F32,
            Self::F64(_) | Self::Real64(_) => Storage::F64,
        }
    }

    /// Whether they are reals.
    pub fn is_real(&self) -> bool {
        matches!(self, Self::Real16(_) | Self::RealB16(_) | Self::Real32(_) | Self::Real64(_))
    }

    /// Bytes of one number.
    pub fn element_bytes(&self) -> u64 {
        if self.is_real() { self.storage().real_bytes() } else { self.storage().complex_bytes() }
    }

    /// Whether files keep each number as two along one more axis, for want of a complex type.
    pub fn pairs_as_axis(&self) -> bool {
        !self.is_real() && matches!(self.storage(), Storage::F16 | Storage::Bf16)
    }

    /// numpy's name for their type, or what they are where it has none.
    pub fn dtype(&self) -> String {
        match (self.storage(), self.is_real()) {
            (Storage::F16, false) => "float16 pairs".into(),
            (Storage::Bf16, false) => "bfloat16 pairs".into(),
            (Storage::Bf16, true) => "bfloat16".into(),
            (_, real) => format!("{}{}", if real { "float" } else { "complex" }, 8 * self.element_bytes()),
        }
    }

    /// The bytes as they lie in memory.
    pub fn bytes(&self) -> &[u8] {
        each!(self, data => bytemuck::cast_slice(data))
    }
}
