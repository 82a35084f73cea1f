//! Mitra, Srinivasan: tables 1 to 10 and figures 1 to 7 in kind. Many small transforms, each size by the time of one, and
//! the transforms of a quantum Monte Carlo program, whose data lies in the computer's memory.

use warpfft::core::problem::Precision;

use super::paper::{Batch, Doubles, Experiment, Over, Paper, Series, Transfers};
use super::unit::Unit;
use crate::packed::Kind;

/// Points of all transforms at once: 32 MiB each way in f32.
const POINTS: u64 = 1 << 22;

const BATCHES: &[u64] = &[1, 16, 256, 4096, 65536];

const SERIES: &[Series] = &[
    Series::Planner,
    Series::Strategy("matmul"),
    Series::Strategy("matmul-constant"),
    Series::Strategy("mixed-radix-matmul"),
    Series::Strategy("cooley-tukey-iterative"),
];

const LINES_SERIES: &[Series] = &[
    Series::Planner,
    Series::Strategy("matmul"),
    Series::Strategy("matmul-constant"),
    Series::Strategy("matmul-tensor"),
    Series::Strategy("mixed-radix-matmul"),
    Series::Strategy("cooley-tukey-iterative"),
];

const LINES: Experiment = Experiment {
    name: "lines",
    title: "One dimension, 2 to 128 points",
    about: "Time of one transform among as many as come to 4 Mi points, complex, f32, on data in the device's memory: \
            the tables and figures of one-dimensional transforms, in kind.",
    kind: Kind::C2c,
    precision: Precision::F32,
    back: false,
    rank: 1,
    lengths: &[2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128],
    batch: Batch::Filling(POINTS),
    over: Over::Length,
    units: &[Unit::MicrosecondsEach, Unit::Gflops],
    series: SERIES,
};

const SQUARES: Experiment = Experiment {
    name: "squares",
    title: "Two dimensions, 4 x 4 to 32 x 32",
    about: "The same in two dimensions: W X W^T by the matrix products.",
    rank: 2,
    lengths: &[4, 6, 8, 12, 16, 20, 24, 32],
    ..LINES
};

const CUBES: Experiment = Experiment {
    name: "cubes",
    title: "Three dimensions, 4 x 4 x 4 to 24 x 24 x 24",
    about: "The same in three dimensions.",
    rank: 3,
    lengths: &[4, 6, 8, 10, 12, 16, 20, 24],
    ..LINES
};

const MANY: Experiment =
    Experiment { batch: Batch::Each(BATCHES), over: Over::Batch, units: &[Unit::MicrosecondsEach], ..LINES };

/// The paper.
pub const PAPER: Paper = Paper {
    name: "mitra",
    title: "Small discrete Fourier transforms on GPUs",
    authors: "S. Mitra, A. Srinivasan",
    published: "CCGrid 2011, pages 33 to 42",
    about: "Many small transforms at once by products with the matrix W, by two factors of it, and by Cooley and Tukey's \
            stages in shared memory.",
    unpublished: "Tables 1 to 10 and figures 1 to 7 have no published numbers here: of the paper only its abstract could \
                  be found.",
    weight: 1.0,
    experiments: &[
        Experiment { series: LINES_SERIES, ..LINES },
        Experiment {
            name: "lines-f64",
            title: "One dimension, in doubles",
            about: "The same in f64, which matrix instructions have as it is.",
            precision: Precision::F64,
            series: LINES_SERIES,
            ..LINES
        },
        Experiment {
            name: "lines-16",
            title: "One dimension, 16 points, over the number of transforms",
            about: "How many transforms it takes to fill the device.",
            lengths: &[16],
            ..MANY
        },
        SQUARES,
        Experiment {
            name: "squares-8",
            title: "Two dimensions, 8 x 8, over the number of transforms",
            about: "The same in two dimensions.",
            rank: 2,
            lengths: &[8],
            ..MANY
        },
        CUBES,
        Experiment {
            name: "cubes-8",
            title: "Three dimensions, 8 x 8 x 8, over the number of transforms",
            about: "The same in three dimensions.",
            rank: 3,
            lengths: &[8],
            ..MANY
        },
        Experiment {
            name: "monte-carlo",
            title: "Table 10 in kind: a quantum Monte Carlo program's transforms",
            about: "24 x 24 x 24 doubles in the computer's memory, 1 to 54 transforms in a call, by the clock of whoever \
                    calls: transfers count, and so does what turns doubles into singles and back. The processor's lines \
                    are of doubles in its own memory.",
            precision: Precision::F64,
            rank: 3,
            lengths: &[24],
            batch: Batch::Each(&[1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 40, 48, 54]),
            over: Over::Batch,
            units: &[Unit::Seconds],
            series: &[
                Series::Host(Doubles::Native, Transfers::Synchronous),
                Series::Host(Doubles::Native, Transfers::Streamed),
                Series::Host(Doubles::AsSingles, Transfers::Synchronous),
                Series::Host(Doubles::AsSingles, Transfers::Streamed),
                Series::Processor,
            ],
            ..LINES
        },
    ],
};
