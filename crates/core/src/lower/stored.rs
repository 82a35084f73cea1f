//! Numbers as arrays keep them, and as they are computed in: what a caller's array keeps in another type is converted
//! as it comes from memory, and rounded as it goes there. What lies between passes is kept as it is computed.

use crate::kernel::{Cache, Special, Type, Value};
use crate::problem::Storage;

use super::Lowering;

/// The type of an array's elements.
pub(crate) const fn elem(storage: Storage) -> Type {
    match storage {
        Storage::F16 => Type::F16,
        Storage::Bf16 => Type::Bf16,
        Storage::F32 => Type::F32,
        Storage::F64 => Type::F64,
    }
}

impl Lowering<'_> {
    /// Loads reals as they are computed in.
    pub(super) fn get(
        &mut self,
        ptr: Value,
        offset: i32,
        width: u8,
        cache: Cache,
        on: Option<Value>,
    ) -> Vec<Value> {
        let kept = self.b.load(ptr, offset, width, cache, on);
        let values = kept.into_iter().map(|x| self.b.convert(self.real, x)).collect::<Vec<_>>();
        if self.told_apart.is_none() { values } else { values.into_iter().map(|x| self.apart(x)).collect() }
    }

    /// A number plus a 0 that no compiler knows to be 0, another one each time: of one value that is read again and again,
    /// a driver's compiler made one product out of two, and pairs of singles lost their second halves (an error of 1e-8;
    /// docs/notes/double-single.md).
    fn apart(&mut self, x: Value) -> Value {
        let count = self.told_apart.map_or(1, |count| count + 1);
        self.told_apart = Some(count);
        let zero = self.b.special(Special::Zero);
        let zero = self.b.mul_const(zero, count);
        let zero = self.b.convert(self.real, zero);
        self.b.add(x, zero)
    }

    /// Stores reals as the array keeps them.
    pub(super) fn set(&mut self, ptr: Value, offset: i32, values: &[Value], cache: Cache, on: Option<Value>) {
        let kept = self.kept(ptr, values);
        self.b.store(ptr, offset, &kept, cache, on);
    }

    /// Reals as the array behind a pointer keeps them.
    pub(super) fn kept(&mut self, ptr: Value, values: &[Value]) -> Vec<Value> {
        let elem = self.b.elem(ptr);
        values.iter().map(|&x| self.b.convert(elem, x)).collect()
    }
}
