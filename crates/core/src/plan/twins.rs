//! Digits of a length that read the same both ways, and in which pass each changes places with its twin.
//!
//! Passes turn input digit j, of weight `N/(d0..dj)`, into output digit j where it stands; its own place is of weight
//! `d0..d(j-1)`. Where `d` reads the same both ways, that place is the one of its twin, digit q-1-j: a pass that
//! holds both digits whole can swap them as it stores, so that every tile maps to itself.

use std::ops::Range;

/// Digits of a length, grouped into passes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Twins {
    /// Values that each digit takes.
    pub sizes: Vec<u64>,
    /// Digits of each pass.
    pub groups: Vec<Range<usize>>,
    /// Pass in which each digit of the first half changes places with its twin.
    pub passes: Vec<usize>,
}

impl Twins {
    /// From the passes' lengths, and the factor of each pair's digit that moves in the earlier of the two passes: the
    /// inner part of it, so that the outermost digit, which is a row of memory, moves last. `None` where the digits do
    /// not read the same both ways.
    pub fn new(lengths: &[u64], early: &[u64]) -> Option<Self> {
        let n = lengths.iter().try_fold(1_u64, |n, &len| n.checked_mul(len))?;
        let mut ends = vec![1];
        ends.extend(lengths.iter().scan(1, |at, &len| {
            *at *= len;
            Some(*at)
        }));
        let mirrored: Vec<u64> = ends.iter().map(|end| n / end).collect();
        let mut bounds = [&ends[..], &mirrored].concat();
        bounds.sort_unstable();
        bounds.dedup();
        let coarse: Vec<u64> = bounds.windows(2).map(|pair| pair[1] / pair[0]).collect();
        let whole = bounds.windows(2).all(|pair| pair[1].is_multiple_of(pair[0]));
        let pairs = coarse.len() / 2;
        if !whole || lengths.contains(&1) || early.len() != pairs {
            return None;
        }
        let mut first = Vec::new();
        let mut moves_early = Vec::new();
        for (&size, &factor) in coarse.iter().zip(early) {
            if factor == 0 || !size.is_multiple_of(factor) {
                return None;
            }
            for (digit, is_early) in [(size / factor, false), (factor, true)] {
                if digit > 1 {
                    first.push(digit);
                    moves_early.push(is_early);
                }
            }
        }
        let middle = &coarse[pairs..coarse.len() - pairs];
        let sizes: Vec<u64> = first.iter().chain(middle).chain(first.iter().rev()).copied().collect();
        let mut groups: Vec<Range<usize>> = Vec::new();
        let (mut at, mut done) = (0, 1);
        for &end in &ends[1..] {
            let start = at;
            while done < end {
                done *= sizes[at];
                at += 1;
            }
            groups.push(start..at);
        }
        let group = |digit: usize| groups.iter().position(|group| group.contains(&digit)).unwrap_or(0);
        let twin = |digit: usize| sizes.len() - 1 - digit;
        let passes = moves_early
            .iter()
            .enumerate()
            .map(|(digit, &is_early)| group(if is_early { digit } else { twin(digit) }))
            .collect();
        Some(Self { sizes, groups, passes })
    }

    /// Weight of each digit's place in the input.
    pub fn weights(&self) -> Vec<u64> {
        let mut weight = self.sizes.iter().product::<u64>();
        self.sizes
            .iter()
            .map(|size| {
                weight /= size;
                weight
            })
            .collect()
    }

    /// Digits that change places with their twins in a pass, with these.
    pub fn moving(&self, pass: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let last = self.sizes.len() - 1;
        let moving = self.passes.iter().enumerate().filter(move |&(_, &own)| own == pass);
        moving.map(move |(digit, _)| (digit, last - digit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twins_are_cut_where_passes_and_their_mirror_images_end() {
        let plain = Twins::new(&[8, 5, 8], &[1]).expect("it reads the same both ways");
        assert_eq!(plain.sizes, [8, 5, 8]);
        assert_eq!((plain.groups, plain.passes), (vec![0..1, 1..2, 2..3], vec![2]));
        // 2^33 as 8 + 11 + 6 + 8 bits: the second pass has digits of 6 and 5 bits.
        let four = Twins::new(&[1 << 8, 1 << 11, 1 << 6, 1 << 8], &[4, 1]).expect("it does");
        assert_eq!(four.sizes, [6, 2, 6, 5, 6, 2, 6].map(|bits| 1_u64 << bits));
        assert_eq!(four.groups, [0..2, 2..4, 4..5, 5..7]);
        assert_eq!(four.passes, [3, 0, 2]);
        assert_eq!(four.moving(3).collect::<Vec<_>>(), [(0, 6)]);
        assert_eq!(four.weights()[5..], [64, 1]);
        let square = Twins::new(&[12, 12], &[12]).expect("it does");
        assert_eq!((square.sizes, square.passes), (vec![12, 12], vec![0]));
    }

    #[test]
    fn what_has_no_twins_is_told() {
        assert_eq!(Twins::new(&[8, 5], &[]), None);
        assert_eq!(Twins::new(&[4, 9, 6], &[1]), None);
        assert_eq!(Twins::new(&[8, 8], &[]), None, "a pair needs its factor");
        assert_eq!(Twins::new(&[8, 8], &[3]), None);
        assert_eq!(Twins::new(&[8, 8], &[0]), None);
        assert_eq!(Twins::new(&[1 << 40, 1 << 40], &[1]), None, "too long");
    }
}
