//! Results of a suite as a file: a line for each problem, written as it comes, so that an interrupted run keeps what
//! it has. Of several lines of one problem the last counts.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use warpfft::Measurement;

use super::case::{Case, Data, Key, Width, csv_detail};
use crate::error::CliError;
use crate::options::Shape;
use crate::packed::Kind;

/// What became of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Timed.
    Measured,
    /// The library cannot do it yet.
    Skipped,
    /// The device could not do it.
    Failed,
}

/// What chose a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Planned {
    /// The cost model.
    Model,
    /// What tuning found.
    Wisdom,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Kind of transform.
    pub kind: Kind,
    /// Width of the numbers.
    pub precision: Width,
    /// Lengths, slowest first.
    pub shape: Shape,
    /// Transforms in one call.
    pub batch: u64,
    /// Rows that means are taken of.
    pub group: String,
    /// Where the data came from.
    pub data: Data,
    /// What became of it.
    pub status: Status,
    /// Median time over that of a copy of the same bytes in the same run.
    pub copies: Option<f64>,
    /// The same of the fastest runs.
    pub best_copies: Option<f64>,
    /// Median time.
    pub us: Option<f64>,
    /// The copy's.
    pub copy_us: Option<f64>,
    /// Time that the processor takes to launch it; not in older files.
    pub launch_us: Option<f64>,
    /// Time to the first plan, without the disk cache.
    pub plan_ms: Option<f64>,
    /// Memory beside input and output.
    pub workspace_bytes: Option<u64>,
    /// Launches.
    pub passes: Option<u64>,
    /// What chose the plan.
    pub planned: Planned,
    /// cuFFT out of place, in this run.
    pub cufft_out_us: Option<f64>,
    /// In place.
    pub cufft_in_us: Option<f64>,
    /// With its patient property.
    pub cufft_patient_us: Option<f64>,
    /// The best of the three, in copies of this run.
    pub cufft_copies: Option<f64>,
    /// Time to the plan of the best.
    pub cufft_plan_ms: Option<f64>,
    /// Its workspace.
    pub cufft_workspace_bytes: Option<u64>,
    /// FFTW, in this run.
    pub fftw_us: Option<f64>,
    /// The same in copies.
    pub fftw_copies: Option<f64>,
    /// cuFFT's best in an earlier run, in copies of that run.
    pub cufft_before: Option<f64>,
    /// VkFFT in that run.
    pub vkfft_before: Option<f64>,
    /// Which copy was the fastest.
    pub copy: String,
    /// Where it was measured.
    pub device: String,
    /// By which version of this program.
    pub version: String,
    /// Why it was skipped or failed.
    pub note: String,
}

impl Record {
    /// A line without figures of this run.
    pub fn of(case: &Case, status: Status, device: &str, note: String) -> Self {
        Self {
            group: case.group.clone(),
            cufft_before: case.cufft_before().map(rounded),
            vkfft_before: case.vkfft_before().map(rounded),
            ..Self::empty(case.key(), status, device, note)
        }
    }

    fn empty(key: Key, status: Status, device: &str, note: String) -> Self {
        Self {
            kind: key.kind,
            precision: key.precision,
            shape: key.shape,
            batch: key.batch,
            group: String::new(),
            data: key.data,
            status,
            copies: None,
            best_copies: None,
            us: None,
            copy_us: None,
            launch_us: None,
            plan_ms: None,
            workspace_bytes: None,
            passes: None,
            planned: Planned::Model,
            cufft_out_us: None,
            cufft_in_us: None,
            cufft_patient_us: None,
            cufft_copies: None,
            cufft_plan_ms: None,
            cufft_workspace_bytes: None,
            fftw_us: None,
            fftw_copies: None,
            cufft_before: None,
            vkfft_before: None,
            copy: String::new(),
            device: device.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            note,
        }
    }

    /// What it is about.
    pub fn key(&self) -> Key {
        let (kind, precision, batch, data) = (self.kind, self.precision, self.batch, self.data);
        Key { kind, precision, shape: self.shape.clone(), batch, data }
    }

    /// Points of one transform.
    pub fn points(&self) -> f64 {
        self.shape.0.iter().map(|&extent| extent as f64).product()
    }

    /// Whether the time is that of its launch, in which all libraries are alike: what is between them is the machine's
    /// processor at another moment.
    pub fn is_launch_bound(&self) -> bool {
        let bound = |(launch, us): (f64, f64)| launch >= Measurement::LAUNCH_BOUND * us;
        self.launch_us.zip(self.us).is_some_and(bound)
    }

    /// cuFFT in copies: of this run, else of the earlier one.
    pub fn cufft(&self) -> Option<f64> {
        self.cufft_copies.or(self.cufft_before)
    }
}

/// A figure without digits that mean nothing.
pub fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

/// Reads a file of results; of several lines of one problem the last.
pub fn read(path: &Path) -> Result<Vec<Record>, CliError> {
    let failed = |source| CliError::Read { path: path.into(), source };
    let mut text = String::new();
    File::open(path).and_then(|mut file| file.read_to_string(&mut text)).map_err(failed)?;
    // A last line without an end is whole where it has all columns: an editor may have left the end out.
    parse(path, &text).or_else(|_| parse(path, whole_lines(&text)))
}

/// The text up to the end of its last whole line: a run that was killed may have left a part of one.
fn whole_lines(text: &str) -> &str {
    &text[..text.rfind('\n').map_or(0, |end| end + 1)]
}

fn parse(path: &Path, text: &str) -> Result<Vec<Record>, CliError> {
    let mut records: Vec<Record> = Vec::new();
    for record in csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes()).deserialize() {
        let malformed = |detail| CliError::Malformed { path: path.into(), kind: "results", detail };
        let record: Record = record.map_err(|error| malformed(csv_detail(&error)))?;
        let figures = [record.copies, record.best_copies, record.us, record.copy_us];
        if figures.iter().flatten().any(|figure| !(figure.is_finite() && *figure > 0.0)) {
            return Err(malformed(format!(
                "{} has a time or a ratio that is no positive number",
                record.key()
            )));
        }
        records.retain(|earlier| earlier.key() != record.key());
        records.push(record);
    }
    Ok(records)
}

/// A file of results that grows.
pub struct Writer {
    path: std::path::PathBuf,
    file: File,
}

impl Writer {
    /// Begins a file, or goes on with it; with it comes what it holds already.
    pub fn open(path: &Path, resume: bool) -> Result<(Self, Vec<Record>), CliError> {
        let failed = |existed| move |source| CliError::Write { path: path.into(), source, existed };
        if path.is_dir() {
            return Err(CliError::OutputIsFolder { path: path.into() });
        }
        if path.exists() && !resume {
            return Err(CliError::ResultsExist { path: path.into() });
        }
        let mut options = OpenOptions::new();
        let mut file =
            options.read(true).write(true).create(true).truncate(false).open(path).map_err(failed(false))?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(|source| CliError::Read { path: path.into(), source })?;
        let (whole, header) = (whole_lines(&text), header());
        let ours =
            if whole.is_empty() { header.starts_with(text.as_bytes()) } else { begins(whole, &header) };
        let records = parse(path, whole)?;
        if !ours {
            let detail = "its first line is not that of results of this version".into();
            return Err(CliError::Malformed { path: path.into(), kind: "results", detail });
        }
        file.set_len(whole.len() as u64).map_err(failed(true))?;
        file.seek(SeekFrom::End(0)).map_err(failed(true))?;
        let mut writer = Self { path: path.into(), file };
        if whole.is_empty() {
            writer.line(&header)?;
        }
        Ok((writer, records))
    }

    /// Appends a line: it is in the file when this returns.
    pub fn append(&mut self, record: &Record) -> Result<(), CliError> {
        self.line(&encoded(record, false))
    }

    fn line(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        let failed = |source: io::Error| CliError::Write { path: self.path.clone(), source, existed: true };
        self.file.write_all(bytes).and_then(|()| self.file.sync_data()).map_err(failed)
    }
}

/// Results as text, with the header or without.
fn encoded(record: &Record, header: bool) -> Vec<u8> {
    let mut writer = csv::WriterBuilder::new().has_headers(header).from_writer(Vec::new());
    // Writing to memory does not fail, and a record always has the same columns.
    let _ = writer.serialize(record);
    writer.into_inner().unwrap_or_default()
}

/// Whether the first line that is no comment is this one.
fn begins(text: &str, line: &[u8]) -> bool {
    let first = text.split_inclusive('\n').find(|line| !line.starts_with('#'));
    first.is_some_and(|first| first.trim_end().as_bytes() == line.trim_ascii_end())
}

/// The names of the columns.
fn header() -> Vec<u8> {
    let shape = Shape(vec![1]);
    let key = Key { kind: Kind::C2c, precision: Width::F32, shape, batch: 1, data: Data::Memory };
    let mut text = encoded(&Record::empty(key, Status::Skipped, "", String::new()), true);
    text.truncate(text.iter().position(|&byte| byte == b'\n').map_or(0, |end| end + 1));
    text
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::suite::case::suite;

    /// Measured rows with those copies, of the suite's first problems.
    pub fn measured(copies: &[f64]) -> Vec<Record> {
        let cases = suite("h200").unwrap();
        let record = |(case, &copies): (&Case, &f64)| {
            let mut record = Record::of(case, Status::Measured, "test", String::new());
            (record.copies, record.us, record.copy_us) = (Some(copies), Some(copies * 100.0), Some(100.0));
            record
        };
        cases.iter().zip(copies).map(record).collect()
    }

    #[test]
    fn lines_come_back_and_a_cut_one_is_dropped() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("out.csv");
        let records = measured(&[1.0, 1.5, 2.0]);
        let (mut writer, before) = Writer::open(&path, false).unwrap();
        assert!(before.is_empty());
        for record in &records {
            writer.append(record).unwrap();
        }
        assert_eq!(read(&path).unwrap(), records);
        assert!(matches!(Writer::open(&path, false), Err(CliError::ResultsExist { .. })));
        let text = std::fs::read(&path).unwrap();
        std::fs::write(&path, text.trim_ascii_end()).unwrap();
        assert_eq!(read(&path).unwrap(), records, "whole but for its end");
        let nothing = String::from_utf8(text.clone()).unwrap().replacen(",1.5,", ",NaN,", 1);
        std::fs::write(&path, nothing).unwrap();
        let refused = read(&path).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(refused.contains("c2c f32 4 batch") && refused.contains("no positive number"), "{refused}");
        std::fs::write(&path, &text[..text.len() - 7]).unwrap();
        let (mut writer, before) = Writer::open(&path, true).unwrap();
        assert_eq!(before, records[..2]);
        let again = Record { copies: Some(1.25), ..records[0].clone() };
        writer.append(&again).unwrap();
        assert_eq!(read(&path).unwrap(), [records[1].clone(), again], "the last line of a problem counts");
    }

    #[test]
    fn data_in_memory_and_in_the_cache_are_two_rows() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("out.csv");
        let [memory] = &measured(&[2.0])[..] else { panic!("one row was asked for") };
        let cache = Record { data: Data::Cache, copies: Some(1.5), ..memory.clone() };
        let (mut writer, _) = Writer::open(&path, false).unwrap();
        [memory, &cache].into_iter().for_each(|record| writer.append(record).unwrap());
        assert_eq!(read(&path).unwrap(), [memory.clone(), cache]);
    }

    #[test]
    fn results_of_record_are_whole() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let kept = |path: &Path| path.to_string_lossy().ends_with("-suite.csv");
        for path in files.filter(|path| kept(path)) {
            let records = read(&path).unwrap();
            let known = suite("h200").unwrap();
            for record in &records {
                assert!(
                    known.iter().any(|case| case.key() == record.key()),
                    "{}: {}",
                    path.display(),
                    record.key()
                );
                let timed = record.copies.is_some_and(|copies| copies > 0.3) && record.plan_ms.is_some();
                assert_eq!(record.status == Status::Measured, timed, "{}", record.key());
            }
        }
    }

    #[test]
    fn other_files_are_not_taken_for_results() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("other.csv");
        std::fs::write(&path, "kind,precision,shape,batch\nc2c,f32,8,1\n").unwrap();
        let error = Writer::open(&path, true).err().unwrap().to_string();
        assert!(error.contains("other.csv") && error.contains("line 2"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap().len(), 39, "what is not ours stays as it is");
        for theirs in ["a line without an end", "kind,shape,batch\n"] {
            std::fs::write(&path, theirs).unwrap();
            let refused = Writer::open(&path, true).map(|(_, records)| records);
            assert!(matches!(refused, Err(CliError::Malformed { .. })), "{theirs}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), theirs, "what is not ours stays as it is");
        }
    }

    #[test]
    fn a_run_that_was_killed_in_its_first_line_begins_anew() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("out.csv");
        std::fs::write(&path, &header()[..20]).unwrap();
        let (mut writer, before) = Writer::open(&path, true).unwrap();
        assert!(before.is_empty());
        let records = measured(&[1.0]);
        writer.append(&records[0]).unwrap();
        assert_eq!(read(&path).unwrap(), records);
        assert!(matches!(Writer::open(folder.path(), true), Err(CliError::OutputIsFolder { .. })));
    }
}
