//! Recordings. Samples are taken as the numbers that the file holds (8-bit ones centred on zero), of shape
//! (frames,) for one channel and (frames, channels) for more.

use std::io::{Cursor, Read};

use hound::{SampleFormat, WavReader};
use num_complex::Complex;
use warpfft::core::problem::Storage;

use super::{Keep, Samples, Signal, Source, packed_strides, riff};
use crate::error::CliError;

/// Reads a recording whose first bytes have been taken already.
pub fn read(mut source: Source<'_>, start: &[u8], keep: Keep) -> Result<Signal, CliError> {
    let start = riff::head(&mut source, start)?;
    let Source { reader, path, length } = source;
    let refused = |error: hound::Error, promised: u64, got: u64| match error {
        hound::Error::IoError(error) if promised > got => {
            let _ = error;
            CliError::Truncated { path: path.into(), expected: promised, got }
        }
        other => CliError::Malformed {
            path: path.into(),
            kind: "WAV",
            detail: super::one_line(&other.to_string()),
        },
    };
    let mut wav = WavReader::new(Cursor::new(start).chain(reader)).map_err(|error| refused(error, 0, 0))?;
    let spec = wav.spec();
    let (channels, frames) = (usize::from(spec.channels), wav.duration() as usize);
    if frames == 0 || channels == 0 {
        return Err(CliError::Empty { path: path.into(), shape: vec![frames as u64, channels as u64] });
    }
    let storage = keep.storage.unwrap_or(match spec.sample_format {
        SampleFormat::Float => Storage::F32,
        SampleFormat::Int => Storage::F64,
    });
    let count = frames * channels;
    let sample_bytes = u64::from(spec.bits_per_sample.div_ceil(8));
    let promised = count as u64 * sample_bytes;
    // The header's count is believed only as far as the file reaches.
    let room = length.map_or(1 << 20, |length| (length / sample_bytes.max(1)) as usize).min(count);
    let mut samples = Samples::with_room(storage, keep.reals, room, "the input")?;
    let mut failure = None;
    {
        let mut keep = |sample: Result<f64, hound::Error>| sample.map_err(|error| failure = Some(error)).ok();
        match spec.sample_format {
            SampleFormat::Float => samples.extend(
                wav.samples::<f32>().map_while(|sample| keep(sample.map(f64::from))).map(Complex::from),
            ),
            SampleFormat::Int => samples.extend(
                wav.samples::<i32>().map_while(|sample| keep(sample.map(f64::from))).map(Complex::from),
            ),
        }
    }
    if let Some(error) = failure {
        return Err(refused(error, promised, samples.len() as u64 * sample_bytes));
    }
    let shape = if channels == 1 { vec![frames] } else { vec![frames, channels] };
    Ok(Signal {
        samples,
        strides: packed_strides(&shape),
        shape,
        real: true,
        axes: vec![0],
        sample_rate: Some(spec.sample_rate.into()),
        kind: format!("wav, {} Hz, {channels} channel(s), {} bits", spec.sample_rate, spec.bits_per_sample),
    })
}
