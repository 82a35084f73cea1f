//! What can be refused before the kernel runs: limits, abilities, buffers.

use super::super::pass::works_in;
use super::super::{Ability, Block, Kernel, Type};
use super::{Fault, GlobalBuffer};
use crate::target::Limits;

/// Checks a kernel against a device.
pub(super) fn check(kernel: &Kernel, limits: &Limits) -> Result<(), Fault> {
    let at_most = |what, value: u64, limit: u64| {
        if value <= limit {
            return Ok(());
        }
        Err(Fault::LimitExceeded { kernel: kernel.name.clone(), what, value, limit })
    };
    let malformed = |what| Fault::Malformed { kernel: kernel.name.clone(), inst: 0, what };
    if kernel.threads == 0 || kernel.blocks == 0 || kernel.cluster == 0 {
        return Err(malformed("threads, blocks and cluster must be at least 1"));
    }
    if !kernel.blocks.is_multiple_of(u64::from(kernel.cluster)) {
        return Err(malformed("the blocks of the launch must be a multiple of the cluster"));
    }
    at_most("threads of a block", kernel.threads.into(), limits.max_threads.into())?;
    at_most("blocks of a cluster", kernel.cluster.into(), limits.max_cluster.into())?;
    at_most("blocks of the launch", kernel.blocks, limits.max_blocks)?;
    let shared: u64 = kernel
        .shared
        .iter()
        .map(|array| (u64::from(array.len) * u64::from(array.elem.bytes())).next_multiple_of(16))
        .sum();
    at_most("shared memory of a block in bytes", shared, limits.shared_bytes.into())?;
    for buffer in &kernel.buffers {
        let bytes = buffer.len.saturating_mul(buffer.elem.bytes().into());
        at_most("bytes of a buffer", bytes, limits.max_buffer_bytes)?;
    }
    let missing = |ability| {
        let (kernel, device) = (kernel.name.clone(), limits.name.clone());
        Err(Fault::MissingAbility { kernel, ability, device })
    };
    let stored = kernel.buffers.iter().map(|b| b.elem).chain(kernel.shared.iter().map(|s| s.elem));
    if !limits.f64 && stored.clone().chain(kernel.types.iter().copied()).any(|ty| ty == Type::F64) {
        return missing("f64");
    }
    if !limits.index64 && stored.chain(kernel.types.iter().copied()).any(|ty| ty == Type::U64) {
        return missing("64-bit integers");
    }
    match lacking(kernel, &kernel.body, limits) {
        Some(ability) => missing(ability),
        None => Ok(()),
    }
}

/// The first ability that the code needs and the device lacks.
fn lacking(kernel: &Kernel, block: &Block, limits: &Limits) -> Option<&'static str> {
    for inst in &block.insts {
        let lacks = inst.op.ability().filter(|ability| !ability.is_within(limits)).map(Ability::name);
        let halves = || works_in(inst, &kernel.types).any(|ty| ty.bytes() == 2).then_some("f16");
        let lacks = lacks.or_else(|| halves().filter(|_| !limits.f16));
        let nested = || inst.blocks.iter().find_map(|nested| lacking(kernel, nested, limits));
        if let Some(ability) = lacks.or_else(nested) {
            return Some(ability);
        }
    }
    None
}

/// Checks the buffers of a launch against the kernel's declarations.
pub(super) fn check_buffers(kernel: &Kernel, buffers: &[&mut GlobalBuffer]) -> Result<(), Fault> {
    for (i, declared) in kernel.buffers.iter().enumerate() {
        let mismatch = |got: String| {
            Err(Fault::BufferMismatch {
                kernel: kernel.name.clone(),
                buffer: declared.name.clone(),
                len: declared.len,
                elem: declared.elem,
                got,
            })
        };
        let Some(buffer) = buffers.get(i) else { return mismatch("no buffer".into()) };
        let (elem, len) = (buffer.data.elem(), buffer.data.len());
        let short = buffer.pages.is_none() && (len as u64) < declared.len;
        if elem != declared.elem || short || buffer.written.len() != len {
            return mismatch(format!("{len} elements of {elem:?}, {} marks", buffer.written.len()));
        }
    }
    if let (Some(_), Some(last)) = (buffers.get(kernel.buffers.len()), kernel.buffers.last()) {
        return Err(Fault::BufferMismatch {
            kernel: kernel.name.clone(),
            buffer: last.name.clone(),
            len: last.len,
            elem: last.elem,
            got: format!("{} buffers for {}", buffers.len(), kernel.buffers.len()),
        });
    }
    Ok(())
}
