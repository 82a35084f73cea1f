//! Frequencies of a band on every device, beside sums in double-double precision.

mod cases;

use cases::devices;
use num_complex::Complex;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use warpfft::core::Error as CoreError;
use warpfft::core::function::Value;
use warpfft::core::math::reference::reference;
use warpfft::core::problem::{Dim, Direction, Format, Kind, Precision, Problem};
use warpfft::core::request::Fft;
use warpfft::core::target::Limits;
use warpfft::{Device, DeviceKind, Error, Planes, PlanesMut, Real};

/// Elements behind the span, which no call may touch.
const BEYOND: usize = 5;
const CANARY: f64 = 777.0;

/// Runs a problem on random data: the relative error, for random descriptors as for others.
fn error_of<T: Real + Into<f64>>(
    device: &Device,
    problem: &Problem,
    narrow: fn(f64) -> T,
) -> Result<f64, Error> {
    let plan = device.plan(problem)?;
    let mut random = StdRng::seed_from_u64(plan.input_elements());
    let mut plane = |elements: u64| -> Vec<T> {
        (0..elements as usize + BEYOND)
            .map(|_| narrow(f64::from(random.random_range(-1.0_f32..1.0))))
            .collect()
    };
    let real = problem.input == Format::Real;
    let input = [plane(plan.input_elements()), plane(if real { 0 } else { plan.input_elements() })];
    let blank = || vec![narrow(CANARY); plan.output_elements() as usize + BEYOND];
    let mut output = [blank(), blank()];
    let pairs = |[re, im]: &[Vec<T>; 2]| -> Vec<Complex<T>> {
        re.iter().zip(im).map(|(&re, &im)| Complex::new(re, im)).collect()
    };
    let from = pairs(&input);
    let mut to = pairs(&output);
    {
        let source = match problem.input {
            Format::Real => Planes::Real(&input[0]),
            Format::Planar => Planes::Planar(&input[0], &input[1]),
            _ => Planes::Interleaved(&from),
        };
        if problem.output == Format::Planar {
            let [re, im] = &mut output;
            plan.run_host(source, PlanesMut::Planar(re, im))?;
            to = pairs(&output);
        } else {
            plan.run_host(source, &mut to)?;
        }
    }
    let value = |element: u64| {
        let part = |plane: usize| input[plane].get(element as usize).map_or(0.0, |&x| x.into());
        Complex::new(part(0), if real { 0.0 } else { part(1) })
    };
    let (mut wrong, mut size, mut ours) = (0.0, 0.0, vec![false; to.len()]);
    for (at, wanted) in reference(problem, value) {
        let got = to[at as usize];
        wrong += (Complex::new(got.re.into(), got.im.into()) - wanted).norm_sqr();
        size += wanted.norm_sqr();
        ours[at as usize] = true;
    }
    for (at, _) in ours.iter().enumerate().filter(|(_, ours)| !**ours) {
        let kept: [f64; 2] = [to[at].re.into(), to[at].im.into()];
        assert_eq!(kept, [CANARY; 2], "element {at} is not the problem's to write: {problem:?}");
    }
    Ok((wrong / size).sqrt())
}

fn hold(device: &Device, problem: &Problem) {
    for precision in [Precision::F32, Precision::F64] {
        let problem = &Problem { precision, ..problem.clone() };
        let error = match precision {
            Precision::F32 => error_of(device, problem, |x| x as f32),
            Precision::F64 | Precision::DoubleSingle => error_of(device, problem, |x| x),
        };
        match error {
            Ok(error) => {
                let bound = device.plan(problem).expect("it was planned").error_bound();
                println!("{device:?}: {:?} {precision:?}: {:.2} of the bound", problem.kind, error / bound);
                assert!(error < bound, "{device:?}: error {error:e}, bound {bound:e}: {problem:?}");
            }
            Err(Error::Unsupported { what, .. } | Error::Core(CoreError::Unsupported { what, .. })) => {
                println!("{device:?} skipped: {what}");
            }
            Err(error) => panic!("{device:?}: {problem:?}: {error}"),
        }
    }
}

/// Some of many for devices that a processor stands in for.
fn hold_some(device: &Device, all: &[Fft]) {
    let share = match device.kind() {
        DeviceKind::Sim => 3,
        DeviceKind::Wgpu if !device.is_hardware() => 7,
        DeviceKind::OpenCl if !device.is_hardware() => 23,
        _ => 1,
    };
    let first = rand::random_range(0..share);
    for asked in all.iter().skip(first).step_by(share) {
        hold(device, &asked.clone().build().expect("it can be"));
    }
}

#[test]
fn bands_of_every_width() {
    let mut all = Vec::new();
    for (n, points) in
        [(1, 1), (1, 9), (7, 1), (5, 8), (64, 64), (100, 7), (13, 200), (1000, 300), (333, 1000)]
    {
        for (from, to) in [(0.0, 0.5), (0.2, 0.21), (-0.3, 0.4), (0.45, 0.05), (17.125, 19.7), (0.25, 0.25)] {
            let asked = Fft::new([n]).zoom(from, to, points).batch(5);
            all.extend([asked.clone(), asked.endpoint().of_reals().inverse().scale(0.5)]);
        }
        all.push(Fft::new([n]).czt(-0.1, std::f64::consts::FRAC_1_PI / 100.0, points).batch(3));
    }
    for device in devices() {
        hold_some(&device, &all);
    }
}

#[test]
fn lines_that_take_several_passes() {
    let all = [
        Fft::new([12_000]).zoom(0.1, 0.3, 9000).batch(2),
        Fft::new([30_000]).zoom(0.1, 0.101, 500),
        Fft::new([500]).zoom(-0.5, 0.5, 30_000).of_reals(),
    ];
    let small = Device::sim(Limits::webgpu_min());
    for device in devices().into_iter().chain([small]) {
        for asked in &all {
            hold(&device, &asked.clone().build().expect("it can be"));
        }
    }
}

#[test]
fn strides_formats_and_batches() {
    let all = [
        Fft::axes([40, 11], [0]).zoom(0.1, 0.4, 25),
        Fft::axes([3, 20, 6], [1]).zoom(0.0, 0.1, 50).of_reals(),
        Fft::guru(&[Dim::new(30, -2, 3)], &[Dim::new(4, 70, 100)]).offsets(60, 7).zoom(0.0, 0.3, 33),
        Fft::new([60]).planar().zoom(0.1, 0.2, 70).batch(9),
        Fft::new([60]).formats(Format::Planar, Format::Interleaved).zoom(0.1, 0.2, 10).batch(9),
        Fft::new([50]).zoom(0.1, 0.2, 60).batch(20).any_batch(),
    ];
    for device in devices() {
        hold_some(&device, &all);
    }
}

/// Functions see samples on the way in and the band's points on the way out.
#[test]
fn functions_at_both_ends() {
    let weighed = |fft: Fft| {
        fft.on_load(|x, at| x * (at.axis_modulo(0, 7) * 0.1 + 1.0) + Value::from(at.batch(0) * 0.1 + 0.5))
            .on_store(|x, at| x * (at.axis_modulo(0, 5) * 0.2 + 1.0))
    };
    let all = [
        weighed(Fft::new([50]).zoom(0.1, 0.2, 60).batch(4)),
        weighed(Fft::new([200]).zoom(-0.3, 0.4, 31).batch(3).of_reals()),
        weighed(Fft::new([13]).zoom(0.0, 0.5, 90).batch(3).inverse().scale(0.3)),
        weighed(Fft::new([12_000]).zoom(0.1, 0.3, 9000).batch(2)),
        weighed(Fft::axes([7, 30], [1]).batch(2).planar().zoom(0.0, 0.4, 40)),
        weighed(Fft::new([64]).zoom(0.1, 0.4, 33).batch(9).any_batch()),
    ];
    for device in devices() {
        for asked in &all {
            let problem = asked.clone().build().expect("it can be");
            match device.plan(&problem).and_then(|plan| plan.verify()) {
                Ok(found) => assert!(found.holds(), "{device:?}: {found}: {problem:?}"),
                Err(Error::Unsupported { what, .. }) => println!("{device:?} skipped: {what}"),
                Err(error) => panic!("{device:?}: {problem:?}: {error}"),
            }
        }
    }
}

/// Every frequency of a transform is one of a band.
#[test]
fn a_band_all_round_is_the_transform() {
    for device in devices() {
        let n = 97;
        let run = |problem: Problem| {
            let plan = device.plan(&problem).expect("it fits");
            let input: Vec<Complex<f32>> = (0..n).map(|i| Complex::new((i * i % 13) as f32, 1.0)).collect();
            let mut output = vec![Complex::default(); n];
            plan.run_host(&input, &mut output).expect("it runs");
            output
        };
        let whole = run(Fft::new([n as u64]).build().expect("it can be"));
        let band = run(Fft::new([n as u64]).zoom(0.0, 1.0, n as u64).build().expect("it can be"));
        let error: f32 = whole.iter().zip(&band).map(|(a, b)| (a - b).norm_sqr()).sum();
        let size: f32 = whole.iter().map(Complex::norm_sqr).sum();
        assert!((error / size).sqrt() < 1e-6);
    }
}

#[test]
fn plans_of_bands_verify_themselves() {
    for device in devices() {
        let problem = Fft::new([700]).zoom(0.05, 0.07, 400).batch(3).build().expect("it can be");
        let found = device.plan(&problem).expect("it fits").verify().expect("it runs");
        assert!(found.holds(), "{device:?}: {found}");
    }
}

#[test]
fn what_cannot_be_is_told() {
    let refused = |fft: Fft| fft.build().expect_err("it cannot be");
    let line = || Fft::new([16]);
    assert!(matches!(refused(line().zoom(0.0, 0.5, 0)), CoreError::ZoomPoints { points: 0, .. }));
    assert!(matches!(refused(line().zoom(f64::NAN, 0.5, 4)), CoreError::ZoomFrequency { .. }));
    assert!(matches!(refused(line().zoom(0.0, 1e9, 4)), CoreError::ZoomFrequency { frequency: 1e9, .. }));
    assert!(matches!(refused(Fft::new([4, 4]).zoom(0.0, 0.5, 4)), CoreError::ZoomAxes { axes: 2 }));
    assert_eq!(refused(line().zoom(0.0, 0.5, 16).in_place()), CoreError::ZoomInPlace);
    let format = refused(line().zoom(0.0, 0.5, 4).formats(Format::Interleaved, Format::Real));
    assert!(matches!(format, CoreError::KindFormat { .. }));
    let mut problem = line().zoom(0.0, 0.5, 4).build().expect("it can be");
    if let Kind::Zoom(zoom) = &mut problem.kind {
        zoom.dim.n = 17;
    }
    problem.direction = Direction::Inverse;
    assert_eq!(problem.validated(), Err(CoreError::ZoomSamples { band: 16, n: 17 }));
}
