//! What short numbers cost: accesses of fewer bytes a thread than memory is fast with, and arithmetic, of which there is
//! as much for fewer bytes.

use crate::lower::cluster::Cut;
use crate::lower::digits::Digits;
use crate::lower::{edge, wide};
use crate::pass::{Operand, Pass};
use crate::problem::{Format, Storage};

/// Copies that accesses of so many bytes a thread add on one side. Copies by accesses of 4 bytes took 1.4 times as long as
/// those of 16; the rest is by half the bytes again.
const BY_BYTES: [(u64, f64); 2] = [(2, 0.6), (4, 0.2)];
/// Accesses of a thread one after the other from which on those of 4 bytes add nothing: 1024 points by 32 threads, 32 a
/// thread, took 1.01 copies, 128 by 8 threads 1.07 and by 4 threads 1.01. Too few for 2048: 1.13 by 128 threads, 1.06 by 64 and
/// accesses of 8 bytes, which is in the shipped wisdom (docs/notes/storage.md).
const MANY: u64 = 16;

/// Copies that accesses of 2 bytes add on one side where two planes of reals go as one and a thread has so many of them: 32 x 32 took
/// 1.19 copies so, and 1.49 by twice the bytes and twice the registers.
const OF_PLANES: f64 = 0.1;

/// One side of a pass that keeps short numbers.
struct Side {
    /// Whether a point's two numbers lie in planes of their own.
    planes: bool,
    /// Bytes of an access to one element.
    bytes: u64,
    /// Groups of threads' accesses, where neighbours may move two by two.
    groups: Option<u32>,
}

/// What does not depend on the threads of a block.
pub(super) struct Short {
    sides: [Option<Side>; 2],
    /// Bytes of a point as it is computed in over its bytes in memory.
    pub thin: f64,
}

impl Short {
    /// Of a pass whose tile holds so many of the repeated dimensions.
    pub fn of(pass: &Pass, held: &[u64], digits: &Digits, cut: Option<Cut>) -> Self {
        let bytes = |side: Operand| side.storage.real_bytes() as f64;
        let computed = Storage::of(pass.precision).real_bytes() as f64;
        let sides = [pass.src, pass.dst];
        let short = [false, true].map(|writes| {
            wide::short(sides[usize::from(writes)]).then(|| Side::of(pass, held, digits, cut, writes))
        });
        Self { sides: short, thin: 2.0 * computed / sides.map(bytes).iter().sum::<f64>() }
    }

    /// Whether any side keeps short numbers.
    pub fn any(&self) -> bool {
        self.sides.iter().any(Option::is_some)
    }

    /// Copies that short accesses add where so many threads share out a tile of so many elements.
    pub fn copies(&self, threads: u32, elements: u64) -> f64 {
        let many = elements / u64::from(threads) >= MANY;
        let side = |side: &Side| {
            let paired = side.groups.is_some_and(|groups| wide::shared_out(groups, threads));
            let bytes = side.bytes * if paired { u64::from(wide::PAIR) } else { 1 };
            if side.planes && many {
                return OF_PLANES;
            }
            let short = BY_BYTES.iter().find(|(most, _)| bytes <= *most);
            short.filter(|(most, _)| *most < 4 || !many).map_or(0.0, |(_, copies)| *copies)
        };
        self.sides.iter().flatten().map(side).sum()
    }
}

impl Side {
    fn of(pass: &Pass, held: &[u64], digits: &Digits, cut: Option<Cut>, writes: bool) -> Self {
        let Operand { format, storage, .. } = if writes { pass.dst } else { pass.src };
        let parts = if format == Format::Interleaved { 2 } else { 1 };
        let bytes = parts * storage.real_bytes();
        let planes = matches!(format, Format::Apart(_));
        let plain = pass.axes.iter().all(|axis| axis.method.in_place().is_empty());
        if !plain || pass.ends[usize::from(writes)].is_some() {
            return Self { planes, bytes, groups: None };
        }
        let mut stages = digits.stages.iter().flatten();
        let register = if writes { stages.next_back() } else { stages.next() }.copied();
        let strides = digits.weights(|digit| if writes { digit.os } else { digit.is });
        let block = cut.map(|cut| if writes { cut.after } else { cut.before });
        let layout = edge(pass, digits, (register, block), &strides, writes);
        let own = layout.register.is_some_and(|r| strides[r] == 1 && digits.radix(r).is_multiple_of(2));
        if own {
            // Neighbours are a thread's own registers.
            return Self { planes, bytes: 2 * bytes, groups: None };
        }
        let groups = wide::pairable(pass, held, digits, &layout, writes).map(|_| layout.groups(digits));
        Self { planes, bytes, groups }
    }
}
