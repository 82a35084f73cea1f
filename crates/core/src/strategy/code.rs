//! A kernel of a strategy: the builder, with arrays of packed complex numbers.

use std::ops::{Deref, DerefMut};

use super::draft::Array;
use crate::kernel::{Access, Builder, Cache, Cx, Kernel, Op, Space, Type, Value};
use crate::program::Binding;

/// A kernel that is being written.
pub(super) struct Code {
    /// What writes it.
    pub b: Builder,
    /// Which threads take part in accesses to global memory; `None`: all.
    pub on: Option<Value>,
    /// Type of the real numbers.
    pub elem: Type,
    /// Threads of a block.
    pub threads: u32,
    /// Direction of the factors.
    pub forward: bool,
    bindings: Vec<Binding>,
    tables: Vec<(Binding, View)>,
    tiles: usize,
}

/// An array as a kernel sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct View {
    space: Space,
    /// Its reals are more than 32 bits count.
    wide: bool,
}

impl Deref for Code {
    type Target = Builder;

    fn deref(&self) -> &Builder {
        &self.b
    }
}

impl DerefMut for Code {
    fn deref_mut(&mut self) -> &mut Builder {
        &mut self.b
    }
}

impl Code {
    /// An empty kernel. Its name keeps letters, digits and underscores.
    pub fn new(name: &str, threads: u32, blocks: u64, elem: Type, forward: bool) -> Self {
        let name = name.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        let b = Builder::new(name, threads, blocks);
        Self { b, on: None, elem, threads, forward, bindings: Vec::new(), tables: Vec::new(), tiles: 0 }
    }

    /// The kernel, and what its buffers are bound to.
    pub fn finish(self) -> (Kernel, Vec<Binding>) {
        (self.b.finish(), self.bindings)
    }

    fn bind(&mut self, name: &str, access: Access, array: Array) -> View {
        let reals = 2 * array.elements;
        self.bindings.push(array.binding);
        View { space: self.b.buffer(name, array.elem, access, reals), wide: reals > u64::from(u32::MAX) }
    }

    /// An array that is read.
    pub fn read(&mut self, array: Array) -> View {
        self.bind("source", Access::Read, array)
    }

    /// An array that is written.
    pub fn write(&mut self, array: Array) -> View {
        self.bind("destination", Access::Write, array)
    }

    /// A source and a destination, which may be the same.
    pub fn pair(&mut self, [from, to]: [Array; 2]) -> [View; 2] {
        if from == to {
            let data = self.bind("data", Access::ReadWrite, from);
            [data, data]
        } else {
            [self.read(from), self.write(to)]
        }
    }

    /// A constant table, bound once however often it is asked for.
    pub fn table(&mut self, array: Array) -> View {
        let known = self.tables.iter().find(|(binding, _)| *binding == array.binding);
        if let Some(&(_, view)) = known {
            return view;
        }
        let name = numbered("table", self.tables.len());
        let view = self.bind(&name, Access::Read, array);
        self.tables.push((array.binding, view));
        view
    }

    fn at(&mut self, view: View, index: Value) -> Value {
        let index = if view.wide { self.b.convert(Type::U64, index) } else { index };
        let real = self.b.mul_const(index, 2);
        self.b.addr(view.space, real)
    }

    /// Loads a complex number, as it is computed in.
    pub fn load(&mut self, view: View, index: Value) -> Cx {
        let [re, im] = self.load_kept(view, index).map(|x| self.b.convert(self.elem, x));
        Cx { re, im }
    }

    /// Loads a complex number as the array keeps it.
    pub fn load_kept(&mut self, view: View, index: Value) -> [Value; 2] {
        let from = self.at(view, index);
        let z = self.b.load(from, 0, 2, Cache::Default, self.on);
        [z[0], z[1]]
    }

    /// Loads two neighbours, the first at an even index, by one access where its bytes allow.
    pub fn load_two(&mut self, view: View, index: Value) -> [Cx; 2] {
        let from = self.at(view, index);
        if self.elem == Type::F64 {
            return [0, 2].map(|offset| {
                let z = self.b.load(from, offset, 2, Cache::Default, self.on);
                Cx { re: z[0], im: z[1] }
            });
        }
        let z = self.b.load(from, 0, 4, Cache::Default, self.on);
        [Cx { re: z[0], im: z[1] }, Cx { re: z[2], im: z[3] }]
    }

    /// Stores a complex number, as the array keeps it.
    pub fn store(&mut self, view: View, index: Value, z: Cx) {
        let to = self.at(view, index);
        let elem = self.b.elem(to);
        let kept = [z.re, z.im].map(|x| self.b.convert(elem, x));
        self.b.store(to, 0, &kept, Cache::Default, self.on);
    }

    /// The address of the real that lies so many after a complex number's first.
    fn at_real(&mut self, view: View, index: Value, after: Value) -> Value {
        let [index, after] =
            [index, after].map(|at| if view.wide { self.b.convert(Type::U64, at) } else { at });
        let real = self.b.mul_const(index, 2);
        let real = self.b.add(real, after);
        self.b.addr(view.space, real)
    }

    /// Loads the real that lies so many after a complex number's first.
    pub fn load_real(&mut self, view: View, index: Value, after: Value) -> Value {
        let from = self.at_real(view, index, after);
        self.b.load(from, 0, 1, Cache::Default, self.on)[0]
    }

    /// Stores a real there.
    pub fn store_real(&mut self, view: View, index: Value, after: Value, x: Value) {
        let to = self.at_real(view, index, after);
        self.b.store(to, 0, &[x], Cache::Default, self.on);
    }

    /// What `body` accesses, only where that holds too.
    pub fn only<T>(&mut self, condition: Option<Value>, body: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.on;
        if let Some(condition) = condition {
            let both = before.map_or(condition, |on| self.b.binary(Op::And, on, condition));
            self.on = Some(both);
        }
        let result = body(self);
        self.on = before;
        result
    }

    /// A complex number without its imaginary part where that holds.
    pub fn real_where(&mut self, condition: Value, z: Cx) -> Cx {
        let elem = self.elem;
        let zero = self.b.float(elem, 0.0);
        Cx { re: z.re, im: self.b.select(condition, zero, z.im) }
    }

    /// The conjugate.
    pub fn conj(&mut self, z: Cx) -> Cx {
        self.b.conj(z)
    }

    /// A shared array of so many reals, under a name that is free.
    pub fn tile(&mut self, name: &str, reals: u64) -> Space {
        let name = numbered(name, self.tiles);
        self.tiles += 1;
        self.b.shared(name, self.elem, reals as u32)
    }

    /// A factor from a table of the forward direction, as this direction has it.
    pub fn factor(&mut self, table: View, index: Value) -> Cx {
        let from = self.at(table, index);
        let w = self.b.load(from, 0, 2, Cache::ReadOnly, self.on);
        self.directed(Cx { re: w[0], im: w[1] })
    }

    /// A factor of the forward direction, or a number of an inverse transform that goes as the conjugate of a forward
    /// one, as this direction has it.
    pub fn directed(&mut self, w: Cx) -> Cx {
        if self.forward { w } else { self.conj(w) }
    }

    /// `x mod d`, and `x / d`, of a number that is at most `most`.
    pub fn split(&mut self, x: Value, d: u64, most: u64) -> [Value; 2] {
        if d > most {
            let zero = self.b.u32(0);
            return [x, zero];
        }
        // Both fit, as `d` is at most `most`, and that is an index.
        [self.b.rem_const(x, d as u32, most), self.b.div_const(x, d as u32, most)]
    }
}

/// A name, with a number from the second on.
fn numbered(name: &str, index: usize) -> String {
    if index == 0 { name.into() } else { format!("{name}_{index}") }
}
