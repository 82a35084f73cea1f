//! Kernels with planted faults.

use rand::{Rng, SeedableRng, rngs::StdRng};

use super::super::{Access, Builder, Cache, Cmp, Kernel, Op, ShuffleMode, Special, Type, Value};
use super::tests_sync::only_thread;
use super::{Fault, GlobalBuffer, Memory, Report, Touch, simulate};
use crate::target::Limits;

/// Runs on an H200.
pub(super) fn run(kernel: &Kernel, buffers: &mut [&mut GlobalBuffer]) -> Result<Report, Fault> {
    simulate(kernel, &Limits::h200(), buffers)
}

pub(super) fn floats(len: usize) -> GlobalBuffer {
    let mut rng = StdRng::seed_from_u64(len as u64);
    GlobalBuffer::initialised(Memory::F32((0..len).map(|_| rng.random_range(-1.0..1.0)).collect()))
}

pub(super) fn blank(elem: Type, len: usize) -> GlobalBuffer {
    GlobalBuffer::unwritten(elem, len).unwrap()
}

pub(super) fn f32s(buffer: &GlobalBuffer) -> &[f32] {
    let Memory::F32(data) = &buffer.data else { panic!("not f32") };
    data
}

/// The thread's index.
pub(super) fn thread(b: &mut Builder) -> Value {
    b.special(Special::ThreadIndex)
}

/// One float of each thread into shared memory, and back to front out of it.
fn reversal(threads: u32, with_barrier: bool) -> Kernel {
    let mut b = Builder::new("reversal", threads, 1);
    let input = b.buffer("input", Type::F32, Access::Read, threads.into());
    let output = b.buffer("output", Type::F32, Access::Write, threads.into());
    let tile = b.shared("tile", Type::F32, threads);
    let t = thread(&mut b);
    let from = b.addr(input, t);
    let value = b.load(from, 0, 1, Cache::Default, None);
    let at = b.addr(tile, t);
    b.store(at, 0, &value, Cache::Default, None);
    if with_barrier {
        b.barrier();
    }
    let last = b.u32(threads - 1);
    let mirrored = b.sub(last, t);
    let at = b.addr(tile, mirrored);
    let value = b.load(at, 0, 1, Cache::Default, None);
    let to = b.addr(output, t);
    b.store(to, 0, &value, Cache::Default, None);
    b.finish()
}

#[test]
fn reverses_through_shared_memory() {
    let (mut input, mut output) = (floats(96), blank(Type::F32, 96));
    let report = run(&reversal(96, true), &mut [&mut input, &mut output]).unwrap();
    let expected: Vec<f32> = f32s(&input).iter().rev().copied().collect();
    assert_eq!(f32s(&output), expected);
    assert!(output.written.iter().all(|&written| written));
    assert_eq!((report.barriers, report.blocks), (1, 1));
    assert_eq!((report.global_sectors_read, report.global_sectors_written), (12, 12));
    assert_eq!(report.minimal_sectors, 24);
    assert_eq!((report.shared_accesses, report.shared_wavefronts), (6, 6));
}

#[test]
fn a_missing_barrier_is_a_race() {
    let (mut input, mut output) = (floats(64), blank(Type::F32, 64));
    let fault = run(&reversal(64, false), &mut [&mut input, &mut output]).unwrap_err();
    let Fault::Race { at, array, element, other, .. } = fault else { panic!("{fault}") };
    assert_eq!((at.thread, array.as_str(), element), (0, "tile", 63));
    assert!(other.starts_with("block 0, thread 63 (instruction "), "{other}");
}

/// All threads store their index at `index(thread)` of a shared array of 32, and then read `read(thread)`.
fn store_at(index: impl Fn(&mut Builder, Value) -> Value, pred: bool, read: bool) -> Kernel {
    let mut b = Builder::new("store_at", 32, 1);
    let tile = b.shared("tile", Type::U32, 32);
    let t = thread(&mut b);
    let at = index(&mut b, t);
    let at = b.addr(tile, at);
    let limit = b.u32(20);
    let low = b.cmp(Cmp::Lt, t, limit);
    b.store(at, 0, &[t], Cache::Default, pred.then_some(low));
    if read {
        b.barrier();
        let at = b.addr(tile, t);
        b.load(at, 0, 1, Cache::Default, None);
    }
    b.finish()
}

#[test]
fn two_stores_to_one_element_race() {
    let kernel = store_at(|b, t| b.rem_const(t, 16, 31), false, false);
    let fault = run(&kernel, &mut []).unwrap_err();
    assert!(matches!(fault, Fault::Race { ref array, element: 0, .. } if array == "tile"), "{fault}");
    let kernel = store_at(|_, t| t, false, true);
    run(&kernel, &mut []).unwrap();
}

#[test]
fn a_write_after_another_threads_read_races() {
    let mut b = Builder::new("war", 32, 1);
    let tile = b.shared("tile", Type::U32, 32);
    let t = thread(&mut b);
    let own = b.addr(tile, t);
    b.store(own, 0, &[t], Cache::Default, None);
    b.barrier();
    let one = b.u32(1);
    let neighbour = b.binary(Op::Xor, t, one);
    let at = b.addr(tile, neighbour);
    let read = b.load(at, 0, 1, Cache::Default, None);
    b.store(own, 0, &read, Cache::Default, None);
    let fault = run(&b.finish(), &mut []).unwrap_err();
    assert!(
        matches!(fault, Fault::Race { ref array, element: 0, other_touch: Touch::Read, .. } if array == "tile"),
        "{fault}"
    );
}

#[test]
fn unwritten_elements_are_not_read() {
    let fault = run(&store_at(|_, t| t, true, true), &mut []).unwrap_err();
    assert!(
        matches!(fault, Fault::Uninitialised { ref array, element: 20, .. } if array == "tile"),
        "{fault}"
    );
    let (mut input, mut output) = (blank(Type::F32, 64), blank(Type::F32, 64));
    let fault = run(&reversal(64, true), &mut [&mut input, &mut output]).unwrap_err();
    assert!(
        matches!(fault, Fault::Uninitialised { ref array, element: 0, .. } if array == "input"),
        "{fault}"
    );
}

#[test]
fn shared_memory_does_not_outlive_its_block() {
    let mut b = Builder::new("stale", 1, 2);
    let tile = b.shared("tile", Type::U32, 1);
    let block = b.special(Special::BlockIndex);
    let zero = b.u32(0);
    let first = b.cmp(Cmp::Eq, block, zero);
    let at = b.addr(tile, zero);
    b.store(at, 0, &[block], Cache::Default, Some(first));
    b.load(at, 0, 1, Cache::Default, None);
    let fault = run(&b.finish(), &mut []).unwrap_err();
    let Fault::Uninitialised { at, .. } = fault else { panic!("{fault}") };
    assert_eq!(at.block, 1);
}

#[test]
fn nothing_is_touched_out_of_bounds() {
    let fault = run(&store_at(|b, t| b.add_const(t, 1), false, false), &mut []).unwrap_err();
    let Fault::OutOfBounds { at, array, element, len } = fault else { panic!("{fault}") };
    assert_eq!((at.thread, array.as_str(), element, len), (31, "tile", 32, 32));
    let mut b = Builder::new("negative", 32, 1);
    let output = b.buffer("output", Type::U32, Access::Write, 40);
    let t = thread(&mut b);
    let at = b.addr(output, t);
    b.store(at, -1, &[t], Cache::Default, None);
    let fault = run(&b.finish(), &mut [&mut blank(Type::U32, 40)]).unwrap_err();
    assert!(matches!(fault, Fault::OutOfBounds { element: -1, len: 40, .. }), "{fault}");
}

#[test]
fn vectors_are_aligned() {
    let kernel = |offset| {
        let mut b = Builder::new("vector", 8, 1);
        let input = b.buffer("input", Type::F32, Access::Read, 40);
        let t = thread(&mut b);
        let t = b.mul_const(t, 4);
        let at = b.addr(input, t);
        b.load(at, offset, 4, Cache::Default, None);
        b.finish()
    };
    run(&kernel(4), &mut [&mut floats(40)]).unwrap();
    let fault = run(&kernel(2), &mut [&mut floats(40)]).unwrap_err();
    assert!(
        matches!(fault, Fault::Misaligned { ref array, element: 2, align: 4, .. } if array == "input"),
        "{fault}"
    );
}

#[test]
fn all_threads_reach_a_barrier_and_a_shuffle() {
    let kernel = |shuffles: bool| {
        let mut b = Builder::new("divergent", 64, 1);
        let t = thread(&mut b);
        let limit = b.u32(48);
        let low = b.cmp(Cmp::Lt, t, limit);
        b.when(low, |b| {
            if shuffles {
                let one = b.u32(1);
                b.shuffle(ShuffleMode::Xor, t, one);
            } else {
                b.barrier();
            }
        });
        b.finish()
    };
    let fault = run(&kernel(false), &mut []).unwrap_err();
    let Fault::DivergentBarrier { at, missing } = fault else { panic!("{fault}") };
    assert_eq!((at.thread, missing), (0, 48));
    let fault = run(&kernel(true), &mut []).unwrap_err();
    let Fault::DivergentBarrier { at, missing } = fault else { panic!("{fault}") };
    assert_eq!((at.thread, missing), (32, 48));
}

#[test]
fn blocks_race_on_global_memory() {
    let kernel = |own: bool| {
        let mut b = Builder::new("blocks", 32, 2);
        let output = b.buffer("output", Type::U32, Access::ReadWrite, 64);
        let mut t = thread(&mut b);
        if own {
            let block = b.special(Special::BlockIndex);
            let first = b.mul_const(block, 32);
            t = b.add(first, t);
        }
        let at = b.addr(output, t);
        let old = b.load(at, 0, 1, Cache::Default, None);
        b.store(at, 0, &old, Cache::Default, None);
        b.finish()
    };
    let filled = || GlobalBuffer::initialised(Memory::U32((0..64).collect()));
    run(&kernel(true), &mut [&mut filled()]).unwrap();
    let fault = run(&kernel(false), &mut [&mut filled()]).unwrap_err();
    let Fault::Race { at, array, element, other, .. } = fault else { panic!("{fault}") };
    assert_eq!((at.block, at.thread, array.as_str(), element), (1, 0, "output", 0));
    assert!(other.starts_with("block 0, thread 0"), "{other}");
}

#[test]
fn a_barrier_of_one_block_does_not_order_the_others() {
    let mut b = Builder::new("many_readers", 32, 2);
    let data = b.buffer("data", Type::U32, Access::ReadWrite, 32);
    let (t, block) = (thread(&mut b), b.special(Special::BlockIndex));
    let at = b.addr(data, t);
    let value = b.load(at, 0, 1, Cache::Default, None);
    b.barrier();
    let one = b.u32(1);
    let second = b.cmp(Cmp::Eq, block, one);
    b.store(at, 0, &value, Cache::Default, Some(second));
    let mut data = GlobalBuffer::initialised(Memory::U32((0..32).collect()));
    let fault = run(&b.finish(), &mut [&mut data]).unwrap_err();
    let Fault::Race { at, array, other, .. } = fault else { panic!("{fault}") };
    assert_eq!((at.block, array.as_str()), (1, "data"));
    assert!(other.starts_with("threads of several blocks"), "{other}");
}

#[test]
fn in_place_needs_a_barrier_within_a_block() {
    let kernel = |barrier: bool| {
        let mut b = Builder::new("in_place", 64, 1);
        let data = b.buffer("data", Type::F32, Access::ReadWrite, 64);
        let t = thread(&mut b);
        let last = b.u32(63);
        let mirrored = b.sub(last, t);
        let from = b.addr(data, mirrored);
        let value = b.load(from, 0, 1, Cache::Default, None);
        if barrier {
            b.barrier();
        }
        let to = b.addr(data, t);
        b.store(to, 0, &value, Cache::Default, None);
        b.finish()
    };
    let mut data = floats(64);
    let expected: Vec<f32> = f32s(&data).iter().rev().copied().collect();
    run(&kernel(true), &mut [&mut data]).unwrap();
    assert_eq!(f32s(&data), expected);
    let fault = run(&kernel(false), &mut [&mut data]).unwrap_err();
    assert!(matches!(fault, Fault::Race { ref array, .. } if array == "data"), "{fault}");
}

#[test]
fn limits_and_abilities_hold() {
    let limits = Limits::vulkan_min();
    let mut b = Builder::new("large", 512, 1);
    b.shared("tile", Type::F32, 16);
    let fault = simulate(&b.finish(), &limits, &mut []).unwrap_err();
    assert!(matches!(fault, Fault::LimitExceeded { value: 512, limit: 256, .. }), "{fault}");
    let mut b = Builder::new("shared", 32, 1);
    b.shared("tile", Type::F32, 8193);
    let fault = simulate(&b.finish(), &limits, &mut []).unwrap_err();
    assert!(matches!(fault, Fault::LimitExceeded { value: 32784, limit: 32768, .. }), "{fault}");
    let mut b = Builder::new("double", 32, 1);
    b.float(Type::F64, 1.5);
    let fault = simulate(&b.finish(), &limits, &mut []).unwrap_err();
    assert!(matches!(fault, Fault::MissingAbility { ability: "f64", .. }), "{fault}");
    let mut b = Builder::new("shuffles", 32, 1);
    let t = thread(&mut b);
    b.shuffle(ShuffleMode::Index, t, t);
    let fault = simulate(&b.finish(), &limits, &mut []).unwrap_err();
    assert!(matches!(fault, Fault::MissingAbility { ability: "subgroup shuffles", .. }), "{fault}");
    let mut b = Builder::new("cluster", 32, 32);
    b.cluster(32);
    let fault = run(&b.finish(), &mut []).unwrap_err();
    assert!(matches!(fault, Fault::LimitExceeded { value: 32, limit: 16, .. }), "{fault}");
    let fault = run(&reversal(64, true), &mut [&mut floats(64), &mut blank(Type::F32, 63)]).unwrap_err();
    assert!(
        matches!(fault, Fault::BufferMismatch { ref buffer, len: 64, .. } if buffer == "output"),
        "{fault}"
    );
}

/// Every block writes one element and counts itself; the last one sums all elements up.
fn last_block_sums(acquires: bool) -> Result<GlobalBuffer, Fault> {
    const BLOCKS: u32 = 6;
    let mut b = Builder::new("last", 32, BLOCKS.into());
    let parts = b.buffer("parts", Type::U32, Access::ReadWrite, (32 * BLOCKS).into());
    let counter = b.buffer("counter", Type::U32, Access::ReadWrite, 1);
    let output = b.buffer("output", Type::U32, Access::Write, 32);
    let (t, block) = (thread(&mut b), b.special(Special::BlockIndex));
    let (zero, one, last) = (b.u32(0), b.u32(1), b.u32(BLOCKS - 1));
    let first = b.mul_const(block, 32);
    let index = b.add(first, t);
    let at = b.addr(parts, index);
    b.store(at, 0, &[index], Cache::Default, None);
    b.barrier();
    only_thread(&mut b, 0, |b| {
        let at = b.addr(counter, zero);
        if acquires {
            b.impure(Op::AtomicAdd { relaxed: false }, &[at, one], &[Type::U32]);
        }
    });
    b.barrier();
    let is_last = b.cmp(Cmp::Eq, block, last);
    b.when(is_last, |b| {
        let start = b.addr(parts, t);
        let mut sum = zero;
        for i in 0..BLOCKS {
            let part = b.load(start, 32 * i as i32, 1, Cache::Default, None);
            sum = b.add(sum, part[0]);
        }
        let to = b.addr(output, t);
        b.store(to, 0, &[sum], Cache::Default, None);
    });
    let mut parts = blank(Type::U32, 32 * BLOCKS as usize);
    let mut counter = GlobalBuffer::initialised(Memory::U32(vec![0]));
    let mut output = blank(Type::U32, 32);
    run(&b.finish(), &mut [&mut parts, &mut counter, &mut output])?;
    assert_eq!(counter.data, Memory::U32(vec![BLOCKS]));
    Ok(output)
}

#[test]
fn atomics_order_blocks() {
    let expected = (0..32).map(|t| (0..6).map(|block| 32 * block + t).sum()).collect();
    assert_eq!(last_block_sums(true).unwrap().data, Memory::U32(expected));
    let fault = last_block_sums(false).unwrap_err();
    let Fault::Race { at, array, element, .. } = fault else { panic!("{fault}") };
    assert_eq!((at.block, array.as_str(), element), (5, "parts", 0));
}

#[test]
fn polling_for_a_later_block_is_a_deadlock() {
    let mut b = Builder::new("polls", 32, 2);
    let counter = b.buffer("counter", Type::U32, Access::ReadWrite, 1);
    let (zero, one, many) = (b.u32(0), b.u32(1), b.u32(u32::MAX));
    let at = b.addr(counter, zero);
    b.for_range(zero, many, one, &[zero], |b, _, _| b.impure(Op::AtomicLoad, &[at], &[Type::U32]));
    let fault = run(&b.finish(), &mut [&mut GlobalBuffer::initialised(Memory::U32(vec![0]))]).unwrap_err();
    let Fault::Deadlock { at, .. } = fault else { panic!("{fault}") };
    assert_eq!((at.op, at.block), (Op::Loop, 0));
}
