//! The processor: no kernels; the problem goes to rustfft, axis by axis, with rayon over the lines.

mod lines;
mod tile;
mod timing;
mod view;

use std::sync::{Arc, Mutex, PoisonError};

use rustfft::{Fft, FftDirection, FftNum, FftPlanner};
use warpfft_core::problem::{Direction, Precision, Problem};
use warpfft_core::program::Program;
use warpfft_core::recipe::Recipe;
use warpfft_core::target::Limits;

use self::lines::CpuPlan;
use super::backend::{Backend, Execute};
use super::{DeviceKind, DeviceReport};
use crate::error::Error;
use crate::host::Real;
use crate::room;

/// A real number that rustfft takes too.
pub(crate) trait CpuReal: Real + FftNum {
    /// This type's planner, which remembers what it made.
    fn planner(planners: &mut Planners) -> &mut FftPlanner<Self>;

    /// The nearest value of this type.
    fn nearest(x: f64) -> Self;
}

impl CpuReal for f32 {
    fn planner(planners: &mut Planners) -> &mut FftPlanner<Self> {
        &mut planners.single
    }

    fn nearest(x: f64) -> Self {
        x as Self
    }
}

impl CpuReal for f64 {
    fn planner(planners: &mut Planners) -> &mut FftPlanner<Self> {
        &mut planners.double
    }

    fn nearest(x: f64) -> Self {
        x
    }
}

/// One planner for each precision.
pub(crate) struct Planners {
    single: FftPlanner<f32>,
    double: FftPlanner<f64>,
}

struct Cpu {
    name: String,
    planners: Mutex<Planners>,
}

pub(super) fn open() -> Arc<dyn Backend> {
    let planners = Planners { single: FftPlanner::new(), double: FftPlanner::new() };
    Arc::new(Cpu { name: name(), planners: Mutex::new(planners) })
}

pub(super) fn report() -> DeviceReport {
    DeviceReport {
        kind: DeviceKind::Cpu,
        name: name(),
        limits: None,
        usable: Ok(()),
        detail: format!("{} threads", rayon::current_num_threads()),
    }
}

fn name() -> String {
    format!("processor ({})", std::env::consts::ARCH)
}

impl Cpu {
    /// The one-dimensional transform, from the planner's memory if it was made before.
    fn line<T: CpuReal>(&self, n: u64, direction: Direction) -> Result<Arc<dyn Fft<T>>, Error> {
        let out_of_memory = || Error::OutOfMemory {
            device: self.name.clone(),
            bytes: n.saturating_mul(4 * size_of::<T>() as u64),
            free: None,
        };
        let length = usize::try_from(n).map_err(|_| out_of_memory())?;
        // rustfft allocates tables and scratch of about this size and aborts where it cannot: ask first.
        room::ask(n.saturating_mul(4 * size_of::<T>() as u64), &self.name)?;
        let mut trial = Vec::<T>::new();
        let wanted = length.checked_mul(4).ok_or_else(out_of_memory)?;
        trial.try_reserve_exact(wanted).map_err(|_| out_of_memory())?;
        drop(trial);
        let direction = match direction {
            Direction::Forward => FftDirection::Forward,
            Direction::Inverse => FftDirection::Inverse,
        };
        let mut planners = self.planners.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(T::planner(&mut planners).plan_fft(length, direction))
    }

    fn plan_as<T: CpuReal>(&self, problem: &Problem) -> Result<Arc<dyn Execute>, Error> {
        Ok(Arc::new(CpuPlan::<T>::new(problem, |n| self.line(n, problem.direction))?))
    }
}

impl Backend for Cpu {
    fn kind(&self) -> DeviceKind {
        DeviceKind::Cpu
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn limits(&self) -> Option<&Limits> {
        None
    }

    fn load(&self, _program: Program) -> Result<Arc<dyn Execute>, Error> {
        Err(Error::Unsupported {
            device: self.name.clone(),
            what: "programs of kernels".into(),
            would_work: "plan the problem itself, or load the program on device 'sim'".into(),
        })
    }

    fn plan(&self, problem: &Problem, _recipe: Option<&Recipe>) -> Result<Arc<dyn Execute>, Error> {
        match problem.precision {
            Precision::F32 => self.plan_as::<f32>(problem),
            Precision::F64 => self.plan_as::<f64>(problem),
        }
    }
}
