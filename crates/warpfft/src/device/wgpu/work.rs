//! A program as pipelines and tables on a device.

use std::borrow::Cow;
use std::sync::{Arc, PoisonError};

use warpfft_core::emit;
use warpfft_core::kernel::{Access, Kernel, Verified};
use warpfft_core::program::Program;
use warpfft_core::target::{Api, Limits};

use super::Gpu;
use super::bound::{self, Bound, WgpuBuffers};
use crate::device::backend::Part;
use crate::device::bindable::{Bindable, Set};
use crate::device::check;
use crate::device::hash::hash;
use crate::error::Error;

/// Usage of buffers that hold the caller's data during a run on host memory.
const DATA: wgpu::BufferUsages =
    wgpu::BufferUsages::STORAGE.union(wgpu::BufferUsages::COPY_SRC).union(wgpu::BufferUsages::COPY_DST);

/// A kernel on the device.
pub(crate) struct Pipeline {
    pub pipeline: wgpu::ComputePipeline,
    pub layout: wgpu::BindGroupLayout,
}

/// A loaded program.
pub(crate) struct WgpuWork {
    gpu: Arc<Gpu>,
    program: Program,
    pipelines: Vec<Arc<Pipeline>>,
    tables: Vec<wgpu::Buffer>,
    /// Of programs whose runs are given a count.
    digits: Option<wgpu::Buffer>,
}

impl WgpuWork {
    pub fn load(gpu: &Arc<Gpu>, program: Program) -> Result<Self, Error> {
        check::program(&program, &gpu.limits)?;
        let pipelines =
            program.kernels.iter().map(|kernel| pipeline(gpu, kernel)).collect::<Result<_, _>>()?;
        let upload = |table| {
            let content = check::table_bytes(table)?;
            let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
            let buffer = buffer(gpu, content.len() as u64, usage)?;
            gpu.guarded(0, || gpu.queue.write_buffer(&buffer, 0, content))?;
            Ok(buffer)
        };
        let tables = program.tables.iter().map(upload).collect::<Result<_, Error>>()?;
        let digits = program.problem.at_run().map(|_| bound::digits(gpu)).transpose()?;
        Ok(Self { gpu: Arc::clone(gpu), program, pipelines, tables, digits })
    }

    pub fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    pub fn bind(&self, buffers: &WgpuBuffers<'_>) -> Result<Bound, Error> {
        self.bind_part(buffers, None)
    }

    /// Buffers that hold what a part of the problem spans.
    pub fn bind_part(&self, buffers: &WgpuBuffers<'_>, part: Option<&Part>) -> Result<Bound, Error> {
        let own = (&self.tables[..], self.digits.as_ref());
        Bound::new(&self.gpu, &self.program, &self.pipelines, own, buffers, part)
    }
}

/// A buffer of that size; refused where the device would lose itself over it.
pub(super) fn buffer(gpu: &Gpu, bytes: u64, usage: wgpu::BufferUsages) -> Result<wgpu::Buffer, Error> {
    let most = gpu.device.limits().max_buffer_size;
    if bytes > most {
        let what = format!("buffers of {bytes} bytes");
        let would_work = format!("split the batch so that no buffer exceeds {most} bytes");
        return Err(Error::Unsupported { device: gpu.limits.name.clone(), what, would_work });
    }
    // Copies and bindings want multiples of 4, and no buffer is empty.
    let size = bytes.next_multiple_of(4).max(4);
    let about = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
    gpu.guarded(bytes, || gpu.device.create_buffer(&about))
}

fn pipeline(gpu: &Gpu, kernel: &Verified<Kernel>) -> Result<Arc<Pipeline>, Error> {
    let browser = matches!(gpu.limits.api, Api::Wgsl { browser: true });
    let device = || gpu.limits.name.clone();
    let text = emit::wgsl(kernel, browser).map_err(|error| Error::Emit {
        kernel: kernel.name.clone(),
        device: device(),
        reason: error.to_string(),
    })?;
    let key = hash(text.as_bytes());
    let known = gpu.pipelines.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
    if let Some(pipeline) = known {
        return Ok(pipeline);
    }
    let built = gpu.guarded(0, || build(gpu, kernel, text));
    let pipeline = Arc::new(built.map_err(|error| match error {
        Error::Validation { detail, .. } => {
            Error::Compile { device: device(), kernel: kernel.name.clone(), log: detail }
        }
        other => other,
    })?);
    let mut pipelines = gpu.pipelines.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(Arc::clone(pipelines.entry(key).or_insert(pipeline)))
}

fn build(gpu: &Gpu, kernel: &Kernel, text: String) -> Pipeline {
    let entry = |(binding, buffer): (usize, &warpfft_core::kernel::Buffer)| wgpu::BindGroupLayoutEntry {
        binding: binding as u32,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Storage { read_only: buffer.access == Access::Read },
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    };
    let mut entries: Vec<_> = kernel.buffers.iter().enumerate().map(entry).collect();
    if kernel.at_run.is_some() {
        let uniform = wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Uniform,
            has_dynamic_offset: false,
            min_binding_size: None,
        };
        let binding = entries.len() as u32;
        let visibility = wgpu::ShaderStages::COMPUTE;
        entries.push(wgpu::BindGroupLayoutEntry { binding, visibility, ty: uniform, count: None });
    }
    let layout = gpu
        .device
        .create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries });
    let whole = gpu.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: &[Some(&layout)],
        immediate_size: 0,
    });
    let source = wgpu::ShaderModuleDescriptor {
        label: Some(&kernel.name),
        source: wgpu::ShaderSource::Wgsl(Cow::Owned(text)),
    };
    // SAFETY: without its checks, wgpu relies on the kernel to stay within its buffers and to end its loops.
    // Kernels are verified, their buffers' lengths were checked against what is bound, and the simulator runs
    // every kind of kernel under exactly these rules.
    let module =
        unsafe { gpu.device.create_shader_module_trusted(source, wgpu::ShaderRuntimeChecks::unchecked()) };
    let pipeline = gpu.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(&kernel.name),
        layout: Some(&whole),
        module: &module,
        entry_point: None,
        // The verifier refuses reads of shared memory that was not written.
        compilation_options: wgpu::PipelineCompilationOptions {
            zero_initialize_workgroup_memory: false,
            ..Default::default()
        },
        cache: None,
    });
    Pipeline { pipeline, layout }
}

impl Bindable for WgpuWork {
    type Buffer = wgpu::Buffer;
    type Bound = Bound;

    fn limits(&self) -> &Limits {
        &self.gpu.limits
    }

    fn compiled(&self) -> &Program {
        &self.program
    }

    fn sibling(&self, program: Program) -> Result<Self, Error> {
        Self::load(&self.gpu, program)
    }

    fn planes(
        &self,
        host: [&[u8]; 2],
        bytes: [u64; 2],
        fill: bool,
    ) -> Result<[Option<wgpu::Buffer>; 2], Error> {
        let plane = |which: usize| -> Result<_, Error> {
            if bytes[which] == 0 {
                return Ok(None);
            }
            let buffer = buffer(&self.gpu, bytes[which], DATA)?;
            if fill {
                let content = &host[which][..bytes[which] as usize];
                // Copies are of whole words.
                let (words, rest) = content.split_at(content.len() / 4 * 4);
                let mut last = [0; 4];
                last[..rest.len()].copy_from_slice(rest);
                self.gpu.guarded(0, || {
                    self.gpu.queue.write_buffer(&buffer, 0, words);
                    if !rest.is_empty() {
                        self.gpu.queue.write_buffer(&buffer, words.len() as u64, &last);
                    }
                })?;
            }
            Ok(Some(buffer))
        };
        Ok([plane(0)?, plane(1)?])
    }

    fn download(&self, source: &wgpu::Buffer, target: &mut [u8]) -> Result<(), Error> {
        let gpu = &self.gpu;
        // Copies are of whole words.
        let bytes = (target.len() as u64).next_multiple_of(4);
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let staging = buffer(gpu, bytes, usage)?;
        gpu.guarded(bytes, || {
            let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            encoder.copy_buffer_to_buffer(source, 0, &staging, 0, bytes);
            gpu.queue.submit([encoder.finish()]);
        })?;
        let (sender, receiver) = std::sync::mpsc::channel();
        staging.map_async(wgpu::MapMode::Read, .., move |result| drop(sender.send(result)));
        gpu.wait()?;
        let lost = |detail: String| Error::DeviceLost { device: gpu.limits.name.clone(), detail };
        let mapped = receiver.recv().map_err(|error| lost(error.to_string()))?;
        mapped.map_err(|error| lost(error.to_string()))?;
        let view = staging.get_mapped_range(..).map_err(|error| lost(error.to_string()))?;
        target.copy_from_slice(&view[..target.len()]);
        Ok(())
    }

    fn bind_set(&self, set: &Set<wgpu::Buffer>, part: Option<&Part>) -> Result<Bound, Error> {
        fn from_start(planes: &[Option<wgpu::Buffer>; 2]) -> [Option<(&wgpu::Buffer, u64)>; 2] {
            planes.each_ref().map(|plane| plane.as_ref().map(|buffer| (buffer, 0)))
        }
        let filter = set.filter.as_ref().map(|buffer| (buffer, 0));
        let (input, output) = (from_start(&set.input), from_start(&set.output));
        self.bind_part(&WgpuBuffers { input, output, filter }, part)
    }

    fn submit<'b>(&self, runs: impl Iterator<Item = &'b Bound>) -> Result<(), Error>
    where
        Bound: 'b,
    {
        let gpu = &self.gpu;
        gpu.guarded(0, || {
            let about = wgpu::CommandEncoderDescriptor::default();
            let mut encoder = gpu.device.create_command_encoder(&about);
            runs.for_each(|bound| bound.encode(&mut encoder));
            gpu.queue.submit([encoder.finish()]);
        })
    }

    fn wait(&self) -> Result<(), Error> {
        self.gpu.wait()
    }
}
