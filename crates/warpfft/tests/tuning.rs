//! Tuning on whatever GPU there is, by its own driver or by a software one: without any, the test says so and passes.

mod cases;

use std::time::Duration;

use warpfft::core::problem::Problem;
use warpfft::{Complex, Device, DeviceKind, Wisdom};

use cases::packed;

fn output(device: &Device, problem: &Problem, input: &[Complex<f32>]) -> Vec<Complex<f32>> {
    let plan = device.plan(problem).expect("it has a plan");
    let mut output = vec![Complex::default(); input.len()];
    plan.run_host(input, &mut output).expect("it runs");
    output
}

fn tuned(device: &Device, shape: &[u64], batch: u64) {
    let problem = packed(shape, batch);
    let tuned = device.tune(&problem, Duration::from_secs(1)).expect("it is tuned");
    assert!(tuned.trials.len() >= 2, "{shape:?}: {:?}", tuned.trials);
    for trial in &tuned.trials {
        assert!(trial.seconds.as_ref().is_ok_and(|&seconds| seconds > 0.0), "{shape:?}: {trial:?}");
    }
    assert!(tuned.gain() >= 1.0 && tuned.entry.copies.is_some_and(|copies| copies > 0.1), "{tuned:?}");
    println!("{device:?} {shape:?}: {} of {}, x{:.3}", tuned.best, tuned.trials.len(), tuned.gain());
    let recipe = tuned.trials[tuned.best].recipe.clone();
    let mut wisdom = Wisdom::new();
    wisdom.insert(tuned.entry);
    let told = device.clone().with_wisdom(wisdom);
    assert_eq!(told.recipe(&problem), Ok(Some(recipe)), "{shape:?}");

    let count = problem.elements();
    let part = |i: u64, step: u64| (i * step % 101) as f32 / 101.0 - 0.5;
    let input: Vec<Complex<f32>> = (0..count).map(|i| Complex::new(part(i, 37), part(i, 61))).collect();
    let (got, want) = (output(&told, &problem, &input), output(&Device::cpu(), &problem, &input));
    let norm = |z: Complex<f32>| f64::from(z.re).hypot(f64::from(z.im)).powi(2);
    let wrong: f64 = got.iter().zip(&want).map(|(a, b)| norm(a - b)).sum();
    let size: f64 = want.iter().map(|&b| norm(b)).sum();
    assert!((wrong / size).sqrt() < 1e-6, "{shape:?}");
}

#[test]
fn tuned_plans_are_right_and_no_slower() {
    for kind in [DeviceKind::Cuda, DeviceKind::Wgpu, DeviceKind::OpenCl] {
        match Device::open(kind) {
            Ok(device) => {
                let device = device.with_wisdom(Wisdom::new());
                // Enough work for a GPU's clock, and little enough for a software driver.
                let scale = if device.is_hardware() { 100 } else { 1 };
                for (shape, batch) in [(&[1000][..], 20), (&[12, 12, 12], 4), (&[1 << 15], 1)] {
                    tuned(&device, shape, batch * scale);
                }
            }
            Err(why) => println!("skipped: {why}"),
        }
    }
}
