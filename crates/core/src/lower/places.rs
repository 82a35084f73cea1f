//! Where the elements of an axis of coprime parts stand in shared memory: strides of the digits of every part's
//! stages, and which of them neighbouring threads spell, chosen by counting bank conflicts of every stage and of the
//! permuted ends.

use crate::pass::{Coordinate, CoprimePart, PartKind};
use crate::tables;

use super::digits::Digit;
use super::exchange::BANK_ROW;
use super::wavefronts::{Samples, Stages};

/// Where the tile's elements stand in shared memory.
#[derive(Debug, Clone)]
pub(super) struct Places {
    /// Each part's.
    pub parts: Vec<PartPlaces>,
    /// Stride of each of the tile's repeated dimensions.
    pub batch: Vec<i64>,
    /// Elements from the first to the last.
    pub len: i64,
    /// Wavefronts for each that there has to be.
    pub conflicts: f64,
}

/// Where the points of a part stand.
#[derive(Debug, Clone)]
pub(super) struct PartPlaces {
    /// Radix of each stage.
    pub radices: Vec<u32>,
    /// Stride of each stage's digit, slowest first.
    pub strides: Vec<i64>,
    /// Where Rader's first point stands: behind the others.
    pub first: i64,
    /// The digit of the part's line that neighbouring threads spell at each stage, where it is not that of the least
    /// stride.
    pub leading: Vec<Option<usize>>,
}

impl PartPlaces {
    /// Stride of the points, where they stand evenly.
    pub fn stride(&self) -> i64 {
        self.strides.last().copied().unwrap_or(0)
    }

    /// A point's digits, and one that says that it is Rader's first, which is counted last.
    fn digits(&self, point: u32) -> Vec<i64> {
        let mut rest = point;
        let digit = |radix: &u32| {
            let digit = rest % radix;
            rest /= radix;
            i64::from(digit)
        };
        let mut digits: Vec<i64> = self.radices.iter().rev().map(digit).collect();
        digits.reverse();
        if rest > 0 {
            digits.fill(0);
        }
        digits.push(i64::from(rest > 0));
        digits
    }
}

impl Places {
    /// Every point at the same place.
    pub fn still(parts: &[CoprimePart], batch: &[Digit]) -> Self {
        let part = |part: &CoprimePart| PartPlaces {
            radices: part.radices.clone(),
            strides: vec![0; part.radices.len()],
            first: 0,
            leading: vec![None; part.radices.len()],
        };
        Self { parts: parts.iter().map(part).collect(), batch: vec![0; batch.len()], len: 1, conflicts: 1.0 }
    }

    /// Strides of a part's own digits, of the other parts, and of the repeated dimensions.
    pub fn line_strides(&self, own: usize) -> Vec<i64> {
        let others =
            self.parts.iter().enumerate().filter(|&(i, _)| i != own).map(|(_, other)| other.stride());
        self.parts[own].strides.iter().copied().chain(others).chain(self.batch.iter().copied()).collect()
    }

    /// Strides of all parts' digits, each with the place of a first point behind, and of the repeated dimensions.
    fn flat(&self) -> Vec<i64> {
        let parts = self.parts.iter().flat_map(|part| part.strides.iter().chain([&part.first]));
        parts.chain(&self.batch).copied().collect()
    }

    /// The parts as the tables of places want them.
    pub fn coordinates(&self, parts: &[CoprimePart]) -> [Coordinate; 3] {
        let mut all = [Coordinate::NONE; 3];
        for ((one, part), place) in all.iter_mut().zip(parts).zip(&self.parts) {
            *one = Coordinate { n: part.n, kind: part.kind, first: place.first as u32, ..Coordinate::NONE };
            one.radices.iter_mut().zip(&place.radices).for_each(|(own, &radix)| *own = radix as u8);
            one.strides.iter_mut().zip(&place.strides).for_each(|(own, &stride)| *own = stride as u32);
        }
        all
    }
}

/// What twice the length costs, in parts of the wavefronts: more where few tiles fit a multiprocessor.
const LENGTH: f64 = 0.4;
const LARGE_LENGTH: f64 = 2.0;
/// Bytes of a large tile.
const LARGE: f64 = 24576.0;
/// How often every pad is tried.
const SWEEPS: usize = 2;

/// What can be nested: a repeated dimension, or a part.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Batch(usize),
    Part(usize),
}

/// What is to be arranged.
pub(super) struct Wanted<'a> {
    /// The stages in shared memory.
    pub stages: Stages<'a>,
    /// The permuted ways in and out.
    pub ends: Vec<Samples>,
    /// Points that the tile takes without pads.
    pub packed: f64,
    /// Whether each part is a number to the others, whose digits stand evenly.
    pub even: bool,
    /// Elements at most.
    pub most: i64,
}

/// Strides with the fewest bank conflicts for their length: repeated dimensions inside or outside of the parts, and
/// pads between the digits. Those that span more than there is room for only where none is shorter.
pub(super) fn arrange(wanted: Wanted<'_>) -> Places {
    let Wanted { mut stages, ends, packed, even, most } = wanted;
    let (parts, batch, complex_bytes) = (stages.parts, stages.batch, stages.complex_bytes);
    let repeated: Vec<Unit> = (0..batch.len()).map(Unit::Batch).collect();
    let rising: Vec<Unit> = (0..parts.len()).map(Unit::Part).collect();
    let falling: Vec<Unit> = rising.iter().rev().copied().collect();
    let mut orders: Vec<Vec<Unit>> = Vec::new();
    for own in [&rising, &falling] {
        for order in [[&own[..], &repeated[..]].concat(), [&repeated[..], &own[..]].concat()] {
            if !orders.contains(&order) {
                orders.push(order);
            }
        }
    }
    let length = if packed * complex_bytes as f64 > LARGE { LARGE_LENGTH } else { LENGTH };
    let least_of_ends: f64 = ends.iter().map(Samples::least).sum();
    let mut cost = |places: &mut Places, known: f64| {
        let between = stages.lead(places);
        let long = 1.0 + length * places.len as f64 / packed;
        // What is worse at the best is not looked at.
        if (between + least_of_ends) * long >= known {
            return known;
        }
        let strides = places.flat();
        let ends: f64 = ends.iter().map(|end| end.wavefronts(&strides)).sum();
        (between + ends) * long
    };
    let lanes = (BANK_ROW / complex_bytes) as i64;
    let mut best: Option<(f64, Places)> = None;
    for order in orders {
        // One pad after the other, as long as one of them helps.
        let mut pads = vec![0; batch.len() + parts.iter().map(|part| part.radices.len()).sum::<usize>()];
        let mut found = nested((parts, even), batch, &order, &pads);
        let mut least = cost(&mut found, f64::INFINITY);
        for _ in 0..SWEEPS {
            let before = least;
            for at in (0..pads.len()).rev() {
                let known = pads[at];
                let mut kept = known;
                for pad in (0..lanes).filter(|&pad| pad != known) {
                    pads[at] = pad;
                    let mut places = nested((parts, even), batch, &order, &pads);
                    if places.len > most {
                        break;
                    }
                    let cost = cost(&mut places, least);
                    if cost < least {
                        (least, found, kept) = (cost, places, pad);
                    }
                }
                pads[at] = kept;
            }
            if least >= before {
                break;
            }
        }
        if best.as_ref().is_none_or(|(known, places)| places.len > most || least < *known) {
            best = Some((least, found));
        }
    }
    let mut best = best.expect("one arrangement is always tried").1;
    let between = stages.lead(&mut best);
    let strides = best.flat();
    let taken = between + ends.iter().map(|end| end.wavefronts(&strides)).sum::<f64>();
    best.conflicts = taken / (least_of_ends + stages.least());
    best
}

/// Units one around the other, every digit padded by its own number of elements; those of parts that stand evenly only
/// as a whole.
fn nested((parts, even): (&[CoprimePart], bool), batch: &[Digit], order: &[Unit], pads: &[i64]) -> Places {
    let mut places = Places::still(parts, batch);
    let mut pads = pads.iter();
    let mut padded = |stride: i64| stride + pads.next().unwrap_or(&0);
    for &unit in order {
        let start = padded(places.len);
        match unit {
            Unit::Batch(d) => {
                places.batch[d] = start;
                places.len += i64::from(batch[d].size - 1) * start;
            }
            Unit::Part(index) => {
                let part = &parts[index];
                let mut strides = Vec::new();
                let (mut next, mut last) = (start, 0);
                for &radix in part.radices.iter().rev() {
                    strides.push(next);
                    last += i64::from(radix - 1) * next;
                    next *= i64::from(radix);
                    if !even && strides.len() < part.radices.len() {
                        next = padded(next);
                    }
                }
                strides.reverse();
                let rader = part.kind == PartKind::Rader;
                places.len += if rader { last + start } else { last };
                places.parts[index].strides = strides;
                places.parts[index].first = if rader { last + start } else { 0 };
            }
        }
    }
    places
}

/// The digits of each index's points, counted in their order on the chip: of every part, on the way in, on the way out.
pub(super) fn end_digits(parts: &[CoprimePart]) -> Vec<Vec<Vec<i64>>> {
    let unpadded = nested((parts, true), &[], &[], &[]);
    let spelt = |points: &Vec<Vec<u32>>| {
        let count = points.first().map_or(0, Vec::len);
        let digits = |index: usize| {
            points.iter().zip(&unpadded.parts).flat_map(move |(own, part)| part.digits(own[index]))
        };
        (0..count).map(|index| digits(index).collect()).collect()
    };
    points(parts).iter().map(spelt).collect()
}

/// Each index's point of every part, counted in its order on the chip: on the way in, on the way out.
fn points(parts: &[CoprimePart]) -> [Vec<Vec<u32>>; 2] {
    let whole = nested((parts, true), &[], &[], &[]);
    [false, true].map(|output| {
        let point = |own: usize| {
            let mut strides = vec![1; parts[own].radices.len()];
            for i in (1..strides.len()).rev() {
                strides[i - 1] = strides[i] * i64::from(parts[own].radices[i]);
            }
            let mut unit = whole.clone();
            unit.parts[own].strides = strides;
            unit.parts[own].first = parts[own].points() as i64;
            tables::places(&unit.coordinates(parts), output)
        };
        (0..parts.len()).map(point).collect()
    })
}

/// The only part, if it convolves with a chirp: nothing has to be permuted.
pub(crate) fn alone(parts: &[CoprimePart]) -> Option<&CoprimePart> {
    match parts {
        [part] if matches!(part.kind, PartKind::Bluestein | PartKind::Middle | PartKind::Filter) => {
            Some(part)
        }
        _ => None,
    }
}
