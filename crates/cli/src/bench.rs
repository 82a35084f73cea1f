//! `warpfft bench`: time in copies of the same data, and the error of what was computed.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use warpfft::core::problem::Problem;
use warpfft::peers::PeerReport;
use warpfft::{Device, Error, Measurement, Strategy, Timing, Wisdom};

use crate::convolve::ConvolveArgs;
use crate::error::CliError;
use crate::options::{BatchArgs, DeviceArg, Shape, size, strategy};
use crate::packed::{Kind, Packed};
use crate::progress::Progress;
use crate::{check, interrupt, report, suite};

/// What `bench` takes.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  warpfft bench 1024 4096 16384 --batch 1000
  warpfft bench 512x512 64x64x64 --precision f64 --device cpu --json
  warpfft bench 1024 1000 512x512 --kind r2c --batch 1000 --peers
  warpfft bench 4096 --storage f16 --batch 10000
  warpfft bench 4096 --strategy locality --batch 10000
  warpfft bench 8x8 --kind dct2 --batch 100000 --in-place
  warpfft bench 24x24x24 --batch 54 --on-host streamed
  warpfft bench --convolve 8192:129 --convolve 1024x1024:15x15 --batch 64
  warpfft bench --suite h200 --peers --csv out.csv --plot out.png
  warpfft bench --suite h200 --only 'f32 1d-two-*' --only 24x24x24 --budget 60 --csv out.csv
  warpfft bench --compare bench/h200-suite.csv out.csv --tolerance 5%

A copy reads and writes the bytes of input and output in the same run, on the same device: of several kinds, the \
fastest. Small data is spread over many buffers, so that neither works from the cache; 1.00 copies is the floor. GFLOP/s count \
5 N log2 N for N points, half of it where the data is real. The error is the relative L2 distance from a more exact \
transform of the same random data: of complex data in twice double precision, of real data on the processor in f64; - \
means that it would take too long, or that this is the processor in f64. Convolutions are timed with kernels that are \
prepared; their error is that of some results against sums in twice double precision.

Suites that are built in: h200, h200-real of real data, and h200-half of f16 and bf16. A suite of one's own is a file of lines kind,precision,shape,batch[,group][,data] below a header of these names; \
docs/performance.md says more.")]
pub struct Bench {
    /// Lengths with x between: 1024, 512x512, 64x64x64
    #[arg(required_unless_present_any = ["suite", "compare", "report", "convolve"])]
    shapes: Vec<Shape>,

    #[command(flatten)]
    asked: BatchArgs,

    /// Where to run
    #[arg(long, value_enum, default_value_t = DeviceArg::Auto)]
    device: DeviceArg,

    /// Transform in place
    #[arg(long, conflicts_with = "suite")]
    in_place: bool,

    /// Bytes of workspace beside the data at most, like 0 or 64MiB
    #[arg(long, value_name = "SIZE", value_parser = size, conflicts_with = "suite")]
    max_workspace: Option<u64>,

    /// Time to spend on each shape
    #[arg(long, default_value_t = 0.5, value_parser = seconds)]
    seconds: f64,

    /// Compute by a published algorithm in place of the planner's choice; `transform --help` says what each is
    #[arg(long, value_name = "NAME", value_parser = strategy(), hide_possible_values = true, conflicts_with_all = ["suite", "convolve", "estimate"])]
    strategy: Option<Strategy>,

    /// Plan by the cost model alone, whatever tuning found
    #[arg(long)]
    estimate: bool,

    /// Work on the same data again and again, so that it stays in the cache where it fits
    #[arg(long, conflicts_with = "suite")]
    in_cache: bool,

    /// Keep the data in the computer's memory, so that the way to the device and back counts: all at once, or streamed in
    /// parts; a copy is then that way without the transform
    #[arg(long, value_name = "HOW", value_enum, conflicts_with_all = ["suite", "convolve", "in_cache"])]
    on_host: Option<OnHost>,

    /// Time other libraries in the same run, where they are installed: cuFFT on cuda, FFTW on cpu
    #[arg(long, conflicts_with_all = ["on_host", "convolve", "compare", "report"])]
    peers: bool,

    /// Print a JSON array
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    convolve: ConvolveArgs,

    #[command(flatten)]
    suite: SuiteArgs,
}

/// How data of the computer's memory goes to the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OnHost {
    /// All there, then computed, then all back; from ordinary memory
    AtOnce,
    /// In parts, of which one moves while another is computed; from memory that the device reaches by itself
    Streamed,
}

/// Options of suites alone: whatever else is done conflicts with them by name, as clap waives what an option requires where that
/// conflicts with what is given.
pub const OF_SUITES: [&str; 3] = ["csv", "only", "budget"];

/// What `bench` takes for suites and their results.
#[derive(Debug, Args)]
#[command(next_help_heading = "Suites")]
struct SuiteArgs {
    /// Measure a whole suite: h200, h200-real, h200-half, or a file
    #[arg(long, value_name = "NAME|FILE", conflicts_with_all = ["shapes", "json", "kind", "batch", "precision", "storage"])]
    suite: Option<String>,

    /// Only rows with all these words: kind, precision, shape, batch:COUNT or group, * for anything; several: any
    #[arg(long, value_name = "WORDS", requires = "suite", conflicts_with = "shapes")]
    only: Vec<String>,

    /// Write a line for each row as it comes
    #[arg(long, value_name = "FILE", requires = "suite", conflicts_with = "shapes")]
    csv: Option<PathBuf>,

    /// Go on with the rows that are not in the --csv file yet
    #[arg(long, requires = "csv", conflicts_with_all = ["shapes", "compare", "report", "convolve"])]
    resume: bool,

    /// Seconds for all rows; each gets at most --seconds
    #[arg(long, value_name = "SECONDS", requires = "suite", conflicts_with = "shapes", value_parser = seconds)]
    budget: Option<f64>,

    /// Draw copies over length into a PNG file
    #[arg(long, value_name = "FILE", conflicts_with = "shapes", value_parser = png)]
    plot: Option<PathBuf>,

    /// Compare two files of results; fails where the second is slower
    #[arg(long, value_names = ["RECORD", "NEW"], num_args = 2, conflicts_with_all = ["suite", "shapes", "report", "plot"], conflicts_with_all = OF_SUITES)]
    compare: Option<Vec<PathBuf>>,

    /// Slower by more than this counts, like 5%
    #[arg(long, value_name = "PERCENT", requires = "compare", conflicts_with_all = ["shapes", "suite", "report", "convolve"], default_value = "5%", value_parser = percent)]
    tolerance: f64,

    /// Write a file of results as Markdown tables
    #[arg(long, value_name = "CSV", conflicts_with_all = ["suite", "shapes"], conflicts_with_all = OF_SUITES)]
    report: Option<PathBuf>,

    /// The page to write the tables into, between its marks
    #[arg(long, value_name = "PAGE", requires = "report", conflicts_with_all = ["shapes", "suite"])]
    into: Option<PathBuf>,
}

/// A time in seconds.
pub fn seconds(text: &str) -> Result<f64, String> {
    match text.strip_suffix('s').unwrap_or(text).parse() {
        Ok(value) if value > 0.0 && value <= 86400.0 => Ok(value),
        _ => Err("give a time above 0 and up to 86400 seconds, like 30 or 0.5s".into()),
    }
}

fn percent(text: &str) -> Result<f64, String> {
    match text.strip_suffix('%').unwrap_or(text).parse::<f64>() {
        Ok(value) if (0.0..=1000.0).contains(&value) => Ok(value / 100.0),
        _ => Err("give a share from 0% to 1000%, like 5%".into()),
    }
}

fn png(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension() {
        Some(ending) if ending.eq_ignore_ascii_case("png") => Ok(path),
        _ => Err("plots are PNG files: give a name that ends in .png".into()),
    }
}

/// One row of the table.
struct Row<'a> {
    kind: Kind,
    shape: &'a Shape,
    problem: Problem,
    measured: Measurement,
    /// Other libraries beside it, where they were asked for.
    peers: Vec<PeerReport>,
    error: Option<f64>,
}

impl Bench {
    /// Runs the command.
    pub fn run(&self) -> Result<(), CliError> {
        if let Some([old, new]) = self.suite.compare.as_deref() {
            return suite::compare(old, new, self.suite.tolerance);
        }
        if let Some(csv) = &self.suite.report {
            return suite::report(csv, self.suite.into.as_deref(), self.suite.plot.as_deref());
        }
        if !self.convolve.is_empty() {
            let timing = Timing { budget: Duration::from_secs_f64(self.seconds), in_cache: self.in_cache };
            return self.convolve.run(&self.device()?, &self.asked, timing, self.json);
        }
        match &self.suite.suite {
            Some(name) => self.run_suite(name),
            None => self.run_shapes(),
        }
    }

    fn run_suite(&self, name: &str) -> Result<(), CliError> {
        suite::run(&suite::Options {
            suite: name,
            only: &self.suite.only,
            peers: self.peers,
            csv: self.suite.csv.as_deref(),
            plot: self.suite.plot.as_deref(),
            resume: self.suite.resume,
            seconds: self.seconds,
            budget: self.suite.budget,
            device: self.device()?,
        })
    }

    fn device(&self) -> Result<Device, CliError> {
        let kind = self.device.kind();
        let device = match self.strategy {
            Some(strategy) => Device::open_for(strategy, kind)?,
            None => Device::open(kind)?,
        };
        Ok(if self.estimate { device.with_wisdom(Wisdom::new()) } else { device })
    }

    fn run_shapes(&self) -> Result<(), CliError> {
        let device = self.device()?;
        let mut rows = Vec::new();
        if !self.json {
            report::line(&format!(
                "{}, {}, batch {}, {:?}{}{}",
                device.name(),
                self.asked.kind,
                self.asked.batch,
                self.asked.precision,
                self.asked.storage.map_or_else(String::new, |kept| format!(" kept in {kept:?}")),
                self.strategy.map_or_else(String::new, |strategy| format!(", by {strategy}")),
            ))?;
            if self.peers {
                suite::name_peers(&device)?;
            }
            report::line("        shape      time us    copy us  copies     GB/s   GFLOP/s     error")?;
        }
        interrupt::listen();
        let done = self.shapes.iter().enumerate().try_for_each(|(at, shape)| {
            interrupt::check(self.shapes.len() - at)?;
            let row = self.measure(&device, shape)?;
            if self.json {
                rows.push(row.as_json(&device, self));
                return Ok(());
            }
            report::line(&row.as_text())
        });
        report::rows(self.json, rows, done)
    }

    fn measure<'a>(&self, device: &Device, shape: &'a Shape) -> Result<Row<'a>, CliError> {
        let (in_place, max_workspace) = (self.in_place, self.max_workspace);
        let asked = Packed { in_place, max_workspace, ..self.asked.packed(shape) };
        let whole = asked.problem()?;
        let _progress = Progress::start("measuring", None);
        let timing = Timing { budget: Duration::from_secs_f64(self.seconds), in_cache: self.in_cache };
        let ready = |problem: &Problem| match self.strategy {
            Some(strategy) => device.plan_by(problem, strategy),
            None => device.plan(problem),
        };
        let alone = |measured| (measured, Vec::new());
        let (measured, peers) = match self.on_host {
            None if self.peers => ready(&whole)?.measure_beside_peers(timing)?,
            None => alone(ready(&whole)?.measure(timing)?),
            Some(OnHost::AtOnce) => alone(ready(&whole)?.measure_host(timing)?),
            Some(OnHost::Streamed) => alone(match self.strategy {
                Some(strategy) => device.pipeline_by(&whole, strategy)?.measure(timing)?,
                None => device.pipeline(&whole)?.measure(timing)?,
            }),
        };
        let points: u64 = shape.0.iter().product();
        let batch = self.asked.batch.min((check::MOST / points).max(1));
        let checked = || check::error(&ready(&Packed { batch, ..asked }.problem()?)?);
        let error = if points <= check::MOST { checked()? } else { None };
        Ok(Row { kind: self.asked.kind, shape, problem: whole, measured, peers, error })
    }
}

impl Row<'_> {
    /// Floating-point operations a second, by the usual count.
    fn flops(&self) -> f64 {
        let points: f64 = self.shape.0.iter().map(|&extent| extent as f64).product();
        let batch = self.problem.batch_count() as f64;
        self.kind.operations(points) * batch / self.measured.transform_seconds
    }

    fn as_text(&self) -> String {
        let Measurement { transform_seconds, copy_seconds, .. } = self.measured;
        let launch = if self.measured.is_launch_bound() { "  bound by its launch" } else { "" };
        // An absent library was named once at the start.
        let peers = self.peers.iter().map(|peer| match (&peer.times, peer.best()) {
            (_, Some(best)) => format!("  {} {:.2}", peer.library, best.seconds / copy_seconds),
            (Err(error), _) if !matches!(error, Error::PeerAbsent { .. }) => format!("  {error}"),
            _ => String::new(),
        });
        let peers = peers.collect::<String>();
        format!(
            "{:>13} {:>12.2} {:>10.2} {:>7.2} {:>8.1} {:>9.1} {:>9}{launch}{peers}",
            self.shape.to_string(),
            transform_seconds * 1e6,
            copy_seconds * 1e6,
            self.measured.copies(),
            self.measured.bytes_per_second() / 1e9,
            self.flops() / 1e9,
            self.error.map_or_else(|| "-".into(), |error| format!("{error:.1e}")),
        )
    }

    fn as_json(&self, device: &Device, asked: &Bench) -> Value {
        json!({
            "kind": self.kind,
            "shape": self.shape.0,
            "batch": asked.asked.batch,
            "strategy": asked.strategy.map(|strategy| strategy.to_string()),
            "precision": self.problem.precision.name(),
            "storage": self.problem.stored()[0].name(),
            "device": device.kind().to_string(),
            "device_name": device.name(),
            "seconds": self.measured.transform_seconds,
            "seconds_best": self.measured.transform_best,
            "copy_seconds": self.measured.copy_seconds,
            "copy_seconds_best": self.measured.copy_best,
            "copy": self.measured.copy_name,
            "buffer_sets": self.measured.buffer_sets,
            "copies": self.measured.copies(),
            "bytes": self.measured.bytes,
            "gb_per_second": self.measured.bytes_per_second() / 1e9,
            "gflops": self.flops() / 1e9,
            "launch_seconds": self.measured.launch_seconds,
            "rounds": self.measured.rounds,
            "timed_on_device": self.measured.on_device,
            "error": self.error,
            "peers": self.peers.iter().map(|peer| self.peer_as_json(peer)).collect::<Vec<_>>(),
        })
    }

    fn peer_as_json(&self, peer: &PeerReport) -> Value {
        let times = peer.times.iter().flatten().map(|time| {
            json!({
                "setting": time.setting,
                "seconds": time.seconds,
                "copies": time.seconds / self.measured.copy_seconds,
                "plan_seconds": time.plan_seconds,
                "workspace_bytes": time.workspace_bytes,
            })
        });
        json!({
            "library": peer.library,
            "times": times.collect::<Vec<_>>(),
            "error": peer.times.as_ref().err().map(ToString::to_string),
        })
    }
}
