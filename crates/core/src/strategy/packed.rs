//! Which problems strategies take: complex numbers, interleaved, packed row by row, one transform after the other.

use std::fmt;

use crate::problem::{Format, Kind, Precision, Problem, Storage};

/// Lengths of a packed problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Packed {
    /// Transformed lengths of more than one point, slowest first.
    pub shape: Vec<u64>,
    /// Transforms.
    pub batch: u64,
}

impl Packed {
    /// The lengths of a problem; where it is not packed, what it asks for instead.
    pub fn of(problem: &Problem) -> Result<Self, String> {
        if let Some(other) = other(problem) {
            return Err(other.into());
        }
        let mut stride = Some(1_u64);
        for dim in problem.dims().rev().filter(|dim| dim.n != 1) {
            let here = stride.and_then(|stride| i64::try_from(stride).ok());
            if dim.n == 0 || here != Some(dim.is) || here != Some(dim.os) {
                return Err("strides (an array that is not packed, or some of its axes)".into());
            }
            stride = stride.and_then(|stride| stride.checked_mul(dim.n));
        }
        if stride.is_none() {
            return Err("more points than can be counted".into());
        }
        let shape = problem.transform.iter().map(|dim| dim.n).filter(|&n| n > 1).collect();
        Ok(Self { shape, batch: problem.batch_count() })
    }

    /// Points of one transform.
    pub fn points(&self) -> u64 {
        self.shape.iter().product()
    }

    /// Points of all transforms.
    pub fn elements(&self) -> u64 {
        self.points() * self.batch
    }

    /// The one length, where there is one.
    pub fn line(&self) -> Option<u64> {
        if let [n] = self.shape[..] { Some(n) } else { None }
    }

    /// Whether there are lengths, and all are powers of two.
    pub fn powers_of_two(&self) -> bool {
        !self.shape.is_empty() && self.shape.iter().all(|n| n.is_power_of_two())
    }
}

/// What a problem asks for that no strategy has.
fn other(problem: &Problem) -> Option<&'static str> {
    if !matches!(problem.kind, Kind::Complex) {
        return Some("transforms of real data, or of a band");
    }
    if problem.input != Format::Interleaved || problem.output != Format::Interleaved {
        return Some("formats other than interleaved complex numbers");
    }
    if problem.precision == Precision::DoubleSingle {
        return Some("double-single arithmetic");
    }
    if problem.stored() != [Storage::of(problem.precision); 2] {
        return Some("numbers kept in another type than is computed in");
    }
    if problem.is_windowed() || problem.filter.is_some() {
        return Some("windows or filters");
    }
    if problem.functions != Default::default() {
        return Some("functions on load and store");
    }
    if problem.at_run().is_some() {
        return Some("a count that each run is given");
    }
    (problem.input_offset != 0 || problem.output_offset != 0).then_some("offsets")
}

impl fmt::Display for Packed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shape: Vec<String> = self.shape.iter().map(u64::to_string).collect();
        match shape.len() {
            0 => f.write_str("one point"),
            1 => write!(f, "a length of {}", shape[0]),
            _ => write!(f, "{} points", shape.join(" x ")),
        }
    }
}
