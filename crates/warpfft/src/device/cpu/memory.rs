//! What a thread needs beside the problem's arrays, and what of it a plan keeps from one run to the next.

use std::sync::{Mutex, PoisonError};

use num_complex::Complex;

use super::CpuReal;
use super::tile::Scratch;
use crate::error::Error;
use crate::room;

/// Bytes of one thread's memory that a plan keeps at most: getting a page anew takes as long as transforming a few.
const KEPT: u64 = 1 << 22;

/// Memory of one thread.
pub(super) struct Memory<T> {
    pub scratch: Scratch<T>,
    /// A portion's stage.
    pub stage: Vec<Complex<T>>,
}

/// The memory of threads that are not running now.
pub(super) struct Pool<T> {
    /// Reals of each buffer of [`Scratch`].
    scratch: [u64; 3],
    /// Reals of a portion's stage.
    stage: u64,
    free: Mutex<Vec<Memory<T>>>,
}

impl<T: CpuReal> Pool<T> {
    /// For threads that need so many reals for their lines, and for their stage.
    pub fn new(scratch: [u64; 3], stage: u64) -> Self {
        Self { scratch, stage, free: Mutex::default() }
    }

    /// Bytes of one thread.
    pub fn bytes(&self) -> u64 {
        let reals = self.scratch.into_iter().fold(self.stage, u64::saturating_add);
        reals.saturating_mul(size_of::<T>() as u64)
    }

    /// Memory of a thread, as the last left it.
    pub fn take(&self) -> Result<Memory<T>, Error> {
        let kept = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        kept.map_or_else(
            || {
                let stage = room::zeros(self.stage.div_ceil(2), "processor")?;
                Ok(Memory { scratch: Scratch::new(self.scratch)?, stage })
            },
            Ok,
        )
    }

    /// Keeps a thread's memory for the next, unless that is much.
    pub fn give_back(&self, memory: Memory<T>) {
        if self.bytes() <= KEPT {
            let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
            if free.len() < rayon::current_num_threads() {
                free.push(memory);
            }
        }
    }
}
