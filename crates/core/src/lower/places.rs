//! Where the elements of an axis of coprime parts stand in shared memory: strides of the digits of every part's
//! stages, chosen by counting bank conflicts of every stage and of the permuted ends.

use crate::pass::{Coordinate, CoprimePart, PartKind, PassDim};
use crate::tables;

use super::digits::{Digit, Digits};
use super::exchange::{BANK_ROW, wavefronts};
use super::line::Line;

/// Where the tile's elements stand in shared memory.
#[derive(Debug, Clone)]
pub(super) struct Places {
    /// Each part's.
    pub parts: Vec<PartPlaces>,
    /// Stride of each of the tile's repeated dimensions.
    pub batch: Vec<i64>,
    /// Elements from the first to the last.
    pub len: i64,
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
}

impl PartPlaces {
    /// Stride of the points, where they stand evenly.
    pub fn stride(&self) -> i64 {
        self.strides.last().copied().unwrap_or(0)
    }

    /// Place of a point; Rader's first one is counted last.
    fn place(&self, point: u32) -> i64 {
        let (mut rest, mut at) = (point, 0);
        for (&radix, stride) in self.radices.iter().zip(&self.strides).rev() {
            at += i64::from(rest % radix) * stride;
            rest /= radix;
        }
        if rest > 0 { self.first } else { at }
    }
}

impl Places {
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

/// Strides with the fewest bank conflicts for their length: repeated dimensions inside or outside of the parts, and
/// pads between the digits. Those that span more than `most` elements only where none is shorter.
pub(super) fn arrange(
    (dim, parts): (&PassDim, &[CoprimePart]),
    whole: &Digits,
    batch: &[Digit],
    threads: u32,
    complex_bytes: u64,
    most: i64,
) -> Places {
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
    let points = points(parts);
    let packed = f64::from(whole.elements()) * parts[0].room() as f64 / parts[0].n as f64;
    let length = if packed * complex_bytes as f64 > LARGE { LARGE_LENGTH } else { LENGTH };
    let cost = |places: &Places| {
        let between: u64 = (0..parts.len())
            .map(|own| {
                let line = Line::of((dim, parts), own, places, batch);
                line.layouts()
                    .map(|layout| wavefronts(&line.digits, &layout, &line.strides, threads, complex_bytes).0)
                    .sum::<u64>()
            })
            .sum();
        let ends: u64 = (points.iter().zip([false, true]))
            .filter(|(points, _)| !points.is_empty())
            .map(|(points, output)| permuted_wavefronts(points, output, whole, places, complex_bytes))
            .sum();
        (between + ends) as f64 * (1.0 + length * places.len as f64 / packed)
    };
    let lanes = (BANK_ROW / complex_bytes) as i64;
    let mut best: Option<(f64, Places)> = None;
    for order in orders {
        // One pad after the other, as long as one of them helps.
        let mut pads = vec![0; batch.len() + parts.iter().map(|part| part.radices.len()).sum::<usize>()];
        let packed = nested(parts, batch, &order, &pads);
        let mut least = cost(&packed);
        let mut found = packed;
        for _ in 0..SWEEPS {
            let before = least;
            for at in (0..pads.len()).rev() {
                let known = pads[at];
                let mut kept = known;
                for pad in (0..lanes).filter(|&pad| pad != known) {
                    pads[at] = pad;
                    let places = nested(parts, batch, &order, &pads);
                    if places.len > most {
                        break;
                    }
                    let cost = cost(&places);
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
    best.expect("one arrangement is always tried").1
}

/// Units one around the other, every digit padded by its own number of elements. Several parts stand evenly, as
/// each of them is a number to the others.
fn nested(parts: &[CoprimePart], batch: &[Digit], order: &[Unit], pads: &[i64]) -> Places {
    let empty = |part: &CoprimePart| PartPlaces {
        radices: part.radices.clone(),
        strides: vec![0; part.radices.len()],
        first: 0,
    };
    let mut places = Places { parts: parts.iter().map(empty).collect(), batch: vec![0; batch.len()], len: 1 };
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
                    if parts.len() == 1 && strides.len() < part.radices.len() {
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

/// Each index's point of every part, counted in its order on the chip: on the way in, on the way out.
fn points(parts: &[CoprimePart]) -> [Vec<Vec<u32>>; 2] {
    if alone(parts).is_some() {
        return [Vec::new(), Vec::new()];
    }
    let whole = nested(parts, &[], &[], &[]);
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

/// Wavefronts of the permuted way in or out, for as many warps as [`wavefronts`] looks at.
fn permuted_wavefronts(
    points: &[Vec<u32>],
    output: bool,
    whole: &Digits,
    places: &Places,
    complex_bytes: u64,
) -> u64 {
    let lanes = (BANK_ROW / complex_bytes) as usize;
    let order = whole.by_stride(&[], &whole.weights(|digit| if output { digit.os } else { digit.is }));
    let total = whole.elements() as usize;
    let place = |element: usize| -> i64 {
        let mut rest = element;
        let mut at = 0;
        for &d in &order {
            let digit = &whole.all[d];
            let index = rest % digit.size as usize;
            rest /= digit.size as usize;
            at += match digit.batch {
                // The axis is the first digit, the repeated dimensions follow in their order.
                Some(_) => places.batch[d - 1] * index as i64,
                None => points.iter().zip(&places.parts).map(|(own, part)| part.place(own[index])).sum(),
            };
        }
        at
    };
    let starts = [0, total / 3 / lanes * lanes, total / 2 / lanes * lanes];
    let warp = |start: usize| {
        let mut per_bank = vec![0_u64; lanes];
        for element in start..(start + lanes).min(total) {
            per_bank[place(element) as usize % lanes] += 1;
        }
        per_bank.into_iter().max().unwrap_or(0)
    };
    starts.into_iter().map(warp).sum()
}
