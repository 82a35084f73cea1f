//! Numbers that the papers published, from a file: every one with where it was read, none estimated from a drawing.

use serde::Deserialize;

use super::unit::Unit;
use crate::error::CliError;

const FILE: &str = include_str!("published.csv");

/// A published number.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// The paper's name here.
    pub paper: String,
    /// The experiment that it belongs to; empty: to the paper as a whole.
    pub experiment: String,
    /// Whose it is, or what is claimed.
    pub series: String,
    /// Its place in the figure; none: it is a claim.
    pub x: Option<u64>,
    /// Transforms at once.
    pub batch: Option<u64>,
    /// The number.
    pub value: f64,
    /// What it counts.
    pub unit: String,
    /// What it was measured on.
    pub hardware: String,
    /// Where it was read.
    pub source: String,
}

impl Published {
    /// Whether it belongs into a drawing of an experiment.
    pub fn is_drawn(&self, experiment: &str, unit: Unit) -> bool {
        self.unit == unit.name() && (self.experiment == experiment || self.experiment.is_empty())
    }
}

/// The published numbers of a paper.
pub fn of(paper: &str) -> Result<Vec<Published>, CliError> {
    let mut all = parse(FILE)?;
    all.retain(|row| row.paper == paper);
    Ok(all)
}

fn parse(text: &str) -> Result<Vec<Published>, CliError> {
    let bad = |error: csv::Error| CliError::Malformed {
        path: "published.csv".into(),
        kind: "published numbers",
        detail: error.to_string(),
    };
    let mut reader =
        csv::ReaderBuilder::new().comment(Some(b'#')).trim(csv::Trim::All).from_reader(text.as_bytes());
    reader.deserialize().collect::<Result<_, _>>().map_err(bad)
}

#[cfg(test)]
mod tests {
    use super::super::paper;
    use super::*;

    #[test]
    fn every_row_has_a_source_and_a_place_that_there_is() {
        let rows = parse(FILE).expect("the file is whole");
        assert!(!rows.is_empty());
        for row in &rows {
            let known = paper::ALL.iter().find(|paper| paper.name == row.paper);
            let known = known.unwrap_or_else(|| panic!("no paper {}", row.paper));
            let named = |name: &str| known.experiments.iter().any(|experiment| experiment.name == name);
            assert!(row.experiment.is_empty() || named(&row.experiment), "{row:?}");
            assert!(row.source.starts_with("http") || row.source.contains("page"), "{row:?}");
            assert!(row.value > 0.0 && !row.series.is_empty() && !row.unit.is_empty(), "{row:?}");
            assert!(!row.hardware.is_empty(), "{row:?}");
            assert_eq!(row.x.is_some(), row.batch.is_some(), "{row:?}");
            assert!(
                row.x.is_none() || !row.experiment.is_empty(),
                "a point is one of an experiment: {row:?}"
            );
        }
    }

    #[test]
    fn a_claim_is_drawn_where_its_unit_is() {
        let rows = of("keskin").expect("the file is whole");
        assert!(rows.iter().any(|row| row.is_drawn("cubes-8", Unit::Gflops) && row.value == 486.0));
        assert!(!rows.iter().any(|row| row.is_drawn("cubes-8", Unit::Seconds)));
        assert!(of("romero").expect("the file is whole").is_empty());
        assert!(parse("paper,value\nx,1\n").is_err());
    }
}
