//! The command line of warpfft.

mod bench;
mod check;
mod convolve;
mod devices;
mod engine;
mod error;
mod explain;
mod fit;
mod interrupt;
mod io;
mod kind;
mod options;
mod packed;
mod papers;
mod plot;
mod progress;
mod report;
mod suite;
mod transform;
mod tune;
mod wisdom;
mod zoom;

use std::process::ExitCode;

use clap::{Args, CommandFactory, Parser, Subcommand};
use clap_complete::Shell;

use crate::error::CliError;

const MORE: &str = "\
Start here:
  warpfft devices                                            what this machine can run on
  warpfft transform sound.wav -o out.npy --plot sound.png    a recording's spectrum, drawn
  warpfft convolve sound.wav room.wav -o wet.npy             a recording in another room
  warpfft explain 512x512 --limits h200                      how a transform would run on a GPU
  warpfft bench 4096 --batch 1000                            its time, in copies of the same data
  warpfft papers -o report                                   published algorithms beside ours, as pages
  warpfft tune 4096 --batch 1000 --budget 30s                find a faster plan, and keep it

Exit codes:
  0  done
  1  bench --compare: something is slower than it was
  2  usage: the command line asks for what cannot be (unknown option, axis out of range)
  3  input: unreadable, damaged, empty, not numeric, or larger than memory
  4  device: absent, too small, out of memory, or failed
  5  output: not writable, disk full; what was there before is unchanged, but where only the report on it could not be
     printed
  130  interrupted, or out of time: what was measured is kept

Messages go to standard error; results, and JSON with --json, to standard output.";

/// Fourier transforms of any shape, on any GPU or on the processor.
#[derive(Debug, Parser)]
#[command(name = "warpfft", version, after_help = MORE, arg_required_else_help = true, max_term_width = 110)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Transform an array, a recording or a picture
    Transform(transform::Transform),
    /// Convolve or correlate two arrays, recordings or pictures
    Convolve(convolve::Convolve),
    /// List the devices of this machine, their limits, and why one is not usable
    Devices(devices::Devices),
    /// Show how a transform would run, as a database shows a query plan
    Explain(explain::Explain),
    /// Measure transforms in copies of the same data
    Bench(bench::Bench),
    /// Measure the papers' experiments again, and write pages with their figures
    Papers(papers::Papers),
    /// Find the fastest way to do a transform here, and keep it
    Tune(tune::Tune),
    /// List, export and import what tuning found
    Wisdom(wisdom::WisdomCommand),
    /// Print shell completions
    Completions(Completions),
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example: warpfft completions bash > ~/.local/share/bash-completion/completions/warpfft"
)]
struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    fn run(&self) -> Result<(), CliError> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "warpfft", &mut script);
        report::line(String::from_utf8_lossy(&script).trim_end())
    }
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Transform(command) => command.run(),
        Command::Convolve(command) => command.run(),
        Command::Devices(command) => command.run(),
        Command::Explain(command) => command.run(),
        Command::Bench(command) => command.run(),
        Command::Papers(command) => command.run(),
        Command::Tune(command) => command.run(),
        Command::Wisdom(command) => command.run(),
        Command::Completions(command) => command.run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("warpfft: error: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}
