//! Ways for two passes to share a launch: tiles of both, and the ring between them.

use std::num::NonZeroU32;

use crate::cost;
use crate::lower::fused::TICKET_BYTES;
use crate::lower::tile::{self, Choice, Search, Tile};
use crate::pass::{Method, Pass};
use crate::problem::Problem;
use crate::solve::mixed_radix;
use crate::target::Limits;

use super::pair::Pair;
use super::{Fuse, Schedule, apply, together};

/// A way to fuse two passes: in which radices, with which tiles.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Offer {
    pub fuse: Fuse,
    pub tiles: [Choice; 2],
    /// Of the axes of both passes.
    pub(super) methods: [Vec<Method>; 2],
}

impl Offer {
    /// The same with what no search offers, and recipes may say: so many blocks on a multiprocessor, and tiles that take turns.
    pub fn with(mut self, resident: Option<NonZeroU32>, woven: bool) -> Self {
        self.tiles[0].tile.resident = resident;
        self.fuse.woven = woven;
        self
    }

    pub(super) fn cost(&self) -> f64 {
        self.tiles.iter().map(|choice| choice.cost).sum()
    }

    /// Whether it needs no more workspace than the problem allows.
    fn keeps_cap(&self, schedule: &Schedule, problem: &Problem) -> bool {
        problem.max_workspace.is_none_or(|cap| {
            let choices = vec![Choice { cost: 0.0, ..self.tiles[0].clone() }; schedule.passes.len()];
            let (fused, _) = apply(schedule.clone(), choices, self.clone(), problem);
            fused.workspace(problem.precision).1 <= cap
        })
    }
}

/// Every way to fuse two passes of a schedule that is worth a try; of each pair the likely best first. Tiles lead to
/// the radices of their passes.
pub(crate) fn offers(
    schedule: &Schedule,
    problem: &Problem,
    limits: &Limits,
    search: Search<'_>,
) -> Vec<Offer> {
    let mut all = Vec::new();
    for first in 0..schedule.passes.len().saturating_sub(1) {
        let groups = Group::all(schedule, first, problem).into_iter();
        let mut own: Vec<Offer> = groups.flat_map(|group| group.offers(limits, search)).collect();
        own.retain(|offer| offer.keeps_cap(schedule, problem));
        own.sort_by(|x, y| x.cost().total_cmp(&y.cost()));
        all.extend(own);
    }
    all
}

/// The way to fuse two passes that somebody asks for by tiles and a ring; `None` where no search comes to such tiles, or the ring has no
/// room.
pub(crate) fn asked(
    schedule: &Schedule,
    fuse: Fuse,
    tiles: [&Tile; 2],
    problem: &Problem,
    limits: &Limits,
) -> Option<Offer> {
    let groups = Group::all(schedule, fuse.first, problem);
    let group = groups.into_iter().find(|group| group.together == fuse.together)?;
    let most = group.pair.most_slots(limits);
    let ring = (1..fuse.slots).contains(&fuse.ahead) && u64::from(fuse.slots) <= most;
    let (passes, found) = group.tiled(limits, Search::Of(tiles)).into_iter().next().filter(|_| ring)?;
    let offer = group.offer(&passes, &found, [fuse.slots, fuse.ahead], limits);
    let offer = offer.with(tiles[0].resident, fuse.woven);
    let same = offer.tiles.iter().zip(tiles).all(|(choice, tile)| choice.tile == *tile);
    (same && offer.keeps_cap(schedule, problem)).then_some(offer)
}

/// Two passes that may share a launch, and what an item of them is.
struct Group {
    first: usize,
    together: u64,
    passes: [Pass; 2],
    pair: Pair,
    /// Copies that the second pass costs more, whatever its tile.
    more: f64,
}

impl Group {
    /// Ways to make items of two passes, of which this is the first; none where they cannot share a launch.
    fn all(schedule: &Schedule, first: usize, problem: &Problem) -> Vec<Self> {
        let Some([a, b]) = schedule.passes.get(first..).and_then(<[Pass]>::first_chunk) else {
            return Vec::new();
        };
        let passes = [a, b];
        let Some(whole) = Pair::of(passes, problem) else { return Vec::new() };
        let group = |together| {
            let (grouped, pair) = whole.grouped(passes, together, problem)?;
            let more = together::of_rows(passes, &whole, together) + pair.beside();
            Some(Self { first, together, passes: grouped, pair, more })
        };
        together::ways(passes, &whole).into_iter().filter_map(group).collect()
    }

    /// The passes in one of their versions each, with tiles of both.
    fn tiled(&self, limits: &Limits, search: Search<'_>) -> Vec<([Pass; 2], tile::Pair)> {
        // The ticket that says which tile a block takes needs room, too.
        let shared_bytes = limits.shared_bytes.saturating_sub(TICKET_BYTES);
        let limits = &Limits { shared_bytes, ..limits.clone() };
        let versions = self.passes.each_ref().map(versions);
        let alone = [&self.pair.items[0][..], &self.pair.items[1]];
        let tiles = tile::pairs([&versions[0], &versions[1]], alone, limits, search);
        let with = |found: tile::Pair| ([0, 1].map(|i| versions[i][found.versions[i]].clone()), found);
        tiles.into_iter().take(search.pairs()).map(with).collect()
    }

    /// Ways to fuse them.
    fn offers(&self, limits: &Limits, search: Search<'_>) -> Vec<Offer> {
        let of = |(passes, found): &([Pass; 2], tile::Pair)| {
            let step = self.pair.step([&passes[0], &passes[1]], &found.tiles);
            let rings = self.pair.rings(step, resident(found, limits), limits, search).into_iter();
            rings.map(|ring| self.offer(passes, found, ring, limits)).collect::<Vec<_>>()
        };
        self.tiled(limits, search).iter().flat_map(of).collect()
    }

    /// With a ring of so many slots, the first pass so many items ahead.
    fn offer(
        &self,
        passes: &[Pass; 2],
        found: &tile::Pair,
        [slots, ahead]: [u32; 2],
        limits: &Limits,
    ) -> Offer {
        let step = self.pair.step([&passes[0], &passes[1]], &found.tiles);
        let (apart, resident) = (found.cost(), resident(found, limits));
        let copies = cost::fused::of_ring(apart, [ahead, slots - ahead], self.pair.count, step, resident);
        let mut tiles = found.tiles.clone();
        tiles.iter_mut().for_each(|choice| choice.cost *= copies / apart);
        tiles[1].cost += self.more;
        let fuse = Fuse { first: self.first, slots, ahead, together: self.together, woven: false };
        let methods = |pass: &Pass| pass.axes.iter().map(|axis| axis.method.clone()).collect();
        Offer { fuse, tiles, methods: passes.each_ref().map(methods) }
    }
}

/// Blocks that run at once.
fn resident(found: &tile::Pair, limits: &Limits) -> u64 {
    u64::from(found.resident) * u64::from(limits.multiprocessors)
}

/// A pass as it is, and with as few stages as its length can have: a thread of a fused launch has registers for wide
/// ones, and each exchange less is a time less that its block stands still with what others wait for.
fn versions(pass: &Pass) -> Vec<Pass> {
    let mut all = vec![pass.clone()];
    // What folds at both ends has exchanges there all the same: 64 x 64 x 64 cosines in one stage took 3.6 copies, apart 3.2.
    let folds = pass.ends.iter().all(Option::is_some);
    if let [axis] = &pass.axes[..]
        && let Method::MixedRadix(own) = &axis.method
        && let Some(radices) = mixed_radix::widest(axis.dim.n).filter(|wide| wide.len() < own.len())
        && !(folds && radices.len() == 1)
    {
        let mut wide = pass.clone();
        wide.axes[0].method = Method::MixedRadix(radices);
        all.push(wide);
    }
    all
}
