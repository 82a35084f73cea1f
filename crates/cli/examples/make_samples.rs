//! Makes the repository's sample files, `samples/bell.wav` and `samples/moire.png`, from formulas: nobody's
//! recording, nobody's photograph.
//!
//! ```text
//! cargo run -p warpfft-cli --example make_samples -- samples
//! ```

use std::error::Error;
use std::f64::consts::TAU;
use std::path::Path;

use hound::{SampleFormat, WavSpec, WavWriter};
use image::GrayImage;

const RATE: u32 = 22_050;
/// A bell's partials over its strike note: ratio of frequency, loudness, seconds to fall to 1/e.
const PARTIALS: [(f64, f64, f64); 7] = [
    (0.5, 0.55, 1.6),
    (1.0, 1.0, 0.9),
    (1.183, 0.7, 0.75),
    (1.506, 0.4, 0.6),
    (2.0, 0.6, 0.5),
    (2.514, 0.25, 0.3),
    (3.011, 0.2, 0.2),
];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("name the folder to write to")?;
    bell(&Path::new(&folder).join("bell.wav"))?;
    moire(&Path::new(&folder).join("moire.png"))
}

/// Two strokes of a bell, C5 and then G5, in stereo: the first from the left, the second from the right.
fn bell(path: &Path) -> Result<(), Box<dyn Error>> {
    let spec =
        WavSpec { channels: 2, sample_rate: RATE, bits_per_sample: 16, sample_format: SampleFormat::Int };
    let mut wav = WavWriter::create(path, spec)?;
    for frame in 0..RATE * 3 {
        let time = f64::from(frame) / f64::from(RATE);
        let (first, second) = (stroke(time, 523.25), stroke(time - 0.8, 783.99));
        for sample in [0.8 * first + 0.35 * second, 0.35 * first + 0.8 * second] {
            wav.write_sample((sample * 7000.0).round() as i16)?;
        }
    }
    Ok(wav.finalize()?)
}

fn stroke(time: f64, note: f64) -> f64 {
    if time < 0.0 {
        return 0.0;
    }
    let attack = 1.0 - (-time / 0.002).exp();
    PARTIALS
        .iter()
        .map(|(ratio, loud, decay)| attack * loud * (-time / decay).exp() * (TAU * note * ratio * time).sin())
        .sum()
}

/// Two gratings and rings around a point: five spots and a disc in the spectrum.
fn moire(path: &Path) -> Result<(), Box<dyn Error>> {
    let picture = GrayImage::from_fn(384, 256, |x, y| {
        let (x, y) = (f64::from(x), f64::from(y));
        let gratings = (TAU * (x * 0.11 + y * 0.05)).sin() + 0.6 * (TAU * (x * 0.03 - y * 0.17)).sin();
        let (from_x, from_y) = (x - 250.0, y - 110.0);
        let rings = (0.004 * (from_x * from_x + from_y * from_y)).cos();
        image::Luma([(128.0 + 38.0 * gratings + 40.0 * rings).round() as u8])
    });
    Ok(picture.save(path)?)
}
