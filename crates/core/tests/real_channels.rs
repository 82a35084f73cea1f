//! Reals that lie side by side, on the simulator: neighbours are carried as one complex column.

mod common;
mod definitions;

use common::build;
use warpfft_core::explain::explain;
use warpfft_core::pass::Carry;
use warpfft_core::problem::{Dim, Direction, Format, Precision, Problem, half};
use warpfft_core::program::compile;
use warpfft_core::request::Fft;
use warpfft_core::schedule;
use warpfft_core::target::Limits;

/// Lines of `n` reals, `channels` of them side by side where `beside` has it, `outer` times; from a spectrum or to one.
fn lines(n: u64, [outer, channels]: [u64; 2], beside: [bool; 2], back: bool) -> Fft {
    let lengths = if back { [half(n), n] } else { [n, half(n)] };
    let [is, os] = [0, 1].map(|side| {
        let whole = (lengths[side] * channels) as i64;
        if beside[side] { [channels as i64, 1, whole] } else { [1, lengths[side] as i64, whole] }
    });
    let dims = [Dim::new(outer, is[2], os[2]), Dim::new(channels, is[1], os[1])];
    let fft = Fft::guru(&[Dim::new(n, is[0], os[0])], &dims);
    if back { fft.c2r() } else { fft.r2c() }
}

/// How the lines of each pass are carried.
fn carried(problem: &Problem, limits: &Limits) -> Vec<Carry> {
    let schedule = schedule::schedule(problem, limits).expect("it has a plan");
    schedule.passes.iter().flat_map(|pass| pass.ends).flatten().map(|fold| fold.carry).collect()
}

fn check(problem: &Problem, limits: &Limits) {
    let what = format!("{:?} batch {:?} {:?}", problem.kind, problem.batch, problem.precision);
    let program = compile(problem, limits).unwrap_or_else(|error| panic!("{what}: {error}"));
    let input = common::random(problem.input_span().end as usize, problem.precision);
    let before = common::random(problem.output_span().end as usize, problem.precision);
    let mut want = definitions::reference(problem, &input, &before);
    if problem.output == Format::Real {
        want.iter_mut().for_each(|x| x.im = 0.0);
    }
    let run = common::run(&program, limits, &input, &before);
    let (got, _) = run.unwrap_or_else(|fault| panic!("{what}: {fault}"));
    let error = common::error(&got, &want);
    let tolerance = if problem.precision == Precision::F32 { 1.5e-6 } else { 3e-15 };
    assert!(error < tolerance, "{what}: relative error {error:.2e}");
}

/// The input is random everywhere: imaginary parts of the first and of the middle frequency count for nothing.
#[test]
fn neighbours_of_even_lengths() {
    let limits = Limits::h200();
    let mut pairs = [0; 2];
    for back in [false, true] {
        for n in [2, 4, 6, 16, 30, 48, 100, 128] {
            for channels in [2, 3, 8, 16, 17] {
                for beside in [[true, true], [true, false], [false, true]] {
                    let problem = build(lines(n, [3, channels], beside, back));
                    let paired = |carry: &Carry| matches!(carry, Carry::Rows(_));
                    pairs[usize::from(back)] += usize::from(carried(&problem, &limits).iter().any(paired));
                    check(&problem, &limits);
                }
            }
        }
    }
    assert!(pairs.iter().all(|&pairs| pairs >= 8), "{pairs:?} went in pairs");
}

#[test]
fn neighbours_in_other_forms() {
    let limits = Limits::h200();
    for back in [false, true] {
        for beside in [[true, true], [true, false]] {
            let fft = lines(32, [2, 16], beside, back);
            let other = if back { Direction::Forward } else { Direction::Inverse };
            let spectrum = |of: Format| if back { [of, Format::Real] } else { [Format::Real, of] };
            let [input, output] = spectrum(Format::Planar);
            let all = [
                fft.clone().f64().scale(0.5),
                fft.clone().direction(other),
                fft.clone().formats(input, output),
                fft.clone().offsets(1, 3),
                fft.clone().offsets(2, 4),
            ];
            all.into_iter().for_each(|fft| check(&build(fft), &limits));
        }
    }
}

/// What a graphics processor timed: the way that took less.
#[test]
fn long_channels_go_in_pairs() {
    let limits = Limits::h200();
    for (n, channels, back, expected) in [
        (1024, 16, false, true),
        (1024, 64, false, true),
        (1024, 16, true, true),
        (512, 64, true, true),
        (512, 64, false, false),
        (2048, 16, false, false),
        (4096, 16, false, true),
        (4096, 16, true, true),
    ] {
        let problem = build(lines(n, [(1 << 26) / n / channels, channels], [true, true], back));
        let paired = matches!(carried(&problem, &limits)[..], [Carry::Rows(_)]);
        assert_eq!(paired, expected, "{channels} channels of {n}, back: {back}");
        let copies = explain(&problem, &limits).expect("it has a plan").predicted_copies;
        assert!((1.0..2.2).contains(&copies), "{copies} copies");
    }
}
