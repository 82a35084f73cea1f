//! Plain copies as programs: what transforms are measured against, on the same device in the same run. Which is
//! the fastest differs from device to device, so there are several.

use warpfft_core::kernel::{Access, Builder, Cache, Special, Type, Value, verify};
use warpfft_core::problem::{Dim, Direction, Format, Kind, Placement, Precision, Problem};
use warpfft_core::program::{Binding, Launch, Program};
use warpfft_core::target::{Api, Limits};

use crate::error::Error;

/// Reals of one access: 16 bytes.
const WIDTH: u64 = 4;
/// Threads of a block.
const THREADS: u32 = 256;

/// A kind of copy.
#[derive(Debug, Clone, Copy)]
struct Variant {
    name: &'static str,
    /// Accesses of one thread, all in flight at once.
    unroll: u64,
    cache: Cache,
}

const VARIANTS: [Variant; 8] = [
    Variant { name: "kernel 1x", unroll: 1, cache: Cache::Default },
    Variant { name: "kernel 2x", unroll: 2, cache: Cache::Default },
    Variant { name: "kernel 4x", unroll: 4, cache: Cache::Default },
    Variant { name: "kernel 8x", unroll: 8, cache: Cache::Default },
    Variant { name: "kernel 1x streaming", unroll: 1, cache: Cache::Stream },
    Variant { name: "kernel 2x streaming", unroll: 2, cache: Cache::Stream },
    Variant { name: "kernel 4x streaming", unroll: 4, cache: Cache::Stream },
    Variant { name: "kernel 8x streaming", unroll: 8, cache: Cache::Stream },
];

/// Bytes that a copy of `bytes` moves: its accesses are all of 16.
pub(crate) fn rounded(bytes: u64) -> u64 {
    bytes.max(1).next_multiple_of(16)
}

/// Programs that copy `bytes` bytes, rounded up to a multiple of 16, from input to output: one of each kind that
/// the device tells apart.
pub(crate) fn programs(bytes: u64, limits: &Limits) -> Result<Vec<(&'static str, Program)>, Error> {
    let hints = matches!(limits.api, Api::Ptx { .. });
    let variants = VARIANTS.iter().filter(|variant| hints || variant.cache == Cache::Default);
    variants.map(|variant| Ok((variant.name, program(bytes, limits, variant)?))).collect()
}

fn program(bytes: u64, limits: &Limits, variant: &Variant) -> Result<Program, Error> {
    let Variant { unroll, cache, .. } = *variant;
    let reals = rounded(bytes) / 16 * WIDTH;
    let threads = THREADS.min(limits.max_threads);
    let chunk = u64::from(threads) * WIDTH * unroll;
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
    let loaded: Vec<(i32, Option<Value>, Vec<Value>)> = (0..unroll as i32)
        .map(|turn| {
            let inside = (!even).then(|| {
                let at = b.add_const(first, (turn * step) as u64);
                b.cmp(warpfft_core::kernel::Cmp::Lt, at, end)
            });
            (turn * step, inside, b.load(read, turn * step, WIDTH as u8, cache, inside))
        })
        .collect();
    for (offset, inside, values) in loaded {
        b.store(write, offset, &values, cache, inside);
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
        kind: Kind::Complex,
        transform: Vec::new(),
        batch: vec![Dim::new(elements, 1, 1)],
        input_offset: 0,
        output_offset: 0,
        precision: Precision::F32,
        storage: [None; 2],
        input: Format::Interleaved,
        output: Format::Interleaved,
        placement: Placement::OutOfPlace,
        direction: Direction::Forward,
        scale: 1.0,
        max_workspace: None,
        windows: Vec::new(),
        filter: None,
        functions: Default::default(),
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
                for (name, program) in programs(8 * elements, &limits).expect("it fits") {
                    let plan = device.load(program).expect("it loads");
                    let input: Vec<_> = (0..elements).map(|i| Complex::new(i as f32, -(i as f32))).collect();
                    let mut output = vec![Complex::new(7.0, 7.0); elements as usize + 3];
                    plan.run_host(&input, &mut output).expect("it runs");
                    assert_eq!(output[..input.len()], input, "{name}");
                    assert!(output[input.len()..].iter().all(|&x| x == Complex::new(7.0, 7.0)), "{name}");
                }
            }
        }
    }
}
