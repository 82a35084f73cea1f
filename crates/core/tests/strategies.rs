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
use warpfft_core::problem::{Direction, Format, Placement, Precision, Problem, RealKind, Storage};
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
    let [storage, _] = problem.stored();
    let mut real = || storage.rounded(rng.random_range(-1.0..1.0));
    let in_place = problem.placement == Placement::InPlace;
    let [read, written] = [problem.input, problem.output].map(|format| format.step() as usize);
    // In place, reals and half spectra share an array, which goes in as what it comes out as.
    let after = problem.output_span().end as usize;
    let reals = (problem.input_span().end as usize * read).max(if in_place { after * written } else { 0 });
    let data: Vec<f64> = (0..reals).map(|_| real()).collect();
    let seen = |step: usize| -> Vec<C64> {
        if step == 1 {
            data.iter().copied().map(C64::from).collect()
        } else {
            data.chunks_exact(2).map(|z| Complex::new(z[0], z[1])).collect()
        }
    };
    let input = seen(read);
    let before = if in_place { seen(written) } else { vec![C64::default(); after] };
    let run = run(program, limits, &input, &before);
    let (got, _) = run.unwrap_or_else(|fault| panic!("{what}, seed {seed}: {fault}"));
    let reference = Reference::new(problem);
    let (mut own, mut want) = (Vec::new(), Vec::new());
    for index in 0..problem.batch_count() {
        for (at, value) in reference.transform(index, |at| input[at as usize]) {
            own.push(got[at as usize]);
            want.push(value);
        }
    }
    let got = own;
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
    let more: [&[u64]; 17] = [
        &[2, 2],
        &[4, 8],
        &[16, 4],
        &[32, 32],
        &[64, 128],
        &[512, 2],
        &[256, 4],
        &[64, 32, 2],
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

/// Those that have kernels.
fn with_kernels() -> impl Iterator<Item = Strategy> {
    Strategy::all().filter(|strategy| !strategy.is_on_processor())
}

/// A transform of complex numbers, or those of reals there and back, whichever the strategy takes. The last have either sign.
fn of_its_data(strategy: Strategy, asked: Fft) -> Vec<Fft> {
    if strategy.takes_reals() {
        let [there, back] = [asked.clone().r2c(), asked.c2r()];
        vec![
            there.clone(),
            back.clone(),
            there.direction(Direction::Inverse),
            back.direction(Direction::Forward),
        ]
    } else {
        vec![asked]
    }
}

/// Checks all strategies at some shapes; each must cover one at least.
fn check_all(shapes: &[Vec<u64>], limits: &Limits, ask: impl Fn(Fft, u64) -> Fft) {
    for strategy in with_kernels() {
        let mut covered = 0;
        for shape in shapes {
            let points: u64 = shape.iter().product();
            let asked = ask(Fft::new(shape.clone()), points);
            for asked in of_its_data(strategy, asked) {
                let problem = asked.build().expect("it is possible");
                covered += u32::from(check(strategy, &problem, limits));
            }
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
        problem(Fft::new([16]).r2c()),
        problem(Fft::new([16]).c2r()),
        problem(Fft::new([1])),
        problem(Fft::new([16]).planar()),
        problem(Fft::new([16]).double_single()),
        problem(Fft::new([16]).batch(4).any_batch()),
        problem(Fft::new([16]).shift_output()),
        problem(Fft::axes([16, 4], [0])),
        problem(Fft::new([16]).on_load(|x, _| x * 2.0)),
        Problem { input_offset: 3, ..problem(Fft::new([16])) },
    ];
    let of_reals = [
        problem(Fft::new([16]).batch(3)),
        problem(Fft::new([1]).r2c()),
        problem(Fft::new([12]).r2c()),
        problem(Fft::new([12]).c2r()),
        problem(Fft::new([16]).r2c().formats(Format::Real, Format::Planar)),
        problem(Fft::new([16]).r2r([RealKind::Dct2])),
        problem(Fft::axes([16, 4], [0]).r2c()),
        Problem { input_offset: 2, ..problem(Fft::new([16]).c2r()) },
    ];
    for strategy in Strategy::all() {
        let refused = if strategy.takes_reals() { &of_reals[..] } else { &refused[..] };
        for problem in refused {
            let error = strategy.compile(problem, &Limits::h200()).expect_err("it is not covered");
            assert!(matches!(error, Error::Strategy { .. }), "{strategy}: {error}");
            assert!(error.to_string().contains(strategy.covers()), "{error}");
        }
        let wide = Fft::new([16]).f64();
        let wide = problem(if strategy.takes_reals() { wide.r2c() } else { wide });
        let error = strategy.compile(&wide, &Limits::webgpu_min()).expect_err("it has no doubles");
        let known = if strategy.is_on_processor() {
            matches!(error, Error::StrategyOnProcessor { .. })
        } else {
            matches!(error, Error::Unsupported { .. } | Error::Strategy { .. })
        };
        assert!(known, "{strategy}: {error}");
    }
    let error = Strategy::named("fft5").expect_err("there is none");
    assert!(error.to_string().contains("stockham-2"), "{error}");
}

/// Lengths up to what 63 bits count: an error or a program, and no more.
#[test]
fn the_largest_are_refused_or_written() {
    for strategy in with_kernels() {
        for (bits, batch) in [(20, 1), (31, 1), (33, 1), (58, 1), (10, 1 << 24), (4, 1 << 28), (3, 1 << 50)] {
            for limits in [Limits::h200(), Limits::webgpu_min()] {
                // Its tables would take the test's time.
                if bits > 20 && bits < 32 && limits.index64 {
                    continue;
                }
                for asked in of_its_data(strategy, Fft::new([1_u64 << bits]).batch(batch)) {
                    let result = strategy.compile(&asked.build().expect("it is possible"), &limits);
                    let refused = matches!(
                        result,
                        Err(Error::DeviceTooSmall { .. }
                            | Error::Strategy { .. }
                            | Error::Unsupported { .. })
                    );
                    let known = refused || result.is_ok();
                    assert!(known, "{strategy} 2^{bits}: {:?}", result.err());
                }
            }
        }
    }
}

/// Elements beyond what 32 bits count the reals of: addresses go on in 64.
#[test]
fn long_arrays_have_wide_addresses() {
    for strategy in with_kernels() {
        let asked = Fft::new([16]);
        let asked = if strategy.takes_reals() { asked.batch(3 << 27).r2c() } else { asked.batch(3 << 26) };
        let problem = asked.build().expect("it is possible");
        match strategy.compile(&problem, &Limits::h200()) {
            Ok(program) => {
                for kernel in &program.kernels {
                    let wide = kernel.types.contains(&Type::U64);
                    assert!(wide, "{strategy}, {}", kernel.name);
                }
            }
            Err(error) => {
                let known = matches!(error, Error::Strategy { .. } | Error::DeviceTooSmall { .. });
                assert!(known, "{strategy}: {error}");
            }
        }
    }
}

/// What has no kernels is a function of a line, right at every length, and says where it runs.
#[test]
fn programs_of_the_processor_transform_lines() {
    let on_processor: Vec<Strategy> = Strategy::all().filter(Strategy::is_on_processor).collect();
    assert!(!on_processor.is_empty());
    for strategy in on_processor {
        for bits in 1..=12 {
            for asked in [Fft::new([1_u64 << bits]), Fft::new([1_u64 << bits]).inverse()] {
                let problem = asked.f64().build().expect("it is possible");
                let line = strategy.line(&problem).expect("it is covered").expect("it has no kernels");
                let mut rng = StdRng::seed_from_u64(bits);
                let input: Vec<C64> = (0..1 << bits)
                    .map(|_| Complex::new(rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0)))
                    .collect();
                let mut got = input.clone();
                line.transform(&mut got, problem.direction);
                let reference = Reference::new(&problem).transform(0, |at| input[at as usize]);
                let want: Vec<C64> = reference.into_iter().map(|(_, value)| value).collect();
                let ratio = error(&got, &want) / problem.error_bound_by(&strategy.growth(&problem));
                assert!(ratio < 1.0, "{strategy} 2^{bits}: {ratio:.2} times the bound");
                let refused = strategy.compile(&problem, &Limits::h200()).expect_err("it has no kernels");
                assert_eq!(refused, Error::StrategyOnProcessor { name: strategy.name() });
                assert!(refused.to_string().contains("'cpu'"), "{refused}");
            }
        }
        let long = Fft::new([1000]).build().expect("it is possible");
        assert!(matches!(strategy.line(&long), Err(Error::Strategy { .. })));
    }
    let problem = Fft::new([8]).build().expect("it is possible");
    assert!(with_kernels().all(|strategy| matches!(strategy.line(&problem), Ok(None))));
}

/// Those whose numbers lie nowhere between input and output convert them on the way.
#[test]
fn numbers_are_kept_as_other_types() {
    let limits = Limits::h200();
    for name in ["looped", "matmul", "matmul-constant", "mixed-radix-matmul"] {
        let strategy = Strategy::named(name).expect("it is there");
        for n in [8, 12, 61, 100] {
            let one = Fft::new([n]).batch(7);
            for asked in [
                one.clone().f16(),
                one.clone().bf16().inverse().in_place(),
                one.clone().storages(Storage::F16, Storage::F32),
                one.clone().f64().storages(Storage::F32, Storage::F64),
            ] {
                let problem = asked.norm(Norm::Ortho).build().expect("it is possible");
                assert!(check(strategy, &problem, &limits), "{name} {n}");
            }
        }
    }
    for name in ["stockham-2", "locality", "matmul-tensor"] {
        let asked = Fft::new([64]).batch(3).storages(Storage::F16, Storage::F32);
        let error = Strategy::named(name)
            .and_then(|strategy| strategy.compile(&asked.build().expect("it is possible"), &limits))
            .expect_err("it keeps what it computes");
        assert!(error.to_string().contains("numbers kept as f16 and f32"), "{error}");
    }
}

/// Parameters change how, and not what.
#[test]
fn parameters_keep_the_transform() {
    let given = ["elements=1", "elements=3", "elements=16", "planes=1", "planes=2", "planes=3", "planes=128"];
    let both = ["elements=2,planes=2", "elements=16,planes=3"];
    let shapes: [&[u64]; 8] = [&[8], &[31], &[128], &[5, 7], &[16, 16], &[8, 8, 8], &[3, 4, 5], &[9, 2, 6]];
    for strategy in with_kernels().filter(|strategy| !strategy.parameters().is_empty()) {
        for given in given.into_iter().chain(both) {
            let strategy = Strategy::named(&format!("{strategy}:{given}")).expect("it is right");
            let mut covered = 0;
            for shape in shapes {
                for batch in [1, 5] {
                    let problem = Fft::new(shape.to_vec()).batch(batch).build().expect("it is possible");
                    covered += u32::from(check(strategy, &problem, &Limits::h200()));
                }
            }
            println!("{strategy}: {covered} of {}", 2 * shapes.len());
            assert!(covered >= 14, "{strategy} covers {covered}");
        }
    }
}

#[test]
fn matrix_instructions_are_asked_for_where_they_are() {
    let tensor = Strategy::named("matmul-tensor").expect("it is there");
    for asked in [Fft::new([64]), Fft::new([64]).f64()] {
        let problem = asked.batch(100).build().expect("it is possible");
        for limits in [Limits::webgpu_min(), Limits::opencl_min()] {
            let error = tensor.compile(&problem, &Limits { f64: true, ..limits }).expect_err("it has none");
            assert!(matches!(error, Error::Unsupported { .. }), "{error}");
            assert!(error.to_string().contains("matmul"), "{error}");
        }
    }
    for n in (8..=128).step_by(8) {
        let one = Fft::new([n]);
        for asked in [
            one.clone().batch(17),
            one.clone().batch(9).f64().inverse().in_place(),
            one.clone().batch(70).f16(),
            one.clone().batch(64).f16().inverse().in_place(),
            one.clone().batch(65).bf16().inverse(),
            one.batch(3).bf16().in_place(),
        ] {
            let problem = asked.norm(Norm::Ortho).build().expect("it is possible");
            assert!(check(tensor, &problem, &Limits::h200()), "{n}");
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
    let shapes: [&[u64]; 6] = [&[12], &[8], &[16], &[64], &[1024], &[8, 8, 8]];
    for strategy in with_kernels() {
        let mut texts = 0;
        for shape in shapes {
            let asked = Fft::new(shape.to_vec()).batch(3);
            let asked = if strategy.takes_reals() { asked.r2c() } else { asked };
            let problem = asked.build().expect("it is possible");
            for limits in [Limits::h200(), Limits::webgpu_min(), Limits::opencl_min()] {
                let Ok(program) = strategy.compile(&problem, &limits) else { continue };
                for kernel in &program.kernels {
                    texts += 1;
                    let what = format!("{strategy}, {}", kernel.name);
                    match limits.name.as_str() {
                        "h200" => {
                            // Matrix instructions of these shapes came later than all else.
                            let sm = if strategy.name() == "matmul-tensor" { 80 } else { 75 };
                            assert!(emit::ptx(kernel, sm).is_ok(), "{what}");
                        }
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
