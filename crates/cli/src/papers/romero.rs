//! Romero, Trenas, Gutierrez, Zapata: figure 8.

use warpfft::core::problem::Precision;

use super::paper::{Batch, Experiment, Over, Paper, Series};
use super::unit::Unit;
use crate::packed::Kind;

/// To where the algorithms' tables, which the computer makes, take seconds; from 2^17 on every other power.
const LENGTHS: &[u64] = &[
    1 << 8,
    1 << 9,
    1 << 10,
    1 << 11,
    1 << 12,
    1 << 13,
    1 << 14,
    1 << 15,
    1 << 16,
    1 << 18,
    1 << 20,
    1 << 22,
    1 << 24,
    1 << 26,
];

const SERIES: &[Series] = &[
    Series::Planner,
    Series::Strategy("locality"),
    Series::Strategy("transposed"),
    Series::Strategy("straightforward"),
    Series::Strategy("shared-naive"),
];

const FIGURE_8: Experiment = Experiment {
    name: "figure-8-one",
    title: "Figure 8: one signal",
    about: "Forward and inverse transform of one complex signal in f32: 2 x 5 N log2 N operations over the time of \
            both.",
    kind: Kind::C2c,
    precision: Precision::F32,
    back: true,
    rank: 1,
    lengths: LENGTHS,
    batch: Batch::Each(&[1]),
    over: Over::Length,
    units: &[Unit::Gflops],
    series: SERIES,
};

/// The paper.
pub const PAPER: Paper = Paper {
    name: "romero",
    title: "Locality-improved FFT implementation on a graphics processor",
    authors: "S. Romero, M. A. Trenas, E. Gutierrez, E. L. Zapata",
    published: "followed by the same authors' Memory locality exploitation strategies for FFT on the CUDA architecture, \
                VECPAR 2008",
    about: "Long signals by kernels that each do several stages in shared memory: with strided accesses, with \
            transpositions between, and by chunks of neighbours that need none.",
    unpublished: "Figure 8 has no published numbers here: none could be found outside of the paper itself.",
    weight: 3.0,
    experiments: &[
        FIGURE_8,
        Experiment {
            name: "figure-8-eight",
            title: "Figure 8: eight signals",
            about: "The same of eight signals at once.",
            batch: Batch::Each(&[8]),
            ..FIGURE_8
        },
    ],
};
