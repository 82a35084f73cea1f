//! Any GPU with Vulkan, Metal or DX12, through wgpu.

mod adapter;
mod bound;
mod work;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use warpfft_core::problem::Problem;
use warpfft_core::program::Program;
use warpfft_core::recipe::Recipe;
use warpfft_core::target::Limits;

pub use self::bound::{Bound, WgpuBuffers};
use self::work::{Pipeline, WgpuWork};
use super::backend::{Backend, Execute, Part, compiled};
use super::{Device, DeviceKind, DeviceReport};
use crate::error::Error;
use crate::plan::Plan;

/// An opened device with what its plans share.
pub(crate) struct Gpu {
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    pub limits: Limits,
    hardware: bool,
    /// What the driver said when it gave the device up.
    lost: Arc<Mutex<Option<String>>>,
    pipelines: Mutex<HashMap<u128, Arc<Pipeline>>>,
}

struct Wgpu(Arc<Gpu>);

impl Gpu {
    fn new(device: wgpu::Device, queue: wgpu::Queue, info: &wgpu::AdapterInfo) -> Self {
        let limits = adapter::limits(&device.limits(), device.features(), info);
        let hardware = info.device_type != wgpu::DeviceType::Cpu;
        Self { device, queue, limits, hardware, lost: Arc::default(), pipelines: Mutex::default() }
    }

    /// Runs what may fail inside wgpu and turns what its scopes catch into an error.
    pub fn guarded<R>(&self, bytes: u64, work: impl FnOnce() -> R) -> Result<R, Error> {
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let internal = self.device.push_error_scope(wgpu::ErrorFilter::Internal);
        let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let result = work();
        // Scopes nest: the last that was opened is the first to close.
        let caught = [validation, internal, memory].map(|scope| pollster::block_on(scope.pop()));
        self.alive()?;
        let device = self.limits.name.clone();
        match caught.into_iter().flatten().next() {
            None => Ok(result),
            Some(wgpu::Error::OutOfMemory { .. }) => Err(Error::OutOfMemory { device, bytes, free: None }),
            Some(error) => Err(Error::Validation { device, detail: error.to_string() }),
        }
    }

    /// Waits until the queue is idle.
    pub fn wait(&self) -> Result<(), Error> {
        let waited = self.device.poll(wgpu::PollType::wait_indefinitely());
        self.alive()?;
        let detail = |error: wgpu::PollError| error.to_string();
        let lost = |detail| Error::DeviceLost { device: self.limits.name.clone(), detail };
        waited.map(|_| ()).map_err(|error| lost(detail(error)))
    }

    fn alive(&self) -> Result<(), Error> {
        let lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        match &*lost {
            None => Ok(()),
            Some(detail) => {
                Err(Error::DeviceLost { device: self.limits.name.clone(), detail: detail.clone() })
            }
        }
    }
}

pub(super) fn open() -> Result<Arc<dyn Backend>, Error> {
    let absent = |reason| Error::DeviceAbsent { kind: DeviceKind::Wgpu, reason, would_work: DeviceKind::Cpu };
    let adapters = adapter::all();
    let best = adapters.first().ok_or_else(|| absent(adapter::NONE.into()))?;
    let gpu = adapter::open(best).map_err(absent)?;
    let lost = Arc::clone(&gpu.lost);
    gpu.device.set_device_lost_callback(move |reason, message| {
        if reason != wgpu::DeviceLostReason::Destroyed {
            *lost.lock().unwrap_or_else(PoisonError::into_inner) = Some(message);
        }
    });
    // What no scope caught would end the process otherwise.
    gpu.device
        .on_uncaptured_error(Arc::new(|error| tracing::error!(%error, "an error of wgpu outside of calls")));
    Ok(Arc::new(Wgpu(Arc::new(gpu))))
}

pub(super) fn reports() -> Vec<DeviceReport> {
    let kind = DeviceKind::Wgpu;
    let adapters = adapter::all();
    if adapters.is_empty() {
        let usable =
            Err(Error::DeviceAbsent { kind, reason: adapter::NONE.into(), would_work: DeviceKind::Cpu });
        return vec![DeviceReport { kind, name: "wgpu".into(), limits: None, usable, detail: String::new() }];
    }
    let report = |adapter: &wgpu::Adapter| {
        let info = adapter.get_info();
        DeviceReport {
            kind,
            name: info.name.clone(),
            limits: Some(adapter::limits(&adapter.limits(), adapter.features(), &info)),
            usable: Ok(()),
            detail: format!(
                "{:?} by {:?}, driver {} {}",
                info.device_type, info.backend, info.driver, info.driver_info
            ),
        }
    };
    adapters.iter().map(report).collect()
}

impl Backend for Wgpu {
    fn kind(&self) -> DeviceKind {
        DeviceKind::Wgpu
    }

    fn name(&self) -> &str {
        &self.0.limits.name
    }

    fn limits(&self) -> Option<&Limits> {
        Some(&self.0.limits)
    }

    fn is_hardware(&self) -> bool {
        self.0.hardware
    }

    fn load(&self, program: Program) -> Result<Arc<dyn Execute>, Error> {
        Ok(Arc::new(WgpuWork::load(&self.0, program)?))
    }

    fn plan(&self, problem: &Problem, recipe: Option<&Recipe>) -> Result<Arc<dyn Execute>, Error> {
        self.load(compiled(problem, &self.0.limits, recipe)?)
    }
}

impl Device {
    /// The best GPU that wgpu finds: a real one before a software one.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn wgpu() -> Result<Self, Error> {
        Ok(Self::of(open()?))
    }

    /// A device that the caller has opened. Which abilities plans use depends on the features and limits with
    /// which it was opened (`SHADER_F64`, `SUBGROUP`, workgroup storage). The caller's error handlers stay.
    pub fn from_wgpu(device: wgpu::Device, queue: wgpu::Queue, info: &wgpu::AdapterInfo) -> Self {
        Self::of(Arc::new(Wgpu(Arc::new(Gpu::new(device, queue, info)))))
    }
}

impl Plan {
    /// Binds buffers of the caller's wgpu device, so that the transform can be recorded any number of times.
    /// Allocates the workspace.
    ///
    /// # Errors
    ///
    /// The plan is for another device, or a buffer is too short or was not created for storage.
    pub fn bind_wgpu(&self, buffers: &WgpuBuffers<'_>) -> Result<Bound, Error> {
        self.work_as::<WgpuWork>(DeviceKind::Wgpu)?.bind(buffers)
    }

    /// Binds buffers that hold what the first `most` transforms span, of a plan that leaves their number open: for
    /// [`Bound::encode_batch`] with counts up to that.
    ///
    /// # Errors
    ///
    /// As [`Plan::bind_wgpu`]; the plan does not leave the number open, or was made for fewer.
    pub fn bind_wgpu_batch(&self, most: u64, buffers: &WgpuBuffers<'_>) -> Result<Bound, Error> {
        let part = Part::of(self.problem(), most.max(1))?;
        self.work_as::<WgpuWork>(DeviceKind::Wgpu)?.bind_part(buffers, part.as_ref())
    }

    /// The device and queue on which this plan runs, for making buffers and submitting.
    ///
    /// # Errors
    ///
    /// The plan is for another device.
    pub fn wgpu_device(&self) -> Result<(wgpu::Device, wgpu::Queue), Error> {
        let gpu = self.work_as::<WgpuWork>(DeviceKind::Wgpu)?.gpu();
        Ok((gpu.device.clone(), gpu.queue.clone()))
    }
}
