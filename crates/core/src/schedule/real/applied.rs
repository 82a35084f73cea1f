//! What a caller's functions do to lines of reals: which dimensions of the problem a line's are, and what becomes of a
//! function of reals where a pass reads or writes points that carry two of them.

use std::ops::Range;

use crate::function::{Function, Functions};
use crate::pass::{Carry, PassDim};
use crate::plan::Plan;
use crate::problem::Dim;

use super::Chain;
use super::line::Line;
use super::share::Share;

/// The functions that lines meet at the problem's own ends, and the numbers of the lines' dimensions among the problem's:
/// none where there are no functions.
#[derive(Debug, Clone, Default)]
pub(super) struct Applied {
    pub functions: Functions,
    pub own: Option<u16>,
    /// Of the dimensions beside the lines, and of those that they are repeated over.
    pub beside: Vec<u16>,
    pub around: Vec<Around>,
}

/// A dimension that lines are repeated over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Around {
    pub number: u16,
    /// Which of its points come first in memory.
    pub first: [Option<(u32, u32)>; 2],
}

impl Around {
    /// It in a pass.
    pub fn named(own: Option<&Self>, dim: &Dim) -> PassDim {
        let first = own.map_or([None; 2], |own| own.first);
        PassDim { first, ..Applied::named(own.map(|own| own.number), dim) }
    }
}

impl Applied {
    /// A dimension of a pass under the problem's number for it.
    pub fn named(number: Option<u16>, dim: &Dim) -> PassDim {
        PassDim { of: number, counts: [1; 2], ..PassDim::from(dim) }
    }
}

impl Chain<'_> {
    /// The problem's functions on those of its ends.
    pub(super) fn ends(&self, [loads, stores]: [bool; 2]) -> Functions {
        let Functions { load, store } = &self.problem.functions;
        Functions { load: load.clone().filter(|_| loads), store: store.clone().filter(|_| stores) }
    }

    /// What lines along the halved dimension meet, beside some of the complex dimensions and repeated over the rest.
    pub(super) fn applied(&self, beside: &[(Dim, Plan)], rest: &[Dim], ends: [bool; 2]) -> Applied {
        if self.problem.functions.is_empty() {
            return Applied::default();
        }
        let beside: Vec<Dim> = beside.iter().map(|(dim, _)| *dim).collect();
        let around = self.numbers(rest).into_iter().chain(self.repeated()).map(|d| self.around(d)).collect();
        let own = Some(self.problem.transform.len() as u16);
        Applied { functions: self.ends(ends), own, beside: self.numbers(&beside), around }
    }

    /// What lines along one of several real dimensions meet.
    pub(super) fn applied_along(&self, own: usize, ends: [bool; 2]) -> Applied {
        if self.problem.functions.is_empty() {
            return Applied::default();
        }
        let own = own as u16;
        let around =
            (0..self.repeated().end).filter(|&number| number != own).map(|d| self.around(d)).collect();
        Applied { functions: self.ends(ends), own: Some(own), beside: Vec::new(), around }
    }

    /// What planes of so many real dimensions meet, all in one pass.
    pub(super) fn applied_to_planes(&self, dims: usize) -> Applied {
        if self.problem.functions.is_empty() {
            return Applied::default();
        }
        let last = dims.saturating_sub(1) as u16;
        let around = self.repeated().map(|d| self.around(d)).collect();
        let (functions, beside) = (self.ends([true; 2]), (0..last).collect());
        Applied { functions, own: Some(last), beside, around }
    }

    /// What meets a complex problem over the rest of the dimensions: repeated over what the problem is, over others, and
    /// over the spectrum.
    pub(super) fn applied_around(&self, rest: &[Dim], others: &[Dim], writes: bool) -> Functions {
        let own = self.problem.transform.len() as u16;
        let order: Vec<u16> =
            [self.numbers(rest), self.repeated().collect(), self.numbers(others), vec![own]].concat();
        self.ends([!writes, writes]).in_order(&order)
    }

    /// A dimension that lines are repeated over, by its number.
    pub(super) fn around(&self, number: u16) -> Around {
        Around { number, first: self.problem.first_points(number.into()) }
    }

    /// Numbers of complex dimensions.
    fn numbers(&self, dims: &[Dim]) -> Vec<u16> {
        let at = |dim: &Dim| self.problem.transform.iter().position(|own| own == dim);
        dims.iter().filter_map(at).map(|at| at as u16).collect()
    }

    /// Numbers of the dimensions that the problem is repeated over, behind those of its kind.
    fn repeated(&self) -> Range<u16> {
        let first = self.problem.transform.len() + self.problem.kind.dims().count();
        first as u16..(first + self.problem.batch.len()) as u16
    }
}

impl Share {
    /// What the passes of these lines apply to what they read and write: on elements where they fold, on points where
    /// memory has the points' reals in their order.
    pub(super) fn functions_of(&self, line: &Line) -> Functions {
        self.functions.each(|function, writes| match self.carry {
            _ if line.folds(self.carry, writes) => function.clone(),
            _ => self.function_of_points(function, line),
        })
    }

    /// The same where nothing folds.
    pub(super) fn functions_of_points(&self, line: &Line) -> Functions {
        self.functions.each(|function, _| self.function_of_points(function, line))
    }

    fn function_of_points(&self, function: &Function, line: &Line) -> Function {
        match self.carry {
            Carry::Halves => function.of_pairs(line.applied.own),
            Carry::Rows(_) => function.of_pairs(self.across),
            Carry::Single => function.of_reals(),
        }
    }

    /// The numbers of a complex problem's dimensions that transforms these lines' points.
    pub(super) fn order(&self, line: &Line) -> Vec<u16> {
        line.applied.own.into_iter().chain(self.batch.iter().filter_map(|dim| dim.of)).collect()
    }
}
