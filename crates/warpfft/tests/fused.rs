//! Two passes in one launch on a GPU: against the reference, and the same bits from every one of many launches. Without
//! such a GPU the tests say so and pass.
#![cfg(feature = "cuda")]

mod cases;

use warpfft::core::kernel::Op;
use warpfft::core::problem::{Placement, Precision, Problem};
use warpfft::{Device, Plan};

use cases::packed;
use cases::stress::stress;

/// Shapes of two passes on an H200.
const SHAPES: [&[u64]; 6] = [&[1 << 18], &[1 << 19], &[1 << 20], &[100_000], &[512, 512], &[64, 64, 64]];

fn device() -> Option<Device> {
    Device::cuda(0).map_err(|why| println!("skipped: {why}")).ok()
}

/// Whether some kernel of a plan waits for others of its blocks.
fn fused(plan: &Plan) -> bool {
    let program = plan.program().expect("a CUDA plan has a program");
    // Waits are one thread's.
    program.kernels.iter().any(|kernel| {
        let inner = kernel.body.insts.iter().flat_map(|inst| &inst.blocks).flat_map(|block| &block.insts);
        let innermost = inner.flat_map(|inst| &inst.blocks).flat_map(|block| &block.insts);
        innermost.into_iter().any(|inst| matches!(inst.op, Op::CounterWait { .. }))
    })
}

/// As many transforms as exceed the device's cache `times` times over, input alone.
fn problem(shape: &[u64], device: &Device, times: u64) -> Problem {
    let points: u64 = shape.iter().product();
    let cache = device.limits().map_or(0, |limits| limits.l2_bytes);
    packed(shape, (times * cache / (8 * points)).max(1) + 1)
}

#[test]
fn fused_launches_compute_the_transform() {
    let Some(device) = device() else { return };
    let mut any = false;
    for shape in SHAPES {
        for precision in [Precision::F32, Precision::F64] {
            for placement in [Placement::OutOfPlace, Placement::InPlace] {
                let problem = Problem { precision, placement, ..problem(shape, &device, 1) };
                let what = format!("{shape:?} {precision:?} {placement:?}");
                let plan = device.plan(&problem).unwrap_or_else(|error| panic!("{what}: {error}"));
                any |= fused(&plan);
                let error = match precision {
                    Precision::F32 => cases::run(&device, &problem, |x| x as f32),
                    Precision::F64 => cases::run(&device, &problem, |x| x),
                };
                let error = error.unwrap_or_else(|error| panic!("{what}: {error}"));
                let tolerance = if precision == Precision::F32 { 1.5e-6 } else { 3e-15 };
                println!("{what}: fused {}, error {error:.2e}", fused(&plan));
                assert!(error < tolerance, "{what}: relative error {error:e}");
            }
        }
    }
    assert!(any, "no plan was fused");
}

#[test]
fn every_launch_gives_the_same_bits() {
    let Some(device) = device() else { return };
    for shape in SHAPES {
        for times in [1, 3] {
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
            let plan = device.plan(&problem(shape, &device, 1)).expect("it fits the GPU");
            scope.spawn(move || stress(&plan, 3, 20, &format!("{shape:?} beside others")));
        }
    });
}
