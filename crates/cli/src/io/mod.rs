//! Files in and out. An input's kind is told by its first bytes, never by its name.

mod npy;
mod npy_header;
mod output;
mod picture;
mod riff;
mod samples;
mod tiff;
mod wav;

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use warpfft::core::problem::Storage;

use crate::error::CliError;
use crate::progress::Progress;

pub use npy::write as write_npy;
pub use output::{Output, is_stdout, same_place};
pub(crate) use samples::each;
pub use samples::{Kept, Samples};

/// How numbers are to be kept.
#[derive(Debug, Clone, Copy, Default)]
pub struct Keep {
    /// In that type; without one, in single precision where the file has that or less, and else in double.
    pub storage: Option<Storage>,
    /// Real ones as reals, and not as complex numbers.
    pub reals: bool,
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

/// Reads a file of any kind that is known.
pub fn read(path: &Path, keep: Keep) -> Result<Signal, CliError> {
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
        [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => npy::read(source, start, keep, &progress),
        [b'R', b'I', b'F', b'F' | b'X', _, _, _, _, b'W', b'A', b'V', b'E'] => wav::read(source, start, keep),
        [0x89, b'P', b'N', b'G', ..] => picture::read(source, start, "PNG", keep),
        [0xff, 0xd8, 0xff, ..] => picture::read(source, start, "JPEG", keep),
        [b'I', b'I', 42 | 43, 0, ..] | [b'M', b'M', 0, 42 | 43, ..] => tiff::read(source, start, keep),
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

/// Says so where a file has more pictures than the one that is read.
fn only_the_first(path: &Path, more: bool) {
    if more {
        eprintln!("warpfft: note: {} has more than one picture; the first is read", path.display());
    }
}

/// Messages of other libraries, brought to one line.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
