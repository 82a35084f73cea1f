//! A caller's function on the elements of a line: a port knows where its line is, and applies the function to what it
//! reads and to what it writes.

use std::sync::Arc;

use crate::function::Function;
use crate::kernel::{Cx, Type, Value};
use crate::lower::Lowering;
use crate::lower::layout::Layout;
use crate::pass::Fold;

use super::port::Port;

/// A function, and where its line is among the dimensions that it looks at.
#[derive(Debug, Clone)]
pub(super) struct Applied {
    function: Arc<Function>,
    /// The dimension of the problem that the line is.
    along: Option<u16>,
    /// Index in each of the others.
    places: Vec<(u16, Value)>,
}

impl Applied {
    /// For one of two lines that are neighbours along a dimension.
    pub fn one_of_two(&mut self, across: Option<u16>, which: u32) {
        if let Some(across) = across {
            self.function = Arc::new(self.function.counted(across, 2, which));
        }
    }
}

impl Lowering<'_> {
    /// What is applied to the line of a slot's item on a side, at these indices of the other axes.
    pub(super) fn applied_on(
        &mut self,
        fold: &Fold,
        writes: bool,
        at: (&Layout, u32),
        others: &[Value],
    ) -> Option<Applied> {
        let function = self.pass.functions.side(writes)?.clone();
        let mut dims: Vec<u16> =
            function.dims().map(|dim| dim as u16).filter(|&dim| fold.of != Some(dim)).collect();
        dims.sort_unstable();
        dims.dedup();
        let places = dims.into_iter().map(|dim| (dim, self.line_place(dim, writes, at, others))).collect();
        Some(Applied { function, along: fold.of, places })
    }

    /// The index of a slot's line along a dimension of the problem.
    fn line_place(
        &mut self,
        dim: u16,
        writes: bool,
        (layout, slot): (&Layout, u32),
        others: &[Value],
    ) -> Value {
        let axes = self.pass.axes.iter().zip(others);
        if let Some((_, &index)) = axes.into_iter().find(|(axis, _)| axis.dim.of == Some(dim)) {
            return index;
        }
        let side = usize::from(writes);
        let weights = self.digits.weights(|digit| if digit.of == Some(dim) { digit.counts[side] } else { 0 });
        let origin =
            self.at_origin(Type::U32, |own| if own.of == Some(dim) { own.counts[side] as i64 } else { 0 });
        let at = self.linear(layout, slot, &weights);
        let start = at.thread.map_or(origin, |thread| self.b.add(origin, thread));
        let index = self.b.add_const(start, at.constant as u64);
        self.point_of(dim, writes, index)
    }

    /// What a line's function makes of its element at an index; 0 where `on` does not hold.
    pub(super) fn read_through(&mut self, port: &Port, index: Value, x: Cx, on: Option<Value>) -> Cx {
        let Some(found) = self.made_of(port, index, x) else { return x };
        let Some(on) = on else { return found };
        let zero = self.b.float(self.real, 0.0);
        Cx { re: self.b.select(on, found.re, zero), im: self.b.select(on, found.im, zero) }
    }

    /// What a line's function makes of what is to be written at an index.
    pub(super) fn written_through(&mut self, port: &Port, index: Value, x: Cx) -> Cx {
        self.made_of(port, index, x).unwrap_or(x)
    }

    /// The same for a real.
    pub(super) fn read_real_through(
        &mut self,
        port: &Port,
        index: Value,
        x: Value,
        on: Option<Value>,
    ) -> Value {
        if port.applied.is_none() {
            return x;
        }
        let im = self.b.float(self.real, 0.0);
        self.read_through(port, index, Cx { re: x, im }, on).re
    }

    pub(super) fn written_real_through(&mut self, port: &Port, index: Value, x: Value) -> Value {
        if port.applied.is_none() {
            return x;
        }
        let im = self.b.float(self.real, 0.0);
        self.written_through(port, index, Cx { re: x, im }).re
    }

    fn made_of(&mut self, port: &Port, index: Value, x: Cx) -> Option<Cx> {
        let Applied { function, along, places } = port.applied.as_ref()?;
        Some(self.evaluated(function, x, |this, dim| {
            let place = places.iter().find(|&&(own, _)| own == dim);
            match place {
                _ if *along == Some(dim) => index,
                Some(&(_, place)) => place,
                None => this.b.u32(0),
            }
        }))
    }
}
