//! Whether what a caller hands over is what a problem asks for: placement, types, formats, lengths.

use warpfft_core::problem::{Placement, Problem, Storage};

use crate::error::{Error, Which};
use crate::host::{Planes, PlanesMut, Real};
use crate::span::{self, Span};

/// The bytes of an array to read, and of one to write: planes of each, the second empty where there is one.
pub(crate) type Apart<'a> = ([&'a [u8]; 2], [&'a mut [u8]; 2]);

/// Arrays of a call out of place, but for their lengths.
pub(crate) fn apart<'a, T: Real, U: Real>(
    problem: &Problem,
    input: Planes<'a, T>,
    output: PlanesMut<'a, U>,
) -> Result<Apart<'a>, Error> {
    expect(problem, Placement::OutOfPlace, [T::STORAGE, U::STORAGE])?;
    let (read, written) = (input.format(), output.format());
    for (which, expected, got) in
        [(Which::Input, problem.input, read), (Which::Output, problem.output, written)]
    {
        if expected != got {
            return Err(Error::WrongFormat { which, expected, got });
        }
    }
    Ok((input.into_bytes(), output.into_bytes()))
}

/// The array of a call in place, but for its length. Where reals and complex numbers share it, it may be handed over as
/// either.
pub(crate) fn in_place<'a, T: Real>(
    problem: &Problem,
    data: PlanesMut<'a, T>,
) -> Result<[&'a mut [u8]; 2], Error> {
    expect(problem, Placement::InPlace, [T::STORAGE; 2])?;
    let (expected, got) = (problem.output, data.format());
    if got != problem.input && got != expected {
        return Err(Error::WrongFormat { which: Which::Output, expected, got });
    }
    Ok(data.into_bytes())
}

/// Lengths of the arrays, input (none in place) and output, against what is read and written.
pub(crate) fn lengths(
    problem: &Problem,
    input: Option<[&[u8]; 2]>,
    output: &[&mut [u8]; 2],
    [read, written]: [Span; 2],
) -> Result<(), Error> {
    let of_output = [0, 1].map(|plane| output[plane].len() as u64);
    let (which, of_input) = match input {
        Some(input) => (Which::Input, input.map(|plane| plane.len() as u64)),
        None => (Which::Output, of_output),
    };
    span::check(problem, which, problem.input, read, of_input)?;
    span::check(problem, Which::Output, problem.output, written, of_output)
}

fn expect(problem: &Problem, placement: Placement, got: [Storage; 2]) -> Result<(), Error> {
    if problem.placement != placement {
        return Err(Error::WrongPlacement { expected: problem.placement });
    }
    let both = problem.stored().into_iter().zip(got).zip([Which::Input, Which::Output]);
    for ((expected, got), which) in both {
        if expected != got {
            return Err(Error::WrongStorage { which, expected, got });
        }
    }
    Ok(())
}
