//! Barriers of a block, of a cluster, and transaction barriers.

use super::super::{Inst, Op, Space};
use super::access::Shape;
use super::column::Column;
use super::exec::{Machine, Mask};
use super::fault::{Fault, Touch};
use super::memory::OFF;

/// Where a transaction barrier lies: rank of the block, shared array, element.
pub(super) type Key = (u32, u16, u32);

/// A transaction barrier.
pub(super) struct TxBarrier {
    count: u32,
    /// Arrivals that the phase still needs.
    pending: u32,
    /// Bytes that it still expects; less than 0 while transfers ran ahead of the expectation.
    bytes: i64,
    /// Phases completed.
    phase: u32,
    /// The phase that is open, and the one before, as the clocks know them.
    open: u32,
    closed: Option<u32>,
    /// Who set it up, and when.
    by: (u32, u32),
}

/// How a transaction barrier is used.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// By a thread of the same block.
    Own,
    /// By a bulk copy or from another block, which a set-up reaches only through its fence.
    Fenced,
}

impl Machine<'_> {
    /// Synchronisation and transfers.
    pub(super) fn sync(&mut self, inst: &Inst, mask: &Mask) -> Result<(), Fault> {
        match inst.op {
            Op::Barrier => self.block_barrier(mask),
            // Here a launch begins when the one before has ended.
            Op::LaunchWait => Ok(()),
            Op::MapRemote => self.map_remote(inst, mask),
            Op::ClusterArrive { relaxed } => self.cluster_arrive(relaxed, mask),
            Op::ClusterWait => self.cluster_wait(mask),
            Op::BarrierInit { count } => self.barrier_init(inst, count, mask),
            Op::BarrierExpect => self.barrier_arrive(inst, true, mask),
            Op::BarrierArrive => self.barrier_arrive(inst, false, mask),
            Op::BarrierWait => self.barrier_wait(inst, mask),
            Op::RemoteStoreAsync { width, offset } => {
                self.remote_store_async(inst, Shape { width, offset }, mask)
            }
            _ => self.bulk(inst, mask),
        }
    }

    /// The blocks whose threads are all here; an error where only some are.
    fn whole_blocks(&self, mask: &Mask) -> Result<Vec<usize>, Fault> {
        let threads = self.kernel.threads as usize;
        let mut whole = Vec::new();
        for (block, lanes) in mask.lanes.chunks(threads).enumerate() {
            let Some(here) = lanes.iter().position(|&on| on) else { continue };
            if let Some(missing) = lanes.iter().position(|&on| !on) {
                let at = self.site(block * threads + here);
                return Err(Fault::DivergentBarrier { at, missing: missing as u32 });
            }
            whole.push(block);
        }
        Ok(whole)
    }

    fn block_barrier(&mut self, mask: &Mask) -> Result<(), Fault> {
        for block in self.whole_blocks(mask)? {
            self.order.barriers[block] = self.order.now;
            self.report.barriers += 1;
        }
        self.bulk.barrier(&self.order);
        Ok(())
    }

    fn whole_cluster(&self, mask: &Mask) -> Result<(), Fault> {
        let whole = self.whole_blocks(mask)?;
        if mask.all() {
            return Ok(());
        }
        // Some block is away as a whole: its threads are missing from the one that is here.
        let here = whole.first().copied().unwrap_or(0) * self.kernel.threads as usize;
        Err(Fault::DivergentBarrier { at: self.site(here), missing: 0 })
    }

    fn cluster_arrive(&mut self, relaxed: bool, mask: &Mask) -> Result<(), Fault> {
        self.whole_cluster(mask)?;
        if self.order.arrived.is_some() {
            return Err(self.bad_cluster("is arrived at twice without a wait between"));
        }
        self.order.arrived = Some((self.order.now, relaxed));
        Ok(())
    }

    fn cluster_wait(&mut self, mask: &Mask) -> Result<(), Fault> {
        self.whole_cluster(mask)?;
        if !self.order.meet() {
            return Err(self.bad_cluster("is waited for without an arrival"));
        }
        self.report.cluster_barriers += 1;
        self.bulk.barrier(&self.order);
        Ok(())
    }

    fn bad_cluster(&self, why: &'static str) -> Fault {
        Fault::BadBarrier { at: self.site(0), array: "cluster".into(), element: 0, why }
    }

    fn map_remote(&mut self, inst: &Inst, mask: &Mask) -> Result<(), Fault> {
        let (at, rank) = (self.lanes::<i64>(inst, 0)?.to_vec(), self.lanes::<u32>(inst, 1)?.to_vec());
        let cluster = self.kernel.cluster;
        if let Some(lane) = (0..rank.len()).find(|&lane| mask.lanes[lane] && rank[lane] >= cluster) {
            return Err(self.out_of_bounds(lane, "cluster", rank[lane].into(), cluster.into()));
        }
        self.define(inst, vec![Column::Remote(at, rank)])
    }

    /// Whether another block's memory is touched; an error where that block may not have started.
    pub(super) fn reaches_out(&self, space: Space, addresses: &[usize]) -> Result<bool, Fault> {
        let Space::Remote(array) = space else { return Ok(false) };
        let len = self.shared[array as usize].len.max(1) as usize;
        let mut any = false;
        for (lane, &at) in addresses.iter().enumerate().filter(|&(_, &at)| at != OFF) {
            if at / len == self.order.block(lane as u32) as usize {
                continue;
            }
            if self.order.met == 0 {
                let (array, element) = self.name(space, at);
                let why = "comes before any cluster barrier, so that the block may not have started";
                return Err(Fault::RemoteLifetime { at: self.site(lane), array, element, why });
            }
            any = true;
        }
        Ok(any)
    }

    // --- transaction barriers ---

    /// The transaction barrier that each active thread means.
    pub(super) fn keys(&self, inst: &Inst, arg: usize, mask: &Mask) -> Result<Vec<(usize, Key)>, Fault> {
        let (Space::Shared(array) | Space::Remote(array)) = self.space(inst, arg)? else {
            return Err(self.malformed("transaction barriers lie in shared memory"));
        };
        let len = self.array(Space::Shared(array))?.len.max(1) as usize;
        let addresses = self.resolve(inst, arg, Shape { width: 1, offset: 0 }, mask, None)?;
        let on = addresses.iter().enumerate().filter(|&(_, &at)| at != OFF);
        Ok(on.map(|(lane, &at)| (lane, ((at / len) as u32, array, (at % len) as u32))).collect())
    }

    fn bad(&self, lane: usize, key: Key, why: &'static str) -> Fault {
        let (array, element) = self.name(Space::Shared(key.1), key.2 as usize);
        Fault::BadBarrier { at: self.site(lane), array, element, why }
    }

    fn barrier_init(&mut self, inst: &Inst, count: u32, mask: &Mask) -> Result<(), Fault> {
        for (lane, key) in self.keys(inst, 0, mask)? {
            if count == 0 || count >= 1 << 20 {
                return Err(self.bad(lane, key, "must be set up for 1 to 1048575 arrivals"));
            }
            if self.barriers.contains_key(&key) {
                return Err(self.bad(lane, key, "is set up twice"));
            }
            let at = key.0 as usize * self.shared[key.1 as usize].len as usize + key.2 as usize;
            self.write_range(Space::Shared(key.1), lane, at, 1, lane as u32)?;
            let open = self.order.open_phase();
            let by = (lane as u32, self.order.now);
            let barrier = TxBarrier { count, pending: count, bytes: 0, phase: 0, open, closed: None, by };
            self.barriers.insert(key, barrier);
        }
        Ok(())
    }

    /// Checks that a thread may use a barrier.
    pub(super) fn usable(&self, lane: usize, key: Key, how: Use) -> Result<&TxBarrier, Fault> {
        let Some(barrier) = self.barriers.get(&key) else {
            return Err(self.bad(lane, key, "is used before it is set up"));
        };
        let (array, element) = self.name(Space::Shared(key.1), key.2 as usize);
        let (by, time) = barrier.by;
        // A fence for the set-up and any cluster barrier make it known, a relaxed one too.
        let fence = self.bulk.init_fences[by as usize];
        let fenced = fence > time && fence < self.order.met;
        if !fenced && !self.order.before(by, time, lane as u32) {
            let (other, other_touch) = (self.order.describe(by, time), Touch::Write);
            let at = self.site(lane);
            return Err(Fault::Race { at, array, element, touch: Touch::Read, other, other_touch });
        }
        if how == Use::Fenced && fence <= time {
            return Err(Fault::MissingFence {
                at: self.site(lane),
                array,
                element,
                fence: "BarrierInitFence",
            });
        }
        Ok(barrier)
    }

    fn barrier_arrive(&mut self, inst: &Inst, expects: bool, mask: &Mask) -> Result<(), Fault> {
        let remote = matches!(self.space(inst, 0)?, Space::Remote(_));
        let bytes = if expects { Some(self.lanes::<u32>(inst, 1)?.to_vec()) } else { None };
        for (lane, key) in self.keys(inst, 0, mask)? {
            let how = if remote { Use::Fenced } else { Use::Own };
            if self.usable(lane, key, how)?.pending == 0 {
                return Err(self.bad(lane, key, "gets more arrivals in a phase than it was set up for"));
            }
            let Some(barrier) = self.barriers.get_mut(&key) else { continue };
            barrier.pending -= 1;
            barrier.bytes += bytes.as_ref().map_or(0, |bytes| bytes[lane].into());
            self.order.arrive(barrier.open, lane as u32);
            self.settle(key);
        }
        Ok(())
    }

    /// The mark of a transfer that completes on the barrier's open phase.
    pub(super) fn transfer(&mut self, lane: usize, key: Key) -> Result<u32, Fault> {
        let open = self.usable(lane, key, Use::Fenced)?.open;
        Ok(self.order.transfer(open))
    }

    /// A transfer delivers its bytes.
    pub(super) fn deliver(&mut self, key: Key, bytes: usize) {
        if let Some(barrier) = self.barriers.get_mut(&key) {
            barrier.bytes -= bytes as i64;
        }
        self.settle(key);
    }

    /// Goes on to the next phase when nothing is missing.
    fn settle(&mut self, key: Key) {
        if let Some(barrier) = self.barriers.get_mut(&key)
            && barrier.pending == 0
            && barrier.bytes == 0
        {
            barrier.phase += 1;
            barrier.pending = barrier.count;
            barrier.closed = Some(barrier.open);
            barrier.open = self.order.open_phase();
        }
    }

    fn barrier_wait(&mut self, inst: &Inst, mask: &Mask) -> Result<(), Fault> {
        let parity = self.lanes::<u32>(inst, 1)?.to_vec();
        for (lane, key) in self.keys(inst, 0, mask)? {
            if parity[lane] > 1 {
                return Err(self.bad(lane, key, "is waited for with a parity that is neither 0 nor 1"));
            }
            let barrier = self.usable(lane, key, Use::Own)?;
            let TxBarrier { phase, pending, bytes, closed, .. } = *barrier;
            if phase & 1 == parity[lane] {
                let (array, element) = self.name(Space::Shared(key.1), key.2 as usize);
                let why = format!(
                    "phase {phase} of {array}[{element}] still needs {pending} arrivals and {bytes} bytes, and \
                     nothing that stands before the wait brings them"
                );
                return Err(Fault::Deadlock { at: self.site(lane), why });
            }
            if let Some(closed) = closed {
                self.order.wait(closed, lane as u32);
            }
        }
        Ok(())
    }

    fn remote_store_async(&mut self, inst: &Inst, shape: Shape, mask: &Mask) -> Result<(), Fault> {
        let space = self.space(inst, 0)?;
        let addresses = self.resolve(inst, 0, shape, mask, None)?;
        // The other block awaits the store through its barrier, so it need not be held back from ending.
        self.reaches_out(space, &addresses)?;
        let array = self.array(space)?;
        let (len, elem) = (array.len.max(1) as usize, array.elem.bytes() as usize);
        if elem < 4 {
            return Err(self.malformed("asynchronous remote stores are of 4- and 8-byte types"));
        }
        for (lane, key) in self.keys(inst, 1, mask)? {
            if addresses[lane] / len != key.0 as usize {
                return Err(self.bad(lane, key, "must lie in the block that is stored to"));
            }
            let mark = self.transfer(lane, key)?;
            self.write_range(space, lane, addresses[lane], shape.width as usize, mark)?;
            self.deliver(key, elem * shape.width as usize);
        }
        self.scatter(inst, space, 2, &addresses, shape.width)
    }

    /// Whether a cluster may end here.
    pub(super) fn check_finished(&self) -> Result<(), Fault> {
        let unfinished = |lane: u32, what| {
            let block = self.group * u64::from(self.kernel.cluster) + u64::from(self.order.block(lane));
            Err(Fault::Unfinished { kernel: self.kernel.name.clone(), block, what })
        };
        if let Some(lane) = self.bulk.unfinished() {
            return unfinished(lane, "a bulk store may still read its shared memory; it must be waited for");
        }
        if self.order.has_loose_transfers() {
            return unfinished(0, "an asynchronous store or bulk load was never waited for");
        }
        if self.bulk.last_remote > self.order.met {
            return unfinished(
                0,
                "another block may still touch its shared memory; a cluster barrier must follow",
            );
        }
        Ok(())
    }
}
