//! What a cluster costs: registers by which its blocks share a multiprocessor, and the exchange between them.

use crate::target::Limits;

use super::Occupancy;

/// Parts of a register file, each with schedulers of its own; a block's warps are dealt out to them.
const PARTS: u32 = 4;

/// What a thread of a block needs.
pub(super) struct Need {
    /// Words of a real number.
    pub words: u32,
    /// The two are a pair of singles.
    pub pairs: bool,
    /// Complex elements that it holds.
    pub per_thread: u32,
    /// Groups of the stage with the most of them.
    pub slots: u32,
    /// Groups that the threads do not share out evenly.
    pub uneven: u32,
    /// Registers beside the data in the most demanding codelet.
    pub scratch: u32,
    /// Several transforms in a tile.
    pub several: bool,
    /// Several axes in a tile.
    pub planes: bool,
    /// Multiplied by twiddles on the way out.
    pub twiddled: bool,
    /// Lines that fold on the way in by clusters of 16, for which a block more counts: 131072 reals from their spectrum take
    /// 1.73 copies by six blocks of 80 registers, and 1.79 by five with room for addresses. In clusters of eight, where a
    /// thread has four elements for each block, the assembler spills one.
    pub gathers: bool,
}

/// Blocks of a multiprocessor beyond which the assembler is not asked to be thrifty: of planes of singles it was seen to cost more than
/// a block gains, 28 x 28 x 28 by 7 blocks of 112 threads 1.22 copies by seven resident ones and 1.04 by six.
const ENOUGH: u32 = 4;

impl Need {
    /// Registers by which the assembler is short of nothing.
    fn ample(&self) -> u32 {
        let words = self.words;
        // Prime codelets hold what cannot be computed in place.
        let scratch = if self.scratch > 24 * words { self.scratch + 24 } else { 16 * words };
        let crowded = self.several || self.planes || self.slots * words * words >= 8;
        let addresses = if crowded { 20 * words } else { 24 * (words - 1) };
        let roots = if self.twiddled { 8 * words } else { 0 };
        // Beyond 64 registers of data the assembler no longer finds room for its addresses beside it.
        let long = if words * self.per_thread > 32 { 24 } else { 0 };
        2 * words * self.per_thread + scratch + 6 * self.uneven + addresses + roots + long
    }

    /// Registers of doubles below which it spills: of 253 such kernels for sm_90, told of a block more and one less until it did, three
    /// want more, by 8 bytes (`docs/notes/clusters.md`).
    fn least(&self) -> u32 {
        if self.words < 2 || self.pairs {
            return self.ample();
        }
        let held = 2 * self.words * self.per_thread;
        let several = 9 * u32::from(self.slots > 1) + 3 * self.slots;
        let roots = if self.twiddled { 28 } else { 0 };
        let long = (2 * self.per_thread).saturating_sub(32) / 8;
        held + 33 + several + 2 * self.uneven + roots + long
    }
}

/// Copies that tiles add which have room by thrift alone. 200^2 doubles by ten blocks took 1.52 copies where 1.61 were expected; but ways
/// that share a dimension take 5 to 12% less than is expected of them, and beside 200^3 doubles in one, 2.48 copies on an H200, these
/// planes and their columns are 2.57, by the sum.
const BY_THRIFT: f64 = 0.06;

/// What a thread's registers add in copies.
pub(super) fn thrift(need: &Need, threads: u32, limits: &Limits) -> f64 {
    if allowed(threads, 1, limits) < need.ample() { BY_THRIFT } else { 0.0 }
}

/// Registers that each of so many threads may have where so many blocks are resident.
fn allowed(threads: u32, blocks: u32, limits: &Limits) -> u32 {
    let warps = threads.div_ceil(limits.subgroup);
    let per_part = (warps * blocks).div_ceil(PARTS) * limits.subgroup;
    let registers = limits.registers_per_sm / PARTS / per_part / 8 * 8;
    registers.min(limits.registers_per_thread)
}

/// Registers of a thread and resident blocks, at most `most`: the assembler is asked for as many as fit without
/// spills. `None`: not one fits.
pub(super) fn share(need: &Need, threads: u32, most: u32, limits: &Limits) -> Option<(u32, u32)> {
    let allowed = |blocks: u32| allowed(threads, blocks, limits);
    let fitting = |registers: u32| (1..=most).rev().find(|&blocks| allowed(blocks) >= registers);
    let ample = need.ample();
    // Where a block more or less counts little, room for addresses is worth more.
    let roomy = fitting(ample + 4 * need.words).filter(|&blocks| blocks > 3 && !need.gathers);
    let comfortable = roomy.or_else(|| fitting(ample));
    let thrifty = fitting(need.least()).map(|blocks| blocks.min(ENOUGH));
    // A block more by thrift is worth it to columns of doubles: 2^24 points took 2.69 copies and take 2.56. Of lines, planes and
    // volumes as many lose as gain.
    let columns = need.words > 1 && need.several && !need.planes;
    let blocks = if columns { comfortable.max(thrifty) } else { comfortable.or(thrifty) }?;
    Some((allowed(blocks), blocks))
}

/// Registers that a thread takes beside its data, in singles and in doubles: the middle of 950 kernels for sm_90 that had room for them.
const BESIDE: [u32; 2] = [38, 56];

/// Blocks that a multiprocessor is likely to hold, of so many words a number. What the assembler is told of is what it has room for at
/// worst: of half of those kernels more blocks fit, and a doubling of them takes 0.1 to 0.19 copies less.
pub(super) fn resident(words: u32, threads: u32, took: Occupancy, limits: &Limits) -> u32 {
    let registers = 2 * words * took.per_thread + BESIDE[usize::from(words > 1)];
    let fits = |&blocks: &u32| {
        took.has_room(blocks, threads, limits) && allowed(threads, blocks, limits) >= registers
    };
    (took.blocks..=limits.blocks_per_sm).rev().find(fits).unwrap_or(took.blocks)
}

/// How much longer stages of lines, planes and volumes wait that no block holds, and copies that they take less for it. With this and the
/// two below the model's choice among 1950 ways to take 70 problems takes 1.068 of the fastest, 1.088 without; of those that had no
/// part in it 46 are planned another way by it, and take 0.90 of what they took (`docs/notes/clusters.md`).
pub(super) const WAITS: f64 = 1.5;
pub(super) const START: f64 = -0.05;

/// What an exchange on the way out adds that no order of stages saves: 126 x 147 by seven blocks as 6 21 and 21 7 took 1.60 copies, as 21 6
/// and 7 21 1.29.
pub(super) const EXIT: f64 = 0.15;

/// What groups that threads do not share out evenly take less in planes and volumes than in lines.
pub(super) const UNEVEN_PLANES: f64 = -0.05;

/// What the exchange between blocks adds, in copies. On the H200: small clusters reach more of the multiprocessors,
/// blocks of 32 KB wait less than larger ones, each phase is one more that all blocks wait for, and the more so where
/// some threads have more groups than others.
///
/// Planes and volumes that no block holds wait less, since their loads are under way before they meet (`docs/notes/clusters.md`):
/// 256^2 and 32^3 took 1.11 and 1.04 copies, in f64 128^2, 256^2 and 32^3 1.08, 1.41 and 1.17, where 1.35 and 1.20, 1.27, 1.75
/// and 1.39 were expected. Since their stages come in the order with the fewest exchanges 389 ways to share 32 of them took 0.13 less
/// than was expected in the mean, by large blocks not so (`docs/notes/stage-order.md`). Blocks beyond 80 KB leave no room for others: 400^2 took 2.5
/// copies on an H100 where two passes in one launch took 1.47.
pub(super) fn hand_over(cluster: u32, stages: usize, uneven: usize, block_bytes: u64, planes: bool) -> f64 {
    let size = (f64::from(cluster) / 4.0).log2().max(0.0);
    let large = (block_bytes as f64 / 32768.0).log2().max(0.0);
    let (start, large) =
        if planes { (-0.19, 0.25 * large + 0.4 * (large - 1.2).max(0.0)) } else { (0.03, 0.26 * large) };
    start + 0.077 * size + large + 0.027 * stages as f64 + 0.09 * uneven as f64
}

/// Copies that planes and volumes beyond what a block holds take more where a thread holds few numbers, and less where it holds many,
/// for which a block has fewer threads that wait for each other: 40^3 by ten blocks took 1.42 copies with 40 points in a thread, 1.61
/// with 20. Of doubles more than 16 gain nothing: 256^2 took 1.41 with 16 and 1.44 with 32. Nor do more than 32 of planes which are all
/// that there is: 288^2 by twelve blocks took 1.42 with 24 and 1.61 with 48 (`docs/notes/cost-model.md`).
pub(super) fn held_planes(per_thread: u32, words: f64, whole: bool) -> f64 {
    let most = if words > 1.0 || whole { 0.0 } else { 1.0 };
    -0.16 * (f64::from(per_thread) * words / 32.0).log2().clamp(-2.0, most)
}

/// What volumes add of which a cluster holds several that one block nearly could: 26^3 and 27^3 two by two took 1.60 and 1.42 copies, one
/// by one 1.27 and 1.20.
pub(super) const SEVERAL_VOLUMES: f64 = 0.15;

/// What planes and volumes add by blocks of less than a warp: 84^2 by seven of 24 threads took 1.64 copies where 1.17 were expected, 75^2
/// by five of 25 threads 1.57 and 1.18.
pub(super) const LESS_THAN_A_WARP: f64 = 0.3;

/// Copies that clusters add to planes and volumes of singles which one block could hold: of 500 ways to take 34 of them, timed on an H200,
/// the model's choice took 1.063 of the fastest without it, and takes 1.022.
pub(super) fn small_planes(per_thread: u32) -> f64 {
    0.05 + 0.1 * (f64::from(per_thread) / 16.0).log2().max(0.0)
}

/// What it adds beyond that to a line where the number of blocks is no power of two, so that rows start anywhere in lines. Fitted
/// to some 150 ways to share 28 lengths of 10000 to 96000 points, timed on an H200 (`docs/notes/clusters.md`): with five or six
/// resident blocks they took 0.05 less than expected without it to 0.1 more, with four 0 to 0.2 more, with two 0.3 to 0.4;
/// 80000 by one resident block took 3.65. So do threads that hold much: 38416 by 14 blocks, 56 points in a thread, took 2.09.
pub(super) fn odd_line(resident: u32, per_thread: u32) -> f64 {
    let crowded = if per_thread > 32 { 0.3 } else { 0.0 };
    let waits = match resident {
        5.. => 0.0,
        4 => 0.1,
        3 => 0.2,
        2 => 0.4,
        _ => 1.0,
    };
    waits + crowded
}

/// The same for columns side by side, whose rows start as those of other clusters do. On an H100 (a copy takes 1.4 times as long
/// as on the H200) columns of 2500 to 5000 points by ten blocks, three or four resident, take 1.2 to 1.35 copies, and those of
/// 12000 by one resident block 3.1, in f64 of 5000 2.9. In f64 1000 points by ten blocks take 0.2 more in rows of 192 and 256
/// bytes than in rows of 96 and 128.
pub(super) fn odd_columns(resident: u32, row: u64, words: u32) -> f64 {
    let alone = if resident == 1 { 1.0 } else { 0.0 };
    let more = match words {
        1 => 0.06,
        _ if row > 128 => 0.14,
        _ => 0.04,
    };
    alone + more
}

/// The same for planes and volumes.
pub(super) fn odd_planes(resident: u32) -> f64 {
    0.06 + if resident == 1 { 1.0 } else { 0.0 }
}

/// Copies that clusters take more which multiply planes by factors, as the passes do that share a dimension: of 3600 ways to take 27
/// planes and volumes in two of them, timed on an H200, the model's choice took 1.061 times the fastest in the mean without it, and
/// takes 1.048 (`docs/notes/shared-dimensions.md`).
pub(super) fn shared_dimension(cluster: u32) -> f64 {
    0.05 * f64::from(cluster).log2()
}

/// Copies that threads add which hold many points of a line: nothing beyond 60 was timed, and the assembler has no room for more.
/// Where it spills, another way is taken, unless a recipe that was timed asks for it: 38416 as 28 x 7 x 7 x 28 took 1.52 copies, with
/// 188 bytes spilled, and nothing else less than 1.58.
pub(super) fn crowded_line(per_thread: u32, spills: bool) -> f64 {
    if per_thread > 64 || spills { 1.0 } else { 0.0 }
}

/// Copies that threads add which hold many points of a plane: 200^2 took 1.63 copies on an H100 by ten blocks of 50 threads, and
/// 1.29 by four of 500; 400^2 by 16 of 125 threads 2.5. With 50 points a thread 280^2 took 1.25.
pub(super) fn crowded_planes(per_thread: u32) -> f64 {
    if per_thread > 56 { 1.0 } else { 0.0 }
}

/// Copies that lines of real data add whose points lie in several blocks: on the way out, where blocks fetch mirror
/// images from one another, and on the way in, where they send them; in planes, whose mirror images lie further apart, and
/// the more so in large clusters. On the H200, of 65536 reals, 512^2, 64^3, 256^3 and 512^3 (`docs/notes/real-data.md`).
///
/// Lines of which a multiprocessor holds few blocks wait for one another: 2^19 reals by one resident block take 3.27 copies,
/// in f64 2^17 by two 2.76 and back 2.47, 2^18 by one 3.40. So do several lines: channels of 4096 reals took 2.04 to 3.15
/// copies where 1.45 were expected.
pub(super) fn folds(
    [reads, writes]: [bool; 2],
    (planes, several): (bool, bool),
    cluster: u32,
    resident: u32,
) -> f64 {
    let waits = match resident {
        _ if planes || !(reads || writes) => 0.0,
        _ if several => 0.9,
        1 => 1.0,
        2 => 0.6,
        _ => 0.1,
    };
    let far = |least: u32| if cluster > least { 0.3 } else { 0.0 };
    let of = |folds, rows, more| if folds { rows + if planes { more } else { 0.0 } } else { 0.0 };
    // On the way in blocks of eight do as badly: 512^3 back took 4.31 copies where 3.98 were expected.
    of(writes, 0.03, 0.55 + far(8)) + of(reads, 0.65, 0.3 + far(4)) + waits
}
