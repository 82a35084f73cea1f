//! What memory costs beyond a plain copy: segments that are short, do not fill its sectors, or do not start with them.

use crate::lower::cluster::Cut;
use crate::lower::digits::Digits;
use crate::lower::tile::Tile;
use crate::math::factor::gcd;
use crate::pass::{Pass, PassDim};
use crate::target::{LINE_BYTES as LINE, SECTOR_BYTES as SECTOR};

/// What a byte of a sector costs that is written in part: memory reads what it lacks, and what two tiles write apart is
/// written twice. What is read in part comes from the cache the second time.
const PARTLY_WRITTEN: f64 = 2.7;

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

/// Factor for the segments in which a tile reads and writes.
pub(super) fn segments(pass: &Pass, tile: &Tile, digits: &Digits, cut: Option<Cut>) -> f64 {
    let bytes = pass.precision.complex_bytes();
    let short = if cut.is_some() { OF_CLUSTERS } else { OF_BLOCKS };
    let side =
        |block: Option<usize>, stride: fn(&PassDim) -> i64, strides: &[i64], partly: f64, line: f64| {
            let run = digits.run(&digits.by_stride(&[block], strides), strides) * bytes;
            let aligned = alignment(pass, tile, stride);
            let whole = match SECTOR.saturating_sub(aligned) {
                0 => (run.div_ceil(SECTOR) * SECTOR) as f64 / run as f64,
                missed => 1.0 + partly * missed as f64 / run as f64,
            };
            let short = match run {
                0..=SECTOR => short.sector,
                33..=64 => short.two_sectors,
                _ => line * (LINE - aligned) as f64 / run.max(LINE) as f64,
            };
            whole + short
        };
    let (before, after) = (cut.map(|cut| cut.before), cut.map(|cut| cut.after));
    let read = side(before, |dim| dim.is, &digits.weights(|digit| digit.is), 0.0, short.read);
    let written = side(after, |dim| dim.os, &digits.weights(|digit| digit.os), PARTLY_WRITTEN, short.written);
    (read + written) / 2.0
}

/// Bytes, a line at most, of which the start of every segment of a tile is a multiple.
fn alignment(pass: &Pass, tile: &Tile, stride: fn(&PassDim) -> i64) -> u64 {
    let bytes = pass.precision.complex_bytes();
    let axes = pass.axes.iter().map(|axis| (&axis.dim, axis.dim.n));
    let repeated = pass.batch.iter().zip(&tile.batch).map(|(dim, &held)| (dim, held));
    let mut dims: Vec<(u64, u64, u64)> = axes
        .chain(repeated)
        .filter(|(dim, _)| dim.n > 1)
        .map(|(dim, held)| (stride(dim).unsigned_abs(), dim.n, held))
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
    aligned
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
        let tile = Tile { threads: 64, cluster: 1, batch };
        [alignment(pass, &tile, |dim| dim.is), alignment(pass, &tile, |dim| dim.os)]
    }

    #[test]
    fn columns_of_odd_rows_start_within_sectors() {
        assert_eq!(aligned([64, 225], vec![12]), [8, 8]);
        assert_eq!(aligned([64, 226], vec![12]), [16, 16]);
        assert_eq!(aligned([64, 224], vec![12]), [32, 32]);
        assert_eq!(aligned([64, 224], vec![16]), [128, 128]);
        assert_eq!(aligned([64, 224], vec![3]), [8, 8]);
    }
}
