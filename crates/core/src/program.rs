//! Kernels, buffers and their order: what a device needs to run a plan, and all that it needs.

use crate::error::Error;
use crate::kernel::{Kernel, Verified, pass};
use crate::lower::tile::{self, Choice, Tile};
use crate::lower::{self, Lowered, Slot};
use crate::pass::{Array, Pass, TableKind};
use crate::problem::{Precision, Problem};
use crate::recipe::Recipe;
use crate::schedule::{self, Schedule};
use crate::tables;
use crate::target::Limits;

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

/// Constant data that kernels read, made on the host in f64 and rounded once.
#[derive(Debug, Clone, PartialEq)]
pub enum Table {
    /// f32 numbers.
    F32(Vec<f32>),
    /// f64 numbers.
    F64(Vec<f64>),
    /// Indices.
    U32(Vec<u32>),
}

impl Table {
    /// Bytes of the table.
    pub fn bytes(&self) -> u64 {
        (match self {
            Self::F32(v) => v.len() * 4,
            Self::F64(v) => v.len() * 8,
            Self::U32(v) => v.len() * 4,
        }) as u64
    }
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
    /// The program of one pass that solves the problem by itself, lowered under a tile that no search chose: for
    /// tests, and to time it.
    ///
    /// # Errors
    ///
    /// A kernel that is not well formed, or beyond the device.
    pub fn of_pass(problem: &Problem, pass: &Pass, lowered: Lowered, limits: &Limits) -> Result<Self, Error> {
        let mut tables = Vec::new();
        let bindings = lowered.slots.iter().map(|slot| bind(slot, pass, &[], &mut tables)).collect();
        Ok(Self {
            problem: problem.clone(),
            kernels: vec![optimise(lowered.kernel, limits)?],
            tables: contents(&tables, problem.precision, limits)?,
            launches: vec![Launch { kernel: 0, bindings }],
            workspace_bytes: 0,
        })
    }
}

/// Entries of a table at most: it is made on the host, in more memory than it takes on the device.
const MOST_ENTRIES: u64 = 1 << 28;

/// Bytes of the host's memory in which an entry is made.
const MAKING: u64 = 96;

/// What the kinds of table stand for.
fn contents(kinds: &[TableKind], precision: Precision, limits: &Limits) -> Result<Vec<Table>, Error> {
    let build = |&kind: &TableKind| {
        too_large("entries of a table", kind.len(), MOST_ENTRIES, limits)?;
        let bytes = kind.len() * MAKING;
        // Whether there is room is found out here, where it can be said.
        let room = Vec::<u8>::new().try_reserve_exact(bytes as usize);
        room.map_err(|_| Error::OutOfMemory { device: "processor".into(), bytes })?;
        Ok(tables::build(kind, precision))
    };
    kinds.iter().map(build).collect()
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
        Self::lowered(problem, limits, schedule, choices)
    }

    /// Compiles a problem by a recipe, where the search that found it still offers it.
    ///
    /// # Errors
    ///
    /// As [`compile`], and [`Error::Recipe`] where the recipe is for another problem or device, or out of date.
    pub fn by(recipe: &Recipe, problem: &Problem, limits: &Limits) -> Result<Self, Error> {
        check(problem, limits)?;
        let (schedule, choices) = recipe.followed(problem, limits)?;
        Self::lowered(problem, limits, schedule, choices)
    }

    fn lowered(
        problem: &Problem,
        limits: &Limits,
        schedule: Schedule,
        choices: Vec<Choice>,
    ) -> Result<Self, Error> {
        let (regions, workspace_bytes) = schedule.workspace(problem.precision);
        let mut tables: Vec<TableKind> = Vec::new();
        let mut program = Program {
            problem: problem.clone(),
            kernels: Vec::new(),
            tables: Vec::new(),
            launches: Vec::new(),
            workspace_bytes,
        };
        let mut parts = Vec::new();
        for (pass, choice) in schedule.passes.iter().zip(choices) {
            check_pass(pass, &choice.tile, limits)?;
            let lowered = lower::lower(pass, &choice.tile, limits, &name(pass));
            let bindings = lowered.slots.iter().map(|slot| bind(slot, pass, &regions, &mut tables)).collect();
            let kernel = optimise(lowered.kernel, limits)?;
            let known = program.kernels.iter().position(|other| *other == kernel);
            let index = known.unwrap_or_else(|| {
                program.kernels.push(kernel);
                program.kernels.len() - 1
            });
            program.launches.push(Launch { kernel: index, bindings });
            parts.push(Part {
                tile: choice.tile,
                cost: choice.cost,
                conflicts: lowered.conflicts,
                exchanges: lowered.exchanges,
            });
        }
        program.tables = contents(&tables, problem.precision, limits)?;
        Ok(Self { program, schedule, parts })
    }
}

/// A kernel's name says what it does: readable in profilers and in emitted text.
fn name(pass: &Pass) -> String {
    let mut name = String::from("fft");
    for axis in &pass.axes {
        name += &format!("_{}", axis.dim.n);
    }
    if pass.axes.is_empty() {
        name += "_copy";
    }
    name + match pass.precision {
        Precision::F32 => "_f32",
        Precision::F64 => "_f64",
    }
}

fn optimise(kernel: Kernel, limits: &Limits) -> Result<Verified<Kernel>, Error> {
    let name = kernel.name.clone();
    pass::optimise(kernel, limits).map_err(|error| Error::Plan {
        problem: format!("kernel {name}"),
        reason: error.to_string(),
        would_work: "the cpu device runs every problem".into(),
    })
}

fn bind(slot: &Slot, pass: &Pass, regions: &[(u64, u64)], tables: &mut Vec<TableKind>) -> Binding {
    let caller = |array, plane| match array {
        Array::Input => Binding::Input(plane),
        Array::Output => Binding::Output(plane),
        Array::Workspace(region) => {
            let (offset, bytes) = regions[region as usize];
            Binding::Workspace { offset, bytes }
        }
    };
    match *slot {
        Slot::Source(plane) => caller(pass.src.array, plane),
        Slot::Destination(plane) => caller(pass.dst.array, plane),
        Slot::Table(kind) => {
            let index = tables.iter().position(|&known| known == kind).unwrap_or_else(|| {
                tables.push(kind);
                tables.len() - 1
            });
            Binding::Table(index as u16)
        }
    }
}

fn no_tile(pass: &Pass, limits: &Limits) -> Error {
    let points: u64 = pass.axes.iter().map(|axis| axis.method.points()).product();
    Error::DeviceTooSmall {
        what: format!("{}: points of a tile", limits.name),
        needed: points,
        available: crate::planner::max_points(limits, pass.precision),
    }
}

fn check(problem: &Problem, limits: &Limits) -> Result<(), Error> {
    if problem.precision == Precision::F64 && !limits.f64 {
        return Err(Error::Unsupported {
            what: "double precision".into(),
            device: limits.name.clone(),
            would_work: "single precision, or the cpu device".into(),
        });
    }
    for bytes in [problem.input_bytes(), problem.output_bytes()] {
        too_large("bytes of one buffer", bytes, limits.max_buffer_bytes, limits)?;
    }
    Ok(())
}

/// Refuses a pass whose arrays or launch are beyond the device, or whose indices into factors are beyond 32 bits.
fn check_pass(pass: &Pass, tile: &Tile, limits: &Limits) -> Result<(), Error> {
    if pass.load.is_some() || pass.store.is_some() {
        let modulus = pass.twiddle.unwrap_or(1);
        too_large("points of a convolution in several passes", modulus, 1 << 32, limits)?;
    }
    too_large("blocks of one launch", tile.blocks(pass), limits.max_blocks.min(u64::from(u32::MAX)), limits)?;
    for side in [pass.src, pass.dst] {
        let bytes = side.span * pass.precision.complex_bytes();
        too_large("bytes of one array", bytes, limits.max_buffer_bytes, limits)?;
        if !limits.index64 {
            too_large("reals of one array", 2 * side.span, u64::from(u32::MAX / 2), limits)?;
        }
    }
    Ok(())
}

fn too_large(what: &str, needed: u64, available: u64, limits: &Limits) -> Result<(), Error> {
    if needed <= available {
        return Ok(());
    }
    Err(Error::DeviceTooSmall { what: format!("{}: {what}", limits.name), needed, available })
}
