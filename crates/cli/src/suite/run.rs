//! Running a suite: row after row, each written before the next begins.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use warpfft::core::problem::Problem;
use warpfft::peers::{self, PeerReport};
use warpfft::{Device, DeviceKind, Error, Timing};

use super::case::{self, Case, Data};
use super::record::{Planned, Record, Status, Writer, rounded};
use crate::error::CliError;
use crate::io::Output;
use crate::{interrupt, plot, report};

/// What to run and where to put it.
pub struct Options<'a> {
    /// Name of a suite, or a file.
    pub suite: &'a str,
    /// Rows to run: any of these patterns; none: all.
    pub only: &'a [String],
    /// Time other libraries too.
    pub peers: bool,
    /// Where results go.
    pub csv: Option<&'a Path>,
    /// Where the drawing goes.
    pub plot: Option<&'a Path>,
    /// Go on with the results that are there.
    pub resume: bool,
    /// Seconds for each row.
    pub seconds: f64,
    /// Seconds for all rows.
    pub budget: Option<f64>,
    /// Where to run.
    pub device: Device,
}

/// The device that suites' earlier figures of other libraries are of: beside another one they would mean nothing.
const EARLIER: &str = "H200";

/// Seconds of measuring that a row gets at least, however little time there is.
const LEAST: f64 = 0.05;

/// Runs a suite.
pub fn run(options: &Options<'_>) -> Result<(), CliError> {
    let mut cases = case::chosen(options.suite, options.only)?;
    let device = &options.device;
    if !device.name().contains(EARLIER) {
        cases = cases.into_iter().map(Case::without_earlier).collect();
    }
    if device.kind() == DeviceKind::Sim {
        return Err(Error::Unsupported {
            device: device.name().to_owned(),
            what: "measure time".into(),
            would_work: "use a real device".into(),
        }
        .into());
    }
    let (mut writer, mut records) = match options.csv {
        Some(path) => Writer::open(path, options.resume).map(|(writer, records)| (Some(writer), records))?,
        None => (None, Vec::new()),
    };
    if let Some(other) = records.iter().find(|record| record.device != device.name()) {
        let path = options.csv.map_or_else(PathBuf::new, PathBuf::from);
        return Err(CliError::OtherDevice { path, there: other.device.clone(), here: device.name().into() });
    }
    // Before any row is measured: a drawing that cannot be written costs no time.
    let plot = options.plot.map(Output::create).transpose()?;
    let done = |case: &Case| {
        records.iter().any(|record| record.key() == case.key() && record.status != Status::Failed)
    };
    let rows: Vec<Case> = cases.into_iter().filter(|case| !done(case)).collect();
    greet(device, options.peers, rows.len(), records.len())?;
    // What a first plan costs is measured too.
    warpfft::use_disk_cache(false);
    interrupt::listen();
    let clock = Clock::new(options.budget, options.seconds);
    let mut left = rows.len();
    for case in &rows {
        let Some(seconds) = clock.share(left).filter(|_| !interrupt::asked()) else { break };
        let (record, lost) = measured(case, device, options.peers, seconds);
        if let Some(writer) = &mut writer {
            writer.append(&record)?;
        }
        report::line(&shown(&record))?;
        records.retain(|earlier| earlier.key() != record.key());
        records.push(record);
        if let Some(error) = lost {
            return Err(error.into());
        }
        left -= 1;
    }
    if let Some(plot) = plot {
        draw(plot, &records)?;
    }
    if left > 0 {
        return Err(CliError::Interrupted { left, kept: options.csv.is_some() });
    }
    Ok(())
}

/// Draws results into a file.
pub fn draw(mut output: Output, records: &[Record]) -> Result<(), CliError> {
    let png = plot::copies::draw(records)?;
    output.write(|file| file.write_all(&png))?;
    output.commit()
}

fn greet(device: &Device, with_peers: bool, rows: usize, there: usize) -> Result<(), CliError> {
    let before = if there > 0 { format!(", {there} are there already") } else { String::new() };
    let s = if rows == 1 { "" } else { "s" };
    report::line(&format!("{}: {rows} row{s}{before}", device.name()))?;
    if with_peers { name_peers(device) } else { Ok(()) }
}

/// Says which other libraries run beside a device, and which are absent.
pub fn name_peers(device: &Device) -> Result<(), CliError> {
    let available = peers::available(device.kind());
    if available.is_empty() {
        return report::line(&format!("no other library is known for device {}", device.kind()));
    }
    for (library, version) in available {
        report::line(&match version {
            Ok(version) => format!("{library} {version} beside"),
            Err(error) => format!("{error}; it is left out"),
        })?;
    }
    Ok(())
}

/// How time is spread over rows.
struct Clock {
    started: Instant,
    budget: Option<f64>,
    most: f64,
}

impl Clock {
    fn new(budget: Option<f64>, most: f64) -> Self {
        Self { started: Instant::now(), budget, most }
    }

    /// Seconds of measuring for the next row of so many; `None`: there is no time left.
    fn share(&self, rows: usize) -> Option<f64> {
        let Some(budget) = self.budget else { return Some(self.most) };
        let left = budget - self.started.elapsed().as_secs_f64();
        // About half a row's time goes into plans, memory and warming up.
        (left > 0.0).then(|| (left / rows.max(1) as f64 / 2.0).clamp(LEAST.min(self.most), self.most))
    }
}

/// Measures a row; with the error where the device is lost and nothing more can come.
fn measured(case: &Case, device: &Device, peers: bool, seconds: f64) -> (Record, Option<Error>) {
    let without = |status, note| Record::of(case, status, device.name(), note);
    let problem = match case.problem() {
        Ok(problem) => problem,
        Err(reason) => return (without(Status::Skipped, reason), None),
    };
    let mut record = without(Status::Measured, String::new());
    match fill(&mut record, &problem, device, peers, seconds) {
        Ok(()) => (record, None),
        Err(error) => {
            let failed = without(Status::Failed, error.to_string());
            (failed, matches!(error, Error::DeviceLost { .. }).then_some(error))
        }
    }
}

fn fill(
    record: &mut Record,
    problem: &Problem,
    device: &Device,
    peers: bool,
    seconds: f64,
) -> Result<(), Error> {
    let started = Instant::now();
    let plan = device.plan(problem)?;
    let plan_ms = started.elapsed().as_secs_f64() * 1e3;
    let budget = Duration::from_secs_f64(seconds);
    let timing = Timing { budget, in_cache: record.data == Data::Cache };
    let (measured, peers) =
        if peers { plan.measure_beside_peers(timing)? } else { (plan.measure(timing)?, Vec::new()) };
    record.copies = Some(rounded(measured.copies()));
    record.best_copies = Some(rounded(measured.transform_best / measured.copy_best));
    record.us = Some(rounded(measured.transform_seconds * 1e6));
    record.copy_us = Some(rounded(measured.copy_seconds * 1e6));
    record.launch_us = measured.launch_seconds.map(|seconds| rounded(seconds * 1e6));
    record.copy = measured.copy_name.to_owned();
    record.plan_ms = Some(rounded(plan_ms));
    record.workspace_bytes = Some(plan.workspace_bytes());
    let tuned = device.recipe(problem)?.is_some();
    record.planned = if tuned { Planned::Wisdom } else { Planned::Model };
    record.passes = plan.program().map(|program| program.launches.len() as u64);
    for peer in &peers {
        peer_columns(record, peer, measured.copy_seconds);
    }
    Ok(())
}

fn peer_columns(record: &mut Record, peer: &PeerReport, copy_seconds: f64) {
    let (Some(best), Ok(times)) = (peer.best(), &peer.times) else {
        // An absent library was named once at the start.
        if let Err(error) = &peer.times
            && !matches!(error, Error::PeerAbsent { .. })
        {
            record.note = error.to_string();
        }
        return;
    };
    let copies = Some(rounded(best.seconds / copy_seconds));
    let at = |setting: &str| {
        let found = times.iter().find(|time| time.setting == setting);
        found.map(|time| rounded(time.seconds * 1e6))
    };
    if peer.library == "cuFFT" {
        record.cufft_copies = copies;
        record.cufft_out_us = at("out of place");
        record.cufft_in_us = at("in place");
        record.cufft_patient_us = at("patient");
        record.cufft_plan_ms = Some(rounded(best.plan_seconds * 1e3));
        record.cufft_workspace_bytes = Some(best.workspace_bytes);
    } else {
        record.fftw_copies = copies;
        record.fftw_us = Some(rounded(best.seconds * 1e6));
    }
}

fn shown(record: &Record) -> String {
    let mut text = format!("{:<34}", record.key().to_string());
    match record.copies {
        Some(copies) => {
            text += &format!(" {copies:>7.3} copies {:>12.2} us", record.us.unwrap_or_default());
            text += &record.passes.map_or_else(String::new, |passes| {
                format!(" {passes} pass{}", if passes == 1 { "" } else { "es" })
            });
        }
        None => {
            let what = if record.status == Status::Skipped { "skipped" } else { "failed" };
            text += &format!(" {what}: {}", record.note);
        }
    }
    let peers = [
        ("cuFFT", record.cufft_copies),
        ("FFTW", record.fftw_copies),
        ("cuFFT before", record.cufft_before.filter(|_| record.cufft_copies.is_none())),
        ("VkFFT before", record.vkfft_before),
    ];
    if record.status == Status::Measured {
        for (name, copies) in peers {
            text += &copies.map_or_else(String::new, |copies| format!(", {name} {copies:.3}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_spread_over_the_rows_that_are_left() {
        let clock = Clock::new(Some(100.0), 10.0);
        let share = clock.share(10).unwrap();
        assert!((4.9..=5.0).contains(&share), "{share}");
        assert_eq!(clock.share(1), Some(10.0));
        assert!(Clock::new(Some(0.0), 10.0).share(5).is_none());
        assert_eq!(Clock::new(None, 0.25).share(1000), Some(0.25));
        assert_eq!(Clock::new(Some(1e-3), 10.0).share(1000), Some(LEAST));
    }
}
