//! Plans that are ready before their best kernels are.
//!
//! The driver's assembler takes up to 0.4 s for a long kernel. So a plan whose kernels are long begins with a stand-in
//! where there is one: shorter kernels for the same problem, assembled with the least effort, which takes half of the time or
//! less. The best are assembled behind, and take over when they are there.

use std::sync::{Arc, OnceLock};

use warpfft_core::program::Program;

use super::assemble::{Effort, assembled, at_hand, modules};
use super::beginnings::Beginnings;
use super::context::Context;
use super::image::Image;
use super::loaded::{Best, Loaded, Ready, alignment};
use super::memory::DeviceBuffer;
use super::tables::tables;
use crate::device::behind::behind;
use crate::device::cache::DiskCache;
use crate::error::Error;

/// Instructions of a kernel up to which its plan waits for it: some 25 ms on a slow processor.
const SHORT: usize = 320;

/// Launches of a program, the best at once or others to begin with and the best behind, and what the caller's pointers must be
/// multiples of for both. `key` and `entry` are those of its record, which is written when the best are there.
pub(super) fn ready(
    context: &Arc<Context>,
    program: &Arc<Program>,
    beginnings: &Beginnings,
    (key, entry): (String, String),
) -> Result<(Ready, [u64; 3]), Error> {
    let image = Image::of(&key, program, &unassembled(program))?;
    image.check(&program.problem, &context.limits)?;
    let most = alignment(&image);
    // Tables, also those of the best, are on the GPU before this returns: only machine code comes later.
    let tables = tables(context, &image.tables)?;
    let best = Unassembled { context: Arc::clone(context), program: Arc::clone(program), tables, key, entry };
    let waits = program.longest() <= SHORT || at_hand(context, &program.kernels);
    let first = if waits { None } else { beginnings.first(program, most) };
    let Some(first) = first else { return Ok((Ready::at_once(best.loaded()?), most)) };
    let promise = Promise(Best::new(OnceLock::new()));
    let ready = Ready::soon(first, Arc::clone(&promise.0), &best.tables);
    behind(move || {
        // Also for what is freed, where the plan is gone meanwhile.
        let _relaxed = best.context.relaxed();
        // Dropped before that ends, which what a closure captures is not.
        let (best, promise) = (best, promise);
        let came = promise.is_wanted().then(|| best.loaded());
        // First, so that the device is closed by whoever closes it, and not by this thread a moment later.
        drop(best);
        if let Some(came) = came {
            promise.set(came);
        }
    });
    Ok((ready, most))
}

/// For an image without machine code.
pub(super) fn unassembled(program: &Program) -> Vec<(u128, &'static [u8])> {
    vec![(0, &[]); program.kernels.len()]
}

/// A program whose kernels are to be assembled with all effort.
struct Unassembled {
    context: Arc<Context>,
    program: Arc<Program>,
    tables: Vec<Arc<DeviceBuffer>>,
    key: String,
    entry: String,
}

impl Unassembled {
    /// Assembles and loads it, and writes its record.
    fn loaded(&self) -> Result<Loaded, Error> {
        let modules = modules(&self.context, &self.program.kernels, Effort::Full)?;
        let image = Image::of(&self.key, &self.program, &assembled(&modules))?;
        let loaded = Loaded::with(&self.context, &image, &modules, self.tables.clone())?;
        if let Some(record) = image.encode() {
            DiskCache::from_environment().write(&self.entry, &record);
        }
        Ok(loaded)
    }
}

/// What a plan that has begun waits for.
struct Promise(Best);

impl Promise {
    /// Whether anybody still holds the plan.
    fn is_wanted(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    fn set(&self, came: Result<Loaded, Error>) {
        if let Err(error) = &came {
            tracing::debug!(%error, "a plan goes on with its stand-in");
        }
        // Set by nobody else.
        let _ = self.0.set(came);
    }
}

impl Drop for Promise {
    /// A promise that was not kept is forgotten with the process that ends, or its work panicked.
    fn drop(&mut self) {
        if self.0.get().is_none() {
            let detail = "the best kernels were not assembled".into();
            self.set(Err(Error::Program { detail }));
        }
    }
}
