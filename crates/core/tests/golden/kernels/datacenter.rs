//! Tensor cores, clusters and bulk copies, which only the larger devices have.

use warpfft_core::kernel::{Access, Builder, Cache, Cmp, Kernel, MmaShape, Op, Space, Special, Type, Value};

use super::global_index;

/// Every shape of the tensor cores.
pub fn products() -> Kernel {
    let mut b = Builder::new("products", 32, 1);
    let reals = b.buffer("reals", Type::F32, Access::ReadWrite, 512);
    let doubles = b.buffer("doubles", Type::F64, Access::ReadWrite, 64);
    let lane = b.special(Special::Lane);
    let at = b.mul_const(lane, 4);
    let p = b.addr(reals, at);
    let a = b.load(p, 0, 4, Cache::Default, None);
    let (zero, half) = (b.float(Type::F32, 0.0), b.float(Type::F32, 0.5));
    let args = [a[0], a[1], a[2], a[3], a[0], half, zero, zero, zero, zero];
    let d = b.impure(Op::Mma(MmaShape::M16N8K8Tf32), &args, &[Type::F32; 4]);
    let ones = b.u32(0x3C00_3C00);
    let args = [ones, ones, lane, lane, ones, lane, d[0], d[1], d[2], d[3]];
    let d = b.impure(Op::Mma(MmaShape::M16N8K16F16), &args, &[Type::F32; 4]);
    b.store(p, 0, &d, Cache::Default, None);
    let at = b.mul_const(lane, 2);
    let p = b.addr(doubles, at);
    let c = b.load(p, 0, 2, Cache::Default, None);
    let d = b.impure(Op::Mma(MmaShape::M8N8K4F64), &[c[0], c[1], c[0], c[1]], &[Type::F64, Type::F64]);
    b.store(p, 0, &d, Cache::Default, None);
    b.finish()
}

fn remote(b: &mut Builder, ptr: Value, rank: Value) -> Value {
    let Type::Ptr(Space::Shared(array)) = b.ty(ptr) else { panic!("not a pointer into shared memory") };
    b.pure(Op::MapRemote, Type::Ptr(Space::Remote(array)), &[ptr, rank])
}

/// Each block of a pair pushes its values to the other by asynchronous stores, which complete on a barrier.
pub fn cluster_exchange() -> Kernel {
    let mut b = Builder::new("cluster_exchange", 32, 8);
    b.cluster(2);
    let data = b.buffer("data", Type::F32, Access::ReadWrite, 8 * 64);
    let tile = b.shared("tile", Type::F32, 64);
    let barriers = b.shared("barriers", Type::U64, 1);
    let thread = b.special(Special::ThreadIndex);
    let rank = b.special(Special::ClusterRank);
    let (zero, one) = (b.u32(0), b.u32(1));
    let ticket = b.addr(barriers, zero);
    let first = b.cmp(Cmp::Eq, thread, zero);
    b.when(first, |b| {
        b.effect(Op::BarrierInit { count: 1 }, &[ticket]);
        b.effect(Op::BarrierInitFence, &[]);
        let bytes = b.u32(256);
        b.effect(Op::BarrierExpect, &[ticket, bytes]);
    });
    b.effect(Op::ClusterArrive { relaxed: true }, &[]);
    let index = global_index(&mut b, 32);
    let at = b.mul_const(index, 2);
    let p = b.addr(data, at);
    let x = b.load(p, 0, 2, Cache::Stream, None);
    b.effect(Op::ClusterWait, &[]);
    let other = b.binary(Op::Xor, rank, one);
    let pair = b.mul_const(thread, 2);
    let own = b.addr(tile, pair);
    let (far, far_ticket) = (remote(&mut b, own, other), remote(&mut b, ticket, other));
    b.effect(Op::RemoteStoreAsync { width: 2, offset: 0 }, &[far, far_ticket, x[0], x[1]]);
    b.effect(Op::BarrierWait, &[ticket, zero]);
    let y = b.load(own, 0, 2, Cache::Default, None);
    b.store(p, 0, &y, Cache::Stream, None);
    b.effect(Op::BarrierArrive, &[far_ticket]);
    b.finish()
}

/// The same by plain remote stores and the cluster's barrier.
pub fn cluster_barrier() -> Kernel {
    let mut b = Builder::new("cluster_barrier", 32, 8);
    b.cluster(2);
    let data = b.buffer("data", Type::F64, Access::ReadWrite, 8 * 32);
    let tile = b.shared("tile", Type::F64, 32);
    let thread = b.special(Special::ThreadIndex);
    let rank = b.special(Special::ClusterRank);
    let one = b.u32(1);
    let index = global_index(&mut b, 32);
    let p = b.addr(data, index);
    let x = b.load(p, 0, 1, Cache::Default, None);
    let other = b.binary(Op::Xor, rank, one);
    let own = b.addr(tile, thread);
    let far = remote(&mut b, own, other);
    b.store(far, 0, &x, Cache::Default, None);
    b.effect(Op::ClusterArrive { relaxed: false }, &[]);
    b.effect(Op::ClusterWait, &[]);
    let y = b.load(own, 0, 1, Cache::Default, None);
    b.store(p, 0, &y, Cache::Default, None);
    b.finish()
}

/// In and out of shared memory by the copy engine.
pub fn bulk_copy() -> Kernel {
    let mut b = Builder::new("bulk_copy", 32, 4);
    b.effect(Op::LaunchWait, &[]);
    let input = b.buffer("input", Type::F32, Access::Read, 4 * 128);
    let output = b.buffer("output", Type::F32, Access::Write, 4 * 128);
    let tile = b.shared("tile", Type::F32, 128);
    let barriers = b.shared("barriers", Type::U64, 1);
    let thread = b.special(Special::ThreadIndex);
    let block = b.special(Special::BlockIndex);
    let (zero, bytes) = (b.u32(0), b.u32(512));
    let first = b.cmp(Cmp::Eq, thread, zero);
    let at = b.mul_const(block, 128);
    let (from, to) = (b.addr(input, at), b.addr(output, at));
    let (ticket, start) = (b.addr(barriers, zero), b.addr(tile, zero));
    b.when(first, |b| {
        b.effect(Op::BarrierInit { count: 1 }, &[ticket]);
        b.effect(Op::BarrierInitFence, &[]);
        b.effect(Op::BarrierExpect, &[ticket, bytes]);
        b.effect(Op::BulkLoad, &[start, from, bytes, ticket]);
    });
    b.barrier();
    b.effect(Op::BarrierWait, &[ticket, zero]);
    let mine = b.ptr_add(start, thread);
    let x = b.load(mine, 32, 1, Cache::Default, None)[0];
    let x = b.neg(x);
    b.store(mine, 32, &[x], Cache::Default, None);
    b.effect(Op::AsyncFence, &[]);
    b.barrier();
    b.when(first, |b| {
        b.effect(Op::BulkStore, &[to, start, bytes]);
        b.effect(Op::BulkCommit, &[]);
        b.effect(Op::BulkWait { pending: 0 }, &[]);
    });
    b.finish()
}
