//! `matmul` and `matmul-constant`: small transforms as products with the matrix W of factors.
//!
//! Mitra, Srinivasan, *Small discrete Fourier transforms on GPUs*, 2011: `W x` of a line, `W X W^T` of a plane, and the same
//! once more along the third axis of a volume. A block has one transform in shared memory; each of its threads has every
//! so many points of the product, sums them in registers, and writes them over the factors once all have read. `matmul`
//! keeps all of W in shared memory beside the points. `matmul-constant` leaves it in memory that is only read, where the n
//! different factors of the `n^2` are enough: a thread walks over them in steps of its row, modulo n.
//!
//! The paper tunes two numbers, which are parameters here. `elements` is how many points of the product a thread sums.
//! `planes` is how many planes the threads take at once: a volume goes by turns of so many of its planes, along the last two
//! axes and then across, and of lines and planes a block has so many transforms. The paper's text was not at hand: that the
//! whole volume stays in shared memory meanwhile, and what `planes` is for lines, is reconstructed.
//!
//! A plain sum of n products rounds n times: errors grow as the root of n, where those of fast transforms grow as the root of
//! its logarithm, and from 64 points on exceed what those may have.

use super::code::View;
use super::cooley_tukey_iterative::SOURCE;
use super::draft::Draft;
use super::packed::Packed;
use super::product::{self, MOST_POINTS, Product, Shares, Small};
use super::{Algorithm, Facts, Parameter};
use crate::error::Error;
use crate::pass::TableKind;

/// The strategy, by where it keeps W.
pub(super) enum Matmul {
    /// In shared memory.
    Shared,
    /// In memory that is only read.
    Constant,
}

/// The longest line: beyond, other algorithms do with a fraction of the work.
pub(super) const LONGEST: u64 = 128;

/// What the paper tunes.
const PARAMETERS: [Parameter; 2] = [
    Parameter {
        name: "elements",
        about: "points of the product that a thread sums",
        least: 1,
        most: MOST_POINTS as u32,
    },
    Parameter {
        name: "planes",
        about: "planes of a volume that the threads take at once, or transforms of a block",
        least: 1,
        most: LONGEST as u32,
    },
];

impl Algorithm for Matmul {
    fn facts(&self) -> Facts {
        let (name, about) = match self {
            Self::Shared => ("matmul", "products with the matrix of factors, which lies in shared memory"),
            Self::Constant => {
                ("matmul-constant", "products with the matrix of factors, which lies in read-only memory")
            }
        };
        let covers = "lengths from 2 to 128, in one to three dimensions, that fit a block's shared memory";
        Facts { name, source: SOURCE, about, covers }
    }

    /// Numbers are converted as they are read and written, and nothing lies in memory between.
    fn keeps(&self, _: &Packed) -> bool {
        true
    }

    fn covers(&self, packed: &Packed) -> bool {
        (1..=3).contains(&packed.shape.len()) && packed.shape.iter().all(|&n| n <= LONGEST)
    }

    fn parameters(&self) -> &'static [Parameter] {
        &PARAMETERS
    }

    fn errors(&self, packed: &Packed) -> f64 {
        product::errors(packed)
    }

    fn write(&self, draft: &mut Draft<'_>) -> Result<(), Error> {
        let shape = draft.packed.shape.clone();
        let tables: Vec<_> =
            shape.iter().map(|&n| draft.table(TableKind::Roots { modulus: n, step: 1, len: n })).collect();
        let longest = shape.iter().copied().max().unwrap_or(1);
        let matrix = matches!(self, Self::Shared).then_some(longest * longest);
        let [elements, planes] = [0, 1].map(|index| draft.given.get(index).map(u64::from));
        let mut small = Small::new(draft, "matmul", matrix, Shares { elements, planes })?;
        let tables: Vec<View> = tables.into_iter().map(|table| small.code.table(table)).collect();
        small.read();
        let mut inner = 1;
        for (&n, &factors) in shape.iter().zip(&tables).rev() {
            small.product(&Product { n, distance: inner, factors, turned: None });
            inner *= n;
        }
        small.finish(draft)
    }
}
