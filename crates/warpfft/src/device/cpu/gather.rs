//! Lines gathered from an array into a buffer, and scattered back: in blocks where numbers are kept as they are computed
//! in, one by one where they are converted.

use bytemuck::cast_slice_mut;
use num_complex::Complex;

use super::CpuReal;
use super::blocks::{Apart, transfer};
use super::lines::Side;
use super::view::{Place, View};

/// Neighbouring lines of an array: where the first begins, how many there are and how far apart they lie.
#[derive(Clone, Copy)]
pub(super) struct Lanes {
    pub at: isize,
    pub count: usize,
    pub apart: i64,
}

/// Where the lines of a buffer lie; `parts` counts an element's reals.
fn in_buffer(side: Side, parts: u64) -> Apart {
    Apart { point: (side.parts / parts) as isize, lane: (side.pitch() / parts) as isize }
}

/// Reads lines into a buffer, one after the other as [`Side::pitch`] says.
///
/// # Safety
///
/// All elements lie in the array, and no thread writes them meanwhile.
pub(super) unsafe fn gather<T: CpuReal>(from: View<T>, lanes: Lanes, side: Side, into: &mut [T]) {
    let (length, count) = (side.n as usize, lanes.count);
    assert!(into.len() >= side.buffer(count as u64) as usize);
    let apart = Apart { point: side.stride as isize, lane: lanes.apart as isize };
    let target = into.as_mut_ptr();
    // SAFETY: by this function's contract, and the buffer holds the lines.
    unsafe {
        match from.place(lanes.at) {
            Place::Reals(source) => {
                transfer((source, apart), (target, in_buffer(side, 1)), (length, count));
            }
            Place::Pairs(source) => {
                transfer((source, apart), (target.cast(), in_buffer(side, 2)), (length, count));
            }
            Place::Planes(sources) => {
                for (part, source) in sources.into_iter().enumerate() {
                    transfer((source, apart), (target.add(part), in_buffer(side, 1)), (length, count));
                }
            }
            Place::Converted if from.is_real() => walk(length, lanes, side, |point, lane, element| {
                into[lane * side.pitch() as usize + point] = from.get_real(element);
            }),
            Place::Converted => {
                let into = cast_slice_mut::<T, Complex<T>>(into);
                walk(length, lanes, side, |point, lane, element| {
                    into[lane * (side.pitch() / 2) as usize + point] = from.get(element);
                });
            }
        }
    }
}

/// Writes the lines that lie so in a buffer.
///
/// # Safety
///
/// All elements lie in the array, and no other thread touches them meanwhile.
pub(super) unsafe fn scatter<T: CpuReal>(to: View<T>, lanes: Lanes, side: Side, lines: &[T]) {
    let (length, count) = (side.n as usize, lanes.count);
    assert!(lines.len() >= side.buffer(count as u64) as usize);
    let apart = Apart { point: side.stride as isize, lane: lanes.apart as isize };
    let source = lines.as_ptr();
    // SAFETY: by this function's contract, and the buffer holds the lines.
    unsafe {
        match to.place(lanes.at) {
            Place::Reals(target) => {
                transfer((source, in_buffer(side, 1)), (target, apart), (length, count));
            }
            Place::Pairs(target) => {
                transfer((source.cast(), in_buffer(side, 2)), (target, apart), (length, count));
            }
            Place::Planes(targets) => {
                for (part, target) in targets.into_iter().enumerate() {
                    transfer((source.add(part), in_buffer(side, 1)), (target, apart), (length, count));
                }
            }
            Place::Converted if to.is_real() => walk(length, lanes, side, |point, lane, element| {
                to.set_real(element, lines[lane * side.pitch() as usize + point]);
            }),
            Place::Converted => {
                let lines = bytemuck::cast_slice::<T, Complex<T>>(lines);
                walk(length, lanes, side, |point, lane, element| {
                    to.set(element, lines[lane * (side.pitch() / 2) as usize + point]);
                });
            }
        }
    }
}

/// Visits all (point, lane) with the element of each, so that the shorter stride of memory is the inner loop.
fn walk(length: usize, lanes: Lanes, side: Side, mut visit: impl FnMut(usize, usize, isize)) {
    let (point, lane) = (side.stride as isize, lanes.apart as isize);
    let mut one = |k: usize, l: usize| visit(k, l, lanes.at + k as isize * point + l as isize * lane);
    if point.unsigned_abs() <= lane.unsigned_abs() {
        (0..lanes.count).for_each(|l| (0..length).for_each(|k| one(k, l)));
    } else {
        (0..length).for_each(|k| (0..lanes.count).for_each(|l| one(k, l)));
    }
}
