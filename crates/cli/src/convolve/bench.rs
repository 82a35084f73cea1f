//! What `bench` takes for convolutions, and their rows.

use clap::Args;
use serde_json::{Value, json};
use warpfft::core::request::Convolution;
use warpfft::{ConvolutionCheck, Device, Measurement, Timing};

use super::ModeArg;
use crate::bench::OF_SUITES;
use crate::error::CliError;
use crate::options::{BatchArgs, Shape};
use crate::progress::Progress;
use crate::{interrupt, report};

/// What else `bench` may be asked to do. clap waives what an option requires where that conflicts with what is given, so that an
/// option of convolutions has to name these as well.
const OTHERS: [&str; 4] = ["shapes", "suite", "compare", "report"];

/// What `bench` takes for convolutions.
#[derive(Debug, Args)]
#[command(next_help_heading = "Convolutions")]
pub struct ConvolveArgs {
    /// Measure convolutions: lengths of the image and, behind a colon, of the kernel, like 8192:129 or 1024x1024:15x15;
    /// behind another colon those of the blocks, if not the best, 0: not to cut it
    #[arg(long, value_name = "SHAPE:KERNEL[:BLOCK]", conflicts_with_all = OTHERS, conflicts_with_all = OF_SUITES, conflicts_with_all = ["plot", "kind", "storage", "in_place", "max_workspace"])]
    convolve: Vec<Pair>,

    /// Which part of the convolution
    #[arg(long, value_enum, requires = "convolve", conflicts_with_all = OTHERS, default_value_t = ModeArg::Same)]
    mode: ModeArg,

    /// Complex images and kernels, not real ones
    #[arg(long, requires = "convolve", conflicts_with_all = OTHERS)]
    complex: bool,

    /// So many kernels meet every image
    #[arg(long, requires = "convolve", conflicts_with_all = OTHERS, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    kernels: u64,
}

/// Shapes of image and kernel, and of blocks that were asked for.
#[derive(Debug, Clone)]
struct Pair([Shape; 2], Option<Vec<u64>>);

impl std::str::FromStr for Pair {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted =
            || format!("'{text}' is no pair of shapes; write both with a colon between, like 8192:129");
        let (image, rest) = text.split_once(':').ok_or_else(wanted)?;
        let (kernel, block) =
            rest.split_once(':').map_or((rest, None), |(kernel, block)| (kernel, Some(block)));
        let pair = [image.parse::<Shape>()?, kernel.parse::<Shape>()?];
        if pair[0].0.len() != pair[1].0.len() {
            return Err(format!(
                "'{text}' has {} and {} dimensions; give as many of both",
                pair[0].0.len(),
                pair[1].0.len()
            ));
        }
        let block = match block {
            None => None,
            Some("0") => Some(vec![0; pair[0].0.len()]),
            Some(block) => {
                let block: Vec<u64> = block.parse::<Shape>()?.0;
                let rank = pair[0].0.len();
                if block.len() != rank {
                    return Err(format!(
                        "'{text}' has {rank} dimensions, its blocks {}; give as many",
                        block.len()
                    ));
                }
                Some(block)
            }
        };
        Ok(Self(pair, block))
    }
}

impl ConvolveArgs {
    /// Whether no convolution was asked for.
    pub fn is_empty(&self) -> bool {
        self.convolve.is_empty()
    }

    /// Measures all of them.
    pub fn run(
        &self,
        device: &Device,
        asked: &BatchArgs,
        timing: Timing,
        as_json: bool,
    ) -> Result<(), CliError> {
        let mut rows = Vec::new();
        if !as_json {
            let numbers = if self.complex { "complex" } else { "real" };
            report::line(&format!(
                "{}, convolutions of {numbers} data, batch {}, {:?}",
                device.name(),
                asked.batch,
                asked.precision
            ))?;
            report::line(
                "            image:kernel        padded passes     time us    copy us  copies     GB/s     error",
            )?;
        }
        interrupt::listen();
        let done = self.convolve.iter().enumerate().try_for_each(|(at, Pair([image, kernel], block))| {
            interrupt::check(self.convolve.len() - at)?;
            let _progress = Progress::start("measuring", None);
            let request = Convolution::new(image.0.clone(), kernel.0.clone())
                .mode(self.mode.mode())
                .reals(!self.complex, !self.complex)
                .batch(asked.batch)
                .kernels(self.kernels)
                .precision(asked.precision.precision());
            let request = match block {
                Some(block) => request.blocks_of(block.clone()),
                None => request,
            };
            let plan = device.convolution(&request)?;
            let measured = plan.measure(timing)?;
            // Few images say as much as many.
            let checked = device.convolution(&request.batch(asked.batch.min(3)))?.verify()?;
            let padded = Shape(plan.problems().padded.clone());
            let row = Row {
                image,
                kernel,
                padded,
                passes: plan.convolving().program().map_or(1, |program| program.launches.len()),
                measured,
                checked,
            };
            if as_json {
                rows.push(row.as_json(device, asked.batch));
                return Ok(());
            }
            report::line(&row.as_text())
        });
        report::rows(as_json, rows, done)
    }
}

/// One row of the table.
struct Row<'a> {
    image: &'a Shape,
    kernel: &'a Shape,
    padded: Shape,
    passes: usize,
    measured: Measurement,
    checked: ConvolutionCheck,
}

impl Row<'_> {
    fn as_text(&self) -> String {
        let Measurement { transform_seconds, copy_seconds, .. } = self.measured;
        format!(
            "{:>24} {:>13} {:>5} {:>12.2} {:>10.2} {:>7.2} {:>8.1} {:>9}",
            format!("{}:{}", self.image, self.kernel),
            self.padded.to_string(),
            self.passes,
            transform_seconds * 1e6,
            copy_seconds * 1e6,
            self.measured.copies(),
            self.measured.bytes_per_second() / 1e9,
            format!("{:.1e}", self.checked.error),
        )
    }

    fn as_json(&self, device: &Device, batch: u64) -> Value {
        json!({
            "convolve": [self.image.0, self.kernel.0],
            "padded": self.padded.0,
            "passes": self.passes,
            "batch": batch,
            "device": device.kind().to_string(),
            "device_name": device.name(),
            "seconds": self.measured.transform_seconds,
            "seconds_best": self.measured.transform_best,
            "copy_seconds": self.measured.copy_seconds,
            "copies": self.measured.copies(),
            "bytes": self.measured.bytes,
            "gb_per_second": self.measured.bytes_per_second() / 1e9,
            "timed_on_device": self.measured.on_device,
            "error": self.checked.error,
            "error_bound": self.checked.bound,
        })
    }
}
