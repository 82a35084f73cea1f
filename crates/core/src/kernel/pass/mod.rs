//! In preparation.
use super::{Kernel, Verified, verify};
use crate::target::Limits;
/// a
pub fn optimise(kernel: Kernel, _limits: &Limits) -> Result<Verified<Kernel>, verify::KernelError> {
    verify::verify(kernel)
}
