//! `matmul-tensor`: products with the matrix W of factors by matrix instructions.
//!
//! As [`matmul`](super::matmul) of Mitra, Srinivasan, *Small discrete Fourier transforms on GPUs*, 2011, on hardware that came
//! after the paper. With a transform in each row of X, all of them are `X W`: a warp has a few rows of X, and a few columns of
//! W, of which it makes four real products. A block has as many warps as columns ask for; W's factors come from a table that
//! is only read.
//!
//! In double precision the instruction takes doubles. In single precision it takes 11 bits of a number (tf32) and sums in
//! f32: each number is split in two such parts, rounded to nearest, and three products of the four make the sum (as in
//! CUTLASS's emulation of f32). What the fourth would add, and what the second part drops, is about 2^-22 of a product: four
//! units of f32, which is why its errors may be larger than those of `matmul`. What memory keeps as f16 or bf16 goes into
//! instructions of those (`halves`).

mod halves;

use super::code::{Code, View};
use super::cooley_tukey_iterative::SOURCE;
use super::draft::Draft;
use super::matmul::LONGEST;
use super::packed::Packed;
use super::{Algorithm, Facts, product};
use crate::error::Error;
use crate::kernel::{Ability, Cmp, Cx, MmaShape, Op, Special, Type, Value};
use crate::pass::TableKind;
use crate::problem::{Precision, Storage};

/// The strategy.
pub(super) struct MatmulTensor;

/// Columns of a matrix instruction's result.
const COLUMNS: u64 = 8;

/// Results of a warp at most: each has its sums in registers.
const MOST_TILES: u64 = 4;

/// Threads that execute a matrix instruction together.
const WARP: u64 = 32;

/// How many times as large errors may be for the parts that are dropped in single precision.
const DROPPED: f64 = 4.0;

impl Algorithm for MatmulTensor {
    fn facts(&self) -> Facts {
        Facts {
            name: "matmul-tensor",
            source: SOURCE,
            about: "products with the matrix of factors by matrix instructions, of doubles, of singles in two parts, or of f16 or bf16",
            covers: "multiples of 8 from 8 to 128, in one dimension, f64, f32, or both sides in f16 or bf16, on NVIDIA GPUs from compute capability 8.0 on",
        }
    }

    fn covers(&self, packed: &Packed) -> bool {
        packed.line().is_some_and(|n| n <= LONGEST && n.is_multiple_of(COLUMNS))
    }

    fn keeps(&self, packed: &Packed) -> bool {
        let halves = [Storage::F16, Storage::Bf16].iter().any(|&half| packed.stored == [half; 2]);
        packed.kept_as_computed() || (halves && packed.precision == Precision::F32)
    }

    fn errors(&self, packed: &Packed) -> f64 {
        let dropped = if packed.precision == Precision::F32 { DROPPED } else { 1.0 };
        dropped * product::errors(packed)
    }

    fn write(&self, draft: &mut Draft<'_>) -> Result<(), Error> {
        let shape = match draft.packed.stored[0] {
            Storage::F16 => MmaShape::M16N8K16F16,
            Storage::Bf16 => MmaShape::M16N8K16Bf16,
            Storage::F32 => MmaShape::M16N8K8Tf32,
            Storage::F64 => MmaShape::M8N8K4F64,
        };
        let halves = matches!(shape, MmaShape::M16N8K16F16 | MmaShape::M16N8K16Bf16);
        if !Ability::Matrices(shape).is_within(draft.limits) {
            return Err(Error::Unsupported {
                what: Ability::Matrices(shape).name().into(),
                device: draft.limits.name.clone(),
                would_work: "use the strategy matmul, or an NVIDIA GPU of compute capability 8.0 or later"
                    .into(),
            });
        }
        let (n, batch) = (draft.packed.points(), draft.packed.batch);
        let tiles = n / COLUMNS;
        let most = if halves { halves::MOST_TILES } else { MOST_TILES };
        let own = (1..=most).rev().find(|&own| tiles.is_multiple_of(own)).unwrap_or(1);
        let table = draft.table(TableKind::Roots { modulus: n, step: 1, len: n });
        let rows = match shape {
            _ if halves => halves::BLOCK_ROWS,
            MmaShape::M8N8K4F64 => 8,
            _ => 16,
        };
        let threads = (tiles / own * WARP) as u32;
        let mut code = draft.kernel(&format!("tensor_{n}"), threads, batch.div_ceil(rows))?;
        let sides = [draft.input(), draft.output()];
        let c = &mut code;
        let views = c.pair(sides);
        let table = c.table(table);
        let (block, thread) = (c.special(Special::BlockIndex), c.special(Special::ThreadIndex));
        let [lane, warp] = c.split(thread, WARP, u64::from(threads) - 1);
        let [member, group] = c.split(lane, 4, WARP - 1);
        let first_row = c.mul_const(block, rows);
        let first_column = c.mul_const(warp, own * COLUMNS);
        if halves {
            halves::Warp { n, batch, shape, own, views, table, member, group, first_row, first_column }
                .write(c, draft.scale());
            return draft.launch(code);
        }
        let first_row = c.add(first_row, group);
        Warp { n, batch, shape, own, views, table, member, group, first_row, first_column }
            .write(c, draft.scale());
        draft.launch(code)
    }
}

/// A warp's part of the product.
struct Warp {
    n: u64,
    batch: u64,
    shape: MmaShape,
    /// Results of eight columns.
    own: u64,
    views: [View; 2],
    table: View,
    /// The thread's place in fours, and which four it is in.
    member: Value,
    group: Value,
    first_row: Value,
    first_column: Value,
}

/// A number's parts, the larger one first; one where the instruction takes all of it.
type Parts = Vec<Value>;

impl Warp {
    fn single(&self) -> bool {
        self.shape == MmaShape::M16N8K8Tf32
    }

    /// Registers of a thread for a result.
    fn registers(&self) -> usize {
        if self.single() { 4 } else { 2 }
    }

    fn write(&self, c: &mut Code, scale: f64) {
        let elem = c.elem;
        let nothing = c.float(elem, 0.0);
        let init = vec![nothing; 2 * self.registers() * self.own as usize];
        let depth = if self.single() { 8 } else { 4 };
        let (zero, end, step) = (c.u32(0), c.u32(self.n as u32), c.u32(depth));
        let (k, carried) = c.open_loop(&init);
        let sums = self.step(c, k, carried);
        let sums = c.close_loop([zero, end, step], &init, sums);
        // In place, all have read before one writes.
        c.barrier();
        self.store(c, &sums, scale);
    }

    /// Sums with the products of a few points of each row.
    fn step(&self, c: &mut Code, k: Value, mut sums: Vec<Value>) -> Vec<Value> {
        // Rows of neighbours, and then points four further on.
        let places: &[(u64, u64)] = if self.single() { &[(0, 0), (8, 0), (0, 4), (8, 4)] } else { &[(0, 0)] };
        let point = c.add(k, self.member);
        let x: Vec<Cx> = places
            .iter()
            .map(|&(row, further)| {
                let (start, inside) = self.row(c, row);
                let at = c.add(start, point);
                let at = c.add_const(at, further);
                c.only(inside, |c| c.load(self.views[0], at))
            })
            .collect();
        let minus: Vec<Value> = x.iter().map(|x| c.neg(x.im)).collect();
        let [re, im, minus] = [x.iter().map(|x| x.re).collect(), x.iter().map(|x| x.im).collect(), minus]
            .map(|values: Vec<Value>| self.parts(c, &values));
        let registers = self.registers();
        for tile in 0..self.own {
            let column = c.add_const(self.first_column, tile * COLUMNS);
            let column = c.add(column, self.group);
            let further: &[u64] = if self.single() { &[0, 4] } else { &[0] };
            let w: Vec<Cx> = further
                .iter()
                .map(|&further| {
                    let row = c.add_const(point, further);
                    let power = c.mul(row, column);
                    let power = c.rem_const(power, self.n as u32, self.n * self.n);
                    c.factor(self.table, power)
                })
                .collect();
            let [w_re, w_im] = [w.iter().map(|w| w.re).collect(), w.iter().map(|w| w.im).collect()]
                .map(|values: Vec<Value>| self.parts(c, &values));
            for (part, pairs) in
                [[(&re, &w_re), (&minus, &w_im)], [(&re, &w_im), (&im, &w_re)]].iter().enumerate()
            {
                let first = (2 * tile as usize + part) * registers;
                for (a, b) in pairs {
                    let sum = self.product(c, a, b, sums[first..first + registers].to_vec());
                    sums[first..first + registers].copy_from_slice(&sum);
                }
            }
        }
        sums
    }

    /// Where the row that lies so many below the thread's first begins, and whether it is there, if not always.
    fn row(&self, c: &mut Code, below: u64) -> (Value, Option<Value>) {
        let rows = if self.single() { 16 } else { 8 };
        let row = c.add_const(self.first_row, below);
        let inside = (!self.batch.is_multiple_of(rows)).then(|| {
            let end = c.u32(self.batch as u32);
            c.cmp(Cmp::Lt, row, end)
        });
        (c.mul_const(row, self.n), inside)
    }

    /// Registers of a matrix as the instruction takes them: larger parts, and smaller ones.
    fn parts(&self, c: &mut Code, values: &[Value]) -> Vec<Parts> {
        if !self.single() {
            return vec![values.to_vec()];
        }
        let large: Parts = values.iter().map(|&x| rounded(c, x)).collect();
        let small = values.iter().zip(&large).map(|(&x, &large)| {
            let rest = c.sub(x, large);
            rounded(c, rest)
        });
        let small = small.collect();
        vec![large, small]
    }

    /// `sum + a b`, the smallest products first.
    fn product(&self, c: &mut Code, a: &[Parts], b: &[Parts], mut sum: Vec<Value>) -> Vec<Value> {
        let pairs: &[(usize, usize)] = if self.single() { &[(1, 0), (0, 1), (0, 0)] } else { &[(0, 0)] };
        for &(left, right) in pairs {
            let args = [&a[left][..], &b[right][..], &sum[..]].concat();
            let types = vec![c.elem; sum.len()];
            sum = c.impure(Op::Mma(self.shape), &args, &types);
        }
        sum
    }

    /// Writes what came of all: a thread has neighbouring columns of one row, or of two.
    fn store(&self, c: &mut Code, sums: &[Value], scale: f64) {
        let registers = self.registers();
        let own_column = c.mul_const(self.member, 2);
        for tile in 0..self.own as usize {
            let start = 2 * tile * registers;
            let (re, im) = (&sums[start..start + registers], &sums[start + registers..start + 2 * registers]);
            for (i, (&re, &im)) in re.iter().zip(im).enumerate() {
                let (row, inside) = self.row(c, 8 * (i as u64 / 2));
                let column = c.add_const(self.first_column, tile as u64 * COLUMNS + i as u64 % 2);
                let column = c.add(column, own_column);
                let at = c.add(row, column);
                let z = c.cscale(Cx { re, im }, scale);
                c.only(inside, |c| c.store(self.views[1], at, z));
            }
        }
    }
}

/// The nearest number of 11 bits, as matrix instructions take it: half a step more, and the rest cut off.
fn rounded(c: &mut Code, x: Value) -> Value {
    let bits = c.pure(Op::Bitcast, Type::U32, &[x]);
    let bits = c.add_const(bits, 0x1000);
    let mask = c.u32(!0x1fff);
    let bits = c.binary(Op::And, bits, mask);
    c.pure(Op::Bitcast, Type::F32, &[bits])
}
