//! Lines by how complex points carry them: as halves, in pairs, or alone; and what memory has to be seen as for it.

use crate::function::Functions;
use crate::pass::{Carry, Operand, PassDim};
use crate::problem::{Dim, Format};

use super::applied::Applied;
use super::line::Line;
use super::merged;

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
    /// How lines are carried: as halves where their sequence has an even length, else in pairs, and the last of an odd
    /// number alone.
    pub fn shares(&self) -> Vec<Share> {
        let batch = self.repeated();
        let functions = &self.applied.functions;
        let share = |carry, batch, functions, across| {
            let (from, to) = (self.from.operand, self.to.operand);
            Share { carry, batch, from, to, functions, across }
        };
        if self.formula.turned() || self.formula.sequence(self.n).is_multiple_of(2) {
            return vec![share(Carry::Halves, batch, functions.clone(), None)];
        }
        // Of an even number of lines none is left; where the number is not known yet, there may be one.
        let known = (0..batch.len()).filter(|&d| !batch[d].at_run);
        let paired = known.max_by_key(|&d| (batch[d].n.is_multiple_of(2), batch[d].n));
        let Some(d) = paired else { return vec![share(Carry::Single, batch, functions.clone(), None)] };
        let PassDim { n, is, os, of, .. } = batch[d];
        let mut pairs = batch.clone();
        pairs[d] = PassDim { n: n / 2, is: 2 * is, os: 2 * os, ..batch[d] };
        pairs.retain(|dim| dim.n > 1 || dim.at_run);
        let mut all = vec![share(Carry::Rows([is, os]), pairs, functions.clone(), of)];
        if !n.is_multiple_of(2) {
            let mut rest = batch;
            rest.remove(d);
            let moved = |operand: Operand, stride: i64| {
                let offset = i128::from(operand.offset) + i128::from(stride) * i128::from(n - 1);
                Operand { offset: offset as u64, ..operand }
            };
            let left = functions.at_index(of, n - 1);
            let one = share(Carry::Single, rest, left, None);
            all.push(Share { from: moved(one.from, is), to: moved(one.to, os), ..one });
        }
        all
    }

    /// The dimensions that it is repeated over, those that continue each other as one unless somebody knows them.
    fn repeated(&self) -> Vec<PassDim> {
        let strides = self.from.strides.iter().zip(&self.to.strides);
        let dims = self.around.iter().zip(strides).enumerate();
        let dims =
            dims.map(|(d, (&n, (&is, &os)))| Dim { at_run: self.at_run == Some(d), ..Dim::new(n, is, os) });
        if !self.kept && self.applied.functions.is_empty() {
            return merged(dims.collect()).iter().map(PassDim::from).collect();
        }
        let named =
            dims.enumerate().map(|(d, dim)| Applied::named(self.applied.around.get(d).copied(), &dim));
        named.filter(|dim| dim.n > 1 || dim.at_run).collect()
    }
}

/// A side of points in memory: its array, the stride of points, and those of the repeated dimensions.
pub(super) struct Points {
    pub operand: Operand,
    pub stride: i64,
    pub strides: Vec<i64>,
}

impl Share {
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
