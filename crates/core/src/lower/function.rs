//! Functions of the caller's, element by element: the list of their operations once for each register.

use crate::function::{Binary, Function, Node, Unary};
use crate::kernel::{Cmp, Cx, Op, Type, Value};

use super::Lowering;
use super::guards::Bound;
use super::layout::Layout;

impl Lowering<'_> {
    /// Applies a function to a slot's group. Elements that are not there stay zero where what they are matters: as the
    /// padding of a convolution.
    pub(super) fn apply(
        &mut self,
        function: &Function,
        writes: bool,
        (layout, slot): (&Layout, u32),
        group: &mut [Cx],
        bounds: Option<&[Bound]>,
    ) {
        for (r, x) in group.iter_mut().enumerate() {
            let bound = bounds.map_or(Bound::If(None), |bounds| bounds[r]);
            let Bound::If(on) = bound else { continue };
            let found = self
                .evaluated(function, *x, |this, dim| this.index_along(dim, writes, (layout, slot, r as i64)));
            *x = match on.filter(|_| !writes) {
                Some(on) => {
                    let zero = self.b.float(self.real, 0.0);
                    Cx { re: self.b.select(on, found.re, zero), im: self.b.select(on, found.im, zero) }
                }
                None => found,
            };
        }
    }

    /// What a function makes of an element whose index along each dimension of the problem is given.
    pub(super) fn evaluated(
        &mut self,
        function: &Function,
        x: Cx,
        mut index: impl FnMut(&mut Self, u16) -> Value,
    ) -> Cx {
        let mut all: Vec<Value> = Vec::with_capacity(function.nodes().len());
        for node in function.nodes() {
            let value = match *node {
                Node::Re => x.re,
                Node::Im => x.im,
                Node::Index { dim, times, plus, modulo } => {
                    let index = index(self, dim);
                    self.counted(index, [times, plus], modulo)
                }
                Node::Const(bits) => self.b.float(self.real, f64::from_bits(bits)),
                Node::Unary(op, a) => self.unary(op, all[usize::from(a)]),
                Node::Binary(op, a, b) => {
                    let op = match op {
                        Binary::Add => Op::Add,
                        Binary::Sub => Op::Sub,
                        Binary::Mul => Op::Mul,
                        Binary::Div => Op::Div,
                        Binary::Min => Op::Min,
                        Binary::Max => Op::Max,
                    };
                    self.b.binary(op, all[usize::from(a)], all[usize::from(b)])
                }
                Node::IfLess(a, b, yes, no) => {
                    let [a, b, yes, no] = [a, b, yes, no].map(|at| all[usize::from(at)]);
                    let less = self.b.cmp(Cmp::Lt, a, b);
                    self.b.select(less, yes, no)
                }
            };
            all.push(value);
        }
        let [re, im] = function.results();
        Cx { re: all[re], im: all[im] }
    }

    fn unary(&mut self, op: Unary, a: Value) -> Value {
        match op {
            Unary::Neg => self.b.neg(a),
            Unary::Abs => {
                let negative = self.b.neg(a);
                self.b.binary(Op::Max, a, negative)
            }
            Unary::Sqrt => self.b.pure(Op::Sqrt, self.real, &[a]),
        }
    }

    /// An index that is counted in steps, modulo so much where that is not 0, as a real.
    fn counted(&mut self, mut index: Value, [times, plus]: [u32; 2], modulo: u32) -> Value {
        if times != 1 {
            index = self.b.mul_const(index, u64::from(times));
        }
        if plus != 0 {
            index = self.b.add_const(index, u64::from(plus));
        }
        if modulo > 0 {
            index = self.b.rem_const(index, modulo, u64::from(u32::MAX));
        }
        self.b.convert(self.real, index)
    }

    /// Index of an element along a dimension of the problem.
    fn index_along(&mut self, dim: u16, writes: bool, (layout, slot, r): (&Layout, u32, i64)) -> Value {
        let side = usize::from(writes);
        let weights = self.digits.weights(|digit| if digit.of == Some(dim) { digit.counts[side] } else { 0 });
        let own = |of: Option<u16>, counts: [u64; 2]| if of == Some(dim) { counts[side] as i64 } else { 0 };
        let origin = self.at_origin(Type::U32, |dim| own(dim.of, dim.counts));
        let at = self.linear(layout, slot, &weights);
        let start = at.thread.map_or(origin, |thread| self.b.add(origin, thread));
        let step = layout.register.map_or(0, |d| weights[d]);
        let index = self.b.add_const(start, (at.constant + step * r) as u64 & u64::from(u32::MAX));
        self.point_of(dim, writes, index)
    }

    /// The point of a dimension that memory has at an index: it may hold some of those of a dimension that the pass is repeated
    /// over, in another order.
    pub(super) fn point_of(&mut self, dim: u16, writes: bool, index: Value) -> Value {
        let held = self.pass.batch.iter().find(|own| own.of == Some(dim));
        let Some((first, n)) = held.and_then(|own| own.first[usize::from(writes)]) else { return index };
        let index = self.b.add_const(index, first.into());
        let end = self.b.u32(n);
        let beyond = self.b.cmp(Cmp::Ge, index, end);
        let anew = self.b.sub(index, end);
        self.b.select(beyond, anew, index)
    }
}
