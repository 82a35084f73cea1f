//! Stores of a group. Those under one predicate are one branch: of a row of predicated stores the assembler makes a
//! branch around each.

use crate::kernel::{Builder, Cache, Cx, Value};

use super::Lowering;
use super::layout::Layout;

/// Stores from this many on are worth a branch.
const FEW: usize = 2;

/// One store that is to come.
pub(super) struct Write {
    pub ptr: Value,
    pub offset: i32,
    pub values: Vec<Value>,
    pub on: Option<Value>,
}

impl Lowering<'_> {
    /// A group as it leaves: through the stage that was left for the moment of writing.
    pub(super) fn leaving(&mut self, layout: &Layout, slot: u32, group: &[Cx]) -> Vec<Cx> {
        match self.late {
            Some(stage) => self.through(stage, layout, slot, group),
            None => group.to_vec(),
        }
    }

    pub(super) fn write_all(&mut self, mut writes: Vec<Write>, cache: Cache) {
        for write in &mut writes {
            write.values = self.kept(write.ptr, &write.values);
        }
        for run in writes.chunk_by(|one, next| one.on == next.on) {
            match run[0].on {
                Some(on) if run.len() > FEW => self.b.when(on, |b| write_run(b, run, cache, false)),
                _ => write_run(&mut self.b, run, cache, true),
            }
        }
    }
}

fn write_run(b: &mut Builder, run: &[Write], cache: Cache, predicated: bool) {
    for write in run {
        b.store(write.ptr, write.offset, &write.values, cache, write.on.filter(|_| predicated));
    }
}
