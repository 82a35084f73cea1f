//! Sets of addresses that strided dimensions reach.

use super::Dim;

/// Lowest and highest address. In i128 nothing overflows once the element count is known to fit in 63 bits: the
/// sum of the lengths is at most their product.
pub(super) fn extent(offset: u64, dims: impl Iterator<Item = (u64, i64)>) -> (i128, i128) {
    let start = i128::from(offset);
    dims.fold((start, start), |(low, high), (n, stride)| {
        let reach = (i128::from(n) - 1) * i128::from(stride);
        (low + reach.min(0), high + reach.max(0))
    })
}

/// Visits the (input, output) addresses of all index tuples, the last dimension fastest.
pub(super) struct Walk {
    dims: Vec<Dim>,
    index: Vec<u64>,
    at: Option<(i128, i128)>,
}

impl Walk {
    pub(super) fn new(dims: Vec<Dim>, input_offset: u64, output_offset: u64) -> Self {
        let index = vec![0; dims.len()];
        Self { dims, index, at: Some((i128::from(input_offset), i128::from(output_offset))) }
    }
}

impl Iterator for Walk {
    type Item = (u64, u64);

    fn next(&mut self) -> Option<(u64, u64)> {
        let (mut input, mut output) = self.at?;
        let here = (input as u64, output as u64);
        self.at = None;
        for (dim, index) in self.dims.iter().zip(&mut self.index).rev() {
            *index += 1;
            if *index < dim.n {
                self.at = Some((input + i128::from(dim.is), output + i128::from(dim.os)));
                break;
            }
            *index = 0;
            let back = i128::from(dim.n) - 1;
            input -= back * i128::from(dim.is);
            output -= back * i128::from(dim.os);
        }
        Some(here)
    }
}

/// A set of addresses in a form that depends on nothing but the set, as long as it is nested: the lowest address,
/// and dimensions with positive strides, largest first, none of which continues the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AddressSet {
    lowest: u64,
    dims: Vec<(u64, u64)>,
}

impl AddressSet {
    /// From dimensions whose addresses are all valid.
    pub(super) fn new(offset: u64, dims: impl Iterator<Item = (u64, i64)> + Clone) -> Self {
        let lowest = extent(offset, dims.clone()).0 as u64;
        let mut sorted: Vec<(u64, u64)> =
            dims.filter(|dim| dim.0 > 1).map(|(n, stride)| (n, stride.unsigned_abs())).collect();
        sorted.sort_unstable_by_key(|&(_, stride)| std::cmp::Reverse(stride));
        let mut merged: Vec<(u64, u64)> = Vec::new();
        for (n, stride) in sorted {
            match merged.last_mut() {
                Some(outer) if u128::from(outer.1) == u128::from(n) * u128::from(stride) => {
                    *outer = (outer.0 * n, stride);
                }
                _ => merged.push((n, stride)),
            }
        }
        Self { lowest, dims: merged }
    }

    /// Splits off the outer dimensions that step over everything inside them: the rest, from that index on, may
    /// collide with itself and is all that need be searched.
    fn tangled(&self) -> &[(u64, u64)] {
        let nested = |i: usize| {
            let reach: u128 =
                self.dims[i + 1..].iter().map(|&(n, s)| u128::from(n - 1) * u128::from(s)).sum();
            u128::from(self.dims[i].1) > reach
        };
        let outer = (0..self.dims.len()).take_while(|&i| nested(i)).count();
        &self.dims[outer..]
    }

    /// Whether every stride is larger than the extent of all smaller ones: then no two addresses collide and
    /// equal sets have equal forms.
    pub(super) fn is_nested(&self) -> bool {
        self.tangled().is_empty()
    }

    /// Number of elements that [`Self::collision`] has to look at.
    pub(super) fn tangled_elements(&self) -> u64 {
        self.tangled().iter().map(|dim| dim.0).product()
    }

    /// The lowest address that two index tuples share, by enumeration.
    pub(super) fn collision(&self) -> Option<u64> {
        let all = enumerate(self.lowest, self.tangled());
        all.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
    }

    /// The lowest address that only one of two nested sets has, and whether that is this one. `None` where the
    /// sets are equal or one is not nested.
    pub(super) fn nested_difference(&self, other: &Self) -> Option<(u64, bool)> {
        if !self.is_nested() || !other.is_nested() || self == other {
            return None;
        }
        if self.lowest != other.lowest {
            return Some((self.lowest.min(other.lowest), self.lowest < other.lowest));
        }
        // From the inside: as long as dimensions agree, so do all addresses that they reach. Behind the end of a
        // form lies an address that no set has.
        let ends = std::iter::repeat((1, u64::MAX));
        let ours = self.dims.iter().rev().copied().chain(ends.clone());
        let theirs = other.dims.iter().rev().copied().chain(ends);
        let (a, b) = ours.zip(theirs).find(|(a, b)| a != b)?;
        if a.1 != b.1 {
            return Some((self.lowest + a.1.min(b.1), a.1 < b.1));
        }
        // The same steps, but one goes further: the other has a gap there, else its form would have merged.
        Some((self.lowest + a.0.min(b.0) * a.1, a.0 > b.0))
    }

    /// All addresses, rising.
    pub(super) fn sorted(&self) -> Vec<u64> {
        enumerate(self.lowest, &self.dims)
    }
}

fn enumerate(lowest: u64, dims: &[(u64, u64)]) -> Vec<u64> {
    let mut all = vec![lowest];
    for &(n, stride) in dims {
        let known = all.len();
        for i in 1..n {
            all.extend_from_within(..known);
            let fresh = all.len() - known;
            all[fresh..].iter_mut().for_each(|address| *address += i * stride);
        }
    }
    all.sort_unstable();
    all
}
