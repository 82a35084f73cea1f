//! Copies of a convolution that does not fit on the chip: columns there and back, and the middle.

use crate::lower::tile;
use crate::pass::{CoprimePart, Method, PartKind, Pointwise, Twiddle};
use crate::plan::Plan;
use crate::problem::Precision;
use crate::target::Limits;

/// Copies that a launch adds to its pass.
const LAUNCH: f64 = 0.03;

/// Copies of a convolution of `n` points whose padded length is the product of the parts, the last one the middle.
pub(super) fn of_parts(n: u64, parts: &[Plan], limits: &Limits, precision: Precision) -> Option<f64> {
    let (Plan::MixedRadix(radices), columns) = parts.split_last()? else { return None };
    let padded: u64 = parts.iter().map(Plan::len).product();
    let mut sum = of_middle(radices, limits, precision)? + LAUNCH;
    for (i, column) in columns.iter().enumerate() {
        // The first pass reads what is not padding, the last one writes it.
        let moved = if i == 0 { (n + padded) as f64 / (2 * padded) as f64 } else { 1.0 };
        sum += 2.0 * (of_column(column, i == 0, limits, precision)? * moved + LAUNCH);
    }
    Some(sum * padded as f64 / n as f64)
}

/// Copies of a pass over columns on the way out; the first one pads them.
fn of_column(column: &Plan, pads: bool, limits: &Limits, precision: Precision) -> Option<f64> {
    let Plan::MixedRadix(radices) = column else { return None };
    let method = Method::MixedRadix(radices.clone());
    let columns = (1 << 26) / column.len();
    let mut pass = super::lines(column.len(), method, (columns as i64, 1), precision);
    pass.twiddle = Some(Twiddle::after(pass.elements()));
    pass.load = pads.then_some(Pointwise { table: None, limit: Some(pass.elements()), against: false });
    tile::choose(&pass, limits).map(|choice| choice.cost)
}

/// Copies of a pass over rows for the middle of a convolution; `None` where no tile of them fits.
pub fn of_middle(radices: &[u32], limits: &Limits, precision: Precision) -> Option<f64> {
    let n: u64 = radices.iter().map(|&radix| u64::from(radix)).product();
    let part =
        CoprimePart { n, kind: PartKind::Middle, chirp: Some(n), band: None, radices: radices.to_vec() };
    let mut pass = super::lines(n, Method::Coprime(vec![part]), (1, n as i64), precision);
    pass.twiddle = Some(Twiddle::after(pass.elements()));
    pass.batch[0].twiddle = 1;
    tile::choose(&pass, limits).map(|choice| choice.cost)
}
