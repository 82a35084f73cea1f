//! What memory holds between passes where a problem has windows: of a dimension that is still to be transformed, the
//! points of the input's window; of one that has been, those of the output's. Rows that are zero are thus not transformed,
//! nor are rows that nobody wants.

use crate::error::Side;
use crate::pass::{Pass, PassDim, Window};
use crate::problem::{Format, Problem};

use super::{Place, Scheduler};

/// Points of each dimension of a problem that its input or its output holds, transform dimensions first.
pub(super) fn held(problem: &Problem, output: bool) -> Vec<u64> {
    let side = if output { Side::Output } else { Side::Input };
    let own = (0..problem.transform.len()).map(|d| problem.window(d, side).len);
    own.chain(problem.batch.iter().map(|dim| dim.n)).collect()
}

impl Scheduler<'_> {
    /// Whether the output's memory has room for what lies between the passes.
    pub(super) fn output_holds_all(&self) -> bool {
        let fits = |sides: &[crate::problem::Window; 2]| sides[0].len <= sides[1].len;
        let complex = matches!(self.problem.output, Format::Interleaved | Format::Planar | Format::Apart(_));
        complex && self.problem.windows.iter().all(fits)
    }

    /// Points of every dimension in memory, all of those of some dimensions.
    pub(super) fn points_of(&self, group: &[usize]) -> Vec<u64> {
        let mut points = self.held.clone();
        group.iter().for_each(|&d| points[d] = self.problem.transform[d].n);
        points
    }

    /// The windows of dimensions that the passes from `first` on transform; from then on memory holds what the output does.
    pub(super) fn look(&mut self, group: &[usize], first: usize, [src, dst]: [&Place; 2]) {
        self.look_in(group, first, src);
        self.look_out(group, first, dst);
    }

    /// The windows of what the passes from `first` on read.
    pub(super) fn look_in(&mut self, group: &[usize], first: usize, src: &Place) {
        self.look_through(group, first, first, (Side::Input, src));
    }

    /// The windows of what the passes from `first` on write; from then on memory holds no more.
    pub(super) fn look_out(&mut self, group: &[usize], first: usize, dst: &Place) {
        let last = self.passes.len().wrapping_sub(1);
        self.look_through(group, first, last, (Side::Output, dst));
        group.iter().for_each(|&d| self.held[d] = self.problem.window(d, Side::Output).len);
    }

    fn look_through(&mut self, group: &[usize], first: usize, own: usize, (side, place): (Side, &Place)) {
        let problem = self.problem;
        let (writes, alone) = (side == Side::Output, first + 1 == self.passes.len());
        for (at, &d) in group.iter().enumerate() {
            let (n, window) = (problem.transform[d].n, problem.window(d, side));
            if !window.is_whole(n) {
                let pass = &mut self.passes[own];
                let [axes, batch] = weights(pass, if alone { Some(at) } else { None }, writes);
                let (start, len, stride) = (window.start, window.len, place.strides[d]);
                pass.windows[usize::from(writes)].push(Window { n, start, len, stride, axes, batch });
            }
        }
    }
}

/// Weights of a pass's dimensions in the index of one that it transforms: by its axis `at` alone, or as one of several
/// passes, which count the index for the factors too.
fn weights(pass: &Pass, at: Option<usize>, writes: bool) -> [Vec<u64>; 2] {
    let weight = |dim: &PassDim| if writes { dim.store_index } else { dim.load_index };
    match at {
        Some(at) => {
            let own = (0..pass.axes.len()).map(|axis| u64::from(axis == at)).collect();
            [own, vec![0; pass.batch.len()]]
        }
        None => [
            pass.axes.iter().map(|axis| weight(&axis.dim)).collect(),
            pass.batch.iter().map(weight).collect(),
        ],
    }
}
