//! What both passes of a launch have to do, and where in the order of its blocks each begins and ends.

use crate::kernel::{AtRun, Builder, Op, Special, Value};
use crate::lower::tile::Tile;
use crate::math::factor::gcd;
use crate::pass::Pass;

use super::{Ring, numbers_items};

/// Tiles and items of both passes: the first pass is some items ahead at first, then steps of both follow each other, and
/// the second pass goes through the last items alone.
pub(super) struct Work {
    /// Tiles of an item in each pass.
    pub tiles: [u64; 2],
    pub items: u64,
    ahead: u64,
    /// Whether the tiles of both passes take turns in a step.
    woven: bool,
    /// Points of the dimension of which each run takes as many as it is told.
    counted: Option<u64>,
}

impl Work {
    pub fn of(passes: [&Pass; 2], tiles: [&Tile; 2], ring: &Ring) -> Self {
        let count = |i: usize, item: bool| -> u64 {
            let dims = passes[i].batch.iter().zip(&tiles[i].batch);
            let dims = dims.filter(|(dim, _)| numbers_items(dim, i == 0) == item);
            dims.map(|(dim, &held)| dim.n.div_ceil(held)).product()
        };
        let items = count(0, true);
        Self {
            tiles: [count(0, false), count(1, false)],
            items,
            ahead: u64::from(ring.ahead).min(items),
            woven: ring.woven,
            counted: passes[0].at_run().map(|d| passes[0].batch[d].n),
        }
    }

    /// Tiles of an item in both passes.
    pub fn step(&self) -> u64 {
        self.tiles[0] + self.tiles[1]
    }

    /// Tiles of each pass until it is the first one's turn again: all of a step's, or the fewest that share it out evenly.
    pub fn of_turn(&self) -> [u64; 2] {
        let turns = if self.woven { gcd(self.tiles[0], self.tiles[1]) } else { 1 };
        self.tiles.map(|tiles| tiles / turns)
    }

    pub fn blocks(&self) -> u64 {
        self.items * self.step()
    }

    /// Which blocks a run with a count takes: items are counted from the first, and so are blocks.
    pub fn part_of_launch(&self) -> Option<AtRun> {
        let most = self.counted?;
        Some(AtRun { most: most as u32, step: 1, blocks: self.blocks() / most })
    }

    /// Blocks before the first step of both passes.
    pub fn head(&self, b: &mut Builder) -> Value {
        match self.items_of_run(b) {
            None => b.u32((self.ahead * self.tiles[0]) as u32),
            Some(items) => {
                let ahead = self.ahead_of_run(b, items);
                b.mul_const(ahead, self.tiles[0])
            }
        }
    }

    /// Blocks of all steps of both passes.
    pub fn main(&self, b: &mut Builder) -> Value {
        match self.items_of_run(b) {
            None => b.u32(((self.items - self.ahead) * self.step()) as u32),
            Some(_) => {
                let rest = self.rest(b);
                b.mul_const(rest, self.step())
            }
        }
    }

    /// The first item that the second pass goes through alone.
    pub fn rest(&self, b: &mut Builder) -> Value {
        match self.items_of_run(b) {
            None => b.u32((self.items - self.ahead) as u32),
            Some(items) => {
                let ahead = self.ahead_of_run(b, items);
                b.sub(items, ahead)
            }
        }
    }

    /// The item that the first pass takes in the step of that number: runs of fewer items than it is ahead have no such steps.
    pub fn later(&self, b: &mut Builder, number: Value) -> Value {
        b.add_const(number, self.ahead)
    }

    /// Items of a run whose count the launch is told.
    fn items_of_run(&self, b: &mut Builder) -> Option<Value> {
        let most = self.counted?;
        let count = b.special(Special::Count);
        Some(b.mul_const(count, self.items / most))
    }

    fn ahead_of_run(&self, b: &mut Builder, items: Value) -> Value {
        let ahead = b.u32(self.ahead as u32);
        b.binary(Op::Min, items, ahead)
    }
}
