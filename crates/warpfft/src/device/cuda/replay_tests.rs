//! Replayed launches on a GPU; without one the tests say so and pass.

use warpfft_core::problem::Problem;
use warpfft_core::request::Fft;

use super::super::memory::{DeviceBuffer, Stream};
use super::super::work::CudaWork;
use super::{CAPTURE_RELAXED, Handle, MOST};
use crate::{Complex, Device, DeviceKind, Plan};

fn device() -> Option<Device> {
    Device::cuda(0).map_err(|why| println!("skipped: {why}")).ok()
}

fn plan(device: &Device, problem: &Problem) -> Plan {
    let plan = device.plan(problem).expect("it fits the GPU");
    plan.settle().expect("its kernels are assembled");
    plan
}

fn graphs(plan: &Plan) -> usize {
    plan.work_as::<CudaWork>(DeviceKind::Cuda).expect("it is a CUDA plan").ready.now().replays.graphs()
}

/// Enqueues a plan, or with a count that many of its transforms.
///
/// # Safety
///
/// The stream and the addresses are of the plan's device; there is what the plan spans, until the work is done.
unsafe fn enqueue(plan: &Plan, stream: &Stream, [from, to, workspace]: [u64; 3], count: Option<u64>) {
    // SAFETY: by this function's contract.
    let enqueued = unsafe {
        match count {
            None => plan.enqueue_cuda(stream.raw(), [from, 0], [to, 0], workspace),
            Some(count) => plan.enqueue_cuda_batch(count, stream.raw(), [from, 0], [to, 0], workspace),
        }
    };
    enqueued.expect("it is enqueued");
}

fn noise(elements: u64) -> Vec<Complex<f32>> {
    let part = || rand::random_range(-1.0..1.0);
    (0..elements).map(|_| Complex::new(part(), part())).collect()
}

/// Relative error beside the processor's result.
fn error(problem: &Problem, input: &[Complex<f32>], got: &[Complex<f32>]) -> f64 {
    let mut wanted = vec![Complex::default(); input.len()];
    let plan = Device::cpu().plan(problem).expect("the processor plans all");
    plan.run_host(input, &mut wanted).expect("and runs it");
    let norm = |z: Complex<f32>| f64::from(z.re).powi(2) + f64::from(z.im).powi(2);
    let wrong: f64 = got.iter().zip(&wanted).map(|(a, b)| norm(a - b)).sum();
    (wrong / wanted.iter().map(|&z| norm(z)).sum::<f64>()).sqrt()
}

#[test]
fn launches_with_the_same_addresses_are_replayed_and_right_each_time() {
    let Some(device) = device() else { return };
    for shape in [&[64][..], &[1 << 16], &[1 << 18], &[64, 64, 64], &[10007], &[1000, 1000]] {
        let problem = Fft::new(shape).build().expect("it is valid");
        let plan = plan(&device, &problem);
        let context = plan.cuda_context().expect("it is a CUDA plan");
        let elements = plan.output_elements();
        let buffer = || context.alloc(8 * elements).expect("memory");
        let (from, to) = ([buffer(), buffer()], [buffer(), buffer()]);
        let workspace = context.alloc(plan.workspace_bytes()).expect("memory");
        let streams = [(); 2].map(|()| context.stream().expect("a stream"));
        // The second stream and the second pair of buffers come in between, and have graphs of their own.
        for turn in 0..12 {
            let (at, stream) = (turn % 2, &streams[turn / 2 % 2]);
            let input = noise(elements);
            stream.upload(&from[at], bytemuck::cast_slice(&input)).expect("it uploads");
            let addresses = [&from[at], &to[at], &workspace].map(DeviceBuffer::address);
            // SAFETY: own stream and own memory of the spanned size, which outlives the download.
            unsafe { enqueue(&plan, stream, addresses, None) };
            let mut got = vec![Complex::new(f32::NAN, f32::NAN); input.len()];
            stream.download(bytemuck::cast_slice_mut(&mut got), &to[at]).expect("it downloads");
            let error = error(&problem, &input, &got);
            assert!(error < 2e-6, "{shape:?}, turn {turn}: relative error {error:e}");
            // Each of the four is recorded the third time.
            let wanted = if super::is_off() { 0 } else { (turn + 1_usize).saturating_sub(8).min(4) };
            assert_eq!(graphs(&plan), wanted, "{shape:?}, turn {turn}");
        }
        println!("{shape:?}: {} graphs", graphs(&plan));
    }
}

#[test]
fn a_count_that_the_run_gives_has_a_graph_of_its_own() {
    let Some(device) = device() else { return };
    let problem = Fft::new([1000]).batch(8).any_batch().build().expect("it is valid");
    let plan = plan(&device, &problem);
    let context = plan.cuda_context().expect("it is a CUDA plan");
    let stream = context.stream().expect("a stream");
    let bytes = 8 * plan.output_elements();
    let (from, to) = (context.alloc(bytes).expect("memory"), context.alloc(bytes).expect("memory"));
    let workspace = context.alloc(plan.workspace_bytes()).expect("memory");
    for turn in 0..8 {
        for count in [3, 8] {
            let input = noise(1000 * count);
            stream.upload(&from, bytemuck::cast_slice(&input)).expect("it uploads");
            let untouched = vec![f32::MAX; 2 * plan.output_elements() as usize];
            stream.upload(&to, bytemuck::cast_slice(&untouched)).expect("it uploads");
            let addresses = [&from, &to, &workspace].map(DeviceBuffer::address);
            // SAFETY: as above.
            unsafe { enqueue(&plan, &stream, addresses, Some(count)) };
            let mut got = vec![Complex::default(); plan.output_elements() as usize];
            stream.download(bytemuck::cast_slice_mut(&mut got), &to).expect("it downloads");
            let one = Fft::new([1000]).batch(count).build().expect("it is valid");
            let (done, rest) = got.split_at(input.len());
            assert!(error(&one, &input, done) < 2e-6, "turn {turn}, {count} of them");
            assert!(
                rest.iter().all(|z| z.re == f32::MAX && z.im == f32::MAX),
                "turn {turn}, {count} of them"
            );
        }
    }
    assert_eq!(graphs(&plan), if super::is_off() { 0 } else { 2 });
}

#[test]
fn addresses_that_come_and_go_leave_few_graphs() {
    let Some(device) = device() else { return };
    let plan = plan(&device, &Fft::new([256]).build().expect("it is valid"));
    let context = plan.cuda_context().expect("it is a CUDA plan");
    let stream = context.stream().expect("a stream");
    let memory = context.alloc(2048 * 2 * 40).expect("memory");
    let workspace = context.alloc(plan.workspace_bytes()).expect("memory");
    for set in 0..20 {
        let [from, to] = [0, 1].map(|side| memory.address() + 2048 * (2 * set + side));
        for _ in 0..4 {
            // SAFETY: as above; all stays within the memory, which outlives the work.
            unsafe { enqueue(&plan, &stream, [from, to, workspace.address()], None) };
        }
        assert!(graphs(&plan) <= MOST);
    }
    stream.synchronize().expect("all of it was right");
}

#[test]
fn a_run_that_is_captured_is_no_run_to_record() {
    let Some(device) = device() else { return };
    let problem = Fft::new([1 << 18]).batch(2).build().expect("it is valid");
    let plan = plan(&device, &problem);
    let context = plan.cuda_context().expect("it is a CUDA plan");
    let stream = context.stream().expect("a stream");
    let bytes = 8 * plan.output_elements();
    let (from, to) = (context.alloc(bytes).expect("memory"), context.alloc(bytes).expect("memory"));
    let workspace = context.alloc(plan.workspace_bytes()).expect("memory");
    let input = noise(plan.output_elements());
    stream.upload(&from, bytemuck::cast_slice(&input)).expect("it uploads");
    let addresses = [&from, &to, &workspace].map(DeviceBuffer::address);
    // SAFETY: as above.
    let run = || unsafe { enqueue(&plan, &stream, addresses, None) };
    (0..2).for_each(|_| run());
    {
        let _current = context.current().expect("the context");
        let mut graph: Handle = std::ptr::null_mut();
        // SAFETY: a live stream, on which nothing else is enqueued meanwhile; a place for the graph, which is destroyed once.
        unsafe {
            assert_eq!((context.driver.cuStreamBeginCapture_v2)(stream.raw(), CAPTURE_RELAXED), 0);
            (0..2).for_each(|_| run());
            assert_eq!((context.driver.cuStreamEndCapture)(stream.raw(), &raw mut graph), 0);
            assert_eq!((context.driver.cuGraphDestroy)(graph), 0);
        }
    }
    assert_eq!(graphs(&plan), 0);
    (0..2).for_each(|_| run());
    assert_eq!(graphs(&plan), usize::from(!super::is_off()));
    let mut got = vec![Complex::default(); input.len()];
    stream.download(bytemuck::cast_slice_mut(&mut got), &to).expect("it downloads");
    assert!(error(&problem, &input, &got) < 2e-6);
}
