//! What a kernel costs: memory sectors, bank conflicts, operations.

use super::memory::OFF;

/// Bytes of a memory sector, the unit in which global memory is fetched.
pub(super) const SECTOR: usize = 32;
/// Banks of shared memory, each 4 bytes wide.
const BANKS: usize = 32;

/// Counts of one or several launches. All add up over threads, blocks and launches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Report {
    /// 32-byte sectors of global memory that loads ask for: distinct ones of each subgroup's instruction.
    pub global_sectors_read: u64,
    /// The same for stores.
    pub global_sectors_written: u64,
    /// Distinct sectors that each cluster (each block, without clusters) touches, reads plus writes: what is
    /// moved if a cache catches every repetition within it.
    pub minimal_sectors: u64,
    /// The part of [`minimal_sectors`](Self::minimal_sectors) that is read.
    pub minimal_sectors_read: u64,
    /// The part of [`minimal_sectors`](Self::minimal_sectors) that is written.
    pub minimal_sectors_written: u64,
    /// Wavefronts that shared accesses would take without bank conflicts: one for each 32 threads and 4 bytes.
    pub shared_accesses: u64,
    /// Wavefronts that they take.
    pub shared_wavefronts: u64,
    /// Block barriers, one for each block that passes it.
    pub barriers: u64,
    /// Cluster barriers, one for each cluster that passes it.
    pub cluster_barriers: u64,
    /// Floating-point operations of all threads; a fused multiply-add is two.
    pub flops: u64,
    /// Integer, predicate and address operations of all threads.
    pub int_ops: u64,
    /// Instructions of all threads, without constants.
    pub instructions: u64,
    /// Shuffles of all threads.
    pub shuffles: u64,
    /// Blocks that ran.
    pub blocks: u64,
}

impl Report {
    /// Wavefronts for each one that was unavoidable: 1 is free of bank conflicts.
    pub fn conflicts(&self) -> f64 {
        if self.shared_accesses == 0 {
            1.0
        } else {
            self.shared_wavefronts as f64 / self.shared_accesses as f64
        }
    }
}

impl std::ops::AddAssign for Report {
    fn add_assign(&mut self, other: Self) {
        self.global_sectors_read += other.global_sectors_read;
        self.global_sectors_written += other.global_sectors_written;
        self.minimal_sectors += other.minimal_sectors;
        self.minimal_sectors_read += other.minimal_sectors_read;
        self.minimal_sectors_written += other.minimal_sectors_written;
        self.shared_accesses += other.shared_accesses;
        self.shared_wavefronts += other.shared_wavefronts;
        self.barriers += other.barriers;
        self.cluster_barriers += other.cluster_barriers;
        self.flops += other.flops;
        self.int_ops += other.int_ops;
        self.instructions += other.instructions;
        self.shuffles += other.shuffles;
        self.blocks += other.blocks;
    }
}

/// Distinct sectors of one instruction, warp by warp. `addresses` are elements, [`OFF`] where a thread takes no
/// part; an access never crosses a sector, since it is aligned to its own width.
pub(super) fn sectors(addresses: &[usize], elem_bytes: usize, threads: usize, subgroup: usize) -> u64 {
    let mut total = 0;
    let mut seen: Vec<usize> = Vec::with_capacity(subgroup);
    for block in addresses.chunks(threads) {
        for warp in block.chunks(subgroup) {
            seen.clear();
            let mut highest = 0;
            for &address in warp.iter().filter(|&&address| address != OFF) {
                let sector = address * elem_bytes / SECTOR;
                // Mostly the addresses ascend, and then nothing needs to be searched.
                if seen.is_empty() || sector > highest {
                    highest = sector;
                    seen.push(sector);
                } else if sector != highest && !seen.contains(&sector) {
                    seen.push(sector);
                }
            }
            total += seen.len() as u64;
        }
    }
    total
}

/// Wavefronts of one instruction on shared memory: (without conflicts, with them). `base` is the array's first
/// byte; `bytes` what each thread accesses. 8-byte accesses go by half warps and 16-byte ones by quarters.
pub(super) fn wavefronts(
    addresses: &[usize],
    base: usize,
    elem_bytes: usize,
    bytes: usize,
    threads: usize,
) -> (u64, u64) {
    let at_once = BANKS * 4 / bytes.max(4);
    let (mut ideal, mut actual) = (0, 0);
    for block in addresses.chunks(threads) {
        for group in block.chunks(at_once) {
            let mut banks = Banks::default();
            let mut any = false;
            for &address in group.iter().filter(|&&address| address != OFF) {
                any = true;
                let first = base + address * elem_bytes;
                for word in first / 4..=(first + bytes - 1) / 4 {
                    banks.add(word);
                }
            }
            ideal += u64::from(any);
            actual += u64::from(banks.worst);
        }
    }
    (ideal, actual)
}

/// Distinct words in each bank, as chains of indices (plus one) into `words`.
#[derive(Default)]
struct Banks {
    heads: [u8; BANKS],
    counts: [u8; BANKS],
    next: [u8; BANKS],
    words: [usize; BANKS],
    len: usize,
    worst: u8,
}

impl Banks {
    fn add(&mut self, word: usize) {
        let bank = word % BANKS;
        let mut at = self.heads[bank];
        while at != 0 {
            if self.words[at as usize - 1] == word {
                return;
            }
            at = self.next[at as usize - 1];
        }
        self.words[self.len] = word;
        self.next[self.len] = self.heads[bank];
        self.len += 1;
        self.heads[bank] = self.len as u8;
        self.counts[bank] += 1;
        self.worst = self.worst.max(self.counts[bank]);
    }
}
