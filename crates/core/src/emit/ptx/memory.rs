//! Addresses and accesses. An address is computed once; constant offsets stand in the accesses, in bytes.

use super::{Writer, class};
use crate::emit::shared::put;
use crate::kernel::{Cache, Inst, Op, Space, Type, Value};

impl Writer<'_> {
    /// Prints an access to memory; `false` if it is none.
    pub(super) fn memory(&mut self, inst: &Inst) -> bool {
        match inst.op {
            Op::Addr => self.address(inst, None, inst.args[0]),
            Op::PtrAdd => self.address(inst, Some(inst.args[0]), inst.args[1]),
            Op::Load { width, offset, cache, .. } => self.load(inst, width, offset, cache, inst.predicate()),
            Op::Store { width, offset, cache, .. } => {
                self.store(inst, width, offset, cache, inst.predicate());
            }
            _ => return false,
        }
        true
    }

    /// `base + index * bytes`, in 64 bits for global arrays and in 32 for shared ones.
    fn address(&mut self, inst: &Inst, base: Option<Value>, index: Value) {
        let result = inst.results[0];
        let Type::Ptr(space) = self.kernel.ty(result) else { return };
        let bytes = self.kernel.elem(space).bytes();
        let wide_index = self.kernel.ty(index) == Type::U64;
        let global = matches!(space, Space::Global(_));
        let constant = self.constant(index);
        if let (false, true, None) = (global, wide_index, constant) {
            put!(self.out, "\tcvt.u32.u64 %t0, %d{};\n", self.number(index));
        }
        let head = match (constant.is_some(), global, wide_index) {
            (true, true, _) => "add.s64",
            (true, false, _) => "add.u32",
            (false, true, true) => "mad.lo.u64",
            (false, true, false) => "mad.wide.u32",
            (false, false, _) => "mad.lo.u32",
        };
        put!(self.out, "\t{head} ");
        self.register(result);
        self.out.push_str(", ");
        match constant {
            Some(k) => {
                self.base(space, base);
                put!(self.out, ", 0x{:X};\n", k.wrapping_mul(u64::from(bytes)));
            }
            None => {
                if wide_index && !global {
                    self.out.push_str("%t0");
                } else {
                    self.register(index);
                }
                put!(self.out, ", {bytes}, ");
                self.base(space, base);
                self.out.push_str(";\n");
            }
        }
    }

    fn base(&mut self, space: Space, base: Option<Value>) {
        match (base, space) {
            (Some(ptr), _) => self.register(ptr),
            (None, Space::Global(i)) => put!(self.out, "%base{i}"),
            (None, Space::Shared(i) | Space::Remote(i)) => put!(self.out, "%tile{i}"),
        }
    }

    fn load(&mut self, inst: &Inst, width: u8, offset: i32, cache: Cache, pred: Option<Value>) {
        let ptr = inst.args[0];
        if let Some(pred) = pred {
            for &result in &inst.results {
                let zero = ["0", "0", "0", "0f00000000", "0", "0d0000000000000000"];
                let ty = self.kernel.ty(result);
                let head = ["pred", "b16", "b32", "f32", "b64", "f64"][class(ty)];
                put!(self.out, "\tmov.{head} ");
                self.register(result);
                put!(self.out, ", {};\n", zero[class(ty)]);
            }
            put!(self.out, "\t@%p{} ld", self.number(pred));
        } else {
            self.out.push_str("\tld");
        }
        let keep = self.access(ptr, width, cache, true);
        self.vector(&inst.results);
        self.out.push_str(", ");
        self.place(ptr, offset);
        self.out.push_str(if keep { ", %keep;\n" } else { ";\n" });
    }

    fn store(&mut self, inst: &Inst, width: u8, offset: i32, cache: Cache, pred: Option<Value>) {
        let ptr = inst.args[0];
        match pred {
            Some(pred) => put!(self.out, "\t@%p{} st", self.number(pred)),
            None => self.out.push_str("\tst"),
        }
        let keep = self.access(ptr, width, cache, false);
        self.place(ptr, offset);
        self.out.push_str(", ");
        self.vector(&inst.args[1..=width as usize]);
        self.out.push_str(if keep { ", %keep;\n" } else { ";\n" });
    }

    /// Space, cache policy, width and type of an access; `true` if a policy stands behind the operands.
    fn access(&mut self, ptr: Value, width: u8, cache: Cache, reads: bool) -> bool {
        let Type::Ptr(space) = self.kernel.ty(ptr) else { return false };
        self.out.push_str(match space {
            Space::Global(_) => ".global",
            Space::Shared(_) => ".shared",
            Space::Remote(_) => ".shared::cluster",
        });
        let global = matches!(space, Space::Global(_));
        let keep = global && cache == Cache::Keep && self.isa.has_cache_policies();
        self.out.push_str(match cache {
            Cache::Stream if global => ".cs",
            Cache::L2Wide if global && reads && self.isa.prefetches_256() => ".cg.L2::256B",
            Cache::L2Wide if global && reads => ".cg.L2::128B",
            Cache::L2 | Cache::L2Wide if global => ".cg",
            Cache::ReadOnly if global => ".nc",
            Cache::Keep if keep => ".L2::cache_hint",
            _ => "",
        });
        let elem = self.kernel.elem(space);
        if width > 1 {
            put!(self.out, ".v{width}");
        }
        put!(self.out, ".{} ", ["", "b16", "b32", "f32", "b64", "f64"][class(elem)]);
        keep
    }

    /// `[pointer + bytes]`.
    pub(super) fn place(&mut self, ptr: Value, offset: i32) {
        let Type::Ptr(space) = self.kernel.ty(ptr) else { return };
        let bytes = i64::from(offset) * i64::from(self.kernel.elem(space).bytes());
        self.out.push('[');
        self.register(ptr);
        if bytes != 0 {
            put!(self.out, "+{bytes}");
        }
        self.out.push(']');
    }

    /// One value, or several in braces.
    pub(super) fn vector(&mut self, values: &[Value]) {
        if let [value] = values {
            return self.operand(*value);
        }
        self.braces(values);
    }

    pub(super) fn braces(&mut self, values: &[Value]) {
        let mut separator = "{";
        for &value in values {
            self.out.push_str(separator);
            self.operand(value);
            separator = ", ";
        }
        self.out.push('}');
    }
}
