//! Kernels, buffers and their order: what a device needs to run a plan, and all that it needs.

use crate::error::{Error, Side};
use crate::kernel::{Kernel, Verified};
use crate::lower::Lowered;
use crate::lower::tile::{self, Choice, Tile};
use crate::pass::Pass;
use crate::problem::{Format, Kind, Precision, Problem, Storage};
use crate::recipe::Recipe;
use crate::schedule::{self, Schedule, fuse};
use crate::target::Limits;

mod link;
mod stand_in;
mod table;

pub(crate) use link::Link;
pub use stand_in::{SHORT_ENOUGH, brief, can_stand_in, looped, searched, stand_in};
pub use table::{Numbers, Table};

/// What a kernel's buffer is bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Binding {
    /// The caller's input: plane 0 (interleaved or real parts) or 1 (imaginary parts).
    Input(u8),
    /// The caller's output, likewise. In place, only `Output` is used.
    Output(u8),
    /// The workspace from that byte on.
    Workspace {
        /// First byte, a multiple of 256.
        offset: u64,
        /// Bytes used.
        bytes: u64,
    },
    /// The factors of the frequencies: [`Problem::filter`].
    Filter,
    /// A constant table, an index into [`Program::tables`].
    Table(u16),
}

/// One launch.
#[derive(Debug, Clone, PartialEq)]
pub struct Launch {
    /// Index into [`Program::kernels`].
    pub kernel: usize,
    /// One for each of the kernel's buffers, in order.
    pub bindings: Vec<Binding>,
}

/// A compiled problem: what a device loads and launches.
#[derive(Debug, Clone)]
pub struct Program {
    /// The problem that it solves.
    pub problem: Problem,
    /// Distinct kernels.
    pub kernels: Vec<Verified<Kernel>>,
    /// Constant tables.
    pub tables: Vec<Table>,
    /// Launches in order.
    pub launches: Vec<Launch>,
    /// Bytes of workspace.
    pub workspace_bytes: u64,
}

impl Program {
    /// Instructions of its longest kernel. Kernels can be assembled side by side, so this is what there is to wait for.
    pub fn longest(&self) -> usize {
        self.kernels.iter().map(|kernel| kernel.instructions()).max().unwrap_or(0)
    }

    /// The program of one pass that solves the problem by itself, lowered under a tile that no search chose: for
    /// tests, and to time it.
    ///
    /// # Errors
    ///
    /// A kernel that is not well formed, or beyond the device.
    pub fn of_pass(problem: &Problem, pass: &Pass, lowered: Lowered, limits: &Limits) -> Result<Self, Error> {
        Link::new(problem, limits, (Vec::new(), 0)).alone(pass, lowered)
    }

    /// The program of a schedule of two fused passes, under tiles that no search chose: for tests, and
    /// to time it.
    ///
    /// # Errors
    ///
    /// The schedule is not of two fused passes, or a kernel is not well formed, or beyond the device.
    pub fn of_fused(
        problem: &Problem,
        schedule: &Schedule,
        tiles: [&Tile; 2],
        limits: &Limits,
    ) -> Result<Self, Error> {
        let ([one, two], [(_, ring)]) = (&schedule.passes[..], &schedule.fused[..]) else {
            return Err(Error::Recipe { detail: "the schedule is not of two fused passes".into() });
        };
        let mut link = Link::new(problem, limits, schedule.workspace(problem.precision));
        let choices = tiles.map(|tile| Choice { tile: tile.clone(), cost: 0.0 });
        link.fused([one, two], [&choices[0], &choices[1]], ring)?;
        Ok(link.finish()?.0)
    }
}

/// Compiles a problem for a device: everything from the request's canonical form to kernels that can be emitted.
///
/// # Errors
///
/// A precision, an array or a launch that the device cannot take; a length without a plan.
///
/// # Examples
///
/// ```
/// use warpfft_core::{program, request::Fft, target::Limits};
///
/// let problem = Fft::new([1024]).batch(64).build()?;
/// let program = program::compile(&problem, &Limits::h200())?;
/// assert_eq!(program.launches.len(), 1); // one pass over memory
/// assert_eq!(program.workspace_bytes, 0);
/// # Ok::<(), warpfft_core::Error>(())
/// ```
pub fn compile(problem: &Problem, limits: &Limits) -> Result<Program, Error> {
    Compiled::of(problem, limits).map(|compiled| compiled.program)
}

/// A program beside what led to it, for those who want to look.
#[derive(Debug, Clone)]
pub struct Compiled {
    /// The program.
    pub program: Program,
    /// Passes, regions and plans.
    pub schedule: Schedule,
    /// Tile, lowering and occupancy of each pass.
    pub parts: Vec<Part>,
}

/// What became of one pass.
#[derive(Debug, Clone)]
pub struct Part {
    /// Tile.
    pub tile: Tile,
    /// Copies that the cost model expects.
    pub cost: f64,
    /// Wavefronts of shared-memory accesses over the fewest possible.
    pub conflicts: f64,
    /// Exchanges through shared memory.
    pub exchanges: u32,
    /// Index into [`Program::launches`]; two passes may share one.
    pub launch: usize,
}

impl Compiled {
    /// Compiles a problem and keeps the steps.
    ///
    /// # Errors
    ///
    /// As [`compile`].
    pub fn of(problem: &Problem, limits: &Limits) -> Result<Self, Error> {
        check(problem, limits)?;
        let schedule = schedule::schedule(problem, limits)?;
        let choose = |pass| tile::choose(pass, limits).ok_or_else(|| no_tile(pass, limits));
        let choices = schedule.passes.iter().map(choose).collect::<Result<_, _>>()?;
        let (schedule, choices) = fuse::cheapest(schedule, choices, problem, limits);
        Self::lowered(problem, limits, schedule, &choices)
    }

    /// Compiles a problem by a recipe, where the search that found it still offers it.
    ///
    /// # Errors
    ///
    /// As [`compile`], and [`Error::Recipe`] where the recipe is for another problem or device, or out of date.
    pub fn by(recipe: &Recipe, problem: &Problem, limits: &Limits) -> Result<Self, Error> {
        check(problem, limits)?;
        let (schedule, choices) = recipe.followed(problem, limits)?;
        Self::lowered(problem, limits, schedule, &choices)
    }

    fn lowered(
        problem: &Problem,
        limits: &Limits,
        schedule: Schedule,
        choices: &[Choice],
    ) -> Result<Self, Error> {
        let link = Link::new(problem, limits, schedule.workspace(problem.precision));
        let mut link = if schedule.passes.len() == 1 { link.in_one() } else { link };
        let mut next = 0;
        while let (Some(pass), Some(choice)) = (schedule.passes.get(next), choices.get(next)) {
            if let Some((_, ring)) = schedule.fused.iter().find(|(fuse, _)| fuse.first == next) {
                let (second, other) = (&schedule.passes[next + 1], &choices[next + 1]);
                link.fused([pass, second], [choice, other], ring)?;
                next += 2;
            } else {
                link.single(pass, choice)?;
                next += 1;
            }
        }
        let (program, parts) = link.finish()?;
        Ok(Self { program, schedule, parts })
    }
}

fn no_tile(pass: &Pass, limits: &Limits) -> Error {
    let points: u64 = pass.axes.iter().map(|axis| axis.method.points()).product();
    Error::DeviceTooSmall {
        what: format!("{}: points of a tile", limits.name),
        needed: points,
        available: crate::planner::max_alone(limits, pass.precision),
    }
}

/// Refuses what the device cannot take, and what no kernel is for.
pub(crate) fn check(problem: &Problem, limits: &Limits) -> Result<(), Error> {
    if problem.stored().contains(&Storage::F64) && problem.precision == Precision::F32 && !limits.f64 {
        return Err(Error::Unsupported {
            what: "double precision in memory".into(),
            device: limits.name.clone(),
            would_work: "f32 storage, or the cpu device".into(),
        });
    }
    problem.check_at_run()?;
    problem.check_functions()?;
    if problem.precision == Precision::F64 && !limits.f64 {
        return Err(Error::Unsupported {
            what: "double precision".into(),
            device: limits.name.clone(),
            would_work: "double-single arithmetic (about 48 bits), single precision, or the cpu device"
                .into(),
        });
    }
    if problem.is_windowed() || problem.filter.is_some() {
        // What is read of these by their places is taken on trust further on.
        problem.clone().validated()?;
    }
    for (side, got) in [(Side::Input, problem.input), (Side::Output, problem.output)] {
        if problem.kind == Kind::Complex && matches!(got, Format::Apart(_)) {
            return Err(Error::KindFormat { side, real: false, got });
        }
    }
    for bytes in [problem.input_bytes(), problem.output_bytes(), problem.filter_bytes()] {
        too_large("bytes of one buffer", bytes, limits.max_buffer_bytes, limits)?;
    }
    Ok(())
}

/// Refuses what is more than there is.
pub(crate) fn too_large(what: &str, needed: u64, available: u64, limits: &Limits) -> Result<(), Error> {
    if needed <= available {
        return Ok(());
    }
    Err(Error::DeviceTooSmall { what: format!("{}: {what}", limits.name), needed, available })
}
