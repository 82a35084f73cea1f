//! The identities, one a file. Each says when it applies to a length and what plans it offers; the planner knows
//! none of them by name. To add one: a file here and a line in [`SOLVERS`].

pub(crate) mod bluestein;
pub(crate) mod cluster;
mod decimated;
mod in_place;
pub(crate) mod mixed_radix;
mod ordered;
pub(crate) mod padding;
mod prime_factor;
mod rader;
pub(crate) mod split;

use crate::math::factor;
use crate::plan::Plan;
use crate::planner::Planner;

/// An identity that rewrites the transform of one length.
pub trait Solver: Sync {
    /// Name in traces.
    fn name(&self) -> &'static str;

    /// Whether its plans take one pass when what they are made of does, whatever else the pass does.
    fn on_chip(&self) -> bool {
        true
    }

    /// Whether one block can hold what its plans transform.
    fn one_block(&self) -> bool {
        true
    }

    /// Whether its plans are for those who have no memory beside the data; nobody else is offered them.
    fn in_place(&self) -> bool {
        false
    }

    /// Plans for a length, best guesses first; none where the identity does not apply.
    fn plans(&self, n: u64, planner: &Planner<'_>) -> Vec<Plan>;
}

/// All identities.
pub const SOLVERS: &[&dyn Solver] = &[
    &mixed_radix::MixedRadix,
    &cluster::Cluster,
    &split::Split,
    &ordered::Ordered,
    &in_place::InPlace,
    &rader::Rader,
    &prime_factor::PrimeFactor,
    &decimated::Decimated,
    &bluestein::Bluestein,
    &bluestein::HalvedBluestein,
    &rader::HalvedRader,
    &bluestein::LongBluestein,
];

/// The part of a length whose prime factors have codelets on every device, and the powers of the others.
pub(crate) fn apart(n: u64) -> (u64, Vec<u64>) {
    let (small, large): (Vec<_>, Vec<_>) = factor::factorise(n).into_iter().partition(|&(p, _)| p <= 31);
    let power = |&(p, e): &(u64, u32)| p.pow(e);
    (small.iter().map(power).product(), large.iter().map(power).collect())
}

/// Stages with the largest radix first: a stage's table is as long as the product of the radices after it, and the
/// first stage of a padded transform leaves out what is not there.
pub(crate) fn falling(plan: Plan) -> Plan {
    match plan {
        Plan::MixedRadix(mut radices) => {
            radices.sort_unstable_by(|a, b| b.cmp(a));
            Plan::MixedRadix(radices)
        }
        plan => plan,
    }
}
