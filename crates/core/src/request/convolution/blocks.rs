//! Overlap-save: images in blocks that overlap by what the kernel reaches over, each convolved by itself, of which the
//! points that no end has spoilt are kept. All blocks are one problem ([`crate::problem::Block`]).

use crate::error::Error;
use crate::planner;
use crate::problem::{Block, Precision, Problem, Window};
use crate::solve::padding;
use crate::target::Limits;

use super::lengths::{moved, next_smooth};
use super::{Along, Convolution, Convolved, Mode};

/// Blocks of a signal are this many times as long as the kernel, from one to the other.
const KERNELS: [u64; 2] = [2, 64];
/// A signal of fewer blocks is not cut.
const FEWEST: u64 = 3;
/// Lengths of the blocks of images and volumes: of rows of 12, 64 x 64 points took 2.54 copies, of 36 1.73. Not 112, which took
/// 1.17 to 1.30 times what is expected in three shapes.
const LENGTHS: [u64; 14] = [24, 32, 36, 40, 48, 56, 64, 72, 80, 96, 128, 144, 160, 256];
/// Shapes of blocks that are scheduled, of those that promise to be cheap.
const TRIED: usize = 64;

/// A length of which blocks of as many rows are not taken: 256 x 256 and a kernel of 9 x 9 took 3.33 copies by 32 x 32, where
/// 2.35 is the most of seven others, in f32 (`docs/notes/windows-and-convolution.md`).
const NOT_SQUARE: u64 = 32;
/// What part of the expected time images take whose sides are equal, up to so many points and beyond: 64 x 64 and 5 x 5 took
/// 1.72 copies by 36 x 36 and 1.71 by 24 x 24, and 1.95 to 2.35 where sides differ; 1024 x 1024 and 31 x 31 3.33 by 144 x 144 and
/// 3.71 by 80 x 144. Timed in f32 alone, of real data.
const SQUARE: (u64, f64, f64) = (40, 0.84, 0.95);

/// Blocks whose costs differ by no more are alike, and the shortest of them taken, of which more are under way at once: of
/// 8192 points and a kernel of 129, blocks of 512 took 1.30 copies and of 1024 1.45, where the model has them equal.
const ALIKE: f64 = 1.03;
/// Points of a signal's blocks at least: 1024 points and a kernel of 33 took 1.19 copies by blocks of 256, and 1.97 by
/// blocks of 128.
const SHORT: u64 = 256;

impl Convolution {
    /// The problem in blocks, where these were asked for or are cheaper.
    pub(super) fn in_blocks(
        &self,
        along: &[Along],
        limits: Option<&Limits>,
    ) -> Result<Option<Convolved>, Error> {
        let points = match &self.block {
            Some(points) if points.iter().all(|&points| points == 0) => None,
            // There is nothing to transform by less than the whole.
            Some(_) if along.len() > 1 && along.iter().all(|own| own.reach() == 1) => None,
            Some(_) if self.mode == Mode::Periodic => {
                return self.refused("a periodic image has no ends to cut it at; leave the blocks out");
            }
            Some(points) if points.len() != along.len() => {
                return self.refused("give blocks one number of points for each dimension");
            }
            Some(points) => Some(self.asked_blocks(along, points)?),
            None if self.mode == Mode::Periodic => None,
            None => self.best_block(along, limits),
        };
        points.map(|points: Vec<u64>| self.cut(along, &points)).transpose()
    }

    /// Points of blocks that were asked for, of dimensions that are shorter fewer; 0: such a dimension is not cut.
    fn asked_blocks(&self, along: &[Along], points: &[u64]) -> Result<Vec<u64>, Error> {
        let own = |(own, &points): (&Along, &u64)| {
            // Shorter ones would be ends more than blocks.
            let (least, whole) = (2 * own.k - 1, next_smooth(own.reach()));
            match points {
                0 => Ok(whole),
                points if points < least && points < own.reach() => self.refused(format!(
                    "blocks of {points} points keep less than the kernel has; give at least {least}"
                )),
                points if along.len() == 1 => Ok(points),
                points => Ok(points.min(whole)),
            }
        };
        along.iter().zip(points).map(own).collect()
    }

    /// Points of blocks along each dimension that cost less than the whole; `None`: there are none.
    fn best_block(&self, along: &[Along], limits: Option<&Limits>) -> Option<Vec<u64>> {
        let shapes = match (along, limits) {
            ([own], _) => own.lengths(),
            (_, Some(limits)) => self.shapes_of_blocks(along, limits),
            // A processor's caches hold the lines of an image.
            (_, None) => Vec::new(),
        };
        let kept =
            |points: &[u64]| -> u64 { along.iter().zip(points).map(|(own, &n)| n - own.k + 1).product() };
        let results: f64 = along.iter().map(|own| own.len as f64).product::<f64>() * self.batch as f64;
        let cost = |points: &Vec<u64>| match limits {
            // There and back by as many doublings, on a processor whose caches hold a block.
            None => Some(points[0] as f64 * (points[0] as f64).log2() / kept(points) as f64),
            Some(limits) => {
                let one = Self { kernels: 1, ..self.clone() };
                Some(self.square(points) * moved(&one.cut(along, points).ok()?.part, limits)? / results)
            }
        };
        // Blocks that end beyond the last result take as long as others.
        let paid = |points: &[u64]| -> f64 {
            let of = |(own, &n): (&Along, &u64)| own.paid(n) * (n - own.k + 1) as f64 / n as f64;
            along.iter().zip(points).map(of).product()
        };
        let costed = shapes.into_iter();
        let costed: Vec<(f64, Vec<u64>)> =
            costed.filter_map(|points| Some((cost(&points)? * paid(&points), points))).collect();
        let least = costed.iter().map(|(cost, _)| *cost).min_by(f64::total_cmp)?;
        let close = costed.into_iter().filter(|(cost, _)| *cost <= ALIKE * least);
        let (least, points) = close.min_by_key(|(_, points)| points.iter().product::<u64>())?;
        let whole = match limits {
            None => cost(&vec![next_smooth(along[0].least)]),
            Some(limits) => {
                let one = Self { kernels: 1, block: Some(vec![0]), ..self.clone() };
                let padded = one.lengths(along, Some(limits)).ok()?;
                let part = one.whole(along, &padded).ok()?.part;
                moved(&part, limits).map(|all| self.square(&padded) * all / results)
            }
        };
        whole.is_none_or(|whole| least < whole).then_some(points)
    }

    /// What equal sides make of the expected time.
    fn square(&self, points: &[u64]) -> f64 {
        let (small, of_small, of_large) = SQUARE;
        match *points {
            _ if self.precision != Precision::F32 => 1.0,
            [a, b] if a == b && a <= small => of_small,
            [a, b] if a == b => of_large,
            _ => 1.0,
        }
    }

    /// Shapes of blocks of several dimensions that the device can hold, those that promise to be cheapest.
    fn shapes_of_blocks(&self, along: &[Along], limits: &Limits) -> Vec<Vec<u64>> {
        let most = planner::max_convolution(limits, self.precision);
        // Points go to shared memory and back between any two steps, which is what takes the time.
        let steps = |n: u64| {
            let stages = padding::stages_of(n).into_iter().map(|radices| radices.len());
            2 * stages.min().unwrap_or(padding::STAGES_OF_LINE)
        };
        let mut shapes = vec![(1.0, 0, 1, Vec::new())];
        for own in along {
            let whole = next_smooth(own.reach());
            let lengths = LENGTHS.into_iter().filter(|&n| n < whole && n >= 2 * own.k - 1 && n > 1);
            let lengths: Vec<u64> = lengths.chain([whole]).collect();
            let with = |(spent, work, points, shape): &(f64, usize, u64, Vec<u64>)| {
                let (spent, work, points) = (*spent, *work, *points);
                let more = lengths.iter().filter(move |&&n| points.saturating_mul(n) <= most);
                let one = |&n: &u64| {
                    (spent * own.paid(n), work + steps(n), points * n, [&shape[..], &[n]].concat())
                };
                more.map(one).collect::<Vec<_>>()
            };
            shapes = shapes.iter().flat_map(with).collect();
        }
        shapes.retain(|(.., shape)| self.precision != Precision::F32 || shape[..] != [NOT_SQUARE; 2]);
        // What is not cut anywhere is no block.
        shapes.retain(|(.., shape)| {
            along.iter().zip(shape).any(|(own, &n)| own.len.div_ceil(n - own.k + 1) > 1)
        });
        let promise = |(spent, work, ..): &(f64, usize, u64, Vec<u64>)| spent * (*work as f64 - 1.0);
        shapes.sort_by(|a, b| promise(a).total_cmp(&promise(b)));
        shapes.into_iter().take(TRIED).map(|(.., shape)| shape).collect()
    }

    /// The problem by blocks of so many points.
    fn cut(&self, along: &[Along], points: &[u64]) -> Result<Convolved, Error> {
        let shape: Vec<u64> = along.iter().map(|own| own.len).collect();
        // The dimension has room for what is wanted and for what the kernel reaches over, so that nothing wraps around.
        let lengths: Vec<u64> = along.iter().zip(points).map(|(own, &n)| n.max(own.reach())).collect();
        let window = |(own, &n): (&Along, &u64)| {
            let first = if self.correlate { (own.first + n + 1 - own.k) % n } else { own.first };
            [Window::new(0, own.n), Window::new(first, own.len)]
        };
        let windows = along.iter().zip(&lengths).map(window).collect();
        let mut part: Problem = self.part(&lengths, windows, &self.image, &shape)?;
        let spectrum = super::super::row_major(points)?;
        if let Some(filter) = &mut part.filter {
            filter.transform = spectrum;
            filter.batch = vec![0, super::size(points)?];
            filter.blocks =
                along.iter().zip(points).map(|(own, &points)| Block { points, kernel: own.k }).collect();
        }
        Ok(Convolved {
            prepare: self.prepare(points)?,
            part: part.validated()?,
            padded: points.to_vec(),
            shape,
        })
    }
}

impl Along {
    /// Points of the whole convolution.
    fn reach(&self) -> u64 {
        self.n + self.k - 1
    }

    /// Points that blocks of so many transform for each result.
    fn paid(&self, points: u64) -> f64 {
        (self.len.div_ceil(points - self.k + 1) * points) as f64 / self.len as f64
    }

    /// Lengths of the blocks of a signal.
    fn lengths(&self) -> Vec<Vec<u64>> {
        let Some(shortest) = self.k.checked_mul(KERNELS[0]).and_then(u64::checked_next_power_of_two) else {
            return Vec::new();
        };
        let lengths = std::iter::successors(Some(shortest.max(SHORT)), |n| n.checked_mul(2));
        let most = self.k.saturating_mul(KERNELS[1]).max(4096);
        lengths
            .take_while(|&points| points <= most && self.len / (points - self.k + 1) >= FEWEST)
            .map(|points| vec![points])
            .collect()
    }
}
