//! A problem cut along one of the dimensions that it is repeated over: parts that lie apart in both arrays, so that each
//! can go to a device and come back by itself.

use warpfft_core::problem::{Dim, Placement, Precision, Problem};

use crate::device::backend::{HostJob, Part};
use crate::error::Error;
use crate::span;

/// How many transforms the parts have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counts {
    /// As many as suit, the last one what is left: for plans that leave their count to each run.
    Open,
    /// All the same: for plans that do not.
    Equal,
}

/// Parts of a problem, one after the other in memory.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parts {
    /// A part: of as many transforms as each run is told, or of so many always.
    pub problem: Problem,
    /// Points of the dimension that is cut.
    total: u64,
    /// Points of a part.
    most: u64,
    /// Bytes of each plane, of input and output, before the first part's.
    first: [u64; 2],
    /// Bytes of each plane between points.
    step: [u64; 2],
    /// The last part, where it has fewer points.
    rest: Option<u64>,
}

impl Parts {
    /// Cuts a problem into parts of as many points of one dimension as take about so many bytes, of input or of output,
    /// whichever is more; `None` where no dimension's points lie apart in both arrays, or where what is computed looks
    /// at where it lies.
    pub fn of(problem: &Problem, counts: Counts, bytes: impl Fn(u64) -> u64) -> Option<Self> {
        let plain = problem.functions.is_empty()
            && problem.filter.is_none()
            && !problem.is_windowed()
            && problem.at_run().is_none()
            // These are split into pairs on the way, for which the whole call makes room at once.
            && problem.precision != Precision::DoubleSingle;
        // The dimension that steps widest leaves the fewest parts to cut.
        let mut dims: Vec<usize> = (0..problem.batch.len()).filter(|_| plain).collect();
        dims.sort_by_key(|&dim| std::cmp::Reverse(problem.batch[dim].os));
        dims.into_iter().find_map(|dim| Self::along(problem, dim, counts, &bytes))
    }

    /// A problem that cannot be cut, or need not be, as the only part; `None` where a call needs more than its arrays.
    pub fn whole(problem: &Problem) -> Option<Self> {
        let alone = problem.filter.is_none()
            && problem.at_run().is_none()
            && problem.precision != Precision::DoubleSingle;
        let of = |problem: &Problem| Self {
            problem: problem.clone(),
            total: 1,
            most: 1,
            first: [0; 2],
            step: [0; 2],
            rest: None,
        };
        alone.then(|| of(problem))
    }

    fn along(problem: &Problem, index: usize, counts: Counts, bytes: &impl Fn(u64) -> u64) -> Option<Self> {
        let dim = problem.batch[index];
        let mut one = problem.clone();
        one.batch.remove(index);
        let spans = [one.input_span(), one.output_span()];
        let plane = [
            problem.input_element() / problem.input.planes() as u64,
            problem.output_element() / problem.output.planes() as u64,
        ];
        let stride = [u64::try_from(dim.is).ok()?, u64::try_from(dim.os).ok()?];
        let lengths = [0, 1].map(|side| (spans[side].end - spans[side].start) * plane[side]);
        let step = [0, 1].map(|side| stride[side] * plane[side]);
        let first = [0, 1].map(|side| spans[side].start * plane[side]);
        let apart = match problem.placement {
            Placement::OutOfPlace => lengths[0] <= step[0] && lengths[1] <= step[1],
            // One array, in which both sides' points take turns alike.
            Placement::InPlace => {
                first[0] == first[1] && step[0] == step[1] && lengths[0].max(lengths[1]) <= step[0]
            }
        };
        if !apart {
            return None;
        }
        let each = lengths[0].max(lengths[1]).max(1);
        let wanted = (bytes(each.saturating_mul(dim.n)) / each).clamp(1, dim.n);
        let (most, repeated) = match counts {
            Counts::Open => (wanted, dim.at_run()),
            Counts::Equal => (largest_divisor(dim.n, wanted), dim),
        };
        one.input_offset -= spans[0].start;
        one.output_offset -= spans[1].start;
        one.batch.insert(0, Dim { n: most, ..repeated });
        let rest = Some(dim.n % most).filter(|&rest| rest > 0);
        Some(Self { problem: one.validated().ok()?, total: dim.n, most, first, step, rest })
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.total.div_ceil(self.most)
    }

    /// The last part as a problem, where it is shorter than the others.
    pub fn last(&self) -> Result<Option<Part>, Error> {
        self.rest.map_or(Ok(None), |rest| Part::of(&self.problem, rest))
    }

    /// What is run for each part: slices of the caller's arrays, whose lengths were checked against the whole problem.
    pub fn jobs<'a>(
        &self,
        input: Option<[&'a [u8]; 2]>,
        output: [&'a mut [u8]; 2],
        last: Option<&'a Part>,
    ) -> Result<Vec<HostJob<'a>>, Error> {
        let lengths = |problem: &Problem| -> Result<[[u64; 2]; 2], Error> {
            Ok([span::read_bytes(problem)?, span::written_bytes(problem)?])
        };
        let whole = lengths(&self.problem)?;
        let shorter = last.map_or(Ok(whole), |part| lengths(&part.problem))?;
        let mut jobs = Vec::with_capacity(self.count() as usize);
        let mut left = output;
        let mut passed = 0;
        for index in 0..self.count() {
            let part = last.filter(|_| index + 1 == self.count());
            let [read, written] = if part.is_some() { shorter } else { whole };
            let at = |side: usize| self.first[side] + index * self.most * self.step[side];
            let source = input.map(|planes| {
                [0, 1].map(|plane| match read[plane] {
                    0 => &[][..],
                    bytes => &planes[plane][at(0) as usize..(at(0) + bytes) as usize],
                })
            });
            let (start, mut target) = (at(1), [&mut [][..], &mut []]);
            for plane in (0..2).filter(|&plane| written[plane] > 0) {
                let (_, from) = std::mem::take(&mut left[plane]).split_at_mut((start - passed) as usize);
                (target[plane], left[plane]) = from.split_at_mut(written[plane] as usize);
            }
            passed = start + written[0];
            jobs.push(HostJob { input: source, filter: &[], output: target, part });
        }
        Ok(jobs)
    }
}

/// The largest divisor of n that is at most `most`.
fn largest_divisor(n: u64, most: u64) -> u64 {
    let pairs = (1..).take_while(|&low| low * low <= n).filter(|&low| n.is_multiple_of(low));
    pairs.flat_map(|low| [low, n / low]).filter(|&divisor| divisor <= most).max().unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpfft_core::problem::Format;
    use warpfft_core::request::Fft;

    fn cut(fft: Fft, most: u64) -> Option<Parts> {
        Parts::of(&fft.build().expect("it can be"), Counts::Open, |_| most)
    }

    #[test]
    fn batches_are_cut_where_their_transforms_lie_apart() {
        let parts = cut(Fft::new([64]).batch(10), 3 * 512).expect("rows lie apart");
        assert_eq!((parts.count(), parts.most, parts.rest), (4, 3, Some(1)));
        let columns = Fft::axes([64, 1000], [0]);
        assert_eq!(cut(columns, 1 << 10), None, "columns lie between each other");
        let both = cut(Fft::axes([9, 64, 1000], [1]), 1).expect("planes lie apart");
        assert_eq!((both.count(), both.problem.at_run()), (9, Some(&Dim::new(1, 64_000, 64_000).at_run())));
        assert_eq!(cut(Fft::new([64]), 1 << 20), None, "one transform is one part");
        assert_eq!(cut(Fft::new([64]).batch(4).double_single(), 512), None);
    }

    #[test]
    fn equal_parts_divide_the_whole() {
        assert_eq!(
            [(54, 10), (54, 54), (53, 52), (1 << 20, 1000), (12, 0)]
                .map(|(n, most)| largest_divisor(n, most)),
            [9, 54, 1, 512, 1]
        );
        let problem = Fft::new([8]).batch(54).build().expect("it can be");
        let parts = Parts::of(&problem, Counts::Equal, |_| 10 * 64).expect("rows lie apart");
        assert_eq!((parts.count(), parts.rest, parts.problem.batch_count()), (6, None, 9));
        assert_eq!(parts.problem.at_run(), None);
    }

    #[test]
    fn jobs_are_the_parts_own_bytes() {
        let fft = Fft::new([8]).batch(5).formats(Format::Planar, Format::Interleaved);
        let parts = cut(fft, 2 * 64).expect("rows lie apart");
        let planes = [vec![1_u8; 160], vec![2; 160]];
        let mut output = vec![0_u8; 320 + 3];
        let last = parts.last().expect("a part");
        let jobs = parts.jobs(Some([&planes[0], &planes[1]]), [&mut output, &mut []], last.as_ref());
        let jobs = jobs.expect("they fit");
        let lengths: Vec<_> = jobs
            .iter()
            .map(|job| (job.input.unwrap()[1].len(), job.output[0].len(), job.part.is_some()))
            .collect();
        assert_eq!(lengths, [(64, 128, false), (64, 128, false), (32, 64, true)]);
    }

    #[test]
    fn offsets_and_gaps_stay_outside() {
        let mut problem = Fft::new([8]).batch(4).build().expect("it can be");
        (problem.input_offset, problem.output_offset) = (5, 7);
        problem.batch[0] = Dim::new(4, 10, 20);
        let parts = Parts::of(&problem, Counts::Open, |_| 1).expect("rows lie apart");
        assert_eq!((parts.problem.input_offset, parts.problem.output_offset), (0, 0));
        assert_eq!((parts.first, parts.step), ([40, 56], [80, 160]));
        problem.batch[0] = Dim::new(4, -10, 20);
        problem.input_offset = 40;
        assert_eq!(Parts::of(&problem, Counts::Open, |_| 1), None, "the input runs the other way");
    }
}
