//! `warpfft transform`: a file in, its spectrum out.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use serde_json::json;
use warpfft::Strategy;
use warpfft::core::problem::Storage;

use crate::engine::{self, Request, Spectrum};
use crate::error::CliError;
use crate::fit;
use crate::io::{self, Keep, Output, Signal};
use crate::kind::KindArg;
use crate::options::{DeviceArg, NormArg, PrecisionArg, StorageArg, name_of, size, strategy};
use crate::plot::{self, Drawing};
use crate::progress::Progress;
use crate::report;
use crate::zoom::ZoomArg;

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

  The spectrum of real numbers, half as large, and back; --n tells 1001 numbers from 1000:
      warpfft transform x.npy -o half.npy --kind r2c
      warpfft transform half.npy -o x.npy --kind c2r --n 1001

  Half precision in memory: complex numbers are pairs of float16 along the last axis:
      warpfft transform x.npy -o y.npy --storage f16
      warpfft transform y.npy -o x.npy --storage f16 --pairs --inverse

  500 frequencies between 0.1 and 0.125 cycles per sample, along the last axis, as scipy.signal.zoom_fft with fs=1:
      warpfft transform x.npy -o zoom.npy --zoom 0.1:0.125:500

  The cosine transform of a picture, orthonormal, and back:
      warpfft transform photo.png -o dct.npy --kind dct2 --norm ortho --plot dct.png
      warpfft transform dct.npy -o photo.npy --kind dct2 --norm ortho --inverse --axes=0,1

  The first 65536 samples of a recording, zeros where it is shorter; a real spectrum from 0 to the Nyquist frequency:
      warpfft transform bell.wav -o bell.npy --kind r2c --n 65536 --plot bell.png

  Stockham's algorithm as its paper has it, run and checked by the simulator; --help lists all strategies with their sources:
      warpfft transform x.npy -o y.npy --strategy stockham-2 --device sim

The kind of input is told by its contents, not its name:
  .npy        bool, integers, float16/32/64, bfloat16 as numbers of 2 bytes, complex64/128; C and Fortran order; either byte order
  .wav        sample values as stored, those of 8 bits centred on 0; shape (frames) for one channel, (frames, channels) for more
  .png .tiff .jpeg
              pixel values as stored, but those of fewer than 8 bits stretched to 8, palettes and print colours as RGB, and TIFFs
              in which 0 is white turned round; the first picture of several; shape (height, width) if grey, (height, width,
              channels) if not

Exit codes: 0 done, 2 usage, 3 input, 4 device, 5 output (see warpfft --help).";

/// What `transform` takes.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, after_help = "Examples and file formats: warpfft transform --help")]
pub struct Transform {
    /// File to transform: .npy, .wav, .png, .tiff or .jpeg
    #[arg(value_name = "IN")]
    input: PathBuf,

    /// File to write: a .npy array in C order, complex64 or complex128, or float32 or float64 where the kind gives reals
    ///
    /// An existing file is replaced whole or, if anything fails, not at all.
    #[arg(short, long, value_name = "OUT.npy")]
    output: PathBuf,

    /// What is transformed into what: the names are those of scipy.fft's functions, or close to them
    #[arg(long, value_enum, default_value_t = KindArg::C2c, value_name = "KIND")]
    kind: KindArg,

    /// Axes to transform, counted from 0, or from the end with -1
    ///
    /// Default: all axes of an array, time of a recording, rows and columns of a picture. Write --axes=-1 with
    /// the equals sign for negative ones. The last one named is the one that r2c, c2r, hfft and ihfft halve.
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true, value_name = "AXIS,..")]
    axes: Option<Vec<i64>>,

    /// Lengths along the transformed axes: what is longer is cropped, what is shorter is padded with zeros
    ///
    /// One for each axis, as scipy's s; without --axes, for the last of those that are transformed by default. With c2r
    /// and hfft, the last length is that of the reals: m complex numbers stand for 2 (m - 1) reals or 2 (m - 1) + 1.
    #[arg(
        long, value_delimiter = ',', allow_negative_numbers = true, value_name = "LENGTH,..",
        value_parser = clap::value_parser!(u64).range(1..=i64::MAX as u64)
    )]
    n: Option<Vec<u64>>,

    /// Transform back: with exp(+2 pi i j k / n) instead of exp(-2 pi i j k / n), or by the kind's inverse
    #[arg(long)]
    inverse: bool,

    /// So many frequencies from FROM to TO, in cycles per sample, along one axis: the last one unless --axes names it
    ///
    /// Frequency k is FROM + k (TO - FROM) / POINTS, as scipy.signal.zoom_fft with fs=1; unscaled.
    #[arg(
        long, value_name = "FROM:TO:POINTS", allow_hyphen_values = true,
        conflicts_with_all = ["kind", "n", "inverse", "norm", "shift", "plot"]
    )]
    zoom: Option<ZoomArg>,

    /// The last frequency of --zoom is TO
    #[arg(long, requires = "zoom")]
    endpoint: bool,

    /// Which direction is divided by the number of points, as in numpy
    ///
    /// For cosine and sine transforms, the points of the periodic sequence that they stand for, mostly 2 n. With ortho,
    /// their first and last values are weighted so that they are orthogonal, as scipy does.
    #[arg(long, value_enum, default_value_t = NormArg::Backward)]
    norm: NormArg,

    /// Where to run; auto takes a GPU where the data is large enough to be worth the way there, else the processor
    #[arg(long, value_enum, default_value_t = DeviceArg::Auto)]
    device: DeviceArg,

    /// Width of the numbers that are computed with and, without --storage, written
    ///
    /// Default: f32 if the input is float16, float32 or complex64, else f64, as in numpy. double-single computes with pairs
    /// of f32: about 48 bits, numbers up to 3.4e38, also on devices without f64; files hold f64
    /// unless --storage says otherwise.
    #[arg(long, value_enum)]
    precision: Option<PrecisionArg>,

    /// How numbers are kept: rounded so as they are read, and written so; f16 and bf16 are computed in f32 unless
    /// --precision says otherwise
    ///
    /// numpy has no complex numbers of 16-bit parts: where the kind gives them, the array has one more axis at its end, of
    /// real and imaginary part. It has no bfloat16 either: such an array is written as numbers of 2 bytes, as numpy writes
    /// those of ml_dtypes; np.load(..).view(ml_dtypes.bfloat16) reads it.
    #[arg(long, value_enum)]
    storage: Option<StorageArg>,

    /// The last axis of an array of reals in C order, of length 2, holds real and imaginary parts: of a .npy file, or the two
    /// channels of a .wav file
    #[arg(long)]
    pairs: bool,

    /// Bytes of workspace beside the data at most, like 0 or 64MiB
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_workspace: Option<u64>,

    /// Compute by a published algorithm, on a GPU or with --device sim, in place of the planner's choice
    ///
    /// One that is a program for the processor (cpu-recursive) runs on --device cpu, also where the device is left open.
    /// Each covers some lengths of complex numbers that lie packed, all axes transformed; what it does not cover is refused
    /// with what it does. Those of real data go with --kind r2c or c2r; for the others reals are read as complex numbers.
    /// Some take parameters after a colon: matmul:elements=4,planes=2.
    #[arg(
        long, value_name = "NAME", value_parser = strategy(), conflicts_with = "zoom"
    )]
    strategy: Option<Strategy>,

    /// Draw the magnitude in dB below its peak into a PNG
    ///
    /// A line over frequency for one transformed axis (in Hz for .wav, else in cycles per sample; a real signal and
    /// half of a spectrum from 0 to the Nyquist frequency), a picture for two, centred but for halved axes.
    #[arg(long, value_name = "PICTURE.png")]
    plot: Option<PathBuf>,

    /// Put frequency 0 in the middle of each transformed axis, in the output and the plot; not for half spectra, cosine
    /// and sine transforms
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
        let direction = self.kind.direction(self.inverse)?;
        if self.shift {
            self.kind.check_shift()?;
        }
        let started = Instant::now();
        let precision = self.precision.map(PrecisionArg::precision);
        let storage = self.storage.map(StorageArg::storage).or(precision.map(Storage::of));
        // Half spectra are complex numbers, also where all of them are real; so is all that strategies of these take.
        let reals =
            self.pairs || self.kind.takes_reals() || (!self.kind.doubles() && self.strategy.is_none());
        let signal = io::read(&self.input, Keep { storage, reals })?;
        let signal = if self.pairs { fit::paired(signal, &self.input)? } else { signal };
        if self.kind.takes_reals() && !signal.real {
            return Err(CliError::ComplexInput { path: self.input.clone(), kind: self.kind.name() });
        }
        let (axes, asked) = self.axes_and_lengths(&signal)?;
        let mut lengths = self.kind.lengths(&signal.shape, &axes, asked.as_deref())?;
        let zoom = self.zoom.map(|zoom| (zoom, self.endpoint));
        if let Some((zoom, _)) = zoom {
            if axes.len() != 1 {
                return Err(CliError::ZoomAxes { axes: axes.len() });
            }
            for &axis in &axes {
                lengths.output[axis] = usize::try_from(zoom.points).unwrap_or(usize::MAX);
            }
        }
        if self.plot.is_some() {
            plot::check(&lengths.output, &axes)?;
        }
        let (kind, norm, max_workspace, strategy) = (self.kind, self.norm, self.max_workspace, self.strategy);
        let request =
            Request { kind, zoom, axes, lengths, direction, norm, max_workspace, precision, strategy };
        let shape = signal.shape.clone();
        let signal = fit::fitted(signal, &request.lengths.input)?;
        let (axes, output_shape) = (&request.axes, &request.lengths.output);
        // Before the work, so that an unwritable place costs no time.
        let mut output = Output::create(&self.output)?;
        let mut picture = self.plot.as_deref().map(Output::create).transpose()?;

        let read = Instant::now();
        let mut spectrum = {
            let _progress = Progress::start("transforming", None);
            engine::transform(&signal, &request, self.device.kind())?
        };
        let transformed = Instant::now();
        if let Some(reason) = &spectrum.fallback {
            eprintln!("warpfft: note: the processor did the work: {reason}");
        }
        if self.shift {
            fit::shift(&mut spectrum.samples, output_shape, axes);
        }
        {
            let progress = Progress::start("writing", Some(spectrum.samples.bytes().len() as u64));
            output.write(|out| io::write_npy(out, output_shape, &spectrum.samples, &progress))?;
            output.sync()?;
        }
        if let Some(picture) = &mut picture {
            let png = plot::draw(&self.drawing(&signal, &spectrum, &request))?;
            picture.write(|out| out.write_all(&png))?;
            picture.sync()?;
        }
        output.commit()?;
        picture.map_or(Ok(()), Output::commit)?;
        let seconds =
            [read - started, transformed - read, transformed.elapsed()].map(|time| time.as_secs_f64());
        self.report(&signal, &shape, &spectrum, &request, seconds)
    }

    fn check_names(&self) -> Result<(), CliError> {
        if self.plot.as_ref().is_some_and(|plot| io::same_place(plot, &self.output)) {
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

    /// The axes to transform, and the lengths asked for along them.
    fn axes_and_lengths(&self, signal: &Signal) -> Result<(Vec<usize>, Option<Vec<usize>>), CliError> {
        let mut axes = match &self.axes {
            Some(given) => engine::resolve_axes(given, &signal.shape)?,
            // One axis, the last of those that would be transformed.
            None if self.zoom.is_some() => signal.axes.last().copied().into_iter().collect(),
            None => signal.axes.clone(),
        };
        let Some(n) = &self.n else { return Ok((axes, None)) };
        if self.axes.is_none() && n.len() < axes.len() {
            axes.drain(..axes.len() - n.len());
        }
        if n.len() != axes.len() {
            return Err(CliError::LengthCount { expected: axes.len(), got: n.len() });
        }
        // What this machine cannot count it cannot hold either, and is refused for that.
        let lengths = n.iter().map(|&n| usize::try_from(n).unwrap_or(usize::MAX)).collect();
        Ok((axes, Some(lengths)))
    }

    fn drawing<'a>(&self, signal: &Signal, spectrum: &'a Spectrum, request: &'a Request) -> Drawing<'a> {
        let name = self.input.file_name().unwrap_or(self.input.as_os_str()).to_string_lossy();
        let title = match (self.kind.real(), self.inverse || self.kind == KindArg::C2r) {
            (_, true) => format!("Inverse transform of {name}"),
            (Some(_), false) => format!("{} of {name}", self.kind.name()),
            (None, false) => format!("Spectrum of {name}"),
        };
        Drawing {
            samples: &spectrum.samples,
            shape: &request.lengths.output,
            axes: &request.axes,
            along: self.kind.along(&request.lengths, &request.axes, self.inverse),
            sample_rate: signal.sample_rate,
            // Hartley's transform of reals is real, but not symmetric.
            real: signal.real && self.kind != KindArg::Dht,
            shifted: self.shift,
            title,
        }
    }

    fn report(
        &self,
        signal: &Signal,
        shape: &[usize],
        spectrum: &Spectrum,
        request: &Request,
        [read, transform, write]: [f64; 3],
    ) -> Result<(), CliError> {
        let dtype = spectrum.samples.dtype();
        if self.json {
            let mut stored = request.lengths.output.clone();
            stored.extend(spectrum.samples.pairs_as_axis().then_some(2));
            let about = json!({
                "input": self.input.to_string_lossy(),
                "input_kind": signal.kind,
                "output": self.output.to_string_lossy(),
                "plot": self.plot.as_ref().map(|path| path.to_string_lossy()),
                "kind": self.kind.name(),
                "shape": shape,
                "output_shape": stored,
                "axes": request.axes,
                "n": self.n,
                "zoom": self.zoom.map(|zoom| json!({
                    "from": zoom.from, "to": zoom.to, "points": zoom.points, "endpoint": self.endpoint,
                })),
                "dtype": dtype,
                "inverse": self.inverse,
                "norm": name_of(&self.norm),
                "strategy": self.strategy.map(|strategy| strategy.to_string()),
                "shift": self.shift,
                "sample_rate": signal.sample_rate,
                "device": spectrum.device.kind().to_string(),
                "device_name": spectrum.device.name(),
                "fallback": spectrum.fallback.as_ref().map(ToString::to_string),
                "seconds": {"read": read, "transform": transform, "write": write},
            });
            return report::about(&self.output, &format!("{about:#}"));
        }
        let text = |shape: &[usize]| shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(" x ");
        let becomes = match &request.lengths.output {
            same if same == shape => String::new(),
            other => format!(" to {}", text(other)),
        };
        let text = format!(
            "{} ({}): {} points{becomes}, {} along axes {:?} on {} -> {} ({dtype})",
            self.input.display(),
            signal.kind,
            text(shape),
            self.kind.name(),
            request.axes,
            spectrum.device.name(),
            self.output.display(),
        );
        report::about(&self.output, &text)?;
        match &self.plot {
            Some(path) => report::about(&self.output, &format!("plot -> {}", path.display())),
            None => Ok(()),
        }
    }
}
