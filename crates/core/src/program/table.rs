//! Constant tables of a program: how large they are is known from the start, what they hold is made for whoever reads it.

use std::sync::{Arc, OnceLock};

use crate::error::Error;
use crate::pass::TableKind;
use crate::problem::Precision;
use crate::tables;

/// Constant data that kernels read, made on the host in f64 and rounded once. It is made when it is first asked for, so that
/// a program which is only looked at takes neither the time nor the memory; clones share it.
///
/// ```
/// use warpfft_core::{compile, request::Fft, target::Limits};
///
/// let program = compile(&Fft::new([97]).build()?, &Limits::h200())?;
/// let table = &program.tables[0];
/// assert!(table.bytes_to_make() > 0); // nobody has asked
/// assert_eq!(table.bytes(), table.numbers()?.bytes());
/// assert_eq!(table.bytes_to_make(), 0);
/// # Ok::<(), warpfft_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Table(Arc<Source>);

/// Where a table's numbers come from.
#[derive(Debug)]
enum Source {
    Kind { kind: TableKind, precision: Precision, made: OnceLock<Numbers> },
    Given(Numbers),
}

/// What a table holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Numbers {
    /// f32 numbers.
    F32(Vec<f32>),
    /// f64 numbers.
    F64(Vec<f64>),
    /// Indices.
    U32(Vec<u32>),
}

impl Numbers {
    /// Bytes of the numbers.
    pub fn bytes(&self) -> u64 {
        (match self {
            Self::F32(v) => v.len() * 4,
            Self::F64(v) => v.len() * 8,
            Self::U32(v) => v.len() * 4,
        }) as u64
    }
}

/// Bytes of the host's memory in which an entry is made.
const MAKING: u64 = 96;

impl Table {
    /// The table of that kind.
    pub fn of(kind: TableKind, precision: Precision) -> Self {
        Self(Arc::new(Source::Kind { kind, precision, made: OnceLock::new() }))
    }

    /// Bytes of the table.
    pub fn bytes(&self) -> u64 {
        match &*self.0 {
            Source::Kind { kind, precision, .. } => kind.bytes(*precision),
            Source::Given(numbers) => numbers.bytes(),
        }
    }

    /// Bytes of the host's memory that [`Table::numbers`] would take, and partly give back; 0 once the numbers are there.
    pub fn bytes_to_make(&self) -> u64 {
        match &*self.0 {
            Source::Kind { kind, made, .. } if made.get().is_none() => kind.len().saturating_mul(MAKING),
            Source::Kind { .. } | Source::Given(_) => 0,
        }
    }

    /// What it holds.
    ///
    /// # Errors
    ///
    /// The host has not the memory to make it.
    pub fn numbers(&self) -> Result<&Numbers, Error> {
        match &*self.0 {
            Source::Given(numbers) => Ok(numbers),
            Source::Kind { kind, precision, made } => {
                let bytes = self.bytes_to_make();
                // Whether there is room is found out here, where it can be said.
                let room = usize::try_from(bytes)
                    .is_ok_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok());
                if !room {
                    return Err(Error::OutOfMemory { device: "processor".into(), bytes });
                }
                Ok(made.get_or_init(|| tables::build(*kind, *precision)))
            }
        }
    }
}

/// A table of other numbers than a plan asks for.
impl From<Numbers> for Table {
    fn from(numbers: Numbers) -> Self {
        Self(Arc::new(Source::Given(numbers)))
    }
}
