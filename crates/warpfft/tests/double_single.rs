//! Double-single arithmetic on every device: within the bound that problems state, whatever a driver's compiler makes of
//! the kernels, and `f64` for the caller.

mod cases;

use cases::packed;
use cases::real_layouts::{halved, halved_in_place, reals};
use warpfft::core::problem::{Dim, Precision, Problem, RealKind, Storage};
use warpfft::core::request::Fft;
use warpfft::core::target::Limits;
use warpfft::{Complex, Device, DeviceKind, Error, Which};

/// Some of a list for software drivers, which take long for a kernel, all of it for the others; another part each time.
fn some<T>(device: &Device, all: Vec<T>) -> Vec<T> {
    let share = match device.kind() {
        DeviceKind::Wgpu if !device.is_hardware() => 23,
        DeviceKind::OpenCl if !device.is_hardware() => 67,
        _ => 1,
    };
    let first = rand::random_range(0..share);
    all.into_iter().skip(first).step_by(share).collect()
}

fn paired(problem: Problem) -> Problem {
    Problem { precision: Precision::DoubleSingle, ..problem }
}

/// Every plan within its bound. Prints the nearest.
fn hold(device: &Device, problems: Vec<(String, Problem)>) {
    let mut nearest = (0.0, String::new());
    for (name, problem) in problems {
        let plan =
            device.plan(&paired(problem)).unwrap_or_else(|error| panic!("{device:?}: {name}: {error}"));
        let found = plan.verify().unwrap_or_else(|error| panic!("{device:?}: {name}: {error}"));
        assert!(found.holds(), "{device:?}: {name}: {found}");
        if found.error / found.bound > nearest.0 {
            nearest = (found.error / found.bound, format!("{name}: {found}"));
        }
    }
    println!("{device:?}, nearest to its bound: {nearest:.2?}");
}

/// What is always tried, on software drivers too.
fn few() -> Vec<(String, Problem)> {
    let mut all = Vec::new();
    let mut add = |name: &str, asked: Fft| {
        all.push((name.to_owned(), asked.batch(7).build().expect("packed arrays")));
    };
    add("64", Fft::new([64]));
    add("31, scaled", Fft::new([31]).scale(0.3).inverse());
    add("47, a convolution", Fft::new([47]));
    add("15 x 14", Fft::new([15, 14]));
    add("60 reals", Fft::new([60]).r2c());
    add("60 reals back", Fft::new([60]).c2r());
    add("a cosine transform of 25", Fft::new([25]).r2r([RealKind::Dct2]));
    // Two products by one root are added, of which a compiler may take the root out.
    add("cosine transforms of 8 x 8 x 8", Fft::new([8, 8, 8]).r2r([RealKind::Dct3]).orthogonal());
    // One value for all of a line, of which a compiler may know that it is one.
    let lines = Fft::guru(&[Dim::new(12, 0, 1)], &[Dim::new(4, 1, 12)]);
    all.push(("one value, turned".into(), lines.clone().r2r([RealKind::Dst4]).build().expect("lines")));
    all.push(("one value".into(), lines.build().expect("lines")));
    all
}

#[test]
fn kinds_lengths_and_layouts_stay_within_their_bounds() {
    for device in cases::devices() {
        hold(&device, few());
        let mut all: Vec<(String, Problem)> = (1..=64)
            .chain([81, 97, 121, 127, 169, 210, 243, 256, 257, 360, 499, 1000, 1019, 1024, 2048, 4099, 6561])
            .map(|n| (format!("complex {n}"), packed(&[n], (1000 / n).max(1))))
            .collect();
        if !matches!(device.kind(), DeviceKind::Wgpu | DeviceKind::OpenCl) {
            all.extend(
                [(16_384, 1), (20_000, 1), (10_007, 1)]
                    .map(|(n, batch)| (n.to_string(), packed(&[n], batch))),
            );
        }
        for n in [2, 5, 16, 37, 60, 100] {
            for kind in RealKind::ALL {
                all.push((
                    format!("{} {n}", kind.name()),
                    Fft::new([n]).r2r([kind]).batch(20).build().expect("lines"),
                ));
            }
        }
        let layouts =
            cases::cases(Precision::F32).into_iter().chain(halved()).chain(halved_in_place()).chain(reals());
        all.extend(layouts.filter(|(_, problem)| problem.points() <= 4096));
        hold(&device, some(&device, all));
    }
}

#[test]
fn callers_see_doubles() {
    for device in cases::devices() {
        let plan = device.plan(&paired(packed(&[8], 2))).expect("every device has it");
        let input: Vec<Complex<f64>> = (0..16).map(|i| Complex::new(0.1 * f64::from(i), -0.7)).collect();
        // What lies behind is nobody's.
        let mut output = vec![Complex::new(0.1, f64::MAX); 19];
        plan.run_host(&input, &mut output).expect("it runs");
        let sum: Complex<f64> = input[..8].iter().sum();
        assert!((output[0] - sum).norm() < 1e-13, "{device:?}: {output:?}");
        assert_ne!(output[0].re, f64::from(output[0].re as f32));
        assert_eq!(output[16..], [Complex::new(0.1, f64::MAX); 3]);
        let mut single = vec![Complex::new(0.0_f32, 0.0); 16];
        let error = plan.run_in_place(&mut single).expect_err("it is out of place");
        assert!(matches!(error, Error::WrongPlacement { .. }));
        let error = plan.run_host(&single.clone(), &mut single).expect_err("it takes doubles");
        assert!(matches!(
            error,
            Error::WrongStorage { which: Which::Input, expected: Storage::F64, got: Storage::F32 }
        ));
    }
}

#[test]
fn what_lies_between_keeps_all_its_bits() {
    for device in cases::devices() {
        let problem = paired(Problem {
            transform: vec![Dim::new(12, 3, 3)],
            batch: vec![Dim::new(2, 40, 40)],
            ..packed(&[12], 2)
        });
        let plan = device.plan(&problem).expect("every device has it");
        let len = plan.output_elements() as usize;
        // More bits than pairs hold, and more than they reach.
        let between = Complex::new(1.0 + f64::EPSILON, 1e300);
        let mut output = vec![between; len];
        // Nor does it matter what nobody reads.
        let mut input = vec![Complex::new(f64::MAX, 0.0); plan.input_elements() as usize];
        for line in 0..2 {
            (0..12).for_each(|i| input[40 * line + 3 * i] = Complex::new(0.1, 0.2));
        }
        plan.run_host(&input, &mut output).expect("it runs");
        for (at, z) in output.iter().enumerate() {
            let own = at % 40 % 3 == 0 && at % 40 < 36;
            assert_eq!(*z == between, !own, "{device:?}: element {at}: {z}");
        }
    }
}

#[test]
fn what_pairs_cannot_hold_is_refused_or_stays_infinite() {
    for device in cases::devices().into_iter().filter(|device| device.kind() != DeviceKind::Cpu) {
        let plan = device.plan(&paired(packed(&[4], 2))).expect("every device has it");
        let mut input = vec![Complex::new(1.0, 1.0); 8];
        input[5].im = -1e39;
        let mut output = vec![Complex::default(); 8];
        let error = plan.run_host(&input, &mut output).expect_err("singles end before");
        assert_eq!(error, Error::Range { which: Which::Input, plane: 0, element: 5, value: -1e39 });
        assert!(error.to_string().contains("-1e39 in element 5"), "{error}");
        input[5].im = f64::INFINITY;
        plan.run_host(&input, &mut output).expect("infinities are what they are");
        assert!(output[..4].iter().all(|z| z.re.is_finite() && z.im.is_finite()), "{output:?}");
        assert!(output[4..].iter().all(|z| !z.is_finite()), "{output:?}");
    }
}

#[test]
fn devices_without_doubles_name_it() {
    let device = Device::sim(Limits::webgpu_min());
    let problem = Problem { precision: Precision::F64, ..packed(&[8], 1) };
    let error = device.plan(&problem).expect_err("browsers have no doubles").to_string();
    assert!(error.contains("double-single"), "{error}");
    assert!(device.plan(&paired(packed(&[8], 1))).is_ok());
}
