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

use super::code::{Code, View};
use super::draft::{Array, Draft};
use super::packed::Packed;
use super::radix_2::{butterfly, factors};
use super::{Algorithm, Facts};
use crate::error::Error;
use crate::kernel::{Cmp, Cx, Value};

/// Title, authors, year.
pub(super) const SOURCE: &str =
    "Lloyd, Boyd, Govindaraju, Fast computation of general Fourier transforms on GPUs (2008)";

/// The strategy.
pub(super) struct Stockham2;

impl Algorithm for Stockham2 {
    fn facts(&self) -> Facts {
        Facts {
            name: "stockham-2",
            source: SOURCE,
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
        self.stage_between(draft, stage, sides, [Rows::Points { pitch: self.n }; 2], scale, forward)
    }

    /// The same, between rows that lie in that way.
    pub fn stage_between(
        &self,
        draft: &mut Draft<'_>,
        stage: u32,
        sides: [Array; 2],
        rows: [Rows; 2],
        scale: f64,
        forward: bool,
    ) -> Result<(), Error> {
        let half = self.n / 2;
        let table = draft.table(factors(self.n));
        let butterflies = self.count * half;
        let way = if forward { "" } else { "back_" };
        let [read, written] = rows.map(|rows| rows.name(self.n));
        let name = format!("stockham_{way}{}_by_{}{read}{written}_stage_{stage}", self.n, self.inner);
        let (mut code, item) = draft.each(&name, butterflies)?;
        let c: &mut Code = &mut code;
        c.forward = forward;
        let [from, to] = c.pair(sides);
        let table = c.table(table);
        // A thread's neighbours take the same butterfly of neighbouring lines, where these lie side by side.
        let most = butterflies + u64::from(c.threads);
        let [column, rest] = c.split(item, self.inner, most);
        let [j, row] = c.split(rest, half, most);
        let [k, done] = c.split(j, 1 << stage, half - 1);
        let exponent = c.mul_const(k, half >> stage);
        let w = c.factor(table, exponent);
        let place = |row, point| Place { row, point, column, inner: self.inner };
        let points = [0, half].map(|beyond| rows[0].load(c, from, place(row, j), beyond));
        let points = butterfly(c, points, w);
        let first = c.mul_const(done, 2 << stage);
        let first = c.add(first, k);
        for (beyond, z) in [0, 1 << stage].into_iter().zip(points) {
            let z = c.cscale(z, scale);
            rows[1].store(c, to, place(row, first), beyond, z);
        }
        draft.launch(code)
    }
}

/// How rows of lines lie in an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rows {
    /// As complex numbers, from one row to the next so many.
    Points {
        /// Their distance.
        pitch: u64,
    },
    /// As reals: every two rows are the real and the imaginary parts of a line, whose columns are one. Of an odd number the
    /// last one has no imaginary part.
    Pairs {
        /// Reals from one row to the next.
        pitch: u64,
        /// Rows of reals.
        rows: u64,
    },
}

/// A point of a line.
#[derive(Clone, Copy)]
struct Place {
    row: Value,
    point: Value,
    column: Value,
    inner: u64,
}

impl Rows {
    /// What it adds to a kernel's name, where rows do not lie one after the other.
    fn name(self, n: u64) -> String {
        match self {
            Self::Points { pitch } if pitch == n => String::new(),
            Self::Points { pitch } => format!("_every_{pitch}"),
            Self::Pairs { pitch, rows } => format!("_{rows}_reals_{pitch}"),
        }
    }

    /// The point that lies so many beyond that one.
    fn load(self, c: &mut Code, from: View, place: Place, beyond: u64) -> Cx {
        match self {
            Self::Points { pitch } => {
                let at = place.index(c, pitch, beyond);
                c.load(from, at)
            }
            Self::Pairs { pitch, rows } => {
                let start = c.mul_const(place.row, pitch);
                let [re, im] = [0, pitch].map(|row| c.add_const(place.point, beyond + row));
                let re = c.load_real(from, start, re);
                let second = second(c, place.row, rows);
                Cx { re, im: c.only(second, |c| c.load_real(from, start, im)) }
            }
        }
    }

    /// Writes it.
    fn store(self, c: &mut Code, to: View, place: Place, beyond: u64, z: Cx) {
        match self {
            Self::Points { pitch } => {
                let at = place.index(c, pitch, beyond);
                c.store(to, at, z);
            }
            Self::Pairs { pitch, rows } => {
                let start = c.mul_const(place.row, pitch);
                let [re, im] = [0, pitch].map(|row| c.add_const(place.point, beyond + row));
                c.store_real(to, start, re, z.re);
                let second = second(c, place.row, rows);
                c.only(second, |c| c.store_real(to, start, im, z.im));
            }
        }
    }
}

impl Place {
    fn index(self, c: &mut Code, pitch: u64, beyond: u64) -> Value {
        let row = c.mul_const(self.row, pitch);
        let point = c.add(row, self.point);
        let point = c.add_const(point, beyond);
        let at = c.mul_const(point, self.inner);
        c.add(at, self.column)
    }
}

/// Whether a pair of so many rows has a second one; `None`: all have.
pub(super) fn second(c: &mut Code, pair: Value, rows: u64) -> Option<Value> {
    (!rows.is_multiple_of(2)).then(|| {
        let alone = c.u32((rows / 2) as u32);
        c.cmp(Cmp::Lt, pair, alone)
    })
}
