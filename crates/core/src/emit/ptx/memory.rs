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

    /// `base + index * bytes`, in 64 bits for global arrays and in 32 for shared ones. Of an index from a table that is shifted, as
    /// that of a complex number is to that of its real part, the shift is part of the factor: the assembler would keep it
    /// as an instruction of its own.
    fn address(&mut self, inst: &Inst, base: Option<Value>, index: Value) {
        let result = inst.results[0];
        let Type::Ptr(space) = self.kernel.ty(result) else { return };
        let (index, shift) = self.shifted[index.0 as usize].unwrap_or((index, 0));
        let bytes = self.kernel.elem(space).bytes() << shift;
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
        let Type::Ptr(space) = self.kernel.ty(ptr) else { return };
        let elem = self.kernel.elem(space);
        if let (Some(pred), true) = (pred, elem.bytes() == 2 && width > 1) {
            return self.load_halves(inst, width, offset, cache, pred);
        }
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
        let keep = self.access(space, cache, true);
        self.typed(elem, width);
        self.vector(&inst.results);
        self.out.push_str(", ");
        self.place(ptr, offset);
        self.out.push_str(if keep { ", %keep;\n" } else { ";\n" });
    }

    /// A guarded load of two or four numbers of 16 bits, by words. Guarded one by one, the assembler puts each half
    /// together with its zero by two instructions; of a word the conversion picks the half that it wants.
    fn load_halves(&mut self, inst: &Inst, width: u8, offset: i32, cache: Cache, pred: Value) {
        let ptr = inst.args[0];
        let Type::Ptr(space) = self.kernel.ty(ptr) else { return };
        let words = width / 2;
        for word in 0..words {
            put!(self.out, "\tmov.b32 %t{word}, 0;\n");
        }
        put!(self.out, "\t@%p{} ld", self.number(pred));
        let keep = self.access(space, cache, true);
        self.typed(Type::U32, words);
        self.out.push_str(if words == 1 { "%t0, " } else { "{%t0, %t1}, " });
        self.place(ptr, offset);
        self.out.push_str(if keep { ", %keep;\n" } else { ";\n" });
        for (word, halves) in inst.results.chunks(2).enumerate() {
            self.out.push_str("\tmov.b32 ");
            self.braces(halves);
            put!(self.out, ", %t{word};\n");
        }
    }

    fn store(&mut self, inst: &Inst, width: u8, offset: i32, cache: Cache, pred: Option<Value>) {
        let ptr = inst.args[0];
        match pred {
            Some(pred) => put!(self.out, "\t@%p{} st", self.number(pred)),
            None => self.out.push_str("\tst"),
        }
        let Type::Ptr(space) = self.kernel.ty(ptr) else { return };
        let keep = self.access(space, cache, false);
        self.typed(self.kernel.elem(space), width);
        self.place(ptr, offset);
        self.out.push_str(", ");
        self.vector(&inst.args[1..=width as usize]);
        self.out.push_str(if keep { ", %keep;\n" } else { ";\n" });
    }

    /// Space and cache policy of an access; `true` if a policy stands behind the operands.
    fn access(&mut self, space: Space, cache: Cache, reads: bool) -> bool {
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
        keep
    }

    /// Width and type of an access.
    fn typed(&mut self, elem: Type, width: u8) {
        if width > 1 {
            put!(self.out, ".v{width}");
        }
        put!(self.out, ".{} ", ["", "b16", "b32", "f32", "b64", "f64"][class(elem)]);
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
