//! Two passes in one launch on a GPU: against the reference, and the same bits from every one of many launches. Without
//! such a GPU the tests say so and pass.
#![cfg(feature = "cuda")]

mod cases;

use warpfft::core::kernel::Op;
use warpfft::core::math::reference::{reference, relative_l2};
use warpfft::core::problem::{Placement, Precision, Problem};
use warpfft::{Complex, Device, Plan, Real};

use cases::packed;
use cases::stress::stress;

/// Shapes of two passes on an H200, or of three of which two share a launch: the last two of 7^7 points, the first two of the
/// convolution of 65537.
const SHAPES: [&[u64]; 8] =
    [&[1 << 18], &[1 << 19], &[1 << 20], &[512, 512], &[1024, 1024], &[64, 64, 64], &[823_543], &[65_537]];

fn device() -> Option<Device> {
    warpfft::use_stand_ins(false);
    Device::cuda(0).map_err(|why| println!("skipped: {why}")).ok()
}

/// Whether some kernel of a plan waits for others of its blocks.
fn fused(plan: &Plan) -> bool {
    let program = plan.program().expect("a CUDA plan has a program");
    // Waits are one thread's.
    program.kernels.iter().any(|kernel| {
        let inner = kernel.body.insts.iter().flat_map(|inst| &inst.blocks).flat_map(|block| &block.insts);
        let innermost = inner.flat_map(|inst| &inst.blocks).flat_map(|block| &block.insts);
        innermost.into_iter().any(|inst| matches!(inst.op, Op::CounterWait))
    })
}

/// As many transforms as exceed the device's cache `times` times over, input alone.
fn problem(shape: &[u64], device: &Device, times: u64) -> Problem {
    let points: u64 = shape.iter().product();
    let cache = device.limits().map_or(0, |limits| limits.l2_bytes);
    packed(shape, (times * cache / (8 * points)).max(1) + 1)
}

/// Numbers of either precision that do not repeat soon.
fn noise(count: u64) -> Vec<Complex<f64>> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        f64::from((state >> 40) as u32) / f64::from(1 << 23) - 1.0
    };
    (0..count).map(|_| Complex::new(next(), next())).collect()
}

/// What a plan makes of the input, out of place and in place.
fn outputs<T: Real + Into<f64>>(
    device: &Device,
    problem: &Problem,
    input: &[Complex<f64>],
    narrow: fn(f64) -> T,
) -> Vec<(bool, Vec<Complex<T>>)> {
    let input: Vec<Complex<T>> = input.iter().map(|x| Complex::new(narrow(x.re), narrow(x.im))).collect();
    let zero = Complex::new(narrow(0.0), narrow(0.0));
    let plan = device.plan(problem).expect("it fits the GPU");
    let mut apart = vec![zero; input.len()];
    plan.run_host(&input, &mut apart).expect("it runs");
    let within = Problem { placement: Placement::InPlace, ..problem.clone() };
    let other = device.plan(&within).expect("it fits the GPU");
    let mut place = input;
    other.run_in_place(&mut place).expect("it runs");
    vec![(fused(&plan), apart), (fused(&other), place)]
}

/// The first, the last and one transform between, against the reference.
#[test]
fn fused_launches_compute_the_transform() {
    let Some(device) = device() else { return };
    let mut any = false;
    for shape in SHAPES {
        let points: u64 = shape.iter().product();
        let all = problem(shape, &device, 2);
        let batch = all.elements() / points;
        let input = noise(all.elements());
        let items = [0, batch / 2, batch - 1].map(|item| (item * points) as usize);
        let one = packed(shape, 1);
        let wanted = items.map(|start| {
            let mut values = vec![Complex::new(0.0, 0.0); points as usize];
            for (at, value) in reference(&one, |element| input[start + element as usize]) {
                values[at as usize] = value;
            }
            values
        });
        let mut check =
            |(fused, start, wanted): (bool, usize, &Vec<_>), got: Vec<Complex<f64>>, most: f64| {
                any |= fused;
                let error = relative_l2(&got, wanted);
                println!("{shape:?}, from {start}: fused {fused}, error {error:.2e}");
                assert!(error < most, "{shape:?}, from {start}, fused {fused}: relative error {error:e}");
            };
        let wide = |x: &Complex<f32>| Complex::new(x.re.into(), x.im.into());
        for (fused, output) in outputs(&device, &all, &input, |x| x as f32) {
            for (start, wanted) in items.into_iter().zip(&wanted) {
                let got = output[start..start + points as usize].iter().map(wide).collect();
                check((fused, start, wanted), got, 1.5e-6);
            }
        }
        let double = Problem { precision: Precision::F64, ..all.clone() };
        for (fused, output) in outputs(&device, &double, &input, |x| x) {
            for (start, wanted) in items.into_iter().zip(&wanted) {
                check((fused, start, wanted), output[start..start + points as usize].to_vec(), 3e-15);
            }
        }
    }
    assert!(any, "no plan was fused");
}

#[test]
fn every_launch_gives_the_same_bits() {
    let Some(device) = device() else { return };
    for shape in SHAPES {
        for times in [2, 3] {
            let plan = device.plan(&problem(shape, &device, times)).expect("it fits the GPU");
            stress(&plan, 4, 20, &format!("{shape:?}, {times} caches, fused {}", fused(&plan)));
        }
    }
}

/// Blocks of several fused launches are resident at once, each waiting for its own.
#[test]
fn fused_launches_share_the_gpu() {
    let Some(device) = device() else { return };
    std::thread::scope(|scope| {
        for shape in SHAPES {
            let plan = device.plan(&problem(shape, &device, 2)).expect("it fits the GPU");
            scope.spawn(move || stress(&plan, 3, 20, &format!("{shape:?} beside others")));
        }
    });
}
