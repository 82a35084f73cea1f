//! The program of what is tried.

use warpfft::core::kernel::verify::verify;
use warpfft::core::kernel::{Block, Cache, Kernel, Op};
use warpfft::core::lower::fused::COUNTER_WORDS;
use warpfft::core::lower::tile::Tile;
use warpfft::core::pass::{Array, Method};
use warpfft::core::program::Program;

use crate::search::Variant;
use crate::{Bench, Outcome};

impl Bench {
    pub fn program(&self, variant: &Variant) -> Outcome<Program> {
        let mut schedule = self.schedule.clone();
        let lengths = self.lengths();
        let (_, ring) = &mut schedule.fused[0];
        (ring.slots, ring.ahead, ring.early) = (variant.slots, variant.ahead, variant.early);
        let span = u64::from(variant.slots) * ring.slot;
        schedule.regions[usize::from(ring.counters)] = u64::from(COUNTER_WORDS * (2 * variant.slots + 1)) / 2;
        let Array::Workspace(region) = schedule.passes[0].dst.array else {
            return Err("the ring is no workspace".into());
        };
        schedule.regions[usize::from(region)] = span;
        schedule.passes[0].dst.span = span;
        schedule.passes[1].src.span = span;
        let mut tiles = Vec::new();
        for (i, pass) in schedule.passes.iter_mut().enumerate() {
            for axis in &mut pass.axes {
                axis.method = Method::MixedRadix(variant.radices[i].clone());
            }
            // The fastest repeated dimension of an item is what a tile holds several of.
            let inner =
                pass.batch.iter().position(|dim| dim.n == lengths[1 - i] && dim.is != 0 && dim.os != 0);
            let inner = inner.ok_or("no dimension is as long as the other pass")?;
            let mut batch = vec![1; pass.batch.len()];
            batch[inner] = variant.held[i];
            tiles.push(Tile::new(variant.threads, 1, batch));
        }
        let tiles = [&tiles[0], &tiles[1]];
        let mut program = Program::of_fused(&self.problem, &schedule, tiles, &self.limits)?;
        let own = program.launches.last().ok_or("there are launches")?.kernel;
        let mut kernel: Kernel = (*program.kernels[own]).clone();
        hint(&mut kernel.body, variant.hints);
        kernel.min_blocks = variant.asked;
        program.kernels[own] = verify(kernel)?;
        Ok(program)
    }

    /// Two launches with that many resident blocks asked for.
    pub fn asked(&self, asked: u32) -> Outcome<Program> {
        let mut program = self.plain.program.clone();
        for own in &mut program.kernels {
            let mut kernel: Kernel = (**own).clone();
            kernel.min_blocks = asked.min(self.limits.threads_per_sm / kernel.threads);
            *own = verify(kernel)?;
        }
        Ok(program)
    }
}

/// Sets the hints of the caller's data and of the ring.
fn hint(block: &mut Block, [data, ring]: [Cache; 2]) {
    for inst in &mut block.insts {
        if let Op::Load { cache, .. } | Op::Store { cache, .. } = &mut inst.op {
            match cache {
                Cache::Stream => *cache = data,
                Cache::L2 => *cache = ring,
                _ => {}
            }
        }
        inst.blocks.iter_mut().for_each(|inner| hint(inner, [data, ring]));
    }
}
