//! Complex arithmetic, written as pairs of values; the IR knows none.

use super::{Builder, Type, Value};

/// A complex number in registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cx {
    /// Real part.
    pub re: Value,
    /// Imaginary part.
    pub im: Value,
}

impl Builder {
    /// `a + b`.
    pub fn cadd(&mut self, a: Cx, b: Cx) -> Cx {
        Cx { re: self.add(a.re, b.re), im: self.add(a.im, b.im) }
    }

    /// `a - b`.
    pub fn csub(&mut self, a: Cx, b: Cx) -> Cx {
        Cx { re: self.sub(a.re, b.re), im: self.sub(a.im, b.im) }
    }

    /// `a * b`, two products and two fused multiply-adds.
    pub fn cmul(&mut self, a: Cx, b: Cx) -> Cx {
        let minus = self.mul(a.im, b.im);
        let minus = self.neg(minus);
        let cross = self.mul(a.im, b.re);
        Cx { re: self.fma(a.re, b.re, minus), im: self.fma(a.re, b.im, cross) }
    }

    /// The conjugate.
    pub fn conj(&mut self, a: Cx) -> Cx {
        Cx { im: self.neg(a.im), ..a }
    }

    /// `a * i` or `a * -i`.
    pub fn cmul_i(&mut self, a: Cx, negative: bool) -> Cx {
        if negative { Cx { re: a.im, im: self.neg(a.re) } } else { Cx { re: self.neg(a.im), im: a.re } }
    }

    /// `a * s` for a real constant.
    pub fn cscale(&mut self, a: Cx, s: f64) -> Cx {
        let ty = self.ty(a.re);
        let s = self.float(ty, s);
        Cx { re: self.mul(a.re, s), im: self.mul(a.im, s) }
    }

    /// Complex constant.
    pub fn cconst(&mut self, ty: Type, re: f64, im: f64) -> Cx {
        Cx { re: self.float(ty, re), im: self.float(ty, im) }
    }
}
