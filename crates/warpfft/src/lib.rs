//! Fourier transforms of any shape, layout and precision on any GPU.

pub use warpfft_core as core;
