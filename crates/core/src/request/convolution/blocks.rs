//! Overlap-save: a long signal in blocks that overlap by what the kernel reaches over, each convolved by itself, of which
//! the points that no end has spoilt are kept. Blocks that lie within the signal are one problem whose input windows
//! overlap; those that reach over its ends are problems of their own, with shorter windows.

use crate::error::Error;
use crate::problem::{Dim, Problem, Window};
use crate::target::Limits;

use super::lengths::{moved, next_smooth};
use super::{Along, Convolution, Convolved, Mode};

/// Blocks are this many times as long as the kernel, from one to the other.
const KERNELS: [u64; 2] = [2, 64];
/// A signal of fewer blocks is not cut.
const FEWEST: u64 = 3;

impl Convolution {
    /// The problems in blocks, where these were asked for or are cheaper.
    pub(super) fn in_blocks(
        &self,
        along: &[Along],
        limits: Option<&Limits>,
    ) -> Result<Option<Convolved>, Error> {
        let &[own] = along else {
            return match self.block {
                None | Some(0) => Ok(None),
                Some(_) => self.refused("blocks are for one dimension"),
            };
        };
        match self.block {
            Some(0) => Ok(None),
            Some(_) if self.mode == Mode::Periodic => {
                self.refused("a periodic signal has no ends to cut it at; leave the blocks out")
            }
            // Shorter ones would be ends more than blocks.
            Some(points) if points < 2 * own.k - 1 => {
                let least = 2 * own.k - 1;
                self.refused(format!(
                    "blocks of {points} points keep less than the kernel has; give at least {least}"
                ))
            }
            Some(points) => self.cut(own, points).map(Some),
            None if self.mode == Mode::Periodic => Ok(None),
            None => {
                let best = self.best_block(own, limits);
                best.map(|points| self.cut(own, points)).transpose()
            }
        }
    }

    /// The length of blocks that cost less than the whole; `None`: there is none.
    fn best_block(&self, own: Along, limits: Option<&Limits>) -> Option<u64> {
        let shortest = own.k.checked_mul(KERNELS[0])?.checked_next_power_of_two()?.max(64);
        let lengths = std::iter::successors(Some(shortest), |n| n.checked_mul(2));
        let lengths = lengths.take_while(|&points| {
            points <= own.k.saturating_mul(KERNELS[1]).max(4096) && own.len / (points - own.k + 1) >= FEWEST
        });
        let cost = |points: u64, kept: u64| match limits {
            // There and back by as many doublings, on a processor whose caches hold a block.
            None => Some(points as f64 * (points as f64).log2() / kept as f64),
            Some(limits) => {
                let count = ((1 << 26) / points).max(2);
                let one = Convolution { batch: count, kernels: 1, ..self.clone() };
                let window = Window::new(0, points.min(kept));
                let packed =
                    one.part(&[points], vec![[Window::whole(points), window]], &[points], &[kept]).ok()?;
                Some(moved(&packed.validated().ok()?, limits)? / (count * kept) as f64)
            }
        };
        let blocks = lengths.filter_map(|points| Some((cost(points, points - own.k + 1)?, points)));
        let (least, points) = blocks.min_by(|a, b| a.0.total_cmp(&b.0))?;
        let whole = match limits {
            None => cost(next_smooth(own.least), own.len),
            Some(limits) => {
                let one = Convolution { kernels: 1, block: Some(0), ..self.clone() };
                let padded = one.lengths(&[own], Some(limits)).ok()?;
                let whole = one.whole(&[own], &padded).ok()?;
                whole
                    .parts
                    .iter()
                    .map(|part| moved(part, limits))
                    .sum::<Option<f64>>()
                    .map(|all| all / (self.batch * own.len) as f64)
            }
        };
        whole.is_none_or(|whole| least < whole).then_some(points)
    }

    /// The problems by blocks of so many points.
    fn cut(&self, own: Along, points: u64) -> Result<Convolved, Error> {
        let kept = points - own.k + 1;
        let count = own.len.div_ceil(kept);
        // The signal's point at which a block begins: for its first results it reaches before them by all but one of the
        // kernel's.
        let start = |block: u64| i128::from(own.first + block * kept) - (i128::from(own.k) - 1);
        // Blocks that begin within the signal, end there, and are kept whole.
        let first = (own.k - 1).saturating_sub(own.first).div_ceil(kept).min(count);
        let room = (own.n + own.k - 1 - own.first).checked_sub(points);
        let end = room.map_or(0, |room| room / kept + 1).min(own.len / kept);
        let within = end.saturating_sub(first);
        let mut parts = Vec::new();
        for block in (0..first).chain(first + within..count) {
            parts.push(self.block(own, points, (block, 1), start(block))?);
        }
        if within > 0 {
            parts.push(self.block(own, points, (first, within), start(first))?);
        }
        Ok(Convolved { prepare: self.prepare(&[points])?, parts, padded: vec![points], shape: vec![own.len] })
    }

    /// Some blocks, the first of which begins at a point of the signal, or before it.
    fn block(
        &self,
        own: Along,
        points: u64,
        (block, count): (u64, u64),
        start: i128,
    ) -> Result<Problem, Error> {
        let kept = points - own.k + 1;
        // What lies before the signal, and where in it the block begins.
        let before = (-start).max(0) as u64;
        let at = start.max(0) as u64;
        if at >= own.n || before >= points {
            return self.refused("a block lies beside the signal");
        }
        let held = (points - before).min(own.n - at);
        let wanted = kept.min(own.len - block * kept);
        let from = if self.correlate { 0 } else { own.k - 1 };
        let windows = vec![[Window::new(before, held), Window::new(from, wanted)]];
        let mut part = self.part(&[points], windows, &[own.n], &[own.len])?;
        (part.input_offset, part.output_offset) = (at, block * kept);
        part.batch.push(Dim::new(count, kept as i64, kept as i64));
        if let Some(filter) = &mut part.filter {
            filter.batch.push(0);
        }
        part.validated()
    }
}
