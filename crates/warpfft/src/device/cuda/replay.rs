//! Launches that are asked for again and again with the same addresses, recorded once as a graph and replayed. The driver
//! takes 3 to 4 us of the processor for each launch and 1.3 to 2 us for a graph of all of them, which is what small transforms wait for
//! (`docs/notes/early-launches.md`).

use std::sync::{Arc, Mutex, OnceLock};

use super::context::Context;
use super::driver::{CAPTURE_RELAXED, Handle, NOT_CAPTURED, PER_THREAD_STREAM};
use super::launch::Pointers;
use crate::error::Error;

/// What a plan's launches are given. A graph does not run beside itself, so each stream has its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Given {
    /// Where they are enqueued.
    pub stream: Handle,
    /// The caller's addresses.
    pub pointers: Pointers,
    /// The number of transforms where it is left to the run.
    pub count: Option<u32>,
}

/// The run with the same addresses that is recorded: who asks twice may have asked to warm up.
const OFTEN: u32 = 3;

/// Runs of one plan that are remembered, those used last.
const MOST: usize = 8;

/// What a plan was last given, with the graphs of what it was given often.
#[derive(Default)]
pub(super) struct Replays {
    /// The last one first.
    known: Mutex<Vec<Known>>,
}

struct Known {
    given: Given,
    times: u32,
    graph: Option<Graph>,
}

// SAFETY: handles of the driver, which may be used from any thread; a lock guards them.
unsafe impl Send for Known {}

impl Replays {
    /// Enqueues a plan's launches, or the graph of them.
    ///
    /// # Safety
    ///
    /// `launches` enqueues on the stream that it gets what is given but for the stream, and nothing else. The context is
    /// current, and what is given fits it.
    pub unsafe fn enqueue(
        &self,
        context: &Arc<Context>,
        given: Given,
        launches: impl Fn(Handle) -> Result<(), Error>,
    ) -> Result<(), Error> {
        // One handle for a stream of each thread. Nobody waits for another thread that enqueues the same plan.
        let known =
            if given.stream == PER_THREAD_STREAM || is_off() { None } else { self.known.try_lock().ok() };
        let Some(mut known) = known else { return launches(given.stream) };
        match known.iter().position(|known| known.given == given) {
            Some(at) => known[..=at].rotate_right(1),
            None => {
                known.truncate(MOST - 1);
                known.insert(0, Known { given, times: 0, graph: None });
            }
        }
        let own = &mut known[0];
        let again = own.times + 1 >= OFTEN;
        if !again {
            own.times += 1;
        }
        if !again || is_captured(context, given.stream) {
            drop(known);
            return launches(given.stream);
        }
        if own.times < OFTEN {
            own.times = OFTEN;
            own.graph = Graph::record(context, &launches)
                .inspect_err(|error| tracing::debug!(%error, "launches are not replayed"))
                .ok();
        }
        let Some(graph) = &own.graph else { return launches(given.stream) };
        // SAFETY: by this function's contract; the lock is held.
        match unsafe { graph.launch(given.stream) } {
            Err(error) if !matches!(error, Error::DeviceLost { .. }) => {
                tracing::debug!(%error, "launches are replayed no more");
                own.graph = None;
                launches(given.stream)
            }
            launched => launched,
        }
    }

    /// How many graphs there are.
    #[cfg(test)]
    pub fn graphs(&self) -> usize {
        let known = self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        known.iter().filter(|known| known.graph.is_some()).count()
    }
}

/// Whether the environment forbids it, by `WARPFFT_REPLAY=off`.
fn is_off() -> bool {
    static OFF: OnceLock<bool> = OnceLock::new();
    *OFF.get_or_init(|| {
        std::env::var_os("WARPFFT_REPLAY").is_some_and(|value| value.eq_ignore_ascii_case("off"))
    })
}

/// Whether a stream is captured, or the driver does not say: the caller's graph gets the launches themselves.
fn is_captured(context: &Context, stream: Handle) -> bool {
    let mut status = NOT_CAPTURED;
    // SAFETY: a live stream, and a place for the answer.
    let code = unsafe { (context.driver.cuStreamIsCapturing)(stream, &raw mut status) };
    code != 0 || status != NOT_CAPTURED
}

/// A graph that is ready to be launched.
struct Graph {
    context: Arc<Context>,
    ready: Handle,
}

impl Drop for Graph {
    fn drop(&mut self) {
        let _relaxed = self.context.relaxed();
        if let Ok(_current) = self.context.current() {
            // SAFETY: made by `record` and destroyed once; what is under way still ends.
            unsafe { (self.context.driver.cuGraphExecDestroy)(self.ready) };
        }
    }
}

impl Graph {
    /// Records what is enqueued on a stream of its own, where nothing runs. The context is current.
    fn record(context: &Arc<Context>, launches: impl Fn(Handle) -> Result<(), Error>) -> Result<Self, Error> {
        // Another thread may capture a graph.
        let _relaxed = context.relaxed();
        let (driver, stream) = (context.driver, context.stream()?);
        let (mut graph, mut ready): (Handle, Handle) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: a live stream that nobody else knows.
        let code = unsafe { (driver.cuStreamBeginCapture_v2)(stream.raw(), CAPTURE_RELAXED) };
        context.check("cuStreamBeginCapture", code)?;
        let enqueued = launches(stream.raw());
        // SAFETY: the capture that began above ends whatever was enqueued; a place for the graph.
        let code = unsafe { (driver.cuStreamEndCapture)(stream.raw(), &raw mut graph) };
        let ended = context.check("cuStreamEndCapture", code);
        let made = enqueued.and(ended).and_then(|()| {
            // SAFETY: the graph that was captured, and a place for the one that is ready.
            let code = unsafe { (driver.cuGraphInstantiateWithFlags)(&raw mut ready, graph, 0) };
            context.check("cuGraphInstantiate", code)
        });
        if !graph.is_null() {
            // SAFETY: captured above and destroyed once; what is ready does not need it.
            unsafe { (driver.cuGraphDestroy)(graph) };
        }
        made.map(|()| Self { context: Arc::clone(context), ready })
    }

    /// Enqueues it.
    ///
    /// # Safety
    ///
    /// The context is current, the stream one of it, and the memory that was recorded live until the work is done. No
    /// other thread launches it meanwhile.
    unsafe fn launch(&self, stream: Handle) -> Result<(), Error> {
        // SAFETY: by this function's contract.
        let code = unsafe { (self.context.driver.cuGraphLaunch)(self.ready, stream) };
        self.context.check("cuGraphLaunch", code)
    }
}

#[cfg(test)]
#[path = "replay_tests.rs"]
mod tests;
