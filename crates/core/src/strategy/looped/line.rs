//! Lines in shared memory, whose stages of one radix are a loop.

use super::butterfly::Butterfly;
use super::shares::TileKernel;
use crate::kernel::{Op, Value};
use crate::math::factor::factorise;
use crate::strategy::code::{Code, View};

/// A line: its points are `inner` apart.
pub(super) struct Line {
    /// Points.
    pub n: u64,
    /// Distance of neighbours.
    pub inner: u64,
    /// Radices in the order of the stages there, and how many stages each has.
    pub radices: Vec<(u64, u32)>,
    /// The n powers of the root of a transform of n points.
    pub roots: View,
}

/// The radices of a length's stages, and how many each has: twos by pairs, the many first.
pub(super) fn radices(n: u64) -> Vec<(u64, u32)> {
    let mut all = Vec::new();
    for (prime, exponent) in factorise(n) {
        let pairs = if prime == 2 { exponent / 2 } else { 0 };
        all.extend([(4, pairs), (prime, exponent - 2 * pairs)]);
    }
    all.retain(|&(_, count)| count > 0);
    all
}

/// The largest of them.
pub(super) fn largest(n: u64) -> u64 {
    radices(n).iter().map(|&(radix, _)| radix).max().unwrap_or(1)
}

/// Which way stages go: from points in order to frequencies whose digits are reversed, or from such points to frequencies in
/// order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decimation {
    /// Factors after each butterfly.
    Frequency,
    /// Factors before it.
    Time,
}

/// The threads that share a tile.
#[derive(Debug, Clone, Copy)]
pub(super) struct Crew {
    /// Index of the thread among them.
    pub index: Value,
    /// How many they are.
    pub count: u32,
}

impl Line {
    /// Where a frequency stands after the stages by decimation in frequency: digit by digit, the first stage's is the
    /// fastest of the frequency and the slowest of the place.
    pub fn place(&self, c: &mut Code, frequency: Value) -> Value {
        let mut rest = frequency;
        let mut place = c.u32(0);
        let mut distance = self.n;
        for &(radix, count) in &self.radices {
            let now = c.u32(distance as u32);
            [rest, place, _] = turns(c, count, [rest, place, now], |c, [rest, place, distance]| {
                let distance = c.div_const(distance, radix as u32, self.n);
                let [own, rest] = c.split(rest, radix, self.n - 1);
                let own = c.mul(own, distance);
                [rest, c.add(place, own), distance]
            });
            distance /= radix.pow(count);
        }
        place
    }
}

impl TileKernel {
    /// All stages of the lines along an axis of a tile of so many points, with a barrier before each.
    pub fn stages(&mut self, line: &Line, points: u64, decimation: Decimation) {
        let mut done = 1;
        let mut groups = Vec::new();
        for &(radix, count) in &line.radices {
            groups.push((radix, count, done));
            done *= radix.pow(count);
        }
        if decimation == Decimation::Time {
            groups.reverse();
        }
        for (radix, count, done) in groups {
            // How far apart a butterfly's points are, and by how much exponents are multiplied, in the first of the stages.
            let first = if decimation == Decimation::Time { done * radix.pow(count - 1) } else { done };
            let [apart, step] = [line.n / first / radix, first].map(|x| self.code.u32(x as u32));
            turns(self, count, [apart, step], |own, [apart, step]| {
                own.barrier();
                own.stage(line, points, radix, [apart, step], decimation);
                let c = &mut own.code;
                match decimation {
                    Decimation::Frequency => {
                        [c.div_const(apart, radix as u32, line.n), c.mul_const(step, radix)]
                    }
                    Decimation::Time => [c.mul_const(apart, radix), c.div_const(step, radix as u32, line.n)],
                }
            });
        }
    }

    /// One stage: the points of each butterfly are so many apart, and the factor of the second at a place is the root's power of
    /// that place times `step`.
    fn stage(
        &mut self,
        line: &Line,
        points: u64,
        radix: u64,
        [apart, step]: [Value; 2],
        decimation: Decimation,
    ) {
        let Line { n, inner, roots, .. } = *line;
        self.repeat(points / radix, |own, item| {
            let c = &mut own.code;
            let [column, rest] = c.split(item, inner, points - 1);
            let row = c.binary(Op::Div, rest, apart);
            let before = c.mul(row, apart);
            let place = c.sub(rest, before);
            let start = c.mul_const(before, radix);
            let start = c.add(start, place);
            let start = c.mul_const(start, inner);
            let start = c.add(start, column);
            let power = c.mul(place, step);
            let distance = c.mul_const(apart, inner);
            Butterfly { tile: &own.tile, radix, start, distance, roots, n, power }.run(c, decimation);
        });
    }
}

/// Calls `body` so many times, each time with what it gave before: once without a loop.
fn turns<C: AsMut<Code>, const N: usize>(
    context: &mut C,
    count: u32,
    first: [Value; N],
    body: impl FnOnce(&mut C, [Value; N]) -> [Value; N],
) -> [Value; N] {
    if count == 1 {
        return body(context, first);
    }
    let c = context.as_mut();
    let range = [0, count, 1].map(|x| c.u32(x));
    let (_, carried) = c.open_loop(&first);
    let mut carried = carried.into_iter();
    let next = body(context, first.map(|own| carried.next().unwrap_or(own)));
    let mut last = context.as_mut().close_loop(range, &first, next.to_vec()).into_iter();
    first.map(|own| last.next().unwrap_or(own))
}

impl AsMut<Code> for Code {
    fn as_mut(&mut self) -> &mut Code {
        self
    }
}

impl AsMut<Code> for TileKernel {
    fn as_mut(&mut self) -> &mut Code {
        &mut self.code
    }
}
