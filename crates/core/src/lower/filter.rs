//! Factors of the frequencies from an array of the caller's, in the middle of a convolution.

use crate::kernel::{Cache, Cx, Op, Type};
use crate::pass::Factors;

use super::layout::Layout;
use super::{Lowering, Slot};

impl Lowering<'_> {
    /// The factor of every register of a slot.
    pub(super) fn filter_factors(&mut self, filter: Factors, layout: &Layout, slot: u32) -> Vec<Option<Cx>> {
        let space = self.space_of(Slot::Filter);
        let on = self.inside(layout, slot);
        let wide = filter.span > u64::from(u32::MAX / 4);
        let ty = if wide { Type::U64 } else { Type::U32 };
        let mut start = self.b.pure(Op::Const(filter.offset), ty, &[]);
        let origin = self.at_origin(ty, |dim| dim.filter);
        start = self.b.add(start, origin);
        let weights = self.digits.weights(|digit| digit.filter);
        let at = layout.linear(&mut self.b, &self.digits, self.threads, slot, &weights, ty);
        if let Some(thread) = at.thread {
            start = self.b.add(start, thread);
        }
        let start = self.b.mul_const(start, 2);
        let pointer = self.b.addr(space, start);
        (0..layout.registers(&self.digits) as usize)
            .map(|r| {
                let constant = at.constant + self.digits.at_register(layout.register, &weights, r);
                let (pointers, offset) = self.reach(&[pointer], 2 * constant);
                let w = self.b.load(pointers[0], offset, 2, Cache::Default, on);
                let w = Cx { re: w[0], im: w[1] };
                Some(if filter.conjugate { self.conjugate(w) } else { w })
            })
            .collect()
    }
}
