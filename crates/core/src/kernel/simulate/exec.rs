//! Runs the instructions of one cluster after another.

use std::collections::BTreeMap;

use super::super::{Inst, Kernel, Op, Special, Type, Value};
use super::access::Shape;
use super::arith::{self, Failure};
use super::bulk::Bulk;
use super::code::{self, Code, Step};
use super::column::{Column, Lane};
use super::fault::{Fault, Site};
use super::memory::Array;
use super::order::Order;
use super::sync::TxBarrier;
use super::{GlobalBuffer, Options, Report};
use crate::target::Limits;

/// Turns that a loop which only polls may take without a change before it counts as a deadlock.
const POLLS: u32 = 1 << 16;

/// Which threads take part.
#[derive(Clone)]
pub(super) struct Mask {
    pub lanes: Vec<bool>,
    /// How many.
    pub active: usize,
}

impl Mask {
    fn new(lanes: Vec<bool>) -> Self {
        let active = lanes.iter().filter(|&&on| on).count();
        Self { lanes, active }
    }

    pub fn all(&self) -> bool {
        self.active == self.lanes.len()
    }
}

/// The state of a launch.
pub(super) struct Machine<'k> {
    pub kernel: &'k Kernel,
    pub subgroup: usize,
    pub globals: Vec<Array>,
    pub shared: Vec<Array>,
    pub values: Vec<Column>,
    pub order: Order,
    pub report: Report,
    /// Index of the cluster that runs.
    pub group: u64,
    /// Transaction barriers by (rank of the block, shared array, element).
    pub barriers: BTreeMap<(u32, u16, u32), TxBarrier>,
    pub bulk: Bulk,
    current: (usize, Op),
}

impl<'k> Machine<'k> {
    pub fn new(kernel: &'k Kernel, limits: &Limits, buffers: &mut [&mut GlobalBuffer]) -> Self {
        let (offsets, _) = kernel.shared_layout();
        let globals = kernel.buffers.iter().zip(buffers.iter_mut());
        let shared = kernel.shared.iter().zip(offsets);
        Self {
            kernel,
            subgroup: limits.subgroup.max(1) as usize,
            globals: globals.map(|(declared, buffer)| Array::global(declared, buffer)).collect(),
            shared: shared.filter_map(|(array, at)| Array::shared(array, at, kernel.cluster)).collect(),
            values: vec![Column::Empty; kernel.types.len()],
            order: Order::new(kernel.threads, kernel.cluster, kernel.blocks),
            report: Report::default(),
            group: 0,
            barriers: BTreeMap::new(),
            bulk: Bulk::default(),
            current: (0, Op::Barrier),
        }
    }

    /// Hands the buffers back.
    pub fn finish(self, buffers: &mut [&mut GlobalBuffer]) -> Report {
        for (array, buffer) in self.globals.into_iter().zip(buffers.iter_mut()) {
            array.restore(buffer);
        }
        self.report
    }

    /// Runs the launch.
    pub fn launch(&mut self, options: &Options) -> Result<(), Fault> {
        if self.shared.len() != self.kernel.shared.len() {
            return Err(self.malformed("a shared array has a type that is never stored"));
        }
        let code = code::prepare(self.kernel);
        let cluster = u64::from(self.kernel.cluster);
        let groups = self.kernel.blocks / cluster;
        let run = options.sample_blocks.map_or(groups, |blocks| blocks.div_ceil(cluster).clamp(1, groups));
        let mask = Mask::new(vec![true; self.threads()]);
        for i in 0..run {
            let i = if options.falling { run - 1 - i } else { i };
            let (last, steps) = (u128::from(groups - 1), u128::from(run - 1).max(1));
            self.group = (u128::from(i) * last / steps) as u64;
            self.order.begin(self.group);
            self.barriers.clear();
            self.bulk.begin(self.threads());
            self.run(&code, &mask)?;
            self.check_finished()?;
            self.report.blocks += cluster;
        }
        Ok(())
    }

    /// Threads that run in step.
    pub fn threads(&self) -> usize {
        self.kernel.threads as usize * self.kernel.cluster as usize
    }

    fn run(&mut self, code: &Code<'_>, mask: &Mask) -> Result<(), Fault> {
        for step in &code.steps {
            self.current = (step.index, step.inst.op);
            if self.order.tick(step.index).is_none() {
                return Err(Fault::LimitExceeded {
                    kernel: self.kernel.name.clone(),
                    what: "instructions of a simulated launch",
                    value: u64::from(u32::MAX) + 1,
                    limit: u32::MAX.into(),
                });
            }
            self.step(step, mask)?;
            for value in &step.frees {
                self.values[value.0 as usize] = Column::Empty;
            }
        }
        Ok(())
    }

    fn step(&mut self, step: &Step<'_>, mask: &Mask) -> Result<(), Fault> {
        let inst = step.inst;
        if !matches!(inst.op, Op::Const(_) | Op::Loop | Op::If) {
            self.report.instructions += mask.active as u64;
        }
        match inst.op {
            Op::Const(bits) => {
                let ty = self.result_type(inst)?;
                let column = Column::constant(ty, bits, self.threads());
                let column = column.ok_or_else(|| self.malformed("a pointer cannot be a constant"))?;
                self.define(inst, vec![column])
            }
            Op::Special(special) => {
                let column = self.special(special);
                self.define(inst, vec![column])
            }
            Op::Load { width, offset, predicated, .. } => {
                self.load(inst, Shape { width, offset }, predicated, mask)
            }
            Op::Store { width, offset, predicated, .. } => {
                self.store(inst, Shape { width, offset }, predicated, mask)
            }
            Op::AtomicAdd { .. } | Op::AtomicLoad | Op::CounterAdd => self.atomic(inst, mask),
            Op::CounterWait => self.counter_wait(inst, mask),
            Op::Shuffle(mode) => self.shuffle(inst, mode, mask),
            Op::Mma(shape) => self.mma(inst, shape, mask),
            Op::Loop => self.run_loop(step, mask),
            Op::If => {
                let taken = self.lanes::<bool>(inst, 0)?;
                let inner = Mask::new(mask.lanes.iter().zip(taken).map(|(&on, &taken)| on & taken).collect());
                match step.blocks.first() {
                    Some(code) if inner.active > 0 => self.run(code, &inner),
                    _ => Ok(()),
                }
            }
            _ if is_sync(inst.op) => self.sync(inst, mask),
            _ => self.pure(inst, mask),
        }
    }

    fn pure(&mut self, inst: &Inst, mask: &Mask) -> Result<(), Fault> {
        let ty = self.result_type(inst)?;
        let mut args = Vec::with_capacity(3);
        for i in 0..inst.args.len() {
            args.push(self.arg(inst, i)?);
        }
        let float =
            matches!(args.first(), Some(Column::F16(_) | Column::Bf16(_) | Column::F32(_) | Column::F64(_)));
        let result = arith::pure(inst.op, ty, &args, &mask.lanes).map_err(|failure| match failure {
            Failure::Types => self.malformed("the operation does not exist for its arguments' types"),
            Failure::Undefined(lane, what) => Fault::Undefined { at: self.site(lane), what },
        })?;
        let active = mask.active as u64;
        match inst.op {
            Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Sqrt | Op::Min | Op::Max if float => {
                self.report.flops += active;
            }
            Op::Fma => self.report.flops += 2 * active,
            Op::Neg | Op::Convert | Op::Bitcast | Op::Pack | Op::Select => {}
            Op::Cmp(_) if float => {}
            _ => self.report.int_ops += active,
        }
        self.define(inst, vec![result])
    }

    fn special(&self, special: Special) -> Column {
        let threads = self.kernel.threads;
        let cluster = u64::from(self.kernel.cluster);
        let subgroup = self.subgroup as u32;
        let of = |lane: u32| match special {
            Special::BlockIndex => (self.group * cluster) as u32 + lane / threads,
            Special::BlockCount => self.kernel.blocks as u32,
            Special::ThreadIndex => lane % threads,
            Special::Lane => lane % threads % subgroup,
            Special::ClusterRank => lane / threads,
            Special::Count => self.kernel.at_run.map_or(0, |at_run| at_run.most),
            Special::Zero => 0,
        };
        Column::U32((0..self.threads() as u32).map(of).collect())
    }

    fn run_loop(&mut self, step: &Step<'_>, mask: &Mask) -> Result<(), Fault> {
        let (inst, Some(code)) = (step.inst, step.blocks.first()) else {
            return Err(self.malformed("a loop has one block"));
        };
        let carried = inst.results.len();
        if inst.args.len() != carried + 3
            || code.block.params.len() != carried + 1
            || code.block.yields.len() != carried
        {
            return Err(self.malformed("a loop's arguments, parameters, yields and results differ in number"));
        }
        let mut index: Vec<u64> = self.lanes::<u32>(inst, 0)?.iter().map(|&lo| lo.into()).collect();
        let end = self.lanes::<u32>(inst, 1)?.to_vec();
        let by = self.lanes::<u32>(inst, 2)?.to_vec();
        let mut state = Vec::with_capacity(carried);
        for i in 0..carried {
            state.push(self.arg(inst, i + 3)?.clone());
        }
        let polls = only_polls(code);
        let mut idle = 0;
        loop {
            let on = mask.lanes.iter().zip(index.iter().zip(&end));
            let inner = Mask::new(on.map(|(&on, (&i, &end))| on && i < u64::from(end)).collect());
            if inner.active == 0 {
                break;
            }
            if let Some(lane) = (0..by.len()).find(|&lane| inner.lanes[lane] && by[lane] == 0) {
                return Err(self.deadlock(step, lane, "the loop's step is 0".into()));
            }
            let before = polls.then(|| format!("{state:?}"));
            self.turn(code, &inner, &index, &mut state)?;
            if before.is_some_and(|before| before == format!("{state:?}")) {
                idle += 1;
                if idle > POLLS {
                    let lane = inner.lanes.iter().position(|&on| on).unwrap_or(0);
                    return Err(self.deadlock(
                        step,
                        lane,
                        "it polls a counter that no earlier block changes".into(),
                    ));
                }
            }
            for ((i, by), on) in index.iter_mut().zip(&by).zip(&inner.lanes) {
                *i += if *on { u64::from(*by) } else { 0 };
            }
        }
        self.current = (step.index, inst.op);
        self.define(inst, state)
    }

    /// One turn of a loop for the threads that are still in it.
    fn turn(
        &mut self,
        code: &Code<'_>,
        mask: &Mask,
        index: &[u64],
        state: &mut [Column],
    ) -> Result<(), Fault> {
        let params = &code.block.params;
        self.set(params[0], Column::U32(index.iter().map(|&i| i as u32).collect()))?;
        for (&param, column) in params[1..].iter().zip(state.iter()) {
            self.set(param, column.clone())?;
        }
        self.run(code, mask)?;
        for (column, value) in state.iter_mut().zip(&code.block.yields) {
            let next = &self.values[value.0 as usize];
            if mask.all() && !matches!(next, Column::Empty) {
                column.clone_from(next);
            } else if column.merge(next, &mask.lanes).is_none() {
                return Err(self.malformed("a loop yields another type than it carries"));
            }
        }
        Ok(())
    }

    fn deadlock(&mut self, step: &Step<'_>, lane: usize, why: String) -> Fault {
        self.current = (step.index, step.inst.op);
        Fault::Deadlock { at: self.site(lane), why }
    }

    // --- values ---

    fn result_type(&self, inst: &Inst) -> Result<Type, Fault> {
        let ty = inst.results.first().and_then(|value| self.kernel.types.get(value.0 as usize));
        ty.copied().ok_or_else(|| self.malformed("the operation has a result"))
    }

    /// Column of an argument.
    pub fn arg(&self, inst: &Inst, i: usize) -> Result<&Column, Fault> {
        match inst.args.get(i).and_then(|value| self.values.get(value.0 as usize)) {
            None | Some(Column::Empty) => Err(self.malformed("an argument is missing or not defined yet")),
            Some(column) => Ok(column),
        }
    }

    /// Lanes of an argument of a known type.
    pub fn lanes<T: Lane>(&self, inst: &Inst, i: usize) -> Result<&[T], Fault> {
        T::lanes(self.arg(inst, i)?).ok_or_else(|| self.malformed("an argument has the wrong type"))
    }

    /// Defines an instruction's results.
    pub fn define(&mut self, inst: &Inst, columns: Vec<Column>) -> Result<(), Fault> {
        if inst.results.len() != columns.len() {
            return Err(self.malformed("the operation has another number of results"));
        }
        for (&value, column) in inst.results.iter().zip(columns) {
            self.set(value, column)?;
        }
        Ok(())
    }

    fn set(&mut self, value: Value, column: Column) -> Result<(), Fault> {
        match self.kernel.types.get(value.0 as usize) {
            Some(&ty) if column.fits(ty) => {
                self.values[value.0 as usize] = column;
                Ok(())
            }
            _ => Err(self.malformed("a result has another type than declared")),
        }
    }

    // --- faults ---

    /// Where the machine stands, for one of the threads in step.
    pub fn site(&self, lane: usize) -> Box<Site> {
        let threads = self.kernel.threads as usize;
        Box::new(Site {
            kernel: self.kernel.name.clone(),
            inst: self.current.0,
            op: self.current.1,
            block: self.group * u64::from(self.kernel.cluster) + (lane / threads) as u64,
            thread: (lane % threads) as u32,
        })
    }

    /// A fault that the verifier would have found.
    pub fn malformed(&self, what: &'static str) -> Fault {
        Fault::Malformed { kernel: self.kernel.name.clone(), inst: self.current.0, what }
    }

    /// An access beyond an array.
    pub fn out_of_bounds(&self, lane: usize, array: &str, element: i64, len: u64) -> Fault {
        Fault::OutOfBounds { at: self.site(lane), array: array.into(), element, len }
    }
}

fn is_sync(op: Op) -> bool {
    matches!(
        op,
        Op::Barrier
            | Op::LaunchWait
            | Op::MapRemote
            | Op::ClusterArrive { .. }
            | Op::ClusterWait
            | Op::RemoteStoreAsync { .. }
            | Op::BarrierInit { .. }
            | Op::BarrierInitFence
            | Op::BarrierExpect
            | Op::BarrierArrive
            | Op::BarrierWait
            | Op::BulkLoad
            | Op::BulkStore
            | Op::BulkCommit
            | Op::BulkWait { .. }
            | Op::AsyncFence
            | Op::BulkPrefetch { .. }
    )
}

/// Whether a loop reads a counter and changes nothing: it can only wait for another block.
fn only_polls(code: &Code<'_>) -> bool {
    let reads = code.steps.iter().any(|step| step.inst.op == Op::AtomicLoad);
    reads
        && code.steps.iter().all(|step| {
            !is_sync(step.inst.op)
                && !matches!(
                    step.inst.op,
                    Op::Store { .. }
                        | Op::AtomicAdd { .. }
                        | Op::CounterAdd
                        | Op::CounterWait
                        | Op::Loop
                        | Op::If
                )
        })
}
