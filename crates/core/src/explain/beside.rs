//! What a plan does beside its transforms, and what it leaves open.

use std::fmt;

use crate::kernel::AtRun;
use crate::problem::{Dim, Problem};
use crate::schedule::{Cause, Schedule};

use super::bytes;

/// A pass, or memory, that the problem's layout asks for and not its transforms.
///
/// ```
/// use warpfft_core::explain::{Cause, explain};
/// use warpfft_core::{problem::Dim, request::Fft, target::Limits};
///
/// // Rows that become columns, in place: one more pass, and workspace.
/// let turned = Fft::guru(&[Dim::new(16, 1, 16)], &[Dim::new(16, 16, 1)]).in_place().build()?;
/// let extra = explain(&turned, &Limits::h200())?.extras[0];
/// assert_eq!((extra.cause, extra.pass, extra.workspace_bytes), (Cause::MovesInPlace, Some(1), 2048));
/// println!("{extra}");
/// # Ok::<(), warpfft_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtraSummary {
    /// Why.
    pub cause: Cause,
    /// Which of the passes there would not be without it, counted from 0.
    pub pass: Option<usize>,
    /// Bytes of workspace that it takes.
    pub workspace_bytes: u64,
}

impl ExtraSummary {
    pub(super) fn all(schedule: &Schedule, problem: &Problem) -> Vec<Self> {
        let bytes = |region: u8| schedule.regions[usize::from(region)] * problem.precision.complex_bytes();
        let one = |detour: &crate::schedule::Detour| Self {
            cause: detour.cause,
            pass: detour.pass,
            workspace_bytes: detour.region.map_or(0, bytes),
        };
        schedule.detours.iter().map(one).collect()
    }
}

impl fmt::Display for ExtraSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pass = self.pass.map(|pass| format!("pass {}", pass + 1));
        let memory =
            (self.workspace_bytes > 0).then(|| format!("workspace of {}", bytes(self.workspace_bytes)));
        let what: Vec<String> = pass.into_iter().chain(memory).collect();
        let (cause, instead) = (self.cause, self.cause.instead());
        write!(f, "by its layout: {}, for {cause}; without: {instead}", what.join(" and a "))
    }
}

/// How the number of transforms is left open.
///
/// ```
/// use warpfft_core::{explain::explain, request::Fft, target::Limits};
/// let problem = Fft::new([64]).batch(1000).any_batch().build()?;
/// let explanation = explain(&problem, &Limits::h200())?;
/// let open = explanation.any_batch.expect("each run gives a count");
/// assert_eq!((open.dim.n, open.launches.len()), (1000, 1));
/// // A run of one transform launches no more blocks than it needs.
/// assert!(open.launches[0].blocks_at(1) < explanation.passes[0].blocks);
/// # Ok::<(), warpfft_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnyBatchSummary {
    /// The dimension of which each run says how many there are, and of how many at most.
    pub dim: Dim,
    /// What part of each launch a count runs.
    pub launches: Vec<AtRun>,
}

impl fmt::Display for AnyBatchSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Dim { n, is, os, .. } = self.dim;
        write!(f, "any batch: each run says how many, 1 to {n}, at distances {is} and {os}; ")?;
        let each = |launch: &AtRun| format!("{} for each {}", launch.blocks, launch.step);
        let each: Vec<String> = self.launches.iter().map(each).collect();
        write!(f, "blocks launched: {}", each.join(", "))
    }
}
