//! The one error type of the compiler. Every variant carries what was expected, what was given and what would
//! work.

mod message;
mod place;

pub use place::{Side, Tensor};

use message::{in_place_reals, valid_axes};

/// Why a request, a plan or a kernel was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A dimension has no points.
    #[error("{tensor} dimension {axis} has length 0; every length must be at least 1")]
    EmptyDimension {
        /// Which tensor.
        tensor: Tensor,
        /// Which of its dimensions, as given.
        axis: usize,
    },
    /// More elements than can be addressed.
    #[error(
        "the {tensor} dimensions up to {axis} hold more than {limit} elements, which is what 63-bit byte addresses \
         reach; make the lengths smaller or split the work"
    )]
    TooManyElements {
        /// Tensor in which the product went over.
        tensor: Tensor,
        /// Dimension at which it went over.
        axis: usize,
        /// Elements at most.
        limit: u64,
    },
    /// An element lies before the start of its buffer.
    #[error(
        "the lowest {side} element lies at {lowest}, before the buffer; with these strides the {side} offset must be \
         at least {needed_offset}"
    )]
    BelowBuffer {
        /// Input or output.
        side: Side,
        /// Its lowest address in elements.
        lowest: i128,
        /// The smallest offset that works.
        needed_offset: i128,
    },
    /// An element lies too far from the start of its buffer.
    #[error(
        "the highest {side} element lies at {highest}; at most {limit} can be addressed: use smaller strides"
    )]
    AddressOverflow {
        /// Input or output.
        side: Side,
        /// Its highest address in elements.
        highest: i128,
        /// The highest address allowed.
        limit: u64,
    },
    /// A dimension of several points writes all of them to one place.
    #[error(
        "{tensor} dimension {axis} has {n} points and output stride 0, so they overwrite each other; \
         give a stride other than 0 (an input stride of 0 is allowed out of place)"
    )]
    ZeroOutputStride {
        /// Which tensor.
        tensor: Tensor,
        /// Which of its dimensions, as given.
        axis: usize,
        /// Its length.
        n: u64,
    },
    /// Two outputs have the same address.
    #[error("two outputs share element {address} of the output; choose output strides that keep them apart")]
    OutputOverlap {
        /// The shared element.
        address: u64,
    },
    /// The strides are interleaved so that only a search could tell whether addresses collide, and it is too big.
    #[error(
        "the {side} strides interleave over {elements} elements and at most {limit} are searched for collisions; \
         nested strides (each larger than the extent of all smaller ones) of any size work"
    )]
    UndecidedOverlap {
        /// Input or output.
        side: Side,
        /// Elements to search.
        elements: u64,
        /// Elements that would be searched.
        limit: u64,
    },
    /// In place, but the output would be written in another format than the input was read in.
    #[error(
        "in place needs one format, not {input:?} input and {output:?} output; use the same for both, or transform \
         out of place"
    )]
    InPlaceFormats {
        /// Format of the input.
        input: crate::problem::Format,
        /// Format of the output.
        output: crate::problem::Format,
    },
    /// In place, but the output would be kept in another type than the input.
    #[error(
        "in place needs one type in memory, not {input} input and {output} output; use the same for both, or transform \
         out of place"
    )]
    InPlaceStorage {
        /// How the input keeps numbers.
        input: crate::problem::Storage,
        /// How the output keeps numbers.
        output: crate::problem::Storage,
    },
    /// Sums of the largest numbers in memory overflow as they are computed.
    #[error(
        "sums of the largest {storage} numbers overflow in {precision:?} arithmetic, so that no scale fits them all; \
         compute in double precision (f16, bf16 and f32 fit), or leave the scale to the data"
    )]
    NoHeadroom {
        /// How the input keeps numbers.
        storage: crate::problem::Storage,
        /// What is computed in.
        precision: crate::problem::Precision,
    },
    /// No such type in memory.
    #[error("numbers cannot be kept as '{given}'; use one of: f16, bf16, f32, f64")]
    UnknownStorage {
        /// What was given.
        given: String,
    },
    /// In place, but the elements written are not the elements read.
    #[error(
        "in place must write exactly the elements that it reads, but element {address} is only in the {side}; use \
         equal input and output strides and offsets, or transform out of place"
    )]
    InPlaceAddresses {
        /// The lowest element that belongs to one side alone.
        address: u64,
        /// The side that it belongs to.
        side: Side,
    },
    /// A side whose format does not go with the kind of transform.
    #[error(
        "the {side} of this kind is {}, not {got:?}; {}",
        if *real { "real" } else { "complex" },
        if *real { "give it as Format::Real" } else { "Format::Interleaved or Format::Planar work" }
    )]
    KindFormat {
        /// Input or output.
        side: Side,
        /// Whether it is real by its kind.
        real: bool,
        /// The format given.
        got: crate::problem::Format,
    },
    /// A length that the kind of transform is not defined for.
    #[error("{kind} of length {n} is not defined; at least {least} points work")]
    KindLength {
        /// The kind's name.
        kind: &'static str,
        /// The length.
        n: u64,
        /// The least that works.
        least: u64,
    },
    /// As many kinds must be given as there are transformed dimensions.
    #[error(
        "{got} kinds were given for {expected} transformed dimensions; give exactly {expected}, or one for all"
    )]
    KindCount {
        /// Transformed dimensions.
        expected: usize,
        /// Kinds given.
        got: usize,
    },
    /// Complex dimensions beside those from reals to reals.
    #[error(
        "a transform from reals to reals has {complex} complex dimensions beside; give each dimension a kind from reals \
         to reals, or transform in two steps"
    )]
    MixedKinds {
        /// Complex dimensions.
        complex: usize,
    },
    /// Nothing to halve.
    #[error(
        "a transform between reals and complex numbers needs a dimension to halve; name at least one axis"
    )]
    NoHalvedAxis,
    /// Reals and complex numbers that do not lie in place as FFTW has them.
    #[error(
        "in place, {n} reals lie where their {} interleaved complex numbers do, one after the other, and every other \
         stride in reals is twice that in complex numbers: {}; pad the rows to {} reals, or transform out of place",
        crate::problem::half(*n), in_place_reals(uneven, along, offsets, *format), 2 * crate::problem::half(*n)
    )]
    InPlaceReals {
        /// Length of the halved dimension.
        n: u64,
        /// Strides of another dimension, in reals and in complex numbers, that do not agree.
        uneven: Option<(i64, i64)>,
        /// Strides of the halved dimension where they are not both 1.
        along: Option<(i64, i64)>,
        /// Offsets in reals and in complex numbers.
        offsets: (u64, u64),
        /// Format of the complex side.
        format: crate::problem::Format,
    },
    /// A count was given where every run takes the whole batch.
    #[error(
        "a count of {count} was given, but this problem always runs all its {n} transforms; ask for it with any_batch(), \
         or mark a batch dimension by Dim::at_run"
    )]
    CountFixed {
        /// The count.
        count: u64,
        /// Transforms of every run.
        n: u64,
    },
    /// More than a plan was made for, or nothing.
    #[error("a count of {count} was given; this problem takes 1 to {most}{}",
        if *count == 0 { "" } else { ": make the plan for the most that there will be" })]
    Count {
        /// The count.
        count: u64,
        /// The most that works.
        most: u64,
    },
    /// In place, the dimension whose count is given at each run moves.
    #[error(
        "in place, the batch dimension whose count is given at each run must keep its stride, not read at {is} and write \
         at {os}: a part of the batch would overwrite the rest; use one stride, or transform out of place"
    )]
    CountInPlace {
        /// Input stride.
        is: i64,
        /// Output stride.
        os: i64,
    },
    /// A transformed dimension whose count would be given at each run.
    #[error(
        "the length of a transformed dimension cannot be given at each run; mark a batch dimension instead"
    )]
    CountTransform,
    /// Several dimensions whose counts would be given at each run.
    #[error("{dims} dimensions have their count given at each run; one can")]
    CountTwice {
        /// Such dimensions.
        dims: usize,
    },
    /// Nothing is repeated, so that no count could be given.
    #[error(
        "any_batch() needs a batch dimension, whose count it leaves open; say how many at most by batch(n)"
    )]
    CountNothing,
    /// A dimension that is too long to have its count given at each run.
    #[error("a batch dimension whose count is given at each run has {n} points; at most {limit} work")]
    CountLimit {
        /// Its length.
        n: u64,
        /// The most that works.
        limit: u64,
    },
    /// A band that is for another number of samples than the line has.
    #[error("the band is for {band} samples, but the line has {n}; make it for {n}")]
    ZoomSamples {
        /// Samples of the band.
        band: u64,
        /// Samples of the line.
        n: u64,
    },
    /// A number of frequencies that cannot be.
    #[error("{points} frequencies were asked for; 1 to {most} work")]
    ZoomPoints {
        /// Frequencies.
        points: u64,
        /// The most that works.
        most: u64,
    },
    /// A frequency that is not one.
    #[error(
        "a frequency of {frequency} cycles per sample was given; numbers from -{limit} to {limit} work (all in -0.5 to 0.5 are distinct)"
    )]
    ZoomFrequency {
        /// The number.
        frequency: f64,
        /// The highest that works.
        limit: f64,
    },
    /// More axes than one, or none.
    #[error("a zoom goes along one axis, not {axes}; zoom along one, then along the next")]
    ZoomAxes {
        /// Axes.
        axes: usize,
    },
    /// A zoom in place.
    #[error("a zoom has other points than samples and cannot be in place; transform out of place")]
    ZoomInPlace,
    /// A function that looks at the index along a dimension that is not there.
    #[error("a function looks at the index along dimension {dim}, but there are {dims}, counted from 0")]
    FunctionDimension {
        /// The dimension.
        dim: usize,
        /// Dimensions that there are.
        dims: usize,
    },
    /// A function that looks at the index along a dimension that is too long.
    #[error("a function looks at the index along a dimension of {n} points; up to {limit} work")]
    FunctionLength {
        /// The dimension.
        dim: usize,
        /// Its length.
        n: u64,
        /// The most that works.
        limit: u64,
    },
    /// A function of too many operations.
    #[error(
        "a function has more than {limit} operations; apply part of it by a pass of your own, or simplify it"
    )]
    FunctionNodes {
        /// The most that works.
        limit: usize,
    },
    /// A function with a number that is not finite.
    #[error("a function has the constant {value}; numbers that the precision of the problem holds work")]
    FunctionConstant {
        /// The number.
        value: f64,
    },
    /// A function made of another one's symbols.
    #[error("a function uses symbols of another closure; use those that it is called with")]
    FunctionForeign,
    /// The scale is infinite or not a number.
    #[error("scale {scale} is not finite; any finite factor works, 1 leaves results unscaled")]
    Scale {
        /// The scale.
        scale: f64,
    },
    /// A filter on what is no forward transform of complex numbers, kept as they are computed.
    #[error(
        "factors of the frequencies belong to a complex problem in forward direction, which goes there and back, its \
         numbers kept in the type that is computed in; give real data as Format::Real"
    )]
    FilterKind,
    /// Two things that no plan does together yet.
    #[error("{one} and {other} do not go together in one plan yet; {would_work}")]
    Together {
        /// One of them.
        one: &'static str,
        /// The other.
        other: &'static str,
        /// What would work.
        would_work: &'static str,
    },
    /// A filter without frequencies.
    #[error("factors of the frequencies need a dimension of at least 2 points to transform; pad one to 2")]
    FilterPoints,
    /// A block that a dimension cannot go by.
    #[error(
        "transform dimension {axis} cannot go in blocks of {points} points with a kernel of {kernel}: {reason}"
    )]
    Block {
        /// Transform dimension.
        axis: usize,
        /// Points of a block.
        points: u64,
        /// Points of the kernel.
        kernel: u64,
        /// What stands in the way.
        reason: &'static str,
    },
    /// A convolution whose arrays do not go together.
    #[error("a convolution of {image:?} with a kernel of {kernel:?}: {reason}")]
    Convolution {
        /// Shape of the image.
        image: Vec<u64>,
        /// Shape of the kernel.
        kernel: Vec<u64>,
        /// What does not go together, and what would.
        reason: String,
    },
    /// A window that the dimension has not.
    #[error(
        "the {side} window of transform dimension {axis} has {len} points from {start} on, of {n}; a window has 1 to {n} \
         points and starts at one of 0 to {}", n - 1
    )]
    Window {
        /// Input or output.
        side: Side,
        /// Which of the transform dimensions, as given.
        axis: usize,
        /// Points of the transform.
        n: u64,
        /// First point of the window.
        start: u64,
        /// Points of the window.
        len: u64,
    },
    /// As many windows must be given as there are transform dimensions.
    #[error(
        "{got} windows were given for {expected} transformed dimensions; give exactly {expected}, or none"
    )]
    WindowCount {
        /// Transformed dimensions.
        expected: usize,
        /// Windows given.
        got: usize,
    },
    /// A window on an axis that is not transformed.
    #[error(
        "axis {axis} is not transformed and has no window; leave it at its {n} points, or address fewer of them by strides"
    )]
    WindowAxis {
        /// The axis of the shape.
        axis: usize,
        /// Its points.
        n: u64,
    },
    /// Windows on a kind of transform that has none yet.
    #[error(
        "zooms have no windows (padding, cropping, shifts); ask for fewer samples, or for the frequencies that are wanted"
    )]
    WindowKind,
    /// A window of half a spectrum that does not start with frequency 0.
    #[error(
        "the {side} is half a spectrum along an axis of {n} frequencies, and its window starts at {start}: it has no middle \
         to shift, and what wraps is not there; start at 0, shift the other axes one by one with window(), or ask for \
         full_spectrum()"
    )]
    WindowHalved {
        /// The side of the spectrum.
        side: Side,
        /// Frequencies of half a spectrum.
        n: u64,
        /// First point of the window.
        start: u64,
    },
    /// Windows in place of half spectra.
    #[error("transforms between reals and half spectra have no windows in place; transform out of place")]
    WindowInPlace,
    /// As many strides must be given as there are dimensions.
    #[error("{got} {side} strides were given for {expected} dimensions; give exactly {expected}")]
    StrideCount {
        /// Input or output.
        side: Side,
        /// Dimensions of the array.
        expected: usize,
        /// Strides given.
        got: usize,
    },
    /// An axis that the array does not have.
    #[error("axis {axis} is out of range for {rank} dimensions; valid are {}", valid_axes(*rank))]
    AxisOutOfRange {
        /// The axis.
        axis: i64,
        /// Dimensions of the array.
        rank: usize,
    },
    /// An axis named twice.
    #[error(
        "axis {axis} is named more than once; each axis can be transformed once (negative axes count from the end)"
    )]
    AxisRepeated {
        /// The axis, counted from 0.
        axis: usize,
    },
    /// The device lacks a resource that the plan needs.
    #[error(
        "{what} needs {needed}, the device has {available}; a smaller transform or a larger device works"
    )]
    DeviceTooSmall {
        /// The resource, with its unit.
        what: String,
        /// How much is needed.
        needed: u64,
        /// How much there is.
        available: u64,
    },
    /// An allocation failed.
    #[error("device {device} has no {bytes} bytes left; free memory, or use a smaller batch")]
    OutOfMemory {
        /// The device.
        device: String,
        /// Bytes asked for.
        bytes: u64,
    },
    /// Something that a device cannot do.
    #[error("{what} is not supported by {device}; {would_work}")]
    Unsupported {
        /// What was asked.
        what: String,
        /// The device.
        device: String,
        /// What to ask instead.
        would_work: String,
    },
    /// Less workspace is allowed than any schedule needs.
    #[error(
        "at most {allowed} bytes of workspace are allowed; {needed} are the least that works for this problem on \
         this device"
    )]
    Workspace {
        /// The least that works, in bytes.
        needed: u64,
        /// Bytes allowed.
        allowed: u64,
    },
    /// A recipe that is not offered for the problem on the device.
    #[error("the recipe does not fit: {detail}; leave it out, or tune anew")]
    Recipe {
        /// What does not fit.
        detail: String,
    },
    /// No plan fits the problem on the device.
    #[error("no plan for {problem}: {reason}; {would_work}")]
    Plan {
        /// The problem, in short.
        problem: String,
        /// What stood in the way.
        reason: String,
        /// What to ask instead.
        would_work: String,
    },
    /// A strategy that does not do what was asked.
    #[error("the strategy {name} does not cover {asked}; it covers {covers}")]
    Strategy {
        /// The strategy's name.
        name: &'static str,
        /// What was asked, in short.
        asked: String,
        /// The problems that it covers.
        covers: &'static str,
    },
    /// A strategy without kernels, for a device that runs kernels.
    #[error("the strategy {name} is a program for the processor and has no kernels; use device 'cpu'")]
    StrategyOnProcessor {
        /// The strategy's name.
        name: &'static str,
    },
    /// A parameter that a strategy does not take, or not of that value.
    #[error("the strategy {name} takes no parameter '{given}'; it takes {allowed}")]
    StrategyParameter {
        /// The strategy's name.
        name: &'static str,
        /// What was given.
        given: String,
        /// Its parameters with their ranges.
        allowed: String,
    },
    /// No such strategy.
    #[error("there is no strategy '{given}'; there are {}", known.join(", "))]
    UnknownStrategy {
        /// What was given.
        given: String,
        /// The names that there are.
        known: Vec<&'static str>,
    },
}
