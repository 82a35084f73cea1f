//! From a length to its cheapest plan: asks every solver, remembers what it found, keeps to the device's limits.
//! It knows no identity by name.

use std::cell::RefCell;
use std::collections::HashMap;

use rayon::prelude::*;

use crate::cost::{self, Ends};
use crate::lower::tile;
use crate::plan::Plan;
use crate::problem::Precision;
use crate::solve::{SOLVERS, Solver, cluster, split};
use crate::target::Limits;

/// Copies up to which a pass over columns beats one more pass over shorter ones.
const WORTH_A_PASS: f64 = 1.8;
/// The same of longer columns. 2^27 points take 2.83 copies by columns of 8192 and rows of 16384, of which 1.6 and 2.0 are expected, and
/// 3.12 in three passes.
const SAVES_A_PASS: f64 = 2.2;

/// Cost and plan by length and whether the plan must take one pass; `None`: no solver has one.
type Known = HashMap<(u64, bool), Option<(f64, Plan)>>;

/// Plans lengths for one device and precision.
pub struct Planner<'a> {
    limits: &'a Limits,
    precision: Precision,
    /// How the data lies that it plans for.
    ends: Ends,
    known: RefCell<Known>,
    middles: RefCell<HashMap<Vec<u32>, bool>>,
}

impl<'a> Planner<'a> {
    /// A planner that remembers nothing yet.
    pub fn new(limits: &'a Limits, precision: Precision) -> Self {
        let ends = Ends::computed(precision);
        Self { limits, precision, ends, known: RefCell::default(), middles: RefCell::default() }
    }

    /// The same for data that lies otherwise than it is computed in.
    #[must_use]
    pub fn between(self, ends: Ends) -> Self {
        Self { ends, known: RefCell::default(), ..self }
    }

    /// Points of the largest tile that a block can hold: what its shared memory takes, and half its registers.
    pub fn max_points(&self) -> u64 {
        max_points(self.limits, self.precision)
    }

    /// Points of the longest transform that a block can hold if it holds no other.
    pub fn max_alone(&self) -> u64 {
        max_alone(self.limits, self.precision)
    }

    /// Points of the longest convolution that a block can hold by itself: its stages go from shared memory to shared
    /// memory, and registers hold a group at a time.
    pub fn max_convolution(&self) -> u64 {
        max_convolution(self.limits, self.precision)
    }

    /// Points of the longest column that a block can hold when its rows are 64 bytes wide, below which memory
    /// moves in pieces that cost more than they carry.
    pub fn max_column_points(&self) -> u64 {
        self.max_points() * self.precision.complex_bytes() / 64
    }

    /// Multiprocessors of the device.
    pub fn multiprocessors(&self) -> u64 {
        self.limits.multiprocessors.into()
    }

    /// Bytes of the cache that all blocks share.
    pub const fn cache_bytes(&self) -> u64 {
        self.limits.l2_bytes
    }

    /// Blocks that may hold a tile together, more than one.
    pub fn clusters(&self) -> impl Iterator<Item = u32> {
        tile::cluster_sizes(self.limits).skip(1)
    }

    /// Blocks that may hold a line together, more than one.
    pub fn line_clusters(&self) -> impl Iterator<Item = u32> {
        tile::line_cluster_sizes(self.limits).skip(1)
    }

    /// Whether columns of that many points are worth a pass: in one block with rows of 64 bytes, or in a cluster.
    pub fn takes_columns(&self, n: u64) -> bool {
        n <= self.max_column_points() || self.clusters_take_columns(n, 4, WORTH_A_PASS)
    }

    /// Whether columns of that many points are if they save a pass: also those of which a cluster holds eight in blocks of 64 KB.
    pub(crate) fn takes_long_columns(&self, n: u64) -> bool {
        self.takes_columns(n) || self.clusters_take_columns(n, 2, SAVES_A_PASS)
    }

    /// Whether the largest cluster takes columns of that many points in so many copies, in that part of what it holds.
    fn clusters_take_columns(&self, n: u64, part: u64, most: f64) -> bool {
        let wide = self.clusters().last().map_or(0, |size| self.max_column_points() * u64::from(size) / part);
        let cheap = |plan: &Plan| {
            let cost = cost::of_columns(plan, self.limits, self.precision);
            cost.is_some_and(|cost| cost < most)
        };
        n <= wide && self.stages(n, 1).iter().any(cheap)
    }

    /// Plans of several passes for a length that may fit on the chip: as columns it need not.
    pub fn in_passes(&self, n: u64) -> Vec<Plan> {
        split::in_passes(n, self)
    }

    /// Plans that only the blocks of a cluster together can hold, not yet ranked.
    pub fn of_clusters(&self, n: u64) -> Vec<Plan> {
        let several = SOLVERS.iter().filter(|solver| solver.on_chip() && !solver.one_block());
        several.flat_map(|solver| solver.plans(n, self)).collect()
    }

    /// Plans for a line that the blocks of a cluster share, even if one could hold it.
    pub fn shared(&self, n: u64) -> Vec<Plan> {
        cluster::shared(n, self)
    }

    /// The cheapest plan; `None` where no solver has one.
    pub fn best(&self, n: u64) -> Option<Plan> {
        self.search(n, false)
    }

    /// The cheapest plan that takes one pass.
    pub fn on_chip(&self, n: u64) -> Option<Plan> {
        self.search(n, true)
    }

    /// The cheapest plan of several passes that few lines keep all blocks busy by, of those that are offered to all.
    pub fn in_memory(&self, n: u64) -> Option<Plan> {
        let all = SOLVERS.iter().filter(|solver| !solver.in_place() && !solver.on_chip());
        let plans = all.flat_map(|solver| solver.plans(n, self));
        let shared = plans.filter(|plan| plan.passes() > 1 && !plan.puts_in_order());
        self.cheapest_of(shared.collect(), 1).pop()
    }

    /// The cheapest plan that takes no memory beside the data: in one pass, or in several in place.
    pub fn in_place(&self, n: u64) -> Option<Plan> {
        let solvers = SOLVERS.iter().filter(|solver| solver.in_place());
        let plans = solvers.flat_map(|solver| solver.plans(n, self)).chain(self.on_chip(n));
        let costed =
            plans.filter_map(|plan| Some((cost::of_plan(&plan, self.limits, self.precision)?, plan)));
        costed.min_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, plan)| plan)
    }

    /// Points of the largest tile that blocks can hold together.
    pub fn max_tile(&self) -> u64 {
        self.max_points() * u64::from(self.clusters().last().unwrap_or(1))
    }

    /// Whether the device holds rows of that many points for the middle of a convolution, in stages of these radices.
    pub fn holds_middle(&self, radices: &[u32]) -> bool {
        let mut known = self.middles.borrow_mut();
        *known
            .entry(radices.to_vec())
            .or_insert_with(|| cost::of_middle(radices, self.limits, self.precision).is_some())
    }

    /// Bytes of a point.
    pub fn complex_bytes(&self) -> u64 {
        self.precision.complex_bytes()
    }

    /// Mixed-radix plans for a length that one block holds, with the fewest stages and up to so many more, not yet
    /// ranked.
    pub fn stages(&self, n: u64, more: usize) -> Vec<Plan> {
        let on_chip = SOLVERS.iter().filter(|solver| solver.on_chip() && solver.one_block());
        let mut plans: Vec<Plan> = on_chip.flat_map(|solver| solver.plans(n, self)).collect();
        let stages =
            |plan: &Plan| if let Plan::MixedRadix(radices) = plan { radices.len() } else { usize::MAX };
        let fewest = plans.iter().map(stages).min().unwrap_or(usize::MAX);
        plans.retain(|plan| fewest < usize::MAX && stages(plan) <= fewest + more);
        plans
    }

    /// The cheapest of some plans, so many at most.
    pub fn cheapest_of(&self, plans: Vec<Plan>, most: usize) -> Vec<Plan> {
        let (limits, precision, ends) = (self.limits, self.precision, self.ends);
        let cost = |plan: Plan| Some((cost::of_plan_between(&plan, limits, precision, ends)?, plan));
        let mut costed: Vec<(f64, Plan)> = plans.into_par_iter().filter_map(cost).collect();
        costed.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        costed.into_iter().take(most).map(|(_, plan)| plan).collect()
    }

    fn search(&self, n: u64, on_chip: bool) -> Option<Plan> {
        if let Some(found) = self.known.borrow().get(&(n, on_chip)) {
            return found.as_ref().map(|(_, plan)| plan.clone());
        }
        // Plans of one pass are ranked once, for both questions.
        let mut best = None;
        if !on_chip && self.on_chip(n).is_some() {
            best = self.known.borrow().get(&(n, true)).cloned().flatten();
        }
        let fits = |solver: &&&dyn Solver| !solver.in_place() && (!on_chip || solver.on_chip());
        let offered = |solver: &&'static dyn Solver| {
            let wanted = |plan: &Plan| {
                if on_chip { plan.passes() == 1 } else { !solver.on_chip() || plan.passes() > 1 }
            };
            solver.plans(n, self).into_iter().filter(wanted).collect::<Vec<_>>()
        };
        let plans: Vec<Plan> = SOLVERS.iter().filter(fits).flat_map(offered).collect();
        let (limits, precision, ends) = (self.limits, self.precision, self.ends);
        let cost = |plan| cost::of_plan_between(plan, limits, precision, ends);
        let costs: Vec<Option<f64>> = plans.par_iter().map(cost).collect();
        for (plan, cost) in plans.into_iter().zip(costs) {
            let Some(cost) = cost else { continue };
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, plan));
            }
        }
        let plan = best.as_ref().map(|(_, plan)| plan.clone());
        self.known.borrow_mut().insert((n, on_chip), best);
        plan
    }
}

/// Points of the longest convolution that a block of the device can hold by itself.
pub fn max_convolution(limits: &Limits, precision: Precision) -> u64 {
    max_points(limits, precision).max(u64::from(limits.shared_bytes) / precision.complex_bytes())
}

/// Points of the largest tile that a block of the device can hold: half of its registers.
pub fn max_points(limits: &Limits, precision: Precision) -> u64 {
    points_in(limits, precision, 4)
}

/// Points of the longest transform that a block of the device can hold if it holds no other: five eighths of its
/// registers, in as few threads as leave each the others.
pub fn max_alone(limits: &Limits, precision: Precision) -> u64 {
    points_in(limits, precision, 5)
}

/// Points that fill so many eighths of the registers of a block, if its shared memory takes them.
fn points_in(limits: &Limits, precision: Precision, eighths: u64) -> u64 {
    let bytes = precision.complex_bytes();
    let by_shared = u64::from(limits.shared_bytes) / bytes;
    let by_registers = u64::from(limits.registers_per_sm) * 4 * eighths / 8 / bytes;
    let per_thread = u64::from(limits.registers_per_thread.min(limits.registers_per_sm / limits.max_threads));
    let by_threads = u64::from(limits.max_threads) * (per_thread * 4 * eighths / 8 / bytes).max(1);
    by_shared.min(by_registers).min(by_threads.max(1))
}
