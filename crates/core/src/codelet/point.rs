//! Points whose factors are not multiplied yet. A sum and a difference take them in as fused products, which saves a
//! third of the arithmetic of a rotation (Linzer and Feig, *Implementation of efficient FFT algorithms on fused
//! multiply-add architectures*, 1993).

use crate::kernel::{Builder, Cx};
use crate::math::twiddle;
use crate::problem::Direction;

/// The value `by * w * x`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Point {
    x: Cx,
    by: f64,
    /// A factor that is known when the kernel runs; `None`: 1.
    w: Option<Cx>,
}

impl Point {
    pub fn new(x: Cx, w: Option<Cx>) -> Self {
        Self { x, by: 1.0, w }
    }

    /// Bytes of its real part.
    pub fn bytes(self, b: &Builder) -> u32 {
        b.ty(self.x.re).bytes()
    }

    /// The value itself.
    pub fn value(self, b: &mut Builder) -> Cx {
        let x = self.w.map_or(self.x, |w| b.cmul(self.x, w));
        if self.by == 1.0 { x } else { b.cscale(x, self.by) }
    }

    /// The same value without a factor that is known only when the kernel runs.
    fn multiplied(self, b: &mut Builder) -> Self {
        let x = self.w.map_or(self.x, |w| b.cmul(self.x, w));
        Self { x, w: None, ..self }
    }

    /// Times a real constant.
    pub fn times(self, factor: f64) -> Self {
        Self { by: self.by * factor, ..self }
    }

    /// `self + factor * other`, for a real factor.
    pub fn plus(self, b: &mut Builder, factor: f64, other: Self) -> Self {
        let (one, other) = (self.multiplied(b), other.multiplied(b));
        let ratio = factor * other.by / one.by;
        let x = if ratio == 1.0 {
            b.cadd(one.x, other.x)
        } else if ratio == -1.0 {
            b.csub(one.x, other.x)
        } else {
            let ty = b.ty(one.x.re);
            let ratio = b.float(ty, ratio);
            Cx { re: b.fma(other.x.re, ratio, one.x.re), im: b.fma(other.x.im, ratio, one.x.im) }
        };
        Self { x, ..one }
    }

    /// The sum and the difference.
    pub fn butterfly(self, b: &mut Builder, other: Self) -> [Self; 2] {
        let one = self.multiplied(b);
        match other.w {
            Some(w) if one.by == other.by => {
                // 2 a - (a + w x) is a - w x, for half the products.
                let (a, x) = (one.x, other.x);
                let ty = b.ty(a.re);
                let two = b.float(ty, 2.0);
                let minus = b.neg(x.im);
                let [re, im] = [[a.re, w.re, w.im, minus], [a.im, w.im, w.re, x.im]].map(|[a, v, u, im]| {
                    let part = b.fma(x.re, v, a);
                    let sum = b.fma(im, u, part);
                    let minus = b.neg(sum);
                    [sum, b.fma(a, two, minus)]
                });
                let (sum, difference) = (Cx { re: re[0], im: im[0] }, Cx { re: re[1], im: im[1] });
                [sum, difference].map(|x| Self { x, ..one })
            }
            _ => {
                let other = other.multiplied(b);
                [1.0, -1.0].map(|sign| one.plus(b, sign, other))
            }
        }
    }

    /// Times `i`.
    pub fn turned(self, b: &mut Builder, negative: bool) -> Self {
        let one = self.multiplied(b);
        Self { x: b.cmul_i(one.x, negative), ..one }
    }

    /// Times the constant `exp(-+ 2 pi i k / n)`, as a turn by quarters and `1 + i t` times the larger of sine and
    /// cosine.
    pub fn rotated(self, b: &mut Builder, k: u64, n: u64, direction: Direction) -> Self {
        let k = k % n;
        let one = self.multiplied(b);
        if (4 * k).is_multiple_of(n) {
            let quarters = 4 * k / n;
            let one = if quarters >= 2 { Self { by: -one.by, ..one } } else { one };
            let forward = direction == Direction::Forward;
            return if quarters.is_multiple_of(2) { one } else { one.turned(b, forward) };
        }
        let (cos, sin) = twiddle::root(k, n);
        let sin = if direction == Direction::Forward { sin } else { -sin };
        // An eighth of a turn, in which rounding may tell the two apart.
        let even = (8 * k).is_multiple_of(n);
        if even || cos.abs() > sin.abs() {
            let t = if even { (cos * sin).signum() } else { sin / cos };
            Self { x: skewed(b, one.x, t), by: one.by * cos, w: None }
        } else {
            // cos + i sin = i sin (1 - i cos / sin)
            let x = skewed(b, one.x, -cos / sin);
            Self { x: b.cmul_i(x, false), by: one.by * sin, w: None }
        }
    }
}

/// `x (1 + i t)`.
fn skewed(b: &mut Builder, x: Cx, t: f64) -> Cx {
    if t == 1.0 {
        return Cx { re: b.sub(x.re, x.im), im: b.add(x.im, x.re) };
    }
    if t == -1.0 {
        return Cx { re: b.add(x.re, x.im), im: b.sub(x.im, x.re) };
    }
    let ty = b.ty(x.re);
    let (t, minus) = (b.float(ty, t), b.float(ty, -t));
    Cx { re: b.fma(x.im, minus, x.re), im: b.fma(x.re, t, x.im) }
}
