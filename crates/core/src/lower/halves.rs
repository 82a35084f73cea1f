//! A convolution with a chirp in two halves. A transform of `2 M` points of which the second M are zero is two of M points: the even
//! frequencies are that of the points, the odd ones that of the points times `exp(-i pi k / M)`. So are the first M points of what
//! goes back the sum of two: of the even frequencies, and of the odd ones times `exp(i pi k / M)`. Two blocks take one half each, with
//! half of the shared memory that one block would need, and meet once, for that sum. The factors are the chirp's.

use crate::codelet::comes_in_twos;
use crate::kernel::{Cache, Cmp, Cx, Op, Special, Value};
use crate::pass::{CoprimePart, Method, PartKind, Pass};

use super::Lowering;
use super::cluster::remote;
use super::guards::Bound;
use super::in_place::Step;
use super::layout::Threads;
use super::line::Line;

/// Blocks that share one convolution.
const PAIR: u32 = 2;

/// Whether a pass has a convolution in halves.
pub(super) fn halved(pass: &Pass) -> bool {
    pass.axes.iter().flat_map(|axis| axis.method.in_place()).any(CoprimePart::halved)
}

/// Whether so many blocks can take a pass of one in halves: a line by itself, which reads and writes memory.
pub(super) fn fit(pass: &Pass, cluster: u32) -> bool {
    let [axis] = &pass.axes[..] else { return false };
    let Method::Coprime(parts) = &axis.method else { return false };
    let [part] = &parts[..] else { return false };
    // Rader's have no room for factors where results of long primes are written as they come, and none for the pass's twiddles.
    let plain = || pass.twiddle.is_none() && !part.radices.iter().any(|&radix| comes_in_twos(radix.into()));
    let fits = part.kind == PartKind::Bluestein || plain();
    fits && cluster == PAIR && pass.ends.iter().all(Option::is_none) && pass.images.is_none()
}

/// Whether two blocks can hold so many of each repeated dimension: of Rader's lines one.
pub(super) fn hold(pass: &Pass, batch: &[u64]) -> bool {
    let mut parts = pass.axes.iter().flat_map(|axis| axis.method.in_place());
    parts.all(|part| part.kind != PartKind::Rader) || batch.iter().all(|&count| count == 1)
}

impl Lowering<'_> {
    /// Which half is this block's: 0 for the even frequencies, 1 for the odd ones.
    pub(super) fn half(&mut self) -> Value {
        self.b.special(Special::ClusterRank)
    }

    /// One value in the block that has the even frequencies, and another in that of the odd ones.
    pub(super) fn of_half(&mut self, even: Cx, odd: Cx) -> Cx {
        let half = self.half();
        let none = self.b.u32(0);
        let is_even = self.b.cmp(Cmp::Eq, half, none);
        Cx { re: self.b.select(is_even, even.re, odd.re), im: self.b.select(is_even, even.im, odd.im) }
    }

    /// An index of a table of both halves, of which those of the odd ones are so much further. Of a whole convolution it is the index.
    pub(super) fn in_half(&mut self, line: &Line<'_>, index: Value, further: u64) -> Value {
        if !line.part.halved() {
            return index;
        }
        let half = self.half();
        let further = self.b.mul_const(half, further);
        self.b.add(index, further)
    }

    /// Where an index of the chirp stands in its table: of halves in the middle part for the even ones, beside it for the odd ones.
    pub(super) fn in_chirp(&mut self, line: &Line<'_>, index: Value, leaves: bool) -> Value {
        if !line.part.halved() {
            return index;
        }
        let n = line.part.end_factors(leaves).len() / 3;
        let even = self.b.add_const(index, n);
        let further = if leaves { u64::from((n as u32).wrapping_neg()) } else { n };
        self.in_half(line, even, further)
    }

    /// The sum of both halves, which stand where the last step of each has put them. Each block stores every other turn of the
    /// threads of both.
    pub(super) fn join_halves(&mut self, step: &Step<'_>) {
        self.b.cluster_barrier();
        let threads = self.threads;
        let other = self.as_one_block();
        let last = step.layout.slots(&self.digits, self.threads.count) - 1;
        for slot in 0..=last {
            let bounds = self.bounds(step, slot, true);
            let mut sums = self.take_shared(step, slot, Some(&bounds));
            let (ptr, base, distance) = self.place(step, slot);
            let far = remote(&mut self.b, ptr, other);
            for (r, x) in (0..).zip(&mut sums) {
                if let Bound::If(on) = bounds[r as usize] {
                    let y = self.b.load(far, (base + distance * r) as i32, 2, Cache::Default, on);
                    *x = self.b.cadd(*x, Cx { re: y[0], im: y[1] });
                }
            }
            if slot == last {
                // All is read. As this releases, it comes before what it would wait for.
                self.b.effect(Op::ClusterArrive { relaxed: false }, &[]);
            }
            self.put_global(step, slot, sums, Some(&bounds));
        }
        self.threads = threads;
        // Neither leaves while the other may still read.
        self.b.effect(Op::ClusterWait, &[]);
    }

    /// Counts the threads of both blocks as those of one, and gives the number of the other block.
    pub(super) fn as_one_block(&mut self) -> Value {
        let half = self.half();
        let one = self.b.u32(1);
        let other = self.b.sub(one, half);
        let before = self.b.mul_const(half, self.threads.count.into());
        let index = self.b.add(before, self.threads.index);
        self.threads = Threads { index, count: PAIR * self.threads.count, ..self.threads };
        other
    }
}
