//! Products of constant Toeplitz matrices, whose entries are the same along each diagonal, in fewer instructions than entries.
//!
//! With halves `x0` and `x1` of the vector and blocks `T1 T0` above `T2 T1`, what is above is `T1 (x0 + x1) + (T0 - T1) x1` and what is
//! below `T1 (x0 + x1) + (T2 - T1) x0`: three products of half the size instead of four, whose matrices are constants too
//! (Winograd, *Arithmetic complexity of computations*, 1980; transposed, it is Karatsuba's product of polynomials). What is
//! common starts the chains of fused multiply-adds of both, so that only the sums of halves are further instructions.

use crate::kernel::{Builder, Value};

/// What is added to a product.
#[derive(Debug, Clone, Copy)]
pub(super) enum Start<'a> {
    Nothing,
    /// The same to each of the results.
    All(Value),
    /// To each its own.
    Each(&'a [Value]),
}

/// When a product is taken apart: where halves save more than a part of its instructions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Halving {
    worth: f64,
}

impl Halving {
    /// Lengths of which halves of less than eight points gain nothing: in the transform of 29 points these save a tenth of the
    /// instructions, take a fifth more registers, and what had stages of 29 took 2 to 18% longer on an H200.
    const SHORT: u64 = 31;
    /// Which part of a product's instructions halves have to save there.
    const WORTH: f64 = 0.166;

    /// For the sums of a transform of `p` points.
    pub(super) const fn of(p: u64) -> Halving {
        Halving { worth: if p <= Self::SHORT { Self::WORTH } else { 0.0 } }
    }

    /// Instructions of a product; `each`: every result starts from a number of its own.
    pub(super) fn instructions(self, rows: u64, columns: u64, each: bool) -> u64 {
        self.best(rows, columns, each).0
    }

    /// The fewest instructions, and the rows and columns of the first block where the product is taken apart. What is short of
    /// twice as many is left out of the other blocks.
    fn best(self, rows: u64, columns: u64, each: bool) -> (u64, Option<u64>) {
        let plain = rows * columns;
        let half = rows.max(columns).div_ceil(2);
        if half >= rows.min(columns) {
            return (plain, None);
        }
        let starts = if each { rows } else { 0 };
        let halves = self.instructions(half, half, false)
            + (columns - half)
            + starts
            + self.instructions(half, columns - half, true)
            + self.instructions(rows - half, half, true);
        let saves = (halves as f64) < (1.0 - self.worth) * plain as f64;
        if saves { (halves, Some(half)) } else { (plain, None) }
    }

    /// The product of a matrix with `x`. Row `r` has in column `q` the diagonal `x.len() - 1 + r - q`; there are as many rows as
    /// these say.
    pub(super) fn product(
        self,
        b: &mut Builder,
        x: &[Value],
        diagonals: &[f64],
        start: Start<'_>,
    ) -> Vec<Value> {
        let (columns, rows) = (x.len(), diagonals.len() + 1 - x.len());
        let each = matches!(start, Start::Each(_));
        let Some(half) = self.best(rows as u64, columns as u64, each).1 else {
            let row = |r: usize| {
                let start = match start {
                    Start::Nothing => None,
                    Start::All(value) => Some(value),
                    Start::Each(values) => Some(values[r]),
                };
                let by = diagonals[r..r + columns].iter().rev();
                sum_of(b, start, x.iter().copied().zip(by.copied()))
            };
            return (0..rows).map(row).collect();
        };
        let half = half as usize;
        let (low, high) = x.split_at(half);
        let sum = |(i, &low): (usize, &Value)| high.get(i).map_or(low, |&high| b.add(low, high));
        let sums: Vec<Value> = low.iter().enumerate().map(sum).collect();
        // The blocks' diagonals, those above and below less what is common.
        let common = &diagonals[columns - half..][..2 * half - 1];
        let less = |from: usize, common: usize, count: usize| -> Vec<f64> {
            let (block, common) = (&diagonals[from..][..count], &diagonals[common..][..count]);
            block.iter().zip(common).map(|(block, common)| block - common).collect()
        };
        let above = less(0, half, columns - 1);
        let below = less(columns, columns - half, rows - 1);
        let mut first = self.product(b, &sums, common, if each { Start::Nothing } else { start });
        let mut second = first[..rows - half].to_vec();
        if let Start::Each(values) = start {
            let starts = first.iter_mut().chain(&mut second);
            starts.zip(values).for_each(|(sum, &value)| *sum = b.add(*sum, value));
        }
        let first = self.product(b, high, &above, Start::Each(&first));
        [first, self.product(b, low, &below, Start::Each(&second))].concat()
    }
}

/// A sum of products with constants.
pub(super) fn sum_of(
    b: &mut Builder,
    start: Option<Value>,
    terms: impl Iterator<Item = (Value, f64)>,
) -> Value {
    let mut sum = start;
    for (x, by) in terms {
        sum = Some(match sum {
            Some(sum) => plus(b, sum, by, x),
            None => {
                let ty = b.ty(x);
                let by = b.float(ty, by);
                b.mul(x, by)
            }
        });
    }
    sum.expect("there are terms")
}

/// `a + by x`.
pub(super) fn plus(b: &mut Builder, a: Value, by: f64, x: Value) -> Value {
    if by == 1.0 {
        return b.add(a, x);
    }
    let ty = b.ty(x);
    let by = b.float(ty, by);
    b.fma(x, by, a)
}
