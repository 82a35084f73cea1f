//! What does not fit together.

use super::Domain;

/// Why a configuration, or a place in its arrays, was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigureError {
    /// No dimensions, or more than a mask has bits for.
    #[error("data of {given} dimensions were configured; 1 to 63 are possible")]
    Dimensions {
        /// How many were given.
        given: usize,
    },
    /// A mask of no dimension, or of one that is not there.
    #[error("the mask {mask:#b} names no dimension, or one that is not there; use bits of {all:#b}")]
    Mask {
        /// What was given.
        mask: u64,
        /// The mask of all dimensions.
        all: u64,
    },
    /// Frequencies of which only real parts would be kept.
    #[error("frequencies are complex numbers: ask for them interleaved or planar; spatial data may be real")]
    RealFrequencies,
    /// An array that does not hold the data.
    #[error(
        "the {domain} array's extents {given:?} do not hold data of {size:?}; give the points of a row, or an extent for \
         each dimension, none of them less and all together below 2^60"
    )]
    Extents {
        /// Of which domain.
        domain: Domain,
        /// What was given.
        given: Vec<u64>,
        /// What is to lie in it.
        size: Vec<u64>,
    },
    /// No channels.
    #[error("the {domain} array has 0 channels; give 1 or more")]
    Channels {
        /// Of which domain.
        domain: Domain,
    },
    /// A rectangle that goes beyond its array.
    #[error(
        "a rectangle of {size:?} at {origin:?} is not within the {domain} array's {extents:?}; begin at {last:?} or before, \
         with a number for each dimension"
    )]
    Origin {
        /// Of which domain.
        domain: Domain,
        /// What was given.
        origin: Vec<u64>,
        /// The data's size.
        size: Vec<u64>,
        /// The array's extents; those of the data along the first dimension where the rows alone were configured, as the
        /// array may then have any number.
        extents: Vec<u64>,
        /// The last place where it may begin.
        last: Vec<u64>,
    },
    /// A channel that is not there.
    #[error(
        "channel {channel} of the {domain} array was asked for; there are {channels}, and the first is 0"
    )]
    Channel {
        /// Of which domain.
        domain: Domain,
        /// What was given.
        channel: u64,
        /// How many there are.
        channels: u64,
    },
}
