//! Numbers values in the order of their definitions and forgets those that nothing defines.

use crate::kernel::{Block, Kernel, Type, Value};

/// Makes value numbers dense, in the order of the text form.
pub fn renumber(kernel: &mut Kernel) {
    let old = std::mem::take(&mut kernel.types);
    let mut numbers = Numbers { new: vec![Value(u32::MAX); old.len()], old, types: Vec::new() };
    numbers.block(&mut kernel.body);
    kernel.types = numbers.types;
}

struct Numbers {
    old: Vec<Type>,
    new: Vec<Value>,
    types: Vec<Type>,
}

impl Numbers {
    fn block(&mut self, block: &mut Block) {
        self.define(&mut block.params);
        for inst in &mut block.insts {
            self.rename(&mut inst.args);
            // Results are numbered first, since the text names them before the block.
            self.define(&mut inst.results);
            for inner in &mut inst.blocks {
                self.block(inner);
            }
        }
        self.rename(&mut block.yields);
    }

    fn define(&mut self, values: &mut [Value]) {
        for value in values {
            let old = value.0 as usize;
            *value = Value(self.types.len() as u32);
            self.new[old] = *value;
            self.types.push(self.old[old]);
        }
    }

    fn rename(&self, values: &mut [Value]) {
        for value in values {
            *value = self.new[value.0 as usize];
        }
    }
}
