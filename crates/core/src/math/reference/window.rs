//! Windows of the reference: an axis of which memory holds some points, and all of it.

use crate::math::dd::Cdd;
use crate::problem::Window;

/// All `n` points of an axis, those that memory does not hold zero.
pub(super) fn spread(
    data: &[Cdd],
    shape: &mut [usize],
    axis: usize,
    (n, window): (usize, Window),
) -> Vec<Cdd> {
    moved(data, shape, axis, n, |whole, held, index| {
        whole[window.point(index as u64, n as u64) as usize] = held[index];
    })
}

/// The points of an axis that memory holds.
pub(super) fn kept(data: &[Cdd], shape: &mut [usize], axis: usize, (n, window): (usize, Window)) -> Vec<Cdd> {
    let len = window.len as usize;
    moved(data, shape, axis, len, |held, whole, index| {
        held[index] = whole[window.point(index as u64, n as u64) as usize];
    })
}

/// Lines of an array into lines of `points`; `one` moves one point of the shorter of them.
fn moved(
    data: &[Cdd],
    shape: &mut [usize],
    axis: usize,
    points: usize,
    one: impl Fn(&mut [Cdd], &[Cdd], usize),
) -> Vec<Cdd> {
    let before = std::mem::replace(&mut shape[axis], points);
    let inner: usize = shape[axis + 1..].iter().product();
    let outer = data.len() / (before * inner);
    let mut out = vec![Cdd::ZERO; outer * points * inner];
    let (mut from, mut to) = (vec![Cdd::ZERO; before], vec![Cdd::ZERO; points]);
    for block in 0..outer {
        for i in 0..inner {
            let at = |line: usize, k: usize| (block * line + k) * inner + i;
            from.iter_mut().enumerate().for_each(|(k, value)| *value = data[at(before, k)]);
            to.fill(Cdd::ZERO);
            (0..before.min(points)).for_each(|index| one(&mut to, &from, index));
            to.iter().enumerate().for_each(|(k, &value)| out[at(points, k)] = value);
        }
    }
    out
}
