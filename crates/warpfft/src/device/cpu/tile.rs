//! A few neighbouring lines at once: gather, transform, scatter; without the gathering where lines are slices.

use bytemuck::cast_slice_mut;
use num_complex::Complex;

use super::CpuReal;
use super::gather::{Lanes, gather, scatter};
use super::lines::{Pass, Work};
use super::view::View;
use crate::error::Error;
use crate::room;

/// Bytes of lines that are copied at once, before they are transformed: they are still in the nearest cache then.
const COPIED: usize = 1 << 14;

/// How a tile gets at its lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Lines are slices of one array, transformed where they lie.
    OnSlices,
    /// Lines are slices of two arrays.
    BetweenSlices,
    /// Lines are slices of two arrays, copied from one into the other and transformed there.
    OnCopies,
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
    /// With so many reals for each.
    pub fn new([source, target, work]: [u64; 3]) -> Result<Self, Error> {
        let zeros = |reals| room::zeros(reals, "processor");
        Ok(Self { source: zeros(source)?, target: zeros(target)?, work: zeros(work)? })
    }

    /// Reals that one thread takes for a pass: source, target and work.
    pub fn reals(pass: &Pass<T>) -> [u64; 3] {
        let [read, write] = pass.line.map(|side| side.buffer(pass.tile.min(pass.lanes.n)));
        let (source, target) = match pass.mode {
            Mode::OnSlices | Mode::BetweenSlices | Mode::OnCopies => (0, 0),
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
    // Some transforms want their own scratch and no more.
    let [.., work] = Scratch::reals(pass);
    let work = &mut scratch.work[..work as usize];
    let (source, target) = (&mut scratch.source[..], &mut scratch.target[..]);
    // SAFETY: by this function's contract.
    unsafe {
        match pass.mode {
            Mode::OnSlices | Mode::BetweenSlices | Mode::OnCopies => {
                on_slices(pass, from, to, at, lanes, work);
            }
            Mode::ThroughBuffer => through_buffer(pass, from, to, at, lanes, [source, work]),
            Mode::BetweenBuffers | Mode::IntoSlices => {
                between_buffers(pass, from, to, at, lanes, [source, target, work]);
            }
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
    work: &mut [T],
) {
    let length = pass.line[0].n as usize;
    let packed = pass.lanes.is == length as i64 && pass.lanes.os == length as i64;
    let (count, chunk) = if packed { (1, lanes * length) } else { (lanes as isize, length) };
    let work = cast_slice_mut::<T, Complex<T>>(work);
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
                    Work::Complex(fft) if pass.mode == Mode::OnCopies => {
                        let line = 2 * length;
                        let some = (COPIED / (line * size_of::<T>())).max(1) * line;
                        for (target, source) in target.chunks_mut(some).zip(source.chunks(some)) {
                            target.copy_from_slice(source);
                            fft.process_with_scratch(cast_slice_mut(target), work);
                        }
                    }
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
    [source, work]: [&mut [T]; 2],
) {
    let [read, write] = pass.line;
    let lines = &mut source[..read.buffer(lanes as u64) as usize];
    // SAFETY: by this function's contract.
    unsafe { gather(from, Lanes { at: at.0, count: lanes, apart: pass.lanes.is }, read, lines) };
    if let Work::Complex(fft) = &pass.work {
        let work = cast_slice_mut(work);
        if read.pitch() == read.reals() {
            fft.process_with_scratch(cast_slice_mut(lines), work);
        } else {
            for line in lines.chunks_exact_mut(read.pitch() as usize) {
                fft.process_with_scratch(cast_slice_mut(&mut line[..read.reals() as usize]), work);
            }
        }
    }
    scale(pass, lines);
    // SAFETY: by this function's contract.
    unsafe { scatter(to, Lanes { at: at.1, count: lanes, apart: pass.lanes.os }, write, lines) };
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
    [source, target, work]: [&mut [T]; 3],
) {
    let Work::Real(line) = &pass.work else { return };
    let [read, write] = pass.line;
    let (taken, given) = (read.reals() as usize, write.reals() as usize);
    let source = &mut source[..read.buffer(lanes as u64) as usize];
    // SAFETY: by this function's contract.
    unsafe { gather(from, Lanes { at: at.0, count: lanes, apart: pass.lanes.is }, read, source) };
    for (lane, source) in source.chunks_exact_mut(read.pitch() as usize).enumerate() {
        let source = &mut source[..taken];
        let target = if pass.mode == Mode::IntoSlices {
            let start = at.1 + lane as isize * pass.lanes.os as isize;
            // SAFETY: by this function's contract; the tile's lines have all been read.
            unsafe { to.slice_mut(start, write.n as usize) }
        } else {
            &mut target[lane * write.pitch() as usize..][..given]
        };
        line.process(source, target, work);
        scale(pass, target);
    }
    if pass.mode == Mode::BetweenBuffers {
        // SAFETY: by this function's contract.
        unsafe { scatter(to, Lanes { at: at.1, count: lanes, apart: pass.lanes.os }, write, target) };
    }
}

fn scale<T: CpuReal>(pass: &Pass<T>, data: &mut [T]) {
    if let Some(factor) = pass.scale {
        data.iter_mut().for_each(|x| *x = *x * factor);
    }
}
