//! Small kernels that together use every operation: what the emitters' golden files are made from.

mod datacenter;

use datacenter::{bulk_copy, cluster_barrier, cluster_exchange, products};
use warpfft_core::kernel::{Access, Builder, Cache, Cmp, Cx, Kernel, Op, ShuffleMode, Special, Type, Value};

/// A kernel, the least compute capability that has all of its operations, and whether WGSL has them.
pub struct Case {
    pub kernel: Kernel,
    pub sm: u32,
    pub wgsl: bool,
}

/// All of them.
pub fn all() -> Vec<Case> {
    let case = |kernel, sm, wgsl| Case { kernel, sm, wgsl };
    vec![
        case(radix_4(), 75, true),
        case(predicated_copy(), 75, true),
        case(walk(), 75, true),
        case(integers(), 75, true),
        case(doubles(), 75, true),
        case(shuffles(), 75, true),
        case(halves(), 75, true),
        case(guarded_halves(), 75, true),
        case(wide_indices(), 75, false),
        case(counters(), 75, false),
        case(cached(), 75, true),
        case(bfloat(), 90, false),
        case(products(), 80, false),
        case(cluster_exchange(), 90, false),
        case(cluster_barrier(), 90, false),
        case(bulk_copy(), 90, false),
    ]
}

fn global_index(b: &mut Builder, threads: u64) -> Value {
    let block = b.special(Special::BlockIndex);
    let thread = b.special(Special::ThreadIndex);
    let first = b.mul_const(block, threads);
    b.add(first, thread)
}

/// One butterfly of four.
fn butterfly(b: &mut Builder, x: &[Cx]) -> Vec<Cx> {
    let (s0, d0) = (b.cadd(x[0], x[2]), b.csub(x[0], x[2]));
    let (s1, d1) = (b.cadd(x[1], x[3]), b.csub(x[1], x[3]));
    let turned = b.cmul_i(d1, true);
    vec![b.cadd(s0, s1), b.cadd(d0, turned), b.csub(s0, s1), b.csub(d0, turned)]
}

/// 16 points in 4 threads, 16 transforms a block: two radix-4 steps with an exchange between.
fn radix_4() -> Kernel {
    let mut b = Builder::new("radix_4", 64, 8);
    b.min_blocks(4);
    let input = b.buffer("input", Type::F32, Access::Read, 8 * 16 * 32);
    let output = b.buffer("output", Type::F32, Access::Write, 8 * 16 * 32);
    let tile = b.shared("tile", Type::F32, 16 * 32);
    let thread = b.special(Special::ThreadIndex);
    let block = b.special(Special::BlockIndex);
    let row = b.div_const(thread, 4, 63);
    let lane = b.rem_const(thread, 4, 63);
    let row_at = b.mul_const(row, 32);
    let lane_at = b.mul_const(lane, 2);
    let inside = b.add(row_at, lane_at);
    let block_at = b.mul_const(block, 16 * 32);
    let at = b.add(block_at, inside);
    let from = b.addr(input, at);
    let x: Vec<Cx> = (0..4)
        .map(|k| {
            let v = b.load(from, 8 * k, 2, Cache::Stream, None);
            Cx { re: v[0], im: v[1] }
        })
        .collect();
    let y = butterfly(&mut b, &x);
    let lane_row = b.mul_const(lane, 8);
    let put_at = b.add(row_at, lane_row);
    let put = b.addr(tile, put_at);
    for (k, y) in y.iter().enumerate() {
        let angle = -std::f64::consts::TAU * k as f64 / 16.0;
        let w = b.cconst(Type::F32, angle.cos(), angle.sin());
        let z = b.cmul(*y, w);
        b.store(put, 2 * k as i32, &[z.re, z.im], Cache::Default, None);
    }
    b.barrier();
    let get = b.addr(tile, inside);
    let x: Vec<Cx> = (0..4)
        .map(|k| {
            let v = b.load(get, 8 * k, 2, Cache::Default, None);
            Cx { re: v[0], im: v[1] }
        })
        .collect();
    let to = b.addr(output, at);
    for (k, y) in butterfly(&mut b, &x).iter().enumerate() {
        b.store(to, 8 * k as i32, &[y.re, y.im], Cache::Stream, None);
    }
    b.finish()
}

/// 1000 elements by fours; the last threads are off. A second buffer is read singly and by pairs.
fn predicated_copy() -> Kernel {
    let mut b = Builder::new("predicated_copy", 128, 2);
    let input = b.buffer("input", Type::F32, Access::Read, 1000);
    let mixed = b.buffer("mixed", Type::F32, Access::Read, 2004);
    let output = b.buffer("output", Type::F32, Access::ReadWrite, 1000);
    let index = global_index(&mut b, 128);
    let end = b.u32(250);
    let on = b.cmp(Cmp::Lt, index, end);
    let at = b.mul_const(index, 4);
    let (from, to) = (b.addr(input, at), b.addr(output, at));
    let x = b.load(from, 0, 4, Cache::ReadOnly, Some(on));
    let other = b.addr(mixed, at);
    let pair = b.load(other, 2, 2, Cache::Default, Some(on));
    let four = b.load(other, 4, 4, Cache::Default, Some(on));
    let sums = [b.add(x[0], pair[0]), b.add(x[1], pair[1]), b.sub(x[2], four[2]), b.sub(x[3], four[3])];
    b.store(to, 0, &sums, Cache::Default, Some(on));
    b.finish()
}

/// Persistent: each block walks over tiles; the carried values change places each turn.
fn walk() -> Kernel {
    let mut b = Builder::new("walk", 32, 70000);
    let data = b.buffer("data", Type::F32, Access::ReadWrite, 1 << 20);
    let thread = b.special(Special::ThreadIndex);
    let (lo, step) = (b.special(Special::BlockIndex), b.special(Special::BlockCount));
    let hi = b.u32(1 << 15);
    let (zero, one) = (b.float(Type::F32, 0.0), b.float(Type::F32, 1.0));
    let sums = b.for_range(lo, hi, step, &[zero, one], |b, i, carried| {
        let tile = b.mul_const(i, 32);
        let at = b.add(tile, thread);
        let ptr = b.addr(data, at);
        let x = b.load(ptr, 0, 1, Cache::Default, None);
        let next = b.fma(x[0], carried[0], carried[1]);
        b.store(ptr, 0, &[next], Cache::Default, None);
        b.barrier();
        vec![carried[1], next]
    });
    let first = b.u32(0);
    let is_first = b.cmp(Cmp::Eq, thread, first);
    b.when(is_first, |b| {
        let ptr = b.addr(data, lo);
        b.store(ptr, 0, &[sums[1]], Cache::Default, None);
    });
    b.finish()
}

/// Integer and predicate arithmetic, and conversions.
fn integers() -> Kernel {
    let mut b = Builder::new("integers", 32, 1);
    let words = b.buffer("words", Type::U32, Access::ReadWrite, 64);
    let signed = b.buffer("signed", Type::I32, Access::ReadWrite, 64);
    let reals = b.buffer("reals", Type::F32, Access::Write, 64);
    let thread = b.special(Special::ThreadIndex);
    let (p, q, r) = (b.addr(words, thread), b.addr(signed, thread), b.addr(reals, thread));
    let x = b.load(p, 0, 1, Cache::Default, None)[0];
    let s = b.load(q, 0, 1, Cache::Default, None)[0];
    let quotient = b.div_const(x, 1_000_003, u64::from(u32::MAX));
    let nine = b.u32(9);
    let mut word = b.binary(Op::Rem, quotient, nine);
    for op in [Op::And, Op::Or, Op::Xor, Op::Min, Op::Max, Op::Sub, Op::MulHi] {
        word = b.binary(op, x, word);
    }
    word = b.binary(Op::Div, word, nine);
    let two = b.u32(2);
    word = b.binary(Op::Shl, word, two);
    let least = b.pure(Op::Const(u64::from(i32::MIN as u32)), Type::I32, &[]);
    let minus = b.pure(Op::Const(u64::from(-5_i32 as u32)), Type::I32, &[]);
    let mut number = b.binary(Op::Max, s, least);
    number = b.binary(Op::Min, minus, number);
    number = b.binary(Op::Shr, number, two);
    number = b.binary(Op::Div, number, minus);
    let (less, more) = (b.cmp(Cmp::Le, s, minus), b.cmp(Cmp::Gt, x, word));
    let both = b.binary(Op::And, less, more);
    let either = b.binary(Op::Or, less, both);
    let one_of = b.binary(Op::Xor, either, more);
    let chosen = b.select(less, one_of, both);
    number = b.select(chosen, number, minus);
    let real = b.convert(Type::F32, number);
    let again = b.convert(Type::U32, real);
    let mixed = b.convert(Type::I32, x);
    let (low, high) = (b.pure(Op::Min, Type::F32, &[real, real]), b.float(Type::F32, 1e-40));
    let clipped = b.binary(Op::Max, low, high);
    let total = b.add(word, again);
    b.store(p, 0, &[total], Cache::Default, None);
    b.store(q, 32, &[mixed], Cache::Default, Some(chosen));
    b.store(r, 0, &[clipped], Cache::Default, None);
    b.finish()
}

/// f64 arithmetic, shared memory and constants that need all digits.
fn doubles() -> Kernel {
    let mut b = Builder::new("doubles", 32, 1);
    let data = b.buffer("data", Type::F64, Access::ReadWrite, 64);
    let tile = b.shared("tile", Type::F64, 64);
    let words = b.shared("words", Type::U32, 3);
    let thread = b.special(Special::ThreadIndex);
    let at = b.mul_const(thread, 2);
    let (p, s) = (b.addr(data, at), b.addr(tile, at));
    let x = b.load(p, 0, 2, Cache::Default, None);
    let w = b.cconst(Type::F64, 0.1, -1e-300);
    let y = b.cmul(Cx { re: x[0], im: x[1] }, w);
    b.store(s, 0, &[y.re, y.im], Cache::Default, None);
    let zero = b.u32(0);
    let slot = b.addr(words, zero);
    let first = b.cmp(Cmp::Eq, thread, zero);
    b.store(slot, 2, &[thread], Cache::Default, Some(first));
    b.barrier();
    let count = b.load(slot, 2, 1, Cache::Default, None)[0];
    let thirty = b.u32(30);
    let back = b.sub(thirty, at);
    let turned = b.ptr_add(s, back);
    let z = b.load(turned, 0, 2, Cache::Default, Some(first));
    let narrow = b.convert(Type::F32, z[0]);
    let wide = b.convert(Type::F64, narrow);
    let offset = b.convert(Type::F64, count);
    let sum = b.add(wide, offset);
    b.store(p, 0, &[sum, z[1]], Cache::Default, None);
    b.finish()
}

/// Values of other lanes, 32 and 64 bits wide.
fn shuffles() -> Kernel {
    let mut b = Builder::new("shuffles", 32, 1);
    let data = b.buffer("data", Type::F32, Access::ReadWrite, 32);
    let lane = b.special(Special::Lane);
    let p = b.addr(data, lane);
    let x = b.load(p, 0, 1, Cache::Default, None)[0];
    let one = b.u32(1);
    let across = b.shuffle(ShuffleMode::Xor, x, one);
    let next = b.add_const(lane, 1);
    let next = b.rem_const(next, 32, 32);
    let rotated = b.shuffle(ShuffleMode::Index, across, next);
    let sum = b.add(x, rotated);
    b.store(p, 0, &[sum], Cache::Default, None);
    b.finish()
}

/// f16 arithmetic.
fn halves() -> Kernel {
    let mut b = Builder::new("halves", 32, 1);
    let data = b.buffer("data", Type::F16, Access::ReadWrite, 128);
    let thread = b.special(Special::ThreadIndex);
    let at = b.mul_const(thread, 4);
    let p = b.addr(data, at);
    let x = b.load(p, 0, 4, Cache::Default, None);
    let w = b.cconst(Type::F16, 0.1, -0.7);
    let y = b.cmul(Cx { re: x[0], im: x[1] }, w);
    let wide = b.convert(Type::F32, x[2]);
    let wide = b.cmp(Cmp::Lt, wide, wide);
    let z = b.select(wide, x[3], w.re);
    let sum = b.add(y.im, z);
    b.store(p, 0, &[y.re, sum, x[2], z], Cache::Default, None);
    b.finish()
}

/// Numbers of 16 bits that are not everywhere, two and four at a time.
fn guarded_halves() -> Kernel {
    let mut b = Builder::new("guarded_halves", 32, 1);
    let data = b.buffer("data", Type::F16, Access::ReadWrite, 120);
    let thread = b.special(Special::ThreadIndex);
    let (four, two) = (b.u32(20), b.u32(10));
    let [four, two] = [four, two].map(|end| b.cmp(Cmp::Lt, thread, end));
    let at = b.mul_const(thread, 4);
    let p = b.addr(data, at);
    let x = b.load(p, 0, 4, Cache::Default, Some(four));
    let y = b.load(p, 80, 2, Cache::Stream, Some(two));
    let [re, im] = [0, 1].map(|i| {
        let (x, y) = (b.convert(Type::F32, x[i]), b.convert(Type::F32, y[i]));
        let sum = b.add(x, y);
        b.convert(Type::F16, sum)
    });
    b.store(p, 0, &[re, im, x[3], x[2]], Cache::Default, Some(four));
    b.finish()
}

/// 64-bit indices and f64 shuffles.
fn wide_indices() -> Kernel {
    let mut b = Builder::new("wide_indices", 32, 1 << 20);
    let data = b.buffer("data", Type::F64, Access::ReadWrite, 1 << 36);
    let tile = b.shared("tile", Type::F64, 32);
    let lane = b.special(Special::Lane);
    let block = b.special(Special::BlockIndex);
    let (block, wide_lane) = (b.convert(Type::U64, block), b.convert(Type::U64, lane));
    let row = b.mul_const(block, 3 << 14);
    let at = b.add(row, wide_lane);
    let base = b.addr(data, at);
    let far = b.u64(1 << 33);
    let p = b.ptr_add(base, far);
    let x = b.load(p, -4, 1, Cache::Default, None)[0];
    let five = b.u32(5);
    let y = b.shuffle(ShuffleMode::Xor, x, five);
    let s = b.addr(tile, wide_lane);
    b.store(s, 0, &[y], Cache::Default, None);
    b.barrier();
    let z = b.load(s, 0, 1, Cache::Default, None)[0];
    let z = b.neg(z);
    b.store(base, 1 << 20, &[z], Cache::Default, None);
    b.finish()
}

/// A counter that blocks share.
fn counters() -> Kernel {
    let mut b = Builder::new("counters", 32, 64);
    let counter = b.buffer("counter", Type::U32, Access::ReadWrite, 2);
    let zero = b.u32(0);
    let p = b.addr(counter, zero);
    let one = b.u32(1);
    let old = b.impure(Op::AtomicAdd { relaxed: false }, &[p, one], &[Type::U32])[0];
    let ticket = b.impure(Op::AtomicAdd { relaxed: true }, &[p, one], &[Type::U32])[0];
    b.effect(Op::CounterAdd, &[p, one]);
    b.effect(Op::CounterWait, &[p, ticket]);
    let now = b.impure(Op::AtomicLoad, &[p], &[Type::U32])[0];
    let sum = b.add(old, now);
    let last = b.cmp(Cmp::Ge, sum, one);
    b.when(last, |b| b.store(p, 1, &[sum], Cache::Default, None));
    b.finish()
}

/// Every cache policy.
fn cached() -> Kernel {
    let mut b = Builder::new("cached", 64, 4);
    let input = b.buffer("input", Type::F32, Access::Read, 1024);
    let scratch = b.buffer("scratch", Type::F32, Access::ReadWrite, 1024);
    let index = global_index(&mut b, 64);
    let at = b.mul_const(index, 4);
    let (from, to) = (b.addr(input, at), b.addr(scratch, at));
    let bytes = b.u32(1024);
    let some = b.cmp(Cmp::Lt, index, bytes);
    b.effect(Op::BulkPrefetch { predicated: true }, &[from, bytes, some]);
    let a = b.load(from, 0, 4, Cache::Stream, None);
    let c = b.load(to, 0, 4, Cache::Keep, None);
    let d = b.load(to, 4, 4, Cache::L2, None);
    let e = b.load(from, 4, 4, Cache::L2Wide, None);
    let sums: Vec<Value> = a.iter().zip(&c).map(|(&a, &c)| b.add(a, c)).collect();
    b.store(to, 0, &sums, Cache::Keep, None);
    b.store(to, 8, &d, Cache::L2, None);
    b.store(to, 12, &e, Cache::L2Wide, None);
    b.finish()
}

/// bfloat16 arithmetic.
fn bfloat() -> Kernel {
    let mut b = Builder::new("bfloat", 32, 1);
    let data = b.buffer("data", Type::Bf16, Access::ReadWrite, 64);
    let thread = b.special(Special::ThreadIndex);
    let at = b.mul_const(thread, 2);
    let p = b.addr(data, at);
    let x = b.load(p, 0, 2, Cache::Default, None);
    let w = b.float(Type::Bf16, 0.1);
    let y = b.fma(x[0], w, x[1]);
    let y = b.mul(y, x[0]);
    let wide = b.convert(Type::F64, y);
    let z = b.convert(Type::Bf16, wide);
    let low = b.binary(Op::Min, y, z);
    let half = b.convert(Type::F16, low);
    let half = b.convert(Type::Bf16, half);
    b.store(p, 0, &[half, low], Cache::Default, None);
    b.finish()
}
