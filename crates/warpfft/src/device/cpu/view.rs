//! An array behind raw pointers: interleaved and planar complex numbers look the same, reals lie beside each other,
//! and threads may write at once.

use std::marker::PhantomData;

use half::{bf16, f16};
use num_complex::Complex;
use warpfft_core::math::halves::{nearest_bf16, nearest_f16};
use warpfft_core::problem::{Format, Storage};

use super::CpuReal;

/// How the elements of an array lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// Reals.
    Reals,
    /// Pairs (re, im).
    Pairs,
    /// Real parts in one plane, imaginary parts in another.
    Planes,
}

/// Where an element lies, for whoever moves many from there on.
pub(super) enum Place<T> {
    /// A real, as it is computed in.
    Reals(*mut T),
    /// A pair (re, im), as it is computed in.
    Pairs(*mut Complex<T>),
    /// The parts in two planes, as they are computed in.
    Planes([*mut T; 2]),
    /// Kept in another type.
    Converted,
}

/// Where an array lies. Element `e` has its real part, or is, at `re + e * step`; where it is complex, it has its
/// imaginary part at `im + e * step`, counted in reals as they are kept. They are read and written as `T`.
#[derive(Clone, Copy)]
pub(super) struct View<T> {
    re: *mut u8,
    im: *mut u8,
    step: usize,
    layout: Layout,
    kept: Storage,
    computed: PhantomData<T>,
}

// SAFETY: a view is only a place; every access is through an unsafe function whose caller sees to it that no two
// threads touch an element that one of them writes.
unsafe impl<T: Send> Send for View<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for View<T> {}

/// Where a plane of numbers starts.
///
/// # Panics
///
/// It is not aligned for them.
fn start(plane: &[u8], kept: Storage) -> *mut u8 {
    let start: *const u8 = match kept {
        Storage::F16 | Storage::Bf16 => bytemuck::cast_slice::<u8, u16>(plane).as_ptr().cast(),
        Storage::F32 => bytemuck::cast_slice::<u8, f32>(plane).as_ptr().cast(),
        Storage::F64 => bytemuck::cast_slice::<u8, f64>(plane).as_ptr().cast(),
    };
    start.cast_mut()
}

/// The same, to write.
fn start_mut(plane: &mut [u8], kept: Storage) -> *mut u8 {
    match kept {
        Storage::F16 | Storage::Bf16 => bytemuck::cast_slice_mut::<u8, u16>(plane).as_mut_ptr().cast(),
        Storage::F32 => bytemuck::cast_slice_mut::<u8, f32>(plane).as_mut_ptr().cast(),
        Storage::F64 => bytemuck::cast_slice_mut::<u8, f64>(plane).as_mut_ptr().cast(),
    }
}

impl<T: CpuReal> View<T> {
    /// A view to read from. Writing through it is undefined behaviour.
    pub fn reading([re, im]: [&[u8]; 2], format: Format, kept: Storage) -> Self {
        // Where there is no second plane, nothing says how its emptiness is aligned.
        let none = im.is_empty();
        Self::of(start(re, kept), if none { std::ptr::null_mut() } else { start(im, kept) }, format, kept)
    }

    /// A view to read from and to write to.
    pub fn writing([re, im]: [&mut [u8]; 2], format: Format, kept: Storage) -> Self {
        let none = im.is_empty();
        let im = if none { std::ptr::null_mut() } else { start_mut(im, kept) };
        Self::of(start_mut(re, kept), im, format, kept)
    }

    /// The same memory in another format; between planes and one buffer nothing but the real parts is the same.
    pub fn seen_as(self, format: Format) -> Self {
        Self::of(self.re, self.im, format, self.kept)
    }

    /// The same array seen from so many elements further on.
    pub fn moved(self, elements: isize) -> Self {
        let bytes = elements * (self.step as isize) * self.kept.real_bytes() as isize;
        let moved = |plane: *mut u8| plane.wrapping_offset(bytes);
        Self { re: moved(self.re), im: moved(self.im), ..self }
    }

    fn of(re: *mut u8, im: *mut u8, format: Format, kept: Storage) -> Self {
        let (im, step, layout) = match format {
            Format::Planar => (im, 1, Layout::Planes),
            Format::Interleaved => (re.wrapping_add(kept.real_bytes() as usize), 2, Layout::Pairs),
            Format::Real | Format::Apart(_) => (re, 1, Layout::Reals),
        };
        Self { re, im, step, layout, kept, computed: PhantomData }
    }

    /// Reads a real of a plane.
    ///
    /// # Safety
    ///
    /// It lies in the plane, and no thread writes it meanwhile.
    #[inline]
    unsafe fn read(&self, plane: *mut u8, at: isize) -> T {
        // SAFETY: by this function's contract; planes are aligned for what they keep.
        unsafe {
            match self.kept {
                kept if kept == T::STORAGE => plane.cast::<T>().offset(at).read(),
                Storage::F16 => T::nearest(plane.cast::<f16>().offset(at).read().to_f64()),
                Storage::Bf16 => T::nearest(plane.cast::<bf16>().offset(at).read().to_f64()),
                Storage::F32 => T::nearest(plane.cast::<f32>().offset(at).read().into()),
                Storage::F64 => T::nearest(plane.cast::<f64>().offset(at).read()),
            }
        }
    }

    /// Writes a real of a plane.
    ///
    /// # Safety
    ///
    /// It lies in the plane, the view is for writing, and no other thread touches it meanwhile.
    #[inline]
    unsafe fn write(&self, plane: *mut u8, at: isize, x: T) {
        // SAFETY: by this function's contract; planes are aligned for what they keep.
        unsafe {
            match self.kept {
                kept if kept == T::STORAGE => plane.cast::<T>().offset(at).write(x),
                Storage::F16 => plane.cast::<f16>().offset(at).write(nearest_f16(x.widened())),
                Storage::Bf16 => plane.cast::<bf16>().offset(at).write(nearest_bf16(x.widened())),
                Storage::F32 => plane.cast::<f32>().offset(at).write(x.widened() as f32),
                Storage::F64 => plane.cast::<f64>().offset(at).write(x.widened()),
            }
        }
    }

    /// Whether elements are reals.
    #[inline]
    pub fn is_real(&self) -> bool {
        self.layout == Layout::Reals
    }

    /// Whether neighbouring elements lie side by side with all their parts, as they are computed in, so that lines can be
    /// had as slices.
    pub fn is_packed(&self) -> bool {
        self.layout != Layout::Planes && self.kept == T::STORAGE
    }

    /// Where an element lies.
    ///
    /// # Safety
    ///
    /// The element lies in the array.
    pub unsafe fn place(&self, element: isize) -> Place<T> {
        if self.kept != T::STORAGE {
            return Place::Converted;
        }
        let at = element * self.step as isize;
        // SAFETY: by this function's contract; planes are aligned for what they keep, and pairs as their parts.
        unsafe {
            let re = self.re.cast::<T>().offset(at);
            match self.layout {
                Layout::Reals => Place::Reals(re),
                Layout::Pairs => Place::Pairs(re.cast()),
                Layout::Planes => Place::Planes([re, self.im.cast::<T>().offset(at)]),
            }
        }
    }

    /// Reads an element of a complex array.
    ///
    /// # Safety
    ///
    /// The element lies in the array, and no thread writes it meanwhile.
    #[inline]
    pub unsafe fn get(&self, element: isize) -> Complex<T> {
        let at = element * self.step as isize;
        // SAFETY: by this function's contract.
        unsafe { Complex::new(self.read(self.re, at), self.read(self.im, at)) }
    }

    /// Writes an element of a complex array.
    ///
    /// # Safety
    ///
    /// The element lies in the array, the view is for writing, and no other thread touches the element
    /// meanwhile.
    #[inline]
    pub unsafe fn set(&self, element: isize, value: Complex<T>) {
        let at = element * self.step as isize;
        // SAFETY: by this function's contract.
        unsafe {
            self.write(self.re, at, value.re);
            self.write(self.im, at, value.im);
        }
    }

    /// Reads an element of a real array.
    ///
    /// # Safety
    ///
    /// As [`Self::get`].
    #[inline]
    pub unsafe fn get_real(&self, element: isize) -> T {
        // SAFETY: by this function's contract.
        unsafe { self.read(self.re, element) }
    }

    /// Writes an element of a real array.
    ///
    /// # Safety
    ///
    /// As [`Self::set`].
    #[inline]
    pub unsafe fn set_real(&self, element: isize, value: T) {
        // SAFETY: by this function's contract.
        unsafe { self.write(self.re, element, value) }
    }

    /// Reads an element as a complex number.
    ///
    /// # Safety
    ///
    /// As [`Self::get`].
    #[inline]
    pub unsafe fn get_any(&self, element: isize) -> Complex<T>
    where
        T: Default,
    {
        // SAFETY: by this function's contract.
        unsafe {
            if self.is_real() {
                Complex::new(self.get_real(element), T::default())
            } else {
                self.get(element)
            }
        }
    }

    /// Writes a complex number, or its real part where the array is real.
    ///
    /// # Safety
    ///
    /// As [`Self::set`].
    #[inline]
    pub unsafe fn set_any(&self, element: isize, value: Complex<T>) {
        // SAFETY: by this function's contract.
        unsafe { if self.is_real() { self.set_real(element, value.re) } else { self.set(element, value) } }
    }

    /// The reals of so many neighbouring elements of a packed array.
    ///
    /// # Safety
    ///
    /// The view is packed, the elements lie in the array, and nothing writes them while the slice lives.
    pub unsafe fn slice<'a>(&self, element: isize, elements: usize) -> &'a [T] {
        debug_assert!(self.is_packed());
        let at = element * self.step as isize;
        // SAFETY: by this function's contract.
        unsafe { std::slice::from_raw_parts(self.re.cast::<T>().offset(at), elements * self.step) }
    }

    /// The reals of so many neighbouring elements of a packed array, to write.
    ///
    /// # Safety
    ///
    /// The view is packed and for writing, the elements lie in the array, and nothing else touches them while the
    /// slice lives.
    #[allow(
        clippy::mut_from_ref,
        reason = "a view is a place, and what it gives out is the caller's to keep apart"
    )]
    pub unsafe fn slice_mut<'a>(&self, element: isize, elements: usize) -> &'a mut [T] {
        debug_assert!(self.is_packed());
        let at = element * self.step as isize;
        // SAFETY: by this function's contract.
        unsafe { std::slice::from_raw_parts_mut(self.re.cast::<T>().offset(at), elements * self.step) }
    }
}
