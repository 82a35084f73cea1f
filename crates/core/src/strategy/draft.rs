//! A program that a strategy writes: arrays, tables, and launches in order.

use super::code::Code;
use super::packed::{Data, Packed};
use super::parameter::Given;
use crate::error::Error;
use crate::kernel::{Cmp, Special, Type, Value};
use crate::lower::stored;
use crate::pass::TableKind;
use crate::problem::{Direction, Placement, Precision, Problem};
use crate::program::{Binding, Link, Program, too_large};
use crate::target::Limits;

/// Threads of a block where blocks do not matter.
const THREADS: u32 = 256;

/// An array of complex numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Array {
    /// Where it lies.
    pub binding: Binding,
    /// Elements.
    pub elements: u64,
    /// What its reals are kept as.
    pub elem: Type,
}

/// A program that is being written.
pub(super) struct Draft<'a> {
    /// Lengths.
    pub packed: Packed,
    /// The strategy's parameters.
    pub given: Given,
    /// The device.
    pub limits: &'a Limits,
    problem: &'a Problem,
    link: Link<'a>,
}

impl<'a> Draft<'a> {
    /// Nothing yet.
    pub fn new(
        problem: &'a Problem,
        packed: Packed,
        given: Given,
        limits: &'a Limits,
    ) -> Result<Self, Error> {
        let link = Link::new(problem, limits, (Vec::new(), 0));
        let draft = Self { packed, given, limits, problem, link };
        let most = [0, 1].map(|side| draft.side(side)).into_iter().max().unwrap_or(0);
        draft.fits(most, draft.complex_bytes())?;
        Ok(draft)
    }

    /// What the caller's input is; in place, the caller's data.
    pub fn input(&self) -> Array {
        let binding = match self.problem.placement {
            Placement::InPlace => Binding::Output(0),
            Placement::OutOfPlace => Binding::Input(0),
        };
        Array { binding, elements: self.side(0), elem: stored::elem(self.packed.stored[0]) }
    }

    /// The caller's output.
    pub fn output(&self) -> Array {
        let elem = stored::elem(self.packed.stored[1]);
        Array { binding: Binding::Output(0), elements: self.side(1), elem }
    }

    /// Complex numbers of the input, or of the output; where it holds reals, pairs of them.
    fn side(&self, side: usize) -> u64 {
        let Packed { data, pitch, .. } = self.packed;
        let rows = self.packed.rows();
        match (data, side) {
            (Data::Complex, _) => self.packed.elements(),
            (Data::ToHalf, 0) | (Data::FromHalf, 1) => pitch[side] * rows / 2,
            (Data::ToHalf | Data::FromHalf, _) => pitch[side] * rows,
        }
    }

    /// Factor on every output.
    pub fn scale(&self) -> f64 {
        self.problem.scale
    }

    /// Whether it transforms forward.
    pub fn forward(&self) -> bool {
        self.problem.direction == Direction::Forward
    }

    /// Type of the real numbers.
    pub fn elem(&self) -> Type {
        if self.problem.precision == Precision::F64 { Type::F64 } else { Type::F32 }
    }

    /// Bytes of a complex number.
    pub fn complex_bytes(&self) -> u64 {
        self.problem.precision.complex_bytes()
    }

    /// Complex numbers that shared memory holds.
    pub fn shared_points(&self) -> u64 {
        u64::from(self.limits.shared_bytes) / self.complex_bytes()
    }

    /// Workspace for so many complex numbers.
    pub fn scratch(&mut self, elements: u64) -> Result<Array, Error> {
        let bytes = self.complex_bytes();
        self.fits(elements, bytes)?;
        Ok(Array { binding: self.link.workspace(elements * bytes), elements, elem: self.elem() })
    }

    /// Refuses arrays that the device does not hold, or that 32-bit indices do not reach.
    fn fits(&self, elements: u64, bytes: u64) -> Result<(), Error> {
        let needed = elements.saturating_mul(bytes);
        too_large("bytes of one array", needed, self.limits.max_buffer_bytes, self.limits)?;
        if !self.limits.index64 {
            let reals = elements.saturating_mul(2);
            too_large("reals of one array", reals, u64::from(u32::MAX / 2), self.limits)?;
        }
        too_large("elements of one array of a strategy", elements, u64::from(u32::MAX), self.limits)
    }

    /// A table, with its entries.
    pub fn table(&mut self, kind: TableKind) -> Array {
        Array { binding: self.link.table(kind), elements: kind.len(), elem: self.elem() }
    }

    /// From where to where each of so many steps goes, at least one, each of which reads one array and writes another
    /// as long.
    pub fn route(&mut self, steps: usize) -> Result<Vec<[Array; 2]>, Error> {
        let (input, output) = (self.input(), self.output());
        let in_place = input == output;
        let mut from = input;
        if in_place && steps == 1 {
            from = self.scratch(output.elements)?;
            self.copy(output, from)?;
        }
        // Backwards from the output, by way of the workspace.
        let other = if steps > 1 { self.scratch(output.elements)? } else { output };
        let mut to: Vec<Array> =
            (1..=steps).map(|step| if (steps - step).is_multiple_of(2) { output } else { other }).collect();
        if in_place && steps > 1 && steps % 2 == 1 {
            // The first step would overwrite what it reads.
            to[0] = other;
            to[1] = self.scratch(output.elements)?;
        }
        let mut route = Vec::with_capacity(steps);
        for to in to {
            route.push([from, to]);
            from = to;
        }
        Ok(route)
    }

    /// A launch that copies.
    fn copy(&mut self, from: Array, to: Array) -> Result<(), Error> {
        let (mut code, at) = self.each("copy", from.elements)?;
        let (from, to) = (code.read(from), code.write(to));
        let z = code.load(from, at);
        code.store(to, at, z);
        self.launch(code)
    }

    /// A kernel with one thread for each of so many items, and a thread's item. Where the last block has threads to spare,
    /// they load zeros and store nothing.
    pub fn each(&self, name: &str, items: u64) -> Result<(Code, Value), Error> {
        let most = u64::from(THREADS.min(self.limits.max_threads));
        let threads = items.clamp(1, most);
        let blocks = items.div_ceil(threads);
        let mut code = self.kernel(name, threads as u32, blocks)?;
        let (block, thread) = (code.special(Special::BlockIndex), code.special(Special::ThreadIndex));
        let first = code.mul_const(block, threads);
        let item = code.add(first, thread);
        if blocks * threads > items {
            let end = code.u32(items as u32);
            code.on = Some(code.b.cmp(Cmp::Lt, item, end));
        }
        Ok((code, item))
    }

    /// A kernel of so many blocks.
    pub fn kernel(&self, name: &str, threads: u32, blocks: u64) -> Result<Code, Error> {
        too_large("threads of a block", threads.into(), self.limits.max_threads.into(), self.limits)?;
        // Items are counted in 32 bits, surplus threads included.
        let most = self.limits.max_blocks.min(u64::from(u32::MAX / threads.max(1)));
        too_large("blocks of one launch", blocks, most, self.limits)?;
        Ok(Code::new(name, threads, blocks, self.elem(), self.forward()))
    }

    /// Adds a launch of a kernel.
    pub fn launch(&mut self, code: Code) -> Result<(), Error> {
        let (kernel, bindings) = code.finish();
        let needed = kernel.shared_bytes().into();
        too_large("bytes of shared memory", needed, self.limits.shared_bytes.into(), self.limits)?;
        self.link.launch(kernel, bindings)
    }

    /// The program.
    pub fn finish(self) -> Result<Program, Error> {
        let (program, _) = self.link.finish()?;
        match self.problem.max_workspace {
            Some(allowed) if allowed < program.workspace_bytes => {
                Err(Error::Workspace { needed: program.workspace_bytes, allowed })
            }
            _ => Ok(program),
        }
    }
}
