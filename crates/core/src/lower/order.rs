//! The order in which the stages of a tile run, and the layouts that they run in.
//!
//! Stages of different axes touch different digits, so they may come in any order in which those of each axis follow each
//! other. Each but the first wants an exchange, and so does the way out where the registers of the last one hold neighbours
//! in memory: 100 x 100 points in stages of ten by ten take four exchanges axis by axis, and three where the first axis
//! ends last. Such orders may meet more bank conflicts, so that they are counted as well. In a cluster those behind the
//! exchange between blocks may come in any such order: what stands before it decides which digits spell blocks.

use super::exchange;
use super::layout::{Layout, edge};
use super::{Lowering, Stage};

/// Orders that are looked at.
const MOST: usize = 90;

/// Bytes of a row in memory from which on its length makes no difference: a line. Cubes of 10 and 14 points, which could save an
/// exchange by rows of 80 and 112, took 1 to 2% longer so.
const WHOLE: u64 = 128;

/// Wavefronts that another order than axis by axis has to save: as a part of those there are.
const WORTH: f64 = 0.05;

impl Lowering<'_> {
    /// Settles in which order the stages run, and where lines of the sides that fold stand for it.
    pub(super) fn order_stages(&mut self) {
        self.stages = self.by_axes();
        self.arrange_lines();
        let best = self.best_order();
        if best != self.stages {
            self.stages = best;
            self.arrange_lines();
        }
    }

    /// Axis by axis.
    fn by_axes(&self) -> Vec<Stage> {
        let axes = self.digits.stages.iter().enumerate();
        axes.flat_map(|(axis, own)| (0..own.len()).map(move |position| Stage { axis, position })).collect()
    }

    /// The order with the fewest wavefronts in its exchanges: axis by axis, where no other saves enough.
    fn best_order(&self) -> Vec<Stage> {
        let usual = self.stages.clone();
        let several = self.digits.stages.iter().filter(|own| !own.is_empty()).count() > 1;
        if self.convolves_in_place() || !several {
            return usual;
        }
        let fixed = self.cluster.as_ref().map_or(0, |cluster| cluster.cut.stage);
        let exchanges = |path: &[Layout]| path.windows(2).filter(|pair| pair[0] != pair[1]).count();
        let mut all: Vec<(Vec<Stage>, Vec<Layout>)> = Vec::new();
        let counts: Vec<usize> = self.digits.stages.iter().map(Vec::len).collect();
        orders(&counts, &mut vec![0; counts.len()], &mut Vec::new(), &mut |order| {
            if all.len() < MOST && order[..fixed] == usual[..fixed] {
                all.push((order.to_vec(), self.path(order)));
            }
        });
        let by_axes = self.path(&usual);
        all.retain(|(_, path)| self.rows_of(path) >= self.rows_of(&by_axes));
        let fewest = all.iter().map(|(_, path)| exchanges(path)).min().unwrap_or(0);
        let mut best = (self.wavefronts_of(&by_axes) * (1.0 - WORTH), usual);
        for (order, path) in all.into_iter().filter(|(_, path)| exchanges(path) == fewest) {
            let taken = self.wavefronts_of(&path);
            if taken < best.0 {
                best = (taken, order);
            }
            if best.0 <= fewest as f64 {
                break;
            }
        }
        best.1
    }

    /// Layouts that a tile passes through: as it comes, at each stage, and as it leaves.
    fn path(&self, stages: &[Stage]) -> Vec<Layout> {
        let sources = self.digits.weights(|digit| digit.is);
        let destinations = self.digits.weights(|digit| digit.os);
        let [first, last] = [stages.first(), stages.last()].map(|stage| stage.map(|own| self.register(*own)));
        let cut = self.cluster.as_ref().map(|cluster| cluster.cut);
        let store = self.edge_layout(last, cut.map(|cut| cut.after), &destinations, true);
        let mut path = vec![self.edge_layout(first, cut.map(|cut| cut.before), &sources, false)];
        for i in 0..stages.len() {
            let next = self.stage_layout(stages, i, &path[i], &store);
            path.push(next);
        }
        path.push(store);
        path
    }

    /// Layout in which a stage runs on what lies in the layout before it.
    pub(super) fn stage_layout(
        &self,
        stages: &[Stage],
        i: usize,
        current: &Layout,
        store: &Layout,
    ) -> Layout {
        let own = Some(self.register(stages[i]));
        let last = i + 1 == stages.len();
        let cut = self.cluster.as_ref().map(|cluster| cluster.cut);
        if let Some(cut) = cut.filter(|cut| cut.stage == i) {
            return self.remote_layout(current, cut, self.register(stages[i]));
        }
        let block = cut.map(|cut| cut.block(i));
        let [low, high] = self.digits.parts(own);
        let leaves_so = last && store.pair.is_some() && store.register == own;
        let stays = current.pair.is_some() && current.register == own && !(leaves_so && i > 0);
        if stays {
            return current.clone();
        }
        if leaves_so {
            return store.clone();
        }
        let writes = last && i > 0;
        // Lines that fold are taken from the block's array, and left there, without an exchange in between.
        let strides =
            if i == 0 || last { self.strides_of(writes) } else { self.digits.weights(|digit| digit.is) };
        let order = self.digits.by_stride(&[low, high, block], &strides);
        Layout { register: own, order, block, pair: None }
    }

    /// Layout in which the tile is loaded or stored.
    pub(super) fn edge_layout(
        &self,
        register: Option<usize>,
        block: Option<usize>,
        strides: &[i64],
        writes: bool,
    ) -> Layout {
        if self.staged(writes) {
            let [low, high] = self.digits.parts(register);
            let order = self.digits.by_stride(&[low, high, block], &self.strides_of(writes));
            return Layout { register, order, block, pair: None };
        }
        edge(self.pass, &self.digits, (register, block), strides, writes)
    }

    /// Distance of each digit where the tile comes from, or where it goes: in the block's array where lines fold, else in memory.
    fn strides_of(&self, writes: bool) -> Vec<i64> {
        if self.staged(writes) {
            return self.staged_weights(writes);
        }
        self.digits.weights(|digit| if writes { digit.os } else { digit.is })
    }

    /// Bytes that lie side by side where the tile comes from and where it goes: as much as makes a difference.
    fn rows_of(&self, path: &[Layout]) -> u64 {
        let row = |layout: &Layout, writes: bool| {
            let strides = self.digits.weights(|digit| if writes { digit.os } else { digit.is });
            let run = self.digits.run(&layout.order, &strides) * self.pass.element_bytes(writes);
            if self.staged(writes) { 0 } else { run.min(WHOLE) }
        };
        row(&path[0], false) + row(&path[path.len() - 1], true)
    }

    /// Wavefronts of the exchanges on the way, over those of one without conflicts.
    fn wavefronts_of(&self, path: &[Layout]) -> f64 {
        let bytes = self.pass.precision.complex_bytes();
        let most = (u64::from(self.shared_limit) / bytes) as u32;
        let exchanges = path.windows(2).filter(|pair| pair[0] != pair[1]);
        let conflicts = |pair: &[Layout]| {
            let bounds = (self.threads.count, bytes, most);
            let shared = if pair[0].block == pair[1].block {
                exchange::choose(&self.digits, &pair[0], &pair[1], bounds)
            } else {
                exchange::between(&self.digits, &pair[0], &pair[1], bounds)
            };
            shared.conflicts
        };
        exchanges.map(conflicts).sum()
    }
}

/// All orders of so many stages of each axis.
fn orders(counts: &[usize], done: &mut Vec<usize>, order: &mut Vec<Stage>, take: &mut impl FnMut(&[Stage])) {
    if done == counts {
        return take(order);
    }
    for axis in 0..counts.len() {
        if done[axis] < counts[axis] {
            order.push(Stage { axis, position: done[axis] });
            done[axis] += 1;
            orders(counts, done, order, take);
            done[axis] -= 1;
            order.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_once_and_each_axis_in_its_own() {
        for (counts, all) in [(vec![1, 1, 1], 6), (vec![2, 2], 6), (vec![2, 0, 3], 10), (vec![2, 2, 2], 90)] {
            let mut seen: Vec<Vec<Stage>> = Vec::new();
            orders(&counts, &mut vec![0; counts.len()], &mut Vec::new(), &mut |order| {
                for (axis, &count) in counts.iter().enumerate() {
                    let own = order.iter().filter(|stage| stage.axis == axis);
                    assert!(own.map(|stage| stage.position).eq(0..count), "{order:?}");
                }
                assert!(!seen.iter().any(|known| known == order), "{order:?} came twice");
                seen.push(order.to_vec());
            });
            assert_eq!(seen.len(), all, "{counts:?}");
            // Axis by axis is what is left where all are alike.
            assert!(seen[0].is_sorted_by_key(|stage| stage.axis));
        }
    }
}
