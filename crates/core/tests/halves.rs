//! Convolutions of which two blocks transform half each, on the simulator: against the reference, without races.

mod common;

use common::limits::pairs;
use common::{C64, Case, error, packed, random, rows, run};
use warpfft_core::compile;
use warpfft_core::error::Error;
use warpfft_core::lower::tile::Tile;
use warpfft_core::plan::Plan;
use warpfft_core::problem::{Dim, Direction, Format, Placement, Precision, Problem};
use warpfft_core::program::Compiled;
use warpfft_core::recipe::Recipe;
use warpfft_core::request::Fft;
use warpfft_core::target::Limits;

/// Three lines of 131 points: columns, planes for the parts, in place.
fn layouts() -> [Problem; 3] {
    let lines = || rows(131, 3, Precision::F32);
    [
        Problem {
            transform: vec![Dim::new(131, 3, 3)],
            batch: vec![Dim::new(3, 1, 1)],
            ..rows(131, 1, Precision::F32)
        },
        Problem { input: Format::Planar, output: Format::Planar, ..lines() },
        Problem { placement: Placement::InPlace, scale: 0.5, ..lines() },
    ]
}

/// Lines by a plan and a tile that two blocks share.
fn by_pairs(plan: &str, (threads, held): (u32, u64), problem: &Problem) -> Compiled {
    let tile = Tile::new(threads, 2, vec![held]);
    let plan: Plan = plan.parse().expect("a plan");
    let recipe = Recipe { plans: vec![plan], tiles: vec![tile], within: None, fused: Vec::new() };
    let compiled = Compiled::by(&recipe, problem, &Limits::h200());
    compiled.unwrap_or_else(|error| panic!("{error}: {problem:?}"))
}

/// Convolutions of which two blocks transform half each: of various stages, both ways, in various layouts.
#[test]
fn convolutions_in_halves() {
    let base = |n, precision| rows(n, 3, precision);
    let mut cases = vec![];
    for (n, radices, threads, precision) in [
        (37, "8 5", 5, Precision::F32),
        (67, "9 8", 9, Precision::F32),
        (127, "16 8", 8, Precision::F32),
        (131, "12 11", 11, Precision::F64),
        (211, "6 6 6", 18, Precision::F32),
        (509, "8 8 8", 64, Precision::F32),
        (1009, "16 8 8", 32, Precision::F64),
        (1013, "13 13 6", 26, Precision::F64),
    ] {
        for direction in [Direction::Forward, Direction::Inverse] {
            cases.push((n, radices, threads, 1, Problem { direction, ..base(n, precision) }));
        }
    }
    for problem in layouts() {
        cases.push((131, "12 11", 12, 1, problem));
    }
    // Two lines in a tile, of which the last is there in part; more turns than one for each thread of both blocks.
    cases.push((67, "9 8", 18, 2, base(67, Precision::F32)));
    cases.push((127, "16 8", 3, 2, base(127, Precision::F64)));
    for (n, radices, threads, held, problem) in cases {
        check_in_halves(&format!("(bluestein {n} (mixed-radix {radices}))"), (threads, held), &problem);
    }
}

fn check_in_halves(plan: &str, tile: (u32, u64), problem: &Problem) {
    let what = format!("{plan} by {tile:?}: {problem:?}");
    let compiled = by_pairs(plan, tile, problem);
    assert_eq!(compiled.program.launches.len(), 1, "{what}");
    Case::new(problem).check(&compiled.program, &Limits::h200(), &what);
}

/// The same of primes in Rader's order.
#[test]
fn primes_in_halves() {
    let base = |n, precision| rows(n, 3, precision);
    for (n, radices, threads, precision) in [
        (37, "18", 1, Precision::F32),
        (37, "6 3", 3, Precision::F32),
        (67, "11 3", 3, Precision::F32),
        (127, "9 7", 9, Precision::F64),
        (131, "13 5", 5, Precision::F32),
        (211, "7 5 3", 15, Precision::F64),
        (521, "13 5 4", 20, Precision::F32),
        (1009, "9 8 7", 72, Precision::F64),
    ] {
        let plan = format!("(rader {n} (mixed-radix {radices}))");
        for direction in [Direction::Forward, Direction::Inverse] {
            check_in_halves(&plan, (threads, 1), &Problem { direction, ..base(n, precision) });
        }
    }
    let pairs = base(131, Precision::DoubleSingle);
    for problem in layouts().into_iter().chain([pairs]) {
        check_in_halves("(rader 131 (mixed-radix 13 5))", (13, 1), &problem);
    }
    // More than one piece for each thread.
    check_in_halves("(rader 211 (mixed-radix 7 5 3))", (3, 1), &base(211, Precision::F64));
}

/// Beside other parts, below a codelet, of long primes or of several lines, there are no halves: such a recipe is refused.
#[test]
fn halves_of_what_is_no_line_by_itself_are_refused() {
    for (n, plan, held) in [
        (111, "(decimated 3 (rader 37 (mixed-radix 6 3)))", 1),
        (111, "(prime-factor (rader 37 (mixed-radix 6 3)) (mixed-radix 3))", 1),
        (83, "(rader 83 (mixed-radix 41))", 1),
        (67, "(rader 67 (mixed-radix 11 3))", 2),
    ] {
        for cluster in [1, 2, 4] {
            let tile = Tile::new(3, cluster, vec![held]);
            let plans = vec![plan.parse().expect("a plan")];
            let recipe = Recipe { plans, tiles: vec![tile], within: None, fused: Vec::new() };
            let compiled = Compiled::by(&recipe, &rows(n, 4, Precision::F32), &Limits::h200());
            assert!(matches!(compiled, Err(Error::Recipe { .. })), "{plan} by {cluster}");
        }
    }
}

/// Threads that spell another digit than the fastest, for the sake of banks, would read a factor each from a sector of its own: 33601
/// points took 6.6 copies so.
#[test]
fn factors_of_halves_are_read_in_order() {
    for (n, radices, threads, precision) in
        [(10_753, "12 28 16", 150, Precision::F64), (33_601, "28 25 24", 350, Precision::F32)]
    {
        let (problem, what) = (rows(n, 2, precision), format!("(rader {n} (mixed-radix {radices}))"));
        let compiled = by_pairs(&what, (threads, 1), &problem);
        let report = Case::new(&problem).check(&compiled.program, &Limits::h200(), &what);
        let read = report.global_sectors_read as f64 / report.minimal_sectors_read as f64;
        assert!(read < 1.75, "{what}: {read:.2} of the sectors of points and tables");
    }
}

/// Functions see the same point in halves as in a whole.
#[test]
fn functions_of_primes_in_halves() {
    let fft = Fft::new([521]).batch(5).on_load(|x, at| x * (at.axis(0) + 1.0));
    let problem =
        fft.on_store(|x, at| x * (at.axis(0) * 0.25 + at.batch(0))).build().expect("it is possible");
    let input = random(problem.input_span().end as usize, problem.precision);
    let output = |limits: &Limits, cluster: u32| {
        let program = compile(&problem, limits).expect("it compiles");
        assert!(program.kernels.iter().all(|kernel| kernel.cluster == cluster));
        run(&program, limits, &input, &vec![C64::default(); input.len()]).expect("it runs").0
    };
    let error = error(&output(&pairs(), 2), &output(&Limits::h200(), 1));
    assert!(error < 2e-6, "{error:.2e}");
}

/// What one block cannot convolve is in halves where there are lines enough, and in several passes where there are few; with folds,
/// or where it shares a pass, it is in passes too.
#[test]
fn long_convolutions_are_planned_in_halves() {
    let limits = pairs();
    for (n, batch, precision, launches) in [
        (347, 5, Precision::F32, 1),
        (347, 2, Precision::F32, 3),
        (503, 3, Precision::F32, 1),
        (563, 5, Precision::F32, 3),
        (227, 3, Precision::F64, 1),
        (263, 3, Precision::F64, 3),
        (227, 3, Precision::DoubleSingle, 1),
        // In Rader's order, up to twice as far.
        (521, 5, Precision::F32, 1),
        (521, 2, Precision::F32, 3),
        (1021, 3, Precision::F32, 1),
        (1031, 3, Precision::F32, 3),
        (337, 3, Precision::F64, 1),
    ] {
        let what = format!("{batch} of {n} in {precision}");
        let problem = rows(n, batch, precision);
        let program = compile(&problem, &limits).unwrap_or_else(|error| panic!("{what}: {error}"));
        Case::new(&problem).check(&program, &limits, &what);
        let clusters: Vec<u32> =
            program.launches.iter().map(|launch| program.kernels[launch.kernel].cluster).collect();
        assert_eq!(clusters.len(), launches, "{what}");
        assert_eq!(clusters[0], if launches == 1 { 2 } else { 1 }, "{what}");
    }
    // Coprime parts that a block holds are not.
    let parts =
        Compiled::of(&rows(16_383, 4096, Precision::F32), &Limits::h200()).expect("it is possible").parts;
    assert_eq!(parts.iter().map(|part| part.tile.cluster).collect::<Vec<_>>(), [1]);
    for problem in [
        packed(&[347, 3], 2, Precision::F32),
        packed(&[3, 347], 2, Precision::F32),
        Problem { placement: Placement::InPlace, ..rows(347, 5, Precision::F32) },
        Problem { input: Format::Planar, direction: Direction::Inverse, ..rows(347, 5, Precision::F32) },
    ] {
        let program = compile(&problem, &limits).unwrap_or_else(|error| panic!("{problem:?}: {error}"));
        Case::new(&problem).check(&program, &limits, &format!("{problem:?}"));
    }
}
