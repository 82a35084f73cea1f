//! Rows of what lies between passes start with lines of memory, where they would start within sectors: right, no wider than they
//! have to be, and not where the workspace is capped or the data stays in the cache.

mod common;
mod definitions;

use common::{C64, build};
use warpfft_core::pass::Array;
use warpfft_core::problem::{Format, Kind, Placement, Precision, Problem};
use warpfft_core::program::Compiled;
use warpfft_core::request::Fft;
use warpfft_core::target::{LINE_BYTES, Limits, SECTOR_BYTES};

/// Blocks that hold a line or two, and a cache that holds next to nothing.
fn small() -> Limits {
    Limits {
        name: "small".into(),
        shared_bytes: 8 << 10,
        max_threads: 128,
        max_cluster: 1,
        multiprocessors: 1,
        l2_bytes: 16 << 10,
        ..Limits::h200()
    }
}

/// The plan's result against the definition.
fn check(problem: &Problem, limits: &Limits) -> Compiled {
    let what = format!("{:?} {:?}", problem.kind, problem.transform);
    let compiled = Compiled::of(problem, limits).unwrap_or_else(|error| panic!("{what}: {error}"));
    let input = common::random(problem.input_span().end as usize, problem.precision);
    let output = match problem.placement {
        Placement::InPlace => input.clone(),
        Placement::OutOfPlace => common::random(problem.output_span().end as usize, problem.precision),
    };
    let mut want = match problem.kind {
        Kind::Complex => common::reference(problem, &input, &output),
        _ => definitions::reference(problem, &input, &output),
    };
    if problem.output == Format::Real {
        want.iter_mut().for_each(|x| *x = C64::new(x.re, 0.0));
    }
    let run = common::run(&compiled.program, limits, &input, &output);
    let (got, _) = run.unwrap_or_else(|fault| panic!("{what}: {fault}"));
    let error = common::error(&got, &want);
    let tolerance = if problem.precision == Precision::F32 { 1.5e-6 } else { 3e-15 };
    assert!(error < tolerance, "{what}: relative error {error:.2e}");
    compiled
}

/// Bytes from one row to the next where the first pass writes, if that is the workspace.
fn pitch(compiled: &Compiled) -> Option<u64> {
    let pass = &compiled.schedule.passes[0];
    let dims = pass.axes.iter().map(|axis| &axis.dim).chain(&pass.batch);
    let step = dims.map(|dim| dim.os.unsigned_abs()).filter(|&step| step > 1).min()?;
    matches!(pass.dst.array, Array::Workspace(_)).then_some(step * pass.precision.complex_bytes())
}

#[test]
fn spectra_on_their_way_to_reals() {
    let limits = small();
    for precision in [Precision::F32, Precision::F64] {
        for shape in [[48, 300], [60, 260], [40, 264]] {
            let asked = Fft::new(shape).batch(2).c2r().precision(precision);
            let compiled = check(&build(asked.clone()), &limits);
            let row = (shape[1] / 2 + 1) * precision.complex_bytes();
            assert!(!row.is_multiple_of(LINE_BYTES));
            assert_eq!(pitch(&compiled), Some(row.next_multiple_of(LINE_BYTES)), "{shape:?} {precision:?}");
            let cached = Limits { l2_bytes: 64 << 20, ..limits.clone() };
            assert_eq!(pitch(&check(&build(asked), &cached)), Some(row), "{shape:?} {precision:?}");
        }
    }
}

#[test]
fn odd_lengths_in_several_passes() {
    let limits = small();
    let mut moved = 0;
    for (n, precision) in [(3375, Precision::F32), (6859, Precision::F32), (2197, Precision::F64)] {
        let asked = Fft::new([n]).batch(5).precision(precision);
        for asked in [asked.clone(), asked.clone().inverse().in_place()] {
            let compiled = check(&build(asked.clone()), &limits);
            assert!(compiled.schedule.passes.len() > 1, "{n}: {:?}", compiled.schedule.plans);
            let Some(pitch) = pitch(&compiled) else { panic!("{n}: no workspace") };
            let fused = compiled.schedule.fused.iter().any(|(fuse, _)| fuse.first == 0);
            assert!(fused || pitch.is_multiple_of(SECTOR_BYTES), "{n} {precision:?}: rows of {pitch} bytes");
            // The row itself would start anywhere.
            let row = n / compiled.schedule.passes[0].axes[0].dim.n * precision.complex_bytes();
            moved += u32::from(!fused && !row.is_multiple_of(SECTOR_BYTES) && pitch > row);
            let needed = compiled.program.workspace_bytes;
            // A cap is for what is needed without.
            let capped = build(asked.max_workspace(needed));
            assert!(check(&capped, &limits).program.workspace_bytes <= needed);
        }
    }
    assert!(moved > 0, "all share a launch, or have even rows");
}
