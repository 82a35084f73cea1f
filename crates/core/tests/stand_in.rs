//! What runs until the best kernels are assembled: shorter, within the same workspace, and as right.

mod common;

use common::{Case, packed, rows};
use rand::Rng;
use warpfft_core::compile;
use warpfft_core::emit;
use warpfft_core::problem::{Direction, Precision, Problem};
use warpfft_core::program::{brief, stand_in};
use warpfft_core::target::Limits;

/// Runs a problem's stand-in on random data; whether it has one.
fn check(problem: &Problem, what: &str) -> bool {
    let limits = Limits::h200();
    let best = compile(problem, &limits).unwrap_or_else(|error| panic!("{what}: {error}"));
    let Some(soon) = stand_in(&best, brief(problem, &limits).expect("it is planned")) else { return false };
    assert!(soon.longest() < best.longest(), "{what}");
    assert!(soon.workspace_bytes <= best.workspace_bytes, "{what}");
    assert_eq!(soon.problem, *problem, "{what}");
    Case::new(problem).check(&soon, &limits, what);
    true
}

#[test]
fn long_kernels_have_shorter_ones() {
    let lengths = [373, 1024, 4096, 4099, 7919, 8191, 8192, 16_384, 65_536];
    let in_f32 = lengths.map(|n| rows(n, 4, Precision::F32));
    let in_f64 = [373, 4099, 8192].map(|n| rows(n, 3, Precision::F64));
    let all = in_f32.into_iter().chain(in_f64);
    let backwards = all.map(|problem| Problem { direction: Direction::Inverse, ..problem });
    let found = backwards.filter(|problem| check(problem, &format!("{:?}", problem.transform))).count();
    assert!(found >= 6, "of twelve, only {found}");
}

#[test]
fn lengths_drawn_at_random() {
    let mut rng = rand::rng();
    for turn in 0..60 {
        let precision = if turn % 3 == 2 { Precision::F64 } else { Precision::F32 };
        let n = rng.random_range(64..9000);
        check(&rows(n, rng.random_range(1..6), precision), &format!("length {n} {precision:?}"));
    }
}

#[test]
fn planes_and_volumes() {
    for shape in [&[128, 128][..], &[100, 100], &[256, 256], &[24, 24, 24], &[32, 32, 32], &[31, 29, 5]] {
        check(&packed(shape, 2, Precision::F32), &format!("{shape:?}"));
        check(&packed(shape, 2, Precision::F64), &format!("{shape:?} in f64"));
    }
}

#[test]
fn several_passes() {
    for n in [262_144, 100_000, 65_537] {
        check(&rows(n, 2, Precision::F32), &format!("length {n}"));
    }
}

/// The copy engine, which brings data into the cache ahead, takes addresses that are multiples of 16 bytes alone.
#[test]
fn they_ask_for_nothing_ahead() {
    let limits = Limits::h200();
    for n in [4096, 8191, 8192, 16_384] {
        let problem = rows(n, (1 << 26) / n, Precision::F32);
        let program = brief(&problem, &limits).expect("it is planned").expect("it is short enough");
        let text: String = program.kernels.iter().map(|k| emit::ptx(k, 90).expect("it is emitted")).collect();
        assert!(!text.contains("prefetch"), "{n}");
    }
}

#[test]
fn another_problems_program_is_none() {
    let limits = Limits::h200();
    let best = compile(&rows(8192, 64, Precision::F32), &limits).expect("it is planned");
    let other = brief(&rows(4096, 64, Precision::F32), &limits).expect("it is planned");
    assert!(other.is_some() && stand_in(&best, other).is_none());
    assert!(stand_in(&best, None).is_none());
}

#[test]
fn short_kernels_stand_for_themselves() {
    let limits = Limits::h200();
    for n in [2, 8, 64] {
        let problem = rows(n, 1000, Precision::F32);
        let best = compile(&problem, &limits).expect("it is planned");
        let soon = stand_in(&best, brief(&problem, &limits).expect("it is planned"));
        assert!(soon.is_none_or(|soon| soon.longest() < best.longest()), "{n}");
    }
}
