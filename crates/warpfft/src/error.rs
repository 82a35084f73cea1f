//! The errors of devices and plans. Every variant says what was wrong, with which value, and what would work.

use warpfft_core::problem::{Format, Placement, Storage};

use crate::configured::ConfigureError;
use crate::device::DeviceKind;

/// Which of the caller's buffers is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Which {
    /// The input.
    Input,
    /// The output; in place, the one buffer.
    Output,
    /// The factors of the frequencies.
    Filter,
    /// The workspace.
    Workspace,
}

impl std::fmt::Display for Which {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Input => "input",
            Self::Output => "output",
            Self::Filter => "filter",
            Self::Workspace => "workspace",
        })
    }
}

/// Why a device could not be opened, a plan could not be made, or a transform could not be run.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The problem was refused, or no plan for it exists within the device's limits.
    #[error(transparent)]
    Core(#[from] warpfft_core::Error),

    /// A configuration, or a place in its arrays, that does not fit together.
    #[error(transparent)]
    Configure(#[from] ConfigureError),

    /// No such kind of device.
    #[error("unknown device '{given}'; use one of: auto, cuda, wgpu, opencl, cpu, sim")]
    UnknownDevice {
        /// What was given.
        given: String,
    },

    /// A device of this kind is not there, or cannot be used.
    #[error("device {kind} is not usable: {reason}; '{would_work}' is always there")]
    DeviceAbsent {
        /// The kind that was asked for.
        kind: DeviceKind,
        /// What was missing.
        reason: String,
        /// A kind that works on every machine.
        would_work: DeviceKind,
    },

    /// Support for this kind of device was not built in.
    #[error(
        "this build of warpfft has no {kind} support; build it with the feature '{kind}', or use device 'cpu'"
    )]
    NotBuilt {
        /// The kind that was asked for.
        kind: DeviceKind,
    },

    /// There are fewer devices of this kind.
    #[error("{kind} device {ordinal} was asked for, but there are {count}; the first is 0")]
    NoSuchOrdinal {
        /// The kind that was asked for.
        kind: DeviceKind,
        /// Which one was asked for.
        ordinal: u32,
        /// How many there are.
        count: u32,
    },

    /// The device's memory does not hold what is needed.
    #[error("{device} is out of memory: {bytes} bytes were asked for{}", free_text(.free))]
    OutOfMemory {
        /// The device's name.
        device: String,
        /// Bytes of the allocation that failed.
        bytes: u64,
        /// Bytes that are free, where the device tells.
        free: Option<u64>,
    },

    /// One of the caller's buffers cannot hold what the problem spans.
    #[error(
        "the {which} buffer (plane {plane}) holds {got} {unit}, but the problem spans {needed}; \
         hand over at least {needed}"
    )]
    BufferTooSmall {
        /// Which buffer.
        which: Which,
        /// Plane 0 or 1.
        plane: u8,
        /// What is counted: complex elements, reals or bytes.
        unit: &'static str,
        /// At least so many are needed.
        needed: u64,
        /// So many were given.
        got: u64,
    },

    /// An address on the device is not a multiple of what the kernels' widest access needs.
    #[error("the {which} address {address:#x} is not a multiple of {align}; align it, as allocators do")]
    Misaligned {
        /// Which buffer.
        which: Which,
        /// Its address.
        address: u64,
        /// What it must be a multiple of.
        align: u64,
    },

    /// A problem with factors of the frequencies was run without them, or the other way round.
    #[error(
        "{}", if *expected {
            "the problem multiplies by factors of the frequencies; hand them over by run_filtered or enqueue_cuda_filtered"
        } else {
            "the problem has no factors of the frequencies; run it without, or give it a filter"
        }
    )]
    Filter {
        /// Whether the problem has them.
        expected: bool,
    },

    /// Interleaved data for a planar problem, or the other way round.
    #[error("the problem's {which} is {expected:?}, but {got:?} data was handed over")]
    WrongFormat {
        /// Which buffer.
        which: Which,
        /// What the problem says.
        expected: Format,
        /// What was given.
        got: Format,
    },

    /// Numbers of another type.
    #[error("the problem keeps its {which} in {expected}, but {got} data was handed over")]
    WrongStorage {
        /// Which buffer.
        which: Which,
        /// What the problem says.
        expected: Storage,
        /// What was given.
        got: Storage,
    },

    /// A finite number beyond those of double-single arithmetic.
    #[error(
        "the {which} holds {value:e} in element {element} of plane {plane}, and pairs of singles hold up to 3.4e38: \
         scale the data, or use f64"
    )]
    Range {
        /// Which array.
        which: Which,
        /// Which plane of it; 0 for interleaved data and reals.
        plane: u8,
        /// The element: complex, or real where the array is of reals.
        element: u64,
        /// The number.
        value: f64,
    },

    /// An in-place call on an out-of-place plan, or the other way round.
    #[error("the plan is {expected:?}; call {} instead", placement_call(.expected))]
    WrongPlacement {
        /// What the problem says.
        expected: Placement,
    },

    /// The problem's addresses are impossible; a validated problem never is.
    #[error(
        "the {which} of the problem reaches element {element}, outside of 0..{}; change offset or strides",
        warpfft_core::problem::ELEMENT_LIMIT
    )]
    Address {
        /// Which buffer.
        which: Which,
        /// The element that cannot be addressed.
        element: i128,
    },

    /// The device cannot do what the problem or a kernel needs.
    #[error("{device} cannot do {what}; {would_work}")]
    Unsupported {
        /// The device's name.
        device: String,
        /// What is missing.
        what: String,
        /// What would work.
        would_work: String,
    },

    /// A kernel could not be turned into the device's language.
    #[error("kernel {kernel} has no text for {device}: {reason}")]
    Emit {
        /// The kernel's name.
        kernel: String,
        /// The device's name.
        device: String,
        /// What the emitter said.
        reason: String,
    },

    /// The device's own compiler refused a kernel.
    #[error("{device} refused kernel {kernel}: {log}")]
    Compile {
        /// The device's name.
        device: String,
        /// The kernel's name.
        kernel: String,
        /// What the compiler said.
        log: String,
    },

    /// A call of the driver failed.
    #[error("{device}: {call} failed with {name} ({code})")]
    Driver {
        /// The device's name.
        device: String,
        /// The driver's function.
        call: &'static str,
        /// The driver's name of the error.
        name: String,
        /// Its number.
        code: i32,
    },

    /// The device is gone, or an earlier fault has made it unusable.
    #[error("{device} was lost: {detail}; open the device anew")]
    DeviceLost {
        /// The device's name.
        device: String,
        /// What the driver said.
        detail: String,
    },

    /// The device's validation refused a command.
    #[error("{device} refused a command: {detail}")]
    Validation {
        /// The device's name.
        device: String,
        /// What it said.
        detail: String,
    },

    /// The simulator found a fault in a kernel: an error of this library, not of the caller.
    #[error("simulated kernel {kernel} is at fault: {fault}")]
    Fault {
        /// The kernel's name.
        kernel: String,
        /// What the simulator found.
        fault: String,
    },

    /// The plan belongs to another kind of device than the call is for.
    #[error("this plan runs on {got}, but the call needs a plan for {expected}")]
    WrongDevice {
        /// What the call needs.
        expected: DeviceKind,
        /// What the plan was made for.
        got: DeviceKind,
    },

    /// Another library, to measure beside, is not there.
    #[error("{library} is not there: {reason}{}", variable_text(.variable))]
    PeerAbsent {
        /// The library.
        library: &'static str,
        /// What is missing.
        reason: String,
        /// The environment variable that may name its file; empty where that would not help.
        variable: String,
    },

    /// A call of another library failed.
    #[error("{library}: {call} failed with code {code}")]
    Peer {
        /// The library.
        library: &'static str,
        /// Its function.
        call: &'static str,
        /// What it returned.
        code: i32,
    },

    /// A file of wisdom is damaged, or of another version.
    #[error("wisdom {path}, line {line}: {detail}")]
    Wisdom {
        /// The file.
        path: String,
        /// The line that is wrong.
        line: usize,
        /// What is wrong.
        detail: String,
    },

    /// A file of wisdom cannot be read or written.
    #[error("cannot {} wisdom {path}: {reason}", if *.written { "write" } else { "read" })]
    WisdomFile {
        /// The file.
        path: String,
        /// Whether it was to be written.
        written: bool,
        /// What the system said.
        reason: String,
    },

    /// An entry of wisdom whose recipe this version does not understand.
    #[error("the recipe for {problem} is of another version: {detail}; tune anew")]
    Recipe {
        /// The problem.
        problem: String,
        /// What is not understood.
        detail: String,
    },

    /// A plan wrote what is not its problem's to write: an error of this library, or of a program made elsewhere.
    #[error(
        "the plan wrote {unit} {element} of its output (plane {plane}), which is not the problem's to write; \
         of {inside} that it spans, that one lies {}",
        stray_text(*.element, *.inside)
    )]
    Stray {
        /// Plane 0 or 1.
        plane: u8,
        /// What is counted: complex element or real.
        unit: &'static str,
        /// The first that changed.
        element: u64,
        /// So many does the problem span in the output.
        inside: u64,
    },

    /// The program does not hang together: an index names nothing, or a binding is too short.
    #[error("the program is malformed: {detail}")]
    Program {
        /// What does not fit.
        detail: String,
    },
}

impl Error {
    /// Whether another device might work where this one did not.
    pub fn is_about_device(&self) -> bool {
        matches!(
            self,
            Self::DeviceAbsent { .. }
                | Self::NotBuilt { .. }
                | Self::NoSuchOrdinal { .. }
                | Self::OutOfMemory { .. }
                | Self::Unsupported { .. }
                | Self::Driver { .. }
                | Self::DeviceLost { .. }
        )
    }
}

fn free_text(free: &Option<u64>) -> String {
    free.map_or_else(String::new, |free| format!(", {free} are free; use a smaller batch, or another device"))
}

fn stray_text(element: u64, inside: u64) -> &'static str {
    if element < inside { "between its own" } else { "behind them" }
}

fn variable_text(variable: &str) -> String {
    if variable.is_empty() { String::new() } else { format!("; install it, or set {variable} to its file") }
}

fn placement_call(expected: &Placement) -> &'static str {
    match expected {
        Placement::InPlace => "run_in_place",
        Placement::OutOfPlace => "run_host",
    }
}
