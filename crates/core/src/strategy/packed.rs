//! Which problems strategies take: complex numbers, interleaved, packed row by row, one transform after the other; or
//! reals and half of their spectrum, packed likewise, in place in rows that hold either.

use std::fmt;

use crate::problem::{Dim, Format, Kind, Placement, Precision, Problem, Storage, half};

/// What is transformed into what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Data {
    /// Complex numbers into complex numbers.
    Complex,
    /// Reals into half of their spectrum.
    ToHalf,
    /// Half of a spectrum into its reals.
    FromHalf,
}

/// Lengths of a packed problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Packed {
    /// What it is of.
    pub data: Data,
    /// From one row to the next of the fastest axis, in the input and in the output, in what the side holds.
    pub pitch: [u64; 2],
    /// Transformed lengths of more than one point, slowest first.
    pub shape: Vec<u64>,
    /// Of real data, the reals of a row: the last length, which is halved.
    pub halved: Option<u64>,
    /// Transforms.
    pub batch: u64,
    /// What is computed in.
    pub precision: Precision,
    /// What the input's numbers are kept as, and the output's.
    pub stored: [Storage; 2],
}

impl Packed {
    /// The lengths of a problem; where it is not packed, what it asks for instead.
    pub fn of(problem: &Problem) -> Result<Self, String> {
        if let Some(other) = other(problem) {
            return Err(other.into());
        }
        let (data, own) = match &problem.kind {
            Kind::RealToComplex(dim) => (Data::ToHalf, Some(dim)),
            Kind::ComplexToReal(dim) => (Data::FromHalf, Some(dim)),
            _ => (Data::Complex, None),
        };
        let pitch = match own {
            None => [problem.transform.iter().rev().map(|dim| dim.n).find(|&n| n > 1).unwrap_or(1); 2],
            Some(dim) => {
                let reals = if problem.placement == Placement::InPlace { 2 * half(dim.n) } else { dim.n };
                if data == Data::ToHalf { [reals, half(dim.n)] } else { [half(dim.n), reals] }
            }
        };
        let mut stride = [Some(1_u64); 2];
        let mut follow = |dim: &Dim, points: [u64; 2]| {
            let here = stride.map(|stride| stride.and_then(|stride| i64::try_from(stride).ok()));
            stride = [0, 1].map(|side| stride[side].and_then(|stride| stride.checked_mul(points[side])));
            dim.n > 0 && here == [Some(dim.is), Some(dim.os)]
        };
        let packed = own.is_none_or(|dim| follow(dim, pitch))
            && problem.dims().rev().filter(|dim| dim.n != 1).all(|dim| follow(dim, [dim.n; 2]));
        if !packed {
            return Err("strides (an array that is not packed, or some of its axes)".into());
        }
        if stride.contains(&None) {
            return Err("more points than can be counted".into());
        }
        let lengths = problem.transform.iter().chain(own).map(|dim| dim.n);
        let shape = lengths.filter(|&n| n > 1).collect();
        let halved = own.map(|dim| dim.n);
        let (batch, precision, stored) = (problem.batch_count(), problem.precision, problem.stored());
        Ok(Self { data, pitch, shape, halved, batch, precision, stored })
    }

    /// Whether it is of real data.
    pub fn is_real(&self) -> bool {
        self.data != Data::Complex
    }

    /// Whether memory has the numbers as they are computed in.
    pub fn kept_as_computed(&self) -> bool {
        self.stored == [Storage::of(self.precision); 2]
    }

    /// Points of one transform.
    pub fn points(&self) -> u64 {
        self.shape.iter().product()
    }

    /// Points of all transforms.
    pub fn elements(&self) -> u64 {
        self.points() * self.batch
    }

    /// Rows of all transforms of real data.
    pub fn rows(&self) -> u64 {
        self.elements() / self.halved.unwrap_or(1)
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
    let formats = match problem.kind {
        Kind::Complex => [Format::Interleaved; 2],
        Kind::RealToComplex(_) => [Format::Real, Format::Interleaved],
        Kind::ComplexToReal(_) => [Format::Interleaved, Format::Real],
        Kind::RealToReal(_) | Kind::Zoom(_) => return Some("transforms from reals to reals, or of a band"),
    };
    if [problem.input, problem.output] != formats {
        return Some("formats other than interleaved complex numbers");
    }
    if problem.precision == Precision::DoubleSingle {
        return Some("double-single arithmetic");
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
