//! The standard output: results for people and, with `--json`, for machines. Messages go elsewhere.

use std::io::{ErrorKind, Write};
use std::path::Path;

use serde_json::Value;

use crate::error::CliError;
use crate::io;

/// Prints a line. A reader who has seen enough and closed the pipe is no failure.
pub fn line(text: &str) -> Result<(), CliError> {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(CliError::Stdout(error)),
        _ => Ok(()),
    }
}

/// Prints a line about what was written to a file: beside it, where the standard output is that file.
pub fn about(output: &Path, text: &str) -> Result<(), CliError> {
    if io::is_stdout(output) {
        eprintln!("{text}");
        return Ok(());
    }
    line(text)
}

/// Prints a JSON value, indented.
pub fn json(value: &Value) -> Result<(), CliError> {
    line(&format!("{value:#}"))
}

/// What was measured as JSON, where that was asked for, also where not all of it could be.
pub fn rows(as_json: bool, rows: Vec<Value>, done: Result<(), CliError>) -> Result<(), CliError> {
    if as_json && (done.is_ok() || !rows.is_empty()) {
        json(&Value::Array(rows))?;
    }
    done
}

/// Bytes in the unit that suits them.
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = count as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 || value.fract() == 0.0 {
        format!("{value} {}", UNITS[unit])
    } else {
        format!("{value:.1} {}", UNITS[unit])
    }
}
