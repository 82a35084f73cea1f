//! Where in a problem something is wrong.

use std::fmt;

/// Which tensor of a problem a dimension belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tensor {
    /// The dimensions to transform.
    Transform,
    /// The dimensions to repeat over.
    Batch,
}

/// Which end of a transform an address or a buffer belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// What is read.
    Input,
    /// What is written.
    Output,
    /// The factors of the frequencies.
    Filter,
    /// The scratch memory between passes.
    Workspace,
}

impl fmt::Display for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Transform => "transform",
            Self::Batch => "batch",
        })
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Input => "input",
            Self::Output => "output",
            Self::Filter => "filter",
            Self::Workspace => "workspace",
        })
    }
}
