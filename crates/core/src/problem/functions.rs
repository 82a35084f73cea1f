//! What functions on load and store ask of a problem: that dimensions stay what their caller named.

use super::{Dim, Format, Kind, Problem};
use crate::error::Error;

impl Problem {
    /// Whether functions are such as can be.
    pub(crate) fn check_functions(&self) -> Result<(), Error> {
        if self.functions.is_empty() {
            return Ok(());
        }
        if self.filter.is_none() {
            self.alone("functions", "apply them in passes of their own, or leave the other out")?;
        }
        let own: Vec<Dim> = self.kind.dims().map(|(dim, _)| dim).collect();
        let dims = self.transform.iter().chain(&own).chain(&self.batch);
        let lengths: Vec<u64> = dims.map(|dim| dim.n).collect();
        self.functions.check(&lengths, self.precision)
    }

    /// Refuses filters, and results that are kept without their imaginary parts, beside what does not know of them.
    pub(super) fn alone(&self, one: &'static str, would_work: &'static str) -> Result<(), Error> {
        let other = if self.filter.is_some() {
            "filters"
        } else if self.kind == Kind::Complex && self.output == Format::Real {
            "real outputs of complex transforms"
        } else {
            return Ok(());
        };
        Err(Error::Together { one, other, would_work })
    }

    /// The canonical form of a problem with functions: dimensions of one point go and the others are ordered, but none
    /// is merged or turned round, since functions may look at their indices.
    pub(super) fn canonicalise_around_functions(&mut self) {
        let number = |dims: &[Dim], from: usize| -> Vec<(usize, Dim)> {
            let mut numbered: Vec<(usize, Dim)> = (from..).zip(dims.iter().copied()).collect();
            numbered.retain(|(_, dim)| dim.n > 1 || dim.at_run);
            numbered.sort_by_key(|(_, dim)| std::cmp::Reverse(dim.os.unsigned_abs()));
            numbered
        };
        let own = self.transform.len();
        let repeated = own + self.kind.dims().count();
        let windows = std::mem::take(&mut self.windows);
        let (transform, batch) = (number(&self.transform, 0), number(&self.batch, repeated));
        let mut kinds: Vec<usize> = (own..repeated).collect();
        if let Kind::RealToReal(dims) = &mut self.kind {
            let mut numbered: Vec<_> = kinds.into_iter().zip(std::mem::take(dims)).collect();
            numbered.sort_by_key(|(_, real)| std::cmp::Reverse(real.dim.os.unsigned_abs()));
            (kinds, *dims) = numbered.into_iter().unzip();
        }
        let named = |dims: &[(usize, Dim)]| dims.iter().map(|&(number, _)| number).collect::<Vec<_>>();
        let order = [named(&transform), kinds, named(&batch)].concat();
        // Those of dimensions to transform, in their order.
        self.windows = order.iter().filter_map(|&number| windows.get(number).copied()).collect();
        self.functions.renumbered(&|dim| order.iter().position(|&own| own == dim));
        if self.keeps_reals() {
            self.functions = self.functions.of_reals();
        }
        if let Some(filter) = &mut self.filter {
            let among = |all: &[i64], from: usize, dims: &[(usize, Dim)]| -> Vec<i64> {
                dims.iter().filter_map(|&(number, _)| all.get(number - from).copied()).collect()
            };
            filter.transform = among(&filter.transform, 0, &transform);
            filter.batch = among(&filter.batch, repeated, &batch);
            let blocks = transform.iter().filter_map(|&(number, _)| filter.blocks.get(number).copied());
            filter.blocks = blocks.collect();
        }
        self.transform = transform.into_iter().map(|(_, dim)| dim).collect();
        self.batch = batch.into_iter().map(|(_, dim)| dim).collect();
    }
}
