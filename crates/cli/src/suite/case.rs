//! One problem of a suite, and suites as files: comma-separated, with a header and comments.

use std::fmt;

use serde::{Deserialize, Serialize};
use warpfft::core::problem::{Precision, Problem, Storage};

use crate::error::CliError;
use crate::options::Shape;
use crate::packed::{Kind, Packed};

/// The suites that are built in, by name.
const BUILT_IN: [(&str, &str); 3] = [
    ("h200", include_str!("../../../../bench/suites/h200.csv")),
    ("h200-real", include_str!("../../../../bench/suites/h200-real.csv")),
    ("h200-half", include_str!("../../../../bench/suites/h200-half.csv")),
];

/// The numbers as memory keeps them; those of 16 bits are computed in single precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Width {
    /// Half.
    F16,
    /// bfloat16.
    Bf16,
    /// Single.
    F32,
    /// Double.
    F64,
}

/// Where the data of a measurement comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Data {
    /// Memory, however little it is.
    #[default]
    Memory,
    /// The cache, where it fits in there.
    Cache,
}

/// What a row is about: rows of two files with equal keys measure the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key {
    /// Kind of transform.
    pub kind: Kind,
    /// Width of the numbers.
    pub precision: Width,
    /// Lengths, slowest first.
    pub shape: Shape,
    /// Transforms in one call.
    pub batch: u64,
    /// Where the data comes from.
    pub data: Data,
}

/// One row of a suite.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Case {
    /// Kind of transform.
    pub kind: Kind,
    /// Width of the numbers.
    pub precision: Width,
    /// Lengths, slowest first.
    pub shape: Shape,
    /// Transforms in one call.
    pub batch: u64,
    /// Rows that means are taken of.
    #[serde(default)]
    pub group: String,
    /// Where the data comes from.
    #[serde(default)]
    pub data: Data,
    /// A copy, in an earlier run of other libraries.
    #[serde(default)]
    copy_us: Option<f64>,
    #[serde(default)]
    cufft_out_us: Option<f64>,
    #[serde(default)]
    cufft_in_us: Option<f64>,
    #[serde(default)]
    cufft_patient_us: Option<f64>,
    #[serde(default)]
    vkfft_us: Option<f64>,
}

impl fmt::Display for Width {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::F32 => "f32",
            Self::F64 => "f64",
        })
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {} batch {}", self.kind, self.precision, self.shape, self.batch)?;
        if self.data == Data::Cache { f.write_str(" in cache") } else { Ok(()) }
    }
}

impl Case {
    /// What it is about.
    pub fn key(&self) -> Key {
        let (kind, precision, batch, data) = (self.kind, self.precision, self.batch, self.data);
        Key { kind, precision, shape: self.shape.clone(), batch, data }
    }

    /// The problem; or why it cannot be asked yet.
    pub fn problem(&self) -> Result<Problem, String> {
        let (precision, storage) = match self.precision {
            Width::F16 => (Precision::F32, Some(Storage::F16)),
            Width::Bf16 => (Precision::F32, Some(Storage::Bf16)),
            Width::F32 => (Precision::F32, None),
            Width::F64 => (Precision::F64, None),
        };
        let (kind, shape, batch) = (self.kind, &self.shape, self.batch);
        let (inverse, in_place, max_workspace) = (false, false, None);
        let packed = Packed { kind, shape, batch, precision, storage, inverse, in_place, max_workspace };
        packed.problem().map_err(|error| error.to_string())
    }

    /// Without the times of the earlier run, which are of another device.
    pub fn without_earlier(self) -> Self {
        Self { copy_us: None, ..self }
    }

    /// Copies that cuFFT took in the earlier run, at its best setting.
    pub fn cufft_before(&self) -> Option<f64> {
        let settings = [self.cufft_out_us, self.cufft_in_us, self.cufft_patient_us];
        let best = settings.into_iter().flatten().min_by(f64::total_cmp)?;
        Some(best / self.copy_us?)
    }

    /// Copies that VkFFT took in the earlier run.
    pub fn vkfft_before(&self) -> Option<f64> {
        Some(self.vkfft_us? / self.copy_us?)
    }

    /// Whether every word of a pattern is the row's kind, precision, shape, batch or group; `*` stands for anything.
    pub fn matches(&self, pattern: &str) -> bool {
        let own = [
            self.kind.to_string(),
            self.precision.to_string(),
            self.shape.to_string(),
            format!("batch:{}", self.batch),
            self.group.clone(),
        ];
        pattern.split_whitespace().all(|word| own.iter().any(|own| wild(word.as_bytes(), own.as_bytes())))
    }
}

fn wild(pattern: &[u8], text: &[u8]) -> bool {
    match (pattern, text) {
        ([], []) => true,
        ([b'*', rest @ ..], _) => (0..=text.len()).any(|skip| wild(rest, &text[skip..])),
        ([a, pattern @ ..], [b, text @ ..]) => a.eq_ignore_ascii_case(b) && wild(pattern, text),
        _ => false,
    }
}

/// A suite by its name or from a file.
pub fn suite(name: &str) -> Result<Vec<Case>, CliError> {
    if let Some((_, text)) = BUILT_IN.iter().find(|(own, _)| *own == name) {
        return parse(name, text);
    }
    let text =
        std::fs::read_to_string(name).map_err(|source| CliError::Suite { name: name.to_owned(), source })?;
    parse(name, &text)
}

/// The rows of a suite that any of the patterns matches; no patterns: all.
pub fn chosen(name: &str, only: &[String]) -> Result<Vec<Case>, CliError> {
    let mut cases = suite(name)?;
    for pattern in only {
        if !cases.iter().any(|case| case.matches(pattern)) {
            return Err(CliError::NoSuchRow { pattern: pattern.clone(), suite: name.to_owned() });
        }
    }
    cases.retain(|case| only.is_empty() || only.iter().any(|only| case.matches(only)));
    Ok(cases)
}

fn parse(name: &str, text: &str) -> Result<Vec<Case>, CliError> {
    let mut reader =
        csv::ReaderBuilder::new().comment(Some(b'#')).trim(csv::Trim::All).from_reader(text.as_bytes());
    let bad = |detail: String| CliError::Malformed { path: name.into(), kind: "suite", detail };
    let cases =
        reader.deserialize().collect::<Result<Vec<Case>, _>>().map_err(|error| bad(csv_detail(&error)))?;
    if let Some(case) = cases.iter().find(|case| case.batch == 0) {
        return Err(bad(format!("{} has batch 0; every batch is at least 1", case.key())));
    }
    if cases.is_empty() {
        return Err(bad("it has no rows; write a header kind,precision,shape,batch and rows below".into()));
    }
    Ok(cases)
}

/// What is wrong with a file of values, and in which line.
pub fn csv_detail(error: &csv::Error) -> String {
    let line = error.position().map_or_else(String::new, |at| format!("line {}: ", at.line()));
    match error.kind() {
        csv::ErrorKind::Deserialize { err, .. } => {
            let field = err.field().map_or_else(String::new, |field| format!("column {}: ", field + 1));
            format!("{line}{field}{}", err.kind())
        }
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{line}{len} values, but the header has {expected_len} columns")
        }
        _ => format!("{line}{error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_suites_are_whole() {
        for ((name, _), least) in BUILT_IN.into_iter().zip([350, 250, 250]) {
            let cases = suite(name).unwrap();
            assert!(cases.len() > least);
            let distinct: std::collections::HashSet<_> = cases.iter().map(Case::key).collect();
            assert_eq!(distinct.len(), cases.len(), "a problem of {name} stands twice");
            for case in &cases {
                assert!(!case.group.is_empty(), "{} has no group", case.key());
                assert!(case.problem().is_ok(), "{}", case.key());
            }
        }
    }

    #[test]
    fn figures_of_an_earlier_run_are_in_copies_of_that_run() {
        let cases = suite("h200").unwrap();
        let best = |name: &str| cases.iter().find(|case| case.matches(name)).unwrap().cufft_before().unwrap();
        assert!((best("c2c f32 16x16x16 batch:16384") - 3.020).abs() < 0.01);
    }

    #[test]
    fn rows_of_real_data_have_256_mib_of_reals() {
        for case in suite("h200-real").unwrap() {
            let problem = case.problem().unwrap();
            let bytes = problem.elements() * problem.precision.real_bytes();
            // What is larger is a single transform.
            assert!(bytes <= 256 << 20 || case.batch == 1, "{}", case.key());
            assert!(bytes > 255 << 20, "{}", case.key());
            assert_ne!(case.kind, Kind::C2c);
        }
    }

    #[test]
    fn patterns_choose_rows() {
        let case = &suite("h200").unwrap()[0];
        for pattern in ["", "2", "f32", "c2c f32", "1d-*", "F32 1d-two-*", "*"] {
            assert!(case.matches(pattern), "{pattern}");
        }
        for pattern in ["f64", "4", "1d", "f32 4", "batch:1"] {
            assert!(!case.matches(pattern), "{pattern}");
        }
    }

    #[test]
    fn wrong_suites_name_the_line() {
        let wrong = |text: &str| parse("mine.csv", text).unwrap_err().to_string();
        let header = "# mine\nkind,precision,shape,batch\n";
        assert!(parse("mine.csv", &format!("{header}c2c, f64, 8x8, 3\n")).is_ok());
        for (row, words) in [
            ("c2c,f32,8x,3", ["line 3", "no shape"]),
            ("c2c,f31,8,3", ["line 3", "f31"]),
            ("c3c,f32,8,3", ["line 3", "c3c"]),
            ("c2c,f32,8", ["line 3", "3 values"]),
            ("c2c,f32,8,-1", ["line 3", "column 4"]),
            ("c2c,f32,8,0", ["batch 0", "at least 1"]),
            ("", ["no rows", "header"]),
        ] {
            let error = wrong(&format!("{header}{row}\n"));
            assert!(words.iter().all(|word| error.contains(word)), "{row}: {error}");
        }
        assert!(wrong("shape,batch\n8,3\n").contains("kind"));
    }
}
