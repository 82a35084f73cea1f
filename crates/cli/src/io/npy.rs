//! Arrays as numpy keeps them: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>

use std::io::Write;

use half::{bf16, f16};
use num_complex::Complex;
use warpfft::core::problem::Storage;

use super::npy_header::{self, Header, Number, Refused};
use super::{Keep, Samples, Signal, Source, packed_strides};
use crate::error::CliError;
use crate::progress::Progress;

/// Longer headers belong to records of hundreds of fields, which are refused anyway.
const LONGEST_HEADER: usize = 1 << 20;
/// Bytes read and converted at once; a multiple of every element's size.
const CHUNK: usize = 1 << 20;

/// Reads an array whose first bytes have been taken already.
pub fn read(
    mut source: Source<'_>,
    start: &[u8],
    keep: Keep,
    progress: &Progress,
) -> Result<Signal, CliError> {
    let (header, data_at, early) = read_header(&mut source, start)?;
    let shape = checked_shape(&source, &header)?;
    let count: usize = shape.iter().product();
    let expected = count as u64 * header.number.bytes() as u64;
    if let Some(length) = source.length {
        let got = length.saturating_sub(data_at);
        if got < expected {
            return Err(CliError::Truncated { path: source.path.into(), expected, got });
        }
    }
    let storage = keep.storage.unwrap_or(match header.number {
        Number::Brain | Number::Float(2 | 4) | Number::Complex(4) => Storage::F32,
        _ => Storage::F64,
    });
    let real = !matches!(header.number, Number::Complex(_));
    // A pipe has no length to check the header against, so memory is taken as data comes.
    let room = if source.length.is_some() { count } else { count.min(CHUNK) };
    let mut samples = Samples::with_room(storage, keep.reals && real, room, "the input")?;
    let mut buffer = early;
    let mut left = expected;
    while left > 0 {
        let wanted = left.min(CHUNK as u64) as usize;
        let had = buffer.len().min(wanted);
        buffer.resize(wanted, 0);
        let filled = had + source.fill(&mut buffer[had..])?;
        if filled < wanted {
            let got = expected - left + filled as u64;
            return Err(CliError::Truncated { path: source.path.into(), expected, got });
        }
        decode(&header, &buffer, &mut samples);
        buffer.clear();
        left -= wanted as u64;
        progress.advance(wanted as u64);
    }
    let mut strides = packed_strides(&shape);
    if header.fortran {
        let mut reversed: Vec<usize> = shape.clone();
        reversed.reverse();
        strides = packed_strides(&reversed);
        strides.reverse();
    }
    Ok(Signal {
        samples,
        strides,
        real,
        axes: (0..shape.len()).collect(),
        shape,
        sample_rate: None,
        kind: format!("npy {}", header.descr),
    })
}

/// The header, where the data begins, and those bytes of data that were read with it.
fn read_header(source: &mut Source<'_>, start: &[u8]) -> Result<(Header, u64, Vec<u8>), CliError> {
    let ended = |source: &Source<'_>| source.malformed("npy", "it ends within its header");
    let (prefix, length) = match start {
        [_, _, _, _, _, _, 1, _, low, high, ..] => (10, u16::from_le_bytes([*low, *high]).into()),
        [_, _, _, _, _, _, 2 | 3, _, a, b, c, d] => (12, u32::from_le_bytes([*a, *b, *c, *d]) as usize),
        [_, _, _, _, _, _, version @ (0 | 4..), ..] => {
            return Err(source.malformed("npy", format!("its version is {version}; 1, 2 and 3 are known")));
        }
        _ => return Err(ended(source)),
    };
    if length > LONGEST_HEADER {
        return Err(
            source.malformed("npy", format!("its header is {length} bytes long; {LONGEST_HEADER} at most"))
        );
    }
    let mut text = start[prefix..].to_vec();
    let early = if text.len() > length { text.split_off(length) } else { Vec::new() };
    let had = text.len();
    text.resize(length, 0);
    if had + source.fill(&mut text[had..])? < length {
        return Err(ended(source));
    }
    // Version 3 is UTF-8, the others Latin-1; what differs can only stand in names of fields.
    let header = npy_header::parse(&String::from_utf8_lossy(&text)).map_err(|refused| match refused {
        Refused::Malformed(detail) => source.malformed("npy", detail),
        Refused::Dtype { what, descr } => CliError::Dtype { path: source.path.into(), what, descr },
    })?;
    Ok((header, (prefix + length) as u64, early))
}

/// The shape in machine integers, if the array has elements and its bytes can be counted.
fn checked_shape(source: &Source<'_>, header: &Header) -> Result<Vec<usize>, CliError> {
    if header.shape.contains(&0) {
        return Err(CliError::Empty { path: source.path.into(), shape: header.shape.clone() });
    }
    // As numbers in memory take 16 bytes at most, an array that passes here cannot overflow later.
    let largest = header.number.bytes().max(16) as u64;
    let bytes = header.shape.iter().try_fold(largest, |bytes, &extent| bytes.checked_mul(extent));
    match bytes {
        Some(bytes) if i64::try_from(bytes).is_ok() && usize::try_from(bytes).is_ok() => {
            Ok(header.shape.iter().map(|&extent| extent as usize).collect())
        }
        _ => Err(source.malformed("npy", format!("its shape {:?} is larger than any memory", header.shape))),
    }
}

/// Appends the elements in `bytes`.
fn decode(header: &Header, bytes: &[u8], samples: &mut Samples) {
    macro_rules! reals {
        ($type:ty, $widen:expr) => {{
            let widen: fn($type) -> f64 = $widen;
            let read = if header.big_endian { <$type>::from_be_bytes } else { <$type>::from_le_bytes };
            let (elements, _) = bytes.as_chunks::<{ size_of::<$type>() }>();
            if let Number::Complex(_) = header.number {
                let (pairs, _) = elements.as_chunks::<2>();
                samples.extend(
                    pairs.iter().map(|pair| Complex::new(widen(read(pair[0])), widen(read(pair[1])))),
                );
            } else {
                samples.extend(elements.iter().map(|&element| Complex::from(widen(read(element)))));
            }
        }};
    }
    match header.number {
        Number::Bool => samples.extend(bytes.iter().map(|&byte| Complex::from(f64::from(byte != 0)))),
        Number::Int(1) => reals!(i8, f64::from),
        Number::Int(2) => reals!(i16, f64::from),
        Number::Int(4) => reals!(i32, f64::from),
        Number::Int(_) => reals!(i64, |value| value as f64),
        Number::Uint(1) => reals!(u8, f64::from),
        Number::Uint(2) => reals!(u16, f64::from),
        Number::Uint(4) => reals!(u32, f64::from),
        Number::Uint(_) => reals!(u64, |value| value as f64),
        Number::Brain => reals!(bf16, f64::from),
        Number::Float(2) => reals!(f16, f64::from),
        Number::Float(4) | Number::Complex(4) => reals!(f32, f64::from),
        Number::Float(_) | Number::Complex(_) => reals!(f64, |value| value),
    }
}

/// Writes a packed array, last axis fastest, as complex64, complex128, float16, float32 or float64. Of numpy's own types
/// none is complex with parts of 16 bits, nor bfloat16: real and imaginary parts are along one more axis, the last one, and
/// bfloat16 is written as raw numbers of 2 bytes, as numpy writes arrays of `ml_dtypes.bfloat16`.
pub fn write(
    out: &mut dyn Write,
    shape: &[usize],
    samples: &Samples,
    progress: &Progress,
) -> std::io::Result<()> {
    let order = if cfg!(target_endian = "big") { '>' } else { '<' };
    let parted = !samples.is_real() && samples.storage().real_bytes() == 2;
    let shape = &shape.iter().copied().chain(parted.then_some(2)).collect::<Vec<usize>>()[..];
    let extents: String = shape.iter().map(|extent| format!("{extent}, ")).collect();
    let extents = if shape.len() == 1 { extents.trim_end() } else { extents.trim_end_matches(", ") };
    let (sort, bytes) = match (samples.storage(), samples.is_real()) {
        (Storage::Bf16, _) => ('V', 2),
        (Storage::F16, _) => ('f', 2),
        (_, real) => (if real { 'f' } else { 'c' }, samples.element_bytes()),
    };
    let mut header =
        format!("{{'descr': '{order}{sort}{bytes}', 'fortran_order': False, 'shape': ({extents}), }}");
    // Version 1 holds shapes of thousands of axes; the data begins at a multiple of 64.
    let padding = 63 - (10 + header.len()) % 64;
    header.extend(std::iter::repeat_n(' ', padding));
    header.push('\n');
    let length =
        u16::try_from(header.len()).map_err(|_| std::io::Error::other("too many axes for a .npy header"))?;
    out.write_all(b"\x93NUMPY\x01\x00")?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(header.as_bytes())?;
    for chunk in samples.bytes().chunks(CHUNK) {
        out.write_all(chunk)?;
        progress.advance(chunk.len() as u64);
    }
    Ok(())
}
