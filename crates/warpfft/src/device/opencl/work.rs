//! A program as built kernels and tables on a device.

use std::ptr::null_mut;
use std::sync::{Arc, PoisonError};

use opencl3::memory::{Buffer, CL_MEM_READ_WRITE};
use opencl3::types::{CL_BLOCKING, cl_mem};
use warpfft_core::emit;
use warpfft_core::kernel::{Kernel, Verified};
use warpfft_core::program::Program;
use warpfft_core::target::Limits;

use super::Opened;
use super::bound::{Bound, OpenClBuffers};
use crate::device::backend::Part;
use crate::device::bindable::{Bindable, Set};
use crate::device::check;
use crate::device::hash::hash;
use crate::error::Error;
use crate::room;

/// A loaded program.
pub(crate) struct OpenClWork {
    opened: Arc<Opened>,
    program: Program,
    built: Vec<Arc<opencl3::program::Program>>,
    tables: Vec<Buffer<u8>>,
}

impl OpenClWork {
    pub fn load(opened: &Arc<Opened>, program: Program) -> Result<Self, Error> {
        check::program(&program, opened.limits())?;
        let built = program.kernels.iter().map(|kernel| build(opened, kernel)).collect::<Result<_, _>>()?;
        let upload = |table| {
            let content = check::table_bytes(table)?;
            let mut buffer = buffer(opened, content.len() as u64)?;
            write(opened, &mut buffer, content)?;
            Ok(buffer)
        };
        let tables = program.tables.iter().map(upload).collect::<Result<_, Error>>()?;
        Ok(Self { opened: Arc::clone(opened), program, built, tables })
    }

    pub fn opened(&self) -> &Arc<Opened> {
        &self.opened
    }

    /// Binds memory objects that hold what the problem spans, or a part of it.
    ///
    /// # Safety
    ///
    /// They are valid, of this device's context, and do not overlap one another.
    pub unsafe fn bind(&self, buffers: &OpenClBuffers, part: Option<&Part>) -> Result<Bound, Error> {
        // SAFETY: the caller vouches for the same.
        unsafe { Bound::new(&self.opened, &self.program, &self.built, &self.tables, buffers, part) }
    }
}

/// Memory of that size.
pub(super) fn buffer(opened: &Opened, bytes: u64) -> Result<Buffer<u8>, Error> {
    let (most, device) = (opened.limits().max_buffer_bytes, &opened.limits().name);
    if bytes > most {
        let what = format!("buffers of {bytes} bytes");
        let would_work = format!("split the batch so that no buffer exceeds {most} bytes");
        return Err(Error::Unsupported { device: device.clone(), what, would_work });
    }
    if !opened.about.hardware {
        room::ask(bytes, device)?;
    }
    // SAFETY: no memory of this side is handed over.
    let created =
        unsafe { Buffer::create(&opened.context, CL_MEM_READ_WRITE, bytes.max(1) as usize, null_mut()) };
    created.map_err(|error| opened.failed("clCreateBuffer", bytes, &error))
}

fn write(opened: &Opened, buffer: &mut Buffer<u8>, content: &[u8]) -> Result<(), Error> {
    if content.is_empty() {
        return Ok(());
    }
    // SAFETY: the call returns when the content has been read, and the buffer was made for as many bytes.
    let written = unsafe { opened.queue.enqueue_write_buffer(buffer, CL_BLOCKING, 0, content, &[]) };
    let bytes = content.len() as u64;
    written.map(drop).map_err(|error| opened.failed("clEnqueueWriteBuffer", bytes, &error))
}

/// A kernel, built unless an equal one was.
fn build(opened: &Opened, kernel: &Verified<Kernel>) -> Result<Arc<opencl3::program::Program>, Error> {
    let (name, device) = (&kernel.name, &opened.limits().name);
    let text = emit::opencl(kernel).map_err(|error| Error::Emit {
        kernel: name.clone(),
        device: device.clone(),
        reason: error.to_string(),
    })?;
    let key = hash(text.as_bytes());
    let known = opened.built.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
    if let Some(built) = known {
        return Ok(built);
    }
    let mut program = opencl3::program::Program::create_from_source(&opened.context, &text)
        .map_err(|error| opened.failed("clCreateProgramWithSource", 0, &error))?;
    let id = opened.about.device.id();
    program.build(&[id], opened.about.options).map_err(|error| {
        let log = program.get_build_log(id).unwrap_or_default();
        let log = format!("{error}: {}", log.trim());
        Error::Compile { device: device.clone(), kernel: name.clone(), log }
    })?;
    let program = Arc::new(program);
    let mut built = opened.built.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(Arc::clone(built.entry(key).or_insert(program)))
}

impl Bindable for OpenClWork {
    type Buffer = Buffer<u8>;
    type Bound = Bound;

    fn limits(&self) -> &Limits {
        self.opened.limits()
    }

    fn compiled(&self) -> &Program {
        &self.program
    }

    fn sibling(&self, program: Program) -> Result<Self, Error> {
        Self::load(&self.opened, program)
    }

    fn planes(
        &self,
        host: [&[u8]; 2],
        bytes: [u64; 2],
        fill: bool,
    ) -> Result<[Option<Buffer<u8>>; 2], Error> {
        let plane = |which: usize| -> Result<_, Error> {
            if bytes[which] == 0 {
                return Ok(None);
            }
            let mut buffer = buffer(&self.opened, bytes[which])?;
            if fill {
                write(&self.opened, &mut buffer, &host[which][..bytes[which] as usize])?;
            }
            Ok(Some(buffer))
        };
        Ok([plane(0)?, plane(1)?])
    }

    fn bind_set(&self, set: &Set<Buffer<u8>>, part: Option<&Part>) -> Result<Bound, Error> {
        fn raw(buffer: Option<&Buffer<u8>>) -> Option<cl_mem> {
            buffer.map(opencl3::memory::ClMem::get)
        }
        let buffers = OpenClBuffers {
            input: set.input.each_ref().map(|plane| raw(plane.as_ref())),
            output: set.output.each_ref().map(|plane| raw(plane.as_ref())),
            filter: raw(set.filter.as_ref()),
        };
        // SAFETY: they were made by `planes` in this context, each for itself.
        unsafe { self.bind(&buffers, part) }
    }

    fn submit<'b>(&self, mut runs: impl Iterator<Item = &'b Bound>) -> Result<(), Error>
    where
        Bound: 'b,
    {
        // SAFETY: the queue is of the context in which all was bound, and in order.
        runs.try_for_each(|bound| unsafe { bound.enqueue(self.opened.queue.get()) })
    }

    fn wait(&self) -> Result<(), Error> {
        self.opened.queue.finish().map_err(|error| self.opened.failed("clFinish", 0, &error))
    }

    fn download(&self, source: &Buffer<u8>, target: &mut [u8]) -> Result<(), Error> {
        if target.is_empty() {
            return Ok(());
        }
        let bytes = target.len() as u64;
        // SAFETY: the call returns when the target has been written; the buffer was made for as many bytes.
        let read = unsafe { self.opened.queue.enqueue_read_buffer(source, CL_BLOCKING, 0, target, &[]) };
        read.map(drop).map_err(|error| self.opened.failed("clEnqueueReadBuffer", bytes, &error))
    }
}
