//! Arrays in the computer's memory that a device can reach by itself.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use bytemuck::{Pod, Zeroable};

use crate::device::Device;
use crate::device::backend::HostMemory;
use crate::error::Error;
use crate::room;

/// An array in the computer's memory, zero at first. Where the device copies faster from and to memory that stays in
/// place (*pinned* memory, on CUDA), it is that; elsewhere it is an ordinary array.
///
/// ```
/// use warpfft::{Complex, Device};
///
/// let mut signal = Device::cpu().host_array::<Complex<f32>>(1024)?;
/// signal[3].re = 1.0;
/// assert_eq!(signal.len(), 1024);
/// # Ok::<(), warpfft::Error>(())
/// ```
pub struct HostArray<E> {
    memory: Memory,
    len: usize,
    element: PhantomData<E>,
}

enum Memory {
    /// 16 bytes are aligned enough for every element.
    Ordinary(Vec<[u64; 2]>),
    Pinned(Box<dyn HostMemory>),
}

impl Device {
    /// An array of so many elements in the computer's memory, for data that goes to this device and comes from it.
    ///
    /// # Errors
    ///
    /// There is not so much memory.
    pub fn host_array<E: Pod>(&self, len: usize) -> Result<HostArray<E>, Error> {
        let bytes = (len as u64).saturating_mul(size_of::<E>() as u64);
        room::host_memory(bytes)?;
        let memory = match self.backend().pinned(bytes)? {
            Some(pinned) => Memory::Pinned(pinned),
            None => Memory::Ordinary(ordinary(bytes)?),
        };
        Ok(HostArray { memory, len, element: PhantomData })
    }
}

fn ordinary(bytes: u64) -> Result<Vec<[u64; 2]>, Error> {
    let full = || Error::OutOfMemory { device: "processor".into(), bytes, free: None };
    let len = usize::try_from(bytes.div_ceil(16)).map_err(|_| full())?;
    let mut own = Vec::new();
    own.try_reserve_exact(len).map_err(|_| full())?;
    own.resize(len, Zeroable::zeroed());
    Ok(own)
}

impl<E> HostArray<E> {
    /// Whether the device reaches it by itself.
    pub fn is_pinned(&self) -> bool {
        matches!(self.memory, Memory::Pinned(_))
    }
}

impl<E: Pod> Deref for HostArray<E> {
    type Target = [E];

    fn deref(&self) -> &[E] {
        let bytes = match &self.memory {
            Memory::Ordinary(own) => bytemuck::cast_slice(own),
            Memory::Pinned(pinned) => pinned.bytes(),
        };
        bytemuck::cast_slice(&bytes[..self.len * size_of::<E>()])
    }
}

impl<E: Pod> DerefMut for HostArray<E> {
    fn deref_mut(&mut self) -> &mut [E] {
        let bytes = match &mut self.memory {
            Memory::Ordinary(own) => bytemuck::cast_slice_mut(own),
            Memory::Pinned(pinned) => pinned.bytes_mut(),
        };
        bytemuck::cast_slice_mut(&mut bytes[..self.len * size_of::<E>()])
    }
}

impl<E: Pod + std::fmt::Debug> std::fmt::Debug for HostArray<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostArray").field("len", &self.len).field("pinned", &self.is_pinned()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_of_any_length_are_zero_and_may_be_written() {
        for len in [0, 1, 3, 1000] {
            let mut array = Device::cpu().host_array::<f32>(len).expect("there is room");
            assert!(array.len() == len && array.iter().all(|&x| x == 0.0));
            array.fill(2.0);
            assert!(array.iter().all(|&x| x == 2.0));
        }
        assert!(matches!(Device::cpu().host_array::<f64>(1 << 50), Err(Error::OutOfMemory { .. })));
    }
}
