//! A tile as mixed-radix digits.
//!
//! Every axis of length `N = r1 r2 .. rs` is cut into digits: input index `n = sum n_i N/(r1..ri)`, output index
//! `k = sum k_i r1..r(i-1)`. Stage i turns digit `n_i` into digit `k_i` where it stands, so a tile is an array
//! over digits, and every address (source, destination, shared memory, table) is linear in them. Batches are
//! digits too, which no stage transforms. That is why one lowering serves rows, columns, planes and volumes.

use crate::pass::{Axis, Method, Pass, PassDim};

use super::dealt::Reflected;
use super::tile::Tile;

/// One digit of the tile with its weight in every linear map.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Digit {
    /// Values it takes.
    pub size: u32,
    /// Weight in the source address.
    pub is: i64,
    /// Weight in the destination address.
    pub os: i64,
    /// Weight in the index of the pass's load factor.
    pub load_index: i64,
    /// Weight in the index of the pass's store factor.
    pub store_index: i64,
    /// Weight in the twiddle's x (repeated dimensions).
    pub twiddle: i64,
    /// Axis it belongs to, or `None` for a repeated dimension.
    pub axis: Option<usize>,
    /// Repeated dimension it belongs to.
    pub batch: Option<usize>,
    /// Weight in the index of the pass's filter.
    pub filter: i64,
    /// Weight in the axis's index before its stages.
    pub input: i64,
    /// Dimension of the problem that it is of.
    pub of: Option<u16>,
    /// Weights in that dimension's index, where elements are read and where they are written.
    pub counts: [i64; 2],
    /// Weight in the axis's index once its stages are done.
    pub output: i64,
    /// Weight in the repeated dimension's index.
    pub number: i64,
}

impl Digit {
    /// One value, and no weight anywhere.
    pub const STILL: Self = Self {
        size: 1,
        is: 0,
        os: 0,
        load_index: 0,
        store_index: 0,
        twiddle: 0,
        axis: None,
        batch: None,
        filter: 0,
        input: 0,
        of: None,
        counts: [0; 2],
        output: 0,
        number: 0,
    };

    /// A whole axis as one digit.
    fn of_axis(axis: &Axis, index: usize) -> Self {
        Self {
            axis: Some(index),
            batch: None,
            twiddle: 0,
            input: 1,
            output: 1,
            number: 0,
            ..Self::of_batch(&axis.dim, 0, axis.dim.n)
        }
    }

    pub(super) fn of_batch(dim: &PassDim, index: usize, size: u64) -> Self {
        Self {
            size: size as u32,
            is: dim.is,
            os: dim.os,
            load_index: dim.load_index as i64,
            store_index: dim.store_index as i64,
            twiddle: dim.twiddle as i64,
            axis: None,
            batch: Some(index),
            filter: dim.filter,
            input: 0,
            of: dim.of,
            counts: dim.counts.map(|weight| weight as i64),
            output: 0,
            number: 1,
        }
    }

    /// A digit of so many values, each so many of this one's.
    pub(super) fn of_units(self, unit: u32, size: u32) -> Self {
        let scale = i64::from(unit);
        Self {
            size,
            is: self.is * scale,
            os: self.os * scale,
            load_index: self.load_index * scale,
            store_index: self.store_index * scale,
            twiddle: self.twiddle * scale,
            filter: self.filter * scale,
            input: self.input * scale,
            output: self.output * scale,
            number: self.number * scale,
            counts: self.counts.map(|weight| weight * scale),
            ..self
        }
    }
}

/// The digits of a tile and where each axis's stages stand among them.
#[derive(Debug, Clone)]
pub struct Digits {
    /// All digits.
    pub all: Vec<Digit>,
    /// Digit of each stage of each axis, in order.
    pub stages: Vec<Vec<usize>>,
    /// The digit that continues a stage's where a cluster has cut it in two: both lie in registers in that stage.
    pub upper: Vec<Option<usize>>,
    /// Where the rank is reflected.
    pub reflected: Option<Reflected>,
}

impl Digits {
    /// Cuts a pass's tile.
    pub fn of(pass: &Pass, tile: &Tile) -> Self {
        let mut all = Vec::new();
        let mut stages = Vec::new();
        for (index, axis) in pass.axes.iter().enumerate() {
            let decimated = match &axis.method {
                Method::Decimated { radix, part } => Some([*radix, part.n as u32]),
                _ => None,
            };
            let radices = decimated.as_ref().map_or(axis.method.radices(), |radices| radices);
            let points = if decimated.is_some() { axis.dim.n } else { axis.method.points() };
            let mut done = 1;
            let mut own = Vec::new();
            if matches!(axis.method, Method::Coprime(_)) {
                // On the way in and out the axis is one number: what is between has digits of its own.
                all.push(Digit::of_axis(axis, index));
            }
            let mut digits = axis.digits().iter();
            // The digit of the index that stages are in, its points, and those that are done.
            let (mut digit, mut size, mut inside) = (&axis.dim, points, 1);
            for &radix in radices {
                if let Some(next) = (done == 1 || inside == size).then(|| digits.next()).flatten() {
                    let only = axis.digits.is_empty();
                    (digit, size, inside) = (next, if only { points } else { next.n }, 1);
                }
                let input = (size / (inside * u64::from(radix))) as i64;
                own.push(all.len());
                all.push(Digit {
                    size: radix,
                    is: digit.is * input,
                    os: digit.os * inside as i64,
                    load_index: digit.load_index as i64 * input,
                    store_index: digit.store_index as i64 * inside as i64,
                    twiddle: 0,
                    axis: Some(index),
                    batch: None,
                    filter: 0,
                    input: (points / (done * u64::from(radix))) as i64,
                    of: digit.of,
                    counts: [digit.counts[0] as i64 * input, digit.counts[1] as i64 * inside as i64],
                    output: done as i64,
                    number: 0,
                });
                inside *= u64::from(radix);
                done *= u64::from(radix);
            }
            // The digits of rows are not those of their stages.
            stages.push(if decimated.is_some() { Vec::new() } else { own });
        }
        for (index, (dim, &size)) in pass.batch.iter().zip(&tile.batch).enumerate() {
            if size > 1 {
                all.push(Digit::of_batch(dim, index, size));
            }
        }
        Self::new(all, stages)
    }

    /// Digits of which none is cut.
    pub fn new(all: Vec<Digit>, stages: Vec<Vec<usize>>) -> Self {
        let upper = vec![None; all.len()];
        Self { all, stages, upper, reflected: None }
    }

    /// Cuts a stage's digit, so that its upper part takes `size` values, and gives the upper part.
    pub fn cut(&mut self, digit: usize, size: u32) -> usize {
        let whole = self.all[digit];
        if whole.size == size {
            return digit;
        }
        let rest = whole.size / size;
        self.all[digit].size = rest;
        self.upper[digit] = Some(self.all.len());
        self.upper.push(None);
        self.all.push(whole.of_units(rest, size));
        self.all.len() - 1
    }

    /// Values that a stage's digit takes, both parts together.
    pub fn radix(&self, digit: usize) -> u32 {
        self.all[digit].size * self.upper[digit].map_or(1, |upper| self.all[upper].size)
    }

    /// A digit and the one that continues it.
    pub fn parts(&self, digit: Option<usize>) -> [Option<usize>; 2] {
        [digit, digit.and_then(|d| self.upper[d])]
    }

    /// What register r adds to a linear form of the tile.
    pub fn at_register(&self, digit: Option<usize>, weights: &[i64], r: usize) -> i64 {
        let Some(d) = digit else { return 0 };
        let size = self.all[d].size as usize;
        weights[d] * (r % size) as i64 + self.upper[d].map_or(0, |upper| weights[upper] * (r / size) as i64)
    }

    /// Elements of the tile.
    pub fn elements(&self) -> u32 {
        self.all.iter().map(|digit| digit.size).product()
    }

    /// One weight of every digit: a linear map of the tile.
    pub fn weights(&self, weight: impl Fn(&Digit) -> i64) -> Vec<i64> {
        self.all.iter().map(weight).collect()
    }

    /// Digits (but for some) from the fastest to the slowest by their strides.
    pub fn by_stride(&self, without: &[Option<usize>], strides: &[i64]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.all.len()).filter(|&d| !without.contains(&Some(d))).collect();
        order.sort_by_key(|&d| (strides[d].unsigned_abs(), std::cmp::Reverse(self.all[d].size)));
        order
    }

    /// Neighbouring elements, in runs without a gap, forward or backward, that consecutive threads touch in a layout.
    pub fn run(&self, order: &[usize], strides: &[i64]) -> u64 {
        let mut run = 1;
        for &d in order {
            if strides[d].unsigned_abs() != run {
                break;
            }
            run *= u64::from(self.all[d].size);
        }
        run
    }
}
