//! Every strategy at the lengths that it claims, on the simulator against the reference; what it does not claim is
//! refused by name; and each has text in every language.

mod common;

use common::limits::small;
use common::{C64, error, run};
use num_complex::Complex;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use warpfft_core::error::Error;
use warpfft_core::kernel::Type;
use warpfft_core::math::reference::Reference;
use warpfft_core::problem::{Placement, Precision, Problem, Storage};
use warpfft_core::program::Program;
use warpfft_core::request::{Fft, Norm};
use warpfft_core::strategy::Strategy;
use warpfft_core::target::Limits;
use warpfft_core::{compile, emit};

/// Runs a program on fresh data, and compares its error with what the strategy's may be.
fn holds(program: &Program, strategy: Strategy, limits: &Limits, what: &str) {
    let problem = &program.problem;
    let seed: u64 = rand::rng().random();
    let mut rng = StdRng::seed_from_u64(seed);
    let storage = Storage::of(problem.precision);
    let mut real = || storage.rounded(rng.random_range(-1.0..1.0));
    let input: Vec<C64> = (0..problem.input_span().end).map(|_| Complex::new(real(), real())).collect();
    let run = run(program, limits, &input, &input);
    let (got, _) = run.unwrap_or_else(|fault| panic!("{what}, seed {seed}: {fault}"));
    let reference = Reference::new(problem);
    let mut want = vec![C64::default(); got.len()];
    for index in 0..problem.batch_count() {
        for (at, value) in reference.transform(index, |at| input[at as usize]) {
            want[at as usize] = value;
        }
    }
    let ratio = error(&got, &want) / problem.error_bound_by(&strategy.growth(problem));
    assert!(ratio < 1.0, "{what}, seed {seed}: error {ratio:.2} times the bound");
}

/// Compiles and runs, where the strategy covers it and the device holds it.
fn check(strategy: Strategy, problem: &Problem, limits: &Limits) -> bool {
    let shape: Vec<u64> = problem.transform.iter().map(|dim| dim.n).collect();
    let what = format!("{strategy} {shape:?} x {} {}", problem.batch_count(), problem.precision);
    match strategy.compile(problem, limits) {
        Ok(program) => {
            holds(&program, strategy, limits, &what);
            true
        }
        Err(Error::Strategy { name, asked, covers }) => {
            assert_eq!((name, covers), (strategy.name(), strategy.covers()));
            assert!(!asked.is_empty());
            false
        }
        Err(Error::DeviceTooSmall { .. }) => false,
        Err(error) => panic!("{what}: {error}"),
    }
}

fn powers(range: std::ops::RangeInclusive<u32>) -> Vec<Vec<u64>> {
    range.map(|bits| vec![1 << bits]).collect()
}

/// Shapes that one strategy or another covers, and some that none does.
fn shapes() -> Vec<Vec<u64>> {
    let odd = [3, 5, 6, 7, 9, 12, 15, 17, 20, 24, 30, 31, 37, 60, 100, 127].map(|n| vec![n]);
    let more: [&[u64]; 14] = [
        &[2, 2],
        &[4, 8],
        &[16, 4],
        &[32, 32],
        &[64, 128],
        &[3, 5],
        &[12, 10],
        &[4, 4, 4],
        &[8, 8, 8],
        &[16, 16, 16],
        &[2, 4, 8],
        &[3, 4, 5],
        &[6, 6, 6],
        &[2, 2, 2, 2],
    ];
    [powers(1..=12), odd.to_vec(), more.map(<[u64]>::to_vec).to_vec()].concat()
}

/// Checks all strategies at some shapes; each must cover one at least.
fn check_all(shapes: &[Vec<u64>], limits: &Limits, ask: impl Fn(Fft, u64) -> Fft) {
    for strategy in Strategy::all() {
        let mut covered = 0;
        for shape in shapes {
            let points: u64 = shape.iter().product();
            let problem = ask(Fft::new(shape.clone()), points).build().expect("it is possible");
            covered += u32::from(check(strategy, &problem, limits));
        }
        println!("{strategy}: {covered} of {}", shapes.len());
        assert!(covered > 0, "{strategy} covers nothing");
    }
}

#[test]
fn forward_in_single_precision() {
    check_all(&shapes(), &Limits::h200(), |fft, points| fft.batch(if points < 200 { 7 } else { 2 }));
}

#[test]
fn in_place_and_backwards_in_double_precision() {
    check_all(&shapes(), &Limits::h200(), |fft, points| {
        fft.batch(if points < 100 { 5 } else { 1 }).f64().inverse().in_place().norm(Norm::Backward)
    });
}

/// A device whose blocks hold little, so that short lengths take several launches.
#[test]
fn on_a_small_device() {
    let shapes = [powers(1..=11), vec![vec![6], vec![8, 8], vec![4, 4, 4]]].concat();
    check_all(&shapes, &small(), |fft, _| fft.batch(3).norm(Norm::Ortho));
    check_all(&shapes, &small(), |fft, _| fft.in_place().inverse());
}

#[test]
fn others_are_refused_by_name() {
    let problem = |fft: Fft| fft.build().expect("it is possible");
    let refused = [
        problem(Fft::new([1])),
        problem(Fft::new([16]).r2c()),
        problem(Fft::new([16]).planar()),
        problem(Fft::new([16]).double_single()),
        problem(Fft::new([16]).f16()),
        problem(Fft::new([16]).batch(4).any_batch()),
        problem(Fft::new([16]).shift_output()),
        problem(Fft::axes([16, 4], [0])),
        problem(Fft::new([16]).on_load(|x, _| x * 2.0)),
        Problem { input_offset: 3, ..problem(Fft::new([16])) },
    ];
    for strategy in Strategy::all() {
        for problem in &refused {
            let error = strategy.compile(problem, &Limits::h200()).expect_err("it is not covered");
            assert!(matches!(error, Error::Strategy { .. }), "{strategy}: {error}");
            assert!(error.to_string().contains(strategy.covers()), "{error}");
        }
        let wide = problem(Fft::new([16]).f64());
        let error = strategy.compile(&wide, &Limits::webgpu_min()).expect_err("it has no doubles");
        let known = matches!(error, Error::Unsupported { .. } | Error::Strategy { .. });
        assert!(known, "{strategy}: {error}");
    }
    let error = Strategy::named("fft5").expect_err("there is none");
    assert!(error.to_string().contains("stockham-2"), "{error}");
}

/// Lengths up to what 63 bits count: an error or a program, and no more.
#[test]
fn the_largest_are_refused_or_written() {
    for strategy in Strategy::all() {
        for (bits, batch) in [(20, 1), (31, 1), (33, 1), (58, 1), (10, 1 << 24), (4, 1 << 28), (3, 1 << 50)] {
            for limits in [Limits::h200(), Limits::webgpu_min()] {
                // Its tables would take the test's time.
                if bits > 20 && bits < 32 && limits.index64 {
                    continue;
                }
                let asked = Fft::new([1_u64 << bits]).batch(batch).build().expect("it is possible");
                let result = strategy.compile(&asked, &limits);
                let known =
                    matches!(result, Ok(_) | Err(Error::DeviceTooSmall { .. } | Error::Strategy { .. }));
                assert!(known, "{strategy} 2^{bits}: {:?}", result.err());
            }
        }
    }
}

/// Elements beyond what 32 bits count the reals of: addresses go on in 64.
#[test]
fn long_arrays_have_wide_addresses() {
    let problem = Fft::new([16]).batch(3 << 26).build().expect("it is possible");
    for strategy in Strategy::all() {
        match strategy.compile(&problem, &Limits::h200()) {
            Ok(program) => {
                for kernel in &program.kernels {
                    let wide = kernel.types.contains(&Type::U64);
                    assert!(wide || kernel.name == "bit_reverse", "{strategy}, {}", kernel.name);
                }
            }
            Err(error) => {
                let known = matches!(error, Error::Strategy { .. } | Error::DeviceTooSmall { .. });
                assert!(known, "{strategy}: {error}");
            }
        }
    }
}

#[test]
fn a_cap_on_the_workspace_is_kept() {
    let asked = |cap: u64| Fft::new([64]).max_workspace(cap).build().expect("it is possible");
    let stockham = Strategy::named("stockham-2").expect("it is there");
    let error = stockham.compile(&asked(511), &Limits::h200()).expect_err("it is too little");
    assert_eq!(error, Error::Workspace { needed: 512, allowed: 511 });
    assert!(stockham.compile(&asked(512), &Limits::h200()).is_ok());
}

#[test]
fn names_are_told_apart_and_all_is_said() {
    let all: Vec<Strategy> = Strategy::all().collect();
    for (i, strategy) in all.iter().enumerate() {
        assert_eq!(Strategy::named(strategy.name()), Ok(*strategy));
        assert!(all[..i].iter().all(|other| other != strategy), "{strategy} is there twice");
        for text in [strategy.source(), strategy.about(), strategy.covers()] {
            assert!(text.len() > 10, "{strategy}: {text}");
        }
    }
}

#[test]
fn each_has_text_in_every_language() {
    use naga::valid::{Capabilities, ValidationFlags, Validator};
    let shapes: [&[u64]; 4] = [&[12], &[8], &[1024], &[8, 8, 8]];
    for strategy in Strategy::all() {
        let mut texts = 0;
        for shape in shapes {
            let problem = Fft::new(shape.to_vec()).batch(3).build().expect("it is possible");
            for limits in [Limits::h200(), Limits::webgpu_min(), Limits::opencl_min()] {
                let Ok(program) = strategy.compile(&problem, &limits) else { continue };
                for kernel in &program.kernels {
                    texts += 1;
                    let what = format!("{strategy}, {}", kernel.name);
                    match limits.name.as_str() {
                        "h200" => assert!(emit::ptx(kernel, 75).is_ok(), "{what}"),
                        "opencl-min" => assert!(emit::opencl(kernel).is_ok(), "{what}"),
                        _ => {
                            let text = emit::wgsl(kernel, true).unwrap_or_else(|e| panic!("{what}: {e}"));
                            let module = naga::front::wgsl::parse_str(&text)
                                .unwrap_or_else(|e| panic!("{what}: {}\n{text}", e.emit_to_string(&text)));
                            Validator::new(ValidationFlags::all(), Capabilities::all())
                                .validate(&module)
                                .unwrap_or_else(|e| panic!("{what}: {}\n{text}", e.emit_to_string(&text)));
                        }
                    }
                }
            }
        }
        assert!(texts >= 3, "{strategy} has few kernels");
    }
}

/// Where the planner would do, strategies do the same: the same problem, another way.
#[test]
fn a_strategy_solves_the_planners_problem() {
    let problem = Fft::new([256]).batch(4).build().expect("it is possible");
    let limits = Limits::h200();
    let planned = compile(&problem, &limits).expect("there is a plan");
    let stockham = Strategy::named("stockham-2").and_then(|own| own.compile(&problem, &limits));
    let stockham = stockham.expect("it covers that");
    assert_eq!(planned.problem, stockham.problem);
    assert_eq!((planned.launches.len(), stockham.launches.len()), (1, 8));
    assert_eq!(problem.precision, Precision::F32);
    assert_eq!(problem.placement, Placement::OutOfPlace);
}
