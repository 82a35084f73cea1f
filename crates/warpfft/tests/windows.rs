//! Windows (padding, cropping, shifts) on every device, against the reference in double-double precision; nothing outside
//! of the output is touched, which the plan's own check makes sure of.

mod cases;

use rand::rngs::StdRng;
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{Rng, SeedableRng};
use warpfft::core::error::Side;
use warpfft::core::function::{Place, Value};
use warpfft::core::problem::{Dim, Direction, Format, Placement, Precision, Problem, RealKind, Window, half};
use warpfft::core::request::Fft;
use warpfft::{Complex, Device, DeviceKind, Error};

fn check(device: &Device, problem: &Problem) {
    if problem.precision == Precision::F64 && device.limits().is_some_and(|limits| !limits.f64) {
        return;
    }
    let plan = device.plan(problem).unwrap_or_else(|error| panic!("{device:?} {problem:?}: {error}"));
    let found = plan.verify().unwrap_or_else(|error| panic!("{device:?} {problem:?}: {error}"));
    assert!(found.holds(), "{device:?} {problem:?}: {found}");
}

fn random_window(random: &mut StdRng, n: u64) -> Window {
    match random.random_range(0..4) {
        0 => Window::whole(n),
        1 => Window::new(0, random.random_range(1..=n)),
        2 => Window::new((n - n / 2) % n, n),
        _ => Window::new(random.random_range(0..n), random.random_range(1..=n)),
    }
}

/// A random problem of up to three dimensions in a random layout.
fn random_problem(random: &mut StdRng) -> Option<Problem> {
    let rank = random.random_range(1..=3_usize);
    let lengths: &[u64] = match rank {
        1 => &[5, 32, 77, 127, 360, 1024, 1031, 4000],
        2 => &[3, 8, 15, 32, 53, 64],
        _ => &[2, 4, 7, 9, 12],
    };
    let shape: Vec<u64> = (0..rank).filter_map(|_| lengths.choose(random).copied()).collect();
    let in_place = random.random_bool(0.25);
    let mut windows: Vec<[Window; 2]> =
        shape.iter().map(|&n| [random_window(random, n), random_window(random, n)]).collect();
    if in_place {
        windows.iter_mut().for_each(|own| own[1].len = own[0].len);
    }
    let batch = random.random_range(1..5_u64);
    let mut order: Vec<usize> = (0..=rank).collect();
    let mut strides = |random: &mut StdRng, side: usize, shuffled: bool| {
        if shuffled {
            order.shuffle(random);
        }
        let (mut all, mut next) = (vec![0; rank + 1], random.random_range(1..3_i64));
        for &d in &order {
            all[d] = next;
            next =
                next * if d < rank { windows[d][side].len } else { batch } as i64 + random.random_range(0..3);
        }
        all
    };
    let is = strides(random, 0, true);
    let os = if in_place { is.clone() } else { strides(random, 1, true) };
    let format = if random.random_bool(0.3) { Format::Planar } else { Format::Interleaved };
    Problem {
        transform: (0..rank).map(|d| Dim::new(shape[d], is[d], os[d])).collect(),
        batch: vec![Dim::new(batch, is[rank], os[rank])],
        windows,
        input: format,
        output: format,
        input_offset: 1,
        output_offset: 1,
        placement: if in_place { Placement::InPlace } else { Placement::OutOfPlace },
        direction: if random.random() { Direction::Forward } else { Direction::Inverse },
        precision: if random.random_bool(0.7) { Precision::F32 } else { Precision::F64 },
        scale: 0.5,
        ..cases::packed(&[1], 1)
    }
    .validated()
    .ok()
}

/// Checks so many of what is drawn on every device, but fewer where software stands in for a driver's compiler and GPU.
fn check_drawn(seed: u64, most: usize, draw: impl Fn(&mut StdRng) -> Option<Problem>) {
    for device in cases::devices() {
        let mut random = StdRng::seed_from_u64(seed);
        let all = device.is_hardware() || device.kind() == DeviceKind::Sim;
        let drawn = std::iter::repeat_with(|| draw(&mut random)).flatten();
        drawn.take(if all { most } else { most.min(40) }).for_each(|problem| check(&device, &problem));
    }
}

#[test]
fn random_windows_in_random_layouts() {
    check_drawn(7, 200, random_problem);
}

/// Functions that look at every index, and are not 0 of 0: what no window holds is 0 all the same.
fn with_functions(fft: Fft, rank: usize) -> Fft {
    let number = move |at: &Place| {
        let axes = (0..rank).map(|axis| at.axis_modulo(axis, 5 + axis as u32) * (0.1 / rank as f64));
        axes.fold(at.batch(0) * 0.05 + 1.0, |sum, own| sum + own)
    };
    // Numbers are within -1 and 1: nothing cancels, as the error of one point that does would be the error of all.
    fft.on_load(move |x, at| x * number(&at) + Value::from(number(&at) * 2.0))
        .on_store(move |x, at| x * number(&at))
}

#[test]
fn functions_see_the_points_that_windows_show() {
    check_drawn(9, 200, |random| {
        // Numbered as functions of a packed problem are, where no dimension has been left out.
        let problem = random_problem(random).filter(|problem| !problem.batch.is_empty())?;
        let rank = problem.transform.len();
        let asked = with_functions(Fft::new(vec![2; rank]).batch(2), rank);
        let functions = asked.build().expect("functions of complex numbers").functions;
        Some(Problem { functions, ..problem }.validated().expect("functions go with windows"))
    });
}

#[test]
fn functions_and_windows_of_several_passes() {
    for device in cases::devices() {
        let asked = [
            (Fft::new([1 << 15]).pad(&[20_000]).shift_output().batch(2), 1),
            (Fft::new([1 << 16]).shift_input().crop(&[30_000]).batch(2), 1),
            (Fft::new([65_537]).pad(&[1000]).crop(&[40_000]).batch(2), 1),
            (Fft::new([256, 180]).pad(&[100, 90]).shift_output().batch(2), 2),
            (Fft::new([128, 128]).shift_input().crop(&[31, 40]).inverse().batch(2), 2),
            (Fft::new([24, 20, 28]).pad(&[12, 10, 14]).shift_output().batch(2), 3),
        ];
        for (fft, rank) in asked {
            check(&device, &with_functions(fft, rank).build().expect("it is possible"));
        }
    }
}

#[test]
fn functions_of_reals_see_them_too() {
    check_drawn(10, 300, |random| {
        let (asked, rank) = random_reals(random);
        with_functions(asked, rank).build().ok()
    });
    for device in cases::devices() {
        let long = [
            (Fft::new([1 << 15]).r2c().shift_input().batch(2), 1),
            (Fft::new([1 << 15]).c2r().pad(&[1001]).shift_output().batch(2), 1),
            (Fft::new([10_007]).r2c().pad(&[5000]).crop(&[301]).batch(3), 1),
            (Fft::new([256, 180]).r2c().pad(&[100, 91]).batch(2), 2),
            (Fft::new([6001]).r2r([RealKind::Dct2]).pad(&[4000]).crop(&[10]).batch(3), 1),
            (Fft::new([24, 20]).r2r([RealKind::Dht]).shift_input().shift_output().in_place().batch(2), 2),
            // One point of an axis, which is not the first.
            (Fft::new([7, 9, 4]).r2r([RealKind::Dct4]).window(Side::Input, 2, Window::new(3, 1)).batch(2), 3),
            (Fft::new([4, 9]).r2c().window(Side::Input, 0, Window::new(3, 1)).batch(2), 2),
        ];
        for (fft, rank) in long {
            check(&device, &with_functions(fft, rank).build().expect("it is possible"));
        }
    }
}

#[test]
fn long_lines_and_images() {
    for device in cases::devices() {
        let asked = [
            Fft::new([1 << 15]).pad(&[20_000]).shift_output(),
            Fft::new([1 << 15]).shift_input().window(Side::Output, 0, Window::new(32_000, 1500)),
            Fft::new([65_537]).pad(&[1000]).crop(&[40_000]),
            Fft::new([256, 180]).pad(&[100, 90]).shift_output().batch(2),
            Fft::new([128, 128]).shift_input().crop(&[31, 40]).inverse(),
            Fft::new([24, 20, 28]).pad(&[12, 10, 14]).crop(&[24, 20, 3]).f64(),
        ];
        for fft in asked {
            check(&device, &fft.build().expect("it is possible"));
        }
    }
}

#[test]
fn real_data_in_random_layouts() {
    check_drawn(8, 200, |random| random_reals(random).0.build().ok());
}

/// A random problem of real data with windows, rows after rows.
fn random_reals(random: &mut StdRng) -> (Fft, usize) {
    let rank = random.random_range(1..=3_usize);
    let lengths: &[u64] = match rank {
        1 => &[5, 32, 77, 128, 360, 1009, 1024, 4000],
        2 => &[3, 8, 15, 32, 53, 64],
        _ => &[2, 4, 7, 9, 12],
    };
    let shape: Vec<u64> = (0..rank).filter_map(|_| lengths.choose(random).copied()).collect();
    let which = random.random_range(0..4);
    let own = random.random_range(0..rank);
    let mut fft = Fft::new(shape.clone()).batch(random.random_range(1..5));
    fft = match which {
        0 => fft.r2c().halved_axis(own as i64),
        1 => fft.c2r().halved_axis(own as i64),
        _ => fft.r2r((0..rank).filter_map(|_| RealKind::ALL.choose(random).copied()).collect::<Vec<_>>()),
    };
    for (axis, &n) in shape.iter().enumerate() {
        for (side, sides) in [Side::Input, Side::Output].into_iter().enumerate() {
            let spectrum = which == 1 - side && axis == own;
            let window = if spectrum {
                Window::new(0, random.random_range(1..=half(n)))
            } else {
                random_window(random, n)
            };
            fft = fft.window(sides, axis as i64, window);
        }
    }
    (if random.random() { fft.f64() } else { fft }, rank)
}

#[test]
fn real_data_of_more_passes_and_in_place() {
    for device in cases::devices() {
        let asked = [
            Fft::new([1 << 15]).r2c().pad(&[20_000]).crop(&[1000]),
            Fft::new([1 << 15]).c2r().pad(&[1001]).shift_output(),
            Fft::new([256, 180]).r2c().pad(&[100, 91]).batch(2),
            Fft::new([128, 128]).c2r().pad(&[31, 40]).crop(&[64, 127]),
            Fft::new([6001]).batch(3).r2r([RealKind::Dct2]).pad(&[4000]).crop(&[10]),
            Fft::new([24, 20]).r2r([RealKind::Dht]).shift_input().shift_output().in_place(),
            Fft::new([24, 20]).r2r([RealKind::Dst1]).pad(&[7, 9]).crop(&[7, 9]).in_place().f64(),
        ];
        for fft in asked {
            check(&device, &fft.build().expect("it is possible"));
        }
    }
}

#[test]
fn shifts_are_those_of_numpy() {
    let x: Vec<Complex<f32>> = (0..5).map(|i| Complex::new(i as f32, 1.0)).collect();
    for device in cases::devices() {
        let run = |fft: Fft| {
            let mut out = vec![Complex::default(); 5];
            let plan = device.plan(&fft.build().expect("it is possible")).expect("it plans");
            plan.run_host(&x, &mut out).expect("it runs");
            out
        };
        let plain = run(Fft::new([5]));
        let shifted = run(Fft::new([5]).shift_output());
        // fftshift moves index 0 to index 5 / 2.
        assert!((0..5).all(|k| (shifted[(k + 2) % 5] - plain[k]).norm() < 1e-5), "{shifted:?}");
        let from_middle = run(Fft::new([5]).shift_input());
        let sum = Complex::new(10.0, 5.0);
        assert!((from_middle[0] - sum).norm() < 1e-5);
        // Two places forward in time is a turn by two frequencies.
        let turn = Complex::from_polar(1.0, 2.0 * std::f32::consts::TAU / 5.0);
        assert!((from_middle[1] - plain[1] * turn).norm() < 1e-4, "{from_middle:?}");
    }
}

#[test]
fn memory_that_is_not_there_is_an_error() {
    // Reals of which memory holds half: the processor lists where each repetition lies.
    let asked = Fft::new([8]).r2c().batch(1 << 45).window(Side::Input, 0, Window::new(0, 4));
    let refused = Device::cpu().plan(&asked.build().expect("it can be asked"));
    assert!(matches!(refused, Err(Error::OutOfMemory { .. })), "{refused:?}");
}
