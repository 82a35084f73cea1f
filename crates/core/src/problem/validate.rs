//! From what a caller says to what is right: refusals, and what is left in canonical form.

use super::address::{AddressSet, extent};
use super::{Dim, ELEMENT_LIMIT, Format, Kind, Placement, Problem, half};
use crate::error::{Error, Side, Tensor};

/// Collisions between interleaved strides are searched for among this many elements at most.
const SEARCH_LIMIT: u64 = 1 << 22;

impl Problem {
    /// Checks everything that makes a problem impossible and brings the rest to canonical form.
    ///
    /// ```
    /// use warpfft_core::problem::*;
    /// let raw = Problem {
    ///     kind: Kind::Complex,
    ///     transform: vec![Dim::new(8, 1, 1)],
    ///     batch: vec![Dim::new(3, 16, 16), Dim::new(2, 8, 8), Dim::new(1, 7, 0)],
    ///     input_offset: 0,
    ///     output_offset: 0,
    ///     precision: Precision::F32,
    ///     storage: [None; 2],
    ///     input: Format::Interleaved,
    ///     output: Format::Interleaved,
    ///     placement: Placement::InPlace,
    ///     direction: Direction::Forward,
    ///     scale: 1.0,
    ///     max_workspace: None,
    ///     windows: Vec::new(),
    ///     filter: None,
    ///     functions: Default::default(),
    /// };
    /// let problem = raw.validated()?;
    /// assert_eq!(problem.batch, [Dim::new(6, 8, 8)]);
    /// assert_eq!(problem.input_span(), 0..48);
    /// # Ok::<(), warpfft_core::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Empty dimensions, too many elements, addresses outside of any buffer, outputs that share an address, input
    /// and output that disagree in place, in their types too, formats or lengths that the kind cannot have, and a scale
    /// that is not finite.
    pub fn validated(mut self) -> Result<Self, Error> {
        if !self.scale.is_finite() {
            return Err(Error::Scale { scale: self.scale });
        }
        self.check_lengths()?;
        self.check_kind()?;
        self.check_windows()?;
        self.check_filter()?;
        self.check_at_run()?;
        self.check_functions()?;
        check_extent(Side::Input, self.input_offset, self.input_dims())?;
        check_extent(Side::Output, self.output_offset, self.output_dims())?;
        let output = AddressSet::new(self.output_offset, self.output_dims());
        check_overlap(&output)?;
        if self.placement == Placement::InPlace {
            self.check_stored_alike()?;
            match self.kind {
                Kind::RealToComplex(dim) => self.check_padded(dim, false)?,
                Kind::ComplexToReal(dim) => self.check_padded(dim, true)?,
                Kind::Complex | Kind::RealToReal(_) | Kind::Zoom(_) => {
                    self.check_in_place(&output)?;
                    self.check_parts_in_place()?;
                }
            }
        }
        self.canonicalise();
        Ok(self)
    }

    /// Whether formats and lengths are such as the kind can have.
    fn check_kind(&self) -> Result<(), Error> {
        let sides = [(Side::Input, self.input), (Side::Output, self.output)];
        for ((side, format), real) in sides.into_iter().zip(self.kind.reals()) {
            let complex = matches!(format, Format::Interleaved | Format::Planar);
            // Complex numbers of which memory holds the real parts alone.
            let reduced = self.kind == Kind::Complex && format == Format::Real;
            if matches!(format, Format::Apart(_)) || (real == complex && !reduced) {
                return Err(Error::KindFormat { side, real, got: format });
            }
        }
        if let Kind::Zoom(zoom) = &self.kind {
            self.check_zoom(zoom)?;
        }
        if let Kind::RealToReal(dims) = &self.kind {
            let short = dims.iter().find(|real| real.dim.n < real.kind.least());
            if let Some(real) = short {
                let (kind, least) = (real.kind.name(), real.kind.least());
                return Err(Error::KindLength { kind, n: real.dim.n, least });
            }
            if !self.transform.is_empty() {
                return Err(Error::MixedKinds { complex: self.transform.len() });
            }
        }
        Ok(())
    }

    /// Whether reals and complex numbers lie in place as FFTW has them: rows of reals padded to what their spectrum takes.
    fn check_padded(&self, own: Dim, back: bool) -> Result<(), Error> {
        let format = if back { self.input } else { self.output };
        let strides = |dim: &Dim| if back { (dim.os, dim.is) } else { (dim.is, dim.os) };
        let padded = |dim: &&Dim| {
            let (real, complex) = strides(dim);
            // Spectra closer than that would lie in one another.
            i128::from(real) == 2 * i128::from(complex) && complex.unsigned_abs() >= half(own.n)
        };
        let offsets = if back {
            (self.output_offset, self.input_offset)
        } else {
            (self.input_offset, self.output_offset)
        };
        let uneven = self.dims().filter(|dim| dim.n > 1).find(|dim| !padded(dim)).map(strides);
        let along = (own.n > 1 && strides(&own) != (1, 1)).then_some(strides(&own));
        let apart = i128::from(offsets.0) != 2 * i128::from(offsets.1);
        if format != Format::Interleaved || uneven.is_some() || along.is_some() || apart {
            return Err(Error::InPlaceReals { n: own.n, uneven, along, offsets, format });
        }
        Ok(())
    }

    /// In place both sides are one array, which has one type.
    fn check_stored_alike(&self) -> Result<(), Error> {
        match self.stored() {
            [input, output] if input != output => Err(Error::InPlaceStorage { input, output }),
            _ => Ok(()),
        }
    }

    fn check_lengths(&self) -> Result<(), Error> {
        let mut elements = 1u64;
        let own: Vec<Dim> = self.kind.dims().map(|(dim, _)| dim).collect();
        let tensors =
            [(Tensor::Transform, &self.transform), (Tensor::Transform, &own), (Tensor::Batch, &self.batch)];
        for (tensor, dims) in tensors {
            for (axis, dim) in dims.iter().enumerate() {
                if dim.n == 0 {
                    return Err(Error::EmptyDimension { tensor, axis });
                }
                elements = elements
                    .checked_mul(dim.n)
                    .filter(|&count| count <= ELEMENT_LIMIT)
                    .ok_or(Error::TooManyElements { tensor, axis, limit: ELEMENT_LIMIT })?;
                if dim.n > 1 && dim.os == 0 {
                    return Err(Error::ZeroOutputStride { tensor, axis, n: dim.n });
                }
            }
        }
        Ok(())
    }

    fn check_in_place(&self, output: &AddressSet) -> Result<(), Error> {
        if self.input != self.output {
            return Err(Error::InPlaceFormats { input: self.input, output: self.output });
        }
        let input = AddressSet::new(self.input_offset, self.input_dims());
        if input == *output {
            return Ok(());
        }
        if let Some((address, in_input)) = input.nested_difference(output) {
            let side = if in_input { Side::Input } else { Side::Output };
            return Err(Error::InPlaceAddresses { address, side });
        }
        let elements = self.elements();
        if elements > SEARCH_LIMIT {
            let side = if input.is_nested() { Side::Output } else { Side::Input };
            return Err(Error::UndecidedOverlap { side, elements, limit: SEARCH_LIMIT });
        }
        match first_difference(&input.sorted(), &output.sorted()) {
            None => Ok(()),
            Some((address, side)) => Err(Error::InPlaceAddresses { address, side }),
        }
    }

    /// A part of the batch must overwrite itself alone: the first of what is counted does, and the others lie as far from
    /// it in the input as in the output.
    fn check_parts_in_place(&self) -> Result<(), Error> {
        let Some(&Dim { is, os, .. }) = self.at_run() else { return Ok(()) };
        if is != os {
            return Err(Error::CountInPlace { is, os });
        }
        let mut first = self.clone();
        first.batch.retain(|dim| !dim.at_run);
        first.check_in_place(&AddressSet::new(first.output_offset, first.output_dims()))
    }
}

fn check_extent(side: Side, offset: u64, dims: impl Iterator<Item = (u64, i64)>) -> Result<(), Error> {
    check_ends(side, offset, extent(offset, dims))
}

/// Refuses a lowest or a highest address that no buffer has.
pub(super) fn check_ends(side: Side, offset: u64, (lowest, highest): (i128, i128)) -> Result<(), Error> {
    if lowest < 0 {
        return Err(Error::BelowBuffer { side, lowest, needed_offset: i128::from(offset) - lowest });
    }
    if highest >= i128::from(ELEMENT_LIMIT) {
        return Err(Error::AddressOverflow { side, highest, limit: ELEMENT_LIMIT - 1 });
    }
    Ok(())
}

fn check_overlap(output: &AddressSet) -> Result<(), Error> {
    if output.is_nested() {
        return Ok(());
    }
    let elements = output.tangled_elements();
    if elements > SEARCH_LIMIT {
        return Err(Error::UndecidedOverlap { side: Side::Output, elements, limit: SEARCH_LIMIT });
    }
    match output.collision() {
        Some(address) => Err(Error::OutputOverlap { address }),
        None => Ok(()),
    }
}

/// The lowest address that only one of two rising lists has. Repeated addresses of the input count once: a
/// broadcast input shows as an output that it never reads.
fn first_difference(input: &[u64], output: &[u64]) -> Option<(u64, Side)> {
    let mut unique = input.to_vec();
    unique.dedup();
    for (&read, &written) in unique.iter().zip(output) {
        match read.cmp(&written) {
            std::cmp::Ordering::Equal => {}
            std::cmp::Ordering::Less => return Some((read, Side::Input)),
            std::cmp::Ordering::Greater => return Some((written, Side::Output)),
        }
    }
    match unique.len().cmp(&output.len()) {
        std::cmp::Ordering::Equal => None,
        std::cmp::Ordering::Less => Some((output[unique.len()], Side::Output)),
        std::cmp::Ordering::Greater => Some((unique[output.len()], Side::Input)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Direction, Format, Precision};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn raw(transform: &[Dim], batch: &[Dim], offsets: (u64, u64), placement: Placement) -> Problem {
        Problem {
            kind: Kind::Complex,
            transform: transform.to_vec(),
            batch: batch.to_vec(),
            input_offset: offsets.0,
            output_offset: offsets.1,
            precision: Precision::F32,
            storage: [None; 2],
            input: Format::Interleaved,
            output: Format::Interleaved,
            placement,
            direction: Direction::Forward,
            scale: 1.0,
            max_workspace: None,
            windows: Vec::new(),
            filter: None,
            functions: Default::default(),
        }
    }

    fn refusal(transform: &[Dim], batch: &[Dim], placement: Placement) -> Error {
        raw(transform, batch, (0, 0), placement).validated().unwrap_err()
    }

    const OUT: Placement = Placement::OutOfPlace;
    const IN: Placement = Placement::InPlace;

    #[test]
    fn refuses_addresses_outside_of_any_buffer() {
        let backwards = [Dim::new(4, -2, 1)];
        let want = Error::BelowBuffer { side: Side::Input, lowest: -6, needed_offset: 6 };
        assert_eq!(refusal(&backwards, &[], OUT), want);
        assert!(raw(&backwards, &[], (6, 0), OUT).validated().is_ok());
        assert!(raw(&backwards, &[], (5, 0), OUT).validated().is_err());
        let far = Dim::new(3, 1, i64::MAX);
        assert!(matches!(refusal(&[far], &[], OUT), Error::AddressOverflow { side: Side::Output, .. }));
        let offset = raw(&[], &[], (u64::MAX, 0), OUT).validated();
        assert!(matches!(offset, Err(Error::AddressOverflow { side: Side::Input, .. })));
        let lowest = Dim::new(2, i64::MIN, 1);
        assert!(matches!(refusal(&[lowest], &[], OUT), Error::BelowBuffer { .. }));
    }

    #[test]
    fn refuses_outputs_that_collide() {
        let still = refusal(&[Dim::new(4, 1, 1)], &[Dim::new(2, 4, 0)], OUT);
        assert_eq!(still, Error::ZeroOutputStride { tensor: Tensor::Batch, axis: 0, n: 2 });
        assert!(raw(&[Dim::new(4, 1, 1)], &[Dim::new(2, 0, 4)], (0, 0), OUT).validated().is_ok());
        let overlap = refusal(&[Dim::new(4, 1, 1)], &[Dim::new(2, 4, 3)], OUT);
        assert_eq!(overlap, Error::OutputOverlap { address: 3 });
        // Interleaved, but without collisions: 0 3 + 0 2 4.
        let interleaved = [Dim::new(2, 3, 3), Dim::new(3, 1, 2)];
        assert!(raw(&interleaved, &[], (0, 0), OUT).validated().is_ok());
        let big = [Dim::new(1 << 12, 1, 3), Dim::new(1 << 12, 1 << 12, 4)];
        let want = Error::UndecidedOverlap { side: Side::Output, elements: 1 << 24, limit: SEARCH_LIMIT };
        assert_eq!(refusal(&big, &[], OUT), want);
        // Nested dimensions outside of the interleaved ones need no search.
        let outer = Dim::new(1 << 30, 6, 16);
        assert!(raw(&interleaved, &[outer], (0, 0), OUT).validated().is_ok());
    }

    #[test]
    fn refuses_in_place_what_does_not_overwrite_itself() {
        let moved = raw(&[Dim::new(8, 1, 1)], &[], (0, 1), IN).validated();
        assert_eq!(moved, Err(Error::InPlaceAddresses { address: 0, side: Side::Input }));
        let stretched = refusal(&[Dim::new(8, 1, 2)], &[], IN);
        assert_eq!(stretched, Error::InPlaceAddresses { address: 1, side: Side::Input });
        let broadcast = refusal(&[Dim::new(4, 1, 1)], &[Dim::new(2, 0, 4)], IN);
        assert_eq!(broadcast, Error::InPlaceAddresses { address: 4, side: Side::Output });
        let square = [Dim::new(8, 8, 1), Dim::new(8, 1, 8)];
        assert!(raw(&square, &[], (0, 0), IN).validated().is_ok());
        let padded = refusal(&[Dim::new(1 << 20, 16, 1), Dim::new(8, 1, 1 << 20)], &[], IN);
        assert_eq!(padded, Error::InPlaceAddresses { address: 8, side: Side::Output });
        // Equal sets, but only one that begins within the buffer.
        let falling = [Dim::new(4, -28, -39), Dim::new(4, -39, -28)];
        assert!(raw(&falling, &[], (201, 201), IN).validated().is_ok());
        let below = Error::BelowBuffer { side: Side::Input, lowest: -1, needed_offset: 201 };
        assert_eq!(raw(&falling, &[], (200, 200), IN).validated(), Err(below));
        let mut formats = raw(&square, &[], (0, 0), IN);
        formats.output = Format::Planar;
        let want = Error::InPlaceFormats { input: Format::Interleaved, output: Format::Planar };
        assert_eq!(formats.validated(), Err(want));
    }

    fn dims(most: usize) -> impl Strategy<Value = Vec<Dim>> {
        let dim = (1u64..5, -12i64..13, -40i64..41).prop_map(|(n, is, os)| Dim::new(n, is, os));
        proptest::collection::vec(dim, 0..=most)
    }

    /// All transforms, each as the set of its (index-free) input and output addresses.
    fn mapping(problem: &Problem) -> BTreeSet<BTreeSet<(u64, u64)>> {
        let points = problem.points() as usize;
        let all: Vec<_> = problem.addresses().collect();
        all.chunks(points).map(|one| one.iter().copied().collect()).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, max_global_rejects: 100_000, ..Default::default() })]

        #[test]
        fn canonical_form_maps_the_same_elements(t in dims(2), b in dims(3)) {
            let given = raw(&t, &b, (200, 600), OUT);
            if let Ok(canonical) = given.clone().validated() {
                prop_assert_eq!(mapping(&given), mapping(&canonical));
                prop_assert!(canonical.dims().all(|d| d.n > 1) && canonical.batch.iter().all(|d| d.os > 0));
                prop_assert_eq!(canonical.clone().validated(), Ok(canonical));
            }
        }

        #[test]
        fn accepts_exactly_what_has_no_collision(t in dims(2), b in dims(3)) {
            let given = raw(&t, &b, (200, 600), OUT);
            let outputs: BTreeSet<u64> = given.addresses().map(|(_, output)| output).collect();
            prop_assert_eq!(given.clone().validated().is_ok(), outputs.len() as u64 == given.elements());
        }

        #[test]
        fn accepts_in_place_exactly_equal_sets(t in dims(2), swap: bool) {
            // No two dimensions reach below the buffer from here, swapped or not.
            let mut given = raw(&t, &[], (240, 240), IN);
            if swap {
                // Transpositions of one tensor into another: sets that are often, not always, equal.
                let strides: Vec<i64> = t.iter().map(|d| d.os).collect();
                given.transform.iter_mut().zip(strides.iter().rev()).for_each(|(d, &s)| d.is = s);
            }
            let inputs: Vec<u64> = given.addresses().map(|(input, _)| input).collect();
            let outputs: BTreeSet<u64> = given.addresses().map(|(_, output)| output).collect();
            let equal = inputs.iter().copied().collect::<BTreeSet<_>>() == outputs;
            let injective = outputs.len() as u64 == given.elements();
            prop_assert_eq!(given.validated().is_ok(), equal && injective);
        }

        #[test]
        fn spans_are_tight(t in dims(2), b in dims(3)) {
            if let Ok(problem) = raw(&t, &b, (200, 600), OUT).validated() {
                let inputs: BTreeSet<u64> = problem.addresses().map(|(input, _)| input).collect();
                let outputs: BTreeSet<u64> = problem.addresses().map(|(_, output)| output).collect();
                let span = |set: &BTreeSet<u64>| *set.first().unwrap()..*set.last().unwrap() + 1;
                prop_assert_eq!(problem.input_span(), span(&inputs));
                prop_assert_eq!(problem.output_span(), span(&outputs));
            }
        }
    }
}
