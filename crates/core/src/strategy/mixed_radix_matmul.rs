//! `mixed-radix-matmul`: lines of two factors, each as a product with its own small matrix.
//!
//! Mitra, Srinivasan, *Small discrete Fourier transforms on GPUs*, 2011. A line of `N = Nx Ny` points is a matrix of Nx rows:
//! its columns are multiplied by `W_Nx`, each point by `exp(-2 pi i kx ny / N)`, and its rows by `W_Ny`, as of
//! [`matmul`](super::matmul) along each axis in turn. The paper lists an Nx for each N; here it is the largest factor up to
//! the root of N, which makes the sum `Nx + Ny` of products for each point the least. A prime is one factor, and so a plain
//! product.

use super::code::View;
use super::cooley_tukey_iterative::SOURCE;
use super::draft::Draft;
use super::packed::Packed;
use super::product::{self, Product, Shares, Small, Turned};
use super::{Algorithm, Facts};
use crate::error::Error;
use crate::pass::TableKind;

/// The strategy.
pub(super) struct MixedRadixMatmul;

/// The longest line.
const LONGEST: u64 = 1024;

impl Algorithm for MixedRadixMatmul {
    fn facts(&self) -> Facts {
        Facts {
            name: "mixed-radix-matmul",
            source: SOURCE,
            about: "each line as a matrix of Nx by Ny points: products with two small matrices, and factors between",
            covers: "lengths from 2 to 1024, in one to three dimensions, that fit a block's shared memory",
        }
    }

    /// Numbers are converted as they are read and written, and nothing lies in memory between.
    fn keeps(&self, _: &Packed) -> bool {
        true
    }

    fn covers(&self, packed: &Packed) -> bool {
        (1..=3).contains(&packed.shape.len()) && packed.shape.iter().all(|&n| n <= LONGEST)
    }

    fn errors(&self, packed: &Packed) -> f64 {
        product::errors(packed)
    }

    fn write(&self, draft: &mut Draft<'_>) -> Result<(), Error> {
        let shape = draft.packed.shape.clone();
        let mut tables = Vec::new();
        for &n in &shape {
            let table = |len| TableKind::Roots { modulus: len, step: 1, len };
            let nx = rows(n);
            tables.push([draft.table(table(n)), draft.table(table(nx)), draft.table(table(n / nx))]);
        }
        let mut small = Small::new(draft, "mixed_radix", None, Shares::default())?;
        let tables: Vec<[View; 3]> =
            tables.into_iter().map(|three| three.map(|table| small.code.table(table))).collect();
        small.read();
        let mut inner = 1;
        for (&n, &[whole, x, y]) in shape.iter().zip(&tables).rev() {
            let nx = rows(n);
            let ny = n / nx;
            if nx > 1 {
                let turned = Some(Turned::Factors { n, ny, inner, factors: whole });
                small.product(&Product { n: nx, distance: ny * inner, factors: x, turned });
                let turned = Some(Turned::Order { nx, inner });
                small.product(&Product { n: ny, distance: inner, factors: y, turned });
            } else {
                small.product(&Product { n, distance: inner, factors: whole, turned: None });
            }
            inner *= n;
        }
        small.finish(draft)
    }
}

/// Nx: the largest factor up to the root.
fn rows(n: u64) -> u64 {
    (1..=n.isqrt()).rev().find(|nx| n.is_multiple_of(*nx)).unwrap_or(1)
}
