//! Launches whose kernels and tables are on the GPU.

use std::ffi::c_uint;
use std::sync::{Arc, OnceLock};

use warpfft_core::program::Binding;

use super::assemble::{Module, recorded};
use super::context::Context;
use super::driver::{CAPTURES_EARLY_LAUNCHES, Handle};
use super::image::{BufferImage, Image};
use super::launch::{Argument, Launch, MAX_BUFFERS, Pointers};
use super::memory::DeviceBuffer;
use super::replay::{Given, Replays};
use super::tables::tables;
use crate::error::Error;

/// What the pointers of input, output and filter must be multiples of.
pub(super) fn alignment(image: &Image) -> [u64; 3] {
    let mut widest = [1; 3];
    for launch in &image.launches {
        for (binding, buffer) in launch.bindings.iter().zip(&image.kernels[launch.kernel].buffers) {
            let side = match binding {
                Binding::Input(_) => 0,
                Binding::Output(_) => 1,
                Binding::Filter => 2,
                Binding::Workspace { .. } | Binding::Table(_) => continue,
            };
            widest[side] = buffer.align.max(widest[side]);
        }
    }
    widest
}

/// All launches of a program, ready to be enqueued.
pub(super) struct Loaded {
    /// Graphs of the launches, which go before what they are of.
    pub replays: Replays,
    pub launches: Vec<Launch>,
    /// Kept as long as the launches name their addresses.
    pub tables: Vec<Arc<DeviceBuffer>>,
}

impl Loaded {
    /// What a record describes, which was checked.
    pub fn of(context: &Arc<Context>, image: &Image) -> Result<Self, Error> {
        let modules: Vec<_> =
            image.kernels.iter().map(|kernel| recorded(context, kernel)).collect::<Result<_, _>>()?;
        Self::with(context, image, &modules, tables(context, &image.tables)?)
    }

    /// What an image describes, which was checked, with its kernels and its tables.
    pub fn with(
        context: &Context,
        image: &Image,
        modules: &[Arc<Module>],
        tables: Vec<Arc<DeviceBuffer>>,
    ) -> Result<Self, Error> {
        let mut launches = Vec::with_capacity(image.launches.len());
        for (at, launch) in image.launches.iter().enumerate() {
            let kernel = &image.kernels[launch.kernel];
            if launch.bindings.len() > MAX_BUFFERS {
                let detail = format!("kernel {} has more than {MAX_BUFFERS} buffers", kernel.name);
                return Err(Error::Program { detail });
            }
            let argument = |(&binding, _): (&Binding, &BufferImage)| match binding {
                Binding::Input(plane) => Argument::Input(plane.into()),
                Binding::Output(plane) => Argument::Output(plane.into()),
                Binding::Filter => Argument::Filter,
                Binding::Workspace { offset, .. } => Argument::Workspace(offset),
                Binding::Table(table) => Argument::Fixed(tables[usize::from(table)].address()),
            };
            launches.push(Launch {
                module: Arc::clone(&modules[launch.kernel]),
                blocks: kernel.blocks as c_uint,
                threads: kernel.threads,
                cluster: kernel.cluster,
                at_run: kernel.at_run,
                // What comes before the first is not this plan's.
                early: kernel.waits && at > 0 && context.driver_version >= CAPTURES_EARLY_LAUNCHES,
                shared: kernel.shared_bytes,
                arguments: launch.bindings.iter().zip(&kernel.buffers).map(argument).collect(),
            });
        }
        Ok(Self { replays: Replays::default(), launches, tables })
    }

    /// Enqueues all launches, one by one, for a part of the problem with that count; `None`: for all of it.
    ///
    /// # Safety
    ///
    /// As [`Launch::enqueue`], for each of them.
    pub unsafe fn launch(
        &self,
        context: &Context,
        stream: Handle,
        pointers: &Pointers,
        count: Option<u32>,
    ) -> Result<(), Error> {
        // SAFETY: by this function's contract.
        self.launches
            .iter()
            .try_for_each(|launch| unsafe { launch.enqueue(context, stream, pointers, count) })
    }

    /// The same, replayed where they are asked for again and again.
    ///
    /// # Safety
    ///
    /// As [`Loaded::launch`].
    pub unsafe fn enqueue(
        &self,
        context: &Arc<Context>,
        stream: Handle,
        pointers: Pointers,
        count: Option<u32>,
    ) -> Result<(), Error> {
        // SAFETY: by this function's contract; what records them gives a stream of the context.
        let launches = |stream| unsafe { self.launch(context, stream, &pointers, count) };
        // SAFETY: these are the launches with what is given, and nothing else.
        unsafe { self.replays.enqueue(context, Given { stream, pointers, count }, launches) }
    }

    /// Registers and spilled bytes of each launch's kernel, as the driver reports them.
    pub fn registers(&self) -> Vec<(u32, u32)> {
        self.launches.iter().map(|launch| (launch.module.registers, launch.module.local_bytes)).collect()
    }
}

/// Where the best launches of a plan will be once they are assembled, or why they are not.
pub(super) type Best = Arc<OnceLock<Result<Loaded, Error>>>;

/// A plan's launches: those that were there first, and the best where these come later.
pub(super) struct Ready {
    first: Loaded,
    best: Option<Best>,
    /// Bytes of the tables of all of them.
    table_bytes: u64,
}

impl Ready {
    /// Launches that are the best.
    pub fn at_once(first: Loaded) -> Self {
        let table_bytes = bytes(&first.tables);
        Self { first, best: None, table_bytes }
    }

    /// Launches to begin with, and the place of the best, whose tables are there already.
    pub fn soon(first: Loaded, best: Best, tables: &[Arc<DeviceBuffer>]) -> Self {
        let table_bytes = bytes(&first.tables) + bytes(tables);
        Self { first, best: Some(best), table_bytes }
    }

    /// The best that are there.
    pub fn now(&self) -> &Loaded {
        let best = self.best.as_ref().and_then(|best| best.get());
        best.and_then(|best| best.as_ref().ok()).unwrap_or(&self.first)
    }

    /// Whether nothing better will come.
    pub fn is_settled(&self) -> bool {
        self.best.as_ref().is_none_or(|best| best.get().is_some())
    }

    /// Waits for the best.
    pub fn settled(&self) -> Result<&Loaded, Error> {
        match &self.best {
            Some(best) => best.wait().as_ref().map_err(Clone::clone),
            None => Ok(&self.first),
        }
    }

    /// Bytes of tables on the device.
    pub fn table_bytes(&self) -> u64 {
        self.table_bytes
    }
}

fn bytes(tables: &[Arc<DeviceBuffer>]) -> u64 {
    tables.iter().map(|table| table.bytes()).sum()
}
