//! One element between registers and memory, in each format.

use crate::kernel::{Cache, Cx, Special, Value};
use crate::problem::{Format, Precision};

use super::Lowering;
use super::memory::Side;
use super::writes::Write;

impl Lowering<'_> {
    /// A 0; in pairs of singles one that no compiler knows to be 0: what it made of such sums on a driver without fused
    /// products had an error of 3e-9 (`docs/notes/double-single.md`).
    fn no_imaginary_part(&mut self) -> Value {
        if self.pass.precision == Precision::DoubleSingle {
            let zero = self.b.special(Special::Zero);
            return self.b.convert(self.real, zero);
        }
        self.b.float(self.real, 0.0)
    }

    /// One element of a format.
    pub(super) fn load_one(
        &mut self,
        format: Format,
        planes: &[Value],
        offset: i32,
        cache: Cache,
        on: Option<Value>,
    ) -> Cx {
        let mut real = |plane: usize, offset| self.get(planes[plane], offset, 1, cache, on)[0];
        match format {
            Format::Planar => Cx { re: real(0, offset), im: real(1, offset) },
            Format::Real => Cx { re: real(0, offset), im: self.no_imaginary_part() },
            Format::Apart(distance) => {
                let re = real(0, offset);
                let (other, offset) = self.reach(planes, i64::from(offset) + distance);
                Cx { re, im: self.get(other[0], offset, 1, cache, on)[0] }
            }
            Format::Interleaved => {
                let x = self.get(planes[0], offset, 2, cache, on);
                Cx { re: x[0], im: x[1] }
            }
        }
    }

    /// Parts of an element, or of two that lie side by side, to where the format has them.
    pub(super) fn write_reals(
        &mut self,
        side: &Side,
        (planes, offset): (&[Value], i32),
        reals: Vec<Value>,
        on: Option<Value>,
        writes: &mut Vec<Write>,
    ) {
        let one = |ptr, offset, real| Write { ptr, offset, values: vec![real], on };
        match side.operand.format {
            Format::Interleaved => writes.push(Write { ptr: planes[0], offset, values: reals, on }),
            Format::Planar => writes.extend([0, 1].map(|part| one(planes[part], offset, reals[part]))),
            Format::Real => writes.push(one(planes[0], offset, reals[0])),
            Format::Apart(distance) => {
                let (other, far) = self.reach(planes, i64::from(offset) + distance);
                writes.extend([one(planes[0], offset, reals[0]), one(other[0], far, reals[1])]);
            }
        }
    }
}
