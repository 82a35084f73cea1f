//! What operations compute, and what the counts of known patterns are.

use half::{bf16, f16};
use rand::{Rng, SeedableRng, rngs::StdRng};

use super::super::{
    Access, Builder, Cache, Cmp, Kernel, MmaShape, Op, ShuffleMode, Space, Special, Type, Value,
};
use super::tests::{blank, f32s, floats, run, thread};
use super::{Fault, GlobalBuffer, Memory, Options, Report, simulate_with};
use crate::target::Limits;

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
    let options = Options { sample_blocks: Some(10), ..Options::default() };
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

/// Runs one matrix product on registers read from buffers: one element for each lane and register.
fn mma(shape: MmaShape, ty: Type, a: Memory, b_: Memory, c: Vec<f32>) -> Vec<f32> {
    let mut b = Builder::new("mma", 32, 1);
    let spaces = [
        b.buffer("a", ty, Access::Read, a.len() as u64),
        b.buffer("b", ty, Access::Read, b_.len() as u64),
        b.buffer("c", Type::F32, Access::ReadWrite, c.len() as u64),
    ];
    let t = thread(&mut b);
    let mut args = Vec::new();
    for (space, registers) in spaces.into_iter().zip([4, 2, 4]) {
        let at = b.addr(space, t);
        for i in 0..registers {
            args.extend(b.load(at, 32 * i, 1, Cache::Default, None));
        }
    }
    let d = b.impure(Op::Mma(shape), &args, &[Type::F32; 4]);
    let at = b.addr(spaces[2], t);
    for (i, &value) in d.iter().enumerate() {
        b.store(at, 32 * i as i32, &[value], Cache::Default, None);
    }
    let kernel: Kernel = b.finish();
    let [mut a, mut b, mut c] = [a, b_, Memory::F32(c)].map(GlobalBuffer::initialised);
    run(&kernel, &mut [&mut a, &mut b, &mut c]).unwrap();
    f32s(&c).to_vec()
}

/// A plain product of matrices of small integers, exact in every type.
fn product(a: &[Vec<f32>], b: &[Vec<f32>]) -> Vec<Vec<f32>> {
    let entry = |row: &Vec<f32>, j: usize| row.iter().zip(b).map(|(x, b)| x * b[j]).sum();
    a.iter().map(|row| (0..b[0].len()).map(|j| entry(row, j)).collect()).collect()
}

fn matrix(rows: usize, columns: usize, seed: u64) -> Vec<Vec<f32>> {
    let mut rng = StdRng::seed_from_u64(seed);
    (0..rows).map(|_| (0..columns).map(|_| rng.random_range(-8..8_i8).into()).collect()).collect()
}

/// D by the layout that 16 by 8 results have: rows `lane / 4` and 8 further, columns in pairs.
fn check_result(got: &[f32], a: &[Vec<f32>], b: &[Vec<f32>]) {
    let expected = product(a, b);
    for lane in 0..32 {
        let (row, column) = (lane / 4, lane % 4 * 2);
        let registers = [(row, column), (row, column + 1), (row + 8, column), (row + 8, column + 1)];
        for (i, (row, column)) in registers.into_iter().enumerate() {
            assert_eq!(got[32 * i + lane], expected[row][column] + 1.0, "row {row}, column {column}");
        }
    }
}

#[test]
fn tf32_and_f16_products_follow_the_fragments() {
    let (a, b) = (matrix(16, 8, 1), matrix(8, 8, 2));
    let (mut ra, mut rb) = (Vec::new(), Vec::new());
    for (row, column) in [(0, 0), (8, 0), (0, 4), (8, 4)] {
        ra.extend((0..32).map(|lane| a[row + lane / 4][column + lane % 4]));
    }
    for row in [0, 4] {
        rb.extend((0..32).map(|lane| b[row + lane % 4][lane / 4]));
    }
    // The low bits are ignored.
    ra.iter_mut().for_each(|x| *x = f32::from_bits(x.to_bits() | 0xfff));
    let clean = |x: &f32| f32::from_bits(x.to_bits() & !0x1fff);
    assert!(ra.iter().any(|x| clean(x) != *x));
    let got = mma(MmaShape::M16N8K8Tf32, Type::F32, Memory::F32(ra), Memory::F32(rb), vec![1.0; 128]);
    check_result(&got, &a, &b);

    let (a, b) = (matrix(16, 16, 3), matrix(16, 8, 4));
    let pack = |low: f32, high: f32| {
        u32::from(f16::from_f32(low).to_bits()) | u32::from(f16::from_f32(high).to_bits()) << 16
    };
    let (mut ra, mut rb) = (Vec::new(), Vec::new());
    for (row, column) in [(0, 0), (8, 0), (0, 8), (8, 8)] {
        ra.extend((0..32).map(|lane| {
            let (row, column) = (&a[row + lane / 4], column + lane % 4 * 2);
            pack(row[column], row[column + 1])
        }));
    }
    for row in [0, 8] {
        rb.extend((0..32).map(|lane| {
            let row = row + lane % 4 * 2;
            pack(b[row][lane / 4], b[row + 1][lane / 4])
        }));
    }
    let brain = |pairs: &[u32]| -> Vec<u32> {
        let half = |bits: u32| u32::from(bf16::from_f32(f16::from_bits(bits as u16).to_f32()).to_bits());
        pairs.iter().map(|&pair| half(pair & 0xffff) | half(pair >> 16) << 16).collect()
    };
    let (ba, bb) = (Memory::U32(brain(&ra)), Memory::U32(brain(&rb)));
    let got = mma(MmaShape::M16N8K16F16, Type::U32, Memory::U32(ra), Memory::U32(rb), vec![1.0; 128]);
    check_result(&got, &a, &b);
    let got = mma(MmaShape::M16N8K16Bf16, Type::U32, ba, bb, vec![1.0; 128]);
    check_result(&got, &a, &b);
}
