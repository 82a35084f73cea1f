//! Scarpaci: time and bandwidth over the length, and speed-up over FFTW.

use warpfft::core::problem::Precision;

use super::paper::{Batch, Experiment, Over, Paper, Series};
use super::unit::Unit;
use crate::packed::Kind;

/// The paper.
pub const PAPER: Paper = Paper {
    name: "scarpaci",
    title: "FFT GPGPU",
    authors: "E. Scarpaci",
    published: "a report, with the programs in github.com/edoardoscarpaci/FFTOpenCL",
    about: "One launch for each stage of radix 2, bettered rung by rung: shifts instead of divisions, bits reversed once and not in \
            every stage, all stages in one block, pairs brought side by side before each stage.",
    unpublished: "The report could not be found: of its figures there are the times of two kernels at one length, which its author \
                  keeps beside the programs.",
    weight: 3.0,
    experiments: &[Experiment {
        name: "ladder",
        title: "One signal over its length",
        about: "One complex signal in f32. The device's lines are of data in its memory; those of the processor are of \
                data in the computer's.",
        kind: Kind::C2c,
        precision: Precision::F32,
        back: false,
        rank: 1,
        lengths: &[1 << 8, 1 << 10, 1 << 12, 1 << 14, 1 << 15, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24],
        batch: Batch::Each(&[1]),
        over: Over::Length,
        units: &[Unit::Seconds, Unit::GigabytesPerSecond, Unit::SpeedUp],
        series: &[
            Series::Planner,
            Series::Strategy("fft1"),
            Series::Strategy("fft2"),
            Series::Strategy("fft3"),
            Series::Strategy("fft3-compact"),
            Series::Strategy("fft4"),
            Series::ProcessorStrategy("cpu-recursive"),
            Series::Processor,
        ],
    }],
};
