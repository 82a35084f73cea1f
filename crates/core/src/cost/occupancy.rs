//! What a tile takes of a multiprocessor: registers, shared memory, and how many blocks find room.

use std::num::NonZeroU32;

use super::{Model, cluster, radix};
use crate::codelet::comes_in_twos;
use crate::lower::cluster::TICKET_BYTES;
use crate::lower::tile::Tile;
use crate::pass::{Pass, Stage};
use crate::target::{Api, Limits};

/// What a tile takes of the device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Occupancy {
    /// Complex elements that a thread holds.
    pub per_thread: u32,
    /// Registers of a thread, estimated.
    pub registers: u32,
    /// Shared memory of a block in bytes, without padding.
    pub shared_bytes: u32,
    /// Blocks that a multiprocessor holds.
    pub blocks: u32,
    /// The assembler has to be thrifty to make room for that many blocks.
    pub asked: bool,
    /// Blocks that the assembler is told of, 1 or more. A driver's linker does not aim at any number by itself, and
    /// was seen to take twice the registers that a kernel needs.
    pub told: u32,
    /// Blocks stay and take tile after tile, with the next one under way and tables in registers.
    pub stays: bool,
    /// Permuted ends take the tile piece by piece: a thread has no room for its share of it.
    pub piecewise: bool,
}

/// Registers that the assembler may take beyond those expected.
const SLACK: u32 = 4;

/// Bytes of shared memory that the device keeps of each block's.
pub(super) const RESERVED: u32 = 1024;

/// Bytes of a plane that several blocks of a multiprocessor have room for.
const SMALL_PLANE: u32 = 48 << 10;

/// What a tile takes, or `None` where the device cannot hold it.
pub fn occupancy(pass: &Pass, tile: &Tile, limits: &Limits) -> Option<Occupancy> {
    let took = Model::new(pass, &tile.batch, tile.cluster, limits)?.occupancy(tile.threads)?;
    let Some(blocks) = tile.resident.map(NonZeroU32::get) else { return Some(took) };
    let registers = of_each(tile.threads, blocks, limits);
    took.has_room(blocks, tile.threads, limits).then_some(Occupancy {
        registers,
        blocks,
        asked: true,
        told: blocks,
        ..took
    })
}

impl Occupancy {
    /// Bytes of shared memory that a block may take so that a multiprocessor has room for all that are counted on.
    pub(crate) fn room(&self, limits: &Limits) -> u32 {
        let each = limits.shared_per_sm / self.blocks.max(1);
        each.saturating_sub(RESERVED).clamp(self.shared_bytes, limits.shared_bytes)
    }

    /// Whether a multiprocessor has room for so many such blocks, were it not for their registers.
    pub(crate) fn has_room(&self, blocks: u32, threads: u32, limits: &Limits) -> bool {
        let threads = u64::from(threads.next_multiple_of(limits.subgroup)) * u64::from(blocks);
        let shared = u64::from(self.shared_bytes + RESERVED) * u64::from(blocks);
        matches!(limits.api, Api::Ptx { .. })
            && blocks <= limits.blocks_per_sm
            && threads <= limits.threads_per_sm.into()
            && shared <= limits.shared_per_sm.into()
    }
}

/// Registers of a thread when so many blocks share the file out. A multiprocessor has four parts with registers of their
/// own, and gives each warp to one of them.
pub(crate) fn of_each(threads: u32, blocks: u32, limits: &Limits) -> u32 {
    let lanes = limits.subgroup.max(1);
    let warps = threads.div_ceil(lanes).saturating_mul(blocks.max(1));
    let per_part = warps.div_ceil(4).saturating_mul(lanes);
    (limits.registers_per_sm / 4 / per_part).min(limits.registers_per_thread)
}

/// What the stages ask of a thread.
pub(super) struct Demand {
    /// Complex elements that it holds.
    per_thread: u32,
    /// Groups of the stage with the most of them.
    slots: u32,
    /// Groups that the threads do not share out evenly: they need addresses and guards of their own in each slot.
    pub uneven: u32,
    /// Registers beside the data in the most demanding codelet.
    scratch: u32,
}

impl Model<'_> {
    /// What the tile takes with so many threads, or `None` where the device cannot hold it.
    pub fn occupancy(&self, threads: u32) -> Option<Occupancy> {
        if self.coprime() {
            return self.convolution_room(threads);
        }
        let limits = self.limits;
        let words = self.words();
        if !self.holds_pairs(threads) {
            return None;
        }
        let demand = self.demand(threads);
        let Demand { per_thread, slots, uneven, scratch } = demand;
        let warps = threads.next_multiple_of(limits.subgroup);
        // The assembler shares the file out to blocks rounded up to four warps.
        let file = limits.registers_per_sm / threads.next_multiple_of(4 * limits.subgroup);
        let registers = self.lean(threads, &demand);
        let shared_bytes = self.shared_bytes();
        // At the very limit the assembler was seen to spill some: factors on several groups, more than half of the file.
        let full = self.elements * self.bytes > u64::from(limits.registers_per_sm) * 4 / 2;
        let margin = match (full, self.twiddled && slots > 1) {
            (true, _) => 8,
            (false, true) => 4,
            (false, false) => 0,
        };
        let over = self.cluster == 1 && registers + margin > limits.registers_per_thread.min(file);
        if over || shared_bytes > limits.shared_bytes {
            return None;
        }
        let exchanges = self.stages.len() > 1 || self.staged > 0;
        let shared = if exchanges { limits.shared_per_sm / (shared_bytes + RESERVED) } else { u32::MAX };
        let most = shared.min(limits.threads_per_sm / warps).min(limits.blocks_per_sm);
        if self.cluster > 1 {
            let (registers, blocks) = cluster::share(&self.need(&demand), threads, most, limits)?;
            return Some(Occupancy {
                per_thread,
                registers,
                shared_bytes,
                blocks,
                asked: true,
                told: blocks,
                stays: false,
                piecewise: false,
            });
        }
        let fit = |registers: u32| {
            most.min(limits.registers_per_sm / (registers.next_multiple_of(8) * warps)).max(1)
        };
        let blocks = fit(registers);
        // Roots of the twiddle between passes are loaded ahead, most of them where a thread holds much.
        let wide = self.stages.iter().any(|stage| stage.radix > 16);
        let ahead = if per_thread > 24 || wide { 45 } else { 12 };
        let told = if self.twiddled { fit(registers + ahead * words) } else { blocks };
        // What it is told of, the assembler shares the file out to, warp by warp. Left as many as fit beside each other in
        // fours of warps it loads far ahead, which pays but where a thread holds a long prime.
        let by_fours = (file / registers).max(1);
        let shared_out = if self.in_twos() {
            (2..=most).rev().find(|&count| of_each(threads, count, limits) >= registers).unwrap_or(1)
        } else {
            by_fours
        };
        let told = told.min(shared_out);
        // Two blocks of large tiles are worth asking the assembler to be thrifty: one alone stands idle between
        // its phases.
        let beside = if wide { scratch } else { scratch / 2 };
        // Factors of planes on the way to another pass, of two words each: without this, 5 x 1000 doubles spilled 8 bytes.
        let roots = if self.twiddled && self.axes > 1 { 12 * (words - 1) } else { 0 };
        let least = 2 * words * per_thread + beside + 18 + 6 * words + roots + self.of_pairs(per_thread);
        let asked = blocks == 1 && most >= 2 && uneven == 0 && least <= file / 2;
        let (blocks, told, registers) =
            if asked { (2, 2, file / 2 / 8 * 8) } else { (blocks, told, registers) };
        // Where blocks rounded up to four warps leave little room for a second one, it was seen to take what keeps that
        // out: 400 threads of 1000 points took 77 registers, 72 were left.
        let scant = !asked && blocks == 2 && by_fours == 1 && !self.twiddled;
        let blocks = if scant { fit(registers + SLACK) } else { blocks };
        Some(Occupancy {
            per_thread,
            registers,
            shared_bytes,
            blocks,
            asked,
            told,
            stays: false,
            piecewise: false,
        })
    }

    /// Whether each of so many threads has rows and their images together, where they come in pairs, at both ends.
    fn holds_pairs(&self, threads: u32) -> bool {
        let pairs =
            |stage: &Stage| (stage.points / u64::from(stage.radix) / 2).is_multiple_of(threads.into());
        !self.images || [self.stages.first(), self.stages.last()].into_iter().flatten().all(pairs)
    }

    /// Whether a stage is of a long prime.
    pub(super) fn in_twos(&self) -> bool {
        self.stages.iter().any(|stage| comes_in_twos(stage.radix.into()))
    }

    /// Words of a real number.
    pub(super) fn words(&self) -> u32 {
        (self.bytes / 8) as u32
    }

    /// Whether threads of a line by a cluster are so short of registers beside their points that the assembler spills: of 27 lengths
    /// from 24000 to 96000 six, which are these, by 8 to 188 bytes.
    pub(super) fn is_short_of_registers(&self, threads: u32, took: Occupancy) -> bool {
        let demand = self.demand(threads);
        let beside = took.registers.saturating_sub(2 * self.words() * demand.per_thread);
        let wide = self.stages.iter().any(|stage| stage.radix > 16 && !stage.radix.is_power_of_two());
        demand.uneven == 0 && beside < 28 * self.words() && (wide || demand.slots > 5)
    }

    /// What the stages ask of each of so many threads.
    pub(super) fn demand(&self, threads: u32) -> Demand {
        let mut demand = Demand {
            per_thread: self.elements.div_ceil(u64::from(threads)) as u32,
            slots: 1,
            uneven: 0,
            scratch: 0,
        };
        for &Stage { radix, points, .. } in &self.stages {
            let groups = (points / u64::from(radix)) as u32;
            let slots = groups.div_ceil(threads);
            if !groups.is_multiple_of(threads) {
                demand.uneven = demand.uneven.max(slots);
            }
            demand.slots = demand.slots.max(slots);
            demand.per_thread = demand.per_thread.max(slots * radix);
            // What a wide codelet computes cannot take the place of what it still needs: little room where a group is all
            // that a thread holds, as much again where others or factors are under way.
            let others = slots > 1 || self.twiddled || self.words() > 1;
            let composite = radix::facts(radix).scratch < radix && !radix.is_power_of_two();
            let crowded = radix > 16 && composite && others;
            let sets = if crowded { 2 } else { 1 };
            demand.scratch = demand.scratch.max(self.words() * radix::facts(radix).scratch * sets);
        }
        demand
    }

    /// Registers of a thread whose block takes one tile and ends.
    fn lean(&self, threads: u32, demand: &Demand) -> u32 {
        let words = self.words();
        let twiddles = if self.twiddled { 12 * (words - 1) } else { 0 };
        let beside = if self.axes > 1 && threads > 768 { 40 } else { 24 };
        // Of two words each, what is held leaves no room for its addresses.
        let long = match (words > 1 && demand.slots > 1, demand.per_thread) {
            (true, 33..) => 48,
            (true, 17..) => 12,
            _ => 0,
        };
        // Items of a fold are read four at a time, of two words each, and in planes each has a mirror image elsewhere: not where
        // they are folded as they stand. In small planes the assembler makes more of those registers than another block does:
        // back to 32 x 32 doubles took 1.01 copies with them, and 1.12 with a block and a stage more.
        let roomy = self.axes > 2 || self.shared_bytes() > SMALL_PLANE;
        let folds = match (self.staged > 0, self.axes > 1) {
            (true, true) if self.straight && roomy => 0,
            (true, true) => 40 * (words - 1),
            (true, false) => 24 * (words - 1),
            (false, _) => 0,
        };
        // Of what is converted on the way, a fold of planes holds both for a moment: without this, 64 x 64 halves spilled.
        let kept = if self.staged > 0 && self.axes > 1 && self.short.any() { 8 } else { 0 };
        // Groups of a stage beside a long prime's are fewer than it has points, and their addresses are computed anew.
        let each = if self.in_twos() { 1 } else { 6 };
        let pairs = self.of_pairs(demand.per_thread) + self.of_two_spectra(demand.per_thread);
        let beside = beside + each * demand.uneven + kept + pairs;
        2 * words * demand.per_thread + demand.scratch + beside + twiddles + long + folds
    }

    /// Registers that pairs of singles need beside those of doubles, as the assembler was seen to spill without them: for
    /// the sums and products that are under way, more where roots are loaded ahead for them.
    fn of_pairs(&self, per_thread: u32) -> u32 {
        match (self.pairs, self.twiddled, per_thread) {
            (false, ..) => 0,
            (true, false, _) => 16,
            (true, true, ..=24) => 32,
            (true, true, _) => 56,
        }
    }

    /// Registers of what is read of two spectra before it is one line of rows and images: of radix 25 in singles 168 did not do, and
    /// 240 bytes spilled.
    fn of_two_spectra(&self, per_thread: u32) -> u32 {
        if self.two_spectra { 2 * per_thread.saturating_sub(32) } else { 0 }
    }

    /// Shared memory of a block in bytes, without padding.
    fn shared_bytes(&self) -> u32 {
        let tickets = if self.cluster > 1 { TICKET_BYTES } else { 0 };
        (self.elements.max(self.staged) * self.bytes) as u32 + tickets
    }

    /// What a thread of a cluster's block needs.
    pub(super) fn need(&self, demand: &Demand) -> cluster::Need {
        let words = self.words();
        // Groups come one by one, and twice what a composite codelet computes was never seen to be needed.
        let scratch = self.stages.iter().map(|stage| words * radix::facts(stage.radix).scratch).max();
        cluster::Need {
            words,
            pairs: self.pairs,
            per_thread: demand.per_thread,
            slots: demand.slots,
            uneven: demand.uneven,
            scratch: scratch.unwrap_or(0),
            several: self.several,
            planes: self.axes > 1,
            twiddled: self.twiddled,
            gathers: self.folds[0] && self.axes == 1 && words == 1 && self.cluster == 16,
        }
    }
}
