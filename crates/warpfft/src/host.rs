//! Arrays in the computer's own memory, as callers hand them over.

use bytemuck::Pod;
use half::{bf16, f16};
use num_complex::Complex;
use warpfft_core::problem::{Format, Storage};

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
    impl Sealed for half::f16 {}
    impl Sealed for half::bf16 {}
}

/// A real number that plans read and write: `f32`, `f64`, `f16` or `bf16`, the last two those of the crate `half`.
pub trait Real: sealed::Sealed + Pod + Default + Send + Sync {
    /// How it is kept in memory.
    const STORAGE: Storage;
}

impl Real for f16 {
    const STORAGE: Storage = Storage::F16;
}

impl Real for bf16 {
    const STORAGE: Storage = Storage::Bf16;
}

impl Real for f32 {
    const STORAGE: Storage = Storage::F32;
}

impl Real for f64 {
    const STORAGE: Storage = Storage::F64;
}

/// An array to read.
#[derive(Debug, Clone, Copy)]
pub enum Planes<'a, T> {
    /// Pairs (re, im).
    Interleaved(&'a [Complex<T>]),
    /// All real parts, all imaginary parts.
    Planar(&'a [T], &'a [T]),
    /// Reals.
    Real(&'a [T]),
}

/// An array to write, or to transform in place.
#[derive(Debug)]
pub enum PlanesMut<'a, T> {
    /// Pairs (re, im).
    Interleaved(&'a mut [Complex<T>]),
    /// All real parts, all imaginary parts.
    Planar(&'a mut [T], &'a mut [T]),
    /// Reals.
    Real(&'a mut [T]),
}

impl<'a, T: Real> Planes<'a, T> {
    /// How the array lies in memory.
    pub const fn format(&self) -> Format {
        match self {
            Self::Interleaved(_) => Format::Interleaved,
            Self::Planar(..) => Format::Planar,
            Self::Real(_) => Format::Real,
        }
    }

    /// Each plane's bytes; the second is empty for interleaved data.
    pub(crate) fn into_bytes(self) -> [&'a [u8]; 2] {
        match self {
            Self::Interleaved(data) => [bytemuck::cast_slice(data), &[]],
            Self::Planar(re, im) => [bytemuck::cast_slice(re), bytemuck::cast_slice(im)],
            Self::Real(data) => [bytemuck::cast_slice(data), &[]],
        }
    }
}

impl<'a, T: Real> PlanesMut<'a, T> {
    /// The same array once more, for as long as this is not used.
    pub fn again(&mut self) -> PlanesMut<'_, T> {
        match self {
            Self::Interleaved(data) => PlanesMut::Interleaved(data),
            Self::Planar(re, im) => PlanesMut::Planar(re, im),
            Self::Real(data) => PlanesMut::Real(data),
        }
    }

    /// How the array lies in memory.
    pub const fn format(&self) -> Format {
        match self {
            Self::Interleaved(_) => Format::Interleaved,
            Self::Planar(..) => Format::Planar,
            Self::Real(_) => Format::Real,
        }
    }

    /// Each plane's bytes; the second is empty for interleaved data.
    pub(crate) fn into_bytes(self) -> [&'a mut [u8]; 2] {
        match self {
            Self::Interleaved(data) => [bytemuck::cast_slice_mut(data), &mut []],
            Self::Planar(re, im) => [bytemuck::cast_slice_mut(re), bytemuck::cast_slice_mut(im)],
            Self::Real(data) => [bytemuck::cast_slice_mut(data), &mut []],
        }
    }
}

impl<'a, T> From<&'a [Complex<T>]> for Planes<'a, T> {
    fn from(data: &'a [Complex<T>]) -> Self {
        Self::Interleaved(data)
    }
}

impl<'a, T> From<&'a Vec<Complex<T>>> for Planes<'a, T> {
    fn from(data: &'a Vec<Complex<T>>) -> Self {
        Self::Interleaved(data)
    }
}

impl<'a, T, const N: usize> From<&'a [Complex<T>; N]> for Planes<'a, T> {
    fn from(data: &'a [Complex<T>; N]) -> Self {
        Self::Interleaved(data)
    }
}

impl<'a, T> From<(&'a [T], &'a [T])> for Planes<'a, T> {
    fn from((re, im): (&'a [T], &'a [T])) -> Self {
        Self::Planar(re, im)
    }
}

impl<'a, T> From<&'a mut [Complex<T>]> for PlanesMut<'a, T> {
    fn from(data: &'a mut [Complex<T>]) -> Self {
        Self::Interleaved(data)
    }
}

impl<'a, T> From<&'a mut Vec<Complex<T>>> for PlanesMut<'a, T> {
    fn from(data: &'a mut Vec<Complex<T>>) -> Self {
        Self::Interleaved(data)
    }
}

impl<'a, T, const N: usize> From<&'a mut [Complex<T>; N]> for PlanesMut<'a, T> {
    fn from(data: &'a mut [Complex<T>; N]) -> Self {
        Self::Interleaved(data)
    }
}

impl<'a, T> From<(&'a mut [T], &'a mut [T])> for PlanesMut<'a, T> {
    fn from((re, im): (&'a mut [T], &'a mut [T])) -> Self {
        Self::Planar(re, im)
    }
}

/// Slices and vectors of reals are planes of reals.
macro_rules! reals {
    ($($real:ty),*) => {$(
        impl<'a> From<&'a [$real]> for Planes<'a, $real> {
            fn from(data: &'a [$real]) -> Self {
                Self::Real(data)
            }
        }

        impl<'a> From<&'a Vec<$real>> for Planes<'a, $real> {
            fn from(data: &'a Vec<$real>) -> Self {
                Self::Real(data)
            }
        }

        impl<'a> From<&'a mut [$real]> for PlanesMut<'a, $real> {
            fn from(data: &'a mut [$real]) -> Self {
                Self::Real(data)
            }
        }

        impl<'a> From<&'a mut Vec<$real>> for PlanesMut<'a, $real> {
            fn from(data: &'a mut Vec<$real>) -> Self {
                Self::Real(data)
            }
        }
    )*};
}
reals!(f16, bf16, f32, f64);
