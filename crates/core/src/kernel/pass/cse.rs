//! Equal pure instructions become one: value numbering in the scopes of the blocks.

use crate::kernel::hash::InstMap;
use crate::kernel::{Block, Kernel, Op, Type, Value};

/// What makes two pure instructions equal; missing arguments are the value of the highest number.
type Key = (Op, Type, [Value; 3]);

/// Replaces a pure instruction by an equal one in scope. Tells whether it found any.
pub fn share(kernel: &mut Kernel) -> bool {
    let same = (0..kernel.types.len() as u32).map(Value).collect();
    let mut shared = Sharing { types: &kernel.types, same, known: InstMap::default(), entered: Vec::new() };
    shared.block(&mut kernel.body)
}

struct Sharing<'k> {
    types: &'k [Type],
    /// What each value is replaced by.
    same: Vec<Value>,
    known: InstMap<Key, Value>,
    /// Keys in the order of entry, to forget a block's at its end.
    entered: Vec<Key>,
}

impl Sharing<'_> {
    fn block(&mut self, block: &mut Block) -> bool {
        let outer = self.entered.len();
        let mut found = false;
        block.insts.retain_mut(|inst| {
            self.rename(&mut inst.args);
            for inner in &mut inst.blocks {
                found |= self.block(inner);
            }
            let (Some(key), [result]) = (self.key(inst.op, &inst.args, &inst.results), &inst.results[..])
            else {
                return true;
            };
            if let Some(&first) = self.known.get(&key) {
                self.same[result.0 as usize] = first;
                found = true;
                return false;
            }
            self.known.insert(key, *result);
            self.entered.push(key);
            true
        });
        self.rename(&mut block.yields);
        for key in self.entered.drain(outer..) {
            self.known.remove(&key);
        }
        found
    }

    fn key(&self, op: Op, args: &[Value], results: &[Value]) -> Option<Key> {
        if !op.is_pure() || args.len() > 3 {
            return None;
        }
        let mut key = [Value(u32::MAX); 3];
        key[..args.len()].copy_from_slice(args);
        if op.is_commutative() && key[0] > key[1] {
            key.swap(0, 1);
        }
        Some((op, self.types[results.first()?.0 as usize], key))
    }

    fn rename(&self, values: &mut [Value]) {
        for value in values {
            *value = self.same[value.0 as usize];
        }
    }
}
