//! Room in the computer's memory. An allocation may succeed that the machine cannot hold, and whoever then writes to
//! it is ended by the system: ask first.

use bytemuck::Zeroable;
use sysinfo::{MemoryRefreshKind, RefreshKind, System};

use crate::error::Error;

/// Below this the allocator's own answer is enough: asking the system takes some 0.1 ms.
const SMALL: u64 = 1 << 26;

/// Refuses more bytes than are free now, for the whole machine and for the container that this process may be in.
pub(crate) fn ask(bytes: u64, device: &str) -> Result<(), Error> {
    if bytes < SMALL {
        return Ok(());
    }
    match free() {
        Some(free) if bytes > free => {
            Err(Error::OutOfMemory { device: device.to_owned(), bytes, free: Some(free) })
        }
        _ => Ok(()),
    }
}

/// Refuses more bytes than the computer's memory, or that of the container which this process may be in, can give now:
/// for whoever is about to allocate what a user asked for.
///
/// # Errors
///
/// There is less, by [`Error::OutOfMemory`].
pub fn host_memory(bytes: u64) -> Result<(), Error> {
    ask(bytes, "processor")
}

/// An empty list with room for so many, where there is that room: for lists as long as what a user asked for.
pub(crate) fn list<T>(count: u64, device: &str) -> Result<Vec<T>, Error> {
    let bytes = count.saturating_mul(size_of::<T>() as u64);
    ask(bytes, device)?;
    let full = || Error::OutOfMemory { device: device.to_owned(), bytes, free: free() };
    let mut list = Vec::new();
    list.try_reserve_exact(usize::try_from(count).map_err(|_| full())?).map_err(|_| full())?;
    Ok(list)
}

/// So many zeros, where there is room for them. Pages are zeroed where they are first touched, by whichever thread that is.
pub(crate) fn zeros<T: Zeroable>(count: u64, device: &str) -> Result<Vec<T>, Error> {
    let bytes = count.saturating_mul(size_of::<T>() as u64);
    ask(bytes, device)?;
    let full = || Error::OutOfMemory { device: device.to_owned(), bytes, free: free() };
    let length = usize::try_from(count).map_err(|_| full())?;
    bytemuck::allocation::try_zeroed_vec(length).map_err(|()| full())
}

/// Bytes that can be had without swapping, where the system tells.
fn free() -> Option<u64> {
    let memory = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
    let system = System::new_with_specifics(memory);
    let machine = Some(system.available_memory()).filter(|&bytes| bytes > 0);
    let container = system.cgroup_limits().map(|limits| limits.free_memory).filter(|&bytes| bytes > 0);
    match (machine, container) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_the_machine_has_is_refused_with_what_it_has() {
        let free = free().expect("this system tells");
        assert!(ask(free / 2, "here").is_ok(), "{free}");
        let error = ask(1 << 50, "here").expect_err("a pebibyte");
        assert!(
            matches!(error, Error::OutOfMemory { bytes, free: Some(_), .. } if bytes == 1 << 50),
            "{error}"
        );
    }

    #[test]
    fn lists_have_their_room_or_are_refused() {
        let three: Vec<u64> = list(3, "here").expect("24 bytes");
        assert!(three.is_empty() && three.capacity() >= 3);
        assert_eq!(zeros(3, "here"), Ok(vec![0_u8; 3]));
        for count in [1 << 50, 1 << 62, u64::MAX] {
            let wanted = count.saturating_mul(8);
            for refused in [list::<u64>(count, "here"), zeros(count, "here")] {
                let Err(Error::OutOfMemory { device, bytes, free: Some(_) }) = refused else {
                    panic!("no machine has {wanted} bytes: {refused:?}")
                };
                assert_eq!((&device[..], bytes), ("here", wanted));
            }
        }
    }
}
