//! What holds on every device: one list of cases, run on all devices of this machine.

mod cases;

use warpfft::core::problem::{Format, Placement, Precision, Storage};
use warpfft::{Complex, Error, Which};

fn tolerance(precision: Precision) -> f64 {
    match precision {
        Precision::F32 => 5e-7,
        Precision::F64 => 1e-15,
        Precision::DoubleSingle => 3e-14,
    }
}

#[test]
fn every_case_on_every_device() {
    let mut wrong = Vec::new();
    for device in cases::devices() {
        for precision in [Precision::F32, Precision::F64] {
            for (name, problem) in cases::cases(precision) {
                let error = match precision {
                    Precision::F32 => cases::run(&device, &problem, |x| x as f32),
                    Precision::F64 | Precision::DoubleSingle => cases::run(&device, &problem, |x| x),
                };
                match error {
                    Ok(error) if error <= tolerance(precision) => {}
                    Err(Error::Unsupported { what, .. }) if precision == Precision::F64 => {
                        println!("{device:?}: {name} skipped: no {what}");
                    }
                    Ok(error) => wrong.push(format!("{device:?}: {name}: error {error:e}")),
                    Err(error) => wrong.push(format!("{device:?}: {name}: {error}")),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn short_buffers_are_refused_and_kept() {
    for device in cases::devices() {
        let plan = device.plan(&cases::packed(&[16], 2)).expect("every device does 16 points");
        let whole = vec![Complex::new(1.0_f32, 2.0); 32];
        let mut short = vec![Complex::new(7.0_f32, 7.0); 31];
        let error = plan.run_host(&whole, &mut short).expect_err("the output is too short");
        let Error::BufferTooSmall { which, needed, got, .. } = error else { panic!("{error}") };
        assert_eq!((which, needed, got), (Which::Output, 32, 31));
        assert!(short.iter().all(|&x| x == Complex::new(7.0, 7.0)), "a refused call wrote");
        let mut output = whole.clone();
        let error = plan.run_host(&short, &mut output).expect_err("the input is too short");
        assert!(
            matches!(error, Error::BufferTooSmall { which: Which::Input, needed: 32, got: 31, .. }),
            "{error}"
        );
    }
}

#[test]
fn data_of_the_wrong_sort_is_refused() {
    for device in cases::devices() {
        let problem = cases::packed(&[8], 1);
        let plan = device.plan(&problem).expect("every device does 8 points");
        let wide = [Complex::new(0.0_f64, 0.0); 8];
        let error = plan.run_host(&wide, &mut wide.clone()).expect_err("f64 data for f32");
        assert!(matches!(error, Error::WrongStorage { expected: Storage::F32, got: Storage::F64, .. }));
        let (mut re, mut im) = ([0.0_f32; 8], [0.0_f32; 8]);
        let data = [Complex::new(0.0_f32, 0.0); 8];
        let error = plan.run_host(&data, (&mut re[..], &mut im[..])).expect_err("planar output");
        assert!(matches!(error, Error::WrongFormat { which: Which::Output, got: Format::Planar, .. }));
        let error = plan.run_in_place(&mut data.clone()).expect_err("in place on an out-of-place plan");
        assert!(matches!(error, Error::WrongPlacement { expected: Placement::OutOfPlace }));
    }
}

#[test]
fn one_plan_serves_many_threads() {
    for device in cases::devices() {
        let problem = cases::packed(&[32], 4);
        let plan = device.plan(&problem).expect("every device does 32 points");
        let inputs: Vec<Vec<Complex<f32>>> =
            (0..4).map(|t| (0..128).map(|i| Complex::new((i * t) as f32, t as f32)).collect()).collect();
        let run = |input: &Vec<Complex<f32>>| {
            let mut output = vec![Complex::default(); 128];
            plan.run_host(input, &mut output).expect("a plan runs");
            output
        };
        let alone: Vec<_> = inputs.iter().map(run).collect();
        let together: Vec<_> = std::thread::scope(|scope| {
            let started: Vec<_> = inputs.iter().map(|input| scope.spawn(move || run(input))).collect();
            started.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
        });
        assert_eq!(alone, together, "{device:?}");
    }
}
