//! Functions on load and store, on every device, beside the reference, which applies them to each element.

mod cases;

use cases::devices;
use cases::real::{run, run_plan};
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use warpfft::core::Error as CoreError;
use warpfft::core::function::{Place, Real, Value};
use warpfft::core::problem::{Dim, Filter, Format, Precision, Problem, RealKind};
use warpfft::core::program::Compiled;
use warpfft::core::request::{Convolution, Fft, Mode};
use warpfft::core::target::Limits;
use warpfft::{Complex, Device, DeviceKind, Error};

fn hold(device: &Device, asked: &Fft) {
    for precision in [Precision::F32, Precision::F64] {
        let problem = asked.clone().precision(precision).build().expect("it can be");
        let error = match precision {
            Precision::F32 => run(device, &problem, |x| x as f32),
            Precision::F64 | Precision::DoubleSingle => run(device, &problem, |x| x),
        };
        let bound = problem.error_bound() * 4.0;
        match error {
            Ok(error) => assert!(error < bound, "{device:?}: {error:e}, {bound:e} allowed: {problem:?}"),
            Err(Error::Unsupported { what, .. } | Error::Core(CoreError::Unsupported { what, .. })) => {
                println!("{device:?} skipped: {what}");
            }
            Err(error) => panic!("{device:?}: {error}: {problem:?}"),
        }
    }
}

/// Some of many for devices that a processor stands in for.
fn hold_some(device: &Device, all: &[Fft]) {
    let share = match device.kind() {
        DeviceKind::Sim => 2,
        DeviceKind::Wgpu if !device.is_hardware() => 5,
        DeviceKind::OpenCl if !device.is_hardware() => 61,
        _ => 1,
    };
    let first = rand::random_range(0..share);
    all.iter().skip(first).step_by(share).for_each(|asked| hold(device, asked));
}

/// Every operation, and the indices of an axis.
#[allow(clippy::needless_pass_by_value, reason = "it is called as closures are")]
fn odd(x: Value, at: Place) -> Value {
    let t = (at.axis(0) - 7.5).abs() / 16.0;
    let weight = (t.clone() + 1.0).sqrt().min(1.75).max(1.0 - t.clone());
    let sign = 1.0 - 2.0 * at.axis_modulo(0, 3).if_less(0.5, 1.0, 0.0);
    x.conj() * weight * sign + Value::new(t.clone(), -t)
}

/// What zeros become is not zero, and dividing by them is infinite: padding must not see it.
fn poison(x: Value, _: Place) -> Value {
    Value::new(1.0 / (x.re.clone().abs() + x.im.clone().abs()), x.re)
}

#[test]
fn windows_powers_and_every_operation() {
    let mut all = Vec::new();
    for n in [1, 2, 8, 60, 64, 97, 1000, 1009, 2003, 4096] {
        let asked = Fft::new([n]).batch(5);
        all.push(asked.clone().on_load(odd));
        all.push(asked.clone().in_place().scale(0.5).on_store(odd));
        all.push(asked.clone().inverse().planar().on_load(odd).on_store(|x, _| (x.norm_sqr() + 1.0).sqrt()));
        all.push(
            asked.on_load(|x, at| x * (at.batch(0) + 1.0)).on_store(|x, at| x / (at.batch(0) * 2.0 + 1.0)),
        );
    }
    for device in devices() {
        hold_some(&device, &all);
    }
}

#[test]
fn padding_sees_nothing_of_them() {
    for device in devices() {
        for n in [97, 2003, 10_007] {
            hold(&device, &Fft::new([n]).batch(2).on_load(poison));
        }
    }
}

#[test]
fn lines_of_several_passes_and_more_dimensions() {
    let checkered =
        |x: Value, at: Place| x * (1.0 - 2.0 * (at.axis_modulo(0, 2) - at.axis_modulo(1, 2)).abs());
    let ramp = |x: Value, at: Place| x * (at.axis(0) * 3.0 + at.axis(1) + 1.0) + Value::from(at.axis(1));
    let all = [
        Fft::new([1 << 15]).on_load(odd).on_store(odd),
        Fft::new([1 << 15]).in_place().max_workspace(1 << 12).on_load(odd).on_store(odd),
        Fft::new([10_007]).on_store(odd),
        Fft::new([1 << 16]).batch(2).on_load(odd),
        Fft::new([12, 20]).batch(3).on_load(ramp).on_store(checkered),
        Fft::new([300, 200]).on_load(checkered).on_store(ramp),
        Fft::new([512, 512]).in_place().on_load(ramp),
        Fft::axes([9, 16, 6], [1]).on_load(ramp).on_store(|x, at| x * at.axis(2)),
        Fft::axes([9, 16], [0]).on_load(ramp).on_store(ramp),
        Fft::guru(&[Dim::new(12, 1, 12)], &[Dim::new(12, 12, 1)]).in_place().on_load(odd).on_store(odd),
    ];
    let small = Device::sim(Limits::webgpu_min());
    for device in devices().into_iter().chain([small]) {
        hold_some(&device, &all);
    }
}

#[test]
fn any_layout_with_indices_of_every_dimension() {
    for device in devices() {
        let seeds = match device.kind() {
            DeviceKind::Wgpu if !device.is_hardware() => 6,
            DeviceKind::OpenCl if !device.is_hardware() => 1,
            _ => 80,
        };
        for seed in 0..seeds {
            let random = &mut StdRng::seed_from_u64(seed);
            let (own, all) = (random.random_range(0..3), random.random_range(1..=4));
            let lengths: Vec<u64> =
                (0..all).map(|_| random.random_range(1..=[60, 14, 8, 6][all - 1])).collect();
            let (is, from) = strides(random, &lengths);
            let (os, to) = strides(random, &lengths);
            let dims: Vec<Dim> =
                lengths.iter().zip(is.iter().zip(&os)).map(|(&n, (&is, &os))| Dim::new(n, is, os)).collect();
            let (transform, batch) = dims.split_at(own.min(all));
            let place = |at: &Place, factor: f64| place(at, transform.len(), batch.len(), factor);
            let asked = Fft::guru(transform, batch).offsets(from, to);
            let asked = asked.on_load(|x, at| x * place(&at, 0.25)).on_store(|x, at| x / place(&at, 2.0));
            hold(&device, &asked);
        }
    }
}

/// Where an element is, as one number that no two of them share by chance.
fn place(at: &Place, axes: usize, batches: usize, factor: f64) -> Real {
    let own = (0..axes).map(|axis| at.axis(axis));
    let mut indices = own.chain((0..batches).map(|d| at.batch(d)));
    let first = indices.next().expect("there is a dimension");
    indices.fold(first * factor, |sum, index| sum * 0.5 + index) + 1.0
}

/// Functions of all indices on both sides.
fn weighed(fft: Fft, axes: usize, batches: usize) -> Fft {
    let apart = move |x: Value, at: Place| {
        let x = x * place(&at, axes, batches, 0.25);
        Value::new(x.re + 0.125, x.im)
    };
    fft.on_load(apart).on_store(move |x, at| x.conj() / place(&at, axes, batches, 2.0))
}

#[test]
fn real_data_on_both_sides() {
    let mut all = Vec::new();
    for n in [1, 2, 7, 8, 60, 97, 256, 1001] {
        for batch in [1, 3, 4] {
            let rows = || Fft::new([n]).batch(batch);
            all.push(weighed(rows().r2c().scale(0.5), 1, 1));
            all.push(weighed(rows().c2r(), 1, 1));
            all.push(weighed(rows().r2c().in_place().inverse(), 1, 1));
            all.push(weighed(rows().c2r().in_place(), 1, 1));
            for kind in RealKind::ALL.into_iter().filter(|kind| n >= kind.least()) {
                all.push(weighed(rows().r2r([kind]), 1, 1));
                all.push(weighed(rows().r2r([kind]).in_place(), 1, 1));
            }
        }
    }
    for device in devices() {
        hold_some(&device, &all);
    }
}

#[test]
fn real_data_of_more_dimensions_and_passes() {
    let [real, planar] = [Format::Real, Format::Planar];
    let turned = |n: u64| Fft::guru(&[Dim::new(n, 1, 3)], &[Dim::new(3, n as i64, 1)]);
    let all = [
        weighed(Fft::new([5, 6]).batch(3).r2c(), 2, 1),
        weighed(Fft::new([6, 5]).batch(3).c2r().formats(planar, real), 2, 1),
        weighed(Fft::new([6, 5]).batch(3).r2c().halved_axis(0).formats(real, planar), 2, 1),
        weighed(Fft::new([4, 3, 7]).r2c().in_place(), 3, 0),
        weighed(Fft::new([4, 3, 7]).c2r().in_place(), 3, 0),
        weighed(Fft::new([3, 7, 5]).r2r([RealKind::Dct1, RealKind::Dht, RealKind::Dst3]), 3, 0),
        weighed(Fft::axes([5, 6, 4], [1]).batch(2).r2r([RealKind::Dct4]), 3, 1),
        weighed(turned(9).r2r([RealKind::Dct2]).in_place(), 1, 1),
        weighed(Fft::new([300, 200]).r2c(), 2, 0),
        weighed(Fft::new([200, 300]).c2r(), 2, 0),
        weighed(Fft::new([1 << 15]).batch(2).r2c(), 1, 1),
        weighed(Fft::new([10_007]).batch(3).c2r(), 1, 1),
        weighed(Fft::new([6000]).batch(2).r2r([RealKind::Dct3]), 1, 1),
        weighed(Fft::new([6001]).batch(3).r2r([RealKind::Dst4]).in_place(), 1, 1),
    ];
    let small = Device::sim(Limits::webgpu_min());
    for device in devices().into_iter().chain([small]) {
        hold_some(&device, &all);
    }
}

#[test]
fn real_data_of_any_batch() {
    for device in devices() {
        for n in [60, 61] {
            let rows = || Fft::new([n]).batch(3).batch(7).any_batch();
            for fft in [rows().r2c(), rows().c2r(), rows().r2r([RealKind::Dct2]), rows().r2r([RealKind::Dht])]
            {
                let asked = weighed(fft, 1, 2).build().expect("it can be");
                let plan = device.plan(&asked).expect("it fits");
                for count in [1, 4, 7] {
                    let error = run_plan(&plan, Some(count), |x| x as f32).expect("it runs");
                    assert!(error < 2e-6, "{device:?}: {error:e}");
                }
                assert!(plan.verify().expect("it runs").holds());
            }
        }
    }
}

/// Strides that keep all elements apart, and the offset that keeps the lowest above 0.
fn strides(random: &mut StdRng, lengths: &[u64]) -> (Vec<i64>, u64) {
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.shuffle(random);
    let (mut strides, mut reach, mut offset) = (vec![0; lengths.len()], random.random_range(1..=3), 0);
    for axis in order {
        strides[axis] = reach;
        if random.random_range(0..4) == 0 {
            offset += (lengths[axis] - 1) * reach as u64;
            strides[axis] = -reach;
        }
        reach = reach * lengths[axis] as i64 + random.random_range(0..4);
    }
    (strides, offset)
}

#[test]
fn one_plan_for_any_batch_has_them_too() {
    for device in devices() {
        let asked = Fft::new([60]).batch(20).any_batch();
        let asked = asked.on_load(|x, at| x * (at.batch(0) + at.axis(0))).on_store(odd);
        let plan = device.plan(&asked.build().expect("it can be")).expect("it fits");
        for count in [1, 7, 20] {
            let error = run_plan(&plan, Some(count), |x| x as f32).expect("it runs");
            assert!(error < 2e-6, "{device:?}: {error:e}");
        }
        assert!(plan.verify().expect("it runs").holds());
    }
}

/// No pass is added, and it says what is applied.
#[test]
fn functions_share_the_passes_that_there_are() {
    let passes = |problem: &Problem, limits: &Limits| {
        Compiled::of(problem, limits).expect("it compiles").schedule.passes.len()
    };
    for limits in [Limits::h200(), Limits::webgpu_min()] {
        for asked in [Fft::new([1024]).batch(9), Fft::new([1 << 16]), Fft::new([64, 64]), Fft::new([10_007])]
        {
            let plain = asked.clone().build().expect("it can be");
            let applied = asked.on_load(odd).on_store(odd).build().expect("it can be");
            assert_eq!(passes(&applied, &limits), passes(&plain, &limits));
        }
    }
    let problem = Fft::new([16]).on_store(|x, _| x.norm_sqr()).build().expect("it can be");
    let text = warpfft::core::explain::explain(&problem, &Limits::h200()).expect("it compiles").to_string();
    assert!(text.contains("on store: (re * re) + (im * im)"), "{text}");
}

#[test]
fn what_cannot_be_is_told() {
    let refused = |fft: Fft| fft.build().expect_err("it cannot be");
    let line = || Fft::new([8]).batch(3);
    assert_eq!(
        refused(line().on_load(|x, at| x * at.axis(1))),
        CoreError::FunctionDimension { dim: 1, dims: 1 }
    );
    assert_eq!(
        refused(line().on_load(|x, at| x * at.batch(1))),
        CoreError::FunctionDimension { dim: 2, dims: 2 }
    );
    assert_eq!(refused(line().on_load(|x, _| x * 1e300)), CoreError::FunctionConstant { value: 1e300 });
    assert!(line().f64().on_load(|x, _| x * 1e300).build().is_ok());
    let long = line()
        .on_store(|x, at| (0..1000).fold(x, |x, k| x * at.axis(0) + Value::from(at.axis(0) * f64::from(k))));
    assert!(matches!(refused(long), CoreError::FunctionNodes { .. }));
    let mut leaked = None;
    let _ = line().on_load(|x, _| {
        leaked = Some(x.clone());
        x
    });
    let leaked = leaked.expect("the closure was called");
    assert_eq!(refused(line().on_load(|x, _| x + leaked)), CoreError::FunctionForeign);
}

/// Convolutions of every way that there is for them, with functions of values and of places.
fn convolutions() -> Vec<Convolution> {
    let fade = |x: Value, at: Place| x * (1.0 + at.axis(0) / 8.0) * (1.0 + at.batch(0) - at.batch(1) / 2.0);
    let signs = |x: Value, at: Place| {
        x * (1.0 - 2.0 * at.axis_modulo(0, 3).if_less(0.5, 1.0, 0.0)) + Value::from(at.axis(0))
    };
    let checkered = |x: Value, at: Place| x * (at.axis_modulo(0, 2) + 2.0 * at.axis_modulo(1, 3) + 1.0);
    let mut all = Vec::new();
    for mode in [Mode::Full, Mode::Same, Mode::Valid, Mode::Periodic] {
        for correlate in [false, true] {
            let asked = |n: u64, k: u64| {
                let asked = Convolution::new([n], [k]).mode(mode).batch(3).kernels(2);
                if correlate { asked.correlate() } else { asked }
            };
            all.push(asked(60, 7).on_load(fade));
            all.push(asked(100, 20).real().on_load(fade).on_store(signs));
            all.push(asked(64, 5).reals(true, false).on_load(odd).on_store(signs));
            all.push(asked(64, 5).real().on_load(odd).on_store(|x, at| odd(x.clone(), at) * x.norm_sqr()));
            all.push(asked(30, 30).on_load(poison));
            if mode != Mode::Periodic {
                let cut = asked(300, 9).blocks(64).on_load(fade).on_store(signs);
                all.push(cut.clone());
                all.push(cut.real().on_load(poison));
                let plane = Convolution::new([50, 1, 40], [4, 1, 7])
                    .mode(mode)
                    .blocks_of([16, 1, 24])
                    .batch(2)
                    .real();
                let plane = if correlate { plane.correlate() } else { plane };
                all.push(plane.on_load(checkered).on_store(checkered));
            }
        }
    }
    all.push(
        Convolution::new([20, 30], [3, 4])
            .real()
            .batch(3)
            .mode(Mode::Same)
            .on_load(checkered)
            .on_store(checkered),
    );
    all.push(Convolution::new([1, 30], [1, 4]).correlate().on_load(checkered).on_store(checkered));
    all.push(Convolution::new([200, 300], [5, 9]).correlate().on_load(checkered).on_store(checkered));
    all.push(Convolution::new([9, 8, 7], [2, 3, 4]).real().on_load(checkered).on_store(signs));
    all.push(
        Convolution::new([30_000], [33]).real().mode(Mode::Same).on_load(fade).on_store(|x, _| x.norm_sqr()),
    );
    all
}

#[test]
fn convolutions_apply_them_to_images_and_results() {
    for device in devices() {
        let mut all = convolutions();
        all.shuffle(&mut rand::rng());
        let few = match device.kind() {
            DeviceKind::Wgpu if !device.is_hardware() => 12,
            DeviceKind::OpenCl if !device.is_hardware() => 5,
            _ => all.len(),
        };
        for asked in all.into_iter().take(few) {
            let plan =
                device.convolution(&asked).unwrap_or_else(|error| panic!("{device:?} {asked:?}: {error}"));
            let found = plan.verify().unwrap_or_else(|error| panic!("{device:?} {asked:?}: {error}"));
            assert!(found.holds(), "{device:?} {asked:?} by {:?}: {found}", plan.problems());
        }
    }
}

#[test]
fn a_count_at_the_run_and_the_wrong_function_of_a_convolution() {
    let weigh = |x: Value, at: Place| x * (1.0 + at.batch(0));
    for device in devices() {
        let asked = Convolution::new([50], [1]).real().batch(4).any_batch().on_load(weigh);
        let plan = device.convolution(&asked).expect("it can be");
        let spectrum = plan.prepare(&vec![1.0_f32]).expect("one kernel");
        let images: Vec<f32> = (0..200).map(|i| (i % 50) as f32).collect();
        let mut results = vec![-1.0_f32; 200];
        plan.run_host_batch(3, &images, &spectrum, &mut results).expect("three of four");
        for (at, (&got, &image)) in results.iter().zip(&images).enumerate() {
            let want = if at < 150 { image * (at / 50 + 1) as f32 } else { -1.0 };
            assert!((got - want).abs() < 1e-3, "{device:?} {at}: {got} for {want}");
        }
        // What is applied is looked at: another function gives other results.
        let other = device.convolution(&asked.on_load(|x, _| x)).expect("it can be");
        let mut plain = vec![0.0_f32; 200];
        other.run_host_batch(4, &images, &spectrum, &mut plain).expect("all");
        assert!((plain[199] - images[199]).abs() < 1e-3 && (results[149] - plain[149]).abs() > 1.0);
    }
}

#[test]
fn reals_that_stay_reals_have_no_imaginary_parts_whoever_asks() {
    let made = |x: Value, _: Place| Value::new(x.re.clone(), x.re * 3.0);
    let asked = Fft::new([64]).batch(3).on_load(made).on_store(|x, _| x.norm_sqr());
    let filter = Filter {
        offset: 0,
        transform: vec![1],
        batch: vec![0],
        conjugate: false,
        hermitian: true,
        blocks: Vec::new(),
    };
    // Not brought to its canonical form by its caller.
    let [input, output] = [Format::Real; 2];
    let problem =
        Problem { input, output, filter: Some(filter), ..asked.build().expect("functions of lines") };
    let images: Vec<f32> = (0..192).map(|i| (i % 17) as f32 / 16.0 - 0.5).collect();
    let factors = vec![Complex::new(1.0_f32 / 64.0, 0.0); 64];
    for device in devices() {
        let plan = device.plan(&problem).unwrap_or_else(|error| panic!("{device:?}: {error}"));
        let mut found = vec![0.0_f32; 192];
        plan.run_filtered(&images, &factors, &mut found).expect("it runs");
        for (at, (&got, &x)) in found.iter().zip(&images).enumerate() {
            assert!((got - x * x).abs() < 1e-5, "{device:?} {at}: {got} for {}", x * x);
        }
    }
}

#[test]
fn functions_of_a_convolution_look_at_what_it_has() {
    let foreign = Convolution::new([1000], [9]).on_store(|x, at| x * at.axis(7)).problems(None);
    assert!(matches!(foreign, Err(CoreError::FunctionDimension { .. })), "{foreign:?}");
}
