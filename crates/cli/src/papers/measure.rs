//! One point of an experiment: everybody's time there. Algorithms on the device run in turns on the same data.

use std::panic::resume_unwind;
use std::thread;
use std::time::Duration;

use warpfft::peers::{self, PeerReport};
use warpfft::{Device, DeviceKind, Error, Plan, Strategy, Timing};

use super::paper::{Doubles, Experiment, Place, Series, Transfers};
use super::results::{Gap, Results, Sample};
use super::scale::Scale;
use super::{PROCESSOR, host};
use crate::check;
use crate::error::CliError;
use crate::packed::Kind;

/// Points that an error is checked on at most: the reference takes microseconds for each.
const CHECKED: u64 = 1 << 14;

/// Points of a call at most, for programs that one thread runs: beyond, a few runs take seconds.
const ONE_THREAD: u64 = 1 << 18;

/// Where experiments run.
pub struct Bench {
    /// The device that was asked for.
    pub device: Device,
    /// How much is run.
    pub scale: Scale,
    processor: Device,
    /// Whether another library is there for the device.
    peers: bool,
}

/// Somebody who can be timed.
struct Ready {
    series: Series,
    /// A plan for each direction.
    plans: Vec<Plan>,
    /// The error of its result, where it was checked.
    error: Option<f64>,
}

/// A time, and the times of other libraries beside it.
type Beside = (f64, Vec<(&'static str, Result<f64, Error>)>);

impl Bench {
    /// Experiments on a device.
    pub fn new(device: Device, scale: Scale) -> Self {
        let peers = peers::available(device.kind()).iter().any(|(_, version)| version.is_ok());
        Self { device, scale, processor: Device::cpu(), peers }
    }

    /// Times everybody at a place. What cannot be is a gap; an error is the device's end.
    pub fn place(&self, place: Place, budget: Duration, results: &mut Results) -> Result<(), Error> {
        let experiment = results.experiment;
        let takes_part = |series: &&Series| series.takes_part(self.device.kind());
        let all: Vec<Series> = experiment.series.iter().filter(takes_part).copied().collect();
        let (on_device, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|series| series.on_device());
        self.on_device(&on_device, place, budget, results)?;
        for series in others {
            let taken = match series {
                Series::Host(doubles, transfers) => {
                    self.on_host((doubles, transfers), place, budget, results)
                }
                _ => self.on_processor(series, place, budget, results),
            };
            taken.or_else(|error| gap(results, series, place, &error))?;
        }
        Ok(())
    }

    /// The device's own plan and the algorithms that cover the place.
    fn on_device(
        &self,
        all: &[Series],
        place: Place,
        budget: Duration,
        results: &mut Results,
    ) -> Result<(), Error> {
        let mut ready = Vec::new();
        for (&series, plans) in all.iter().zip(self.plans_of_all(all, results.experiment, place)) {
            match plans.and_then(|plans| self.checked(series, plans, place, results)) {
                Ok((plans, error)) => ready.push(Ready { series, plans, error }),
                Err(error) => gap(results, series, place, &error)?,
            }
        }
        let planner = ready.iter().find(|ready| ready.series == Series::Planner);
        let beside = planner.filter(|_| self.peers && results.experiment.kind == Kind::C2c);
        // Where nobody else runs, the time beside other libraries is all that is needed.
        if self.device.limits().is_none() || (beside.is_some() && ready.len() == 1) {
            return planner.map_or(Ok(()), |planner| self.with_others(planner, true, place, budget, results));
        }
        match raced(&ready, budget) {
            Ok(times) => {
                for (ready, seconds) in ready.iter().zip(times) {
                    self.push(results, ready.series.name(), place, seconds, ready.error, &self.device);
                }
            }
            Err(error) => {
                let error = error.into();
                ready.iter().try_for_each(|ready| gap(results, ready.series, place, &error))?;
            }
        }
        beside.map_or(Ok(()), |planner| self.with_others(planner, false, place, budget, results))
    }

    /// Other libraries beside the planner's plan, whose own time counts too where it has none yet.
    fn with_others(
        &self,
        planner: &Ready,
        own: bool,
        place: Place,
        budget: Duration,
        results: &mut Results,
    ) -> Result<(), Error> {
        match self.beside(&planner.plans, budget) {
            Ok((seconds, others)) => {
                if own {
                    self.push(results, planner.series.name(), place, seconds, planner.error, &self.device);
                }
                self.push_peers(results, place, others, &self.device);
                Ok(())
            }
            Err(error) if own => gap(results, planner.series, place, &error.into()),
            Err(error @ Error::DeviceLost { .. }) => Err(error),
            Err(error) => {
                let reason = error.to_string();
                results.gaps.push(Gap { series: Some("other libraries".into()), place, reason });
                Ok(())
            }
        }
    }

    /// The plans of each: drivers take longest over them, and do several at a time.
    fn plans_of_all(
        &self,
        all: &[Series],
        experiment: &Experiment,
        place: Place,
    ) -> Vec<Result<Vec<Plan>, CliError>> {
        thread::scope(|scope| {
            let begin = |&series| scope.spawn(move || self.plans(series, experiment, place));
            let begun: Vec<_> = all.iter().map(begin).collect();
            begun.into_iter().map(|own| own.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
        })
    }

    /// A plan for each direction.
    fn plans(&self, series: Series, experiment: &Experiment, place: Place) -> Result<Vec<Plan>, CliError> {
        let plan = |&inverse: &bool| {
            let problem = experiment.problem(place, experiment.precision, inverse)?;
            Ok(match series {
                Series::Strategy(name) => self.device.plan_by(&problem, Strategy::named(name)?)?,
                Series::ProcessorStrategy(name) => {
                    self.processor.plan_by(&problem, Strategy::named(name)?)?
                }
                Series::Processor => self.processor.plan(&problem)?,
                Series::Planner | Series::Host(..) => self.device.plan(&problem)?,
            })
        };
        experiment.directions().iter().map(plan).collect()
    }

    /// Plans, and the error of the first series' small results: what is wrong is not timed.
    fn checked(
        &self,
        series: Series,
        plans: Vec<Plan>,
        place: Place,
        results: &Results,
    ) -> Result<(Vec<Plan>, Option<f64>), CliError> {
        let experiment = results.experiment;
        let points = experiment.points(place.length);
        let known = |sample: &Sample| sample.series == series.name() && sample.error.is_some();
        if points > CHECKED || results.samples.iter().any(known) {
            return Ok((plans, None));
        }
        let few = Place { batch: place.batch.min(CHECKED / points).max(1), ..place };
        let fewer = if few == place { Vec::new() } else { self.plans(series, experiment, few)? };
        let Some(plan) = fewer.first().or(plans.first()) else { return Ok((plans, None)) };
        let error = check::error(plan)?;
        let bound = plan.error_bound();
        match error {
            Some(error) if error > bound => {
                Err(CliError::WrongResult { series: series.name(), error, bound })
            }
            _ => Ok((plans, error)),
        }
    }

    /// The processor's own plan with FFTW beside, or one of its algorithms.
    fn on_processor(
        &self,
        series: Series,
        place: Place,
        budget: Duration,
        results: &mut Results,
    ) -> Result<(), CliError> {
        let points = results.experiment.points(place.length).saturating_mul(place.batch);
        if matches!(series, Series::ProcessorStrategy(_)) && points > ONE_THREAD {
            return Err(CliError::TooSlow { series: series.name(), points, most: ONE_THREAD });
        }
        let plans = self.plans(series, results.experiment, place)?;
        let (plans, error) = self.checked(series, plans, place, results)?;
        if series == Series::Processor {
            let (seconds, others) = self.beside(&plans, budget)?;
            self.push(results, PROCESSOR.into(), place, seconds, error, &self.processor);
            self.push_peers(results, place, others, &self.processor);
            return Ok(());
        }
        let seconds: Result<f64, Error> =
            plans.iter().map(|plan| Ok(plan.measure(self.timing(budget))?.transform_seconds)).sum();
        self.push(results, series.name(), place, seconds?, error, &self.processor);
        Ok(())
    }

    fn on_host(
        &self,
        how: (Doubles, Transfers),
        place: Place,
        budget: Duration,
        results: &mut Results,
    ) -> Result<(), CliError> {
        let seconds = host::seconds(&self.device, results.experiment, place, how, budget)?;
        self.push(results, Series::Host(how.0, how.1).name(), place, seconds, None, &self.device);
        Ok(())
    }

    /// The sum of the plans' times, and of the other libraries' beside them.
    fn beside(&self, plans: &[Plan], budget: Duration) -> Result<Beside, Error> {
        let mut seconds = 0.0;
        let mut others: Vec<(&'static str, Result<f64, Error>)> = Vec::new();
        for plan in plans {
            let (measured, reports) = plan.measure_beside_peers(self.timing(budget))?;
            seconds += measured.transform_seconds;
            for report in &reports {
                let time = time(report);
                match others.iter_mut().find(|(library, _)| *library == report.library) {
                    Some((_, sum)) => *sum = sum.clone().and_then(|sum| Ok(sum + time?)),
                    None => others.push((report.library, time)),
                }
            }
        }
        Ok((seconds, others))
    }

    /// At the small scale data may stay in the cache: then little of it has to be made.
    fn timing(&self, budget: Duration) -> Timing {
        Timing { budget, in_cache: self.scale == Scale::Small }
    }

    fn push(
        &self,
        results: &mut Results,
        series: String,
        place: Place,
        seconds: f64,
        error: Option<f64>,
        device: &Device,
    ) {
        results.samples.push(Sample { series, place, seconds, error, device: device.name().to_owned() });
    }

    fn push_peers(
        &self,
        results: &mut Results,
        place: Place,
        others: Vec<(&'static str, Result<f64, Error>)>,
        device: &Device,
    ) {
        for (library, time) in others {
            match time {
                Ok(seconds) => self.push(results, library.into(), place, seconds, None, device),
                // Said once, at the top of the page.
                Err(Error::PeerAbsent { .. }) => (),
                Err(error) => {
                    results.gaps.push(Gap { series: Some(library.into()), place, reason: error.to_string() });
                }
            }
        }
    }
}

/// The fastest setting's time.
fn time(report: &PeerReport) -> Result<f64, Error> {
    match (&report.times, report.best()) {
        (_, Some(best)) => Ok(best.seconds),
        (Err(error), _) => Err(error.clone()),
        (Ok(_), None) => Err(Error::Program { detail: format!("{} was not timed", report.library) }),
    }
}

/// Everybody's time, both ways where there are two, in turns on the same data.
fn raced(all: &[Ready], budget: Duration) -> Result<Vec<f64>, Error> {
    let ways = all.first().map_or(0, |ready| ready.plans.len());
    let mut sums = vec![0.0; all.len()];
    for way in 0..ways {
        let plans: Vec<&Plan> = all.iter().map(|ready| &ready.plans[way]).collect();
        let times = Plan::race(&plans, budget)?;
        sums.iter_mut().zip(times).for_each(|(sum, time)| *sum += time);
    }
    Ok(sums)
}

/// Notes why somebody has no time; a lost device ends all.
fn gap(results: &mut Results, series: Series, place: Place, error: &CliError) -> Result<(), Error> {
    if let CliError::Device(lost @ Error::DeviceLost { .. }) = error {
        return Err(lost.clone());
    }
    results.gaps.push(Gap { series: Some(series.name()), place, reason: error.to_string() });
    Ok(())
}

/// The libraries of a device and of the processor, in words.
pub fn libraries(device: DeviceKind) -> Vec<String> {
    let mut kinds = vec![device, DeviceKind::Cpu];
    kinds.dedup();
    let text = |(library, version): (&str, Result<String, Error>)| match version {
        Ok(version) => format!("{library} {version} is measured beside."),
        Err(error) => format!("{error}."),
    };
    kinds.into_iter().flat_map(peers::available).map(text).collect()
}
