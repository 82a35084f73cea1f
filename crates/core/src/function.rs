//! Functions of the caller's on what is loaded and what is stored: expressions over an element and its place, as data.
//!
//! A closure is called once, with symbols, and what it does to them is written down: a list of operations on reals, each on
//! earlier ones. Kernels, the processor and the reference follow the same list.
//!
//! ```
//! use warpfft_core::request::Fft;
//! // A window of Welch's on 1024 samples, and the power of each frequency.
//! let problem = Fft::new([1024])
//!     .batch(8)
//!     .on_load(|x, at| {
//!         let t = (at.axis(0) - 511.5) / 512.0;
//!         x * (1.0 - t.clone() * t)
//!     })
//!     .on_store(|x, _| x.norm_sqr())
//!     .build()?;
//! let power = problem.functions.store.as_ref().expect("it was given");
//! assert_eq!(power.to_string(), "(re * re) + (im * im)");
//! # Ok::<(), warpfft_core::Error>(())
//! ```

mod carried;
mod evaluate;
mod symbol;

use std::fmt::{self, Display};
use std::sync::Arc;

use crate::error::Error;
use crate::problem::Precision;

pub(crate) use symbol::record;
pub use symbol::{Place, Real, Value};

/// Operations of a function at most.
pub const MOST_NODES: usize = 256;

/// One real of a function; numbers are indices of earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Node {
    /// Real part of the element.
    Re,
    /// Imaginary part of the element.
    Im,
    /// Index along a dimension: `times` what counts it there, and `plus`; modulo so much where that is not 0.
    Index {
        /// The dimension: complex ones to transform first, then those of the problem's kind, then those to repeat over.
        dim: u16,
        /// Elements for each that is counted: 2 where a complex number carries two reals.
        times: u32,
        /// The first of them that is meant.
        plus: u32,
        /// The modulus.
        modulo: u32,
    },
    /// A number, by the bits of an `f64`.
    Const(u64),
    /// Something of one real.
    Unary(Unary, u16),
    /// Something of two reals.
    Binary(Binary, u16, u16),
    /// The third where the first is less than the second, else the fourth.
    IfLess(u16, u16, u16, u16),
}

impl Node {
    /// With other numbers for the reals that it is of.
    fn with(self, number: impl Fn(u16) -> u16) -> Self {
        match self {
            Self::Unary(op, a) => Self::Unary(op, number(a)),
            Self::Binary(op, a, b) => Self::Binary(op, number(a), number(b)),
            Self::IfLess(a, b, yes, no) => Self::IfLess(number(a), number(b), number(yes), number(no)),
            leaf => leaf,
        }
    }
}

/// Operations on one real.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unary {
    /// `-a`.
    Neg,
    /// `|a|`.
    Abs,
    /// The square root.
    Sqrt,
}

/// Operations on two reals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Binary {
    /// `a + b`.
    Add,
    /// `a - b`.
    Sub,
    /// `a b`.
    Mul,
    /// `a / b`.
    Div,
    /// The lesser.
    Min,
    /// The greater.
    Max,
}

/// A function of an element and its place.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Function {
    nodes: Vec<Node>,
    /// Real and imaginary part of the result.
    results: [u16; 2],
}

/// What is applied to what a problem reads, and to what it writes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Functions {
    /// On each element as it is read: before the transform.
    pub load: Option<Arc<Function>>,
    /// On each element as it is written: after the scale.
    pub store: Option<Arc<Function>>,
}

impl Functions {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.load.is_none() && self.store.is_none()
    }

    /// Whether the index along a dimension is looked at.
    pub fn look_at(&self, dim: usize) -> bool {
        self.load.iter().chain(&self.store).any(|function| function.dims().any(|own| own == dim))
    }

    /// Whether each is one that can be, for a problem of dimensions of these lengths.
    pub(crate) fn check(&self, lengths: &[u64], precision: Precision) -> Result<(), Error> {
        let largest = precision.largest();
        for function in self.load.iter().chain(&self.store) {
            let numbers = function.nodes.iter().filter_map(|node| match *node {
                Node::Const(bits) => Some(f64::from_bits(bits)),
                _ => None,
            });
            if let Some(value) = numbers.into_iter().find(|value| value.is_nan() || value.abs() > largest) {
                return Err(Error::FunctionConstant { value });
            }
            for dim in function.dims() {
                let Some(&n) = lengths.get(dim) else {
                    return Err(Error::FunctionDimension { dim, dims: lengths.len() });
                };
                if n > LONGEST {
                    return Err(Error::FunctionLength { dim, n, limit: LONGEST });
                }
            }
        }
        Ok(())
    }
}

/// Points at most along a dimension whose index is looked at: kernels count in 32 bits.
const LONGEST: u64 = 1 << 31;

impl Function {
    /// The operations, in order.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Which of them are the real and the imaginary part of the result.
    pub fn results(&self) -> [usize; 2] {
        self.results.map(usize::from)
    }

    /// Dimensions whose index is looked at.
    pub fn dims(&self) -> impl Iterator<Item = usize> + '_ {
        self.nodes.iter().filter_map(|node| match node {
            Node::Index { dim, .. } => Some(usize::from(*dim)),
            _ => None,
        })
    }

    /// Writes one real, in parentheses where it stands within another.
    fn write(&self, f: &mut fmt::Formatter<'_>, at: u16, inner: bool) -> fmt::Result {
        let open = |f: &mut fmt::Formatter<'_>, text: &str| if inner { f.write_str(text) } else { Ok(()) };
        let infix = |f: &mut fmt::Formatter<'_>, a: u16, sign: &str, b: u16| {
            open(f, "(")?;
            self.write(f, a, true)?;
            write!(f, " {sign} ")?;
            self.write(f, b, true)?;
            open(f, ")")
        };
        let call = |f: &mut fmt::Formatter<'_>, name: &str, args: &[u16]| {
            write!(f, "{name}(")?;
            for (i, &arg) in args.iter().enumerate() {
                if i > 0 {
                    f.write_str(", ")?;
                }
                self.write(f, arg, false)?;
            }
            f.write_str(")")
        };
        match self.nodes[usize::from(at)] {
            Node::Re => f.write_str("re"),
            Node::Im => f.write_str("im"),
            Node::Index { dim, times: 1, plus: 0, modulo: 0 } => write!(f, "i{dim}"),
            Node::Index { dim, times: 1, plus: 0, modulo } => write!(f, "(i{dim} % {modulo})"),
            Node::Index { dim, times, plus, modulo: 0 } => write!(f, "({times} i{dim} + {plus})"),
            Node::Index { dim, times, plus, modulo } => {
                write!(f, "(({times} i{dim} + {plus}) % {modulo})")
            }
            Node::Const(bits) => write!(f, "{:?}", f64::from_bits(bits)),
            Node::Unary(Unary::Neg, a) => call(f, "-", &[a]),
            Node::Unary(Unary::Abs, a) => call(f, "abs", &[a]),
            Node::Unary(Unary::Sqrt, a) => call(f, "sqrt", &[a]),
            Node::Binary(Binary::Add, a, b) => infix(f, a, "+", b),
            Node::Binary(Binary::Sub, a, b) => infix(f, a, "-", b),
            Node::Binary(Binary::Mul, a, b) => infix(f, a, "*", b),
            Node::Binary(Binary::Div, a, b) => infix(f, a, "/", b),
            Node::Binary(Binary::Min, a, b) => call(f, "min", &[a, b]),
            Node::Binary(Binary::Max, a, b) => call(f, "max", &[a, b]),
            Node::IfLess(a, b, yes, no) => call(f, "if_less", &[a, b, yes, no]),
        }
    }

    /// How long its text would be with everything that is used twice written twice.
    fn spelt(&self) -> u64 {
        let mut sizes: Vec<u64> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let of = |at: u16| sizes[usize::from(at)];
            let size = match *node {
                Node::Unary(_, a) => of(a),
                Node::Binary(_, a, b) => of(a).saturating_add(of(b)),
                Node::IfLess(a, b, c, d) => [a, b, c, d].into_iter().map(of).fold(0, u64::saturating_add),
                _ => 0,
            };
            sizes.push(size.saturating_add(1));
        }
        self.results().into_iter().fold(0, |sum, at| sum.saturating_add(sizes[at]))
    }
}

/// What an index is where it is counted in steps.
fn counted(index: u64, times: u32, plus: u32, modulo: u32) -> u64 {
    let index = index * u64::from(times) + u64::from(plus);
    if modulo == 0 { index } else { index % u64::from(modulo) }
}

/// Reals up to which a function is spelt as one expression.
const SPELT: u64 = 64;

impl Display for Function {
    /// As an expression in `re`, `im` and the indices `i0`, `i1`..; longer ones as the list of their operations.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.spelt() > SPELT {
            return write!(f, "{:?} -> {:?}", self.nodes, self.results);
        }
        let [re, im] = self.results;
        self.write(f, re, false)?;
        if self.nodes[usize::from(im)] != Node::Const(0) {
            f.write_str(", ")?;
            self.write(f, im, false)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Function({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(function: impl FnOnce(Value, Place) -> Value) -> Result<Function, Error> {
        record(2, function)
    }

    #[test]
    fn what_a_closure_does_is_written_down() {
        let function = recorded(|x, at| {
            let far = (at.axis(1) - 3.0).abs().min(at.axis(0).sqrt());
            let sign = at.axis_modulo(0, 2) * -2.0 + 1.0;
            (x.conj() * far.clone() / 2.0) * sign - Value::from(far.if_less(1.0, 5.0, at.batch(0)))
        })
        .expect("it is short");
        let wanted = |re: f64, im: f64, i: [u64; 3]| {
            let far = (i[1] as f64 - 3.0).abs().min((i[0] as f64).sqrt());
            let sign = if i[0].is_multiple_of(2) { 1.0 } else { -1.0 };
            let less = if far < 1.0 { 5.0 } else { i[2] as f64 };
            (re * far / 2.0 * sign - less, -im * far / 2.0 * sign)
        };
        for i in [[0, 0, 0], [4, 9, 2], [3, 3, 7], [9, 2, 1]] {
            assert_eq!(function.evaluate((1.5, -2.5), &i), wanted(1.5, -2.5, i), "{function}");
        }
        assert_eq!(function.dims().max(), Some(2));
    }

    #[test]
    fn equal_closures_are_equal_and_text_tells_others_apart() {
        let scaled = |by: f64| recorded(move |x, at| x * (at.axis(0) * by)).expect("it is short");
        assert_eq!(scaled(0.5), scaled(0.5));
        assert_ne!(scaled(0.5), scaled(0.25));
        assert_ne!(scaled(0.1).to_string(), scaled(0.1 + f64::EPSILON / 8.0).to_string());
        assert_eq!(scaled(0.5).to_string(), "re * (i0 * 0.5), im * (i0 * 0.5)");
    }

    #[test]
    fn what_is_too_long_or_not_a_number_is_refused() {
        let sum = |n: usize| recorded(move |x, at| (0..n).fold(x, |x, k| x * (at.axis(0) + k as f64)));
        assert!(sum(20).is_ok());
        assert!(matches!(sum(100_000), Err(Error::FunctionNodes { limit: MOST_NODES })));
        assert!(matches!(recorded(|x, _| x * f64::NAN), Err(Error::FunctionConstant { .. })));
        // What nothing comes of is left out; what squares itself again and again is not spelt.
        let long = recorded(|x, _| {
            let y = (0..40).fold(x.re.clone(), |y, _| y.clone() * y);
            let _ = x.im * 3.0;
            y.into()
        });
        let long = long.expect("it has few operations");
        assert!(long.nodes().len() <= 42 && long.to_string().len() < 10_000);
    }
}
