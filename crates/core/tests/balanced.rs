//! Rows whose input digits count from below zero, on the simulator: against the reference, however their tiles are shared
//! out, and nothing beside them touched.

mod common;
mod definitions;

use common::{C64, build};
use warpfft_core::lower::twiddle::Powers;
use warpfft_core::lower::{Slot, Walk, lower};
use warpfft_core::pass::TableKind;
use warpfft_core::problem::{Format, Kind, Placement, Problem, Storage};
use warpfft_core::program::Compiled;
use warpfft_core::recipe::candidates;
use warpfft_core::request::Fft;
use warpfft_core::target::Limits;

/// Whether the first pass reads so.
fn is_balanced(compiled: &Compiled, limits: &Limits) -> bool {
    let (pass, tile) = (&compiled.schedule.passes[0], &compiled.parts[0].tile);
    let below = |slot: &Slot| matches!(slot, Slot::Table(TableKind::Stage { powers: Powers::Below(centre), .. }) if *centre > 0);
    lower(pass, tile, Walk::Rising, limits, "rows").slots.iter().any(below)
}

/// Checks the first ways of a problem that are balanced, so many at most; how many there were.
fn check(problem: &Problem, most: usize) -> usize {
    let limits = Limits::h200();
    let ways = candidates(problem, &limits, 24).expect("it has plans");
    let compiled =
        ways.iter().map(|one| Compiled::by(&one.recipe, problem, &limits).expect("it was offered"));
    let found: Vec<Compiled> = compiled.filter(|one| is_balanced(one, &limits)).take(most).collect();
    let [read, written] = problem.stored();
    let real = |all: Vec<C64>, format: Format| -> Vec<C64> {
        all.into_iter().map(|x| if format == Format::Real { C64::from(x.re) } else { x }).collect()
    };
    let input = real(common::random_in(problem.input_span().end as usize, read), problem.input);
    let before = match problem.placement {
        Placement::InPlace => input.clone(),
        Placement::OutOfPlace => common::random_in(problem.output_span().end as usize, written),
    };
    let want = match problem.kind {
        Kind::Complex => common::reference(problem, &input, &before),
        _ => definitions::reference(problem, &input, &before),
    };
    for one in &found {
        let what = format!("{:?} {:?} by {:?}", problem.transform, problem.stored(), one.parts[0].tile);
        let run = common::run(&one.program, &limits, &input, &before);
        let (got, _): (Vec<C64>, _) = run.unwrap_or_else(|fault| panic!("{what}: {fault}"));
        let (error, bound) = (common::error(&got, &want), problem.error_bound());
        assert!(error < bound, "{what}: relative error {error:.2e}, {bound:.2e} allowed");
    }
    found.len()
}

#[test]
fn rows_of_all_sorts_of_radices() {
    // Odd, even, in pairs of numbers and not, in two to four stages, with primes whose results come two by two.
    let mut singles = 0;
    for n in [90, 330, 715, 1180, 1080, 1232, 1782, 2150, 2926, 2950, 3087, 3876, 4802] {
        for (at, storage) in [Storage::F16, Storage::Bf16, Storage::F32].into_iter().enumerate() {
            let fft = || Fft::new([n]).batch(3 + 4 * at as u64).storage(storage);
            let found = check(&build(fft()), 3) + check(&build(fft().inverse().in_place()), 2);
            // Singles are where they take longer than memory does.
            singles += if storage == Storage::F32 { found } else { 0 };
            assert!(found > 0 || storage == Storage::F32, "{n} {storage:?} is never balanced");
        }
    }
    assert!(singles >= 12, "{singles} ways of singles are balanced");
}

#[test]
fn rows_apart_in_planes_of_their_own_and_counted_when_they_run() {
    let mut found = 0;
    for n in [1080_u64, 1782, 2310] {
        let far = n as i64 + 14;
        let rows = || Fft::new([n]).storage(Storage::F16);
        let apart = rows().offsets(2, 6).batch_strided(5, far, far + 2);
        let odd = rows().offsets(1, 3).batch_strided(5, far + 1, n as i64);
        let planar = rows().batch(6).formats(Format::Planar, Format::Interleaved);
        for fft in [apart, odd, planar, rows().batch(9).any_batch()] {
            found += check(&build(fft), 3);
        }
    }
    assert!(found >= 12, "{found} ways of 12 problems are balanced");
}

#[test]
fn reals_whose_rows_come_two_by_two() {
    let mut found = 0;
    for n in [225_u64, 1001, 2187, 3080] {
        for storage in [Storage::F16, Storage::F32] {
            for batch in [6, 7] {
                found += check(&build(Fft::new([n]).r2c().batch(batch).storage(storage)), 2);
            }
        }
    }
    assert!(found >= 8, "{found} ways of 16 problems are balanced");
}

#[test]
fn lines_of_a_cluster_and_of_a_block_alone() {
    for n in [14_641, 20_000, 50_625] {
        assert!(check(&build(Fft::new([n]).batch(2)), 2) > 0, "{n} is never balanced");
    }
}

#[test]
fn what_gains_nothing_is_read_as_it_lies() {
    let limits = Limits::h200();
    let rows = |n: u64| Fft::new([n]).batch((1 << 26) / n);
    let columns = Fft::new([1782]).storage(Storage::F16).strides(&[512], &[512]).batch_strided(512, 1, 1);
    for fft in [rows(1024), rows(8192).storage(Storage::F16), rows(1000), rows(10_000).f64(), columns] {
        let problem = build(fft);
        let compiled = Compiled::of(&problem, &limits).expect("it compiles");
        assert!(!is_balanced(&compiled, &limits), "{:?}", problem.transform);
    }
}
