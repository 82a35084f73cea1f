//! Running on memory that is already on the device, and measuring; where there is no such device, the tests say
//! so and pass.
#![cfg_attr(
    not(any(feature = "cuda", feature = "opencl", feature = "wgpu")),
    allow(dead_code, reason = "for GPUs only")
)]

mod cases;

use std::time::Duration;

use warpfft::{Complex, Device, DeviceKind, Error, survey};

fn input(elements: usize) -> Vec<Complex<f32>> {
    (0..elements).map(|i| Complex::new((i * 37 % 101) as f32, (i * 61 % 89) as f32)).collect()
}

/// The same transform on the processor.
fn expected(problem: &warpfft::core::problem::Problem, input: &[Complex<f32>]) -> Vec<Complex<f32>> {
    let mut output = vec![Complex::default(); input.len()];
    let plan = Device::cpu().plan(problem).expect("the processor plans all");
    plan.run_host(input, &mut output).expect("and runs it");
    output
}

fn assert_close(got: &[Complex<f32>], wanted: &[Complex<f32>]) {
    let wrong: f32 = got.iter().zip(wanted).map(|(a, b)| (a - b).norm_sqr()).sum();
    let size: f32 = wanted.iter().map(Complex::norm_sqr).sum();
    assert!((wrong / size).sqrt() < 1e-6, "relative error {}", (wrong / size).sqrt());
}

#[test]
fn every_kind_is_surveyed_and_reasons_are_given() {
    let reports = survey();
    for kind in [DeviceKind::Cpu, DeviceKind::Sim] {
        assert!(reports.iter().any(|report| report.kind == kind && report.usable.is_ok()));
    }
    for report in reports {
        assert!(!report.name.is_empty());
        if let Err(reason) = report.usable {
            assert!(Device::open(report.kind).is_err(), "{}: {reason}, and yet it opens", report.name);
        }
    }
    assert!(Device::open(DeviceKind::Auto).is_ok());
    assert_eq!("CUDA".parse(), Ok(DeviceKind::Cuda));
    assert!(matches!("gpu".parse::<DeviceKind>(), Err(Error::UnknownDevice { given }) if given == "gpu"));
}

#[test]
fn the_processor_is_measured_in_copies() {
    let plan = Device::cpu().plan(&cases::packed(&[4096], 16)).expect("the processor plans all");
    let measured = plan.measure(Duration::from_millis(20)).expect("it runs");
    assert_eq!(measured.bytes, 2 * 8 * 16 * 4096);
    assert!(measured.rounds >= 5 && measured.copy_seconds > 0.0);
    assert!(measured.buffer_sets > 1, "a mebibyte is not timed from the cache");
    assert!(measured.transform_best <= measured.transform_seconds && measured.copies() > 0.0);
}

#[test]
fn absurd_problems_are_errors() {
    let device = Device::cpu();
    let huge = cases::packed(&[1 << 50], 1);
    assert!(matches!(device.plan(&huge), Err(Error::OutOfMemory { .. })));
    let mut outside = cases::packed(&[8], 1);
    outside.transform[0].is = -1;
    assert!(matches!(device.plan(&outside), Err(Error::Address { element: -7, .. })));
    let mut empty = cases::packed(&[8], 1);
    empty.transform[0].n = 0;
    assert!(device.plan(&empty).is_err());
    let mut endless = cases::packed(&[u64::MAX, u64::MAX], 1);
    endless.transform[0].os = i64::MIN;
    assert!(device.plan(&endless).is_err());
}

#[cfg(feature = "wgpu")]
#[test]
fn wgpu_records_on_the_callers_buffers() {
    use warpfft::device::wgpu::WgpuBuffers;

    let Ok(device) = Device::wgpu() else { return println!("no wgpu adapter: skipped") };
    let problem = cases::packed(&[64, 32], 3);
    let plan = device.plan(&problem).expect("it fits every device");
    let (gpu, queue) = plan.wgpu_device().expect("it is a wgpu plan");
    let data = input(64 * 32 * 3);
    let bytes = 8 * data.len() as u64;
    let buffer = |usage| {
        gpu.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: bytes,
            usage,
            mapped_at_creation: false,
        })
    };
    let storage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
    let (from, to) = (buffer(storage), buffer(storage));
    let back = buffer(wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST);
    queue.write_buffer(&from, 0, bytemuck::cast_slice(&data));
    let short =
        WgpuBuffers { input: [Some((&from, 256)), None], output: [Some((&to, 0)), None], filter: None };
    assert!(matches!(plan.bind_wgpu(&short), Err(Error::BufferTooSmall { got, .. }) if got == bytes - 256));
    let both = WgpuBuffers { input: [Some((&to, 0)), None], output: [Some((&to, 0)), None], filter: None };
    assert!(matches!(plan.bind_wgpu(&both), Err(Error::Unsupported { .. })));
    let bound = plan
        .bind_wgpu(&WgpuBuffers {
            input: [Some((&from, 0)), None],
            output: [Some((&to, 0)), None],
            filter: None,
        })
        .expect("the buffers fit");
    let mut encoder = gpu.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    bound.encode(&mut encoder);
    bound.encode(&mut encoder);
    encoder.copy_buffer_to_buffer(&to, 0, &back, 0, bytes);
    queue.submit([encoder.finish()]);
    back.map_async(wgpu::MapMode::Read, .., |mapped| mapped.expect("it maps"));
    gpu.poll(wgpu::PollType::wait_indefinitely()).expect("the device works");
    let view = back.get_mapped_range(..).expect("it is mapped");
    assert_close(bytemuck::cast_slice(&view), &expected(&problem, &data));
    let measured = plan.measure(Duration::from_millis(20)).expect("it runs");
    assert!(measured.transform_seconds > 0.0 && measured.copies() > 0.0);
}

#[cfg(feature = "opencl")]
#[test]
fn opencl_enqueues_on_the_callers_memory() {
    use opencl3::command_queue::CommandQueue;
    use opencl3::context::Context;
    use opencl3::memory::{Buffer, CL_MEM_READ_WRITE, ClMem};
    use opencl3::types::{CL_BLOCKING, cl_float};
    use warpfft::device::opencl::OpenClBuffers;

    // A context, a device and a queue of the caller's own.
    let found = match Device::opencl() {
        Ok(found) => found,
        Err(why) => return println!("skipped: {why}"),
    };
    let problem = cases::packed(&[64, 32], 3);
    let first = found.plan(&problem).expect("it fits every device");
    let (_, id, _) = first.opencl_device().expect("it is an OpenCL plan");
    let context = Context::from_device(&opencl3::device::Device::new(id)).expect("a context");
    #[allow(deprecated, reason = "OpenCL 1.2 has no other")]
    // SAFETY: the context was made for this device.
    let queue = unsafe { CommandQueue::create(&context, id, 0) }.expect("a queue");
    // SAFETY: both are alive.
    let device = unsafe { Device::from_opencl(context.get(), id) }.expect("the same device");
    let plan = device.plan(&problem).expect("it fits every device");
    let data = input(64 * 32 * 3);
    let reals: &[cl_float] = bytemuck::cast_slice(&data);
    let buffer = |reals: usize| {
        // SAFETY: no memory of this side is handed over.
        unsafe { Buffer::<cl_float>::create(&context, CL_MEM_READ_WRITE, reals, std::ptr::null_mut()) }
            .expect("memory")
    };
    let (mut from, to, small) = (buffer(reals.len()), buffer(reals.len()), buffer(reals.len() - 2));
    // SAFETY: the buffer holds as many numbers, and the call waits.
    unsafe { queue.enqueue_write_buffer(&mut from, CL_BLOCKING, 0, reals, &[]) }.expect("it is written");
    let bind = |input: &Buffer<cl_float>, output: &Buffer<cl_float>| {
        let one = |buffer: &Buffer<cl_float>| [Some(buffer.get()), None];
        // SAFETY: they are of the plan's context, and none is within another.
        unsafe { plan.bind_opencl(&OpenClBuffers { input: one(input), output: one(output), filter: None }) }
    };
    let needed = 4 * reals.len() as u64;
    assert!(matches!(bind(&small, &to), Err(Error::BufferTooSmall { got, .. }) if got == needed - 8));
    assert!(matches!(bind(&to, &to), Err(Error::Unsupported { .. })));
    let bound = bind(&from, &to).expect("the buffers fit");
    let mut got = vec![0.0; reals.len()];
    // SAFETY: the queue is of that context and in order; nobody else touches the memory; the last call waits.
    unsafe {
        bound.enqueue(queue.get()).expect("it runs");
        bound.enqueue(queue.get()).expect("it runs again");
        assert!(bound.enqueue_batch(queue.get(), 1).is_err(), "its number of transforms is fixed");
        queue.enqueue_read_buffer(&to, CL_BLOCKING, 0, &mut got, &[]).expect("it is read");
    }
    assert_close(bytemuck::cast_slice(&got), &expected(&problem, &data));
    let measured = plan.measure(Duration::from_millis(20)).expect("it runs");
    assert!(measured.transform_seconds > 0.0 && measured.copies() > 0.0);
}

#[cfg(feature = "cuda")]
#[test]
fn cuda_enqueues_on_the_callers_memory() {
    let device = match Device::cuda(0) {
        Ok(device) => device,
        Err(why) => return println!("skipped: {why}"),
    };
    let problem = cases::packed(&[1024], 33);
    let plan = device.plan(&problem).expect("it fits every GPU");
    let context = plan.cuda_context().expect("it is a CUDA plan");
    let data = input(1024 * 33);
    let bytes = 8 * data.len() as u64;
    let stream = context.stream().expect("a stream");
    let (from, to) = (context.alloc(bytes).expect("memory"), context.alloc(bytes).expect("memory"));
    let workspace = context.alloc(plan.workspace_bytes()).expect("memory");
    stream.upload(&from, bytemuck::cast_slice(&data)).expect("it uploads");
    let enqueue = |input: u64| {
        // SAFETY: own stream, own memory of the spanned size, alive until the download has waited.
        unsafe { plan.enqueue_cuda(stream.raw(), [input, 0], [to.address(), 0], workspace.address()) }
    };
    assert!(matches!(enqueue(from.address() + 2), Err(Error::Misaligned { .. })));
    let milliseconds = context.time_on_stream(&stream, 10, || enqueue(from.address())).expect("it runs");
    assert!(milliseconds > 0.0);
    let mut output = vec![Complex::new(0.0_f32, 0.0); data.len()];
    stream.download(bytemuck::cast_slice_mut(&mut output), &to).expect("it downloads");
    assert_close(&output, &expected(&problem, &data));
    assert!(matches!(context.alloc(1 << 50), Err(Error::OutOfMemory { bytes, .. }) if bytes == 1 << 50));
    assert!(
        plan.cuda_registers()
            .expect("a CUDA plan")
            .iter()
            .all(|&(registers, spilled)| registers > 0 && spilled == 0)
    );
    let again = device.plan(&problem).expect("a second plan shares the kernels");
    assert_eq!(again.workspace_bytes(), plan.workspace_bytes());
    let measured = plan.measure(Duration::from_millis(20)).expect("it runs");
    assert!(measured.on_device && measured.copies() > 0.1);
    assert!(measured.launch_seconds.is_some_and(|launch| launch > 1e-7 && launch < 1e-3), "{measured:?}");
}
