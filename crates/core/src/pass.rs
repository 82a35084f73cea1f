//! What one kernel does to memory: gather a tile by strides, transform one to three dimensions of it on the
//! chip, multiply by twiddles or by a table, scatter by strides. A pass knows elements and bytes, not threads.

mod fold;
mod images;
mod method;
mod table;
mod window;

pub use fold::{Carry, Fold, Formula, Way, points};
pub use images::Images;
pub use method::{CoprimePart, Method, PartKind, Reals, Stage};
pub use table::{Coordinate, MAX_STAGES, TableKind};
pub use window::Window;

use crate::function::Functions;
use crate::problem::{Dim, Direction, Format, Precision, Storage};

/// Which array a pass reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Array {
    /// The caller's input.
    Input,
    /// The caller's output; in place, the caller's data.
    Output,
    /// A region of the workspace, packed and interleaved.
    Workspace(u8),
}

/// One side of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Operand {
    /// Array.
    pub array: Array,
    /// Interleaved or planar.
    pub format: Format,
    /// Element at which index (0, .., 0) lies.
    pub offset: u64,
    /// Elements that the array holds.
    pub span: u64,
    /// How it keeps real numbers: the workspace as they are computed in.
    pub storage: Storage,
}

impl Operand {
    /// Whether indices of its reals do not fit 32 bits.
    pub(crate) fn needs_wide_index(&self) -> bool {
        self.span.saturating_mul(self.format.step()) > u64::from(u32::MAX / 2)
    }
}

/// A dimension of a pass, transformed or repeated over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PassDim {
    /// Points.
    pub n: u64,
    /// Stride in the source.
    pub is: i64,
    /// Stride in the destination.
    pub os: i64,
    /// Weight in the index of [`Pass::load`].
    pub load_index: u64,
    /// Weight in the index of [`Pass::store`].
    pub store_index: u64,
    /// Weight in the twiddle exponent (repeated dimensions; see [`Pass::twiddle`]).
    pub twiddle: u64,
    /// Distance of neighbours in the pass's filter: of frequencies, where it is transformed.
    pub filter: i64,
    /// Every tile holds all of it (repeated dimensions): it moves in place, where blocks would else overwrite what
    /// others have still to read.
    pub whole: bool,
    /// Which dimension of the problem it is of: those to transform first, then those to repeat over.
    pub of: Option<u16>,
    /// What a step counts in that dimension's index, where elements are read and where they are written.
    pub counts: [u64; 2],
    /// Which of the dimension's points comes first in memory, and how many there are after which they start anew, where elements
    /// are read and where they are written; `None`: the first.
    pub first: [Option<(u32, u32)>; 2],
    /// Each run says how many of its `n` points there are (of one repeated dimension at most, which blocks walk slowest).
    pub at_run: bool,
}

impl PassDim {
    /// A dimension without weights.
    pub const fn new(n: u64, is: i64, os: i64) -> Self {
        Self {
            n,
            is,
            os,
            load_index: 0,
            store_index: 0,
            twiddle: 0,
            filter: 0,
            whole: false,
            of: None,
            counts: [0; 2],
            first: [None; 2],
            at_run: false,
        }
    }

    /// The same indices as two dimensions: groups of so many neighbours, and the index within a group. It is to be a divisor of
    /// the number of points, each of which lies in memory and is known when the pass is made.
    pub fn in_groups_of(&self, together: u64) -> [Self; 2] {
        let Self { n, is, os, load_index, store_index, twiddle, filter, whole, of, counts, first, at_run } =
            *self;
        let step = together as i64;
        let groups = Self {
            n: n / together,
            is: is * step,
            os: os * step,
            load_index: load_index * together,
            store_index: store_index * together,
            twiddle: twiddle * together,
            filter: filter * step,
            whole,
            of,
            counts: counts.map(|count| count * together),
            first,
            at_run,
        };
        [groups, Self { n: together, ..*self }]
    }

    /// Whether a pass that is repeated over it would be another without it.
    pub fn counts_for(&self) -> bool {
        self.n > 1 || self.at_run || self.first != [None; 2]
    }
}

impl From<&Dim> for PassDim {
    fn from(dim: &Dim) -> Self {
        Self { at_run: dim.at_run, ..Self::new(dim.n, dim.is, dim.os) }
    }
}

/// A transformed dimension.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Axis {
    /// Length, strides and weights.
    pub dim: PassDim,
    /// Algorithm.
    pub method: Method,
    /// The digits of its index, slowest of the input and fastest of the output first, where each has strides of its
    /// own; empty: those of `dim`. Each is the product of radices that follow each other.
    pub digits: Vec<PassDim>,
}

impl Axis {
    /// An axis that lies evenly.
    pub const fn new(dim: PassDim, method: Method) -> Self {
        Self { dim, method, digits: Vec::new() }
    }

    /// The digits of its index; one where it lies evenly.
    pub fn digits(&self) -> &[PassDim] {
        if self.digits.is_empty() { std::slice::from_ref(&self.dim) } else { &self.digits }
    }
}

/// Factors `exp(-+ 2 pi i k x / L)` between two passes over parts of a dimension: k the index of an axis, x the sum of the repeated
/// dimensions' indices times their weights, in whole groups of `alike`; the second of two rows that points carry is one further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Twiddle {
    /// L.
    pub modulus: u64,
    /// The axis whose index is k.
    pub axis: usize,
    /// Before the axes are transformed, by input indices, instead of after, by output indices.
    pub reads: bool,
    /// Neighbours along the repeated dimensions that have the same factors: the length of a dimension that is repeated over as one
    /// with what is left of the parted one.
    pub alike: u64,
}

impl Twiddle {
    /// Of the first axis, after it is transformed.
    pub const fn after(modulus: u64) -> Self {
        Self { modulus, axis: 0, reads: false, alike: 1 }
    }
}

/// A factor on every element, looked up by an index that is linear in the element's position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Pointwise {
    /// The factors; `None`: 1.
    pub table: Option<TableKind>,
    /// Elements whose index is not below this are zero (load) or dropped (store).
    pub limit: Option<u64>,
    /// Take the table against the direction of the pass: the way back of a convolution runs the other way.
    pub against: bool,
}

/// One pass over memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Pass {
    /// Transformed dimensions, slowest first; none: a copy.
    pub axes: Vec<Axis>,
    /// Dimensions repeated over.
    pub batch: Vec<PassDim>,
    /// Dimensions that the problem transforms: more than there are axes, where other passes have the rest.
    pub rank: usize,
    /// Whether what it was scheduled for is of complex numbers: a pass between these may also be part of one of reals.
    pub complex: bool,
    /// Where it reads.
    pub src: Operand,
    /// Where it writes.
    pub dst: Operand,
    /// Real numbers.
    pub precision: Precision,
    /// Sign of the exponent.
    pub direction: Direction,
    /// The factors between this pass and another over the rest of a dimension.
    pub twiddle: Option<Twiddle>,
    /// Applied to what is loaded.
    pub load: Option<Pointwise>,
    /// Applied to what is stored.
    pub store: Option<Pointwise>,
    /// Factor on every output.
    pub scale: f64,
    /// What stands between memory and the points, where they are read and where they are written. On such a side the
    /// axis counts its points one by one and the array is what the fold says; without an axis, the first repeated
    /// dimension counts the fold's items, and the other side holds points.
    pub ends: [Option<Fold>; 2],
    /// Functions of the caller's on what is read and what is written.
    pub functions: Functions,
    /// Dimensions of which not all points lie in memory, where it reads and where it writes.
    pub windows: [Vec<Window>; 2],
    /// The array of factors in the middle of [`PartKind::Filter`].
    pub filter: Option<Factors>,
    /// Its first two repeated dimensions are rows of lines of reals in pairs, each with its mirror image.
    pub images: Option<Images>,
}

/// An array of complex factors of which a pass reads one for each frequency, at distances that its dimensions say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Factors {
    /// Element of the first of them.
    pub offset: u64,
    /// Elements that the array holds.
    pub span: u64,
    /// The factors are the conjugates of what it holds.
    pub conjugate: bool,
}

impl Pass {
    /// What a fold of this pass does on its side.
    pub fn way(&self, writes: bool) -> Way {
        let back = self.direction == Direction::Inverse;
        let own = |fold: Fold| match fold.formula.ways(back)[usize::from(writes)] {
            Way::Natural => Way::InOrder,
            way => way,
        };
        self.ends[usize::from(writes)].map_or(Way::Natural, own)
    }

    /// Whether the spectra of its planes or volumes on that side go between memory and a block as they lie, folded where they
    /// stand (`lower/fold/straight.rs`). On the way out longer lines than those that go one by one took 4 to 18% more so. So do
    /// lines by themselves, where their short numbers leave by wider accesses: 32 reals kept in f16 took 1.36 copies, and take 1.05.
    pub fn spectrum_lies_straight(&self, writes: bool) -> bool {
        let function = if writes { &self.functions.store } else { &self.functions.load };
        let spectrum = |fold: Fold| {
            matches!(fold.formula, Formula::Spectrum { .. })
                && matches!(fold.carry, Carry::Halves)
                && fold.window.is_none()
                && (!writes || fold.one_by_one())
        };
        (self.axes.len() > 1 || (writes && self.dst.storage.real_bytes() < 4))
            && self.axes.iter().all(|axis| axis.method.in_place().is_empty())
            && self.way(writes) == Way::Bins
            && self.ends[usize::from(writes)].is_some_and(spectrum)
            && self.windows[usize::from(writes)].is_empty()
            && function.is_none()
            && self.twiddle.is_none()
    }

    /// All its axes as one part, where they are convolved together: there along one after the other, through the product,
    /// and back in the opposite order. Its stages are those of the axes in turn.
    pub fn convolved_together(&self) -> Option<CoprimePart> {
        let radices = |axis: &Axis| match &axis.method {
            Method::Coprime(parts) => match &parts[..] {
                [part] if part.kind == PartKind::Filter => Some(part.radices.clone()),
                _ => None,
            },
            Method::MixedRadix(_) | Method::Reals(_) | Method::Decimated { .. } => None,
        };
        let all: Option<Vec<_>> = self.axes.iter().map(radices).collect();
        let radices = all.filter(|axes| axes.len() > 1)?.concat();
        let n = self.axes.iter().map(|axis| axis.dim.n).product();
        Some(CoprimePart { n, kind: PartKind::Filter, chirp: None, band: None, radices })
    }

    /// Whether it is a fold and nothing else.
    pub fn folds_alone(&self) -> bool {
        self.axes.is_empty() && self.folds()
    }

    /// Whether it is there for the order of what other passes left (`solve/ordered.rs`).
    pub fn puts_in_order(&self) -> bool {
        !self.axes.is_empty() && self.axes.iter().all(|axis| axis.method.points() == 1) && !self.folds()
    }

    /// Whether memory does not hold its points on some side.
    pub fn folds(&self) -> bool {
        self.ends.iter().any(Option::is_some)
    }

    /// Whether the blocks of a cluster may hold a tile together: of folds, those that know which two points they take,
    /// and where these stand.
    pub fn takes_cluster(&self) -> bool {
        self.ends
            .iter()
            .flatten()
            .all(|fold| matches!((fold.formula, fold.carry), (Formula::Spectrum { .. }, Carry::Halves)))
            && [false, true].iter().all(|&writes| self.way(writes) != Way::InOrder)
    }

    /// Bytes between neighbours of a side that lies packed.
    pub fn element_bytes(&self, writes: bool) -> u64 {
        let Operand { format, storage, .. } = if writes { self.dst } else { self.src };
        match format {
            Format::Interleaved | Format::Planar => storage.complex_bytes(),
            Format::Real | Format::Apart(_) => storage.real_bytes(),
        }
    }

    /// Bytes read, or written.
    pub fn bytes(&self, writes: bool) -> u64 {
        let Operand { format, storage, .. } = if writes { self.dst } else { self.src };
        let real = storage.real_bytes();
        let element = match format {
            Format::Interleaved | Format::Planar | Format::Apart(_) => 2 * real,
            Format::Real => real,
        };
        let elements = match self.ends[usize::from(writes)] {
            Some(fold) if self.axes.is_empty() => {
                fold.elements() * self.batch[1..].iter().map(|dim| dim.n).product::<u64>()
            }
            Some(fold) => {
                let (_, others) = self.axes.split_last().unwrap_or((&self.axes[0], &[]));
                fold.elements() * others.iter().map(|axis| axis.dim.n).product::<u64>() * self.repeats()
            }
            None if self.folds_alone() => {
                let points = self.ends.iter().flatten().map(Fold::points).sum::<u64>();
                points * self.batch[1..].iter().map(|dim| dim.n).product::<u64>()
            }
            None if let Some(images) = self.images => {
                self.image_points(images, writes) * self.batch[2..].iter().map(|dim| dim.n).product::<u64>()
            }
            None => {
                self.windows[usize::from(writes)].iter().fold(self.elements(), |all, own| own.part_of(all))
            }
        };
        elements * element
    }

    /// Elements read or written (the larger), without padding.
    pub fn elements(&self) -> u64 {
        let axes: u64 = self.axes.iter().map(|axis| axis.dim.n).product();
        axes * self.repeats()
    }

    /// Transforms.
    pub fn repeats(&self) -> u64 {
        self.batch.iter().map(|dim| dim.n).product()
    }

    /// The repeated dimension of which each run says how many points there are.
    pub fn at_run(&self) -> Option<usize> {
        self.batch.iter().position(|dim| dim.at_run)
    }

    /// Whether elements of the source are read again and again.
    pub fn broadcasts(&self) -> bool {
        let dims = self.batch.iter().chain(self.axes.iter().map(|axis| &axis.dim));
        dims.into_iter().any(|dim| dim.n > 1 && dim.is == 0)
            || self.ends[0].is_some_and(|fold| fold.stride == 0)
    }

    /// Whether elements of a tile change places in the array that they were read from.
    pub fn moves(&self) -> bool {
        self.in_place() && self.batch.iter().any(|dim| dim.whole)
    }

    /// Whether source and destination are the same array.
    pub fn in_place(&self) -> bool {
        self.src.array == self.dst.array
    }
}
