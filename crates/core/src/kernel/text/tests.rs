//! Printing and parsing are inverses.

use proptest::prelude::*;

use super::{parse, print};
use crate::kernel::{
    Access, Block, Builder, Cache, Cmp, Inst, Kernel, MmaShape, Op, ShuffleMode, Space, Special, Type, Value,
};

/// One instruction of every operation, with attributes at their extremes. The form is right; the types need
/// not be.
fn every_op() -> Kernel {
    let mut b = Builder::new("every_op", 128, 32);
    b.cluster(2).min_blocks(4);
    b.buffer("input", Type::F32, Access::Read, 4096);
    b.buffer("output", Type::F64, Access::Write, 1 << 40);
    b.buffer("both", Type::U32, Access::ReadWrite, 1);
    b.shared("tile", Type::Bf16, 1056);
    b.shared("ticket", Type::U64, 1);
    let global = b.pure(Op::Const(7), Type::Ptr(Space::Global(1)), &[]);
    let shared = b.pure(Op::Const(7), Type::Ptr(Space::Shared(0)), &[]);
    let remote = b.pure(Op::Const(7), Type::Ptr(Space::Remote(1)), &[]);
    let on = b.bool(true);
    for op in Op::plain().filter(|op| op.block_count() == 0) {
        b.impure(op, &[global, remote], &[Type::I32, Type::F16]);
    }
    for cache in [Cache::Default].into_iter().chain(Cache::HINTS) {
        for (width, offset, predicated) in [(1, 0, false), (2, i32::MIN, true), (4, i32::MAX, false)] {
            b.impure(Op::Load { width, offset, cache, predicated }, &[global, on], &[Type::F64, Type::F32]);
            b.effect(Op::Store { width, offset, cache, predicated }, &[shared, global, on]);
        }
    }
    b.effect(Op::RemoteStoreAsync { width: 4, offset: -16 }, &[remote, remote, on]);
    b.effect(Op::BarrierInit { count: u32::MAX }, &[shared]);
    b.effect(Op::BulkWait { pending: 3 }, &[]);
    b.effect(Op::BulkPrefetch { predicated: true }, &[global, on, on]);
    b.effect(Op::BulkPrefetch { predicated: false }, &[global, on]);
    let (lo, hi) = (b.u32(0), b.u32(u32::MAX));
    b.for_range(lo, hi, lo, &[on, global], |b, i, carried| {
        b.when(on, |b| b.when(on, Builder::barrier));
        let x = b.mul(i, i);
        b.for_range(lo, x, lo, &[], |_, _, _| Vec::new());
        vec![carried[0], carried[1]]
    });
    b.finish()
}

#[test]
fn every_operation_comes_back() {
    let kernel = every_op();
    let text = print(&kernel);
    assert_eq!(parse(&text), Ok(kernel), "{text}");
}

#[test]
fn every_plain_name_is_its_own() {
    let names: std::collections::HashSet<String> = Op::plain().map(|op| op.to_string()).collect();
    assert_eq!(names.len(), Op::plain().count());
    assert!(names.contains(&Op::Mma(MmaShape::M16N8K16F16).to_string()));
    assert!(names.contains(&Op::Shuffle(ShuffleMode::Index).to_string()));
}

#[test]
fn text_reads_as_documented() {
    let mut b = Builder::new("scale", 128, 32);
    let data = b.buffer("data", Type::F32, Access::ReadWrite, 4096);
    let i = b.special(Special::ThreadIndex);
    let at = b.addr(data, i);
    let few = b.u32(100);
    let on = b.cmp(Cmp::Lt, i, few);
    let x = b.load(at, 16, 2, Cache::Stream, Some(on));
    let half = b.float(Type::F32, 0.1);
    let y = b.mul(x[0], half);
    b.store(at, -16, &[y], Cache::Default, None);
    let expected = "\
kernel scale threads=128 blocks=32 cluster=1 min_blocks=0
buffer data: f32[4096] read_write
body:
  %0: u32 = thread_index
  %1: ptr.global.data = addr %0
  %2: u32 = const 100
  %3: bool = cmp.lt %0, %2
  %4: f32, %5: f32 = load.2.stream %1 +16 if %3
  %6: f32 = const 0.1
  %7: f32 = mul %4, %6
  store.1 %1 -16, %7
";
    assert_eq!(print(&b.finish()), expected);
}

#[test]
fn errors_name_line_and_expectation() {
    let head = "kernel k threads=1 blocks=1 cluster=1 min_blocks=0\nbuffer a: f32[4] read\nbody:\n";
    let wrong = [
        ("", 1, "kernel NAME"),
        ("kernel k threads=x", 1, "a number in range"),
        ("kernel k threads=1 blocks=1 cluster=1 min_blocks=0\n\nbuffer a: f31[4] read", 3, "a type"),
        (
            "kernel k threads=1 blocks=1 cluster=1 min_blocks=0\nbuffer a: f32[4] rw",
            2,
            "read, write or read_write",
        ),
    ];
    for (text, line, expected) in wrong {
        let error = parse(text).expect_err(text);
        assert_eq!((error.line, error.expected), (line, expected), "{text}");
    }
    let wrong = [
        ("%0: u32 = frobnicate", "an operation with its attributes"),
        ("%0: u32 = load.x %0", "an operation with its attributes"),
        ("bulk_wait.1.stream", "an operation with its attributes"),
        ("%0: ptr.global.b = addr %0", "a pointer to a declared array"),
        ("%0: u32 = const -1", "a constant of the result's type"),
        ("%0: bool = const 1", "a constant of the result's type"),
        ("%0: u32 = lane\n%0: u32 = lane", "a value that is not defined above"),
        ("%4000000000: u32 = lane", "a smaller value number"),
        ("barrier if %0", "neither offset nor predicate for this operation"),
        ("%1: u32 = lane", "a definition or an `unused` line for every value number"),
        ("if %0 {\nbarrier", "}"),
        ("barrier\n}", "an instruction or the end"),
        ("barrier barrier", "the end of the line"),
    ];
    for (text, expected) in wrong {
        let error = parse(&format!("{head}{text}")).expect_err(text);
        assert_eq!(error.expected, expected, "{text}: {error}");
        assert!(error.line > 3, "{text}: {error}");
    }
}

#[test]
fn numbers_that_a_type_cannot_hold_come_back_as_bits() {
    let mut b = Builder::new("odd", 1, 1);
    for ty in [Type::Bool, Type::I32, Type::U32, Type::F16, Type::Bf16, Type::F32, Type::F64] {
        for bits in [1 << 40, f64::NAN.to_bits(), f64::INFINITY.to_bits(), u64::MAX, 0.1_f64.to_bits()] {
            b.pure(Op::Const(bits), ty, &[]);
        }
    }
    let kernel = b.finish();
    assert_eq!(parse(&print(&kernel)), Ok(kernel));
}

fn scalar() -> impl Strategy<Value = Type> {
    prop::sample::select(Type::SCALARS.map(|(ty, _)| ty).to_vec())
}

proptest! {
    #[test]
    fn random_straight_lines_come_back(
        rows in prop::collection::vec((any::<prop::sample::Index>(), scalar(), any::<u64>(), 0..4_usize), 0..60),
        name in "[a-z][a-z0-9_]{0,8}",
    ) {
        let ops: Vec<Op> = Op::plain().filter(|op| op.block_count() == 0).collect();
        let mut kernel = Kernel {
            name, buffers: vec![], shared: vec![], threads: 1, cluster: 1, blocks: 1, min_blocks: 0, at_run: None,
            types: vec![Type::U32], body: Block::default(),
        };
        for (pick, ty, bits, arity) in rows {
            let known = kernel.types.len() as u64;
            let (op, args) = if arity == 0 {
                // Floats are taken at random among those that the type represents, half of the time.
                let float = f64::from(f32::from_bits(bits as u32)).to_bits();
                (Op::Const(if bits % 2 == 0 && ty.is_float() { float } else { bits }), vec![])
            } else {
                let args = (0..arity as u32).map(|i| Value((bits.rotate_left(13 * i) % known) as u32));
                (ops[pick.index(ops.len())], args.collect())
            };
            kernel.types.push(ty);
            let results = vec![Value(known as u32)];
            kernel.body.insts.push(Inst { op, args, results, blocks: vec![] });
        }
        prop_assert_eq!(parse(&print(&kernel)), Ok(kernel));
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "(kernel|buffer|body:|%[0-9]|: |=|load|\\.|[a-z{}+,\\-]|\n| ){0,40}") {
        let _ = parse(&text);
        let _ = parse(&format!("kernel k threads=1 blocks=1 cluster=1 min_blocks=0\nbody:\n{text}"));
    }
}
