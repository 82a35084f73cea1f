//! Which points of a transformed dimension lie in memory: padding, cropping and shifts as one idea.

use super::{ELEMENT_LIMIT, Kind, Problem};
use crate::error::{Error, Side};

/// The points of a transformed dimension that lie in memory on one side of a problem: the point at index `i` there, of
/// `len`, is point `(start + i) mod n` of the transform.
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
    /// The window of a dimension of [`Problem::transform`] on a side of the problem.
    pub fn window(&self, dim: usize, side: Side) -> Window {
        let own = self.windows.get(dim).map(|sides| sides[usize::from(side == Side::Output)]);
        own.unwrap_or(Window::whole(self.transform[dim].n))
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
        if self.kind != Kind::Complex {
            return Err(Error::WindowKind);
        }
        let (expected, got) = (self.transform.len(), self.windows.len());
        if expected != got {
            return Err(Error::WindowCount { expected, got });
        }
        for (axis, (dim, sides)) in self.transform.iter().zip(&self.windows).enumerate() {
            for (side, window) in [Side::Input, Side::Output].into_iter().zip(sides) {
                if window.len == 0 || window.len > dim.n || window.start >= dim.n {
                    let Window { start, len } = *window;
                    return Err(Error::Window { side, axis, n: dim.n, start, len });
                }
                // What memory lacks is addressed all the same, and dropped: that address must be a number.
                let stride = if side == Side::Input { dim.is } else { dim.os };
                let highest = i128::from(dim.n) * i128::from(stride).abs();
                if highest >= REACH {
                    return Err(Error::AddressOverflow { side, highest, limit: ELEMENT_LIMIT - 1 });
                }
            }
        }
        Ok(())
    }

    /// No windows where all are whole.
    pub(super) fn drop_whole_windows(&mut self) {
        let whole = |(dim, sides): (&super::Dim, &[Window; 2])| sides.iter().all(|own| own.is_whole(dim.n));
        if self.transform.iter().zip(&self.windows).all(whole) {
            self.windows.clear();
        }
    }
}
