//! In which order blocks take the tiles of a pass, and by which caches they read them.

mod common;

use common::{Case, packed, rows};
use warpfft_core::compile;
use warpfft_core::kernel::Op;
use warpfft_core::kernel::pass::optimise;
use warpfft_core::lower::{Walk, lower, tile};
use warpfft_core::problem::{Precision, Problem};
use warpfft_core::program::{Compiled, Program};
use warpfft_core::request::Fft;
use warpfft_core::schedule;
use warpfft_core::target::Limits;

/// A device of two multiprocessors, each of which has room for two tiles of 4096 points in single precision.
fn tight() -> Limits {
    Limits { multiprocessors: 2, shared_per_sm: 70_000, name: "tight".into(), ..Limits::h200() }
}

#[test]
fn both_walks_compute_the_same_and_ask_ahead_for_what_is_there() {
    let mut prefetches = 0;
    for (n, batch) in [(4096, 23), (4096, 1), (4095, 23), (8192, 9), (1024, 40), (1 << 15, 5)] {
        for precision in [Precision::F32, Precision::F64] {
            let (problem, limits) = (rows(n, batch, precision), tight());
            let Ok(schedule) = schedule::schedule(&problem, &limits) else { continue };
            let [pass] = &schedule.passes[..] else { continue };
            let choice = tile::choose(pass, &limits).expect("a tile fits");
            let case = Case::new(&problem);
            let mut kernels = Vec::new();
            for walk in [Walk::Rising, Walk::Falling] {
                let lowered = lower(pass, &choice.tile, walk, &limits, "walk");
                let program = Program::of_pass(&problem, pass, lowered, &limits).expect("it is well formed");
                prefetches += usize::from(program.kernels[0].to_string().contains("bulk_prefetch"));
                // The simulator minds what lies out of bounds, also of what is only asked for.
                case.check(&program, &limits, &format!("{walk:?} {n} x {batch} {precision:?}"));
                kernels.push(program.kernels[0].clone());
            }
            assert!(batch == 1 || kernels[0] != kernels[1], "{n} x {batch}");
        }
    }
    assert!(prefetches >= 10, "{prefetches}");
}

#[test]
fn every_second_pass_walks_back() {
    let limits = Limits::h200();
    for problem in [packed(&[2048, 2048], 4, Precision::F32), rows(1 << 22, 4, Precision::F32)] {
        let compiled = Compiled::of(&problem, &limits).expect("it has a plan");
        assert!(compiled.schedule.fused.is_empty() && compiled.schedule.passes.len() == 2, "{problem:?}");
        for (i, (pass, part)) in compiled.schedule.passes.iter().zip(&compiled.parts).enumerate() {
            let mut got =
                compiled.program.kernels[compiled.program.launches[part.launch].kernel].clone().into_inner();
            // What makes it fit to be launched early is no part of the walk.
            got.body.insts.retain(|inst| inst.op != Op::LaunchWait);
            let by = |walk| {
                let kernel = lower(pass, &part.tile, walk, &limits, &got.name).kernel;
                optimise(kernel, &limits).expect("it is legal")
            };
            let (own, other) =
                if i == 0 { (Walk::Rising, Walk::Falling) } else { (Walk::Falling, Walk::Rising) };
            assert!(got == *by(own) && got != *by(other), "pass {i} of {problem:?}");
        }
    }
}

/// How the last pass of a problem reads its source: names of cache policies of loads that are not of tables.
fn reads(problem: &Problem) -> String {
    let program = compile(problem, &Limits::h200()).expect("it has a plan");
    let launch = program.launches.last().expect("it has passes");
    let text = program.kernels[launch.kernel].to_string();
    let mut found: Vec<&str> = Vec::new();
    for line in text.lines().filter(|line| line.contains("= load.")) {
        let op = line.split("= ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap_or_default();
        let hint = op.split('.').nth(2).unwrap_or("default");
        if hint != "read_only" && !found.contains(&hint) {
            found.push(hint);
        }
    }
    found.sort_unstable();
    found.join(" ")
}

#[test]
fn what_is_read_once_goes_past_the_first_cache() {
    let f32 = Precision::F32;
    // Exchanges through shared memory are loads of the default kind too.
    for (what, problem, wanted) in [
        ("whole lines", rows(1024, 1 << 16, f32), "default l2"),
        ("large rows that an earlier block has asked for", rows(4096, 1 << 14, f32), "default"),
        ("lines that accesses share", packed(&[4, 4], 1 << 22, f32), "default"),
        ("rows that start within sectors", rows(625, 100_000, f32), "default"),
        ("rows that an earlier block has asked for", rows(16384, 4096, f32), "default"),
        ("a convolution", rows(1009, 1 << 16, f32), "default l2"),
        ("columns", Fft::axes([512, 4096], [0]).batch(32).build().expect("a problem"), "default l2_wide"),
        (
            "columns of which a tile has all",
            Fft::axes([512, 4], [0]).batch(1 << 15).build().expect("a problem"),
            "default l2",
        ),
    ] {
        assert_eq!(reads(&problem), wanted, "{what}");
    }
}
