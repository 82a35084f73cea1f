//! A program bound to buffers: what is left to do for a run is to record it.

use std::sync::Arc;

use warpfft_core::emit;
use warpfft_core::kernel::{Access, AtRun, Kernel};
use warpfft_core::problem::Problem;
use warpfft_core::program::{Binding, Launch, Program};

use super::Gpu;
use super::work::{Pipeline, buffer};
use crate::device::backend::Part;
use crate::device::{bindable, check};
use crate::error::{Error, Which};

/// The caller's buffers with the byte at which the array starts (a multiple of the device's
/// `min_storage_buffer_offset_alignment`): plane 0 and 1, or only plane 0. In place, only `output` is used.
#[derive(Debug, Clone, Copy, Default)]
pub struct WgpuBuffers<'a> {
    /// The input's planes.
    pub input: [Option<(&'a wgpu::Buffer, u64)>; 2],
    /// The output's planes.
    pub output: [Option<(&'a wgpu::Buffer, u64)>; 2],
    /// Factors of the frequencies, where the problem has them.
    pub filter: Option<(&'a wgpu::Buffer, u64)>,
}

/// A plan with buffers bound to it and a workspace of its own.
pub struct Bound {
    steps: Vec<Step>,
    /// Where the kernels find the count of a run, if they ask.
    counter: Option<Counter>,
    /// Transforms of the whole problem.
    transforms: u64,
}

/// The count of a run, put together on the device from a table of digits: so it is a command in a caller's encoder, among
/// the others.
struct Counter {
    /// Every digit.
    digits: wgpu::Buffer,
    /// Digits of the count, the lowest first.
    count: wgpu::Buffer,
    problem: Problem,
    /// The highest for which the buffers were bound.
    most: u64,
}

/// Digits of a count, as kernels take it.
const DIGITS: u64 = 3;

/// Bytes of the uniform in which kernels find it.
const COUNTER_BYTES: u64 = 16;

/// The table of digits that counts are put together from.
pub(super) fn digits(gpu: &Gpu) -> Result<wgpu::Buffer, Error> {
    let all: Vec<u32> = (0..1 << emit::COUNT_BITS).collect();
    let usage = wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    let table = buffer(gpu, 4 * all.len() as u64, usage)?;
    gpu.guarded(0, || gpu.queue.write_buffer(&table, 0, bytemuck::cast_slice(&all)))?;
    Ok(table)
}

impl Counter {
    fn new(gpu: &Gpu, digits: &wgpu::Buffer, problem: &Problem, most: u64) -> Result<Self, Error> {
        let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let count = buffer(gpu, COUNTER_BYTES, usage)?;
        Ok(Self { digits: digits.clone(), count, problem: problem.clone(), most })
    }

    /// Records that the next kernels are to take this count.
    fn encode(&self, encoder: &mut wgpu::CommandEncoder, count: u64) {
        for place in 0..DIGITS {
            let digit = count >> (place * u64::from(emit::COUNT_BITS)) & ((1 << emit::COUNT_BITS) - 1);
            encoder.copy_buffer_to_buffer(&self.digits, 4 * digit, &self.count, 4 * place, 4);
        }
    }
}

struct Step {
    pipeline: Arc<Pipeline>,
    group: wgpu::BindGroup,
    /// Workgroups, and which of them a run with a count has.
    blocks: u64,
    at_run: Option<AtRun>,
    /// Workgroups in a row at most.
    side: u32,
}

impl Step {
    /// Workgroups in x and y.
    fn grid(&self, count: Option<u64>) -> (u32, u32) {
        let part = self.at_run.zip(count).map(|(at_run, count)| at_run.blocks_at(count as u32));
        grid(part.unwrap_or(self.blocks), self.side)
    }
}

impl Bound {
    pub(super) fn new(
        gpu: &Gpu,
        program: &Program,
        pipelines: &[Arc<Pipeline>],
        (tables, digits): (&[wgpu::Buffer], Option<&wgpu::Buffer>),
        buffers: &WgpuBuffers<'_>,
        part: Option<&Part>,
    ) -> Result<Self, Error> {
        let whole = &program.problem;
        let most = part.map(|part| u64::from(part.count)).or(whole.at_run().map(|dim| dim.n));
        let counter = digits.zip(most);
        let counter = counter.map(|(digits, most)| Counter::new(gpu, digits, whole, most)).transpose()?;
        let count = counter.as_ref().map(|counter| &counter.count);
        let problem = part.map_or(whole, |part| &part.problem);
        let regions = regions(gpu, program)?;
        let places = Places { gpu, program, problem, tables, count, buffers, regions };
        let side = gpu.device.limits().max_compute_workgroups_per_dimension;
        let step = |launch: &Launch| {
            let kernel = &program.kernels[launch.kernel];
            let pipeline = Arc::clone(&pipelines[launch.kernel]);
            let group = places.group(kernel, launch, &pipeline.layout)?;
            Ok(Step { pipeline, group, blocks: kernel.blocks, at_run: kernel.at_run, side })
        };
        Ok(Self {
            steps: program.launches.iter().map(step).collect::<Result<_, Error>>()?,
            counter,
            transforms: whole.batch_count(),
        })
    }

    /// Records the transform. Allocates no device memory and waits for nothing.
    pub fn encode(&self, encoder: &mut wgpu::CommandEncoder) {
        self.encode_count(encoder, self.counter.as_ref().map(|counter| counter.most));
    }

    /// Records the first `count` transforms of a plan that leaves their number open. Runs with several counts may be
    /// recorded in one encoder.
    ///
    /// # Errors
    ///
    /// The plan does not leave the number open, or the buffers were bound for fewer.
    pub fn encode_batch(&self, encoder: &mut wgpu::CommandEncoder, count: u64) -> Result<(), Error> {
        let Some(counter) = &self.counter else {
            return Err(warpfft_core::Error::CountFixed { count, n: self.transforms }.into());
        };
        if count > counter.most {
            return Err(warpfft_core::Error::Count { count, most: counter.most }.into());
        }
        if Part::of(&counter.problem, count)?.is_some() {
            self.encode_count(encoder, Some(count));
        }
        Ok(())
    }

    fn encode_count(&self, encoder: &mut wgpu::CommandEncoder, count: Option<u64>) {
        if let (Some(counter), Some(count)) = (&self.counter, count) {
            counter.encode(encoder, count);
        }
        // One pass for all: wgpu orders dispatches that share buffers.
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        for step in &self.steps {
            pass.set_pipeline(&step.pipeline.pipeline);
            pass.set_bind_group(0, &step.group, &[]);
            let (x, y) = step.grid(count);
            pass.dispatch_workgroups(x, y, 1);
        }
    }
}

/// Workgroups in x and y for that many blocks; the kernel's surplus blocks return at once.
fn grid(blocks: u64, side: u32) -> (u32, u32) {
    let rows = blocks.div_ceil(u64::from(side)).max(1);
    (blocks.div_ceil(rows) as u32, rows as u32)
}

/// A part of the workspace in a buffer of its own: wgpu refuses a buffer that is read and written in one
/// dispatch, even in different parts.
struct Region {
    start: u64,
    end: u64,
    buffer: wgpu::Buffer,
}

/// Buffers for the parts of the workspace that bindings use.
fn regions(gpu: &Gpu, program: &Program) -> Result<Vec<Region>, Error> {
    let usage = wgpu::BufferUsages::STORAGE;
    let region = |(start, end)| Ok(Region { start, end, buffer: buffer(gpu, end - start, usage)? });
    bindable::regions(program).into_iter().map(region).collect()
}

/// Where each binding lies.
struct Places<'a> {
    gpu: &'a Gpu,
    program: &'a Program,
    /// What the buffers must hold: the program's problem, or the part of it that they are bound for.
    problem: &'a Problem,
    tables: &'a [wgpu::Buffer],
    count: Option<&'a wgpu::Buffer>,
    buffers: &'a WgpuBuffers<'a>,
    regions: Vec<Region>,
}

impl Places<'_> {
    fn group(
        &self,
        kernel: &Kernel,
        launch: &Launch,
        layout: &wgpu::BindGroupLayout,
    ) -> Result<wgpu::BindGroup, Error> {
        let place = |&binding: &Binding| self.place(binding);
        let places = launch.bindings.iter().map(place).collect::<Result<Vec<_>, _>>()?;
        for (i, a) in places.iter().enumerate() {
            for (j, b) in places.iter().enumerate().skip(i + 1) {
                let reads = |which: usize| kernel.buffers[which].access == Access::Read;
                if a.buffer == b.buffer && reads(i) != reads(j) {
                    return Err(Error::Unsupported {
                        device: self.gpu.limits.name.clone(),
                        what: format!("read and write one buffer by two bindings (kernel {})", kernel.name),
                        would_work: "use separate buffers, or an in-place plan".into(),
                    });
                }
            }
        }
        let mut resources: Vec<_> = places.into_iter().map(wgpu::BindingResource::Buffer).collect();
        if let Some(count) = self.count.filter(|_| kernel.at_run.is_some()) {
            resources.push(count.as_entire_binding());
        }
        let entries: Vec<_> = (0..)
            .zip(resources)
            .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource })
            .collect();
        let about = wgpu::BindGroupDescriptor { label: None, layout, entries: &entries };
        self.gpu.guarded(0, || self.gpu.device.create_bind_group(&about))
    }

    fn place(&self, binding: Binding) -> Result<wgpu::BufferBinding<'_>, Error> {
        let bytes = check::bytes(self.program, self.problem, binding)?;
        let (buffer, offset) = match binding {
            Binding::Input(plane) => given(Which::Input, plane, self.buffers.input, bytes)?,
            Binding::Output(plane) => given(Which::Output, plane, self.buffers.output, bytes)?,
            Binding::Filter => given(Which::Filter, 0, [self.buffers.filter, None], bytes)?,
            Binding::Table(table) => (&self.tables[usize::from(table)], 0),
            Binding::Workspace { offset, .. } => {
                let inside = |region: &&Region| region.start <= offset && offset < region.end;
                let Some(region) = self.regions.iter().find(inside) else {
                    return Err(Error::Program { detail: format!("{binding:?} holds no bytes") });
                };
                (&region.buffer, offset - region.start)
            }
        };
        let size = std::num::NonZeroU64::new(bytes.next_multiple_of(4));
        Ok(wgpu::BufferBinding { buffer, offset, size })
    }
}

/// A buffer of the caller's, if it is there and long enough.
fn given(
    which: Which,
    plane: u8,
    planes: [Option<(&wgpu::Buffer, u64)>; 2],
    needed: u64,
) -> Result<(&wgpu::Buffer, u64), Error> {
    let short = |got| Error::BufferTooSmall { which, plane, unit: "bytes", needed, got };
    let (buffer, offset) = planes[usize::from(plane)].ok_or_else(|| short(0))?;
    let got = buffer.size().saturating_sub(offset);
    if got < needed { Err(short(got)) } else { Ok((buffer, offset)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_hold_all_blocks_within_limits() {
        for blocks in [1, 2, 65_534, 65_535, 65_536, 65_537, 131_070, 131_071, 1_000_003, 65_535 * 65_535] {
            let (x, y) = grid(blocks, 65_535);
            assert!(
                u64::from(x) * u64::from(y) >= blocks && x <= 65_535 && y <= 65_535,
                "{blocks}: {x} x {y}"
            );
            assert!(u64::from(x) * u64::from(y) - blocks < u64::from(x), "{blocks}: a whole row is surplus");
        }
    }
}
