//! Files in and out. An input's kind is told by its first bytes, never by its name.

mod npy;
mod npy_header;
mod output;
mod picture;
mod tiff;
mod wav;

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use num_complex::Complex;
use warpfft::core::problem::Precision;

use crate::error::CliError;
use crate::progress::Progress;

pub use npy::write as write_npy;
pub use output::Output;

/// Complex numbers in one of the two widths.
#[derive(Debug, Clone, PartialEq)]
pub enum Samples {
    /// 32-bit parts.
    F32(Vec<Complex<f32>>),
    /// 64-bit parts.
    F64(Vec<Complex<f64>>),
}

impl Samples {
    /// Room for `count` numbers, or an error that says for what it was.
    pub fn with_room(precision: Precision, count: usize, what: &'static str) -> Result<Self, CliError> {
        let bytes = count as u128 * u128::from(precision.complex_bytes());
        let refused = |_| CliError::HostMemory { what, bytes };
        Ok(match precision {
            Precision::F32 => {
                let mut data = Vec::new();
                data.try_reserve_exact(count).map_err(refused)?;
                Self::F32(data)
            }
            Precision::F64 => {
                let mut data = Vec::new();
                data.try_reserve_exact(count).map_err(refused)?;
                Self::F64(data)
            }
        })
    }

    /// `count` zeros.
    pub fn zeros(precision: Precision, count: usize, what: &'static str) -> Result<Self, CliError> {
        let mut samples = Self::with_room(precision, count, what)?;
        match &mut samples {
            Self::F32(data) => data.resize(count, Complex::default()),
            Self::F64(data) => data.resize(count, Complex::default()),
        }
        Ok(samples)
    }

    /// Appends numbers, rounding them once if they are wider than the storage.
    pub fn extend(&mut self, numbers: impl Iterator<Item = Complex<f64>>) {
        match self {
            #[allow(
                clippy::cast_possible_truncation,
                reason = "rounding to the chosen precision is the purpose"
            )]
            Self::F32(data) => data.extend(numbers.map(|z| Complex::new(z.re as f32, z.im as f32))),
            Self::F64(data) => data.extend(numbers),
        }
    }

    /// How many numbers there are.
    pub fn len(&self) -> usize {
        match self {
            Self::F32(data) => data.len(),
            Self::F64(data) => data.len(),
        }
    }

    /// One number, widened.
    pub fn get(&self, index: usize) -> Complex<f64> {
        match self {
            Self::F32(data) => Complex::new(data[index].re.into(), data[index].im.into()),
            Self::F64(data) => data[index],
        }
    }

    /// Their width.
    pub fn precision(&self) -> Precision {
        match self {
            Self::F32(_) => Precision::F32,
            Self::F64(_) => Precision::F64,
        }
    }

    /// The bytes as they lie in memory.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::F32(data) => bytemuck::cast_slice(data),
            Self::F64(data) => bytemuck::cast_slice(data),
        }
    }
}

/// What a file holds, ready to transform.
#[derive(Debug)]
pub struct Signal {
    /// The numbers in the file's own order.
    pub samples: Samples,
    /// Points along each axis.
    pub shape: Vec<usize>,
    /// Distance between neighbours along each axis, so that an array in Fortran order is not transposed first.
    pub strides: Vec<i64>,
    /// Whether all numbers are real.
    pub real: bool,
    /// The axes that are transformed unless told otherwise.
    pub axes: Vec<usize>,
    /// Samples per second, where the file tells.
    pub sample_rate: Option<f64>,
    /// What was read, for people: the kind of file and of numbers.
    pub kind: String,
}

/// Distances between neighbours of a packed array whose last axis runs fastest.
pub fn packed_strides(shape: &[usize]) -> Vec<i64> {
    let mut strides = vec![1_i64; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis] as i64;
    }
    strides
}

/// An opened input: its reader, its path and, for a regular file, its length.
struct Source<'a> {
    reader: BufReader<File>,
    path: &'a Path,
    length: Option<u64>,
}

impl Source<'_> {
    fn failed(&self, source: std::io::Error) -> CliError {
        CliError::Read { path: self.path.into(), source }
    }

    fn malformed(&self, kind: &'static str, detail: impl std::fmt::Display) -> CliError {
        CliError::Malformed { path: self.path.into(), kind, detail: one_line(&detail.to_string()) }
    }

    /// Reads as much as there is, up to the buffer's length.
    fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, CliError> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.reader.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failed(error)),
            }
        }
        Ok(filled)
    }

    /// The whole of what is left.
    fn rest(&mut self) -> Result<Vec<u8>, CliError> {
        let mut bytes = Vec::new();
        match self.reader.read_to_end(&mut bytes) {
            Ok(_) => Ok(bytes),
            Err(error) => Err(self.failed(error)),
        }
    }
}

/// Reads a file of any kind that is known. Without a precision, the numbers keep single precision where the
/// file has it and are double otherwise.
pub fn read(path: &Path, precision: Option<Precision>) -> Result<Signal, CliError> {
    let unreadable = |source| CliError::Read { path: path.into(), source };
    let file = File::open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    if metadata.is_dir() {
        return Err(CliError::UnknownFormat { path: path.into(), what: "a folder" });
    }
    let length = metadata.is_file().then_some(metadata.len());
    let mut source = Source { reader: BufReader::with_capacity(1 << 16, file), path, length };
    let mut start = [0; 12];
    let filled = source.fill(&mut start)?;
    let start = &start[..filled];
    let progress = Progress::start("reading", length);
    match start {
        [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => npy::read(source, start, precision, &progress),
        [b'R', b'I', b'F', b'F' | b'X', _, _, _, _, b'W', b'A', b'V', b'E'] => {
            wav::read(source, start, precision)
        }
        [0x89, b'P', b'N', b'G', ..] => picture::read(source, start, "PNG", precision),
        [0xff, 0xd8, 0xff, ..] => picture::read(source, start, "JPEG", precision),
        [b'I', b'I', 42 | 43, 0, ..] | [b'M', b'M', 0, 42 | 43, ..] => tiff::read(source, start, precision),
        other => Err(CliError::UnknownFormat { path: path.into(), what: guess(other) }),
    }
}

/// What a file of no known kind looks like.
fn guess(start: &[u8]) -> &'static str {
    match start {
        [] => "empty (0 bytes)",
        [b'P', b'K', 3 | 5, ..] => "a zip archive (an .npz? save its arrays as .npy)",
        [b'O', b'g', b'g', b'S', ..] | [b'f', b'L', b'a', b'C', ..] => {
            "a compressed recording (convert it to .wav)"
        }
        [b'G', b'I', b'F', b'8', ..] | [b'B', b'M', ..] => "a picture of another kind (convert it to .png)",
        [0x89, b'H', b'D', b'F', ..] => "an HDF5 file (save its array as .npy)",
        _ => "of no known kind",
    }
}

/// Messages of other libraries, brought to one line.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
