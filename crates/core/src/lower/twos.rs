//! Stages of long primes whose results are written as they come, two by two: beside one another they would take as many
//! registers as the points that they are made of.

use super::layout::Layout;
use super::memory::Side;
use super::twiddle::Powers;
use super::{Lowering, Stage};
use crate::codelet;
use crate::kernel::{Builder, Cache, Cx, Space, Value};
use crate::problem::{Direction, Format};

/// Points on their way through such a stage.
#[derive(Clone, Copy)]
pub(super) struct InTwos<'a> {
    /// The points.
    pub points: &'a [Cx],
    /// Pointer and offset of each result's place.
    pub places: &'a [(Value, i32)],
    /// In which threads.
    pub on: Option<Value>,
    /// What results are multiplied by.
    pub scale: f64,
    /// How they are stored.
    pub cache: Cache,
    /// Powers of a root, rising from the first, whose power of a result's number the result is multiplied by; none: 1.
    pub known: &'a [(u32, Cx)],
    /// How results are numbered for that.
    pub powers: Powers,
}

impl Lowering<'_> {
    /// Whether a stage is of that sort.
    pub(super) fn comes_in_twos(&self, stage: Stage) -> bool {
        codelet::comes_in_twos(self.digits.radix(self.register(stage)).into())
    }

    /// The stage that was left for the moment of writing, if it is of that sort.
    pub(super) fn late_in_twos(&self) -> Option<Stage> {
        self.late.filter(|&stage| self.comes_in_twos(stage))
    }

    /// A group through a stage to shared memory. Threads without a group do nothing.
    pub(super) fn exchange_in_twos(
        &mut self,
        stage: Stage,
        from: &Layout,
        slot: u32,
        group: &[Cx],
        (space, strides): (Space, &[i64]),
    ) {
        let points = self.multiplied(stage, from, slot, group);
        let exists = self.exists(from, slot);
        let (ptr, base) = self.shared_pointer(space, from, slot, strides);
        let places: Vec<(Value, i32)> = (0..group.len())
            .map(|r| (ptr, (base + self.digits.at_register(from.register, strides, r)) as i32))
            .collect();
        let write = InTwos {
            points: &points,
            places: &places,
            on: exists,
            scale: 1.0,
            cache: Cache::Default,
            known: &[],
            powers: Powers::First,
        };
        self.write_in_twos(&write, self.direction);
    }

    /// The same to the pass's destination, where each point goes to a place of its own as it is: false where it does not.
    pub(super) fn store_in_twos(&mut self, side: &Side, layout: &Layout, slot: u32, group: &[Cx]) -> bool {
        let plain = side.operand.format == Format::Interleaved
            && !side.staged
            && self.pass.store.is_none()
            && self.pass.functions.store.is_none()
            && self.pass.windows[1].is_empty();
        let Some(stage) = self.late_in_twos().filter(|_| plain) else { return false };
        let points = self.multiplied(stage, layout, slot, group);
        let inside = self.inside(layout, slot);
        let (pointers, base) = self.pointers(side, layout, slot);
        let step = layout.register.map_or(0, |d| side.weights[d]);
        let places: Vec<(Value, i32)> = (0..group.len())
            .map(|r| {
                let (planes, offset) = self.reach(&pointers, base + step * r as i64);
                (planes[0], offset)
            })
            .collect();
        let (scale, cache) = (self.pass.scale, self.caches[1]);
        let (known, powers) = (&[][..], Powers::First);
        let write = InTwos { points: &points, places: &places, on: inside, scale, cache, known, powers };
        self.write_in_twos(&write, self.direction);
        true
    }

    pub(super) fn write_in_twos(&mut self, write: &InTwos<'_>, direction: Direction) {
        let InTwos { points, places, on, scale, cache, known, powers } = *write;
        let elem = self.b.elem(places[0].0);
        let through = |b: &mut Builder| {
            codelet::dft_in_twos(b, points, direction, |b, r, x| {
                let x = if scale == 1.0 { x } else { b.cscale(x, scale) };
                let below = powers == Powers::Balanced && r > points.len() / 2;
                let exponent = if below { points.len() - r } else { r };
                let x = match power(b, known, exponent as u32) {
                    Some(w) if below => {
                        let w = b.conj(w);
                        b.cmul(x, w)
                    }
                    Some(w) => b.cmul(x, w),
                    None => x,
                };
                let kept = [x.re, x.im].map(|real| b.convert(elem, real));
                let (ptr, offset) = places[r];
                b.store(ptr, offset, &kept, cache, None);
            });
        };
        match on {
            Some(on) => self.b.when(on, through),
            None => through(&mut self.b),
        }
    }
}

/// A power of a root from few that are known: the largest below it times as few of the others as can be. `None`: it is 1.
fn power(b: &mut Builder, known: &[(u32, Cx)], exponent: u32) -> Option<Cx> {
    let &(own, w) = known.iter().rev().find(|&&(own, _)| own <= exponent && own > 0)?;
    let rest = exponent - own;
    Some(match power(b, known, rest) {
        Some(other) => b.cmul(w, other),
        None => w,
    })
}
