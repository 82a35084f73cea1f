//! Published algorithms on every device of this machine that has kernels, each checked against the reference.

mod cases;

use warpfft::core::request::{Fft, Norm};
use warpfft::{Device, DeviceKind, Error, Strategy};

#[test]
fn every_strategy_on_every_device() {
    let long: &[&[u64]] = &[&[15], &[64], &[2048], &[8, 8, 8]];
    // PoCL's compiler takes seconds for a kernel of many stages.
    let short: &[&[u64]] = &[&[15], &[16], &[4, 4, 4]];
    let mut wrong = Vec::new();
    for device in cases::devices().into_iter().filter(|device| device.limits().is_some()) {
        let (shapes, ways) = if device.kind() == DeviceKind::OpenCl { (short, 1) } else { (long, 2) };
        for strategy in Strategy::all() {
            let mut ran = 0;
            for &shape in shapes {
                let asked = Fft::new(shape.to_vec()).batch(3);
                let both = [asked.clone(), asked.inverse().in_place().norm(Norm::Backward)];
                for asked in both.into_iter().take(ways) {
                    let problem = asked.build().expect("it is possible");
                    let checked = device.plan_by(&problem, strategy).and_then(|plan| plan.verify());
                    match checked {
                        Ok(checked) if checked.holds() => ran += 1,
                        Ok(checked) => wrong.push(format!("{device:?}, {strategy} {shape:?}: {checked}")),
                        Err(Error::Core(
                            warpfft::core::Error::Strategy { .. }
                            | warpfft::core::Error::DeviceTooSmall { .. },
                        )) => {}
                        Err(error) => wrong.push(format!("{device:?}, {strategy} {shape:?}: {error}")),
                    }
                }
            }
            if ran == 0 {
                wrong.push(format!("{device:?}: {strategy} ran nothing"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_processor_has_no_kernels() {
    let problem = Fft::new([64]).build().expect("it is possible");
    for strategy in Strategy::all() {
        let error = Device::cpu().plan_by(&problem, strategy).expect_err("it has none");
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
        assert!(error.to_string().contains(strategy.name()), "{error}");
    }
}
