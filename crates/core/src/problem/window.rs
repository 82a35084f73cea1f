//! Which points of a transformed dimension lie in memory: padding, cropping and shifts as one idea.

use super::{Dim, ELEMENT_LIMIT, Kind, Placement, Problem};
use crate::error::{Error, Side};

/// The points of a transformed dimension that lie in memory on one side of a problem: the point at index `i` there, of
/// `len`, is point `(start + i) mod n` of the transform.
///
/// Half a spectrum has `n / 2 + 1` points, the frequencies from 0 on, and its window starts with the first of them.
///
/// What is not in the window of the input is zero, and is not read; what is not in that of the output is not written.
/// `start` 0 with fewer points than `n` pads or crops; all `n` points from `n - n / 2` on are `fftshift` of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Window {
    /// The transform's point that comes first in memory, below `n`.
    pub start: u64,
    /// Points in memory, from 1 to `n`.
    pub len: u64,
}

impl Window {
    /// A window.
    pub const fn new(start: u64, len: u64) -> Self {
        Self { start, len }
    }

    /// All points in their order.
    pub const fn whole(n: u64) -> Self {
        Self { start: 0, len: n }
    }

    /// Whether all of `n` points are there, in their order.
    pub const fn is_whole(self, n: u64) -> bool {
        self.start == 0 && self.len == n
    }

    /// The point of the transform at an index in memory.
    pub const fn point(self, index: u64, n: u64) -> u64 {
        let to_end = n - self.start;
        if index < to_end { self.start + index } else { index - to_end }
    }
}

/// Addresses of points that memory need not hold stay below this.
const REACH: i128 = 1 << 60;

impl Problem {
    /// The window of a dimension on a side of the problem: those of [`Problem::transform`], then those of its kind.
    pub fn window(&self, dim: usize, side: Side) -> Window {
        let output = usize::from(side == Side::Output);
        let own = self.windows.get(dim).map(|sides| sides[output]);
        own.unwrap_or_else(|| Window::whole(self.window_points(dim)[output]))
    }

    /// Whether its windows only move points, and leave none out.
    pub fn has_all_points(&self) -> bool {
        (0..self.windows.len()).all(|dim| {
            let lens = [Side::Input, Side::Output].map(|side| self.window(dim, side).len);
            lens == self.window_points(dim)
        })
    }

    /// Which point of a dimension, numbered as functions number it, comes first in memory on both sides, and after how many they
    /// start anew; `None`: the first.
    pub(crate) fn first_points(&self, dim: usize) -> [Option<(u32, u32)>; 2] {
        [Side::Input, Side::Output].map(|side| {
            let (start, own) = (self.window(dim, side).start, self.window_points(dim));
            (start > 0).then_some((start as u32, own[usize::from(side == Side::Output)] as u32))
        })
    }

    /// Points that a dimension to transform has on both sides, windows left aside.
    fn window_points(&self, dim: usize) -> [u64; 2] {
        match self.transform.get(dim) {
            Some(dim) => [dim.n; 2],
            None => self.kind.dims().nth(dim - self.transform.len()).map_or([1; 2], |(_, points)| points),
        }
    }

    /// Whether some side lacks points, or has them in another order.
    pub fn is_windowed(&self) -> bool {
        !self.windows.is_empty()
    }

    /// Whether the output's elements lie elsewhere than the input's of the same index.
    pub(crate) fn moves(&self) -> bool {
        let windows = |sides: &[Window; 2]| sides[0].len != sides[1].len;
        self.dims().any(|dim| dim.is != dim.os) || self.windows.iter().any(windows)
    }

    pub(super) fn check_windows(&self) -> Result<(), Error> {
        if self.windows.is_empty() {
            return Ok(());
        }
        if matches!(self.kind, Kind::Zoom(_)) {
            return Err(Error::WindowKind);
        }
        let halved = matches!(self.kind, Kind::RealToComplex(_) | Kind::ComplexToReal(_));
        let own: Vec<Dim> =
            self.transform.iter().copied().chain(self.kind.dims().map(|(dim, _)| dim)).collect();
        let (expected, got) = (own.len(), self.windows.len());
        if expected != got {
            return Err(Error::WindowCount { expected, got });
        }
        for (axis, (dim, sides)) in own.iter().zip(&self.windows).enumerate() {
            let points = self.window_points(axis);
            for (side, (&Window { start, len }, n)) in
                [Side::Input, Side::Output].into_iter().zip(sides.iter().zip(points))
            {
                if len == 0 || len > n || start >= n {
                    return Err(Error::Window { side, axis, n, start, len });
                }
                let spectrum = halved
                    && axis == self.transform.len()
                    && !self.kind.reals()[usize::from(side == Side::Output)];
                if spectrum && start != 0 {
                    return Err(Error::WindowHalved { side, n, start });
                }
                // What memory lacks is addressed all the same, and dropped: that address must be a number.
                let stride = if side == Side::Input { dim.is } else { dim.os };
                let highest = i128::from(n) * i128::from(stride).abs();
                if highest >= REACH {
                    return Err(Error::AddressOverflow { side, highest, limit: ELEMENT_LIMIT - 1 });
                }
            }
        }
        if halved && self.placement == Placement::InPlace && !self.has_whole_windows() {
            return Err(Error::WindowInPlace);
        }
        Ok(())
    }

    fn has_whole_windows(&self) -> bool {
        self.windows
            .iter()
            .enumerate()
            .all(|(axis, sides)| sides.iter().zip(self.window_points(axis)).all(|(own, n)| own.is_whole(n)))
    }

    /// No windows where all are whole.
    pub(super) fn drop_whole_windows(&mut self) {
        if self.has_whole_windows() {
            self.windows.clear();
        }
    }
}
