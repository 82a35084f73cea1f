//! A program bound to buffers: what is left to do for a run is to record it.

use std::sync::Arc;

use warpfft_core::kernel::{Access, Kernel};
use warpfft_core::program::{Binding, Launch, Program};

use super::Gpu;
use super::work::{Pipeline, buffer};
use crate::device::check;
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
}

struct Step {
    pipeline: Arc<Pipeline>,
    group: wgpu::BindGroup,
    /// Workgroups in x and y.
    grid: (u32, u32),
}

impl Bound {
    pub(super) fn new(
        gpu: &Gpu,
        program: &Program,
        pipelines: &[Arc<Pipeline>],
        tables: &[wgpu::Buffer],
        buffers: &WgpuBuffers<'_>,
    ) -> Result<Self, Error> {
        let places = Places { gpu, program, tables, buffers, regions: regions(gpu, program)? };
        let side = gpu.device.limits().max_compute_workgroups_per_dimension;
        let step = |launch: &Launch| {
            let kernel = &program.kernels[launch.kernel];
            let pipeline = Arc::clone(&pipelines[launch.kernel]);
            let group = places.group(kernel, launch, &pipeline.layout)?;
            Ok(Step { pipeline, group, grid: grid(kernel.blocks, side) })
        };
        Ok(Self { steps: program.launches.iter().map(step).collect::<Result<_, Error>>()? })
    }

    /// Records the transform. Allocates no device memory and waits for nothing.
    pub fn encode(&self, encoder: &mut wgpu::CommandEncoder) {
        // One pass for all: wgpu orders dispatches that share buffers.
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        for step in &self.steps {
            pass.set_pipeline(&step.pipeline.pipeline);
            pass.set_bind_group(0, &step.group, &[]);
            pass.dispatch_workgroups(step.grid.0, step.grid.1, 1);
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

/// Buffers for the parts of the workspace that bindings use; parts that overlap share one.
fn regions(gpu: &Gpu, program: &Program) -> Result<Vec<Region>, Error> {
    let bindings = program.launches.iter().flat_map(|launch| &launch.bindings);
    let mut parts: Vec<(u64, u64)> = bindings
        .filter_map(|&binding| match binding {
            Binding::Workspace { offset, bytes } if bytes > 0 => Some((offset, offset + bytes)),
            _ => None,
        })
        .collect();
    parts.sort_unstable();
    let mut merged: Vec<(u64, u64)> = Vec::new();
    for (start, end) in parts {
        match merged.last_mut() {
            Some(last) if start < last.1 => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    let usage = wgpu::BufferUsages::STORAGE;
    let region = |(start, end)| Ok(Region { start, end, buffer: buffer(gpu, end - start, usage)? });
    merged.into_iter().map(region).collect()
}

/// Where each binding lies.
struct Places<'a> {
    gpu: &'a Gpu,
    program: &'a Program,
    tables: &'a [wgpu::Buffer],
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
        let resources = places.into_iter().map(wgpu::BindingResource::Buffer);
        let entries: Vec<_> = (0..)
            .zip(resources)
            .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource })
            .collect();
        let about = wgpu::BindGroupDescriptor { label: None, layout, entries: &entries };
        self.gpu.guarded(0, || self.gpu.device.create_bind_group(&about))
    }

    fn place(&self, binding: Binding) -> Result<wgpu::BufferBinding<'_>, Error> {
        let bytes = check::bytes(self.program, binding)?;
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
