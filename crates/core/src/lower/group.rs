//! A group of points in a thread's registers through a stage.

use crate::codelet;
use crate::kernel::{Cx, Type};
use crate::pass::Method;

use super::layout::Layout;
use super::{Lowering, Stage};

impl Lowering<'_> {
    /// A group through a stage.
    pub(super) fn through(&mut self, stage: Stage, layout: &Layout, slot: u32, group: &[Cx]) -> Vec<Cx> {
        if let Method::Reals(reals) = self.pass.axes[stage.axis].method {
            return codelet::reals(&mut self.b, reals.kind, reals.orthogonal, group);
        }
        let mut group = self.begun_at_zero(stage, group);
        let mut factors = self.stage_factors(stage, layout, slot);
        // Factors that wait for their sums take registers, of which these kernels were seen to have none to spare.
        let long = self.cluster.is_some() && group.len() >= 16;
        let words = if self.real == Type::F64 { 4 } else { 2 };
        let held = words * group.len() as u32 * layout.slots(&self.digits, self.threads.count);
        let full = held * 8 / 5 >= self.registers;
        let between = match self.share {
            Some(_) => self.real == Type::F64,
            None => self.twiddles_points(),
        };
        if long || full || between {
            self.multiply(&mut group, &std::mem::take(&mut factors));
            factors = vec![None; group.len()];
        }
        codelet::dft_of_products(&mut self.b, &group, &factors, self.direction)
    }
}
