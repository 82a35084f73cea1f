//! `stockham-2`: Stockham's algorithm by radix 2, a launch for each stage.
//!
//! D. B. Lloyd, C. Boyd, N. Govindaraju, *Fast computation of general Fourier transforms on GPUs*, 2008. A stage reads
//! points half the line apart and writes them where the next one finds them so, which leaves nothing to reorder: with
//! `s` the length that is transformed already and `k = j mod s`,
//!
//! ```text
//! a = x[j], b = x[j + n/2] w(k, 2s);   y[2(j - k) + k] = a + b, y[2(j - k) + k + s] = a - b
//! ```
//!
//! Each thread has one j. The paper's shaders write a point each; here a thread writes both of its butterfly, as the
//! authors' later work does.

use super::code::Code;
use super::draft::{Array, Draft};
use super::packed::Packed;
use super::radix_2::{butterfly, factors};
use super::{Algorithm, Facts};
use crate::error::Error;

/// The strategy.
pub(super) struct Stockham2;

impl Algorithm for Stockham2 {
    fn facts(&self) -> Facts {
        Facts {
            name: "stockham-2",
            source: "Lloyd, Boyd, Govindaraju, Fast computation of general Fourier transforms on GPUs (2008)",
            about: "Stockham's algorithm by radix 2, a launch for each stage, which reorders as it writes",
            covers: "powers of two from 2 on, in any number of dimensions",
        }
    }

    fn covers(&self, packed: &Packed) -> bool {
        packed.powers_of_two()
    }

    fn write(&self, draft: &mut Draft<'_>) -> Result<(), Error> {
        let lines = Lines::of(&draft.packed.shape, draft.packed.batch);
        let stages: u32 = lines.iter().map(|line| line.n.trailing_zeros()).sum();
        let route = draft.route(stages as usize)?;
        let mut left = route.len();
        let mut route = route.into_iter();
        for line in lines {
            for (stage, sides) in (0..line.n.trailing_zeros()).zip(&mut route) {
                left -= 1;
                let scale = if left == 0 { draft.scale() } else { 1.0 };
                line.stage_in(draft, stage, sides, scale, draft.forward())?;
            }
        }
        Ok(())
    }
}

/// Lines along one axis of packed arrays.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lines {
    /// Points of a line.
    pub n: u64,
    /// Distance of neighbours.
    pub inner: u64,
    /// Lines.
    pub count: u64,
}

impl Lines {
    /// Those of each axis, the last one first.
    pub fn of(shape: &[u64], batch: u64) -> Vec<Self> {
        let elements = shape.iter().product::<u64>() * batch;
        let mut inner = 1;
        let mut all = Vec::with_capacity(shape.len());
        for &n in shape.iter().rev() {
            all.push(Self { n, inner, count: elements / n });
            inner *= n;
        }
        all
    }

    /// The launch of one stage, in one direction or the other.
    pub fn stage_in(
        &self,
        draft: &mut Draft<'_>,
        stage: u32,
        sides: [Array; 2],
        scale: f64,
        forward: bool,
    ) -> Result<(), Error> {
        let half = self.n / 2;
        let table = draft.table(factors(self.n));
        let butterflies = self.count * half;
        let way = if forward { "" } else { "back_" };
        let name = format!("stockham_{way}{}_by_{}_stage_{stage}", self.n, self.inner);
        let (mut code, item) = draft.each(&name, butterflies)?;
        let c: &mut Code = &mut code;
        c.forward = forward;
        let [from, to] = c.pair(sides);
        let table = c.table(table);
        // A thread's neighbours take the same butterfly of neighbouring lines, where these lie side by side.
        let most = butterflies + u64::from(c.threads);
        let [column, rest] = c.split(item, self.inner, most);
        let [j, row] = c.split(rest, half, most);
        let row = c.mul_const(row, self.n);
        let [k, done] = c.split(j, 1 << stage, half - 1);
        let exponent = c.mul_const(k, half >> stage);
        let w = c.factor(table, exponent);
        let low = c.add(row, j);
        let high = c.add_const(low, half);
        let points = [low, high].map(|point| {
            let at = c.mul_const(point, self.inner);
            let at = c.add(at, column);
            c.load(from, at)
        });
        let points = butterfly(c, points, w);
        let first = c.mul_const(done, 2 << stage);
        let first = c.add(first, k);
        let first = c.add(row, first);
        let second = c.add_const(first, 1 << stage);
        for (point, z) in [first, second].into_iter().zip(points) {
            let z = c.cscale(z, scale);
            let at = c.mul_const(point, self.inner);
            let at = c.add(at, column);
            c.store(to, at, z);
        }
        draft.launch(code)
    }
}
