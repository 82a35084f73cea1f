//! What a paper's experiments are, as data: one runner does them all, and one page shows them.

use warpfft::DeviceKind;
use warpfft::core::problem::{Precision, Problem};

use super::unit::Unit;
use crate::error::CliError;
use crate::options::Shape;
use crate::packed::{Kind, Packed};

/// All papers, in the order of their reports.
pub const ALL: [&Paper; 5] = [
    &super::romero::PAPER,
    &super::mitra::PAPER,
    &super::keskin::PAPER,
    &super::scarpaci::PAPER,
    &super::lloyd::PAPER,
];

/// A paper and what is measured again of it.
#[derive(Debug)]
pub struct Paper {
    /// Its name on the command line, and of its files.
    pub name: &'static str,
    /// Title.
    pub title: &'static str,
    /// Authors.
    pub authors: &'static str,
    /// Where and when it was published.
    pub published: &'static str,
    /// What it is about, in a sentence.
    pub about: &'static str,
    /// Which of its figures are without published numbers here.
    pub unpublished: &'static str,
    /// How much longer its points take than those of others: long signals need long tables, and some run on the processor.
    pub weight: f64,
    /// What is measured.
    pub experiments: &'static [Experiment],
}

/// One experiment: the same transforms by several algorithms, over one quantity.
#[derive(Debug)]
pub struct Experiment {
    /// Its name in the file of numbers and in that of published numbers.
    pub name: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// What it does, and which figure of the paper it follows.
    pub about: &'static str,
    /// What is transformed into what.
    pub kind: Kind,
    /// Width of the numbers, but for those that lie in the computer's memory.
    pub precision: Precision,
    /// Whether the time is that of the forward and the inverse transform together.
    pub back: bool,
    /// Dimensions, all of one length.
    pub rank: usize,
    /// Their lengths.
    pub lengths: &'static [u64],
    /// How many transforms at once.
    pub batch: Batch,
    /// What it is drawn over.
    pub over: Over,
    /// What is drawn of its times, one figure each.
    pub units: &'static [Unit],
    /// Who takes part.
    pub series: &'static [Series],
}

/// Transforms at once.
#[derive(Debug, Clone, Copy)]
pub enum Batch {
    /// So many, one point for each.
    Each(&'static [u64]),
    /// As many as come to so many points.
    Filling(u64),
}

/// What an experiment is drawn over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// The length of each dimension.
    Length,
    /// The transforms at once.
    Batch,
}

/// Who takes part in an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Series {
    /// The device's own plan; other libraries that are there for the device come beside it.
    Planner,
    /// A published algorithm, on the device.
    Strategy(&'static str),
    /// The processor's own plan, with FFTW beside it where that is installed.
    Processor,
    /// A published algorithm of the processor.
    ProcessorStrategy(&'static str),
    /// The device's own plan on doubles in the computer's memory: what is timed goes there and back.
    Host(Doubles, Transfers),
}

/// What becomes of doubles in the computer's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubles {
    /// They are transformed as they are.
    Native,
    /// They are made singles, and the results doubles again, by the processor.
    AsSingles,
}

/// How data goes to the device and back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transfers {
    /// All of it there, then the transforms, then all of it back.
    Synchronous,
    /// In parts, some of which move while others are transformed, from memory that the device reaches by itself.
    Streamed,
}

impl Series {
    /// Its name in tables and drawings.
    pub fn name(self) -> String {
        match self {
            Self::Planner => "the planner's".into(),
            Self::Strategy(name) | Self::ProcessorStrategy(name) => name.into(),
            Self::Processor => super::PROCESSOR.into(),
            Self::Host(doubles, transfers) => {
                let doubles = match doubles {
                    Doubles::Native => "doubles",
                    Doubles::AsSingles => "doubles as singles",
                };
                let transfers = match transfers {
                    Transfers::Synchronous => "synchronous",
                    Transfers::Streamed => "streamed",
                };
                format!("{doubles}, {transfers}")
            }
        }
    }

    /// Whether it runs on the device from memory of the device's, and so beside others on the same data.
    pub fn on_device(self) -> bool {
        matches!(self, Self::Planner | Self::Strategy(_))
    }

    /// Whether there is anything to run: where the device is the processor, its own plan is the planner's.
    pub fn takes_part(self, device: DeviceKind) -> bool {
        self != Self::Processor || device != DeviceKind::Cpu
    }
}

/// One point of an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The length of each dimension.
    pub length: u64,
    /// Transforms at once.
    pub batch: u64,
}

impl Experiment {
    /// All of its points, in order of what it is drawn over.
    pub fn places(&self) -> Vec<Place> {
        let at = |&length: &u64| -> Vec<Place> {
            match self.batch {
                Batch::Each(batches) => batches.iter().map(|&batch| Place { length, batch }).collect(),
                Batch::Filling(points) => {
                    let batch = (points / self.points(length)).max(1);
                    vec![Place { length, batch }]
                }
            }
        };
        self.lengths.iter().flat_map(at).collect()
    }

    /// Points of one transform.
    pub fn points(&self, length: u64) -> u64 {
        length.saturating_pow(self.rank as u32)
    }

    /// The lengths of one transform.
    pub fn shape(&self, place: Place) -> Shape {
        Shape(vec![place.length; self.rank])
    }

    /// Where a point lies along the axis.
    pub fn x(&self, place: Place) -> u64 {
        match self.over {
            Over::Length => place.length,
            Over::Batch => place.batch,
        }
    }

    /// What a point's place along the axis counts.
    pub fn x_name(&self) -> &'static str {
        match (self.over, self.rank) {
            (Over::Batch, _) => "transforms at once",
            (Over::Length, 1) => "points",
            (Over::Length, 2) => "n, of n x n points",
            (Over::Length, _) => "n, of n x n x n points",
        }
    }

    /// What is computed at a point, in one direction.
    pub fn problem(&self, place: Place, precision: Precision, inverse: bool) -> Result<Problem, CliError> {
        let shape = self.shape(place);
        let packed = Packed {
            kind: if inverse && self.kind == Kind::R2c { Kind::C2r } else { self.kind },
            shape: &shape,
            batch: place.batch,
            precision,
            storage: None,
            inverse: inverse && self.kind != Kind::R2c,
            in_place: false,
            max_workspace: None,
        };
        packed.problem()
    }

    /// The directions that its times are of.
    pub fn directions(&self) -> &'static [bool] {
        if self.back { &[false, true] } else { &[false] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_experiment_is_whole() {
        for paper in ALL {
            let mut names: Vec<_> = paper.experiments.iter().map(|experiment| experiment.name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), paper.experiments.len(), "{}: names are unique", paper.name);
            for experiment in paper.experiments {
                assert!(!experiment.units.is_empty() && !experiment.series.is_empty());
                let xs: Vec<u64> = experiment.places().into_iter().map(|place| experiment.x(place)).collect();
                assert!(xs.windows(2).all(|pair| pair[0] < pair[1]), "{}: {xs:?}", experiment.name);
                for place in experiment.places() {
                    assert!(experiment.problem(place, experiment.precision, experiment.back).is_ok());
                }
            }
        }
    }

    #[test]
    fn strategies_are_known_unless_they_are_of_the_processor() {
        for paper in ALL {
            let named = paper.experiments.iter().flat_map(|experiment| experiment.series);
            for series in named {
                if let Series::Strategy(name) = series {
                    assert!(warpfft::Strategy::named(name).is_ok(), "{name}");
                }
            }
        }
    }

    #[test]
    fn batches_fill_what_they_are_to_fill() {
        let small = &super::super::mitra::PAPER.experiments[0];
        for place in small.places() {
            let Batch::Filling(points) = small.batch else { panic!("{}", small.name) };
            let filled = place.batch * small.points(place.length);
            assert!(filled <= points && filled + small.points(place.length) > points);
        }
    }
}
