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
        let (shapes, ways) = if device.kind() == DeviceKind::OpenCl { (short, 1) } else { (long, 4) };
        for strategy in Strategy::all().filter(|strategy| !strategy.is_on_processor()) {
            let (mut ran, mut lacks) = (0, false);
            for &shape in shapes {
                let asked = Fft::new(shape.to_vec()).batch(3);
                let [there, back] = if strategy.takes_reals() {
                    [asked.clone().r2c(), asked.c2r()]
                } else {
                    [asked.clone(), asked.inverse()]
                };
                let mut all = vec![there, back.in_place().norm(Norm::Backward)];
                if !strategy.takes_reals() {
                    // Of those that convert.
                    all.extend([all[0].clone().f16(), all[1].clone().bf16()]);
                }
                for asked in all.into_iter().take(ways) {
                    let problem = asked.build().expect("it is possible");
                    let checked = device.plan_by(&problem, strategy).and_then(|plan| plan.verify());
                    match checked {
                        Ok(checked) if checked.holds() => ran += 1,
                        Ok(checked) => wrong.push(format!("{device:?}, {strategy} {shape:?}: {checked}")),
                        Err(Error::Core(
                            warpfft::core::Error::Strategy { .. }
                            | warpfft::core::Error::DeviceTooSmall { .. },
                        )) => {}
                        Err(Error::Core(warpfft::core::Error::Unsupported { .. })) => lacks = true,
                        Err(error) => wrong.push(format!("{device:?}, {strategy} {shape:?}: {error}")),
                    }
                }
            }
            if ran == 0 && !lacks {
                wrong.push(format!("{device:?}: {strategy} ran nothing"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_processor_has_no_kernels() {
    let problem = Fft::new([64]).build().expect("it is possible");
    for strategy in Strategy::all().filter(|strategy| !strategy.is_on_processor()) {
        let error = Device::cpu().plan_by(&problem, strategy).expect_err("it has none");
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
        assert!(error.to_string().contains(strategy.name()), "{error}");
    }
}

/// Programs of the processor run there, in every way that they may be asked, and nowhere else.
#[test]
fn the_processor_has_its_own() {
    let cpu = Device::cpu();
    for strategy in Strategy::all().filter(Strategy::is_on_processor) {
        let shapes: [&[u64]; 6] = [&[2], &[64], &[1 << 15], &[8, 32], &[4, 8, 16], &[2, 2, 2, 4]];
        for (shape, batch) in shapes.into_iter().zip([5, 3, 2, 3, 2, 3]) {
            let one = Fft::new(shape.to_vec()).batch(batch);
            for asked in [one.clone(), one.clone().f64(), one.clone().in_place(), one.inverse().f64()] {
                let both = [asked.clone().norm(Norm::Ortho), asked.inverse().norm(Norm::Backward)];
                for asked in both {
                    let problem = asked.build().expect("it is possible");
                    let plan = cpu.plan_by(&problem, strategy).expect("it is covered");
                    let checked = plan.verify().expect("it runs");
                    assert!(checked.holds(), "{strategy} {shape:?}: {checked}");
                }
            }
        }
        let problem = Fft::new([64]).build().expect("it is possible");
        let sim = Device::sim(warpfft::core::target::Limits::h200());
        let error = sim.plan_by(&problem, strategy).expect_err("it has no kernels");
        assert!(error.to_string().contains("'cpu'"), "{error}");
        let odd = Fft::new([60]).build().expect("it is possible");
        assert!(cpu.plan_by(&odd, strategy).is_err());
        let device = Device::open_for(strategy, DeviceKind::Auto).expect("it is always there");
        assert_eq!(device.kind(), DeviceKind::Cpu);
    }
}
