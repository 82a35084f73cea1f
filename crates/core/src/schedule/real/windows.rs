//! Windows of lines of reals: where memory lacks elements of a line, or of the dimensions beside it.

use crate::error::Side;
use crate::pass::{self, Carry};
use crate::plan::Plan;
use crate::problem::{Dim, Problem, RealDim, Window};

use super::Chain;
use super::line::Line;
use super::share::Share;

/// The windows of lines where they are read and where they are written; `None`: memory holds all of a dimension.
#[derive(Debug, Clone, Default)]
pub(super) struct Windows {
    /// Of their own dimension.
    pub own: [Option<Window>; 2],
    /// Of those beside it.
    pub beside: Vec<[Option<Window>; 2]>,
}

impl Windows {
    /// Whether the window of a side of reals holds one of the two that a point carries and not the other.
    pub fn parts(&self, carry: Carry, writes: bool) -> bool {
        let own = self.own[usize::from(writes)];
        matches!(carry, Carry::Halves) && own.is_some_and(|own| own.start % 2 == 1 || own.len % 2 == 1)
    }

    /// Whether memory holds everything.
    pub fn is_empty(&self) -> bool {
        self.beside.iter().chain([&self.own]).all(|sides| *sides == [None; 2])
    }
}

/// Beyond this strides are left alone.
const FAR: u64 = 1 << 40;

/// The problem with strides of its own for every complex dimension of which memory holds one point, where a stride says
/// nothing: dimensions are told apart by their strides, and these may be those of another one.
pub(super) fn told_apart(mut problem: Problem) -> Problem {
    let all = problem.transform.iter().chain(&problem.batch).copied();
    let all = all.chain(problem.kind.dims().map(|(dim, _)| dim));
    let far = all.map(|dim| dim.is.unsigned_abs().max(dim.os.unsigned_abs())).max().unwrap_or(0);
    if !problem.is_windowed() || far > FAR {
        return problem;
    }
    let mut next = 2 * (far as i64 + 1);
    for d in 0..problem.transform.len() {
        for side in [Side::Input, Side::Output] {
            if problem.window(d, side).len == 1 {
                let dim = &mut problem.transform[d];
                *(if side == Side::Input { &mut dim.is } else { &mut dim.os }) = next;
                next += 2;
            }
        }
    }
    problem
}

/// A window of reals as one of the points that carry them.
fn of_points(window: Window, carry: Carry) -> Window {
    let each = if matches!(carry, Carry::Halves) { 2 } else { 1 };
    Window::new(window.start / each, window.len / each)
}

impl Line {
    /// The windows of the one pass of these lines.
    pub(super) fn pass_windows(&self, share: &Share, writes: bool) -> Vec<pass::Window> {
        if self.windows.is_empty() {
            return Vec::new();
        }
        let side = usize::from(writes);
        let count = self.beside.len() + 1;
        let strides = share.strides(self, writes);
        let window = |axis: usize, n: u64, own: Window, stride: i64| {
            let axes = (0..count).map(|other| u64::from(other == axis)).collect();
            let Window { start, len } = own;
            pass::Window { n, start, len, stride, axes, batch: vec![0; share.batch.len()] }
        };
        let natural = (!self.folds(share.carry, writes)).then(|| share.natural(self, writes));
        let strides = natural.as_ref().map_or(strides, |natural| natural.strides.clone());
        let beside = self.beside.iter().zip(&self.windows.beside).enumerate();
        let beside = beside
            .filter_map(|(axis, ((dim, _), sides))| Some(window(axis, dim.n, sides[side]?, strides[axis])));
        let own = self.windows.own[side].zip(natural.as_ref()).map(|(own, natural)| {
            let points = pass::points(self.formula, share.carry, self.n);
            window(count - 1, points, of_points(own, share.carry), natural.stride)
        });
        beside.chain(own).collect()
    }

    /// The windows of the points as a complex problem of its own: of the sides on which lines do not fold.
    pub(super) fn point_windows(&self, carry: Carry, points: u64) -> Vec<[Window; 2]> {
        let side = |writes: bool| {
            let own = self.windows.own[usize::from(writes)].filter(|_| !self.folds(carry, writes));
            own.map_or(Window::whole(points), |own| of_points(own, carry))
        };
        let sides = [false, true].map(side);
        if sides.iter().all(|own| own.is_whole(points)) { Vec::new() } else { vec![sides] }
    }
}

impl Chain<'_> {
    /// The windows of lines along one of the dimensions of the problem's kind, beside complex ones.
    pub(super) fn windows(&self, own: usize, beside: &[(Dim, Plan)]) -> Windows {
        let first = self.problem.transform.len();
        let points = self.problem.kind.dims().nth(own).map_or([1; 2], |(_, points)| points);
        let beside = beside.iter().map(|(dim, _)| self.window_of(self.number(dim), [dim.n; 2])).collect();
        Windows { own: self.window_of(first + own, points), beside }
    }

    /// Points of a complex dimension that memory holds on a side.
    pub(super) fn held(&self, dim: &Dim, writes: bool) -> u64 {
        let side = if writes { Side::Output } else { Side::Input };
        self.problem.window(self.number(dim), side).len
    }

    /// Dimensions with what memory holds of those that are complex.
    pub(super) fn held_dims(&self, dims: &[Dim], writes: bool) -> Vec<Dim> {
        let known = |dim: &Dim| self.problem.transform.contains(dim);
        let held = |dim: &Dim| Dim { n: if known(dim) { self.held(dim, writes) } else { dim.n }, ..*dim };
        dims.iter().map(held).collect()
    }

    /// Points of the first dimension of the problem's kind that memory holds on a side.
    pub(super) fn held_own(&self, writes: bool) -> u64 {
        self.held_along(0, writes)
    }

    /// Points of a dimension of the problem's kind that memory holds on a side.
    pub(super) fn held_along(&self, own: usize, writes: bool) -> u64 {
        let side = if writes { Side::Output } else { Side::Input };
        self.problem.window(self.problem.transform.len() + own, side).len
    }

    /// The windows of complex dimensions as a complex problem has them.
    pub(super) fn complex_windows(&self, dims: &[Dim]) -> Vec<[Window; 2]> {
        if !self.problem.is_windowed() {
            return Vec::new();
        }
        let sides =
            |dim: &Dim| [Side::Input, Side::Output].map(|side| self.problem.window(self.number(dim), side));
        dims.iter().map(sides).collect()
    }

    /// The windows of a pass on a side, of planes of so many real dimensions that lie so in memory.
    pub(super) fn plane_windows(
        &self,
        dims: &[RealDim],
        strides: &[i64],
        repeated: usize,
        writes: bool,
    ) -> Vec<pass::Window> {
        let own = |(d, real): (usize, &RealDim)| {
            let Window { start, len } = self.window_of(d, [real.dim.n; 2])[usize::from(writes)]?;
            let axes = (0..dims.len()).map(|other| u64::from(other == d)).collect();
            Some(pass::Window {
                n: real.dim.n,
                start,
                len,
                stride: strides[d],
                axes,
                batch: vec![0; repeated],
            })
        };
        dims.iter().enumerate().filter_map(own).collect()
    }

    fn window_of(&self, number: usize, points: [u64; 2]) -> [Option<Window>; 2] {
        [(Side::Input, points[0]), (Side::Output, points[1])].map(|(side, n)| {
            let own = self.problem.window(number, side);
            (!own.is_whole(n)).then_some(own)
        })
    }

    /// Which of the problem's complex dimensions that is.
    fn number(&self, dim: &Dim) -> usize {
        let known = self.problem.transform.iter().position(|own| own == dim);
        known.expect("complex dimensions of lines are the problem's")
    }
}
