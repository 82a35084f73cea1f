//! Rectangles in arrays: strides, and where one begins.

use super::compute::At;
use super::{ConfigureError, Domain};
use crate::error::{Error, Which};
use crate::host::{Planes, PlanesMut, Real};

/// Addresses at most: what the problems' strides count, with room for bytes.
const MOST: u64 = 1 << 60;

/// A rectangle of an array.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    domain: Domain,
    size: Vec<u64>,
    extents: Vec<u64>,
    channels: u64,
    strides: Vec<i64>,
    /// Whether the array is of those extents along its first dimension too, and not of any.
    closed: bool,
}

impl Layout {
    /// Data of that size in an array of those extents, or of rows of that many points.
    pub fn of(
        domain: Domain,
        size: Vec<u64>,
        within: Option<&[u64]>,
        channels: u64,
    ) -> Result<Self, ConfigureError> {
        if channels == 0 {
            return Err(ConfigureError::Channels { domain });
        }
        let given = within.unwrap_or(&size).to_vec();
        let extents = match (&given[..], &size[..]) {
            (&[width], [others @ .., _]) => others.iter().copied().chain([width]).collect(),
            _ => given.clone(),
        };
        let holds = extents.len() == size.len() && extents.iter().zip(&size).all(|(extent, n)| extent >= n);
        let mut strides = vec![0; size.len()];
        let mut stride = Some(channels).filter(|_| holds);
        for (own, &extent) in strides.iter_mut().zip(&extents).rev() {
            *own = stride.map_or(0, |stride| stride as i64);
            stride = stride.and_then(|stride| stride.checked_mul(extent)).filter(|&stride| stride < MOST);
        }
        if stride.is_none() {
            return Err(ConfigureError::Extents { domain, given, size });
        }
        let closed = within.is_some_and(|within| within.len() == size.len());
        Ok(Self { domain, size, extents, channels, strides, closed })
    }

    pub fn strides(&self) -> &[i64] {
        &self.strides
    }

    /// Where the rectangle's first point lies.
    pub fn start(&self, at: &At) -> Result<u64, Error> {
        let Self { domain, channels, .. } = *self;
        if at.channel >= channels {
            return Err(ConfigureError::Channel { domain, channel: at.channel, channels }.into());
        }
        if at.origin.is_empty() {
            return Ok(at.channel);
        }
        let open = |axis| axis == 0 && !self.closed;
        let room = |axis: usize| if open(axis) { MOST } else { self.extents[axis] - self.size[axis] };
        let inside = at.origin.len() == self.size.len()
            && at.origin.iter().enumerate().all(|(axis, &first)| first <= room(axis));
        let place = at.origin.iter().zip(&self.strides).try_fold(at.channel, |sum, (&first, &stride)| {
            sum.checked_add(first.checked_mul(stride.unsigned_abs())?).filter(|&sum| sum < MOST)
        });
        place.filter(|_| inside).ok_or_else(|| {
            ConfigureError::Origin {
                domain,
                origin: at.origin.clone(),
                size: self.size.clone(),
                extents: self.extents.clone(),
                last: (0..self.size.len()).map(room).collect(),
            }
            .into()
        })
    }
}

/// Part of a plane, from that element on, of which so many are spanned.
fn cut<T>(
    data: &[T],
    start: u64,
    span: u64,
    (which, plane, complex): (Which, u8, bool),
) -> Result<&[T], Error> {
    let range = range(data.len(), start, span).ok_or_else(|| {
        let unit = if complex { "complex elements" } else { "reals" };
        Error::BufferTooSmall { which, plane, unit, needed: start + span, got: data.len() as u64 }
    })?;
    Ok(&data[range])
}

/// The same of one that is written.
fn cut_mut<T>(data: &mut [T], start: u64, span: u64, what: (Which, u8, bool)) -> Result<&mut [T], Error> {
    let length = cut(data, start, span, what)?.len();
    let first = data.len() - length;
    Ok(&mut data[first..])
}

/// All from that element on, if so many are there.
fn range(length: usize, start: u64, span: u64) -> Option<std::ops::Range<usize>> {
    (start.checked_add(span)? <= length as u64).then_some(start as usize..length)
}

/// An array from that element on, of which so many are spanned.
pub(super) fn from<T: Real>(data: Planes<'_, T>, start: u64, span: u64) -> Result<Planes<'_, T>, Error> {
    const WHICH: Which = Which::Input;
    Ok(match data {
        Planes::Interleaved(data) => Planes::Interleaved(cut(data, start, span, (WHICH, 0, true))?),
        Planes::Planar(re, im) => {
            let im = cut(im, start, span, (WHICH, 1, false))?;
            Planes::Planar(cut(re, start, span, (WHICH, 0, false))?, im)
        }
        Planes::Real(data) => Planes::Real(cut(data, start, span, (WHICH, 0, false))?),
    })
}

/// The same of one that is written.
pub(super) fn from_mut<T: Real>(
    data: PlanesMut<'_, T>,
    start: u64,
    span: u64,
) -> Result<PlanesMut<'_, T>, Error> {
    const WHICH: Which = Which::Output;
    Ok(match data {
        PlanesMut::Interleaved(data) => PlanesMut::Interleaved(cut_mut(data, start, span, (WHICH, 0, true))?),
        PlanesMut::Planar(re, im) => {
            let im = cut_mut(im, start, span, (WHICH, 1, false))?;
            PlanesMut::Planar(cut_mut(re, start, span, (WHICH, 0, false))?, im)
        }
        PlanesMut::Real(data) => PlanesMut::Real(cut_mut(data, start, span, (WHICH, 0, false))?),
    })
}
