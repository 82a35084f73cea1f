//! Writes kernels. The builder folds constants and repeated pure instructions as it goes.

mod divide;

use std::collections::HashMap;

use super::fold::{Fold, fold, round_to};
use super::hash::InstMap;
use super::{
    Access, AtRun, Block, Buffer, Cache, Cmp, Inst, Kernel, Op, Shared, ShuffleMode, Space, Special, Type,
    Value,
};

type Key = (Op, Type, Vec<Value>);

/// Builds one [`Kernel`].
pub struct Builder {
    kernel: Kernel,
    /// Blocks being written, outermost first.
    open: Vec<Block>,
    /// Pure values known in each open block.
    known: Vec<InstMap<Key, Value>>,
    constants: HashMap<Value, u64>,
}

impl Builder {
    /// An empty kernel for blocks of `threads` threads, launched `blocks` times.
    pub fn new(name: impl Into<String>, threads: u32, blocks: u64) -> Self {
        Self {
            kernel: Kernel {
                name: name.into(),
                buffers: Vec::new(),
                shared: Vec::new(),
                threads,
                cluster: 1,
                blocks,
                min_blocks: 0,
                at_run: None,
                types: Vec::new(),
                body: Block::default(),
            },
            open: vec![Block::default()],
            known: vec![InstMap::default()],
            constants: HashMap::new(),
        }
    }

    /// Sets the blocks of the launch.
    pub fn blocks(&mut self, blocks: u64) -> &mut Self {
        self.kernel.blocks = blocks;
        self
    }

    /// Sets the blocks of a cluster.
    pub fn cluster(&mut self, blocks: u32) -> &mut Self {
        self.kernel.cluster = blocks;
        self
    }

    /// Sets how many blocks should be resident on a multiprocessor.
    pub fn min_blocks(&mut self, blocks: u32) -> &mut Self {
        self.kernel.min_blocks = blocks;
        self
    }

    /// Sets what part of the launch may run.
    pub fn at_run(&mut self, at_run: AtRun) -> &mut Self {
        self.kernel.at_run = Some(at_run);
        self
    }

    /// Declares a global buffer of `len` elements.
    pub fn buffer(&mut self, name: impl Into<String>, elem: Type, access: Access, len: u64) -> Space {
        self.kernel.buffers.push(Buffer { name: name.into(), elem, access, len });
        Space::Global((self.kernel.buffers.len() - 1) as u16)
    }

    /// Declares a shared array of `len` elements.
    pub fn shared(&mut self, name: impl Into<String>, elem: Type, len: u32) -> Space {
        self.kernel.shared.push(Shared { name: name.into(), elem, len });
        Space::Shared((self.kernel.shared.len() - 1) as u16)
    }

    /// Makes a shared array hold at least `len` elements.
    pub fn grow_shared(&mut self, space: Space, len: u32) {
        if let Space::Shared(i) = space {
            let array = &mut self.kernel.shared[i as usize];
            array.len = array.len.max(len);
        }
    }

    /// The finished kernel.
    pub fn finish(mut self) -> Kernel {
        assert_eq!(self.open.len(), 1, "a loop or branch is still open");
        self.kernel.body = self.open.pop().unwrap_or_default();
        self.kernel
    }

    /// Type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.kernel.ty(value)
    }

    /// The bits of a constant.
    pub fn constant(&self, value: Value) -> Option<u64> {
        self.constants.get(&value).copied()
    }

    fn fresh(&mut self, ty: Type) -> Value {
        self.kernel.types.push(ty);
        Value((self.kernel.types.len() - 1) as u32)
    }

    fn push(&mut self, op: Op, args: Vec<Value>, results: Vec<Value>) {
        let inst = Inst { op, args, results, blocks: Vec::new() };
        self.open.last_mut().expect("the outermost block is open").insts.push(inst);
    }

    /// A pure instruction with one result: folded, or shared with an equal one that is already there.
    pub fn pure(&mut self, op: Op, ty: Type, args: &[Value]) -> Value {
        let arg_ty = match (op, args) {
            (Op::Select, _) | (_, []) => ty,
            _ => self.ty(args[0]),
        };
        let folded = fold(op, ty, args, arg_ty, &|v| self.constants.get(&v).copied());
        match folded {
            Some(Fold::Const(bits)) => return self.pure(Op::Const(bits), ty, &[]),
            Some(Fold::Same(value)) => return value,
            Some(Fold::Simpler(op, args)) => return self.pure(op, ty, &args),
            None => {}
        }
        let key = (op, ty, args.to_vec());
        if let Some(&value) = self.known.iter().rev().find_map(|scope| scope.get(&key)) {
            return value;
        }
        let result = self.fresh(ty);
        if let Op::Const(bits) = op {
            self.constants.insert(result, bits);
        }
        self.push(op, args.to_vec(), vec![result]);
        self.known.last_mut().expect("the outermost scope is open").insert(key, result);
        result
    }

    /// An instruction with effects and no result.
    pub fn effect(&mut self, op: Op, args: &[Value]) {
        self.push(op, args.to_vec(), Vec::new());
    }

    /// An instruction with effects and results of the given types.
    pub fn impure(&mut self, op: Op, args: &[Value], types: &[Type]) -> Vec<Value> {
        let results: Vec<Value> = types.iter().map(|&ty| self.fresh(ty)).collect();
        self.push(op, args.to_vec(), results.clone());
        results
    }

    // --- scalars ---

    /// Constant `U32`.
    pub fn u32(&mut self, x: u32) -> Value {
        self.pure(Op::Const(u64::from(x)), Type::U32, &[])
    }

    /// Constant `U64`.
    pub fn u64(&mut self, x: u64) -> Value {
        self.pure(Op::Const(x), Type::U64, &[])
    }

    /// Constant predicate.
    pub fn bool(&mut self, x: bool) -> Value {
        self.pure(Op::Const(u64::from(x)), Type::Bool, &[])
    }

    /// Floating-point constant, rounded to the type.
    pub fn float(&mut self, ty: Type, x: f64) -> Value {
        self.pure(Op::Const(round_to(ty, x).to_bits()), ty, &[])
    }

    /// A hardware value.
    pub fn special(&mut self, special: Special) -> Value {
        self.pure(Op::Special(special), Type::U32, &[])
    }

    /// A binary operation whose result has the operands' type.
    pub fn binary(&mut self, op: Op, a: Value, b: Value) -> Value {
        let ty = self.ty(a);
        self.pure(op, ty, &[a, b])
    }

    /// `a + b`.
    pub fn add(&mut self, a: Value, b: Value) -> Value {
        self.binary(Op::Add, a, b)
    }

    /// `a - b`.
    pub fn sub(&mut self, a: Value, b: Value) -> Value {
        self.binary(Op::Sub, a, b)
    }

    /// `a * b`.
    pub fn mul(&mut self, a: Value, b: Value) -> Value {
        self.binary(Op::Mul, a, b)
    }

    /// `a * b + c`, rounded once.
    pub fn fma(&mut self, a: Value, b: Value, c: Value) -> Value {
        let ty = self.ty(a);
        self.pure(Op::Fma, ty, &[a, b, c])
    }

    /// `-a`.
    pub fn neg(&mut self, a: Value) -> Value {
        let ty = self.ty(a);
        self.pure(Op::Neg, ty, &[a])
    }

    /// `a < b` and the like.
    pub fn cmp(&mut self, cmp: Cmp, a: Value, b: Value) -> Value {
        self.pure(Op::Cmp(cmp), Type::Bool, &[a, b])
    }

    /// `a` where `cond`, else `b`.
    pub fn select(&mut self, cond: Value, a: Value, b: Value) -> Value {
        let ty = self.ty(a);
        self.pure(Op::Select, ty, &[cond, a, b])
    }

    /// Conversion to another numeric type.
    pub fn convert(&mut self, ty: Type, a: Value) -> Value {
        if self.ty(a) == ty { a } else { self.pure(Op::Convert, ty, &[a]) }
    }

    /// `a + k` for an integer constant.
    pub fn add_const(&mut self, a: Value, k: u64) -> Value {
        let ty = self.ty(a);
        let k = self.pure(Op::Const(k), ty, &[]);
        self.add(a, k)
    }

    /// `a * k` for an integer constant; a shift where that will do.
    pub fn mul_const(&mut self, a: Value, k: u64) -> Value {
        let ty = self.ty(a);
        if k > 1 && k.is_power_of_two() {
            let shift = self.u32(k.trailing_zeros());
            return self.pure(Op::Shl, ty, &[a, shift]);
        }
        let k = self.pure(Op::Const(k), ty, &[]);
        self.mul(a, k)
    }

    // --- memory ---

    /// Element type of the array behind a pointer.
    pub fn elem(&self, ptr: Value) -> Type {
        let Type::Ptr(space) = self.ty(ptr) else { panic!("access through a value that is no pointer") };
        self.kernel.elem(space)
    }

    /// Pointer to element `index` of an array.
    pub fn addr(&mut self, space: Space, index: Value) -> Value {
        self.pure(Op::Addr, Type::Ptr(space), &[index])
    }

    /// The pointer that lies `index` elements on.
    pub fn ptr_add(&mut self, ptr: Value, index: Value) -> Value {
        let ty = self.ty(ptr);
        self.pure(Op::PtrAdd, ty, &[ptr, index])
    }

    /// Loads `width` elements at `offset` from a pointer.
    pub fn load(
        &mut self,
        ptr: Value,
        offset: i32,
        width: u8,
        cache: Cache,
        pred: Option<Value>,
    ) -> Vec<Value> {
        let elem = self.elem(ptr);
        let pred = pred.filter(|&p| self.constant(p) != Some(1));
        let op = Op::Load { width, offset, cache, predicated: pred.is_some() };
        let args: Vec<Value> = std::iter::once(ptr).chain(pred).collect();
        self.impure(op, &args, &vec![elem; width as usize])
    }

    /// Stores values at `offset` from a pointer.
    pub fn store(&mut self, ptr: Value, offset: i32, values: &[Value], cache: Cache, pred: Option<Value>) {
        let pred = pred.filter(|&p| self.constant(p) != Some(1));
        let op = Op::Store { width: values.len() as u8, offset, cache, predicated: pred.is_some() };
        let args: Vec<Value> = std::iter::once(ptr).chain(values.iter().copied()).chain(pred).collect();
        self.effect(op, &args);
    }

    /// Block barrier.
    pub fn barrier(&mut self) {
        self.effect(Op::Barrier, &[]);
    }

    /// Barrier of the cluster: what its blocks wrote before is there for all of them.
    pub fn cluster_barrier(&mut self) {
        self.effect(Op::ClusterArrive { relaxed: false }, &[]);
        self.effect(Op::ClusterWait, &[]);
    }

    /// Value of another lane.
    pub fn shuffle(&mut self, mode: ShuffleMode, value: Value, lane: Value) -> Value {
        let ty = self.ty(value);
        self.impure(Op::Shuffle(mode), &[value, lane], &[ty])[0]
    }

    // --- control ---

    /// `for i in (lo..hi).step_by(step)` with carried values; returns their final values. `body` gets the
    /// builder, `i` and the carried values, and returns the carried values of the next turn.
    pub fn for_range(
        &mut self,
        lo: Value,
        hi: Value,
        step: Value,
        init: &[Value],
        body: impl FnOnce(&mut Self, Value, &[Value]) -> Vec<Value>,
    ) -> Vec<Value> {
        let (index, carried) = self.open_loop(init);
        let yields = body(self, index, &carried);
        self.close_loop([lo, hi, step], init, yields)
    }

    /// Opens the body of a loop: its index and carried values. What is built until [`Builder::close_loop`] belongs
    /// to it.
    pub(crate) fn open_loop(&mut self, init: &[Value]) -> (Value, Vec<Value>) {
        let index = self.fresh(Type::U32);
        let types: Vec<Type> = init.iter().map(|&v| self.ty(v)).collect();
        let carried: Vec<Value> = types.into_iter().map(|ty| self.fresh(ty)).collect();
        let params = std::iter::once(index).chain(carried.iter().copied()).collect();
        self.open.push(Block { params, ..Block::default() });
        self.known.push(InstMap::default());
        (index, carried)
    }

    /// Closes the loop over `lo, hi, step` that was opened last; returns the carried values' final ones.
    pub(crate) fn close_loop(&mut self, range: [Value; 3], init: &[Value], yields: Vec<Value>) -> Vec<Value> {
        self.known.pop();
        let mut block = self.open.pop().expect("a loop is open");
        block.yields = yields;
        let types: Vec<Type> = init.iter().map(|&v| self.ty(v)).collect();
        let results: Vec<Value> = types.into_iter().map(|ty| self.fresh(ty)).collect();
        let args: Vec<Value> = range.iter().chain(init).copied().collect();
        let inst = Inst { op: Op::Loop, args, results: results.clone(), blocks: vec![block] };
        self.open.last_mut().expect("the outermost block is open").insts.push(inst);
        results
    }

    /// Runs `body` where `cond` holds.
    pub fn when(&mut self, cond: Value, body: impl FnOnce(&mut Self)) {
        self.open_branch();
        body(self);
        self.close_branch(cond);
    }

    /// Opens the body of a branch. What is built until [`Builder::close_branch`] belongs to it.
    pub(crate) fn open_branch(&mut self) {
        self.open.push(Block::default());
        self.known.push(InstMap::default());
    }

    /// Closes the branch that was opened last; it runs where `cond` holds.
    pub(crate) fn close_branch(&mut self, cond: Value) {
        self.known.pop();
        let block = self.open.pop().expect("a branch is open");
        let inst = Inst { op: Op::If, args: vec![cond], results: Vec::new(), blocks: vec![block] };
        self.open.last_mut().expect("the outermost block is open").insts.push(inst);
    }
}
