//! A hasher for tables of instructions: keys are a few small numbers that no stranger chooses, and a plan's
//! budget is milliseconds, so the standard library's hash, which withstands chosen keys, is not worth its time.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map whose keys are instructions.
pub(super) type InstMap<K, V> = HashMap<K, V, BuildHasherDefault<Mix>>;

/// Multiplicative hashing (Knuth, *The Art of Computer Programming*, volume 3, section 6.4).
#[derive(Default)]
pub(super) struct Mix(u64);

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u8(&mut self, x: u8) {
        self.write_u64(x.into());
    }

    fn write_u16(&mut self, x: u16) {
        self.write_u64(x.into());
    }

    fn write_u32(&mut self, x: u32) {
        self.write_u64(x.into());
    }

    fn write_u64(&mut self, x: u64) {
        // The golden ratio's fraction.
        self.0 = (self.0.rotate_left(5) ^ x).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_usize(&mut self, x: usize) {
        self.write_u64(x as u64);
    }

    fn finish(&self) -> u64 {
        // The product's upper bits are the well-mixed ones; the map takes its slots from the lower.
        self.0.rotate_left(32)
    }
}
