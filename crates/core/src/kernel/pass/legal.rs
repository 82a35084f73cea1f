//! Makes a kernel legal for a target: drops hints that the target does not take, and refuses what it lacks.

use crate::kernel::verify::{KernelError, Site};
use crate::kernel::{Block, Cache, Inst, Kernel, Op, Space, Type, Value};
use crate::target::{Api, Limits};

/// What devices lack whose memory is of words.
pub(crate) const SINGLE_HALVES: &str = "stores of single 16-bit numbers";

/// Makes a kernel legal for a target.
///
/// # Errors
///
/// Names the instruction or array and what the target lacks for it, or the limit that is exceeded.
pub fn legalise(kernel: &mut Kernel, limits: &Limits) -> Result<(), KernelError> {
    sizes(kernel, limits)?;
    for (name, elem) in arrays(kernel) {
        // What is only read, written and converted is but bits.
        if missing(elem, limits).is_some() && elem.bytes() != 2 {
            let (name, device) = (name.to_owned(), limits.name.clone());
            return Err(KernelError::UnsupportedArray { name, elem, device });
        }
    }
    let mut walk = Walk { types: &kernel.types, limits, next: 0 };
    walk.block(&mut kernel.body)
}

fn sizes(kernel: &Kernel, limits: &Limits) -> Result<(), KernelError> {
    let buffer = kernel.buffers.iter().map(|b| b.len.saturating_mul(b.elem.bytes().into())).max();
    let rows = [
        ("threads of a block", u64::from(kernel.threads), u64::from(limits.max_threads)),
        ("blocks of a cluster", kernel.cluster.into(), limits.max_cluster.into()),
        ("blocks of a launch", kernel.blocks, limits.max_blocks),
        ("bytes of shared memory", kernel.shared_bytes().into(), limits.shared_bytes.into()),
        ("bytes of a buffer", buffer.unwrap_or(0), limits.max_buffer_bytes),
    ];
    for (what, value, limit) in rows {
        if value > limit {
            return Err(KernelError::Limit { what, value, limit, device: limits.name.clone() });
        }
    }
    Ok(())
}

fn arrays(kernel: &Kernel) -> impl Iterator<Item = (&str, Type)> {
    let buffers = kernel.buffers.iter().map(|b| (b.name.as_str(), b.elem));
    buffers.chain(kernel.shared.iter().map(|s| (s.name.as_str(), s.elem)))
}

/// What a target lacks for values of a type.
fn missing(ty: Type, limits: &Limits) -> Option<&'static str> {
    let (there, what) = match ty {
        Type::F64 => (limits.f64, "f64"),
        Type::F16 => (limits.f16, "f16"),
        Type::Bf16 => (matches!(limits.api, Api::Ptx { sm: 80.. }), "bf16"),
        // Narrowing would be silent where an offset does not fit: the lowering must choose u32 itself.
        Type::U64 => (limits.index64, "64-bit integers; offsets must be computed in u32"),
        _ => return None,
    };
    if there { None } else { Some(what) }
}

/// Types that an instruction works in: not those of 16-bit numbers that it only keeps or converts, which any target can.
pub(crate) fn works_in<'a>(inst: &'a Inst, types: &'a [Type]) -> impl Iterator<Item = Type> + Clone + 'a {
    let values = inst.results.iter().chain(&inst.args).map(|&value| types[value.0 as usize]);
    let keeps = match inst.op {
        Op::Load { .. } | Op::Store { .. } | Op::Select | Op::Const(_) | Op::Loop => true,
        Op::Convert => values.clone().all(Type::is_float),
        _ => false,
    };
    values.filter(move |ty| !(keeps && ty.bytes() == 2))
}

struct Walk<'k> {
    types: &'k [Type],
    limits: &'k Limits,
    next: usize,
}

impl Walk<'_> {
    fn block(&mut self, block: &mut Block) -> Result<(), KernelError> {
        for inst in &mut block.insts {
            let at = Site { inst: self.next, op: inst.op };
            self.next += 1;
            if let Some(ability) = self.lacks(inst) {
                let device = self.limits.name.clone();
                return Err(KernelError::Unsupported { at, device, ability });
            }
            self.hints(inst);
            inst.blocks.iter_mut().try_for_each(|inner| self.block(inner))?;
        }
        let bulk = self.limits.bulk_copy;
        block.insts.retain(|inst| bulk || !matches!(inst.op, Op::BulkPrefetch { .. }));
        Ok(())
    }

    fn ty(&self, value: Value) -> Type {
        self.types[value.0 as usize]
    }

    /// What the target lacks for an instruction.
    fn lacks(&self, inst: &Inst) -> Option<&'static str> {
        let limits = self.limits;
        // A prefetch is a hint: it is dropped instead.
        let hint = matches!(inst.op, Op::BulkPrefetch { .. });
        if let Some(ability) = inst.op.ability().filter(|ability| !hint && !ability.is_within(limits)) {
            return Some(ability.name());
        }
        if let Some(what) = self.single_half(inst) {
            return Some(what);
        }
        works_in(inst, self.types).find_map(|ty| missing(ty, limits))
    }

    /// Where memory is of words, half of one is written only where the language has numbers as short.
    fn single_half(&self, inst: &Inst) -> Option<&'static str> {
        let (Op::Store { width: 1, .. }, Api::Wgsl { .. }) = (inst.op, self.limits.api) else { return None };
        let missing = match self.ty(inst.args[1]) {
            Type::F16 => !self.limits.f16,
            Type::Bf16 => true,
            _ => false,
        };
        missing.then_some(SINGLE_HALVES)
    }

    /// Cache hints that the target or the memory does not take become the default.
    fn hints(&self, inst: &mut Inst) {
        let pointer = inst.args.first().map(|&pointer| self.ty(pointer));
        let global = matches!(pointer, Some(Type::Ptr(Space::Global(_))));
        let taken = global && matches!(self.limits.api, Api::Ptx { .. });
        if let (Op::Load { cache, .. } | Op::Store { cache, .. }, false) = (&mut inst.op, taken) {
            *cache = Cache::Default;
        }
    }
}
