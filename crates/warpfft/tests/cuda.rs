//! What only CUDA has: graphs, many streams at once. Without a GPU the tests say so and pass.
#![cfg(feature = "cuda")]

mod cases;
#[path = "cases/graph.rs"]
mod graph;

#[cfg(feature = "peers")]
use std::time::Duration;

use warpfft::core::problem::{Placement, Problem};
use warpfft::{Complex, Device, Error, Plan};

use cases::packed;
use graph::{Capture, Graphs};

fn device() -> Option<Device> {
    Device::cuda(0).map_err(|why| println!("skipped: {why}")).ok()
}

fn input(elements: u64, seed: u64) -> Vec<Complex<f32>> {
    let part = |i: u64, step: u64, modulus: u64| (i * step % modulus) as f32 / modulus as f32 - 0.5;
    (0..elements).map(|i| Complex::new(part(i + seed, 37, 101), part(i + 3 * seed, 61, 89))).collect()
}

/// The same transform on the processor.
fn expected(problem: &Problem, input: &[Complex<f32>]) -> Vec<Complex<f32>> {
    let problem = Problem { placement: Placement::OutOfPlace, ..problem.clone() };
    let plan = Device::cpu().plan(&problem).expect("the processor plans all");
    let mut output = vec![Complex::default(); input.len()];
    plan.run_host(input, &mut output).expect("and runs it");
    output
}

fn relative(got: &[Complex<f32>], wanted: &[Complex<f32>]) -> f64 {
    let norm = |z: Complex<f32>| f64::from(z.re).hypot(f64::from(z.im)).powi(2);
    let wrong: f64 = got.iter().zip(wanted).map(|(a, b)| norm(a - b)).sum();
    let size: f64 = wanted.iter().map(|&b| norm(b)).sum();
    (wrong / size).sqrt()
}

/// Captures a plan in a graph, launches it twice on new data each time, and holds the results against the
/// processor's.
fn captured(graphs: &Graphs, plan: &Plan, name: &str) {
    let problem = plan.problem();
    let context = plan.cuda_context().expect("it is a CUDA plan");
    let elements = plan.output_elements();
    let stream = context.stream().expect("a stream");
    let buffer = || context.alloc(8 * elements).expect("memory");
    let in_place = problem.placement == Placement::InPlace;
    let (from, to) = (buffer(), buffer());
    let workspace = context.alloc(plan.workspace_bytes()).expect("memory");
    let source = if in_place { &to } else { &from };
    let enqueue = || {
        let read = if in_place { 0 } else { from.address() };
        // SAFETY: own stream and own memory of the spanned size, which outlives the downloads.
        let result =
            unsafe { plan.enqueue_cuda(stream.raw(), [read, 0], [to.address(), 0], workspace.address()) };
        result.unwrap_or_else(|error| panic!("{name}: {error}"));
    };
    // What is replayed by now is captured launch by launch all the same.
    (0..4).for_each(|_| enqueue());
    stream.synchronize().expect("it ran");
    // SAFETY: the stream lives through this call, nothing else is enqueued on it during the capture, and the
    // graph is launched on memory that outlives it.
    unsafe {
        graphs.with_context_of(stream.raw(), || {
            let graph = graphs.capture(stream.raw(), Capture::ThisThread, enqueue);
            let launches = plan.program().map_or(0, |program| program.launches.len());
            assert_eq!(graph.nodes(), launches, "{name}: a launch is a node, and there is nothing else");
            for seed in 0..2 {
                let data = input(elements, seed);
                stream.upload(source, bytemuck::cast_slice(&data)).expect("it uploads");
                graph.launch(stream.raw());
                let mut output = vec![Complex::new(f32::NAN, f32::NAN); data.len()];
                stream.download(bytemuck::cast_slice_mut(&mut output), &to).expect("it downloads");
                let error = relative(&output, &expected(problem, &data));
                assert!(error < 2e-6, "{name}, launch {seed}: relative error {error:e}");
            }
        });
    }
}

#[test]
fn transforms_of_every_kind_are_captured_in_a_graph() {
    let Some(device) = device() else { return };
    let graphs = Graphs::open().expect("there is a driver");
    let in_place = |problem| Problem { placement: Placement::InPlace, ..problem };
    let problems = [
        ("a power of two", packed(&[1024], 64)),
        ("a prime on the chip", packed(&[1009], 16)),
        ("a prime in several passes", packed(&[99_991], 2)),
        ("several passes", packed(&[1 << 20], 2)),
        ("in place", in_place(packed(&[360], 32))),
        ("several passes in place", in_place(packed(&[1 << 20], 1))),
        ("two dimensions", packed(&[640, 480], 2)),
        ("three dimensions", packed(&[65, 33, 17], 1)),
    ];
    for (name, problem) in problems {
        let plan = device.plan(&problem).unwrap_or_else(|error| panic!("{name}: {error}"));
        plan.settle().unwrap_or_else(|error| panic!("{name}: {error}"));
        captured(&graphs, &plan, name);
        println!("{name}: captured");
    }
}

#[test]
fn many_plans_run_on_many_streams_at_once() {
    let Some(device) = device() else { return };
    let lengths = [64, 97, 360, 1024, 4096, 5000, 99_991, 1 << 18];
    let run = |turn: usize| {
        let problem = packed(&[lengths[turn % lengths.len()]], 3);
        let plan = device.plan(&problem).expect("it fits the GPU");
        let context = plan.cuda_context().expect("it is a CUDA plan");
        let stream = context.stream().expect("a stream");
        let data = input(plan.input_elements(), turn as u64);
        let bytes = 8 * data.len() as u64;
        let (from, to) = (context.alloc(bytes).expect("memory"), context.alloc(bytes).expect("memory"));
        let workspace = context.alloc(plan.workspace_bytes()).expect("memory");
        stream.upload(&from, bytemuck::cast_slice(&data)).expect("it uploads");
        for _ in 0..20 {
            // SAFETY: own stream and own memory of the spanned size, which outlives the download.
            let enqueued = unsafe {
                plan.enqueue_cuda(stream.raw(), [from.address(), 0], [to.address(), 0], workspace.address())
            };
            enqueued.expect("it is enqueued");
        }
        let mut output = vec![Complex::default(); data.len()];
        stream.download(bytemuck::cast_slice_mut(&mut output), &to).expect("it downloads");
        relative(&output, &expected(&problem, &data))
    };
    let errors: Vec<f64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..32).map(|turn| scope.spawn(move || run(turn))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
    });
    assert!(errors.iter().all(|&error| error < 2e-6), "{errors:?}");
}

#[test]
fn memory_that_is_not_there_is_an_error() {
    let Some(device) = device() else { return };
    let error = device.plan(&packed(&[1 << 40], 1)).map(|_| ()).expect_err("no GPU holds 16 TiB");
    assert!(matches!(error, Error::Core(_) | Error::OutOfMemory { .. }), "{error}");
    // It fits the GPU's memory once, and not twice: planned, but not run on data that the host holds.
    let limits = device.limits().expect("a GPU has limits");
    let points = (limits.max_buffer_bytes / 8 * 3 / 4).next_power_of_two() / 2;
    let plan = device.plan(&packed(&[1024], points / 1024)).expect("each buffer fits");
    let context = plan.cuda_context().expect("it is a CUDA plan");
    let first = context.alloc(limits.max_buffer_bytes);
    assert!(matches!(first, Err(Error::OutOfMemory { .. })), "the whole memory is never free");
}

#[cfg(feature = "peers")]
#[test]
fn cufft_is_timed_beside_or_says_that_it_is_absent() {
    let Some(device) = device() else { return };
    for shape in [&[1000][..], &[32, 32], &[8, 8, 8]] {
        let plan = device.plan(&packed(shape, 1000)).expect("it has a plan");
        let (measured, peers) = plan.measure_beside_peers(Duration::from_millis(100)).expect("it is timed");
        let [cufft] = &peers[..] else { panic!("{peers:?}") };
        match &cufft.times {
            Ok(times) => {
                assert!(times.len() >= 2, "{times:?}");
                let copies = cufft.best().map(|best| best.seconds / measured.copy_seconds);
                assert!(copies.is_some_and(|copies| (0.3..30.0).contains(&copies)), "{shape:?}: {times:?}");
                println!("{shape:?}: {:.3} copies, cuFFT {copies:?}", measured.copies());
            }
            Err(error) => assert!(matches!(error, Error::PeerAbsent { .. }), "{error}"),
        }
    }
}
