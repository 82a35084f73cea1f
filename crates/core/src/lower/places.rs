//! Where the elements of an axis of coprime parts stand in shared memory between the parts: strides chosen by
//! counting bank conflicts of every part and of the permuted ends.

use crate::pass::{Coordinate, CoprimePart, PartKind};
use crate::tables;

use super::digits::{Digit, Digits, Layout};
use super::exchange::{BANK_ROW, wavefronts};

/// Where the tile's elements stand in shared memory between the parts.
#[derive(Debug, Clone)]
pub(super) struct Places {
    /// Stride of each part.
    pub parts: Vec<i64>,
    /// Stride of each of the tile's repeated dimensions.
    pub batch: Vec<i64>,
    /// Elements from the first to the last.
    pub len: i64,
}

impl Places {
    /// The parts as the tables of places want them.
    pub fn coordinates(&self, parts: &[CoprimePart]) -> [Coordinate; 3] {
        let mut all = [Coordinate { n: 1, stride: 0, rader: false }; 3];
        for ((one, part), &stride) in all.iter_mut().zip(parts).zip(&self.parts) {
            *one = Coordinate { n: part.n, stride: stride as u32, rader: part.kind == PartKind::Rader };
        }
        all
    }
}

/// A digit that no stage transforms.
pub(super) const STILL: Digit = Digit {
    size: 1,
    is: 0,
    os: 0,
    load_index: 0,
    store_index: 0,
    twiddle: 0,
    axis: None,
    batch: None,
    output: 0,
};

/// Digits that a part leaves alone: the other parts, then the repeated dimensions.
pub(super) fn others(parts: &[CoprimePart], own: usize, places: &Places, batch: &[Digit]) -> Vec<Digit> {
    let still = |size: u64, stride: i64| Digit { size: size as u32, is: stride, os: stride, ..STILL };
    let parts = parts.iter().zip(&places.parts).enumerate();
    let mut all: Vec<Digit> =
        parts.filter(|&(i, _)| i != own).map(|(_, (part, &stride))| still(part.n, stride)).collect();
    all.extend(batch.iter().zip(&places.batch).map(|(digit, &stride)| still(u64::from(digit.size), stride)));
    all
}

/// Strides with the fewest bank conflicts of those that span at most `most` elements: repeated dimensions inside or
/// outside of the parts, and every subset of the strides made odd. The first is packed.
pub(super) fn arrange(
    parts: &[CoprimePart],
    whole: &Digits,
    batch: &[Digit],
    threads: u32,
    complex_bytes: u64,
    most: i64,
) -> Places {
    let sizes: Vec<i64> = batch
        .iter()
        .map(|digit| i64::from(digit.size))
        .chain(parts.iter().map(|part| part.room() as i64))
        .collect();
    let mut inside: Vec<usize> = (0..sizes.len()).collect();
    inside[batch.len()..].sort_by_key(|&d| sizes[d]);
    let mut outside = inside.clone();
    outside.rotate_left(batch.len());
    let unit = Places { parts: vec![1; parts.len()], batch: Vec::new(), len: 0 };
    let own = [false, true].map(|output| {
        let alone = |part| {
            let mut alone = unit.coordinates(parts);
            alone.iter_mut().enumerate().for_each(|(i, one)| one.stride = u32::from(i == part));
            tables::places(&alone, output)
        };
        (0..parts.len()).map(alone).collect::<Vec<_>>()
    });
    let mut best: Option<(u64, Places)> = None;
    for order in [outside, inside] {
        for odd in 0..1_u32 << sizes.len() {
            let mut strides = vec![0; sizes.len()];
            let (mut stride, mut len) = (1_i64, 1_i64);
            for &d in &order {
                stride |= i64::from(odd >> d & 1);
                strides[d] = stride;
                len += (sizes[d] - 1) * stride;
                stride *= sizes[d];
            }
            if len > most && best.is_some() {
                continue;
            }
            let (rows, columns) = strides.split_at(batch.len());
            let places = Places { parts: columns.to_vec(), batch: rows.to_vec(), len };
            let between: u64 = (0..parts.len())
                .map(|own| part_wavefronts(parts, own, &places, batch, threads, complex_bytes))
                .sum();
            let ends: u64 = (own.iter().zip([false, true]))
                .map(|(own, writes)| permuted_wavefronts(own, writes, whole, &places, complex_bytes))
                .sum();
            let better =
                best.as_ref().is_none_or(|(least, known)| (between + ends, places.len) < (*least, known.len));
            if better {
                best = Some((between + ends, places));
            }
        }
    }
    best.expect("one arrangement is always tried").1
}

/// Wavefronts of a part's way out of shared memory and back, per warp that is looked at.
fn part_wavefronts(
    parts: &[CoprimePart],
    own: usize,
    places: &Places,
    batch: &[Digit],
    threads: u32,
    complex_bytes: u64,
) -> u64 {
    let others = others(parts, own, places, batch);
    let digits = Digits::of_part(&parts[own], places.parts[own], &others);
    let stages = &digits.stages[0];
    let ends = [(stages.first(), digits.weights(|d| d.is)), (stages.last(), digits.weights(|d| d.os))];
    ends.iter()
        .map(|(register, strides)| {
            let register = register.copied();
            let layout = Layout { register, order: digits.by_stride(&[register], strides), block: None };
            wavefronts(&digits, &layout, strides, threads, complex_bytes).0
        })
        .sum()
}

/// Wavefronts of the permuted way in or out, for as many warps as [`wavefronts`] looks at. `own` has each part's
/// coordinate of every index.
fn permuted_wavefronts(
    own: &[Vec<u32>],
    writes: bool,
    whole: &Digits,
    places: &Places,
    complex_bytes: u64,
) -> u64 {
    let lanes = (BANK_ROW / complex_bytes) as usize;
    let order = whole.by_stride(&[], &whole.weights(|digit| if writes { digit.os } else { digit.is }));
    let total = whole.elements() as usize;
    let place = |element: usize| -> i64 {
        let mut rest = element;
        let mut at = 0;
        for &d in &order {
            let digit = &whole.all[d];
            let index = rest % digit.size as usize;
            rest /= digit.size as usize;
            match digit.batch {
                // The axis is the first digit, the repeated dimensions follow in their order.
                Some(_) => at += places.batch[d - 1] * index as i64,
                None => {
                    at +=
                        own.iter().zip(&places.parts).map(|(own, s)| s * i64::from(own[index])).sum::<i64>();
                }
            }
        }
        at
    };
    [0, total / 3 / lanes * lanes, total / 2 / lanes * lanes]
        .into_iter()
        .map(|start| {
            let mut per_bank = vec![0_u64; lanes];
            for element in start..(start + lanes).min(total) {
                per_bank[place(element) as usize % lanes] += 1;
            }
            per_bank.into_iter().max().unwrap_or(0)
        })
        .sum()
}
