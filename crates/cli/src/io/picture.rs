//! Pictures. A grey one has shape (height, width), one in colour (height, width, channels), with the values
//! that the file holds; rows and columns are the axes that are transformed.

use std::io::Cursor;

use image::codecs::png::PngDecoder;
use image::{DynamicImage, ImageReader};
use num_complex::Complex;
use warpfft::core::problem::Storage;

use super::{Keep, Samples, Signal, Source, packed_strides};
use crate::error::CliError;

/// Reads a picture whose first bytes have been taken already.
pub fn read(
    mut source: Source<'_>,
    start: &[u8],
    kind: &'static str,
    keep: Keep,
) -> Result<Signal, CliError> {
    let mut bytes = start.to_vec();
    bytes.append(&mut source.rest()?);
    if kind == "PNG" {
        let decoder = PngDecoder::new(Cursor::new(&bytes));
        let animated = decoder.and_then(|decoder| decoder.is_apng());
        super::only_the_first(source.path, animated.unwrap_or(false));
    }
    let reader =
        ImageReader::new(Cursor::new(bytes)).with_guessed_format().map_err(|error| source.failed(error))?;
    let picture = reader.decode().map_err(|error| source.malformed(kind, error))?;
    let (width, height) = (picture.width() as usize, picture.height() as usize);
    let channels = usize::from(picture.color().channel_count());
    let samples = values(&picture, keep)?;
    signal(samples, [height, width, channels], kind)
}

/// A signal from a picture's values, row by row, pixel by pixel.
pub fn signal(samples: Samples, extents: [usize; 3], kind: &'static str) -> Result<Signal, CliError> {
    let shape = if extents[2] == 1 { extents[..2].to_vec() } else { extents.to_vec() };
    Ok(Signal {
        samples,
        strides: packed_strides(&shape),
        shape,
        real: true,
        axes: vec![0, 1],
        sample_rate: None,
        kind: format!("{kind}, {} channel(s)", extents[2]),
    })
}

fn values(picture: &DynamicImage, keep: Keep) -> Result<Samples, CliError> {
    match picture {
        DynamicImage::ImageLuma16(_)
        | DynamicImage::ImageLumaA16(_)
        | DynamicImage::ImageRgb16(_)
        | DynamicImage::ImageRgba16(_) => collect::<u16>(picture.as_bytes(), keep),
        DynamicImage::ImageRgb32F(_) | DynamicImage::ImageRgba32F(_) => {
            collect::<f32>(picture.as_bytes(), Keep { storage: keep.storage.or(Some(Storage::F32)), ..keep })
        }
        _ => collect::<u8>(picture.as_bytes(), keep),
    }
}

fn collect<V: bytemuck::AnyBitPattern + Into<f64>>(bytes: &[u8], keep: Keep) -> Result<Samples, CliError> {
    let size = size_of::<V>();
    let storage = keep.storage.unwrap_or(Storage::F64);
    let mut samples = Samples::with_room(storage, keep.reals, bytes.len() / size, "the input")?;
    let value = |chunk| bytemuck::pod_read_unaligned::<V>(chunk).into();
    samples.extend(bytes.chunks_exact(size).map(|chunk| Complex::from(value(chunk))));
    Ok(samples)
}
