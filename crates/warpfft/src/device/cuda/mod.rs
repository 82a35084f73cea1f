//! NVIDIA GPUs through the driver's own library: no toolkit, nothing to install.

mod assemble;
mod beginnings;
mod context;
mod driver;
mod host_copy;
mod image;
mod lanes;
mod launch;
mod loaded;
mod memory;
mod pinned;
mod read_ahead;
mod replay;
mod soon;
mod tables;
mod timing;
mod work;

use std::ffi::c_void;
use std::sync::Arc;

use warpfft_core::problem::Problem;
use warpfft_core::program::Program;
use warpfft_core::recipe::Recipe;
use warpfft_core::target::Limits;

pub use self::context::Context;
use self::launch::Pointers;
pub use self::memory::{DeviceBuffer, Stream};
use self::pinned::Pinned;
use self::work::CudaWork;
use super::backend::{Backend, Execute, HostMemory, Part};
use super::recent::Recent;
use super::{Device, DeviceKind, DeviceReport};
use crate::error::Error;
use crate::plan::Plan;

struct Cuda {
    context: Arc<Context>,
    /// Not in the context, which the plans themselves keep alive.
    recent: Recent<Arc<CudaWork>>,
}

pub(super) fn open(ordinal: u32) -> Result<Arc<dyn Backend>, Error> {
    Ok(Arc::new(Cuda { context: Context::open(ordinal)?, recent: Recent::default() }))
}

pub(super) fn reports() -> Vec<DeviceReport> {
    let count = match context::count() {
        Ok(count @ 1..) => count,
        // Opening says why there is none.
        Ok(0) | Err(_) => 1,
    };
    (0..count).map(report).collect()
}

fn report(ordinal: u32) -> DeviceReport {
    let kind = DeviceKind::Cuda;
    match Context::open(ordinal) {
        Ok(context) => {
            let (major, minor) = (context.driver_version / 1000, context.driver_version % 1000 / 10);
            let memory = context.memory_bytes as f64 / f64::from(1 << 30);
            let detail = format!("CUDA {major}.{minor} driver, {memory:.1} GiB, sm_{}", context.sm());
            let limits = Some(context.limits.clone());
            DeviceReport { kind, name: context.name().to_owned(), limits, usable: Ok(()), detail }
        }
        Err(error) => DeviceReport {
            kind,
            name: format!("cuda:{ordinal}"),
            limits: None,
            usable: Err(error),
            detail: String::new(),
        },
    }
}

impl Backend for Cuda {
    fn kind(&self) -> DeviceKind {
        DeviceKind::Cuda
    }

    fn name(&self) -> &str {
        self.context.name()
    }

    fn limits(&self) -> Option<&Limits> {
        Some(&self.context.limits)
    }

    fn pinned(&self, bytes: u64) -> Result<Option<Box<dyn HostMemory>>, Error> {
        Ok(Some(Box::new(Pinned::new(&self.context, bytes)?)))
    }

    fn part_bytes(&self, total: u64) -> u64 {
        lanes::part_bytes(total)
    }

    fn load(&self, program: Program) -> Result<Arc<dyn Execute>, Error> {
        Ok(Arc::new(CudaWork::load(&self.context, program)?))
    }

    fn plan(&self, problem: &Problem, recipe: Option<&Recipe>) -> Result<Arc<dyn Execute>, Error> {
        let key = image::problem_key(problem, recipe);
        if let Some(work) = self.recent.get(&key) {
            return Ok(work);
        }
        let work = Arc::new(CudaWork::plan(&self.context, problem, recipe)?);
        self.recent.keep(key, work.table_bytes(), Arc::clone(&work));
        Ok(work)
    }
}

impl Device {
    /// The CUDA device of that number.
    ///
    /// # Errors
    ///
    /// There is no driver, or no such device.
    pub fn cuda(ordinal: u32) -> Result<Self, Error> {
        Ok(Self::of(open(ordinal)?))
    }
}

impl Plan {
    /// Enqueues the transform on a CUDA stream and returns at once. It allocates nothing on the device, compiles nothing and
    /// waits for nothing, so it can be captured in a graph, which keeps the kernels of that moment: [`Plan::settle`] first.
    /// From the third time on that the same addresses come on the same stream its launches are replayed as one graph of its
    /// own, which that call makes in some tens of microseconds; `WARPFFT_REPLAY=off` in the environment leaves it.
    /// Pointers are device addresses of plane 0 and 1 (0
    /// where there is none); in place, only `output` is used.
    ///
    /// # Errors
    ///
    /// The plan is for another device, an address is not aligned to the kernels' widest access (16 bytes at
    /// most; the workspace to 256), or the driver refused a launch.
    ///
    /// # Safety
    ///
    /// `stream` is a `CUstream` of the device's primary context (null: the default stream). The addresses are of
    /// memory on this device that holds [`Plan::input_elements`], [`Plan::output_elements`] and
    /// [`Plan::workspace_bytes`] until the work is done, and out of place input and output do not overlap.
    pub unsafe fn enqueue_cuda(
        &self,
        stream: *mut c_void,
        input: [u64; 2],
        output: [u64; 2],
        workspace: u64,
    ) -> Result<(), Error> {
        // SAFETY: by this function's contract; there is no filter.
        unsafe { self.enqueue_cuda_filtered(stream, input, 0, output, workspace) }
    }

    /// [`Plan::enqueue_cuda`] for a problem with factors of the frequencies, which lie at `filter`.
    ///
    /// # Errors
    ///
    /// As [`Plan::enqueue_cuda`].
    ///
    /// # Safety
    ///
    /// As [`Plan::enqueue_cuda`]; `filter` is memory that holds the problem's
    /// [`filter_bytes`](warpfft_core::problem::Problem::filter_bytes) until the work is done, and nothing writes it meanwhile.
    pub unsafe fn enqueue_cuda_filtered(
        &self,
        stream: *mut c_void,
        input: [u64; 2],
        filter: u64,
        output: [u64; 2],
        workspace: u64,
    ) -> Result<(), Error> {
        let work = self.work_as::<CudaWork>(DeviceKind::Cuda)?;
        // SAFETY: by this function's contract.
        unsafe { work.enqueue(stream, Pointers { input, output, filter, workspace }) }
    }

    /// [`Plan::enqueue_cuda`] with the first `count` transforms of a plan that leaves their number open
    /// ([`Fft::any_batch`](warpfft_core::request::Fft::any_batch)). A graph that captures it keeps that count.
    ///
    /// # Errors
    ///
    /// As [`Plan::enqueue_cuda`]; the plan does not leave the number open, or was made for fewer.
    ///
    /// # Safety
    ///
    /// As [`Plan::enqueue_cuda`], but input and output need hold only [`Plan::elements_at`] that count.
    pub unsafe fn enqueue_cuda_batch(
        &self,
        count: u64,
        stream: *mut c_void,
        input: [u64; 2],
        output: [u64; 2],
        workspace: u64,
    ) -> Result<(), Error> {
        // SAFETY: by this function's contract; there is no filter.
        unsafe { self.enqueue_cuda_filtered_batch(count, stream, input, 0, output, workspace) }
    }

    /// [`Plan::enqueue_cuda_filtered`] with the first `count` transforms, as [`Plan::enqueue_cuda_batch`].
    ///
    /// # Errors
    ///
    /// As [`Plan::enqueue_cuda_batch`].
    ///
    /// # Safety
    ///
    /// As [`Plan::enqueue_cuda_filtered`], but input and output need hold only [`Plan::elements_at`] that count.
    pub unsafe fn enqueue_cuda_filtered_batch(
        &self,
        count: u64,
        stream: *mut c_void,
        input: [u64; 2],
        filter: u64,
        output: [u64; 2],
        workspace: u64,
    ) -> Result<(), Error> {
        let work = self.work_as::<CudaWork>(DeviceKind::Cuda)?;
        let Some(part) = Part::of(self.problem(), count)? else { return Ok(()) };
        // SAFETY: by this function's contract; the count is one of the problem's.
        unsafe { work.enqueue_part(stream, Pointers { input, output, filter, workspace }, Some(part.count)) }
    }

    /// The GPU on which this plan runs, for allocating memory there and for timing.
    ///
    /// # Errors
    ///
    /// The plan is for another device.
    pub fn cuda_context(&self) -> Result<Arc<Context>, Error> {
        Ok(Arc::clone(&self.work_as::<CudaWork>(DeviceKind::Cuda)?.context))
    }

    /// Registers and bytes of local memory (spills) of a thread, for each launch's kernel, as the driver reports
    /// them. It waits for the best kernels ([`Plan::settle`]).
    ///
    /// # Errors
    ///
    /// The plan is for another device, or its best kernels could not be assembled.
    pub fn cuda_registers(&self) -> Result<Vec<(u32, u32)>, Error> {
        self.work_as::<CudaWork>(DeviceKind::Cuda)?.registers()
    }
}
