//! Overlap-save: a long convolution by transforms of short blocks of its input, which overlap by what the kernel reaches
//! over (Stockham, *High-speed convolution and correlation*, 1966).

use super::{Problem, Window};
use crate::error::{Error, Side};

/// How a dimension of a problem with a filter goes in blocks. The filter's factors are those of transforms of `points`
/// points, of a kernel that has no more than `kernel` points; the dimension's own length says only where its ends are:
/// windows lie in it as they would for a transform of all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Block {
    /// Points that are transformed at once.
    pub points: u64,
    /// Points of the kernel, `points` at most.
    pub kernel: u64,
}

/// The blocks of a dimension: each begins `kept` points behind the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blocks {
    /// Points that are transformed at once.
    pub points: u64,
    /// Points of each block's result that no wrapping around has spoilt, and the first of them.
    pub kept: u64,
    /// Likewise.
    pub from: u64,
    /// Blocks that all results need.
    pub count: u64,
    /// Points of the first block that lie before the input's first.
    pub before: u64,
    /// Points of the dimension in the input, and in the output.
    pub held: [u64; 2],
}

impl Problem {
    /// The block of a dimension of [`Problem::transform`]; `None`: it is transformed whole.
    pub(super) fn block(&self, d: usize) -> Option<Block> {
        self.filter.as_ref().and_then(|filter| filter.blocks.get(d)).copied()
    }

    /// The blocks of every dimension of [`Problem::transform`], of a problem that has been validated; `None`: the
    /// dimensions are transformed whole.
    pub fn blocks(&self) -> Option<Vec<Blocks>> {
        let filter = self.filter.as_ref().filter(|filter| !filter.blocks.is_empty())?;
        let own = |(d, &Block { points, kernel }): (usize, &Block)| {
            let [input, output] = [Side::Input, Side::Output].map(|side| self.window(d, side));
            let kept = points - kernel + 1;
            let before = self.before_first(d, kernel);
            let from = if filter.conjugate { 0 } else { kernel - 1 };
            let (count, held) = (output.len.div_ceil(kept), [input.len, output.len]);
            Blocks { points, kept, from, count, before, held }
        };
        Some(filter.blocks.iter().enumerate().map(own).collect())
    }

    /// Points that the first result reaches before the first point of the input.
    fn before_first(&self, d: usize, kernel: u64) -> u64 {
        let n = self.transform[d].n;
        let [input, output]: [Window; 2] = [Side::Input, Side::Output].map(|side| self.window(d, side));
        if self.filter.as_ref().is_some_and(|filter| filter.conjugate) {
            return (input.start + n - output.start) % n;
        }
        // Below 0 is a number too large to be allowed.
        (kernel - 1).wrapping_sub((output.start + n - input.start) % n)
    }

    pub(super) fn check_blocks(&self) -> Result<(), Error> {
        let Some(filter) = self.filter.as_ref().filter(|filter| !filter.blocks.is_empty()) else {
            return Ok(());
        };
        let (expected, got) = (self.transform.len(), filter.blocks.len());
        if expected != got {
            return Err(Error::StrideCount { side: Side::Filter, expected, got });
        }
        for (axis, &Block { points, kernel }) in filter.blocks.iter().enumerate() {
            let refused = |reason| Err(Error::Block { axis, points, kernel, reason });
            if kernel == 0 || kernel > points {
                return refused("a kernel has at least one point, and no more than the block");
            }
            let n = self.transform[axis].n;
            if n > 1 && points < 2 || points > n {
                return refused("a block has at least two points, and no more than the dimension");
            }
            let held = self.window(axis, Side::Input).len;
            if held.checked_add(kernel - 1).is_none_or(|reach| reach > n) {
                return refused(
                    "the dimension must have room for the input and what the kernel reaches beyond it",
                );
            }
            if self.before_first(axis, kernel) >= kernel {
                return refused(
                    "the first result must be one that the kernel reaches from the input's first point",
                );
            }
        }
        if self.placement == super::Placement::InPlace {
            return Err(Error::Together {
                one: "a convolution in blocks",
                other: "its result in place of the input",
                would_work: "an output of its own: what one block has written, its neighbour has still to read",
            });
        }
        Ok(())
    }
}
