//! A pass: all lines along one axis, tile by tile.

use std::sync::Arc;

use rustfft::Fft;
use warpfft_core::problem::Dim;

use super::CpuReal;
use super::real::RealLine;
use super::tile::{Mode, Scratch, run_tile};
use super::view::View;

/// Reals between points that may fall on the same place of a cache: 512 bytes or more.
const CONFLICT: u64 = 128;
/// Reals of a gap against that: 64 bytes or more.
const GAP: u64 = 16;

/// An array that a pass reads from or writes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Array {
    /// The caller's input; in place it is the output's memory, seen as the input's format.
    Input,
    /// The caller's output.
    Output,
    /// One of our own, packed.
    Stage,
}

/// What becomes of a line.
#[derive(Clone)]
pub(super) enum Work<T> {
    /// Itself.
    Copy,
    /// As many complex numbers.
    Complex(Arc<dyn Fft<T>>),
    /// Something with reals on one side or both.
    Real(Arc<dyn RealLine<T>>),
}

/// A line as it is read, or as it is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Side {
    /// Its points.
    pub n: u64,
    /// How far apart they lie.
    pub stride: i64,
    /// Reals of a point.
    pub parts: u64,
    /// Whether lines of a buffer have a gap between them where they would fall on the same place of a cache.
    pub apart: bool,
}

impl Side {
    /// Reals of the line.
    pub fn reals(self) -> u64 {
        self.n * self.parts
    }

    /// Reals from one line of a buffer to the next. Where lines began a large power of two apart, the cache could not
    /// hold one point of several of them.
    pub fn pitch(self) -> u64 {
        let reals = self.reals();
        if self.apart && reals.is_multiple_of(CONFLICT) { reals + GAP } else { reals }
    }

    /// Reals of a buffer of so many lines.
    pub fn buffer(self, lines: u64) -> u64 {
        lines.saturating_mul(self.pitch())
    }
}

/// All lines along one axis.
pub(super) struct Pass<T> {
    /// What becomes of a line.
    pub work: Work<T>,
    /// A line as it is read, and as it is written.
    pub line: [Side; 2],
    /// The dimension along which a tile takes several lines.
    pub lanes: Dim,
    /// Lines of a tile.
    pub tile: u64,
    /// Factor on every element.
    pub scale: Option<T>,
    /// How a tile gets at its lines.
    pub mode: Mode,
    /// The other dimensions.
    pub outer: Vec<Dim>,
    /// Where it reads and where it writes.
    pub arrays: (Array, Array),
    /// The first element there.
    pub offsets: (isize, isize),
}

impl<T: CpuReal> Pass<T> {
    /// Tiles, each of which a thread does at once.
    pub fn tiles(&self) -> u64 {
        self.outer.iter().map(|dim| dim.n).product::<u64>() * self.lanes.n.div_ceil(self.tile)
    }

    /// Runs one of the tiles.
    ///
    /// # Safety
    ///
    /// The views hold all that the problem spans, and no other thread writes what the tile reads or touches what it writes.
    pub unsafe fn tile(&self, from: View<T>, to: View<T>, tile: u64, scratch: &mut Scratch<T>) {
        let across = self.lanes.n.div_ceil(self.tile);
        let first = tile % across * self.tile;
        let (mut at, mut rest) = (self.start(first), tile / across);
        for dim in &self.outer {
            let index = (rest % dim.n) as isize;
            rest /= dim.n;
            at.0 += index * dim.is as isize;
            at.1 += index * dim.os as isize;
        }
        let lanes = self.tile.min(self.lanes.n - first);
        // SAFETY: by this function's contract; every index is within its dimension.
        unsafe { run_tile(self, from, to, at, lanes as usize, scratch) };
    }

    fn start(&self, lane: u64) -> (isize, isize) {
        let lane = lane as isize;
        let from = self.offsets.0 + lane * self.lanes.is as isize;
        let to = self.offsets.1 + lane * self.lanes.os as isize;
        (from, to)
    }
}
