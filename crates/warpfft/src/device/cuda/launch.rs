//! One launch of a kernel: what does not depend on the caller's pointers is made ready once.

use std::ffi::{c_uint, c_void};
use std::sync::Arc;

use warpfft_core::kernel::AtRun;

use super::assemble::Module;
use super::context::Context;
use super::driver::{
    Address, CLUSTER_DIMENSION, CLUSTER_SCHEDULING, Handle, LOAD_BALANCING, LaunchAttribute, LaunchConfig,
    PROGRAMMATIC_SERIALIZATION,
};
use crate::error::Error;

/// Buffers that one kernel may have.
pub(super) const MAX_BUFFERS: usize = 16;

/// Blocks of clusters with more shared memory than this count as large.
const SHARED_OF_LARGE_BLOCKS: c_uint = 48 * 1024;

/// One launch with all that does not depend on the caller's pointers.
pub(super) struct Launch {
    pub module: Arc<Module>,
    pub blocks: c_uint,
    pub threads: c_uint,
    pub cluster: c_uint,
    /// Which blocks a run with a count has.
    pub at_run: Option<AtRun>,
    /// It may begin while the launch before it ends.
    pub early: bool,
    pub shared: c_uint,
    /// One for each of the kernel's buffers, at most [`MAX_BUFFERS`].
    pub arguments: Vec<Argument>,
}

/// Where the address of a kernel's buffer comes from.
#[derive(Clone, Copy)]
pub(super) enum Argument {
    Input(usize),
    Output(usize),
    Filter,
    Workspace(u64),
    Fixed(Address),
}

/// Device addresses of one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pointers {
    pub input: [Address; 2],
    pub output: [Address; 2],
    /// 0 where the problem has none.
    pub filter: Address,
    pub workspace: Address,
}

impl Launch {
    /// Enqueues it for a part of the problem with that count; `None`: for all of it.
    ///
    /// # Safety
    ///
    /// The arguments are those that the kernel takes. The context is current, and the stream is one of it or of the same
    /// device's primary context. The addresses are of memory on this device that holds what the part and the workspace
    /// span, until the work is done.
    pub unsafe fn enqueue(
        &self,
        context: &Context,
        stream: Handle,
        pointers: &Pointers,
        count: Option<u32>,
    ) -> Result<(), Error> {
        let mut values = [0 as Address; MAX_BUFFERS];
        for (value, &argument) in values.iter_mut().zip(&self.arguments) {
            *value = match argument {
                Argument::Input(plane) => pointers.input[plane],
                Argument::Output(plane) => pointers.output[plane],
                Argument::Filter => pointers.filter,
                Argument::Workspace(offset) => pointers.workspace + offset,
                Argument::Fixed(address) => address,
            };
        }
        let mut places = [std::ptr::null_mut::<c_void>(); MAX_BUFFERS + 1];
        for (place, value) in places.iter_mut().zip(&mut values) {
            *place = std::ptr::from_mut(value).cast();
        }
        let mut given = self.at_run.map_or(0, |at_run| count.unwrap_or(at_run.most));
        let part = self.at_run.map(|at_run| at_run.blocks_at(given) as c_uint);
        if part.is_some() {
            places[self.arguments.len()] = std::ptr::from_mut(&mut given).cast();
        }
        let blocks = part.unwrap_or(self.blocks);
        // SAFETY: by this function's contract; the count stands behind the arguments where the kernel takes one.
        unsafe { self.call(context, blocks, stream, &mut places) }
    }

    /// # Safety
    ///
    /// As [`Launch::enqueue`]; `places` point to the kernel's arguments.
    unsafe fn call(
        &self,
        context: &Context,
        blocks: c_uint,
        stream: Handle,
        places: &mut [*mut c_void; MAX_BUFFERS + 1],
    ) -> Result<(), Error> {
        let driver = context.driver;
        let (function, arguments, none) = (self.module.function, places.as_mut_ptr(), std::ptr::null_mut());
        if self.cluster <= 1 && !self.early {
            let (threads, shared) = (self.threads, self.shared);
            // SAFETY: by this function's contract.
            let code = unsafe {
                (driver.cuLaunchKernel)(
                    function, blocks, 1, 1, threads, 1, 1, shared, stream, arguments, none,
                )
            };
            return context.check("cuLaunchKernel", code);
        }
        let attribute = |id| LaunchAttribute { id, pad: 0, value: [0; 16] };
        let mut attributes = [attribute(0), attribute(0), attribute(0)];
        let mut count = 0;
        let mut set = |id, values: &[c_uint]| {
            attributes[count] = attribute(id);
            attributes[count].value[..values.len()].copy_from_slice(values);
            count += 1;
        };
        if self.early {
            set(PROGRAMMATIC_SERIALIZATION, &[1]);
        }
        if self.cluster > 1 {
            set(CLUSTER_DIMENSION, &[self.cluster, 1, 1]);
            // Where few blocks fit a multiprocessor, spreading clusters out evenly gained 4%.
            if self.shared > SHARED_OF_LARGE_BLOCKS {
                set(CLUSTER_SCHEDULING, &[LOAD_BALANCING]);
            }
        }
        let config = LaunchConfig {
            grid: [blocks, 1, 1],
            block: [self.threads, 1, 1],
            shared: self.shared,
            stream,
            attributes: attributes.as_mut_ptr(),
            count: count as c_uint,
        };
        // SAFETY: by this function's contract; configuration and attributes live through the call.
        let code = unsafe { (driver.cuLaunchKernelEx)(&raw const config, function, arguments, none) };
        context.check("cuLaunchKernelEx", code)
    }
}
