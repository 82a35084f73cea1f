//! `warpfft wisdom`: what was found by tuning, listed, exported and imported.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use warpfft::Wisdom;

use crate::error::CliError;
use crate::{report, tune};

/// What `wisdom` takes.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  warpfft wisdom list
  warpfft wisdom export all.json
  warpfft wisdom import colleague.json -o wisdom.json

Plans follow the file that WARPFFT_WISDOM names, and what comes with the program.")]
pub struct WisdomCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List entries: of a file, or all that plans follow here
    List {
        /// The file
        file: Option<PathBuf>,
        /// Print a JSON array
        #[arg(long)]
        json: bool,
    },
    /// Add all that plans follow here to a file
    Export {
        /// The file; it may be new
        file: PathBuf,
    },
    /// Add a file's entries to another; of the same problem on the same device they replace what is there
    Import {
        /// Where the entries come from
        file: PathBuf,
        /// Where they go; else the file that WARPFFT_WISDOM names, else wisdom.json
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}

impl WisdomCommand {
    /// Runs the command.
    pub fn run(&self) -> Result<(), CliError> {
        match &self.action {
            Action::List { file, json } => {
                let all = match file {
                    Some(file) => Wisdom::load(file)?,
                    None => (*Wisdom::ambient()?).clone(),
                };
                if *json { report::json(&as_json(&all)) } else { list(&all) }
            }
            Action::Export { file } => {
                let all = Wisdom::ambient()?;
                all.save(file)?;
                written(&all, file)
            }
            Action::Import { file, output } => {
                let (all, into) = (Wisdom::load(file)?, tune::output(output.as_deref()));
                all.save(&into)?;
                written(&all, &into)
            }
        }
    }
}

fn written(all: &Wisdom, into: &std::path::Path) -> Result<(), CliError> {
    report::line(&format!("{} written to {}", all.entries().count(), into.display()))
}

fn list(all: &Wisdom) -> Result<(), CliError> {
    let mut device = "";
    for entry in all.entries() {
        if entry.device != device {
            device = &entry.device;
            report::line(device)?;
        }
        let copies = entry.copies.map_or_else(|| "      -".into(), |copies| format!("{copies:>7.3}"));
        let plans = match entry.recipe() {
            Ok(recipe) => recipe.plans.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
            Err(error) => error.to_string(),
        };
        let (problem, version, date) = (&entry.problem, &entry.version, &entry.date);
        report::line(&format!("  {problem:<38} {copies} copies  {version} {date}  {plans}"))?;
    }
    if device.is_empty() { report::line("no entries") } else { Ok(()) }
}

fn as_json(all: &Wisdom) -> Value {
    Value::Array(all.entries().map(|entry| json!(entry)).collect())
}
