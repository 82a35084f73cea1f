//! New results against those of record: what got slower, what got faster, and by how much on the whole.

use std::path::Path;

use super::mean;
use super::record::{self, Record, Status};
use crate::error::CliError;
use crate::report;

/// One problem measured in both files.
struct Pair<'a> {
    old: &'a Record,
    new: &'a Record,
    /// New copies over old ones.
    ratio: f64,
}

/// What a comparison found.
struct Comparison<'a> {
    /// Slower beyond the tolerance, the worst first.
    slower: Vec<Pair<'a>>,
    /// Faster beyond it, the best first.
    faster: Vec<Pair<'a>>,
    /// All others.
    alike: Vec<Pair<'a>>,
    /// Measured before and no more: what became of them, where they are there at all.
    lost: Vec<(&'a Record, Option<&'a Record>)>,
    /// Measured now and not before.
    gained: usize,
}

impl<'a> Comparison<'a> {
    fn of(old: &'a [Record], new: &'a [Record], tolerance: f64) -> Self {
        let mut found = Self { slower: vec![], faster: vec![], alike: vec![], lost: vec![], gained: 0 };
        for before in old.iter().filter(|record| record.copies.is_some()) {
            let now = new.iter().find(|record| record.key() == before.key());
            let (Some(was), Some(is)) = (before.copies, now.and_then(|now| now.copies)) else {
                found.lost.push((before, now));
                continue;
            };
            let Some(now) = now else { continue };
            let pair = Pair { old: before, new: now, ratio: is / was };
            if pair.ratio > 1.0 + tolerance {
                found.slower.push(pair);
            } else if pair.ratio < 1.0 / (1.0 + tolerance) {
                found.faster.push(pair);
            } else {
                found.alike.push(pair);
            }
        }
        let known = |new: &Record| old.iter().any(|old| old.key() == new.key() && old.copies.is_some());
        found.gained = new.iter().filter(|new| new.copies.is_some() && !known(new)).count();
        found.slower.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
        found.faster.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
        found
    }

    fn pairs(&self) -> impl Iterator<Item = &Pair<'a>> {
        self.slower.iter().chain(&self.faster).chain(&self.alike)
    }

    /// Problems that could be done before and fail now: no run was cut short before them.
    fn broken(&self) -> usize {
        self.lost.iter().filter(|(_, now)| now.is_some_and(|now| now.status != Status::Measured)).count()
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for (what, pairs) in [("slower", &self.slower), ("faster", &self.faster)] {
            for Pair { old, new, ratio } in pairs {
                let (was, is) = (old.copies.unwrap_or_default(), new.copies.unwrap_or_default());
                text += &format!("{what}  {}: {was:.3} -> {is:.3} copies, x{ratio:.3}\n", new.key());
            }
        }
        for (before, now) in &self.lost {
            text += &match now {
                Some(now) => format!("failed  {}: {}\n", before.key(), now.note),
                None => format!("absent  {}: not measured anew\n", before.key()),
            };
        }
        let (slower, faster) = (self.slower.len(), self.faster.len());
        let (alike, gained) = (self.alike.len(), self.gained);
        text += &format!("{slower} slower, {faster} faster, {alike} alike, {gained} new");
        for (group, members) in mean::groups(self.pairs().map(|pair| pair.new)) {
            let of = |pick: fn(&Pair<'_>) -> Option<f64>| {
                let own = self.pairs().filter(|pair| members.iter().any(|new| std::ptr::eq(*new, pair.new)));
                mean::geometric(own.filter_map(pick)).unwrap_or(1.0)
            };
            let (was, is) = (of(|pair| pair.old.copies), of(|pair| pair.new.copies));
            text += &format!("\n  {group:<22} {was:.3} -> {is:.3} copies");
        }
        if let Some(ratio) = mean::geometric(self.pairs().map(|pair| pair.ratio)) {
            text += &format!("\ngeometric mean of new over old: {ratio:.4}");
        }
        text
    }
}

/// Compares two files and fails where something got slower.
pub fn compare(old: &Path, new: &Path, tolerance: f64) -> Result<(), CliError> {
    let (before, now) = (record::read(old)?, record::read(new)?);
    let found = Comparison::of(&before, &now, tolerance);
    if found.pairs().next().is_none() && found.lost.iter().all(|(_, now)| now.is_none()) {
        return Err(CliError::NothingToCompare { old: old.into(), new: new.into() });
    }
    report::line(&found.text())?;
    match found.slower.len() + found.broken() {
        0 => Ok(()),
        count => Err(CliError::Slower { count, percent: tolerance * 100.0 }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::record::tests::measured;

    #[test]
    fn slower_and_faster_rows_are_named() {
        let old = measured(&[1.0, 1.0, 1.0, 2.0, 1.0]);
        let mut new = measured(&[1.04, 1.06, 0.5, 2.0]);
        new.push(Record { copies: None, status: Status::Failed, note: "too small".into(), ..old[4].clone() });
        let found = Comparison::of(&old, &new, 0.05);
        assert_eq!((found.slower.len(), found.faster.len(), found.alike.len()), (1, 1, 2));
        assert_eq!(found.broken(), 1);
        let text = found.text();
        for words in [
            "slower  c2c f32 4 batch 16777216: 1.000 -> 1.060 copies",
            "faster  c2c f32 8 batch 8388608: 1.000 -> 0.500 copies",
            "failed  c2c f32 32 batch 2097152: too small",
            "1 slower, 1 faster, 2 alike, 0 new",
            "1d-two-short f32",
        ] {
            assert!(text.contains(words), "no '{words}' in {text}");
        }
        let mean = (1.04_f64 * 1.06 * 0.5).powf(0.25);
        assert!(text.contains(&format!("new over old: {mean:.4}")), "{text}");
    }

    #[test]
    fn the_tolerance_counts_both_ways_and_absent_rows_are_no_failure() {
        let (old, new) = (measured(&[1.0, 1.0, 1.0]), measured(&[1.1, 0.9]));
        assert_eq!(Comparison::of(&old, &new, 0.12).alike.len(), 2);
        let strict = Comparison::of(&old, &new, 0.0);
        assert_eq!((strict.slower.len(), strict.faster.len(), strict.lost.len()), (1, 1, 1));
        assert_eq!(strict.broken(), 0);
        assert_eq!(Comparison::of(&new, &old, 0.0).gained, 1);
    }

    #[test]
    fn files_are_compared_and_slower_ones_fail() {
        let folder = tempfile::TempDir::new().unwrap();
        let file = |name: &str, copies: &[f64]| {
            let path = folder.path().join(name);
            let (mut writer, _) = record::Writer::open(&path, false).unwrap();
            measured(copies).iter().for_each(|record| writer.append(record).unwrap());
            path
        };
        let (old, new) = (file("old.csv", &[1.0, 1.0]), file("new.csv", &[1.01, 1.2]));
        assert!(matches!(compare(&old, &new, 0.05), Err(CliError::Slower { count: 1, .. })));
        assert!(compare(&old, &new, 0.25).is_ok());
        let empty = file("empty.csv", &[]);
        assert!(matches!(compare(&old, &empty, 0.05), Err(CliError::NothingToCompare { .. })));
    }
}
