//! Elements between registers and memory, in each format.

use crate::kernel::{Cache, Cx, Special, Value};
use crate::pass::Operand;
use crate::problem::{Format, Precision};

use super::Lowering;
use super::layout::Layout;
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

    /// Neighbouring registers that one access moves: two elements whose parts lie side by side, or up to 16 bytes of a plane.
    pub(super) fn neighbours_moved(&self, side: &Side, layout: &Layout, limited: bool) -> usize {
        let Some(register) = layout.register else { return 1 };
        let writes = side.operand == self.pass.dst && !self.pass.in_place();
        let origins = self.pass.batch.iter().filter(|dim| dim.n > 1);
        let origins = origins.map(|dim| side.step * if writes { dim.os } else { dim.is });
        let others = side.weights.iter().enumerate();
        let others = others.filter(|&(d, _)| d != register && self.digits.all[d].size > 1);
        let Operand { format, offset, storage, .. } = side.operand;
        let beside = if let Format::Apart(distance) = format { distance } else { 0 };
        let first = [side.step * offset as i64, beside];
        let mut starts = origins.chain(others.map(|(_, &weight)| weight)).chain(first);
        if limited || side.staged || side.weights[register] != side.step {
            return 1;
        }
        let most = if storage.real_bytes() <= 4 { 4 } else { 2 } / side.step as usize;
        let common = starts.try_fold(4, |common, start| {
            [4, 2].into_iter().find(|&reals| reals <= common && start % reals == 0)
        });
        let size = u64::from(self.digits.all[register].size);
        let fits = |&count: &usize| {
            let reals = count as i64 * side.step;
            count <= most && size.is_multiple_of(count as u64) && common.is_some_and(|common| reals <= common)
        };
        [4, 2].into_iter().find(fits).unwrap_or(1)
    }

    /// So many neighbouring elements of a format, each plane by one access.
    pub(super) fn load_some(
        &mut self,
        format: Format,
        planes: &[Value],
        (offset, count): (i32, usize),
        cache: Cache,
        on: Option<Value>,
    ) -> Vec<Cx> {
        let mut reals = |plane: Value, offset, each| self.get(plane, offset, (count * each) as u8, cache, on);
        let (re, im) = match format {
            Format::Interleaved => {
                let parts = reals(planes[0], offset, 2);
                return parts.chunks(2).map(|x| Cx { re: x[0], im: x[1] }).collect();
            }
            Format::Planar => (reals(planes[0], offset, 1), reals(planes[1], offset, 1)),
            Format::Real => {
                let re = reals(planes[0], offset, 1);
                let none = self.no_imaginary_part();
                let im = vec![none; re.len()];
                (re, im)
            }
            Format::Apart(distance) => {
                let re = reals(planes[0], offset, 1);
                let (other, far) = self.reach(planes, i64::from(offset) + distance);
                (re, self.get(other[0], far, count as u8, cache, on))
            }
        };
        re.into_iter().zip(im).map(|(re, im)| Cx { re, im }).collect()
    }

    /// Neighbouring elements to where the format has their parts, each plane by one access.
    pub(super) fn write_some(
        &mut self,
        side: &Side,
        (planes, offset): (&[Value], i32),
        points: &[Cx],
        on: Option<Value>,
        writes: &mut Vec<Write>,
    ) {
        let re = || points.iter().map(|x| x.re).collect();
        let im = || points.iter().map(|x| x.im).collect();
        let mut write = |ptr, offset, values| writes.push(Write { ptr, offset, values, on });
        match side.operand.format {
            Format::Interleaved => {
                write(planes[0], offset, points.iter().flat_map(|x| [x.re, x.im]).collect());
            }
            Format::Planar => {
                write(planes[0], offset, re());
                write(planes[1], offset, im());
            }
            Format::Real => write(planes[0], offset, re()),
            Format::Apart(distance) => {
                write(planes[0], offset, re());
                let (other, far) = self.reach(planes, i64::from(offset) + distance);
                write(other[0], far, im());
            }
        }
    }
}
