//! A convolution with a chirp that does not fit on the chip. Its padded points are digits of the parts' lengths. Passes
//! over all digits but the last lead forward, each where its digit stands; one pass takes the last digit there, through
//! the product and back, while its rows are on the chip; the other digits go back in falling order. Nothing is ever
//! transposed: decimated in frequency on the way out, in time on the way home (Gentleman and Sande, *Fast Fourier
//! transforms for fun and profit*, 1966). Two parts are three passes over one region of the workspace.

use crate::pass::{Axis, CoprimePart, Method, PartKind, Pass, PassDim, Pointwise, TableKind, Twiddle};
use crate::plan::Plan;
use crate::planner::Planner;
use crate::problem::{Band, Dim, Problem};
use crate::target::LINE_BYTES;

use super::{Place, Scheduler, on_chip_method};

/// What a dimension is convolved with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// A chirp.
    Chirp(Chirp),
    /// The problem's filter.
    Filter,
}

/// A digit of the padded index `sum n_i weight_i`, and of its frequency `sum k_i before_i`.
struct Digit<'a> {
    part: &'a Plan,
    /// Product of the lengths before it.
    before: u64,
    /// Product of the lengths after it: where it stands in the region, whichever of the two it spells.
    weight: u64,
}

/// The digits of parts.
fn digits(parts: &[Plan]) -> Vec<Digit<'_>> {
    let mut before = 1;
    let mut weight: u64 = parts.iter().map(Plan::len).product();
    let digit = |part| {
        weight /= Plan::len(part);
        let digit = Digit { part, before, weight };
        before *= part.len();
        digit
    };
    parts.iter().map(digit).collect()
}

/// The digits before, which a pass is repeated over from dimension `at` on, spell a frequency: the twiddle multiplies
/// it.
fn number(pass: &mut Pass, before: &[Digit<'_>], at: usize) {
    for (dim, digit) in pass.batch[at..].iter_mut().zip(before) {
        dim.twiddle = digit.before;
    }
}

/// Which chirp a dimension is convolved with: that of its length, or of a band.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Chirp {
    pub n: u64,
    pub band: Option<Band>,
}

impl Chirp {
    fn end(&self, leaves: bool) -> Pointwise {
        let (table, limit) = match self.band {
            Some(band) if leaves => (TableKind::BandOut { band }, band.points),
            Some(band) => (TableKind::BandIn { band }, band.samples),
            None => (TableKind::Chirp { n: self.n }, self.n),
        };
        Pointwise { table: Some(table), limit: Some(limit), against: leaves }
    }
}

/// Of so many multiprocessors one has a line at most where a long convolution takes several passes, which all of them share: on
/// an H200 1 and 33 lines of 10007 points took 13.6 and 14.2 us so, by a block each 15.6 and 17.2, and 66 lines 19.6 and 17.7; of
/// 20011 points, by two blocks each, 12.2 and 20.9 for 21.7 and 24.9, and 50 lines 28.7 for 25.3.
const FEW: u64 = 3;

/// Passes in place of a convolution that blocks take line by line, where there are few lines, or where two blocks would each read a
/// column from as many lines of memory: 20011 x 64 took 7.8 copies in four passes and 9.6 in two, 10007 x 10 doubles 6.6 and 7.3, but
/// 20011 x 5 7.9 and 6.9. Not where workspace is counted.
pub(super) fn in_passes(plan: &Plan, dim: &Dim, problem: &Problem, planner: &Planner<'_>) -> Option<Plan> {
    // What convolves line by line: all of a dimension, or the rows of one that are put in order.
    let line = match plan {
        Plan::Split(parts) if plan.puts_in_order() => &parts[parts.len() - 2],
        plan => plan,
    };
    if line.passes() > 1 || problem.max_workspace.is_some() {
        return None;
    }
    let method = on_chip_method(line);
    let few = FEW * problem.elements() / line.len() <= planner.multiprocessors();
    let far = dim.is.unsigned_abs().min(dim.os.unsigned_abs()) * planner.complex_bytes() > LINE_BYTES;
    let halves = method.in_place().iter().any(CoprimePart::halved) && plan.passes() == 1;
    if !method.convolves() || !(few || (far && halves)) {
        return None;
    }
    planner.in_memory(plan.len()).filter(|passes| matches!(passes, Plan::Bluestein { .. }))
}

impl Scheduler<'_> {
    /// Convolves a dimension of as many points as the parts have together. A chirp, and the padding to that length, are
    /// fused into the first pass's load, the chirp of the result into the last pass's store.
    pub(super) fn convolution(
        &mut self,
        d: usize,
        by: By,
        parts: &[Plan],
        lengths: &[u64],
        src: &Place,
        dst: &Place,
    ) {
        let mut padded = lengths.to_vec();
        padded[d] = parts.iter().map(Plan::len).product();
        let region = self.region(&padded, dst);
        let digits = digits(parts);
        let last = digits.len() - 1;
        let chirp = match by {
            By::Chirp(chirp) => Some(chirp),
            By::Filter => None,
        };
        for i in 0..last {
            let from = if i == 0 { src } else { &region };
            let mut pass = self.column(d, (&digits, i), &padded, from, &region);
            pass.batch.last_mut().into_iter().for_each(|rest| rest.twiddle = 1);
            pass.twiddle = Some(Twiddle::after(digits[i].part.len() * digits[i].weight));
            pass.load = chirp.filter(|_| i == 0).map(|chirp| chirp.end(false));
            self.suit(digits[i].part, &mut pass);
            self.passes.push(pass);
        }
        self.passes.push(self.middle(d, by, &digits, &padded, &region));
        // The transforms of these digits run forward and back whatever the direction; the factors carry it.
        for i in (0..last).rev() {
            let to = if i == 0 { dst } else { &region };
            let mut pass = self.column(d, (&digits, i), &padded, &region, to);
            pass.direction = pass.direction.reversed();
            number(&mut pass, &digits[..i], lengths.len() - 1);
            pass.twiddle = (i > 0).then(|| Twiddle::after(digits[i].before * digits[i].part.len()));
            pass.store = chirp.filter(|_| i == 0).map(|chirp| chirp.end(true));
            self.suit(digits[i].part, &mut pass);
            self.passes.push(pass);
        }
    }

    /// Transforms one digit where it stands. Repeated over: other dimensions, digits before, and what is after as one.
    fn column(
        &self,
        d: usize,
        (digits, own): (&[Digit<'_>], usize),
        lengths: &[u64],
        from: &Place,
        to: &Place,
    ) -> Pass {
        let stands = |n: u64, weight: u64| PassDim {
            load_index: weight,
            store_index: weight,
            of: Some(d as u16),
            counts: [weight; 2],
            ..PassDim::new(n, from.strides[d] * weight as i64, to.strides[d] * weight as i64)
        };
        let digit = |digit: &Digit<'_>| stands(digit.part.len(), digit.weight);
        let mut batch = self.others(d, lengths, from, to);
        batch.extend(digits[..own].iter().map(digit));
        if own + 1 < digits.len() {
            batch.push(stands(digits[own].weight, 1));
        }
        let axis = Axis::new(digit(&digits[own]), on_chip_method(digits[own].part));
        self.new_pass(vec![axis], batch, from, to)
    }

    /// The last digit forward, the product, and back.
    fn middle(&self, d: usize, by: By, digits: &[Digit<'_>], lengths: &[u64], region: &Place) -> Pass {
        let last = digits.len() - 1;
        let mut pass = self.column(d, (digits, last), lengths, region, region);
        let radices = pass.axes[0].method.radices().to_vec();
        let (kind, chirp) = match by {
            By::Chirp(chirp) => (PartKind::Middle, Some(chirp)),
            By::Filter => (PartKind::Filter, None),
        };
        let part = CoprimePart {
            n: digits[last].part.len(),
            kind,
            chirp: chirp.map(|chirp| chirp.n),
            band: chirp.and_then(|chirp| chirp.band),
            radices,
        };
        pass.axes[0].method = Method::Coprime(vec![part]);
        pass.twiddle = Some(Twiddle::after(lengths[d]));
        number(&mut pass, &digits[..last], lengths.len() - 1);
        if by == By::Filter {
            self.filtered(&mut pass, &[d], &digits.iter().map(|digit| digit.before).collect::<Vec<_>>());
        }
        pass
    }
}
