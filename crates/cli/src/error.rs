//! Everything that can go wrong on the command line, each with its exit code and one line that names the cause
//! and what would work.

pub mod code;

use std::io;
use std::path::PathBuf;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// An axis that the input does not have.
    #[error("axis {axis} is out of range: the input has shape {shape:?}, so axes {} are possible", possible_axes(.shape.len()))]
    AxisOutOfRange {
        /// As given.
        axis: i64,
        /// The input's shape.
        shape: Vec<usize>,
    },

    /// An axis given twice, perhaps once from the end.
    #[error("axis {axis} is given twice; name each axis once")]
    AxisRepeated {
        /// As given.
        axis: i64,
    },

    /// Complex numbers where the kind takes reals.
    #[error("{kind} takes real numbers, but {} holds complex ones; --kind c2c, c2r and hfft take those", .path.display())]
    ComplexInput {
        /// The input.
        path: PathBuf,
        /// What was asked for.
        kind: String,
    },

    /// Pairs where there are none.
    #[error(
        "{} of shape {shape:?} holds no pairs: --pairs takes reals in C order whose last axis has length 2, behind at least \
         one other", .path.display()
    )]
    NoPairs {
        /// The input.
        path: PathBuf,
        /// Its shape.
        shape: Vec<usize>,
    },

    /// Lengths for other axes than are transformed.
    #[error("--n gives {got} lengths, but {expected} axes are transformed; give one for each")]
    LengthCount {
        /// Transformed axes.
        expected: usize,
        /// Lengths given.
        got: usize,
    },

    /// A band along several axes, or none.
    #[error("--zoom goes along one axis, not {axes}; name one with --axes, and zoom along the next after it")]
    ZoomAxes {
        /// Axes asked for.
        axes: usize,
    },

    /// A kind whose inverse goes by another name.
    #[error("--inverse does not go with --kind {kind}; its inverse is --kind {instead}")]
    NoInverse {
        /// What was asked for.
        kind: String,
        /// Its inverse.
        instead: &'static str,
    },

    /// No negative frequencies to bring before the others.
    #[error("--shift does not go with --kind {kind}, which has {what}; leave it out, or use --kind c2c")]
    NoShift {
        /// What was asked for.
        kind: String,
        /// What its result is.
        what: &'static str,
    },

    /// Half spectra without an axis.
    #[error("{kind} needs at least one axis to transform, whose spectrum is halved")]
    NothingToHalve {
        /// What was asked for.
        kind: String,
    },

    /// Half of a spectrum that is too short to tell how many reals it stands for.
    #[error(
        "{kind} of 1 point along axis {axis} would be of 2 (1 - 1) = 0 reals; say with --n how many, 1 or more"
    )]
    NoReals {
        /// What was asked for.
        kind: String,
        /// The halved axis.
        axis: usize,
    },

    /// More transformed axes than a picture has.
    #[error(
        "--plot draws one or two transformed axes, but {transformed} are transformed; choose with --axes, or leave --plot out"
    )]
    PlotRank {
        /// How many are transformed.
        transformed: usize,
    },

    /// Too many spectra for one drawing.
    #[error(
        "--plot would have to draw {count} {what} into one picture, but {most} are readable; transform one of them, or leave --plot out"
    )]
    PlotCount {
        /// How many there are.
        count: usize,
        /// Lines or pictures.
        what: &'static str,
        /// How many can be drawn.
        most: usize,
    },

    /// No set of limits has that name.
    #[error("there are no limits named '{name}'; there are {}", .known.join(", "))]
    UnknownLimits {
        /// As given.
        name: String,
        /// Names that exist.
        known: Vec<String>,
    },

    /// A device for which no limits are known.
    #[error("{device} has no kernels to explain; use --limits h200, or another named set")]
    NothingToExplain {
        /// Its name.
        device: String,
    },

    /// The same file is to be written twice.
    #[error("{} is both the output and the plot; give them different names", .path.display())]
    SameOutput {
        /// That file.
        path: PathBuf,
    },

    /// Arrays of different ranks.
    #[error(
        "cannot convolve {image:?} with {kernel:?}: both must have the same number of dimensions; reshape one of them{}",
        if .image.len().abs_diff(.kernel.len()) == 1 { ", or pick a channel" } else { "" }
    )]
    Ranks {
        /// Shape of the first.
        image: Vec<usize>,
        /// Shape of the second.
        kernel: Vec<usize>,
    },

    /// Arrays of which neither lies within the other.
    #[error(
        "--mode valid needs one array at least as large as the other in every dimension, but these have {image:?} and \
         {kernel:?}; --mode full and same take any"
    )]
    NotWithin {
        /// Shape of the first.
        image: Vec<usize>,
        /// Shape of the second.
        kernel: Vec<usize>,
    },

    /// The input cannot be opened or read.
    #[error("cannot read {}: {source}", .path.display())]
    Read {
        /// The input.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },

    /// The input ends before its own header says.
    #[error("{} is truncated: its header promises {expected} bytes of data, but only {got} follow; write the file anew", .path.display())]
    Truncated {
        /// The input.
        path: PathBuf,
        /// By its header.
        expected: u64,
        /// Those that are there.
        got: u64,
    },

    /// The input's kind is none that is known.
    #[error("{} is {what}; what works is .npy, .wav, .png, .tiff and .jpeg", .path.display())]
    UnknownFormat {
        /// The input.
        path: PathBuf,
        /// What it looks like.
        what: &'static str,
    },

    /// The input's kind is known, but its contents are damaged.
    #[error("{} is not a valid {kind} file: {detail}", .path.display())]
    Malformed {
        /// The input.
        path: PathBuf,
        /// What it claims to be.
        kind: &'static str,
        /// What is wrong.
        detail: String,
    },

    /// The array holds something else than numbers that can be transformed.
    #[error(
        "{} holds {what} (dtype {descr}), which cannot be transformed; convert it to a boolean, integer, float16/32/64 or complex64/128 array",
        .path.display()
    )]
    Dtype {
        /// The input.
        path: PathBuf,
        /// In words.
        what: &'static str,
        /// As the header says it.
        descr: String,
    },

    /// Nothing to transform.
    #[error("{} is empty: its shape is {shape:?}; every axis must have at least one point", .path.display())]
    Empty {
        /// The input.
        path: PathBuf,
        /// Its shape.
        shape: Vec<u64>,
    },

    /// The data does not fit in memory.
    #[error("out of memory: {what} takes {bytes} bytes; use a smaller input, or --precision f32")]
    HostMemory {
        /// What it is for.
        what: &'static str,
        /// How much was asked for.
        bytes: u128,
    },

    /// The compiler or a device refused.
    #[error("{0}")]
    Device(#[from] warpfft::Error),

    /// The compiler refused the problem.
    #[error("{0}")]
    Core(#[from] warpfft::core::Error),

    /// The output cannot be written.
    #[error("cannot write {}: {source}{}", .path.display(), kept(*.existed))]
    Write {
        /// The output.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
        /// Whether there was a file before.
        existed: bool,
    },

    /// The output is a folder.
    #[error("cannot write {}: it is a folder; name a file in it", .path.display())]
    OutputIsFolder {
        /// The output.
        path: PathBuf,
    },

    /// The output's name has another ending than the one format there is.
    #[error("cannot write {} as {wanted}: results are written as {wanted} only, so give a name that ends in {wanted}", .path.display())]
    OutputEnding {
        /// The output.
        path: PathBuf,
        /// The ending that works.
        wanted: &'static str,
    },

    /// The drawing failed.
    #[error("cannot draw the plot: {detail}")]
    Draw {
        /// What failed.
        detail: String,
    },

    /// A suite that is neither built in nor a file.
    #[error("cannot read the suite {name}: {source}; those built in are named h200, h200-real and h200-half")]
    Suite {
        /// As given.
        name: String,
        /// What the system said.
        source: io::Error,
    },

    /// A pattern that chooses nothing.
    #[error(
        "no row of the suite {suite} matches '{pattern}'; a pattern is words, each a kind, precision, shape, batch:COUNT or group, with * for anything"
    )]
    NoSuchRow {
        /// As given.
        pattern: String,
        /// The suite.
        suite: String,
    },

    /// Results are there already.
    #[error("{} is there already; --resume goes on with it, or give another name", .path.display())]
    ResultsExist {
        /// The file of results.
        path: PathBuf,
    },

    /// Results to go on with are of another device.
    #[error("{} has results of {there}, and this is {here}; give another name", .path.display())]
    OtherDevice {
        /// The file of results.
        path: PathBuf,
        /// Their device.
        there: String,
        /// This one.
        here: String,
    },

    /// Stopped before the last row.
    #[error("stopped with {left} rows left{}", if *.kept { "; the results so far are kept, and --resume goes on" } else { "" })]
    Interrupted {
        /// Rows that were not measured.
        left: usize,
        /// Whether results are in a file.
        kept: bool,
    },

    /// A report stopped before its last point.
    #[error("interrupted with {left} points left; the pages have those that were measured")]
    Stopped {
        /// Points that were not measured.
        left: usize,
    },

    /// An algorithm computed something else than the transform: an error of this program.
    #[error("{series} is wrong by {error:.1e}, and its errors should stay within {bound:.1e}")]
    WrongResult {
        /// Which.
        series: String,
        /// Its relative error.
        error: f64,
        /// What that may be.
        bound: f64,
    },

    /// A program of one thread that would take most of the time.
    #[error("{series} is one thread's work, and {points} points take it seconds; up to {most} are measured")]
    TooSlow {
        /// Which.
        series: String,
        /// Points of a call.
        points: u64,
        /// How many are measured.
        most: u64,
    },

    /// A file of results without any.
    #[error("{} has no measured rows; make it with warpfft bench --suite h200 --csv FILE", .path.display())]
    NothingMeasured {
        /// The file of results.
        path: PathBuf,
    },

    /// Two files of results without a common row.
    #[error("{} and {} have no measured row in common", .old.display(), .new.display())]
    NothingToCompare {
        /// The record.
        old: PathBuf,
        /// What is compared with it.
        new: PathBuf,
    },

    /// Something got slower than it was.
    #[error("{count} rows are slower by more than {percent}%, or fail now")]
    Slower {
        /// How many.
        count: usize,
        /// Tolerance.
        percent: f64,
    },

    /// The standard output is closed or full.
    #[error("cannot write to the standard output: {0}")]
    Stdout(io::Error),
}

fn possible_axes(rank: usize) -> String {
    match rank {
        0 => "none (it is a single number)".into(),
        _ => format!("-{rank} to {}", rank - 1),
    }
}

fn kept(existed: bool) -> &'static str {
    if existed { "; the file that was there is unchanged" } else { "; nothing was left behind" }
}
