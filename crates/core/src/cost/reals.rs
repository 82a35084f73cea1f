//! What lines from reals to reals cost where a block's threads do not share them out evenly. Such a pass folds at both ends, and
//! does there what a complex one does not: every access has its own index, and of few bytes. Where these are no constants from a
//! thread's first one, or each has to be asked whether its line is there, a block computes more than it moves. Of 600 tiles of
//! planes of 64 x 64, 100 x 100 and 1000 x 1000 cosines, timed on an H200, when columns took two exchanges more.

use crate::pass::Pass;

/// Copies where tiles do not divide the columns: 64 x 64 took 2.36 in tiles of 32 and 16 lines, 2.66 with 28, 2.76 with 48.
const GUARDED: f64 = 0.25;
/// The same of rows: guards are 2% of the instructions of 999 points. A pair of such lines by itself leaves 27 of 64 lanes idle, and
/// dct4 of 67175 of them took 2.29 copies so on an H200, with 250 million instructions of warps where four pairs to a block take 174.
const GUARDED_ROWS: f64 = 0.05;
/// Copies of columns where neither threads are so many times the lines of a tile nor the other way round: 64 x 64 took 2.36 by 128
/// threads, 3.11 by 37 and 2.61 by 86.
const IRREGULAR: f64 = 0.15;

/// The lines of a tile.
pub(super) struct Lines {
    /// How many, where they go from reals to reals.
    held: Option<u64>,
    /// Whether every tile is full.
    full: bool,
    /// Whether neighbours in memory are of different lines.
    across: bool,
}

impl Lines {
    /// Of a pass whose tile holds so many of the repeated dimensions.
    pub fn of(pass: &Pass, batch: &[u64]) -> Self {
        let both = pass.ends.iter().all(Option::is_some);
        let full = pass.batch.iter().zip(batch).all(|(dim, &held)| dim.n.is_multiple_of(held));
        let across = pass.ends.iter().flatten().any(|fold| fold.stride != 1);
        Self { held: both.then(|| batch.iter().product()), full, across }
    }

    /// Copies that so many threads add.
    pub fn copies(&self, threads: u32) -> f64 {
        let Some(held) = self.held else { return 0.0 };
        let threads = u64::from(threads);
        let regular = !self.across || threads.is_multiple_of(held) || held.is_multiple_of(threads);
        let guarded = match (self.full, self.across) {
            (true, _) => 0.0,
            (false, true) => GUARDED,
            (false, false) => GUARDED_ROWS,
        };
        guarded + if regular { 0.0 } else { IRREGULAR }
    }
}
