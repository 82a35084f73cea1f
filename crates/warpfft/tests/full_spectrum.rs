//! All of the spectrum of reals, as numpy's `fftn` gives it, on every device against the reference.

mod cases;

use cases::devices;
use cases::real::{run, run_plan};
use warpfft::core::problem::{Dim, Format, Precision, Problem, Storage};
use warpfft::core::request::Fft;
use warpfft::{Complex, Device, DeviceKind, Error};

/// Some of a list for devices that a processor stands in for, all of it for the others: whatever the list, each of its
/// entries is run in some round.
fn some<T>(device: &Device, all: Vec<T>) -> Vec<T> {
    let share = match device.kind() {
        DeviceKind::Sim => 3,
        DeviceKind::Wgpu if !device.is_hardware() => 9,
        DeviceKind::OpenCl if !device.is_hardware() => 29,
        _ => 1,
    };
    let first = rand::random_range(0..share);
    all.into_iter().skip(first).step_by(share).collect()
}

fn hold(device: &Device, problems: Vec<Problem>) {
    for problem in some(device, problems) {
        for precision in [Precision::F32, Precision::F64] {
            let problem = Problem { precision, ..problem.clone() };
            let error = match precision {
                Precision::F32 => run(device, &problem, |x| x as f32),
                Precision::F64 | Precision::DoubleSingle => run(device, &problem, |x| x),
            };
            let bound = 3.0 * problem.error_bound();
            match error {
                Ok(error) => assert!(error < bound, "{device:?}: {error:e}, {bound:e} allowed: {problem:?}"),
                Err(Error::Unsupported { what, .. }) if precision == Precision::F64 => {
                    println!("{device:?} skipped: no {what}");
                }
                Err(error) => panic!("{device:?}: {error}: {problem:?}"),
            }
        }
    }
}

/// Both directions, interleaved and planar.
fn both(fft: &Fft) -> Vec<Problem> {
    let formats = [Format::Interleaved, Format::Planar];
    let one = |format| {
        let asked = fft.clone().full_spectrum().formats(Format::Real, format);
        [asked.clone(), asked.inverse()].map(|asked| asked.build().expect("it can be"))
    };
    formats.into_iter().flat_map(one).collect()
}

#[test]
fn every_length_and_more_dimensions() {
    let shapes: [&[u64]; 14] = [
        &[4, 6],
        &[5, 7],
        &[1, 9],
        &[9, 1],
        &[37, 3],
        &[3, 37],
        &[64, 48],
        &[3, 4, 5],
        &[8, 6, 4],
        &[5, 7, 3],
        &[96, 200],
        &[131, 150],
        &[2003],
        &[16_384],
    ];
    let lines = (1..=40).chain([97, 128, 243, 255, 500, 1000, 1009]).map(|n| Fft::new([n]).batch(3));
    let wholes = shapes.iter().map(|&shape| Fft::new(shape).batch(2).scale(0.5));
    let alone = shapes.iter().map(|&shape| Fft::axes(shape, [0]));
    let all: Vec<Problem> = lines.chain(wholes).chain(alone).flat_map(|fft| both(&fft)).collect();
    for device in devices() {
        hold(&device, all.clone());
    }
}

#[test]
fn every_layout() {
    let guru = Fft::guru;
    let all = [
        guru(&[Dim::new(15, 3, 5)], &[Dim::new(4, 50, 100), Dim::new(2, 1, 2)]),
        guru(&[Dim::new(14, 11, 11)], &[Dim::new(11, 1, 1)]),
        guru(&[Dim::new(9, 1, 10)], &[Dim::new(10, 9, 1)]),
        guru(&[Dim::new(20, 1, 1)], &[Dim::new(3, 31, 27)]).offsets(5, 9),
        guru(&[Dim::new(10, -1, -1)], &[Dim::new(3, 10, 10)]).offsets(9, 9),
        guru(&[Dim::new(8, 1, 1)], &[Dim::new(3, -8, -8)]).offsets(16, 16),
        guru(&[Dim::new(12, 1, 1)], &[Dim::new(4, 0, 12)]),
        guru(&[Dim::new(6, 17, 20), Dim::new(5, 2, 3)], &[Dim::new(3, 120, 1)]).offsets(3, 2),
        guru(&[], &[Dim::new(7, 2, 3)]),
        guru(&[], &[Dim::new(70, 1, 1), Dim::new(300, 70, 70)]).scale(2.0),
    ];
    let all: Vec<Problem> = all.iter().flat_map(both).collect();
    for device in devices() {
        hold(&device, all.clone());
    }
}

/// What it has beyond half of the spectrum is its mirror image.
#[test]
fn one_half_mirrors_the_other() {
    for device in devices() {
        for n in [7, 16, 60] {
            let whole = Fft::new([n]).full_spectrum().build().expect("a line");
            let half = Fft::new([n]).r2c().build().expect("a line");
            let reals: Vec<f32> = (0..n * n).step_by(n as usize).map(|i| (i % 23) as f32 - 11.0).collect();
            let mut all = vec![Complex::<f32>::default(); n as usize];
            let mut known = vec![Complex::<f32>::default(); n as usize / 2 + 1];
            device.plan(&whole).expect("planned").run_host(&reals, &mut all).expect("it runs");
            device.plan(&half).expect("planned").run_host(&reals, &mut known).expect("it runs");
            for (k, &x) in all.iter().enumerate() {
                let mirrored = n as usize - k;
                let want = known.get(k).copied().unwrap_or_else(|| known[mirrored].conj());
                assert!((x - want).norm() < 1e-4, "{device:?}: {n}, {k}: {x} and {want}");
            }
        }
    }
}

#[test]
fn counts_windows_functions_and_short_numbers_go_with_it() {
    for device in devices() {
        let counted = Fft::new([12, 5]).batch(20).any_batch().full_spectrum().build().expect("counted");
        let plan = device.plan(&counted).expect("it is planned");
        for count in [1, 7, 20] {
            let error = run_plan(&plan, Some(count), |x| x as f32).expect("it runs");
            assert!(error < 2e-6, "{device:?}, {count}: {error:e}");
        }
        assert!(plan.verify().expect("it runs").holds());
        // A count of nothing to transform.
        let copied = Fft::axes([9, 6], []).any_batch().full_spectrum().build().expect("counted");
        let plan = device.plan(&copied).expect("it is planned");
        assert!(run_plan(&plan, Some(4), |x| x as f32).expect("it runs") < 1e-7, "{device:?}");

        let padded = Fft::new([24, 10]).full_spectrum().pad(&[15, 10]).build().expect("padded");
        assert_eq!(padded.input_bytes(), 4 * 150);
        assert!(run(&device, &padded, |x| x as f32).expect("it runs") < 1e-6, "{device:?}");

        let applied = Fft::new([60]).batch(3).full_spectrum();
        let applied = applied.on_load(|x, at| x * (at.axis(0) + 1.0)).on_store(|x, _| x.norm_sqr());
        let applied = applied.build().expect("functions");
        assert!(run(&device, &applied, |x| x as f32).expect("it runs") < 5e-6, "{device:?}");

        let short = Fft::new([48]).batch(4).full_spectrum().storages(Storage::F16, Storage::F32);
        let plan = match device.plan(&short.build().expect("a line")) {
            Err(Error::Unsupported { what, .. }) => {
                println!("{device:?} skipped: no {what}");
                continue;
            }
            plan => plan.expect("it is planned"),
        };
        assert!(plan.verify().expect("it runs").holds(), "{device:?}");
    }
}
