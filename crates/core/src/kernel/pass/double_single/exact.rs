//! Operations on pairs of `F32`, by sums and products whose rounding errors are found exactly: of a sum by Knuth's six
//! operations (*The Art of Computer Programming* 2, section 4.2.2, theorem B), of a product by one fused multiply-add,
//! or by Dekker's products of halves (*A floating-point technique for extending the available precision*, Numer. Math.
//! 18, 1971), the halves cut off by a mask.
//!
//! **Guards.** Compilers of shading languages take `(a + b) - a` for `b` where nothing forbids it, and WGSL has no word
//! to forbid it. So what was just computed goes on through a fused multiply-add, by a one that no compiler knows to be
//! one: `fma(a + b, one, -a)`. It takes as many instructions as without, has the same value whether it is rounded once
//! or twice, and compilers do not take such an operation apart. Some drivers have none, though: they multiply and add,
//! and then move a factor that two products share out of their sum, by which `a one + (b one + c)` comes to be rounded
//! in another order. So no product is added to a sum whose last term has a factor in common with it: there are two ones,
//! which no compiler knows to be equal, between two products of halves that share a half stands a guard, and of two
//! products that are added one comes as bits, through an exclusive or with a zero that no compiler knows.

use std::collections::{HashMap, HashSet};

use crate::kernel::{Cmp, Inst, Op, Special, Type, Value};

/// A number as the sum of two.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    pub hi: Value,
    pub lo: Value,
    /// The low part is at most half of the last place of the high one.
    pub ordered: bool,
}

/// Writes operations on pairs.
pub(super) struct Exact {
    pub types: Vec<Type>,
    /// What has been written.
    pub out: Vec<Inst>,
    constants: HashMap<Value, f64>,
    /// High parts of products, with either sign.
    products: HashSet<Value>,
    /// `None`: the target computes what is written.
    guards: Option<Guards>,
}

/// What no compiler knows.
#[derive(Debug, Clone, Copy)]
struct Guards {
    /// The word 0.
    zero: Value,
    /// Two ones, each with its opposite.
    ones: [[Value; 2]; 2],
}

/// Which of the two ones.
#[derive(Clone, Copy)]
enum Guard {
    Inner,
    /// Of a sum whose terms are guarded by the other.
    Outer,
}

/// Bits of an `F32` that the upper half of its fraction is left of: 12 bits with the leading one.
const UPPER: u64 = 0xFFFF_F000;

impl Exact {
    pub fn new(types: Vec<Type>) -> Self {
        Self { types, out: Vec::new(), constants: HashMap::new(), products: HashSet::new(), guards: None }
    }

    /// From here on, hides from compilers what they would simplify.
    pub fn guard(&mut self) {
        let zero = self.op(Op::Special(Special::Zero), Type::U32, &[]);
        let one = self.op(Op::Const(1), Type::U32, &[]);
        let inner = self.op(Op::Add, Type::U32, &[zero, one]);
        let inner = self.real(Op::Convert, &[inner]);
        let bits = self.op(Op::Const(1_f32.to_bits().into()), Type::U32, &[]);
        let outer = self.op(Op::Xor, Type::U32, &[zero, bits]);
        let outer = self.real(Op::Bitcast, &[outer]);
        let ones = [inner, outer].map(|one| [one, self.real(Op::Neg, &[one])]);
        self.guards = Some(Guards { zero, ones });
    }

    pub fn ty(&self, value: Value) -> Type {
        self.types[value.0 as usize]
    }

    pub fn fresh(&mut self, ty: Type) -> Value {
        self.types.push(ty);
        Value(self.types.len() as u32 - 1)
    }

    pub fn op(&mut self, op: Op, ty: Type, args: &[Value]) -> Value {
        let result = self.fresh(ty);
        self.out.push(Inst { op, args: args.to_vec(), results: vec![result], blocks: Vec::new() });
        result
    }

    fn real(&mut self, op: Op, args: &[Value]) -> Value {
        self.op(op, Type::F32, args)
    }

    fn float(&mut self, x: f32) -> Value {
        let value = self.real(Op::Const(f64::from(x).to_bits()), &[]);
        self.constants.insert(value, x.into());
        value
    }

    /// `x + y`, where `x` was just computed.
    fn plus(&mut self, guard: Guard, x: Value, y: Value) -> Value {
        match self.guards {
            Some(Guards { ones, .. }) => self.real(Op::Fma, &[x, ones[guard as usize][0], y]),
            None => self.real(Op::Add, &[x, y]),
        }
    }

    /// `x - y`, where `x` was just computed.
    fn minus(&mut self, x: Value, y: Value) -> Value {
        match self.guards {
            Some(Guards { ones: [[one, _], _], .. }) => {
                let y = self.real(Op::Neg, &[y]);
                self.real(Op::Fma, &[x, one, y])
            }
            None => self.real(Op::Sub, &[x, y]),
        }
    }

    /// `y - x`, where `x` was just computed.
    fn from(&mut self, guard: Guard, y: Value, x: Value) -> Value {
        match self.guards {
            Some(Guards { ones, .. }) => self.real(Op::Fma, &[x, ones[guard as usize][1], y]),
            None => self.real(Op::Sub, &[y, x]),
        }
    }

    /// `a + b` rounded, and its error.
    fn two_sum(&mut self, a: Value, b: Value) -> [Value; 2] {
        let b = self.apart(a, b);
        let sum = self.real(Op::Add, &[a, b]);
        let other = self.minus(sum, a);
        let first = self.from(Guard::Inner, sum, other);
        let (lost_b, lost_a) = (self.from(Guard::Inner, b, other), self.from(Guard::Inner, a, first));
        [sum, self.plus(Guard::Outer, lost_a, lost_b)]
    }

    /// `a - b` rounded, and its error.
    fn two_difference(&mut self, a: Value, b: Value) -> [Value; 2] {
        let b = self.apart(a, b);
        let difference = self.real(Op::Sub, &[a, b]);
        let other = self.minus(difference, a);
        let first = self.from(Guard::Inner, difference, other);
        let (lost_b, lost_a) = (self.plus(Guard::Inner, other, b), self.from(Guard::Inner, a, first));
        [difference, self.from(Guard::Outer, lost_a, lost_b)]
    }

    /// `a b` rounded, and its error.
    fn two_product(&mut self, a: Value, b: Value) -> [Value; 2] {
        let product = self.real(Op::Mul, &[a, b]);
        let minus = self.real(Op::Neg, &[product]);
        if self.guards.is_none() {
            return [product, self.real(Op::Fma, &[a, b, minus])];
        }
        // In this order every sum is exact.
        let ([high_a, low_a], [high_b, low_b]) = (self.halves(a), self.halves(b));
        let mut error = self.real(Op::Fma, &[high_a, high_b, minus]);
        if a == b && !self.is_zero(low_a) {
            // The products of unlike halves are equal, and next to each other they would share both factors.
            let twice = self.real(Op::Add, &[low_a, low_a]);
            let cross = self.real(Op::Mul, &[high_a, twice]);
            error = self.plus(Guard::Inner, error, cross);
            let last = self.real(Op::Mul, &[low_a, low_a]);
            return [product, self.plus(Guard::Inner, error, last)];
        }
        if !self.is_zero(low_b) {
            let cross = self.real(Op::Mul, &[high_a, low_b]);
            error = self.plus(Guard::Inner, error, cross);
        }
        if !self.is_zero(low_a) {
            error = if self.is_zero(low_b) {
                let cross = self.real(Op::Mul, &[low_a, high_b]);
                self.plus(Guard::Inner, error, cross)
            } else {
                self.real(Op::Fma, &[low_a, high_b, error])
            };
        }
        if !self.is_zero(low_a) && !self.is_zero(low_b) {
            let last = self.real(Op::Mul, &[low_a, low_b]);
            error = self.plus(Guard::Inner, error, last);
        }
        [product, error]
    }

    /// The same number, of which no compiler knows what it is made of.
    fn hidden(&mut self, x: Value) -> Value {
        let Some(Guards { zero, .. }) = self.guards else { return x };
        let bits = self.op(Op::Bitcast, Type::U32, &[x]);
        let bits = self.op(Op::Xor, Type::U32, &[zero, bits]);
        self.real(Op::Bitcast, &[bits])
    }

    /// The second of two terms, hidden if both are products, which may share a factor.
    fn apart(&mut self, a: Value, b: Value) -> Value {
        let both = self.products.contains(&a) && self.products.contains(&b);
        if both { self.hidden(b) } else { b }
    }

    /// The upper 12 bits of the fraction, and the others.
    fn halves(&mut self, x: Value) -> [Value; 2] {
        if let Some(&x) = self.constants.get(&x) {
            let high = f32::from_bits((x as f32).to_bits() & UPPER as u32);
            return [self.float(high), self.float(x as f32 - high)];
        }
        let bits = self.op(Op::Bitcast, Type::U32, &[x]);
        let mask = self.op(Op::Const(UPPER), Type::U32, &[]);
        let bits = self.op(Op::And, Type::U32, &[bits, mask]);
        let high = self.real(Op::Bitcast, &[bits]);
        [high, self.from(Guard::Inner, x, high)]
    }

    /// The same number with the low part at most half of the last place of the high one, if it was not much larger
    /// before (Dekker's sum of three operations).
    pub fn in_order(&mut self, Pair { hi, lo, .. }: Pair) -> Pair {
        let sum = self.real(Op::Add, &[hi, lo]);
        let kept = self.minus(sum, hi);
        Pair { hi: sum, lo: self.from(Guard::Inner, lo, kept), ordered: true }
    }

    /// The number rounded.
    pub fn single(&mut self, pair: Pair) -> Value {
        if pair.ordered { pair.hi } else { self.real(Op::Add, &[pair.hi, pair.lo]) }
    }

    /// The number rounded to a type of floats. To those of 16 bits by way of a single whose last bit is set where something was
    /// cut off, which makes the second rounding right (Boldo and Melquiond, *When double rounding is odd*, 2005).
    pub fn narrowed(&mut self, pair: Pair, ty: Type) -> Value {
        if ty == Type::F32 {
            return self.single(pair);
        }
        let Pair { hi, lo, .. } = if pair.ordered { pair } else { self.in_order(pair) };
        let bits = self.op(Op::Bitcast, Type::U32, &[hi]);
        let [none, one, back] = [0, 1, u32::MAX].map(|x| self.op(Op::Const(x.into()), Type::U32, &[]));
        let zero = self.float(0.0);
        // Of the two singles around the number, the other one: further from zero where both parts have one sign.
        let [above, below, positive] = [(lo, Cmp::Gt), (lo, Cmp::Lt), (hi, Cmp::Gt)]
            .map(|(x, cmp)| self.op(Op::Cmp(cmp), Type::Bool, &[x, zero]));
        let up = self.op(Op::Select, Type::U32, &[positive, one, back]);
        let down = self.op(Op::Select, Type::U32, &[positive, back, one]);
        let step = self.op(Op::Select, Type::U32, &[below, down, none]);
        let step = self.op(Op::Select, Type::U32, &[above, up, step]);
        let last = self.op(Op::And, Type::U32, &[bits, one]);
        let even = self.op(Op::Cmp(Cmp::Eq), Type::Bool, &[last, none]);
        let step = self.op(Op::Select, Type::U32, &[even, step, none]);
        let odd = self.op(Op::Add, Type::U32, &[bits, step]);
        let odd = self.real(Op::Bitcast, &[odd]);
        self.op(Op::Convert, ty, &[odd])
    }

    pub fn constant(&mut self, x: f64) -> Pair {
        let hi = x as f32;
        let lo = (x - f64::from(hi)) as f32;
        Pair { hi: self.float(hi), lo: self.float(lo), ordered: true }
    }

    pub fn negative(&mut self, a: Pair) -> Pair {
        let [hi, lo] = [a.hi, a.lo].map(|part| self.real(Op::Neg, &[part]));
        if self.products.contains(&a.hi) {
            self.products.insert(hi);
        }
        Pair { hi, lo, ..a }
    }

    pub fn sum(&mut self, a: Pair, b: Pair) -> Pair {
        let [hi, error] = self.two_sum(a.hi, b.hi);
        let low = self.real(Op::Add, &[a.lo, b.lo]);
        let lo = self.real(Op::Add, &[error, low]);
        Pair { hi, lo, ordered: false }
    }

    pub fn difference(&mut self, a: Pair, b: Pair) -> Pair {
        let [hi, error] = self.two_difference(a.hi, b.hi);
        let low = self.real(Op::Sub, &[a.lo, b.lo]);
        let lo = self.real(Op::Add, &[error, low]);
        Pair { hi, lo, ordered: false }
    }

    pub fn product(&mut self, a: Pair, b: Pair) -> Pair {
        for (a, b) in [(a, b), (b, a)] {
            // By a power of two both parts are exact.
            if self.constants.get(&b.hi).is_some_and(|&x| is_power_of_two(x)) && self.is_zero(b.lo) {
                let [hi, lo] = [a.hi, a.lo].map(|part| self.real(Op::Mul, &[part, b.hi]));
                self.products.insert(hi);
                return Pair { hi, lo, ..a };
            }
        }
        let [hi, mut lo] = self.two_product(a.hi, b.hi);
        self.products.insert(hi);
        for (low, high) in [(b.lo, a.hi), (a.lo, b.hi)] {
            lo = if self.is_zero(low) { lo } else { self.real(Op::Fma, &[low, high, lo]) };
        }
        Pair { hi, lo, ordered: false }
    }

    /// In order: in long chains of these the low part would grow.
    pub fn product_sum(&mut self, a: Pair, b: Pair, c: Pair) -> Pair {
        let product = self.product(a, b);
        let sum = self.sum(product, c);
        self.in_order(sum)
    }

    /// `a / b`. What the rounded quotient leaves is divided again, twice: shading languages allow it errors of some units
    /// in the last place.
    pub fn quotient(&mut self, a: Pair, b: Pair) -> Pair {
        let b = if b.ordered { b } else { self.in_order(b) };
        let zero = self.float(0.0);
        let mut all = Pair { hi: self.real(Op::Div, &[a.hi, b.hi]), lo: zero, ordered: true };
        for _ in 0..2 {
            let taken = self.product(all, b);
            let rest = self.difference(a, taken);
            let rest = self.single(rest);
            let hi = self.real(Op::Div, &[rest, b.hi]);
            let sum = self.sum(all, Pair { hi, lo: zero, ordered: true });
            all = self.in_order(sum);
        }
        all
    }

    /// The square root: two means of what was found and of the number divided by it (Heron), each of which squares the
    /// relative error.
    pub fn root(&mut self, a: Pair) -> Pair {
        let a = if a.ordered { a } else { self.in_order(a) };
        let (zero, half) = (self.float(0.0), self.constant(0.5));
        let first = Pair { hi: self.real(Op::Sqrt, &[a.hi]), lo: zero, ordered: true };
        let mut all = first;
        for _ in 0..2 {
            let other = self.quotient(a, all);
            let sum = self.sum(all, other);
            let sum = self.in_order(sum);
            all = self.product(sum, half);
        }
        // Nothing is divided by the root of zero.
        let positive = self.op(Op::Cmp(Cmp::Gt), Type::Bool, &[a.hi, zero]);
        self.chosen(positive, all, first)
    }

    fn is_zero(&self, value: Value) -> bool {
        self.constants.get(&value) == Some(&0.0)
    }

    pub fn chosen(&mut self, on: Value, a: Pair, b: Pair) -> Pair {
        let [hi, lo] = [(a.hi, b.hi), (a.lo, b.lo)].map(|(a, b)| self.real(Op::Select, &[on, a, b]));
        Pair { hi, lo, ordered: a.ordered && b.ordered }
    }

    /// Compares by the sign of the difference, which is right to the last bit of both.
    pub fn compared(&mut self, cmp: Cmp, a: Pair, b: Pair) -> Value {
        let difference = self.difference(a, b);
        let difference = self.single(difference);
        let zero = self.float(0.0);
        self.op(Op::Cmp(cmp), Type::Bool, &[difference, zero])
    }

    /// A number of another type, exactly but for 64-bit integers; `None` for what is no number.
    pub fn widened(&mut self, a: Value) -> Option<Pair> {
        match self.ty(a) {
            Type::F32 => Some(Pair { hi: a, lo: self.float(0.0), ordered: true }),
            Type::F16 | Type::Bf16 => {
                Some(Pair { hi: self.real(Op::Convert, &[a]), lo: self.float(0.0), ordered: true })
            }
            ty @ (Type::U32 | Type::I32) => {
                let (half, mask) =
                    (self.op(Op::Const(16), Type::U32, &[]), self.op(Op::Const(0xFFFF), ty, &[]));
                let high = self.op(Op::Shr, ty, &[a, half]);
                let low = self.op(Op::And, ty, &[a, mask]);
                let [high, low] = [high, low].map(|part| self.real(Op::Convert, &[part]));
                let scale = self.float(65536.0);
                let hi = self.real(Op::Mul, &[high, scale]);
                Some(self.in_order(Pair { hi, lo: low, ordered: false }))
            }
            Type::U64 => {
                let half = self.op(Op::Const(32), Type::U32, &[]);
                let high = self.op(Op::Shr, Type::U64, &[a, half]);
                let [high, low] = [high, a].map(|part| self.op(Op::Convert, Type::U32, &[part]));
                let (high, low) = (self.widened(high)?, self.widened(low)?);
                let scale = self.constant(4_294_967_296.0);
                let high = self.product(high, scale);
                Some(self.sum(high, low))
            }
            _ => None,
        }
    }
}

fn is_power_of_two(x: f64) -> bool {
    const FRACTION: u64 = (1 << 52) - 1;
    x != 0.0 && x.to_bits() & FRACTION == 0
}
