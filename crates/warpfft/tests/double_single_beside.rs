//! Double-single arithmetic beside whatever else a problem may ask for: right to 1e-12, or refused by name.

mod cases;

use cases::devices;
use warpfft::core::Error as CoreError;
use warpfft::core::function::{Place, Value};
use warpfft::core::math::reference::reference;
use warpfft::core::problem::{Precision, Problem, RealKind, Storage};
use warpfft::core::request::{Convolution, Fft, Mode};
use warpfft::core::target::Limits;
use warpfft::{Complex, Device, DeviceKind, Error, Which};

/// What is far below single precision and far above the bounds.
const MOST: f64 = 1e-12;

fn asked(fft: &Fft) -> Problem {
    fft.clone().double_single().build().expect("it can be asked")
}

/// Within its bound, and far within what singles would do.
fn hold(device: &Device, what: &str, fft: &Fft) {
    let plan = device.plan(&asked(fft)).unwrap_or_else(|error| panic!("{device:?}: {what}: {error}"));
    let found = plan.verify().unwrap_or_else(|error| panic!("{device:?}: {what}: {error}"));
    assert!(found.holds() && found.error < MOST, "{device:?}: {what}: {found}");
}

#[test]
fn windows() {
    for device in devices() {
        let all = [
            ("padded and shifted", Fft::new([48]).batch(5).pad(&[31]).shift_output()),
            ("cropped", Fft::new([100]).batch(7).crop(&[13])),
            ("padded image", Fft::new([20, 24]).batch(2).pad(&[11, 9]).crop(&[20, 7])),
            ("a longer line", Fft::new([4096]).pad(&[1000])),
        ];
        all.iter().for_each(|(what, fft)| hold(&device, what, fft));
    }
}

#[test]
fn bands() {
    for device in devices() {
        let all = [
            ("a band", Fft::new([60]).batch(3).zoom(0.1, 0.2, 17)),
            ("a band of reals", Fft::new([100]).batch(4).zoom(-0.2, 0.3, 50).of_reals()),
            ("a long band", Fft::new([3000]).zoom(0.05, 0.06, 2000)),
        ];
        all.iter().for_each(|(what, fft)| hold(&device, what, fft));
    }
}

#[test]
fn kinds_of_real_data() {
    for device in devices() {
        let all = [
            ("half spectra", Fft::new([48, 36]).batch(2).r2c()),
            ("and back", Fft::new([1000]).batch(3).c2r()),
            ("a long line", Fft::new([8192]).r2c()),
            ("in place", Fft::new([12, 50]).r2c().in_place()),
            ("a sine transform", Fft::new([30, 21]).r2r([RealKind::Dst3])),
        ];
        all.iter().for_each(|(what, fft)| hold(&device, what, fft));
    }
}

/// Every operation that functions have.
#[allow(clippy::needless_pass_by_value, reason = "it is called as closures are")]
fn odd(x: Value, at: Place) -> Value {
    let t = (at.axis(0) - 7.5).abs() / 16.1;
    let weight = (t.clone() + 1.1).sqrt().min(1.75).max(1.0 - t.clone());
    let sign = 1.0 - 2.0 * at.axis_modulo(0, 3).if_less(0.5, 1.0, 0.0);
    x.conj() * weight * sign + Value::new(t.clone(), -t)
}

#[test]
fn functions() {
    for device in devices() {
        let all = [
            ("before and after", Fft::new([48]).batch(3).on_load(odd).on_store(odd)),
            ("powers", Fft::new([2187]).on_store(|x, _| x.norm_sqr())),
            ("a convolution", Fft::new([47]).batch(2).on_load(odd)),
        ];
        all.iter().for_each(|(what, fft)| hold(&device, what, fft));
    }
}

#[test]
fn filters() {
    for device in devices() {
        let all = [
            Convolution::new([40], [7]).batch(3),
            Convolution::new([20, 25], [3, 5]).real().kernels(2).mode(Mode::Same),
            Convolution::new([300], [30]).real().correlate().mode(Mode::Valid),
            Convolution::new([5000], [20]).blocks(256),
            Convolution::new([6000], [6000]).mode(Mode::Periodic),
        ];
        // PoCL takes a minute for the kernels of the last ones.
        let slow = device.kind() == DeviceKind::OpenCl && !device.is_hardware();
        for request in all.into_iter().take(if slow { 2 } else { 5 }) {
            let request = request.precision(Precision::DoubleSingle);
            let plan =
                device.convolution(&request).unwrap_or_else(|e| panic!("{device:?}: {request:?}: {e}"));
            let found = plan.verify().unwrap_or_else(|error| panic!("{device:?}: {request:?}: {error}"));
            assert!(found.holds() && found.error < MOST, "{device:?}: {request:?}: {found}");
        }
    }
}

#[test]
fn factors_that_pairs_cannot_hold_are_refused() {
    for device in devices().into_iter().filter(|device| device.kind() == DeviceKind::Sim) {
        let request = Convolution::new([8], [1]).mode(Mode::Periodic).precision(Precision::DoubleSingle);
        let plan = device.convolution(&request).expect("it can be");
        let one = [Complex::new(1.0, 0.0)];
        let spectrum = plan.prepare(&one).expect("it runs");
        let mut factors = spectrum.factors().to_vec();
        factors[3].im = 1e300;
        let (image, mut result) = (vec![one[0]; 8], vec![one[0]; 8]);
        let error =
            plan.convolving().run_filtered(&image, &factors, &mut result).expect_err("it is too large");
        assert_eq!(error, Error::Range { which: Which::Filter, plane: 0, element: 3, value: 1e300 });
    }
}

#[test]
fn counts_given_at_each_run() {
    for device in devices() {
        let problem = asked(&Fft::new([60]).batch(9).any_batch());
        let plan = device.plan(&problem).expect("it can be");
        let numbers = |i: usize| Complex::new((0.1 * i as f64).sin(), (0.7 * i as f64).cos());
        for count in [4_u64, 1, 9] {
            let part = 60 * count as usize;
            let input: Vec<Complex<f64>> = (0..part).map(numbers).collect();
            // No more is there than that count takes.
            let mut output = vec![Complex::default(); part];
            plan.run_host_batch(count, &input, &mut output).expect("it runs");
            let (mut wrong, mut size) = (0.0, 0.0);
            for (at, want) in reference(&problem.at_count(count).expect("so many"), |at| input[at as usize]) {
                wrong += (output[at as usize] - want).norm_sqr();
                size += want.norm_sqr();
            }
            let error = f64::sqrt(wrong / size);
            assert!(error < MOST, "{device:?}: {count}: {error:e}");
        }
    }
}

/// Kept in other types: what comes in as it was rounded, and what goes out rounded once.
#[test]
fn numbers_kept_in_other_types() {
    for device in devices() {
        let lines = Fft::new([60]).batch(9);
        // Single in and double out shows that what is between is more than single.
        hold(&device, "widened", &lines.clone().storages(Storage::F32, Storage::F64));
        hold(&device, "halves widened", &Fft::new([1009]).storages(Storage::F16, Storage::F64));
        let all = [
            lines.clone().storages(Storage::F64, Storage::F32),
            lines.clone().storages(Storage::F64, Storage::F16),
            lines.clone().storage(Storage::F32).in_place().inverse(),
            lines.storage(Storage::Bf16).in_place(),
            Fft::new([48, 36]).storage(Storage::F32).r2c(),
            Fft::new([3000]).storage(Storage::F32).c2r(),
            Fft::new([100]).batch(4).storages(Storage::F32, Storage::F64).planar(),
        ];
        for fft in all {
            let problem = asked(&fft);
            let plan = device.plan(&problem).unwrap_or_else(|error| panic!("{device:?}: {error}"));
            let found = plan.verify().unwrap_or_else(|error| panic!("{device:?}: {error}"));
            assert!(found.holds(), "{device:?}: {:?}: {found}", problem.stored());
        }
    }
}

/// What doubles hold and pairs do not, where it is written as singles.
#[test]
fn numbers_beyond_pairs_are_named_whatever_is_written() {
    let plan = Device::sim(Limits::h200())
        .plan(&asked(&Fft::new([4]).storages(Storage::F64, Storage::F32)))
        .expect("it can be");
    let input = [1.0, 2.0, 1e300, 4.0].map(|x| Complex::new(x, 0.0));
    let mut output = [Complex::new(0.0_f32, 0.0); 4];
    let error = plan.run_mixed(&input[..], &mut output[..]).expect_err("it is too large");
    assert_eq!(error, Error::Range { which: Which::Input, plane: 0, element: 2, value: 1e300 });
}

#[test]
fn what_does_not_go_together_is_named() {
    let error = Fft::new([8]).double_single().scale_to_fit().build().expect_err("f64 reaches further");
    assert!(matches!(error, CoreError::NoHeadroom { .. }), "{error}");
    let error = Fft::new([8]).double_single().on_load(|x, _| x * 1e39).build().expect_err("as singles end");
    assert!(matches!(error, CoreError::FunctionConstant { .. }), "{error}");
}
