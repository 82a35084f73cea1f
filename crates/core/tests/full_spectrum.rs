//! All of the spectrum of reals on the simulator: against transforms in f64, in the passes and bytes that reals take.

mod common;

use common::{C64, limits::small};
use warpfft_core::error::{Error, Side};
use warpfft_core::explain::explain;
use warpfft_core::kernel::simulate::Report;
use warpfft_core::problem::{Dim, Format, Kind, Precision, Problem, RealKind};
use warpfft_core::program::{Compiled, Program, compile};
use warpfft_core::recipe::candidates;
use warpfft_core::request::Fft;
use warpfft_core::target::{Limits, SECTOR_BYTES};

fn build(fft: Fft) -> Problem {
    fft.full_spectrum().build().expect("it is possible")
}

fn check(problem: &Problem, limits: &Limits) -> Report {
    let program = compile(problem, limits).unwrap_or_else(|error| panic!("{problem:?}: {error}"));
    check_program(problem, &program, limits)
}

fn check_program(problem: &Problem, program: &Program, limits: &Limits) -> Report {
    // Imaginary parts that nobody may look at.
    let input = common::random(problem.input_span().end as usize, problem.precision);
    let before = common::random(problem.output_span().end as usize + 3, problem.precision);
    let reals: Vec<C64> = input.iter().map(|x| C64::from(x.re)).collect();
    let want = common::reference(problem, &reals, &before);
    let run = common::run(program, limits, &input, &before);
    let (got, report) = run.unwrap_or_else(|fault| panic!("{problem:?}: {fault}"));
    let error = common::error(&got, &want);
    let tolerance = if problem.precision == Precision::F32 { 1.5e-6 } else { 3e-15 };
    assert!(error < tolerance, "{problem:?}: relative error {error:.2e}");
    report
}

#[test]
fn it_is_a_complex_problem_that_reads_reals() {
    let problem = Fft::new([6, 10]).batch(3).full_spectrum().build().expect("packed");
    assert_eq!(
        (&problem.kind, problem.input, problem.output),
        (&Kind::Complex, Format::Real, Format::Interleaved)
    );
    assert_eq!((problem.input_bytes(), problem.output_bytes()), (4 * 180, 8 * 180));
    let planar = Fft::new([6]).full_spectrum().formats(Format::Real, Format::Planar).build().expect("planar");
    assert_eq!(planar.output, Format::Planar);
    let refused = |fft: Fft| fft.build().expect_err("it cannot be");
    let planes = refused(Fft::new([6]).full_spectrum().planar());
    assert_eq!(planes, Error::KindFormat { side: Side::Input, real: true, got: Format::Planar });
    assert!(matches!(refused(Fft::new([6]).full_spectrum().in_place()), Error::InPlaceFormats { .. }));
    // What was asked last is what counts.
    let last = Fft::new([6]).full_spectrum().r2r([RealKind::Dct2]).build().expect("a cosine transform");
    assert!(matches!(last.kind, Kind::RealToReal(_)));
}

#[test]
fn lengths_ranks_and_batches() {
    for limits in [Limits::h200(), small()] {
        for n in (1..=24).chain([31, 37, 64, 97, 100, 243, 256]) {
            check(&build(Fft::new([n]).batch(3)), &limits);
            check(&build(Fft::new([n]).batch(2).inverse().f64()), &limits);
        }
        for shape in
            [vec![4, 6], vec![5, 7], vec![8, 1], vec![1, 9], vec![16, 30], vec![3, 4, 5], vec![2, 37, 3]]
        {
            check(&build(Fft::new(shape.clone()).batch(2).scale(0.5)), &limits);
            check(&build(Fft::new(shape.clone()).f64().inverse()), &limits);
            check(&build(Fft::axes(shape, [0]).batch(2)), &limits);
        }
    }
}

#[test]
fn lines_and_planes_of_several_passes() {
    let limits = small();
    for fft in [
        Fft::new([1024]),
        Fft::new([1215]).batch(2),
        Fft::new([1021]),
        Fft::new([64, 60]),
        Fft::new([7, 512]),
    ] {
        let problem = build(fft);
        let program = compile(&problem, &limits).expect("it compiles");
        assert!(program.launches.len() > 1, "{problem:?} fits the chip");
        check_program(&problem, &program, &limits);
        check(&Problem { output: Format::Planar, ..problem }, &limits);
    }
    // In the data's own memory: what lies between the passes is where the spectrum will be.
    let narrow = build(Fft::new([1024]).max_workspace(0));
    check(&narrow, &limits);
    assert_eq!(compile(&narrow, &limits).expect("it compiles").workspace_bytes, 0);
}

#[test]
fn layouts() {
    let limits = Limits::h200();
    for n in [9, 10, 12] {
        let strided = |is: [i64; 2], os: [i64; 2]| {
            Fft::guru(&[Dim::new(n, is[0], os[0])], &[Dim::new(5, is[1], os[1])])
        };
        let rows = n as i64;
        for fft in [
            strided([3, 40], [2, 31]).offsets(7, 3),
            strided([-1, rows], [-1, rows]).offsets(n - 1, n - 1),
            strided([1, 0], [1, rows]),
            strided([5, 1], [5, 1]),
            strided([1, rows], [5, 1]),
        ] {
            check(&build(fft.clone()), &limits);
            check(&Problem { output: Format::Planar, ..build(fft.f64()) }, &limits);
        }
    }
}

#[test]
fn counts_at_each_run() {
    for fft in [Fft::new([12]).batch(40), Fft::new([5, 6]).batch(9).f64(), Fft::axes([7, 30], [0])] {
        let problem = build(fft.any_batch());
        assert!(problem.at_run().is_some());
        check(&problem, &Limits::h200());
    }
}

#[test]
fn reals_are_read_and_nothing_else() {
    let sectors = |bytes: u64| bytes / SECTOR_BYTES;
    // Stages in registers have no tables: every sector is of data.
    for (n, precision) in [(4, Precision::F32), (8, Precision::F32), (4, Precision::F64)] {
        let fft = Fft::new([n]).batch(1024).precision(precision);
        let report = check(&build(fft), &Limits::h200());
        let elements = n * 1024;
        assert_eq!(report.minimal_sectors_read, sectors(elements * precision.real_bytes()), "{n}");
        assert_eq!(report.minimal_sectors_written, sectors(elements * precision.complex_bytes()), "{n}");
    }
    // Of several passes, the first reads the reals, and there is none more than complex numbers take.
    for shape in [vec![4096], vec![64, 64], vec![16, 16, 16]] {
        let problem = build(Fft::new(shape.clone()));
        let explained = explain(&problem, &small()).expect("it is planned");
        let elements = 4096;
        let first = &explained.passes[0];
        assert_eq!((first.bytes_read, first.bytes_written), (4 * elements, 8 * elements), "{shape:?}");
        let complex = explain(&Fft::new(shape.clone()).build().expect("packed"), &small()).expect("planned");
        assert_eq!(explained.passes.len(), complex.passes.len(), "{shape:?}");
        assert_eq!(explained.workspace_bytes, complex.workspace_bytes, "{shape:?}");
    }
}

#[test]
fn two_passes_share_a_launch() {
    // Little fits a block, and little the cache.
    let limits = Limits {
        shared_bytes: 4096,
        max_threads: 128,
        max_cluster: 1,
        multiprocessors: 2,
        l2_bytes: 1 << 18,
        ..Limits::h200()
    };
    let mut shared = 0;
    for fft in [Fft::new([128, 64]).batch(7), Fft::new([4096]).batch(9)] {
        let problem = build(fft);
        for candidate in candidates(&problem, &limits, 12).expect("there are some") {
            let compiled = Compiled::by(&candidate.recipe, &problem, &limits).expect("it is offered");
            check_program(&problem, &compiled.program, &limits);
            shared += usize::from(!candidate.recipe.fused.is_empty());
        }
    }
    assert!(shared > 0, "none was offered");
}
