//! Lines by how complex points carry them: as halves, in pairs, or alone; and what memory has to be seen as for it.

use crate::function::Functions;
use crate::pass::{Carry, Formula, Operand, PassDim};
use crate::problem::{Dim, Format};

use super::applied::Around;
use super::line::{Line, Repeated};
use super::{merged, ordered};

/// Lines that are carried in one way: all, all but one, or the one that is left.
pub(super) struct Share {
    pub carry: Carry,
    pub batch: Vec<PassDim>,
    pub from: Operand,
    pub to: Operand,
    /// The functions that they meet.
    pub functions: Functions,
    /// The dimension of the problem that the pairs are neighbours along.
    pub across: Option<u16>,
}

impl Line {
    /// The ways to carry the lines that are worth a price, the usual one first: as halves where their sequence has an even
    /// length, else in pairs. Where channels are read, neighbours lie side by side: lines of an even length may go in pairs
    /// too, whose numbers one access moves.
    pub fn ways_to_carry(&self) -> Vec<Vec<Share>> {
        let batch = self.repeated();
        if self.formula.sequence(self.n).is_multiple_of(2) {
            let spectrum = matches!(self.formula, Formula::Spectrum { .. });
            let mut ways = vec![vec![self.share(Carry::Halves, batch.clone())]];
            if spectrum && self.beside.is_empty() {
                let channels = pairable(&batch).filter(|&d| batch[d].is == 1);
                ways.extend(channels.map(|d| self.pairs(&batch, d)));
            }
            return ways;
        }
        vec![self.in_rows()]
    }

    /// Each line by itself.
    pub fn all_alone(&self) -> Share {
        self.share(Carry::Single, self.repeated())
    }

    /// Lines in pairs of neighbours along the dimension that has the most, of which none is left where that number is even; alone
    /// where there is no such dimension.
    pub fn in_rows(&self) -> Vec<Share> {
        let batch = self.repeated();
        // Where the number is not known yet, one may be left.
        let paired = pairable(&batch).max_by_key(|&d| (batch[d].n.is_multiple_of(2), batch[d].n));
        match paired {
            Some(d) => self.pairs(&batch, d),
            None => vec![self.all_alone()],
        }
    }

    /// All lines, carried in one way.
    fn share(&self, carry: Carry, batch: Vec<PassDim>) -> Share {
        let (from, to) = (self.from.operand, self.to.operand);
        Share { carry, batch, from, to, functions: self.applied.functions.clone(), across: None }
    }

    /// Pairs of neighbours along a dimension, and the last of an odd number alone.
    fn pairs(&self, batch: &[PassDim], d: usize) -> Vec<Share> {
        let PassDim { n, is, os, of, .. } = batch[d];
        let mut pairs = batch.to_vec();
        let first = batch[d].first.map(|first| first.map(|(start, n)| (start / 2, n / 2)));
        pairs[d] = PassDim { n: n / 2, is: 2 * is, os: 2 * os, first, ..batch[d] };
        pairs.retain(PassDim::counts_for);
        let mut all = vec![Share { across: of, ..self.share(Carry::Rows([is, os]), pairs) }];
        if !n.is_multiple_of(2) {
            let mut rest = batch.to_vec();
            rest.remove(d);
            let moved = |operand: Operand, stride: i64| {
                let offset = i128::from(operand.offset) + i128::from(stride) * i128::from(n - 1);
                Operand { offset: offset as u64, ..operand }
            };
            let one = self.share(Carry::Single, rest);
            let functions = one.functions.at_index(of, n - 1);
            all.push(Share { from: moved(one.from, is), to: moved(one.to, os), functions, ..one });
        }
        all
    }

    /// The dimensions that it is repeated over.
    fn repeated(&self) -> Vec<PassDim> {
        let strides = self.from.strides.iter().zip(&self.to.strides);
        let dims = self.around.iter().zip(strides).enumerate();
        let dims =
            dims.map(|(d, (&n, (&is, &os)))| Dim { at_run: self.at_run == Some(d), ..Dim::new(n, is, os) });
        if self.applied.functions.is_empty() {
            let all = match self.repeated {
                Repeated::Merged => Some(merged(dims.clone().collect())),
                Repeated::Apart => Some(ordered(dims.clone().collect())),
                Repeated::Kept => None,
            };
            if let Some(all) = all {
                return all.iter().map(PassDim::from).collect();
            }
        }
        let named = dims.enumerate().map(|(d, dim)| Around::named(self.applied.around.get(d), &dim));
        named.filter(PassDim::counts_for).collect()
    }
}

/// The repeated dimensions along which neighbours may go together: two that are neighbours in memory are to be neighbours among
/// the points that functions count.
fn pairable(batch: &[PassDim]) -> impl Iterator<Item = usize> {
    let even = |n: u64, (start, all): (u32, u32)| {
        n.is_multiple_of(2) && start.is_multiple_of(2) && all.is_multiple_of(2)
    };
    let aligned = move |dim: &PassDim| dim.first.into_iter().flatten().all(|first| even(dim.n, first));
    (0..batch.len()).filter(move |&d| !batch[d].at_run && batch[d].n > 1 && aligned(&batch[d]))
}

/// A side of points in memory: its array, the stride of points, and those of the repeated dimensions.
pub(super) struct Points {
    pub operand: Operand,
    pub stride: i64,
    pub strides: Vec<i64>,
}

impl Share {
    /// Lines.
    pub fn lines(&self) -> u64 {
        let together = if matches!(self.carry, Carry::Rows(_)) { 2 } else { 1 };
        self.batch.iter().map(|dim| dim.n).product::<u64>() * together
    }

    /// Distances along the dimensions beside the lines and those that they are repeated over.
    pub fn strides(&self, line: &Line, writes: bool) -> Vec<i64> {
        let side = |is, os| if writes { os } else { is };
        let beside = line.beside.iter().map(|(dim, _)| side(dim.is, dim.os));
        beside.chain(self.batch.iter().map(|dim| side(dim.is, dim.os))).collect()
    }

    /// A side on which memory holds the points' reals in their order.
    pub fn natural(&self, line: &Line, writes: bool) -> Points {
        let (operand, stride) =
            if writes { (self.to, line.to.stride) } else { (self.from, line.from.stride) };
        let strides = self.strides(line, writes);
        let distance = match self.carry {
            Carry::Halves => stride,
            Carry::Rows(distances) => distances[usize::from(writes)],
            Carry::Single => {
                return Points { operand: Operand { format: Format::Real, ..operand }, stride, strides };
            }
        };
        let stride = if matches!(self.carry, Carry::Halves) { 2 * stride } else { stride };
        // Both reals of every point lie side by side, the first of them at an even place.
        let even = distance == 1
            && operand.format == Format::Real
            && operand.offset.is_multiple_of(2)
            && strides.iter().chain([&stride]).all(|stride| stride % 2 == 0);
        if even {
            let (offset, span) = (operand.offset / 2, operand.span / 2);
            let operand = Operand { format: Format::Interleaved, offset, span, ..operand };
            let strides = strides.iter().map(|stride| stride / 2).collect();
            return Points { operand, stride: stride / 2, strides };
        }
        Points { operand: Operand { format: Format::Apart(distance), ..operand }, stride, strides }
    }
}
