//! Wavefronts that an arrangement in shared memory takes, by half-warps drawn evenly from all: what `places` ranks by.

use std::collections::HashMap;

use crate::pass::CoprimePart;

use super::digits::{Digit, Digits};
use super::exchange::BANK_ROW;
use super::line::{Line, StagedDim};
use super::places::Places;

/// Half-warps of a stage or an end that are looked at.
const LOOKED_AT: u32 = 12;
/// What another order of threads has to save: its index has more digits to take apart.
const WORTH: f64 = 0.95;

/// Half-warps of points by the digits that their places are told by.
#[derive(Debug)]
pub(super) struct Samples {
    lanes: i64,
    /// Points of each half-warp.
    warps: Vec<usize>,
    /// Digits of each point, those of one after those of the other.
    digits: Vec<i64>,
    /// Accesses of half-warps in all.
    accesses: f64,
}

impl Samples {
    /// Of a layout's groups, `threads` at a time, each touched `times` over; `spell` adds the digits that places are told
    /// by for a group's index in every digit of the tile.
    pub fn of(
        (digits, order): (&Digits, &[usize]),
        threads: u32,
        complex_bytes: u64,
        times: f64,
        spell: impl Fn(&[u32], &mut Vec<i64>),
    ) -> Self {
        let lanes = (BANK_ROW / complex_bytes) as u32;
        let count: u32 = order.iter().map(|&d| digits.all[d].size).product();
        let of_slot = |threads: u32| threads.div_ceil(lanes);
        let (slots, rest) = (count / threads, count % threads);
        let all = slots * of_slot(threads) + of_slot(rest);
        let looked_at = all.min(LOOKED_AT);
        let mut own = Self {
            lanes: lanes.into(),
            warps: Vec::new(),
            digits: Vec::new(),
            accesses: f64::from(all) * times,
        };
        let mut index = vec![0; digits.all.len()];
        for i in 0..looked_at {
            let warp = i * (all - 1) / (looked_at - 1).max(1);
            let (slot, warp) = (warp / of_slot(threads), warp % of_slot(threads));
            let start = slot * threads + warp * lanes;
            let end = count.min((slot + 1) * threads).min(start + lanes);
            own.warps.push((end - start) as usize);
            for group in start..end {
                let mut rest = group;
                for &d in order {
                    index[d] = rest % digits.all[d].size;
                    rest /= digits.all[d].size;
                }
                spell(&index, &mut own.digits);
            }
        }
        own
    }

    /// The fewest that there can be.
    pub fn least(&self) -> f64 {
        self.accesses
    }

    /// What they take with those strides.
    pub fn wavefronts(&self, strides: &[i64]) -> f64 {
        let mut points = self.digits.chunks_exact(strides.len());
        let mut sum = 0;
        for &count in &self.warps {
            let mut per_bank = [0_u8; 32];
            for digits in points.by_ref().take(count) {
                let place: i64 = digits.iter().zip(strides).map(|(digit, stride)| digit * stride).sum();
                per_bank[(place % self.lanes) as usize] += 1;
            }
            sum += u32::from(per_bank.into_iter().max().unwrap_or(0));
        }
        self.accesses * f64::from(sum) / self.warps.len().max(1) as f64
    }
}

/// A stage of a part, and which of its digits lead, fastest first.
type Order = (usize, usize, Vec<usize>);

/// The stages of all parts, and what is known of them.
pub(super) struct Stages<'a> {
    pub parts: &'a [CoprimePart],
    pub batch: &'a [Digit],
    pub complex_bytes: u64,
    /// Parts before this one have no stages in shared memory.
    first: usize,
    threads: u32,
    /// Each part's line; its strides are those of the arrangement that was looked at last.
    lines: Vec<Line<'a>>,
    samples: HashMap<Order, Samples>,
    /// By default order and the banks of the strides: wavefronts, and the digit to lead.
    known: HashMap<(Order, Vec<i64>), (f64, Option<usize>)>,
}

impl<'a> Stages<'a> {
    /// Of the parts from the `first` on, over dimensions that a tile repeats.
    pub fn new(
        (dims, parts): (&[StagedDim], &'a [CoprimePart]),
        first: usize,
        batch: &'a [Digit],
        threads: u32,
        complex_bytes: u64,
    ) -> Self {
        let still = Places::still(parts, batch);
        let lines = (0..parts.len()).map(|own| Line::of((dims, parts), own, &still, batch)).collect();
        let (samples, known) = (HashMap::new(), HashMap::new());
        Self { parts, batch, complex_bytes, first, threads, lines, samples, known }
    }

    /// Chooses which digit leads at every stage, and counts the wavefronts of all.
    pub fn lead(&mut self, places: &mut Places) -> f64 {
        let mut sum = 0.0;
        let lanes = (BANK_ROW / self.complex_bytes) as i64;
        for own in self.first..self.parts.len() {
            self.lines[own].strides = places.line_strides(own);
            for stage in 0..self.lines[own].stages() {
                let line = &self.lines[own];
                let banks: Vec<i64> = line.strides.iter().map(|stride| stride % lanes).collect();
                let key = ((own, stage, line.layout(stage).order), banks);
                let (wavefronts, lead) = match self.known.get(&key) {
                    Some(&known) => known,
                    None => {
                        let found = self.fewest(&key.0, &key.1);
                        self.known.insert(key, found);
                        found
                    }
                };
                sum += wavefronts;
                places.parts[own].leading[stage] = lead;
            }
        }
        sum
    }

    /// The fewest that there can be, of stages that have been counted.
    pub fn least(&self) -> f64 {
        let own = |(&(part, stage, _), samples): (&Order, &Samples)| ((part, stage), samples.least());
        self.samples.iter().map(own).collect::<HashMap<_, _>>().values().sum()
    }

    /// The fewest wavefronts of a stage by the banks of its strides, and the digit that leads there, if it is not that of
    /// the default.
    fn fewest(&mut self, (own, stage, order): &Order, banks: &[i64]) -> (f64, Option<usize>) {
        let mut best = (self.taken((*own, *stage, order.clone()), banks), None);
        for &d in order.iter().skip(1) {
            if !self.lines[*own].may_lead(d, *stage) {
                continue;
            }
            let wavefronts = self.taken((*own, *stage, led_by(d, order)), banks);
            if wavefronts < best.0 * WORTH {
                best = (wavefronts, Some(d));
            }
        }
        best
    }

    fn taken(&mut self, order: Order, banks: &[i64]) -> f64 {
        let (line, stage) = (&self.lines[order.0], order.1);
        let (threads, bytes) = (self.threads, self.complex_bytes);
        let samples = self.samples.entry(order).or_insert_with_key(|(_, _, order)| {
            let times = f64::from(line.part.radices[stage] * line.touches(stage));
            let spell = |index: &[u32], all: &mut Vec<i64>| all.extend(index.iter().map(|&i| i64::from(i)));
            Samples::of((&line.digits, order), threads, bytes, times, spell)
        });
        samples.wavefronts(banks)
    }
}

/// An order with one digit before the others.
pub(super) fn led_by(digit: usize, order: &[usize]) -> Vec<usize> {
    std::iter::once(digit).chain(order.iter().copied().filter(|&d| d != digit)).collect()
}
