//! Each fault is provoked once, in a kernel that is right but for it.

use super::*;
use crate::kernel::{Access, Block, Builder, Cache, Cmp, ShuffleMode, Special};

/// A kernel that uses loops, branches and both kinds of memory, and is right.
fn right() -> Kernel {
    let mut b = Builder::new("right", 64, 8);
    let input = b.buffer("input", Type::F32, Access::Read, 1024);
    let output = b.buffer("output", Type::F32, Access::Write, 1024);
    let tile = b.shared("tile", Type::F32, 128);
    let i = b.special(Special::ThreadIndex);
    let from = b.addr(input, i);
    let x = b.load(from, 0, 1, Cache::ReadOnly, None)[0];
    let to = b.addr(tile, i);
    b.store(to, 0, &[x], Cache::Default, None);
    b.barrier();
    let (zero, four, one) = (b.u32(0), b.u32(4), b.u32(1));
    let sum = b.for_range(zero, four, one, &[x], |b, j, carried| {
        let at = b.add(i, j);
        let at = b.addr(tile, at);
        let y = b.load(at, 0, 1, Cache::Default, None)[0];
        vec![b.add(carried[0], y)]
    });
    let half = b.u32(32);
    let low = b.cmp(Cmp::Lt, i, half);
    let out = b.addr(output, i);
    b.when(low, |b| b.store(out, 4, &sum, Cache::Stream, None));
    b.finish()
}

/// The error after a change to the right kernel.
fn fault(change: impl FnOnce(&mut Kernel)) -> KernelError {
    let mut kernel = right();
    change(&mut kernel);
    verify(kernel).expect_err("the change made the kernel wrong")
}

/// The error of a kernel whose body the closure writes.
fn written(body: impl FnOnce(&mut Builder)) -> KernelError {
    let mut b = Builder::new("written", 32, 4);
    body(&mut b);
    verify(b.finish()).expect_err("the body is wrong")
}

/// The first instruction of that name anywhere.
fn find<'k>(block: &'k mut Block, name: &str) -> &'k mut Inst {
    let i = block.insts.iter().position(|inst| inst.op.info().name == name).expect("there is one");
    &mut block.insts[i]
}

#[test]
fn the_right_kernel_passes_unchanged() {
    let kernel = right();
    assert_eq!(verify(kernel.clone()).expect("it is right").into_inner(), kernel);
}

#[test]
fn names() {
    for name in ["", "1st", "a-b", "é", "__x", "_"] {
        let wrong = fault(|k| k.buffers[1].name = name.into());
        assert_eq!(wrong, KernelError::Name { what: "a buffer", name: name.into() });
    }
    assert!(matches!(fault(|k| k.name = "a b".into()), KernelError::Name { what: "the kernel", .. }));
    assert_eq!(
        fault(|k| k.shared[0].name = "input".into()),
        KernelError::DuplicateName { name: "input".into() }
    );
}

#[test]
fn sizes() {
    let size = |change: fn(&mut Kernel)| match fault(change) {
        KernelError::Size { value, .. } => value,
        other => panic!("{other}"),
    };
    assert_eq!(size(|k| k.threads = 0), 0);
    assert_eq!(size(|k| k.threads = 1025), 1025);
    assert_eq!(size(|k| k.cluster = 0), 0);
    assert_eq!(size(|k| k.cluster = 17), 17);
    assert_eq!(size(|k| k.cluster = 3), 8, "8 blocks are no whole number of clusters of 3");
    assert_eq!(size(|k| k.blocks = 0), 0);
    assert_eq!(size(|k| k.blocks = 1 << 32), 1 << 32);
    assert_eq!(size(|k| k.buffers[0].len = 0), 0);
    assert_eq!(size(|k| k.buffers[0].len = u64::MAX), u64::MAX);
    assert_eq!(size(|k| k.shared[0].len = 0), 0);
    assert_eq!(size(|k| k.shared[0].len = u32::MAX), u64::from(u32::MAX));
    assert!(matches!(fault(|k| k.buffers[0].elem = Type::Bool), KernelError::ElementType { .. }));
}

#[test]
fn values() {
    let none = Value(9999);
    assert!(matches!(
        fault(|k| find(&mut k.body, "addr").args[0] = none),
        KernelError::NoSuchValue { value, at: Site { op: Op::Addr, .. }, .. } if value == none
    ));
    assert!(matches!(fault(|k| k.body.insts.swap(0, 1)), KernelError::Undefined { at, .. } if at.inst == 0));
    let inner = |k: &mut Kernel| {
        let inside = find(&mut k.body, "loop").blocks[0].yields[0];
        find(&mut find(&mut k.body, "if").blocks[0], "store").args[1] = inside;
    };
    assert!(matches!(fault(inner), KernelError::Undefined { at: Site { op: Op::Store { .. }, .. }, .. }));
    let twice = |k: &mut Kernel| {
        let again = k.body.insts[0].clone();
        k.body.insts.insert(1, again);
    };
    assert!(matches!(fault(twice), KernelError::Redefined { at, .. } if at.inst == 1));
    assert!(matches!(fault(|k| k.shared.clear()), KernelError::NoSuchArray { .. }));
}

#[test]
fn counts() {
    let count = |change: fn(&mut Kernel)| match fault(change) {
        KernelError::Count { what, expected, got, .. } => (what, expected, got),
        other => panic!("{other}"),
    };
    assert_eq!(count(|k| find(&mut k.body, "addr").args.clear()), ("arguments", 1, 0));
    assert_eq!(count(|k| find(&mut k.body, "load").results.clear()), ("results", 1, 0));
    assert_eq!(count(|k| find(&mut k.body, "loop").blocks.clear()), ("blocks", 1, 0));
    assert_eq!(count(|k| find(&mut k.body, "loop").results.clear()), ("results", 1, 0));
    assert_eq!(count(|k| find(&mut k.body, "loop").blocks[0].params.truncate(1)), ("parameters", 2, 1));
    assert_eq!(count(|k| find(&mut k.body, "loop").blocks[0].yields.clear()), ("yields", 1, 0));
    assert_eq!(count(|k| k.body.yields.push(Value(0))), ("yields", 0, 1));
    assert_eq!(count(|k| k.body.params.push(Value(0))), ("parameters of the body", 0, 1));
}

#[test]
fn types() {
    let ty = |body: fn(&mut Builder)| match written(body) {
        KernelError::Type { what, expected, got, .. } => (what, expected, got),
        other => panic!("{other}"),
    };
    let mixed = ty(|b| {
        let (x, y) = (b.special(Special::Lane), b.float(Type::F32, 2.0));
        b.pure(Op::Add, Type::U32, &[x, y]);
    });
    assert_eq!(mixed, ("argument", "u32".into(), Type::F32));
    let float = ty(|b| {
        let x = b.special(Special::Lane);
        b.pure(Op::Neg, Type::U32, &[x]);
    });
    assert_eq!(float, ("argument", "a float".into(), Type::U32));
    let result = ty(|b| {
        let (x, y) = (b.special(Special::Lane), b.special(Special::BlockIndex));
        b.pure(Op::Mul, Type::U64, &[x, y]);
    });
    assert_eq!(result, ("result", "u32".into(), Type::U64));
    let shared = ty(|b| {
        let (data, i) = (b.shared("data", Type::F32, 4), b.special(Special::Lane));
        let data = b.addr(data, i);
        b.effect(Op::BarrierArrive, &[data]);
    });
    assert_eq!(shared.1, "pointer to a shared array of u64");
    let stored = ty(|b| {
        let (data, i) = (b.shared("data", Type::F32, 4), b.special(Special::Lane));
        let data = b.addr(data, i);
        b.store(data, 0, &[i], Cache::Default, None);
    });
    assert_eq!(stored, ("argument", "f32".into(), Type::U32));
    let lane = ty(|b| {
        let (yes, one) = (b.special(Special::Lane), b.u32(1));
        let yes = b.cmp(Cmp::Lt, yes, one);
        b.shuffle(ShuffleMode::Xor, yes, one);
    });
    assert_eq!(lane, ("argument", "a 32-bit number or f64".into(), Type::Bool));
    let yields = fault(|k| {
        let block = &mut find(&mut k.body, "loop").blocks[0];
        block.yields[0] = block.params[0];
    });
    assert!(matches!(yields, KernelError::Type { what: "yield", got: Type::U32, .. }));
    let params = fault(|k| {
        let index = find(&mut k.body, "loop").blocks[0].params[0];
        k.types[index.0 as usize] = Type::U64;
    });
    assert!(matches!(params, KernelError::Type { what: "parameter", got: Type::U64, .. }));
}

#[test]
fn accesses() {
    let width = |elem: Type, width: u8| {
        written(|b| {
            let (data, i) = (b.buffer("data", elem, Access::ReadWrite, 64), b.special(Special::Lane));
            let data = b.addr(data, i);
            b.load(data, 0, width, Cache::Default, None);
        })
    };
    for (elem, n) in [(Type::F64, 4), (Type::F32, 3), (Type::F16, 8), (Type::U32, 0)] {
        assert!(matches!(width(elem, n), KernelError::Width { width, .. } if width == n), "{elem} x {n}");
    }
    let declared = |i: usize, access| fault(move |k| k.buffers[i].access = access);
    assert!(matches!(declared(0, Access::Write), KernelError::Access { does: "reads", .. }));
    assert!(matches!(declared(1, Access::Read), KernelError::Access { does: "writes", .. }));
    assert!(matches!(declared(0, Access::ReadWrite), KernelError::ReadOnlyPath { .. }));
    let store = |k: &mut Kernel| {
        let Op::Store { cache, .. } = &mut find(&mut find(&mut k.body, "if").blocks[0], "store").op else {
            panic!("a store")
        };
        *cache = Cache::ReadOnly;
    };
    assert!(matches!(fault(store), KernelError::ReadOnlyPath { .. }));
    let atomic = written(|b| {
        let (data, i) = (b.buffer("data", Type::U32, Access::Read, 64), b.special(Special::Lane));
        let data = b.addr(data, i);
        b.impure(Op::AtomicAdd { relaxed: false }, &[data, i], &[Type::U32]);
    });
    assert!(matches!(atomic, KernelError::Access { does: "writes", declared: "read", .. }));
    let narrow = written(|b| {
        b.cluster(2);
        let (data, ticket) = (b.shared("data", Type::F16, 8), b.shared("ticket", Type::U64, 1));
        let (i, x) = (b.special(Special::ClusterRank), b.float(Type::F16, 1.0));
        let (data, ticket) = (b.addr(data, i), b.addr(ticket, i));
        let data = b.pure(Op::MapRemote, Type::Ptr(Space::Remote(0)), &[data, i]);
        let ticket = b.pure(Op::MapRemote, Type::Ptr(Space::Remote(1)), &[ticket, i]);
        b.effect(Op::RemoteStoreAsync { width: 1, offset: 0 }, &[data, ticket, x]);
    });
    assert!(matches!(narrow, KernelError::Width { elem: Type::F16, .. }));
}

#[test]
fn a_wait_for_the_launch_before_comes_first() {
    let late = written(|b| {
        b.special(Special::ThreadIndex);
        b.effect(Op::LaunchWait, &[]);
    });
    assert!(matches!(late, KernelError::NotFirst { at: Site { inst: 1, op: Op::LaunchWait } }));
}

#[test]
fn clusters() {
    let alone = written(|b| b.effect(Op::ClusterWait, &[]));
    assert!(matches!(alone, KernelError::NoCluster { at: Site { inst: 0, op: Op::ClusterWait } }));
    let other = written(|b| {
        b.cluster(2);
        let (data, _) = (b.shared("data", Type::F32, 8), b.shared("more", Type::F32, 8));
        let i = b.special(Special::ClusterRank);
        let data = b.addr(data, i);
        b.pure(Op::MapRemote, Type::Ptr(Space::Remote(1)), &[data, i]);
    });
    assert!(matches!(other, KernelError::Type { what: "result", .. }));
    let nobody = written(|b| {
        let (ticket, i) = (b.shared("ticket", Type::U64, 8), b.special(Special::Lane));
        let ticket = b.addr(ticket, i);
        b.effect(Op::BarrierInit { count: 0 }, &[ticket]);
    });
    assert!(matches!(nobody, KernelError::Size { value: 0, .. }));
}

#[test]
fn constants() {
    let wrong = [
        (Type::Bool, 2),
        (Type::U32, 1 << 32),
        (Type::F64, f64::NAN.to_bits()),
        (Type::F64, f64::INFINITY.to_bits()),
        (Type::F32, 0.1_f64.to_bits()),
        (Type::F16, 1e6_f64.to_bits()),
        (Type::Bf16, 1.001_f64.to_bits()),
    ];
    for (ty, bits) in wrong {
        let error = written(|b| {
            b.pure(Op::Const(bits), ty, &[]);
        });
        assert!(
            matches!(error, KernelError::Constant { bits: b, .. } if b == bits),
            "{ty} {bits:#x}: {error}"
        );
    }
}

#[test]
fn messages_name_the_instruction() {
    let error = fault(|k| find(&mut k.body, "addr").args.clear());
    assert_eq!(error.to_string(), "instruction 1 (addr): arguments number 0, expected 1");
}
