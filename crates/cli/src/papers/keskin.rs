//! Keskin, Erdil, Kocak: figures 4 and 5, GFLOPS over the number of cubes.

use warpfft::core::problem::Precision;

use super::paper::{Batch, Experiment, Over, Paper, Series};
use super::unit::Unit;
use crate::packed::Kind;

const CUBES: Experiment = Experiment {
    name: "cubes-4",
    title: "Figures 4 and 5: 4 x 4 x 4",
    about: "GFLOPS, 5 N log2 N for N = n^3, over the number of cubes in a call; complex, f32.",
    kind: Kind::C2c,
    precision: Precision::F32,
    back: false,
    rank: 3,
    lengths: &[4],
    batch: Batch::Each(&[1, 4, 16, 64, 256, 1024, 4096, 16384]),
    over: Over::Batch,
    units: &[Unit::Gflops],
    series: &[Series::Planner, Series::Strategy("keskin-3d")],
};

const SAME: &str = "The same of larger cubes.";

/// The paper.
pub const PAPER: Paper = Paper {
    name: "keskin",
    title: "An efficient parallel implementation of 3D-FFT on GPU",
    authors: "S. Keskin, E. Erdil, T. Kocak",
    published: "HPEC 2017",
    about: "Batches of cubes of powers of two without transpositions: N/2 threads by N, factors computed by each thread, \
            real and imaginary parts apart in shared memory.",
    unpublished: "Of figures 4 and 5 no points are published here; the line is the maximum that the abstract names, for \
                  which it names neither size nor device.",
    weight: 1.0,
    experiments: &[
        CUBES,
        Experiment {
            name: "cubes-8",
            title: "Figures 4 and 5: 8 x 8 x 8",
            about: SAME,
            lengths: &[8],
            ..CUBES
        },
        Experiment {
            name: "cubes-16",
            title: "Figures 4 and 5: 16 x 16 x 16",
            about: SAME,
            lengths: &[16],
            ..CUBES
        },
        Experiment {
            name: "cubes-32",
            title: "Figures 4 and 5: 32 x 32 x 32",
            about: SAME,
            lengths: &[32],
            ..CUBES
        },
    ],
};
