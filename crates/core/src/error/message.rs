//! Parts of messages that take more than a line.

use crate::problem::Format;

/// What keeps reals and their complex numbers from lying in one place.
pub(super) fn in_place_reals(
    uneven: &Option<(i64, i64)>,
    along: &Option<(i64, i64)>,
    offsets: &(u64, u64),
    format: Format,
) -> String {
    match (uneven, along) {
        (Some((real, complex)), _) => {
            format!("a stride of {real} reals meets one of {complex} complex numbers")
        }
        (_, Some((real, complex))) => {
            format!("the halved dimension has strides {real} and {complex}, not 1 and 1")
        }
        _ if format != Format::Interleaved => format!("the complex side is {format:?}"),
        _ => format!("offset {} in reals meets {} in complex numbers", offsets.0, offsets.1),
    }
}

/// The axes that an array of so many dimensions has.
pub(super) fn valid_axes(rank: usize) -> String {
    match rank {
        0 => "none: the array has no axes".into(),
        _ => format!("-{rank} to {}", rank - 1),
    }
}
