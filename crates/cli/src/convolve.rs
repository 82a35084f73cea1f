//! `warpfft convolve`: two files in, their convolution or correlation out.

mod bench;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, ValueEnum};
use serde_json::json;
use warpfft::core::problem::{Precision, Storage};
use warpfft::core::request::{Convolution, Mode};
use warpfft::{ConvolutionPlan, Device, DeviceKind, Error, Which};

pub use bench::ConvolveArgs;

use crate::error::CliError;
use crate::io::{self, Keep, Kept, Output, Samples, Signal, each, packed_strides};
use crate::options::{DeviceArg, PrecisionArg, name_of};
use crate::progress::Progress;
use crate::report;

const EXAMPLES: &str = "\
Examples:
  A recording as it would sound in a room, of which the second file is the echo of a clap:
      warpfft convolve voice.wav room.wav -o wet.npy

  A picture blurred by a kernel, of the same size as before (kernel.npy of 15 x 15 x 1 for all channels):
      warpfft convolve photo.png kernel.npy -o blurred.npy --mode same

  Where a pattern lies in a longer signal: the largest value tells
      warpfft convolve signal.npy pattern.npy -o found.npy --correlate --mode valid

The results are those of scipy.signal.fftconvolve(A, B, mode), and with --correlate those of
scipy.signal.correlate(A, B, mode, method='fft'), for arrays of one, two, three or more dimensions, real or complex:
  full    every point at which the two meet: a + b - 1 along each dimension
  same    the middle of it, as large as A
  valid   points at which one lies within the other: a - b + 1, or b - a + 1 where B is the larger
Real arrays give real results. A long signal and a short kernel are convolved block by block (overlap-save), so that a NaN in the
signal spoils its block and not, as in scipy, all results. Empty arrays are refused.

What A and B may be: .npy, .wav, .png, .tiff and .jpeg, as for warpfft transform --help.

Exit codes: 0 done, 2 usage, 3 input, 4 device, 5 output (see warpfft --help).";

/// Which part of the convolution is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ModeArg {
    /// Every point at which the two meet
    Full,
    /// The middle of it, as large as A
    Same,
    /// Points at which one lies within the other
    Valid,
}

impl ModeArg {
    /// The library's name for it.
    const fn mode(self) -> Mode {
        match self {
            Self::Full => Mode::Full,
            Self::Same => Mode::Same,
            Self::Valid => Mode::Valid,
        }
    }
}

/// What `convolve` takes.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, after_help = "Examples and modes: warpfft convolve --help")]
pub struct Convolve {
    /// First file: the image or signal
    #[arg(value_name = "A")]
    image: PathBuf,

    /// Second file, of as many dimensions: the kernel or pattern
    #[arg(value_name = "B")]
    kernel: PathBuf,

    /// File to write: a .npy array in C order, real where both are, else complex
    ///
    /// An existing file is replaced whole or, if anything fails, not at all.
    #[arg(short, long, value_name = "OUT.npy")]
    output: PathBuf,

    /// Which part of it
    #[arg(long, value_enum, default_value_t = ModeArg::Full)]
    mode: ModeArg,

    /// Correlate in place of convolving: B is conjugated and does not run backwards
    #[arg(long)]
    correlate: bool,

    /// Where to run
    #[arg(long, value_enum, default_value_t = DeviceArg::Auto)]
    device: DeviceArg,

    /// Width of the numbers that are computed with and written
    ///
    /// Default: f32 if both inputs are float16, float32 or complex64, else f64, as in numpy.
    /// double-single computes with pairs of f32, about 48 bits, also on devices without f64; files hold f64.
    #[arg(long, value_enum)]
    precision: Option<PrecisionArg>,

    /// Print a JSON object about what was done
    #[arg(long)]
    json: bool,
}

/// An array, packed in C order.
struct Array {
    samples: Samples,
    shape: Vec<usize>,
}

impl Convolve {
    /// Runs the command.
    pub fn run(&self) -> Result<(), CliError> {
        if self.output.extension().is_some_and(|ending| !ending.eq_ignore_ascii_case("npy")) {
            return Err(CliError::OutputEnding { path: self.output.clone(), wanted: ".npy" });
        }
        let started = Instant::now();
        let [mut image, mut kernel] = self.arrays()?;
        let shapes = [image.shape.clone(), kernel.shape.clone()];
        // Two single numbers: their product, again without an axis.
        let singles = shapes.iter().all(Vec::is_empty);
        if singles {
            (image.shape, kernel.shape) = (vec![1], vec![1]);
        }
        let (image, kernel, request) = self.request(image, kernel)?;
        // Before the work, so that an unwritable place costs no time.
        let mut output = Output::create(&self.output)?;
        let read = Instant::now();
        let (result, mut shape, plan, fallback) = {
            let _progress = Progress::start("convolving", None);
            convolved(self.device.kind(), &request, &image.samples, &kernel.samples)?
        };
        let done = Instant::now();
        if let Some(reason) = &fallback {
            eprintln!("warpfft: note: the processor did the work: {reason}");
        }
        if singles {
            shape.clear();
        }
        {
            let progress = Progress::start("writing", Some(result.bytes().len() as u64));
            output.write(|out| io::write_npy(out, &shape, &result, &progress))?;
            output.sync()?;
        }
        output.commit()?;
        let seconds = [read - started, done - read, done.elapsed()].map(|time| time.as_secs_f64());
        self.report(&shapes, &shape, &result, &plan, fallback.as_ref(), seconds)
    }

    /// Both files, in one width.
    fn arrays(&self) -> Result<[Array; 2], CliError> {
        let storage = self.precision.map(|precision| Storage::of(precision.precision()));
        let read = |path: &Path| packed(io::read(path, Keep { storage, reals: true })?);
        let [image, kernel] = [read(&self.image)?, read(&self.kernel)?];
        let wide = [&image, &kernel].iter().any(|array| array.samples.storage() == Storage::F64);
        let storage = if wide { Storage::F64 } else { Storage::F32 };
        Ok([widened(image, storage)?, widened(kernel, storage)?])
    }

    /// What is asked of the library, which wants the larger array first where one lies within the other.
    fn request(&self, image: Array, kernel: Array) -> Result<(Array, Array, Convolution), CliError> {
        let shapes = || (image.shape.clone(), kernel.shape.clone());
        if image.shape.len() != kernel.shape.len() {
            let (image, kernel) = shapes();
            return Err(CliError::Ranks { image, kernel });
        }
        let within = |a: &Array, b: &Array| a.shape.iter().zip(&b.shape).all(|(a, b)| a >= b);
        let swap = self.mode == ModeArg::Valid && !within(&image, &kernel);
        if swap && !within(&kernel, &image) {
            let (image, kernel) = shapes();
            return Err(CliError::NotWithin { image, kernel });
        }
        let (mut image, mut kernel, mut correlate) = (image, kernel, self.correlate);
        if swap {
            if correlate {
                // A correlation is a convolution with the conjugate, turned round, and those may change places.
                turn(&mut kernel.samples);
                correlate = false;
            }
            (image, kernel) = (kernel, image);
        }
        let extents = |array: &Array| array.shape.iter().map(|&n| n as u64).collect::<Vec<u64>>();
        let asked = Convolution::new(extents(&image), extents(&kernel))
            .mode(self.mode.mode())
            .reals(image.samples.is_real(), kernel.samples.is_real())
            .precision(self.computed(image.samples.storage()));
        Ok((image, kernel, if correlate { asked.correlate() } else { asked }))
    }

    /// What is computed in: what was asked for, or the width that both files were brought to.
    fn computed(&self, storage: Storage) -> Precision {
        let kept = if storage == Storage::F64 { Precision::F64 } else { Precision::F32 };
        self.precision.map_or(kept, PrecisionArg::precision)
    }

    fn report(
        &self,
        [image, kernel]: &[Vec<usize>; 2],
        shape: &[usize],
        result: &Samples,
        plan: &ConvolutionPlan,
        fallback: Option<&Error>,
        [read, convolve, write]: [f64; 3],
    ) -> Result<(), CliError> {
        let (dtype, device) = (result.dtype(), plan.preparing().device());
        if self.json {
            let about = json!({
                "inputs": [self.image.to_string_lossy(), self.kernel.to_string_lossy()],
                "output": self.output.to_string_lossy(),
                "shapes": [image, kernel],
                "output_shape": shape,
                "padded": plan.problems().padded,
                "mode": name_of(&self.mode),
                "correlate": self.correlate,
                "dtype": dtype,
                "device": device.kind().to_string(),
                "device_name": device.name(),
                "fallback": fallback.map(ToString::to_string),
                "seconds": {"read": read, "convolve": convolve, "write": write},
            });
            return report::about(&self.output, &format!("{about:#}"));
        }
        let text = |shape: &[usize]| shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(" x ");
        let text = format!(
            "{} ({}) {} {} ({}): {} points on {} -> {} ({dtype})",
            self.image.display(),
            text(image),
            if self.correlate { "correlated with" } else { "convolved with" },
            self.kernel.display(),
            text(kernel),
            text(shape),
            device.name(),
            self.output.display(),
        );
        report::about(&self.output, &text)
    }
}

/// What came of a convolution, its shape, the plan, and why it was not made for the device of first choice.
type Done = (Samples, Vec<usize>, ConvolutionPlan, Option<Error>);

/// Convolves; where the choice of device was left open and the best one cannot, the processor does.
fn convolved(
    kind: DeviceKind,
    request: &Convolution,
    image: &Samples,
    kernel: &Samples,
) -> Result<Done, CliError> {
    let with = |device: Device| -> Result<Done, CliError> {
        let plan = device.convolution(request)?;
        let shape: Vec<usize> = plan.shape().iter().map(|&n| n as usize).collect();
        let real = image.is_real() && kernel.is_real();
        let mut result = Samples::zeros(image.storage(), real, shape.iter().product(), "the result")?;
        run(&plan, image, kernel, &mut result)?;
        Ok((result, shape, plan, None))
    };
    let device = Device::open(kind)?;
    let on_processor = device.kind() == DeviceKind::Cpu;
    match with(device) {
        Err(CliError::Device(reason)) if kind == DeviceKind::Auto && !on_processor => {
            let (result, shape, plan, _) = with(Device::cpu())?;
            Ok((result, shape, plan, Some(reason)))
        }
        done => done,
    }
}

fn run(plan: &ConvolutionPlan, image: &Samples, kernel: &Samples, result: &mut Samples) -> Result<(), Error> {
    if image.storage() == Storage::F64 {
        run_in::<f64>(plan, image, kernel, result)
    } else {
        run_in::<f32>(plan, image, kernel, result)
    }
}

/// All three in one type.
fn run_in<T: Kept>(
    plan: &ConvolutionPlan,
    image: &Samples,
    kernel: &Samples,
    result: &mut Samples,
) -> Result<(), Error> {
    let (expected, got) = (image.storage(), kernel.storage());
    match (T::planes(image), T::planes(kernel), T::planes_mut(result)) {
        (Some(image), Some(kernel), Some(result)) => plan.convolve_host(image, kernel, result),
        _ => Err(Error::WrongStorage { which: Which::Input, expected, got }),
    }
}

/// A signal in C order.
fn packed(signal: Signal) -> Result<Array, CliError> {
    let (shape, strides) = (signal.shape, signal.strides);
    let wanted = packed_strides(&shape);
    if strides == wanted {
        return Ok(Array { samples: signal.samples, shape });
    }
    let (storage, real, count) = (signal.samples.storage(), signal.samples.is_real(), signal.samples.len());
    let mut samples = Samples::with_room(storage, real, count, "the array in C order")?;
    let place = |index: usize| {
        let parts = wanted.iter().zip(&shape).zip(&strides);
        parts.map(|((&step, &n), &stride)| index / step as usize % n * stride as usize).sum::<usize>()
    };
    samples.extend((0..count).map(|index| signal.samples.get(place(index))));
    Ok(Array { samples, shape })
}

/// The same array in another width.
fn widened(array: Array, storage: Storage) -> Result<Array, CliError> {
    if array.samples.storage() == storage {
        return Ok(array);
    }
    let (real, count) = (array.samples.is_real(), array.samples.len());
    let mut samples = Samples::with_room(storage, real, count, "the array in double precision")?;
    samples.extend((0..count).map(|index| array.samples.get(index)));
    Ok(Array { samples, ..array })
}

/// The conjugate, turned round.
fn turn(samples: &mut Samples) {
    each!(samples, data => data.reverse());
    match samples {
        Samples::F32(data) => data.iter_mut().for_each(|z| *z = z.conj()),
        Samples::F64(data) => data.iter_mut().for_each(|z| *z = z.conj()),
        Samples::F16(data) => data.iter_mut().for_each(|z| z.im = -z.im),
        Samples::Bf16(data) => data.iter_mut().for_each(|z| z.im = -z.im),
        Samples::Real16(_) | Samples::RealB16(_) | Samples::Real32(_) | Samples::Real64(_) => {}
    }
}
