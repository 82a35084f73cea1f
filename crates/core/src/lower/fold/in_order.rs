//! Points that carry two neighbouring reals each, in their order, where a window holds one real of a point and not the
//! other: what lies whole in memory needs no fold.

use crate::kernel::{Cx, Value};
use crate::lower::Lowering;

use super::Item;

impl Lowering<'_> {
    /// The two reals of an item, which is a point.
    pub(super) fn in_order_taken(&mut self, item: &Item) -> Vec<Value> {
        let first = self.doubled(item.index);
        self.get_pair(&item.own.lines[0], first, item.on).to_vec()
    }

    /// From what memory holds to points.
    pub(super) fn in_order_in(&mut self, item: &Item, taken: &[Value]) {
        let x = Cx { re: taken[0], im: taken[1] };
        self.put_point(&item.own.points, item.index, x, item.on);
    }

    /// From points to what memory holds.
    pub(super) fn in_order_out(&mut self, item: &Item) {
        let x = self.get_point(&item.own.points, item.index, item.on);
        let x = self.b.cscale(x, self.pass.scale);
        let first = self.doubled(item.index);
        self.put_pair(&item.own.lines[0], first, [x.re, x.im], item.on);
    }
}
