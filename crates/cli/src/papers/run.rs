//! Running papers: point after point, coarse before fine, each paper written before the next begins.

use std::path::Path;
use std::time::{Duration, Instant};

use warpfft::{Device, DeviceKind, Error};

use super::files::Folder;
use super::measure::{self, Bench};
use super::page::Setting;
use super::paper::{Experiment, Paper, Place};
use super::published;
use super::results::{Gap, Results};
use super::scale::{Scale, coarse_to_fine};
use crate::error::CliError;
use crate::interrupt;
use crate::progress::Progress;
use crate::report;

/// What to run and where to put it.
pub struct Options<'a> {
    /// The papers.
    pub papers: Vec<&'static Paper>,
    /// Where pages go.
    pub folder: &'a Path,
    /// Seconds of measuring for each point at most.
    pub seconds: f64,
    /// Seconds for all.
    pub budget: f64,
    /// How much is run.
    pub scale: Scale,
    /// Where to run.
    pub device: Device,
}

/// Why a run ended before its last point.
enum End {
    /// The user asked for it.
    Asked,
    /// The device is gone.
    Lost(Error),
}

/// Runs papers.
pub fn run(options: Options<'_>) -> Result<(), CliError> {
    let Options { papers, folder, seconds, budget, scale, device } = options;
    if device.kind() == DeviceKind::Sim {
        return Err(Error::Unsupported {
            device: device.name().to_owned(),
            what: "measure time".into(),
            would_work: "use a real device, like --device opencl or --device cpu".into(),
        }
        .into());
    }
    let folder = Folder::open(folder)?;
    let setting = setting(&device, scale);
    report::line(&setting.device)?;
    interrupt::listen();
    let started = Instant::now();
    let bench = Bench::new(device, scale);
    let places = |paper: &&'static Paper| Work::of(paper, &bench).places.len();
    let mut left: usize = papers.iter().map(places).sum();
    let mut weight: f64 = papers.iter().map(|paper| paper.weight * places(paper) as f64).sum();
    for paper in papers {
        let mut work = Work::of(paper, &bench);
        let count = work.places.len();
        // A paper gets its share of the time that is left, so that none goes without.
        let rest = budget - started.elapsed().as_secs_f64();
        let own = paper.weight * count as f64;
        let share = rest * own / weight.max(own);
        let end = work.measure(&bench, &Clock { started: Instant::now(), budget: share, most: seconds })?;
        (left, weight) = (left - count, weight - own);
        folder.write(paper, &setting, &work.results, &published::of(paper.name)?)?;
        folder.index(&setting)?;
        match end {
            Some(End::Lost(error)) => return Err(error.into()),
            Some(End::Asked) => return Err(CliError::Stopped { left: left + work.left }),
            None => (),
        }
    }
    Ok(())
}

/// What every page says of the run.
fn setting(device: &Device, scale: Scale) -> Setting {
    let kind = device.kind();
    let mut notes = measure::libraries(kind);
    if scale == Scale::Small {
        notes.push(
            "A few small points of each experiment (--scale small), with data that may stay in the processor's cache: \
             that all runs can be seen here, not how fast it is."
                .into(),
        );
    }
    if !device.is_hardware() {
        notes.push("The device is this computer's processor behind a driver.".into());
    }
    Setting { device: format!("{} ({kind})", device.name()), notes }
}

/// Points of a call from which on it waits for all others: its tables and buffers take seconds to fill.
const LARGE: u64 = 1 << 23;

/// When a place is measured: those of large calls last, the smaller of these first.
fn rank_of(rank: f64, experiment: &Experiment, place: Place) -> f64 {
    let points = experiment.points(place.length).saturating_mul(place.batch);
    if points > LARGE { 1.0 + points as f64 } else { rank }
}

/// How time is spread over points.
struct Clock {
    started: Instant,
    budget: f64,
    most: f64,
}

impl Clock {
    /// Time to measure the next of so many points for; `None`: there is none left.
    fn share(&self, points: usize) -> Option<Duration> {
        let left = self.budget - self.started.elapsed().as_secs_f64();
        // About half of a point's time goes into plans, memory and warming up.
        let share = (left / points.max(1) as f64 / 2.0).min(self.most);
        (left > 0.0).then(|| Duration::from_secs_f64(share.max(0.0)))
    }
}

/// A paper under way.
struct Work {
    paper: &'static Paper,
    results: Vec<Results>,
    /// Experiments' indices and points, in the order of measuring.
    places: Vec<(usize, Place)>,
    /// Points that were not measured.
    left: usize,
}

impl Work {
    fn of(paper: &'static Paper, bench: &Bench) -> Self {
        let mut results: Vec<Results> = paper.experiments.iter().map(Results::new).collect();
        let mut places = Vec::new();
        for (index, own) in results.iter_mut().enumerate() {
            let (fit, beyond) = bench.scale.places(own.experiment, &bench.device);
            let reason = format!("more than the memory of {} holds", bench.device.name());
            own.gaps.extend(beyond.into_iter().map(|place| Gap {
                series: None,
                place,
                reason: reason.clone(),
            }));
            let count = fit.len();
            let ranked = coarse_to_fine(count).into_iter().enumerate();
            places.extend(ranked.map(|(rank, at)| {
                let place = fit[at];
                (rank_of(rank as f64 / count as f64, own.experiment, place), index, place)
            }));
        }
        places.sort_by(|a, b| a.0.total_cmp(&b.0));
        let places: Vec<_> = places.into_iter().map(|(_, index, place)| (index, place)).collect();
        Self { paper, results, left: places.len(), places }
    }

    /// Measures point after point while there is time.
    fn measure(&mut self, bench: &Bench, clock: &Clock) -> Result<Option<End>, CliError> {
        let mut end = None;
        for &(index, place) in &self.places {
            if interrupt::asked() {
                end = Some(End::Asked);
                break;
            }
            let Some(budget) = clock.share(self.left) else { break };
            let results = &mut self.results[index];
            let before = results.samples.len();
            let taken = {
                let _progress = Progress::start("measuring", None);
                bench.place(place, budget, results)
            };
            report::line(&shown(self.paper, results, before, place))?;
            if let Err(error) = taken {
                end = Some(End::Lost(error));
                break;
            }
            self.left -= 1;
        }
        let why = match &end {
            None => "the time for all (--budget) was over",
            Some(End::Asked) => "the run was interrupted",
            Some(End::Lost(_)) => "the device was lost",
        };
        for &(index, place) in &self.places[self.places.len() - self.left..] {
            let reason = why.to_owned();
            self.results[index].gaps.push(Gap { series: None, place, reason });
        }
        if self.left > 0 {
            let name = self.paper.name;
            report::line(&format!("{name}: {} points were not measured: {why}", self.left))?;
        }
        Ok(end)
    }
}

/// A point's new times in a line.
fn shown(paper: &Paper, results: &Results, from: usize, place: Place) -> String {
    let experiment = results.experiment;
    let shape = experiment.shape(place).to_string();
    let unit = experiment.units[0];
    let mut text =
        format!("{:<24} {shape:>11} x {:<8}", format!("{} {}", paper.name, experiment.name), place.batch);
    for sample in &results.samples[from..] {
        if let Some(value) = results.value(unit, sample) {
            text += &format!(" {} {}", sample.series, crate::plot::lines::short(value));
        }
    }
    format!("{text} {}", unit.name())
}

#[cfg(test)]
mod tests {
    use super::super::{paper, romero};
    use super::*;

    #[test]
    fn time_is_spread_over_the_points_that_are_left() {
        let clock = |budget, most| Clock { started: Instant::now(), budget, most };
        let share = clock(100.0, 10.0).share(10).unwrap().as_secs_f64();
        assert!((4.9..=5.0).contains(&share), "{share}");
        assert_eq!(clock(100.0, 0.5).share(10), Some(Duration::from_millis(500)));
        assert_eq!(clock(0.0, 0.5).share(10), None);
        assert_eq!(clock(-1.0, 0.5).share(0), None);
    }

    #[test]
    fn every_experiment_begins_before_one_is_finished() {
        let bench = Bench::new(Device::cpu(), Scale::Small);
        for paper in paper::ALL {
            let work = Work::of(paper, &bench);
            let mut first: Vec<usize> =
                work.places[..paper.experiments.len()].iter().map(|place| place.0).collect();
            first.sort_unstable();
            assert_eq!(first, (0..paper.experiments.len()).collect::<Vec<_>>(), "{}", paper.name);
        }
    }

    #[test]
    fn what_there_was_no_time_for_is_a_gap() {
        let bench = Bench::new(Device::cpu(), Scale::Small);
        let mut work = Work::of(&romero::PAPER, &bench);
        let clock = Clock { started: Instant::now(), budget: 0.0, most: 1.0 };
        assert!(work.measure(&bench, &clock).unwrap().is_none());
        assert_eq!(work.left, work.places.len());
        let missing = work.results[0].missing();
        assert!(
            missing.iter().any(|text| text.starts_with("all:") && text.contains("--budget")),
            "{missing:?}"
        );
    }
}
