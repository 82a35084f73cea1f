//! `warpfft papers`: the experiments of the papers whose algorithms are here, at today's scale, as pages with drawings and
//! files of numbers.
//!
//! An experiment is data (`paper`), one file for each paper; `measure` times one point of any of them, `run` spreads the
//! time over all, and `page` and `files` show what came of it (`results`).

mod files;
mod host;
mod keskin;
mod lloyd;
mod measure;
mod mitra;
mod page;
mod paper;
mod published;
mod results;
mod romero;
mod run;
mod scale;
mod scarpaci;
mod unit;

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use warpfft::Device;

use self::paper::Paper;
use self::scale::Scale;
use crate::bench::seconds;
use crate::error::CliError;
use crate::options::DeviceArg;

/// The name of the processor's own plan beside a device's.
const PROCESSOR: &str = "the processor's";

/// What `papers` takes.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  warpfft papers                                  all, into the folder papers; open papers/index.html
  warpfft papers romero keskin -o report --device cuda
  warpfft papers mitra --scale small --device opencl

Each paper gets a page, NAME.html, with its figures and tables, and NAME.csv with every number. Its algorithms run \
beside the planner's own choice, cuFFT or FFTW where they are installed, and what numbers of the paper are published. \
Points are measured coarse before fine, large ones last: where --budget ends, figures have fewer points, not fewer lines. A size that an \
algorithm does not cover or that memory does not hold is a gap, which the page names.")]
pub struct Papers {
    /// Which papers; none: all
    #[arg(value_name = "NAME", value_parser = named(), hide_possible_values = false)]
    names: Vec<&'static Paper>,

    /// Where to run
    #[arg(long, value_enum, default_value_t = DeviceArg::Auto)]
    device: DeviceArg,

    /// The folder for the pages
    #[arg(short, long, value_name = "DIR", default_value = "papers")]
    output: PathBuf,

    /// Time to measure each point for, at most
    #[arg(long, default_value_t = 0.2, value_parser = seconds)]
    seconds: f64,

    /// Seconds for all papers
    #[arg(long, value_name = "SECONDS", default_value_t = 285.0, value_parser = seconds)]
    budget: f64,

    /// How much to run; without it, full on a GPU and small on the processor and on software drivers
    #[arg(long, value_enum)]
    scale: Option<Scale>,
}

/// A paper by its name.
fn named() -> impl TypedValueParser<Value = &'static Paper> {
    let names = paper::ALL.map(|paper| PossibleValue::new(paper.name).help(paper.title));
    let find = |name: String| paper::ALL.into_iter().find(|paper| paper.name == name).ok_or("no such paper");
    PossibleValuesParser::new(names).try_map(find)
}

impl Papers {
    /// Runs the command.
    pub fn run(&self) -> Result<(), CliError> {
        let device = Device::open(self.device.kind())?;
        let scale = self.scale.unwrap_or_else(|| Scale::of(&device));
        let asked =
            |paper: &&Paper| self.names.is_empty() || self.names.iter().any(|own| own.name == paper.name);
        run::run(run::Options {
            papers: paper::ALL.into_iter().filter(asked).collect(),
            folder: &self.output,
            seconds: self.seconds,
            budget: self.budget,
            scale,
            device,
        })
    }
}
