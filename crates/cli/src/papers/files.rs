//! A report's folder: a page and a file of numbers for each paper, and a page that leads to them.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::page::{self, Setting};
use super::paper::{self, Paper};
use super::published::Published;
use super::results::Results;
use crate::error::CliError;
use crate::io::Output;

/// A line of the numbers.
#[derive(Serialize)]
struct Row<'a> {
    paper: &'a str,
    experiment: &'a str,
    series: &'a str,
    shape: String,
    x: Option<u64>,
    batch: Option<u64>,
    seconds: Option<f64>,
    value: Option<f64>,
    unit: &'a str,
    error: Option<f64>,
    device: &'a str,
    source: &'a str,
}

/// What stands as the source of numbers of this run.
const MEASURED: &str = "measured";

/// The folder.
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Makes sure that there is one, and that files can be written there, before anything is measured.
    pub fn open(path: &Path) -> Result<Self, CliError> {
        let failed = |source| CliError::Write { path: path.into(), source, existed: false };
        fs::create_dir_all(path).map_err(failed)?;
        // Not committed, it leaves nothing behind.
        Output::create(&path.join("index.html"))?;
        Ok(Self { path: path.into() })
    }

    /// Writes a paper's page and numbers.
    pub fn write(
        &self,
        paper: &Paper,
        setting: &Setting,
        all: &[Results],
        published: &[Published],
    ) -> Result<(), CliError> {
        self.put(&format!("{}.csv", paper.name), &numbers(paper, all, published))?;
        self.put(&format!("{}.html", paper.name), page::page(paper, setting, all, published)?.as_bytes())
    }

    /// Writes the page that leads to all others: those of earlier runs too.
    pub fn index(&self, setting: &Setting) -> Result<(), CliError> {
        let there = |paper: &'static Paper| (paper, self.path.join(format!("{}.html", paper.name)).is_file());
        let papers: Vec<_> = paper::ALL.into_iter().map(there).collect();
        self.put("index.html", page::index(&papers, setting).as_bytes())
    }

    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), CliError> {
        let mut output = Output::create(&self.path.join(name))?;
        output.write(|file| file.write_all(bytes))?;
        output.commit()
    }
}

/// Every number of a paper, as lines of text.
fn numbers(paper: &Paper, all: &[Results], published: &[Published]) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut put = |row: Row<'_>| {
        // Into memory; nothing can fail.
        let _ = writer.serialize(row);
    };
    for results in all {
        let experiment = results.experiment;
        let mut samples: Vec<_> = results.samples.iter().collect();
        samples.sort_by_key(|sample| sample.place);
        for &unit in experiment.units {
            for sample in &samples {
                put(Row {
                    paper: paper.name,
                    experiment: experiment.name,
                    series: &sample.series,
                    shape: experiment.shape(sample.place).to_string(),
                    x: Some(experiment.x(sample.place)),
                    batch: Some(sample.place.batch),
                    seconds: Some(rounded(sample.seconds)),
                    value: results.value(unit, sample).map(rounded),
                    unit: unit.name(),
                    error: sample.error.map(rounded),
                    device: &sample.device,
                    source: MEASURED,
                });
            }
        }
    }
    for row in published {
        put(Row {
            paper: paper.name,
            experiment: &row.experiment,
            series: &row.series,
            shape: String::new(),
            x: row.x,
            batch: row.batch,
            seconds: None,
            value: Some(row.value),
            unit: &row.unit,
            error: None,
            device: &row.hardware,
            source: &row.source,
        });
    }
    writer.into_inner().unwrap_or_default()
}

/// Six digits: more are noise.
fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::super::paper::Place;
    use super::super::results::Sample;
    use super::super::{keskin, published};
    use super::*;

    #[test]
    fn every_number_is_a_line() {
        let mut results = Results::new(&keskin::PAPER.experiments[0]);
        let place = Place { length: 4, batch: 16 };
        let (series, device) = ("keskin-3d".to_owned(), "here, there".to_owned());
        results.samples.push(Sample { series, place, seconds: 1.0 / 3e6, error: None, device });
        let text = numbers(&keskin::PAPER, &[results], &published::of("keskin").unwrap());
        let text = String::from_utf8(text).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(
            lines[0]
                .starts_with("paper,experiment,series,shape,x,batch,seconds,value,unit,error,device,source")
        );
        // 16 x 5 x 64 x 6 operations.
        let wanted = "keskin,cubes-4,keskin-3d,4x4x4,16,16,3.33333e-7,92.16,GFLOPS,,\"here, there\",measured";
        assert_eq!(lines[1], wanted);
        assert!(lines[2].contains(",486.0,GFLOPS,") && lines[2].contains("https://"));
    }
}
