//! The processor: no kernels; the problem goes to rustfft, realfft and rustdct, axis by axis, on all threads.

mod around;
mod blocks;
mod ends;
mod gather;
mod growth;
mod lines;
mod memory;
mod plan;
mod portions;
mod real;
mod share;
mod split;
mod strategy;
mod tile;
mod timing;
mod view;
mod zoom;

use std::sync::{Arc, Mutex, PoisonError};

use realfft::RealFftPlanner;
use rustdct::{DctNum, DctPlanner};
use rustfft::{FftDirection, FftPlanner};
use warpfft_core::problem::{Direction, Format, Kind, Precision, Problem};
use warpfft_core::program::Program;
use warpfft_core::recipe::Recipe;
use warpfft_core::strategy::{HostLine, HostReal};
use warpfft_core::target::Limits;

use self::around::{Around, Make};
use self::lines::Work;
use self::plan::CpuPlan;
use self::real::{FromSpectrum, ToSpectrum, ToWholeSpectrum};
use self::split::Wanted;
use self::zoom::ZoomLine;
use super::backend::{Backend, Execute};
use super::{DeviceKind, DeviceReport};
use crate::error::Error;
use crate::host::Real;
use crate::room;

/// A real number that the libraries take too.
pub(crate) trait CpuReal: Real + DctNum + HostReal + Into<f64> {
    /// This type's planners, which remember what they made.
    fn planners(planners: &mut Planners) -> &mut Own<Self>;

    /// The nearest value of this type.
    fn nearest(x: f64) -> Self;

    /// The same value.
    fn widened(self) -> f64;
}

impl CpuReal for f32 {
    fn planners(planners: &mut Planners) -> &mut Own<Self> {
        &mut planners.single
    }

    fn nearest(x: f64) -> Self {
        x as Self
    }

    fn widened(self) -> f64 {
        self.into()
    }
}

impl CpuReal for f64 {
    fn planners(planners: &mut Planners) -> &mut Own<Self> {
        &mut planners.double
    }

    fn nearest(x: f64) -> Self {
        x
    }

    fn widened(self) -> f64 {
        self
    }
}

/// One precision's planners.
pub(crate) struct Own<T: DctNum> {
    complex: FftPlanner<T>,
    real: RealFftPlanner<T>,
    trigonometric: DctPlanner<T>,
}

impl<T: DctNum> Own<T> {
    fn new() -> Self {
        let (complex, real) = (FftPlanner::new(), RealFftPlanner::new());
        Self { complex, real, trigonometric: DctPlanner::new() }
    }
}

/// The planners of each precision.
pub(crate) struct Planners {
    single: Own<f32>,
    double: Own<f64>,
}

#[derive(Clone)]
struct Cpu {
    name: String,
    planners: Arc<Mutex<Planners>>,
}

pub(super) fn open() -> Arc<dyn Backend> {
    let planners = Planners { single: Own::new(), double: Own::new() };
    Arc::new(Cpu { name: name(), planners: Arc::new(Mutex::new(planners)) })
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
    /// The one-dimensional transform, from the planners' memory if it was made before.
    fn line<T: CpuReal>(&self, wanted: Wanted, n: u64, direction: Direction) -> Result<Work<T>, Error> {
        let length = self.room_to_plan::<T>(wanted, n)?;
        let mut planners = self.planners.lock().unwrap_or_else(PoisonError::into_inner);
        let planners = T::planners(&mut planners);
        Ok(match wanted {
            Wanted::Complex => {
                let direction = match direction {
                    Direction::Forward => FftDirection::Forward,
                    Direction::Inverse => FftDirection::Inverse,
                };
                Work::Complex(planners.complex.plan_fft(length, direction))
            }
            Wanted::ToSpectrum => {
                let fft = planners.real.plan_fft_forward(length);
                Work::Real(Arc::new(ToSpectrum { fft, conjugated: direction == Direction::Inverse }))
            }
            Wanted::ToWholeSpectrum => {
                let fft = planners.real.plan_fft_forward(length);
                let half = ToSpectrum { fft, conjugated: direction == Direction::Inverse };
                Work::Real(Arc::new(ToWholeSpectrum { half }))
            }
            Wanted::FromSpectrum => {
                let fft = planners.real.plan_fft_inverse(length);
                Work::Real(Arc::new(FromSpectrum { fft, conjugated: direction == Direction::Forward }))
            }
            Wanted::Zoom(band, reals) => {
                Work::Real(Arc::new(ZoomLine::new(planners, band, reals, direction)))
            }
            Wanted::Real(kind, orthogonal) => Work::Real(real::line(planners, kind, orthogonal, length)),
        })
    }

    /// Asks whether there is room for a line's tables and scratch: the libraries abort where they cannot have it.
    fn room_to_plan<T: CpuReal>(&self, wanted: Wanted, n: u64) -> Result<usize, Error> {
        // About what they allocate; some cosine transforms go by complex ones of twice their length.
        let each = match wanted {
            Wanted::Real(..) => 12,
            Wanted::Zoom(band, _) => 32 * (1 + band.points / n.max(1)),
            _ => 4,
        };
        let reals = n.saturating_mul(each);
        let bytes = reals.saturating_mul(size_of::<T>() as u64);
        let out_of_memory = || Error::OutOfMemory { device: self.name.clone(), bytes, free: None };
        room::ask(bytes, &self.name)?;
        let wanted = usize::try_from(reals).map_err(|_| out_of_memory())?;
        Vec::<T>::new().try_reserve_exact(wanted).map_err(|_| out_of_memory())?;
        Ok(n as usize)
    }

    fn plan_as<T: CpuReal>(&self, problem: &Problem) -> Result<Arc<dyn Execute>, Error> {
        if !problem.functions.is_empty() || (problem.is_windowed() && problem.kind != Kind::Complex) {
            return ends::plan::<T>(self, problem);
        }
        let make = self.maker::<T>();
        let reduced = problem.kind == Kind::Complex && problem.output == Format::Real;
        if problem.is_windowed() || problem.filter.is_some() || reduced {
            return Ok(Arc::new(Around::new(problem, make)?));
        }
        let plan = make(problem)?;
        let parts = move |problem: &Problem| make(problem);
        Ok(Arc::new(if problem.at_run().is_some() { plan.with_parts(parts) } else { plan }))
    }

    /// What makes the plan of a plain problem. The lines are remembered: what is made for a count is their order, which takes
    /// microseconds.
    fn maker<T: CpuReal>(&self) -> Make<T> {
        let cpu = self.clone();
        Arc::new(move |problem: &Problem| {
            CpuPlan::<T>::new(problem, |wanted, n| cpu.line(wanted, n, problem.direction))
        })
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
            Precision::F64 | Precision::DoubleSingle => self.plan_as::<f64>(problem),
        }
    }

    fn plan_lines(&self, problem: &Problem, line: HostLine) -> Result<Arc<dyn Execute>, Error> {
        match problem.precision {
            Precision::F32 => strategy::plan::<f32>(problem, line, &self.name),
            Precision::F64 | Precision::DoubleSingle => strategy::plan::<f64>(problem, line, &self.name),
        }
    }
}
