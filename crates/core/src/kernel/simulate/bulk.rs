//! Bulk copies, and the fences that they need.

use super::super::{Inst, Op, Space, Type};
use super::access::Shape;
use super::column::{Elem, with_elem};
use super::exec::{Machine, Mask};
use super::fault::{Fault, Touch};
use super::memory::OFF;
use super::order::Order;
use super::sync::Key;
use super::{Memory, count};

/// Bytes that bulk copies are aligned to and multiples of.
const ALIGN: u64 = 16;

/// A bulk store's read of shared memory.
struct BulkRead {
    array: u16,
    /// Addresses `from..to`.
    from: usize,
    to: usize,
    lane: u32,
    /// Index among the thread's groups.
    group: u32,
    /// When the thread had waited for it; 0: not yet.
    waited: u32,
}

/// Bulk copies in flight.
#[derive(Default)]
pub(super) struct Bulk {
    reads: Vec<BulkRead>,
    /// Groups that each thread has closed.
    closed: Vec<u32>,
    /// Time of each thread's last fence, and of the last one that a barrier made known to the others.
    fences: Vec<u32>,
    fenced: Vec<u32>,
    pub init_fences: Vec<u32>,
    /// Time of the last access to another block's shared memory.
    pub last_remote: u32,
}

impl Bulk {
    /// Starts a cluster of so many threads.
    pub fn begin(&mut self, threads: usize) {
        let none = || vec![0; threads];
        *self =
            Self { closed: none(), fences: none(), fenced: none(), init_fences: none(), ..Self::default() };
    }

    /// A barrier of a block or of the cluster has been passed.
    pub fn barrier(&mut self, order: &Order) {
        for (lane, (fenced, &fence)) in self.fenced.iter_mut().zip(&self.fences).enumerate() {
            // Another block's barrier says nothing about this thread's fence.
            if fence < order.barriers[order.block(lane as u32) as usize].max(order.met) {
                *fenced = fence;
            }
        }
        let alone = order.barriers.len() == 1;
        self.reads.retain(|read| !alone || read.waited == 0 || read.waited >= order.barriers[0]);
    }

    /// A thread whose bulk store was never waited for.
    pub fn unfinished(&self) -> Option<u32> {
        self.reads.iter().find(|read| read.waited == 0).map(|read| read.lane)
    }
}

/// One thread's bulk copy: thread, shared address, global address, elements.
struct Copy {
    lane: usize,
    shared: usize,
    global: usize,
    count: usize,
}

impl Machine<'_> {
    /// Bulk copies and fences.
    pub(super) fn bulk(&mut self, inst: &Inst, mask: &Mask) -> Result<(), Fault> {
        let now = self.order.now;
        let active = || mask.lanes.iter().enumerate().filter(|&(_, &on)| on).map(|(lane, _)| lane);
        match inst.op {
            Op::BulkLoad => return self.bulk_load(inst, mask),
            Op::BulkStore => return self.bulk_store(inst, mask),
            Op::BulkPrefetch { predicated } => return self.bulk_prefetch(inst, predicated, mask),
            Op::AsyncFence => active().for_each(|lane| self.bulk.fences[lane] = now),
            Op::BarrierInitFence => active().for_each(|lane| self.bulk.init_fences[lane] = now),
            Op::BulkCommit => active().for_each(|lane| self.bulk.closed[lane] += 1),
            Op::BulkWait { pending } => {
                let Bulk { reads, closed, .. } = &mut self.bulk;
                for read in reads.iter_mut().filter(|read| mask.lanes[read.lane as usize]) {
                    let done = closed[read.lane as usize].saturating_sub(pending.into());
                    if read.waited == 0 && read.group < done {
                        read.waited = now;
                    }
                }
            }
            _ => return Err(self.malformed("this operation is no synchronisation")),
        }
        Ok(())
    }

    /// Checks a write against the bulk stores in flight.
    pub(super) fn check_bulk_reads(
        &self,
        space: Space,
        lane: usize,
        address: usize,
        count: usize,
    ) -> Result<(), Fault> {
        let (Space::Shared(array) | Space::Remote(array)) = space else { return Ok(()) };
        let hit = self.bulk.reads.iter().find(|read| {
            read.array == array
                && read.from < address + count
                && address < read.to
                && (read.waited == 0 || !self.order.before(read.lane, read.waited, lane as u32))
        });
        let Some(read) = hit else { return Ok(()) };
        let (array, element) = self.name(space, address.max(read.from));
        let other = self.order.describe(read.lane, read.waited);
        let (at, touch) = (self.site(lane), Touch::Write);
        Err(Fault::Race { at, array, element, touch, other, other_touch: Touch::BulkRead })
    }

    /// Address of one side of each thread's copy, aligned and in bounds for the bytes given.
    fn bulk_side(&self, inst: &Inst, arg: usize, bytes: &[u32], mask: &Mask) -> Result<Vec<usize>, Fault> {
        let space = self.space(inst, arg)?;
        let array = self.array(space)?;
        let (elem, len) = (u64::from(array.elem.bytes()), array.len);
        let addresses = self.resolve(inst, arg, Shape { width: 1, offset: 0 }, mask, None)?;
        for (lane, &address) in addresses.iter().enumerate().filter(|&(_, &address)| address != OFF) {
            let element = address as u64 % len;
            let bytes = u64::from(bytes[lane]);
            if bytes == 0 || !bytes.is_multiple_of(ALIGN) {
                let what = "copies a number of bytes that is not a positive multiple of 16";
                return Err(Fault::Undefined { at: self.site(lane), what });
            }
            if !(element * elem).is_multiple_of(ALIGN) {
                let (at, array, align) = (self.site(lane), array.name.clone(), (ALIGN / elem) as u32);
                return Err(Fault::Misaligned { at, array, element, align });
            }
            let last = element + bytes / elem - 1;
            if last >= len {
                return Err(self.out_of_bounds(lane, &array.name, last as i64, len));
            }
        }
        Ok(addresses)
    }

    fn copies(&self, inst: &Inst, shared: usize, global: usize, mask: &Mask) -> Result<Vec<Copy>, Fault> {
        let (near, far) = (self.space(inst, shared)?, self.space(inst, global)?);
        if !matches!((near, far), (Space::Shared(_), Space::Global(_))) {
            return Err(self.malformed("bulk copies are between the block's shared memory and a buffer"));
        }
        if self.array(far)?.is_sparse() {
            return Err(self.malformed("bulk copies are of buffers that exist as a whole"));
        }
        let (near, far) = (self.array(near)?.elem, self.array(far)?.elem);
        if near != far {
            return Err(self.malformed("a bulk copy is between arrays of different types"));
        }
        let bytes = self.lanes::<u32>(inst, 2)?;
        let near_at = self.bulk_side(inst, shared, bytes, mask)?;
        let far_at = self.bulk_side(inst, global, bytes, mask)?;
        let lanes = near_at.iter().zip(&far_at).enumerate().filter(|&(_, (&near, _))| near != OFF);
        let elem = near.bytes();
        Ok(lanes
            .map(|(lane, (&shared, &global))| Copy {
                lane,
                shared,
                global,
                count: (bytes[lane] / elem) as usize,
            })
            .collect())
    }

    fn bulk_load(&mut self, inst: &Inst, mask: &Mask) -> Result<(), Fault> {
        let (near, far) = (self.space(inst, 0)?, self.space(inst, 1)?);
        let copies = self.copies(inst, 0, 1, mask)?;
        let keys = self.keys(inst, 3, mask)?;
        for (copy, (_, key)) in copies.into_iter().zip(keys) {
            self.count_bulk(far, &copy, false);
            self.load_one(near, far, &copy, key)?;
        }
        Ok(())
    }

    fn load_one(&mut self, near: Space, far: Space, copy: &Copy, key: Key) -> Result<(), Fault> {
        let (Space::Shared(s), Space::Global(g)) = (near, far) else { return Ok(()) };
        for at in copy.global..copy.global + copy.count {
            if let Err(clash) = self.globals[g as usize].read(&self.order, copy.lane as u32, at) {
                return Err(self.clash(far, copy.lane, at, Touch::Read, &clash));
            }
        }
        let mark = self.transfer(copy.lane, key)?;
        self.write_range(near, copy.lane, copy.shared, copy.count, mark)?;
        let (to, from) = (&mut self.shared[s as usize], &self.globals[g as usize]);
        let ty = to.elem;
        copy_elements(ty, &mut to.data, copy.shared, &from.data, copy.global, copy.count);
        self.deliver(key, copy.count * ty.bytes() as usize);
        Ok(())
    }

    fn bulk_store(&mut self, inst: &Inst, mask: &Mask) -> Result<(), Fault> {
        let (far, near) = (self.space(inst, 0)?, self.space(inst, 1)?);
        for copy in self.copies(inst, 1, 0, mask)? {
            self.count_bulk(far, &copy, true);
            self.store_one(near, far, &copy)?;
        }
        Ok(())
    }

    fn store_one(&mut self, near: Space, far: Space, copy: &Copy) -> Result<(), Fault> {
        let (Space::Shared(s), Space::Global(g)) = (near, far) else { return Ok(()) };
        let lane = copy.lane as u32;
        for at in copy.shared..copy.shared + copy.count {
            if let Err(clash) = self.shared[s as usize].read(&self.order, lane, at) {
                return Err(self.clash(near, copy.lane, at, Touch::Read, &clash));
            }
            let Some((who, time)) = self.shared[s as usize].writer(at) else { continue };
            let fences = if who == lane { &self.bulk.fences } else { &self.bulk.fenced };
            if !Order::is_transfer(who) && fences[who as usize] <= time {
                let (array, element) = self.name(near, at);
                let (at, fence) = (self.site(copy.lane), "AsyncFence");
                return Err(Fault::MissingFence { at, array, element, fence });
            }
        }
        self.write_range(far, copy.lane, copy.global, copy.count, lane)?;
        let (to, from) = (&mut self.globals[g as usize], &self.shared[s as usize]);
        copy_elements(to.elem, &mut to.data, copy.global, &from.data, copy.shared, copy.count);
        let group = self.bulk.closed[copy.lane];
        let (from, to) = (copy.shared, copy.shared + copy.count);
        self.bulk.reads.push(BulkRead { array: s, from, to, lane, group, waited: 0 });
        Ok(())
    }

    fn count_bulk(&mut self, far: Space, copy: &Copy, write: bool) {
        let Space::Global(g) = far else { return };
        let array = &mut self.globals[g as usize];
        let elem = array.elem.bytes() as usize;
        let last = copy.global + copy.count - 1;
        let sectors = (last * elem / count::SECTOR - copy.global * elem / count::SECTOR + 1) as u64;
        let addresses: Vec<usize> = (copy.global..=last).collect();
        let fresh = array.stamp(&addresses, self.group, write);
        self.report.minimal_sectors += fresh;
        if write {
            self.report.global_sectors_written += sectors;
            self.report.minimal_sectors_written += fresh;
        } else {
            self.report.global_sectors_read += sectors;
            self.report.minimal_sectors_read += fresh;
        }
    }

    fn bulk_prefetch(&self, inst: &Inst, predicated: bool, mask: &Mask) -> Result<(), Fault> {
        let mut mask = mask.clone();
        if predicated {
            let pred = self.lanes::<bool>(inst, 2)?;
            mask.lanes.iter_mut().zip(pred).for_each(|(on, &pred)| *on &= pred);
        }
        let bytes = self.lanes::<u32>(inst, 1)?;
        self.bulk_side(inst, 0, bytes, &mask).map(drop)
    }
}

fn copy_elements(ty: Type, to: &mut Memory, at: usize, from: &Memory, start: usize, count: usize) {
    with_elem!(ty, T => {
        if let (Some(to), Some(from)) = (T::of_mut(to), T::of(from)) {
            to[at..at + count].copy_from_slice(&from[start..start + count]);
        }
    }, ());
}
