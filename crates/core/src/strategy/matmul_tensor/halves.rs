//! The product of numbers of 16 bits, by the instruction that takes pairs of them and sums in f32.
//!
//! A complex number in memory is such a pair, and the real and imaginary parts of `x w` are products of the pair (re x, im x)
//! with the pairs (re w, -im w) and (im w, re w): a row of X goes into the instruction as it lies in memory, eight points at
//! once. Factors, which are not numbers of 16 bits, are split in two that are: 22 bits of f16 or 16 of bf16, some 2^11 or
//! 2^8 times finer than what the points and the results are kept as.

use super::super::code::{Code, View};
use crate::kernel::{Cmp, Cx, MmaShape, Op, Type, Value};

/// Rows of an instruction.
const ROWS: u64 = 16;
/// Instructions one below the other, which share their factors.
const DEEP: u64 = 4;
/// Rows of a block.
pub(super) const BLOCK_ROWS: u64 = ROWS * DEEP;
/// Results side by side of a warp at most.
pub(super) const MOST_TILES: u64 = 2;
/// Points of a row in one instruction.
const POINTS: u64 = 8;
/// Columns of an instruction.
const COLUMNS: u64 = 8;
/// Registers of a thread for a result.
const REGISTERS: usize = 4;

/// A warp's part of the product.
pub(super) struct Warp {
    pub n: u64,
    pub batch: u64,
    pub shape: MmaShape,
    /// Results side by side.
    pub own: u64,
    pub views: [View; 2],
    pub table: View,
    /// The thread's place in fours, and which four it is in.
    pub member: Value,
    pub group: Value,
    /// The block's first row, and the warp's first column.
    pub first_row: Value,
    pub first_column: Value,
}

impl Warp {
    pub fn write(&self, c: &mut Code, scale: f64) {
        let nothing = c.float(Type::F32, 0.0);
        let init = vec![nothing; 2 * REGISTERS * (self.own * DEEP) as usize];
        let range = [0, self.n as u32, POINTS as u32].map(|x| c.u32(x));
        let (k, carried) = c.open_loop(&init);
        let sums = self.step(c, k, carried);
        let sums = c.close_loop(range, &init, sums);
        // In place, all have read before one writes.
        c.barrier();
        self.store(c, &sums, scale);
    }

    /// Where the row that lies so many below the thread's first begins, and whether it is there, if not always.
    fn row(&self, c: &mut Code, below: u64) -> (Value, Option<Value>) {
        let row = c.add(self.first_row, self.group);
        let row = c.add_const(row, below);
        let inside = (!self.batch.is_multiple_of(BLOCK_ROWS)).then(|| {
            let end = c.u32(self.batch as u32);
            c.cmp(Cmp::Lt, row, end)
        });
        (c.mul_const(row, self.n), inside)
    }

    /// Sums with the products of eight points of each row.
    fn step(&self, c: &mut Code, k: Value, mut sums: Vec<Value>) -> Vec<Value> {
        let point = c.add(k, self.member);
        // Rows eight apart, and then points four apart, as the instruction takes them.
        let pair = |c: &mut Code, below: u64, further: u64| {
            let (start, inside) = self.row(c, below);
            let at = c.add(start, point);
            let at = c.add_const(at, further);
            let x = c.only(inside, |c| c.load_kept(self.views[0], at));
            c.pure(Op::Pack, Type::U32, &x)
        };
        let x: Vec<[Value; 4]> = (0..DEEP)
            .map(|deep| [(0, 0), (8, 0), (0, 4), (8, 4)].map(|(row, more)| pair(c, ROWS * deep + row, more)))
            .collect();
        for tile in 0..self.own {
            let column = c.add_const(self.first_column, tile * COLUMNS);
            let column = c.add(column, self.group);
            let [near, far] = [0, 4].map(|further| {
                let row = c.add_const(point, further);
                let power = c.mul(row, column);
                let power = c.rem_const(power, self.n as u32, self.n * self.n);
                let w = c.factor(self.table, power);
                self.parts(c, w)
            });
            for (deep, x) in x.iter().enumerate() {
                for part in 0..2 {
                    let first = (2 * (deep + tile as usize * DEEP as usize) + part) * REGISTERS;
                    // The smaller products first.
                    for fine in [1, 0] {
                        let own = &mut sums[first..first + REGISTERS];
                        let args = [&x[..], &[near[fine][part], far[fine][part]], own].concat();
                        let sum = c.impure(Op::Mma(self.shape), &args, &[Type::F32; REGISTERS]);
                        own.copy_from_slice(&sum);
                    }
                }
            }
        }
        sums
    }

    /// What the real and the imaginary part of a product take of a factor: of its larger part, and of its smaller one.
    fn parts(&self, c: &mut Code, w: Cx) -> [[Value; 2]; 2] {
        let half = if self.shape == MmaShape::M16N8K16F16 { Type::F16 } else { Type::Bf16 };
        let minus = c.neg(w.im);
        let split = [w.re, w.im, minus].map(|x| {
            let large = c.convert(half, x);
            let back = c.convert(Type::F32, large);
            let rest = c.sub(x, back);
            [large, c.convert(half, rest)]
        });
        let [re, im, minus] = split;
        [0, 1].map(|fine| {
            [[re[fine], minus[fine]], [im[fine], re[fine]]].map(|pair| c.pure(Op::Pack, Type::U32, &pair))
        })
    }

    /// Writes what came of all: a thread has two neighbouring columns of two rows of each result.
    fn store(&self, c: &mut Code, sums: &[Value], scale: f64) {
        let own_column = c.mul_const(self.member, 2);
        let own_column = c.add(self.first_column, own_column);
        for deep in 0..DEEP {
            for i in 0..REGISTERS {
                let (row, inside) = self.row(c, ROWS * deep + 8 * (i as u64 / 2));
                for tile in 0..self.own {
                    let first = 2 * REGISTERS * (deep + tile * DEEP) as usize;
                    let column = c.add_const(own_column, tile * COLUMNS + i as u64 % 2);
                    let at = c.add(row, column);
                    let z = Cx { re: sums[first + i], im: sums[first + REGISTERS + i] };
                    let z = c.cscale(z, scale);
                    c.only(inside, |c| c.store(self.views[1], at, z));
                }
            }
        }
    }
}
