//! What the threads of a subgroup do together: shuffles and matrix products.

use half::{bf16, f16};

use super::super::{Inst, MmaShape, ShuffleMode};
use super::column::{Column, Lane};
use super::exec::{Machine, Mask};
use super::fault::Fault;

/// Threads of a warp.
const WARP: usize = 32;

impl Machine<'_> {
    /// First threads of the subgroups that take part, with their lengths; an error where only a part does.
    fn whole_warps(&self, mask: &Mask, size: usize) -> Result<Vec<(usize, usize)>, Fault> {
        let threads = self.kernel.threads as usize;
        let mut warps = Vec::new();
        for first_of_block in (0..mask.lanes.len()).step_by(threads) {
            for offset in (0..threads).step_by(size) {
                let len = size.min(threads - offset);
                let first = first_of_block + offset;
                let lanes = &mask.lanes[first..first + len];
                let Some(here) = lanes.iter().position(|&on| on) else { continue };
                if let Some(missing) = lanes.iter().position(|&on| !on) {
                    let at = self.site(first + here);
                    return Err(Fault::DivergentBarrier { at, missing: (offset + missing) as u32 });
                }
                warps.push((first, len));
            }
        }
        Ok(warps)
    }

    pub(super) fn shuffle(&mut self, inst: &Inst, mode: ShuffleMode, mask: &Mask) -> Result<(), Fault> {
        let by = self.lanes::<u32>(inst, 1)?;
        let mut source: Vec<usize> = (0..mask.lanes.len()).collect();
        for (first, len) in self.whole_warps(mask, self.subgroup)? {
            for own in 0..len {
                let from = match mode {
                    ShuffleMode::Xor => own ^ by[first + own] as usize,
                    ShuffleMode::Index => by[first + own] as usize,
                };
                if from >= len {
                    return Err(self.out_of_bounds(first + own, "subgroup", from as i64, len as u64));
                }
                source[first + own] = first + from;
            }
        }
        let column = match self.arg(inst, 0)? {
            Column::F32(a) => take(a, &source),
            Column::F64(a) => take(a, &source),
            Column::U32(a) => take(a, &source),
            Column::I32(a) => take(a, &source),
            _ => return Err(self.malformed("shuffles are of 32-bit types and F64")),
        };
        self.report.shuffles += mask.active as u64;
        self.define(inst, vec![column])
    }

    /// `D = A B + C`. Products of narrow types are exact in f64, and their sum is rounded once at the end: the
    /// hardware's order of additions is not documented.
    pub(super) fn mma(&mut self, inst: &Inst, shape: MmaShape, mask: &Mask) -> Result<(), Fault> {
        let (rows, columns, depth) = size(shape);
        let warps = self.whole_warps(mask, WARP)?;
        if let Some(&(first, len)) = warps.iter().find(|&&(_, len)| len < WARP) {
            return Err(Fault::DivergentBarrier { at: self.site(first), missing: len as u32 });
        }
        let (a_len, b_len, c_len) = registers(shape);
        let [a, b, c] = [(0, a_len), (a_len, b_len), (a_len + b_len, c_len)];
        let mut results = vec![vec![0.0; mask.lanes.len()]; c_len];
        for &(first, _) in &warps {
            let a = self.fragment(inst, shape, a, first, (rows, depth), |lane, i| a_at(shape, lane, i))?;
            let b = self.fragment(inst, shape, b, first, (depth, columns), |lane, i| b_at(shape, lane, i))?;
            let mut d = self.fragment(inst, shape, c, first, (rows, columns), c_at)?;
            for row in 0..rows {
                for column in 0..columns {
                    let sum = &mut d[row * columns + column];
                    for k in 0..depth {
                        *sum = a[row * depth + k].mul_add(b[k * columns + column], *sum);
                    }
                }
            }
            for (i, result) in results.iter_mut().enumerate() {
                for lane in 0..WARP {
                    let (row, column) = c_at(lane, i);
                    result[first + lane] = d[row * columns + column];
                }
            }
            self.report.flops += 2 * (rows * columns * depth) as u64;
        }
        let columns = results.into_iter().map(|result| match shape {
            MmaShape::M8N8K4F64 => Column::F64(result),
            _ => Column::F32(result.into_iter().map(|x| x as f32).collect()),
        });
        self.define(inst, columns.collect())
    }

    /// A warp's matrix from its registers `(first argument, count)`.
    fn fragment(
        &self,
        inst: &Inst,
        shape: MmaShape,
        (from, count): (usize, usize),
        first: usize,
        (rows, columns): (usize, usize),
        at: impl Fn(usize, usize) -> (usize, usize),
    ) -> Result<Vec<f64>, Fault> {
        let tf32 = |x: f32| f64::from(f32::from_bits(x.to_bits() & !0x1fff));
        // A and B hold inputs; C has as many arguments before it as they have, and is taken in full precision.
        let input = from + count < inst.args.len();
        let mut matrix = vec![0.0; rows * columns];
        for i in 0..count {
            let register = self.arg(inst, from + i)?;
            for lane in 0..WARP {
                let mut put = |i: usize, x: f64| {
                    let (row, column) = at(lane, i);
                    matrix[row * columns + column] = x;
                };
                match (shape, register) {
                    (MmaShape::M8N8K4F64, Column::F64(v)) => put(i, v[first + lane]),
                    (MmaShape::M16N8K8Tf32, Column::F32(v)) if input => put(i, tf32(v[first + lane])),
                    (_, Column::F32(v)) if !input && shape != MmaShape::M8N8K4F64 => {
                        put(i, v[first + lane].into());
                    }
                    (MmaShape::M16N8K16F16, Column::U32(v)) if input => {
                        let pair = v[first + lane];
                        put(2 * i, f16::from_bits(pair as u16).to_f64());
                        put(2 * i + 1, f16::from_bits((pair >> 16) as u16).to_f64());
                    }
                    (MmaShape::M16N8K16Bf16, Column::U32(v)) if input => {
                        let pair = v[first + lane];
                        put(2 * i, bf16::from_bits(pair as u16).to_f64());
                        put(2 * i + 1, bf16::from_bits((pair >> 16) as u16).to_f64());
                    }
                    _ => return Err(self.malformed("a matrix fragment has the wrong type")),
                }
            }
        }
        Ok(matrix)
    }
}

fn take<T: Lane>(lanes: &[T], source: &[usize]) -> Column {
    T::wrap(source.iter().map(|&from| lanes[from]).collect())
}

/// Rows, columns, depth.
fn size(shape: MmaShape) -> (usize, usize, usize) {
    match shape {
        MmaShape::M8N8K4F64 => (8, 8, 4),
        MmaShape::M16N8K8Tf32 => (16, 8, 8),
        MmaShape::M16N8K16F16 | MmaShape::M16N8K16Bf16 => (16, 8, 16),
    }
}

/// Registers of a thread for A, B and C.
fn registers(shape: MmaShape) -> (usize, usize, usize) {
    match shape {
        MmaShape::M8N8K4F64 => (1, 1, 2),
        MmaShape::M16N8K8Tf32 | MmaShape::M16N8K16F16 | MmaShape::M16N8K16Bf16 => (4, 2, 4),
    }
}

/// Row and column of a thread's `i`-th element of A.
fn a_at(shape: MmaShape, lane: usize, i: usize) -> (usize, usize) {
    let (group, member) = (lane / 4, lane % 4);
    match shape {
        MmaShape::M8N8K4F64 => (group, member),
        MmaShape::M16N8K8Tf32 => (group + 8 * (i % 2), member + 4 * (i / 2)),
        MmaShape::M16N8K16F16 | MmaShape::M16N8K16Bf16 => {
            (group + 8 * (i / 2 % 2), 2 * member + i % 2 + 8 * (i / 4))
        }
    }
}

/// Row and column of a thread's `i`-th element of B.
fn b_at(shape: MmaShape, lane: usize, i: usize) -> (usize, usize) {
    let (group, member) = (lane / 4, lane % 4);
    match shape {
        MmaShape::M8N8K4F64 => (member, group),
        MmaShape::M16N8K8Tf32 => (member + 4 * i, group),
        MmaShape::M16N8K16F16 | MmaShape::M16N8K16Bf16 => (2 * member + i % 2 + 8 * (i / 2), group),
    }
}

/// Row and column of a thread's `i`-th element of C and D, the same in all shapes.
fn c_at(lane: usize, i: usize) -> (usize, usize) {
    (lane / 4 + 8 * (i / 2), 2 * (lane % 4) + i % 2)
}
