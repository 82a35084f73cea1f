//! A few neighbouring lines at once: gather, transform, scatter; without the gathering where lines are slices.

use num_complex::Complex;

use super::CpuReal;
use super::lines::Pass;
use super::view::View;

/// How a tile gets at its lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Lines are slices of one array, transformed where they lie.
    OnSlices,
    /// Lines are slices of two arrays.
    BetweenSlices,
    /// Lines are gathered into a buffer and scattered from there.
    ThroughBuffer,
}

/// Memory of one thread.
pub(super) struct Scratch<T> {
    lines: Vec<Complex<T>>,
    work: Vec<Complex<T>>,
}

impl<T: CpuReal> Scratch<T> {
    pub fn new(pass: &Pass<T>) -> Self {
        let lines = match pass.mode {
            Mode::ThroughBuffer => (pass.tile.min(pass.lanes.n) * pass.line.n) as usize,
            Mode::OnSlices | Mode::BetweenSlices => 0,
        };
        let work = pass.fft.as_ref().map_or(0, |fft| match pass.mode {
            Mode::BetweenSlices => fft.get_immutable_scratch_len(),
            Mode::OnSlices | Mode::ThroughBuffer => fft.get_inplace_scratch_len(),
        });
        Self { lines: vec![Complex::default(); lines], work: vec![Complex::default(); work] }
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
    let length = pass.line.n as usize;
    if pass.mode == Mode::ThroughBuffer {
        // SAFETY: by this function's contract.
        return unsafe { through_buffer(pass, from, to, at, lanes, scratch) };
    }
    let packed = pass.lanes.is == length as i64 && pass.lanes.os == length as i64;
    let (count, chunk) = if packed { (1, lanes * length) } else { (lanes as isize, length) };
    for lane in 0..count {
        let read = at.0 + lane * pass.lanes.is as isize;
        let write = at.1 + lane * pass.lanes.os as isize;
        // SAFETY: by this function's contract; on slices of one array only the slice to write is made.
        let target = unsafe { to.slice_mut(write, chunk) };
        match (&pass.fft, pass.mode) {
            (Some(fft), Mode::OnSlices) => fft.process_with_scratch(target, &mut scratch.work),
            (None, Mode::OnSlices) => {}
            (fft, _) => {
                // SAFETY: by this function's contract; the two arrays are distinct.
                let source = unsafe { from.slice(read, chunk) };
                match fft {
                    Some(fft) => fft.process_immutable_with_scratch(source, target, &mut scratch.work),
                    None => target.copy_from_slice(source),
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
    let length = pass.line.n as usize;
    let lines = &mut scratch.lines[..lanes * length];
    let (point, lane) = (pass.line.is as isize, pass.lanes.is as isize);
    walk(length, lanes, point.unsigned_abs() <= lane.unsigned_abs(), |k, l| {
        // SAFETY: by this function's contract.
        lines[l * length + k] = unsafe { from.get(at.0 + k as isize * point + l as isize * lane) };
    });
    if let Some(fft) = &pass.fft {
        fft.process_with_scratch(lines, &mut scratch.work);
    }
    scale(pass, lines);
    let (point, lane) = (pass.line.os as isize, pass.lanes.os as isize);
    walk(length, lanes, point.unsigned_abs() <= lane.unsigned_abs(), |k, l| {
        // SAFETY: by this function's contract.
        unsafe { to.set(at.1 + k as isize * point + l as isize * lane, lines[l * length + k]) };
    });
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

fn scale<T: CpuReal>(pass: &Pass<T>, data: &mut [Complex<T>]) {
    if let Some(factor) = pass.scale {
        data.iter_mut().for_each(|x| *x = x.scale(factor));
    }
}
