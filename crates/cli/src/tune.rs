//! `warpfft tune`: times ways to do each transform, as many as there is time for, and writes the fastest down.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{Value, json};
use warpfft::core::problem::Problem;
use warpfft::{Device, Error, Tuned, Wisdom, wisdom};

use crate::bench::seconds;
use crate::error::CliError;
use crate::options::{BatchArgs, DeviceArg, Shape, size};
use crate::packed::Packed;
use crate::progress::Progress;
use crate::suite::{Case, chosen};
use crate::{interrupt, report};

/// What `tune` takes.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  warpfft tune 1000 4096 24x24x24 --batch 1000 --budget 30s
  warpfft tune 1024 512x512 --kind r2c --batch 1000 -o wisdom.json
  warpfft tune --suite h200 --only '1d-smooth*' --budget 600s -o h200.json
  warpfft tune --suite h200-real --only r2c --only c2r --budget 600s -o real.json
  warpfft tune 1024x1024 --batch 64 --refine --budget 60s     go on from what is known

Each transform gets its share of the time: the cost model's choice, what is known and the best rivals run in turns on \
the same data; from the fastest the search goes on to what is near it while time is left, and the fastest whose output is \
right wins. Ten seconds for a transform try 60 to 200 ways. It is written to the file at once; what is there of other problems and \
devices stays. Set WARPFFT_WISDOM to the file, and every program that uses the library plans by it, for other batches \
too where both fill the GPU.")]
pub struct Tune {
    /// Lengths with x between: 1024, 512x512, 64x64x64
    #[arg(required_unless_present = "suite")]
    shapes: Vec<Shape>,

    #[command(flatten)]
    asked: BatchArgs,

    /// Where to run
    #[arg(long, value_enum, default_value_t = DeviceArg::Auto)]
    device: DeviceArg,

    /// Transform in place
    #[arg(long)]
    in_place: bool,

    /// Bytes of workspace beside the data at most, like 0 or 64MiB
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_workspace: Option<u64>,

    /// Tune the rows of a suite: h200, h200-real, h200-half, or a file
    #[arg(long, value_name = "NAME|FILE", conflicts_with_all = ["shapes", "kind", "batch", "precision", "storage", "in_place", "max_workspace"])]
    suite: Option<String>,

    /// Only rows with all these words, as for bench
    #[arg(long, value_name = "WORDS", requires = "suite", conflicts_with = "shapes")]
    only: Vec<String>,

    /// Begin with what wisdom says, and leave the cost model's other candidates out
    #[arg(long)]
    refine: bool,

    /// Time for all, in seconds
    #[arg(long, default_value = "30s", value_parser = seconds)]
    budget: f64,

    /// The file of wisdom; else the one that WARPFFT_WISDOM names, else wisdom.json
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

impl Tune {
    /// Runs the command.
    pub fn run(&self) -> Result<(), CliError> {
        let problems = self.problems()?;
        let device = Device::open(self.device.kind())?;
        let path = output(self.output.as_deref());
        let fresh = !path.exists();
        // Finds out before any work whether what is there can be added to.
        Wisdom::new().save(&path)?;
        let tuned = self.tune(&device, &problems, &path);
        if fresh && Wisdom::load(&path)?.entries().next().is_none() {
            // Nothing came of it, so nothing is left behind.
            std::fs::remove_file(&path).map_err(|source| CliError::Write {
                path: path.clone(),
                source,
                existed: false,
            })?;
        }
        tuned
    }

    /// Tunes one problem after the other while there is time.
    fn tune(&self, device: &Device, problems: &[Problem], path: &Path) -> Result<(), CliError> {
        interrupt::listen();
        let started = Instant::now();
        let (mut rows, mut failed) = (Vec::new(), None);
        let (mut tried, mut tuned) = (0, 0);
        for problem in problems {
            let left = self.budget - started.elapsed().as_secs_f64();
            if left <= 0.0 || interrupt::asked() {
                break;
            }
            let share = Duration::from_secs_f64(left / (problems.len() - tried) as f64);
            let found = {
                let _progress = Progress::start("tuning", None);
                if self.refine { device.refine(problem, share) } else { device.tune(problem, share) }
            };
            tried += 1;
            let found = match found {
                Ok(found) => found,
                // One problem that does not fit says nothing of the others; a device that cannot be tuned does.
                Err(error @ (Error::DeviceLost { .. } | Error::Unsupported { .. })) => {
                    return Err(error.into());
                }
                Err(error) => {
                    eprintln!("warpfft: {}: {error}", wisdom::problem_key(problem));
                    failed = failed.or(Some(error));
                    continue;
                }
            };
            let mut one = Wisdom::new();
            one.insert(found.entry.clone());
            one.save(path)?;
            tuned += 1;
            if self.json {
                rows.push(as_json(&found));
            } else {
                report::line(&as_text(&found))?;
            }
        }
        if self.json {
            report::json(&Value::Array(rows))?;
        } else {
            report::line(&format!("{tuned} written to {}", path.display()))?;
        }
        match (problems.len() - tried, failed) {
            (0, None) => Ok(()),
            (0, Some(error)) => Err(error.into()),
            (left, _) => Err(CliError::Interrupted { left, kept: false }),
        }
    }

    fn problems(&self) -> Result<Vec<Problem>, CliError> {
        if let Some(suite) = &self.suite {
            let rows = chosen(suite, &self.only)?;
            // Rows of what is not there yet have nothing to tune.
            return Ok(rows.iter().filter_map(|row: &Case| row.problem().ok()).collect());
        }
        let (in_place, max_workspace) = (self.in_place, self.max_workspace);
        let problem = |shape| Packed { in_place, max_workspace, ..self.asked.packed(shape) }.problem();
        self.shapes.iter().map(problem).collect()
    }
}

/// The file that was asked for.
pub fn output(given: Option<&Path>) -> PathBuf {
    let named = || std::env::var_os(wisdom::VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
    given.map(PathBuf::from).or_else(named).unwrap_or_else(|| "wisdom.json".into())
}

fn as_text(found: &Tuned) -> String {
    let entry = &found.entry;
    let mut text = format!("{:<38}", entry.problem);
    if let Some(copies) = entry.copies {
        text += &format!(" {copies:.3} copies,");
    }
    let failed = found.trials.iter().filter(|trial| trial.seconds.is_err()).count();
    text += &if found.best == 0 {
        " the estimate is the best".to_owned()
    } else {
        format!(" x{:.3} faster than the estimate", found.gain())
    };
    if let Some(gain) = found.gain_over_known().filter(|gain| gain.is_finite()) {
        text += &if found.known == Some(found.best) {
            ", as was known".to_owned()
        } else {
            format!(", x{gain:.3} faster than what was known")
        };
    }
    text += &format!(", {} tried", found.trials.len());
    if failed > 0 {
        text += &format!(", {failed} failed");
    }
    if found.untried > 0 {
        text += &format!(", {} untried", found.untried);
    }
    text
}

fn as_json(found: &Tuned) -> Value {
    let trial = |trial: &warpfft::Trial| {
        json!({
            "recipe": trial.recipe,
            "predicted_copies": trial.predicted,
            "seconds": trial.seconds.as_ref().ok(),
            "error": trial.seconds.as_ref().err().map(ToString::to_string),
        })
    };
    json!({
        "entry": found.entry,
        "gain": found.gain(),
        "best": found.best,
        "known": found.known,
        "untried": found.untried,
        "trials": found.trials.iter().map(trial).collect::<Vec<_>>(),
    })
}
