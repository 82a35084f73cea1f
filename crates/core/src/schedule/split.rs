//! A dimension in several passes, a part of its length in each.

use crate::pass::{Axis, PassDim, Twiddle};
use crate::plan::Plan;
use crate::target::{LINE_BYTES, SECTOR_BYTES};

use super::{Place, Scheduler, on_chip_method};

impl Scheduler<'_> {
    /// How far apart rows of the scratch region are, of what follows the first part: whole lines of memory, where they would
    /// start within sectors. A pass that writes parts of sectors which no cache holds takes longer (`docs/notes/columns.md`).
    pub(super) fn rows(&self, d: usize, parts: &[Plan], lengths: &[u64], dst: &Place) -> u64 {
        let bytes = self.problem.precision.complex_bytes();
        let row = lengths[d] / parts[0].len();
        let nearest = dst.strides.iter().map(|stride| stride.unsigned_abs()).min()
            == Some(dst.strides[d].unsigned_abs());
        let large = 2 * self.problem.elements() * bytes > self.limits.l2_bytes;
        let astray = !(row * bytes).is_multiple_of(SECTOR_BYTES) && row * bytes >= 4 * LINE_BYTES;
        if astray && nearest && large && self.problem.max_workspace.is_none() {
            row.next_multiple_of(LINE_BYTES / bytes)
        } else {
            row
        }
    }

    /// A dimension in several passes. Input index `n = sum n_i N/(f1..fi)`, output index
    /// `k = sum k_i f1..f(i-1)`: each pass transforms one digit where it stands in the scratch region, with the
    /// twiddle that its remaining digits ask for; the last one stores in natural order. Rows of the scratch region, one for
    /// each index of the first digit, are so far apart as it says.
    pub(super) fn split(
        &mut self,
        d: usize,
        parts: &[Plan],
        lengths: &[u64],
        src: &Place,
        (scratch, rows): &(Place, u64),
        dst: &Place,
    ) {
        let n = lengths[d];
        let last = parts.len() - 1;
        let mut done = 1_u64;
        for (i, part) in parts.iter().enumerate() {
            let from = if i == 0 { src } else { scratch };
            let to = if i == last { dst } else { scratch };
            let rest = n / (done * part.len());
            let out_weight = if i == last { done } else { rest };
            let step = if i == 0 { *rows } else { out_weight };
            let axis = PassDim {
                load_index: rest,
                store_index: out_weight,
                of: Some(d as u16),
                counts: [rest, out_weight],
                ..PassDim::new(part.len(), from.strides[d] * rest as i64, to.strides[d] * step as i64)
            };
            let mut batch = self.others(d, lengths, from, to);
            let mut before = 1;
            for earlier in &parts[..i] {
                let from_weight = n / (before * earlier.len());
                let to_weight = if i == last { before } else { from_weight };
                let from_step = if before == 1 { *rows } else { from_weight };
                let to_step = if i == last { before } else { from_step };
                batch.push(PassDim {
                    load_index: from_weight,
                    store_index: to_weight,
                    of: Some(d as u16),
                    counts: [from_weight, to_weight],
                    ..PassDim::new(
                        earlier.len(),
                        from.strides[d] * from_step as i64,
                        to.strides[d] * to_step as i64,
                    )
                });
                before *= earlier.len();
            }
            // A part of one point behind it leaves nothing to tell apart.
            if rest > 1 {
                batch.push(PassDim {
                    load_index: 1,
                    store_index: 1,
                    of: Some(d as u16),
                    counts: [1, 1],
                    twiddle: 1,
                    ..PassDim::new(rest, from.strides[d], to.strides[d])
                });
            }
            let method = on_chip_method(part);
            let mut pass = self.new_pass(vec![Axis::new(axis, method)], batch, from, to);
            pass.twiddle = (rest > 1).then(|| Twiddle::after(n / done));
            if self.suits {
                self.suit(part, &mut pass);
            }
            self.passes.push(pass);
            done *= part.len();
        }
    }
}
