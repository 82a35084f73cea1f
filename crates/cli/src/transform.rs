//! `warpfft transform`: a file in, its spectrum out.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use serde_json::json;
use warpfft::core::problem::Direction;

use crate::engine::{self, Request, Spectrum};
use crate::error::CliError;
use crate::io::{self, Output, Signal};
use crate::options::{DeviceArg, NormArg, PrecisionArg, name_of, size};
use crate::plot::{self, Drawing};
use crate::progress::Progress;
use crate::report;

const EXAMPLES: &str = "\
Examples:
  Spectrum of a recording, drawn with an axis in Hz:
      warpfft transform bell.wav -o bell.npy --plot bell.png

  Spectrum of a picture, frequency 0 in the middle:
      warpfft transform photo.png -o photo.npy --shift --plot photo-spectrum.png

  The last two axes of an array, in single precision, on the processor:
      warpfft transform x.npy -o y.npy --axes=-2,-1 --precision f32 --device cpu

  And back again:
      warpfft transform y.npy -o x.npy --axes=-2,-1 --inverse

The kind of input is told by its contents, not its name:
  .npy        bool, integers, float16/32/64, complex64/128; C and Fortran order; either byte order
  .wav        sample values as stored; shape (frames) for one channel, (frames, channels) for more
  .png .tiff .jpeg
              pixel values as stored; shape (height, width) if grey, (height, width, channels) if not

Exit codes: 0 done, 2 usage, 3 input, 4 device, 5 output (see warpfft --help).";

/// What `transform` takes.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, after_help = "Examples and file formats: warpfft transform --help")]
pub struct Transform {
    /// File to transform: .npy, .wav, .png, .tiff or .jpeg
    #[arg(value_name = "IN")]
    input: PathBuf,

    /// File to write: a .npy array of complex64 or complex128, in C order
    ///
    /// An existing file is replaced whole or, if anything fails, not at all.
    #[arg(short, long, value_name = "OUT.npy")]
    output: PathBuf,

    /// Axes to transform, counted from 0, or from the end with -1
    ///
    /// Default: all axes of an array, time of a recording, rows and columns of a picture. Write --axes=-1 with
    /// the equals sign for negative ones.
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true, value_name = "AXIS,..")]
    axes: Option<Vec<i64>>,

    /// Transform with exp(+2 pi i j k / n) instead of exp(-2 pi i j k / n)
    #[arg(long)]
    inverse: bool,

    /// Which direction is divided by the number of points, as in numpy
    #[arg(long, value_enum, default_value_t = NormArg::Backward)]
    norm: NormArg,

    /// Where to run
    #[arg(long, value_enum, default_value_t = DeviceArg::Auto)]
    device: DeviceArg,

    /// Width of the numbers that are computed with and written
    ///
    /// Default: f32 if the input is float16, float32 or complex64, else f64, as in numpy.
    #[arg(long, value_enum)]
    precision: Option<PrecisionArg>,

    /// Bytes of workspace beside the data at most, like 0 or 64MiB
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_workspace: Option<u64>,

    /// Draw the magnitude in dB below its peak into a PNG
    ///
    /// A line over frequency for one transformed axis (in Hz for .wav, else in cycles per sample; a real signal
    /// from 0 to the Nyquist frequency), a centred picture for two.
    #[arg(long, value_name = "PICTURE.png")]
    plot: Option<PathBuf>,

    /// Put frequency 0 in the middle of each transformed axis, in the output and the plot
    #[arg(long)]
    shift: bool,

    /// Print a JSON object about what was done
    #[arg(long)]
    json: bool,
}

impl Transform {
    /// Runs the command.
    pub fn run(&self) -> Result<(), CliError> {
        self.check_names()?;
        let started = Instant::now();
        let signal = io::read(&self.input, self.precision.map(PrecisionArg::precision))?;
        let axes = match &self.axes {
            Some(given) => engine::resolve_axes(given, &signal.shape)?,
            None => signal.axes.clone(),
        };
        if self.plot.is_some() {
            plot::check(&signal.shape, &axes)?;
        }
        // Before the work, so that an unwritable place costs no time.
        let mut output = Output::create(&self.output)?;
        let mut picture = self.plot.as_deref().map(Output::create).transpose()?;

        let read = Instant::now();
        let request = self.request(&signal, &axes);
        let mut spectrum = {
            let _progress = Progress::start("transforming", None);
            engine::transform(&signal, &request, self.device.kind())?
        };
        let transformed = Instant::now();
        if let Some(reason) = &spectrum.fallback {
            eprintln!("warpfft: note: the processor did the work: {reason}");
        }
        if self.shift {
            engine::shift(&mut spectrum.samples, &signal.shape, &axes);
        }
        {
            let progress = Progress::start("writing", Some(spectrum.samples.bytes().len() as u64));
            output.write(|out| io::write_npy(out, &signal.shape, &spectrum.samples, &progress))?;
            output.sync()?;
        }
        if let Some(picture) = &mut picture {
            let png = plot::draw(&self.drawing(&signal, &spectrum, &axes))?;
            picture.write(|out| out.write_all(&png))?;
            picture.sync()?;
        }
        output.commit()?;
        picture.map_or(Ok(()), Output::commit)?;
        let seconds =
            [read - started, transformed - read, transformed.elapsed()].map(|time| time.as_secs_f64());
        self.report(&signal, &spectrum, &axes, seconds)
    }

    fn check_names(&self) -> Result<(), CliError> {
        if self.plot.as_ref() == Some(&self.output) {
            return Err(CliError::SameOutput { path: self.output.clone() });
        }
        for (path, wanted) in [(Some(&self.output), "npy"), (self.plot.as_ref(), "png")] {
            let Some(path) = path else { continue };
            // A name without an ending is the user's own affair; another format's ending is a mistake.
            if path.extension().is_some_and(|ending| !ending.eq_ignore_ascii_case(wanted)) {
                let wanted = if wanted == "npy" { ".npy" } else { ".png" };
                return Err(CliError::OutputEnding { path: path.clone(), wanted });
            }
        }
        Ok(())
    }

    fn request(&self, signal: &Signal, axes: &[usize]) -> Request {
        let direction = if self.inverse { Direction::Inverse } else { Direction::Forward };
        let points: f64 = axes.iter().map(|&axis| signal.shape[axis] as f64).product();
        let scale = self.norm.scale(direction, points);
        Request { axes: axes.to_vec(), direction, scale, max_workspace: self.max_workspace }
    }

    fn drawing<'a>(&self, signal: &'a Signal, spectrum: &'a Spectrum, axes: &'a [usize]) -> Drawing<'a> {
        let name = self.input.file_name().unwrap_or(self.input.as_os_str()).to_string_lossy();
        Drawing {
            samples: &spectrum.samples,
            shape: &signal.shape,
            axes,
            sample_rate: signal.sample_rate,
            real: signal.real,
            shifted: self.shift,
            inverse: self.inverse,
            title: if self.inverse {
                format!("Inverse transform of {name}")
            } else {
                format!("Spectrum of {name}")
            },
        }
    }

    fn report(
        &self,
        signal: &Signal,
        spectrum: &Spectrum,
        axes: &[usize],
        [read, transform, write]: [f64; 3],
    ) -> Result<(), CliError> {
        let bytes = spectrum.samples.precision().complex_bytes();
        if self.json {
            return report::json(&json!({
                "input": self.input.to_string_lossy(),
                "input_kind": signal.kind,
                "output": self.output.to_string_lossy(),
                "plot": self.plot.as_ref().map(|path| path.to_string_lossy()),
                "shape": signal.shape,
                "axes": axes,
                "dtype": format!("complex{}", 8 * bytes),
                "inverse": self.inverse,
                "norm": name_of(&self.norm),
                "shift": self.shift,
                "sample_rate": signal.sample_rate,
                "device": spectrum.device.kind().to_string(),
                "device_name": spectrum.device.name(),
                "fallback": spectrum.fallback.as_ref().map(ToString::to_string),
                "seconds": {"read": read, "transform": transform, "write": write},
            }));
        }
        let shape = signal.shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(" x ");
        report::line(&format!(
            "{} ({}): {shape} points, axes {axes:?} on {} -> {} (complex{})",
            self.input.display(),
            signal.kind,
            spectrum.device.name(),
            self.output.display(),
            8 * bytes,
        ))?;
        match &self.plot {
            Some(path) => report::line(&format!("plot -> {}", path.display())),
            None => Ok(()),
        }
    }
}
