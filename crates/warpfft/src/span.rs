//! How far a problem reaches into its buffers. The fields of a [`Problem`] are public, and what is computed here
//! guards raw pointers, so nothing is taken on trust.

use warpfft_core::problem::{ELEMENT_LIMIT, Format, Placement, Problem, Storage};

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
    nonempty(problem)?;
    span(Which::Input, problem.input_offset, &problem.input_dims().collect::<Vec<_>>())
}

/// Span of the output.
pub(crate) fn output(problem: &Problem) -> Result<Span, Error> {
    nonempty(problem)?;
    span(Which::Output, problem.output_offset, &problem.output_dims().collect::<Vec<_>>())
}

fn nonempty(problem: &Problem) -> Result<(), Error> {
    let own = problem.kind.dims().map(|(dim, _)| dim.n);
    if problem.dims().map(|dim| dim.n).chain(own).any(|n| n == 0) {
        return Err(Error::Program { detail: "a dimension of the problem has length 0".into() });
    }
    Ok(())
}

fn span(which: Which, offset: u64, dims: &[(u64, i64)]) -> Result<Span, Error> {
    let mut lowest = i128::from(offset);
    let mut highest = i128::from(offset);
    let mut count = 1_i128;
    for &(n, stride) in dims {
        let reach = (i128::from(n) - 1) * i128::from(stride);
        if reach < 0 {
            lowest = lowest.saturating_add(reach);
        } else {
            highest = highest.saturating_add(reach);
        }
        count = count.saturating_mul(i128::from(n));
    }
    if lowest < 0 {
        return Err(Error::Address { which, element: lowest });
    }
    if highest >= MAX_ELEMENTS || count >= MAX_ELEMENTS {
        return Err(Error::Address { which, element: highest.max(count - 1) });
    }
    let dense = lowest == 0 && count == highest + 1 && injective(dims.iter().copied());
    Ok(Span { elements: (highest + 1) as u64, dense })
}

/// Whether no two indices share an address, by a sufficient test: sorted by stride, each stride is longer than
/// all that the smaller ones reach together.
pub(crate) fn injective(dims: impl Iterator<Item = (u64, i64)>) -> bool {
    let own = dims.filter(|&(n, _)| n > 1).map(|(n, stride)| (stride.unsigned_abs(), u128::from(n - 1)));
    let mut dims: Vec<(u64, u128)> = own.collect();
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

/// Bytes of each of the input's planes: none in place, where it lies in the output's.
pub(crate) fn read_bytes(problem: &Problem) -> Result<[u64; 2], Error> {
    match problem.placement {
        Placement::InPlace => Ok([0, 0]),
        Placement::OutOfPlace => Ok(plane_bytes(problem, Which::Input, problem.input, input(problem)?)),
    }
}

/// Bytes of the factors of the frequencies; 0 where there are none.
pub(crate) fn filter_bytes(problem: &Problem) -> Result<u64, Error> {
    let Some(filter) = &problem.filter else { return Ok(0) };
    let strides = filter.batch.iter().chain(&filter.transform);
    if strides.clone().count() != problem.dims().count() {
        return Err(Error::Program { detail: "the filter has not one stride for each dimension".into() });
    }
    let dims: Vec<(u64, i64)> = problem.dims().map(|dim| dim.n).zip(strides.copied()).collect();
    let span = span(Which::Filter, filter.offset, &dims)?;
    Ok(span.elements * problem.precision.complex_bytes())
}

/// Bytes of each of the output's planes; in place, they also hold the input.
pub(crate) fn written_bytes(problem: &Problem) -> Result<[u64; 2], Error> {
    let written = plane_bytes(problem, Which::Output, problem.output, output(problem)?);
    if problem.placement == Placement::OutOfPlace {
        return Ok(written);
    }
    let read = plane_bytes(problem, Which::Input, problem.input, input(problem)?);
    Ok([0, 1].map(|plane| read[plane].max(written[plane])))
}

/// How a side keeps its reals; in place, both alike.
fn stored(problem: &Problem, which: Which) -> Storage {
    problem.stored()[usize::from(which != Which::Input)]
}

/// Bytes of each plane that a span covers; the second is 0 for interleaved data.
pub(crate) fn plane_bytes(problem: &Problem, which: Which, format: Format, span: Span) -> [u64; 2] {
    let bytes = format.step() * stored(problem, which).real_bytes() * span.elements;
    [bytes, if format.planes() == 2 { bytes } else { 0 }]
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
        Format::Interleaved => ("complex elements", stored(problem, which).complex_bytes()),
        Format::Planar | Format::Real | Format::Apart(_) => ("reals", stored(problem, which).real_bytes()),
    };
    for (plane, needed) in plane_bytes(problem, which, format, span).into_iter().enumerate() {
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
