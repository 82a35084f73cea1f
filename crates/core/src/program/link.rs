//! Passes to launches: lowers each, binds its buffers, and shares kernels and tables that are alike.

use super::{Binding, Launch, Part, Program, Table, too_large};
use crate::error::Error;
use crate::kernel::pass::{self, SINGLE_HALVES};
use crate::kernel::verify::verify;
use crate::kernel::{Ability, Cache, Inst, Kernel, KernelError, Op, Space, Type, Verified, each_inst};
use crate::lower::fused::{self, Ring};
use crate::lower::tile::{Choice, Tile};
use crate::lower::{self, Lowered, Slot, Walk};
use crate::pass::{Array, Method, Pass, TableKind};
use crate::problem::{Direction, Precision, Problem, Storage};
use crate::target::Limits;

/// A program that is being put together.
pub(crate) struct Link<'a> {
    limits: &'a Limits,
    /// First byte of each region of the workspace, and its bytes.
    regions: Vec<(u64, u64)>,
    tables: Vec<TableKind>,
    program: Program,
    parts: Vec<Part>,
    /// How the next launch of one pass walks: against the one before.
    walk: Walk,
}

impl<'a> Link<'a> {
    /// Nothing yet, with these regions and bytes of workspace.
    pub fn new(
        problem: &Problem,
        limits: &'a Limits,
        (regions, workspace_bytes): (Vec<(u64, u64)>, u64),
    ) -> Self {
        let program = Program {
            problem: problem.clone(),
            kernels: Vec::new(),
            tables: Vec::new(),
            launches: Vec::new(),
            workspace_bytes,
        };
        Self { limits, regions, tables: Vec::new(), program, parts: Vec::new(), walk: Walk::Rising }
    }

    /// A program of one pass, as it was lowered.
    pub fn alone(mut self, pass: &Pass, lowered: Lowered) -> Result<Program, Error> {
        let bindings = lowered.slots.iter().map(|slot| self.bind(slot, [pass, pass], None)).collect();
        self.launch(lowered.kernel, bindings)?;
        Ok(self.finish()?.0)
    }

    /// The same for a run of one launch.
    pub fn in_one(self) -> Self {
        Self { walk: Walk::Alone, ..self }
    }

    /// A launch of one pass.
    pub fn single(&mut self, pass: &Pass, choice: &Choice) -> Result<(), Error> {
        check_pass(pass, &choice.tile, self.limits)?;
        let lowered = lower::lower(pass, &choice.tile, self.walk, self.limits, &name(pass));
        let bindings = lowered.slots.iter().map(|slot| self.bind(slot, [pass, pass], None)).collect();
        self.follow(lowered.kernel, bindings)?;
        self.part(choice, lowered.conflicts, lowered.exchanges);
        self.walk = match self.walk {
            Walk::Rising => Walk::Falling,
            Walk::Falling => Walk::Rising,
            Walk::Alone => Walk::Alone,
        };
        Ok(())
    }

    /// A launch of two passes that a ring joins, and before it one that clears its counters. Whatever the run before
    /// left there, and whether it came to its end, this one starts anew.
    pub fn fused(&mut self, passes: [&Pass; 2], choices: [&Choice; 2], ring: &Ring) -> Result<(), Error> {
        let tiles = choices.map(|choice| &choice.tile);
        for (pass, tile) in passes.iter().zip(tiles) {
            check_pass(pass, tile, self.limits)?;
        }
        let most = self.limits.max_blocks.min(u64::from(u32::MAX));
        too_large("blocks of one launch", fused::blocks(passes, tiles, ring), most, self.limits)?;
        let counters = self.bind(&Slot::Counters, passes, Some(ring));
        self.launch(fused::clear(ring, self.limits), vec![counters])?;
        let name = format!("{}_then_{}", name(passes[0]), name(passes[1]));
        let lowered = fused::lower(passes, tiles, ring, self.limits, &name);
        let bindings = lowered.slots.iter().map(|slot| self.bind(slot, passes, Some(ring))).collect();
        self.follow(lowered.kernel, bindings)?;
        for (i, choice) in choices.into_iter().enumerate() {
            // Blocks of both passes are blocks of one launch.
            let tile = Tile { resident: tiles[0].resident, ..choice.tile.clone() };
            self.part(&Choice { tile, ..*choice }, lowered.conflicts[i], lowered.exchanges[i]);
        }
        self.walk = Walk::Falling;
        Ok(())
    }

    pub fn finish(mut self) -> Result<(Program, Vec<Part>), Error> {
        let precision = self.program.problem.precision;
        let table = |&kind: &TableKind| {
            too_large("entries of a table", kind.len(), MOST_ENTRIES, self.limits)?;
            Ok(Table::of(kind, precision))
        };
        self.program.tables = self.tables.iter().map(table).collect::<Result<_, Error>>()?;
        Ok((self.program, self.parts))
    }

    /// The next bytes of the workspace, beside those that there are.
    pub fn workspace(&mut self, bytes: u64) -> Binding {
        let offset = self.program.workspace_bytes.next_multiple_of(256);
        self.program.workspace_bytes = offset + bytes;
        Binding::Workspace { offset, bytes }
    }

    /// A constant table, of which there is one for each kind.
    pub fn table(&mut self, kind: TableKind) -> Binding {
        let index = self.tables.iter().position(|&known| known == kind).unwrap_or_else(|| {
            self.tables.push(kind);
            self.tables.len() - 1
        });
        Binding::Table(index as u16)
    }

    /// A launch of a kernel that is written already, which may begin while the one before it ends.
    fn follow(&mut self, kernel: Kernel, bindings: Vec<Binding>) -> Result<(), Error> {
        let kernel = optimise(kernel, self.program.problem.precision, self.limits)?;
        let first = self.program.launches.is_empty();
        if first || !Ability::EarlyLaunches.is_within(self.limits) || reads_ahead(&kernel, &bindings) {
            self.add(kernel, bindings);
            return Ok(());
        }
        let mut waiting = kernel.into_inner();
        let wait = Inst { op: Op::LaunchWait, args: Vec::new(), results: Vec::new(), blocks: Vec::new() };
        waiting.body.insts.insert(0, wait);
        let kernel = verify(waiting).map_err(|error| Error::Plan {
            problem: "a kernel that waits for the launch before".into(),
            reason: error.to_string(),
            would_work: "the cpu device runs every problem".into(),
        })?;
        self.add(kernel, bindings);
        Ok(())
    }

    /// A launch of a kernel that is written already.
    pub fn launch(&mut self, kernel: Kernel, bindings: Vec<Binding>) -> Result<(), Error> {
        let kernel = optimise(kernel, self.program.problem.precision, self.limits)?;
        self.add(kernel, bindings);
        Ok(())
    }

    fn add(&mut self, kernel: Verified<Kernel>, bindings: Vec<Binding>) {
        let program = &mut self.program;
        let known = program.kernels.iter().position(|other| *other == kernel);
        let kernel = known.unwrap_or_else(|| {
            program.kernels.push(kernel);
            program.kernels.len() - 1
        });
        program.launches.push(Launch { kernel, bindings });
    }

    /// What became of a pass of the last launch.
    fn part(&mut self, choice: &Choice, conflicts: f64, exchanges: u32) {
        let launch = self.program.launches.len() - 1;
        let Choice { tile, cost } = choice.clone();
        self.parts.push(Part { tile, cost, conflicts, exchanges, launch });
    }

    /// What a slot of the first of these passes up to the last stands for.
    fn bind(&mut self, slot: &Slot, [first, last]: [&Pass; 2], ring: Option<&Ring>) -> Binding {
        let array = |array, plane| match array {
            Array::Input => Binding::Input(plane),
            Array::Output => Binding::Output(plane),
            Array::Workspace(region) => {
                let (offset, bytes) = self.regions[usize::from(region)];
                Binding::Workspace { offset, bytes }
            }
        };
        match (*slot, ring) {
            (Slot::Source(plane), _) => array(first.src.array, plane),
            (Slot::Destination(plane), _) => array(last.dst.array, plane),
            (Slot::Counters, Some(ring)) => array(Array::Workspace(ring.counters), 0),
            (Slot::Ring | Slot::Counters, _) => array(first.dst.array, 0),
            (Slot::Filter, _) => Binding::Filter,
            (Slot::Table(kind), _) => self.table(kind),
        }
    }
}

/// Entries of a table at most: whoever runs the program makes it on the host, in more memory than it takes on the device.
const MOST_ENTRIES: u64 = 1 << 28;

/// Whether a kernel reads data by the read-only path: the assembler may move such loads up before a wait, which for tables
/// alone does no harm.
fn reads_ahead(kernel: &Kernel, bindings: &[Binding]) -> bool {
    let mut found = false;
    each_inst(&kernel.body, &mut |inst| {
        let (Some(Cache::ReadOnly), Some(&ptr)) = (inst.op.cache(), inst.args.first()) else { return };
        let Type::Ptr(Space::Global(buffer)) = kernel.ty(ptr) else { return };
        found |= !matches!(bindings.get(usize::from(buffer)), Some(Binding::Table(_)));
    });
    found
}

/// A kernel's name says what it does: readable in profilers and in emitted text.
fn name(pass: &Pass) -> String {
    let mut name = String::from(if pass.filter.is_some() { "convolve" } else { "fft" });
    for axis in &pass.axes {
        if let Method::Reals(reals) = axis.method {
            name += &format!("_{}", reals.kind.name());
        }
        name += &format!("_{}", axis.dim.n);
    }
    let back = pass.direction == Direction::Inverse;
    for (fold, side) in pass.ends.iter().zip(["in", "out"]) {
        if let Some(fold) = fold {
            name += &format!("_{}_{side}", fold.formula.name(back));
        }
    }
    if pass.axes.is_empty() && !pass.folds() {
        name += "_copy";
    }
    for side in [pass.src, pass.dst] {
        if side.storage != Storage::of(pass.precision) {
            name += &format!("_{}", side.storage);
        }
    }
    name + match pass.precision {
        Precision::F32 => "_f32",
        Precision::F64 => "_f64",
        Precision::DoubleSingle => "_double_single",
    }
}

fn optimise(kernel: Kernel, precision: Precision, limits: &Limits) -> Result<Verified<Kernel>, Error> {
    let name = kernel.name.clone();
    let kernel = match precision {
        Precision::DoubleSingle => pass::double_single(kernel, limits),
        Precision::F32 | Precision::F64 => Ok(kernel),
    };
    kernel.and_then(|kernel| pass::optimise(kernel, limits)).map_err(|error| match error {
        KernelError::Unsupported { device, ability: ability @ SINGLE_HALVES, .. } => Error::Unsupported {
            what: ability.into(),
            device,
            would_work: "interleaved complex data, or f32 storage; the cpu device runs every problem".into(),
        },
        error => Error::Plan {
            problem: format!("kernel {name}"),
            reason: error.to_string(),
            would_work: "the cpu device runs every problem".into(),
        },
    })
}

/// Refuses a pass whose arrays or launch are beyond the device, or whose indices into factors are beyond 32 bits.
fn check_pass(pass: &Pass, tile: &Tile, limits: &Limits) -> Result<(), Error> {
    if pass.load.is_some() || pass.store.is_some() {
        let modulus = pass.twiddle.map_or(1, |twiddle| twiddle.modulus);
        too_large("points of a convolution in several passes", modulus, 1 << 32, limits)?;
    }
    too_large("blocks of one launch", tile.blocks(pass), limits.max_blocks.min(u64::from(u32::MAX)), limits)?;
    for side in [pass.src, pass.dst] {
        let reals = side.span * side.format.step() * side.format.planes() as u64;
        let bytes = reals * side.storage.real_bytes();
        too_large("bytes of one array", bytes, limits.max_buffer_bytes, limits)?;
        if !limits.index64 {
            too_large("reals of one array", reals, u64::from(u32::MAX / 2), limits)?;
        }
    }
    Ok(())
}
