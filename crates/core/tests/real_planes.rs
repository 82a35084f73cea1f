//! Planes and volumes from reals to reals, on the simulator: of short axes one pass, two planes as one of complex numbers; of
//! longer ones a pass for each, of which two share a launch.

mod common;
mod definitions;

use common::limits::{small_browser, small_cache};
use common::{build, shared_array};
use definitions::reference;
use warpfft_core::kernel::simulate::Report;
use warpfft_core::problem::{Placement, Precision, Problem, RealKind};
use warpfft_core::program::{Compiled, Program, compile};
use warpfft_core::recipe::{Recipe, candidates};
use warpfft_core::request::Fft;
use warpfft_core::target::Limits;

/// Holds a problem against its definition; with its passes.
fn check(problem: &Problem, limits: &Limits) -> (usize, Report) {
    let program = compile(problem, limits).unwrap_or_else(|error| panic!("{problem:?}: {error}"));
    let report = check_program(problem, &program, limits);
    (program.launches.len(), report)
}

fn check_program(problem: &Problem, program: &Program, limits: &Limits) -> Report {
    let input = common::random(problem.input_span().end as usize, problem.precision);
    let before = common::random(problem.output_span().end as usize, problem.precision);
    let mut want = reference(problem, &input, &before);
    want.iter_mut().for_each(|x| x.im = 0.0);
    let run = common::run(program, limits, &input, &before);
    let (got, report) = run.unwrap_or_else(|fault| panic!("{problem:?}: {fault}"));
    let error = common::error(&got, &want);
    let tolerance = match problem.precision {
        _ if problem.storage != [None; 2] => 1e-3,
        Precision::F64 => 3e-15,
        _ => 1.5e-6,
    };
    assert!(error < tolerance, "{problem:?}: relative error {error:.2e}");
    report
}

#[test]
fn every_kind_takes_one_pass() {
    let limits = Limits::h200();
    for kind in RealKind::ALL {
        for shape in [&[8, 8][..], &[2, 9], &[16, 5], &[13, 12], &[4, 3, 8]] {
            for batch in [1, 2, 5, 64] {
                let fft = || Fft::new(shape).batch(batch).r2r([kind]);
                assert_eq!(check(&build(fft()), &limits).0, 1, "{kind:?} {shape:?} {batch}");
                assert_eq!(check(&build(fft().orthogonal().f64()), &limits).0, 1);
                check(&build(fft().scale(0.25)), &limits);
                let in_place = build(fft().in_place());
                let program = compile(&in_place, &limits).expect("it is planned");
                assert_eq!(program.launches.len(), 1);
                shared_array::check_in_place(&in_place, &program, &limits, reference);
            }
        }
    }
    let mixed = [RealKind::Dct2, RealKind::Dht, RealKind::Dst3];
    assert_eq!(check(&build(Fft::new([7, 32, 6]).batch(6).r2r(mixed)), &limits).0, 1);
    // Longer axes fold, each in a pass.
    assert_eq!(check(&build(Fft::new([8, 34]).batch(4).r2r([RealKind::Dct2])), &limits).0, 2);
}

/// Where the data is more than the cache holds, two go together, and of an odd number the last one is left.
#[test]
fn one_of_an_odd_number_is_left_where_there_are_many() {
    let limits = Limits { l2_bytes: 1 << 10, ..Limits::h200() };
    for (shape, batch) in [(&[8, 8][..], 33), (&[5, 6], 35), (&[12], 65)] {
        for kind in [RealKind::Dct3, RealKind::Dst1] {
            let fft = || Fft::new(shape).batch(batch).r2r([kind]);
            assert_eq!(check(&build(fft()), &limits).0, 2, "{shape:?} {kind:?}");
            assert_eq!(check(&build(fft()), &Limits::h200()).0, 1);
            let even = Fft::new(shape).batch(batch + 1).r2r([kind]);
            assert_eq!(check(&build(even), &limits).0, 1);
        }
    }
}

/// Channels side by side, an array within another, gaps, either direction, and an open number of them.
#[test]
fn any_layout_takes_one_pass() {
    for limits in [Limits::h200(), small_browser()] {
        let kind = [RealKind::Dct2];
        let backward = Fft::new([8, 12]).batch_strided(4, 100, -96).offsets(3, 3 * 96);
        for fft in [
            Fft::axes([8, 8, 6], [0, 1]),
            Fft::axes([8, 6, 8], [0, 2]).batch(2),
            Fft::new([8, 12]).strides(&[20, 1], &[12, 1]).batch_strided(4, 400, 96),
            Fft::new([8, 12]).strides(&[12, 1], &[1, 8]).batch(4),
            backward,
            Fft::new([8, 8]).batch(6).any_batch(),
        ] {
            let problem = build(fft.r2r(kind));
            assert_eq!(check(&problem, &limits).0, 1, "{problem:?}");
        }
    }
    // Short numbers, but where memory is of words: there lines that fold store them in twos.
    let short = build(Fft::new([8, 8]).batch(6).r2r([RealKind::Dct3]).f16());
    assert_eq!([Limits::h200(), small_browser()].map(|limits| check(&short, &limits).0), [1, 2]);
}

/// Pictures as they are coded by, 8 x 8 of each: every sector is moved once, and no bank waits for another.
#[test]
fn blocks_of_pictures_move_nothing_twice() {
    for kind in [RealKind::Dct2, RealKind::Dct3] {
        let (_, report) = check(&build(Fft::new([8, 8]).batch(512).r2r([kind])), &Limits::h200());
        let sectors = 512 * 64 * 4 / 32;
        assert_eq!([report.global_sectors_read, report.global_sectors_written], [sectors; 2]);
        assert!(report.conflicts() < 1.001, "{}", report.conflicts());
    }
}

/// What lies between two passes of reals goes through a ring: whatever the kinds, whether rows or columns come first, in an order
/// of dimensions that is not that of memory, and in place.
#[test]
fn longer_planes_and_volumes_share_a_launch() {
    let limits = small_cache();
    let mut shared = 0;
    let mut check_shared = |fft: Fft| {
        let problem = build(fft);
        let all = candidates(&problem, &limits, 200).expect("there are some").into_iter();
        let all: Vec<Recipe> = all.map(|one| one.recipe).filter(|recipe| !recipe.fused.is_empty()).collect();
        assert!(!all.is_empty(), "{problem:?}: none is offered");
        for recipe in all.iter().step_by(all.len().div_ceil(3)) {
            let program = Compiled::by(recipe, &problem, &limits)
                .unwrap_or_else(|error| panic!("{recipe:?} {problem:?} {error}"))
                .program;
            if problem.placement == Placement::InPlace {
                shared_array::check_in_place(&problem, &program, &limits, reference);
            } else {
                check_program(&problem, &program, &limits);
            }
            shared += 1;
        }
    };
    // Hartley's transform reads reals two at a time as complex numbers, as no ring holds them.
    let cosines = |kind: &RealKind| kind.name().starts_with('d') && *kind != RealKind::Dht;
    for kind in RealKind::ALL.into_iter().filter(cosines) {
        // Types I are of 33 and 55 points, or of 35 and 57.
        let plane = || Fft::new([34, 56]).batch(9).r2r([kind]);
        check_shared(plane());
        check_shared(plane().in_place());
        check_shared(Fft::new([64, 64]).batch(5).r2r([kind]).f64().orthogonal().scale(0.5));
    }
    let mixed = [RealKind::Dct2, RealKind::Dst4, RealKind::Dct3];
    check_shared(Fft::new([6, 40, 36]).batch(5).r2r(mixed));
    check_shared(Fft::new([34, 36, 6]).batch(3).r2r(mixed).in_place());
    check_shared(
        Fft::new([40, 36]).strides(&[1, 40], &[36, 1]).batch_strided(7, 1440, 1440).r2r([RealKind::Dct2]),
    );
    check_shared(Fft::new([40, 36]).batch_strided(7, 1500, 1472).offsets(3, 5).r2r([RealKind::Dct4]));
    assert!(shared >= 70, "{shared} were offered");
}

/// Between the folds of a pass of two stages lies one exchange, of rows and of columns: the stages have their threads as the lines
/// stand in the block's array.
#[test]
fn stages_take_lines_as_they_stand() {
    for kind in [RealKind::Dct1, RealKind::Dct2, RealKind::Dct3, RealKind::Dct4] {
        let n = if kind == RealKind::Dct1 { 257 } else { 512 };
        let compiled = Compiled::of(&build(Fft::new([n, n]).batch(4).r2r([kind])), &Limits::h200());
        let compiled = compiled.expect("it is planned");
        for (part, pass) in compiled.parts.iter().zip(&compiled.schedule.passes) {
            let stages: usize = pass.axes.iter().map(|axis| axis.method.stages().len()).sum();
            assert_eq!(part.exchanges as usize + 1, stages, "{kind:?} {:?}", pass.axes);
        }
        assert_eq!(compiled.parts.len(), 2);
    }
}

/// Two passes of images that are more than the cache holds, planned so; images that the cache holds are two launches.
#[test]
fn images_take_one_launch() {
    let image = |batch| build(Fft::new([512, 512]).batch(batch).r2r([RealKind::Dct2]));
    let shared =
        |batch| Compiled::of(&image(batch), &Limits::h200()).expect("it is planned").schedule.fused.len();
    assert_eq!([shared(256), shared(8)], [1, 0]);
}

#[test]
fn lines_that_no_tile_divides_leave_few_lanes_idle() {
    // 33587 pairs of lines, a prime number.
    for (n, kind) in [(999, RealKind::Dct2), (999, RealKind::Dct4), (360, RealKind::Dct2)] {
        let problem = Fft::new([n]).batch(67_174).r2r([kind]).build().expect("a cosine transform");
        let compiled = Compiled::of(&problem, &Limits::h200()).expect("it has a plan");
        let threads = compiled.parts[0].tile.threads;
        let idle = threads.next_multiple_of(32) - threads;
        assert!(8 * idle <= threads, "{n} {kind:?}: {threads} threads");
    }
}
