//! A line of elements that are reached by a computed index: in memory, or in the block's own array.

use crate::kernel::{Cache, Cmp, Cx, Op, Space, Type, Value};
use crate::lower::cluster::remote;
use crate::lower::dealt::Dealt;
use crate::lower::memory::MAX_OFFSET;
use crate::lower::{Lowering, Slot};
use crate::pass::TableKind;
use crate::problem::{Format, Precision};

use super::applied::Applied;
use super::window::Held;

/// One line.
#[derive(Debug, Clone)]
pub(super) struct Port {
    pub planes: Vec<Space>,
    pub format: Format,
    /// Reals from one element to the next.
    pub stride: i64,
    /// Where the line starts, in reals: `U32`, or `U64` where the array needs it.
    pub base: Value,
    pub cache: Cache,
    /// Two reals from an even index on may be moved at once.
    pub pairs: bool,
    /// Complex elements come in twos, of which this line has the first: both may be moved at once.
    pub twins: bool,
    /// Which block of a cluster has it.
    pub holder: Holder,
    /// The caller's function on its elements.
    pub applied: Option<Applied>,
    /// Which of its elements lie there; `None`: all.
    pub held: Option<Held>,
    /// Whether any of them do, and are not beyond a window of another axis; `None`: they do.
    pub there: Option<Value>,
}

/// Which block of a cluster has an element of a line.
#[derive(Debug, Clone, Copy)]
pub(super) enum Holder {
    /// The block itself has all of the line.
    Own,
    /// The line is shared out, its indices at most so large, and what is asked for is the block's own.
    Part(Dealt, u64),
    /// The line is shared out, its indices at most so large.
    Shared(Dealt, u64),
    /// The same, and what is asked for is another block's.
    Elsewhere(Dealt, u64),
    /// All of the line is the block's of that rank.
    Other(Value),
}

impl Port {
    /// The same array as reals that follow each other.
    pub fn reals(&self) -> Self {
        Self { format: Format::Real, stride: 1, pairs: false, twins: false, ..self.clone() }
    }

    /// The line that lies so many reals further.
    pub fn beyond(&self, lowering: &mut Lowering<'_>, reals: i64) -> Self {
        let base = lowering.b.add_const(self.base, masked(lowering.b.ty(self.base), reals));
        Self { base, ..self.clone() }
    }
}

/// A distance as an unsigned number that wraps to it.
pub(super) fn masked(ty: Type, distance: i64) -> u64 {
    distance as u64 & if ty == Type::U64 { u64::MAX } else { u64::from(u32::MAX) }
}

impl Lowering<'_> {
    /// Pointers for the element of an index, and how many reals beyond them it lies.
    fn pointers_at(&mut self, port: &Port, index: Value) -> (Vec<Value>, i32) {
        let ty = self.b.ty(port.base);
        let sum = match self.b.constant(index) {
            Some(known) => (self.b.u32(0), known as i64),
            None => self.split(index),
        };
        let whole = |by: i64| match port.holder {
            Holder::Own | Holder::Other(_) => Some(by),
            Holder::Part(dealt, _) | Holder::Shared(dealt, _) | Holder::Elsewhere(dealt, _) => {
                dealt.own_distance(by)
            }
        };
        // What a mirror image starts from may be one beyond the line: backward, that is before the array.
        let apart = whole(sum.1).filter(|_| port.stride > 0).map(|by| by * port.stride);
        let apart = apart.filter(|by| by.abs() <= MAX_OFFSET);
        let (start, offset) = apart.map_or((index, 0), |offset| (sum.0, offset as i32));
        let (own, rank) = match port.holder {
            Holder::Own => (start, None),
            Holder::Other(rank) => (start, Some(rank)),
            Holder::Part(dealt, most) => (dealt.own(&mut self.b, start, most), None),
            Holder::Shared(dealt, most) | Holder::Elsewhere(dealt, most) => {
                (dealt.own(&mut self.b, start, most), Some(dealt.rank(&mut self.b, start, most)))
            }
        };
        let own = self.b.convert(ty, own);
        let far = self.b.mul_const(own, masked(ty, port.stride));
        let at = self.b.add(port.base, far);
        let pointers = port.planes.iter().map(|&space| {
            let ptr = self.b.addr(space, at);
            rank.map_or(ptr, |rank| remote(&mut self.b, ptr, rank))
        });
        (pointers.collect(), offset)
    }

    /// A line of which nearly all that is asked for is the block's own, as two: where that is so, and where it is not.
    fn near_and_far(&mut self, port: &Port, index: Value, on: Option<Value>) -> Option<[(Port, Value); 2]> {
        let Holder::Shared(dealt, most) = port.holder else { return None };
        if !dealt.reflected {
            return None;
        }
        let (start, by) = self.split(index);
        let start = if dealt.own_distance(by).is_some() { start } else { index };
        let rank = dealt.rank(&mut self.b, start, most);
        let own = self.threads.rank.expect("the blocks of a cluster know their ranks");
        let of = |holder| Port { holder, ..port.clone() };
        let both = [(Cmp::Eq, Holder::Part(dealt, most)), (Cmp::Ne, Holder::Elsewhere(dealt, most))];
        Some(both.map(|(is, holder)| {
            let there = self.b.cmp(is, rank, own);
            let there = on.map_or(there, |on| self.b.pure(Op::And, Type::Bool, &[on, there]));
            (of(holder), there)
        }))
    }

    /// The complex element at an index; 0 where `on` does not hold.
    pub(super) fn get_point(&mut self, port: &Port, index: Value, on: Option<Value>) -> Cx {
        if let Some(both) = self.near_and_far(port, index, on) {
            let near = both[0].1;
            let [x, y] = both.map(|(port, there)| self.get_point(&port, index, Some(there)));
            return Cx { re: self.b.select(near, x.re, y.re), im: self.b.select(near, x.im, y.im) };
        }
        let (place, on) = self.sought(port, index, on);
        let (pointers, offset) = self.pointers_at(port, place);
        let x = if let [re, im] = pointers[..] {
            let mut part = |ptr| self.get(ptr, offset, 1, port.cache, on)[0];
            Cx { re: part(re), im: part(im) }
        } else {
            let x = self.get(pointers[0], offset, 2, port.cache, on);
            Cx { re: x[0], im: x[1] }
        };
        self.read_through(port, index, x, on)
    }

    /// The complex elements of a line and of its twin at an index; 0 where `on` does not hold.
    pub(super) fn get_twins(&mut self, port: &Port, index: Value, on: Option<Value>) -> [Cx; 2] {
        let (pointers, offset) = self.pointers_at(port, index);
        let x = self.get(pointers[0], offset, 4, port.cache, on);
        [Cx { re: x[0], im: x[1] }, Cx { re: x[2], im: x[3] }]
    }

    pub(super) fn put_twins(&mut self, port: &Port, index: Value, [x, y]: [Cx; 2], on: Option<Value>) {
        let (pointers, offset) = self.pointers_at(port, index);
        self.set(pointers[0], offset, &[x.re, x.im, y.re, y.im], port.cache, on);
    }

    /// The real at an index; 0 where `on` does not hold.
    pub(super) fn get_real(&mut self, port: &Port, index: Value, on: Option<Value>) -> Value {
        let (place, on) = self.sought(port, index, on);
        let (pointers, offset) = self.pointers_at(port, place);
        let x = self.get(pointers[0], offset, 1, port.cache, on)[0];
        self.read_real_through(port, index, x, on)
    }

    pub(super) fn put_point(&mut self, port: &Port, index: Value, x: Cx, on: Option<Value>) {
        if let Some(both) = self.near_and_far(port, index, on) {
            return both.into_iter().for_each(|(port, there)| self.put_point(&port, index, x, Some(there)));
        }
        let x = self.written_through(port, index, x);
        let (place, on) = self.sought(port, index, on);
        let (pointers, offset) = self.pointers_at(port, place);
        if let [re, im] = pointers[..] {
            self.set(re, offset, &[x.re], port.cache, on);
            self.set(im, offset, &[x.im], port.cache, on);
        } else {
            self.set(pointers[0], offset, &[x.re, x.im], port.cache, on);
        }
    }

    pub(super) fn put_real(&mut self, port: &Port, index: Value, x: Value, on: Option<Value>) {
        let x = self.written_real_through(port, index, x);
        let (place, on) = self.sought(port, index, on);
        let (pointers, offset) = self.pointers_at(port, place);
        self.set(pointers[0], offset, &[x], port.cache, on);
    }

    /// The reals at an even index and behind it, both of which are there if the first is.
    pub(super) fn get_pair(&mut self, port: &Port, index: Value, on: Option<Value>) -> [Value; 2] {
        if port.pairs {
            let (pointers, offset) = self.pointers_at(port, index);
            let both = self.get(pointers[0], offset, 2, port.cache, on);
            return [0, 1].map(|which| {
                let index = self.b.add_const(index, which as u64);
                self.read_real_through(port, index, both[which], on)
            });
        }
        let next = self.shifted(index, 1);
        [self.get_real(port, index, on), self.get_real(port, next, on)]
    }

    pub(super) fn put_pair(&mut self, port: &Port, index: Value, [x, y]: [Value; 2], on: Option<Value>) {
        if port.pairs {
            let both = [(0, x), (1, y)].map(|(which, x)| {
                let index = self.b.add_const(index, which);
                self.written_real_through(port, index, x)
            });
            let (pointers, offset) = self.pointers_at(port, index);
            return self.set(pointers[0], offset, &both, port.cache, on);
        }
        let next = self.shifted(index, 1);
        self.put_real(port, index, x, on);
        self.put_real(port, next, y, on);
    }

    /// A factor from a table. By the read-only path it is loaded as early as can be; of two words each, such factors would
    /// take registers that the stages need.
    pub(super) fn fold_factor(&mut self, kind: TableKind, index: Value, on: Option<Value>) -> Cx {
        if let Some(w) = self.root_at(kind, index) {
            return w;
        }
        let (index, by) = self.split(index);
        self.factor_at(kind, index, by, on)
    }

    /// What a table has at an index and so far beyond.
    pub(super) fn factor_at(&mut self, kind: TableKind, index: Value, by: i64, on: Option<Value>) -> Cx {
        if self.pass.precision == Precision::F32 {
            return self.table_load(kind, index, by, on);
        }
        let table = self.space_of(Slot::Table(kind));
        let index = self.b.mul_const(index, 2);
        let ptr = self.b.addr(table, index);
        let w = self.b.load(ptr, 2 * by as i32, 2, Cache::Default, on);
        Cx { re: w[0], im: w[1] }
    }

    /// Whether both hold; `None` always does.
    pub(super) fn also(&mut self, on: Option<Value>, also: Value) -> Option<Value> {
        Some(match on {
            Some(on) => self.b.pure(Op::And, Type::Bool, &[on, also]),
            None => also,
        })
    }

    pub(super) fn negated(&mut self, x: Value, negative: bool) -> Value {
        if negative { self.b.neg(x) } else { x }
    }
}
