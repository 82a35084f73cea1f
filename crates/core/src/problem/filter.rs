//! Factors of the frequencies: a problem that goes to the frequencies, through a product, and back, is a convolution.

use std::ops::Range;

use super::address::extent;
use super::blocks::Block;
use super::{Direction, Format, Kind, Problem, Storage, span};
use crate::error::{Error, Side};

/// An array of complex factors, interleaved, that a problem multiplies the frequencies of its input by before it
/// transforms them back: `output = inverse(forward(input) * filter)`. Neither way is scaled but for the problem's own factor.
///
/// Windows say where the input is padded and the output cropped. Where a side of the problem is of reals
/// ([`Format::Real`](super::Format::Real)), imaginary parts are 0 on the way in and dropped on the way out.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Filter {
    /// Element at which the factor of frequency (0, .., 0) of the first transform lies.
    pub offset: u64,
    /// Distance of the factors of neighbouring frequencies along each dimension of [`Problem::transform`].
    pub transform: Vec<i64>,
    /// Distance of what belongs to neighbouring transforms along each dimension of [`Problem::batch`]; 0: they share it.
    pub batch: Vec<i64>,
    /// The factors are the conjugates of what the array holds: a correlation.
    pub conjugate: bool,
    /// They are the spectra of reals, so that reals stay reals, and two lines of reals may go as one of complex numbers. Of what
    /// functions make of them the real part counts.
    pub hermitian: bool,
    /// The blocks of each dimension of [`Problem::transform`] by which a convolution goes whose factors are those of a
    /// shorter transform; empty: it is transformed whole.
    pub blocks: Vec<Block>,
}

impl Problem {
    /// Length and distance of every dimension of the filter, in the order of [`Problem::dims`]; none without one.
    pub fn filter_dims(&self) -> impl Iterator<Item = (u64, i64)> + Clone + '_ {
        let strides = self.filter.iter().flat_map(|filter| filter.batch.iter().chain(&filter.transform));
        let transform =
            (0..self.transform.len()).map(|d| self.block(d).map_or(self.transform[d].n, |own| own.points));
        self.batch.iter().map(|dim| dim.n).chain(transform).zip(strides.copied())
    }

    /// From the lowest element of the filter to one past the highest, in complex elements; empty without one.
    pub fn filter_span(&self) -> Range<u64> {
        self.filter.as_ref().map_or(0..0, |filter| span(filter.offset, self.filter_dims()))
    }

    /// Bytes that the filter must hold.
    pub fn filter_bytes(&self) -> u64 {
        self.filter_span().end * self.precision.complex_bytes()
    }

    /// Whether reals stay reals on their way through the filter.
    pub(crate) fn keeps_reals(&self) -> bool {
        [self.input, self.output] == [Format::Real; 2]
            && self.filter.as_ref().is_some_and(|filter| filter.hermitian)
    }

    pub(super) fn check_filter(&self) -> Result<(), Error> {
        let Some(filter) = &self.filter else { return Ok(()) };
        let kept = self.stored() == [Storage::of(self.precision); 2];
        if self.kind != Kind::Complex || self.direction != Direction::Forward || !kept {
            return Err(Error::FilterKind);
        }
        let (expected, got) =
            ([self.transform.len(), self.batch.len()], [filter.transform.len(), filter.batch.len()]);
        for (expected, got) in expected.into_iter().zip(got) {
            if expected != got {
                return Err(Error::StrideCount { side: Side::Filter, expected, got });
            }
        }
        if self.transform.iter().all(|dim| dim.n == 1) {
            return Err(Error::FilterPoints);
        }
        self.check_blocks()?;
        let (lowest, highest) = extent(filter.offset, self.filter_dims());
        super::validate::check_ends(Side::Filter, filter.offset, (lowest, highest))
    }
}
