//! What a plan may begin with, sought while its best program is still planned: shorter kernels by the planner's search, and
//! loops, which no search is needed for, so that these are being assembled before the best are known.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};

use warpfft_core::problem::Problem;
use warpfft_core::program::{Program, SHORT_ENOUGH, can_stand_in, looped, searched};

use super::assemble::{Effort, assembles_anyway, modules};
use super::context::Context;
use super::image::Image;
use super::loaded::{Loaded, alignment};
use super::soon::unassembled;
use super::tables::tables;
use crate::device::behind::beside;
use crate::device::stand_ins;
use crate::error::Error;

/// Programs on their way, none of them where plans are told to wait for their best kernels.
pub(super) struct Beginnings {
    context: Arc<Context>,
    searched: Receiver<Program>,
    looped: Receiver<Looped>,
    /// Whether nobody asks for them any more.
    needless: Arc<AtomicBool>,
}

struct Looped {
    program: Program,
    /// Its launches, if they were not left for later.
    loaded: Option<Result<Loaded, Error>>,
}

impl Beginnings {
    /// Begins to seek, on threads of its own.
    pub fn seek(context: &Arc<Context>, problem: &Problem) -> Self {
        let (found, searched_for) = channel();
        let (begun, loops) = channel();
        let needless = Arc::new(AtomicBool::new(false));
        if stand_ins() {
            let (own, its) = (problem.clone(), context.limits.clone());
            beside(move || {
                if let Some(program) = searched(&own, &its) {
                    // Nobody listens where the best are short.
                    let _ = found.send(program);
                }
            });
            let (own, its, needless) = (problem.clone(), Arc::clone(context), Arc::clone(&needless));
            beside(move || {
                // Another thread may capture a graph.
                let _relaxed = its.relaxed();
                // Dropped before that ends, which what a closure captures is not.
                let (its, begun) = (its, begun);
                let Some(program) = looped(&own, &its.limits) else { return };
                if !needless.load(Ordering::Relaxed) {
                    let loaded = assembles_anyway(&its).then(|| begin(&its, &program));
                    let _ = begun.send(Looped { program, loaded });
                }
            });
        }
        Self { context: Arc::clone(context), searched: searched_for, looped: loops, needless }
    }

    /// Launches for a problem until its best program's are assembled, which ask for no more than that does; `most` is what its
    /// pointers must be multiples of. Loops where they are there first, else what the search found in time and is short.
    pub fn first(&self, best: &Program, most: [u64; 3]) -> Option<Loaded> {
        let can = |program: &Program| can_stand_in(program, best) && fits(program, most);
        let loops = self.looped.try_recv().ok();
        let there = loops.as_ref().is_some_and(|loops| loops.loaded.is_some());
        let found = self.searched.try_recv().ok();
        let short = found.as_ref().filter(|program| program.longest() <= SHORT_ENOUGH && can(program));
        if let Some(program) = short.filter(|_| !there)
            && let Some(loaded) = used(begin(&self.context, program))
        {
            return Some(loaded);
        }
        if let Some(loops) = loops.or_else(|| self.looped.recv().ok()).filter(|loops| can(&loops.program)) {
            let loaded = loops.loaded.unwrap_or_else(|| begin(&self.context, &loops.program));
            if let Some(loaded) = used(loaded) {
                return Some(loaded);
            }
        }
        let found = found.or_else(|| self.searched.recv().ok()).filter(can)?;
        used(begin(&self.context, &found))
    }
}

impl Drop for Beginnings {
    fn drop(&mut self) {
        self.needless.store(true, Ordering::Relaxed);
    }
}

/// Launches, unless they failed: the best are waited for then.
fn used(loaded: Result<Loaded, Error>) -> Option<Loaded> {
    loaded.map_err(|error| tracing::debug!(%error, "a stand-in was not used")).ok()
}

/// Whether a program asks of the caller's pointers no more than that.
fn fits(program: &Program, most: [u64; 3]) -> bool {
    let own = alignment(&Image::without_tables("", program, &unassembled(program)));
    own.iter().zip(most).all(|(&own, most)| own <= most)
}

/// A program's launches, assembled with the least effort.
fn begin(context: &Arc<Context>, program: &Program) -> Result<Loaded, Error> {
    let image = Image::of("", program, &unassembled(program))?;
    image.check(&program.problem, &context.limits)?;
    let modules = modules(context, &program.kernels, Effort::Least)?;
    Loaded::with(context, &image, &modules, tables(context, &image.tables)?)
}
