//! Double-single arithmetic: every `F64` becomes the unevaluated sum of two `F32`, high part first, about 48 bits
//! together, in the 8 bytes that it had.
//!
//! Sums and products come with their rounding errors, which are themselves floating-point numbers; `exact.rs` finds
//! them. They are gathered in the low part. A pair is brought to order (the low part at most half of the last place of
//! the high one) when it is stored and after a product-sum, of which there are long chains, and not after every
//! operation: between two of these a transform adds few times, and the low part stays so small that what it loses itself
//! is of no account. So an addition takes 8 operations, a product 4 and a product-sum 15, where those that keep the
//! order (Joldes, Muller and Popescu, *Tight and rigorous error bounds for basic building blocks of double-word
//! arithmetic*, ACM TOMS 44(2), 2017, algorithms 6 and 12) take 20, 9 and 29. What is lost is at most some u^2 of the
//! operands, u = 2^-24, and not of the result: as in any transform, errors count beside the length of the data.
//!
//! `docs/notes/double-single.md` has the figures.

mod exact;

use super::{drop_dead, renumber, share, simplify};
use crate::kernel::verify::{KernelError, Site, verify};
use crate::kernel::{Block, Cmp, Inst, Kernel, Op, Space, Type, Value};
use crate::target::{Api, Limits};

use exact::{Exact, Pair};

/// Rewrites a kernel from `F64` to pairs of `F32`. Arrays of `F64` become arrays of twice as many `F32`.
///
/// # Errors
///
/// The kernel is malformed, or has an operation on `F64` that pairs have not: products of matrices, and conversions to
/// integers.
pub fn double_single(kernel: Kernel, limits: &Limits) -> Result<Kernel, KernelError> {
    let mut kernel = verify(kernel)?.into_inner();
    // What cancels or is shared as one number is less to write as two.
    simplify(&mut kernel);
    share(&mut kernel);
    drop_dead(&mut kernel);
    let mut exact = Exact::new(std::mem::take(&mut kernel.types));
    if matches!(limits.api, Api::Wgsl { .. }) {
        exact.guard();
    }
    let mut rewriting = Rewriting {
        now: (0..exact.types.len() as u32).map(|value| Now::Single(Value(value))).collect(),
        lens: [
            kernel.buffers.iter().map(|buffer| wide(buffer.elem, buffer.len)).collect(),
            kernel.shared.iter().map(|array| wide(array.elem, array.len.into())).collect(),
        ],
        exact,
        device: &limits.name,
        next: 0,
    };
    let insts = rewriting.insts(std::mem::take(&mut kernel.body.insts))?;
    kernel.body.insts = insts;
    kernel.types = rewriting.exact.types;
    for buffer in kernel.buffers.iter_mut().filter(|buffer| buffer.elem == Type::F64) {
        (buffer.elem, buffer.len) = (Type::F32, 2 * buffer.len);
    }
    for array in kernel.shared.iter_mut().filter(|array| array.elem == Type::F64) {
        (array.elem, array.len) = (Type::F32, 2 * array.len);
    }
    renumber(&mut kernel);
    Ok(kernel)
}

/// Elements of an array that becomes one of pairs.
fn wide(elem: Type, len: u64) -> Option<u64> {
    (elem == Type::F64).then_some(len)
}

/// What has become of a value.
#[derive(Clone, Copy)]
enum Now {
    Single(Value),
    Pair(Pair),
}

struct Rewriting<'a> {
    now: Vec<Now>,
    /// Elements of each buffer, and of each shared array, that becomes one of pairs.
    lens: [Vec<Option<u64>>; 2],
    exact: Exact,
    device: &'a str,
    /// Number of the next instruction.
    next: usize,
}

impl Rewriting<'_> {
    /// What instructions become, behind what has been written.
    fn insts(&mut self, insts: Vec<Inst>) -> Result<Vec<Inst>, KernelError> {
        insts.into_iter().try_for_each(|inst| self.inst(inst))?;
        Ok(std::mem::take(&mut self.exact.out))
    }

    fn block(&mut self, block: Block) -> Result<Block, KernelError> {
        let outer = std::mem::take(&mut self.exact.out);
        let params = self.defined(&block.params, false);
        let insts = self.insts(block.insts)?;
        let yields = self.used(&block.yields);
        self.exact.out = outer;
        Ok(Block { params, insts, yields })
    }

    fn inst(&mut self, inst: Inst) -> Result<(), KernelError> {
        let at = Site { inst: self.next, op: inst.op };
        self.next += 1;
        let float = |value: &Value| self.exact.ty(*value) == Type::F64;
        let (gives, takes) = (inst.results.iter().any(float), inst.args.iter().any(float));
        let lacking = match inst.op {
            Op::Loop | Op::If => return self.control(inst),
            Op::Addr | Op::PtrAdd if self.paired(&inst).is_some() => self.address(inst),
            Op::Load { .. } | Op::Store { .. } | Op::RemoteStoreAsync { .. }
                if self.paired(&inst).is_some() =>
            {
                self.access(inst)
            }
            _ if gives => match self.arithmetic(&inst) {
                Some(pair) => {
                    self.now[inst.results[0].0 as usize] = Now::Pair(pair);
                    None
                }
                None => Some("this operation"),
            },
            _ if takes => match self.reduced(&inst) {
                Some(value) => {
                    self.now[inst.results[0].0 as usize] = Now::Single(value);
                    None
                }
                None => Some("this operation"),
            },
            _ => {
                let args = self.used(&inst.args);
                self.exact.out.push(Inst { args, ..inst });
                None
            }
        };
        lacking.map_or(Ok(()), |ability| {
            let device = format!("double-single arithmetic on {}", self.device);
            Err(KernelError::Unsupported { at, device, ability })
        })
    }

    fn control(&mut self, inst: Inst) -> Result<(), KernelError> {
        let args = self.used(&inst.args);
        let blocks = inst.blocks.into_iter().map(|block| self.block(block)).collect::<Result<_, _>>()?;
        let results = self.defined(&inst.results, false);
        self.exact.out.push(Inst { op: inst.op, args, results, blocks });
        Ok(())
    }

    /// An access to an array of pairs; gives what is lacking.
    fn access(&mut self, mut inst: Inst) -> Option<&'static str> {
        inst.args = self.stored(&inst.args);
        inst.results = self.defined(&inst.results, true);
        if !widen(&mut inst.op) {
            return Some("accesses so far from a pointer");
        }
        self.exact.out.push(inst);
        None
    }

    /// Elements of the array that an instruction's pointer points into, if it becomes one of pairs.
    fn paired(&self, inst: &Inst) -> Option<u64> {
        let pointer = if inst.op == Op::Addr { inst.results.first() } else { inst.args.first() };
        match self.exact.ty(*pointer?) {
            Type::Ptr(Space::Global(i)) => self.lens[0][i as usize],
            Type::Ptr(Space::Shared(i) | Space::Remote(i)) => self.lens[1][i as usize],
            _ => None,
        }
    }

    /// New values in place of some that are defined here.
    fn defined(&mut self, values: &[Value], ordered: bool) -> Vec<Value> {
        let mut all = Vec::with_capacity(2 * values.len());
        for &value in values {
            if self.exact.ty(value) == Type::F64 {
                let [hi, lo] = [(); 2].map(|()| self.exact.fresh(Type::F32));
                self.now[value.0 as usize] = Now::Pair(Pair { hi, lo, ordered });
                all.extend([hi, lo]);
            } else {
                all.push(value);
            }
        }
        all
    }

    /// What some values that are used have become, high parts before low ones.
    fn used(&self, values: &[Value]) -> Vec<Value> {
        let mut all = Vec::with_capacity(2 * values.len());
        for &value in values {
            match self.now[value.0 as usize] {
                Now::Single(value) => all.push(value),
                Now::Pair(Pair { hi, lo, .. }) => all.extend([hi, lo]),
            }
        }
        all
    }

    /// The same, brought to order, of what is stored.
    fn stored(&mut self, values: &[Value]) -> Vec<Value> {
        let mut all = self.used(values);
        let mut at = 0;
        for &value in values {
            match self.now[value.0 as usize] {
                Now::Single(_) => at += 1,
                Now::Pair(pair) => {
                    if !pair.ordered {
                        let Pair { hi, lo, .. } = self.exact.in_order(pair);
                        (all[at], all[at + 1]) = (hi, lo);
                    }
                    at += 2;
                }
            }
        }
        all
    }

    /// Distances count halves of what they counted.
    fn address(&mut self, mut inst: Inst) -> Option<&'static str> {
        let len = self.paired(&inst).unwrap_or(0);
        inst.args = self.used(&inst.args);
        let index = inst.args.last_mut()?;
        if self.exact.ty(*index) == Type::U32 && len > u64::from(u32::MAX / 2) {
            *index = self.exact.op(Op::Convert, Type::U64, &[*index]);
        }
        let ty = self.exact.ty(*index);
        let one = self.exact.op(Op::Const(1), Type::U32, &[]);
        *index = self.exact.op(Op::Shl, ty, &[*index, one]);
        self.exact.out.push(inst);
        None
    }

    fn pair(&self, value: Value) -> Option<Pair> {
        match self.now[value.0 as usize] {
            Now::Pair(pair) => Some(pair),
            Now::Single(_) => None,
        }
    }

    fn single(&self, value: Value) -> Option<Value> {
        match self.now[value.0 as usize] {
            Now::Single(value) => Some(value),
            Now::Pair(_) => None,
        }
    }

    /// The pair that an operation gives; `None` where pairs have none such.
    fn arithmetic(&mut self, inst: &Inst) -> Option<Pair> {
        Some(match (inst.op, &inst.args[..]) {
            (Op::Const(bits), _) => self.exact.constant(f64::from_bits(bits)),
            (Op::Add, &[a, b]) => self.exact.sum(self.pair(a)?, self.pair(b)?),
            (Op::Sub, &[a, b]) => self.exact.difference(self.pair(a)?, self.pair(b)?),
            (Op::Mul, &[a, b]) => self.exact.product(self.pair(a)?, self.pair(b)?),
            (Op::Div, &[a, b]) => self.exact.quotient(self.pair(a)?, self.pair(b)?),
            (Op::Sqrt, &[a]) => self.exact.root(self.pair(a)?),
            (Op::Fma, &[a, b, c]) => self.exact.product_sum(self.pair(a)?, self.pair(b)?, self.pair(c)?),
            (Op::Neg, &[a]) => self.exact.negative(self.pair(a)?),
            (Op::Select, &[on, a, b]) => self.exact.chosen(self.single(on)?, self.pair(a)?, self.pair(b)?),
            (Op::Min | Op::Max, &[a, b]) => {
                let (a, b) = (self.pair(a)?, self.pair(b)?);
                let cmp = if inst.op == Op::Min { Cmp::Lt } else { Cmp::Gt };
                let on = self.exact.compared(cmp, a, b);
                self.exact.chosen(on, a, b)
            }
            (Op::Shuffle(_), &[a, lane]) => {
                let (a, lane) = (self.pair(a)?, self.single(lane)?);
                let [hi, lo] = [a.hi, a.lo].map(|part| self.exact.op(inst.op, Type::F32, &[part, lane]));
                Pair { hi, lo, ..a }
            }
            (Op::Convert, &[a]) => self.exact.widened(self.single(a)?)?,
            _ => return None,
        })
    }

    /// The value that is no pair which an operation on pairs gives; `None` where pairs have none such.
    fn reduced(&mut self, inst: &Inst) -> Option<Value> {
        match (inst.op, &inst.args[..]) {
            (Op::Cmp(cmp), &[a, b]) => Some(self.exact.compared(cmp, self.pair(a)?, self.pair(b)?)),
            (Op::Convert, &[a]) => {
                let ty = self.exact.ty(inst.results[0]);
                let a = self.pair(a)?;
                ty.is_float().then(|| self.exact.narrowed(a, ty))
            }
            _ => None,
        }
    }
}

/// Twice as many elements, twice as far; `false` where that is too far.
fn widen(op: &mut Op) -> bool {
    let (Op::Load { width, offset, .. }
    | Op::Store { width, offset, .. }
    | Op::RemoteStoreAsync { width, offset }) = op
    else {
        return true;
    };
    let Some(far) = offset.checked_mul(2) else { return false };
    (*width, *offset) = (2 * *width, far);
    true
}
