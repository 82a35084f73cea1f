//! A program on a GPU. Running it only enqueues launches: no allocation, no compilation, no waiting.

use std::ffi::c_uint;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use warpfft_core::problem::Problem;
use warpfft_core::program::{Binding, Program};
use warpfft_core::recipe::Recipe;

use super::assemble::{Module, modules, recorded, wake};
use super::context::Context;
use super::driver::Handle;
use super::image::{BufferImage, Image, problem_key};
use super::lanes::CudaLanes;
use super::launch::{Argument, Launch, MAX_BUFFERS, Pointers};
use super::memory::{DeviceBuffer, Stream};
use super::tables::tables;
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
    program: OnceLock<Option<Program>>,
    launches: Vec<Launch>,
    /// What the pointers of input, output and filter must be multiples of.
    alignment: [u64; 3],
    /// Kept as long as the launches name its addresses.
    tables: Vec<Arc<DeviceBuffer>>,
}

impl CudaWork {
    /// Loads a program.
    pub fn load(context: &Arc<Context>, program: Program) -> Result<Self, Error> {
        check::program(&program, &context.limits)?;
        let modules = modules(context, &program.kernels)?;
        Self::of(context, &program.problem, &Image::of("", &program, &assembled(&modules)))
            .map(|work| work.with(program))
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
        match image.map(|image| Self::of(context, problem, &image)) {
            Some(Ok(work)) => return Ok(work.following(recipe)),
            Some(Err(error)) => tracing::debug!(entry, %error, "a cached plan was not used"),
            None => {}
        }
        let program = std::thread::scope(|scope| {
            scope.spawn(|| wake(context, &cache));
            compiled(problem, &context.limits, recipe)
        })?;
        let modules = modules(context, &program.kernels)?;
        let assembled = assembled(&modules);
        let image = Image::of(&key, &program, &assembled);
        let work = Self::of(context, problem, &image)?;
        if let Some(record) = image.encode() {
            cache.write(&entry, &record);
        }
        Ok(work.following(recipe).with(program))
    }

    /// Loads what a record describes.
    fn of(context: &Arc<Context>, problem: &Problem, image: &Image) -> Result<Self, Error> {
        image.check(problem, &context.limits)?;
        let modules: Vec<_> =
            image.kernels.iter().map(|kernel| recorded(context, kernel)).collect::<Result<_, _>>()?;
        let tables = tables(context, &image.tables)?;
        let mut alignment = [1; 3];
        let mut launches = Vec::with_capacity(image.launches.len());
        for launch in &image.launches {
            let kernel = &image.kernels[launch.kernel];
            if launch.bindings.len() > MAX_BUFFERS {
                let detail = format!("kernel {} has more than {MAX_BUFFERS} buffers", kernel.name);
                return Err(Error::Program { detail });
            }
            let argument = |(&binding, buffer): (&Binding, &BufferImage)| match binding {
                Binding::Input(plane) => {
                    alignment[0] = alignment[0].max(buffer.align);
                    Argument::Input(plane.into())
                }
                Binding::Output(plane) => {
                    alignment[1] = alignment[1].max(buffer.align);
                    Argument::Output(plane.into())
                }
                Binding::Filter => {
                    alignment[2] = alignment[2].max(buffer.align);
                    Argument::Filter
                }
                Binding::Workspace { offset, .. } => Argument::Workspace(offset),
                Binding::Table(table) => Argument::Fixed(tables[usize::from(table)].address()),
            };
            launches.push(Launch {
                module: Arc::clone(&modules[launch.kernel]),
                blocks: kernel.blocks as c_uint,
                threads: kernel.threads,
                cluster: kernel.cluster,
                at_run: kernel.at_run,
                shared: kernel.shared_bytes,
                arguments: launch.bindings.iter().zip(&kernel.buffers).map(argument).collect(),
            });
        }
        Ok(Self {
            context: Arc::clone(context),
            problem: problem.clone(),
            recipe: None,
            workspace_bytes: image.workspace_bytes,
            program: OnceLock::new(),
            launches,
            alignment,
            tables,
        })
    }

    /// With the recipe that it was compiled by.
    fn following(mut self, recipe: Option<&Recipe>) -> Self {
        self.recipe = recipe.cloned();
        self
    }

    /// With the program that it was loaded from.
    fn with(mut self, program: Program) -> Self {
        self.program = OnceLock::from(Some(program));
        self
    }

    /// Bytes of tables on the device.
    pub fn table_bytes(&self) -> u64 {
        self.tables.iter().map(|table| table.bytes()).sum()
    }

    /// Registers and spilled bytes of each launch's kernel, as the driver reports them.
    pub fn registers(&self) -> Vec<(u32, u32)> {
        self.launches.iter().map(|launch| (launch.module.registers, launch.module.local_bytes)).collect()
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

    /// Enqueues all launches.
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
        for launch in &self.launches {
            // SAFETY: by this function's contract; one argument for each of the kernel's buffers was checked when the
            // program was loaded.
            unsafe { launch.enqueue(&self.context, stream, &pointers, count)? };
        }
        Ok(())
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

/// Hash of the text and machine code of each module, as records hold them.
fn assembled(modules: &[Arc<Module>]) -> Vec<(u128, &[u8])> {
    modules.iter().map(|module| (module.text, &module.code[..])).collect()
}

impl Execute for CudaWork {
    fn measure(&self, timing: Timing) -> Result<Measurement, Error> {
        timing::measure(self, timing)
    }

    fn race(&self, all: &[&(dyn Execute + 'static)], budget: Duration) -> Result<Vec<f64>, Error> {
        timing::race(&own(all)?, budget)
    }

    #[cfg(feature = "peers")]
    fn measure_beside_peers(&self, timing: Timing) -> Result<(Measurement, Vec<PeerReport>), Error> {
        timing::beside_peers(self, timing)
    }

    fn program(&self) -> Option<&Program> {
        let compile = || compiled(&self.problem, &self.context.limits, self.recipe.as_ref()).ok();
        self.program.get_or_init(compile).as_ref()
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
