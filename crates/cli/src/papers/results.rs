//! What came of a paper's experiments: times, gaps, and the values that follow from them.

use super::paper::{Experiment, Place};
use super::unit::Unit;

/// One time.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Whose it is.
    pub series: String,
    /// Where.
    pub place: Place,
    /// Seconds of all transforms of the place, both ways where the experiment goes there and back.
    pub seconds: f64,
    /// The error of what was computed, where it was checked.
    pub error: Option<f64>,
    /// On what it ran.
    pub device: String,
}

/// One time that there is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// Whose it would be; none: everybody's.
    pub series: Option<String>,
    /// Where.
    pub place: Place,
    /// Why.
    pub reason: String,
}

/// What came of one experiment.
#[derive(Debug, Clone)]
pub struct Results {
    /// The experiment.
    pub experiment: &'static Experiment,
    /// Times, in the order in which they were taken.
    pub samples: Vec<Sample>,
    /// Times that there are not.
    pub gaps: Vec<Gap>,
    /// What else the page says.
    pub notes: Vec<String>,
}

/// Those that speed-ups are over, the first that there is.
const REFERENCES: [&str; 3] = ["FFTW", super::PROCESSOR, "the planner's"];

impl Results {
    /// Nothing yet.
    pub fn new(experiment: &'static Experiment) -> Self {
        Self { experiment, samples: Vec::new(), gaps: Vec::new(), notes: Vec::new() }
    }

    /// Places with times, in order.
    pub fn places(&self) -> Vec<Place> {
        let mut places: Vec<Place> = self.samples.iter().map(|sample| sample.place).collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    /// Those who have times: in the experiment's order, others after them.
    pub fn names(&self) -> Vec<String> {
        let own = self.experiment.series.iter().map(|series| series.name());
        let others = self.samples.iter().map(|sample| sample.series.clone());
        let mut names: Vec<String> = Vec::new();
        for name in own.chain(others) {
            if !names.contains(&name) && self.samples.iter().any(|sample| sample.series == name) {
                names.push(name);
            }
        }
        names
    }

    /// Somebody's time at a place.
    pub fn sample(&self, series: &str, place: Place) -> Option<&Sample> {
        self.samples.iter().find(|sample| sample.place == place && sample.series == series)
    }

    /// Whom speed-ups are over.
    pub fn reference(&self) -> &'static str {
        let there = |name: &&str| self.samples.iter().any(|sample| sample.series == **name);
        REFERENCES.into_iter().find(there).unwrap_or(REFERENCES[1])
    }

    /// The value that is drawn of a time.
    pub fn value(&self, unit: Unit, sample: &Sample) -> Option<f64> {
        let over = self.sample(self.reference(), sample.place).map(|sample| sample.seconds);
        unit.value(self.experiment, sample.place, sample.seconds, over)
    }

    /// Gaps in words: for each series the places, with the first reason.
    pub fn missing(&self) -> Vec<String> {
        let mut groups: Vec<(&Option<String>, Vec<u64>, &str)> = Vec::new();
        for gap in &self.gaps {
            let x = self.experiment.x(gap.place);
            match groups.iter_mut().find(|(series, ..)| *series == &gap.series) {
                Some((_, xs, _)) => xs.push(x),
                None => groups.push((&gap.series, vec![x], &gap.reason)),
            }
        }
        let text = |(series, mut xs, reason): (&Option<String>, Vec<u64>, &str)| {
            xs.sort_unstable();
            xs.dedup();
            let places: Vec<String> = xs.iter().map(u64::to_string).collect();
            let who = series.as_deref().unwrap_or("all");
            format!("{who}: nothing at {} ({}): {reason}", places.join(", "), self.experiment.x_name())
        };
        groups.into_iter().map(text).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{romero, scarpaci};
    use super::*;

    fn sample(series: &str, length: u64, seconds: f64) -> Sample {
        let place = Place { length, batch: 1 };
        Sample { series: series.into(), place, seconds, error: None, device: "here".into() }
    }

    #[test]
    fn speed_ups_are_over_fftw_where_it_is() {
        let mut results = Results::new(&scarpaci::PAPER.experiments[0]);
        results.samples = vec![sample("fft1", 256, 1.0), sample(super::super::PROCESSOR, 256, 3.0)];
        assert_eq!(results.value(Unit::SpeedUp, &results.samples[0]), Some(3.0));
        results.samples.push(sample("FFTW", 256, 2.0));
        assert_eq!(results.reference(), "FFTW");
        assert_eq!(results.value(Unit::SpeedUp, &results.samples[0]), Some(2.0));
        results.samples.push(sample("fft1", 1024, 1.0));
        assert_eq!(results.value(Unit::SpeedUp, &results.samples[3]), None, "FFTW was not timed there");
    }

    #[test]
    fn names_and_places_are_in_order_and_gaps_in_words() {
        let mut results = Results::new(&romero::PAPER.experiments[0]);
        results.samples = vec![
            sample("cuFFT", 1024, 1.0),
            sample("locality", 256, 1.0),
            sample("the planner's", 1024, 1.0),
        ];
        assert_eq!(results.names(), ["the planner's", "locality", "cuFFT"]);
        assert_eq!(results.places().iter().map(|place| place.length).collect::<Vec<_>>(), [256, 1024]);
        let gap = |series: Option<&str>, length| Gap {
            series: series.map(Into::into),
            place: Place { length, batch: 1 },
            reason: format!("no {length}"),
        };
        results.gaps = vec![gap(Some("locality"), 1024), gap(Some("locality"), 512), gap(None, 2048)];
        assert_eq!(
            results.missing(),
            ["locality: nothing at 512, 1024 (points): no 1024", "all: nothing at 2048 (points): no 2048"]
        );
    }
}
