//! Where plans run. One device more is one file here, and one line in [`DeviceKind`] and in each `match` on it.

pub(crate) mod backend;
#[cfg(feature = "cuda")]
mod behind;
#[cfg(any(feature = "opencl", feature = "wgpu"))]
mod bindable;
#[cfg(feature = "cuda")]
mod cache;
mod check;
mod choice;
mod cpu;
#[cfg(feature = "cuda")]
pub mod cuda;
#[cfg(any(feature = "cuda", feature = "opencl", feature = "wgpu"))]
mod hash;
#[cfg(feature = "opencl")]
pub mod opencl;
mod outline;
#[cfg(feature = "cuda")]
mod recent;
pub mod sim;
#[cfg(feature = "wgpu")]
pub mod wgpu;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use warpfft_core::explain::Explanation;
use warpfft_core::problem::Problem;
use warpfft_core::program::{Compiled, Program};
use warpfft_core::recipe::Recipe;
use warpfft_core::strategy::Strategy;
use warpfft_core::target::Limits;

use self::backend::Backend;
pub use self::choice::HostData;
use crate::error::Error;
use crate::plan::Plan;
use crate::wisdom::Wisdom;

/// A kind of device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeviceKind {
    /// The best that is usable: CUDA, then another GPU through wgpu or OpenCL, then the processor.
    Auto,
    /// An NVIDIA GPU through its driver.
    Cuda,
    /// Any GPU through Vulkan, Metal or DX12.
    Wgpu,
    /// Any GPU, or a processor, through OpenCL.
    OpenCl,
    /// The processor; on every machine.
    Cpu,
    /// The simulator, which runs and checks the kernels of any device; on every machine, slowly.
    Sim,
}

impl DeviceKind {
    /// All kinds with their names on the command line.
    pub const NAMES: [(Self, &'static str); 6] = [
        (Self::Auto, "auto"),
        (Self::Cuda, "cuda"),
        (Self::Wgpu, "wgpu"),
        (Self::OpenCl, "opencl"),
        (Self::Cpu, "cpu"),
        (Self::Sim, "sim"),
    ];
}

impl std::fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = Self::NAMES.iter().find(|(kind, _)| kind == self).map_or("", |&(_, name)| name);
        f.pad(name)
    }
}

impl std::str::FromStr for DeviceKind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let found = Self::NAMES.iter().find(|(_, name)| name.eq_ignore_ascii_case(text));
        found.map(|&(kind, _)| kind).ok_or_else(|| Error::UnknownDevice { given: text.into() })
    }
}

/// What [`survey`] found.
#[derive(Debug, Clone)]
pub struct DeviceReport {
    /// Its kind.
    pub kind: DeviceKind,
    /// Its name.
    pub name: String,
    /// What kernels for it may use; `None` for the processor, or where it cannot be asked.
    pub limits: Option<Limits>,
    /// Whether it can be used, and why not.
    pub usable: Result<(), Error>,
    /// Driver version, memory and the like, for people.
    pub detail: String,
}

/// Looks for devices of every kind. Each kind gives at least one report: of what was found, or of why nothing
/// was.
pub fn survey() -> Vec<DeviceReport> {
    let mut reports = Vec::new();
    #[cfg(feature = "cuda")]
    reports.extend(cuda::reports());
    #[cfg(feature = "wgpu")]
    reports.extend(wgpu::reports());
    #[cfg(feature = "opencl")]
    reports.extend(opencl::reports());
    reports.extend([cpu::report(), sim::report()]);
    reports
}

/// Whether plans and machine code are kept on the disk, for this process: on until told otherwise. The environment
/// may turn it off too, by `WARPFFT_CACHE=off`.
pub fn use_disk_cache(on: bool) {
    DISK_CACHE.store(on, Ordering::Relaxed);
}

static DISK_CACHE: AtomicBool = AtomicBool::new(true);

/// Whether plans for GPUs may begin with stand-ins while their best kernels are being assembled ([`Plan::settle`]), for this
/// process: on until told otherwise. The environment may turn it off too, by `WARPFFT_STAND_INS=off`. Without, a plan
/// that has to be assembled takes up to some tenths of a second, and gives the same bits from its first run on.
pub fn use_stand_ins(on: bool) {
    STAND_INS.store(on, Ordering::Relaxed);
}

static STAND_INS: AtomicBool = AtomicBool::new(true);

/// What [`use_stand_ins`] and the environment say.
#[cfg(feature = "cuda")]
fn stand_ins() -> bool {
    let off = std::env::var_os("WARPFFT_STAND_INS").is_some_and(|value| value.eq_ignore_ascii_case("off"));
    !off && STAND_INS.load(Ordering::Relaxed)
}

/// An opened device. Clones are the same device.
#[derive(Clone)]
pub struct Device {
    backend: Arc<dyn Backend>,
    /// `None`: what the environment says.
    wisdom: Option<Arc<Wisdom>>,
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Device({}, {})", self.kind(), self.name())
    }
}

impl Device {
    /// Opens a device of that kind for a strategy: [`DeviceKind::Auto`] is the processor where the strategy is a program for
    /// it.
    ///
    /// ```
    /// use warpfft::{Device, DeviceKind, Strategy};
    ///
    /// let strategy = Strategy::named("cpu-recursive")?;
    /// assert_eq!(Device::open_for(strategy, DeviceKind::Auto)?.kind(), DeviceKind::Cpu);
    /// # Ok::<(), warpfft::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Device::open`].
    pub fn open_for(strategy: Strategy, kind: DeviceKind) -> Result<Self, Error> {
        let at_home = kind == DeviceKind::Auto && strategy.is_on_processor();
        if at_home { Ok(Self::cpu()) } else { Self::open(kind) }
    }

    /// Opens a device of that kind: of several, the first, or the one that is a real GPU.
    ///
    /// # Errors
    ///
    /// There is none, or it cannot be used. [`DeviceKind::Auto`] always finds one.
    pub fn open(kind: DeviceKind) -> Result<Self, Error> {
        match kind {
            DeviceKind::Cpu => Ok(Self::cpu()),
            DeviceKind::Sim => Ok(Self::sim(Limits::h200())),
            #[cfg(feature = "cuda")]
            DeviceKind::Cuda => Self::cuda(0),
            #[cfg(feature = "wgpu")]
            DeviceKind::Wgpu => Self::wgpu(),
            #[cfg(feature = "opencl")]
            DeviceKind::OpenCl => Self::opencl(),
            DeviceKind::Auto => Ok([DeviceKind::Cuda, DeviceKind::Wgpu, DeviceKind::OpenCl]
                .into_iter()
                .filter_map(|kind| Self::open(kind).ok())
                .find(Self::is_hardware)
                .unwrap_or_else(Self::cpu)),
            #[allow(unreachable_patterns, reason = "reached in builds without all devices")]
            kind => Err(Error::NotBuilt { kind }),
        }
    }

    fn of(backend: Arc<dyn Backend>) -> Self {
        Self { backend, wisdom: None }
    }

    /// The same device with this wisdom, and no other, for the plans that are made from now on.
    #[must_use]
    pub fn with_wisdom(self, wisdom: Wisdom) -> Self {
        Self { wisdom: Some(Arc::new(wisdom)), ..self }
    }

    /// What was found by timing for a problem here, or for nearly as many of the same transforms, whether or not the
    /// compiler offers it.
    fn known(&self, problem: &Problem) -> Result<Option<Recipe>, Error> {
        let Some(limits) = self.limits() else { return Ok(None) };
        let wisdom = self.wisdom.clone().map_or_else(Wisdom::ambient, Ok)?;
        Ok(wisdom.recipe_near(self.name(), limits, problem))
    }

    /// The recipe that a problem's plan follows here because it was found by timing: `None` where the cost model
    /// chooses.
    ///
    /// # Errors
    ///
    /// The environment names wisdom that cannot be read.
    pub fn recipe(&self, problem: &Problem) -> Result<Option<Recipe>, Error> {
        let Some(limits) = self.limits() else { return Ok(None) };
        let offered = |recipe: &Recipe| Compiled::by(recipe, problem, limits).is_ok();
        Ok(self.known(problem)?.filter(offered))
    }

    /// What a problem's plan would do here; `None` for the processor, which has no kernels.
    ///
    /// # Errors
    ///
    /// The device cannot hold it, or the environment names wisdom that cannot be read.
    pub fn explain(&self, problem: &Problem) -> Result<Option<Explanation>, Error> {
        let Some(limits) = self.limits() else { return Ok(None) };
        let compiled = match self.recipe(problem)? {
            Some(recipe) => Compiled::by(&recipe, problem, limits)?,
            None => Compiled::of(problem, limits)?,
        };
        Ok(Some(Explanation::of(&compiled, limits)))
    }

    pub(crate) fn backend(&self) -> &dyn Backend {
        &*self.backend
    }

    /// The processor.
    pub fn cpu() -> Self {
        Self::of(cpu::open())
    }

    /// The simulator of a device with these limits.
    pub fn sim(limits: Limits) -> Self {
        Self::of(sim::open(limits))
    }

    /// Whether it is hardware of its own, and not this processor in disguise: the simulator, or a software driver of a
    /// GPU interface.
    pub fn is_hardware(&self) -> bool {
        self.backend.is_hardware()
    }

    /// Its kind; never [`DeviceKind::Auto`].
    pub fn kind(&self) -> DeviceKind {
        self.backend.kind()
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.backend.name()
    }

    /// What kernels for it may use; `None` for the processor, which has no kernels.
    pub fn limits(&self) -> Option<&Limits> {
        self.backend.limits()
    }

    /// Makes a problem ready to run here. All compilation and all allocation of the device's memory for tables
    /// happens in this call.
    ///
    /// # Errors
    ///
    /// The device cannot hold it, or its driver refused it; or the environment names wisdom that cannot be read.
    pub fn plan(&self, problem: &Problem) -> Result<Plan, Error> {
        let recipe = self.known(problem)?;
        Plan::new(problem.clone(), self.clone(), self.backend.plan(problem, recipe.as_ref())?)
    }

    /// Makes a problem ready to run here by a published algorithm in place of the planner's choice. The kernels are the
    /// strategy's own; all else is as of [`Device::plan`].
    ///
    /// ```
    /// use warpfft::core::{request::Fft, target::Limits};
    /// use warpfft::{Complex, Device, Strategy};
    ///
    /// let problem = Fft::new([64]).build()?;
    /// let device = Device::sim(Limits::h200());
    /// let plan = device.plan_by(&problem, Strategy::named("stockham-2")?)?;
    /// let input = vec![Complex::new(1.0_f32, 0.0); 64];
    /// let mut output = vec![Complex::default(); 64];
    /// plan.run_host(&input, &mut output)?;
    /// assert_eq!(output[0], Complex::new(64.0, 0.0));
    /// # Ok::<(), warpfft::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The strategy does not cover the problem, or the device cannot hold it. Strategies of kernels do not run on
    /// [`DeviceKind::Cpu`], and those for the processor ([`Strategy::is_on_processor`]) run there alone, in one thread.
    pub fn plan_by(&self, problem: &Problem, strategy: Strategy) -> Result<Plan, Error> {
        let growth = strategy.growth(problem);
        let Some(limits) = self.limits() else {
            if let Some(line) = strategy.line(problem)? {
                let work = self.backend.plan_lines(problem, line)?;
                return Ok(Plan::new(problem.clone(), self.clone(), work)?.with_growth(growth));
            }
            return Err(Error::Unsupported {
                device: self.name().into(),
                what: format!("the strategy {strategy}, which is made of kernels"),
                would_work: "use device 'sim', or a GPU".into(),
            });
        };
        Ok(self.load(strategy.compile(problem, limits)?)?.with_growth(growth))
    }

    /// Makes a program ready that was compiled for this device's limits.
    ///
    /// # Errors
    ///
    /// The program does not hang together, or the device cannot run it.
    pub fn load(&self, program: Program) -> Result<Plan, Error> {
        let problem = program.problem.clone();
        Plan::new(problem, self.clone(), self.backend.load(program)?)
    }
}
