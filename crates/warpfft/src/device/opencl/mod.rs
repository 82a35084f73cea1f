//! OpenCL 1.2 and later, of any vendor; its library is found at run time.

mod bound;
mod found;
mod work;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::error_codes::{
    CL_INVALID_BUFFER_SIZE, CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_HOST_MEMORY, CL_OUT_OF_RESOURCES,
    ClError,
};
use opencl3::types::{cl_command_queue, cl_context, cl_device_id};
use warpfft_core::problem::Problem;
use warpfft_core::program::Program;
use warpfft_core::recipe::Recipe;
use warpfft_core::target::Limits;

pub use self::bound::{Bound, OpenClBuffers};
use self::found::Found;
use self::work::OpenClWork;
use super::backend::{Backend, Execute, Part, compiled};
use super::{Device, DeviceKind, DeviceReport};
use crate::error::Error;
use crate::plan::Plan;

/// An opened device with what its plans share.
pub(crate) struct Opened {
    context: Context,
    /// For data of the computer's memory, in order.
    queue: CommandQueue,
    about: Found,
    /// Built programs by the hash of their text.
    built: Mutex<HashMap<u128, Arc<opencl3::program::Program>>>,
}

struct OpenCl(Arc<Opened>);

impl Opened {
    fn new(about: Found, context: Context) -> Result<Self, ClError> {
        // SAFETY: the context was made for this device, or its maker vouches for that.
        #[allow(deprecated, reason = "OpenCL 1.2 has no other")]
        let queue = unsafe { CommandQueue::create(&context, about.device.id(), 0) }?;
        Ok(Self { context, queue, about, built: Mutex::default() })
    }

    pub fn limits(&self) -> &Limits {
        &self.about.limits
    }

    /// A failed call as an error; `bytes` of memory were asked for, or 0.
    pub fn failed(&self, call: &'static str, bytes: u64, error: &ClError) -> Error {
        let device = self.limits().name.clone();
        match error.0 {
            CL_MEM_OBJECT_ALLOCATION_FAILURE
            | CL_OUT_OF_HOST_MEMORY
            | CL_OUT_OF_RESOURCES
            | CL_INVALID_BUFFER_SIZE
                if bytes > 0 =>
            {
                Error::OutOfMemory { device, bytes, free: None }
            }
            code => Error::Driver { device, call, name: error.to_string(), code },
        }
    }
}

fn absent(reason: String) -> Error {
    Error::DeviceAbsent { kind: DeviceKind::OpenCl, reason, would_work: DeviceKind::Cpu }
}

/// A device that was found, if it can be used.
fn usable(about: &Found) -> Result<(), Error> {
    about.lacks.map_or(Ok(()), |lacks| Err(absent(format!("{}: {lacks}", about.limits.name))))
}

pub(super) fn open() -> Result<Arc<dyn Backend>, Error> {
    let best = found::all().map_err(absent)?.swap_remove(0);
    usable(&best)?;
    let context = Context::from_device(&best.device).map_err(|error| absent(error.to_string()))?;
    let opened = Opened::new(best, context).map_err(|error| absent(error.to_string()))?;
    Ok(Arc::new(OpenCl(Arc::new(opened))))
}

pub(super) fn reports() -> Vec<DeviceReport> {
    let kind = DeviceKind::OpenCl;
    match found::all() {
        Err(reason) => {
            let usable = Err(absent(reason));
            vec![DeviceReport { kind, name: "OpenCL".into(), limits: None, usable, detail: String::new() }]
        }
        Ok(all) => {
            let report = |about: Found| DeviceReport {
                kind,
                name: about.limits.name.clone(),
                usable: usable(&about),
                detail: about.detail,
                limits: Some(about.limits),
            };
            all.into_iter().map(report).collect()
        }
    }
}

impl Backend for OpenCl {
    fn kind(&self) -> DeviceKind {
        DeviceKind::OpenCl
    }

    fn name(&self) -> &str {
        &self.0.limits().name
    }

    fn limits(&self) -> Option<&Limits> {
        Some(self.0.limits())
    }

    fn is_hardware(&self) -> bool {
        self.0.about.hardware
    }

    fn load(&self, program: Program) -> Result<Arc<dyn Execute>, Error> {
        Ok(Arc::new(OpenClWork::load(&self.0, program)?))
    }

    fn plan(&self, problem: &Problem, recipe: Option<&Recipe>) -> Result<Arc<dyn Execute>, Error> {
        self.load(compiled(problem, self.0.limits(), recipe)?)
    }
}

impl Device {
    /// The best device that OpenCL finds: a GPU before a processor.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn opencl() -> Result<Self, Error> {
        Ok(Self::of(open()?))
    }

    /// A device in a context that the caller has made. Both are kept alive.
    ///
    /// # Errors
    ///
    /// The device cannot be used, or is not of that context.
    ///
    /// # Safety
    ///
    /// Both are valid.
    pub unsafe fn from_opencl(context: cl_context, device: cl_device_id) -> Result<Self, Error> {
        let about = found::describe(opencl3::device::Device::new(device), "the caller's context");
        usable(&about)?;
        let refused = |error: ClError| absent(error.to_string());
        // SAFETY: the context is valid, as the caller says; what is kept here is a reference of its own, released when
        // `Context` is dropped.
        unsafe { cl3::context::retain_context(context) }.map_err(|code| refused(code.into()))?;
        let opened = Opened::new(about, Context::new(context, &[device])).map_err(refused)?;
        Ok(Self::of(Arc::new(OpenCl(Arc::new(opened)))))
    }
}

impl Plan {
    /// Binds the caller's memory objects, so that the transform can be enqueued any number of times. Allocates the
    /// workspace.
    ///
    /// # Errors
    ///
    /// The plan is for another device, or a buffer is too short.
    ///
    /// # Safety
    ///
    /// The memory objects are valid, of the plan's context, and do not overlap one another. They are kept alive.
    pub unsafe fn bind_opencl(&self, buffers: &OpenClBuffers) -> Result<Bound, Error> {
        // SAFETY: the caller vouches for the same.
        unsafe { self.work_as::<OpenClWork>(DeviceKind::OpenCl)?.bind(buffers, None) }
    }

    /// Binds memory objects that hold what the first `most` transforms span, of a plan that leaves their number open: for
    /// [`Bound::enqueue_batch`] with counts up to that.
    ///
    /// # Errors
    ///
    /// As [`Plan::bind_opencl`]; the plan does not leave the number open, or was made for fewer.
    ///
    /// # Safety
    ///
    /// As [`Plan::bind_opencl`].
    pub unsafe fn bind_opencl_batch(&self, most: u64, buffers: &OpenClBuffers) -> Result<Bound, Error> {
        let part = Part::of(self.problem(), most.max(1))?;
        // SAFETY: the caller vouches for the same.
        unsafe { self.work_as::<OpenClWork>(DeviceKind::OpenCl)?.bind(buffers, part.as_ref()) }
    }

    /// The context and device on which this plan runs, and the queue that it uses for data of the computer's memory. They
    /// live as long as the plan does.
    ///
    /// # Errors
    ///
    /// The plan is for another device.
    pub fn opencl_device(&self) -> Result<(cl_context, cl_device_id, cl_command_queue), Error> {
        let opened = self.work_as::<OpenClWork>(DeviceKind::OpenCl)?.opened();
        Ok((opened.context.get(), opened.about.device.id(), opened.queue.get()))
    }
}
