//! The standard output: results for people and, with `--json`, for machines. Messages go elsewhere.

use std::io::{ErrorKind, Write};

use crate::error::CliError;

/// Prints a line. A reader who has seen enough and closed the pipe is no failure.
pub fn line(text: &str) -> Result<(), CliError> {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(CliError::Stdout(error)),
        _ => Ok(()),
    }
}

/// Prints a JSON value, indented.
pub fn json(value: &serde_json::Value) -> Result<(), CliError> {
    line(&format!("{value:#}"))
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
