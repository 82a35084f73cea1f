//! Clusters of blocks on a GPU that has them: against the reference, and the same bits from every one of many
//! launches. Without such a GPU the tests say so and pass.
#![cfg(feature = "cuda")]

mod cases;

use warpfft::core::problem::{Direction, Placement, Precision, Problem};
use warpfft::{Device, Plan};

use cases::packed;
use cases::stress::stress;

/// Shapes whose tile takes a cluster on an H200, with twice the points that it would have in double precision.
const SHAPES: [&[u64]; 16] = [
    &[1 << 14],
    &[1 << 15],
    &[1 << 16],
    &[1 << 17],
    &[12288],
    &[20480],
    &[49152],
    &[98304],
    &[128, 128],
    &[256, 256],
    &[32, 32, 32],
    &[24, 24, 24],
    &[150, 150],
    &[300, 300],
    &[2500, 160],
    &[6000, 64],
];

fn device() -> Option<Device> {
    warpfft::use_stand_ins(false);
    let device = Device::cuda(0).map_err(|why| println!("skipped: {why}")).ok()?;
    let clusters = device.limits().is_some_and(|limits| limits.max_cluster >= 16 && limits.bulk_copy);
    if !clusters {
        println!("skipped: {} has no clusters of 16 blocks", device.name());
    }
    clusters.then_some(device)
}

/// Blocks of a cluster of each launch.
fn clusters(plan: &Plan) -> Vec<u32> {
    let program = plan.program().expect("a CUDA plan has a program");
    program.launches.iter().map(|launch| program.kernels[launch.kernel].cluster).collect()
}

#[test]
fn clusters_compute_the_transform() {
    let Some(device) = device() else { return };
    let mut largest = 0;
    for shape in SHAPES {
        for precision in [Precision::F32, Precision::F64] {
            for (batch, placement, direction) in [
                (1, Placement::OutOfPlace, Direction::Forward),
                (3, Placement::InPlace, Direction::Inverse),
                (5, Placement::OutOfPlace, Direction::Inverse),
            ] {
                let mut problem = Problem { placement, direction, precision, ..packed(shape, batch) };
                if precision == Precision::F64 {
                    halve(&mut problem);
                }
                let what = format!("{shape:?} x {batch} {precision:?} {placement:?}");
                let plan = device.plan(&problem).unwrap_or_else(|error| panic!("{what}: {error}"));
                let registers = plan.cuda_registers().expect("it is a CUDA plan");
                let error = held_against_the_reference(&device, &problem, &what);
                let clusters = clusters(&plan);
                println!(
                    "{what}: clusters {clusters:?}, registers and spills {registers:?}, error {error:.2e}"
                );
                largest = largest.max(clusters.into_iter().max().unwrap_or(1));
            }
        }
    }
    assert_eq!(largest, 16, "no plan took a cluster of 16");
}

/// The error of a problem, which is small.
fn held_against_the_reference(device: &Device, problem: &Problem, what: &str) -> f64 {
    let (error, tolerance) = match problem.precision {
        Precision::F32 => (cases::run(device, problem, |x| x as f32), 1.5e-6),
        Precision::F64 | Precision::DoubleSingle => (cases::run(device, problem, |x| x), 3e-15),
    };
    let error = error.unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(error < tolerance, "{what}: relative error {error:e}");
    error
}

/// Half the points in the first dimension, for numbers of twice the size.
fn halve(problem: &mut Problem) {
    let dims = &mut problem.transform;
    dims[0].n /= 2;
    for dim in &mut problem.batch {
        dim.is /= 2;
        dim.os /= 2;
    }
}

#[test]
fn every_launch_gives_the_same_bits() {
    let Some(device) = device() else { return };
    for shape in SHAPES {
        let points: u64 = shape.iter().product();
        // From one cluster alone over a part of a wave and a whole one to several with a rest.
        for batch in [1, 7, 53, 211] {
            let batch = (batch * (1 << 16) / points).max(1);
            let plan = device.plan(&packed(shape, batch)).expect("it fits the GPU");
            let what = format!("{shape:?} x {batch}, clusters {:?}", clusters(&plan));
            stress(&plan, 8, 40, &what);
            println!("{what}: the same bits");
        }
    }
}

/// Convolutions of which two blocks take half each: the least number of lines, and more than the GPU holds at a time.
#[test]
fn halves_compute_the_transform() {
    let Some(device) = device() else { return };
    let chirps = [(20_011, Precision::F32), (27_011, Precision::F32), (10_007, Precision::F64)];
    let primes = [
        (18_433, Precision::F32),
        (57_601, Precision::F32),
        (12_289, Precision::F64),
        (28_513, Precision::F64),
    ];
    for (n, precision) in chirps.into_iter().chain(primes) {
        for (batch, placement, direction) in
            [(45, Placement::OutOfPlace, Direction::Forward), (67, Placement::InPlace, Direction::Inverse)]
        {
            let problem = Problem { placement, direction, precision, ..packed(&[n], batch) };
            let what = format!("{batch} of {n} {precision:?} {placement:?}");
            let plan = device.plan(&problem).unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(clusters(&plan), [2], "{what}");
            let error = held_against_the_reference(&device, &problem, &what);
            println!("{what}: error {error:.2e}");
        }
    }
    for n in [20_011, 27_011, 18_433, 33_601] {
        let plan = device.plan(&packed(&[n], 211)).expect("it fits the GPU");
        stress(&plan, 8, 40, &format!("halves of {n}"));
    }
}

#[test]
fn clusters_share_the_gpu_with_other_kernels() {
    let Some(device) = device() else { return };
    std::thread::scope(|scope| {
        for shape in [&[1_u64 << 15][..], &[1 << 16], &[256, 256], &[1000]] {
            let plan = device.plan(&packed(shape, 61)).expect("it fits the GPU");
            scope.spawn(move || stress(&plan, 6, 50, &format!("{shape:?} beside others")));
        }
    });
}
