//! Numbers kept in f16 and bf16, and in other types on one side than on the other: every device against the reference on
//! the numbers as they were kept, with all that lies between and behind untouched ([`Plan::verify`]).

mod cases;

use half::{bf16, f16};
use warpfft::core::problem::{Format, Precision, RealKind, Storage};
use warpfft::core::request::Fft;
use warpfft::{Complex, Device, DeviceKind, Error, Which};

/// Software devices take every so many of the cases.
fn stride(device: &Device) -> usize {
    match device.kind() {
        DeviceKind::Cpu | DeviceKind::Cuda => 1,
        DeviceKind::Sim => 37,
        DeviceKind::OpenCl if !device.is_hardware() => 101,
        _ => 29,
    }
}

/// What fails on a device of these requests, beside what it says that it cannot do.
fn failures(device: &Device, asked: &[Fft]) -> Vec<String> {
    let mut wrong = Vec::new();
    for fft in asked.iter().step_by(stride(device)) {
        let problem = fft.clone().build().expect("it is possible");
        let what = format!("{device:?}: {problem:?}");
        match device.plan(&problem) {
            Ok(plan) => match plan.verify_with(7) {
                Ok(found) if found.holds() => {}
                Ok(found) => wrong.push(format!("{what}: {found}")),
                Err(error) => wrong.push(format!("{what}: {error}")),
            },
            Err(Error::Core(warpfft::core::Error::Unsupported { what: lacks, .. })) => {
                let wide = problem.precision == Precision::F64 || problem.stored().contains(&Storage::F64);
                let single = lacks.contains("single 16-bit") && device.kind() == DeviceKind::Wgpu;
                assert!(wide || single, "{what}: no {lacks}");
            }
            Err(error) => wrong.push(format!("{what}: {error}")),
        }
    }
    wrong
}

fn check(asked: &[Fft]) {
    let wrong: Vec<String> = cases::devices().iter().flat_map(|device| failures(device, asked)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const TYPES: [[Storage; 2]; 6] = [
    [Storage::F16; 2],
    [Storage::Bf16; 2],
    [Storage::F16, Storage::F32],
    [Storage::F32, Storage::Bf16],
    [Storage::Bf16, Storage::F16],
    [Storage::F64, Storage::F16],
];

#[test]
fn complex_rows_of_every_length() {
    let mut asked = Vec::new();
    for n in (1..=128).chain([243, 256, 500, 509, 1000, 1009, 1024, 2048, 3000, 4096]) {
        let rows = || Fft::new([n]).batch(1 + n % 4);
        let [read, written] = TYPES[n as usize % 6];
        asked.extend([
            rows().f16(),
            rows().bf16().in_place().inverse(),
            rows().precision(Precision::F32).storages(read, written),
            rows().f16().planar(),
            rows().f16().in_place(),
            rows().bf16().formats(Format::Planar, Format::Interleaved),
            rows().storages(read, written).f64(),
        ]);
    }
    check(&asked);
}

#[test]
fn real_data_of_every_kind() {
    let mut asked = Vec::new();
    for n in (1..=128).chain([255, 256, 500, 509, 1000, 1024, 2048]) {
        let rows = || Fft::new([n]).batch(1 + n % 4);
        let [read, written] = TYPES[n as usize % 6];
        let mixed = || rows().precision(Precision::F32).storages(read, written);
        asked.extend([rows().f16().r2c(), rows().f16().c2r(), mixed().r2c(), mixed().c2r()]);
        asked.extend([rows().bf16().in_place().r2c(), rows().bf16().in_place().c2r()]);
        let kind = RealKind::ALL[n as usize % RealKind::ALL.len()];
        if n >= kind.least() {
            asked.extend([rows().f16().r2r([kind]), mixed().r2r([kind]).orthogonal()]);
        }
    }
    check(&asked);
}

#[test]
fn several_dimensions_and_passes() {
    let mut asked = Vec::new();
    for shape in [vec![6, 10], vec![7, 9], vec![64, 64], vec![4, 6, 8], vec![128, 100], vec![3, 5, 7]] {
        for [read, written] in TYPES {
            let mixed = || Fft::new(shape.clone()).precision(Precision::F32).storages(read, written);
            asked.extend([mixed(), mixed().r2c(), mixed().c2r(), mixed().batch(3).inverse()]);
            asked.push(mixed().r2r([RealKind::Dct2]));
        }
        let half = || Fft::new(shape.clone()).f16();
        asked.extend([half().in_place(), half().in_place().r2c(), half().in_place().c2r()]);
        asked.extend([half().in_place().r2r([RealKind::Dht]), half().planar().batch(2)]);
    }
    asked.extend([Fft::new([1 << 16]).f16(), Fft::new([40_000]).bf16(), Fft::new([70_001]).f16()]);
    asked.extend([Fft::new([1 << 16]).f16().r2c(), Fft::axes([64, 96], [0]).f16()]);
    check(&asked);
}

/// More than two tiles for each multiprocessor, which has one block of these and brings it the next tile meanwhile: only a GPU has
/// so many at a time.
#[test]
fn tiles_that_come_ahead() {
    let asked = [
        Fft::new([16384]).batch(300).f16(),
        Fft::new([16384]).batch(401).bf16().in_place().inverse(),
        Fft::new([12000]).batch(300).storages(Storage::Bf16, Storage::F32),
        Fft::new([128, 128]).batch(300).f16(),
    ];
    let devices = cases::devices().into_iter().filter(|device| device.kind() == DeviceKind::Cuda);
    let wrong: Vec<Vec<String>> = devices.map(|device| failures(&device, &asked)).collect();
    if wrong.is_empty() {
        println!("skipped: there is no CUDA device");
    }
    assert!(wrong.concat().is_empty(), "{wrong:#?}");
}

#[test]
fn rounding_is_to_nearest_with_ties_to_even_and_keeps_what_is_no_number() {
    // One point: what is read is written, but for the rounding.
    let around = [1.0, -1.0].into_iter().flat_map(|sign| {
        [
            0.0, 6.0e-8, 2.9e-8, 3.1e-8, 6.1e-5, 1.0, 1.0004883, 1.0014648, 2049.0, 2051.0, 65504.0, 65519.9,
            65520.0,
        ]
        .map(|x: f32| sign * x)
    });
    let mut input: Vec<Complex<f32>> = around.map(|x| Complex::new(x, -x)).collect();
    input.extend([Complex::new(f32::NAN, f32::INFINITY), Complex::new(f32::NEG_INFINITY, 1e30)]);
    let points = input.len() as u64;
    for device in cases::devices() {
        let plan = |storage| {
            let fft = Fft::new([1]).batch(points).precision(Precision::F32);
            device.plan(&fft.storages(Storage::F32, storage).build().expect("it is possible"))
        };
        let mut halves = vec![Complex::new(f16::ZERO, f16::ZERO); input.len()];
        plan(Storage::F16).expect("f16").run_mixed(&input, &mut halves).expect("it runs");
        let mut brains = vec![Complex::new(bf16::ZERO, bf16::ZERO); input.len()];
        plan(Storage::Bf16).expect("bf16").run_mixed(&input, &mut brains).expect("it runs");
        for ((x, half), brain) in input.iter().zip(&halves).zip(&brains) {
            for (x, half, brain) in [(x.re, half.re, brain.re), (x.im, half.im, brain.im)] {
                if x.is_nan() {
                    assert!(half.is_nan() && brain.is_nan(), "{device:?}");
                } else {
                    assert_eq!(half, f16::from_f32(x), "{device:?}: {x}");
                    assert_eq!(brain, bf16::from_f32(x), "{device:?}: {x}");
                }
            }
        }
        // And back: every f16 there is, subnormal ones too.
        let all: Vec<Complex<f16>> =
            (0..=u16::MAX).map(|bits| Complex::new(f16::from_bits(bits), f16::from_bits(!bits))).collect();
        let fft = Fft::new([1]).batch(all.len() as u64).storages(Storage::F16, Storage::F32);
        let back = device.plan(&fft.build().expect("it is possible")).expect("it can be");
        let mut wide = vec![Complex::new(0.0_f32, 0.0); all.len()];
        back.run_mixed(&all, &mut wide).expect("it runs");
        for (x, y) in all.iter().flat_map(|x| [x.re, x.im]).zip(wide.iter().flat_map(|y| [y.re, y.im])) {
            assert!(x.to_f32() == y || (x.is_nan() && y.is_nan()), "{device:?}: {x} {y}");
        }
    }
}

#[test]
fn the_largest_numbers_are_scaled_to_fit() {
    for device in cases::devices() {
        let run = |fft: Fft| {
            let problem = fft.build().expect("it is possible");
            let largest = vec![Complex::new(f16::MAX, f16::MIN); 512];
            let mut output = vec![Complex::new(f16::NAN, f16::NAN); 512];
            device.plan(&problem).expect("f16").run_host(&largest, &mut output).expect("it runs");
            output
        };
        let scaled = run(Fft::new([512]).f16().scale_to_fit());
        assert!(scaled.iter().all(|x| x.re.is_finite() && x.im.is_finite()), "{device:?}");
        // 512 sqrt(2) points' worth: a half and its neighbour remain.
        assert!(scaled[0].re > f16::from_f32(30_000.0), "{device:?}: {:?}", scaled[0]);
        assert!(run(Fft::new([512]).f16())[0].re.is_infinite(), "{device:?}");
    }
}

#[test]
fn other_types_than_the_problem_keeps_are_refused() {
    for device in cases::devices() {
        let fft = Fft::new([8]).storages(Storage::F16, Storage::F32);
        let plan = device.plan(&fft.build().expect("it is possible")).expect("it can be");
        let halves = [Complex::new(f16::ONE, f16::ZERO); 8];
        let mut singles = [Complex::new(0.0_f32, 0.0); 8];
        plan.run_mixed(&halves, &mut singles).expect("those are the types");
        let error = plan.run_host(&halves, &mut halves.clone()).expect_err("the output is of f32");
        assert!(
            matches!(
                error,
                Error::WrongStorage { which: Which::Output, expected: Storage::F32, got: Storage::F16 }
            ),
            "{error}"
        );
        let error = plan.run_host(&singles.clone(), &mut singles).expect_err("the input is of f16");
        assert!(matches!(error, Error::WrongStorage { which: Which::Input, .. }), "{error}");
    }
}
