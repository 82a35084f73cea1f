//! What thin occupancy costs: few blocks, blocks of an unlucky size, threads with too much to do.

use super::{Model, Occupancy, cluster};

impl Model<'_> {
    /// What few resident blocks or few blocks in all add: nothing hides the latency of the phases.
    pub(super) fn thinness(&self, threads: u32, took: Occupancy) -> f64 {
        let alone = match took.blocks {
            // Prefetching keeps the memory busy, but for the widest blocks.
            1 if threads <= 512 => 0.06,
            1 => 0.2,
            2 => 0.04,
            3 => 0.015,
            _ => 0.0,
        };
        let resident = f64::from(took.blocks * threads * took.per_thread) * self.bytes as f64;
        // About 48 KB in flight on each multiprocessor keep the memory busy.
        let starved = (1.0 - resident / 49152.0).max(0.0) * 0.6;
        let wanted = f64::from(self.limits.multiprocessors) * 2.0;
        let few = (1.0 - self.blocks as f64 / wanted).max(0.0) * 0.5;
        // Blocks of 128 to 256 threads did best on the H200; a thread that holds more than 256 bytes has long
        // unrolled code, which takes the assembler long and runs from outside the instruction cache.
        let threads = f64::from(threads);
        let large = (threads / 256.0).log2().max(0.0) * 0.01;
        let small = (128.0 / threads).log2().max(0.0) * 0.015;
        let held = f64::from(took.per_thread) * self.bytes as f64;
        let long = (held / 256.0).log2().max(0.0) * 0.2;
        let heavy = if self.cluster > 1 { 0.0 } else { (held / 128.0).log2().max(0.0) * 0.02 };
        // Radices whose needs differ by more than two to one leave registers idle in one stage or short in another.
        let radices = self.stages.iter().map(|stage| f64::from(stage.radix));
        let (least, most) = radices.fold((f64::MAX, 1.0_f64), |(a, b), r| (a.min(r), b.max(r)));
        let weight = if self.cluster == 1 { 0.002 } else { 0.01 };
        let uneven = (most / least.min(most) / 2.0).log2().max(0.0) * weight;
        uneven
            + alone
            + starved
            + few
            + large
            + small
            + heavy
            + long
            + cluster::hand_over(self.cluster, self.stages.len(), self.elements * self.bytes, took.blocks)
    }
}
