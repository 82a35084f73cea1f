//! Lloyd, Boyd, Govindaraju: figure 8, planes of complex numbers and of reals, powers of two and other lengths; and lines, long
//! ones too, for what the paper has of one dimension.

use warpfft::core::problem::Precision;

use super::paper::{Batch, Experiment, Over, Paper, Series};
use super::unit::Unit;
use crate::packed::Kind;

const POWERS: &[u64] = &[64, 128, 256, 512, 1024, 2048, 4096, 8192];
const OTHERS: &[u64] = &[60, 100, 243, 500, 768, 1000, 1536, 2187, 3000, 6000];

/// What transforms reals.
const PACKINGS: &[Series] =
    &[Series::Planner, Series::Strategy("stockham-2-halves"), Series::Strategy("stockham-2-rows")];

const PLANES: Experiment = Experiment {
    name: "planes",
    title: "Figure 8: complex planes, powers of two",
    about: "One n x n plane of complex numbers in f32; GFLOPS by 5 N log2 N for N = n^2.",
    kind: Kind::C2c,
    precision: Precision::F32,
    back: false,
    rank: 2,
    lengths: POWERS,
    batch: Batch::Each(&[1]),
    over: Over::Length,
    units: &[Unit::Gflops],
    series: &[Series::Planner, Series::Strategy("stockham-2"), Series::Strategy("four-step-wrapped")],
};

const REALS: Experiment = Experiment {
    name: "real-planes",
    title: "Figure 8: planes of reals, powers of two",
    about: "One n x n plane of reals into half of its spectrum, also by the two packings of section 4.5; GFLOPS by \
            2.5 N log2 N. Other libraries are timed on complex numbers alone.",
    kind: Kind::R2c,
    series: PACKINGS,
    ..PLANES
};

const LINES: Experiment = Experiment {
    name: "lines",
    title: "Lines, powers of two",
    about: "As many lines as come to 1 Mi points: Stockham's stages, one launch each; lines as rows and columns; \
            and Bluestein's chirp, which does not need the length to be a power of two.",
    rank: 1,
    lengths: &[64, 256, 1024, 4096, 16384, 65536, 1 << 18, 1 << 20],
    batch: Batch::Filling(1 << 20),
    series: &[
        Series::Planner,
        Series::Strategy("stockham-2"),
        Series::Strategy("four-step-wrapped"),
        Series::Strategy("bluestein-pow2"),
    ],
    ..PLANES
};

/// The paper.
pub const PAPER: Paper = Paper {
    name: "lloyd",
    title: "Fast computation of general Fourier transforms on GPUs",
    authors: "D. B. Lloyd, C. Boyd, N. Govindaraju",
    published: "2008, also as Microsoft Research's report MSR-TR-2008-62",
    about: "Transforms of any size, of complex numbers and of reals, through a graphics interface: Stockham's stages of \
            radix 2, Bluestein's chirp for other lengths, long lines wrapped into rows and columns.",
    unpublished: "Figure 8 has no published numbers here: the abstract, which could be found, names none.",
    weight: 1.0,
    experiments: &[
        PLANES,
        Experiment {
            name: "planes-other",
            title: "Figure 8: complex planes, other lengths",
            about: "The same of lengths that are no powers of two.",
            lengths: OTHERS,
            series: &[Series::Planner],
            ..PLANES
        },
        REALS,
        Experiment {
            name: "real-planes-other",
            title: "Figure 8: planes of reals, other lengths",
            about: "The same of lengths that are no powers of two.",
            lengths: OTHERS,
            series: &[Series::Planner],
            ..REALS
        },
        LINES,
        Experiment {
            name: "real-lines",
            title: "Section 4.5: lines of reals, two packings",
            about: "As many lines of reals as come to 1 Mi points, into half of their spectra: as half as many complex points \
                    each, and as two lines in one complex; GFLOPS by 2.5 N log2 N.",
            kind: Kind::R2c,
            series: PACKINGS,
            ..LINES
        },
        Experiment {
            name: "long-lines",
            title: "One long line",
            about: "One line that no block holds, as rows and columns and by Stockham's stages.",
            lengths: &[1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26],
            batch: Batch::Each(&[1]),
            series: &[Series::Planner, Series::Strategy("stockham-2"), Series::Strategy("four-step-wrapped")],
            ..LINES
        },
        Experiment {
            name: "lines-other",
            title: "Lines, other lengths",
            about: "As lines of powers of two, of other lengths, primes among them.",
            lengths: &[100, 243, 1000, 1009, 10007, 59049, 100_000, 1_000_003],
            series: &[Series::Planner, Series::Strategy("bluestein-pow2")],
            ..LINES
        },
    ],
};
