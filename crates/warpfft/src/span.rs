//! How far a problem reaches into its buffers. The fields of a [`Problem`] are public, and what is computed here
//! guards raw pointers, so nothing is taken on trust.

use warpfft_core::problem::{Dim, ELEMENT_LIMIT, Format, Problem};

use crate::error::{Error, Which};

/// What a problem needs of one of its arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    /// Elements that the buffer (each plane) must hold.
    pub elements: u64,
    /// Whether every element from the first to the last is one of the problem's.
    pub dense: bool,
}

/// Elements at most: their bytes are counted in 64 bits, here and on devices.
const MAX_ELEMENTS: i128 = ELEMENT_LIMIT as i128;

/// Span of the input.
pub(crate) fn input(problem: &Problem) -> Result<Span, Error> {
    span(problem, Which::Input, problem.input_offset, |dim| dim.is)
}

/// Span of the output.
pub(crate) fn output(problem: &Problem) -> Result<Span, Error> {
    span(problem, Which::Output, problem.output_offset, |dim| dim.os)
}

fn span(problem: &Problem, which: Which, offset: u64, stride: fn(&Dim) -> i64) -> Result<Span, Error> {
    let mut lowest = i128::from(offset);
    let mut highest = i128::from(offset);
    let mut count = 1_i128;
    for dim in problem.transform.iter().chain(&problem.batch) {
        let Some(last) = dim.n.checked_sub(1) else {
            return Err(Error::Program { detail: "a dimension of the problem has length 0".into() });
        };
        let reach = i128::from(last) * i128::from(stride(dim));
        if reach < 0 {
            lowest = lowest.saturating_add(reach);
        } else {
            highest = highest.saturating_add(reach);
        }
        count = count.saturating_mul(i128::from(dim.n));
    }
    if lowest < 0 {
        return Err(Error::Address { which, element: lowest });
    }
    if highest >= MAX_ELEMENTS || count >= MAX_ELEMENTS {
        return Err(Error::Address { which, element: highest.max(count - 1) });
    }
    let dense = lowest == 0 && count == highest + 1 && injective(problem, stride);
    Ok(Span { elements: (highest + 1) as u64, dense })
}

/// Whether no two indices share an address, by a sufficient test: sorted by stride, each stride is longer than
/// all that the smaller ones reach together.
pub(crate) fn injective(problem: &Problem, stride: fn(&Dim) -> i64) -> bool {
    let mut dims: Vec<(u64, u128)> = problem
        .transform
        .iter()
        .chain(&problem.batch)
        .filter(|dim| dim.n > 1)
        .map(|dim| (stride(dim).unsigned_abs(), u128::from(dim.n - 1)))
        .collect();
    dims.sort_unstable();
    let mut reach = 0_u128;
    for (step, last) in dims {
        if u128::from(step) <= reach {
            return false;
        }
        reach = reach.saturating_add(u128::from(step).saturating_mul(last));
    }
    true
}

/// Bytes of each plane that a span covers; the second is 0 for interleaved data.
pub(crate) fn plane_bytes(problem: &Problem, format: Format, span: Span) -> [u64; 2] {
    let real = problem.precision.real_bytes();
    match format {
        Format::Interleaved => [2 * real * span.elements, 0],
        Format::Planar => [real * span.elements; 2],
    }
}

/// Checks one array's bytes against what the problem spans.
pub(crate) fn check(
    problem: &Problem,
    which: Which,
    format: Format,
    span: Span,
    got: [u64; 2],
) -> Result<(), Error> {
    let (unit, bytes) = match format {
        Format::Interleaved => ("complex elements", problem.precision.complex_bytes()),
        Format::Planar => ("reals", problem.precision.real_bytes()),
    };
    for (plane, needed) in plane_bytes(problem, format, span).into_iter().enumerate() {
        if got[plane] < needed {
            return Err(Error::BufferTooSmall {
                which,
                plane: plane as u8,
                unit,
                needed: needed / bytes,
                got: got[plane] / bytes,
            });
        }
    }
    Ok(())
}
