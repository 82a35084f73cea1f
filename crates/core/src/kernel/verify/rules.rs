//! What one instruction must satisfy: its row of the table, and what no row can say.

use super::{Check, KernelError};
use crate::kernel::fold::round_to;
use crate::kernel::{Access, Cache, Class, Inst, Op, Operand, Place, Space, Special, Type, Value};

impl Check<'_> {
    /// Checks arguments and results against the operation's row.
    pub(super) fn signature(&self, inst: &Inst) -> Result<(), KernelError> {
        let info = inst.op.info();
        self.count("arguments", self.arity(inst, info.args), inst.args.len())?;
        self.count("results", self.arity(inst, info.results), inst.results.len())?;
        let mut own = None;
        self.row(inst, "argument", info.args, &inst.args, &mut own)?;
        self.row(inst, "result", info.results, &inst.results, &mut own)
    }

    /// How many values a side of the row stands for.
    fn arity(&self, inst: &Inst, row: &[Operand]) -> usize {
        let count = |operand: &Operand| match operand {
            Operand::Elems => inst.op.width() as usize,
            Operand::Predicate => usize::from(inst.op.is_predicated()),
            // The loop's bounds stand before the values that it carries.
            Operand::Carried => inst.args.len().saturating_sub(3),
            _ => 1,
        };
        row.iter().map(count).sum()
    }

    fn row(
        &self,
        inst: &Inst,
        what: &'static str,
        row: &[Operand],
        values: &[Value],
        own: &mut Option<Type>,
    ) -> Result<(), KernelError> {
        let mut rest = values;
        for operand in row {
            let (these, after) = rest.split_at(self.arity(inst, std::slice::from_ref(operand)));
            rest = after;
            for (i, &value) in these.iter().enumerate() {
                self.operand(inst, what, *operand, i, value, own)?;
            }
        }
        Ok(())
    }

    fn operand(
        &self,
        inst: &Inst,
        what: &'static str,
        operand: Operand,
        i: usize,
        value: Value,
        own: &mut Option<Type>,
    ) -> Result<(), KernelError> {
        let got = self.kernel.ty(value);
        let must = |holds: bool, expected: &dyn Fn() -> String| {
            let error = || KernelError::Type { at: self.at, what, value, expected: expected(), got };
            if holds { Ok(()) } else { Err(error()) }
        };
        let in_class = |class: Class| must(class.holds(got), &|| class.to_string());
        match operand {
            Operand::Is(ty) => self.same(what, value, ty),
            Operand::Free(class) => in_class(class),
            Operand::T(class) => match *own {
                Some(ty) => self.same(what, value, ty),
                None => in_class(class).map(|()| *own = Some(got)),
            },
            Operand::Ptr(place, elem) => {
                let pointed = match got {
                    Type::Ptr(space) => {
                        place.holds(space) && elem.is_none_or(|elem| self.kernel.elem(space) == elem)
                    }
                    _ => false,
                };
                let of = elem.map_or(String::new(), |elem| format!(" of {elem}"));
                must(pointed, &|| format!("pointer to {place}{of}"))
            }
            Operand::Elems => match self.pointed(inst) {
                Some(space) => self.same(what, value, self.kernel.elem(space)),
                None => Ok(()),
            },
            Operand::Predicate => self.same(what, value, Type::Bool),
            Operand::RemoteOfFirst => match self.pointed(inst) {
                Some(Space::Shared(array)) => self.same(what, value, Type::Ptr(Space::Remote(array))),
                _ => Ok(()),
            },
            Operand::Carried => match (what, inst.args.get(i + 3)) {
                ("result", Some(&init)) => self.same(what, value, self.kernel.ty(init)),
                _ => Ok(()),
            },
        }
    }

    /// The array that the first argument points into.
    fn pointed(&self, inst: &Inst) -> Option<Space> {
        match self.kernel.ty(*inst.args.first()?) {
            Type::Ptr(space) => Some(space),
            _ => None,
        }
    }

    /// Checks what no row of the table says.
    pub(super) fn meaning(&self, inst: &Inst) -> Result<(), KernelError> {
        let at = self.at;
        match inst.op {
            Op::Const(bits) => {
                let ty = self.kernel.ty(inst.results[0]);
                if representable(ty, bits) { Ok(()) } else { Err(KernelError::Constant { at, bits, ty }) }
            }
            Op::Bitcast => {
                let (from, to) = (inst.args[0], inst.results[0]);
                let (old, new) = (self.kernel.ty(from), self.kernel.ty(to));
                if old.bytes() == new.bytes() && old.bytes() >= 4 {
                    return Ok(());
                }
                let expected = "a 32- or 64-bit number, as wide as the result".to_string();
                Err(KernelError::Type { at, what: "argument", value: from, expected, got: old })
            }
            Op::Load { width, cache, .. } => self.width(inst, width).and(self.rights(inst, 0, true, cache)),
            Op::Store { width, cache, .. } => self.width(inst, width).and(self.rights(inst, 0, false, cache)),
            Op::RemoteStoreAsync { width, .. } => {
                self.clustered()?;
                self.width(inst, width)?;
                let elem = self.pointed(inst).map_or(Type::Bool, |space| self.kernel.elem(space));
                if elem.bytes() < 4 { Err(KernelError::Width { at, width, elem }) } else { Ok(()) }
            }
            Op::AtomicAdd { .. } | Op::CounterAdd => {
                self.rights(inst, 0, true, Cache::Default)?;
                self.rights(inst, 0, false, Cache::Default)
            }
            Op::AtomicLoad | Op::CounterWait => self.rights(inst, 0, true, Cache::Default),
            Op::BulkLoad => self.rights(inst, 1, true, Cache::Default),
            Op::BulkStore => self.rights(inst, 0, false, Cache::Default),
            Op::Special(Special::Count) if self.kernel.at_run.is_none() => Err(KernelError::NoCount { at }),
            Op::LaunchWait if self.at.inst != 0 => Err(KernelError::NotFirst { at }),
            Op::MapRemote | Op::ClusterArrive { .. } | Op::ClusterWait => self.clustered(),
            Op::BarrierInit { count: 0 } => {
                let must = "at least 1";
                Err(KernelError::Size { what: "arrivals of a barrier's phase", value: 0, must })
            }
            _ => Ok(()),
        }
    }

    fn clustered(&self) -> Result<(), KernelError> {
        if self.kernel.cluster > 1 { Ok(()) } else { Err(KernelError::NoCluster { at: self.at }) }
    }

    fn width(&self, inst: &Inst, width: u8) -> Result<(), KernelError> {
        let elem = self.pointed(inst).map_or(Type::Bool, |space| self.kernel.elem(space));
        if matches!(width, 1 | 2 | 4) && u32::from(width) * elem.bytes() <= 16 {
            return Ok(());
        }
        Err(KernelError::Width { at: self.at, width, elem })
    }

    /// Whether the declaration grants what the access through the given argument does.
    fn rights(&self, inst: &Inst, arg: usize, reads: bool, cache: Cache) -> Result<(), KernelError> {
        let Type::Ptr(Space::Global(i)) = self.kernel.ty(inst.args[arg]) else {
            return if cache == Cache::ReadOnly {
                Err(KernelError::ReadOnlyPath { at: self.at })
            } else {
                Ok(())
            };
        };
        let buffer = &self.kernel.buffers[i as usize];
        let (does, granted) = match (reads, buffer.access) {
            (true, access) => ("reads", access != Access::Write),
            (false, access) => ("writes", access != Access::Read),
        };
        if !granted {
            let (buffer, declared) = (buffer.name.clone(), buffer.access.name());
            return Err(KernelError::Access { at: self.at, does, buffer, declared });
        }
        if cache == Cache::ReadOnly && !(reads && buffer.access == Access::Read) {
            return Err(KernelError::ReadOnlyPath { at: self.at });
        }
        Ok(())
    }
}

/// Whether bits are a constant of that type: finite, and exact.
fn representable(ty: Type, bits: u64) -> bool {
    match ty {
        Type::Bool => bits <= 1,
        Type::I32 | Type::U32 => bits <= u64::from(u32::MAX),
        Type::U64 => true,
        Type::F16 | Type::Bf16 | Type::F32 | Type::F64 => {
            let x = f64::from_bits(bits);
            x.is_finite() && round_to(ty, x).to_bits() == bits
        }
        Type::Ptr(_) => false,
    }
}

impl Place {
    /// Whether an array lies there.
    pub const fn holds(self, space: Space) -> bool {
        match self {
            Self::Any => true,
            Self::Global => matches!(space, Space::Global(_)),
            Self::Shared => matches!(space, Space::Shared(_)),
            Self::Remote => matches!(space, Space::Remote(_)),
            Self::Cluster => matches!(space, Space::Shared(_) | Space::Remote(_)),
            Self::Declared => matches!(space, Space::Global(_) | Space::Shared(_)),
        }
    }
}
