//! A program on a GPU. Running it only enqueues launches: no allocation, no compilation, no waiting.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use warpfft_core::problem::Problem;
use warpfft_core::program::Program;
use warpfft_core::recipe::Recipe;

use super::assemble::{Effort, assembled, modules, wake};
use super::beginnings::Beginnings;
use super::context::Context;
use super::driver::Handle;
use super::image::{Image, problem_key};
use super::lanes::CudaLanes;
use super::launch::Pointers;
use super::loaded::{Loaded, Ready, alignment};
use super::memory::{DeviceBuffer, Stream};
use super::soon;
use super::timing;
use crate::device::backend::{Execute, HostJob, Lanes, compiled, own};
use crate::device::cache::DiskCache;
use crate::device::check;
use crate::device::hash::hash;
use crate::error::{Error, Which};
use crate::measure::{Measurement, Timing};
#[cfg(feature = "peers")]
use crate::peers::PeerReport;
use crate::span;

/// A loaded program.
pub(crate) struct CudaWork {
    pub(super) context: Arc<Context>,
    pub(super) problem: Problem,
    /// What it was compiled by, if not by the cost model.
    recipe: Option<Recipe>,
    pub(super) workspace_bytes: u64,
    /// Compiled once somebody looks, where the launches came from a record.
    program: OnceLock<Option<Arc<Program>>>,
    pub(super) ready: Ready,
    /// What the pointers of input, output and filter must be multiples of.
    alignment: [u64; 3],
}

impl CudaWork {
    /// Loads a program.
    pub fn load(context: &Arc<Context>, program: Program) -> Result<Self, Error> {
        check::program(&program, &context.limits)?;
        let modules = modules(context, &program.kernels, Effort::Full)?;
        let problem = program.problem.clone();
        let work = Self::recorded(context, &problem, &Image::of("", &program, &assembled(&modules))?)?;
        Ok(Self { program: OnceLock::from(Some(Arc::new(program))), ..work })
    }

    /// Reads a problem's record from the disk cache, or compiles the problem and writes the record.
    ///
    /// Below the records lie the kernels' own entries, by their text: another batch, or a build whose records
    /// are its own, often needs the same kernels, and assembling is nearly all of a compilation's time. What a
    /// record holds twice with them is the price for one file to open where nothing needs to be made.
    pub fn plan(context: &Arc<Context>, problem: &Problem, recipe: Option<&Recipe>) -> Result<Self, Error> {
        let key = format!("{}, {}", context.identity, problem_key(problem, recipe));
        let (cache, entry) = (DiskCache::from_environment(), format!("{:032x}.plan", hash(key.as_bytes())));
        let record = cache.read(&entry);
        let image = record.as_ref().and_then(|record| Image::decode(record, &key));
        match image.map(|image| Self::recorded(context, problem, &image)) {
            Some(Ok(work)) => return Ok(Self { recipe: recipe.cloned(), ..work }),
            Some(Err(error)) => tracing::debug!(entry, %error, "a cached plan was not used"),
            None => {}
        }
        wake(context);
        let beginnings = Beginnings::seek(context, problem);
        let program = Arc::new(compiled(problem, &context.limits, recipe)?);
        let (ready, alignment) = soon::ready(context, &program, &beginnings, (key, entry))?;
        let work = Self {
            context: Arc::clone(context),
            problem: problem.clone(),
            recipe: recipe.cloned(),
            workspace_bytes: program.workspace_bytes,
            program: OnceLock::from(Some(program)),
            ready,
            alignment,
        };
        Ok(work)
    }

    /// Loads what a record describes.
    fn recorded(context: &Arc<Context>, problem: &Problem, image: &Image) -> Result<Self, Error> {
        image.check(problem, &context.limits)?;
        Ok(Self {
            context: Arc::clone(context),
            problem: problem.clone(),
            recipe: None,
            workspace_bytes: image.workspace_bytes,
            program: OnceLock::new(),
            ready: Ready::at_once(Loaded::of(context, image)?),
            alignment: alignment(image),
        })
    }

    /// Bytes of tables on the device.
    pub fn table_bytes(&self) -> u64 {
        self.ready.table_bytes()
    }

    /// Registers and spilled bytes of each launch's kernel, as the driver reports them.
    pub fn registers(&self) -> Result<Vec<(u32, u32)>, Error> {
        self.ready.settled().map(Loaded::registers)
    }

    /// Checks what can be checked of the caller's addresses.
    fn check_pointers(&self, pointers: &Pointers) -> Result<(), Error> {
        let sets = [
            (Which::Input, pointers.input, self.alignment[0]),
            (Which::Output, pointers.output, self.alignment[1]),
            (Which::Filter, [pointers.filter, 0], self.alignment[2]),
        ];
        if self.problem.filter.is_some() != (pointers.filter != 0) {
            return Err(Error::Filter { expected: self.problem.filter.is_some() });
        }
        for (which, planes, align) in sets {
            for address in planes {
                if !address.is_multiple_of(align) {
                    return Err(Error::Misaligned { which, address, align });
                }
            }
        }
        if self.workspace_bytes > 0 && (pointers.workspace == 0 || !pointers.workspace.is_multiple_of(256)) {
            return Err(Error::Misaligned {
                which: Which::Workspace,
                address: pointers.workspace,
                align: 256,
            });
        }
        Ok(())
    }

    /// Enqueues all launches, one by one.
    ///
    /// # Safety
    ///
    /// As [`CudaWork::enqueue`].
    pub unsafe fn launch(&self, stream: Handle, pointers: Pointers) -> Result<(), Error> {
        self.check_pointers(&pointers)?;
        let _current = self.context.current()?;
        // SAFETY: by this function's contract; one argument for each of the kernels' buffers was checked when the program was
        // loaded.
        unsafe { self.ready.now().launch(&self.context, stream, &pointers, None) }
    }

    /// Enqueues all launches, or replays them.
    ///
    /// # Safety
    ///
    /// The stream is one of this context or of the same device's primary context. The addresses are of memory on
    /// this device that holds what the problem and the workspace span, until the work is done.
    pub unsafe fn enqueue(&self, stream: Handle, pointers: Pointers) -> Result<(), Error> {
        // SAFETY: by this function's contract.
        unsafe { self.enqueue_part(stream, pointers, None) }
    }

    /// Enqueues the launches of a part of the problem with that count; `None`: of all of it.
    ///
    /// # Safety
    ///
    /// As [`CudaWork::enqueue`], where the memory holds what the part spans. The count is at least 1, and at most that
    /// of the problem.
    pub unsafe fn enqueue_part(
        &self,
        stream: Handle,
        pointers: Pointers,
        count: Option<u32>,
    ) -> Result<(), Error> {
        self.check_pointers(&pointers)?;
        let _current = self.context.current()?;
        // SAFETY: by this function's contract; one argument for each of the kernels' buffers was checked when the program was
        // loaded.
        unsafe { self.ready.now().enqueue(&self.context, stream, pointers, count) }
    }

    /// Buffers on the device for one plane each; planes of no bytes have none.
    fn planes(&self, bytes: [u64; 2]) -> Result<[DeviceBuffer; 2], Error> {
        Ok([self.context.alloc(bytes[0])?, self.context.alloc(bytes[1])?])
    }

    /// Bytes of the planes of input (none in place) and output.
    pub fn spans(&self) -> Result<[[u64; 2]; 2], Error> {
        Ok([span::read_bytes(&self.problem)?, span::written_bytes(&self.problem)?])
    }

    /// Device buffers of the size that a problem needs, this one or a part of it.
    pub(super) fn buffers_of(&self, problem: &Problem) -> Result<Buffers, Error> {
        let [read, write] = [span::read_bytes(problem)?, span::written_bytes(problem)?];
        Ok(Buffers {
            input: self.planes(read)?,
            output: self.planes(write)?,
            filter: self.context.alloc(span::filter_bytes(&self.problem)?)?,
            workspace: self.context.alloc(self.workspace_bytes)?,
        })
    }
}

/// Device memory of one run.
pub(crate) struct Buffers {
    pub input: [DeviceBuffer; 2],
    pub output: [DeviceBuffer; 2],
    pub filter: DeviceBuffer,
    pub workspace: DeviceBuffer,
}

impl Buffers {
    pub fn pointers(&self) -> Pointers {
        Pointers {
            input: [self.input[0].address(), self.input[1].address()],
            output: [self.output[0].address(), self.output[1].address()],
            filter: self.filter.address(),
            workspace: self.workspace.address(),
        }
    }
}

impl Execute for CudaWork {
    fn measure(&self, timing: Timing) -> Result<Measurement, Error> {
        self.settle()?;
        timing::measure(self, timing)
    }

    fn race(&self, all: &[&(dyn Execute + 'static)], budget: Duration) -> Result<Vec<f64>, Error> {
        let works = own::<Self>(all)?;
        works.iter().try_for_each(|work| work.settle())?;
        timing::race(&works, budget)
    }

    #[cfg(feature = "peers")]
    fn measure_beside_peers(&self, timing: Timing) -> Result<(Measurement, Vec<PeerReport>), Error> {
        self.settle()?;
        timing::beside_peers(self, timing)
    }

    fn program(&self) -> Option<&Program> {
        let compile =
            || compiled(&self.problem, &self.context.limits, self.recipe.as_ref()).ok().map(Arc::new);
        self.program.get_or_init(compile).as_deref()
    }

    fn is_settled(&self) -> bool {
        self.ready.is_settled()
    }

    fn settle(&self) -> Result<(), Error> {
        self.ready.settled().map(drop)
    }

    fn workspace_bytes(&self) -> u64 {
        self.workspace_bytes
    }

    fn lanes(self: Arc<Self>, parts: u64) -> Result<Option<Arc<dyn Lanes>>, Error> {
        Ok(Some(Arc::new(CudaLanes::new(self, parts)?)))
    }

    fn run(&self, job: HostJob<'_>) -> Result<(), Error> {
        let buffers = self.buffers_of(job.part.map_or(&self.problem, |part| &part.problem))?;
        let stream = self.context.stream()?;
        let result = self.run_on(&stream, &buffers, job);
        // Whatever failed: no work may be left that uses the buffers, which are freed now.
        let drained = stream.synchronize();
        result.and(drained)
    }
}

impl CudaWork {
    fn run_on(&self, stream: &Stream, buffers: &Buffers, job: HostJob<'_>) -> Result<(), Error> {
        let part = |host: usize, device: &DeviceBuffer| host.min(device.bytes() as usize);
        for (source, target) in job.input.iter().flatten().zip(&buffers.input) {
            stream.upload(target, &source[..part(source.len(), target)])?;
        }
        stream.upload(&buffers.filter, &job.filter[..part(job.filter.len(), &buffers.filter)])?;
        // Elements between those that are written come back too: they must be what they were.
        let problem = job.part.map_or(&self.problem, |part| &part.problem);
        let whole = job.input.is_some() && span::output(problem)?.dense;
        for (source, target) in job.output.iter().zip(&buffers.output) {
            let bytes = if whole { 0 } else { part(source.len(), target) };
            stream.upload(target, &source[..bytes])?;
        }
        // SAFETY: the stream is this context's; the buffers were allocated for this program and live until the
        // caller has waited for the stream.
        unsafe { self.enqueue_part(stream.raw(), buffers.pointers(), job.part.map(|part| part.count))? };
        for (target, source) in job.output.into_iter().zip(&buffers.output) {
            let bytes = part(target.len(), source);
            if bytes > 0 {
                stream.download(&mut target[..bytes], source)?;
            }
        }
        Ok(())
    }
}
