//! A complex array behind raw pointers: interleaved and planar look the same, and threads may write to it at
//! once.

use bytemuck::Pod;
use num_complex::Complex;

/// Where a complex array lies. Element `e` has its real part at `re + e * step` and its imaginary part at
/// `im + e * step`.
#[derive(Clone, Copy)]
pub(super) struct View<T> {
    re: *mut T,
    im: *mut T,
    step: usize,
}

// SAFETY: a view is only a place; every access is through an unsafe function whose caller sees to it that no two
// threads touch an element that one of them writes.
unsafe impl<T: Send> Send for View<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for View<T> {}

impl<T: Pod> View<T> {
    /// A view to read from. Writing through it is undefined behaviour.
    pub fn reading([re, im]: [&[u8]; 2]) -> Self {
        let place = |plane: &[u8]| bytemuck::cast_slice::<u8, T>(plane).as_ptr().cast_mut();
        Self::of(place(re), (!im.is_empty()).then(|| place(im)))
    }

    /// A view to read from and to write to.
    pub fn writing([re, im]: [&mut [u8]; 2]) -> Self {
        let place = |plane: &mut [u8]| bytemuck::cast_slice_mut::<u8, T>(plane).as_mut_ptr();
        Self::of(place(re), (!im.is_empty()).then(|| place(im)))
    }

    fn of(re: *mut T, im: Option<*mut T>) -> Self {
        match im {
            Some(im) => Self { re, im, step: 1 },
            None => Self { re, im: re.wrapping_add(1), step: 2 },
        }
    }

    /// Whether pairs (re, im) lie side by side, so that lines can be had as slices.
    pub fn is_interleaved(&self) -> bool {
        self.step == 2
    }

    /// Reads an element.
    ///
    /// # Safety
    ///
    /// The element lies in the array, and no thread writes it meanwhile.
    pub unsafe fn get(&self, element: isize) -> Complex<T> {
        let at = element * self.step as isize;
        // SAFETY: by this function's contract.
        unsafe { Complex::new(self.re.offset(at).read(), self.im.offset(at).read()) }
    }

    /// Writes an element.
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

    /// Neighbouring elements of an interleaved array.
    ///
    /// # Safety
    ///
    /// The view is interleaved, the elements lie in the array, and nothing writes them while the slice lives.
    pub unsafe fn slice<'a>(&self, element: isize, len: usize) -> &'a [Complex<T>] {
        debug_assert!(self.is_interleaved());
        // SAFETY: by this function's contract; a Complex<T> is two T in a row.
        unsafe { std::slice::from_raw_parts(self.re.offset(2 * element).cast(), len) }
    }

    /// Neighbouring elements of an interleaved array, to write.
    ///
    /// # Safety
    ///
    /// The view is interleaved and for writing, the elements lie in the array, and nothing else touches them
    /// while the slice lives.
    #[allow(
        clippy::mut_from_ref,
        reason = "a view is a place, and what it gives out is the caller's to keep apart"
    )]
    pub unsafe fn slice_mut<'a>(&self, element: isize, len: usize) -> &'a mut [Complex<T>] {
        debug_assert!(self.is_interleaved());
        // SAFETY: by this function's contract; a Complex<T> is two T in a row.
        unsafe { std::slice::from_raw_parts_mut(self.re.offset(2 * element).cast(), len) }
    }
}
