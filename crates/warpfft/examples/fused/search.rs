//! What is tried: first all tiles, radices and resident blocks, then what is around the fastest of these.

use warpfft::Plan;
use warpfft::core::kernel::Cache;

use crate::Bench;

/// Largest ring that is tried, in bytes.
const RING: u64 = 27 << 20;
/// How many of the first round the second goes on from.
const LEADERS: usize = 4;

/// What is tried.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Variant {
    pub radices: [Vec<u32>; 2],
    pub threads: u32,
    /// Transforms that a tile of each pass holds.
    pub held: [u64; 2],
    pub slots: u32,
    pub ahead: u32,
    pub asked: u32,
    pub early: bool,
    /// Hints of the caller's data and of the ring.
    pub hints: [Cache; 2],
}

impl Variant {
    pub fn text(&self) -> String {
        let radices =
            |i: usize| self.radices[i].iter().map(ToString::to_string).collect::<Vec<_>>().join(".");
        format!(
            "{}|{} {}:{}+{} ring {}/{} asked {}{} {:?}+{:?}",
            radices(0),
            radices(1),
            self.threads,
            self.held[0],
            self.held[1],
            self.slots,
            self.ahead,
            self.asked,
            if self.early { " early" } else { "" },
            self.hints[0],
            self.hints[1]
        )
    }
}

impl Bench {
    /// Tiles of both passes and resident blocks, each with the rings that suit it.
    pub fn first_round(&self) -> Vec<Variant> {
        let lengths = self.lengths();
        let mut all = Vec::new();
        for radices in products(lengths) {
            for threads in [128, 192, 256, 512] {
                for held in [[4, 4], [8, 8], [4, 8], [8, 16], [16, 16]] {
                    for asked in [2, 3, 4, 5, 6, 8] {
                        if !self.fits(&radices, threads, held, asked) {
                            continue;
                        }
                        all.extend(self.rings(held, asked).into_iter().map(|(slots, ahead)| Variant {
                            radices: radices.clone(),
                            threads,
                            held,
                            slots,
                            ahead,
                            asked,
                            early: false,
                            hints: [Cache::Stream, Cache::L2],
                        }));
                    }
                }
            }
        }
        all
    }

    /// Whether so many blocks can be resident, without spills as far as one can tell before.
    fn fits(&self, radices: &[Vec<u32>; 2], threads: u32, held: [u64; 2], asked: u32) -> bool {
        let points = [0, 1].map(|i| self.lengths()[i] * held[i]);
        let most = points[0].max(points[1]);
        let per_thread = most.div_ceil(u64::from(threads));
        let even = |i: usize| {
            radices[i].iter().all(|&radix| (points[i] / u64::from(radix)).is_multiple_of(u64::from(threads)))
        };
        let registers = u64::from(self.limits.registers_per_sm / (threads * asked) / 8 * 8).min(255);
        let wide = radices.iter().flatten().any(|&radix| radix == 32);
        let least = 2 * per_thread + if wide { 26 } else { 22 };
        let bytes = most * 8 * 17 / 16 + 1024 + 16;
        let resident = u64::from(threads * asked) >= 384 && threads * asked <= self.limits.threads_per_sm;
        let own = self.problem.transform.len() == 2;
        // Rows, or columns of whole sectors.
        let columns = held[1] >= 4 && held[0] >= if own { 1 } else { 4 };
        (8..=32).contains(&per_thread)
            && even(0)
            && even(1)
            && registers >= least
            && registers <= 4 * per_thread + 64
            && bytes * u64::from(asked) <= u64::from(self.limits.shared_per_sm)
            && resident
            && columns
    }

    /// Slots, and how far ahead: so that what is waited for is about a wave of blocks away.
    fn rings(&self, held: [u64; 2], asked: u32) -> Vec<(u32, u32)> {
        let item: u64 = self.lengths().iter().product();
        let lengths = self.lengths();
        let step = item / lengths[0] / held[0] + item / lengths[1] / held[1];
        let wave = u64::from(self.limits.multiprocessors * asked);
        let most = (RING / (item * 8)).min(self.problem.elements() / item);
        let mut rings = Vec::new();
        for (up, down) in [(1, 1), (3, 2)] {
            let ahead = (wave * up).div_ceil(step * down).clamp(1, most.max(2) - 1);
            let ring = ((ahead + 1 + u64::from(item <= 1 << 18)).min(most) as u32, ahead as u32);
            if ring.0 > ring.1 && !rings.contains(&ring) {
                rings.push(ring);
            }
        }
        rings
    }

    /// What is around one.
    pub fn around(&self, leader: &Variant) -> Vec<Variant> {
        let most = (RING / (self.lengths().iter().product::<u64>() * 8)) as u32;
        let mut all = Vec::new();
        for ahead in 1..most.min(9) {
            for slots in [ahead + 1, ahead + 2, ahead + 3, 2 * ahead + 1] {
                if slots <= most && ahead.abs_diff(leader.ahead) <= 2 {
                    all.push(Variant { slots, ahead, ..leader.clone() });
                }
            }
        }
        all.push(Variant { early: !leader.early, ..leader.clone() });
        all.push(Variant { hints: [Cache::Default, Cache::L2], ..leader.clone() });
        for data in [Cache::Default, Cache::Stream] {
            all.push(Variant { hints: [data, Cache::Keep], ..leader.clone() });
        }
        all
    }
}

/// The fastest of what is done, of those that differ in no more than what the next round varies the first.
pub fn leaders(done: &[(f64, Variant, Plan)]) -> Vec<&Variant> {
    let mut leaders: Vec<&Variant> = Vec::new();
    for (_, variant, _) in done {
        let alike = |other: &&&Variant| {
            other.threads == variant.threads
                && other.asked == variant.asked
                && other.held == variant.held
                && other.radices == variant.radices
        };
        if leaders.len() < LEADERS && leaders.iter().filter(alike).count() == 0 {
            leaders.push(variant);
        }
    }
    leaders
}

/// Radices to try for both lengths.
fn products(lengths: [u64; 2]) -> Vec<[Vec<u32>; 2]> {
    let of = |n: u64| -> Vec<Vec<u32>> {
        match n {
            256 => vec![vec![16, 16], vec![8, 8, 4]],
            512 => vec![vec![8, 8, 8], vec![32, 16], vec![16, 32]],
            1024 => vec![vec![16, 8, 8], vec![32, 32], vec![8, 8, 16]],
            2048 => vec![vec![16, 16, 8], vec![8, 16, 16]],
            _ => Vec::new(),
        }
    };
    let [one, two] = lengths.map(of);
    one.iter().zip(&two).map(|(a, b)| [a.clone(), b.clone()]).collect()
}
