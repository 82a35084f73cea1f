//! Kernels with planted faults, and what the counts of known patterns are.

use rand::{Rng, SeedableRng, rngs::StdRng};

use super::super::{
    Access, Builder, Cache, Cmp, Kernel, MmaShape, Op, ShuffleMode, Space, Special, Type, Value,
};
use super::{Fault, GlobalBuffer, Memory, Options, Report, simulate, simulate_with};
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

/// The thread's index, and pointers of that index into the arrays.
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
        matches!(fault, Fault::Race { ref array, element: 0, other_touch: super::Touch::Read, .. } if array == "tile"),
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

#[test]
fn loops_carry_values_with_bounds_of_their_own() {
    let mut b = Builder::new("sums", 40, 1);
    let output = b.buffer("output", Type::U32, Access::Write, 40);
    let t = thread(&mut b);
    let (lo, step, zero) = (b.u32(1), b.u32(3), b.u32(0));
    let sums = b.for_range(lo, t, step, &[zero, t], |b, i, carried| {
        let sum = b.add(carried[0], i);
        vec![sum, carried[1]]
    });
    let both = b.add(sums[0], sums[1]);
    let at = b.addr(output, t);
    b.store(at, 0, &[both], Cache::Default, None);
    let mut output = blank(Type::U32, 40);
    run(&b.finish(), &mut [&mut output]).unwrap();
    let expected = (0..40).map(|t| t + (1..t).step_by(3).sum::<u32>()).collect();
    assert_eq!(output.data, Memory::U32(expected));
}

#[test]
fn predicated_loads_yield_zeros() {
    let mut b = Builder::new("predicated", 32, 1);
    let input = b.buffer("input", Type::F32, Access::Read, 10);
    let output = b.buffer("output", Type::F32, Access::Write, 32);
    let t = thread(&mut b);
    let ten = b.u32(10);
    let inside = b.cmp(Cmp::Lt, t, ten);
    let from = b.addr(input, t);
    let value = b.load(from, 0, 1, Cache::Default, Some(inside));
    let to = b.addr(output, t);
    b.store(to, 0, &value, Cache::Default, None);
    let (mut input, mut output) = (floats(10), blank(Type::F32, 32));
    run(&b.finish(), &mut [&mut input, &mut output]).unwrap();
    assert_eq!(f32s(&output)[..10], *f32s(&input));
    assert_eq!(f32s(&output)[10..], [0.0; 22]);
}

#[test]
fn arithmetic_rounds_in_its_type_and_undefined_results_are_faults() {
    let mut b = Builder::new("rounding", 1, 1);
    let input = b.buffer("input", Type::F32, Access::Read, 3);
    let output = b.buffer("output", Type::F32, Access::Write, 3);
    let zero = b.u32(0);
    let from = b.addr(input, zero);
    let x: Vec<Value> = (0..3).map(|i| b.load(from, i, 1, Cache::Default, None)[0]).collect();
    let product = b.mul(x[0], x[1]);
    let twice = b.add(product, x[2]);
    let once = b.fma(x[0], x[1], x[2]);
    let half = b.convert(Type::F16, x[0]);
    let half = b.convert(Type::F32, half);
    let to = b.addr(output, zero);
    for (i, value) in [twice, once, half].into_iter().enumerate() {
        b.store(to, i as i32, &[value], Cache::Default, None);
    }
    let (a, c) = (1.0 + f32::EPSILON, -1.0 - 2.0 * f32::EPSILON);
    let mut input = GlobalBuffer::initialised(Memory::F32(vec![a, a, c]));
    let mut output = blank(Type::F32, 3);
    let report = run(&b.finish(), &mut [&mut input, &mut output]).unwrap();
    assert_eq!(f32s(&output), [0.0, f32::EPSILON * f32::EPSILON, 1.0]);
    assert_eq!(report.flops, 4);

    let mut b = Builder::new("shift", 40, 1);
    let t = thread(&mut b);
    b.binary(Op::Shl, t, t);
    let fault = run(&b.finish(), &mut []).unwrap_err();
    let Fault::Undefined { at, .. } = fault else { panic!("{fault}") };
    assert_eq!(at.thread, 32);
}

#[test]
fn shuffles_read_other_lanes() {
    let mut b = Builder::new("shuffle", 64, 1);
    let output = b.buffer("output", Type::U32, Access::Write, 64);
    let t = thread(&mut b);
    let five = b.u32(5);
    let other = b.shuffle(ShuffleMode::Xor, t, five);
    let broadcast = b.shuffle(ShuffleMode::Index, t, five);
    let hundred = b.mul_const(broadcast, 100);
    let both = b.add(other, hundred);
    let at = b.addr(output, t);
    b.store(at, 0, &[both], Cache::Default, None);
    let mut output = blank(Type::U32, 64);
    let report = run(&b.finish(), &mut [&mut output]).unwrap();
    let expected = (0..64).map(|t| (t ^ 5) + 100 * (t / 32 * 32 + 5)).collect();
    assert_eq!(output.data, Memory::U32(expected));
    assert_eq!(report.shuffles, 128);
}

/// Loads `width` floats by each of 32 threads, `stride` apart, from shared or global memory.
fn strided(stride: u32, width: u8, shared: bool) -> Report {
    let len = 32 * stride.max(width.into());
    let mut b = Builder::new("strided", 32, 1);
    let input = b.buffer("input", Type::F32, Access::Read, len.into());
    let tile = b.shared("tile", Type::F32, len);
    let t = thread(&mut b);
    let at = b.mul_const(t, stride.into());
    let at = b.addr(if shared { tile } else { input }, at);
    if shared {
        let zeros = vec![b.float(Type::F32, 0.0); width.into()];
        b.store(at, 0, &zeros, Cache::Default, None);
    } else {
        b.load(at, 0, width, Cache::Default, None);
    }
    run(&b.finish(), &mut [&mut floats(len as usize)]).unwrap()
}

#[test]
fn counts_sectors() {
    for (stride, width, sectors) in [(1, 1, 4), (2, 1, 8), (2, 2, 8), (4, 4, 16), (8, 1, 32), (32, 1, 32)] {
        let report = strided(stride, width, false);
        assert_eq!(report.global_sectors_read, sectors, "stride {stride}, width {width}");
        assert_eq!((report.minimal_sectors_read, report.minimal_sectors_written), (sectors, 0));
    }
}

#[test]
fn counts_bank_conflicts() {
    let cases = [
        (1, 1, 1, 1),
        (2, 1, 1, 2),
        (32, 1, 1, 32),
        (33, 1, 1, 1),
        (2, 2, 2, 2),
        (4, 2, 2, 4),
        (4, 4, 4, 4),
        (8, 4, 4, 8),
        (36, 4, 4, 4),
    ];
    for (stride, width, ideal, actual) in cases {
        let report = strided(stride, width, true);
        let counts = (report.shared_accesses, report.shared_wavefronts);
        assert_eq!(counts, (ideal, actual), "stride {stride}, width {width}");
        assert_eq!(report.conflicts(), actual as f64 / ideal as f64);
    }
}

#[test]
fn reports_add_up_and_blocks_can_be_sampled() {
    let mut b = Builder::new("many", 32, 1000);
    let output = b.buffer("output", Type::U32, Access::Write, 32000);
    let (t, block) = (thread(&mut b), b.special(Special::BlockIndex));
    let first = b.mul_const(block, 32);
    let at = b.add(first, t);
    let at = b.addr(output, at);
    b.store(at, 0, &[t], Cache::Default, None);
    let kernel = b.finish();
    let mut sum = Report::default();
    let options = Options { sample_blocks: Some(10) };
    sum += simulate_with(&kernel, &Limits::h200(), &mut [&mut blank(Type::U32, 32000)], &options).unwrap();
    assert_eq!((sum.blocks, sum.global_sectors_written), (10, 40));
    sum += run(&kernel, &mut [&mut blank(Type::U32, 32000)]).unwrap();
    assert_eq!((sum.blocks, sum.global_sectors_written), (1010, 4040));
}

/// Each lane's fragment registers from buffers laid out register by register; compared with a plain product.
#[test]
fn matrix_products_follow_the_fragments() {
    let mut b = Builder::new("mma", 32, 1);
    let (m, n, k) = (8_usize, 8, 4);
    let a = b.buffer("a", Type::F64, Access::Read, (m * k) as u64);
    let bb = b.buffer("b", Type::F64, Access::Read, (k * n) as u64);
    let c = b.buffer("c", Type::F64, Access::ReadWrite, (m * n) as u64);
    let lane = b.special(Special::Lane);
    let (group, member) = (b.div_const(lane, 4, 31), b.rem_const(lane, 4, 31));
    let at = |b: &mut Builder, space: Space, row: Value, columns: u64, column: Value| {
        let row = b.mul_const(row, columns);
        let index = b.add(row, column);
        b.addr(space, index)
    };
    let (pa, pb) = (at(&mut b, a, group, 4, member), at(&mut b, bb, member, 8, group));
    let column = b.mul_const(member, 2);
    let pc = at(&mut b, c, group, 8, column);
    let mut args = b.load(pa, 0, 1, Cache::Default, None);
    args.extend(b.load(pb, 0, 1, Cache::Default, None));
    args.extend(b.load(pc, 0, 2, Cache::Default, None));
    let d = b.impure(Op::Mma(MmaShape::M8N8K4F64), &args, &[Type::F64; 2]);
    b.store(pc, 0, &d, Cache::Default, None);
    let kernel = b.finish();
    let mut rng = StdRng::seed_from_u64(7);
    let mut random = |len: usize| -> Vec<f64> { (0..len).map(|_| rng.random_range(-1.0..1.0)).collect() };
    let (va, vb, vc) = (random(m * k), random(k * n), random(m * n));
    let mut expected = vc.clone();
    for (i, sum) in expected.iter_mut().enumerate() {
        *sum += (0..k).map(|j| va[i / n * k + j] * vb[j * n + i % n]).sum::<f64>();
    }
    let [mut a, mut b, mut c] = [va, vb, vc].map(|v| GlobalBuffer::initialised(Memory::F64(v)));
    let report = run(&kernel, &mut [&mut a, &mut b, &mut c]).unwrap();
    let Memory::F64(got) = c.data else { panic!() };
    assert!(got.iter().zip(&expected).all(|(x, y)| (x - y).abs() < 1e-14), "{got:?} {expected:?}");
    assert_eq!(report.flops, 512);
}
