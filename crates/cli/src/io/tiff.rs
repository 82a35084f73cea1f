//! TIFF pictures, of which science has more kinds than photography: signed and floating-point grey values too.
//! Those kinds come from the TIFF library itself; palettes, bit masks and print colours from the picture
//! library, which turns them into grey or RGB.

use std::io::Cursor;

use num_complex::Complex;
use tiff::ColorType;
use tiff::decoder::{Decoder, DecodingResult};
use warpfft::core::problem::Storage;

use super::{Keep, Samples, Signal, Source, picture};
use crate::error::CliError;

/// Reads a picture whose first bytes have been taken already.
pub fn read(mut source: Source<'_>, start: &[u8], keep: Keep) -> Result<Signal, CliError> {
    let mut bytes = start.to_vec();
    bytes.append(&mut source.rest()?);
    let mut decoder = Decoder::new(Cursor::new(&bytes)).map_err(|error| source.malformed("TIFF", error))?;
    let color = decoder.colortype().map_err(|error| source.malformed("TIFF", error))?;
    let channels = match color {
        ColorType::Gray(8 | 16 | 32 | 64) => 1,
        ColorType::GrayA(8 | 16 | 32 | 64) => 2,
        ColorType::RGB(8 | 16 | 32 | 64) => 3,
        ColorType::RGBA(8 | 16 | 32 | 64) => 4,
        _ => return picture::read(source, &bytes, "TIFF", keep),
    };
    let (width, height) = decoder.dimensions().map_err(|error| source.malformed("TIFF", error))?;
    let values = decoder.read_image().map_err(|error| source.malformed("TIFF", error))?;
    super::only_the_first(source.path, decoder.more_images());
    let samples = convert(&values, keep)?;
    let extents = [height as usize, width as usize, channels];
    if samples.len() as u128 != extents.iter().map(|&extent| extent as u128).product() {
        let detail =
            format!("it has {} values where {width} x {height} x {channels} were expected", samples.len());
        return Err(source.malformed("TIFF", detail));
    }
    picture::signal(samples, extents, "TIFF")
}

fn convert(values: &DecodingResult, keep: Keep) -> Result<Samples, CliError> {
    use DecodingResult as Values;
    let single = matches!(values, Values::F16(_) | Values::F32(_));
    let storage = keep.storage.unwrap_or(if single { Storage::F32 } else { Storage::F64 });
    macro_rules! collect {
        ($values:expr, $widen:expr) => {{
            let mut samples = Samples::with_room(storage, keep.reals, $values.len(), "the input")?;
            samples.extend($values.iter().copied().map($widen).map(Complex::from));
            Ok(samples)
        }};
    }
    match values {
        Values::U8(values) => collect!(values, f64::from),
        Values::U16(values) => collect!(values, f64::from),
        Values::U32(values) => collect!(values, f64::from),
        Values::U64(values) => collect!(values, |value| value as f64),
        Values::I8(values) => collect!(values, f64::from),
        Values::I16(values) => collect!(values, f64::from),
        Values::I32(values) => collect!(values, f64::from),
        Values::I64(values) => collect!(values, |value| value as f64),
        Values::F16(values) => collect!(values, f64::from),
        Values::F32(values) => collect!(values, f64::from),
        Values::F64(values) => collect!(values, |value: f64| value),
    }
}
