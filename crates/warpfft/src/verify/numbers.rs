//! Random numbers by their place: any of them is at hand without those before it, so that nothing need be kept to know
//! what an array held.

use std::hash::{BuildHasher, Hasher, RandomState};

use half::{bf16, f16};
use rayon::prelude::*;

use crate::error::Error;
use crate::host::Real;

/// A real number that can be made of random bits.
pub(crate) trait Sample: Real + Into<f64> {
    /// A number from -1 up to 1, from as many bits as it holds.
    fn sample(bits: u64) -> Self;
}

impl Sample for f16 {
    fn sample(bits: u64) -> Self {
        Self::from_f64(f64::sample(bits & !0 << 53))
    }
}

impl Sample for bf16 {
    fn sample(bits: u64) -> Self {
        Self::from_f64(f64::sample(bits & !0 << 56))
    }
}

impl Sample for f32 {
    fn sample(bits: u64) -> Self {
        (bits >> 40) as Self / (1_u64 << 23) as Self - 1.0
    }
}

impl Sample for f64 {
    fn sample(bits: u64) -> Self {
        (bits >> 11) as Self / (1_u64 << 52) as Self - 1.0
    }
}

/// The numbers of one plane of one array.
#[derive(Clone, Copy)]
pub(crate) struct Numbers(u64);

impl Numbers {
    /// Of a seed, an array and a plane.
    pub(crate) fn new(seed: u64, array: usize, plane: usize) -> Self {
        Self(mixed(seed.wrapping_add(mixed((2 * array + plane) as u64))))
    }

    /// 64 random bits.
    pub(crate) fn bits(self, at: u64) -> u64 {
        mixed(self.0.wrapping_add(at.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }

    /// A random number.
    pub(crate) fn real<T: Sample>(self, at: u64) -> T {
        T::sample(self.bits(at))
    }

    /// The first so many.
    pub(crate) fn vec<T: Sample>(self, reals: u64) -> Result<Vec<T>, Error> {
        let mut all: Vec<T> = zeros(reals as usize)?;
        all.par_iter_mut().enumerate().for_each(|(at, x)| *x = self.real(at as u64));
        Ok(all)
    }
}

/// Steele, Lea and Flood, *Fast splittable pseudorandom number generators* (2014): the finaliser of SplitMix64.
fn mixed(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Zeros, or the error that memory is short.
pub(crate) fn zeros<T: Clone + Default>(count: usize) -> Result<Vec<T>, Error> {
    let mut all = Vec::new();
    let bytes = count.saturating_mul(size_of::<T>()) as u64;
    all.try_reserve_exact(count).map_err(|_| Error::OutOfMemory {
        device: "processor".into(),
        bytes,
        free: None,
    })?;
    all.resize(count, T::default());
    Ok(all)
}

/// A seed that nobody has chosen: the standard library keys its hash tables by such.
pub(crate) fn fresh_seed() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spread_evenly_and_known_by_their_place() {
        let numbers = Numbers::new(5, 0, 0);
        let all: Vec<f32> = numbers.vec(100_000).expect("it fits");
        assert!(all.iter().all(|x| (-1.0..1.0).contains(x)));
        assert!(all.iter().enumerate().all(|(at, &x)| numbers.real::<f32>(at as u64) == x));
        let mean = |power: i32| all.iter().map(|&x| f64::from(x).powi(power)).sum::<f64>() / all.len() as f64;
        assert!(mean(1).abs() < 0.01 && (mean(2) - 1.0 / 3.0).abs() < 0.01);
        for other in [Numbers::new(6, 0, 0), Numbers::new(5, 1, 0), Numbers::new(5, 0, 1)] {
            assert_ne!(other.bits(0), numbers.bits(0));
        }
        assert!(zeros::<f64>(usize::MAX / 2).is_err());
    }
}
