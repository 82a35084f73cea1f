//! The four-step method with its transposition (Bailey, *FFTs in external or hierarchical memory*, 1990): columns, rows where they lie,
//! and a pass that does nothing but put frequencies in order. The last pass of [`super::split`] writes columns by itself, so it
//! has to hold as many rows as make whole sectors; a row that convolves fills a block alone from some 1600 points on.

use crate::math::factor;
use crate::plan::Plan;
use crate::planner::Planner;

use super::Solver;

/// Lengths of one large prime factor, of which the chip holds single rows.
pub struct Ordered;

/// Rows that are offered: of the prime factor alone, and of it and a small one.
const OFFERED: usize = 3;

impl Solver for Ordered {
    fn name(&self) -> &'static str {
        "ordered"
    }

    fn on_chip(&self) -> bool {
        false
    }

    fn plans(&self, n: u64, planner: &Planner<'_>) -> Vec<Plan> {
        let factors = factor::factorise(n);
        let Some(&(prime, 1)) = factors.last().filter(|&&(prime, _)| prime > 31) else { return Vec::new() };
        let rows = factor::divisors(n).into_iter().filter(|row| row.is_multiple_of(prime) && *row < n);
        let plan = |row: u64| {
            let columns = planner.takes_columns(n / row).then(|| planner.on_chip(n / row))??;
            let rows = planner.best(row).filter(|rows| rows.passes() == 1)?;
            let convolves = matches!(columns, Plan::MixedRadix(_)) && !matches!(rows, Plan::MixedRadix(_));
            convolves.then(|| Plan::Split(vec![columns, rows, in_order()]))
        };
        rows.filter_map(plan).take(OFFERED).collect()
    }
}

/// A part of one point: a pass that puts what the others left in order.
fn in_order() -> Plan {
    Plan::MixedRadix(Vec::new())
}
