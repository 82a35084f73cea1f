//! Numbers in memory: complex or real, in one of the two widths.

use num_complex::Complex;
use warpfft::core::problem::Precision;
use warpfft::{Planes, PlanesMut};

use crate::error::CliError;

/// Numbers of one sort and width.
#[derive(Debug, Clone, PartialEq)]
pub enum Samples {
    /// Complex numbers with 32-bit parts.
    F32(Vec<Complex<f32>>),
    /// Complex numbers with 64-bit parts.
    F64(Vec<Complex<f64>>),
    /// Reals of 32 bits.
    Real32(Vec<f32>),
    /// Reals of 64 bits.
    Real64(Vec<f64>),
}

/// Does the same with the vector of whichever variant.
macro_rules! each {
    ($samples:expr, $data:ident => $then:expr) => {
        match $samples {
            Samples::F32($data) => $then,
            Samples::F64($data) => $then,
            Samples::Real32($data) => $then,
            Samples::Real64($data) => $then,
        }
    };
}
pub(crate) use each;

impl Samples {
    /// Room for `count` numbers, or an error that says for what it was.
    pub fn with_room(
        precision: Precision,
        real: bool,
        count: usize,
        what: &'static str,
    ) -> Result<Self, CliError> {
        let mut samples = match (precision.on_host(), real) {
            (Precision::F32, false) => Self::F32(Vec::new()),
            (_, false) => Self::F64(Vec::new()),
            (Precision::F32, true) => Self::Real32(Vec::new()),
            (_, true) => Self::Real64(Vec::new()),
        };
        let bytes = count as u128 * u128::from(samples.element_bytes());
        let refused = || CliError::HostMemory { what, bytes };
        u64::try_from(bytes).ok().and_then(|bytes| warpfft::host_memory(bytes).ok()).ok_or_else(refused)?;
        each!(&mut samples, data => data.try_reserve_exact(count)).map_err(|_| refused())?;
        Ok(samples)
    }

    /// `count` zeros.
    pub fn zeros(
        precision: Precision,
        real: bool,
        count: usize,
        what: &'static str,
    ) -> Result<Self, CliError> {
        let mut samples = Self::with_room(precision, real, count, what)?;
        each!(&mut samples, data => data.resize(count, Default::default()));
        Ok(samples)
    }

    /// Appends numbers, rounding them once if they are wider than the storage, and leaving out imaginary parts where
    /// it is real.
    pub fn extend(&mut self, numbers: impl Iterator<Item = Complex<f64>>) {
        #[allow(clippy::cast_possible_truncation, reason = "rounding to the chosen precision is the purpose")]
        match self {
            Self::F32(data) => data.extend(numbers.map(|z| Complex::new(z.re as f32, z.im as f32))),
            Self::F64(data) => data.extend(numbers),
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
        match self {
            Self::F32(data) => Complex::new(data[index].re.into(), data[index].im.into()),
            Self::F64(data) => data[index],
            Self::Real32(data) => Complex::from(f64::from(data[index])),
            Self::Real64(data) => Complex::from(data[index]),
        }
    }

    /// Their width.
    pub fn precision(&self) -> Precision {
        match self {
            Self::F32(_) | Self::Real32(_) => Precision::F32,
            Self::F64(_) | Self::Real64(_) => Precision::F64,
        }
    }

    /// Whether they are reals.
    pub fn is_real(&self) -> bool {
        matches!(self, Self::Real32(_) | Self::Real64(_))
    }

    /// Bytes of one number.
    pub fn element_bytes(&self) -> u64 {
        match self {
            Self::F32(_) | Self::F64(_) => self.precision().complex_bytes(),
            Self::Real32(_) | Self::Real64(_) => self.precision().real_bytes(),
        }
    }

    /// numpy's name for their type.
    pub fn dtype(&self) -> String {
        format!("{}{}", if self.is_real() { "float" } else { "complex" }, 8 * self.element_bytes())
    }

    /// The bytes as they lie in memory.
    pub fn bytes(&self) -> &[u8] {
        each!(self, data => bytemuck::cast_slice(data))
    }

    /// As plans take them, where they are of 32 bits.
    pub fn single(&self) -> Option<Planes<'_, f32>> {
        match self {
            Self::F32(data) => Some(data.into()),
            Self::Real32(data) => Some(data.into()),
            _ => None,
        }
    }

    /// As plans take them, where they are of 64 bits.
    pub fn double(&self) -> Option<Planes<'_, f64>> {
        match self {
            Self::F64(data) => Some(data.into()),
            Self::Real64(data) => Some(data.into()),
            _ => None,
        }
    }

    /// As plans fill them, where they are of 32 bits.
    pub fn single_mut(&mut self) -> Option<PlanesMut<'_, f32>> {
        match self {
            Self::F32(data) => Some(data.into()),
            Self::Real32(data) => Some(data.into()),
            _ => None,
        }
    }

    /// As plans fill them, where they are of 64 bits.
    pub fn double_mut(&mut self) -> Option<PlanesMut<'_, f64>> {
        match self {
            Self::F64(data) => Some(data.into()),
            Self::Real64(data) => Some(data.into()),
            _ => None,
        }
    }
}
