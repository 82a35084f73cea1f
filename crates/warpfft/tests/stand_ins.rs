//! What plans on CUDA begin with while their best kernels are assembled. Without a GPU the tests say so and pass.
#![cfg(feature = "cuda")]

#[path = "cases/graph.rs"]
mod graph;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rand::Rng;
use warpfft::core::problem::{Precision, Problem, RealKind};
use warpfft::core::request::Fft;
use warpfft::{Complex, Device, Plan, use_disk_cache, use_stand_ins};

use graph::{Capture, Graphs};

/// A GPU, for one test after the other: a capture forbids what others do. Nothing is read from the disk.
fn device() -> Option<(Device, MutexGuard<'static, ()>)> {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    use_disk_cache(false);
    use_stand_ins(true);
    let device = Device::cuda(0).map_err(|why| println!("skipped: {why}")).ok()?;
    Some((device, turn))
}

fn build(fft: Fft) -> Problem {
    fft.build().expect("it is possible")
}

fn planned(device: &Device, problem: &Problem) -> Plan {
    device.plan(problem).unwrap_or_else(|error| panic!("{problem:?}: {error}"))
}

fn holds(plan: &Plan, when: &str) {
    let problem = plan.problem();
    let check = plan.verify().unwrap_or_else(|error| panic!("{when}, {problem:?}: {error}"));
    assert!(check.holds(), "{when}, {problem:?}: {check:?}");
}

/// Verifies plans before and after they settle; how many began with a stand-in.
fn both(device: &Device, problems: &[Problem]) -> usize {
    let begins = |problem: &Problem| {
        let plan = planned(device, problem);
        let begun = !plan.is_settled();
        let workspace = plan.workspace_bytes();
        holds(&plan, "at first");
        plan.settle().expect("the best can be assembled");
        assert!(plan.is_settled());
        assert_eq!(plan.workspace_bytes(), workspace);
        holds(&plan, "settled");
        begun
    };
    problems.iter().filter(|problem| begins(problem)).count()
}

#[test]
fn they_are_as_right_as_the_best() {
    let Some((device, _turn)) = device() else { return };
    let mut rng = rand::rng();
    let batch = |n: u64| (100_000 / n).max(2);
    let mut problems: Vec<Problem> = [373, 1009, 2003, 4096, 4099, 7919, 8191, 8192, 16_384, 65_536]
        .into_iter()
        .chain((0..40).map(|_| rng.random_range(31..16_384)))
        .flat_map(|n| [Precision::F32, Precision::F64].map(|p| Fft::new([n]).batch(batch(n)).precision(p)))
        .map(build)
        .collect();
    problems.extend([[100, 100], [128, 128], [480, 640]].map(|shape| build(Fft::new(shape).batch(3))));
    problems.extend([8190, 16_384, 1 << 18].map(|n| build(Fft::new([n]).batch(4).r2c())));
    problems.extend([1009, 4096].map(|n| build(Fft::new([n]).batch(20).r2r([RealKind::Dct2]))));
    problems.extend([1 << 18, 99_991].map(|n| build(Fft::new([n]).batch(3).in_place())));
    let begun = both(&device, &problems);
    println!("{begun} of {} began with a stand-in", problems.len());
    assert!(begun > problems.len() / 4, "hardly a plan began with a stand-in: {begun}");
}

#[test]
fn a_plan_waits_where_it_is_told_to() {
    let Some((device, _turn)) = device() else { return };
    use_stand_ins(false);
    let start = Instant::now();
    // Lengths that no other test has: kernels are kept.
    let plan = planned(&device, &build(Fft::new([7907]).batch(64)));
    assert!(plan.is_settled());
    let waited = start.elapsed();
    use_stand_ins(true);
    let start = Instant::now();
    let plan = planned(&device, &build(Fft::new([7901]).batch(64)));
    println!("7907 waits {waited:?}, 7901 begins after {:?}", start.elapsed());
    assert!(!plan.is_settled(), "7901 points take the assembler long");
}

#[test]
fn a_capture_and_what_is_assembled_meanwhile_leave_each_other_alone() {
    let Some((device, _turn)) = device() else { return };
    let graphs = Graphs::open().expect("there is a driver");
    // So many that each is convolved by a block: a few take passes, which have a workspace.
    let (n, batch) = (7883, 64);
    let plan = planned(&device, &build(Fft::new([n]).batch(batch)));
    assert!(!plan.is_settled(), "it would test nothing");
    let context = plan.cuda_context().expect("it is a CUDA plan");
    let (stream, bytes) = (context.stream().expect("a stream"), 8 * n * batch);
    let (from, to) = (context.alloc(bytes).expect("memory"), context.alloc(bytes).expect("memory"));
    let enqueue = || {
        // SAFETY: own stream and own memory of the spanned size, which outlives the download.
        let enqueued = unsafe { plan.enqueue_cuda(stream.raw(), [from.address(), 0], [to.address(), 0], 0) };
        enqueued.expect("it is enqueued");
        // Loaded while all threads are forbidden what may not be captured.
        plan.settle().expect("the best can be assembled");
    };
    let mut impulses = vec![Complex::new(0.0_f32, 0.0); (n * batch) as usize];
    impulses.iter_mut().step_by(n as usize).for_each(|x| x.re = 1.0);
    let mut output = vec![Complex::new(f32::NAN, f32::NAN); impulses.len()];
    assert_eq!(plan.workspace_bytes(), 0);
    // SAFETY: the stream lives through this call, nothing else is enqueued on it during the capture, and the graph is
    // launched on memory that outlives it.
    unsafe {
        graphs.with_context_of(stream.raw(), || {
            let graph = graphs.capture(stream.raw(), Capture::Global, enqueue);
            stream.upload(&from, bytemuck::cast_slice(&impulses)).expect("it uploads");
            graph.launch(stream.raw());
            stream.download(bytemuck::cast_slice_mut(&mut output), &to).expect("it downloads");
        });
    }
    assert!(output.iter().all(|x| (x - 1.0).norm() < 1e-5), "an impulse has a flat spectrum");
}

#[test]
fn plans_may_go_while_their_best_kernels_are_assembled() {
    let Some((device, _turn)) = device() else { return };
    let mut plans: Vec<Plan> = [7853, 7867, 7873, 7877, 7879, 7841, 7829, 7823]
        .map(|n| planned(&device, &build(Fft::new([n]).batch(32))))
        .into();
    plans.truncate(1);
    drop(device);
    holds(&plans[0], "at first");
    plans[0].settle().expect("it is held on to");
    holds(&plans[0], "settled");
}

/// Lengths for a process of its own, which this test is then.
const LENGTHS: &str = "WARPFFT_TEST_LENGTHS";

/// The driver's assembler must not be undone under threads that assemble.
#[test]
fn a_process_may_end_while_kernels_are_assembled() {
    let Some((device, _turn)) = device() else { return };
    if let Ok(lengths) = std::env::var(LENGTHS) {
        let plan = |n: &str| planned(&device, &build(Fft::new([n.parse().expect("a length")]).batch(16)));
        let plans: Vec<Plan> = lengths.split(' ').map(plan).collect();
        println!("settled: {:?}", plans.iter().map(Plan::is_settled).collect::<Vec<_>>());
        return;
    }
    let own = std::env::current_exe().expect("this program has a file");
    for lengths in ["7817", "8192", "2", "530 236", "7853 7867 7873 7877 7879 7841 7829 7823"].repeat(4) {
        let child = std::process::Command::new(&own)
            .args(["--exact", "a_process_may_end_while_kernels_are_assembled", "--nocapture"])
            .env(LENGTHS, lengths)
            .output()
            .expect("it runs");
        let said = [&child.stdout, &child.stderr].map(|text| String::from_utf8_lossy(text));
        assert!(child.status.success(), "{lengths}: {} {said:?}", child.status);
        assert!(said[0].contains("settled"), "{lengths}: it has planned: {said:?}");
    }
}
