//! Rows of a line of reals in pairs, each with its mirror image.

use super::{Carry, Pass, PassDim};
use crate::problem::{Direction, half};
use crate::target::SECTOR_BYTES;

/// A line of `2 M` reals is a complex line of `M = rows B` points, whose columns are transformed by another pass. This one
/// transforms row `j` together with row `rows - j`, taken as conjugates: then point `k2` of the one is frequency
/// `k = j + rows k2` of the complex line, and point `k2` of the other the conjugate of frequency `M - k`. That is all that
/// frequencies `k` and `M - k` of the reals are made of, so they are where both rows have the same index, in the same thread.
///
/// Lines of an odd length `M` go in pairs, or alone: a complex line has `M` points. Its frequencies `k` and `M - k` give those of
/// both lines at `k`, or at `M - k` where that is less.
///
/// On the side of the rows the strides are those of points and rows; on the side of the spectrum, those of frequencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Images {
    /// Rows of the complex line.
    pub rows: u64,
    /// How its points carry reals.
    pub carry: Carry,
    /// Memory holds the conjugates of the spectrum.
    pub conjugate: bool,
}

impl Images {
    /// The repeated dimension that tells a row from its image.
    pub const MEMBER: usize = 0;
    /// The repeated dimension of the rows that are no images of others: the first half of them, with the middle.
    pub const ROW: usize = 1;

    /// The two of a pair.
    pub const MEMBERS: PassDim = PassDim { whole: true, ..PassDim::new(2, 0, 0) };

    /// Says about how far images are from their rows, for whoever asks which elements are neighbours.
    pub fn place(self, batch: &mut [PassDim], writes: bool) {
        let rows = batch[Self::ROW];
        let [from, to] = [rows.is, rows.os].map(|stride| stride * self.rows as i64);
        if writes { batch[Self::MEMBER].os = to } else { batch[Self::MEMBER].is = from }
    }

    /// The same of the spectra, where a frequency of one line stands beside that of another.
    pub fn place_spectra(self, batch: &mut [PassDim], writes: bool) {
        match self.carry {
            Carry::Rows([_, distance]) if writes => batch[Self::MEMBER].os = distance,
            Carry::Rows([distance, _]) => batch[Self::MEMBER].is = distance,
            Carry::Halves | Carry::Single => self.place(batch, writes),
        }
    }
}

impl Pass {
    /// Whether one side, where it reads or where it writes, holds rows in pairs, and which rows.
    pub fn rows_in_pairs(&self, writes: bool) -> Option<Images> {
        self.images.filter(|_| self.spectrum_side() != writes)
    }

    /// Frequencies of a sector of memory, where tiles that hold so many rows may start with one wherever a line starts: a tile
    /// begins as many rows earlier as that takes, the first one before row 0, and the last one has room for them.
    pub fn starts_with_sectors(&self, held: u64) -> Option<u64> {
        self.images?;
        let writes = self.spectrum_side();
        let operand = if writes { self.dst } else { self.src };
        let sector = SECTOR_BYTES / self.element_bytes(writes) * operand.format.planes() as u64;
        let n = self.batch[Images::ROW].n;
        let room = n.div_ceil(held) * held - n;
        // Indices before the first wrap in 32 bits.
        let wraps = [self.src, self.dst].iter().all(|operand| !operand.needs_wide_index());
        (held.is_multiple_of(sector) && room + 1 >= sector && wraps).then_some(sector)
    }

    /// Whether a pass of [`Images`] writes the spectrum, and does not read it.
    pub fn spectrum_side(&self) -> bool {
        self.direction == Direction::Forward
    }

    /// Points that one side of a pass of [`Images`] has of each complex line: its own, or the frequencies of what they carry.
    pub(super) fn image_points(&self, images: Images, writes: bool) -> u64 {
        let points = images.rows * self.axes.iter().map(|axis| axis.dim.n).product::<u64>();
        match images.carry {
            _ if self.spectrum_side() != writes => points,
            Carry::Halves => points + 1,
            Carry::Rows(_) => 2 * half(points),
            Carry::Single => half(points),
        }
    }
}
