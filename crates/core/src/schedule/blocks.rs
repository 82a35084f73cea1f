//! A convolution in blocks (overlap-save) is one pass: blocks are one more repeated dimension, whose steps are shorter than
//! what a block reads. What lies beyond the ends of the input is zero, what lies beyond those of the output is dropped, and
//! so are each block's results that wrapping around has spoilt: windows over the index of the whole dimension, to which the
//! block's number counts.

use crate::error::{Error, Side};
use crate::pass::Window;
use crate::plan::Plan;
use crate::problem::{Blocks, Dim, Problem};

use super::{Place, Scheduler};

impl Scheduler<'_> {
    /// The pass, and the plans of the dimensions' blocks.
    pub(super) fn by_blocks(&mut self, blocks: &[Blocks]) -> Result<Vec<Plan>, Error> {
        let problem = self.problem;
        let numbered = numbered(problem, blocks);
        let inner = Scheduler::new(&numbered, self.limits, self.planner, self.suits);
        let place = |output: bool| {
            let side = self.caller_side(output);
            let step = |(at, own): (usize, &Blocks)| side.strides[at] * own.kept as i64;
            let steps: Vec<i64> = blocks.iter().enumerate().map(step).collect();
            Place { strides: [&side.strides[..], &steps].concat(), ..side }
        };
        let sides = [place(false), place(true)];
        let dims: Vec<usize> = (0..blocks.len()).collect();
        let turned = inner.turn_on_chip(&dims, &inner.held, &sides[0], &sides[1]);
        let (plans, mut pass) = turned.ok_or_else(|| no_block(blocks, self.limits.name.as_ref()))?;
        let first = problem.batch.len();
        for (d, own) in blocks.iter().enumerate() {
            if !problem.functions.is_empty() {
                let dim = &mut pass.batch[first + d];
                (dim.of, dim.counts, dim.first) =
                    (Some(d as u16), [own.kept; 2], self.first_of_blocks(d, own));
            }
            let axes: Vec<u64> = dims.iter().map(|&axis| u64::from(axis == d)).collect();
            let of_all = |weight: u64| {
                let mut batch = vec![0; pass.batch.len()];
                batch[first + d] = weight;
                batch
            };
            let all = own.kept * (own.count - 1) + own.points;
            let [read, written] = [0, 1].map(|side| sides[side].strides[d]);
            let window =
                |n, start, len, stride, batch| Window { n, start, len, stride, axes: axes.clone(), batch };
            // Room for all that either side holds, so that nothing goes on from the beginning.
            let reach = |start: u64, len: u64| all.max(start + len);
            let [input, output] = own.held;
            pass.windows[0].push(window(reach(own.before, input), own.before, input, read, of_all(own.kept)));
            pass.windows[1].push(window(own.points, own.from, own.kept, written, of_all(0)));
            // The window before has moved it; this one only ends the last block.
            if own.count * own.kept > output {
                pass.windows[1].push(window(reach(own.from, output), own.from, output, 0, of_all(own.kept)));
            }
        }
        self.passes.push(pass);
        self.finish();
        Ok(plans)
    }

    /// Which point of the dimension the first block's first one is on both sides, as functions count them, and after how many
    /// they begin anew. What lies before the first of all is a number too large to be one, which nobody looks at.
    fn first_of_blocks(&self, d: usize, own: &Blocks) -> [Option<(u32, u32)>; 2] {
        let n = self.problem.transform[d].n;
        [(Side::Input, own.before), (Side::Output, own.from)].map(|(side, spoilt)| {
            let first = self.problem.window(d, side).start.wrapping_sub(spoilt);
            (first != 0).then_some((first as u32, n as u32))
        })
    }
}

/// The problem of all blocks, which reaches beyond the ends: not one that anybody may be given.
fn numbered(problem: &Problem, blocks: &[Blocks]) -> Problem {
    let mut all = problem.clone();
    all.windows.clear();
    for (dim, own) in all.transform.iter_mut().zip(blocks) {
        let (is, os) = (dim.is * own.kept as i64, dim.os * own.kept as i64);
        dim.n = own.points;
        all.batch.push(Dim::new(own.count, is, os));
    }
    if let Some(filter) = &mut all.filter {
        filter.blocks.clear();
        filter.batch.resize(all.batch.len(), 0);
    }
    all
}

fn no_block(blocks: &[Blocks], device: &str) -> Error {
    let points: Vec<String> = blocks.iter().map(|own| own.points.to_string()).collect();
    Error::Plan {
        problem: format!("a convolution in blocks of {} points", points.join(" x ")),
        reason: format!("{device} cannot hold one, or its lengths are no products of factors up to 32"),
        would_work: "shorter blocks, with small prime factors".into(),
    }
}
