//! What a layout makes a schedule do beyond its transforms: passes that only move data, and workspace for what has no
//! place in the output. Whoever decides it writes it down here, so that nobody has to guess it from the passes.

use std::fmt;

use crate::problem::{Format, Problem, Storage};

use super::{Place, Schedule, Scheduler};

/// Why data does not go straight through the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// In place, elements change places: blocks would overwrite what others have still to read.
    MovesInPlace,
    /// What lies between passes is kept as it is computed, and the output keeps numbers in another type.
    Storage {
        /// How the output keeps them.
        kept: Storage,
        /// What is computed in.
        computed: Storage,
    },
    /// The output has fewer points than lie between the passes.
    Cropped,
    /// Half a spectrum lies between the passes, and has other points than the output along its other dimensions.
    Windowed,
    /// The output has real parts only, where complex numbers lie between the passes.
    RealOutput,
    /// A spectrum is transformed along its other dimensions before its lines become reals; the input is to stay as it is,
    /// and the output has no room for it.
    InputKept,
    /// Lines of an odd number of reals go in pairs, and one is left over.
    LineLeft,
    /// Arrays of reals that are convolved go in pairs, and one is left over.
    ArrayLeft,
}

impl Cause {
    /// What would do without it.
    pub const fn instead(self) -> &'static str {
        match self {
            Self::MovesInPlace => "the same strides on both sides, or out of place",
            Self::Storage { .. } => "an output that is kept as it is computed",
            Self::Cropped => "an output of as many points as the input has along each dimension",
            Self::Windowed => {
                "windows of as many points in input and output along the axes that are not halved"
            }
            Self::RealOutput => "a complex output",
            Self::InputKept => "in place, which overwrites the input",
            Self::LineLeft => "an even number of lines, or an even length",
            Self::ArrayLeft => "an even number of arrays",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MovesInPlace => f.write_str("in place, elements change places"),
            Self::Storage { kept, computed } => {
                write!(f, "what lies between the passes is {computed}, and the output keeps {kept}")
            }
            Self::Cropped => f.write_str("the output has fewer points than lie between the passes"),
            Self::Windowed => f.write_str("the output has other points than the spectrum between the passes"),
            Self::RealOutput => f.write_str("complex numbers lie between the passes, and the output is real"),
            Self::InputKept => {
                f.write_str("the input is kept, and the output of reals has no room for what lies between")
            }
            Self::LineLeft => {
                f.write_str("lines of an odd number of reals go in pairs, and one is left over")
            }
            Self::ArrayLeft => f.write_str("arrays of reals go in pairs, and one is left over"),
        }
    }
}

/// One such way round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Detour {
    /// Why.
    pub cause: Cause,
    /// The pass that there would not be without it.
    pub pass: Option<usize>,
    /// The region of the workspace that it takes.
    pub region: Option<u8>,
}

impl Detour {
    /// Numbers differ between what lies between the passes and the output.
    pub(super) fn stored(problem: &Problem) -> Cause {
        Cause::Storage { kept: problem.stored()[1], computed: Storage::of(problem.precision) }
    }
}

impl Scheduler<'_> {
    /// A region for what lies between the passes.
    pub(super) fn stage(&mut self, output: &Place, moves: bool) -> Place {
        let cause = match self.problem {
            _ if moves => Cause::MovesInPlace,
            problem if !problem.keeps_results() => Detour::stored(problem),
            Problem { output: Format::Real, .. } => Cause::RealOutput,
            _ => Cause::Cropped,
        };
        let place = self.workspace(output);
        self.detours.push(Detour { cause, pass: None, region: Some((self.regions.len() - 1) as u8) });
        place
    }
}

impl Schedule {
    /// Keeps the detours whose regions there still are, under these numbers.
    pub(super) fn renumber_detours(&mut self, number: impl Fn(u8) -> Option<u8>) {
        self.detours.retain_mut(|detour| match detour.region {
            None => true,
            Some(region) => {
                detour.region = number(region);
                detour.region.is_some() || detour.pass.is_some()
            }
        });
    }
}
