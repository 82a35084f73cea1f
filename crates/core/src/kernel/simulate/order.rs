//! Which accesses come before which. Every executed instruction has a time; an access is remembered by its
//! thread and time, and synchronisation moves the times up to which threads see each other.

use std::collections::HashMap;
use std::rc::Rc;

/// Who touched an element: a thread of the cluster by its number, or one of the marks below.
pub(super) type Who = u32;

/// Several threads of one block: this, plus the lowest of them times [`RANGE`], plus the highest.
const SOME: Who = 0x8000_0000;
/// Threads that a range can name; clusters with more of them name none.
const RANGE: u32 = 1 << 14;
/// Threads of several blocks of the cluster that runs.
const SEVERAL: Who = u32::MAX - 1;
/// Threads of several clusters: nothing orders what comes after them.
const MANY: Who = u32::MAX;
/// An asynchronous write: this plus the phase that it completes on.
const ASYNC: Who = 0x4000_0000;

/// One arrival at a transaction barrier.
struct Arrival {
    lane: u32,
    time: u32,
    /// What the whole block did before this time came before the arrival.
    block_time: u32,
}

/// One phase of a transaction barrier.
#[derive(Default)]
struct Phase {
    arrivals: Vec<Arrival>,
    /// Time of the first wait of each thread that waited, and of each block.
    waits: HashMap<u32, u32>,
    block_waits: HashMap<u32, u32>,
    /// Something asynchronous completes on it.
    transfers: bool,
}

/// What one thread acquired by an atomic operation: for each block of the launch, up to which time.
struct Acquired {
    lane: u32,
    time: u32,
    seen: Rc<Vec<u32>>,
}

/// One release by adding to a counter.
struct Release {
    /// What the counter was then.
    sum: u32,
    block: usize,
    /// What the block did before this time is released.
    until: u32,
    /// What it had acquired.
    known: Vec<Rc<Vec<u32>>>,
}

/// The clocks of the cluster that runs.
pub(super) struct Order {
    threads: u32,
    cluster: u32,
    blocks: u64,
    /// Time of the current instruction; starts at 1, as 0 means never.
    pub now: u32,
    /// Time at which the current cluster started.
    pub start: u32,
    /// Starting time and index of every cluster that ran.
    groups: Vec<(u32, u64)>,
    /// Instruction of each time since `start`.
    history: Vec<u32>,
    /// Time of the last barrier of each block.
    pub barriers: Vec<u32>,
    /// Time of the last arrival with release at the cluster barrier that was waited for.
    cluster_time: u32,
    /// Time of the last arrival of any kind that was waited for.
    pub met: u32,
    /// The arrival that has not been waited for: time, and whether it is relaxed.
    pub arrived: Option<(u32, bool)>,
    phases: Vec<Phase>,
    released: HashMap<(u16, u64), Vec<u32>>,
    releases: HashMap<(u16, u64), Vec<Release>>,
    acquired: Vec<Acquired>,
}

impl Order {
    pub fn new(threads: u32, cluster: u32, blocks: u64) -> Self {
        Self {
            threads,
            cluster,
            blocks,
            now: 1,
            start: 1,
            groups: Vec::new(),
            history: Vec::new(),
            barriers: vec![1; cluster as usize],
            cluster_time: 0,
            met: 0,
            arrived: None,
            phases: Vec::new(),
            released: HashMap::new(),
            releases: HashMap::new(),
            acquired: Vec::new(),
        }
    }

    /// Starts a cluster.
    pub fn begin(&mut self, group: u64) {
        // One more, so that the last instruction of the cluster before lies before the start.
        self.now = self.now.saturating_add(1);
        self.start = self.now;
        self.groups.push((self.now, group));
        self.history.clear();
        self.barriers.fill(self.now);
        self.cluster_time = 0;
        self.met = 0;
        self.arrived = None;
        self.phases.clear();
        self.acquired.clear();
    }

    /// Ends an instruction and begins the next. `None` when time is used up.
    pub fn tick(&mut self, inst: usize) -> Option<()> {
        self.now = self.now.checked_add(1)?;
        self.history.push(inst as u32);
        Some(())
    }

    /// Rank of the block of a thread.
    pub fn block(&self, lane: u32) -> u32 {
        if self.cluster == 1 { 0 } else { lane / self.threads }
    }

    fn block_of(&self, who: Who) -> Option<u32> {
        match who {
            MANY | SEVERAL => None,
            _ if who >= SOME => Some(self.block(range(who).0)),
            _ if who >= ASYNC => None,
            _ => Some(self.block(who)),
        }
    }

    /// Whether an access by `who` at `time` comes before what thread `lane` does now.
    pub fn before(&self, who: Who, time: u32, lane: u32) -> bool {
        if time < self.start {
            return self.before_earlier(who, time, lane);
        }
        if who == lane {
            return true;
        }
        if who == MANY {
            return false;
        }
        if self.cluster == 1 && !(ASYNC..SOME).contains(&who) && time < self.barriers[0] {
            return true;
        }
        self.before_slow(who, time, lane)
    }

    fn before_slow(&self, who: Who, time: u32, lane: u32) -> bool {
        if (ASYNC..SOME).contains(&who) {
            return self.knows(lane, &self.phases[(who - ASYNC) as usize]);
        }
        if time < self.cluster_time {
            return true;
        }
        let Some(block) = self.block_of(who) else { return false };
        if block == self.block(lane) && time < self.barriers[block as usize] {
            return true;
        }
        self.phases.iter().rev().any(|phase| self.knows(lane, phase) && self.covers(phase, who, block, time))
    }

    /// Whether an access came before the arrivals of a phase: it is of threads that arrived later themselves, or
    /// of a block that had a barrier between it and an arrival.
    fn covers(&self, phase: &Phase, who: Who, block: u32, time: u32) -> bool {
        let by_block = |arrival: &Arrival| self.block(arrival.lane) == block && time < arrival.block_time;
        let (low, high) = if who >= SOME { range(who) } else { (who, who) };
        let by_itself =
            |lane| phase.arrivals.iter().any(|arrival| arrival.lane == lane && time < arrival.time);
        phase.arrivals.iter().any(by_block) || (low..=high).all(by_itself)
    }

    /// Whether a thread has waited for a phase, or met one that did.
    fn knows(&self, lane: u32, phase: &Phase) -> bool {
        let block = self.block(lane);
        phase.waits.contains_key(&lane)
            || phase.block_waits.get(&block).is_some_and(|&time| time < self.barriers[block as usize])
            || phase.block_waits.values().any(|&time| time < self.cluster_time)
    }

    /// Whether an access of an earlier cluster was released to what the thread acquired.
    fn before_earlier(&self, who: Who, time: u32, lane: u32) -> bool {
        let (Some(rank), Some(group)) = (self.block_of(who), self.group_at(time)) else { return false };
        let block = (group * u64::from(self.cluster)) as usize + rank as usize;
        self.visible(lane).any(|acquired| acquired.seen[block] > time)
    }

    fn visible(&self, lane: u32) -> impl Iterator<Item = &Acquired> {
        let block = self.block(lane);
        let barrier = self.barriers[block as usize];
        self.acquired
            .iter()
            .filter(move |a| a.lane == lane || (self.block(a.lane) == block && a.time < barrier))
    }

    fn group_at(&self, time: u32) -> Option<u64> {
        let next = self.groups.partition_point(|&(start, _)| start <= time);
        next.checked_sub(1).map(|i| self.groups[i].1)
    }

    /// Two readers as one.
    pub fn join(&self, who: Who, time: u32, lane: u32) -> Who {
        let (low, high) = if who >= SOME { range(who) } else { (who, who) };
        let (low, high) = (low.min(lane), high.max(lane));
        match self.block_of(who) {
            Some(block) if time >= self.start && block == self.block(lane) && high < RANGE => {
                SOME + low * RANGE + high
            }
            _ if time >= self.start && who != MANY => SEVERAL,
            _ => MANY,
        }
    }

    /// Names an access for people.
    pub fn describe(&self, who: Who, time: u32) -> String {
        let group = self.group_at(time).unwrap_or(0);
        let first = group * u64::from(self.cluster);
        let inst = (time.checked_sub(self.start))
            .and_then(|i| self.history.get((i as usize).checked_sub(1)?))
            .map_or(String::new(), |inst| format!(" (instruction {inst})"));
        match who {
            MANY | SEVERAL => format!("threads of several blocks{inst}"),
            _ if who >= SOME => {
                let (low, high) = range(who);
                let block = first + u64::from(self.block(low));
                let (low, high) = (low % self.threads, high % self.threads);
                format!("block {block}, several threads between {low} and {high}{inst}")
            }
            _ if who >= ASYNC => format!("a transfer{inst}"),
            _ => {
                let (block, thread) = (first + u64::from(self.block(who)), who % self.threads);
                format!("block {block}, thread {thread}{inst}")
            }
        }
    }

    // --- cluster barriers ---

    /// All threads of the cluster have waited for the arrival that is open.
    pub fn meet(&mut self) -> bool {
        let Some((time, relaxed)) = self.arrived.take() else { return false };
        self.met = time;
        if !relaxed {
            self.cluster_time = time;
        }
        true
    }

    // --- phases of transaction barriers ---

    /// Opens a phase.
    pub fn open_phase(&mut self) -> u32 {
        self.phases.push(Phase::default());
        (self.phases.len() - 1) as u32
    }

    /// A thread arrives in a phase.
    pub fn arrive(&mut self, phase: u32, lane: u32) {
        let block_time = self.barriers[self.block(lane) as usize];
        let arrival = Arrival { lane, time: self.now, block_time };
        self.phases[phase as usize].arrivals.push(arrival);
    }

    /// A thread has waited for a phase.
    pub fn wait(&mut self, phase: u32, lane: u32) {
        let (now, block) = (self.now, self.block(lane));
        let phase = &mut self.phases[phase as usize];
        phase.waits.entry(lane).or_insert(now);
        phase.block_waits.entry(block).or_insert(now);
    }

    /// Who an asynchronous write that completes on a phase is.
    pub fn transfer(&mut self, phase: u32) -> Who {
        self.phases[phase as usize].transfers = true;
        ASYNC + phase
    }

    /// Whether such a mark is an asynchronous write.
    pub fn is_transfer(who: Who) -> bool {
        (ASYNC..SOME).contains(&who)
    }

    /// Whether a transfer was started that nobody waited for.
    pub fn has_loose_transfers(&self) -> bool {
        self.phases.iter().any(|phase| phase.transfers && phase.waits.is_empty())
    }

    // --- atomics ---

    /// An atomic read-modify-write that leaves a counter at `sum` releases what the thread's block did before its
    /// last barrier.
    pub fn release(&mut self, at: (u16, u64), lane: u32, sum: u32) {
        let rank = self.block(lane);
        let until = if self.threads == 1 { self.now } else { self.barriers[rank as usize] };
        let group = self.groups.last().map_or(0, |&(_, group)| group);
        let block = (group * u64::from(self.cluster)) as usize + rank as usize;
        let known: Vec<Rc<Vec<u32>>> = self.visible(lane).map(|a| Rc::clone(&a.seen)).collect();
        let release = Release { sum, block, until, known };
        let blocks = self.blocks as usize;
        release.merge(self.released.entry(at).or_insert_with(|| vec![0; blocks]));
        self.releases.entry(at).or_default().push(release);
    }

    /// An atomic read acquires what was released there.
    pub fn acquire(&mut self, at: (u16, u64), lane: u32) {
        if let Some(released) = self.released.get(&at) {
            let seen = Rc::new(released.clone());
            self.acquired.push(Acquired { lane, time: self.now, seen });
        }
    }

    /// A wait for a sum acquires what was released up to it, and not what happens to have come since.
    pub fn acquire_by(&mut self, at: (u16, u64), lane: u32, wanted: u32) {
        let Some(releases) = self.releases.get(&at) else { return };
        let before = releases.iter().position(|release| release.sum >= wanted).unwrap_or(releases.len());
        let count = if wanted == 0 { 0 } else { (before + 1).min(releases.len()) };
        if count == releases.len() {
            return self.acquire(at, lane);
        }
        let mut seen = vec![0; self.blocks as usize];
        releases[..count].iter().for_each(|release| release.merge(&mut seen));
        self.acquired.push(Acquired { lane, time: self.now, seen: Rc::new(seen) });
    }
}

impl Release {
    /// Moves the times up to which each block is seen.
    fn merge(&self, seen: &mut [u32]) {
        for known in &self.known {
            for (to, from) in seen.iter_mut().zip(known.iter()) {
                *to = (*to).max(*from);
            }
        }
        seen[self.block] = seen[self.block].max(self.until);
    }
}

/// Lowest and highest thread of [`SOME`].
fn range(who: Who) -> (u32, u32) {
    ((who - SOME) / RANGE, (who - SOME) % RANGE)
}
