//! What each compute capability has, and the ISA version in which PTX got it.

use crate::emit::EmitError;
use crate::kernel::{Cache, Inst, Kernel, Op, Space, Special, Type};

/// Compute capabilities and the first ISA version that knows each.
const TARGETS: [(u32, (u32, u32)); 6] =
    [(75, (6, 3)), (80, (7, 0)), (86, (7, 1)), (87, (7, 4)), (89, (7, 8)), (90, (7, 8))];

/// What an operation needs: the capability, and the ISA version.
type Need = (u32, (u32, u32));

const ANY: Need = (75, (6, 3));

/// The capability that is emitted for, and the ISA version needed so far.
pub(super) struct Isa<'k> {
    kernel: &'k Kernel,
    sm: u32,
    version: (u32, u32),
}

impl<'k> Isa<'k> {
    /// The last known capability that a device of capability `sm` runs.
    pub fn new(kernel: &'k Kernel, sm: u32) -> Result<Self, EmitError> {
        let Some(&(sm, version)) = TARGETS.iter().rev().find(|target| target.0 <= sm) else {
            return Err(EmitError::TooOld { kernel: kernel.name.clone(), sm, oldest: TARGETS[0].0 });
        };
        Ok(Self { kernel, sm, version })
    }

    pub fn sm(&self) -> u32 {
        self.sm
    }

    pub fn version(&self) -> (u32, u32) {
        self.version
    }

    /// Whether accesses can carry a policy of the L2 cache.
    pub fn has_cache_policies(&self) -> bool {
        self.sm >= 80
    }

    /// Whether a load can ask for the 256 bytes around it; 128 it always can.
    pub fn prefetches_256(&self) -> bool {
        self.sm >= 80
    }

    /// Whether bulk prefetches exist.
    pub fn has_bulk(&self) -> bool {
        self.sm >= 90
    }

    /// Whether f32 is rounded to bf16 by one instruction.
    pub fn rounds_brain(&self) -> bool {
        self.sm >= 80
    }

    /// Whether f64 is rounded to bf16 by one instruction.
    pub fn rounds_brain_from_double(&self) -> bool {
        self.sm >= 90
    }

    pub fn need_cache_policies(&mut self) {
        self.version = self.version.max((7, 4));
    }

    /// Notes the ISA version that an instruction needs.
    pub fn admit(&mut self, inst: &Inst) -> Result<(), EmitError> {
        let (sm, version) = self.need(inst);
        if sm > self.sm {
            return Err(self.refuse(inst, sm));
        }
        self.version = self.version.max(version);
        Ok(())
    }

    fn refuse(&self, inst: &Inst, needed: u32) -> EmitError {
        let (kernel, op, target) = (self.kernel.name.clone(), inst.op, format!("sm_{}", self.sm));
        let would_work = if needed == 80 { "sm_80 and later have it" } else { "sm_90 and later have it" };
        let halves = |&&v: &&_| matches!(self.kernel.ty(v), Type::F16 | Type::Bf16);
        match inst.args.iter().chain(&inst.results).find(halves) {
            Some(&v) => EmitError::Type { kernel, op, ty: self.kernel.ty(v), target, would_work },
            None => EmitError::Operation { kernel, op, target, would_work },
        }
    }

    fn need(&self, inst: &Inst) -> Need {
        let ty = |v: Option<&_>| v.map(|&v| self.kernel.ty(v));
        let (arg, result) = (ty(inst.args.first()), ty(inst.results.first()));
        match inst.op {
            Op::Special(Special::ClusterRank) | Op::MapRemote | Op::LaunchWait => (90, (7, 8)),
            // Nothing is printed for a hint that the device lacks.
            Op::BulkPrefetch { .. } if !self.has_bulk() => ANY,
            Op::ClusterArrive { .. }
            | Op::ClusterWait
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
            | Op::BulkPrefetch { .. } => (90, (8, 0)),
            Op::RemoteStoreAsync { .. } => (90, (8, 1)),
            Op::Mma(_) => (80, (7, 0)),
            Op::Load { cache: Cache::Keep, .. } | Op::Store { cache: Cache::Keep, .. }
                if self.has_cache_policies() =>
            {
                (80, (7, 4))
            }
            Op::Load { .. } | Op::Store { .. } if matches!(arg, Some(Type::Ptr(Space::Remote(_)))) => {
                (90, (7, 8))
            }
            Op::Load { cache: Cache::L2Wide, .. } => (75, (7, 4)),
            Op::Load { .. } | Op::Store { .. } => ANY,
            // What these lack is done by integers.
            Op::Convert if (arg, result) == (Some(Type::F32), Some(Type::Bf16)) && !self.rounds_brain() => {
                ANY
            }
            Op::Convert
                if (arg, result) == (Some(Type::F64), Some(Type::Bf16))
                    && !self.rounds_brain_from_double() =>
            {
                if self.rounds_brain() {
                    (80, (7, 0))
                } else {
                    ANY
                }
            }
            op => half_need(op, arg, result),
        }
    }
}

/// Arithmetic of 16-bit floats came piece by piece.
fn half_need(op: Op, arg: Option<Type>, result: Option<Type>) -> Need {
    let (from, to) = (arg, result);
    match op {
        Op::Min | Op::Max if to == Some(Type::F16) => (80, (7, 0)),
        Op::Fma | Op::Neg | Op::Min | Op::Max if to == Some(Type::Bf16) => (80, (7, 0)),
        Op::Add | Op::Sub | Op::Mul if to == Some(Type::Bf16) => (90, (7, 8)),
        Op::Cmp(_) if from == Some(Type::Bf16) => (90, (7, 8)),
        Op::Convert if (from, to) == (Some(Type::F32), Some(Type::Bf16)) => (80, (7, 0)),
        Op::Convert if from == Some(Type::Bf16) && matches!(to, Some(Type::F32 | Type::F64)) => ANY,
        Op::Convert if from == Some(Type::Bf16) || to == Some(Type::Bf16) => (90, (7, 8)),
        _ => ANY,
    }
}
