//! Convolutions that do not fit on the chip, on the simulator with limits so small that short ones do not: against the
//! reference, without races, in as few passes as they say, and what those move.

mod common;

use common::{Case, Workspace, limits::small, rows, run_in};
use warpfft_core::kernel::simulate::{Options, Report};
use warpfft_core::pass::{Method, PartKind};
use warpfft_core::plan::Plan;
use warpfft_core::problem::{Dim, Direction, Format, Placement, Precision, Problem};
use warpfft_core::program::{Compiled, Program};
use warpfft_core::recipe::candidates;
use warpfft_core::request::Fft;
use warpfft_core::target::{Api, Limits};
use warpfft_core::{compile, emit};

/// The parts of a padded length in several passes.
fn parts(compiled: &Compiled) -> Vec<u64> {
    let Plan::Bluestein { inner, .. } = &compiled.schedule.plans[0] else {
        panic!("{} is no chirp", compiled.schedule.plans[0])
    };
    let Plan::Split(parts) = &**inner else { panic!("{inner} fits on the chip") };
    parts.iter().map(Plan::len).collect()
}

fn check(problem: &Problem, limits: &Limits) {
    let what = format!("{problem:?} on {}", limits.name);
    let program = compile(problem, limits).unwrap_or_else(|error| panic!("{what}: {error}"));
    Case::new(problem).check(&program, limits, &what);
}

#[test]
fn two_parts_take_three_passes_and_three_take_five() {
    for (n, precision, count) in [
        (331, Precision::F32, 2),
        (1009, Precision::F32, 2),
        (2003, Precision::F32, 2),
        (10_007, Precision::F32, 3),
        (173, Precision::F64, 2),
        (1009, Precision::F64, 2),
        (3001, Precision::F64, 3),
    ] {
        for direction in [Direction::Forward, Direction::Inverse] {
            for batch in [1, 3] {
                let problem = Problem { direction, scale: 0.5, ..rows(n, batch, precision) };
                let compiled = Compiled::of(&problem, &small()).expect("it is possible");
                let lengths = parts(&compiled);
                assert_eq!(lengths.len(), count, "{n}: {lengths:?}");
                assert_eq!(compiled.program.launches.len(), 2 * count - 1, "{n}");
                let what = format!("{batch} of {n} as {lengths:?} {direction:?}");
                Case::new(&problem).check(&compiled.program, &small(), &what);
            }
        }
    }
}

#[test]
fn layouts() {
    // Columns, gaps, falling strides, another order at the output.
    let cases = [
        (Dim::new(1009, 7, 7), vec![Dim::new(7, 1, 1)], 0, 0),
        (Dim::new(1009, 2, 3), vec![Dim::new(3, 2100, 3100)], 5, 3),
        (Dim::new(1009, -1, 1), vec![Dim::new(3, 1009, -1009)], 1008, 2018),
        (Dim::new(1009, 4, 1), vec![Dim::new(4, 1, 1009), Dim::new(2, 4036, 4036)], 0, 0),
    ];
    for (dim, batch, input_offset, output_offset) in cases {
        for (input, output) in [
            (Format::Interleaved, Format::Interleaved),
            (Format::Planar, Format::Interleaved),
            (Format::Planar, Format::Planar),
        ] {
            let (transform, batch) = (vec![dim], batch.clone());
            let base = rows(1009, 1, Precision::F32);
            check(
                &Problem { transform, batch, input_offset, output_offset, input, output, ..base },
                &small(),
            );
        }
    }
}

#[test]
fn in_place_and_beside_other_dimensions() {
    for shape in [&[1009][..], &[6, 347], &[347, 6], &[3, 347, 4]] {
        for direction in [Direction::Forward, Direction::Inverse] {
            for placement in [Placement::InPlace, Placement::OutOfPlace] {
                let base = Fft::new(shape).batch(2).build().expect("it is possible");
                check(&Problem { direction, placement, ..base }, &small());
            }
        }
    }
}

fn valid(text: &str) {
    use naga::valid::{Capabilities, ValidationFlags, Validator};
    let module = naga::front::wgsl::parse_str(text).unwrap_or_else(|e| panic!("{}", e.emit_to_string(text)));
    let checked = Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module);
    checked.unwrap_or_else(|e| panic!("{}", e.emit_to_string(text)));
}

#[test]
fn other_languages() {
    let narrow = Limits { shared_bytes: 2048, name: "narrow".into(), ..Limits::webgpu_min() };
    for limits in [Limits::webgpu_min(), Limits::vulkan_min(), Limits::t4(), narrow] {
        for n in [1009, 4099, 10_007] {
            let problem = rows(n, 2, Precision::F32);
            check(&problem, &limits);
            if let Api::Wgsl { browser } = limits.api {
                for kernel in &compile(&problem, &limits).expect("it is possible").kernels {
                    valid(&emit::wgsl(kernel, browser).expect("it can be said"));
                }
            }
        }
    }
}

#[test]
fn long_lengths_on_the_h200() {
    for (n, precision, padded) in [
        (16_411, Precision::F32, 32_820..34_000),
        (65_537, Precision::F32, 131_072..131_073),
        (99_991, Precision::F32, 199_980..204_000),
        (16_411, Precision::F64, 32_820..34_000),
        (65_537, Precision::F64, 131_072..131_073),
    ] {
        let problem = rows(n, 2, precision);
        let compiled = Compiled::of(&problem, &Limits::h200()).expect("it is possible");
        let points: u64 = parts(&compiled).iter().product();
        assert!(padded.contains(&points), "{n}: {points}");
        assert_eq!(compiled.program.launches.len(), 3, "{n}");
        // One region, and nothing beside it.
        let bytes = 2 * points * precision.complex_bytes();
        assert_eq!(compiled.program.workspace_bytes, bytes.next_multiple_of(512), "{n}");
        Case::new(&problem).check(&compiled.program, &Limits::h200(), &format!("length {n}"));
    }
}

/// As near to the truth as other convolutions have to be.
#[test]
fn errors_are_within_three_times_a_plain_librarys() {
    for n in [10_007, 16_381, 16_411, 65_537, 99_991] {
        let problem = rows(n, 1, Precision::F32);
        let program = compile(&problem, &Limits::h200()).expect("it is possible");
        let input = common::random(n as usize, Precision::F32);
        let (got, _) = common::run(&program, &Limits::h200(), &input, &input).expect("it runs");
        let want = common::reference(&problem, &input, &input);
        let (ours, theirs) = (common::error(&got, &want), common::rustfft_error(n, &input, &want));
        println!("{n}: error {ours:.2e}, rustfft {theirs:.2e}");
        assert!(ours < 3.0 * theirs, "{n}: {ours:.2e} against {theirs:.2e}");
    }
}

/// What each launch of a program counts.
fn counted(program: &Program, limits: &Limits) -> Vec<Report> {
    let problem = &program.problem;
    let input = common::random(problem.input_span().end as usize, problem.precision);
    let output = common::random(problem.output_span().end as usize, problem.precision);
    let mut workspace = Workspace::new();
    let launch = |launch: &warpfft_core::program::Launch| {
        let one = Program { launches: vec![launch.clone()], ..program.clone() };
        let run = run_in(&one, limits, &input, &output, &mut workspace, &Options::default());
        run.unwrap_or_else(|fault| panic!("{fault}")).1
    };
    program.launches.iter().map(launch).collect()
}

/// Columns side by side are neighbours in the middle too.
#[test]
fn columns_move_whole_sectors() {
    let problem = Problem {
        transform: vec![Dim::new(65_537, 8, 8)],
        batch: vec![Dim::new(8, 1, 1)],
        ..rows(65_537, 1, Precision::F32)
    };
    let compiled = Compiled::of(&problem, &Limits::h200()).expect("it is possible");
    let points: u64 = parts(&compiled).iter().product();
    for (at, report) in counted(&compiled.program, &Limits::h200()).into_iter().enumerate() {
        let stored = if at < 2 { points } else { 65_537 };
        assert_eq!(report.global_sectors_written, 8 * stored * 8 / 32, "pass {at}");
    }
}

#[test]
fn the_middle_moves_each_sector_once_each_way() {
    for (n, precision) in [
        (32_749, Precision::F32),
        (65_537, Precision::F32),
        (99_991, Precision::F32),
        (10_007, Precision::F64),
        (65_537, Precision::F64),
    ] {
        let compiled = Compiled::of(&rows(n, 1, precision), &Limits::h200()).expect("it is possible");
        let passes = &compiled.schedule.passes;
        let middle = |pass: &warpfft_core::pass::Pass| match &pass.axes[0].method {
            Method::Coprime(parts) => parts[0].kind == PartKind::Middle,
            Method::MixedRadix(_) | Method::Reals(_) | Method::Decimated { .. } => false,
        };
        assert_eq!(passes.iter().map(middle).collect::<Vec<_>>(), [false, true, false]);
        let reports = counted(&compiled.program, &Limits::h200());
        let points: u64 = parts(&compiled).iter().product();
        let sectors = points * precision.complex_bytes() / 32;
        let middle = &reports[1];
        println!(
            "{n} {precision:?} read {:.2} conflicts {:.2}",
            middle.global_sectors_read as f64 / sectors as f64,
            middle.conflicts()
        );
        assert_eq!(middle.global_sectors_written, sectors, "{n}");
        // Data, the spectrum, which is as long, and factors: a fifth of it where transforms are short.
        let read = middle.global_sectors_read as f64 / sectors as f64;
        assert!((2.0..2.5).contains(&read), "{n}: {read}");
        assert!(middle.conflicts() <= 1.34, "{n}: {}", middle.conflicts());
    }
}

/// Frequencies stand in whatever order the stages leave them in: digits that count from below zero, of even and odd radices, of long
/// primes whose results come in twos; two groups at once where few blocks share a multiprocessor.
#[test]
fn stages_of_many_radices_on_the_chip() {
    let limits = Limits::h200();
    let cases = [
        (211, Precision::F32, 24),
        (211, Precision::F64, 24),
        (431, Precision::F32, 24),
        (509, Precision::F64, 8),
        (1061, Precision::F32, 24),
        (2963, Precision::F32, 2),
        (4099, Precision::F64, 1),
    ];
    let mut seen = String::new();
    for (n, precision, most) in cases {
        let mut tried: Vec<String> = Vec::new();
        let problem = rows(n, (1 << 25) / n, precision);
        for one in candidates(&problem, &limits, most).expect("it has plans") {
            let plan = one.recipe.plans[0].to_string();
            if plan.contains("split") || tried.contains(&plan) {
                continue;
            }
            for direction in [Direction::Forward, Direction::Inverse] {
                let batch = 2 * one.recipe.tiles[0].batch.iter().product::<u64>();
                let few = Problem { direction, ..rows(n, batch, precision) };
                let compiled = Compiled::by(&one.recipe, &few, &limits)
                    .unwrap_or_else(|error| panic!("{plan}: {error}"));
                Case::new(&few).check(&compiled.program, &limits, &plan);
            }
            tried.push(plan);
        }
        println!("{n}: {}", tried.join(", "));
        seen += &tried.concat();
    }
    assert!(seen.contains("rader 1061 (mixed-radix 53 "), "a long prime comes first: {seen}");
}
