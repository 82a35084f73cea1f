//! A plain copy as a program: what transforms are measured against, on the same device in the same run.

use warpfft_core::kernel::{Access, Builder, Cache, Special, Type, Value, verify};
use warpfft_core::problem::{Dim, Direction, Format, Placement, Precision, Problem};
use warpfft_core::program::{Binding, Launch, Program};
use warpfft_core::target::Limits;

use crate::error::Error;

/// Reals of one access: 16 bytes.
const WIDTH: u64 = 4;
/// Accesses of one thread, all in flight at once.
const UNROLL: u64 = 8;
/// Threads of a block.
const THREADS: u32 = 256;

/// A program that copies `bytes` bytes, rounded up to a multiple of 16, from input to output.
pub(crate) fn program(bytes: u64, limits: &Limits) -> Result<Program, Error> {
    let reals = bytes.div_ceil(16).max(1) * WIDTH;
    let threads = THREADS.min(limits.max_threads);
    let chunk = u64::from(threads) * WIDTH * UNROLL;
    let blocks = reals.div_ceil(chunk);
    if !limits.index64 && blocks * chunk > u64::from(u32::MAX) {
        return Err(Error::Unsupported {
            device: limits.name.clone(),
            what: format!("a copy of {bytes} bytes in one launch"),
            would_work: "measure less than 16 GiB at once".into(),
        });
    }
    let mut b = Builder::new("copy", threads, blocks);
    let from = b.buffer("source", Type::F32, Access::Read, reals);
    let to = b.buffer("target", Type::F32, Access::Write, reals);
    let (block, thread) = (b.special(Special::BlockIndex), b.special(Special::ThreadIndex));
    let wide = if limits.index64 { Type::U64 } else { Type::U32 };
    let (block, thread) = (b.convert(wide, block), b.convert(wide, thread));
    let (start, own) = (b.mul_const(block, chunk), b.mul_const(thread, WIDTH));
    let first = b.add(start, own);
    let (read, write) = (b.addr(from, first), b.addr(to, first));
    // Only a launch that does not come out even has threads with nothing to do.
    let even = reals.is_multiple_of(chunk);
    let end = b.pure(warpfft_core::kernel::Op::Const(reals), wide, &[]);
    let step = (u64::from(threads) * WIDTH) as i32;
    let loaded: Vec<(i32, Option<Value>, Vec<Value>)> = (0..UNROLL as i32)
        .map(|turn| {
            let inside = (!even).then(|| {
                let at = b.add_const(first, (turn * step) as u64);
                b.cmp(warpfft_core::kernel::Cmp::Lt, at, end)
            });
            (turn * step, inside, b.load(read, turn * step, WIDTH as u8, Cache::Stream, inside))
        })
        .collect();
    for (offset, inside, values) in loaded {
        b.store(write, offset, &values, Cache::Stream, inside);
    }
    let kernel = verify::verify(b.finish())
        .map_err(|error| Error::Program { detail: format!("the copy kernel: {error}") })?;
    Ok(Program {
        problem: problem(reals / 2),
        kernels: vec![kernel],
        tables: Vec::new(),
        launches: vec![Launch { kernel: 0, bindings: vec![Binding::Input(0), Binding::Output(0)] }],
        workspace_bytes: 0,
    })
}

/// A copy as a transform of no dimensions.
fn problem(elements: u64) -> Problem {
    Problem {
        transform: Vec::new(),
        batch: vec![Dim::new(elements, 1, 1)],
        input_offset: 0,
        output_offset: 0,
        precision: Precision::F32,
        input: Format::Interleaved,
        output: Format::Interleaved,
        placement: Placement::OutOfPlace,
        direction: Direction::Forward,
        scale: 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use num_complex::Complex;

    #[test]
    fn copies_every_element_and_no_more() {
        for limits in [Limits::h200(), Limits::webgpu_min()] {
            let device = Device::sim(limits.clone());
            for elements in [2, 6, 4096, 8192, 8194, 20_000] {
                let plan = device.load(program(8 * elements, &limits).expect("it fits")).expect("it loads");
                let input: Vec<_> = (0..elements).map(|i| Complex::new(i as f32, -(i as f32))).collect();
                let mut output = vec![Complex::new(7.0, 7.0); elements as usize + 3];
                plan.run_host(&input, &mut output).expect("it runs");
                assert_eq!(output[..input.len()], input);
                assert!(output[input.len()..].iter().all(|&x| x == Complex::new(7.0, 7.0)));
            }
        }
    }
}
