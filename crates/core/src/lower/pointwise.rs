//! Factors on what a tile reads or writes, from a table by the element's place.

use crate::kernel::{Cmp, Cx, Type, Value};
use crate::pass::Pointwise;

use super::guards::Bound;
use super::layout::Layout;
use super::{Lowering, Slot};

impl Lowering<'_> {
    /// For each register of a slot: whether the element lies below the factor's limit, and its factor.
    pub(super) fn pointwise(
        &mut self,
        what: Option<Pointwise>,
        layout: &Layout,
        slot: u32,
        inside: Option<Value>,
        writes: bool,
    ) -> Vec<(Bound, Option<Cx>)> {
        let registers = layout.registers(&self.digits);
        let Some(what) = what else { return vec![(Bound::If(inside), None); registers as usize] };
        let weights = self.digits.weights(|digit| if writes { digit.store_index } else { digit.load_index });
        let origin =
            self.at_origin(Type::U32, |dim| if writes { dim.store_index } else { dim.load_index } as i64);
        let at = self.linear(layout, slot, &weights);
        let start = at.thread.map_or(origin, |thread| self.b.add(origin, thread));
        let step = layout.register.map_or(0, |d| weights[d]);
        (0..registers)
            .map(|r| {
                let constant = at.constant + step * i64::from(r);
                let mut on = inside;
                if let Some(limit) = what.limit {
                    if constant >= limit as i64 {
                        return (Bound::Never, None);
                    }
                    let rest = self.b.u32((limit as i64 - constant) as u32);
                    let below = self.b.cmp(Cmp::Lt, start, rest);
                    on = Some(self.both(on, below));
                }
                let factor = what.table.map(|kind| {
                    let table = self.space_of(Slot::Table(kind));
                    let index = self.b.mul_const(start, 2);
                    let ptr = self.b.addr(table, index);
                    let w = self.b.load(ptr, (2 * constant) as i32, 2, self.table_cache(kind), on);
                    let w = self.directed(Cx { re: w[0], im: w[1] });
                    if what.against { self.conjugate(w) } else { w }
                });
                (Bound::If(on), factor)
            })
            .collect()
    }
}
