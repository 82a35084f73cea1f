//! The canonical form, which all problems have that ask the same thing in other words.

use super::{Dim, Kind, Problem, Storage};

impl Problem {
    /// Brings a problem that may be to that form: dimensions of one point go, the others stand in the order of their output
    /// strides, and what continues is joined.
    pub(crate) fn canonicalise(&mut self) {
        // To name the type that is computed in says nothing.
        let own = Storage::of(self.precision);
        self.storage = self.storage.map(|storage| storage.filter(|&storage| storage != own));
        self.drop_whole_windows();
        if !self.functions.is_empty() {
            return self.canonicalise_around_functions();
        }
        let by_output = |dim: &Dim| std::cmp::Reverse(dim.os.unsigned_abs());
        let mut filter = self.filter.take();
        let strides =
            filter.as_mut().map(|filter| [&mut filter.transform, &mut filter.batch].map(std::mem::take));
        let [of_transform, of_batch] = strides.unwrap_or_default();
        let mut blocks =
            filter.as_mut().map(|filter| std::mem::take(&mut filter.blocks)).unwrap_or_default().into_iter();
        let mut windows = std::mem::take(&mut self.windows).into_iter();
        let mut strides = of_transform.into_iter();
        let mut transform: Vec<_> = std::mem::take(&mut self.transform)
            .into_iter()
            .map(|dim| (dim, windows.next(), strides.next(), blocks.next()))
            .collect();
        transform.retain(|(dim, ..)| dim.n > 1);
        transform.sort_by_key(|(dim, ..)| by_output(dim));
        // What is left of them are those of the kind's own dimensions.
        let mut own: Vec<_> = windows.collect();
        if let Kind::RealToReal(dims) = &mut self.kind {
            let mut sides = own.into_iter();
            let mut both: Vec<_> = dims.drain(..).map(|real| (real, sides.next())).collect();
            both.sort_by_key(|(real, _)| by_output(&real.dim));
            own = both.iter().filter_map(|&(_, sides)| sides).collect();
            dims.extend(both.into_iter().map(|(real, _)| real));
        }
        self.windows = transform.iter().filter_map(|&(_, sides, ..)| sides).chain(own).collect();
        let mut strides = of_batch.into_iter();
        let mut batch: Vec<(Dim, i64)> =
            self.batch.drain(..).map(|dim| (dim, strides.next().unwrap_or(0))).collect();
        batch.retain(|(dim, _)| dim.n > 1 || dim.at_run);
        for (dim, stride) in &mut batch {
            if dim.os < 0 && !dim.at_run {
                let last = i128::from(dim.n) - 1;
                let moved = |offset, stride| (i128::from(offset) + last * i128::from(stride)) as u64;
                self.input_offset = moved(self.input_offset, dim.is);
                self.output_offset = moved(self.output_offset, dim.os);
                filter.iter_mut().for_each(|filter| filter.offset = moved(filter.offset, *stride));
                (*dim, *stride) = (Dim::new(dim.n, -dim.is, -dim.os), -*stride);
            }
        }
        batch.sort_by_key(|(dim, _)| by_output(dim));
        while let Some((outer, inner)) = continuing(&batch) {
            batch[inner].0.n *= batch[outer].0.n;
            batch.remove(outer);
        }
        if let Some(filter) = &mut filter {
            filter.transform = transform.iter().filter_map(|&(_, _, stride, _)| stride).collect();
            filter.blocks = transform.iter().filter_map(|&(.., block)| block).collect();
            filter.batch = batch.iter().map(|&(_, stride)| stride).collect();
        }
        self.filter = filter;
        self.transform = transform.into_iter().map(|(dim, ..)| dim).collect();
        self.batch = batch.into_iter().map(|(dim, _)| dim).collect();
    }
}

/// Two dimensions of which the first goes on where the second ends, on both sides. Not only neighbours in the
/// order: interleaved strides may put a third between them.
pub(crate) fn continuing_pair(dims: &[Dim]) -> Option<(usize, usize)> {
    continuing(&dims.iter().map(|&dim| (dim, 0)).collect::<Vec<_>>())
}

/// The same for dimensions with their strides in a filter.
fn continuing(dims: &[(Dim, i64)]) -> Option<(usize, usize)> {
    let continues = |(outer, far): &(Dim, i64), (inner, near): &(Dim, i64)| {
        let n = i128::from(inner.n);
        let strides = [(outer.is, inner.is), (outer.os, inner.os), (*far, *near)];
        !(outer.at_run || inner.at_run)
            && strides.into_iter().all(|(outer, inner)| i128::from(outer) == n * i128::from(inner))
    };
    (0..dims.len()).find_map(|outer| {
        (outer + 1..dims.len())
            .find(|&inner| continues(&dims[outer], &dims[inner]))
            .map(|inner| (outer, inner))
    })
}
