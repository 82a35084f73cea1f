//! Entries for another number of the same transforms. What is the fastest for many is so for any number that fills the
//! device as well; below that it changes with the number, though not soon. And for the same transforms without what a kernel
//! does beside them.

use std::collections::BTreeMap;

use warpfft_core::function::Functions;
use warpfft_core::problem::Problem;
use warpfft_core::target::Limits;

use super::Entry;
use super::key::Family;

/// Numbers that differ less than this are alike, whether or not they fill the device.
const ALIKE: f64 = 2.0;

/// The entry of that device for the nearest number, by ratio, of a problem's transforms that is alike to the device.
pub(super) fn nearest<'a>(
    entries: &'a BTreeMap<(String, String), Entry>,
    device: &str,
    limits: &Limits,
    problem: &Problem,
) -> Option<&'a Entry> {
    if entries.is_empty() {
        return None;
    }
    let family = Family::of(problem)?;
    let element = problem.input_element().min(problem.output_element());
    let bytes = problem.elements() as f64 * element as f64;
    // More than all multiprocessors hold at a time: whatever the tile, there are several for each.
    let full = f64::from(limits.multiprocessors) * f64::from(limits.shared_per_sm);
    let apart = |count: u64| {
        let ratio = count as f64 / family.count as f64;
        let both_fill = bytes.min(bytes * ratio) >= full;
        let apart = ratio.max(1.0 / ratio);
        (both_fill || apart < ALIKE).then_some(apart)
    };
    let from = (device.to_owned(), family.before.clone());
    let known = entries
        .range(from..)
        .take_while(|((own, key), _)| own == device && key.starts_with(&family.before))
        .filter_map(|((_, key), entry)| Some((apart(family.count_of(key)?)?, entry)));
    known.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, entry)| entry)
}

/// A problem without its functions and without shifts, and with a number that runs do not change; `None` if it has none of these.
pub(super) fn plain(problem: &Problem) -> Option<Problem> {
    let mut plain = problem.clone();
    plain.functions = Functions::default();
    plain.batch.iter_mut().for_each(|dim| dim.at_run = false);
    if plain.has_all_points() {
        plain.windows.clear();
    }
    (plain != *problem).then(|| plain.validated().ok())?
}
