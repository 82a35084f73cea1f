//! Why a kernel is refused.

use crate::kernel::{Op, Type, Value};

/// Where in a kernel: the instruction's number, counted in the order of the text form with nested blocks in
/// place, and its operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Site {
    /// The instruction's number, from 0.
    pub inst: usize,
    /// What it does.
    pub op: Op,
}

impl std::fmt::Display for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "instruction {} ({})", self.inst, self.op)
    }
}

/// Why a kernel is refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum KernelError {
    /// A name that target languages would not take.
    #[error(
        "{what} is named {name:?}; a name is a letter or underscore, then letters, digits and underscores"
    )]
    Name {
        /// What bears the name.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// Two arrays of one name, or an array named as the kernel.
    #[error("the name {name:?} is taken twice; the kernel and its arrays need distinct names")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// A size of the launch or of an array is out of bounds.
    #[error("{what} is {value}; it must be {must}")]
    Size {
        /// Which size.
        what: &'static str,
        /// Its value.
        value: u64,
        /// What it must be.
        must: &'static str,
    },
    /// An array's elements are of a type that memory cannot hold.
    #[error("array {name:?} has elements of type {elem}; memory holds numbers only")]
    ElementType {
        /// The array.
        name: String,
        /// Its element type.
        elem: Type,
    },
    /// A value that the kernel has no type for.
    #[error("{at}: value %{} does not exist; the kernel has {known} values", value.0)]
    NoSuchValue {
        /// Where.
        at: Site,
        /// The value.
        value: Value,
        /// Values that the kernel has.
        known: usize,
    },
    /// A value is used before its definition, or outside the block that defines it.
    #[error("{at}: value %{} is used where it is not defined", value.0)]
    Undefined {
        /// Where.
        at: Site,
        /// The value.
        value: Value,
    },
    /// A value is defined a second time.
    #[error("{at}: value %{} is defined a second time", value.0)]
    Redefined {
        /// Where.
        at: Site,
        /// The value.
        value: Value,
    },
    /// A pointer type names an array that does not exist.
    #[error("{at}: value %{} points into an array that the kernel does not declare", value.0)]
    NoSuchArray {
        /// Where.
        at: Site,
        /// The pointer.
        value: Value,
    },
    /// Wrong number of arguments, results, blocks, parameters or yields.
    #[error("{at}: {what} number {got}, expected {expected}")]
    Count {
        /// Where.
        at: Site,
        /// What was counted.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        got: usize,
    },
    /// An argument, result, parameter or yield of a wrong type.
    #[error("{at}: {what} %{} is {got}, expected {expected}", value.0)]
    Type {
        /// Where.
        at: Site,
        /// Which of its values.
        what: &'static str,
        /// The value.
        value: Value,
        /// The type that it should have.
        expected: String,
        /// Its type.
        got: Type,
    },
    /// An access of a width that no device has.
    #[error("{at}: {width} elements of {elem} in one access; widths are 1, 2 and 4 up to 16 bytes")]
    Width {
        /// Where.
        at: Site,
        /// Elements.
        width: u8,
        /// Their type.
        elem: Type,
    },
    /// An access that the buffer's declaration forbids.
    #[error("{at}: {does} buffer {buffer:?}, which is declared {declared}")]
    Access {
        /// Where.
        at: Site,
        /// What it does: reads, writes.
        does: &'static str,
        /// The buffer.
        buffer: String,
        /// How it is declared.
        declared: &'static str,
    },
    /// A load through the read-only path from memory that the kernel writes, or a store through it.
    #[error("{at}: the read-only path serves loads from buffers declared `read`; use another cache policy")]
    ReadOnlyPath {
        /// Where.
        at: Site,
    },
    /// An operation between the blocks of a cluster in a kernel without clusters.
    #[error("{at}: needs a cluster of at least 2 blocks; this kernel's has 1")]
    NoCluster {
        /// Where.
        at: Site,
    },
    /// A wait for the launch before behind other instructions, which could have touched what that writes.
    #[error("{at}: must be the kernel's first instruction")]
    NotFirst {
        /// Where.
        at: Site,
    },
    /// The run's count in a kernel that says of no part that it may run.
    #[error("{at}: needs a kernel with a count; this one's launches always run whole")]
    NoCount {
        /// Where.
        at: Site,
    },
    /// A constant that its type cannot represent.
    #[error("{at}: {bits:#x} is no {ty}; constants are finite numbers that their type represents exactly")]
    Constant {
        /// Where.
        at: Site,
        /// Its bits.
        bits: u64,
        /// Its type.
        ty: Type,
    },
    /// An operation or type that the device lacks.
    #[error("{at}: {device} has no {ability}")]
    Unsupported {
        /// Where.
        at: Site,
        /// The device.
        device: String,
        /// What it lacks.
        ability: &'static str,
    },
    /// A buffer or shared array of a type that the device lacks.
    #[error("array {name:?} holds {elem}, and {device} has no {elem}")]
    UnsupportedArray {
        /// The array.
        name: String,
        /// Its element type.
        elem: Type,
        /// The device.
        device: String,
    },
    /// More of something than the device has.
    #[error("{what}: {value} wanted, and {device} has at most {limit}")]
    Limit {
        /// What is limited.
        what: &'static str,
        /// How much the kernel wants.
        value: u64,
        /// How much there is.
        limit: u64,
        /// The device.
        device: String,
    },
}
