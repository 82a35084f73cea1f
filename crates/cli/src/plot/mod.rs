//! Drawings of spectra: the magnitude in dB below its peak, over one or two transformed axes.

pub mod copies;
mod line;
pub mod lines;
mod picture;

use image::ImageEncoder;
use image::codecs::png::PngEncoder;
use plotters::style::{FontStyle, RGBColor, register_font};

use crate::error::CliError;
use crate::io::{Samples, packed_strides};
use crate::kind::Along;

/// Magnitudes this far below the peak are drawn as if they were there: they are rounding errors.
const FLOOR_DB: f64 = -320.0;
/// More lines than this cannot be told apart.
const MOST_LINES: usize = 8;
/// Colours of lines, in this order.
const COLORS: [RGBColor; 10] = [
    RGBColor(31, 82, 160),
    RGBColor(214, 96, 26),
    RGBColor(44, 140, 66),
    RGBColor(180, 36, 60),
    RGBColor(120, 80, 170),
    RGBColor(20, 150, 160),
    RGBColor(140, 100, 40),
    RGBColor(220, 130, 180),
    RGBColor(90, 90, 90),
    RGBColor(160, 170, 30),
];
/// More pictures than this are no colour channels.
const MOST_CHANNELS: usize = 4;

/// What to draw.
pub struct Drawing<'a> {
    /// The spectrum, packed, last axis fastest.
    pub samples: &'a Samples,
    /// Its shape.
    pub shape: &'a [usize],
    /// The transformed axes.
    pub axes: &'a [usize],
    /// What it lies over along each of them.
    pub along: Vec<Along>,
    /// Samples per second, where it is known.
    pub sample_rate: Option<f64>,
    /// Whether the input was real, so that half of a whole spectrum says all.
    pub real: bool,
    /// Whether frequency 0 lies in the middle of the samples.
    pub shifted: bool,
    /// Written above.
    pub title: String,
}

/// A drawing's pixels, three bytes each.
struct Canvas {
    pixels: Vec<u8>,
    size: (u32, u32),
}

impl Canvas {
    fn new(size: (u32, u32)) -> Self {
        Self { pixels: vec![255; size.0 as usize * size.1 as usize * 3], size }
    }
}

/// Finds out, before any work is done, whether a spectrum of these axes can be drawn.
pub fn check(shape: &[usize], axes: &[usize]) -> Result<(), CliError> {
    let others: usize =
        (0..shape.len()).filter(|axis| !axes.contains(axis)).map(|axis| shape[axis]).product();
    match axes.len() {
        1 if others > MOST_LINES => {
            Err(CliError::PlotCount { count: others, what: "lines", most: MOST_LINES })
        }
        2 if others > MOST_CHANNELS => {
            Err(CliError::PlotCount { count: others, what: "pictures", most: MOST_CHANNELS })
        }
        1 | 2 => Ok(()),
        transformed => Err(CliError::PlotRank { transformed }),
    }
}

/// Draws, and returns the bytes of a PNG file.
pub fn draw(drawing: &Drawing<'_>) -> Result<Vec<u8>, CliError> {
    check(drawing.shape, drawing.axes)?;
    register()?;
    let canvas = match drawing.axes {
        [axis] => line::draw(drawing, *axis)?,
        _ => picture::draw(drawing)?,
    };
    encoded(&canvas)
}

/// The font travels with the program: no machine has to have one.
fn register() -> Result<(), CliError> {
    register_font("sans-serif", FontStyle::Normal, dejavu::sans::regular())
        .map_err(|_| CliError::Draw { detail: "the built-in font cannot be read".into() })
}

/// A drawing as a PNG file.
fn encoded(canvas: &Canvas) -> Result<Vec<u8>, CliError> {
    let mut png = Vec::new();
    PngEncoder::new(&mut png)
        .write_image(&canvas.pixels, canvas.size.0, canvas.size.1, image::ExtendedColorType::Rgb8)
        .map_err(failed)?;
    Ok(png)
}

fn failed(error: impl std::fmt::Display) -> CliError {
    CliError::Draw { detail: error.to_string() }
}

impl Drawing<'_> {
    /// Where each line or channel begins: one offset for each index of the axes that were not transformed.
    fn offsets(&self) -> Vec<usize> {
        let strides = packed_strides(self.shape);
        let mut offsets = vec![0];
        for axis in (0..self.shape.len()).filter(|axis| !self.axes.contains(axis)) {
            let step = strides[axis] as usize;
            offsets =
                offsets.iter().flat_map(|&at| (0..self.shape[axis]).map(move |i| at + i * step)).collect();
        }
        offsets
    }

    /// What the result lies over along an axis of the array.
    fn along(&self, axis: usize) -> Along {
        let found = self.axes.iter().zip(&self.along).find(|(own, _)| **own == axis);
        found.map_or(Along::Places, |(_, along)| *along)
    }

    fn stride(&self, axis: usize) -> usize {
        self.shape[axis + 1..].iter().product()
    }

    /// The largest magnitude; 1 if there is none to compare with.
    fn peak(&self) -> f64 {
        let finite = (0..self.samples.len()).map(|index| self.samples.get(index).norm());
        let peak = finite.filter(|magnitude| magnitude.is_finite()).fold(0.0, f64::max);
        if peak > 0.0 { peak } else { 1.0 }
    }
}

/// dB below the peak. What is not finite counts as the peak, so that it is seen.
fn decibels(magnitude: f64, peak: f64) -> f64 {
    if magnitude.is_finite() { (20.0 * (magnitude / peak).log10()).clamp(FLOOR_DB, 0.0) } else { 0.0 }
}

/// A count in short: 1024 is 1K.
fn count(value: f64) -> String {
    match value {
        0.0..1000.0 => format!("{value:.0}"),
        1000.0..1e6 => format!("{:.0}K", value / 1024.0),
        _ => format!("{:.0}M", value / 1_048_576.0),
    }
}

#[cfg(test)]
mod tests {
    use num_complex::Complex;

    use super::*;

    fn drawn(shape: &[usize], axes: &[usize], value: Complex<f64>, along: Along) -> image::RgbImage {
        let count: usize = shape.iter().product();
        let mut data = vec![Complex::default(); count];
        data[count / 3] = value;
        let drawing = Drawing {
            samples: &Samples::F64(data),
            shape,
            axes,
            sample_rate: Some(8000.0),
            along: axes.iter().map(|_| along).collect(),
            real: false,
            shifted: false,
            title: "test".into(),
        };
        image::load_from_memory(&draw(&drawing).unwrap()).unwrap().into_rgb8()
    }

    #[test]
    fn every_size_and_value_is_drawn_with_labels() {
        for shape in [&[1][..], &[2], &[100_000], &[5, 2], &[1, 1], &[3, 700], &[2000, 3], &[8, 9, 3]] {
            let axes: &[usize] = if shape.len() == 1 { &[0] } else { &[0, 1] };
            for value in [0.0, 1.0, 1e-300, f64::INFINITY, f64::NAN] {
                let waves = Along::Waves { start: 0.5, period: 2.0 * shape[0] as f64 };
                let half = Along::Half(2 * shape[0] - 1);
                for along in [Along::Circle, Along::Places, half, waves] {
                    let picture = drawn(shape, axes, Complex::from(value), along);
                    let dark = picture.pixels().filter(|pixel| pixel.0.iter().all(|&part| part < 80)).count();
                    assert!(
                        dark > 500,
                        "{shape:?} {value}: {dark} dark pixels are too few for title and labels"
                    );
                }
            }
        }
    }

    #[test]
    fn counts_are_short() {
        let counts = [1.0, 2.0, 32.0, 512.0, 1024.0, 1_048_576.0, 4_194_304.0, 268_435_456.0];
        assert_eq!(counts.map(count), ["1", "2", "32", "512", "1K", "1M", "4M", "256M"]);
    }

    #[test]
    fn what_cannot_be_drawn_is_refused() {
        assert!(matches!(check(&[4, 4, 4], &[0, 1, 2]), Err(CliError::PlotRank { transformed: 3 })));
        assert!(matches!(check(&[4], &[]), Err(CliError::PlotRank { transformed: 0 })));
        assert!(matches!(check(&[4, 100], &[0]), Err(CliError::PlotCount { count: 100, .. })));
        assert!(check(&[4, 100, 3], &[0, 1]).is_ok());
    }
}
