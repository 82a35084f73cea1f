//! A few neighbouring lines at once: gather, transform, scatter; without the gathering where lines are slices.

use bytemuck::cast_slice_mut;
use num_complex::Complex;

use super::CpuReal;
use super::lines::{Pass, Side, Work};
use super::view::View;
use crate::error::Error;
use crate::room;

/// How a tile gets at its lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Lines are slices of one array, transformed where they lie.
    OnSlices,
    /// Lines are slices of two arrays.
    BetweenSlices,
    /// Lines are gathered into a buffer, transformed there and scattered from there.
    ThroughBuffer,
    /// Lines are gathered into one buffer and transformed into another.
    BetweenBuffers,
    /// Lines are gathered into a buffer and transformed into slices of the array.
    IntoSlices,
}

/// Memory of one thread.
pub(super) struct Scratch<T> {
    /// Lines as they are read.
    source: Vec<T>,
    /// Lines as they are written, where transforms are not in place.
    target: Vec<T>,
    /// What transforms need beside.
    work: Vec<T>,
}

impl<T: CpuReal> Scratch<T> {
    pub fn new(pass: &Pass<T>) -> Result<Self, Error> {
        let zeros = |reals| room::zeros(reals, "processor");
        let [source, target, work] = Self::reals(pass);
        Ok(Self { source: zeros(source)?, target: zeros(target)?, work: zeros(work)? })
    }

    /// Bytes that one thread takes for a pass.
    pub fn bytes(pass: &Pass<T>) -> u64 {
        let reals = Self::reals(pass).into_iter().fold(0, u64::saturating_add);
        reals.saturating_mul(size_of::<T>() as u64)
    }

    fn reals(pass: &Pass<T>) -> [u64; 3] {
        let [read, write] = pass.line.map(|side| pass.tile.min(pass.lanes.n).saturating_mul(side.reals()));
        let (source, target) = match pass.mode {
            Mode::OnSlices | Mode::BetweenSlices => (0, 0),
            Mode::ThroughBuffer | Mode::IntoSlices => (read, 0),
            Mode::BetweenBuffers => (read, write),
        };
        let work = match (&pass.work, pass.mode) {
            (Work::Copy, _) => 0,
            (Work::Complex(fft), Mode::BetweenSlices) => 2 * fft.get_immutable_scratch_len(),
            (Work::Complex(fft), _) => 2 * fft.get_inplace_scratch_len(),
            (Work::Real(line), _) => line.scratch_len(),
        };
        [source, target, work as u64]
    }
}

/// Transforms `lanes` lines that start at the elements `at` of the two arrays.
///
/// # Safety
///
/// All elements lie in the arrays, and no other thread writes those that are read or touches those that are
/// written.
pub(super) unsafe fn run_tile<T: CpuReal>(
    pass: &Pass<T>,
    from: View<T>,
    to: View<T>,
    at: (isize, isize),
    lanes: usize,
    scratch: &mut Scratch<T>,
) {
    // SAFETY: by this function's contract.
    unsafe {
        match pass.mode {
            Mode::OnSlices | Mode::BetweenSlices => on_slices(pass, from, to, at, lanes, scratch),
            Mode::ThroughBuffer => through_buffer(pass, from, to, at, lanes, scratch),
            Mode::BetweenBuffers | Mode::IntoSlices => between_buffers(pass, from, to, at, lanes, scratch),
        }
    }
}

/// # Safety
///
/// As [`run_tile`].
unsafe fn on_slices<T: CpuReal>(
    pass: &Pass<T>,
    from: View<T>,
    to: View<T>,
    at: (isize, isize),
    lanes: usize,
    scratch: &mut Scratch<T>,
) {
    let length = pass.line[0].n as usize;
    let packed = pass.lanes.is == length as i64 && pass.lanes.os == length as i64;
    let (count, chunk) = if packed { (1, lanes * length) } else { (lanes as isize, length) };
    let work = cast_slice_mut::<T, Complex<T>>(&mut scratch.work);
    for lane in 0..count {
        let read = at.0 + lane * pass.lanes.is as isize;
        let write = at.1 + lane * pass.lanes.os as isize;
        // SAFETY: by this function's contract; on slices of one array only the slice to write is made.
        let target = unsafe { to.slice_mut(write, chunk) };
        match (&pass.work, pass.mode) {
            (Work::Complex(fft), Mode::OnSlices) => fft.process_with_scratch(cast_slice_mut(target), work),
            (_, Mode::OnSlices) => {}
            (own, _) => {
                // SAFETY: by this function's contract; the two arrays are distinct.
                let source = unsafe { from.slice(read, chunk) };
                match own {
                    Work::Complex(fft) => fft.process_immutable_with_scratch(
                        bytemuck::cast_slice(source),
                        cast_slice_mut(target),
                        work,
                    ),
                    _ => target.copy_from_slice(source),
                }
            }
        }
        scale(pass, target);
    }
}

/// # Safety
///
/// As [`run_tile`].
unsafe fn through_buffer<T: CpuReal>(
    pass: &Pass<T>,
    from: View<T>,
    to: View<T>,
    at: (isize, isize),
    lanes: usize,
    scratch: &mut Scratch<T>,
) {
    let [read, write] = pass.line;
    let lines = &mut scratch.source[..lanes * read.reals() as usize];
    // SAFETY: by this function's contract.
    unsafe { gather(from, at.0, read, (lanes, pass.lanes.is), lines) };
    if let Work::Complex(fft) = &pass.work {
        fft.process_with_scratch(cast_slice_mut(lines), cast_slice_mut(&mut scratch.work));
    }
    scale(pass, lines);
    // SAFETY: by this function's contract.
    unsafe { scatter(to, at.1, write, (lanes, pass.lanes.os), lines) };
}

/// # Safety
///
/// As [`run_tile`].
unsafe fn between_buffers<T: CpuReal>(
    pass: &Pass<T>,
    from: View<T>,
    to: View<T>,
    at: (isize, isize),
    lanes: usize,
    scratch: &mut Scratch<T>,
) {
    let Work::Real(line) = &pass.work else { return };
    let [read, write] = pass.line;
    let (taken, given) = (read.reals() as usize, write.reals() as usize);
    let source = &mut scratch.source[..lanes * taken];
    // SAFETY: by this function's contract.
    unsafe { gather(from, at.0, read, (lanes, pass.lanes.is), source) };
    for (lane, source) in source.chunks_exact_mut(taken).enumerate() {
        let target = if pass.mode == Mode::IntoSlices {
            let start = at.1 + lane as isize * pass.lanes.os as isize;
            // SAFETY: by this function's contract; the tile's lines have all been read.
            unsafe { to.slice_mut(start, write.n as usize) }
        } else {
            &mut scratch.target[lane * given..][..given]
        };
        line.process(source, target, &mut scratch.work);
        scale(pass, target);
    }
    if pass.mode == Mode::BetweenBuffers {
        // SAFETY: by this function's contract.
        unsafe { scatter(to, at.1, write, (lanes, pass.lanes.os), &scratch.target[..lanes * given]) };
    }
}

/// Reads lines, so many and so far apart, into a buffer, one after the other.
///
/// # Safety
///
/// All elements lie in the array, and no thread writes them meanwhile.
unsafe fn gather<T: CpuReal>(
    from: View<T>,
    at: isize,
    side: Side,
    (lanes, apart): (usize, i64),
    into: &mut [T],
) {
    let (length, point, lane) = (side.n as usize, side.stride as isize, apart as isize);
    if side.stride == 1 && from.is_packed() {
        for (l, line) in into.chunks_exact_mut(side.reals() as usize).enumerate() {
            // SAFETY: by this function's contract.
            line.copy_from_slice(unsafe { from.slice(at + l as isize * lane, length) });
        }
        return;
    }
    let points_inner = point.unsigned_abs() <= lane.unsigned_abs();
    let place = |k: usize, l: usize| at + k as isize * point + l as isize * lane;
    if from.is_real() {
        walk(length, lanes, points_inner, |k, l| {
            // SAFETY: by this function's contract.
            into[l * length + k] = unsafe { from.get_real(place(k, l)) };
        });
    } else {
        let into = cast_slice_mut::<T, Complex<T>>(into);
        walk(length, lanes, points_inner, |k, l| {
            // SAFETY: by this function's contract.
            into[l * length + k] = unsafe { from.get(place(k, l)) };
        });
    }
}

/// Writes lines, so many and so far apart, that lie in a buffer one after the other.
///
/// # Safety
///
/// All elements lie in the array, and no other thread touches them meanwhile.
unsafe fn scatter<T: CpuReal>(to: View<T>, at: isize, side: Side, (lanes, apart): (usize, i64), lines: &[T]) {
    let (length, point, lane) = (side.n as usize, side.stride as isize, apart as isize);
    let points_inner = point.unsigned_abs() <= lane.unsigned_abs();
    let place = |k: usize, l: usize| at + k as isize * point + l as isize * lane;
    if to.is_real() {
        walk(length, lanes, points_inner, |k, l| {
            // SAFETY: by this function's contract.
            unsafe { to.set_real(place(k, l), lines[l * length + k]) };
        });
    } else {
        let lines = bytemuck::cast_slice::<T, Complex<T>>(lines);
        walk(length, lanes, points_inner, |k, l| {
            // SAFETY: by this function's contract.
            unsafe { to.set(place(k, l), lines[l * length + k]) };
        });
    }
}

/// Visits all (point, lane), so that the shorter stride of memory is the inner loop.
fn walk(length: usize, lanes: usize, points_inner: bool, mut visit: impl FnMut(usize, usize)) {
    if points_inner {
        for lane in 0..lanes {
            (0..length).for_each(|point| visit(point, lane));
        }
    } else {
        for point in 0..length {
            (0..lanes).for_each(|lane| visit(point, lane));
        }
    }
}

fn scale<T: CpuReal>(pass: &Pass<T>, data: &mut [T]) {
    if let Some(factor) = pass.scale {
        data.iter_mut().for_each(|x| *x = *x * factor);
    }
}
