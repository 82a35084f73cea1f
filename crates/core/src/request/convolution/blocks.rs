//! Overlap-save: images in blocks that overlap by what the kernel reaches over, each convolved by itself, of which the
//! points that no end has spoilt are kept. All blocks are one problem ([`crate::problem::Block`]).

use crate::cost;
use crate::error::Error;
use crate::planner;
use crate::problem::{Block, Problem, Window};
use crate::solve::padding;
use crate::target::Limits;

use super::lengths::{moved, next_smooth};
use super::{Along, Convolution, Convolved, Mode};

/// Blocks of a signal are this many times as long as the kernel, from one to the other.
const KERNELS: [u64; 2] = [2, 64];
/// A signal of fewer blocks is not cut.
const FEWEST: u64 = 3;
/// Lengths of the blocks of images and volumes.
const LENGTHS: [u64; 14] = [8, 12, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160];
/// Shapes of blocks that are scheduled, of those that promise to be cheap.
const TRIED: usize = 24;

impl Convolution {
    /// The problem in blocks, where these were asked for or are cheaper.
    pub(super) fn in_blocks(
        &self,
        along: &[Along],
        limits: Option<&Limits>,
    ) -> Result<Option<Convolved>, Error> {
        let points = match self.block {
            Some(0) => None,
            // There is nothing to transform by less than the whole.
            Some(_) if along.len() > 1 && along.iter().all(|own| own.reach() == 1) => None,
            Some(_) if self.mode == Mode::Periodic => {
                return self.refused("a periodic image has no ends to cut it at; leave the blocks out");
            }
            Some(points) => {
                for own in along {
                    // Shorter ones would be ends more than blocks.
                    let least = 2 * own.k - 1;
                    if points < least && points < own.reach() {
                        return self.refused(format!(
                            "blocks of {points} points keep less than the kernel has; give at least {least}"
                        ));
                    }
                }
                match along {
                    [_] => Some(vec![points]),
                    _ => Some(along.iter().map(|own| points.min(next_smooth(own.reach()))).collect()),
                }
            }
            None if self.mode == Mode::Periodic => None,
            None => self.best_block(along, limits),
        };
        points.map(|points: Vec<u64>| self.cut(along, &points)).transpose()
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
        let cost = |points: &Vec<u64>| match limits {
            // There and back by as many doublings, on a processor whose caches hold a block.
            None => Some(points[0] as f64 * (points[0] as f64).log2() / kept(points) as f64),
            Some(limits) => {
                let many = |all: u64| ((1 << 26) / all).max(2);
                let one = Self { batch: many(points.iter().product()), kernels: 1, ..self.clone() };
                let windows = along.iter().zip(points);
                let windows = windows
                    .map(|(own, &n)| [Window::whole(n), Window::new(0, n.min(n - own.k + 1))])
                    .collect();
                let shape: Vec<u64> = along.iter().zip(points).map(|(own, &n)| n - own.k + 1).collect();
                let packed = one.part(points, windows, points, &shape).ok()?;
                Some(moved(&packed.validated().ok()?, limits)? / (one.batch * kept(points)) as f64)
            }
        };
        let costed = shapes.into_iter().filter_map(|points| Some((cost(&points)?, points)));
        let (least, points) = costed.min_by(|a, b| a.0.total_cmp(&b.0))?;
        let whole = match limits {
            None => cost(&vec![next_smooth(along[0].least)]),
            Some(limits) => {
                let one = Self { kernels: 1, block: Some(0), ..self.clone() };
                let padded = one.lengths(along, Some(limits)).ok()?;
                let part = one.whole(along, &padded).ok()?.part;
                let results: u64 = along.iter().map(|own| own.len).product();
                moved(&part, limits).map(|all| all / (self.batch * results) as f64)
            }
        };
        whole.is_none_or(|whole| least < whole).then_some(points)
    }

    /// Shapes of blocks of several dimensions that the device can hold, those that promise to be cheapest.
    fn shapes_of_blocks(&self, along: &[Along], limits: &Limits) -> Vec<Vec<u64>> {
        let most = planner::max_convolution(limits, self.precision);
        let instructions = |n: u64| {
            let stages = padding::stages_of(n).into_iter();
            let all = stages.map(|radices| radices.into_iter().map(cost::padded_stage).sum::<f64>());
            all.min_by(f64::total_cmp).unwrap_or(0.0)
        };
        let mut shapes = vec![(1.0, 0.0, 1, Vec::new())];
        for own in along {
            let whole = next_smooth(own.reach());
            let lengths = LENGTHS.into_iter().filter(|&n| n < whole && n >= 2 * own.k - 1 && n > 1);
            let lengths: Vec<u64> = lengths.chain([whole]).collect();
            let with = |(spent, work, points, shape): &(f64, f64, u64, Vec<u64>)| {
                let (spent, work, points) = (*spent, *work, *points);
                let more = lengths.iter().filter(move |&&n| points.saturating_mul(n) <= most);
                let one = |&n: &u64| {
                    // Blocks that end beyond the last result are paid in full.
                    let paid = (own.len.div_ceil(n - own.k + 1) * n) as f64 / own.len as f64;
                    (spent * paid, work + 2.0 * instructions(n), points * n, [&shape[..], &[n]].concat())
                };
                more.map(one).collect::<Vec<_>>()
            };
            shapes = shapes.iter().flat_map(with).collect();
        }
        // What is not cut anywhere is no block.
        shapes.retain(|(.., shape)| {
            along.iter().zip(shape).any(|(own, &n)| own.len.div_ceil(n - own.k + 1) > 1)
        });
        let promise = |(spent, work, ..): &(f64, f64, u64, Vec<u64>)| spent * cost::padded_copies(*work);
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

    /// Lengths of the blocks of a signal.
    fn lengths(&self) -> Vec<Vec<u64>> {
        let Some(shortest) = self.k.checked_mul(KERNELS[0]).and_then(u64::checked_next_power_of_two) else {
            return Vec::new();
        };
        let lengths = std::iter::successors(Some(shortest.max(64)), |n| n.checked_mul(2));
        let most = self.k.saturating_mul(KERNELS[1]).max(4096);
        lengths
            .take_while(|&points| points <= most && self.len / (points - self.k + 1) >= FEWEST)
            .map(|points| vec![points])
            .collect()
    }
}
