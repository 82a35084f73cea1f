//! A program bound to memory: what is left to do for a run is to enqueue its kernels.

use std::mem::ManuallyDrop;
use std::ptr::null;
use std::sync::{Arc, Mutex, PoisonError};

use opencl3::command_queue::CommandQueue;
use opencl3::error_codes::ClError;
use opencl3::kernel::Kernel;
use opencl3::memory::{
    Buffer, CL_MEM_READ_WRITE, CL_MEM_SIZE, ClMem, get_mem_object_info, retain_mem_object,
};
use opencl3::types::{cl_command_queue, cl_mem};
use warpfft_core::kernel::{Access, AtRun};
use warpfft_core::problem::Problem;
use warpfft_core::program::{Binding, Launch, Program};

use super::Opened;
use super::work::buffer;
use crate::device::backend::Part;
use crate::device::{bindable, check};
use crate::error::{Error, Which};

/// The caller's memory objects: plane 0 and 1, or only plane 0. In place, only `output` is used. What starts within a
/// buffer is a sub-buffer (`clCreateSubBuffer`).
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenClBuffers {
    /// The input's planes.
    pub input: [Option<cl_mem>; 2],
    /// The output's planes.
    pub output: [Option<cl_mem>; 2],
    /// Factors of the frequencies, where the problem has them.
    pub filter: Option<cl_mem>,
}

/// A plan with memory bound to it and a workspace of its own.
pub struct Bound {
    opened: Arc<Opened>,
    /// Kernel objects keep their arguments, and a run sets one of them where it has a count: so one run at a time.
    steps: Mutex<Vec<Step>>,
    /// What the arguments name.
    _memory: Vec<Buffer<u8>>,
    /// Of a plan whose number of transforms is open: its problem, and the most that were bound for.
    open: Option<(Problem, u64)>,
    /// Transforms of the whole problem.
    transforms: u64,
}

struct Step {
    kernel: Kernel,
    threads: usize,
    blocks: u64,
    at_run: Option<AtRun>,
    /// Where the count goes.
    count_argument: u32,
}

/// A part of the workspace.
struct Region {
    start: u64,
    end: u64,
    buffer: Buffer<u8>,
}

/// Where each binding lies.
struct Places<'a> {
    opened: &'a Opened,
    program: &'a Program,
    /// What the memory must hold: the program's problem, or the part of it that is bound for.
    problem: &'a Problem,
    tables: &'a [Buffer<u8>],
    buffers: &'a OpenClBuffers,
    regions: Vec<Region>,
}

impl Bound {
    /// # Safety
    ///
    /// The memory objects are valid, of this context, and do not overlap one another.
    pub(super) unsafe fn new(
        opened: &Arc<Opened>,
        program: &Program,
        built: &[Arc<opencl3::program::Program>],
        tables: &[Buffer<u8>],
        buffers: &OpenClBuffers,
        part: Option<&Part>,
    ) -> Result<Self, Error> {
        let whole = &program.problem;
        let most = part.map(|part| u64::from(part.count)).or(whole.at_run().map(|dim| dim.n));
        let problem = part.map_or(whole, |part| &part.problem);
        let region = |(start, end)| Ok(Region { start, end, buffer: buffer(opened, end - start)? });
        let regions = bindable::regions(program).into_iter().map(region).collect::<Result<_, Error>>()?;
        let places = Places { opened, program, problem, tables, buffers, regions };
        let (mut steps, mut memory) = (Vec::new(), Vec::new());
        for launch in &program.launches {
            // SAFETY: the caller vouches for the memory objects.
            let (step, named) = unsafe { places.step(launch, &built[launch.kernel]) }?;
            steps.push(step);
            memory.extend(named);
        }
        Ok(Self {
            opened: Arc::clone(opened),
            steps: Mutex::new(steps),
            _memory: memory,
            open: most.map(|most| (whole.clone(), most)),
            transforms: whole.batch_count(),
        })
    }

    /// Enqueues the transform. Allocates no device memory and waits for nothing.
    ///
    /// # Errors
    ///
    /// The driver refuses a kernel.
    ///
    /// # Safety
    ///
    /// The queue is valid, of the plan's context, and in order. Until it is done, nobody else touches the memory.
    pub unsafe fn enqueue(&self, queue: cl_command_queue) -> Result<(), Error> {
        // SAFETY: the caller vouches for the same.
        unsafe { self.enqueue_count(queue, self.open.as_ref().map(|open| open.1)) }
    }

    /// Enqueues the first `count` transforms of a plan that leaves their number open.
    ///
    /// # Errors
    ///
    /// The plan does not leave the number open, or the memory was bound for fewer; the driver refuses a kernel.
    ///
    /// # Safety
    ///
    /// As [`Bound::enqueue`].
    pub unsafe fn enqueue_batch(&self, queue: cl_command_queue, count: u64) -> Result<(), Error> {
        let Some((problem, most)) = &self.open else {
            return Err(warpfft_core::Error::CountFixed { count, n: self.transforms }.into());
        };
        if count > *most {
            return Err(warpfft_core::Error::Count { count, most: *most }.into());
        }
        if Part::of(problem, count)?.is_some() {
            // SAFETY: the caller vouches for the same.
            unsafe { self.enqueue_count(queue, Some(count)) }?;
        }
        Ok(())
    }

    /// # Safety
    ///
    /// As [`Bound::enqueue`].
    unsafe fn enqueue_count(&self, queue: cl_command_queue, count: Option<u64>) -> Result<(), Error> {
        let steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        for step in &*steps {
            // SAFETY: the caller vouches for the queue; arguments were set for this kernel, whose accesses are verified.
            let done = unsafe { step.enqueue(queue, count) };
            done.map_err(|error| self.opened.failed("clEnqueueNDRangeKernel", 0, &error))?;
        }
        Ok(())
    }
}

impl Step {
    /// # Safety
    ///
    /// As [`Bound::enqueue`]; nobody else sets this kernel's arguments meanwhile.
    unsafe fn enqueue(&self, queue: cl_command_queue, count: Option<u64>) -> Result<(), ClError> {
        let mut blocks = self.blocks;
        if let (Some(at_run), Some(count)) = (self.at_run, count) {
            // Counts are below 2^31.
            let count = count as u32;
            blocks = at_run.blocks_at(count);
            // SAFETY: the argument behind the buffers is a `uint`.
            unsafe { self.kernel.set_arg(self.count_argument, &count) }?;
        }
        let (global, local) = (blocks as usize * self.threads, self.threads);
        // Not to be released here: it is the caller's.
        let queue = ManuallyDrop::new(CommandQueue::new(queue, 1));
        let (global, local) = (&raw const global, &raw const local);
        // SAFETY: the sizes are of one dimension, and no events are waited for.
        unsafe { queue.enqueue_nd_range_kernel(self.kernel.get(), 1, null(), global, local, &[]) }.map(drop)
    }
}

impl Places<'_> {
    /// A launch with its arguments set, and what they name.
    ///
    /// # Safety
    ///
    /// The caller's memory objects are valid and of this context.
    unsafe fn step(
        &self,
        launch: &Launch,
        built: &opencl3::program::Program,
    ) -> Result<(Step, Vec<Buffer<u8>>), Error> {
        let kernel = &self.program.kernels[launch.kernel];
        let failed = |call, error: &ClError| self.opened.failed(call, 0, error);
        let object = Kernel::create(built, &kernel.name).map_err(|error| failed("clCreateKernel", &error))?;
        let mut named = Vec::with_capacity(launch.bindings.len());
        for (argument, &binding) in (0..).zip(&launch.bindings) {
            // SAFETY: the caller vouches for the memory objects.
            let memory = unsafe { self.place(binding) }?;
            // SAFETY: the argument is a pointer to global memory, for which a memory object is set.
            unsafe { object.set_arg(argument, &memory.get()) }
                .map_err(|error| failed("clSetKernelArg", &error))?;
            named.push(memory);
        }
        for (i, a) in named.iter().enumerate() {
            let writes = |which: usize| kernel.buffers[which].access != Access::Read;
            if (i + 1..named.len()).any(|j| named[j].get() == a.get() && (writes(i) || writes(j))) {
                return Err(Error::Unsupported {
                    device: self.opened.limits().name.clone(),
                    what: format!(
                        "read and write one memory object by two bindings (kernel {})",
                        kernel.name
                    ),
                    would_work: "use separate ones, or an in-place plan".into(),
                });
            }
        }
        let step = Step {
            kernel: object,
            threads: kernel.threads as usize,
            blocks: kernel.blocks,
            at_run: kernel.at_run,
            count_argument: kernel.buffers.len() as u32,
        };
        Ok((step, named))
    }

    /// # Safety
    ///
    /// The caller's memory objects are valid.
    unsafe fn place(&self, binding: Binding) -> Result<Buffer<u8>, Error> {
        let bytes = check::bytes(self.program, self.problem, binding)?;
        let buffers = self.buffers;
        // SAFETY: what is not the caller's is alive here; the caller vouches for the rest.
        unsafe {
            match binding {
                Binding::Input(plane) => self.given(Which::Input, plane, buffers.input, bytes),
                Binding::Output(plane) => self.given(Which::Output, plane, buffers.output, bytes),
                Binding::Filter => self.given(Which::Filter, 0, [buffers.filter, None], bytes),
                Binding::Table(table) => self.shared(self.tables[usize::from(table)].get()),
                Binding::Workspace { offset, .. } => self.region(binding, offset, bytes),
            }
        }
    }

    /// A memory object of the caller's, if it is there and long enough.
    ///
    /// # Safety
    ///
    /// It is valid.
    unsafe fn given(
        &self,
        which: Which,
        plane: u8,
        planes: [Option<cl_mem>; 2],
        needed: u64,
    ) -> Result<Buffer<u8>, Error> {
        let short = |got| Error::BufferTooSmall { which, plane, unit: "bytes", needed, got };
        let memory = planes[usize::from(plane)].filter(|memory| !memory.is_null()).ok_or_else(|| short(0))?;
        let size = get_mem_object_info(memory, CL_MEM_SIZE);
        let size = size.map_err(|code| self.opened.failed("clGetMemObjectInfo", 0, &code.into()))?;
        match usize::from(size) as u64 {
            got if got < needed => Err(short(got)),
            // SAFETY: it is valid, as the caller says.
            _ => unsafe { self.shared(memory) },
        }
    }

    /// A part of the workspace.
    fn region(&self, binding: Binding, offset: u64, bytes: u64) -> Result<Buffer<u8>, Error> {
        let inside = |region: &&Region| region.start <= offset && offset < region.end;
        let Some(region) = self.regions.iter().find(inside) else {
            return Err(Error::Program { detail: format!("{binding:?} holds no bytes") });
        };
        let from = offset - region.start;
        if from == 0 {
            // SAFETY: the region's buffer is alive.
            return unsafe { self.shared(region.buffer.get()) };
        }
        let align = self.opened.about.align;
        if !from.is_multiple_of(align) {
            let device = self.opened.limits().name.clone();
            let what = format!("parts of buffers that start at no multiple of {align} bytes, but at {from}");
            let would_work = "transform with another batch".to_owned();
            return Err(Error::Unsupported { device, what, would_work });
        }
        // SAFETY: the part lies within the region, to which it holds a reference.
        let part =
            unsafe { region.buffer.create_sub_buffer(CL_MEM_READ_WRITE, from as usize, bytes as usize) };
        part.map_err(|error| self.opened.failed("clCreateSubBuffer", bytes, &error))
    }

    /// A reference of its own to a memory object.
    ///
    /// # Safety
    ///
    /// It is valid.
    unsafe fn shared(&self, memory: cl_mem) -> Result<Buffer<u8>, Error> {
        // SAFETY: it is valid, as the caller says; the buffer that is returned releases what is retained here.
        let retained = unsafe { retain_mem_object(memory) };
        retained.map_err(|code| self.opened.failed("clRetainMemObject", 0, &code.into()))?;
        Ok(Buffer::new(memory))
    }
}
