//! Lines moved between an array and a buffer where both keep numbers as they are computed in: by blocks, so that each
//! cache line is read or written once, whole, and so that the inner loop is one that the compiler unrolls.

/// How far apart neighbouring points of a line lie, and neighbouring lines, in elements.
#[derive(Debug, Clone, Copy)]
pub(super) struct Apart {
    pub point: isize,
    pub lane: isize,
}

/// Rows and columns that are turned in registers.
const BLOCK: usize = 4;
/// Bytes of a cache line.
const LINE: usize = 64;

/// Moves `lanes` lines of `points` elements.
///
/// # Safety
///
/// All elements lie in memory that may be read, or written, and no other thread writes those that are read or touches
/// those that are written. What is read and what is written do not overlap.
pub(super) unsafe fn transfer<E: Copy + Default>(
    (from, read): (*const E, Apart),
    (to, write): (*mut E, Apart),
    (points, lanes): (usize, usize),
) {
    // SAFETY: by this function's contract, here and in each branch.
    unsafe {
        match (read, write) {
            (Apart { point: 1, lane: r }, Apart { point: 1, lane: w }) => {
                for lane in 0..lanes as isize {
                    std::ptr::copy_nonoverlapping(from.offset(lane * r), to.offset(lane * w), points);
                }
            }
            (Apart { point: r, lane: 1 }, Apart { point: 1, lane: w }) => {
                transpose((from, r), (to, w), (points, lanes));
            }
            (Apart { point: 1, lane: r }, Apart { point: w, lane: 1 }) => {
                transpose((from, r), (to, w), (lanes, points));
            }
            _ => {
                let apart = if read.point == 1 { write } else { read };
                let one = |point: usize, lane: usize| {
                    let (point, lane) = (point as isize, lane as isize);
                    let x = from.offset(point * read.point + lane * read.lane).read();
                    to.offset(point * write.point + lane * write.lane).write(x);
                };
                // What lies closer in the array goes inside.
                if apart.point.unsigned_abs() <= apart.lane.unsigned_abs() {
                    (0..lanes).for_each(|lane| (0..points).for_each(|point| one(point, lane)));
                } else {
                    (0..points).for_each(|point| (0..lanes).for_each(|lane| one(point, lane)));
                }
            }
        }
    }
}

/// Writes column `c` of `rows` by `columns` as a row; rows lie `r` apart where they are read and `w` apart where they are
/// written.
///
/// # Safety
///
/// As [`transfer`].
unsafe fn transpose<E: Copy + Default>(
    (from, r): (*const E, isize),
    (to, w): (*mut E, isize),
    (rows, columns): (usize, usize),
) {
    // Rows that fill a cache line of the columns as they are written.
    let deep = (LINE / size_of::<E>()).max(BLOCK);
    let whole = (rows - rows % deep, columns - columns % BLOCK);
    let block = |row: usize, column: usize| {
        for row in (row..row + deep).step_by(BLOCK) {
            let (row, column) = (row as isize, column as isize);
            // SAFETY: by this function's contract; the block lies within the whole ones.
            unsafe { turn((from.offset(row * r + column), r), (to.offset(column * w + row), w)) };
        }
    };
    // The pages of the longer side are gone through once.
    if rows >= columns {
        for row in (0..whole.0).step_by(deep) {
            (0..whole.1).step_by(BLOCK).for_each(|column| block(row, column));
        }
    } else {
        for column in (0..whole.1).step_by(BLOCK) {
            (0..whole.0).step_by(deep).for_each(|row| block(row, column));
        }
    }
    let one = |row: usize, column: usize| {
        let (row, column) = (row as isize, column as isize);
        // SAFETY: by this function's contract.
        unsafe { to.offset(column * w + row).write(from.offset(row * r + column).read()) };
    };
    for row in 0..whole.0 {
        (whole.1..columns).for_each(|column| one(row, column));
    }
    for row in whole.0..rows {
        (0..columns).for_each(|column| one(row, column));
    }
}

/// Turns one block.
///
/// # Safety
///
/// As [`transfer`].
#[allow(
    clippy::needless_range_loop,
    reason = "loops over plain numbers are unrolled, and the block stays in registers"
)]
#[inline(always)]
unsafe fn turn<E: Copy + Default>((from, r): (*const E, isize), (to, w): (*mut E, isize)) {
    let mut block = [[E::default(); BLOCK]; BLOCK];
    for row in 0..BLOCK {
        // SAFETY: by this function's contract; an array of elements is aligned as they are.
        block[row] = unsafe { from.offset(row as isize * r).cast::<[E; BLOCK]>().read() };
    }
    for column in 0..BLOCK {
        let mut turned = [E::default(); BLOCK];
        for row in 0..BLOCK {
            turned[row] = block[row][column];
        }
        // SAFETY: as above.
        unsafe { to.offset(column as isize * w).cast::<[E; BLOCK]>().write(turned) };
    }
}

#[cfg(test)]
mod tests {
    use num_complex::Complex;

    use super::*;

    /// Moves lines from one pattern of strides into another and compares every element of the target with a plain loop's.
    fn check<E: Copy + Default + PartialEq + std::fmt::Debug>(value: impl Fn(usize) -> E) {
        let sizes = [(1, 1), (3, 5), (4, 4), (8, 4), (16, 16), (17, 6), (33, 19), (6, 37), (64, 16)];
        for (points, lanes) in sizes {
            let (p, l) = (points as isize, lanes as isize);
            // Lanes side by side, points side by side, gaps, and each of them backwards.
            let mut all = Vec::new();
            for (point, lane) in [(1, p), (1, p + 3), (l, 1), (l + 5, 1), (2, 2 * p + 1), (3 * l, 3)] {
                all.extend([(point, lane), (-point, lane), (point, -lane), (-point, -lane)]);
            }
            for &(rp, rl) in &all {
                for &(wp, wl) in &all {
                    same(&value, (points, lanes), (rp, rl), (wp, wl));
                }
            }
        }
    }

    fn same<E: Copy + Default + PartialEq + std::fmt::Debug>(
        value: &impl Fn(usize) -> E,
        (points, lanes): (usize, usize),
        read: (isize, isize),
        write: (isize, isize),
    ) {
        let span = |(point, lane): (isize, isize)| {
            let ends = [point * (points as isize - 1), lane * (lanes as isize - 1)];
            let (low, high) =
                ends.iter().fold((0, 0), |(low, high), &end| (low + end.min(0), high + end.max(0)));
            (-low as usize, (high - low) as usize + 1)
        };
        let ((read_at, read_len), (write_at, write_len)) = (span(read), span(write));
        let from: Vec<E> = (0..read_len).map(value).collect();
        let (mut to, mut wanted) = (vec![E::default(); write_len + 8], vec![E::default(); write_len + 8]);
        for point in 0..points as isize {
            for lane in 0..lanes as isize {
                let at = |start: usize, apart: (isize, isize)| {
                    (start as isize + point * apart.0 + lane * apart.1) as usize
                };
                wanted[4 + at(write_at, write)] = from[at(read_at, read)];
            }
        }
        let apart = |(point, lane)| Apart { point, lane };
        // SAFETY: the spans hold every element, and the two vectors are distinct.
        unsafe {
            let source = from.as_ptr().add(read_at);
            let target = to.as_mut_ptr().add(4 + write_at);
            transfer((source, apart(read)), (target, apart(write)), (points, lanes));
        }
        assert_eq!(to, wanted, "{points} points, {lanes} lanes, {read:?} to {write:?}");
    }

    #[test]
    fn lines_are_moved_as_by_a_plain_loop() {
        check(|i| i as f32 + 1.0);
        check(|i| i as f64 + 1.0);
        check(|i| Complex::new(i as f32 + 1.0, -(i as f32)));
        check(|i| Complex::new(i as f64 + 1.0, -(i as f64)));
    }
}
