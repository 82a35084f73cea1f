//! The readable form of a kernel.

mod names;
