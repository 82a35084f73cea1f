//! Lengths that a convolution with a chirp may be padded to: few stages, cheap radices, few points too many.

use std::collections::BTreeMap;

use crate::cost;
use crate::plan::Plan;
use crate::planner::Planner;

/// Radices of padded stages: those whose codelets are cheap. 30 is none: what was planned by it took 10 to 30% longer than
/// what was planned without.
const RADICES: [u32; 20] = [4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20, 21, 24, 25, 28, 32];
/// Those of a middle, which has few rows to hide how long others take.
const RADICES_OF_MIDDLE: [u32; 15] = [4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 25, 32];
/// Stages at most, and how many lengths are offered of each number of stages, and of a line of a given length.
const STAGES: usize = 4;
const OFFERED: usize = 8;
const OFFERED_OF_LINE: usize = 3;

/// Radices, falling, of padded lengths that promise to be cheap, not much longer than the least: the padding is free
/// to choose, and few stages or powers of two, which have no bank conflicts, may be worth more than a short length.
pub(crate) fn on_chip(least: u64, most: u64) -> Vec<Vec<u32>> {
    let most = most.min(least + least / 10 * 3 + 2);
    let mut all: Vec<Vec<u32>> = Vec::new();
    for stages in 2..=STAGES {
        let mut found = Vec::new();
        extend((&RADICES, &mut Vec::new()), 1, stages, (least, most), &mut |radices, point, length| {
            found.push((point * length as f64, radices.to_vec()));
        });
        found.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let even = found.iter().position(|(_, radices)| radices.iter().all(|radix| radix.is_power_of_two()));
        let even = even.filter(|&at| at >= OFFERED).map(|at| found[at].1.clone());
        all.extend(found.into_iter().take(OFFERED).map(|(_, radices)| radices).chain(even));
    }
    all
}

/// Radices, falling, of stages of exactly so many points, the few that promise to be cheapest for each number of stages.
pub(crate) fn stages_of(n: u64) -> Vec<Vec<u32>> {
    let mut all: Vec<Vec<u32>> = Vec::new();
    for stages in 1..=STAGES_OF_LINE {
        let mut found = Vec::new();
        spell(&mut Vec::new(), n, stages, &mut |radices| {
            let cost: f64 = radices.iter().map(|&radix| cost::padded_stage(radix)).sum();
            found.push((cost, radices.to_vec()));
        });
        found.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        all.extend(found.into_iter().take(OFFERED_OF_LINE).map(|(_, radices)| radices));
    }
    all
}

/// Stages of a line that is convolved in one pass, at most: as many as places in shared memory are found for.
pub(crate) const STAGES_OF_LINE: usize = crate::pass::MAX_STAGES;

/// Every way to spell a length in so many more radices, none larger than the last one.
fn spell(radices: &mut Vec<u32>, rest: u64, stages: usize, visit: &mut dyn FnMut(&[u32])) {
    if stages == 0 {
        if rest == 1 {
            visit(radices);
        }
        return;
    }
    let largest = radices.last().copied().unwrap_or(32);
    for radix in (2..=largest).rev().filter(|&radix| rest.is_multiple_of(u64::from(radix))) {
        radices.push(radix);
        spell(radices, rest / u64::from(radix), stages - 1, visit);
        radices.pop();
    }
}

/// Every way to go on with so many more radices, none larger than the last one, to a length within the range: its
/// radices, what their stages cost for each point, and the length.
fn extend(
    (among, radices): (&[u32], &mut Vec<u32>),
    length: u64,
    stages: usize,
    (least, most): (u64, u64),
    visit: &mut dyn FnMut(&[u32], f64, u64),
) {
    if stages == 0 {
        if length >= least {
            visit(radices, radices.iter().map(|&radix| cost::padded_stage(radix)).sum(), length);
        }
        return;
    }
    let largest = radices.last().copied().unwrap_or(u32::MAX);
    for &radix in among.iter().filter(|&&radix| radix <= largest) {
        let next = length * u64::from(radix);
        let longest = next.saturating_mul(u64::from(radix).pow(stages as u32 - 1));
        if next <= most && longest >= least {
            radices.push(radix);
            extend((among, radices), next, stages - 1, (least, most), visit);
            radices.pop();
        }
    }
}

/// A part of a padded length, with what it is guessed to cost.
#[derive(Debug, Clone)]
struct Part {
    length: u64,
    /// Copies of a point, on all its ways.
    copies: f64,
    /// Radices of a middle; those of columns are chosen when they are offered.
    radices: Vec<u32>,
}

/// How much longer than the least a length in several passes may be, and may be if there is none.
const SLACK: [f64; 2] = [1.06, 1.5];
/// Lengths in several passes that are offered, and more of which all parts are powers of two: their rows are whole lines, and
/// have no bank conflicts, which the guess does not know. 1000003 by 512 x 4096 took 7.00 copies on an H200, 7.82 by 490 x 4096.
const IN_PASSES: usize = 8;
const EVEN_IN_PASSES: usize = 3;
/// Columns at most.
const COLUMNS: u32 = 4;
/// Copies that a stage of a column adds, and a column of as many points as a tile can have.
const COLUMN: [f64; 2] = [0.02, 0.6];
/// Passes that a column counts: the first and the last see less than the padded length.
const WAYS: f64 = 1.5;
/// Copies that a middle adds which fills shared memory, and one whose rows start anywhere in 128 bytes.
const MIDDLE: [f64; 2] = [0.8, 0.05];

/// Parts of padded lengths that promise to be cheap: columns, which go there and back, and last the middle, which is
/// convolved on the chip. No more columns than there have to be.
pub(crate) fn in_passes(least: u64, planner: &Planner<'_>) -> Vec<Vec<Plan>> {
    let (mut columns, mut middles) = (columns(planner), middles(planner));
    for count in 1..=COLUMNS {
        if count == 2 {
            // A few of each size are enough.
            thin(&mut columns);
            thin(&mut middles);
        }
        for slack in SLACK {
            let mut found = Vec::new();
            for middle in &middles {
                let most = (least as f64 * slack) as u64;
                fill((least, most), count, &columns, &mut vec![middle], &mut found);
            }
            found.sort_by(|(a, _), (b, _)| a.total_cmp(b));
            // In the order of the guess, of which the first that fits is taken where there is no more to go by.
            let mut left = [IN_PASSES, EVEN_IN_PASSES];
            let offered = |(_, parts): &(f64, Vec<&Part>)| {
                let left = &mut left[usize::from(even(parts))];
                let plans = if *left > 0 { plans(parts, planner) } else { None }?;
                *left -= 1;
                Some(plans)
            };
            let plans: Vec<Vec<Plan>> = found.iter().filter_map(offered).collect();
            if !plans.is_empty() {
                return plans;
            }
        }
    }
    Vec::new()
}

/// Whether all parts are powers of two.
fn even(parts: &[&Part]) -> bool {
    parts.iter().all(|part| part.length.is_power_of_two())
}

/// Parts as plans, the middle last; `None` where the device cannot hold one of them.
fn plans(parts: &[&Part], planner: &Planner<'_>) -> Option<Vec<Plan>> {
    let [middle, columns @ ..] = parts else { return None };
    let columns = columns.iter().map(|part| planner.on_chip(part.length));
    let plans: Option<Vec<Plan>> = columns.chain([Some(Plan::MixedRadix(middle.radices.clone()))]).collect();
    plans.filter(|plans| {
        plans.iter().all(|plan| matches!(plan, Plan::MixedRadix(_))) && planner.holds_middle(&middle.radices)
    })
}

/// Lengths of columns whose rows have 64 bytes at least.
fn columns(planner: &Planner<'_>) -> Vec<Part> {
    let most = planner.max_column_points();
    // The fewest stages of each length, if it has any.
    let mut stages: Vec<Option<u32>> = vec![None, Some(0)];
    for length in 2..=most as usize {
        let before = (2..=16).filter(|radix| length % radix == 0).filter_map(|radix| stages[length / radix]);
        stages.push(before.min().map(|before| before + 1));
    }
    let part = |(length, stages): (u64, &Option<u32>)| {
        let added = COLUMN[0] * f64::from((*stages)?) + COLUMN[1] * length as f64 / most as f64;
        Some(Part { length, copies: WAYS * (1.0 + added), radices: Vec::new() })
    };
    (0..).zip(&stages).skip(2).filter_map(part).collect()
}

/// Lengths of middles that a block can hold, each with its cheapest radices. Their rows begin with a sector.
fn middles(planner: &Planner<'_>) -> Vec<Part> {
    let most = planner.max_convolution();
    let [sector, line] = [32, 128].map(|bytes| bytes / planner.complex_bytes());
    let mut found: BTreeMap<u64, Part> = BTreeMap::new();
    for stages in 2..=STAGES {
        let mut radices = Vec::new();
        extend((&RADICES_OF_MIDDLE, &mut radices), 1, stages, (2, most), &mut |radices, point, length| {
            if !length.is_multiple_of(sector) {
                return;
            }
            let unaligned = if length.is_multiple_of(line) { 0.0 } else { MIDDLE[1] };
            let copies =
                cost::padded_copies(2.0 * point) + MIDDLE[0] * length as f64 / most as f64 + unaligned;
            if found.get(&length).is_none_or(|known| copies < known.copies) {
                found.insert(length, Part { length, copies, radices: radices.to_vec() });
            }
        });
    }
    found.into_values().collect()
}

/// Keeps the cheapest of those that are about as long.
fn thin(parts: &mut Vec<Part>) {
    let size = |part: &Part| ((part.length as f64).ln() * 5.0) as u64;
    parts.sort_by(|a, b| size(a).cmp(&size(b)).then(a.copies.total_cmp(&b.copies)));
    parts.dedup_by_key(|part| size(part));
}

/// Every way to go on from the middle with so many columns, falling, to a length within the range, with what is guessed
/// of the whole.
fn fill<'a>(
    (least, most): (u64, u64),
    count: u32,
    columns: &'a [Part],
    parts: &mut Vec<&'a Part>,
    found: &mut Vec<(f64, Vec<&'a Part>)>,
) {
    let length: u64 = parts.iter().map(|part| part.length).product();
    let (first, last) = (least.div_ceil(length), most / length);
    let end = columns.partition_point(|part| part.length <= last);
    if count > 1 {
        for (at, part) in columns[..end].iter().enumerate() {
            parts.push(part);
            fill((least, most), count - 1, &columns[..=at], parts, found);
            parts.pop();
        }
        return;
    }
    let start = columns.partition_point(|part| part.length < first);
    for part in columns.get(start..end).into_iter().flatten() {
        let all: Vec<&Part> = parts.iter().copied().chain([part]).collect();
        let copies: f64 = all.iter().map(|part| part.copies).sum();
        found.push((copies * (length * part.length) as f64, all));
    }
}
