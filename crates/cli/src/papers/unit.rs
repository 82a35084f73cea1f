//! What is drawn of a time.

use super::paper::{Experiment, Place};

/// A quantity that follows from a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Billions of operations a second, 5 N log2 N for a transform of N complex points, half of it for reals; for
    /// there and back twice that.
    Gflops,
    /// Seconds of the whole batch.
    Seconds,
    /// Microseconds of one transform of the batch.
    MicrosecondsEach,
    /// Bytes of input and output a second, in billions: what a single read and write come to.
    GigabytesPerSecond,
    /// How many times as fast as FFTW, or as the processor's own plan where that is absent.
    SpeedUp,
}

impl Unit {
    /// As it is written in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gflops => "GFLOPS",
            Self::Seconds => "s",
            Self::MicrosecondsEach => "us",
            Self::GigabytesPerSecond => "GB/s",
            Self::SpeedUp => "x",
        }
    }

    /// What stands at the axis, `over` being whom speed-ups are over.
    pub fn title(self, over: &str) -> String {
        match self {
            Self::Gflops => "GFLOPS".into(),
            Self::Seconds => "seconds".into(),
            Self::MicrosecondsEach => "microseconds a transform".into(),
            Self::GigabytesPerSecond => "GB/s of one read and one write".into(),
            Self::SpeedUp => format!("speed-up over {over}"),
        }
    }

    /// Its value for a time, and for the time that speed-ups are over; `None` where that is not known.
    pub fn value(
        self,
        experiment: &Experiment,
        place: Place,
        seconds: f64,
        over: Option<f64>,
    ) -> Option<f64> {
        let ways = experiment.directions().len() as f64;
        let batch = place.batch as f64;
        Some(match self {
            Self::Gflops => {
                let points = experiment.points(place.length) as f64;
                ways * batch * experiment.kind.operations(points) / seconds / 1e9
            }
            Self::Seconds => seconds,
            Self::MicrosecondsEach => seconds / batch * 1e6,
            Self::GigabytesPerSecond => ways * moved_bytes(experiment, place)? / seconds / 1e9,
            Self::SpeedUp => over? / seconds,
        })
    }
}

/// Bytes that one transform of the batch reads and writes at least.
fn moved_bytes(experiment: &Experiment, place: Place) -> Option<f64> {
    let problem = experiment.problem(place, experiment.precision, false).ok()?;
    Some(problem.input_bytes() as f64 + problem.output_bytes() as f64)
}

#[cfg(test)]
mod tests {
    use super::super::{romero, scarpaci};
    use super::*;

    fn close(got: Option<f64>, want: f64) {
        let got = got.expect("it has a value");
        assert!((got / want - 1.0).abs() < 1e-12, "{got} for {want}");
    }

    #[test]
    fn there_and_back_count_twice() {
        let [one, eight] =
            [romero::PAPER.experiments[0].places()[2], romero::PAPER.experiments[1].places()[2]];
        assert_eq!((one.length, one.batch, eight.batch), (1024, 1, 8));
        let experiment = &romero::PAPER.experiments[0];
        // 2 x 5 N log2 N = 2 x 5 x 1024 x 10.
        close(Unit::Gflops.value(experiment, one, 1e-6, None), 102.4);
        close(Unit::Gflops.value(experiment, eight, 1e-6, None), 819.2);
    }

    #[test]
    fn one_way_counts_once() {
        let experiment = &scarpaci::PAPER.experiments[0];
        let place = Place { length: 1024, batch: 1 };
        close(Unit::Gflops.value(experiment, place, 1e-6, None), 51.2);
        close(Unit::GigabytesPerSecond.value(experiment, place, 1e-6, None), 16.384);
        close(Unit::Seconds.value(experiment, place, 0.25, None), 0.25);
        close(Unit::MicrosecondsEach.value(experiment, Place { batch: 4, ..place }, 1e-6, None), 0.25);
        close(Unit::SpeedUp.value(experiment, place, 0.5, Some(2.0)), 4.0);
        assert_eq!(Unit::SpeedUp.value(experiment, place, 0.5, None), None);
    }
}
