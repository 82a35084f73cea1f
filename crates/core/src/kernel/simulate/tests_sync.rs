//! Clusters, transaction barriers and bulk copies: right and wrong.

use super::super::{Access, Builder, Cache, Cmp, Op, Space, Special, Type, Value};
use super::tests::{blank, f32s, floats, run, thread};
use super::{Fault, GlobalBuffer, Memory, Touch};

pub(super) fn cluster_barrier(b: &mut Builder, relaxed: bool) {
    b.effect(Op::ClusterArrive { relaxed }, &[]);
    b.effect(Op::ClusterWait, &[]);
}

/// The rank of the other block of a pair.
fn other_rank(b: &mut Builder) -> Value {
    let rank = b.special(Special::ClusterRank);
    let one = b.u32(1);
    b.binary(Op::Xor, rank, one)
}

pub(super) fn remote(b: &mut Builder, ptr: Value, rank: Value) -> Value {
    let Type::Ptr(Space::Shared(array)) = b.ty(ptr) else { panic!("not shared") };
    b.impure(Op::MapRemote, &[ptr, rank], &[Type::Ptr(Space::Remote(array))])[0]
}

pub(super) fn only_thread(b: &mut Builder, index: u32, body: impl FnOnce(&mut Builder)) {
    let t = thread(b);
    let index = b.u32(index);
    let is = b.cmp(Cmp::Eq, t, index);
    b.when(is, body);
}

/// Which cluster barriers an exchange of two blocks has.
#[derive(Clone, Copy)]
struct Sync {
    start: bool,
    /// Between the stores and the loads: none, relaxed, or with release.
    middle: Option<bool>,
    end: bool,
}

/// Two blocks hand each other their floats by plain remote stores; reads in the end through remote memory.
fn exchange(sync: Sync) -> Result<GlobalBuffer, Fault> {
    let mut b = Builder::new("exchange", 32, 2);
    b.cluster(2);
    let output = b.buffer("output", Type::U32, Access::Write, 64);
    let tile = b.shared("tile", Type::U32, 32);
    let (t, rank) = (thread(&mut b), b.special(Special::ClusterRank));
    let first = b.mul_const(rank, 32);
    let index = b.add(first, t);
    if sync.start {
        cluster_barrier(&mut b, true);
    }
    let own = b.addr(tile, t);
    let other = other_rank(&mut b);
    let far = remote(&mut b, own, other);
    b.store(far, 0, &[index], Cache::Default, None);
    if let Some(relaxed) = sync.middle {
        cluster_barrier(&mut b, relaxed);
    }
    let value = b.load(own, 0, 1, Cache::Default, None);
    let back = b.load(far, 0, 1, Cache::Default, None);
    let sum = b.add(value[0], back[0]);
    let to = b.addr(output, index);
    b.store(to, 0, &[sum], Cache::Default, None);
    if sync.end {
        cluster_barrier(&mut b, true);
    }
    let mut output = blank(Type::U32, 64);
    run(&b.finish(), &mut [&mut output])?;
    Ok(output)
}

#[test]
fn clusters_exchange_through_remote_memory() {
    let right = Sync { start: true, middle: Some(false), end: true };
    let expected = (0..64).map(|i| 32 + 2 * (i % 32)).collect();
    assert_eq!(exchange(right).unwrap().data, Memory::U32(expected));
    for middle in [None, Some(true)] {
        let fault = exchange(Sync { middle, ..right }).unwrap_err();
        let Fault::Race { at, array, element, touch, other_touch, .. } = fault else { panic!("{fault}") };
        assert_eq!((at.block, at.thread, array.as_str(), element), (0, 0, "tile", 0));
        assert_eq!((touch, other_touch), (Touch::Read, Touch::Write));
    }
    let fault = exchange(Sync { start: false, ..right }).unwrap_err();
    assert!(
        matches!(fault, Fault::RemoteLifetime { ref array, element: 0, .. } if array == "tile"),
        "{fault}"
    );
    let fault = exchange(Sync { end: false, ..right }).unwrap_err();
    assert!(matches!(fault, Fault::Unfinished { .. }), "{fault}");
}

#[test]
fn a_cluster_barrier_needs_the_whole_cluster() {
    let mut b = Builder::new("half", 32, 2);
    b.cluster(2);
    let rank = b.special(Special::ClusterRank);
    let zero = b.u32(0);
    let first = b.cmp(Cmp::Eq, rank, zero);
    b.when(first, Builder::barrier);
    b.when(first, |b| cluster_barrier(b, false));
    let fault = run(&b.finish(), &mut []).unwrap_err();
    let Fault::DivergentBarrier { at, .. } = fault else { panic!("{fault}") };
    assert_eq!(at.op, Op::ClusterArrive { relaxed: false });
    let mut b = Builder::new("unmatched", 32, 1);
    b.effect(Op::ClusterWait, &[]);
    let fault = run(&b.finish(), &mut []).unwrap_err();
    assert!(matches!(fault, Fault::BadBarrier { ref array, .. } if array == "cluster"), "{fault}");
}

/// What an exchange by asynchronous stores leaves out or gets wrong.
#[derive(Clone, Copy, PartialEq)]
enum Slip {
    None,
    NoWait,
    NoInitFence,
    /// The cluster barrier after the set-up is a relaxed one; with or without the fence.
    Relaxed(bool),
    TooManyBytes,
    NoExpect,
    /// Only thread 0 waits, and a block barrier tells the others.
    OneWaits(bool),
}

fn async_exchange(slip: Slip) -> Result<GlobalBuffer, Fault> {
    let mut b = Builder::new("async_exchange", 32, 2);
    b.cluster(2);
    let output = b.buffer("output", Type::F32, Access::Write, 128);
    let tile = b.shared("tile", Type::F32, 64);
    let bars = b.shared("bars", Type::U64, 1);
    let (t, zero, rank) = (thread(&mut b), b.u32(0), b.special(Special::ClusterRank));
    let bar = b.addr(bars, zero);
    only_thread(&mut b, 0, |b| {
        b.effect(Op::BarrierInit { count: 1 }, &[bar]);
        if !matches!(slip, Slip::NoInitFence | Slip::Relaxed(false)) {
            b.effect(Op::BarrierInitFence, &[]);
        }
        if slip != Slip::NoExpect {
            let bytes = b.u32(if slip == Slip::TooManyBytes { 512 } else { 256 });
            b.effect(Op::BarrierExpect, &[bar, bytes]);
        }
    });
    cluster_barrier(&mut b, matches!(slip, Slip::Relaxed(_)));
    let pair = b.mul_const(t, 2);
    let own = b.addr(tile, pair);
    let other = other_rank(&mut b);
    let (far, far_bar) = (remote(&mut b, own, other), remote(&mut b, bar, other));
    let value = b.convert(Type::F32, pair);
    let rank_value = b.convert(Type::F32, rank);
    b.effect(Op::RemoteStoreAsync { width: 2, offset: 0 }, &[far, far_bar, value, rank_value]);
    match slip {
        Slip::NoWait => {}
        Slip::OneWaits(barrier) => {
            only_thread(&mut b, 0, |b| b.effect(Op::BarrierWait, &[bar, zero]));
            if barrier {
                b.barrier();
            }
        }
        _ => b.effect(Op::BarrierWait, &[bar, zero]),
    }
    let got = b.load(own, 0, 2, Cache::Default, None);
    let first = b.mul_const(rank, 64);
    let index = b.add(first, pair);
    let to = b.addr(output, index);
    b.store(to, 0, &got, Cache::Default, None);
    let mut output = blank(Type::F32, 128);
    run(&b.finish(), &mut [&mut output])?;
    Ok(output)
}

#[test]
fn asynchronous_stores_complete_on_their_barrier() {
    for slip in [Slip::None, Slip::Relaxed(true), Slip::OneWaits(true)] {
        let output = async_exchange(slip).unwrap();
        for (i, &got) in f32s(&output).iter().enumerate() {
            let expected = if i % 2 == 0 { i % 64 } else { 1 - i / 64 };
            assert_eq!(got, expected as f32, "element {i}");
        }
    }
    let fault = async_exchange(Slip::NoWait).unwrap_err();
    assert!(
        matches!(fault, Fault::Race { ref array, element: 0, other_touch: Touch::AsyncWrite, .. } if array == "tile"),
        "{fault}"
    );
    let fault = async_exchange(Slip::OneWaits(false)).unwrap_err();
    let Fault::Race { at, element, other_touch: Touch::AsyncWrite, .. } = fault else { panic!("{fault}") };
    assert_eq!((at.thread, element), (1, 2));
    let fault = async_exchange(Slip::NoInitFence).unwrap_err();
    assert!(matches!(fault, Fault::MissingFence { ref array, element: 0, .. } if array == "bars"), "{fault}");
    let fault = async_exchange(Slip::Relaxed(false)).unwrap_err();
    assert!(matches!(fault, Fault::Race { ref array, element: 0, .. } if array == "bars"), "{fault}");
    let fault = async_exchange(Slip::TooManyBytes).unwrap_err();
    let Fault::Deadlock { at, why } = fault else { panic!("{fault}") };
    assert_eq!(at.op, Op::BarrierWait);
    assert!(why.contains("bars[0] still needs 0 arrivals and 256 bytes"), "{why}");
    let fault = async_exchange(Slip::NoExpect).unwrap_err();
    assert!(matches!(fault, Fault::Deadlock { .. }), "{fault}");
}

#[test]
fn phases_alternate_and_order_readers_before_the_next_writer() {
    // Thread 0 writes, all others read and arrive, thread 0 waits for them and writes again.
    let kernel = |turns: u32, waits: bool| {
        let mut b = Builder::new("phases", 32, 1);
        let tile = b.shared("tile", Type::U32, 1);
        let bars = b.shared("bars", Type::U64, 1);
        let zero = b.u32(0);
        let (bar, at) = (b.addr(bars, zero), b.addr(tile, zero));
        only_thread(&mut b, 0, |b| b.effect(Op::BarrierInit { count: 32 }, &[bar]));
        b.barrier();
        for turn in 0..turns {
            only_thread(&mut b, 0, |b| {
                if turn > 0 && waits {
                    let parity = b.u32((turn - 1) % 2);
                    b.effect(Op::BarrierWait, &[bar, parity]);
                }
                b.store(at, 0, &[zero], Cache::Default, None);
            });
            b.barrier();
            b.load(at, 0, 1, Cache::Default, None);
            b.effect(Op::BarrierArrive, &[bar]);
        }
        b.finish()
    };
    run(&kernel(4, true), &mut []).unwrap();
    let fault = run(&kernel(2, false), &mut []).unwrap_err();
    let Fault::Race { array, other_touch, .. } = fault else { panic!("{fault}") };
    assert_eq!((array.as_str(), other_touch), ("tile", Touch::Read));
}

#[test]
fn barriers_are_set_up_before_they_are_used() {
    let mut b = Builder::new("unset", 32, 1);
    let bars = b.shared("bars", Type::U64, 2);
    let (zero, one) = (b.u32(0), b.u32(1));
    let bar = b.addr(bars, one);
    b.effect(Op::BarrierWait, &[bar, zero]);
    let fault = run(&b.finish(), &mut []).unwrap_err();
    assert!(matches!(fault, Fault::BadBarrier { ref array, element: 1, .. } if array == "bars"), "{fault}");
}

/// What a copy through shared memory by bulk copies gets wrong.
#[derive(Clone, Copy, PartialEq)]
enum Bulk {
    Right,
    NoWaitForLoad,
    NoFence,
    FenceAfterBarrier,
    NoWaitForStore,
    OverwriteEarly,
    Unaligned,
    OddBytes,
    Beyond,
}

/// Bulk load, double each element, bulk store.
fn bulk_double(slip: Bulk) -> Result<GlobalBuffer, Fault> {
    let mut b = Builder::new("bulk", 32, 1);
    let input = b.buffer("input", Type::F32, Access::Read, 32);
    let output = b.buffer("output", Type::F32, Access::Write, 32);
    let tile = b.shared("tile", Type::F32, 36);
    let bars = b.shared("bars", Type::U64, 1);
    let (t, zero) = (thread(&mut b), b.u32(0));
    let (bar, near) = (b.addr(bars, zero), b.addr(tile, zero));
    let start = b.u32(match slip {
        Bulk::Unaligned => 2,
        Bulk::Beyond => 4,
        _ => 0,
    });
    let (from, to) = (b.addr(input, start), b.addr(output, zero));
    let bytes = b.u32(if slip == Bulk::OddBytes { 120 } else { 128 });
    only_thread(&mut b, 0, |b| {
        b.effect(Op::BarrierInit { count: 1 }, &[bar]);
        b.effect(Op::BarrierInitFence, &[]);
        b.effect(Op::BarrierExpect, &[bar, bytes]);
        b.effect(Op::BulkLoad, &[near, from, bytes, bar]);
    });
    b.barrier();
    if slip != Bulk::NoWaitForLoad {
        b.effect(Op::BarrierWait, &[bar, zero]);
    }
    let own = b.addr(tile, t);
    let value = b.load(own, 0, 1, Cache::Default, None)[0];
    let doubled = b.add(value, value);
    b.store(own, 0, &[doubled], Cache::Default, None);
    if !matches!(slip, Bulk::NoFence | Bulk::FenceAfterBarrier) {
        b.effect(Op::AsyncFence, &[]);
    }
    b.barrier();
    if slip == Bulk::FenceAfterBarrier {
        b.effect(Op::AsyncFence, &[]);
    }
    only_thread(&mut b, 0, |b| {
        b.effect(Op::BulkStore, &[to, near, bytes]);
        b.effect(Op::BulkCommit, &[]);
        if !matches!(slip, Bulk::NoWaitForStore | Bulk::OverwriteEarly) {
            b.effect(Op::BulkWait { pending: 0 }, &[]);
        }
    });
    if slip != Bulk::NoWaitForStore {
        b.barrier();
        b.store(own, 0, &[value], Cache::Default, None);
    }
    let mut output = blank(Type::F32, 32);
    run(&b.finish(), &mut [&mut floats(32), &mut output])?;
    Ok(output)
}

#[test]
fn bulk_copies_go_through_shared_memory() {
    let expected: Vec<f32> = f32s(&floats(32)).iter().map(|x| x + x).collect();
    assert_eq!(f32s(&bulk_double(Bulk::Right).unwrap()), expected);
    let fault = bulk_double(Bulk::NoWaitForLoad).unwrap_err();
    assert!(
        matches!(fault, Fault::Race { ref array, element: 0, other_touch: Touch::AsyncWrite, .. } if array == "tile"),
        "{fault}"
    );
    let fault = bulk_double(Bulk::NoFence).unwrap_err();
    assert!(matches!(fault, Fault::MissingFence { ref array, element: 0, .. } if array == "tile"), "{fault}");
    // Thread 0 fences its own store late, but that is no fence of the others' stores.
    let fault = bulk_double(Bulk::FenceAfterBarrier).unwrap_err();
    assert!(matches!(fault, Fault::MissingFence { ref array, element: 1, .. } if array == "tile"), "{fault}");
    let fault = bulk_double(Bulk::NoWaitForStore).unwrap_err();
    assert!(matches!(fault, Fault::Unfinished { block: 0, .. }), "{fault}");
    let fault = bulk_double(Bulk::OverwriteEarly).unwrap_err();
    assert!(
        matches!(fault, Fault::Race { ref array, element: 0, other_touch: Touch::BulkRead, .. } if array == "tile"),
        "{fault}"
    );
    let fault = bulk_double(Bulk::Unaligned).unwrap_err();
    assert!(
        matches!(fault, Fault::Misaligned { ref array, element: 2, align: 4, .. } if array == "input"),
        "{fault}"
    );
    let fault = bulk_double(Bulk::OddBytes).unwrap_err();
    assert!(matches!(fault, Fault::Undefined { .. }), "{fault}");
    let fault = bulk_double(Bulk::Beyond).unwrap_err();
    assert!(
        matches!(fault, Fault::OutOfBounds { ref array, element: 35, len: 32, .. } if array == "input"),
        "{fault}"
    );
}
