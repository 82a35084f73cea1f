//! Convolutions and correlations on every device, against their sums in double-double precision.

mod cases;

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use warpfft::core::problem::{Filter, Format, Precision, Problem, Window};
use warpfft::core::request::{Convolution, Mode};
use warpfft::{Complex, Device, DeviceKind, Error};

fn check(device: &Device, asked: &Convolution, precision: Precision) {
    if precision == Precision::F64 && device.limits().is_some_and(|limits| !limits.f64) {
        return;
    }
    let asked = asked.clone().precision(precision);
    let plan = device.convolution(&asked).unwrap_or_else(|error| panic!("{device:?} {asked:?}: {error}"));
    let found = plan.verify().unwrap_or_else(|error| panic!("{device:?} {asked:?}: {error}"));
    assert!(found.holds(), "{device:?} {asked:?} by {:?}: {found}", plan.problems());
    assert!(found.error > 0.0 || found.checked < 8, "{found}");
}

const MODES: [Mode; 3] = [Mode::Full, Mode::Same, Mode::Valid];

#[test]
fn random_requests() {
    for device in cases::devices() {
        let mut random = StdRng::seed_from_u64(11);
        let rounds = match device.kind() {
            _ if device.is_hardware() => 150,
            // Its driver takes up to a second for a kernel.
            DeviceKind::OpenCl => 10,
            _ => 30,
        };
        for round in 0..rounds {
            let rank = random.random_range(1..=3_usize);
            let most = [600, 40, 12][rank - 1];
            let image: Vec<u64> = (0..rank).map(|_| random.random_range(1..=most)).collect();
            let kernel: Vec<u64> = image.iter().map(|&n| random.random_range(1..=n.min(30))).collect();
            let mut asked = Convolution::new(image, kernel)
                .mode(MODES.choose(&mut random).copied().unwrap_or(Mode::Full))
                .batch(random.random_range(1..=4))
                .kernels(random.random_range(1..=2))
                .reals(random.random(), random.random());
            if random.random() {
                asked = asked.correlate();
            }
            check(&device, &asked, if round % 4 == 0 { Precision::F64 } else { Precision::F32 });
        }
    }
}

#[test]
fn long_signals_large_images_and_periodic_ones() {
    for device in cases::devices() {
        let asked = [
            Convolution::new([30_000], [33]).real(),
            Convolution::new([9000], [100]).blocks(512).correlate().batch(3),
            Convolution::new([8192], [200]).blocks(0).real().mode(Mode::Same).batch(3),
            Convolution::new([40_000], [20_000]).real(),
            Convolution::new([200, 150], [11, 8]).real().mode(Mode::Same).batch(3),
            Convolution::new([128, 96], [5, 5]).mode(Mode::Periodic).kernels(3),
            Convolution::new([20, 24, 28], [3, 5, 4]).mode(Mode::Valid).reals(true, false),
        ];
        for asked in asked {
            check(&device, &asked, Precision::F32);
        }
    }
}

#[test]
fn a_filter_of_ones_gives_back_what_it_was_given() {
    // A filter in place of a kernel, given as frequencies, on arrays in place and planar.
    for device in cases::devices() {
        let n = 48_u64;
        let filter = Filter {
            offset: 2,
            transform: vec![1],
            batch: vec![0],
            conjugate: false,
            hermitian: true,
            blocks: Vec::new(),
        };
        let problem = Problem {
            filter: Some(filter),
            scale: 1.0 / n as f64,
            windows: vec![[Window::new(0, 30), Window::new(5, 20)]],
            input: Format::Interleaved,
            output: Format::Planar,
            ..cases::packed(&[n], 3)
        }
        .validated()
        .expect("it is possible");
        let plan = device.plan(&problem).expect("it plans");
        let input: Vec<Complex<f32>> = (0..200).map(|i| Complex::new(i as f32, -1.0)).collect();
        let (mut re, mut im) = (vec![-7.0_f32; 150], vec![-7.0_f32; 150]);
        let factors = vec![Complex::new(1.0, 0.0); n as usize + 2];
        plan.run_filtered(&input, &factors, (&mut re[..], &mut im[..])).expect("it runs");
        for row in 0..3 {
            for i in 0..n as usize {
                let (got, at) = (Complex::new(re[row * 48 + i], im[row * 48 + i]), row * 48 + i + 5);
                let want = match i {
                    0..20 => input[at],
                    _ => Complex::new(-7.0, -7.0),
                };
                assert!((got - want).norm() < 1e-4, "{device:?} {row} {i}: {got} for {want}");
            }
        }
        let missing = plan.run_host(&input, (&mut re[..], &mut im[..]));
        assert!(matches!(missing, Err(Error::Filter { expected: true })), "{missing:?}");
        let short = plan.run_filtered(&input, &factors[..n as usize], (&mut re[..], &mut im[..]));
        assert!(matches!(short, Err(Error::BufferTooSmall { .. })), "{short:?}");
    }
}

#[test]
fn spectra_of_other_requests_are_refused() {
    let device = Device::cpu();
    let plan = device.convolution(&Convolution::new([100], [5]).real()).expect("it plans");
    let other = device.convolution(&Convolution::new([300], [5]).real()).expect("it plans");
    let spectrum = other.prepare(&vec![1.0_f32; 5]).expect("it runs");
    let refused = plan.run_host(&vec![0.0_f32; 100], &spectrum, &mut vec![0.0_f32; 104]);
    assert!(matches!(refused, Err(Error::BufferTooSmall { .. })), "{refused:?}");
    let complex = plan.prepare(&vec![Complex::new(1.0_f32, 0.0); 5]);
    assert!(matches!(complex, Err(Error::WrongFormat { .. })), "{complex:?}");
}

#[test]
fn memory_that_is_not_there_is_an_error() {
    // A column with a row: few elements in, and as many out as their product.
    let asked = Convolution::new([1 << 20, 1], [1, 1 << 20]);
    let refused = Device::cpu().convolution(&asked).expect_err("eight tebibytes of places");
    assert!(matches!(refused, Error::OutOfMemory { bytes, .. } if bytes >= 1 << 43), "{refused:?}");
    // Each of its kernels' spectra has as many, too.
    let blocks = Convolution::new([1 << 20, 1], [1, 1 << 20]).blocks(0).kernels(3).real();
    let refused = Device::cpu().convolution(&blocks).expect_err("eight tebibytes of places");
    assert!(matches!(refused, Error::OutOfMemory { .. }), "{refused:?}");
}
