//! An array behind raw pointers: interleaved and planar complex numbers look the same, reals lie beside each other,
//! and threads may write at once.

use bytemuck::Pod;
use num_complex::Complex;
use warpfft_core::problem::Format;

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

/// Where an array lies. Element `e` has its real part, or is, at `re + e * step`; where it is complex, it has its
/// imaginary part at `im + e * step`.
#[derive(Clone, Copy)]
pub(super) struct View<T> {
    re: *mut T,
    im: *mut T,
    step: usize,
    layout: Layout,
}

// SAFETY: a view is only a place; every access is through an unsafe function whose caller sees to it that no two
// threads touch an element that one of them writes.
unsafe impl<T: Send> Send for View<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for View<T> {}

impl<T: Pod> View<T> {
    /// A view to read from. Writing through it is undefined behaviour.
    pub fn reading([re, im]: [&[u8]; 2], format: Format) -> Self {
        let place = |plane: &[u8]| bytemuck::cast_slice::<u8, T>(plane).as_ptr().cast_mut();
        // Where there is no second plane, nothing says how its emptiness is aligned.
        let none = im.is_empty();
        Self::of(place(re), if none { std::ptr::null_mut() } else { place(im) }, format)
    }

    /// A view to read from and to write to.
    pub fn writing([re, im]: [&mut [u8]; 2], format: Format) -> Self {
        let place = |plane: &mut [u8]| bytemuck::cast_slice_mut::<u8, T>(plane).as_mut_ptr();
        let none = im.is_empty();
        Self::of(place(re), if none { std::ptr::null_mut() } else { place(im) }, format)
    }

    /// The same memory in another format; between planes and one buffer nothing but the real parts is the same.
    pub fn seen_as(self, format: Format) -> Self {
        Self::of(self.re, self.im, format)
    }

    fn of(re: *mut T, im: *mut T, format: Format) -> Self {
        match format {
            Format::Planar => Self { re, im, step: 1, layout: Layout::Planes },
            Format::Interleaved => Self { re, im: re.wrapping_add(1), step: 2, layout: Layout::Pairs },
            Format::Real | Format::Apart(_) => Self { re, im: re, step: 1, layout: Layout::Reals },
        }
    }

    /// Whether elements are reals.
    pub fn is_real(&self) -> bool {
        self.layout == Layout::Reals
    }

    /// Whether neighbouring elements lie side by side with all their parts, so that lines can be had as slices.
    pub fn is_packed(&self) -> bool {
        self.layout != Layout::Planes
    }

    /// Reads an element of a complex array.
    ///
    /// # Safety
    ///
    /// The element lies in the array, and no thread writes it meanwhile.
    pub unsafe fn get(&self, element: isize) -> Complex<T> {
        let at = element * self.step as isize;
        // SAFETY: by this function's contract.
        unsafe { Complex::new(self.re.offset(at).read(), self.im.offset(at).read()) }
    }

    /// Writes an element of a complex array.
    ///
    /// # Safety
    ///
    /// The element lies in the array, the view is for writing, and no other thread touches the element
    /// meanwhile.
    pub unsafe fn set(&self, element: isize, value: Complex<T>) {
        let at = element * self.step as isize;
        // SAFETY: by this function's contract.
        unsafe {
            self.re.offset(at).write(value.re);
            self.im.offset(at).write(value.im);
        }
    }

    /// Reads an element of a real array.
    ///
    /// # Safety
    ///
    /// As [`Self::get`].
    pub unsafe fn get_real(&self, element: isize) -> T {
        // SAFETY: by this function's contract.
        unsafe { self.re.offset(element).read() }
    }

    /// Writes an element of a real array.
    ///
    /// # Safety
    ///
    /// As [`Self::set`].
    pub unsafe fn set_real(&self, element: isize, value: T) {
        // SAFETY: by this function's contract.
        unsafe { self.re.offset(element).write(value) }
    }

    /// Reads an element as a complex number.
    ///
    /// # Safety
    ///
    /// As [`Self::get`].
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
        unsafe { std::slice::from_raw_parts(self.re.offset(at), elements * self.step) }
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
        unsafe { std::slice::from_raw_parts_mut(self.re.offset(at), elements * self.step) }
    }
}
