//! Linear forms of a tile's digits as a thread computes them.

use crate::kernel::{Cmp, Space, Special, Type, Value};

use super::Lowering;
use super::layout::{Layout, Linear};

impl Lowering<'_> {
    /// From here on, what follows from the thread's index is computed anew: kept from further up, it would take
    /// registers all the way.
    pub(super) fn index_anew(&mut self) {
        let zero = self.b.special(Special::Zero);
        self.threads.index = self.b.add(self.threads.index, zero);
    }

    /// Value of a linear form: thread's part as `U32` with the constant part apart.
    pub(super) fn linear(&mut self, layout: &Layout, slot: u32, weights: &[i64]) -> Linear {
        layout.linear(&mut self.b, &self.digits, self.threads, slot, weights, Type::U32)
    }

    /// Whether a slot's group exists: `None` where it does in every thread.
    pub(super) fn exists(&mut self, layout: &Layout, slot: u32) -> Option<Value> {
        let groups = layout.groups(&self.digits);
        let first = slot / layout.together(&self.digits) * self.threads.count;
        if first + self.threads.count <= groups {
            return None;
        }
        let rest = self.b.u32(groups.saturating_sub(first));
        Some(self.b.cmp(Cmp::Lt, self.threads.index, rest))
    }

    pub(super) fn shared_pointer(
        &mut self,
        space: Space,
        layout: &Layout,
        slot: u32,
        strides: &[i64],
    ) -> (Value, i64) {
        let at = self.linear(layout, slot, strides);
        let index = at.thread.unwrap_or_else(|| self.b.u32(0));
        (self.b.addr(space, index), at.constant)
    }
}
