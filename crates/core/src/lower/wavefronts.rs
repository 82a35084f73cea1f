//! Wavefronts that an arrangement in shared memory takes, by half-warps drawn evenly from all: what `places` ranks by.

use std::collections::HashMap;

use crate::pass::CoprimePart;

use super::digits::{Digit, Digits};
use super::exchange::BANK_ROW;
use super::layout::Layout;
use super::line::{Line, StagedDim};
use super::places::Places;

/// Half-warps of a stage or an end that are looked at.
const LOOKED_AT: u32 = 12;
/// What another order of threads has to save: its index has more digits to take apart.
const WORTH: f64 = 0.95;

/// Half-warps of points by their digits.
pub(super) struct Samples {
    lanes: i64,
    /// Digits of each point of each half-warp.
    points: Vec<Vec<Vec<i64>>>,
    /// Accesses of half-warps in all.
    accesses: f64,
}

impl Samples {
    /// Of `count` points, `threads` at a time, whose digits `digits` tells, each half-warp touched `times` over.
    fn of(
        (count, threads): (u32, u32),
        complex_bytes: u64,
        times: f64,
        digits: impl Fn(u32) -> Vec<i64>,
    ) -> Self {
        let lanes = (BANK_ROW / complex_bytes) as u32;
        let starts: Vec<(u32, u32)> = (0..count)
            .step_by(threads as usize)
            .flat_map(|slot| {
                let end = count.min(slot + threads);
                (slot..end).step_by(lanes as usize).map(move |start| (start, end.min(start + lanes)))
            })
            .collect();
        let all = starts.len() as u32;
        let looked_at = all.min(LOOKED_AT);
        let points = (0..looked_at)
            .map(|i| starts[(i * (all - 1) / (looked_at - 1).max(1)) as usize])
            .map(|(start, end)| (start..end).map(&digits).collect())
            .collect();
        Self { lanes: i64::from(lanes), points, accesses: f64::from(all) * times }
    }

    /// Of the permuted way in or out, where neighbouring threads touch neighbouring elements of global memory.
    pub fn of_end(
        points: &[Vec<u32>],
        output: bool,
        (whole, places): (&Digits, &Places),
        complex_bytes: u64,
    ) -> Self {
        let order = whole.by_stride(&[], &whole.weights(|digit| if output { digit.os } else { digit.is }));
        let total = whole.elements();
        Self::of((total, total), complex_bytes, 1.0, |element| {
            let mut rest = element;
            let mut index = vec![0; whole.all.len()];
            for &d in &order {
                index[d] = rest % whole.all[d].size;
                rest /= whole.all[d].size;
            }
            // The axis is the first digit, the repeated dimensions follow in their order.
            let point = index[0] as usize;
            let parts = points.iter().zip(&places.parts).flat_map(|(own, part)| part.digits(own[point]));
            parts.chain(index[1..].iter().map(|&i| i64::from(i))).collect()
        })
    }

    /// What they take with those strides.
    pub fn wavefronts(&self, strides: &[i64]) -> f64 {
        let mut sum = 0;
        for warp in &self.points {
            let mut per_bank = [0_u8; 32];
            for digits in warp {
                let place: i64 = digits.iter().zip(strides).map(|(digit, stride)| digit * stride).sum();
                per_bank[(place % self.lanes) as usize] += 1;
            }
            sum += u32::from(per_bank.into_iter().max().unwrap_or(0));
        }
        self.accesses * f64::from(sum) / self.points.len().max(1) as f64
    }
}

/// The stages of all parts, and what is known of them.
pub(super) struct Stages<'a> {
    pub dims: &'a [StagedDim],
    pub parts: &'a [CoprimePart],
    pub batch: &'a [Digit],
    pub threads: u32,
    pub complex_bytes: u64,
    /// By part, stage, default order and the banks of the strides: wavefronts, and the digit to lead.
    pub known: HashMap<(usize, usize, Vec<usize>, Vec<u8>), (f64, Option<usize>)>,
}

impl Stages<'_> {
    /// Chooses which digit leads at every stage, and counts the wavefronts of all.
    pub fn lead(&mut self, places: &mut Places) -> f64 {
        let mut sum = 0.0;
        let lanes = (BANK_ROW / self.complex_bytes) as i64;
        for own in 0..self.parts.len() {
            let line = Line::of((self.dims, self.parts), own, places, self.batch);
            let banks: Vec<u8> = line.strides.iter().map(|stride| (stride % lanes) as u8).collect();
            let mut leading = Vec::new();
            for stage in 0..line.stages() {
                let layout = line.layout(stage);
                let key = (own, stage, layout.order.clone(), banks.clone());
                let (threads, bytes) = (self.threads, self.complex_bytes);
                let (wavefronts, lead) =
                    *self.known.entry(key).or_insert_with(|| fewest(&line, stage, &layout, threads, bytes));
                sum += wavefronts;
                leading.push(lead);
            }
            places.parts[own].leading = leading;
        }
        sum
    }
}

/// The fewest wavefronts of a stage, and the digit that leads there.
fn fewest(
    line: &Line<'_>,
    stage: usize,
    layout: &Layout,
    threads: u32,
    complex_bytes: u64,
) -> (f64, Option<usize>) {
    let taken = |layout: &Layout| {
        let groups = layout.groups(&line.digits);
        let times = f64::from(line.part.radices[stage] * line.touches(stage));
        let samples = Samples::of((groups, threads), complex_bytes, times, |group| {
            let mut rest = group;
            let mut index = vec![0; line.digits.all.len()];
            for &d in &layout.order {
                index[d] = i64::from(rest % line.digits.all[d].size);
                rest /= line.digits.all[d].size;
            }
            index
        });
        samples.wavefronts(&line.strides)
    };
    let mut best = (taken(layout), None);
    if line.is_free(stage) {
        for &d in &layout.order[1..] {
            let other = Layout { order: led_by(d, &layout.order), ..layout.clone() };
            let wavefronts = taken(&other);
            if wavefronts < best.0 * WORTH {
                best = (wavefronts, Some(d));
            }
        }
    }
    best
}

/// An order with one digit before the others.
pub(super) fn led_by(digit: usize, order: &[usize]) -> Vec<usize> {
    std::iter::once(digit).chain(order.iter().copied().filter(|&d| d != digit)).collect()
}
