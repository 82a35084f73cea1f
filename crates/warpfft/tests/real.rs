//! Transforms of real data, of every kind and layout, on every device that has them, against their definitions.

mod cases;

use cases::real::{problem, run};
use cases::real_layouts::{halved, halved_in_place, named, reals};
use warpfft::core::math::factor::factorise;
use warpfft::core::problem::{
    Dim, Direction, Format, Kind, Placement, Precision, Problem, RealDim, RealKind,
};
use warpfft::core::request::{Fft, Norm};
use warpfft::{Complex, Device, DeviceKind, Error, PlanesMut, Real};

/// Devices that have them; one line each.
const KINDS: [DeviceKind; 5] =
    [DeviceKind::Cpu, DeviceKind::Sim, DeviceKind::Wgpu, DeviceKind::OpenCl, DeviceKind::Cuda];

/// All of them that can be used here; `WARPFFT_DEVICE` picks one.
fn devices() -> Vec<Device> {
    cases::devices().into_iter().filter(|device| KINDS.contains(&device.kind())).collect()
}

/// The error allowed for so many points of one transform.
fn bound(problem: &Problem) -> f64 {
    let epsilon = match problem.precision {
        Precision::F32 => f64::from(f32::EPSILON),
        // Tables are no more precise than the numbers.
        Precision::F64 => 1.5 * f64::EPSILON,
        Precision::DoubleSingle => 2_f64.powi(-46),
    };
    let own = problem.kind.dims().map(|(dim, _)| dim.n);
    // Kernels convolve for long primes: twice the work.
    let convolved = problem.transform.iter().map(|dim| dim.n).chain(own).any(|n| {
        (n.saturating_sub(1)..=n + 1).any(|n| factorise(n.max(1)).iter().any(|&(prime, _)| prime > 31))
    });
    let share = if convolved { 2.0 } else { 1.0 };
    share * epsilon * ((problem.points() as f64).log2() + 2.0).sqrt()
}

/// Some of a list for devices that a processor stands in for, all of it for the others: whatever the list, each of its
/// entries is run in some round.
fn some<T>(device: &Device, all: impl IntoIterator<Item = T>) -> Vec<T> {
    let share = match device.kind() {
        DeviceKind::Sim => 7,
        DeviceKind::Wgpu if !device.is_hardware() => 61,
        DeviceKind::OpenCl if !device.is_hardware() => 401,
        _ => 1,
    };
    let first = rand::random_range(0..share);
    all.into_iter().skip(first).step_by(share).collect()
}

/// Runs problems in both precisions; reports what is not within its bound.
fn hold(device: &Device, problems: impl IntoIterator<Item = (String, Problem)>) {
    let (mut wrong, mut worst) = (Vec::new(), [(0.0, String::new()), (0.0, String::new())]);
    for (name, mut problem) in problems {
        for precision in [Precision::F32, Precision::F64] {
            problem.precision = precision;
            let error = match precision {
                Precision::F32 => run(device, &problem, |x| x as f32),
                Precision::F64 | Precision::DoubleSingle => run(device, &problem, |x| x),
            };
            match error {
                Ok(error) => {
                    let share = error / bound(&problem);
                    let worst = &mut worst[usize::from(precision == Precision::F64)];
                    if share > worst.0 {
                        *worst = (share, format!("{name}: {error:e}"));
                    }
                    if share > 1.0 || share.is_nan() {
                        wrong.push(format!("{device:?}: {name} {precision:?}: error {error:e}"));
                    }
                }
                Err(Error::Unsupported { what, .. }) if precision == Precision::F64 => {
                    println!("{device:?}: {name} skipped: no {what}");
                }
                Err(error) => wrong.push(format!("{device:?}: {name} {precision:?}: {error}")),
            }
        }
    }
    println!("{device:?}: nearest to the bound, f32 and f64: {worst:.3?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Both directions of both kinds with half spectra, and every kind from reals to reals, for a line of `n` points.
fn kinds(n: u64, batch: u64) -> Vec<(String, Problem)> {
    let mut all = Vec::new();
    for direction in [Direction::Forward, Direction::Inverse] {
        for asked in [Fft::new([n]).r2c(), Fft::new([n]).c2r()] {
            let problem = asked.direction(direction).batch(batch).build().expect("packed lines");
            all.push(named(&format!("{direction:?}"), problem));
        }
    }
    for kind in RealKind::ALL.into_iter().filter(|kind| kind.least() <= n) {
        for asked in [Fft::new([n]).r2r([kind]), Fft::new([n]).r2r([kind]).orthogonal()] {
            all.push(named("", asked.batch(batch).build().expect("packed lines")));
        }
    }
    all
}

#[test]
fn every_kind_of_every_length() {
    for device in devices() {
        // All batches for short lines; one or the other for long ones.
        let batches = |n: u64| match n {
            0..=16 => vec![1, 2, 3, 5],
            _ => vec![[1, 2, 3, 5][(n % 4) as usize]],
        };
        let all = (1..=64).flat_map(|n| batches(n).into_iter().flat_map(move |batch| kinds(n, batch)));
        hold(&device, some(&device, all));
    }
}

#[test]
fn longer_lines() {
    let lengths = [
        65, 81, 96, 97, 100, 121, 125, 127, 128, 210, 243, 255, 256, 257, 360, 499, 500, 512, 720, 997, 1000,
    ];
    for device in devices() {
        hold(&device, some(&device, lengths.into_iter().flat_map(|n| kinds(n, 3))));
    }
}

#[test]
fn more_dimensions() {
    let shapes: [&[u64]; 9] =
        [&[4, 6], &[5, 7], &[4, 7], &[9, 8], &[1, 6], &[6, 1], &[3, 4, 5], &[4, 5, 6], &[2, 3, 7]];
    let mut all = Vec::new();
    for shape in shapes {
        let rank = shape.len() as i64;
        for axis in 0..rank {
            for direction in [Direction::Forward, Direction::Inverse] {
                for asked in [Fft::new(shape).r2c(), Fft::new(shape).c2r()] {
                    let asked = asked.halved_axis(axis).direction(direction);
                    let whole =
                        asked.clone().batch(3).norm(Norm::Ortho).build().expect("any axis can be halved");
                    all.push(named(&format!("{direction:?} {shape:?} along {axis}"), whole));
                }
                // The other axes are repeated over.
                let alone = Fft::axes(shape, [axis]).r2c().direction(direction).build().expect("one axis");
                all.push(named(&format!("{direction:?} {shape:?} along {axis} alone"), alone));
                let alone = Fft::axes(shape, [axis]).c2r().direction(direction).build().expect("one axis");
                all.push(named(&format!("{direction:?} {shape:?} along {axis} alone"), alone));
            }
        }
        let kinds = [RealKind::Dct2, RealKind::Dst3, RealKind::Dht];
        let mixed = Fft::new(shape).r2r(&kinds[..shape.len()]).orthogonal().batch(3);
        all.push(named(&format!("{shape:?}"), mixed.build().expect("a kind for each axis")));
        let same = Fft::new(shape).r2r([RealKind::Dst1]).scale(0.25).batch(5);
        all.push(named(&format!("{shape:?}"), same.build().expect("one kind for all")));
    }
    // Enough for several threads.
    for shape in [[96, 200], [131, 150]] {
        all.push(named("large", Fft::new(shape).r2c().build().expect("packed")));
        all.push(named("large", Fft::new(shape).c2r().build().expect("packed")));
        all.push(named("large in place", Fft::new(shape).r2c().in_place().build().expect("padded")));
        all.push(named("large in place", Fft::new(shape).c2r().in_place().build().expect("padded")));
        let cosines = Fft::new(shape).r2r([RealKind::Dct3, RealKind::Dst4]).in_place();
        all.push(named("large in place", cosines.build().expect("packed")));
    }
    for device in devices() {
        hold(&device, some(&device, all.clone()));
    }
}

#[test]
fn every_layout() {
    for device in devices() {
        hold(&device, some(&device, halved()));
        hold(&device, some(&device, halved_in_place()));
        hold(&device, some(&device, reals()));
    }
}

/// Values that are no pattern.
fn values(count: usize) -> Vec<f64> {
    (0..count).map(|i| ((i * i + 3 * i) % 101) as f64 / 50.0 - 1.0).collect()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    let square = |x: f64| x * x;
    let apart: f64 = a.iter().zip(b).map(|(a, b)| square(a - b)).sum();
    (apart / b.iter().copied().map(square).sum::<f64>()).sqrt()
}

fn transformed(device: &Device, asked: Fft, input: &[f64]) -> Vec<f64> {
    let plan = device.plan(&asked.f64().build().expect("it can be")).expect("it is planned");
    let mut output = vec![0.0; plan.output_elements() as usize];
    plan.run_host(input, &mut output).expect("it runs");
    output
}

#[test]
fn orthogonal_kinds_keep_lengths() {
    let orthogonal = |kind: &RealKind| !matches!(kind, RealKind::HalfComplex | RealKind::FromHalfComplex);
    for device in devices() {
        for kind in RealKind::ALL.into_iter().filter(orthogonal) {
            for n in some(&device, (kind.least()..=20).chain([97, 128])) {
                let asked = Fft::new([n, n + 1]).r2r([kind]).orthogonal().norm(Norm::Ortho);
                let input = values((n * (n + 1)) as usize);
                let output = transformed(&device, asked, &input);
                let size = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
                let ratio = size(&output) / size(&input);
                assert!((ratio - 1.0).abs() < 1e-14, "{device:?}: {kind:?} of {n}: {ratio}");
            }
        }
    }
}

#[test]
fn there_and_back_is_the_identity() {
    for device in devices() {
        for norm in [Norm::Backward, Norm::Ortho, Norm::Forward] {
            for kind in RealKind::ALL {
                for n in some(&device, (kind.least()..=9).chain([30, 37])) {
                    let input = values(3 * n as usize);
                    let asked = Fft::axes([3, n], [1]).norm(norm);
                    let there = transformed(&device, asked.clone().r2r([kind]), &input);
                    let back = transformed(&device, asked.inverse().r2r([kind.inverse()]), &there);
                    assert!(distance(&back, &input) < 1e-14, "{device:?}: {kind:?} of {n}, {norm:?}");
                }
            }
            for shape in [&[1][..], &[2], &[9], &[16], &[4, 5], &[5, 4], &[3, 4, 6], &[2, 3, 5]] {
                let input = values(shape.iter().product::<u64>() as usize);
                for axis in 0..shape.len() as i64 {
                    let asked =
                        |asked: Fft| asked.halved_axis(axis).norm(norm).f64().build().expect("any axis");
                    let there = device.plan(&asked(Fft::new(shape).r2c())).expect("it is planned");
                    let back = device.plan(&asked(Fft::new(shape).c2r())).expect("it is planned");
                    let mut half = vec![Complex::<f64>::default(); there.output_elements() as usize];
                    let mut output = vec![0.0; input.len()];
                    there.run_host(&input, &mut half).expect("it runs");
                    back.run_host(&half, &mut output).expect("it runs");
                    assert!(
                        distance(&output, &input) < 1e-14,
                        "{device:?}: {shape:?} along {axis}, {norm:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn what_has_no_part_in_reals_is_not_looked_at() {
    fn check<T: Real + From<f32> + PartialEq + std::fmt::Debug>(device: &Device, precision: Precision) {
        for n in some(device, 1..=17_u64) {
            for direction in [Direction::Forward, Direction::Inverse] {
                let asked = Fft::new([n]).c2r().direction(direction).precision(precision);
                let plan = match device.plan(&asked.build().expect("packed lines")) {
                    Ok(plan) => plan,
                    Err(Error::Unsupported { .. }) if precision == Precision::F64 => return,
                    Err(error) => panic!("{device:?}: {error}"),
                };
                let number = |k: u64, im: f32| Complex::new(T::from(k as f32 + 1.0), T::from(im));
                let is_real = |k: u64| k == 0 || 2 * k == n;
                let run = |im: f32| {
                    let points = 0..=n / 2;
                    let input: Vec<_> =
                        points.map(|k| number(k, if is_real(k) { im } else { 3.0 - k as f32 })).collect();
                    let mut output = vec![T::default(); n as usize];
                    plan.run_host(&input, PlanesMut::Real(&mut output)).expect("it runs");
                    output
                };
                assert_eq!(run(0.0), run(1e6), "{device:?}: {n}, {direction:?}");
            }
        }
    }
    for device in devices() {
        check::<f32>(&device, Precision::F32);
        check::<f64>(&device, Precision::F64);
    }
}

#[test]
fn the_same_memory_may_be_handed_over_as_reals_or_as_complex_numbers() {
    for device in devices() {
        let problem = Fft::new([3, 6]).r2c().in_place().build().expect("padded rows");
        let plan = device.plan(&problem).expect("it is planned");
        let mut reals: Vec<f32> = values(3 * 8).into_iter().map(|x| x as f32).collect();
        let mut pairs: Vec<Complex<f32>> = reals.chunks(2).map(|x| Complex::new(x[0], x[1])).collect();
        plan.run_in_place(&mut reals).expect("as reals");
        plan.run_in_place(&mut pairs).expect("as complex numbers");
        assert_eq!(reals, pairs.iter().flat_map(|x| [x.re, x.im]).collect::<Vec<_>>());
        let (mut short, mut few) = (vec![0.0_f32; 23], vec![Complex::<f32>::default(); 11]);
        assert!(matches!(plan.run_in_place(&mut short), Err(Error::BufferTooSmall { .. })));
        assert!(matches!(plan.run_in_place(&mut few), Err(Error::BufferTooSmall { .. })));
    }
}

#[test]
fn kinds_that_cannot_be_are_refused() {
    for device in devices() {
        // Fields are public: nobody need have validated them.
        let own = |kind| RealDim { dim: Dim::new(1, 1, 1), kind, orthogonal: false };
        let short = problem(Kind::RealToReal(vec![own(RealKind::Dct1)]), &[], &[]);
        assert!(device.plan(&short).is_err());
        let mut format = problem(Kind::RealToComplex(Dim::new(8, 1, 1)), &[], &[]);
        format.input = Format::Interleaved;
        assert!(device.plan(&format).is_err());
        let unpadded = problem(Kind::RealToComplex(Dim::new(8, 1, 1)), &[], &[Dim::new(2, 8, 5)]);
        assert!(device.plan(&Problem { placement: Placement::InPlace, ..unpadded }).is_err());
    }
}

#[test]
fn it_is_measured_over_a_copy_of_both_sides() {
    for device in devices().into_iter().filter(|device| device.kind() != DeviceKind::Sim) {
        for asked in
            [Fft::new([6, 10]).r2c(), Fft::new([60]).c2r().in_place(), Fft::new([60]).r2r([RealKind::Dct2])]
        {
            let problem = asked.batch(2).build().expect("it can be");
            let plan = device.plan(&problem).expect("it is planned");
            let measured = plan.measure(std::time::Duration::ZERO).expect("it is timed");
            let bytes = |span: std::ops::Range<u64>, element: u64| (span.end - span.start) * element;
            let read = bytes(problem.input_span(), problem.input_element());
            let written = bytes(problem.output_span(), problem.output_element());
            assert!(measured.transform_seconds > 0.0 && measured.copies() > 0.0);
            // Padding is no data.
            assert!(measured.bytes <= read + written && 2 * measured.bytes > read + written);
        }
    }
}
