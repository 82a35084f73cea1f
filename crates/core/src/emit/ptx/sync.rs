//! What threads, blocks and the copy engines say to each other, and the tensor cores.

use super::Writer;
use crate::emit::shared::put;
use crate::kernel::{Inst, MmaShape, Op, ShuffleMode, Space, Type, Value};

/// Between two looks at a counter, about: a part of what a tile takes.
const POLL_NANOSECONDS: u32 = 100;

impl Writer<'_> {
    pub(super) fn sync(&mut self, inst: &Inst) {
        match inst.op {
            Op::Barrier => self.line(format_args!("barrier.sync.aligned 0")),
            Op::Shuffle(mode) => self.shuffle(inst, mode),
            Op::AtomicAdd { relaxed } => {
                let order = if relaxed { "relaxed" } else { "acq_rel" };
                put!(self.out, "\tatom.{order}.gpu.global.add.u32 ");
                self.operand(inst.results[0]);
                self.after_place(inst.args[0], &inst.args[1..]);
            }
            Op::AtomicLoad => {
                self.out.push_str("\tld.acquire.gpu.global.u32 ");
                self.operand(inst.results[0]);
                self.after_place(inst.args[0], &[]);
            }
            Op::CounterAdd => {
                self.out.push_str("\tred.release.gpu.global.add.u32 ");
                self.place(inst.args[0], 0);
                self.out.push_str(", ");
                self.operand(inst.args[1]);
                self.out.push_str(";\n");
            }
            Op::CounterWait => self.counter_wait(inst),
            Op::Mma(shape) => self.mma(inst, shape),
            Op::MapRemote => {
                self.op("mapa.shared::cluster.u32", &[inst.results[0], inst.args[0], inst.args[1]]);
            }
            Op::LaunchWait => self.line(format_args!("griddepcontrol.wait")),
            Op::ClusterArrive { relaxed } => {
                let order = if relaxed { "relaxed" } else { "release" };
                self.line(format_args!("barrier.cluster.arrive.{order}.aligned"));
            }
            Op::ClusterWait => self.line(format_args!("barrier.cluster.wait.acquire.aligned")),
            Op::RemoteStoreAsync { width, offset } => self.store_async(inst, width, offset),
            _ => self.transaction(inst),
        }
    }

    /// Every look with acquire empties the L1: between looks in vain the thread sleeps.
    fn counter_wait(&mut self, inst: &Inst) {
        let (again, done) = (self.label(), self.label());
        put!(self.out, "$L{again}:\n\tld.acquire.gpu.global.u32 %t0");
        self.after_place(inst.args[0], &[]);
        self.out.push_str("\tsetp.ge.u32 %q, %t0, ");
        self.operand(inst.args[1]);
        put!(self.out, ";\n\t@%q bra $L{done};\n\tnanosleep.u32 {POLL_NANOSECONDS};\n");
        put!(self.out, "\tbra $L{again};\n$L{done}:\n");
    }

    /// `, [pointer], values;`
    fn after_place(&mut self, ptr: Value, values: &[Value]) {
        self.out.push_str(", ");
        self.place(ptr, 0);
        for &value in values {
            self.out.push_str(", ");
            self.operand(value);
        }
        self.out.push_str(";\n");
    }

    /// A shuffle moves 32 bits; wider values go in two halves.
    fn shuffle(&mut self, inst: &Inst, mode: ShuffleMode) {
        let (result, value, lane) = (inst.results[0], inst.args[0], inst.args[1]);
        let head = match mode {
            ShuffleMode::Xor => "shfl.sync.bfly.b32",
            ShuffleMode::Index => "shfl.sync.idx.b32",
        };
        self.in_register(value);
        if self.kernel.ty(value) == Type::F64 {
            let (from, to) = (self.number(value), self.number(result));
            put!(self.out, "\tmov.b64 {{%t0, %t1}}, %e{from};\n");
            for (to, from) in [(2, 0), (3, 1)] {
                put!(self.out, "\t{head} %t{to}, %t{from}, ");
                self.operand(lane);
                self.out.push_str(", 31, 0xFFFFFFFF;\n");
            }
            put!(self.out, "\tmov.b64 %e{to}, {{%t2, %t3}};\n");
            return;
        }
        put!(self.out, "\t{head} ");
        self.register(result);
        self.out.push_str(", ");
        self.register(value);
        self.out.push_str(", ");
        self.operand(lane);
        self.out.push_str(", 31, 0xFFFFFFFF;\n");
    }

    fn mma(&mut self, inst: &Inst, shape: MmaShape) {
        let (name, a, b) = match shape {
            MmaShape::M8N8K4F64 => ("m8n8k4.row.col.f64.f64.f64.f64", 1, 1),
            MmaShape::M16N8K8Tf32 => ("m16n8k8.row.col.f32.tf32.tf32.f32", 4, 2),
            MmaShape::M16N8K16F16 => ("m16n8k16.row.col.f32.f16.f16.f32", 4, 2),
            MmaShape::M16N8K16Bf16 => ("m16n8k16.row.col.f32.bf16.bf16.f32", 4, 2),
        };
        for &arg in &inst.args {
            self.in_register(arg);
        }
        put!(self.out, "\tmma.sync.aligned.{name} ");
        for (i, part) in
            [&inst.results[..], &inst.args[..a], &inst.args[a..a + b], &inst.args[a + b..]].iter().enumerate()
        {
            self.out.push_str(if i == 0 { "{" } else { ", {" });
            for (j, &value) in part.iter().enumerate() {
                self.out.push_str(if j == 0 { "" } else { ", " });
                self.register(value);
            }
            self.out.push('}');
        }
        self.out.push_str(";\n");
    }

    fn store_async(&mut self, inst: &Inst, width: u8, offset: i32) {
        let (ptr, barrier, values) = (inst.args[0], inst.args[1], &inst.args[2..]);
        let bytes = values.first().map_or(4, |&v| self.kernel.ty(v).bytes());
        for &value in values {
            self.in_register(value);
        }
        self.out.push_str("\tst.async.weak.shared::cluster.mbarrier::complete_tx::bytes");
        if width > 1 {
            put!(self.out, ".v{width}");
        }
        put!(self.out, ".b{} ", 8 * bytes);
        self.place(ptr, offset);
        self.out.push_str(", ");
        if width > 1 {
            self.out.push('{');
        }
        for (i, &value) in values.iter().enumerate() {
            self.out.push_str(if i == 0 { "" } else { ", " });
            self.register(value);
        }
        if width > 1 {
            self.out.push('}');
        }
        self.after_place(barrier, &[]);
    }

    /// Transaction barriers and bulk copies.
    fn transaction(&mut self, inst: &Inst) {
        match inst.op {
            Op::BarrierInit { count } => {
                let at = self.number(inst.args[0]);
                self.line(format_args!("mbarrier.init.shared::cta.b64 [%r{at}], {count}"));
            }
            Op::BarrierInitFence => {
                self.line(format_args!("fence.mbarrier_init.release.cluster"));
                // Bulk copies alone come by the other proxy. For stores from other blocks it would only cost: a block's
                // first warp waited for it before it loaded, which was 7% of volumes of 32 in a cluster.
                if self.copies_in_bulk() {
                    self.line(format_args!("fence.proxy.async.shared::cta"));
                }
            }
            Op::BarrierExpect => {
                self.out.push_str("\tmbarrier.arrive.expect_tx.shared::cta.b64 _");
                self.after_place(inst.args[0], &inst.args[1..]);
            }
            Op::BarrierArrive => {
                // Block scope on a remote barrier too: cluster scope would first wait for all global stores.
                let remote = matches!(self.kernel.ty(inst.args[0]), Type::Ptr(Space::Remote(_)));
                let space = if remote { "cluster" } else { "cta" };
                put!(self.out, "\tmbarrier.arrive.shared::{space}.b64 _");
                self.after_place(inst.args[0], &[]);
            }
            Op::BarrierWait => {
                let again = self.label();
                put!(self.out, "$L{again}:\n\tmbarrier.try_wait.parity.shared::cta.b64 %q");
                self.after_place(inst.args[0], &inst.args[1..]);
                put!(self.out, "\t@!%q bra $L{again};\n");
            }
            Op::AsyncFence => self.line(format_args!("fence.proxy.async.shared::cta")),
            _ => self.bulk(inst),
        }
    }

    fn bulk(&mut self, inst: &Inst) {
        match inst.op {
            Op::BulkLoad => {
                self.out.push_str("\tcp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes ");
                self.place(inst.args[0], 0);
                self.out.push_str(", ");
                self.place(inst.args[1], 0);
                self.out.push_str(", ");
                self.operand(inst.args[2]);
                self.after_place(inst.args[3], &[]);
            }
            Op::BulkStore => {
                self.out.push_str("\tcp.async.bulk.global.shared::cta.bulk_group ");
                self.place(inst.args[0], 0);
                self.after_place(inst.args[1], &inst.args[2..]);
            }
            Op::BulkCommit => self.line(format_args!("cp.async.bulk.commit_group")),
            Op::BulkWait { pending } => {
                self.line(format_args!("cp.async.bulk.wait_group.read {pending}"));
            }
            Op::BulkPrefetch { predicated } if self.isa.has_bulk() => {
                // A caller's buffer may be aligned to 8 bytes only: the hint starts a little earlier then.
                self.out.push_str("\t{\n\t.reg .b64 %line;\n\tand.b64 %line, ");
                self.register(inst.args[0]);
                self.out.push_str(", -16;\n\t");
                if predicated {
                    put!(self.out, "@%p{} ", self.number(inst.args[2]));
                }
                self.out.push_str("cp.async.bulk.prefetch.L2.global [%line], ");
                self.operand(inst.args[1]);
                self.out.push_str(";\n\t}\n");
            }
            _ => {}
        }
    }
}
