//! Volumes in shared memory by turns: a few planes at once, which a product along one of their axes does not leave.

use super::code::Code;
use crate::kernel::{Cmp, Value};

/// A volume whose planes are taken a few at once.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turns {
    shape: [u64; 3],
    planes: u64,
}

/// Points of a turn.
pub(super) struct Share {
    /// How many.
    pub items: u64,
    planes: Planes,
    /// The turn's first plane.
    first: Option<Value>,
}

/// Which planes a share has.
#[derive(Clone, Copy)]
enum Planes {
    /// All points.
    All,
    /// Of the last two axes, which lie one after the other.
    Along { points: u64, at_once: u64, count: u64 },
    /// Of the first axis and the last.
    Across { shape: [u64; 3], at_once: u64 },
}

impl Turns {
    /// Turns of so many planes; `None` for what is no volume.
    pub fn of(shape: &[u64], planes: u64) -> Option<Self> {
        let &[a, b, c] = shape else { return None };
        Some(Self { shape: [a, b, c], planes })
    }

    /// Points of a turn at most.
    pub fn points(&self) -> u64 {
        let share = |distance| self.share(distance).0.items;
        share(1).max(share(self.shape[1] * self.shape[2]))
    }

    /// The first turn's points, and how many turns there are, for a product along the axis whose neighbours are so far apart.
    pub fn share(&self, distance: u64) -> (Share, u64) {
        let Self { shape, planes } = *self;
        let across = distance >= shape[1] * shape[2];
        let count = if across { shape[1] } else { shape[0] };
        let at_once = planes.min(count);
        let (points, planes) = if across {
            (shape[0] * shape[2], Planes::Across { shape, at_once })
        } else {
            let points = shape[1] * shape[2];
            (points, Planes::Along { points, at_once, count })
        };
        (Share { items: at_once * points, planes, first: None }, count.div_ceil(at_once))
    }
}

impl Share {
    /// All of so many points.
    pub fn all(points: u64) -> Self {
        Self { items: points, planes: Planes::All, first: None }
    }

    /// That of a turn.
    pub fn at(self, c: &mut Code, turn: Value) -> Self {
        let at_once = match self.planes {
            Planes::All => 1,
            Planes::Along { at_once, .. } | Planes::Across { at_once, .. } => at_once,
        };
        Self { first: Some(c.mul_const(turn, at_once)), ..self }
    }

    /// Where an item lies, and whether it does, where the last turn has fewer.
    pub fn place(&self, c: &mut Code, item: Value) -> (Value, Option<Value>) {
        let first = self.first.unwrap_or_else(|| c.u32(0));
        let below = |c: &mut Code, at: Value, most: u64, count: u64, at_once: u64| {
            (!count.is_multiple_of(at_once)).then(|| {
                let most = c.u32(most as u32);
                c.cmp(Cmp::Lt, at, most)
            })
        };
        match self.planes {
            Planes::All => (item, None),
            Planes::Along { points, at_once, count } => {
                let start = c.mul_const(first, points);
                let at = c.add(start, item);
                let inside = below(c, at, count * points, count, at_once);
                (at, inside)
            }
            Planes::Across { shape, at_once } => {
                let [column, rest] = c.split(item, shape[2], self.items - 1);
                let [plane, row] = c.split(rest, at_once, self.items - 1);
                let plane = c.add(first, plane);
                let inside = below(c, plane, shape[1], shape[1], at_once);
                let row = c.mul_const(row, shape[1] * shape[2]);
                let plane = c.mul_const(plane, shape[2]);
                let at = c.add(row, plane);
                (c.add(at, column), inside)
            }
        }
    }
}
