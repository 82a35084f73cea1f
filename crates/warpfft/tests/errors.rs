//! Whatever a caller hands over, the answer is an error that names it, never a panic.

mod cases;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use warpfft::core::problem::{
    Dim, Direction, Filter, Format, Kind, Placement, Precision, Problem, Storage, Window,
};
use warpfft::core::request::Fft;
use warpfft::core::target::Limits;
use warpfft::core::{self, Error as CoreError};
use warpfft::{Complex, Device, Error};

use cases::packed;

#[test]
fn impossible_requests_are_refused_by_name() {
    let refused = |request: Fft| request.build().expect_err("it is impossible");
    let dims = |n, is, os| Fft::guru(&[Dim::new(n, is, os)], &[]);
    assert!(matches!(refused(Fft::new([8, 0])), CoreError::EmptyDimension { axis: 1, .. }));
    assert!(matches!(refused(Fft::new([8]).batch(0)), CoreError::EmptyDimension { .. }));
    assert!(matches!(refused(Fft::new([u64::MAX, u64::MAX])), CoreError::TooManyElements { .. }));
    assert!(matches!(refused(Fft::new([8]).batch(u64::MAX)), CoreError::TooManyElements { .. }));
    assert!(matches!(refused(dims(8, -1, 1)), CoreError::BelowBuffer { lowest: -7, .. }));
    assert!(matches!(refused(dims(8, i64::MAX, 1)), CoreError::AddressOverflow { .. }));
    assert!(matches!(refused(dims(8, 1, i64::MIN)), CoreError::BelowBuffer { .. }));
    assert!(matches!(refused(dims(8, 1, 0)), CoreError::ZeroOutputStride { n: 8, .. }));
    let overlapping = Fft::guru(&[Dim::new(8, 1, 1)], &[Dim::new(4, 8, 7)]);
    assert!(matches!(refused(overlapping), CoreError::OutputOverlap { .. }));
    let moved = dims(8, 1, 2).in_place();
    assert!(matches!(refused(moved), CoreError::InPlaceAddresses { .. }));
    let mixed = Fft::new([8]).formats(Format::Planar, Format::Interleaved).in_place();
    assert!(matches!(refused(mixed), CoreError::InPlaceFormats { .. }));
    assert!(matches!(refused(Fft::new([8]).scale(f64::NAN)), CoreError::Scale { .. }));
    assert!(matches!(refused(Fft::axes([8, 8], [2])), CoreError::AxisOutOfRange { axis: 2, rank: 2 }));
    assert!(matches!(refused(Fft::axes([8, 8], [0, -2])), CoreError::AxisRepeated { axis: 0 }));
    assert!(matches!(refused(Fft::new([8, 8]).strides(&[1], &[1])), CoreError::StrideCount { .. }));
}

#[test]
fn more_than_any_device_holds_is_an_error() {
    for device in cases::devices() {
        for shape in [&[1_u64 << 40][..], &[1 << 20, 1 << 20], &[1_000_003, 1_000_003], &[(1 << 40) - 87]] {
            let problem = Fft::new(shape.to_vec()).build().expect("it can be addressed");
            if device.kind() == warpfft::DeviceKind::Cpu && shape.len() > 1 {
                // The processor has no kernels of its own to fit: it plans, and the caller has no such array.
                continue;
            }
            if let Ok(plan) = device.plan(&problem) {
                let short = [Complex::new(0.0_f32, 0.0); 4];
                let error = plan.run_host(&short, &mut short.clone()).expect_err("four elements");
                assert!(
                    matches!(error, Error::BufferTooSmall { got: 4, .. }),
                    "{device:?} {shape:?}: {error}"
                );
            }
        }
    }
}

/// A number from anywhere: small, near a limit, negative.
fn any_number(random: &mut StdRng) -> i64 {
    match random.random_range(0..8) {
        0 => i64::MIN,
        1 => i64::MAX,
        2 => random.random(),
        3 => 1 << random.random_range(0..63),
        4 => -random.random_range(0..100),
        _ => random.random_range(0..20),
    }
}

fn any_windows(random: &mut StdRng) -> Vec<[Window; 2]> {
    let count = random.random_range(0..=3);
    let mut window = || Window::new(any_number(random).unsigned_abs(), any_number(random).unsigned_abs());
    (0..count).map(|_| [window(), window()]).collect()
}

fn any_filter(random: &mut StdRng) -> Filter {
    let mut strides = || (0..random.random_range(0..=3)).map(|_| any_number(random)).collect::<Vec<i64>>();
    let (transform, batch) = (strides(), strides());
    let offset = any_number(random).unsigned_abs();
    Filter { offset, transform, batch, conjugate: random.random(), hermitian: random.random() }
}

fn any_problem(random: &mut StdRng) -> Problem {
    let mut dims = |most| -> Vec<Dim> {
        let count = random.random_range(0..=most);
        let mut number = || any_number(random);
        (0..count).map(|_| Dim::new(number().unsigned_abs(), number(), number())).collect()
    };
    let (transform, batch) = (dims(3), dims(3));
    let mut format = || if random.random() { Format::Planar } else { Format::Interleaved };
    let (input, output) = (format(), format());
    let mut kept = || random.random::<bool>().then(|| Storage::ALL[random.random_range(0..4)]);
    let storage = [kept(), kept()];
    Problem {
        kind: Kind::Complex,
        transform,
        batch,
        input_offset: any_number(random).unsigned_abs(),
        output_offset: any_number(random).unsigned_abs(),
        precision: if random.random() { Precision::F32 } else { Precision::F64 },
        storage,
        input,
        output,
        placement: if random.random() { Placement::InPlace } else { Placement::OutOfPlace },
        direction: Direction::Forward,
        scale: [1.0, 0.5, f64::NAN, f64::INFINITY][random.random_range(0..4)],
        max_workspace: [None, None, Some(0), Some(4096)][random.random_range(0..4)],
        windows: if random.random_bool(0.7) { Vec::new() } else { any_windows(random) },
        filter: random.random_bool(0.2).then(|| any_filter(random)),
        functions: Default::default(),
    }
}

#[test]
fn no_descriptor_makes_validation_or_the_compiler_panic() {
    let mut random = StdRng::seed_from_u64(17);
    let limits = [Limits::h200(), Limits::webgpu_min()];
    let mut sound = 0;
    for _ in 0..8000 {
        if let Ok(problem) = any_problem(&mut random).validated() {
            sound += 1;
            for limits in &limits {
                // Either answer will do: that there is one is what counts.
                drop(core::compile(&problem, limits));
            }
        }
    }
    assert!(sound > 20, "only {sound} descriptors were sound: the test shows nothing");
}

#[test]
fn unvalidated_descriptors_do_not_make_devices_panic() {
    let mut random = StdRng::seed_from_u64(18);
    let device = Device::cpu();
    let mut refused = 0;
    for _ in 0..8000 {
        let problem = any_problem(&mut random);
        match device.plan(&problem) {
            Ok(plan) => {
                let few = [Complex::new(0.0_f32, 0.0); 3];
                drop(plan.run_host(&few, &mut few.clone()));
                drop(plan.run_in_place(&mut few.clone()));
            }
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 1000, "only {refused} were refused");
}

#[test]
fn a_plan_for_another_device_is_an_error() {
    let plan = Device::cpu().plan(&packed(&[8], 1)).expect("the processor plans all");
    assert!(matches!(plan.simulated_counts(), Err(Error::WrongDevice { .. })));
    let program = core::compile(&packed(&[8], 1), &Limits::h200()).expect("it fits");
    assert!(matches!(Device::cpu().load(program), Err(Error::Unsupported { .. })));
}
