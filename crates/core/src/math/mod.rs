//! Numbers only: factors, modular arithmetic, roots of unity, and the reference transform in higher precision.
//!
//! Nothing here knows about plans or devices. Everything that an emitted kernel reads from a table is made here,
//! in double-double arithmetic, and rounded once.

pub mod chirp;
pub mod dd;
pub mod double_single;
pub mod factor;
pub mod halves;
pub mod index;
pub mod reference;
pub mod spread;
pub mod twiddle;
