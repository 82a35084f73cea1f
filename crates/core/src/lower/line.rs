//! One coprime part over all others: its digits, where they stand in shared memory, and which threads take them at
//! each stage.

use crate::pass::{CoprimePart, PartKind, Pass, PassDim, TableKind};

use super::digits::{Digit, Digits};
use super::layout::Layout;
use super::places::{Places, alone};
use super::twiddle::centre;
use super::wavefronts::led_by;

/// A dimension and how many stages of a line it has.
#[derive(Debug, Clone)]
pub(super) struct StagedDim {
    pub dim: PassDim,
    pub stages: usize,
}

/// A part over all others, as it lies in shared memory.
#[derive(Debug, Clone)]
pub(super) struct Line<'a> {
    pub part: &'a CoprimePart,
    /// A digit of each stage, slowest first, then those that it leaves alone.
    pub digits: Digits,
    /// Distance of each digit in shared memory.
    pub strides: Vec<i64>,
    /// Weight of each digit in a point's index.
    pub index: Vec<i64>,
    /// Weight of each digit in a point's frequency, counted from [`CoprimePart::centre`] below zero.
    pub frequency: Vec<i64>,
    /// Where Rader's first point stands.
    pub first: i64,
    /// The first stage reads global memory, the last one writes it.
    pub direct: bool,
    /// The digit that neighbouring threads spell at each stage, where it is not the default's.
    pub leading: Vec<Option<usize>>,
}

impl<'a> Line<'a> {
    /// Part `own` of an axis, or all axes that are convolved together; `batch` are the tile's repeated dimensions.
    pub fn of(
        (dims, parts): (&[StagedDim], &'a [CoprimePart]),
        own: usize,
        places: &Places,
        batch: &[Digit],
    ) -> Self {
        let part = &parts[own];
        let direct = alone(parts).is_some();
        let mut all = Vec::new();
        let strides = places.line_strides(own);
        let (mut index, mut frequency) = (Vec::new(), Vec::new());
        let (mut axis, mut begun, mut done) = (0, 0, 1);
        let points = |begun: usize, stages: usize| {
            part.radices[begun..].iter().take(stages).map(|&radix| u64::from(radix)).product::<u64>()
        };
        for (stage, &radix) in part.radices.iter().enumerate() {
            if stage - begun == dims[axis].stages && axis + 1 < dims.len() {
                (axis, begun, done) = (axis + 1, stage, 1);
            }
            let StagedDim { dim, stages } = &dims[axis];
            let filter = dim.filter * done as i64;
            frequency.push(done as i64);
            done *= u64::from(radix);
            index.push((points(begun, *stages) / done) as i64);
            let weight = index[index.len() - 1];
            all.push(Digit {
                size: radix,
                is: dim.is * weight,
                os: dim.os * weight,
                load_index: dim.load_index as i64 * weight,
                store_index: dim.store_index as i64 * weight,
                of: dim.of,
                counts: dim.counts.map(|own| own as i64 * weight),
                axis: Some(axis),
                filter,
                input: weight,
                output: weight,
                ..Digit::STILL
            });
        }
        let others = parts.iter().enumerate().filter(|&(i, _)| i != own);
        all.extend(others.map(|(_, other)| Digit { size: other.n as u32, ..Digit::STILL }));
        all.extend(batch);
        index.resize(all.len(), 0);
        frequency.resize(all.len(), 0);
        let stages = vec![(0..part.radices.len()).collect()];
        let first = places.parts[own].first;
        let digits = Digits::new(all, stages);
        let leading = places.parts[own].leading.clone();
        Self { part, digits, strides, index, frequency, first, direct, leading }
    }

    pub fn stages(&self) -> usize {
        self.part.radices.len()
    }

    pub fn convolves(&self) -> bool {
        self.part.kind != PartKind::MixedRadix
    }

    /// Neighbouring threads touch neighbouring elements: of global memory where it is touched, of a chirp's spectrum
    /// at the product, which comes from further away than the points.
    pub fn layout(&self, stage: usize) -> Layout {
        let own = (0..self.stages()).filter(|&d| d != stage);
        let others = self.stages()..self.digits.all.len();
        let last = stage + 1 == self.stages();
        let order = if self.direct && last && stage > 0 && self.part.kind == PartKind::Filter {
            self.digits.by_stride(&[Some(stage)], &self.digits.weights(|digit| digit.filter))
        } else if self.direct && (stage == 0 || (last && !self.padded())) {
            self.digits.by_stride(&[Some(stage)], &self.digits.weights(|digit| digit.os))
        } else if last && self.padded() {
            own.chain(others).collect()
        } else {
            self.digits.by_stride(&[Some(stage)], &self.strides)
        };
        let order = self.leading[stage].map_or(order.clone(), |digit| led_by(digit, &order));
        Layout { register: Some(stage), order, block: None, pair: None }
    }

    /// Whether neighbouring threads may spell a digit at a stage. None but the default's where global memory is touched, or the factors
    /// of halves in Rader's order; none of the part's own where a spectrum is, which is the same in every row.
    pub fn may_lead(&self, digit: usize, stage: usize) -> bool {
        let (last, own) = (stage + 1 == self.stages(), digit < self.stages());
        let touches = match stage {
            0 => self.direct || self.part.halved(),
            _ => self.direct && last && !self.padded(),
        };
        !(touches || (last && own && self.convolves()))
    }

    /// How often a stage touches each of its points in shared memory.
    pub fn touches(&self, stage: usize) -> u32 {
        let ways = if self.convolves() && stage + 1 < self.stages() { 4 } else { 2 };
        if self.direct && stage == 0 { ways / 2 } else { ways }
    }

    /// Padded: points that are not there, and outputs that nobody wants.
    pub fn padded(&self) -> bool {
        self.part.kind == PartKind::Bluestein
    }

    /// The pass's twiddle leads the way back, after the product: that of a middle, where there is one.
    pub fn returns(&self) -> bool {
        matches!(self.part.kind, PartKind::Middle | PartKind::Filter)
    }

    /// Weight of each digit in the index of the spectrum: only a whole chirp's has not the order of the last stage's
    /// threads. The last digit has that of its frequency in all.
    pub fn spectrum_weights(&self) -> Vec<i64> {
        if self.padded() {
            return self.frequency.clone();
        }
        let last = self.stages() - 1;
        let radix = i64::from(self.part.radices[last]);
        let mut weights: Vec<i64> = self.index.iter().map(|weight| weight / radix).collect();
        weights[last] = self.frequency[last];
        for (weight, digit) in weights.iter_mut().zip(&self.digits.all) {
            *weight += digit.twiddle * self.row_weight();
        }
        weights
    }

    /// Where frequency 0 stands in the spectrum of a row.
    pub fn zero(&self) -> i64 {
        let last = self.stages() - 1;
        let early = &self.part.radices[..last];
        early
            .iter()
            .zip(self.spectrum_weights())
            .map(|(&radix, weight)| weight * i64::from(centre(radix)))
            .sum()
    }

    /// Entries of the spectrum from one row to the next; rows are numbered by what the pass's twiddle multiplies.
    pub fn row_weight(&self) -> i64 {
        if matches!(self.part.kind, PartKind::Middle) { self.part.points() as i64 } else { 0 }
    }

    /// The spectrum of what the part convolves with in a pass.
    pub fn spectrum(&self, pass: &Pass) -> TableKind {
        let n = self.part.chirp.unwrap_or(self.part.n);
        match self.part.kind {
            PartKind::Rader => {
                let (p, radices) = (self.part.n, self.part.table_radices());
                match self.part.halved() {
                    true => TableKind::RaderSpectrumOfHalves { p, radices },
                    false => TableKind::RaderSpectrum { p, radices },
                }
            }
            PartKind::Middle => {
                let (m, radices) =
                    (pass.twiddle.map_or(self.part.n, |twiddle| twiddle.modulus), self.part.table_radices());
                match self.part.band {
                    Some(band) => TableKind::BandRows { band, m, radices },
                    None => TableKind::ChirpRows { n, m, radices },
                }
            }
            _ => {
                let (m, centre) = (self.part.points(), self.part.centre());
                match self.part.band {
                    Some(band) => TableKind::BandSpectrum { band, m, centre },
                    None if self.part.halved() => TableKind::SpectrumOfHalves { n, m, centre },
                    None => TableKind::ChirpSpectrum { n, m, centre },
                }
            }
        }
    }
}
