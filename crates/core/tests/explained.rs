//! What an explanation says beside the passes: what a layout asks for, and what is left open.

mod common;

use std::time::{Duration, Instant};

use common::{Case, build, limits::small};
use warpfft_core::explain::{Cause, Explanation, explain};
use warpfft_core::problem::{Dim, Format, Precision, Problem, RealKind, Storage};
use warpfft_core::program::{Compiled, compile};
use warpfft_core::request::{Convolution, Fft, Mode};
use warpfft_core::target::Limits;

fn of(problem: &Problem) -> Explanation {
    explain(problem, &small()).unwrap_or_else(|error| panic!("{problem:?}: {error}"))
}

/// Cause, pass and bytes of what the layout asks for.
fn extras(problem: &Problem) -> Vec<(Cause, Option<usize>, u64)> {
    of(problem).extras.iter().map(|extra| (extra.cause, extra.pass, extra.workspace_bytes)).collect()
}

#[test]
fn what_goes_straight_has_none() {
    for fft in [
        Fft::new([64]).batch(9),
        Fft::new([64, 64]),
        Fft::new([1024]).batch(3),
        Fft::new([64, 64]).in_place(),
        Fft::new([64, 64]).strides(&[80, 1], &[1, 70]),
        Fft::new([64, 64]).formats(Format::Planar, Format::Interleaved),
        Fft::new([64, 64]).full_spectrum(),
        Fft::new([64, 64]).r2c(),
        Fft::new([64, 64]).c2r().in_place(),
        Fft::new([64]).batch(4).storage(Storage::F16),
        Fft::new([9]).batch(4).r2c(),
        Fft::new([24, 24]).r2r([RealKind::Dct2]),
    ] {
        let problem = build(fft);
        let explanation = of(&problem);
        assert_eq!(explanation.extras, [], "{problem:?}");
        assert!(!explanation.to_string().contains("by its layout"));
    }
}

#[test]
fn elements_that_change_places_in_place_are_gathered_first() {
    let turned = build(Fft::guru(&[Dim::new(16, 1, 16)], &[Dim::new(16, 16, 1)]).in_place());
    let bytes = 256 * 8;
    assert_eq!(extras(&turned), [(Cause::MovesInPlace, Some(1), bytes)]);
    let explanation = of(&turned);
    assert_eq!((explanation.passes.len(), explanation.workspace_bytes), (2, bytes));
    let text = explanation.to_string();
    assert!(
        text.contains("by its layout: pass 2 and a workspace of 2.0000 KiB, for in place, elements change"),
        "{text}"
    );
    // One pass out of place, as it says, and in place where the strides agree.
    let apart = build(Fft::guru(&[Dim::new(16, 1, 16)], &[Dim::new(16, 16, 1)]));
    assert_eq!((of(&apart).passes.len(), of(&apart).workspace_bytes), (1, 0));
    // The last of two passes puts things where they go: memory is taken, but no pass is added.
    let two = Fft::guru(&[Dim::new(64, 64, 1), Dim::new(64, 1, 64)], &[]).in_place();
    assert_eq!(extras(&build(two)), [(Cause::MovesInPlace, None, 64 * 64 * 8)]);
    let reals = Fft::guru(&[Dim::new(16, 1, 16)], &[Dim::new(16, 16, 1)]).r2r([RealKind::Dct2]).in_place();
    assert_eq!(extras(&build(reals)), [(Cause::MovesInPlace, Some(1), 256 * 4)]);
}

#[test]
fn elements_change_places_without_a_transform_too() {
    for limits in [Limits::h200(), small()] {
        for (rows, columns) in [(3, 5), (48, 36)] {
            let dims = [Dim::new(rows, columns as i64, 1), Dim::new(columns, 1, rows as i64)];
            let problem = build(Fft::guru(&[], &dims).in_place().scale(2.0));
            let case = Case::new(&problem);
            case.check(
                &compile(&problem, &limits).expect("it compiles"),
                &limits,
                "a transposition in place",
            );
            assert_eq!(extras(&problem).len(), 1);
        }
    }
}

#[test]
fn results_that_the_output_cannot_hold_lie_in_the_workspace() {
    let computed = |kept| Cause::Storage { kept, computed: Storage::F32 };
    let short = build(Fft::new([32, 64]).storage(Storage::F16));
    assert_eq!(extras(&short), [(computed(Storage::F16), None, 32 * 64 * 8)]);
    let text = of(&short).to_string();
    assert!(text.contains("is f32, and the output keeps f16; without: an output that is kept as"), "{text}");
    let half = build(Fft::new([64, 64]).r2c().storage(Storage::Bf16));
    assert_eq!(extras(&half), [(computed(Storage::Bf16), None, 64 * 33 * 8)]);
    let cosines = build(Fft::new([16, 64]).r2r([RealKind::Dct2]).storage(Storage::F16));
    assert_eq!(extras(&cosines), [(computed(Storage::F16), None, 1024 * 4)]);
    let cropped = build(Fft::new([64, 64]).crop(&[64, 10]));
    assert!(matches!(extras(&cropped)[..], [(Cause::Cropped, None, bytes)] if bytes > 0));
    let parts = Problem { output: Format::Real, ..build(Fft::new([32, 64])) };
    assert_eq!(extras(&parts), [(Cause::RealOutput, None, 32 * 64 * 8)]);
    let back = build(Fft::new([64, 64]).c2r());
    assert_eq!(extras(&back), [(Cause::InputKept, None, 64 * 33 * 8)]);
    // What is padded beside the lines has no room in the output until it has been transformed.
    let padded = build(Fft::new([64, 64]).r2c().pad(&[16, 64]));
    assert_eq!(extras(&padded), [(Cause::Windowed, None, 16 * 33 * 8)]);
}

#[test]
fn lines_and_arrays_that_are_left_over_take_a_pass() {
    assert_eq!(extras(&build(Fft::new([9]).batch(5).r2c())), [(Cause::LineLeft, Some(1), 0)]);
    assert_eq!(extras(&build(Fft::new([35]).batch(5).r2r([RealKind::Dht]))), [(Cause::LineLeft, Some(1), 0)]);
    let text = of(&build(Fft::new([9]).batch(5).c2r())).to_string();
    assert!(
        text.contains("by its layout: pass 2, for lines of an odd number of reals go in pairs"),
        "{text}"
    );
    let images = Convolution::new([40], [9]).mode(Mode::Same).real().batch(3);
    let problems = images.problems(Some(&small())).expect("it is possible");
    let found = extras(&problems.part);
    assert!(found.iter().any(|(cause, pass, _)| *cause == Cause::ArrayLeft && pass.is_some()), "{found:?}");
}

#[test]
fn a_ring_takes_the_place_of_the_workspace() {
    let limits = Limits::h200();
    let problem = build(Fft::new([512, 512]).batch(400).storage(Storage::F16));
    let compiled = Compiled::of(&problem, &limits).expect("it compiles");
    let explanation = Explanation::of(&compiled, &limits);
    let through_rings = !compiled.schedule.fused.is_empty();
    let whole = 400 * 512 * 512 * 8;
    let listed = explanation.extras.iter().any(|extra| extra.workspace_bytes == whole);
    assert_ne!(listed, explanation.workspace_bytes < whole, "fused {through_rings}: {explanation}");
}

#[test]
fn an_open_number_of_transforms_is_told_with_what_each_launch_runs() {
    let problem = build(Fft::new([64]).batch(1000).any_batch());
    let explanation = of(&problem);
    let open = explanation.any_batch.as_ref().expect("it is open");
    assert_eq!(open.dim, Dim::new(1000, 64, 64).at_run());
    assert_eq!(open.launches.len(), 1);
    let [launch] = open.launches[..] else { panic!("one launch") };
    assert_eq!(launch.blocks_at(1000), explanation.passes[0].blocks);
    let text = explanation.to_string();
    assert!(
        text.contains("any batch: each run says how many, 1 to 1000, at distances 64 and 64; blocks"),
        "{text}"
    );
    assert_eq!(of(&build(Fft::new([64]).batch(1000))).any_batch, None);
    let double = build(Fft::new([64, 64]).batch(7).any_batch().precision(Precision::F64));
    assert!(of(&double).any_batch.is_some_and(|open| open.launches.len() > 1));
}

/// Twelve gigabytes and a minute would go into the tables of a plan that nobody runs.
#[test]
fn a_long_prime_is_explained_by_the_sizes_of_its_tables() {
    let started = Instant::now();
    let compiled = Compiled::of(&build(Fft::new([100_000_007])), &Limits::h200()).expect("it has a plan");
    let explanation = Explanation::of(&compiled, &Limits::h200());
    // The chirp, and its spectrum of at least twice the points, in pairs of f32.
    assert!(explanation.table_bytes > 8 * 3 * 100_000_007, "{explanation}");
    let tables = &compiled.program.tables;
    assert!(tables.iter().all(|table| table.bytes_to_make() > table.bytes()), "none was made");
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}
