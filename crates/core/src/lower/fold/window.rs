//! Windows of lines: which of their elements lie in memory, and where.

use crate::kernel::{Cmp, Type, Value};
use crate::lower::Lowering;
use crate::problem::Window;

use super::port::Port;

/// Elements of a line that memory holds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
    pub window: Window,
    /// Elements of the whole line.
    pub n: u64,
}

impl Lowering<'_> {
    /// Where an index of a line lies in memory, and whether it does.
    pub(super) fn sought(&mut self, port: &Port, index: Value, on: Option<Value>) -> (Value, Option<Value>) {
        let on = port.there.map_or(on, |there| self.also(on, there));
        let Some(held) = port.held else { return (index, on) };
        let (at, there) = self.seen_through(held, index);
        (at, self.also(on, there))
    }

    /// Where an index lies behind a window, and whether it does.
    pub(super) fn seen_through(&mut self, Held { window, n }: Held, index: Value) -> (Value, Value) {
        let (start, len) = (self.b.u32(window.start as u32), self.b.u32(window.len as u32));
        if window.start == 0 {
            let there = self.b.cmp(Cmp::Lt, index, len);
            return (index, there);
        }
        let low = self.b.cmp(Cmp::Lt, index, start);
        let (around, none) = (self.b.u32(n as u32), self.b.u32(0));
        let turn = self.b.select(low, around, none);
        let at = self.b.sub(index, start);
        let at = self.b.add(at, turn);
        debug_assert_eq!(self.b.ty(at), Type::U32);
        let there = self.b.cmp(Cmp::Lt, at, len);
        (at, there)
    }
}
