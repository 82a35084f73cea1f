//! Checks a kernel's form; only what passes can be emitted.
//!
//! What is checked: every value is defined once, before its uses and in their scope; every instruction takes
//! and gives what its row of the table says; loops carry what they yield; accesses have widths that devices
//! have and rights that the buffer's declaration grants; names, sizes and constants can be written in every
//! target language. What needs a run (bounds, races, divergent barriers) is the simulator's.

mod error;
mod rules;

#[cfg(test)]
mod tests;

use std::collections::HashSet;

pub use error::{KernelError, Site};

use super::{Block, Inst, Kernel, Op, Space, Type, Value};

/// A kernel that passed [`verify`].
#[derive(Debug, Clone, PartialEq)]
pub struct Verified<K>(K);

impl<K> Verified<K> {
    /// The kernel itself, to be changed; it must be verified anew.
    pub fn into_inner(self) -> K {
        self.0
    }
}

impl<K> std::ops::Deref for Verified<K> {
    type Target = K;

    fn deref(&self) -> &K {
        &self.0
    }
}

/// Checks a kernel's form.
///
/// # Errors
///
/// The first fault, in the order of the text form.
pub fn verify(kernel: Kernel) -> Result<Verified<Kernel>, KernelError> {
    header(&kernel)?;
    let mut check = Check {
        kernel: &kernel,
        states: vec![State::Undefined; kernel.types.len()],
        scope: Vec::new(),
        inst: 0,
        at: Site { inst: 0, op: Op::Barrier },
    };
    check.count("parameters of the body", 0, kernel.body.params.len())?;
    check.block(&kernel.body, &[])?;
    check.count("yields of the body", 0, kernel.body.yields.len())?;
    Ok(Verified(kernel))
}

/// What is known of a value.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Undefined,
    InScope,
    Gone,
}

/// The walk over a kernel.
struct Check<'k> {
    kernel: &'k Kernel,
    states: Vec<State>,
    /// Values in scope, in the order of definition.
    scope: Vec<Value>,
    /// Number of the next instruction.
    inst: usize,
    at: Site,
}

impl Check<'_> {
    fn block(&mut self, block: &Block, params: &[Type]) -> Result<(), KernelError> {
        let outer = self.scope.len();
        self.count("parameters", params.len(), block.params.len())?;
        for (&param, &ty) in block.params.iter().zip(params) {
            self.define(param)?;
            self.same("parameter", param, ty)?;
        }
        for inst in &block.insts {
            self.instruction(inst)?;
        }
        let carried = params.get(1..).unwrap_or(&[]);
        self.count("yields", carried.len(), block.yields.len())?;
        for (&value, &ty) in block.yields.iter().zip(carried) {
            self.used(value)?;
            self.same("yield", value, ty)?;
        }
        for value in self.scope.drain(outer..) {
            self.states[value.0 as usize] = State::Gone;
        }
        Ok(())
    }

    fn instruction(&mut self, inst: &Inst) -> Result<(), KernelError> {
        self.at = Site { inst: self.inst, op: inst.op };
        self.inst += 1;
        for &arg in &inst.args {
            self.used(arg)?;
        }
        for &result in &inst.results {
            self.exists(result)?;
        }
        self.signature(inst)?;
        self.meaning(inst)?;
        self.count("blocks", inst.op.block_count(), inst.blocks.len())?;
        if let [block] = &inst.blocks[..] {
            let here = self.at;
            let mut params: Vec<Type> = Vec::new();
            if inst.op == Op::Loop {
                params.push(Type::U32);
                params.extend(inst.args[3..].iter().map(|&v| self.kernel.ty(v)));
            }
            self.block(block, &params)?;
            self.at = here;
        }
        for &result in &inst.results {
            self.define(result)?;
        }
        Ok(())
    }

    fn count(&self, what: &'static str, expected: usize, got: usize) -> Result<(), KernelError> {
        if expected == got { Ok(()) } else { Err(KernelError::Count { at: self.at, what, expected, got }) }
    }

    fn same(&self, what: &'static str, value: Value, ty: Type) -> Result<(), KernelError> {
        let got = self.kernel.ty(value);
        if got == ty {
            return Ok(());
        }
        Err(KernelError::Type { at: self.at, what, value, expected: ty.to_string(), got })
    }

    fn exists(&self, value: Value) -> Result<(), KernelError> {
        let known = self.kernel.types.len();
        let Some(ty) = self.kernel.types.get(value.0 as usize) else {
            return Err(KernelError::NoSuchValue { at: self.at, value, known });
        };
        let declared = match *ty {
            Type::Ptr(Space::Global(i)) => (i as usize) < self.kernel.buffers.len(),
            Type::Ptr(Space::Shared(i) | Space::Remote(i)) => (i as usize) < self.kernel.shared.len(),
            _ => true,
        };
        if declared { Ok(()) } else { Err(KernelError::NoSuchArray { at: self.at, value }) }
    }

    fn used(&self, value: Value) -> Result<(), KernelError> {
        self.exists(value)?;
        match self.states[value.0 as usize] {
            State::InScope => Ok(()),
            State::Undefined | State::Gone => Err(KernelError::Undefined { at: self.at, value }),
        }
    }

    fn define(&mut self, value: Value) -> Result<(), KernelError> {
        self.exists(value)?;
        let state = &mut self.states[value.0 as usize];
        if *state != State::Undefined {
            return Err(KernelError::Redefined { at: self.at, value });
        }
        *state = State::InScope;
        self.scope.push(value);
        Ok(())
    }
}

/// Checks all that stands before the code.
fn header(kernel: &Kernel) -> Result<(), KernelError> {
    let mut names = HashSet::new();
    let arrays = kernel.buffers.iter().map(|b| ("a buffer", &b.name));
    let arrays = arrays.chain(kernel.shared.iter().map(|s| ("a shared array", &s.name)));
    for (what, name) in std::iter::once(("the kernel", &kernel.name)).chain(arrays) {
        if !is_identifier(name) {
            return Err(KernelError::Name { what, name: name.clone() });
        }
        if !names.insert(name) {
            return Err(KernelError::DuplicateName { name: name.clone() });
        }
    }
    let elems = kernel.buffers.iter().map(|b| (&b.name, b.elem));
    for (name, elem) in elems.chain(kernel.shared.iter().map(|s| (&s.name, s.elem))) {
        if elem.bytes() == 0 {
            return Err(KernelError::ElementType { name: name.clone(), elem });
        }
    }
    sizes(kernel)
}

fn sizes(kernel: &Kernel) -> Result<(), KernelError> {
    let fits = |what, value, holds, must| {
        if holds { Ok(()) } else { Err(KernelError::Size { what, value, must }) }
    };
    let threads = kernel.threads;
    fits("threads of a block", threads.into(), (1..=1024).contains(&threads), "1 to 1024")?;
    let cluster = kernel.cluster;
    fits("blocks of a cluster", cluster.into(), (1..=16).contains(&cluster), "1 to 16")?;
    let blocks = kernel.blocks;
    fits("blocks of the launch", blocks, (1..=u64::from(u32::MAX)).contains(&blocks), "1 to 4294967295")?;
    let whole = blocks.is_multiple_of(cluster.into());
    fits("blocks of the launch", blocks, whole, "a multiple of the blocks of a cluster")?;
    if let Some(at_run) = kernel.at_run {
        fits("step of a count", at_run.step.into(), at_run.step > 0, "at least 1")?;
        let most = u64::from(at_run.most).div_ceil(at_run.step.into()).checked_mul(at_run.blocks);
        let (must, whole) = ("those of the highest count", at_run.blocks.is_multiple_of(cluster.into()));
        fits("blocks of the launch", blocks, most == Some(blocks), must)?;
        fits("blocks of a step", at_run.blocks, whole, "a multiple of the blocks of a cluster")?;
    }
    for buffer in &kernel.buffers {
        let fit = buffer.len > 0 && buffer.len <= i64::MAX as u64 / u64::from(buffer.elem.bytes());
        fits("elements of a buffer", buffer.len, fit, "at least 1 and at most 2^63 bytes")?;
    }
    let mut total = 0;
    for array in &kernel.shared {
        let len = u64::from(array.len);
        total += len * u64::from(array.elem.bytes());
        let fit = len > 0 && total <= 1 << 30;
        fits("elements of a shared array", len, fit, "at least 1 and all together at most 1 GiB")?;
    }
    Ok(())
}

/// Whether every target language takes a name as it is.
fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    let first = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    // A lone underscore and two leading ones are reserved in WGSL.
    first && name != "_" && !name.starts_with("__") && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}
