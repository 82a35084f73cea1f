//! What runs until the best kernels are assembled: shorter, within the same workspace, and as right.

mod common;

use common::{Case, packed, rows};
use rand::Rng;
use warpfft_core::compile;
use warpfft_core::emit;
use warpfft_core::problem::{Direction, Precision, Problem};
use warpfft_core::program::{brief, stand_in};
use warpfft_core::strategy::Strategy;
use warpfft_core::target::Limits;

/// Runs a problem's stand-in on random data; whether it has one.
fn check(problem: &Problem, what: &str) -> bool {
    let limits = Limits::h200();
    let best = compile(problem, &limits).unwrap_or_else(|error| panic!("{what}: {error}"));
    let Some(soon) = stand_in(&best, brief(problem, &limits)) else { return false };
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

/// Every length of a block or a cluster has a program that no assembler takes long over, whatever its factors.
#[test]
fn every_length_has_a_short_one() {
    let (limits, looped) = (Limits::h200(), Strategy::named("looped").expect("it is there"));
    let start = rand::rng().random_range(0..31);
    let lengths = (start + 2..=16_384)
        .step_by(31)
        .chain([6293, 13_547, 15_283, 15_686, 15_625, 16_001, 65_536, 65_537, 131_072]);
    for n in lengths {
        for precision in [Precision::F32, Precision::F64] {
            let program = looped.compile(&rows(n, 100, precision), &limits).expect("it fits");
            assert_eq!((program.kernels.len(), program.workspace_bytes), (1, 0), "{n}");
            let most = match (precision, n) {
                (Precision::F32, _) => 1200,
                // 17 29 31, the one length to 16384 with three loops over pairs of outputs.
                (_, 15_283) => 1640,
                _ => 1500,
            };
            assert!(program.longest() <= most, "{n} {precision}: {} instructions", program.longest());
        }
    }
}

/// Of loops alone, whether or not they are what plans begin with.
#[test]
fn loops_at_every_sort_of_length() {
    let (limits, looped) = (Limits::h200(), Strategy::named("looped").expect("it is there"));
    let run = |problem: &Problem, what: &str| {
        let program = looped.compile(problem, &limits).unwrap_or_else(|error| panic!("{what}: {error}"));
        Case::new(problem).check(&program, &limits, what);
    };
    let mut rng = rand::rng();
    let lengths =
        (2..200).chain([256, 403, 899, 961, 1024, 1331, 2187, 3125, 4096, 4099, 8192, 12_288, 15_625]);
    let others: Vec<u64> = (0..30).map(|_| rng.random_range(200..10_000)).collect();
    for n in lengths.chain(others) {
        let precision = if rng.random() { Precision::F32 } else { Precision::F64 };
        let problem = rows(n, rng.random_range(1..9), precision);
        let direction = if rng.random() { Direction::Forward } else { Direction::Inverse };
        run(&Problem { direction, ..problem }, &format!("length {n} {precision} {direction:?}"));
    }
    // By clusters: more than a block holds.
    for (n, precision) in [
        (16_384, Precision::F64),
        (14_384, Precision::F64),
        (14_401, Precision::F32),
        (32_768, Precision::F32),
        (20_011, Precision::F64),
        (65_536, Precision::F32),
    ] {
        run(&rows(n, 2, precision), &format!("length {n} {precision}"));
    }
    for shape in [&[100, 100][..], &[32, 32, 32], &[31, 29, 5], &[17, 64], &[120, 360]] {
        run(&packed(shape, 2, Precision::F32), &format!("{shape:?}"));
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
        let programs = brief(&problem, &limits);
        assert_eq!(programs.len(), 2, "{n}");
        let kernels = programs.iter().flat_map(|program| &program.kernels);
        let text: String = kernels.map(|k| emit::ptx(k, 90).expect("it is emitted")).collect();
        assert!(!text.contains("prefetch"), "{n}");
    }
}

#[test]
fn another_problems_program_is_none() {
    let limits = Limits::h200();
    let best = compile(&rows(8192, 64, Precision::F32), &limits).expect("it is planned");
    let others = brief(&rows(4096, 64, Precision::F32), &limits);
    assert!(!others.is_empty() && stand_in(&best, others).is_none());
    assert!(stand_in(&best, Vec::new()).is_none());
}

#[test]
fn short_kernels_stand_for_themselves() {
    let limits = Limits::h200();
    for n in [2, 8, 64] {
        let problem = rows(n, 1000, Precision::F32);
        let best = compile(&problem, &limits).expect("it is planned");
        let soon = stand_in(&best, brief(&problem, &limits));
        assert!(soon.is_none_or(|soon| soon.longest() < best.longest()), "{n}");
    }
}
