//! CUDA graphs by the driver's own functions, as a program that owns streams and graphs would call them.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::ffi::{c_int, c_ulonglong, c_void};

use libloading::{Library, Symbol};

type Handle = *mut c_void;

/// Which calls are errors while a stream is captured.
#[derive(Clone, Copy)]
pub enum Capture {
    /// `CU_STREAM_CAPTURE_MODE_GLOBAL`: those of any thread that may not be captured. Other tests of the process may not
    /// allocate meanwhile.
    Global = 0,
    /// `CU_STREAM_CAPTURE_MODE_THREAD_LOCAL`: those of this thread.
    ThisThread = 1,
}

/// The driver's library, opened once more.
pub struct Graphs(Library);

/// A graph made ready to launch.
pub struct Graph<'a> {
    graphs: &'a Graphs,
    graph: Handle,
    ready: Handle,
}

impl Graphs {
    /// The driver's functions for graphs; `None` without a driver.
    pub fn open() -> Option<Self> {
        let names = if cfg!(windows) { &["nvcuda.dll"][..] } else { &["libcuda.so.1", "libcuda.so"][..] };
        // SAFETY: loading the driver's library runs its initialisers, which is what it is for.
        names.iter().find_map(|name| unsafe { Library::new(name) }.ok()).map(Self)
    }

    /// # Safety
    ///
    /// `F` is the signature of the driver's function of that name.
    unsafe fn symbol<F>(&self, name: &str) -> Symbol<'_, F> {
        // SAFETY: by this function's contract.
        unsafe { self.0.get(name.as_bytes()) }.unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Captures what is enqueued on a stream.
    ///
    /// # Safety
    ///
    /// A live stream, on which nothing else is enqueued meanwhile; its context is current.
    pub unsafe fn capture(&self, stream: Handle, mode: Capture, enqueue: impl FnOnce()) -> Graph<'_> {
        let (mut graph, mut ready) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the signatures are the documentation's; the stream is live, and there are places for the
        // answers.
        unsafe {
            let begin: Symbol<unsafe extern "system" fn(Handle, c_int) -> c_int> =
                self.symbol("cuStreamBeginCapture_v2\0");
            assert_eq!(begin(stream, mode as c_int), 0, "capture does not begin");
            enqueue();
            let end: Symbol<unsafe extern "system" fn(Handle, *mut Handle) -> c_int> =
                self.symbol("cuStreamEndCapture\0");
            assert_eq!(end(stream, &raw mut graph), 0, "something in the capture may not be captured");
            let instantiate: Symbol<unsafe extern "system" fn(*mut Handle, Handle, c_ulonglong) -> c_int> =
                self.symbol("cuGraphInstantiateWithFlags\0");
            assert_eq!(instantiate(&raw mut ready, graph, 0), 0, "the graph is not instantiated");
        }
        Graph { graphs: self, graph, ready }
    }

    /// Holds a context current on this thread while `work` runs.
    ///
    /// # Safety
    ///
    /// The context of the stream is alive.
    pub unsafe fn with_context_of(&self, stream: Handle, work: impl FnOnce()) {
        let (mut context, mut popped) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the signatures are the documentation's; a live stream, and places for the answers.
        unsafe {
            let get: Symbol<unsafe extern "system" fn(Handle, *mut Handle) -> c_int> =
                self.symbol("cuStreamGetCtx\0");
            assert_eq!(get(stream, &raw mut context), 0, "a stream has a context");
            let push: Symbol<unsafe extern "system" fn(Handle) -> c_int> =
                self.symbol("cuCtxPushCurrent_v2\0");
            assert_eq!(push(context), 0, "the context becomes current");
        }
        work();
        // SAFETY: as above.
        unsafe {
            let pop: Symbol<unsafe extern "system" fn(*mut Handle) -> c_int> =
                self.symbol("cuCtxPopCurrent_v2\0");
            assert_eq!(pop(&raw mut popped), 0, "the context was pushed");
        }
    }
}

impl Graph<'_> {
    /// How many nodes it has: one for each launch.
    pub fn nodes(&self) -> usize {
        let mut count = 0;
        // SAFETY: the signature is the documentation's; no places, so only the number is told.
        let code = unsafe {
            let nodes: Symbol<unsafe extern "system" fn(Handle, *mut Handle, *mut usize) -> c_int> =
                self.graphs.symbol("cuGraphGetNodes\0");
            nodes(self.graph, std::ptr::null_mut(), &raw mut count)
        };
        assert_eq!(code, 0, "a graph counts its nodes");
        count
    }

    /// Enqueues it.
    ///
    /// # Safety
    ///
    /// A live stream, and the memory that the captured work uses.
    pub unsafe fn launch(&self, stream: Handle) {
        // SAFETY: by this function's contract.
        let code = unsafe {
            let launch: Symbol<unsafe extern "system" fn(Handle, Handle) -> c_int> =
                self.graphs.symbol("cuGraphLaunch\0");
            launch(self.ready, stream)
        };
        assert_eq!(code, 0, "a graph is launched");
    }
}

impl Drop for Graph<'_> {
    fn drop(&mut self) {
        // SAFETY: both were made by `capture` and are destroyed once.
        unsafe {
            let destroy_ready: Symbol<unsafe extern "system" fn(Handle) -> c_int> =
                self.graphs.symbol("cuGraphExecDestroy\0");
            destroy_ready(self.ready);
            let destroy: Symbol<unsafe extern "system" fn(Handle) -> c_int> =
                self.graphs.symbol("cuGraphDestroy\0");
            destroy(self.graph);
        }
    }
}
