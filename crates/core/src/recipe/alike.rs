//! Which plans are but versions of one another.

use crate::plan::Plan;
use crate::planner::Planner;
use crate::solve;

/// Whether a plan is what a solver offers but for what the scheduler may change to suit a pass: the order of stages, for a
/// cluster to share, and the stages of the parts of a dimension. What a chirp is padded to on the chip is free, and so are
/// halves of Rader's convolution: solvers offer only what promises to be cheap.
pub(super) fn alike(offer: &Plan, plan: &Plan, planner: &Planner<'_>) -> bool {
    match (offer, plan) {
        (Plan::Split(offered), Plan::Split(parts)) => {
            let same = |(offer, part): (&Plan, &Plan)| {
                let stages = || planner.stages(part.len(), 1).iter().any(|own| falling(own) == falling(part));
                falling(offer) == falling(part) || (offer.len() == part.len() && stages())
            };
            offered.len() == parts.len() && offered.iter().zip(parts).all(same)
        }
        (Plan::Bluestein { n, inner: offer }, Plan::Bluestein { n: own, inner }) => {
            let on_chip = [offer, inner].into_iter().all(|plan| matches!(**plan, Plan::MixedRadix(_)));
            n == own && (on_chip || alike(offer, inner, planner))
        }
        (Plan::Rader { p, inner: offer }, Plan::Rader { p: own, inner }) if inner.len() < offer.len() => {
            p == own && matches!(**inner, Plan::MixedRadix(_))
        }
        (Plan::Decimated { radix, rows: offer }, Plan::Decimated { radix: own, rows }) => {
            radix == own && alike(offer, rows, planner)
        }
        (Plan::PrimeFactor(offers), Plan::PrimeFactor(parts)) => {
            let all = || offers.iter().zip(parts).all(|(offer, part)| alike(offer, part, planner));
            offers.len() == parts.len() && all()
        }
        _ => falling(offer) == falling(plan),
    }
}

/// A plan with the radices of all its stages in falling order.
fn falling(plan: &Plan) -> Plan {
    let inner = |inner: &Plan| Box::new(falling(inner));
    match plan {
        Plan::MixedRadix(_) => solve::falling(plan.clone()),
        Plan::Split(parts) => Plan::Split(parts.iter().map(falling).collect()),
        Plan::InPlace { parts, early } => {
            Plan::InPlace { parts: parts.iter().map(falling).collect(), early: early.clone() }
        }
        Plan::PrimeFactor(parts) => Plan::PrimeFactor(parts.iter().map(falling).collect()),
        Plan::Decimated { radix, rows } => Plan::Decimated { radix: *radix, rows: inner(rows) },
        Plan::Bluestein { n, inner: plan } => Plan::Bluestein { n: *n, inner: inner(plan) },
        Plan::Rader { p, inner: plan } => Plan::Rader { p: *p, inner: inner(plan) },
    }
}
