//! The one error type of the compiler. Every variant carries what was expected, what was given and what would
//! work.

/// Why a request, a plan or a kernel was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A dimension has no points.
    #[error("dimension {axis} has length 0; every length must be at least 1")]
    EmptyDimension {
        /// Which dimension.
        axis: usize,
    },
    /// a
    #[error("{reason}")]
    Plan {
        /// a
        reason: String,
    },
    /// b
    #[error("{device}: {what} {needed} {available}")]
    DeviceTooSmall {
        /// a
        device: String,
        /// a
        what: String,
        /// a
        needed: u64,
        /// a
        available: u64,
    },
    /// c
    #[error("{device}: {what} {would_work}")]
    Unsupported {
        /// a
        what: String,
        /// a
        device: String,
        /// a
        would_work: String,
    },
}
