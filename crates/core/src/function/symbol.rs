//! The symbols that a closure is called with: each operation on them is one line in a list.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::{Add, Div, Mul, Neg, Sub};
use std::rc::Rc;

use super::{Binary, Function, MOST_NODES, Node, Unary};
use crate::error::Error;

/// The list that is being written.
#[derive(Debug, Default)]
struct List {
    nodes: Vec<Node>,
    known: HashMap<Node, u16>,
    /// What was wrong first.
    wrong: Option<Error>,
}

impl List {
    fn push(&mut self, node: Node) -> u16 {
        if let Some(&known) = self.known.get(&node) {
            return known;
        }
        if self.nodes.len() == MOST_NODES {
            self.wrong.get_or_insert(Error::FunctionNodes { limit: MOST_NODES });
            return 0;
        }
        let at = self.nodes.len() as u16;
        self.nodes.push(node);
        self.known.insert(node, at);
        at
    }
}

type Shared = Rc<RefCell<List>>;

/// A real that a function computes. Reals, and reals and numbers, are added, subtracted, multiplied and divided.
#[derive(Debug, Clone)]
pub struct Real {
    list: Shared,
    at: u16,
}

/// A complex number that a function computes.
#[derive(Debug, Clone)]
pub struct Value {
    /// Real part.
    pub re: Real,
    /// Imaginary part.
    pub im: Real,
}

/// Where an element is.
#[derive(Debug, Clone)]
pub struct Place {
    list: Shared,
    /// Axes of the shape, whose numbers come before those of batch dimensions.
    rank: usize,
}

impl Place {
    /// Index along an axis of the shape, counted from 0, as a real: in single precision exact up to 2^24.
    pub fn axis(&self, axis: usize) -> Real {
        self.of_axis(axis, 0)
    }

    /// The same modulo a whole number of at least 1, of the exact index.
    pub fn axis_modulo(&self, axis: usize, modulo: u32) -> Real {
        self.of_axis(axis, modulo.max(1))
    }

    /// Index along a batch dimension, in the order in which they were asked for.
    pub fn batch(&self, batch: usize) -> Real {
        self.index(self.rank.saturating_add(batch), 0)
    }

    /// The same modulo a whole number of at least 1, of the exact index.
    pub fn batch_modulo(&self, batch: usize, modulo: u32) -> Real {
        self.index(self.rank.saturating_add(batch), modulo.max(1))
    }

    fn of_axis(&self, axis: usize, modulo: u32) -> Real {
        if axis >= self.rank {
            let wrong = Error::FunctionDimension { dim: axis, dims: self.rank };
            self.list.borrow_mut().wrong.get_or_insert(wrong);
        }
        self.index(axis, modulo)
    }

    fn index(&self, dim: usize, modulo: u32) -> Real {
        // More dimensions than that no problem has; the number is refused with the others.
        let dim = u16::try_from(dim).unwrap_or(u16::MAX);
        Real::of(&self.list, Node::Index { dim, times: 1, plus: 0, modulo })
    }
}

/// What a closure does to symbols; `rank` is the number of axes that come before batch dimensions.
pub(crate) fn record<R: Into<Value>>(
    rank: usize,
    function: impl FnOnce(Value, Place) -> R,
) -> Result<Function, Error> {
    let list = Shared::default();
    let value = Value { re: Real::of(&list, Node::Re), im: Real::of(&list, Node::Im) };
    let result: Value = function(value, Place { list: Rc::clone(&list), rank }).into();
    let foreign = [&result.re, &result.im].into_iter().any(|real| !Rc::ptr_eq(&real.list, &list));
    let List { nodes, wrong, .. } = list.take();
    match wrong {
        Some(error) => Err(error),
        None if foreign => Err(Error::FunctionForeign),
        None => Ok(reached(&nodes, [result.re.at, result.im.at])),
    }
}

/// The operations that the results come of.
pub(super) fn reached(nodes: &[Node], results: [u16; 2]) -> Function {
    let mut used = vec![false; nodes.len()];
    results.iter().for_each(|&at| used[usize::from(at)] = true);
    for (at, node) in nodes.iter().enumerate().rev() {
        if used[at] {
            arguments(*node).for_each(|arg| used[usize::from(arg)] = true);
        }
    }
    let mut numbers = vec![0; nodes.len()];
    let mut kept = Vec::new();
    for (at, &node) in nodes.iter().enumerate().filter(|&(at, _)| used[at]) {
        let of = |arg: u16| numbers[usize::from(arg)];
        let node = node.with(of);
        numbers[at] = kept.len() as u16;
        kept.push(node);
    }
    Function { nodes: kept, results: results.map(|at| numbers[usize::from(at)]) }
}

fn arguments(node: Node) -> impl Iterator<Item = u16> {
    let all = match node {
        Node::Unary(_, a) => [Some(a), None, None, None],
        Node::Binary(_, a, b) => [Some(a), Some(b), None, None],
        Node::IfLess(a, b, c, d) => [a, b, c, d].map(Some),
        _ => [None; 4],
    };
    all.into_iter().flatten()
}

impl Real {
    fn of(list: &Shared, node: Node) -> Self {
        let at = list.borrow_mut().push(node);
        Self { list: Rc::clone(list), at }
    }

    /// A number beside this real.
    fn number(&self, x: f64) -> Self {
        if !x.is_finite() {
            self.list.borrow_mut().wrong.get_or_insert(Error::FunctionConstant { value: x });
        }
        Self::of(&self.list, Node::Const(x.to_bits()))
    }

    /// The number of a real in this one's list.
    fn with(&self, other: &Self) -> u16 {
        if !Rc::ptr_eq(&self.list, &other.list) {
            self.list.borrow_mut().wrong.get_or_insert(Error::FunctionForeign);
            return 0;
        }
        other.at
    }

    fn unary(&self, op: Unary) -> Self {
        Self::of(&self.list, Node::Unary(op, self.at))
    }

    fn binary(&self, op: Binary, other: &Self) -> Self {
        let other = self.with(other);
        Self::of(&self.list, Node::Binary(op, self.at, other))
    }

    /// `|a|`.
    #[must_use]
    pub fn abs(&self) -> Self {
        self.unary(Unary::Abs)
    }

    /// The square root.
    #[must_use]
    pub fn sqrt(&self) -> Self {
        self.unary(Unary::Sqrt)
    }

    /// The lesser of two.
    #[must_use]
    pub fn min(&self, other: impl Operand) -> Self {
        self.binary(Binary::Min, &other.beside(self))
    }

    /// The greater of two.
    #[must_use]
    pub fn max(&self, other: impl Operand) -> Self {
        self.binary(Binary::Max, &other.beside(self))
    }

    /// `yes` where this is less than `other`, else `no`.
    #[must_use]
    pub fn if_less(&self, other: impl Operand, yes: impl Operand, no: impl Operand) -> Self {
        let [other, yes, no] = [other.beside(self), yes.beside(self), no.beside(self)];
        let [other, yes, no] = [&other, &yes, &no].map(|real| self.with(real));
        Self::of(&self.list, Node::IfLess(self.at, other, yes, no))
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f64 {}
    impl Sealed for super::Real {}
}

/// What stands beside a real: another one, or a number.
pub trait Operand: sealed::Sealed {
    /// As a real of the same function.
    #[doc(hidden)]
    fn beside(self, real: &Real) -> Real;
}

impl Operand for f64 {
    fn beside(self, real: &Real) -> Real {
        real.number(self)
    }
}

impl Operand for Real {
    fn beside(self, _: &Real) -> Real {
        self
    }
}

macro_rules! real_operators {
    ($($trait:ident $method:ident),*) => {$(
        impl<T: Operand> $trait<T> for Real {
            type Output = Real;
            fn $method(self, other: T) -> Real {
                self.binary(Binary::$trait, &other.beside(&self))
            }
        }
        impl $trait<Real> for f64 {
            type Output = Real;
            fn $method(self, other: Real) -> Real {
                other.number(self).binary(Binary::$trait, &other)
            }
        }
    )*};
}
real_operators!(Add add, Sub sub, Mul mul, Div div);

impl Neg for Real {
    type Output = Self;
    fn neg(self) -> Self {
        self.unary(Unary::Neg)
    }
}

impl From<Real> for Value {
    fn from(re: Real) -> Self {
        let im = re.number(0.0);
        Self { re, im }
    }
}

impl Value {
    /// A complex number of two reals.
    pub const fn new(re: Real, im: Real) -> Self {
        Self { re, im }
    }

    /// The complex conjugate.
    #[must_use]
    pub fn conj(self) -> Self {
        Self { im: -self.im, re: self.re }
    }

    /// `re^2 + im^2`.
    #[must_use]
    pub fn norm_sqr(self) -> Real {
        self.re.clone() * self.re + self.im.clone() * self.im
    }
}

impl<T: Operand> Mul<T> for Value {
    type Output = Self;
    fn mul(self, by: T) -> Self {
        let by = by.beside(&self.re);
        Self { re: self.re * by.clone(), im: self.im * by }
    }
}

impl<T: Operand> Div<T> for Value {
    type Output = Self;
    fn div(self, by: T) -> Self {
        let by = by.beside(&self.re);
        Self { re: self.re / by.clone(), im: self.im / by }
    }
}

impl Mul<Value> for Value {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let re = self.re.clone() * other.re.clone() - self.im.clone() * other.im.clone();
        Self { re, im: self.re * other.im + self.im * other.re }
    }
}

impl Add for Value {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { re: self.re + other.re, im: self.im + other.im }
    }
}

impl Sub for Value {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self { re: self.re - other.re, im: self.im - other.im }
    }
}

impl Neg for Value {
    type Output = Self;
    fn neg(self) -> Self {
        Self { re: -self.re, im: -self.im }
    }
}
