//! The command line of warpfft.

fn main() {}
