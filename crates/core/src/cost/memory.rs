//! What memory costs beyond a plain copy: segments that are short, do not fill its sectors, or do not start with them.

use std::borrow::Cow;

use crate::lower::cluster::Cut;
use crate::lower::dealt::Dealt;
use crate::lower::digits::{Digit, Digits};
use crate::lower::tile::Tile;
use crate::math::factor::gcd;
use crate::pass::{Axis, Carry, Images, Pass, PassDim};
use crate::problem::Format;
use crate::target::{LINE_BYTES as LINE, SECTOR_BYTES as SECTOR};

/// What a byte of a sector costs that is written in part: memory reads what it lacks, and what two tiles write apart is
/// written twice.
const PARTLY: f64 = 2.7;

/// Copies that short segments add beyond whole sectors, and what a byte of a line costs that is read or written in part.
struct Short {
    sector: f64,
    two_sectors: f64,
    read: f64,
    written: f64,
}

const OF_BLOCKS: Short = Short { sector: 0.44, two_sectors: 0.18, read: 0.27, written: 0.29 };
/// Blocks of a cluster also wait for one another's.
const OF_CLUSTERS: Short = Short { sector: 0.6, two_sectors: 0.2, read: 0.09, written: 0.64 };

/// The same for rows of lines of reals with their images, one of which starts within sectors whatever the other does, and copies
/// that they take less than these segments say: by 1990 pairs of tiles of both passes of 2^17 to 2^24 reals, timed on an H200, of
/// which the model is off by 8%, and loses 3% by what it takes.
const OF_IMAGES: Short = Short { sector: 0.55, two_sectors: 0.28, read: 0.15, written: 0.04 };
const OF_IMAGES_IN_CLUSTERS: Short = Short { read: 1.4, ..OF_IMAGES };
const IMAGES_PARTLY: f64 = 3.6;
const IMAGES_SAVE: f64 = 0.12;

/// One side of a pass as memory sees it.
struct View<'a> {
    /// Bytes of an element.
    bytes: u64,
    /// Distance of neighbours of a line, where the side folds.
    line: Option<i64>,
    /// Elements of memory to one of these.
    per: i64,
    stride: fn(&PassDim) -> i64,
    digits: Cow<'a, Digits>,
    strides: Vec<i64>,
    /// The digit that spells the rank in a cluster.
    block: Option<usize>,
}

impl<'a> View<'a> {
    fn of(pass: &Pass, digits: &'a Digits, cut: Option<Cut>, writes: bool) -> Self {
        let stride: fn(&PassDim) -> i64 = if writes { |dim| dim.os } else { |dim| dim.is };
        let bytes = pass.element_bytes(writes);
        let folded = pass.ends[usize::from(writes)].filter(|_| !pass.axes.is_empty());
        let Some(fold) = folded else {
            let mut strides = digits.weights(|digit| if writes { digit.os } else { digit.is });
            let block = cut.map(|cut| if writes { cut.after } else { cut.before });
            // Halves of a line that lie side by side, in either order, are read as one element that is twice as wide. Written
            // they are not: planes of 64 x 64 backward in one pass took 7.8 copies.
            let dims = pass.axes.iter().map(|axis| &axis.dim).chain(&pass.batch);
            let halves = !writes && matches!(pass.src.format, Format::Apart(1 | -1));
            let per = if halves && dims.map(stride).all(|stride| stride % 2 == 0) { 2 } else { 1 };
            strides.iter_mut().for_each(|stride| *stride /= per);
            let bytes = bytes * per as u64;
            return Self { bytes, line: None, per, stride, digits: Cow::Borrowed(digits), strides, block };
        };
        // What folds goes through its lines in the order in which they lie in memory.
        let twins = fold.twins(writes) && pass.batch.iter().all(|dim| stride(dim) % 2 == 0);
        let elements = if twins { fold.elements() / 2 } else { fold.elements() };
        let line = Digit { size: elements as u32, is: fold.stride, os: fold.stride, ..Digit::STILL };
        let repeated = digits.all.iter().filter(|digit| digit.batch.is_some()).copied();
        let others = pass.axes[..pass.axes.len() - 1].iter();
        let others = others.map(|Axis { dim, .. }| Digit {
            size: dim.n as u32,
            is: dim.is,
            os: dim.os,
            ..Digit::STILL
        });
        let mut all: Vec<Digit> = others.chain([line]).chain(repeated).collect();
        let dealt = cut.and_then(|cut| Dealt::of(pass, digits, cut, writes));
        let block = dealt.map(|dealt| deal(&mut all, dealt));
        let digits = Digits::new(all, Vec::new());
        let mut strides = digits.weights(|digit| if writes { digit.os } else { digit.is });
        // Two rows side by side are as one of elements that are twice as wide.
        let per = if twins { 2 } else { 1 };
        strides.iter_mut().for_each(|stride| *stride /= per);
        let bytes = bytes * per as u64;
        Self { bytes, line: Some(fold.stride), per, stride, digits: Cow::Owned(digits), strides, block }
    }
}

/// Cuts the digit of an axis that the blocks of a cluster share out, and gives the one that spells the rank.
fn deal(all: &mut Vec<Digit>, dealt: Dealt) -> usize {
    let whole = all[dealt.axis];
    let part = |size: u64, weight: u64| Digit {
        size: size as u32,
        is: whole.is * weight as i64,
        os: whole.os * weight as i64,
        ..whole
    };
    let (turn, size) = (dealt.weight * dealt.size, u64::from(whole.size));
    all[dealt.axis] = part(dealt.weight, 1);
    all.extend([part(dealt.size, dealt.weight), part(size.div_ceil(turn), turn)]);
    all.len() - 2
}

/// Factor for the segments in which a tile reads and writes.
pub(super) fn segments(pass: &Pass, tile: &Tile, digits: &Digits, cut: Option<Cut>) -> f64 {
    let images = pass.images.is_some();
    let short = match (images, cut.is_some()) {
        (false, false) => OF_BLOCKS,
        (false, true) => OF_CLUSTERS,
        (true, false) => OF_IMAGES,
        (true, true) => OF_IMAGES_IN_CLUSTERS,
    };
    let side = |view: View<'_>, aligned: u64, partly: f64, line: f64| {
        let order = view.digits.by_stride(&[view.block], &view.strides);
        let run = view.digits.run(&order, &view.strides) * view.bytes;
        let whole = match SECTOR.saturating_sub(aligned) {
            0 => (run.div_ceil(SECTOR) * SECTOR) as f64 / run as f64,
            // Less than a sector is read as a whole one, wherever it starts.
            missed => (1.0 + partly * missed as f64 / run as f64).max(SECTOR as f64 / run as f64),
        };
        let short = match run {
            0..=SECTOR => short.sector,
            33..=64 => short.two_sectors,
            _ => line * (LINE - aligned) as f64 / run.max(LINE) as f64,
        };
        whole + short
    };
    // What is read in part comes from the cache the second time, but for channels, which are long: 2048 reals in runs of 48 bytes
    // took 1.90 copies.
    let columns = pass.ends[1].is_some_and(|fold| matches!(fold.carry, Carry::Rows([1, _])));
    let partly_read = if columns { PARTLY } else { 0.0 };
    let partly_written = if images { IMAGES_PARTLY } else { PARTLY };
    let both = |writes: bool| {
        let (partly, line) = if writes { (partly_written, short.written) } else { (partly_read, short.read) };
        let view = || View::of(pass, digits, cut, writes);
        let aligned = alignment(pass, tile, &view());
        let own = if images && pass.spectrum_side() == writes { spectrum_starts(pass, tile) } else { None };
        match own {
            None => side(view(), aligned, partly, line),
            // Rows, and images that run against them.
            Some(all) => {
                let all = all.map(|aligned| side(view(), aligned, partly, line));
                all.iter().sum::<f64>() / all.len() as f64
            }
        }
    };
    (both(false) + both(true)) / 2.0 - if images { IMAGES_SAVE } else { 0.0 }
}

/// Bytes of which the start of every segment of frequencies is a multiple, of rows and of their images; where points carry two lines,
/// of both ends of each.
fn spectrum_starts(pass: &Pass, tile: &Tile) -> Option<[u64; 4]> {
    let element = pass.element_bytes(pass.spectrum_side());
    let sector = pass.starts_with_sectors(tile.batch[Images::ROW]).map(|_| SECTOR)?;
    let two = matches!(pass.images?.carry, Carry::Rows(_));
    Some([sector, if two { element } else { sector }, element, element])
}

/// Bytes, a line at most, of which the start of every segment of a tile is a multiple.
fn alignment(pass: &Pass, tile: &Tile, view: &View<'_>) -> u64 {
    let bytes = view.bytes;
    // The last axis is what folds.
    let last = pass.axes.len().wrapping_sub(1);
    let own = |axis: usize, dim: &PassDim| {
        view.line.filter(|_| axis == last).unwrap_or_else(|| (view.stride)(dim)) / view.per
    };
    let axes = pass.axes.iter().enumerate();
    let axes = axes.map(|(axis, Axis { dim, .. })| (own(axis, dim), dim.n, dim.n));
    let repeated =
        pass.batch.iter().zip(&tile.batch).map(|(dim, &held)| ((view.stride)(dim) / view.per, dim.n, held));
    let mut dims: Vec<(u64, u64, u64)> = axes
        .chain(repeated)
        .filter(|&(_, n, _)| n > 1)
        .map(|(stride, n, held)| (stride.unsigned_abs(), n, held))
        .collect();
    dims.sort_unstable();
    // Dimensions that a segment runs through, then those that move it.
    let (mut run, mut aligned) = (1, LINE);
    let mut whole = true;
    for (stride, n, held) in dims {
        whole &= stride == run;
        if whole {
            run *= held;
        } else {
            aligned = gcd(aligned, stride * bytes);
        }
        if held < n {
            aligned = gcd(aligned, held * stride * bytes);
            whole = false;
        }
    }
    aligned.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Fft;
    use crate::schedule;
    use crate::target::Limits;

    fn aligned(n: [u64; 2], batch: Vec<u64>) -> [u64; 2] {
        let problem = Fft::axes(n, [0]).build().expect("a problem");
        let pass = &schedule::schedule(&problem, &Limits::h200()).expect("a schedule").passes[0];
        let tile = Tile::new(64, 1, batch);
        let digits = Digits::of(pass, &tile);
        [false, true].map(|writes| alignment(pass, &tile, &View::of(pass, &digits, None, writes)))
    }

    #[test]
    fn columns_of_odd_rows_start_within_sectors() {
        assert_eq!(aligned([64, 225], vec![12]), [8, 8]);
        assert_eq!(aligned([64, 226], vec![12]), [16, 16]);
        assert_eq!(aligned([64, 224], vec![12]), [32, 32]);
        assert_eq!(aligned([64, 224], vec![16]), [128, 128]);
        assert_eq!(aligned([64, 224], vec![3]), [8, 8]);
    }

    #[test]
    fn reals_are_read_backward_as_forward() {
        let limits = Limits::h200();
        let copies = |fft: Fft| {
            let problem = fft.batch(1 << 12).build().expect("a problem");
            let explained = crate::explain::explain(&problem, &limits).expect("a plan");
            (explained.passes.len(), (1e6 * explained.predicted_copies).round())
        };
        let lines = |sign: i64| Fft::new([1024]).strides(&[sign], &[sign]).r2c();
        assert_eq!(copies(lines(-1).offsets(1023, 512)), copies(lines(1)));
    }
}
